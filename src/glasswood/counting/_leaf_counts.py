"""LeafCounts: the counts of a plan, and the rows per cell. Which kernel counts which tree is decided here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.counting._statistic import Batch, Tally, Vector
from glasswood.kernels import _core
from glasswood.parallel._interrupts import check_cancelled
from glasswood.parallel._lazy import cached_property, cached_unpickled

__all__ = ["LeafCounts", "float32_at_most"]

LARGE_TREE = 1024  # leaves; beyond that, lists of rows beat bitsets
MAX_CONDITIONS = 4096  # whose masks, 512 bytes each, take two megabytes
# What a kernel does at a time, a few tenths of a second, so that Ctrl-C is noticed: counts of trees with bitsets, and
# those times blocks of rows; rows times nodes and sets with lists.
MAX_COUNTS, MAX_COUNTED, MAX_STEPS = 2**23, 2**24, 2**26
ROWS_OF_A_BITSET = 4096


@dataclass(frozen=True, eq=False, slots=True)
class Chunk:
    """Some trees that are counted with bitsets together, and their distinct conditions."""

    which: NDArray[np.int64]  # columns, among those that are used
    newly: NDArray[np.bool_]  # whether no earlier chunk reads them
    conditions: _core.Conditions
    trees: _core.BitsetTrees
    n_counts: float


class LeafCounts:
    """The counts of a plan, and the number of rows in each cell of each feature.

    Small trees are counted with bitsets, chunk by chunk of trees; large ones with lists of rows. The numbers of rows
    per cell come along: from the rows that meet each condition, or from the lists.

    Parameters
    ----------
    plan : CountPlan
    lists_only : bool
        Whether to count all trees with lists.

    Attributes
    ----------
    chunks : list of Chunk
        The small trees.
    large : ndarray of shape (n_trees,), bool
        Which trees are counted with lists.
    listed : ndarray of int64
        The features of these.
    place : ndarray of shape (n_features,), int64
        The place of each feature among those that are used.
    subsets : _core.Subsets
        The sets of players, as kernels take them.
    """

    def __init__(self, plan: CountPlan, *, lists_only: bool = False) -> None:
        self.plan = plan
        e = plan.ensemble
        leaves = np.bincount(plan.leaf_tree, minlength=e.n_trees)
        self.large = np.ones(e.n_trees, dtype=bool) if lists_only else leaves > LARGE_TREE
        self.listed = np.unique(e.feature[self.large[plan.node_tree]]).astype(np.int64)
        # Numbers of rows that are cumulative over the cells of a feature until `finish`, and those of them that include
        # missing rows.
        self._cumulative = np.zeros(int(plan.cells.offset[-1]), dtype=bool)
        self._with_missing = np.zeros(self._cumulative.size, dtype=bool)
        self._read = np.zeros(e.n_features, dtype=bool)  # features of the chunks so far
        self.place = np.zeros(e.n_features, dtype=np.int64)  # of a feature among those that are used
        self.place[e.used_features] = np.arange(e.used_features.size)
        self._counts = np.bincount(plan.leaf_tree, weights=plan.subsets.size[plan.n_players], minlength=e.n_trees)
        self._steps_per_row = self._counts / leaves * plan.depth
        sets = plan.subsets
        self.subsets = _core.Subsets(sets.size, sets.rest, sets.has)
        self.chunks = self._make_chunks()

    @property
    def max_rows(self) -> int:
        """The number of rows of a batch, which a kernel counts in a fraction of a second."""
        max_ = max((chunk.n_counts for chunk in self.chunks), default=1)
        return ROWS_OF_A_BITSET * max(1, int(MAX_COUNTED / max(1.0, max_)))

    @cached_unpickled
    def digested(self) -> frozenset[int]:
        """The features whose digests can be taken on the way: those that bitsets read."""
        used = self.plan.ensemble.used_features
        return frozenset(feature for chunk in self.chunks for feature in used[chunk.which].tolist())

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """The counts, and the numbers of rows per cell."""
        return Vector("counts", self.plan.n_counts), Vector("cells", self._cumulative.size)

    def add(self, tallies: Sequence[Tally], batch: Batch) -> None:
        """Count rows that are sorted by group. Trees are walked once for all groups of a block of rows."""
        held, bounds, weights = batch.held, batch.bounds, batch.weight
        vectors = [tally.vectors for tally in tallies]
        homes = _core.CountTargets([own["counts"] for own in vectors], [own["cells"] for own in vectors])
        digests, n_columns = batch.digests, len(batch.columns)
        selected = np.zeros(n_columns, dtype=bool) if digests is None else digests.selected
        lines = np.empty((0, n_columns), dtype=np.uint64) if digests is None else digests.lines
        for chunk in self.chunks:
            check_cancelled()
            place = np.where(chunk.newly & selected[chunk.which], chunk.which, -1)
            _core.count_with_bitsets(
                held, chunk.which, bounds, chunk.conditions, chunk.trees, self.subsets, weights, homes, place, lines
            )
        if self.large.any():
            self._add_lists(tallies, held, bounds, weights)
        self._add_categories(held, bounds, weights, homes)

    def finish(self, tally: Tally) -> None:
        """Turn the numbers of a tally into the counts G and the rows per cell; once, after the last row."""
        plan, counts, rows = self.plan, tally.vectors["counts"], tally.vectors["cells"]
        large = np.flatnonzero(self.large[plan.leaf_tree])
        if large.size:
            size, minus = plan.subsets.size, plan.subsets.minus
            for leaves in np.array_split(large, 1 + plan.n_counts // MAX_COUNTS):
                _core.subset_sums(plan.leaf_offset[leaves], plan.n_players[leaves], size, minus, counts)
        cells, offset = plan.cells, plan.cells.offset
        at = np.flatnonzero(self._cumulative)
        feature = np.searchsorted(offset, at, side="right") - 1
        last = offset[feature] + cells.n_cells[feature] - 2  # cumulative up to here: all rows that are not missing
        missing = tally.total - rows[last]
        below = rows.copy()
        below[at] -= np.where(self._with_missing[at], missing, 0)
        rows[at] = below[at] - np.where(at == offset[feature], 0, below[at - 1])
        rows[last + 1] = missing

    def _add_lists(
        self, tallies: Sequence[Tally], held: _core.Columns, bounds: NDArray[np.int64], weight: NDArray[np.int64]
    ) -> None:
        listed, cells = self.listed, self.plan.cells
        which, offset = self.place[listed], cells.offset[listed]
        cuts = _core.CutsOfColumns(cells.cut, cells.cut_offset[listed], cells.n_codes[listed], cells.n_cells[listed])
        trees = self.list_trees
        block, spans = self.parts_of_lists(_core.LIST_ROWS)
        ranks = np.empty((listed.size, _core.LIST_ROWS), dtype=np.int32)
        following = self.following
        for tally, start, end in zip(tallies, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            for first in range(start, end, block):
                n_rows = min(end - first, block)
                weights = weight[first : first + n_rows]
                _core.rank_rows(held, which, cuts, offset, first, n_rows, weights, ranks, tally.vectors["cells"])
                for roots in spans:
                    check_cancelled()
                    _core.count_with_lists(
                        roots, trees, n_rows, ranks, following, self.subsets, weights, tally.vectors["counts"]
                    )

    @cached_property
    def following(self) -> NDArray[np.int32]:
        """The number of each set with a player added, or its own if it has the player; -1 if there is none."""
        sets = self.plan.subsets
        return np.where(sets.has, np.arange(sets.rest.size, dtype=np.int32), sets.plus)

    @cached_unpickled
    def list_trees(self) -> _core.ListTrees:
        """The trees as `count_with_lists` takes them."""
        e, plan = self.plan.ensemble, self.plan
        column = np.zeros(e.n_features, dtype=np.int32)
        column[self.listed] = np.arange(self.listed.size)
        splits = (e.category_set, e.missing_left, e.unseen_left, e.words)
        return _core.ListTrees(
            e.left, e.right, plan.slot, column[e.feature], plan.cells.rank, *splits, plan.leaf_offset, plan.depth
        )

    def parts_of_lists(self, block: int) -> tuple[int, list[NDArray[np.int32]]]:
        """Return how many rows, and which roots of trees, are counted with lists at a time: a fraction of a second."""
        steps = self._steps_per_row[self.large]
        block = int(min(block, max(64, MAX_STEPS // max(1, steps.max(initial=0)))))
        ends = np.flatnonzero(np.diff(np.cumsum(steps) * block // MAX_STEPS)) + 1
        return block, np.split(self.plan.ensemble.root[self.large], ends)

    def _add_categories(
        self, held: _core.Columns, bounds: NDArray[np.int64], weight: NDArray[np.int64], homes: _core.CountTargets
    ) -> None:
        """Note the rows per category of features that no list has noted."""
        cells, used = self.plan.cells, self.plan.ensemble.used_features
        features = np.setdiff1d(used[cells.n_codes[used] > 0], self.listed)
        if features.size:
            which, n_codes = self.place[features], cells.n_codes[features]
            _core.count_categories(held, which, bounds, n_codes, cells.offset[features], weight, homes)

    def _make_chunks(self) -> list[Chunk]:
        """Cut the small trees into chunks of few enough conditions, and number the conditions of each."""
        e, plan = self.plan.ensemble, self.plan
        keys = _condition_keys(plan)
        order = np.argsort(plan.node_tree, kind="stable")
        bounds = np.searchsorted(plan.node_tree[order], np.arange(e.n_trees + 1))
        condition = np.zeros(e.n_nodes, dtype=np.int32)
        before = np.full(e.n_nodes, -1, dtype=np.int32)
        small = np.flatnonzero(~self.large[plan.node_tree[order]])
        before[small] = _tree_before(keys[order[small]], plan.node_tree[order[small]])
        chunks: list[Chunk] = []
        trees: list[int] = []
        n_distinct, n_counts = 0, 0.0
        for tree in np.flatnonzero(~self.large).tolist():
            here = before[bounds[tree] : bounds[tree + 1]]
            more = np.count_nonzero(here < (trees[0] if trees else tree))  # conditions that are new to the chunk
            n_counts += self._counts[tree]
            if trees and (n_counts > MAX_COUNTS or n_distinct + more > MAX_CONDITIONS):
                chunks.append(self._make_chunk(np.array(trees), order, bounds, keys, condition))
                trees, n_distinct, n_counts = [], 0, self._counts[tree]
                more = np.count_nonzero(here < tree)
            trees.append(tree)
            n_distinct += int(more)
        if trees:
            chunks.append(self._make_chunk(np.array(trees), order, bounds, keys, condition))
        return chunks

    def _make_chunk(
        self,
        trees: NDArray[np.int64],
        order: NDArray[np.int64],
        bounds: NDArray[np.int64],
        keys: NDArray[np.int64],
        condition: NDArray[np.int32],
    ) -> Chunk:
        e, plan, cells = self.plan.ensemble, self.plan, self.plan.cells
        nodes = order[bounds[trees[0]] : bounds[trees[-1] + 1]]
        nodes = nodes[~self.large[plan.node_tree[nodes]]]
        used = np.unique(e.feature[nodes]).astype(np.int64)
        numbers = used[cells.n_codes[used] == 0]
        n_cuts = np.diff(cells.cut_offset)[numbers]
        present = (numbers << FEATURE) | (n_cuts << 1)  # "at most infinity" selects the rows that are not missing
        distinct = np.unique(np.concatenate([keys[nodes], present]))
        condition[nodes] = np.searchsorted(distinct, keys[nodes])
        feature, rest = distinct >> FEATURE, distinct & ((1 << FEATURE) - 1)
        by_cut = rest < CATEGORY
        rank = np.where(by_cut, rest >> 1, 0)
        cuts = np.append(cells.cut, np.inf)
        cut = cuts[np.where(rank < np.diff(cells.cut_offset)[feature], cells.cut_offset[feature] + rank, -1)]
        missing_left = (rest & 1).astype(bool)
        place = cells.offset[feature] + rank
        listed = np.isin(feature, self.listed)
        noted = np.flatnonzero(by_cut & ~listed & ~self._cumulative[place])
        noted = noted[np.unique(place[noted], return_index=True)[1]]  # without missing rows, where there is a choice
        self._cumulative[place[noted]] = True
        self._with_missing[place[noted]] = missing_left[noted]
        conditions = _core.Conditions(
            first=np.searchsorted(feature, np.append(used, e.n_features)),
            n_codes=cells.n_codes[used],
            cut=cut,
            cut_single=float32_at_most(cut),
            category_set=np.where(by_cut, -1, (rest & (CATEGORY - 1)) >> 2),
            missing_left=missing_left,
            unseen_left=np.where(by_cut, 0, (rest >> 1) & 1).astype(bool),
            words=e.words,
            noted=noted,
            noted_cell=place[noted],
        )
        members = _core.BitsetTrees(
            root=e.root[trees],
            left=e.left,
            right=e.right,
            slot=plan.slot,
            condition=condition,
            leaf_offset=plan.leaf_offset,
            depth=plan.depth,
            conditions=conditions,
            subsets=self.subsets,
        )
        newly = ~self._read[used]
        self._read[used] = True
        return Chunk(self.place[used], newly, conditions, members, float(self._counts[trees].sum()))


FEATURE = 40  # bits of a key below the feature
CATEGORY = 1 << 39  # marks the key of a category split


def _condition_keys(plan: CountPlan) -> NDArray[np.int64]:
    """Return a number for each node, equal for equal conditions and sorted by feature."""
    e = plan.ensemble
    by_cut = (plan.cells.rank.astype(np.int64) << 1) | e.missing_left
    by_set = CATEGORY | (e.category_set.astype(np.int64) << 2) | (e.unseen_left.astype(np.int64) << 1) | e.missing_left
    return (e.feature.astype(np.int64) << FEATURE) | np.where(e.category_set < 0, by_cut, by_set)


def _tree_before(keys: NDArray[np.int64], tree: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the tree of the node before each one that has the same key, or -1; nodes are sorted by tree."""
    order = np.argsort(keys, kind="stable")
    again = keys[order[1:]] == keys[order[:-1]]
    before = np.full(keys.size, -1, dtype=np.int32)
    before[order[1:][again]] = tree[order[:-1][again]]
    return before


def float32_at_most(cut: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the largest float32 that is not above each cut."""
    with np.errstate(over="ignore"):
        single = cut.astype(np.float32)
        return np.where(single > cut, np.nextafter(single, np.float32(-np.inf)), single)
