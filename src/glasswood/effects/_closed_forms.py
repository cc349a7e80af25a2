"""Closed forms: counts and leaf values in, partial dependence out, as the height of every cell.

Fixing the players S to the values c, the average score is ``base + 1/n * sum_l w_l [c meets l on S] G_l(S and P_l)``.
It is a step function of c; its heights are counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.effects._pairs import LeafPair, PairArrays
from glasswood.kernels import _core
from glasswood.parallel._interrupts import check_cancelled
from glasswood.parallel._lazy import Deferred, cached_property, cached_unpickled

__all__ = ["Effects", "path_dependent"]

STEPS_AT_A_TIME = 2**27  # of a kernel: a few tenths of a second


@dataclass(frozen=True, eq=False)
class Effects:
    """The effects of the players of a plan.

    Parameters
    ----------
    plan : CountPlan
    counts : ndarray of shape (plan.n_counts,)
        The counts of a background, or the shares of `path_dependent`.
    total : float
        The number (or weight) of rows that were counted; 1 for shares.
    """

    plan: CountPlan
    counts: NDArray[Any]
    total: float

    @cached_property
    def _output(self) -> NDArray[np.int32]:
        """The first output that each leaf adds to."""
        return np.maximum(self.plan.ensemble.tree_output, 0)[self.plan.leaf_tree]

    @cached_unpickled
    def _leaves(self) -> _core.Leaves:
        """The leaves as kernels take them."""
        plan, sets = self.plan, self.plan.subsets
        return _core.Leaves(
            boxes=plan.core_boxes,
            value=plan.ensemble.value,
            output=self._output,
            offset=plan.leaf_offset,
            counts=self.counts,
            n_players=plan.n_players,
            size=sets.size,
            plus=sets.plus,
            has=sets.has,
        )

    @property
    def unit(self) -> float:
        """What a leaf value times a count is worth on the scale of the score."""
        return self.plan.ensemble.score.factor / self.total

    def _blank(self, *shape: int) -> NDArray[np.float64]:
        return np.zeros((*shape, self.plan.ensemble.n_outputs))

    @cached_property
    def mean(self) -> NDArray[np.float64]:
        """The average score, for each output."""
        value, output = self.plan.ensemble.value, self._output
        weighted = value * self.counts[self.plan.leaf_offset[:-1], None]
        total = self._blank()
        for k in range(value.shape[1]):
            total += np.bincount(output + k, weights=weighted[:, k], minlength=total.size)
        return total * self.unit + self.plan.ensemble.score.constant

    @cached_property
    def exact(self) -> NDArray[np.float64]:
        """The number of rows that break exactly the players of each set, laid out as `counts`."""
        plan, exact = self.plan, self.counts.astype(np.float64)
        size, minus = plan.subsets.size, plan.subsets.minus
        n_leaves = max(1, STEPS_AT_A_TIME // (plan.max_players * plan.subsets.rest.size))
        for one in range(0, plan.n_players.size, n_leaves):
            check_cancelled()
            some = plan.n_players[one : one + n_leaves]
            _core.subset_differences(plan.leaf_offset[one:], some, size, minus, exact)
        return exact

    def _blocks_of_leaves(self, steps: int) -> Iterator[tuple[int, int]]:
        """Yield the first of some leaves after the other, and the one behind the last, given what each leaf costs."""
        n_leaves = max(1, STEPS_AT_A_TIME // steps)
        for one in range(0, self.plan.ensemble.n_leaves, n_leaves):
            check_cancelled()
            yield one, min(one + n_leaves, self.plan.ensemble.n_leaves)

    def curves(self) -> dict[int, NDArray[np.float64]]:
        """Return the height of every cell, of every feature that is a player of its own, for each output."""
        plan = self.plan
        single = np.bincount(plan.player_of)[plan.player_of] == 1
        width = np.where(single, plan.cells.n_cells + 1, 0)  # one more: the step behind the last cell
        place = np.where(single, np.cumsum(width) - width, -1)
        steps = self._blank(int(width.sum()))
        _core.add_curves(self._leaves, place, steps)
        return {
            int(f): np.cumsum(steps[place[f] : place[f] + plan.cells.n_cells[f]], axis=0) * self.unit + self.mean
            for f in np.flatnonzero(single)
        }

    def pair(self, a: int, b: int, outputs: Sequence[int] | None = None, *, turned: bool = False) -> LeafPair:
        """Return the interaction of two features, of some outputs or of all; nothing is computed yet."""
        plan = self.plan
        chosen = list(range(plan.ensemble.n_outputs)) if outputs is None else list(outputs)
        n_a, n_b = (int(n) for n in plan.cells.n_cells[[a, b]])
        shape = (n_a, n_b, len(chosen))
        return LeafPair(Deferred(lambda: self._pair_arrays(a, b, chosen)), shape, self.unit, turned=turned)

    def _pair_arrays(self, a: int, b: int, outputs: list[int]) -> PairArrays:
        """Return the leaves that have both features, and add to some of the outputs."""
        cells = self.plan.cells
        leaf, low, high, missing, unseen, sets, terms = _core.find_pair(self._leaves, a, b)
        low, high, missing, unseen = (array.reshape(-1, 2) for array in (low, high, missing, unseen))
        by_leaf = [low, high, missing.view(np.bool_), unseen.view(np.bool_), terms.reshape(-1, 4)]
        by_leaf += [self.plan.ensemble.value[leaf], self._output[leaf]]
        if outputs != list(range(self.plan.ensemble.n_outputs)):
            by_leaf = _leaves_of_outputs(by_leaf, outputs)
        low, high, missing, unseen, terms, value, output = by_leaf
        n_cells, n_codes = cells.n_cells[[a, b]], cells.n_codes[[a, b]]
        return PairArrays(n_cells, n_codes, low, high, missing, unseen, sets, terms, value, output)

    def interactions_on_grids(
        self, grids: NDArray[np.int64], pair_number: NDArray[np.int32], n_pairs: int
    ) -> NDArray[np.float64]:
        """Return the interactions of all pairs at some cells of each feature.

        The shape is (n_pairs, n_points, n_points, n_outputs).
        """
        n_points = grids.shape[1]
        out = self._blank(n_pairs, n_points, n_points)
        for one, two in self._blocks_of_leaves((n_points * self.plan.max_players) ** 2):
            _core.add_grids(self._leaves, one, two, grids, pair_number, out)
        return out * self.unit

    def at(self, cells: NDArray[np.int64], features: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the partial dependence of some features at points, given the cell of each feature at each point."""
        plan = self.plan
        points = np.zeros((plan.ensemble.n_features, cells.shape[1]), dtype=np.int64)
        points[features] = cells
        fixed = np.zeros(plan.ensemble.n_features, dtype=bool)
        fixed[features] = True
        out = self._blank(cells.shape[1])
        at_a_time = max(1, STEPS_AT_A_TIME // (8 * plan.ensemble.n_leaves))
        for one in range(0, cells.shape[1], at_a_time):
            check_cancelled()
            some = np.ascontiguousarray(points[:, one : one + at_a_time])
            _core.add_points(self._leaves, some, fixed, out[one : one + at_a_time])
        return out * self.unit + plan.ensemble.score.constant


def _leaves_of_outputs(by_leaf: list[NDArray[Any]], outputs: list[int]) -> list[NDArray[Any]]:
    """Return arrays of leaves, the last two their values and first outputs, of the leaves that add to some outputs."""
    *others, value, output = by_leaf
    place = np.array(outputs)[None] - output[:, None]  # of each wanted output among the values of each leaf
    known = (place >= 0) & (place < value.shape[1])
    kept = known.any(axis=1)
    value = np.where(known, np.take_along_axis(value, place.clip(0, value.shape[1] - 1), axis=1), 0.0)
    kept_others = others if kept.all() else [array[kept] for array in others]
    return [*kept_others, value[kept], np.zeros(int(kept.sum()), dtype=np.int32)]


def path_dependent(plan: CountPlan) -> Effects:
    """Return the effects that need no data: shares of the training weight instead of counts.

    G_l(S)/n becomes the product, over the nodes of the path whose player is not in S, of the cover of the child over
    the cover of the node.
    """
    subsets = plan.subsets
    shares = np.empty(plan.n_counts)
    _core.cover_shares(plan.slots[0], plan.shares, subsets.size, subsets.has, plan.leaf_offset, shares)
    return Effects(plan, shares, 1.0)
