"""glasswood shap: Shapley values of every row of a file or folder, written to a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from glasswood.terminal._context import explain
from glasswood.terminal._files import open_data, proved
from glasswood.terminal._options import MODEL, Command, model_options, output_options
from glasswood.text._printable import how_many

__all__ = ["COMMANDS"]


@click.command(
    cls=Command,
    short_help="Write the Shapley values of every row to a folder.",
    examples=[
        "glasswood shap model.json rows.parquet --background rows.gw --keep id -o shap/",
        "glasswood shap model.json rows.parquet --background rows.gw --keep id --top 3 -o reasons/",
        "glasswood shap model.json rows.parquet -o shap/",
    ],
)
@click.argument("model", type=MODEL)
@click.argument("data")
@click.option(
    "--background",
    metavar="DATA",
    help="The rows to average over: a file, or a background of `glasswood summarize --order all`. Without it, values "
    "are path-dependent.",
)
@click.option("--keep", metavar="COLUMN", multiple=True, help="A column that is passed on, such as an identifier.")
@click.option(
    "--top", type=click.IntRange(1), metavar="N", help="Only the N features of each row with the largest values."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="A new folder, or that of an interrupted call, which is resumed.",
)
@output_options
@model_options
def shap(  # noqa: PLR0913 (one command has all its options)
    *,
    opened: Callable[[Path], Any],
    model: Path,
    data: str,
    background: str | None,
    keep: tuple[str, ...],
    top: int | None,
    output: Path,
    asked: dict[str, Any],
) -> None:
    """Write the Shapley values of every row of DATA to a folder of Parquet files, one per file of DATA.

    Memory use does not depend on the number of rows. If a call is interrupted, the same call writes what is missing.
    """
    given, further = opened(model), list(keep)
    in_memory = not isinstance(given, Path)  # pipelines may have to transform the rows
    fitted = given if in_memory else proved(given, data, further).ensemble
    over = None if background is None else open_data(background, in_memory=in_memory)
    rows = open_data(data, in_memory=False)
    rows = rows if isinstance(rows, str) else iter([rows])  # a CSV file
    values = explain(fitted, over).shap_values(rows, keep=further, **asked)
    result = values if top is None else values.top_per_row(top)
    click.echo(f"{how_many(result.to_parquet(output), 'row')} written to {output}")


COMMANDS = [shap]
