"""Rewriting the nodes of trees, from conditions on transformed columns to conditions on the user's own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.models._ensemble import CategorySets, TreeEnsemble
from glasswood.models.folding._labels import Labels
from glasswood.models.folding._numbers import Number
from glasswood.tables._columns import UNSEEN

__all__ = ["Nodes"]

Floats = NDArray[np.float64]


class Nodes:
    """The nodes of trees, as arrays, while they are rewritten."""

    def __init__(self, ensemble: TreeEnsemble) -> None:
        self._e = ensemble
        self._nodes = np.argsort(ensemble.feature, kind="stable")
        self._bounds = np.searchsorted(ensemble.feature[self._nodes], np.arange(ensemble.n_features + 1))
        self._cut, self._missing_left = ensemble.cut.copy(), ensemble.missing_left.copy()
        self._category_set, self._unseen_left = ensemble.category_set.copy(), ensemble.unseen_left.copy()
        self._swapped = np.zeros(ensemble.n_nodes, dtype=bool)
        self._sets = CategorySets()

    def fold(self, made: int, own: Number | Labels) -> None:
        """Rewrite the nodes on a transformed column."""
        nodes = self._nodes[self._bounds[made] : self._bounds[made + 1]]
        if isinstance(own, Number):
            self._fold_cuts(nodes, made, own)
        else:
            self._fold_sets(nodes, made, own)

    def _fold_cuts(self, nodes: NDArray[np.intp], made: int, own: Number) -> None:
        cut = self._e.cut[nodes]
        threshold = own.user_cuts[made][np.searchsorted(own.cuts[made], cut)]
        # No number is before the cut: all of them are, if its sides are swapped once more.
        swapped = (threshold == -np.inf) ^ own.falls[made]
        if made in own.all_missing:
            threshold, swapped = np.full(cut.size, np.inf), ~self._e.missing_left[nodes]
        self._cut[nodes] = np.where(threshold == -np.inf, np.inf, threshold)
        missing = own.missing[made]
        left = self._e.missing_left[nodes] if np.isnan(missing) else missing <= cut
        self._missing_left[nodes] = left ^ swapped
        self._swapped[nodes] = swapped

    def _fold_sets(self, nodes: NDArray[np.intp], made: int, own: Labels) -> None:
        e, values = self._e, own.values[made]
        fields = (e.category_set[nodes], e.cut[nodes], e.missing_left[nodes], e.unseen_left[nodes])
        by_cut = fields[0] < 0
        conditions = np.stack([np.where(by_cut, -1, fields[0]), np.where(by_cut, fields[1], 0), *fields[2:]], axis=1)
        distinct, which = np.unique(conditions, axis=0, return_inverse=True)
        for k, (category_set, cut, missing_left, unseen_left) in enumerate(distinct.tolist()):
            here = nodes[which.ravel() == k]
            left = values <= cut
            if category_set >= 0:
                left = np.where(values == UNSEEN, bool(unseen_left), self._in_set(int(category_set), values))
            left = np.where(np.isnan(values), bool(missing_left), left)
            self._category_set[here] = e.words.size + self._sets.add(left[:-2])
            self._unseen_left[here], self._missing_left[here] = left[-2:]
        self._cut[nodes] = 0.0

    def _in_set(self, first: int, codes: Floats) -> NDArray[np.bool_]:
        """Return which codes are in a category set."""
        whole = np.nan_to_num(codes, nan=0.0).astype(np.int64).clip(0)
        bits = self._e.words[first + whole // 64] >> (whole % 64).astype(np.uint64)
        return np.asarray((bits & np.uint64(1)) == 1)

    def changed(self) -> dict[str, Any]:
        """Return the arrays that have changed."""
        e, swapped = self._e, self._swapped
        return {
            "cut": self._cut,
            "missing_left": self._missing_left,
            "category_set": self._category_set,
            "unseen_left": self._unseen_left,
            "left": np.where(swapped, e.right, e.left),
            "right": np.where(swapped, e.left, e.right),
            "words": np.concatenate([e.words, self._sets.words]),
        }
