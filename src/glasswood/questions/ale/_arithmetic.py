"""Local effects: what the score changes by if a feature moves within its bin, from counts; and their sums (ALE).

Of a leaf with the value v and an interval of feature j, the rows of bin b gain v if only the upper edge of the bin is
in the interval, and lose it if only the lower one is. So the sum of changes over the rows of bin b is
``sum_l v_l sign_b(l) G_l({j}; rows in b)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glasswood.parallel._lazy import cached_property
from glasswood.questions.ale._statistic_counts import AleNumbers

__all__ = [
    "LocalEffects",
    "accumulated",
    "accumulated_pair",
    "along_levels",
    "rms_gap",
    "similarity_order",
    "weights_of_edges",
]


MAX_ENTRIES = 2**24  # of leaves times categories, at a time


@dataclass(frozen=True, eq=False)
class LocalEffects:
    """The local effects of features on the raw score.

    Parameters
    ----------
    numbers : AleNumbers
        The counts.
    cells : ndarray of int64
        The rows per cell of all features.
    """

    numbers: AleNumbers
    cells: NDArray[np.int64]

    @property
    def unit(self) -> float:
        """The unit of the rows' weights."""
        return self.numbers.unit

    def _place(self, feature: int) -> int:
        return int(np.searchsorted(self.numbers.plan.ensemble.used_features, feature))

    def rows(self, feature: int) -> NDArray[np.int64]:
        """Return the rows (in units of weight) in each bin of a feature, those of missing values last."""
        first = self.numbers.jobs.bin_first
        place = self._place(feature)
        return self.numbers.rows[first[place] : first[place + 1]]

    @cached_property
    def _by_feature(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The jobs in the order of their features, and where those of each feature start, among all features."""
        plan, jobs = self.numbers.plan, self.numbers.jobs
        feature = plan.boxes.feature[jobs.box].astype(np.min_scalar_type(plan.ensemble.n_features))  # sorted by digits
        first = np.concatenate([[0], np.cumsum(np.bincount(feature, minlength=plan.ensemble.n_features))])
        return np.argsort(feature, kind="stable"), first

    def _jobs_of(self, feature: int) -> NDArray[np.int64]:
        order, first = self._by_feature
        return order[first[feature] : first[feature + 1]]

    @cached_property
    def _leaf_of_box(self) -> NDArray[np.int64]:
        first = self.numbers.plan.boxes.first
        return np.repeat(np.arange(first.size - 1), np.diff(first))

    @cached_property
    def _values(self) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """The values of each leaf on the scale of the score, and the output of the first of them."""
        plan = self.numbers.plan
        output = np.maximum(plan.ensemble.tree_output, 0)[plan.leaf_tree]
        return plan.ensemble.value * plan.ensemble.score.factor, output

    def sums(self, feature: int) -> NDArray[np.float64]:
        """Return the sum over the rows of each bin of what the score changes by: (n_bins, n_outputs)."""
        jobs, n_outputs = self.numbers.jobs, self.numbers.plan.ensemble.n_outputs
        own = self._jobs_of(feature)
        own = own[jobs.sign[own] != 0]
        leaf = self._leaf_of_box[jobs.box[own]]
        value, output = self._values
        times = jobs.sign[own] * self.numbers.counts[own].astype(np.float64)
        number = jobs.bin[own] - jobs.bin_first[self._place(feature)]
        n_bins = self.rows(feature).size - 1
        result = np.zeros(n_bins * n_outputs)
        for k in range(value.shape[1]):
            place = number.astype(np.int64) * n_outputs + output[leaf] + k
            result += np.bincount(place, weights=value[leaf, k] * times, minlength=result.size)
        return result.reshape(n_bins, n_outputs)

    def moved(self, feature: int) -> NDArray[np.float64]:
        """Return the mean score of the rows of each level if they are moved to each level, up to a constant.

        The shape is (n_levels, n_levels, n_outputs): the levels in bins of their own, then all others (if there are
        any), then those that the model does not know. Moving to "others" is moving to one of them at random, in
        proportion to their rows. 0 for levels without rows.
        """
        rows = self.rows(feature)[:-1].astype(np.float64)
        counts, box = self._level_counts(feature)
        result = self._weighed(counts[:, :-1], self._meets(feature, box), box)
        return result / np.where(rows > 0, rows, 1.0)[:, None, None]

    def contrast(self, feature: int) -> NDArray[np.float64]:
        """Return the mean, over the rows with a missing value, of the score minus that with a value drawn from others.

        NaN if no row has a missing value, or if all have.
        """
        plan, jobs = self.numbers.plan, self.numbers.jobs
        rows, present = self.rows(feature), self._present(feature)
        if rows[-1] <= 0 or present.sum() <= 0:
            return np.full(plan.ensemble.n_outputs, np.nan)
        own = self._jobs_of(feature)
        own = own[jobs.bin[own] == jobs.bin_first[self._place(feature) + 1] - 1]
        box = jobs.box[own]
        share = present / present.sum()
        if plan.cells.n_codes[feature]:
            average = self._memberships(feature, box) @ share
        else:
            up_to = np.concatenate([[0.0], np.cumsum(share)])
            low, high = plan.boxes.low[box], plan.boxes.high[box]
            average = np.where(low <= high, up_to[np.minimum(high, share.size - 1) + 1] - up_to[low], 0.0)
        gain = (plan.boxes.missing[box] - average)[:, None]
        result: NDArray[np.float64] = self._weighed(self.numbers.counts[own][:, None], gain, box)[0, 0] / float(
            rows[-1]
        )
        return result

    def _present(self, feature: int) -> NDArray[np.float64]:
        """Return the rows of each cell of a feature but the one of missing values."""
        offset = self.numbers.plan.cells.offset
        return self.cells[offset[feature] : offset[feature + 1] - 1].astype(np.float64)

    def _level_counts(self, feature: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the counts of each leaf and level, and the boxes of the leaves."""
        own = self._jobs_of(feature).reshape(-1, self.rows(feature).size)
        return self.numbers.counts[own], self.numbers.jobs.box[own[:, 0]]

    def _memberships(self, feature: int, box: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return whether each category, and an unseen one, leads to each leaf."""
        plan = self.numbers.plan
        n_codes = int(plan.cells.n_codes[feature])
        code = np.arange(n_codes)
        words = plan.boxes.sets[plan.boxes.low[box][:, None] + (code >> 6)[None]]
        inside = (words >> (code & 63).astype(np.uint64)[None]) & np.uint64(1)
        return np.column_stack([inside.astype(np.float64), plan.boxes.unseen[box]])

    def _meets(self, feature: int, box: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the share of each level that leads to each leaf."""
        kept = self.numbers.bins.levels[feature]
        member, present = self._memberships(feature, box), self._present(feature)
        rest = np.ones(present.size - 1, dtype=bool)
        rest[kept] = False
        if not rest.any():
            return np.column_stack([member[:, kept], member[:, -1]])
        share = np.where(rest, present[:-1], 0.0)
        share = share / share.sum() if share.sum() > 0 else rest / rest.sum()
        return np.column_stack([member[:, kept], member[:, :-1] @ share, member[:, -1]])

    def _weighed(
        self, counts: NDArray[np.int64], gain: NDArray[np.float64], box: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return, for each output, the sum over leaves of value, count and gain: (n_counts, n_gains, n_outputs)."""
        value, output = self._values
        leaf = self._leaf_of_box[box]
        result = np.zeros((counts.shape[1], gain.shape[1], self.numbers.plan.ensemble.n_outputs))
        step = max(1, MAX_ENTRIES // max(1, counts.shape[1] + gain.shape[1]))
        for first in range(0, box.size, step):
            here = slice(first, first + step)
            for k in range(value.shape[1]):
                for to in np.unique(output[leaf[here]]).tolist():
                    of = np.flatnonzero(output[leaf[here]] == to) + first
                    weighted = counts[of].astype(np.float64) * value[leaf[of], k][:, None]
                    result[:, :, to + k] += weighted.T @ gain[of]
        return result


def accumulated(sums: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the accumulated mean changes at the edges of bins, centred by the rows: (n_bins + 1, n_outputs).

    A bin without rows changes nothing.
    """
    weight = np.where(rows > 0, rows, 1.0)[:, None]
    heights = np.concatenate([np.zeros((1, sums.shape[1])), np.cumsum(sums / weight, axis=0)])
    at_edges = weights_of_edges(rows)
    return heights - (at_edges @ heights) / at_edges.sum() if at_edges.sum() > 0 else heights


def weights_of_edges(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weight of each edge: half the rows of the bins on both sides."""
    result: NDArray[np.float64] = (np.append(rows, 0.0) + np.append(0.0, rows)) / 2.0
    return result


def along_levels(
    moved: NDArray[np.float64], rows: NDArray[np.float64], order: Sequence[int] | NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the accumulated effects of levels along an order of these, centred by their rows: (n_order, n_outputs).

    The step from level p to its neighbour q is the mean change of the rows of both: those of p moved to q, and those of
    q, which are moved from p.
    """
    at = np.asarray(order, dtype=np.intp)
    p, q = at[:-1], at[1:]
    forth, back = moved[p, q] - moved[p, p], moved[q, q] - moved[q, p]
    both = (rows[p] + rows[q])[:, None]
    steps = np.where(both > 0, rows[p][:, None] * forth + rows[q][:, None] * back, 0.0) / np.where(both > 0, both, 1.0)
    heights = np.concatenate([np.zeros((min(1, at.size), moved.shape[2])), np.cumsum(steps, axis=0)])
    total = rows[at].sum()
    centred: NDArray[np.float64] = heights - (rows[at] @ heights) / total if total > 0 else heights
    return centred


def rms_gap(
    dependence: NDArray[np.float64], heights: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the root mean squared difference of two curves, both centred, for each output; NaN without weight."""
    total = weight.sum()
    if total <= 0:
        return np.full(heights.shape[1], np.nan)
    share = weight / total
    difference = (dependence - share @ dependence) - (heights - share @ heights)
    return np.asarray(np.sqrt(share @ difference**2))


def similarity_order(joint: Sequence[NDArray[np.float64]], by_category: Sequence[bool]) -> NDArray[np.intp]:
    """Return levels in an order in which neighbours are alike in the other features.

    Distances between the distributions of all other features are added up: the largest difference of distribution
    functions (Kolmogorov and Smirnov) for numbers, half the sum of differences of shares for categories. Classical
    scaling puts the levels on a line, from the end at which the first one is.

    Parameters
    ----------
    joint : sequence of ndarray of shape (n_levels, n_cells)
        The rows of each level in each cell of another feature, missing values last.
    by_category : sequence of bool
        Whether that feature has categories.
    """
    n = len(joint[0]) if joint else 0
    distance = np.zeros((n, n))
    for rows, categories in zip(joint, by_category, strict=True):
        share = rows / np.maximum(rows.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        line = share if categories else np.cumsum(share[:, :-1], axis=1)
        for level in range(n):
            apart = np.abs(line - line[level])
            distance[level] += apart.sum(axis=1) / 2 if categories else apart.max(axis=1, initial=0.0)
    centre = np.eye(n) - 1.0 / max(n, 1)
    vector = np.linalg.eigh(-centre @ distance**2 @ centre / 2)[1][:, -1] if n else np.empty(0)
    turned = vector if not n or vector[0] <= 0 else -vector
    return np.argsort(turned, kind="stable")


def accumulated_pair(
    sums: NDArray[np.float64], rows: NDArray[np.float64], edges: tuple[NDArray[np.float64], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return the accumulated local effects of a pair at the edges of both: (n_edges, n_edges, n_outputs).

    Pairs of bins without rows take the mean change of the nearest one that has some, by the middles of bins as shares
    of the ranges of both features. The accumulated effects of each feature alone are subtracted, then the mean.

    Parameters
    ----------
    sums : ndarray of shape (n_bins, n_bins, n_outputs)
        The sum over the rows of each pair of bins of what the score changes by.
    rows : ndarray of shape (n_bins, n_bins)
    edges : tuple of ndarray
    """
    change = sums / np.where(rows > 0, rows, 1.0)[..., None]
    full, total = np.argwhere(rows > 0), rows.sum()
    if not len(full):
        return np.zeros((rows.shape[0] + 1, rows.shape[1] + 1, sums.shape[2]))
    middle = [(z[1:] / 2 + z[:-1] / 2) / (z[-1] - z[0]) for z in edges]
    for a, b in np.argwhere(rows <= 0):
        apart = (middle[0][full[:, 0]] - middle[0][a]) ** 2 + (middle[1][full[:, 1]] - middle[1][b]) ** 2
        change[a, b] = change[tuple(full[np.argmin(apart)])]
    heights = np.zeros((rows.shape[0] + 1, rows.shape[1] + 1, sums.shape[2]))
    heights[1:, 1:] = change.cumsum(axis=0).cumsum(axis=1)
    first = _alone(np.diff(heights, axis=0), rows)
    second = _alone(np.diff(heights, axis=1).transpose(1, 0, 2), rows.T)
    heights = heights - first[:, None] - second[None]
    corners = (heights[1:, 1:] + heights[1:, :-1] + heights[:-1, 1:] + heights[:-1, :-1]) / 4
    return np.asarray(heights - (rows[..., None] * corners).sum(axis=(0, 1)) / total)


def _alone(steps: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the accumulated effect of the first of two features: of steps along it, averaged over the second one."""
    middle = (steps[:, 1:] + steps[:, :-1]) / 2
    weight = rows.sum(axis=1)
    mean = (rows[..., None] * middle).sum(axis=1) / np.where(weight > 0, weight, 1.0)[:, None]
    return np.concatenate([np.zeros((1, steps.shape[2])), np.cumsum(mean, axis=0)])
