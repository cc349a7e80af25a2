"""PairCounts: for each leaf that has two features on its path, the rows in some pairs of bins that meet all others.

If both features move from one edge of their bins to the other, a leaf matters for at most four pairs of bins: those in
which its intervals begin and end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._background import Background
from glasswood.counting._leaf_counts import LeafCounts
from glasswood.counting._plan import CountPlan, make_plan
from glasswood.counting._statistic import Batch, Tally, Vector
from glasswood.errors import BackgroundError
from glasswood.kernels import _core
from glasswood.kernels._arrays import aligned
from glasswood.models._ensemble import TreeEnsemble
from glasswood.parallel._interrupts import check_cancelled
from glasswood.parallel._lazy import cached_property, cached_unpickled
from glasswood.questions.ale._statistic_bins import BinFinder, Bins, ends_of_intervals

__all__ = ["PairCounts", "PairNumbers", "PairSpec"]


MAX_HELD = 2**23  # counts at a time


@dataclass(frozen=True, eq=False)
class PairSpec:
    """The counts of the local effects of two features of numbers, as they are asked for.

    Parameters
    ----------
    features : (int, int)
    bins : Bins
        With edges of both.
    """

    features: tuple[int, int]
    bins: Bins

    @cached_property
    def key(self) -> str:
        """The name of the vector."""
        digest = blake2b(f"{self.features!r} {self.bins.digest}".encode(), digest_size=8).hexdigest()
        return f"local effects of a pair {digest}"

    @property
    def shape(self) -> tuple[int, int]:
        """The number of bins of both features."""
        n_a, n_b = (max(1, self.bins.edges[feature].size - 1) for feature in self.features)
        return n_a, n_b

    def statistic(self, plan: CountPlan) -> PairCounts:
        """Return the statistic of a model."""
        return PairCounts(plan.ensemble, self)


class PairJobs(NamedTuple):
    """What is counted: the leaf and the pair of bins of each job, sorted by pairs, and the sign of the leaf there."""

    leaf: NDArray[np.int64]
    pair: NDArray[np.int64]
    sign: NDArray[np.signedinteger[Any]]


def pair_jobs(ensemble: TreeEnsemble, spec: PairSpec) -> PairJobs:
    """Return what is counted of a model."""
    plan = make_plan(ensemble, 1, {})
    leaf_of = np.repeat(np.arange(ensemble.n_leaves), np.diff(plan.boxes.first))
    of_features = []  # of each feature: the bins in which the interval of each leaf begins and ends, and the signs
    for feature in spec.features:
        bins, signs = (np.zeros((ensemble.n_leaves, 2), dtype=np.int64) for _ in range(2))
        own = np.flatnonzero(plan.boxes.feature == feature)
        for end, (box, number, sign) in enumerate(ends_of_intervals(plan, spec.bins.edges[feature], feature, own, 0)):
            bins[leaf_of[box], end], signs[leaf_of[box], end] = number, sign
        of_features.append((bins, signs))
    (bins_a, signs_a), (bins_b, signs_b) = of_features
    sign = (signs_a[:, :, None] * signs_b[:, None]).reshape(ensemble.n_leaves, 4)
    pair = (bins_a[:, :, None] * spec.shape[1] + bins_b[:, None]).reshape(ensemble.n_leaves, 4)
    leaf, place = np.nonzero(sign)
    order = np.lexsort((leaf, pair[leaf, place]))
    leaf, place = leaf[order], place[order]
    return PairJobs(leaf, pair[leaf, place], sign[leaf, place])


class PairCounts:
    """The number (or weight) of rows of each job, and of each pair of bins.

    Rows are sorted by their pairs of bins, and counted in groups, as by any column.

    Parameters
    ----------
    ensemble : TreeEnsemble
    spec : PairSpec
    """

    def __init__(self, ensemble: TreeEnsemble, spec: PairSpec) -> None:
        self._spec, self._name, self._shape = spec, spec.key, spec.shape
        names = ensemble.feature_names
        others = [name for f, name in enumerate(names) if f not in spec.features]
        groups = {" and ".join(others[:2]) + " (and others)": others} if others else {}
        self._plan = make_plan(ensemble, 2, groups)
        self._leaves, self._jobs = LeafCounts(self._plan), pair_jobs(ensemble, spec)
        self._first = np.searchsorted(self._jobs.pair, np.arange(self._n_pairs + 1))
        self._of_rows = BinFinder(self._plan, spec.bins)
        self._places = [int(np.searchsorted(ensemble.used_features, feature)) for feature in spec.features]

    @property
    def _n_pairs(self) -> int:
        return self._shape[0] * self._shape[1]

    @cached_property
    def _count_of_job(self) -> NDArray[np.int64]:
        """The place of the count of each job: that with both features free."""
        boxes, plus = self._plan.boxes, self._plan.subsets.plus
        leaf_of = np.repeat(np.arange(self._plan.ensemble.n_leaves), np.diff(boxes.first))
        slots = np.zeros((2, self._plan.ensemble.n_leaves), dtype=np.int64)
        for line, feature in zip(slots, self._spec.features, strict=True):
            own = boxes.feature == feature
            line[leaf_of[own]] = boxes.slot[own]
        one, two = slots[:, self._jobs.leaf]
        place: NDArray[np.int64] = self._plan.leaf_offset[self._jobs.leaf] + plus[two, plus[one, 0]]
        return place

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """The rows of each job, then those of each pair of bins."""
        return (Vector(self._name, self._jobs.leaf.size + self._n_pairs),)

    @property
    def max_rows(self) -> int:
        """The number of rows that it adds in a fraction of a second."""
        return max(4096, self._leaves.max_rows // 4)

    def add(self, tallies: Sequence[Tally], batch: Batch) -> None:
        """Count rows that are sorted by group."""
        bins = self._of_rows.of(batch.held, batch.n_rows)
        one, two = (bins[place] - int(self._of_rows.first[place]) for place in self._places)
        known = (one < self._shape[0]) & (two < self._shape[1])  # neither is missing
        group = np.repeat(np.arange(len(tallies)), np.diff(batch.bounds))
        key = group * self._n_pairs + one.astype(np.int64) * self._shape[1] + two
        rows = np.flatnonzero(known)
        rows = rows[np.argsort(key[rows], kind="stable")]
        keys, starts = np.unique(key[rows], return_index=True)
        starts = np.append(starts, rows.size)
        step = max(1, MAX_HELD // max(1, self._plan.n_counts))
        for first in range(0, keys.size, step):
            check_cancelled()
            some = keys[first : first + step]
            last = first + some.size
            here = rows[starts[first] : starts[last]]
            self._add_some(tallies, batch, here, some, starts[first : last + 1] - starts[first])

    def _add_some(
        self,
        tallies: Sequence[Tally],
        batch: Batch,
        rows: NDArray[np.intp],
        keys: NDArray[np.int64],
        bounds: NDArray[np.intp],
    ) -> None:
        """Count rows that are sorted by key, the number of a group and a pair of bins."""
        columns = {feature: np.ascontiguousarray(np.asarray(column)[rows]) for feature, column in batch.columns.items()}
        weight = batch.weight[rows] if batch.weight.size else batch.weight
        held = _core.Columns([aligned(column) for column in columns.values()], rows.size)
        own = [Tally.start(self._leaves.vectors) for _ in keys]
        self._leaves.add(own, Batch(columns, bounds.astype(np.int64), weight, held))
        n_jobs = self._jobs.leaf.size
        for key, tally, first, last in zip(keys.tolist(), own, bounds[:-1], bounds[1:], strict=True):
            self._leaves.finish(tally)
            group, pair = divmod(key, self._n_pairs)
            vector, jobs = tallies[group].vectors[self._name], slice(self._first[pair], self._first[pair + 1])
            vector[jobs] += tally.vectors["counts"][self._count_of_job[jobs]]
            vector[n_jobs + pair] += int(weight[first:last].sum()) if weight.size else int(last - first)

    def finish(self, tally: Tally) -> None:
        """Do nothing: the numbers are final at any time."""


class PairNumbers:
    """The local effects of two features of a background.

    Parameters
    ----------
    ensemble : TreeEnsemble
    spec : PairSpec
    background : Background
        One that has the counts.
    """

    def __init__(self, ensemble: TreeEnsemble, spec: PairSpec, background: Background) -> None:
        self._ensemble, self._jobs, self._shape = ensemble, pair_jobs(ensemble, spec), spec.shape
        vector = background.vectors[spec.key]
        n_jobs = self._jobs.leaf.size
        if vector.size != n_jobs + self._shape[0] * self._shape[1]:
            message = "the background is for a different model or different groups; run summarize with this model"
            raise BackgroundError(message)
        self._counts, self.unit = vector[:n_jobs], background.unit
        self.rows: NDArray[np.int64] = vector[n_jobs:].reshape(self._shape)

    @cached_unpickled
    def sums(self) -> NDArray[np.float64]:
        """The sum over the rows of each pair of bins of what the score changes by: (n_bins, n_bins, n_outputs)."""
        e, jobs = self._ensemble, self._jobs
        leaf_tree = make_plan(e, 1, {}).leaf_tree
        output = np.maximum(e.tree_output, 0)[leaf_tree][jobs.leaf]
        value, times = e.value[jobs.leaf] * e.score.factor, jobs.sign * self._counts.astype(np.float64)
        result = np.zeros(self._shape[0] * self._shape[1] * e.n_outputs)
        for k in range(value.shape[1]):
            place = jobs.pair * e.n_outputs + output + k
            result += np.bincount(place, weights=value[:, k] * times, minlength=result.size)
        return result.reshape(*self._shape, e.n_outputs)
