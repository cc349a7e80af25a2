"""Counting, curves and pairs in NumPy: what the compiled core does, to be read, and to be compared with `==`.

Leaves are boxes: for each feature of a leaf's path, the cells that lead to the leaf. Sums have the core's order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan


def cells_of_box(plan: CountPlan, box: int) -> NDArray[np.bool_]:
    """Which cells of its feature a box has."""
    boxes, cells = plan.boxes, plan.cells
    feature, low, high = (int(part[box]) for part in (boxes.feature, boxes.low, boxes.high))
    numbers = np.arange(cells.n_cells[feature])
    n_codes = int(cells.n_codes[feature])
    if n_codes == 0:
        found = (low <= numbers) & (numbers <= high)
    else:
        words = boxes.sets[low : low + -(-n_codes // 64)]
        found = np.zeros(numbers.size, dtype=bool)
        found[:n_codes] = [int(words[code >> 6]) >> (code & 63) & 1 for code in range(n_codes)]
        found[n_codes] = boxes.unseen[box]
    found[-1] = boxes.missing[box]
    return found


def boxes_of(plan: CountPlan, leaf: int) -> range:
    """The numbers of a leaf's boxes."""
    return range(int(plan.boxes.first[leaf]), int(plan.boxes.first[leaf + 1]))


def counts(plan: CountPlan, cells: Mapping[int, NDArray[Any]], weight: NDArray[Any]) -> NDArray[np.int64]:
    """G_l(S): the weight of the rows that meet all conditions of leaf l, except perhaps those on players in S.

    `cells` are the cells of all rows, by feature.
    """
    found = np.zeros(plan.n_counts, dtype=np.int64)
    for leaf, n_players in enumerate(plan.n_players.tolist()):
        meets = np.ones((n_players, weight.size), dtype=bool)  # each player of the path
        for box in boxes_of(plan, leaf):
            meets[plan.boxes.slot[box]] &= cells_of_box(plan, box)[cells[int(plan.boxes.feature[box])]]
        for number in range(int(plan.subsets.size[n_players])):
            others = meets[~plan.subsets.has[:n_players, number]]
            found[plan.leaf_offset[leaf] + number] = weight[others.all(axis=0)].sum()
    return found


def runs_of_box(plan: CountPlan, box: int) -> list[tuple[int, int]]:
    """The runs of cells that a box consists of; of numbers, the cell of missing values is a run of its own."""
    found = cells_of_box(plan, box)
    if plan.cells.n_codes[plan.boxes.feature[box]] == 0:
        low, high = int(plan.boxes.low[box]), int(plan.boxes.high[box])
        return [(low, high + 1)] * (low <= high) + [(found.size - 1, found.size)] * bool(found[-1])
    edges = np.flatnonzero(np.diff(np.concatenate([[False], found, [False]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def curves(plan: CountPlan, G: NDArray[Any]) -> dict[int, NDArray[np.float64]]:
    """The centred curve of each feature: leaf l adds w_l (G_l({j}) [x in the box] - G_l(none)), as steps."""
    e = plan.ensemble
    steps = {f: np.zeros((int(n) + 1, e.n_outputs)) for f, n in enumerate(plan.cells.n_cells)}
    for leaf in range(e.n_leaves):
        first, outputs = int(plan.leaf_offset[leaf]), _outputs(plan, leaf)
        for box in boxes_of(plan, leaf):
            here = steps[int(plan.boxes.feature[box])]
            up = e.value[leaf] * G[first + plan.subsets.plus[plan.boxes.slot[box], 0]]
            here[0, outputs] -= e.value[leaf] * G[first]
            for start, end in runs_of_box(plan, box):
                here[start, outputs] += up
                here[end, outputs] -= up
    return {f: np.cumsum(here[:-1], axis=0) for f, here in steps.items()}


def interaction(plan: CountPlan, G: NDArray[Any], a: int, b: int) -> NDArray[np.float64]:
    """The interaction: leaf l adds w_l ([x in] [y in] G({a, b}) - [x in] G({a}) - [y in] G({b}) + G(none))."""
    e, plus = plan.ensemble, plan.subsets.plus
    steps = np.zeros((int(plan.cells.n_cells[a]) + 1, int(plan.cells.n_cells[b]) + 1, e.n_outputs))
    for leaf in range(e.n_leaves):
        box = {int(plan.boxes.feature[box]): box for box in boxes_of(plan, leaf)}
        if a not in box or b not in box:
            continue
        first, outputs = int(plan.leaf_offset[leaf]), _outputs(plan, leaf)
        runs_a, runs_b = runs_of_box(plan, box[a]), runs_of_box(plan, box[b])
        only_a, only_b = (plus[plan.boxes.slot[box[f]], 0] for f in (a, b))
        both = plus[plan.boxes.slot[box[b]], only_a]
        none, one_a, one_b, two = (e.value[leaf] * G[first + number] for number in (0, only_a, only_b, both))
        steps[0, 0, outputs] += none
        for low, high in runs_b:
            steps[0, low, outputs] -= one_b
            steps[0, high, outputs] += one_b
        for left, right in runs_a:
            steps[left, 0, outputs] -= one_a
            steps[right, 0, outputs] += one_a
            for low, high in runs_b:
                steps[left, low, outputs] += two
                steps[left, high, outputs] -= two
                steps[right, low, outputs] -= two
                steps[right, high, outputs] += two
    return steps.cumsum(axis=0).cumsum(axis=1)[:-1, :-1]


def _outputs(plan: CountPlan, leaf: int) -> slice:
    output = int(plan.ensemble.tree_output[plan.leaf_tree[leaf]])
    return slice(None) if output < 0 else slice(output, output + 1)
