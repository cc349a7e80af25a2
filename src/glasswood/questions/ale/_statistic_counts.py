"""AleCounts: for each leaf and each feature of its path, the rows in some bins of the feature that meet the others.

G_l({j}; rows in bin b) is the number of rows of bin b that meet all conditions of leaf l, except perhaps those on
feature j. If j moves from one edge of a bin to the other, only the leaves matter whose interval has one of both edges:
at most two bins per leaf and feature, whatever the number of bins. Counts are shared by all outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._background import Background
from glasswood.counting._leaf_counts import Chunk, LeafCounts, float32_at_most
from glasswood.counting._plan import CountPlan, make_plan
from glasswood.counting._statistic import Batch, Tally, Vector
from glasswood.errors import BackgroundError
from glasswood.kernels import _core
from glasswood.models._ensemble import TreeEnsemble
from glasswood.parallel._interrupts import check_cancelled
from glasswood.parallel._lazy import cached_property, cached_unpickled
from glasswood.questions.ale._statistic_bins import BinFinder, Bins, Jobs, add_rows, bin_jobs

__all__ = ["EDGES", "AleCounts", "AleNumbers", "AleSpec", "find_bins"]


PREFIX, EDGES = "local effects ", "edges of "  # of the names of vectors

ROWS_OF_A_BITSET = 4096


@dataclass(frozen=True, eq=False)
class AleSpec:
    """The counts of local effects, as they are asked for.

    Parameters
    ----------
    bins : Bins
    """

    bins: Bins

    @cached_property
    def key(self) -> str:
        """The name of the vector: it has a hash of the bins, so that backgrounds with other bins do not add up."""
        return PREFIX + self.bins.digest

    def statistic(self, plan: CountPlan) -> AleCounts:
        """Return the statistic of a model."""
        return AleCounts(plan.ensemble, self)


class AleCounts:
    """The number (or weight) of rows of each job, and of each bin.

    Parameters
    ----------
    ensemble : TreeEnsemble
    spec : AleSpec
    """

    def __init__(self, ensemble: TreeEnsemble, spec: AleSpec) -> None:
        self._plan = make_plan(ensemble, 1, {})
        self._spec, self._bins, self._name = spec, spec.bins, spec.key
        self._jobs = bin_jobs(self._plan, spec.bins)
        self._leaves = LeafCounts(self._plan)
        self._used = ensemble.used_features
        self._of_rows = BinFinder(self._plan, spec.bins)
        self._by_chunk = [self._bins_of(chunk) for chunk in self._leaves.chunks]

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """The rows of each job, then those of each bin; and the bins themselves."""
        size = self._jobs.bin.size + int(self._jobs.bin_first[-1])
        return Vector(self._name, size), Vector(EDGES + self._name, self._bins.packed().size, "same")

    @property
    def max_rows(self) -> int:
        """The number of rows that it adds in a fraction of a second."""
        return max(ROWS_OF_A_BITSET, self._leaves.max_rows // 2)

    def add(self, tallies: Sequence[Tally], batch: Batch) -> None:
        """Count rows that are sorted by group."""
        n_jobs = self._jobs.bin.size
        vectors = [tally.vectors[self._name] for tally in tallies]
        homes = _core.CountTargets([own[:n_jobs] for own in vectors], [own[n_jobs:] for own in vectors])
        leaves = self._leaves
        for chunk, (edges, bins, weighed) in zip(leaves.chunks, self._by_chunk, strict=True):
            check_cancelled()
            _core.count_bins_with_bitsets(
                batch.held,
                chunk.which,
                batch.bounds,
                chunk.conditions,
                edges,
                chunk.trees,
                leaves.subsets,
                bins,
                self._held_jobs,
                weighed,
                batch.weight,
                homes,
            )
        if leaves.large.any():
            self._add_lists(vectors, batch)

    def finish(self, tally: Tally) -> None:
        """Note the bins: the counts are final at any time."""
        tally.vectors[EDGES + self._name] = self._bins.packed()

    @cached_unpickled
    def _held_jobs(self) -> _core.BinJobs:
        """The jobs as kernels take them."""
        n_bins = np.diff(self._jobs.bin_first)
        whole = np.zeros(int(self._jobs.bin_first[-1]), dtype=np.int64)
        whole[self._jobs.bin_first[:-1]] = np.where(self._plan.cells.n_codes[self._used] > 0, n_bins, 0)
        return _core.BinJobs(self._jobs.first, self._jobs.bin, whole)

    def _bins_of(self, chunk: Chunk) -> tuple[_core.Conditions, _core.BinsOfColumns, NDArray[np.bool_]]:
        """Return the edges and the bins of the columns of some trees, and which of these are weighed."""
        e, features = self._plan.ensemble, self._used[chunk.which]
        n_codes = self._plan.cells.n_codes[features]
        parts = [
            np.empty(0) if n else np.append(self._bins.inner(int(f)), np.inf)
            for f, n in zip(features, n_codes, strict=True)
        ]
        cut = np.concatenate([np.empty(0), *parts])
        edges = _core.Conditions(
            first=np.concatenate([[0], np.cumsum([part.size for part in parts])]).astype(np.int64),
            n_codes=n_codes,
            cut=cut,
            cut_single=float32_at_most(cut),
            category_set=np.full(cut.size, -1, dtype=np.int64),
            missing_left=np.zeros(cut.size, dtype=bool),
            unseen_left=np.zeros(cut.size, dtype=bool),
            words=e.words,
            noted=np.empty(0, dtype=np.int64),
            noted_cell=np.empty(0, dtype=np.int64),
        )
        codes = [self._bins.bin_of_code(int(f), int(n)) for f, n in zip(features, n_codes, strict=True)]
        first, n_bins = self._jobs.bin_first[chunk.which], np.diff(self._jobs.bin_first)[chunk.which]
        code_first = np.cumsum(n_codes) - n_codes
        bin_of_code = np.concatenate([np.empty(0, dtype=np.int32), *codes])
        bins = _core.BinsOfColumns(first, n_bins, code_first, bin_of_code, edges, self._held_jobs)
        return edges, bins, chunk.newly & np.isin(features, self._bins.features)

    def _add_lists(self, vectors: Sequence[NDArray[np.int64]], batch: Batch) -> None:
        """Count rows in large trees, and the rows per bin of features that are in no small one."""
        leaves, plan, n_jobs = self._leaves, self._plan, self._jobs.bin.size
        listed, cells = leaves.listed, plan.cells
        cuts = _core.CutsOfColumns(cells.cut, cells.cut_offset[listed], cells.n_codes[listed], cells.n_cells[listed])
        bins, column = self._of_rows.of(batch.held, batch.n_rows), self._column_of_count
        weigh = [place for place in leaves.place[listed] if place in self._only_listed]
        block, spans = leaves.parts_of_lists(_core.LIST_ROWS)
        ranks = np.empty((listed.size, _core.LIST_ROWS), dtype=np.int32)
        ignored = np.zeros(int(cells.offset[-1]), dtype=np.int64)
        for vector, rows in zip(vectors, batch.groups, strict=True):
            for first in range(rows.start, rows.stop, block):
                n_rows = min(rows.stop - first, block)
                weight, here = (
                    batch.weight[first : first + n_rows],
                    np.ascontiguousarray(bins[:, first : first + n_rows]),
                )
                for place in weigh:
                    add_rows(vector[n_jobs:], here[place], weight)
                offset = cells.offset[listed]
                _core.rank_rows(batch.held, leaves.place[listed], cuts, offset, first, n_rows, weight, ranks, ignored)
                for roots in spans:
                    check_cancelled()
                    _core.count_bins_with_lists(
                        roots,
                        leaves.list_trees,
                        n_rows,
                        ranks,
                        leaves.following,
                        leaves.subsets,
                        here,
                        column,
                        self._held_jobs,
                        weight,
                        vector[:n_jobs],
                    )

    @cached_property
    def _only_listed(self) -> frozenset[int]:
        """The places of features that have bins and are in no small tree."""
        small = {place for chunk in self._leaves.chunks for place in chunk.which.tolist()}
        own = np.flatnonzero(np.isin(self._used, self._bins.features))
        return frozenset(own.tolist()) - small

    @cached_property
    def _column_of_count(self) -> NDArray[np.int32]:
        """The place of the feature of each count, 0 where none is free."""
        plan, boxes = self._plan, self._plan.boxes
        leaf = np.repeat(np.arange(plan.ensemble.n_leaves), np.diff(boxes.first))
        column = np.zeros(plan.n_counts, dtype=np.int32)
        column[plan.leaf_offset[leaf] + 1 + boxes.slot] = self._leaves.place[boxes.feature]
        return column


class AleNumbers:
    """The counts of local effects of a background.

    Parameters
    ----------
    plan : CountPlan
        Of order 1, whose features are players of their own.
    spec : AleSpec
    jobs : Jobs
        What is counted, see `bin_jobs`.
    background : Background
        One that has them.
    """

    def __init__(self, plan: CountPlan, spec: AleSpec, jobs: Jobs, background: Background) -> None:
        self.plan, self.bins, self.jobs = plan, spec.bins, jobs
        vector = background.vectors[spec.key]
        if vector.size != self.jobs.bin.size + int(self.jobs.bin_first[-1]):
            message = "the background is for a different model or different groups; run summarize with this model"
            raise BackgroundError(message)
        self.counts, self.rows = vector[: self.jobs.bin.size], vector[self.jobs.bin.size :]
        self.unit = background.unit


def find_bins(background: Background) -> Bins | None:
    """Return the bins of the local effects that a background has; None if there are none."""
    names = [name for name, how in background.combine.items() if how == "same" and name.startswith(EDGES)]
    if not names:
        return None
    return Bins.unpacked(max((background.vectors[name] for name in names), key=lambda packed: packed.size))
