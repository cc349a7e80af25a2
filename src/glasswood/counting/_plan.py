"""CountPlan: what is counted for a model, who the players are, and the cells and boxes that counts are worth."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._cells import Cells
from glasswood.counting._players import own_names
from glasswood.counting._subsets import Subsets
from glasswood.errors import TableError, TooLargeError, UnsupportedModelError
from glasswood.kernels import _core
from glasswood.models._derived import Derived
from glasswood.models._ensemble import TreeEnsemble
from glasswood.parallel._lazy import cached_property, cached_unpickled
from glasswood.text._arguments import whole_number

__all__ = ["MAX_COUNTS", "CountPlan", "make_plan"]

MAX_COUNTS = 2**27  # a gigabyte
MAX_SETS = 2**19  # of players of one path: what an item of the list kernel has room for

COMBINATIONS = (
    "the model splits on combinations of columns (CatBoost's CTRs), and this question needs splits on single columns; "
    "curves, ICE and importance do not. For Shapley values, use CatBoost's own "
    'get_feature_importance(type="ShapValues"); for all else, train with max_ctr_complexity=1'
)


class Paths(NamedTuple):
    """What one walk over the trees finds out; see the properties of `CountPlan`."""

    slot: NDArray[np.int32]
    is_new: NDArray[np.bool_]
    n_players: NDArray[np.int32]
    node_tree: NDArray[np.int32]
    leaf_tree: NDArray[np.int32]
    depth: int


class Parents(NamedTuple):
    """The node above each node and each leaf, -1 above roots; and whether they are left children."""

    node_parent: NDArray[np.int32]
    leaf_parent: NDArray[np.int32]
    node_side: NDArray[np.bool_]
    leaf_side: NDArray[np.bool_]


class Boxes(NamedTuple):
    """The values of each feature that lead to each leaf: those of leaf l from ``first[l]`` to ``first[l + 1]``.

    Numbers: the cells from `low` to `high`. Categories: the set that starts at word `low` of `sets`.
    """

    first: NDArray[np.int64]
    feature: NDArray[np.int32]
    slot: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    missing: NDArray[np.bool_]
    unseen: NDArray[np.bool_]
    sets: NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class CountPlan:
    """Which player sets of which leaf are counted, and where in the vector.

    Parameters
    ----------
    ensemble : TreeEnsemble
    order : int
        The largest number of players in a set.
    groups : mapping of str to sequences of str
        Columns that make one player together; every other column is a player of its own.
    """

    ensemble: TreeEnsemble
    order: int
    groups: Mapping[str, Sequence[str]]

    def of_order(self, order: int) -> CountPlan:
        """Return the plan of the same players and another order; what does not depend on the order is shared."""
        plan = CountPlan(self.ensemble, order, self.groups)
        for name in ("players", "player_of", "_paths", "cells", "column_cells", "parents", "boxes"):
            plan.__dict__[name] = getattr(self, name)
        return plan

    @cached_property
    def players(self) -> tuple[str, ...]:
        """The name of each player: groups first, then the columns that are in none."""
        grouped = {name for names in self.groups.values() for name in names}
        return (*self.groups, *(name for name in self.ensemble.feature_names if name not in grouped))

    @cached_property
    def player_of(self) -> NDArray[np.int32]:
        """The player of each feature."""
        number = {name: index for index, name in enumerate(self.players)}
        number |= {name: number[group] for group, names in self.groups.items() for name in names}
        return np.array([number[name] for name in self.ensemble.feature_names], dtype=np.int32)

    @cached_property
    def column_player(self) -> NDArray[np.int32]:
        """The player of each column that trees split on: derived ones are numbered behind those that users know."""
        n_derived = self.ensemble.n_columns - self.ensemble.n_features
        return np.append(self.player_of, len(self.players) + np.arange(n_derived, dtype=np.int32))

    @cached_property
    def _paths(self) -> Paths:
        e = self.ensemble
        slot, node_tree = (np.empty(e.n_nodes, dtype=np.int32) for _ in range(2))
        n_players, leaf_tree = (np.empty(e.n_leaves, dtype=np.int32) for _ in range(2))
        player = self.column_player[e.feature]
        is_new = np.empty(e.n_nodes, dtype=bool)
        depth = _core.number_players(e.core_trees, player, slot, is_new, n_players, node_tree, leaf_tree)
        return Paths(slot, is_new, n_players, node_tree, leaf_tree, depth)

    @property
    def slot(self) -> NDArray[np.int32]:
        """The place of each node's player among the players of its path."""
        return self._paths.slot

    @property
    def is_new(self) -> NDArray[np.bool_]:
        """Whether each node is the first of its player on the path."""
        return self._paths.is_new

    @property
    def n_players(self) -> NDArray[np.int32]:
        """The number of players on the path of each leaf."""
        return self._paths.n_players

    @property
    def node_tree(self) -> NDArray[np.int32]:
        """The tree of each node."""
        return self._paths.node_tree

    @property
    def leaf_tree(self) -> NDArray[np.int32]:
        """The tree of each leaf."""
        return self._paths.leaf_tree

    @property
    def depth(self) -> int:
        """The number of nodes on the longest path."""
        return self._paths.depth

    @cached_property
    def player_pairs(self) -> NDArray[np.bool_]:
        """Which pairs of players share a path, the smaller number first."""
        e, n = self.ensemble, len(self.players)
        result = np.zeros((int(self.column_player.max(initial=n - 1)) + 1,) * 2, dtype=bool)
        _core.pairs_of_players(e.core_trees, self.column_player[e.feature], result)
        return result if e.derived is None else self._pairs_of_users(result)

    def _pairs_of_users(self, pairs: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which pairs of players that users know share a path or a derived column, given pairs of columns."""
        e, n = self.ensemble, len(self.players)
        derived = cast("Derived", e.derived)
        stands_for = np.zeros((len(pairs), n), dtype=np.float32)  # of each column, whose values it depends on
        stands_for[:n] = np.eye(n)
        column, feature = np.nonzero(derived.members(e.n_features))
        stands_for[n + column, self.player_of[feature]] = 1
        used = np.unique(e.feature[e.feature >= e.n_features]) - e.n_features + n
        shared = (pairs | pairs.T).astype(np.float32)
        shared[used, used] = 1  # the players of a derived column share it
        return np.triu(stands_for.T @ shared @ stands_for > 0, 1)

    @cached_property
    def subsets(self) -> Subsets:
        """The tables of player sets, for the path with the most players."""
        max_ = int(self.n_players.max(initial=0))
        if sum(comb(max_, size) for size in range(min(self.order, max_) + 1)) > MAX_SETS:
            self.refuse_uncountable(self.order)
        return Subsets.up_to(self.order, max_)

    @cached_property
    def leaf_offset(self) -> NDArray[np.int64]:
        """Where the counts of each leaf start, and at the end their number. Leaves with derived columns have none."""
        if self.ensemble.derived is not None:
            return np.zeros(self.ensemble.n_leaves + 1, dtype=np.int64)
        return np.concatenate([[0], np.cumsum(self.subsets.size[self.n_players])])

    @cached_property
    def max_players(self) -> int:
        """The number of players of the path that has the most, at least 1."""
        if self.ensemble.derived is not None:  # whose leaves are not counted
            return 1
        return max(1, int(self.n_players.max(initial=0)))

    @cached_property
    def n_paths(self) -> list[int]:
        """How many paths have 0 players, 1, 2 and so on."""
        result: list[int] = np.bincount(self.n_players).tolist()
        return result

    def n_sets(self, order: int) -> int:
        """Return how many counts there are of sets of up to `order` players, without making any table."""
        if self.ensemble.derived is not None:
            return 0
        return sum(
            n * sum(comb(used, size) for size in range(min(order, used) + 1)) for used, n in enumerate(self.n_paths)
        )

    def countable(self, order: int, max_counts: int | None = None) -> bool:
        """Return whether there are at most so many counts of sets of up to `order` players; by default a gigabyte."""
        if self.ensemble.derived is not None:
            return True
        of_one_path = sum(comb(self.max_players, size) for size in range(min(order, self.max_players) + 1))
        return of_one_path <= MAX_SETS and self.n_sets(order) <= (MAX_COUNTS if max_counts is None else max_counts)

    def refuse_uncountable(
        self,
        order: int,
        argument: str = "order",
        max_counts: int | None = None,
        fits: Callable[[int], bool] = lambda _: True,
    ) -> None:
        """Raise an error if the counts of sets of up to `order` players do not fit in memory.

        It names an order that would, as an argument of what the user called; `fits` tells whether all else does, too.
        """
        if self.countable(order, max_counts):
            return
        needed, max_ = self.n_sets(order), self.max_players
        smaller = next((k for k in range(order - 1, 0, -1) if self.countable(k, max_counts) and fits(k)), None)
        advice = f"ask for {argument}={smaller}" if smaller else "there is no smaller order that fits"
        of_one_path = sum(comb(max_, size) for size in range(min(order, max_) + 1))
        message = (
            f"paths of this model have up to {max_} features. Sets of up to {order} of them need {needed:,} counts "
            f"({8 * needed / 1e9:,.1f} GB), up to {of_one_path:,} for one path; at most {max_counts or MAX_COUNTS:,} "
            f"and {MAX_SETS:,} are handled: {advice}"
        )
        raise TooLargeError(message)

    def refuse_derived(self) -> None:
        """Refuse what follows from counts of leaves, if splits combine columns."""
        if self.ensemble.derived is not None:
            raise UnsupportedModelError(COMBINATIONS)

    @property
    def n_counts(self) -> int:
        """The length of the vector of counts."""
        return int(self.leaf_offset[-1])

    @cached_property
    def cells(self) -> Cells:
        """The cells of every feature."""
        return self.column_cells.first(self.ensemble.n_features)

    @cached_property
    def column_cells(self) -> Cells:
        """The cells of every column that trees split on, derived ones last."""
        return Cells.of(self.ensemble)

    def part(self, first: int, last: int) -> CountPlan:
        """Return the plan of the trees from first to last alone, with the cells of the whole."""
        e = self.ensemble
        nodes = np.flatnonzero((self.node_tree >= first) & (self.node_tree < last))
        leaves = np.flatnonzero((self.leaf_tree >= first) & (self.leaf_tree < last))
        number = np.zeros(max(1, e.n_nodes), dtype=np.int32)  # at least one, to be looked up where there is no node
        leaf_number = np.zeros(e.n_leaves, dtype=np.int32)
        number[nodes] = np.arange(nodes.size, dtype=np.int32)
        leaf_number[leaves] = np.arange(leaves.size, dtype=np.int32)

        def renumber(child: NDArray[np.int32]) -> NDArray[np.int32]:
            return np.where(child >= 0, number[np.maximum(child, 0)], ~leaf_number[np.maximum(~child, 0)])

        by_node = ("feature", "cut", "missing_left", "category_set", "unseen_left", "cover")
        arrays: dict[str, Any] = {}
        arrays |= {name: None if getattr(e, name) is None else getattr(e, name)[nodes] for name in by_node}
        arrays |= {"root": renumber(e.root[first:last]), "tree_output": e.tree_output[first:last]}
        arrays |= {"left": renumber(e.left[nodes]), "right": renumber(e.right[nodes])}
        arrays |= {"value": e.value[leaves], "leaf_cover": None if e.leaf_cover is None else e.leaf_cover[leaves]}
        plan = CountPlan(replace(e, **arrays), self.order, self.groups)
        plan.__dict__["column_cells"] = replace(self.column_cells, rank=self.column_cells.rank[nodes])
        return plan

    @cached_property
    def parents(self) -> Parents:
        """The node above each node and each leaf."""
        e = self.ensemble
        parents = np.full(e.n_nodes, -1, dtype=np.int32), np.full(e.n_leaves, -1, dtype=np.int32)
        sides = np.zeros(e.n_nodes, dtype=bool), np.zeros(e.n_leaves, dtype=bool)
        for child, is_left in ((e.left, True), (e.right, False)):
            inner = child >= 0
            for parent, side, number, at in (
                (parents[0], sides[0], child[inner], inner),
                (parents[1], sides[1], ~child[~inner], ~inner),
            ):
                parent[number] = np.flatnonzero(at)
                side[number] = is_left
        return Parents(*parents, *sides)

    @cached_unpickled
    def core_parents(self) -> _core.Parents:
        """The parents as kernels take them."""
        return _core.Parents(*self.parents)

    @cached_property
    def boxes(self) -> Boxes:
        """The values of each feature that lead to each leaf."""
        e, cells = self.ensemble, self.column_cells
        # A leaf has one box per feature of its path: one per player, if no player has several features.
        n_boxes = self.n_players if not self.groups else CountPlan(e, 1, {}).n_players
        first = np.concatenate([[0], np.cumsum(n_boxes, dtype=np.int64)])
        n_words = -(-cells.n_codes // 64)
        feature, slot, low, high = (np.empty(first[-1], dtype=np.int32) for _ in range(4))
        missing, unseen = (np.empty(first[-1], dtype=np.bool_) for _ in range(2))
        sets = np.empty(first[-1] * int(n_words.max(initial=0)), dtype=np.uint64)
        boxes = Boxes(first, feature, slot, low, high, missing, unseen, sets)
        _core.trace_boxes(
            self.core_parents,
            feature=e.feature,
            slot=self.slot,
            rank=cells.rank,
            category_set=e.category_set,
            missing_left=e.missing_left,
            unseen_left=e.unseen_left,
            words=e.words,
            last_cell=np.diff(cells.cut_offset),
            n_words=n_words,
            first=first,
            box_feature=boxes.feature,
            box_slot=boxes.slot,
            low=boxes.low,
            high=boxes.high,
            missing=boxes.missing,
            unseen=boxes.unseen,
            sets=boxes.sets,
        )
        return boxes

    @cached_unpickled
    def core_boxes(self) -> _core.Boxes:
        """The boxes, and the cells of each feature, as kernels take them."""
        return _core.Boxes(*self.boxes, n_cells=self.column_cells.n_cells, n_codes=self.column_cells.n_codes)

    @cached_property
    def slots(self) -> tuple[NDArray[Any], ...]:
        """Where the slots of each leaf start, and the player in each slot."""
        first, feature, slot = self.boxes[:3]
        slot_first = np.concatenate([[0], np.cumsum(self.n_players, dtype=np.int64)])
        player = np.empty(slot_first[-1], dtype=np.int32)
        leaf = np.repeat(np.arange(self.n_players.size), np.diff(first))
        player[slot_first[leaf] + slot] = self.column_player[feature]
        return slot_first, player

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The share of the training weight that gets past the player in each slot."""
        slot_first = self.slots[0]
        covers = (self.ensemble.cover, self.ensemble.leaf_cover)  # shares are asked of ensembles that have covers
        cover, leaf_cover = cast("tuple[NDArray[np.float64], NDArray[np.float64]]", covers)
        shares = np.empty(slot_first[-1])
        _core.player_shares(self.core_parents, cover, leaf_cover, self.slot, slot_first, shares)
        return shares

    @cached_property
    def fingerprint(self) -> str:
        """A hash of what counts depend on: the structure of the trees and who the players are."""
        e = self.ensemble
        digest = hashlib.blake2b(digest_size=16)
        for array in (
            e.root,
            e.feature,
            e.cut,
            e.left,
            e.right,
            e.missing_left,
            e.category_set,
            e.unseen_left,
            e.words,
        ):
            digest.update(np.ascontiguousarray(array).tobytes())
            digest.update(b"|")
        digest.update(self.player_of.tobytes() + e.schema.before.encode())
        for array in () if e.derived is None else e.derived.arrays:
            digest.update(np.ascontiguousarray(array).tobytes() + b"|")
        return digest.hexdigest()


def make_plan(ensemble: TreeEnsemble, order: int | None, groups: Mapping[str, Sequence[str]] | None) -> CountPlan:
    """Return the plan of what is counted, after checking the groups."""
    groups = own_names(ensemble, groups)
    known = set(ensemble.feature_names)
    seen: set[str] = set()
    for name, columns in groups.items():
        for column in columns:
            if column not in known:
                message = f"group {name!r} names the column {column!r}, which the model does not have"
                raise TableError(message)
            if column in seen:
                message = f"column {column!r} is in two groups; a column belongs to one player"
                raise TableError(message)
            seen.add(column)
        if name in known and name not in columns:
            message = f"group {name!r} has the name of a column that is not in it; choose another name"
            raise TableError(message)
    order = None if order is None else whole_number(order, "order is the number of features fixed together")
    if order is None or order > 1:  # larger sets than those of the longest path add no counts
        max_ = CountPlan(ensemble, 1, groups).max_players
        order = max_ if order is None else min(order, max_)
    plan = CountPlan(ensemble, order, groups)
    if order > 1:  # the curves of larger models are made part by part, see `count_in_parts`
        plan.refuse_uncountable(order)
    return plan
