"""glasswood summarize, merge: from rows to backgrounds, and sums of backgrounds."""

from __future__ import annotations

import contextlib
import functools
import importlib
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import click

from glasswood import Background
from glasswood import summarize as count
from glasswood.engines._engine import ENGINES
from glasswood.errors import BackgroundError, MissingExtraError, TableError
from glasswood.tables._sources import InMemory, open_source
from glasswood.terminal._files import open_data, proved
from glasswood.terminal._options import MODEL, Command, as_json, model_options, output_file, response_option
from glasswood.terminal._output import check_folder, note, print_json, write_table
from glasswood.text._printable import unlike

__all__ = ["COMMANDS", "file_names"]

LONGEST = 60  # maximum number of characters of a group in a file name


def _order(ctx: click.Context, param: click.Parameter, value: str) -> int | None:
    """Return the maximum number of features fixed together; None for all."""
    if value == "all":
        return None
    if value.isdecimal() and int(value) > 0:
        return int(value)
    message = f"{value!r} is neither a positive integer nor 'all'"
    raise click.BadParameter(message, ctx, param)


@click.command(
    cls=Command,
    short_help="Count rows once and save the counts as a background.",
    examples=[
        "glasswood summarize model.json rows.parquet -o rows.gw",
        "glasswood summarize model.json 'data/*.parquet' --order 2 -o all.gw --checkpoint progress",
        "glasswood summarize model.json data/ --by year --by region -o sales.gw",
        "glasswood summarize model.json rows.parquet --response probability -o rows.gw",
    ],
)
@click.argument("model", type=MODEL)
@click.argument("data", nargs=-1, required=True)
@output_file("The background. With --by: out-GROUP.gw, one for each group", "out.gw")
@click.option("--by", multiple=True, metavar="COLUMN", help="Write one background per value; repeat for combinations.")
@click.option(
    "--order",
    callback=_order,
    default="1",
    show_default=True,
    metavar="N|all",
    help="Maximum number of features fixed together: 1 for curves, 2 for pairs, 'all' for Shapley values.",
)
@response_option(
    "The averages on this scale, and the spread of rows around them, are found in the same pass, beside the counts. "
    "Default: counts only, for the raw score."
)
@click.option("--weight", metavar="COLUMN", help="The weights of the rows.")
@click.option("--target", metavar="COLUMN", help="What was observed: curves then tell observed and predicted.")
@click.option(
    "--answer",
    "answers",
    multiple=True,
    metavar="QUESTION[:OPTION=VALUE]",
    callback=lambda _, __, given: _answers(given),
    help="A question that needs sums beside the counts: importance, permutation_importance[:loss=poisson], "
    "row_monotonicity, ale[:bins=40]. May be repeated.",
)
@click.option("--exposure", metavar="COLUMN", help="The exposure of the rows, of which targets are totals.")
@click.option("--offset", metavar="COLUMN", help="What is added to the raw score of the rows before the link.")
@click.option("--prediction", metavar="COLUMN", help="The model's predictions. By default, they are computed.")
@click.option("--folds", type=int, metavar="N", help="Count rows in this number of folds, for errors and bands: 20.")
@click.option("--fold-by", metavar="COLUMN", help="Rows with equal values here are in the same fold.")
@click.option("--checkpoint", metavar="FOLDER", help="Save progress here; after a crash, the same command resumes.")
@click.option(
    "--engine",
    type=click.Choice(["threads", *ENGINES]),
    default="threads",
    show_default=True,
    help="The engine that reads the files. Dask: the scheduler in DASK_SCHEDULER_ADDRESS, or this machine.",
)
@as_json
@model_options
def summarize(  # noqa: PLR0913 (one command has all settings of a pass)
    *,
    opened: Callable[[Path], Any],
    model: Path,
    data: tuple[str, ...],
    output: Path,
    by: tuple[str, ...],
    order: int | None,
    response: str | None,
    weight: str | None,
    target: str | None,
    answers: dict[str, dict[str, object]],
    exposure: str | None,
    offset: str | None,
    prediction: str | None,
    folds: int | None,
    fold_by: str | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Count the rows of DATA (Parquet) once and save the counts: curves need no data after that.

    DATA is one file or several, a folder, or a quoted pattern. Only the columns that the model splits on are read.
    """
    check_folder(output)
    source: object = list(data) if len(data) > 1 else open_data(data[0], in_memory=False)
    if isinstance(source, Background):
        message = f"{data[0]!r} is already a background; use glasswood merge to add backgrounds"
        raise TableError(message)
    loaded = opened(model)
    others = filter(None, (weight, target, exposure, offset, prediction, fold_by))
    read = proved(loaded, data[0], further=[*by, *others])
    in_memory = isinstance(open_source(source), InMemory)  # CSV
    if in_memory:
        settings = {"engine": "auto"} | ({} if settings["checkpoint"] is None else settings)
    wrapped = (
        read.columns is not None or read.combination is not None or read.inverse is not None or read.own is not None
    )
    asked: dict[str, Any] = {"order": order, "response": response, "sample_weight": weight, "by": list(by) or None}
    asked |= {"target": target, "exposure": exposure, "offset": offset, "prediction": prediction}
    asked |= {"folds": folds, "fold_by": fold_by, "answers": answers}
    with _cluster(settings) as settings:
        result = count(loaded if wrapped else read.ensemble, source, **asked, **settings)
    if not by:
        result.save(output)
        _tell(output, result, as_json=as_json)
        return
    if not result:
        message = "the data has no rows, so there are no groups"
        raise TableError(message)
    names = file_names(output, result)
    for path, background in zip(names, result.values(), strict=True):
        background.save(path)
    _list(names, result, by, as_json=as_json)


def _answers(given: tuple[str, ...]) -> dict[str, dict[str, object]]:
    """Return questions and their options, such as those of "ale:bins=40"."""
    found: dict[str, dict[str, object]] = {}
    for one in given:
        name, _, options = one.partition(":")
        found[name] = {}
        for part in filter(None, options.split(",")):
            key, equals, value = part.partition("=")
            if not equals:
                message = f"--answer {one}: options are NAME=VALUE, such as {name}:{key}=..."
                raise click.UsageError(message)
            found[name][key] = int(value) if value.isdecimal() else value
    return found


@click.command(cls=Command, short_help="Add backgrounds.", examples=["glasswood merge monday.gw tuesday.gw -o week.gw"])
@click.argument("backgrounds", nargs=-1, required=True, type=MODEL, metavar="A.gw B.gw ...")
@output_file("The sum", "all.gw")
@click.option("--subtract", is_flag=True, help="Subtract the others from the first instead of adding them.")
@as_json
def merge(*, backgrounds: tuple[Path, ...], output: Path, subtract: bool, as_json: bool) -> None:
    """Add backgrounds of one model; the result is bit-identical to counting all rows together."""
    check_folder(output)
    given = [Background.load(path) for path in backgrounds]
    for path, background in zip(backgrounds, given, strict=True):
        if (background.fingerprint, background.order) != (given[0].fingerprint, given[0].order):
            what = "order" if background.fingerprint == given[0].fingerprint else "model or different groups"
            message = f"{path} has a different {what} than {backgrounds[0]}; summarize all with the same arguments"
            raise BackgroundError(message)
    total = functools.reduce(operator.sub if subtract else operator.add, given)
    if total.n_rows < 0 or (total.counts < 0).any():
        message = f"{backgrounds[0]} does not contain all rows of the others, so they cannot be subtracted from it"
        raise BackgroundError(message)
    total.save(output)
    _tell(output, total, as_json=as_json)


@contextlib.contextmanager
def _cluster(settings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the settings of a pass; for Dask, with a client of the configured scheduler or of a local one."""
    if settings["engine"] != "dask":
        yield settings
        return
    try:
        library = importlib.import_module("distributed")
    except ImportError as error:
        raise MissingExtraError.of("distributed", extra="dask", what="--engine dask") from error
    with library.Client() as client:
        yield settings | {"engine": client}


def _tell(path: Path, background: Background, *, as_json: bool) -> None:
    """Report the file that was written."""
    if as_json:
        print_json({"file": str(path), **facts_of(background)})
    else:
        note(f"wrote {path}: {background!r}")


def _list(names: list[Path], result: dict[Any, Background], by: tuple[str, ...], *, as_json: bool) -> None:
    """Report the file of each group."""
    keys = [key if isinstance(key, tuple) else (key,) for key in result]
    columns: dict[str, list[Any]] = {"file": [str(path) for path in names]}
    for place, name in enumerate(by):
        missing = unlike("(missing)", (key[place] for key in keys if key[place] is not None))
        columns[name if name not in columns else f"{name} (column)"] = [
            missing if key[place] is None else str(key[place]) for key in keys
        ]
    columns["n_rows" if "rows" in columns else "rows"] = [background.n_rows for background in result.values()]
    write_table(columns, ("-", "json" if as_json else "text"))


def facts_of(background: Background) -> dict[str, Any]:
    """Return the facts about a background for JSON."""
    groups = {name: list(columns) for name, columns in background.groups.items()}
    return background.facts | {"groups of columns": groups}


def file_names(output: Path, groups: Iterable[Any]) -> list[Path]:
    """Return a file name for each group: safe everywhere, different for each, the same in every run.

    Examples
    --------
    >>> [path.name for path in file_names(Path("out.gw"), ["north", 2026, None, "../etc", ("a", 1)])]
    ['out-north.gw', 'out-2026.gw', 'out-missing.gw', 'out-etc-....gw', 'out-a_1.gw']
    """
    names: list[str] = []
    for key in groups:
        parts = key if isinstance(key, tuple) else (key,)
        text = "_".join("missing" if part is None else str(part) for part in parts)
        name = re.sub(r"[^A-Za-z0-9._-]+|[.]{2,}", "_", text)[:LONGEST].strip("._-")
        # Names that were changed, or that only differ in case, get a digest of the whole.
        unclear = not name or name != text or any(part == "missing" for part in parts)
        if unclear or name.lower() in (other.lower() for other in names):
            digest = blake2b(repr(parts).encode("utf-8", "backslashreplace"), digest_size=4).hexdigest()
            name = f"{name}-{digest}" if name else digest
        names.append(name)
    return [output.with_name(f"{output.stem}-{name}{output.suffix or '.gw'}") for name in names]


COMMANDS = [summarize, merge]
