"""The definition of a TreeEnsemble's prediction, row by row and node by node, in plain Python."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.models._ensemble import TreeEnsemble

Path = list[tuple[int, bool]]  # nodes, and whether it goes left there


def goes_left(ensemble: TreeEnsemble, node: int, x: float) -> bool:
    """The canonical node."""
    if math.isnan(x):
        return bool(ensemble.missing_left[node])
    start = int(ensemble.category_set[node])
    if start < 0:
        return bool(x <= ensemble.cut[node])
    code = math.floor(x)
    if code < 0 or code >= ensemble.schema.columns[ensemble.feature[node]].n_codes:
        return bool(ensemble.unseen_left[node])
    return bool(int(ensemble.words[start + code // 64]) >> (code % 64) & 1)


def leaf_of(ensemble: TreeEnsemble, tree: int, row: Any) -> int:
    """The leaf that a row reaches in a tree."""
    node = int(ensemble.root[tree])
    while node >= 0:
        left = goes_left(ensemble, node, float(row[ensemble.feature[node]]))
        node = int((ensemble.left if left else ensemble.right)[node])
    return ~node


def predict(ensemble: TreeEnsemble, table: Any) -> NDArray[Any]:
    """The raw score of each row, added up in the order and precision that `Score` states."""
    score, dtype = ensemble.score, np.dtype(ensemble.score.dtype).type
    base = score.base.astype(dtype)
    result = np.empty((len(table), ensemble.n_outputs), dtype=dtype)
    for row, scores in zip(table, result, strict=True):
        scores[:] = base if score.base_first else 0
        for tree in range(ensemble.n_trees):
            value = ensemble.value[leaf_of(ensemble, tree, row)].astype(dtype)
            output = ensemble.tree_output[tree]
            scores[slice(None) if output < 0 else slice(output, output + 1)] += value
        scores[:] = scores * dtype(score.scale) / dtype(score.divisor)
        if not score.base_first:
            scores[:] = scores + score.base
    return result[:, 0] if ensemble.n_outputs == 1 else result


def paths(ensemble: TreeEnsemble) -> dict[int, Path]:
    """For every leaf: the nodes of its path, and whether the path goes left there."""
    found = {}
    for root in ensemble.root.tolist():
        stack: list[tuple[int, Path]] = [(root, [])]
        while stack:
            node, path = stack.pop()
            if node < 0:
                found[~node] = path
                continue
            stack.append((int(ensemble.left[node]), [*path, (node, True)]))
            stack.append((int(ensemble.right[node]), [*path, (node, False)]))
    return found


def counts(plan: CountPlan, table: Any, weight: NDArray[Any]) -> NDArray[np.int64]:
    """G of every leaf and player set, by looking at every row."""
    ensemble = plan.ensemble
    result = np.zeros(plan.n_counts, dtype=np.int64)
    for leaf, path in paths(ensemble).items():
        players = list(dict.fromkeys(plan.player_of[ensemble.feature[node]] for node, _ in path))
        sets = [mask for mask in range(2 ** len(players)) if mask.bit_count() <= plan.order]
        for row, amount in zip(table, weight, strict=True):
            broken = 0
            for node, left in path:
                feature = ensemble.feature[node]
                if goes_left(ensemble, node, float(row[feature])) != left:
                    broken |= 1 << players.index(plan.player_of[feature])
            for place, mask in enumerate(sets):
                result[plan.leaf_offset[leaf] + place] += amount * (broken & ~mask == 0)
    return result
