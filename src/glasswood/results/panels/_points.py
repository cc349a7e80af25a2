"""Panels of points: along an axis of numbers, on the grid of two features, as dots, or each with its label."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from glasswood.plots._spec import Cells, Dots, Line, Scale, Steps
from glasswood.results._drawable import drawn
from glasswood.results._points import Points
from glasswood.results.panels._display import fitted
from glasswood.results.panels._layout import LARGEST, SQUASHED, TAIL, Layout, beyond
from glasswood.results.panels._outputs import centered_label, one_output, outputs_shown, scale_label
from glasswood.results.panels._scales import rescaled
from glasswood.results.panels._surfaces import nested
from glasswood.text._plain import number, plain
from glasswood.text._printable import unlike

__all__ = ["layout_of_points", "numbers_of", "panel_of_points", "places_of", "steps_of_points"]

MOST = 30  # labels
FILLED = 0.4  # the part of a grid that must have points
FINEST = 300  # values of a feature on a grid


@drawn(Points)
def panel_of_points(
    points: Points, output: int | None = None, *, sort: str | None = None, xscale: str = "linear"
) -> Steps | Cells | Dots:
    """Return the panel of `Points`: along the axis for one column of numbers; two columns as a surface or as dots."""
    if len(points.columns) == 2 and not is_one_hot(points.columns):
        places = [places_of(column) for column in points.columns.values()]
        if all(place.n > 1 for place in places):
            return _panel_of_pair(points, places, output)
    return steps_of_points(points, output, sort=sort, xscale=xscale)


def steps_of_points(
    points: Points,
    output: int | None = None,
    *,
    sort: str | None = None,
    xscale: str = "linear",
    fit: bool = True,
) -> Steps:
    """Return the panel of `Points` along one axis: of numbers, or of labels."""
    shown, note = outputs_shown(points.heights, points.outputs, output)
    layout = layout_of_points(points, points.heights[:, shown[0]], sort)
    layout = rescaled(layout, xscale)
    lines = [
        Line(plain(points.outputs[k]), tuple(points.heights[layout.cells, k].tolist()), _missing_point(points, k))
        for k in shown
    ]
    panel = Steps(
        title=plain(points.name),
        x=layout.scale,
        y_label=centered_label(
            scale_label(points.units, points.outputs, shown, weighted=points.weighted), points.centering
        ),
        lines=tuple(lines),
        support=layout.support,
        missing_share=layout.missing_share,
        mean=float(points.mean[shown[0]]) if len(shown) == 1 and points.mean is not None else None,
        weighted=points.weighted,
        note="; ".join(filter(None, (layout.note, note))),
    )
    return fitted(panel) if fit else panel


# ------------------------------------------------------------------------------------------------ one axis


def numbers_of(column: Sequence[Any]) -> NDArray[np.float64] | None:
    """Return a column of numbers as an array, None among them as NaN; None if it holds anything else."""
    array = np.asarray([np.nan if value is None else value for value in column])
    return array.astype(np.float64) if array.dtype.kind in "iuf" else None


def _missing_point(points: Points, k: int) -> float | None:
    """Return the height of the point at NaN, if there is one on an axis of numbers."""
    values = numbers_of(next(iter(points.columns.values()))) if len(points.columns) == 1 else None
    if values is None or not np.isnan(values).any() or np.isfinite(values).sum() < 2:
        return None
    return float(points.heights[np.flatnonzero(np.isnan(values))[0], k])


class PointsOfAnswer(Protocol):
    """Points of an answer: their columns, and their rows if these are known."""

    @property
    def name(self) -> str: ...
    @property
    def columns(self) -> Mapping[str, Any]: ...
    @property
    def find_rows(self) -> Callable[[], Any]: ...
    @property
    def weighted(self) -> bool: ...


def layout_of_points(points: PointsOfAnswer, heights: NDArray[np.float64], sort: str | None) -> Layout:
    """Return how points (of `Points` or `Ice`) are laid out: numbers along an axis, others in the order of labels."""
    columns, rows, name = points.columns, points.find_rows(), plain(points.name)
    names = list(columns)
    shares = np.asarray(rows, dtype=np.float64) / max(float(np.sum(rows)), 1e-300)
    values = numbers_of(columns[names[0]]) if len(names) == 1 else None
    if values is not None and np.unique(values[np.isfinite(values)]).size > 1:
        return _along(name, values, shares, weighted=points.weighted)
    labels, order = _labels_in_order(columns)
    cells, note = order, ""
    if cells.size > MOST:
        by_height = np.argsort(heights, kind="stable")
        chosen = np.isin(cells, np.concatenate([by_height[: MOST // 2], by_height[-(MOST - MOST // 2) :]]))
        cells, note = (
            cells[chosen],
            f"the {MOST // 2} lowest and the {MOST - MOST // 2} highest of {len(labels):,} values",
        )
    if sort == "height":
        cells = cells[np.argsort(-heights[cells], kind="stable")]
    elif sort == "rows" and shares.size:
        cells = cells[np.argsort(-shares[cells], kind="stable")]
    support = tuple(shares[cells].tolist()) if shares.size else ()
    return Layout(
        Scale(name, labels=tuple(labels[cell] for cell in cells)), cells, support, note=note, weighted=points.weighted
    )


def _along(name: str, values: NDArray[np.float64], shares: NDArray[np.float64], *, weighted: bool) -> Layout:
    """Return the layout of numbers: steps midway between the points, because the true positions are unknown."""
    finite = np.flatnonzero(np.isfinite(values))
    places, first, which = np.unique(values[finite], return_index=True, return_inverse=True)
    edges = edges_around(places)
    support = np.bincount(which, weights=shares[finite]).astype(np.float64) if shares.size else np.empty(0)
    missing = float(shares[np.isnan(values)].sum()) if shares.size else None
    whole = bool((places == np.round(places)).all())
    view = view_of_places(places, edges, support)
    scale = Scale(name, tuple(edges.tolist()), view=view, whole=whole, open_ends=(False, False))
    scale = replace(scale, places=pairs_of(places))
    rest = beyond(scale, support, weighted=weighted)
    note = "; ".join(filter(None, ("steps are drawn midway between points", rest)))
    return Layout(scale, finite[first], tuple(support.tolist()), missing, note=note, weighted=weighted)


def view_of_places(
    places: NDArray[np.float64], edges: NDArray[np.float64], support: NDArray[np.float64]
) -> tuple[float, float]:
    """Return the part of the axis to show first: without long tails of few points, by their rows if these are known."""
    places, edges = (np.clip(array, -LARGEST / 4, LARGEST / 4) for array in (places, edges))  # so is their distance
    below = np.cumsum(support if support.size and support.sum() > 0 else np.ones(places.size))
    first, last = np.searchsorted(below / below[-1], (TAIL, 1 - TAIL))
    low, high = float(places[first]), float(places[min(int(last), places.size - 1)])
    if edges[-1] - edges[0] <= SQUASHED * (high - low) or high <= low:
        return float(edges[0]), float(edges[-1])
    room = 0.05 * (high - low)
    return max(float(edges[0]), low - room), min(float(edges[-1]), high + room)


@np.errstate(over="ignore")
def edges_around(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return edges midway between places; the outermost are as far beyond, but not far from the others."""
    middle = places[:-1] / 2 + places[1:] / 2
    gap = float(np.median(np.diff(places)))
    edges = np.concatenate([[places[0] - gap / 2], middle, [places[-1] + gap / 2]])
    return edges.clip(-LARGEST, LARGEST)


