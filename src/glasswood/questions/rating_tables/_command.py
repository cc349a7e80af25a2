"""glasswood table: a model as a rating table, as CSV, Excel or SQL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from glasswood.questions.rating_tables._result_sql import DIALECTS
from glasswood.tables._files import write_whole
from glasswood.terminal._context import open_explainer
from glasswood.terminal._options import MODEL, Command, model_options, output_options

__all__ = ["COMMANDS"]


@click.command(
    cls=Command,
    short_help="Write a model as a rating table: CSV, Excel or SQL.",
    examples=[
        "glasswood table model.json rows.parquet -o table.xlsx",
        "glasswood table model.json rows.parquet --pairs 5 -o table.csv",
        "glasswood table model.json rows.parquet -o score.sql",
        "glasswood table model.json rows.parquet --dialect spark -o score.sql",
    ],
)
@click.argument("model", type=MODEL)
@click.argument("data")
@click.option(
    "--pairs",
    type=click.IntRange(0),
    metavar="N",
    default=10,
    show_default=True,
    help="The number of pairs of features, those that interact most.",
)
@click.option("--weight", metavar="COLUMN", help="The weights of the rows.")
@click.option(
    "--dialect", type=click.Choice(list(DIALECTS)), default="duckdb", show_default=True, help="The database, for SQL."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    required=True,
    help="A .csv, .xlsx or .sql file. It is overwritten if it exists.",
)
@output_options
@model_options
def table(  # noqa: PLR0913 (one command has all its options)
    *,
    opened: Callable[[Path], Any],
    model: Path,
    data: str,
    pairs: int,
    weight: str | None,
    dialect: str,
    output: Path,
    asked: dict[str, Any],
) -> None:
    """Write MODEL as a table: a base, entries for the values of each feature, and for those of some pairs.

    The raw score of a row is the sum of its entries, and of a remainder, which is printed: its largest and mean
    absolute value over all rows of DATA, and its share of the score's variance. It is 0 if no path of any tree has more
    than two features, and all pairs are in the table. With a log link, factors multiply.
    """
    kinds = {".csv": "to_csv", ".xlsx": "to_excel", ".sql": "to_sql"}
    if output.suffix not in kinds:
        message = f"-o is a .csv, .xlsx or .sql file, not {output.name!r}"
        raise click.UsageError(message)
    result = open_explainer(opened(model), data, values={"sample_weight": weight}).rating_table(pairs=pairs, **asked)
    if output.suffix == ".sql":
        write_whole(output, result.to_sql(dialect).encode())
    else:
        getattr(result, kinds[output.suffix])(output)
    click.echo(repr(result))


COMMANDS = [table]
