"""glasswood monotonicity, certificate: whether curves, rows, or all rows that there can be are monotonic."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from glasswood.terminal._context import explain, open_explainer
from glasswood.terminal._options import MODEL, Command, model_options, output_options, response_option, table_options
from glasswood.terminal._output import check_destination, columns_of, write_table

__all__ = ["COMMANDS"]


@click.command(
    cls=Command,
    short_help="Prove monotonicity from the trees, without data.",
    examples=[
        "glasswood certificate model.txt",
        "glasswood certificate model.txt income age --json",
        "glasswood certificate model.txt -o certificate.csv && deploy",
    ],
)
@click.argument("model", type=MODEL)
@click.argument("features", nargs=-1, metavar="[FEATURE]...")
@output_options
@table_options
@model_options
@click.pass_context
def certificate(
    ctx: click.Context,
    *,
    opened: Callable[[Path], Any],
    model: Path,
    features: tuple[str, ...],
    asked: dict[str, Any],
    destination: tuple[str, str | None],
) -> None:
    """List what the trees of MODEL prove about each numeric FEATURE: increasing, decreasing, or nothing.

    No data is needed, and a proof holds for every row. `fall` and `rise` are how far the raw score can move at most if
    the feature rises; 0 is a proof. `declared` is a monotone constraint that the model says it has (XGBoost's files say
    nothing), and `verdict` tells whether it is proven, broken, or open. The exit code is 1 if one is broken; standard
    error then tells the values that show it.
    """
    check_destination(destination)
    result = explain(opened(model)).certificate(*features, **asked)
    write_table(columns_of(result), destination)
    for broken in result.broken:
        click.echo(f"glasswood: broken promise: {broken.text}", err=True)
    if result.broken:
        ctx.exit(1)


@click.command(
    cls=Command,
    short_help="Tell which curves, and how many rows, are monotonic.",
    examples=[
        "glasswood monotonicity model.json rows.gw",
        "glasswood monotonicity model.json rows.parquet income --rows",
        "glasswood monotonicity model.json rows.parquet --rows --json",
    ],
)
@click.argument("model", type=MODEL)
@click.argument("data", metavar="BACKGROUND|DATA")
@click.argument("features", nargs=-1, metavar="[FEATURE]...")
@click.option("--rows", is_flag=True, help="Count the rows whose own curve goes against the direction.")
@response_option()
@output_options
@table_options
@model_options
def monotonicity(  # noqa: PLR0913 (one command has all its options)
    *,
    opened: Callable[[Path], Any],
    model: Path,
    data: str,
    features: tuple[str, ...],
    rows: bool,
    response: str | None,
    asked: dict[str, Any],
    destination: tuple[str, str | None],
) -> None:
    """Tell whether the curve of each numeric FEATURE is monotonic, at every step of the model.

    With --rows, the own curve of every row is looked at: `rows` is the number (or weight) of those that go against the
    direction, `at_least` and `below` are what the largest such move is between, and `at` is the cut where most rows
    have such a step. The direction is the one that the model declares, or the main direction of the curve. A background
    must have been made with summarize --answer row_monotonicity.
    """
    check_destination(destination)
    explainer = open_explainer(opened(model), data, response=response)
    result: Any = explainer.row_monotonicity(*features, **asked) if rows else explainer.monotonicity(*features, **asked)
    write_table(columns_of(result), destination)


COMMANDS = [monotonicity, certificate]
