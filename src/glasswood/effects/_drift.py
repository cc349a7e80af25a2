"""Measures of drift between two groups of rows: rows per cell, heights of cells and importances in, numbers out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._statistics import SMALLEST_SHARE, distances, in_bins

__all__ = ["index_and_chance", "mean_and_largest", "ndcg"]

Floats = NDArray[np.float64]

LEAST = 0.005  # of the rows of both groups: smaller cells are joined before the largest distance is looked for


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
    found, number = np.full(share.shape[1], -1), 0
    start, p, q = 0, 0.0, 0.0  # a run of small cells, and what it holds
    for cell, (first, second) in enumerate(share.T.tolist()):
        if first >= LEAST and second >= LEAST:
            start, p, q = cell, first, second  # a stretch of its own; a run before it has too few rows
        elif cell < n_joined:
            p, q = p + first, q + second
        else:
            start, p, q = cell + 1, 0.0, 0.0
        if p >= LEAST and q >= LEAST:
            found[start : cell + 1] = number
            number, start, p, q = number + 1, cell + 1, 0.0, 0.0
    return found


def ndcg(reference: NDArray[Any], current: NDArray[Any]) -> float:
    """Return the normalized discounted cumulative gain of two lists of importances.

    Gains are the reference's importances, in the order of the current ones, over the same in their own order. Equal
    importances keep the order in which they are given. NaN if all gains are 0.
    """
    discount = 1 / np.log2(np.arange(2, reference.size + 2))
    ideal = float(-np.sort(-reference) @ discount)  # contiguous, so that the same order has exactly 1
    return float(reference[np.argsort(-current, kind="stable")] @ discount) / ideal if ideal > 0 else np.nan
