"""Closed forms: leaf values times counts, added to the cells of curves, surfaces and grids, or at points.

All of them read the leaves of an ensemble as boxes (see `trace_boxes`). The cells of a feature are, in this order: the
intervals between its cuts, or its categories and one cell for unseen ones; and last the cell of missing values.

Arguments that they share:

- boxes: first (where the boxes of each leaf start), feature, slot, low, high, missing, unseen, sets;
- cells: n_cells (of each feature, with the missing one), n_codes (0 for numbers);
- leaves: value, output (the first output that a leaf adds to), offset (where its counts start), counts;
- plus: the number of a player set with one more player.

Loops are written out where calls would be shorter: a call that passes a tuple of arrays counts references, which takes
longer than what is done here for a box.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.kernels._compile import kernel, part

__all__ = ["add_curves", "add_grids", "add_points", "add_surface", "pairs_on_paths"]


@part
def _meets(cell: int, shape: tuple[int, int], box: tuple[int, int, bool, bool], sets: NDArray[np.uint64]) -> bool:
    """Return whether a cell of a feature with `shape` (n_cells, n_codes) lies in a box (low, high, missing, unseen)."""
    n_cells, n_codes = shape
    low, high, missing, unseen = box
    if cell == n_cells - 1:
        return bool(missing)
    if n_codes == 0:
        return bool(low <= cell <= high)
    if cell == n_codes:
        return bool(unseen)
    return bool((sets[low + (cell >> 6)] >> np.uint64(cell & 63)) & np.uint64(1))


@part
def _write_runs(
    shape: tuple[int, int], box: tuple[int, int, bool, bool], sets: NDArray[np.uint64], runs: NDArray[np.int64]
) -> int:
    """Write the runs of cells that a box consists of, first cell and the one behind the last; return their number."""
    n_cells, n_codes = shape
    low, high, missing, _ = box
    n_runs = 0
    if n_codes == 0:
        if low <= high:
            runs[0, 0], runs[0, 1] = low, high + 1
            n_runs = 1
        if missing:
            runs[n_runs, 0], runs[n_runs, 1] = n_cells - 1, n_cells
            n_runs += 1
        return n_runs
    inside = False
    for cell in range(n_cells):
        meets = _meets(cell, shape, box, sets)
        if meets and not inside:
            runs[n_runs, 0] = cell
        if inside and not meets:
            runs[n_runs, 1] = cell
            n_runs += 1
        inside = meets
    if inside:
        runs[n_runs, 1] = n_cells
        n_runs += 1
    return n_runs


@kernel
def add_curves(
    boxes: tuple[Any, ...],
    cells: tuple[Any, ...],
    leaves: tuple[Any, ...],
    plus: NDArray[np.int32],
    place: NDArray[np.int64],
    steps: NDArray[np.float64],
) -> None:
    """Add every leaf to the centred curves of the features on its path, as steps up and down.

    Leaf l adds ``w_l (G_l({j}) [x in the box] - G_l(none))`` to the curve of j. Where a curve starts in `steps` is
    given by `place`, negative for features without a curve of their own (they share a player with others). A curve is
    the cumulative sum of its steps.
    """
    first, feature, slot, low, high, missing, unseen, sets = boxes
    n_cells, n_codes = cells
    value, output, offset, counts = leaves
    most = 0
    for f in range(n_cells.size):
        most = max(most, n_cells[f])
    runs = np.empty((most + 1, 2), dtype=np.int64)
    for leaf in range(first.size - 1):
        none = counts[offset[leaf]]
        for box in range(first[leaf], first[leaf + 1]):
            f = feature[box]
            at = place[f]
            if at < 0:
                continue
            one = counts[offset[leaf] + plus[slot[box], 0]]
            n_runs = 0
            if n_codes[f] > 0:
                shape = (n_cells[f], n_codes[f])
                n_runs = _write_runs(shape, (low[box], high[box], missing[box], unseen[box]), sets, runs)
            for k in range(value.shape[1]):
                o = output[leaf] + k
                up = value[leaf, k] * one
                steps[at, o] -= value[leaf, k] * none
                if n_codes[f] == 0:
                    if low[box] <= high[box]:
                        steps[at + low[box], o] += up
                        steps[at + high[box] + 1, o] -= up
                    if missing[box]:
                        steps[at + n_cells[f] - 1, o] += up
                        steps[at + n_cells[f], o] -= up
                for run in range(n_runs):
                    steps[at + runs[run, 0], o] += up
                    steps[at + runs[run, 1], o] -= up


@kernel
def add_surface(
    pair: tuple[int, int],
    boxes: tuple[Any, ...],
    cells: tuple[Any, ...],
    leaves: tuple[Any, ...],
    plus: NDArray[np.int32],
    steps: NDArray[np.float64],
) -> bool:
    """Add every leaf with both features of a pair to the steps of their interaction; return whether there is one.

    Leaf l adds ``w_l ([x in] [y in] G_l({a, b}) - [x in] G_l({a}) - [y in] G_l({b}) + G_l(none))``. The interaction is
    the cumulative sum of `steps`, of shape (n_cells_a + 1, n_cells_b + 1, n_outputs), along both features.
    """
    first, feature, slot, low, high, missing, unseen, sets = boxes
    n_cells, n_codes = cells
    value, output, offset, counts = leaves
    a, b = pair
    runs_a = np.empty((n_cells[a] + 1, 2), dtype=np.int64)
    runs_b = np.empty((n_cells[b] + 1, 2), dtype=np.int64)
    found = False
    for leaf in range(first.size - 1):
        box_a = box_b = -1
        for box in range(first[leaf], first[leaf + 1]):
            if feature[box] == a:
                box_a = box
            elif feature[box] == b:
                box_b = box
        if box_a < 0 or box_b < 0:
            continue
        found = True
        shape = (n_cells[a], n_codes[a])
        n_a = _write_runs(shape, (low[box_a], high[box_a], missing[box_a], unseen[box_a]), sets, runs_a)
        shape = (n_cells[b], n_codes[b])
        n_b = _write_runs(shape, (low[box_b], high[box_b], missing[box_b], unseen[box_b]), sets, runs_b)
        only_a = plus[slot[box_a], 0]
        none, one_a = counts[offset[leaf]], counts[offset[leaf] + only_a]
        one_b, both = counts[offset[leaf] + plus[slot[box_b], 0]], counts[offset[leaf] + plus[slot[box_b], only_a]]
        for k in range(value.shape[1]):
            o, w = output[leaf] + k, value[leaf, k]
            steps[0, 0, o] += w * none
            for j in range(n_b):
                steps[0, runs_b[j, 0], o] -= w * one_b
                steps[0, runs_b[j, 1], o] += w * one_b
            for i in range(n_a):
                steps[runs_a[i, 0], 0, o] -= w * one_a
                steps[runs_a[i, 1], 0, o] += w * one_a
                for j in range(n_b):
                    steps[runs_a[i, 0], runs_b[j, 0], o] += w * both
                    steps[runs_a[i, 0], runs_b[j, 1], o] -= w * both
                    steps[runs_a[i, 1], runs_b[j, 0], o] -= w * both
                    steps[runs_a[i, 1], runs_b[j, 1], o] += w * both
    return found


@kernel
def pairs_on_paths(first: NDArray[np.int64], feature: NDArray[np.int32], found: NDArray[np.bool_]) -> None:
    """Mark, in a matrix of features, the pairs (the smaller number first) that share the path of some leaf."""
    for leaf in range(first.size - 1):
        for box in range(first[leaf], first[leaf + 1]):
            for other in range(box + 1, first[leaf + 1]):
                a, b = feature[box], feature[other]
                found[min(a, b), max(a, b)] = True


@kernel
def add_grids(
    grids: NDArray[np.int64],
    pair_number: NDArray[np.int32],
    boxes: tuple[Any, ...],
    cells: tuple[Any, ...],
    leaves: tuple[Any, ...],
    plus: NDArray[np.int32],
    out: NDArray[np.float64],
) -> None:
    """Add every leaf to the interactions of all pairs of its features, at some cells of each feature.

    Parameters
    ----------
    grids : ndarray of shape (n_features, n_points), int64
        The cells to look at.
    pair_number : ndarray of shape (n_features, n_features), int32
        The place of a pair in `out`, the smaller feature first; negative for pairs that are not wanted.
    out : ndarray of shape (n_pairs, n_points, n_points, n_outputs)
        Added to.
    """
    first, feature, slot, low, high, missing, unseen, sets = boxes
    n_cells, n_codes = cells
    value, output, offset, counts = leaves
    n_points = grids.shape[1]
    most = 0
    for leaf in range(first.size - 1):
        most = max(most, first[leaf + 1] - first[leaf])
    inside = np.zeros((most, n_points), dtype=np.bool_)
    term = np.empty((2, 2))
    for leaf in range(first.size - 1):
        start, end, here = first[leaf], first[leaf + 1], offset[leaf]
        for box in range(start, end):
            f = feature[box]
            shape, limits = (n_cells[f], n_codes[f]), (low[box], high[box], missing[box], unseen[box])
            for point in range(n_points):
                inside[box - start, point] = _meets(grids[f, point], shape, limits, sets)
        for one in range(start, end):
            for two in range(one + 1, end):
                box_a, box_b = (one, two) if feature[one] < feature[two] else (two, one)
                pair = pair_number[feature[box_a], feature[box_b]]
                if pair < 0:
                    continue
                only_a = plus[slot[box_a], 0]
                term[0, 0] = counts[here]
                term[1, 0] = counts[here] - counts[here + only_a]
                term[0, 1] = counts[here] - counts[here + plus[slot[box_b], 0]]
                term[1, 1] = term[1, 0] + term[0, 1] - counts[here] + counts[here + plus[slot[box_b], only_a]]
                for x in range(n_points):
                    in_a = np.int64(inside[box_a - start, x])
                    for y in range(n_points):
                        factor = term[in_a, np.int64(inside[box_b - start, y])]
                        for k in range(value.shape[1]):
                            out[pair, x, y, output[leaf] + k] += value[leaf, k] * factor


@kernel
def add_points(
    points: NDArray[np.int64],
    fixed: NDArray[np.bool_],
    boxes: tuple[Any, ...],
    cells: tuple[Any, ...],
    leaves: tuple[Any, ...],
    subsets: tuple[Any, ...],
    out: NDArray[np.float64],
) -> None:
    """Add every leaf to the partial dependence at points: ``w_l [the point meets the leaf] G_l(fixed players)``.

    Parameters
    ----------
    points : ndarray of shape (n_features, n_points), int64
        The cell of each feature at each point; read for fixed features only.
    fixed : ndarray of shape (n_features,), bool
    subsets : plus, has
    out : ndarray of shape (n_points, n_outputs)
        Added to.
    """
    first, feature, slot, low, high, missing, unseen, sets = boxes
    n_cells, n_codes = cells
    value, output, offset, counts = leaves
    plus, has = subsets
    for leaf in range(first.size - 1):
        index = 0
        for box in range(first[leaf], first[leaf + 1]):
            if fixed[feature[box]] and not has[slot[box], index]:
                index = plus[slot[box], index]
        count = counts[offset[leaf] + index]
        for point in range(points.shape[1]):
            meets = True
            for box in range(first[leaf], first[leaf + 1]):
                f = feature[box]
                if fixed[f] and meets:
                    limits = (low[box], high[box], missing[box], unseen[box])
                    meets = _meets(points[f, point], (n_cells[f], n_codes[f]), limits, sets)
            if meets:
                for k in range(value.shape[1]):
                    out[point, output[leaf] + k] += value[leaf, k] * count
