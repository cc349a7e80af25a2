"""Layout: where the cells of a feature begin and end in a figure, and which part is shown first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError
from glasswood.plots._axes import halves
from glasswood.plots._spec import Line, Scale
from glasswood.text._plain import number, plain, share_of_rows

if TYPE_CHECKING:
    from glasswood.results._axis import Axis

__all__ = [
    "LARGEST",
    "SORTS",
    "SQUASHED",
    "TAIL",
    "Layout",
    "beyond",
    "closed_edges",
    "edges_of",
    "layout_of",
    "line_of",
    "shares_of",
    "view_of",
]


SORTS = ("model", "height", "rows")

MAX_CATEGORIES = 30

LARGEST = np.finfo(np.float64).max

FAR = 10.0  # a cut is far out if its distance is this many times the range of all cuts before it

TAIL = 0.005  # the share of rows at either end that need not be seen at once

MANY = 0.25  # the share of rows in an outermost cell, from which on it is shown up to its end

SQUASHED = 3.0  # the axis is cut if the other rows would get less than one part in this many


@dataclass(frozen=True)
class Layout:
    """The cells of one feature in a figure: their scale, their numbers in the result, and the shares of rows."""

    scale: Scale
    cells: NDArray[np.intp]
    support: tuple[float, ...] = ()
    missing_share: float | None = None
    unseen_share: float | None = None
    note: str = ""
    weighted: bool = False


def layout_of(axis: Axis, heights: NDArray[np.float64], sort: str | None = None, max_: int = MAX_CATEGORIES) -> Layout:
    """Return how the cells of an axis are laid out; categories are sorted by `heights` if they are to be."""
    support, missing, unseen = shares_of(axis)
    name = plain(axis.name)
    if not axis.categories and axis.n_main == axis.cuts.size + 1:  # numbers, or categories of which none is known
        cells = np.arange(axis.n_main)
        if axis.cuts.size == 0:
            return Layout(Scale(name, labels=("any value",)), cells, tuple(support), missing, weighted=axis.weighted)
        scale = _scale_of_numbers(axis, support)
        note = beyond(scale, support, weighted=axis.weighted)
        return Layout(scale, cells, tuple(support.tolist()), missing, note=note, weighted=axis.weighted)
    labels = range(axis.n_main) if axis.categories is None else axis.categories
    cells = _chosen(axis.n_main, heights, support, sort, max_)
    note = ""
    if cells.size < axis.n_main:
        which = "the most frequent" if support.size else "the first"
        note = f"{which} {cells.size:,} of {axis.n_main:,} categories"
        if support.size:
            share = float(support[cells].sum() / max(support.sum(), 1e-300))
            note += f" ({share_of_rows(share, weighted=axis.weighted)})"
    scale = Scale(name, labels=tuple(plain(labels[cell]) for cell in cells))
    shown = tuple(support[cells].tolist()) if support.size else ()
    return Layout(scale, cells, shown, missing, unseen, note, axis.weighted)


def shares_of(axis: Axis) -> tuple[NDArray[np.float64], float | None, float | None]:
    """Return the shares of rows in the cells of an axis, of missing ones, and of unseen categories (None: no data)."""
    rows = np.asarray(axis.rows, dtype=np.float64)
    total = rows.sum()
    if not rows.size or total <= 0:
        return np.empty(0), None, None
    shares = rows / total
    return shares[: axis.n_main], float(shares[-1]), float(shares[axis.n_main : -1].sum())


def _chosen(
    n: int, heights: NDArray[np.float64], support: NDArray[np.float64], sort: str | None, max_: int
) -> NDArray[np.intp]:
    """Return which categories are shown, in order."""
    if sort not in (None, *SORTS):
        message = f"sort must be one of {SORTS!r}, not {sort!r}"
        raise ArgumentError(message)
    cells = np.arange(n)
    if n > max_:
        frequent = np.argsort(-support, kind="stable") if support.size else cells
        cells = np.sort(frequent[:max_])
    if sort == "height":
        return cells[np.argsort(-heights[cells], kind="stable")]
    if sort == "rows" and support.size:
        return cells[np.argsort(-support[cells], kind="stable")]
    return cells


def _scale_of_numbers(axis: Axis, support: NDArray[np.float64]) -> Scale:
    """Return the scale of an axis of numbers with at least one cut."""
    edges, open_ends = closed_edges(axis.cuts, edges_of(axis.cuts, support), axis.ends, whole=axis.whole)
    return Scale(
        plain(axis.name),
        tuple(edges.tolist()),
        view=view_of(edges, support),
        cuts=tuple(axis.cuts.tolist()),
        whole=axis.whole,
        open_ends=open_ends,
    )


def beyond(scale: Scale, support: NDArray[np.float64], *, weighted: bool = False) -> str:
    """Return a note about rows that are beyond the part of the axis that is shown, if there are any."""
    if not support.size:
        return ""
    (low, high), edges = scale.view, np.asarray(scale.edges)
    before, after = (float(support[side].sum()) for side in (edges[1:] <= low, edges[:-1] >= high))
    if before + after <= 0:
        return ""
    known = [number(end) for end, share in ((edges[0], before), (edges[-1], after)) if share > 0]
    reach = "" if any(scale.open_ends) else f" (to {' and '.join(known)})"
    share = share_of_rows(before + after, weighted=weighted)
    return f"{share} {'is' if weighted else 'are'} beyond this part of the axis{reach}"


def closed_edges(
    cuts: NDArray[np.float64], edges: NDArray[np.float64], ends: tuple[float, float] | None, *, whole: bool
) -> tuple[NDArray[np.float64], tuple[bool, bool]]:
    """Return edges with the outermost ones where the data ends, and which of these are not known from data.

    Whole numbers are drawn half a unit wide to either side, so that 0 and 1 have a cell each.
    """
    if ends is None:
        return edges, (True, True)
    edges, (least, greatest) = edges.copy(), ends
    if whole:
        edges[1:-1] = np.floor(cuts) + 0.5
        least, greatest = least - 0.5, greatest + 0.5
    open_ends = (
        bool(not np.isfinite(least) or least > edges[1]),
        bool(not np.isfinite(greatest) or greatest <= edges[-2]),
    )
    margin = 0.02 * (edges[-1] - edges[0])  # of a cell that is but one value, or ends where it begins
    if not open_ends[0]:
        edges[0] = least if least < edges[1] else edges[1] - margin
    if not open_ends[1]:
        edges[-1] = greatest
    edges[0], edges[-1] = min(edges[0], edges[1]), max(edges[-1], edges[-2])
    return edges, open_ends


@np.errstate(over="ignore", under="ignore")
def edges_of(cuts: NDArray[np.float64], support: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Return finite edges of the cells between cuts: the outermost cells extend a little beyond the last cuts.

    Their true extent is unknown; if they have many rows, they are drawn as wide as at the density of the other rows.
    """
    finite = cuts[np.isfinite(cuts)]
    if not finite.size:
        return np.concatenate([[-1.0], np.zeros(cuts.size), [1.0]])
    first, last = _near(finite)
    body = finite[first : last + 1]
    width = float(min(body[-1] - body[0], LARGEST))
    if body.size > 1:
        pad = max(0.04 * width, min(float(np.median(np.diff(body))), width))
    else:
        pad = 1.0 if abs(body[0]) <= 5 and halves(body) else 0.25 * abs(float(body[0])) or 1.0
    pads = [pad, pad]
    if support is not None and support.size and body.size == cuts.size > 2 and not halves(cuts):
        dense = support[1:-1].sum() / width
        pads = [max(pad, min(share / max(dense, 1e-300), 0.12 * width)) for share in support[[0, -1]]]
    low = min(finite[0] - pads[0], np.nextafter(finite[0], -np.inf))
    high = max(finite[-1] + pads[1], np.nextafter(finite[-1], np.inf))
    low, high = max(low, -LARGEST), min(high, LARGEST)
    return np.concatenate([[low], np.clip(cuts, low, high), [high]])


