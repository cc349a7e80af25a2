"""Distances between curves, and between the rows of two sides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._statistics import NOISE

__all__ = [
    "apart",
    "distances",
    "in_bins",
    "index_and_chance",
    "mean_and_largest",
    "ndcg",
    "on_common_cuts",
    "stability_index",
]


Floats = NDArray[np.float64]


MIN_SHARE = 0.005  # of the rows of both groups: smaller cells are joined before the largest distance is looked for


def index_and_chance(
    rows: Floats, sizes: tuple[int, int], *, ordered: bool, by: NDArray[Any] | None = None
) -> tuple[float, float]:
    """Return the population stability index of two groups, and its mean if both have the same distribution.

    `rows` are those of the reference and of the other group in each cell, (2, n_cells), missing values last; `sizes`
    are the numbers of rows. With shares p and q of the rows in each bin, the index is the sum of (p - q) log(p / q).
    Bins are ten with about the same number of rows of the reference (`ordered`), or the cells themselves; the missing
    values are a bin. `by` are the rows that bins are made of, if they are not those of the reference. By chance alone
    its mean is about (number of bins - 1) (1 / n + 1 / m).
    """
    share = rows / rows.sum(axis=1, keepdims=True)
    if ordered:
        share = in_bins(share, by=share[0] if by is None else by / by.sum())
    share = share[:, share.max(axis=0) > 0]
    p, q = np.maximum(share, SMALLEST_SHARE)
    chance = (share.shape[1] - 1) * sum(1 / size for size in sizes)
    return float(((p - q) * np.log(p / q)).sum()), chance


def mean_and_largest(heights: Floats, rows: Floats, n_joined: int) -> tuple[Floats, Floats]:
    """Return the distance of two centred curves, (2, n_cells, n_outputs): the mean over rows, and where it is most.

    The rows of both groups have equal weight. The largest distance is that of a cell with at least 0.5 % of the rows of
    each group. The first `n_joined` cells, if they are smaller, are joined with their neighbours until they have as
    many, and count with their mean distance; so do all cells together, so that there is always one.
    """
    share, distance = distances(heights, rows)
    mean = share @ distance
    stretch = _stretches(rows / rows.sum(axis=1, keepdims=True), n_joined)
    kept = stretch >= 0
    sums = np.zeros((int(stretch.max(initial=-1)) + 1, distance.shape[1]))
    np.add.at(sums, stretch[kept], share[kept, None] * distance[kept])
    parts = sums / np.bincount(stretch[kept], share[kept])[:, None]
    return mean, np.max([mean, *parts], axis=0)


def _stretches(share: Floats, n_joined: int) -> NDArray[np.int64]:
    """Return the number of each cell's stretch, given the shares of both groups in it; -1 for too few rows."""
    result, number = np.full(share.shape[1], -1), 0
    start, p, q = 0, 0.0, 0.0  # a run of small cells, and what it holds
    for cell, (first, second) in enumerate(share.T.tolist()):
        if first >= MIN_SHARE and second >= MIN_SHARE:
            start, p, q = cell, first, second  # a stretch of its own; a run before it has too few rows
        elif cell < n_joined:
            p, q = p + first, q + second
        else:
            start, p, q = cell + 1, 0.0, 0.0
        if p >= MIN_SHARE and q >= MIN_SHARE:
            result[start : cell + 1] = number
            number, start, p, q = number + 1, cell + 1, 0.0, 0.0
    return result


def ndcg(reference: NDArray[Any], current: NDArray[Any]) -> float:
    """Return the normalized discounted cumulative gain of two lists of importances.

    Gains are the reference's importances, in the order of the current ones, over the same in their own order. Equal
    importances keep the order in which they are given. NaN if all gains are 0.
    """
    discount = 1 / np.log2(np.arange(2, reference.size + 2))
    ideal = float(-np.sort(-reference) @ discount)  # contiguous, so that the same order has exactly 1
    return float(reference[np.argsort(-current, kind="stable")] @ discount) / ideal if ideal > 0 else np.nan


BINS = 10  # of numbers, for the stability index

SMALLEST_SHARE = 1e-4  # of the rows in a bin, for the stability index


# ----------------------------------------------------------------------------------------------------- comparison


def on_common_cuts(cuts: Sequence[Floats]) -> tuple[Floats, list[NDArray[np.int64]]]:
    """Return all cuts of several curves, sorted, and for each curve its cell at each of the cells that these make.

    The missing cell is last.
    """
    union = np.unique(np.concatenate(cuts))
    return union, [np.append(np.searchsorted(own, union), [own.size, own.size + 1]) for own in cuts]


def apart(heights: Floats, rows: Floats) -> tuple[Floats, Floats]:
    """Return how far several centred curves on the same cells are apart: as a mean over rows, and where it is most.

    `heights` is (n_curves, n_cells, n_outputs), `rows` is (n_curves, n_cells), or empty if rows are not known: then the
    mean is NaN, and all cells have equal weight for the rest.
    """
    share, distance = distances(heights, rows)
    mean = share @ distance if rows.size else np.full(heights.shape[2], np.nan)
    return mean, distance[share > 0].max(axis=0)


def distances(heights: Floats, rows: Floats) -> tuple[Floats, Floats]:
    """Return the share of the rows in each cell, and how far the centred curves are apart there, see `apart`."""
    share = np.full(heights.shape[1], 1 / heights.shape[1])
    if rows.size:
        share = (rows / rows.sum(axis=1, keepdims=True)).mean(axis=0)
    centred = heights - np.einsum("c,gck->gk", share, heights)[:, None]
    distance = np.ptp(centred, axis=0)
    distance[distance <= NOISE * np.abs(heights).max(initial=0.0)] = 0.0
    return share, distance


def stability_index(rows: Floats, *, ordered: bool) -> float:
    """Return the population stability index of rows in cells, (n_groups, n_cells): the largest of all pairs of groups.

    Cells of numbers (`ordered`), except the last for missing values, are first merged into ten bins with about the same
    number of rows: with hundreds of nearly empty cells, the index would measure noise.
    """
    share = rows / rows.sum(axis=1, keepdims=True)
    if ordered:
        share = in_bins(share, by=share.mean(axis=0))
    share = share[:, share.max(axis=0) > 0]
    share = np.maximum(share, SMALLEST_SHARE)
    logarithm = np.log(share)
    difference, ratio = share[:, None] - share[None], logarithm[:, None] - logarithm[None]
    return float((difference * ratio).sum(axis=2).max())


def in_bins(share: Floats, by: Floats) -> Floats:
    """Return shares in ten bins of neighbouring cells, (n_groups, 11), the missing ones last; `by` is about even."""
    middle = (np.cumsum(by[:-1]) - by[:-1] / 2) / max(by[:-1].sum(), np.finfo(np.float64).tiny)
    bins = np.minimum((middle * BINS).astype(np.int64), BINS - 1)
    merged = np.zeros((len(share), BINS + 1))
    np.add.at(merged[:, :-1].T, bins, share[:, :-1].T)
    merged[:, -1] = share[:, -1]
    return merged