# ------------------------------------------------------------------------------------------------ labels


def is_one_hot(columns: Mapping[str, Any]) -> bool:
    """Return whether columns are a one-hot group: 0 or 1, and 1 in one column at most."""
    arrays = [numbers_of(column) for column in columns.values()]
    if len(arrays) < 2 or not all(array is not None and np.isin(array, (0, 1)).all() for array in arrays):
        return False
    return bool((np.array(arrays).sum(axis=0) <= 1).all())


def _labels_in_order(columns: Mapping[str, Any]) -> tuple[list[str], NDArray[np.intp]]:
    """Return a label per point, and their order: by the columns' values, missing ones last.

    A one-hot group is labelled by the name of the column that is 1, in the order of columns.
    """
    names = [plain(name) for name in columns]
    if is_one_hot(columns):
        hot = np.array([numbers_of(column) for column in columns.values()]) == 1
        which = np.where(hot.any(axis=0), hot.argmax(axis=0), len(names))
        return [[*names, "(none)"][k] for k in which], np.argsort(which, kind="stable")
    places = [places_of(column) for column in columns.values()]
    order = np.lexsort([place.cells for place in reversed(places)])
    texts = [[place.labels[k] for k in place.cells] for place in places]
    if len(names) == 1:
        return texts[0], order
    told = [[f"{name}={text}" for text in column] for name, column in zip(names, texts, strict=True)]
    return [", ".join(point) for point in zip(*told, strict=True)], order


class Places(NamedTuple):
    """The distinct values of a column: their labels, sorted, and (of numbers) the values; the cell of each point."""

    labels: list[str]
    values: NDArray[np.float64] | None
    cells: NDArray[np.intp]

    @property
    def n(self) -> int:
        """The number of distinct values that are not missing."""
        return len(self.labels) if self.values is None else int(np.isfinite(self.values).sum())


