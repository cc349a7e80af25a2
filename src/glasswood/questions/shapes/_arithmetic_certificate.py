"""How far a score can fall or rise along a feature, from the trees alone: pairs of leaves that one feature parts.

The boxes of two leaves of a tree are disjoint in the feature of the split where their paths part. A change of one
feature alone leads from one leaf to the other if and only if they are disjoint in no other feature: every other feature
then has a value that both accept, where "missing" and "unseen category" are values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.effects._axes import axes_of
from glasswood.parallel._lazy import cached_property
from glasswood.parallel._progress import shown

__all__ = ["Bounds", "LeafPairs", "Pair"]


MAX_WORK = 2**27  # pairs of leaves times features of a tree: about half a second

BLOCK = 2**19  # pairs times features that are looked at together

NOWHERE = 2**31 - 1  # where an empty interval of cells begins


class Bounds(NamedTuple):
    """How far each feature can move each output: (n_features, n_outputs), sums over trees of the worst pair of leaves.

    `falls` are those of values that rise along the axis, `rises` the opposite. 0 is a proof. `exact` tells whether the
    sums are made of pairs of leaves in all trees: the subtrees of splits bound those of very large trees.
    """

    falls: NDArray[np.float64]
    rises: NDArray[np.float64]
    exact: bool


class Pair(NamedTuple):
    """Two leaves between which a change of one feature leads, the first one at its smaller values."""

    low: int
    high: int
    fall: float


class _Joined(NamedTuple):
    """Pairs of leaves of one tree that a change of one feature joins, the leaf at its smaller values first."""

    low: NDArray[np.intp]
    high: NDArray[np.intp]
    feature: NDArray[np.int64]


class LeafPairs:
    """The pairs of leaves of every tree that a change of one number joins.

    Parameters
    ----------
    plan : CountPlan
        Whose boxes are compared.
    """

    def __init__(self, plan: CountPlan) -> None:
        self._plan, self._axes, self._e = plan, axes_of(plan), plan.ensemble
        self._n_boxes = np.diff(plan.boxes.first)
        order = np.argsort(plan.leaf_tree, kind="stable")
        ends = np.cumsum(np.bincount(plan.leaf_tree, minlength=self._e.n_trees))[:-1]
        self._leaves = np.split(order, ends)

    @cached_property
    def bounds(self) -> Bounds:
        """How far each feature can move each output."""
        e = self._e
        exact = [self._is_small(tree) for tree in range(e.n_trees)]

        def of_tree(tree: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
            return self._changes_by_pairs(tree) if exact[tree] else self._changes_by_subtrees(tree)

        totals = np.zeros((2, e.n_features, e.n_outputs))
        for tree, (features, worst) in enumerate(shown(map(of_tree, range(e.n_trees)), e.n_trees, "certificate")):
            output = int(e.tree_output[tree])
            columns = slice(None) if output < 0 else slice(output, output + 1)
            totals[:, features, columns] += worst
        return Bounds(totals[0], totals[1], all(exact))

    def against(self, feature: int, output: int, direction: int, max_: int) -> list[Pair]:
        """Return the pairs that break a direction most, the worst first; not those of very large trees."""
        e, result = self._e, []
        for tree in range(e.n_trees):
            if e.tree_output[tree] not in (-1, output) or not self._is_small(tree):
                continue
            values = self._values(tree)
            column = output if e.tree_output[tree] < 0 else 0
            for pairs in self._pairs_of_leaves(tree):
                mine = pairs.feature == feature
                low, high = pairs.low[mine], pairs.high[mine]
                fall = direction * (values[low, column] - values[high, column])
                first = np.argsort(-fall, kind="stable")[:max_]
                leaves = self._leaves[tree]
                result += [
                    Pair(int(leaves[low[k]]), int(leaves[high[k]]), float(fall[k])) for k in first if fall[k] > 0
                ]
        return sorted(result, key=lambda pair: -pair.fall)[:max_]

    def _values(self, tree: int) -> NDArray[np.float64]:
        """Return what the leaves of a tree add to the score."""
        return self._e.value[self._leaves[tree]] * self._e.score.factor

    def _is_small(self, tree: int) -> bool:
        leaves = self._leaves[tree]
        n_features = min(int(self._n_boxes[leaves].sum()), self._e.used_features.size)
        return bool(leaves.size**2 * n_features <= MAX_WORK)

    # --------------------------------------------------------------------------------------------- pairs of leaves

    def _changes_by_pairs(self, tree: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the features of a tree, and its worst falls and rises: (2, n_features, n_values)."""
        values = self._values(tree)
        worst = np.zeros((2, self._e.n_features, values.shape[1]))
        seen = np.zeros(self._e.n_features, dtype=bool)
        for pairs in self._pairs_of_leaves(tree):
            fall = values[pairs.low] - values[pairs.high]
            np.maximum.at(worst[0], pairs.feature, fall)
            np.maximum.at(worst[1], pairs.feature, -fall)
            seen[pairs.feature] = True
        features = np.flatnonzero(seen)
        return features, worst[:, features]

    def _pairs_of_leaves(self, tree: int) -> Iterator[_Joined]:
        """Yield the pairs of leaves of a tree, numbered within it, that a change of one number joins."""
        if self._leaves[tree].size == 1:
            return
        boxes = _TreeBoxes(self._plan, self._leaves[tree])
        step = max(1, BLOCK // boxes.low.size)
        for start in range(0, boxes.n_leaves, step):
            rows = slice(start, start + step)
            i, j, place = boxes.disjoint_in_one_feature(rows)
            feature = boxes.features[place]
            i += start
            first, last = self._axes.first[feature], self._axes.last[feature]
            low = [np.maximum(boxes.low[place, leaf], first) for leaf in (i, j)]
            high = [np.minimum(boxes.high[place, leaf], last) for leaf in (i, j)]
            on_axis = (low[0] <= high[0]) & (high[0] < low[1]) & (low[1] <= high[1])
            yield _Joined(i[on_axis], j[on_axis], feature[on_axis])

    # --------------------------------------------------------------------------------------------- subtrees of splits

    def _changes_by_subtrees(self, tree: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the same, where each split is charged with the largest and smallest values below it."""
        e = self._e
        least, greatest = self._ends
        nodes = np.flatnonzero((self._plan.node_tree == tree) & (e.category_set < 0))
        worst = np.zeros((2, e.n_features, e.value.shape[1]))
        left, right = (_place(child[nodes], e.n_nodes) for child in (e.left, e.right))
        np.maximum.at(worst[0], e.feature[nodes], greatest[left] - least[right])
        np.maximum.at(worst[1], e.feature[nodes], greatest[right] - least[left])
        features = np.unique(e.feature[nodes]).astype(np.int64)
        return features, worst[:, features]

    @cached_property
    def _ends(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The smallest and largest value below each node, and of each leaf behind these."""
        e = self._e
        value = e.value * e.score.factor
        least = np.concatenate([np.full((e.n_nodes, value.shape[1]), np.inf), value])
        greatest = np.concatenate([np.full((e.n_nodes, value.shape[1]), -np.inf), value])
        levels, level = [], e.root[e.root >= 0]
        while level.size:
            levels.append(level)
            below = np.concatenate([e.left[level], e.right[level]])
            level = below[below >= 0]
        for level in reversed(levels):
            children = [_place(child[level], e.n_nodes) for child in (e.left, e.right)]
            least[level] = np.minimum(least[children[0]], least[children[1]])
            greatest[level] = np.maximum(greatest[children[0]], greatest[children[1]])
        return least, greatest


def _place(child: NDArray[np.int32], n_nodes: int) -> NDArray[np.int64]:
    """Return where a child is if leaves are behind the nodes."""
    return np.where(child >= 0, child, n_nodes + ~child).astype(np.int64)


class _TreeBoxes:
    """The boxes of one tree's leaves, feature by feature: (n_features, n_leaves).

    `low` and `high` are cells of numbers; an empty interval begins beyond all cells. Those of categories are empty.
    """

    def __init__(self, plan: CountPlan, leaves: NDArray[np.intp]) -> None:
        boxes, cells, columns = plan.boxes, plan.cells, plan.ensemble.schema.columns
        n_boxes = boxes.first[leaves + 1] - boxes.first[leaves]
        starts = boxes.first[leaves] - (np.cumsum(n_boxes) - n_boxes)
        entry = np.arange(int(n_boxes.sum())) + np.repeat(starts, n_boxes)
        leaf = np.repeat(np.arange(leaves.size), n_boxes)
        self.n_leaves = leaves.size
        self.features, place = np.unique(boxes.feature[entry], return_inverse=True)
        self.features = self.features.astype(np.int64)
        shape = (self.features.size, leaves.size)
        codes = cells.n_codes[self.features]
        last = np.where(codes > 0, -1, cells.cut_offset[self.features + 1] - cells.cut_offset[self.features])
        self.low, self.high = np.zeros(shape, dtype=np.int32), np.zeros(shape, dtype=np.int32) + last[:, None]
        self._others = np.ones((2, *shape), dtype=bool)  # missing values, unseen categories
        self.low[place, leaf] = np.where(codes[place] > 0, NOWHERE, boxes.low[entry])
        self.high[place, leaf] = np.where(codes[place] > 0, -1, boxes.high[entry])
        self.low[codes > 0] = NOWHERE
        self._others[0, place, leaf] = boxes.missing[entry]
        self._others[1, place, leaf] = boxes.unseen[entry]
        for k, feature in enumerate(self.features.tolist()):
            column = columns[feature]
            self._others[0, k] &= not getattr(column, "refuse_missing", False)
            self._others[1, k] &= bool(codes[k]) and not getattr(column, "refuse_unseen", False)
        empty = self.low > self.high
        self.low[empty], self.high[empty] = NOWHERE, -1
        self._sets = {
            k: _sets(boxes.sets, boxes.low[entry[place == k]], leaf[place == k], leaves.size, int(codes[k]))
            for k in np.flatnonzero(codes > 0).tolist()
        }

    def disjoint_in_one_feature(self, rows: slice) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """Return the pairs of some leaves and all that are disjoint in one feature only, and which one that is.

        A leaf that no value leads to is disjoint from itself and from all others.
        """
        low, high, (missing, unseen) = self.low, self.high, self._others
        meet = (low[:, rows, None] <= high[:, None]) & (low[:, None] <= high[:, rows, None])
        meet |= missing[:, rows, None] & missing[:, None]
        for k, words in self._sets.items():
            meet[k] |= unseen[k, rows, None] & unseen[k]
            for word in range(words.shape[1]):
                meet[k] |= (words[rows, word, None] & words[:, word]) != 0
        i, j = np.nonzero(meet.sum(axis=0, dtype=np.int32) == len(meet) - 1)
        return i, j, meet[:, i, j].argmin(axis=0)


def _sets(
    words: NDArray[np.uint64], first: NDArray[np.int32], leaf: NDArray[np.intp], n_leaves: int, n_codes: int
) -> NDArray[np.uint64]:
    """Return the categories that lead to each leaf, as bits: (n_leaves, n_words)."""
    n_words = -(-n_codes // 64)
    full = np.full(n_words, ~np.uint64(0))
    if n_codes % 64:
        full[-1] = np.uint64(2 ** (n_codes % 64) - 1)
    result = np.repeat(full[None], n_leaves, axis=0)
    result[leaf] = words[first[:, None] + np.arange(n_words)] & full
    return result
