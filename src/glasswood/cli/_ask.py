"""glasswood curve, ale, interactions: questions about a model, answered as tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

from glasswood import Curve, Explainer, HStatistics
from glasswood.cli._files import open_data, open_explainer
from glasswood.cli._options import MODEL, Command, model_options, output_options, response_option, table_options
from glasswood.cli._output import check_destination, columns_of, write_table
from glasswood.errors import TableError

__all__ = ["COMMANDS"]


@click.command(
    cls=Command,
    short_help="Write partial dependence: curves or a surface.",
    examples=[
        "glasswood curve model.json rows.gw age",
        "glasswood curve model.json rows.parquet age income --output-name 1 -o curves.csv",
        "glasswood curve model.json rows.parquet age income --joint -o surface.parquet",
        "glasswood curve model.json rows.gw --json > all.json",
        "glasswood curve model.json rows.parquet age --response probability",
    ],
)
@click.argument("model", type=MODEL)
@click.argument("data", metavar="BACKGROUND|DATA")
@click.argument("features", nargs=-1, metavar="[FEATURE]...")
@click.option("--joint", is_flag=True, help="Write the surface of two features instead of a curve of each.")
@response_option("Default: raw.")
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
    found = [explainer.partial_dependence(feature, **asked) for feature in features]
    if not features:
        found = list(explainer.partial_dependence(**asked).values())
    if not all(isinstance(one, Curve) for one in found):  # columns of a pipeline have points
        if len(found) != 1:
            message = "columns of a pipeline do not fit in one table; pass a single FEATURE"
            raise click.UsageError(message)
        write_table(columns_of(found[0]), destination, "csv")
        return
    parts = [_cells(one) for one in found]
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
    and `denominator` are the two variances. With --per model, `left_by_mains` is what is left of the score's variance
    after all curves are subtracted, and `left_by_pairs` after all pairs, too. Both read the rows twice.
    """
    check_destination(destination)
    if per != "pair" and max_order != 2:
        message = f"--per {per} and --max-order exclude each other"
        raise click.UsageError(message)
    rows = open_data(data, in_memory=True)
    explainer = Explainer(opened(model), rows)
    if per != "pair":
        whole = explainer.h_statistics(**asked)
        columns = columns_of(whole) if per == "feature" else _of_model(whole)
        write_table({name: part[:top] for name, part in columns.items()}, destination)
        return
    if max_order == 2:
        write_table(columns_of(explainer.interaction_strengths(**asked).top(top)), destination)
        return
    if data.endswith(".gw"):
        message = f"--max-order {max_order} needs the rows themselves, but {data!r} only has counts"
        raise TableError(message)
    found = explainer.interaction_values(rows, max_order=max_order, **asked).top(top)
    write_table(columns_of(found), destination)


def _of_model(found: HStatistics) -> dict[str, list[Any]]:
    """Return what curves and pairs leave over, as columns with one line per output."""
    outputs = {"output": list(found.outputs)} if len(found.outputs) > 1 else {}
    parts = {"left_by_mains": found.left_by_mains, "left_by_pairs": found.left_by_pairs, "variance": found.denominator}
    return outputs | {name: np.ravel(part).tolist() for name, part in parts.items()}


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
@response_option("Default: raw.")
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
    have been made with summarize --ale.
    """
    check_destination(destination)
    if joint and len(features) != 2:
        message = f"--joint needs exactly two features, not {len(features)}"
        raise click.UsageError(message)
    explainer = open_explainer(opened(model), data, response=response)
    if joint:
        write_table(columns_of(explainer.ale(*features, bins=bins, **asked)), destination, "csv")
        return
    found = explainer.ale(list(features), bins=bins, **asked) if features else explainer.ale(bins=bins, **asked)
    write_table(columns_of(found), destination, "csv")


COMMANDS = [curve, ale, interactions]
