"""glasswood curve: partial dependence as a table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

from glasswood.questions.curves._result import Curve
from glasswood.terminal._context import open_explainer
from glasswood.terminal._options import MODEL, Command, model_options, output_options, response_option, table_options
from glasswood.terminal._output import check_destination, columns_of, write_table

__all__ = ["COMMANDS"]


@click.command(
    cls=Command,
    short_help="Write partial dependence: curves or a surface.",
    examples=[
        "glasswood curve model.json rows.gw age",
        "glasswood curve model.json rows.parquet age income --label 1 -o curves.csv",
        "glasswood curve model.json rows.parquet age income --joint -o surface.parquet",
        "glasswood curve model.json rows.gw --json > all.json",
        "glasswood curve model.json rows.parquet age --response probability",
    ],
)
@click.argument("model", type=MODEL)
@click.argument("data", metavar="BACKGROUND|DATA")
@click.argument("features", nargs=-1, metavar="[FEATURE]...")
@click.option("--joint", is_flag=True, help="Write the surface of two features instead of a curve of each.")
@response_option()
@output_options
@table_options
@model_options
def curve(  # noqa: PLR0913 (one command has all its options)
    *,
    opened: Callable[[Path], Any],
    model: Path,
    data: str,
    features: tuple[str, ...],
    joint: bool,
    response: str | None,
    asked: dict[str, Any],
    destination: tuple[str, str | None],
) -> None:
    """Write the partial dependence of each FEATURE at full resolution, or of all features if none is given.

    There is one line per interval between neighbouring cuts of the model (excluding the lower cut, including the upper
    one), or one line per category. The last lines of a feature are for categories unknown to the model and for missing
    values. In JSON, null stands for infinite ends and missing numbers.
    """
    check_destination(destination)
    if joint and len(features) != 2:
        message = f"--joint needs exactly two features, not {len(features)}"
        raise click.UsageError(message)
    explainer = open_explainer(opened(model), data, response=response)
    if joint:
        write_table(columns_of(explainer.partial_dependence(*features, **asked)), destination, "csv")
        return
    result = [explainer.partial_dependence(feature, **asked) for feature in features]
    if not features:
        result = list(explainer.partial_dependence(**asked).values())
    if not all(isinstance(one, Curve) for one in result):  # columns of a pipeline have points
        if len(result) != 1:
            message = "columns of a pipeline do not fit in one table; pass a single FEATURE"
            raise click.UsageError(message)
        write_table(columns_of(result[0]), destination, "csv")
        return
    parts = [_cells(one) for one in result]
    write_table({name: [x for part in parts for x in part[name]] for name in parts[0]}, destination, "csv")


def _cells(curve: Curve) -> dict[str, list[Any]]:
    """Return a curve as columns, the same for all kinds of features."""
    axis, n_outputs = curve.axis, len(curve.outputs)
    n_cells = len(curve.heights)
    if curve.categories is None:
        above, to = [-np.inf, *curve.cuts.tolist(), np.nan], [*curve.cuts.tolist(), np.inf, np.nan]
        category: list[Any] = [None] * (n_cells - 1) + ["(missing)"]
    else:
        above = to = [np.nan] * n_cells
        category = [*map(str, axis.labels)]
    rows = axis.rows.tolist() if axis.rows.size else [None] * n_cells
    columns: dict[str, list[Any]] = {"feature": [curve.name] * n_cells, "above": above, "to": to, "category": category}
    columns = {name: [x for x in values for _ in range(n_outputs)] for name, values in columns.items()}
    if n_outputs > 1:
        columns["output"] = list(curve.outputs) * n_cells
    columns |= {"value": curve.heights.ravel().tolist(), "rows": [x for x in rows for _ in range(n_outputs)]}
    return columns | {"units": [curve.units] * (n_cells * n_outputs)}


COMMANDS = [curve]
