"""The definition of a TreeEnsemble's prediction, row by row and node by node, in plain Python."""

from __future__ import annotations

import math

import numpy as np


def goes_left(ensemble, node, x):
    """The canonical node."""
    if math.isnan(x):
        return bool(ensemble.missing_left[node])
    start = int(ensemble.category_set[node])
    if start < 0:
        return x <= ensemble.cut[node]
    code = math.floor(x)
    if code < 0 or code >= ensemble.schema.columns[ensemble.feature[node]].n_codes:
        return bool(ensemble.unseen_left[node])
    return bool(int(ensemble.words[start + code // 64]) >> (code % 64) & 1)


def leaf_of(ensemble, tree, row):
    """The leaf that a row reaches in a tree."""
    node = int(ensemble.root[tree])
    while node >= 0:
        left = goes_left(ensemble, node, float(row[ensemble.feature[node]]))
        node = int((ensemble.left if left else ensemble.right)[node])
    return ~node


def predict(ensemble, table):
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
