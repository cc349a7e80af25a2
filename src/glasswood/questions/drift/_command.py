"""glasswood compare: one model on groups of rows, or several models; and a gate that fails if they differ too much."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from glasswood.counting._background import Background
from glasswood.errors import ArgumentError, ModelMismatchError, TableError
from glasswood.questions.drift._result import Comparison
from glasswood.questions.drift._result_gate import Measured, Measures
from glasswood.questions.drift._result_rules import parse_rule, rules_in_file
from glasswood.tables._files import write_whole
from glasswood.terminal._context import compare as compared
from glasswood.terminal._context import explain, open_explainer
from glasswood.terminal._files import open_data
from glasswood.terminal._options import MODEL, Command, model_options, output_options, response_option, table_options
from glasswood.terminal._output import check_destination, check_folder, columns_of, note, write_table
from glasswood.text._printable import how_many, printable

__all__ = ["COMMANDS"]

BROKEN, NOT_JUDGED = 1, 2  # exit codes
FIGURES = (".html", ".pdf", ".png", ".svg")
TOP = 20


@click.command(
    cls=Command,
    short_help="Compare a model on groups of rows, or models; fail if they differ too much.",
    examples=[
        "glasswood compare model.json --background 2025=out-2025.gw --background 2026=out-2026.gw",
        "glasswood compare champion.json challenger.txt --data rows.parquet --top 10",
        "glasswood compare model.json --background then=a.gw --background now=b.gw --fail-if 'psi>0.2'",
        "glasswood compare model.json --background 1=a.gw --background 2=b.gw --rules gate.txt --figure drift.html",
    ],
)
@click.argument("models", nargs=-1, required=True, type=MODEL, metavar="MODEL [MODEL]...")
@click.option(
    "--background",
    "backgrounds",
    multiple=True,
    metavar="NAME=FILE",
    help="A background or data to evaluate one model on; pass two or more.",
)
@click.option("--data", metavar="FILE", help="The rows on which to compare several models.")
@click.option(
    "--top",
    type=click.IntRange(1),
    metavar="N",
    help=f"The number of features, the most different first; {TOP} by default. With limits, the number of values, the "
    "worst first; all by default.",
)
@click.option(
    "--fail-if",
    "limits",
    multiple=True,
    metavar="RULE",
    help="Fail (exit code 1) if this holds: 'psi>0.2', 'age: psi>0.3', 'ndcg<0.9'; can be repeated.",
)
@click.option(
    "--rules", "files", multiple=True, metavar="FILE", help="A file with one rule per line; # starts a comment."
)
@click.option(
    "--reference",
    metavar="NAME",
    help="What the others are measured against; the first by default. Alone, it sets default limits.",
)
@click.option(
    "--error",
    type=float,
    metavar="N",
    help="Fail only if a value is beyond its limit by more than N standard errors. All backgrounds need --folds.",
)
@click.option(
    "--figure",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw the measures over time (.png, .svg, .pdf, .html).",
)
@response_option()
@output_options
@table_options
@model_options
def compare(  # noqa: PLR0913 (one command has all its options)
    *,
    opened: Callable[[Path], Any],
    models: tuple[Path, ...],
    backgrounds: tuple[str, ...],
    data: str | None,
    top: int | None,
    limits: tuple[str, ...],
    files: tuple[str, ...],
    reference: str | None,
    error: float | None,
    figure: Path | None,
    response: str | None,
    asked: dict[str, Any],
    destination: tuple[str, str | None],
) -> None:
    """Compare one MODEL on several backgrounds (drift), or several MODELs on the same data, which is read into memory.

    `difference` is the mean difference of the centred curves of a feature over the rows, `largest` the largest one;
    `shift` is the population stability index of the feature's values: above 0.25, their distributions differ clearly.

    With --fail-if, --rules or --reference, every background is measured against the reference, and the values are
    written with their limits. A rule is [FEATURE:] MEASURE (> >= < <=) NUMBER. The measures are psi, missing and unseen
    (of a feature's values), difference and largest (of its curve, in standard deviations of the reference's scores),
    level (of the mean score, in the same unit), ndcg (of the order of importances) and observed (actual/expected minus
    1, of backgrounds made with --target). Exit codes: 0 all limits are kept, 1 a limit is exceeded, 2 something could
    not be judged.
    """
    check_destination(destination)
    gated = bool(limits or files or reference is not None)
    if figure is not None:
        _check_figure(figure, gated=gated)
    if error is not None and not gated:
        message = "--error is about limits; pass --fail-if, --rules or --reference, too"
        raise click.UsageError(message)
    rules = [str(rule) for path in files for rule in rules_in_file(path)]
    rules += [str(parse_rule(rule)) for rule in limits]
    try:
        explainers = _explainers(opened, models, backgrounds, data, response)
        if not gated:
            write_table(columns_of(compared(explainers, **asked).top(top or TOP)), destination)
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # it is written below
            result = compared(explainers, reference=reference, limits=rules or None, error=error, **asked)
    except ModelMismatchError as error:
        if not gated:
            raise
        raise ArgumentError(str(error)) from error  # with exit code 2, because 1 means that a limit is exceeded
    _tell(result, destination, top, figure)


def _explainers(
    opened: Callable[[Path], Any],
    models: tuple[Path, ...],
    backgrounds: tuple[str, ...],
    data: str | None,
    response: str | None,
) -> dict[str, Any]:
    """Return what is compared, by name."""
    if len(models) == 1:
        if len(backgrounds) < 2 or data is not None:
            message = "pass two or more --background NAME=FILE with one MODEL, or one --data FILE with several MODELs"
            raise click.UsageError(message)
        model = opened(models[0])
        return {name: open_explainer(model, path, response) for name, path in _named(backgrounds).items()}
    if backgrounds or data is None:
        message = "pass one --data FILE with several MODELs; a background belongs to a single model"
        raise click.UsageError(message)
    rows = open_data(data, in_memory=True)  # models have different cuts, so counts for each are not enough
    if isinstance(rows, Background):
        message = f"{data!r} has counts for a single model; to compare several models, pass the rows themselves"
        raise TableError(message)
    return {name: explain(opened(path), rows, response=response) for name, path in _names_of(models).items()}


def _check_figure(path: Path, *, gated: bool) -> None:
    """Raise an error early if a figure cannot be drawn."""
    check_folder(path)
    if path.suffix.lower() not in FIGURES:
        message = f"--figure {path}: the suffix determines the format: one of {', '.join(FIGURES)}"
        raise click.UsageError(message)
    if not gated:
        message = "--figure draws measures against a reference; pass --fail-if, --rules or --reference, too"
        raise click.UsageError(message)


def _tell(result: Comparison, destination: tuple[str, str | None], top: int | None, figure: Path | None) -> None:
    """Write the measures, the worst first, and end with the exit code of the gate."""
    violations, measures = result.violations, result.measures
    if measures is None:  # the line above raises an error in this case
        raise click.exceptions.Exit(NOT_JUDGED)
    if figure is not None:
        _draw(measures, figure)
    listed = sorted(measures.to_dicts(), key=lambda one: not one["broken"])[:top]
    columns = {name: [one[name] for one in listed] for name in Measured.__dataclass_fields__}
    idle = [name for name in ("output", "chance", "error") if all(value is None for value in columns[name])]
    write_table({name: values for name, values in columns.items() if name not in idle}, destination)
    if measures.caveat:
        click.echo(f"glasswood: warning: {printable(measures.caveat)}", err=True)
    if measures.allowance:
        note(measures.allowance)
    values = how_many(len(measures), "value")
    if not violations:
        note(f"all limits are kept: {values} judged")
        return
    click.echo(f"glasswood: {len(violations)} of {values} beyond the limits", err=True)
    raise click.exceptions.Exit(BROKEN)


def _draw(measures: Measures, path: Path) -> None:
    """Write the figure of measures to a file."""
    form = path.suffix.lower().removeprefix(".")
    if form == "html":
        written = measures.plot(backend="plotly").to_html(include_plotlyjs=True).encode()
    else:
        file = io.BytesIO()
        measures.plot().savefig(file, format=form)
        written = file.getvalue()
    write_whole(path, written)
    note(f"wrote {path}")


def _named(backgrounds: tuple[str, ...]) -> Mapping[str, str]:
    """Return the file of each name."""
    result: dict[str, str] = {}
    for text in backgrounds:
        name, equals, path = text.partition("=")
        if not (name and equals and path):
            message = f"--background {text!r} is not of the form NAME=FILE"
            raise click.UsageError(message)
        if name in result:
            message = f"--background {name!r} is given twice"
            raise click.UsageError(message)
        result[name] = path
    return result


def _names_of(models: tuple[Path, ...]) -> dict[str, Path]:
    """Return the models by the shortest kind of name that is unique."""
    for name in (lambda path: path.stem, lambda path: path.name, str):
        result = {name(path): path for path in models}
        if len(result) == len(models):
            return result
    message = f"a MODEL is given twice: {', '.join(map(str, models))}"
    raise click.UsageError(message)


COMMANDS = [compare]
