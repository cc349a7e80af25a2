"""Bins: the values of features that rows are compared within, for accumulated local effects (ALE)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import MAX_COUNTS, CountPlan
from glasswood.errors import BackgroundError, TooLargeError
from glasswood.kernels import _core
from glasswood.parallel._lazy import cached_unpickled

__all__ = ["MAX_LEVELS", "BinFinder", "Bins", "Jobs", "add_rows", "bin_jobs", "ends_of_intervals"]


MAX_LEVELS = 256  # of a feature of categories: the less frequent ones are one bin


@dataclass(frozen=True, eq=False)
class Bins:
    """The bins of some features.

    Numbers have edges ``z_0 < ... < z_B``; a value x is in bin b if ``z_(b-1) < x <= z_b``, in the first one if it is
    at most z_0, and in the last one if it is above z_B. With fewer than two edges there is one bin for all numbers.
    Categories have a bin each, or one for all others beside those that are listed. Behind them are a bin for unseen
    categories, and one for missing values of either kind.

    Parameters
    ----------
    edges : mapping from int to ndarray of float64
        Those of features of numbers, finite and strictly increasing.
    levels : mapping from int to ndarray of int64
        The codes of the categories of a feature that have bins of their own.
    """

    edges: Mapping[int, NDArray[np.float64]]
    levels: Mapping[int, NDArray[np.int64]]

    @property
    def features(self) -> list[int]:
        """The features that have bins, in order."""
        return sorted((*self.edges, *self.levels))

    def packed(self) -> NDArray[np.int64]:
        """Return the bins as whole numbers: for each feature its number, whether it has levels, how many, and these."""
        parts = []
        for feature in self.features:
            by_level = feature in self.levels
            own = self.levels[feature] if by_level else self.edges[feature].astype(np.float64).view(np.int64)
            parts += [np.array([feature, by_level, own.size]), own]
        return np.concatenate([np.empty(0, dtype=np.int64), *parts]).astype(np.int64)

    @classmethod
    def unpacked(cls, packed: NDArray[np.int64]) -> Bins:
        """Return bins that were packed."""
        edges, levels, at = {}, {}, 0
        while at < packed.size:
            feature, by_level, n = (int(number) for number in packed[at : at + 3])
            own = packed[at + 3 : at + 3 + n]
            if n < 0 or own.size != n:
                message = "the edges of bins in the background are damaged; run summarize again"
                raise BackgroundError(message)
            if by_level:
                levels[feature] = own
            else:
                edges[feature] = own.view(np.float64)
            at += 3 + n
        return cls(edges, levels)

    @property
    def digest(self) -> str:
        """A hash of the bins."""
        return blake2b(self.packed().tobytes(), digest_size=8).hexdigest()

    def n_bins(self, plan: CountPlan, feature: int) -> int:
        """Return the number of bins of a feature, those of unseen and missing values included."""
        n_codes = int(plan.cells.n_codes[feature])
        if n_codes:
            kept = self.levels[feature].size if feature in self.levels else 0
            return kept + (kept < n_codes) + 2
        return max(1, self.edges[feature].size - 1 if feature in self.edges else 0) + 1

    def inner(self, feature: int) -> NDArray[np.float64]:
        """Return the edges between the bins of a feature of numbers."""
        return self.edges.get(feature, np.empty(0))[1:-1]

    def bin_of_code(self, feature: int, n_codes: int) -> NDArray[np.int32]:
        """Return the bin of each category of a feature."""
        kept = self.levels.get(feature, np.empty(0, dtype=np.int64))
        bins = np.full(n_codes, kept.size, dtype=np.int32)
        bins[kept] = np.arange(kept.size)
        return bins


class BinFinder:
    """Finds the bins of encoded columns.

    Parameters
    ----------
    plan : CountPlan
    bins : Bins

    Attributes
    ----------
    first : ndarray of shape (n_used + 1,), int64
        Where the bins of each feature that the model uses start, and at the end their number.
    """

    def __init__(self, plan: CountPlan, bins: Bins) -> None:
        self._used, self._bins = plan.ensemble.used_features, bins
        self._n_codes = plan.cells.n_codes[self._used]
        n_bins = [bins.n_bins(plan, feature) for feature in self._used.tolist()]
        self.first = np.concatenate([[0], np.cumsum(n_bins, dtype=np.int64)])

    @cached_unpickled
    def _cuts(self) -> _core.CutsOfColumns:
        n_codes = self._n_codes
        inner = [np.empty(0) if n else self._bins.inner(int(f)) for f, n in zip(self._used, n_codes, strict=True)]
        sizes = np.array([part.size for part in inner], dtype=np.int64)
        n_cells = np.where(n_codes > 0, n_codes + 2, np.diff(self.first))
        return _core.CutsOfColumns(np.concatenate([np.empty(0), *inner]), np.cumsum(sizes) - sizes, n_codes, n_cells)

    def of(self, held: _core.Columns, n_rows: int) -> NDArray[np.int32]:
        """Return the bin of each row, numbered over all features: one line per feature that the model uses."""
        result = np.empty((self._used.size, n_rows), dtype=np.int32)
        _core.write_cells(held, self._cuts, result)
        for place, (feature, n) in enumerate(zip(self._used.tolist(), self._n_codes.tolist(), strict=True)):
            start, end = self.first[place : place + 2].tolist()
            if n:
                bins = np.append(self._bins.bin_of_code(feature, n), [end - start - 2, end - start - 1])
                result[place] = bins[result[place]]
            result[place] += start
        return result


def add_rows(out: NDArray[np.int64], bins: NDArray[np.int32], weight: NDArray[np.int64]) -> None:
    """Add the number (or weight) of rows to those of their bins."""
    if weight.size:
        np.add.at(out, bins, weight)
    else:
        out += np.bincount(bins, minlength=out.size)


class Jobs(NamedTuple):
    """What is counted: for each leaf and feature of its path, the rows of some bins of the feature.

    Parameters
    ----------
    bin_first : ndarray of shape (n_used + 1,), int64
        Where the bins of each feature that the model uses start, and at the end their number.
    first : ndarray of shape (n_counts + 1,), int64
        Where the jobs of each count of a plan of order 1 start.
    bin : ndarray of shape (n_jobs,), int32
        The bin of each job, numbered over all features.
    box : ndarray of shape (n_jobs,), int64
        The leaf and feature of each job, as the plan's boxes number them.
    sign : ndarray of shape (n_jobs,), int8
        Numbers: 1 if the leaf's interval begins within the bin (has its upper edge but not the lower one), -1 if it
        ends there. 0 for categories and for missing values.
    """

    bin_first: NDArray[np.int64]
    first: NDArray[np.int64]
    bin: NDArray[np.int32]
    box: NDArray[np.int64]
    sign: NDArray[np.int8]


def bin_jobs(plan: CountPlan, bins: Bins) -> Jobs:
    """Return what is counted of a model whose features are players of their own."""
    used, bin_first = plan.ensemble.used_features, BinFinder(plan, bins).first
    boxes = plan.boxes
    by_feature = np.argsort(boxes.feature.astype(np.min_scalar_type(plan.ensemble.n_features)), kind="stable")
    bounds = np.searchsorted(boxes.feature[by_feature], np.arange(plan.ensemble.n_features + 1))
    _refuse_too_many(plan, bins, bounds)
    leaf = np.repeat(np.arange(plan.ensemble.n_leaves), np.diff(boxes.first))
    count = plan.leaf_offset[leaf] + 1 + boxes.slot
    parts: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int8]]] = []  # in the order of bins, per feature
    for place, feature in enumerate(used.tolist()):
        own = by_feature[bounds[feature] : bounds[feature + 1]]
        if feature in bins.levels:
            every = range(int(bin_first[place]), int(bin_first[place + 1]))
            parts += [(own, np.full(own.size, number), np.zeros(own.size, dtype=np.int8)) for number in every]
        elif feature in bins.edges:
            parts += ends_of_intervals(plan, bins.edges[feature], feature, own, int(bin_first[place]))
            missing = np.full(own.size, bin_first[place + 1] - 1)
            parts.append((own, missing, np.zeros(own.size, dtype=np.int8)))
    n_jobs = np.zeros(plan.n_counts + 1, dtype=np.int64)
    for own, _, _ in parts:
        n_jobs[count[own] + 1] += 1
    first = np.cumsum(n_jobs)
    following = first[:-1].copy()  # where the next job of each count goes: a box is in a part at most once
    number, box = np.empty(first[-1], dtype=np.int32), np.empty(first[-1], dtype=np.int64)
    sign = np.empty(first[-1], dtype=np.int8)
    for own, numbers, signs in parts:
        at = following[count[own]]
        number[at], box[at], sign[at] = numbers, own, signs
        following[count[own]] += 1
    return Jobs(bin_first, first, number, box, sign)


def ends_of_intervals(
    plan: CountPlan, edges: NDArray[np.float64], feature: int, own: NDArray[np.int64], first: int
) -> list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int8]]]:
    """Return the jobs of a feature of numbers: the bins in which the intervals of leaves begin, and where they end."""
    at = plan.cells.locate(feature, edges)  # the cell of each edge
    low, high = plan.boxes.low[own], plan.boxes.high[own]
    begin, end = np.searchsorted(at, low), np.searchsorted(at, high, side="right")  # edges within the interval
    some = begin < end
    result = []
    for edge, sign, inside in ((begin, 1, begin > 0), (end, -1, end < edges.size)):
        kept = np.flatnonzero(some & inside)
        result.append((own[kept], first + edge[kept] - 1, np.full(kept.size, sign, dtype=np.int8)))
    return result


def _refuse_too_many(plan: CountPlan, bins: Bins, bounds: NDArray[np.int64]) -> None:
    """Refuse bins that would need too many counts."""
    n_boxes = np.diff(bounds)
    needed = sum(int(n_boxes[f]) * (bins.n_bins(plan, f) if f in bins.levels else 3) for f in bins.features)
    if needed > MAX_COUNTS:
        message = (
            f"the local effects of {len(bins.features)} features of this model need up to {needed:,} counts "
            f"({8 * needed / 1e9:,.1f} GB); at most {MAX_COUNTS:,} are handled: ask for fewer features"
        )
        raise TooLargeError(message)
