"""glasswood certificate: what the trees alone prove about monotonicity."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from glasswood import Explainer
from glasswood.cli._options import MODEL, Command, model_options, output_options, table_options
from glasswood.cli._output import check_destination, columns_of, write_table

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
    found = Explainer(opened(model)).certificate(*features, **asked)
    write_table(columns_of(found), destination)
    for broken in found.broken:
        click.echo(f"glasswood: broken promise: {broken.told}", err=True)
    if found.broken:
        ctx.exit(1)


COMMANDS = [certificate]
