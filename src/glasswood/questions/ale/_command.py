"""glasswood ale: accumulated local effects as a table."""

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
    short_help="Write accumulated local effects (ALE).",
    examples=[
        "glasswood ale model.json rows.parquet age",
        "glasswood ale model.json rows.parquet --bins 40 -o ale.csv",
        "glasswood ale model.json rows.parquet age income --joint -o pair.csv",
        "glasswood ale model.json rows.gw --json > all.json",
    ],
)
@click.argument("model", type=MODEL)
@click.argument("data", metavar="BACKGROUND|DATA")
@click.argument("features", nargs=-1, metavar="[FEATURE]...")
@click.option(
    "--bins", type=click.IntRange(1), metavar="N", help="The number of bins: 20, and 10 for pairs, by default."
)
@click.option("--joint", is_flag=True, help="Write the effect of two features beyond each of them alone.")
@response_option()
@output_options
@table_options
@model_options
def ale(  # noqa: PLR0913 (one command has all its options)
    *,
    opened: Callable[[Path], Any],
    model: Path,
    data: str,
    features: tuple[str, ...],
    bins: int | None,
    joint: bool,
    response: str | None,
    asked: dict[str, Any],
    destination: tuple[str, str | None],
) -> None:
    """Write the accumulated local effects (ALE) of each FEATURE, or of all features if none is given.

    There is one line per edge of a bin, or per category; `rows` are those of the bin that ends there. A background must
    have been made with summarize --answer ale.
    """
    check_destination(destination)
    if joint and len(features) != 2:
        message = f"--joint needs exactly two features, not {len(features)}"
        raise click.UsageError(message)
    explainer = open_explainer(opened(model), data, response=response)
    if joint:
        write_table(columns_of(explainer.ale(*features, bins=bins, **asked)), destination, "csv")
        return
    result = explainer.ale(list(features), bins=bins, **asked) if features else explainer.ale(bins=bins, **asked)
    write_table(columns_of(result), destination, "csv")


COMMANDS = [ale]
