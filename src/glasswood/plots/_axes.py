"""Axes of figures: the part in view, histograms of the data, and where there is none."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from glasswood.plots._spec import Scale

__all__ = ["halves", "histogram", "hollow", "hollow_pairs", "in_view", "open_bins", "whole_numbers"]


def in_view(scale: Scale) -> tuple[slice, NDArray[np.float64]]:
    """Return which cells of an axis of numbers are in its view, and their edges, cut off where the view ends."""
    low, high = scale.view
    edges = np.asarray(scale.edges)
    first = max(int(np.searchsorted(edges, low, side="right")) - 1, 0)
    last = max(min(int(np.searchsorted(edges, high, side="left")), edges.size - 1), first + 1)
    return slice(first, last), np.clip(edges[first : last + 1], low, high)


def parts_of(scale: Scale, n_parts: int) -> NDArray[np.intp]:
    """Return the number of the part of an axis that each cell belongs to: narrow cells share parts, others have theirs.

    If there are very many cells, a single one without rows is insignificant if its neighbours have rows.
    """
    n = scale.n_cells
    own = n_parts + 1 + np.arange(n)
    if not scale.edges:
        return own
    low, high = scale.view
    inside = np.clip(np.asarray(scale.edges), low, high)
    step = (high - low) / n_parts
    part = ((inside[:-1] / 2 + inside[1:] / 2 - low) / step).astype(np.intp)
    return np.where(np.diff(inside) < step, part, own)


def hollow(scale: Scale, support: tuple[float, ...], n_parts: int = 60) -> NDArray[np.bool_]:
    """Return which cells have no rows, and no row near."""
    parts = parts_of(scale, n_parts)
    sums = np.bincount(parts, weights=support)
    return np.asarray(sums[parts] == 0)


def hollow_pairs(x: Scale, y: Scale, density: tuple[tuple[float, ...], ...], n_parts: int = 40) -> NDArray[np.bool_]:
    """Return which pairs of cells have no rows, and no row near: a line per cell of y."""
    across, along = parts_of(x, n_parts), parts_of(y, n_parts)
    sums = np.zeros((along.max() + 1, across.max() + 1))
    np.add.at(sums, (along[:, None], across[None]), np.asarray(density))
    return np.asarray(sums[np.ix_(along, across)] == 0)


def histogram(
    scale: Scale, support: tuple[float, ...], n_bins: int = 40
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the edges of bins over the view of an axis of numbers, and how dense rows are in each, the densest 1.

    Bins are the cells if these are about as wide as each other; else they are equal, and the rows of a cell are spread
    evenly over it, as nothing is known about where in the cell they are.
    """
    here, bins = in_view(scale)
    widths = np.diff(bins)
    below = np.concatenate([[0.0], np.cumsum(support)])
    if widths.size <= 2 * n_bins and widths[1:-1].max(initial=0.0) <= 3 * widths[1:-1].min(initial=np.inf):
        dense = np.asarray(support[here]) / np.maximum(widths, 1e-300)
    else:
        bins = np.linspace(scale.view[0], scale.view[1], n_bins + 1)
        dense = np.diff(np.interp(bins, scale.edges, below))
    return bins, dense / max(float(dense.max(initial=0.0)), 1e-300)


def open_bins(scale: Scale, bins: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which bins are in an outermost cell without a known end, where the position of rows is unknown."""
    middle = bins[:-1] / 2 + bins[1:] / 2
    before, after = scale.open_ends
    return np.asarray((before & (middle < scale.edges[1])) | (after & (middle > scale.edges[-2])))


def whole_numbers(scale: Scale) -> bool:
    """Return whether the feature is known to be whole numbers, or seems so by its cuts, and there are few of them."""
    cuts = np.asarray(scale.edges[1:-1])
    few = bool(cuts.size) and scale.view[1] - scale.view[0] <= 60
    return few and not scale.ticks and (scale.whole or halves(cuts))


def halves(cuts: NDArray[np.float64]) -> bool:
    """Return whether all cuts are at whole numbers or midway between them, as for features of whole numbers."""
    return bool(abs(cuts).max() < 1e6 and (abs(2 * cuts - np.round(2 * cuts)) < 1e-4).all())
