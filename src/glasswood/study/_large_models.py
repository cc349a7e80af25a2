"""Curves of models with more counts than fit in memory: trees are counted in parts, and each part becomes curves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.effects._closed_forms import Effects
from glasswood.study._averages import Average

__all__ = ["count_in_parts"]


def count_in_parts(
    plan: CountPlan, over: Average, max_: int
) -> tuple[dict[int, NDArray[np.float64]], NDArray[np.float64], NDArray[Any]]:
    """Return the curves, the mean and the rows per cell of a plan with more counts than fit in memory.

    The trees are counted in parts of at most `max_` counts; each part is folded into the curves and forgotten.
    """
    e = plan.ensemble
    per_tree = np.bincount(plan.leaf_tree, weights=plan.subsets.size[plan.n_players], minlength=e.n_trees)
    base = e.score.constant
    mean, cells = base.copy(), np.zeros(int(plan.cells.n_cells.sum()))
    curves: dict[int, NDArray[np.float64]] = {}
    first = 0
    while first < e.n_trees:
        last = first + max(1, int(np.searchsorted(np.cumsum(per_tree[first:]), max_, side="right")))
        part, first = plan.part(first, last), last
        background = over.count(part, lists_only=True)
        if background is None:  # without rows, nothing is counted
            continue
        effects = Effects(part, background.counts, background.total)
        mean += effects.mean - base
        for feature, heights in effects.curves().items():
            curves[feature] = curves.get(feature, base) + (heights - base)
        cells = np.maximum(cells, background.cells * background.unit)
    return curves, mean, cells
