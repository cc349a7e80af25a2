"""glasswood interactions: the pairs and sets of features that interact most, as a table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

from glasswood.errors import TableError
from glasswood.questions.interactions._result_h import HStatistics
from glasswood.terminal._context import explain
from glasswood.terminal._files import open_data
from glasswood.terminal._options import MODEL, Command, model_options, output_options, table_options
from glasswood.terminal._output import check_destination, columns_of, write_table

__all__ = ["COMMANDS"]


@click.command(
    cls=Command,
    short_help="List the strongest interactions of features.",
    examples=[
        "glasswood interactions model.json rows.parquet --top 5",
        "glasswood interactions model.json pairs.gw -o pairs.csv",
        "glasswood interactions model.json rows.parquet --max-order 3 --json",
        "glasswood interactions model.json rows.parquet --per feature",
    ],
)
@click.argument("model", type=MODEL)
@click.argument("data", metavar="DATA|BACKGROUND")
@click.option(
    "--top",
    type=click.IntRange(1),
    metavar="N",
    default=20,
    show_default=True,
    help="The number of interactions, the strongest first.",
)
@click.option(
    "--max-order",
    type=click.IntRange(2),
    metavar="N",
    default=2,
    show_default=True,
    help="The largest number of features in a set.",
)
@click.option(
    "--per",
    type=click.Choice(["pair", "feature", "model"]),
    default="pair",
    show_default=True,
    help="List pairs, the interaction of each feature with all others, or of the whole model.",
)
@output_options
@table_options
@model_options
def interactions(  # noqa: PLR0913 (one command has all its options)
    *,
    opened: Callable[[Path], Any],
    model: Path,
    data: str,
    top: int,
    max_order: int,
    per: str,
    asked: dict[str, Any],
    destination: tuple[str, str | None],
) -> None:
    """List the pairs of features that interact most: their joint effect beyond the sum of their curves.

    `value` is the root mean square of the pair's interaction over the rows, in units of the score; `h` is Friedman's H,
    the share of the pair's joint effect that is interaction. With --max-order 3 or more, sets of up to that many
    features (including single ones) are ranked by mean absolute value. A background must have order 2 (summarize
    --order 2); its features are assumed to be independent.

    With --per feature, `h` compares what a feature and all others do together with the sum of both parts; `numerator`
    and `denominator` are the two variances. With --per model, `beyond_main_effects` is what is left of the score's
    variance after all curves are subtracted, and `beyond_pairs` after all pairs, too. Both read the rows twice.
    """
    check_destination(destination)
    if per != "pair" and max_order != 2:
        message = f"--per {per} and --max-order exclude each other"
        raise click.UsageError(message)
    rows = open_data(data, in_memory=True)
    explainer = explain(opened(model), rows)
    if per != "pair":
        whole = explainer.h_statistics(**asked)
        columns = columns_of(whole) if per == "feature" else _columns_of_model(whole)
        write_table({name: part[:top] for name, part in columns.items()}, destination)
        return
    if max_order == 2:
        write_table(columns_of(explainer.interaction_strengths(**asked).top(top)), destination)
        return
    if data.endswith(".gw"):
        message = f"--max-order {max_order} needs the rows themselves, but {data!r} only has counts"
        raise TableError(message)
    result = explainer.interaction_values(rows, max_order=max_order, **asked).top(top)
    write_table(columns_of(result), destination)


def _columns_of_model(result: HStatistics) -> dict[str, list[Any]]:
    """Return what curves and pairs leave over, as columns with one line per output."""
    outputs = {"output": list(result.outputs)} if len(result.outputs) > 1 else {}
    parts = {
        "beyond_main_effects": result.beyond_main_effects,
        "beyond_pairs": result.beyond_pairs,
        "variance": result.denominator,
    }
    return outputs | {name: np.ravel(part).tolist() for name, part in parts.items()}


COMMANDS = [interactions]
