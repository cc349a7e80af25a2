"""Values of many rows in one panel: their mean size per feature, all of them, or those of one feature."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError, TableError
from glasswood.plots._spec import Bars, Dots, Waterfall
from glasswood.questions.rows._panel_waterfall import panel_of_row
from glasswood.questions.rows._result import Attributions
from glasswood.results._drawable import drawn
from glasswood.results.panels._outputs import one_output, outputs_shown, scale_label
from glasswood.results.panels._places import Places, places_of
from glasswood.text._arguments import whole_number
from glasswood.text._plain import number, plain
from glasswood.text._printable import how_many

__all__ = ["KINDS", "panel_of_attributions"]


KINDS = ("waterfall", "bar", "beeswarm", "scatter")

MAX_ROWS = 2000  # more dots per feature add no information

BINS = 120  # the parts of the axis in which dots are stacked

HALF = 0.42  # how far the highest stack of dots reaches to either side

NEAR = 20  # rows with similar values, among which the colour of a scatter is chosen


@drawn(Attributions)
def panel_of_attributions(
    result: Attributions,
    row: int = 0,
    output: int | None = None,
    *,
    kind: str = "waterfall",
    top: int = 10,
    feature: str | None = None,
    color: str | None = None,
) -> Waterfall | Bars | Dots:
    """Return a panel of `Attributions`: of one row, or of all rows."""
    if kind not in KINDS:
        message = f"kind must be one of {KINDS!r}, not {kind!r}"
        raise ArgumentError(message)
    if kind == "waterfall":
        return panel_of_row(result, row, output, top=top)
    if result.heights.ndim > 3:
        message = f'kind="{kind}" is for values of single features; pairs are drawn row by row, kind="waterfall"'
        raise TableError(message)
    if kind == "bar":
        return _bars(result, output, top)
    k = one_output(result.heights.mean(axis=0), result.outputs, output, f"a {kind}")
    return _swarm(result, k, top) if kind == "beeswarm" else _scatter(result, k, feature, color)


def _sample(n_rows: int) -> tuple[NDArray[np.intp], str]:
    """Return the numbers of the rows that are drawn, evenly spread and the same each time, and a note."""
    if n_rows <= MAX_ROWS:
        return np.arange(n_rows), ""
    return np.linspace(0, n_rows - 1, MAX_ROWS).astype(np.intp), f"{MAX_ROWS:,} of {n_rows:,} rows"


def _ranked(result: Attributions, shown: list[int], top: int) -> tuple[NDArray[np.intp], NDArray[np.float64], str]:
    """Return the features with the largest mean size, these sizes, and a note."""
    size = np.abs(result.heights[..., shown]).mean(axis=0)
    order = np.argsort(-np.sqrt((size**2).sum(axis=1)), kind="stable")
    top = whole_number(top, "top is the number of features")
    note = f"the first {top} of {len(order):,} features" if len(order) > top else ""
    return order[:top], size, note


def _bars(result: Attributions, output: int | None, top: int) -> Bars:
    """Return the mean absolute value of each feature."""
    shown, note = outputs_shown(np.abs(result.heights).mean(axis=0), result.outputs, output)
    order, size, left_out = _ranked(result, shown, top)
    units = scale_label(result.units, result.outputs, shown, average=False)
    return Bars(
        title=f"{result.name}: mean size",
        x_label=f"mean absolute value over {how_many(len(result), 'row')} ({units})",
        labels=tuple(plain(result.names[i]) for i in order),
        values=tuple(tuple(size[order, k].tolist()) for k in range(len(shown))),
        series=tuple(plain(result.outputs[k]) for k in shown) if len(shown) > 1 else ("",),
        note="; ".join(filter(None, (left_out, note))),
    )


def _swarm(result: Attributions, k: int, top: int) -> Dots:
    """Return a dot per row and feature, coloured by the feature's value among those of all rows."""
    order, _, left_out = _ranked(result, [k], top)
    rows, sampled = _sample(len(result))
    data = result.columns.of_rows(rows)
    values = result.heights[rows][:, order, k]
    low, high = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    y = [line + _stacked(values[:, line], low, high) for line in range(order.size)]
    columns = [None if data is None else places_of(data[:, feature].tolist()) for feature in order]
    colours = [np.full(rows.size, np.nan) if places is None else _ranks(places) for places in columns]
    texts = [
        f"row {row}, {plain(result.names[feature])}{_value_text(places, i)}: {number(values[i, line])}"
        for line, (feature, places) in enumerate(zip(order, columns, strict=True))
        for i, row in enumerate(rows)
    ]
    grey = "grey: categories and missing values" if np.isnan(colours).any() and not np.isnan(colours).all() else ""
    return Dots(
        title=f"{result.name} of all rows",
        x_label=scale_label(result.units, result.outputs, [k], average=False) + ", what each feature adds",
        y_label="",
        x=tuple(values.T.ravel().tolist()),
        y=tuple(np.concatenate(y).tolist()) if y else (),
        colours=() if np.isnan(colours).all() else tuple(np.concatenate(colours).tolist()),
        colour_label="value of the feature",
        colour_ends=("low", "high"),
        y_labels=tuple(plain(result.names[feature]) for feature in order),
        texts=tuple(texts),
        zero=True,
        note="; ".join(filter(None, (left_out, sampled, grey))),
    )