def _near(cuts: NDArray[np.float64]) -> tuple[int, int]:
    """Return the first and the last cut that are not far out, grown from the half in the middle."""
    n = cuts.size
    first, last = (n - 1) // 4, n - 1 - (n - 1) // 4
    gaps = np.diff(cuts)
    before = (-1, n)
    while 0 <= first < last and (first, last) != before:
        before = first, last
        far = np.flatnonzero(gaps > FAR * (cuts[last] - cuts[first]))  # gaps that are too wide to go across
        at = np.searchsorted(far, [first, last])
        first = int(far[at[0] - 1]) + 1 if at[0] > 0 else 0
        last = int(far[at[1]]) if at[1] < far.size else n - 1
    return first, last


@np.errstate(over="ignore", under="ignore")
def view_of(edges: NDArray[np.float64], support: NDArray[np.float64]) -> tuple[float, float]:
    """Return the part of an axis to show first: without cuts far out, and without long tails of few rows."""
    edges = np.clip(edges, -LARGEST / 4, LARGEST / 4)  # the width of the view is a number, too
    cuts = edges[1:-1]
    first, last = _near(cuts)
    low = edges[0] if first == 0 else cuts[first] - 0.1 * (cuts[last] - cuts[first])
    high = edges[-1] if last == cuts.size - 1 else cuts[last] + 0.1 * (cuts[last] - cuts[first])
    if support.size and support.sum() > 0:
        begin, end = _where_rows_are(edges, support)
        if high - low > SQUASHED * (end - begin):
            low, high = max(low, begin), min(high, end)
    return (float(low), float(high)) if high > low else (min(float(low), 0.0), max(float(high), 1.0))


def _where_rows_are(edges: NDArray[np.float64], support: NDArray[np.float64]) -> tuple[float, float]:
    """Return where to begin and end to see the cells of nearly all rows, and ten cuts (or half of them) in any case."""
    below = np.cumsum(support) / support.sum()
    last = min(int(np.searchsorted(below, 1 - TAIL)), support.size - 1)
    first = min(int(np.searchsorted(below, TAIL, side="right")), last)
    enough = min(10, support.size // 2)
    while last - first < enough:
        left = edges[first] - edges[first - 1] if first > 0 else np.inf
        right = edges[last + 2] - edges[last + 1] if last < support.size - 1 else np.inf
        if left <= right and first > 0:
            first -= 1
        else:
            last += 1
    # Where the outermost cells end, a few rows may be far out.
    begin = edges[0] if support[0] >= MANY * support.sum() else edges[max(first, 1)]
    end = edges[-1] if support[-1] >= MANY * support.sum() else edges[min(last + 1, edges.size - 2)]
    room = 0.1 * (end - begin) or np.inf
    return float(max(edges[0], begin - room)), float(min(edges[-1], end + room))


def line_of(name: str, heights: NDArray[np.float64], layout: Layout, axis: Axis) -> Line:
    """Return one output of a curve; what no row has is not beside the axis."""
    missing = None if layout.missing_share == 0 else float(heights[-1])
    unseen = None
    if axis.categories is not None and layout.unseen_share != 0:
        unseen = float(heights[-2])
    return Line(name, tuple(heights[layout.cells].tolist()), missing, unseen)
