"""How points are laid out: numbers along an axis, others in the order of their labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from glasswood.plots._spec import Scale
from glasswood.results.panels._layout import LARGEST, SQUASHED, TAIL, Layout, beyond
from glasswood.text._plain import number, plain
from glasswood.text._printable import unlike

__all__ = ["Places", "is_one_hot", "layout_of_points", "numbers_of", "places_of", "scale_of_places"]


MAX_LABELS = 30  # labels


# ------------------------------------------------------------------------------------------------ one axis


def numbers_of(column: Sequence[Any]) -> NDArray[np.float64] | None:
    """Return a column of numbers as an array, None among them as NaN; None if it holds anything else."""
    array = np.asarray([np.nan if value is None else value for value in column])
    return array.astype(np.float64) if array.dtype.kind in "iuf" else None


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
    if cells.size > MAX_LABELS:
        by_height, half = np.argsort(heights, kind="stable"), MAX_LABELS // 2
        chosen = np.isin(cells, np.concatenate([by_height[:half], by_height[half - MAX_LABELS :]]))
        cells, note = (
            cells[chosen],
            f"the {half} lowest and the {MAX_LABELS - half} highest of {len(labels):,} values",
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
    named = [[f"{name}={text}" for text in column] for name, column in zip(names, texts, strict=True)]
    return [", ".join(point) for point in zip(*named, strict=True)], order


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