def places_of(column: Sequence[Any]) -> Places:
    """Return the distinct values of a column, sorted, missing ones last."""
    values = numbers_of(column)
    if values is not None:
        distinct, cells = np.unique(values, return_inverse=True)
        return Places([number(x) for x in distinct], distinct, cells.astype(np.intp))
    missing = unlike("missing", (plain(value) for value in column if not _is_missing(value)))
    texts = [missing if _is_missing(value) else plain(value) for value in column]
    ranks = sorted(set(texts), key=lambda text: (text == missing, text))
    place = {text: k for k, text in enumerate(ranks)}
    return Places(ranks, None, np.array([place[text] for text in texts], dtype=np.intp))


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))


# ------------------------------------------------------------------------------------------------ pairs


def _panel_of_pair(points: Points, places: list[Places], output: int | None) -> Cells | Dots:
    """Return the panel of points of two features: a surface if they are on a grid, dots if they are not."""
    k = one_output(points.heights, points.outputs, output, "a panel of two features")
    finite = np.all([np.isfinite(_at(place)) for place in places], axis=0)
    at = np.array([place.cells[finite] for place in places])
    a, b = (place.n for place in places)
    on_grid = np.unique(at, axis=1).shape[1] >= FILLED * a * b and max(a, b) <= FINEST
    make = _grid_of_pair if on_grid else _dots_of_pair
    return replace(
        make(points, places, finite, k),
        title=plain(points.name),
        note="" if finite.all() else "points with missing values are not shown",
    )


def _dots_of_pair(points: Points, places: list[Places], finite: NDArray[np.bool_], k: int) -> Dots:
    names = [plain(name) for name in points.columns]
    x, y = ([place.labels[cell] for cell in place.cells[finite]] for place in places)
    return Dots(
        title="",
        x_label=names[0],
        y_label=names[1],
        x=tuple(_at(places[0])[finite].tolist()),
        y=tuple(_at(places[1])[finite].tolist()),
        colours=tuple(points.heights[finite, k].tolist()),
        colour_label=centered_label(
            scale_label(points.units, points.outputs, [k], weighted=points.weighted), points.centering
        ),
        x_labels=tuple(places[0].labels) if places[0].values is None else (),
        y_labels=tuple(places[1].labels) if places[1].values is None else (),
        texts=tuple(f"{names[0]} = {a}, {names[1]} = {b}" for a, b in zip(x, y, strict=True)),
    )


def _grid_of_pair(points: Points, places: list[Places], finite: NDArray[np.bool_], k: int) -> Cells:
    names, rows = [plain(name) for name in points.columns], np.asarray(points.rows, dtype=np.float64)
    cells = places[1].cells[finite], places[0].cells[finite]
    heights, density = (np.full((places[1].n, places[0].n), value) for value in (np.nan, 0.0))
    heights[cells] = points.heights[finite, k]
    if rows.size:
        np.add.at(density, cells, rows[finite] / max(float(rows.sum()), 1e-300))
    shares = density.sum(axis=0), density.sum(axis=1)
    scales = [scale_of_places(name, place, share) for name, place, share in zip(names, places, shares, strict=True)]
    return Cells(
        title="",
        x=scales[0],
        y=scales[1],
        z_label=centered_label(
            scale_label(points.units, points.outputs, [k], weighted=points.weighted), points.centering
        ),
        heights=nested(heights),
        density=nested(density) if rows.size else (),
        x_support=tuple(shares[0].tolist()) if rows.size else (),
        y_support=tuple(shares[1].tolist()) if rows.size else (),
        weighted=points.weighted,
    )


def _at(place: Places) -> NDArray[np.float64]:
    """Return where each point is along one feature: its number, or the number of its category."""
    return place.cells.astype(np.float64) if place.values is None else place.values[place.cells]


def scale_of_places(name: str, place: Places, shares: NDArray[np.float64]) -> Scale:
    """Return the scale of one feature of a grid."""
    if place.values is None:
        return Scale(name, labels=tuple(place.labels))
    edges = edges_around(place.values[: place.n])
    values = place.values[: place.n]
    view = view_of_places(values, edges, shares)
    return Scale(name, tuple(edges.tolist()), view=view, open_ends=(False, False), places=pairs_of(values))


def pairs_of(values: NDArray[np.float64]) -> tuple[tuple[float, float], ...]:
    """Return where the values of each cell begin and end: each has one."""
    return tuple((value, value) for value in values.tolist())