def _value_text(places: Places | None, i: int) -> str:
    return "" if places is None else f" = {places.labels[places.cells[i]]}"


def _stacked(values: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """Return how far each dot stands above or below its line, so that dots of similar values lie side by side."""
    bins = np.minimum(((values - low) / max(high - low, 1e-300) * BINS).astype(np.intp), BINS - 1)
    order = np.argsort(bins, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(bins, minlength=BINS))])[bins[order]]
    height = np.empty(values.size)
    height[order] = np.arange(values.size) - first
    side: NDArray[np.float64] = np.where(height % 2 == 0, height / 2, -(height + 1) / 2)
    max_ = max(float(np.abs(side).max(initial=0.0)), 8.0)
    return np.asarray(side * (HALF / max_))


def _ranks(places: Places) -> NDArray[np.float64]:
    """Return the rank of each row's number, from 0 to 1; NaN for categories and missing values."""
    if places.values is None or places.n < 2:
        return np.full(places.cells.size, np.nan)
    ranks = np.where(np.isfinite(places.values), np.arange(places.values.size) / (places.n - 1), np.nan)
    return np.asarray(ranks[places.cells])


def _scatter(result: Attributions, k: int, feature: str | None = None, color: str | None = None) -> Dots:
    """Return the values of one feature over what the feature is, coloured by another one."""
    rows, sampled = _sample(len(result))
    data = result.columns.of_rows(rows)
    if data is None:
        message = "a scatter plot needs the value of a single feature, and a group of columns has several"
        raise TableError(message)
    size = np.abs(result.heights[..., k]).mean(axis=0)
    f = int(size.argmax()) if feature is None else _number_of(result, feature)
    places = [places_of(column) for column in data.T.tolist()]
    values = result.heights[rows, f, k]
    other = _companion_of(places, values, f) if color is None else _number_of(result, color)
    x, note = places[f], sampled
    missing = np.full(rows.size, fill_value=False) if x.values is None else ~np.isfinite(x.values[x.cells])
    if missing.any():
        note = "; ".join(filter(None, (note, f"not shown: {how_many(int(missing.sum()), 'row')} where it is missing")))
    at = x.cells.astype(np.float64) if x.values is None else x.values[x.cells]
    colours = np.empty(0) if other is None else _numbers(places[other])
    names = [plain(name) for name in result.names]
    texts = [f"row {row}, {names[f]}{_value_text(x, i)}: {number(values[i])}" for i, row in enumerate(rows)]
    kept = np.flatnonzero(~missing)
    return Dots(
        title=f"{result.name} of {names[f]}",
        x_label=names[f],
        y_label=f"{scale_label(result.units, result.outputs, [k], average=False)}, what {names[f]} adds",
        x=tuple(at[kept].tolist()),
        y=tuple(values[kept].tolist()),
        colours=tuple(colours[kept].tolist()) if colours.size else (),
        colour_label="" if other is None else names[other],
        x_labels=tuple(x.labels) if x.values is None else (),
        texts=tuple(texts[i] for i in kept),
        note=note,
    )


def _number_of(result: Attributions, name: str) -> int:
    if name in result.names:
        return int(result.names.index(name))
    raise TableError.no_feature(name, result.names)


def _numbers(places: Places) -> NDArray[np.float64]:
    """Return the numbers of a feature for colours: of categories, their places in the order of labels."""
    return places.cells.astype(np.float64) if places.values is None else places.values[places.cells]


def _companion_of(places: list[Places], values: NDArray[np.float64], f: int) -> int | None:
    """Return the feature of numbers that goes best with what the feature itself leaves open; None if there is none.

    Rows are sorted by the feature, and compared with the few next to them.
    """
    order = np.argsort(places[f].cells, kind="stable")
    blocks = [block for block in np.array_split(order, max(1, order.size // NEAR)) if block.size]
    scores: list[tuple[float, int]] = []
    for g, other in enumerate(places):
        ranks = _ranks(other)
        if g == f or not np.isfinite(ranks).all():
            continue
        pairs = [(ranks[b] - ranks[b].mean(), values[b] - values[b].mean()) for b in blocks]
        together = sum(abs(float(a @ c)) for a, c in pairs)
        spread = sum(float(a @ a) for a, _ in pairs) * sum(float(c @ c) for _, c in pairs)
        scores.append((together / spread**0.5 if spread > 0 else 0.0, g))
    best = max(scores, default=(0.0, -1))
    return best[1] if best[0] > 0 else None
