"""Cells: the intervals and categories of a feature within which the model does not distinguish values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.models._ensemble import TreeEnsemble
from glasswood.tables._columns import cells_of

__all__ = ["Cells"]


@dataclass(frozen=True, eq=False, slots=True)
class Cells:
    """The cells that the cuts of an ensemble divide each feature into, derived columns included.

    Numbers: cell k holds the values above cut k - 1 and up to cut k. Categories: one cell each, then one for unseen
    ones. The last cell of a feature holds the missing values.

    Parameters
    ----------
    cut : ndarray of float64
        The distinct cuts of all features, sorted within each, without infinity.
    cut_offset : ndarray of shape (n_features + 1,), int64
        Where the cuts of each feature start.
    n_codes : ndarray of shape (n_features,), int64
        The number of category codes of each feature; 0 for numbers.
    n_cells : ndarray of shape (n_features,), int64
        The number of cells, the missing one included.
    rank : ndarray of shape (n_nodes,), int32
        The place of each node's cut among those of its feature; their number for infinity.
    offset : ndarray of shape (n_features + 1,), int64
        Where the cells of each feature start when all features are laid behind each other.
    """

    cut: NDArray[np.float64]
    cut_offset: NDArray[np.int64]
    n_codes: NDArray[np.int64]
    n_cells: NDArray[np.int64]
    rank: NDArray[np.int32]
    offset: NDArray[np.int64]

    @classmethod
    def of(cls, e: TreeEnsemble) -> Cells:
        """Return the cells of an ensemble."""
        by_cut = np.flatnonzero(e.category_set < 0)
        further_feature, further_cut = _further_cuts(e)
        feature = np.concatenate([e.feature[by_cut], further_feature])
        cut = np.concatenate([e.cut[by_cut], further_cut]) + 0.0  # no negative zeros: equal cuts are the same bits
        order = np.argsort(cut)
        # NumPy sorts small integers by their digits, three times as fast as `lexsort` in all.
        order = order[np.argsort(feature[order].astype(np.min_scalar_type(e.n_columns)), kind="stable")]
        feature, cut = feature[order], cut[order]
        new = np.ones(order.size, dtype=bool)
        new[1:] = (feature[1:] != feature[:-1]) | (cut[1:] != cut[:-1])
        new &= cut < np.inf  # "at most infinity" parts nothing but missing values: nothing lies above it
        cut_offset = np.searchsorted(feature[new], np.arange(e.n_columns + 1))
        place = np.empty(order.size, dtype=np.int32)
        place[order] = np.cumsum(new) - (cut < np.inf) - cut_offset[feature]
        rank = np.zeros(e.n_nodes, dtype=np.int32)
        rank[by_cut] = place[: by_cut.size]
        n_cells = np.where(e.n_codes > 0, e.n_codes + 2, np.diff(cut_offset) + 2)
        return cls(cut[new], cut_offset, e.n_codes, n_cells, rank, np.concatenate([[0], np.cumsum(n_cells)]))

    def first(self, n: int) -> Cells:
        """Return the cells of the first n features."""
        ends = self.cut_offset[: n + 1], self.offset[: n + 1]
        return replace(self, cut_offset=ends[0], n_codes=self.n_codes[:n], n_cells=self.n_cells[:n], offset=ends[1])

    def cuts_of(self, feature: int) -> NDArray[np.float64]:
        """Return the sorted cuts of a feature."""
        return self.cut[self.cut_offset[feature] : self.cut_offset[feature + 1]]

    def locate(self, feature: int, encoded: NDArray[np.floating[Any]]) -> NDArray[np.int64]:
        """Return the cell of each encoded value of a feature."""
        return cells_of(encoded, self.cuts_of(feature), int(self.n_codes[feature]))


def _further_cuts(e: TreeEnsemble) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return features and cuts that are not those of nodes: of conditions, and all ranks of derived columns."""
    if e.derived is None:
        return np.empty(0, dtype=np.int32), np.empty(0)
    derived, n = e.derived, e.n_features
    numbers = np.flatnonzero(~np.isnan(derived.part_cut))
    max_ = derived.max_ranks
    features = np.concatenate([derived.part_column[numbers], np.repeat(n + np.arange(max_.size), max_)])
    cuts = [derived.part_cut[numbers], *(np.arange(n_cuts, dtype=np.float64) for n_cuts in max_.tolist())]
    return features.astype(np.int32), np.concatenate(cuts)
