"""glasswood importance: which features matter, as a table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from glasswood.terminal._context import open_explainer
from glasswood.terminal._options import MODEL, Command, model_options, output_options, response_option, table_options
from glasswood.terminal._output import check_destination, columns_of, write_table

__all__ = ["COMMANDS"]


@click.command(
    cls=Command,
    short_help="List the most important features.",
    examples=[
        "glasswood importance model.json rows.parquet",
        "glasswood importance model.json rows.gw --kind main -o importance.csv",
        "glasswood importance model.json rows.parquet --kind permutation --target claims",
        "glasswood importance model.json rows.gw --kind permutation --loss log_loss --json",
    ],
)
@click.argument("model", type=MODEL)
@click.argument("data", metavar="DATA|BACKGROUND")
@click.option(
    "--kind",
    type=click.Choice(["total", "main", "permutation"]),
    help="How much the score changes if the feature is redrawn, how much its curve varies, or how much a loss "
    "increases. Default: total if the rows are given or the background has it, otherwise main.",
)
@click.option("--target", metavar="COLUMN", help="What was observed, for --kind permutation.")
@click.option("--offset", metavar="COLUMN", help="What is added to the raw score of the rows before the link.")
@click.option("--loss", metavar="NAME", help="The loss for --kind permutation, such as log_loss or quantile:0.9.")
@click.option("--weight", metavar="COLUMN", help="The weights of the rows.")
@click.option("--folds", type=int, metavar="N", help="Divide rows into this number of folds, for errors: 20.")
@click.option("--all-rows", is_flag=True, help="Use all rows, even if there are so many that it takes long.")
@click.option("--top", type=click.IntRange(1), metavar="N", help="Only the N most important features.")
@response_option()
@output_options
@table_options
@model_options
def importance(  # noqa: PLR0913 (one command has all its options)
    *,
    opened: Callable[[Path], Any],
    model: Path,
    data: str,
    kind: str | None,
    target: str | None,
    offset: str | None,
    loss: str | None,
    weight: str | None,
    folds: int | None,
    all_rows: bool,
    top: int | None,
    response: str | None,
    asked: dict[str, Any],
    destination: tuple[str, str | None],
) -> None:
    """List features by their importance, the most important first.

    Total importance is the root mean squared change of the score if the feature is redrawn from the rows; it includes
    interactions. Main importance is the standard deviation of the feature's curve. Permutation importance is how much
    the mean loss increases if the feature is permuted, exactly: the mean over all permutations. The column `kind` or
    `loss` says which one it is. A background has total importance if it was made with summarize --answer
    importance, and permutation importance with --target COLUMN --answer permutation_importance.
    """
    check_destination(destination)
    if kind != "permutation" and loss is not None:
        message = "--loss is for --kind permutation"
        raise click.UsageError(message)
    values = {"target": target, "offset": offset, "sample_weight": weight, "folds": folds}
    explainer = open_explainer(opened(model), data, response=response, values=values)
    if kind == "permutation":
        result: Any = explainer.permutation_importance(loss=loss, all_rows=all_rows)
    else:
        result = explainer.importance(kind=kind, all_rows=all_rows, **asked)
    write_table(columns_of(result if top is None else result.top(top)), destination)


COMMANDS = [importance]
