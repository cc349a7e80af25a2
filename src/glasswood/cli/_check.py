"""glasswood check, info: the contents of a file, and whether the model in it was read correctly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from glasswood import Background
from glasswood.cli._summarize import facts_of
from glasswood.errors import TableError
from glasswood.models._combinations import N_CHECKED
from glasswood.models._opened import open_model
from glasswood.models.readers import measure
from glasswood.tables._tables import n_rows
from glasswood.terminal._files import read_rows
from glasswood.terminal._options import MODEL, Command, as_json, model_options
from glasswood.terminal._output import describe, print_json

__all__ = ["COMMANDS"]

MANY = 10_000  # rows


@click.command(
    cls=Command,
    short_help="Compare the scores of a model with its own library.",
    examples=[
        "glasswood check model.json rows.parquet",
        "glasswood check model.json rows.parquet --json && echo good",
        "glasswood check model.skops rows.csv --rows 100",
    ],
)
@click.argument("model", type=MODEL)
@click.argument("data", required=False)
@click.option(
    "--rows",
    type=click.IntRange(1),
    metavar="N",
    default=MANY,
    show_default=True,
    help="The maximum number of rows of DATA.",
)
@as_json
@model_options
@click.pass_context
def check(
    ctx: click.Context, *, opened: Callable[[Path], Any], model: Path, data: str | None, rows: int, as_json: bool
) -> None:
    """Read MODEL and compare the scores of its trees with those of its own library on rows of DATA.

    Without DATA, the model is only read, which shows whether Glasswood supports it. The exit code is 1 if any score
    differs by more than floating-point summation order can explain.
    """
    loaded = opened(model)
    if data is None:
        ensemble = open_model(loaded).ensemble
        facts: dict[str, Any] = {"model": str(ensemble.source), "rows compared": 0, "passed": None}
        if as_json:
            print_json(facts)
        else:
            describe(facts | {"passed": "read, but not compared: pass DATA to compare scores"})
        return
    table = read_rows(data, rows)
    if n_rows(table) == 0:
        message = "DATA has no rows to compare scores on"
        raise TableError(message)
    read = open_model(loaded, table, compare=measure)
    proof = read.proof  # None for a combination, which is refused if its predictions are not reproduced
    facts = {"model": read.ensemble.source}
    if proof is None:
        facts |= {
            "rows compared": min(N_CHECKED, n_rows(table)),
            "compared": "the predictions of the combination, within 1e-6",
        }
    else:
        facts |= {
            "rows compared": proof.n_rows,
            "scores": proof.n_scores,
            "equal in every bit": proof.n_equal,
            "largest difference": proof.largest,
            "allowed": proof.margin,
        }
    passed = proof is None or proof.passed
    if as_json:
        print_json(facts | {"passed": passed})
    else:
        describe(facts | {"passed": "yes" if passed else "NO: the trees do not reproduce the model"})
    if not passed:
        ctx.exit(1)


@click.command(
    cls=Command,
    short_help="Show what is in a model file or a background.",
    examples=["glasswood info model.json", "glasswood info rows.gw --json"],
)
@click.argument("file", type=MODEL, metavar="MODEL|BACKGROUND")
@as_json
@model_options
def info(*, opened: Callable[[Path], Any], file: Path, as_json: bool) -> None:
    """Show what is in a model file or a background."""
    if file.suffix == ".gw":
        background = Background.load(file)
        if as_json:
            print_json({"kind": "background", **facts_of(background)})
        else:
            describe({"background": "counts of rows", **background.facts})
        return
    ensemble = open_model(opened(file)).ensemble
    facts = {"model": ensemble.source, **ensemble.facts}
    if as_json:
        lists = {"outputs": list(ensemble.score.labels), "feature names": list(ensemble.feature_names)}
        print_json({"kind": "model", **facts, **lists})
    else:
        describe(facts | {"feature names": _listed(ensemble.feature_names)})


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names[:10]) + (f", ... ({len(names):,} in total)" if len(names) > 10 else "")


COMMANDS = [check, info]
