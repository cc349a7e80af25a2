"""Closed forms: counts and leaf values in, partial dependence out, as the height of every cell.

Fixing the players S to the values c, the average score is ``base + 1/n * sum_l w_l [c meets l on S] G_l(S and P_l)``.
It is a step function of c; its heights are counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood._interrupts import proceed
from glasswood._once import once
from glasswood._plan import CountPlan

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

    @once
    def _leaves(self) -> tuple[Any, ...]:
        e = self.plan.ensemble
        output = np.maximum(e.tree_output, 0)[self.plan.leaf_tree]
        return e.value, output, self.plan.leaf_offset, self.counts.astype(np.float64, copy=False)

    @once
    def _cells(self) -> tuple[Any, ...]:
        return self.plan.cells.n_cells, self.plan.cells.n_codes

    @property
    def unit(self) -> float:
        """What a leaf value times a count is worth on the scale of the score."""
        return self.plan.ensemble.score.factor / self.total

    def _blank(self, *shape: int) -> NDArray[np.float64]:
        return np.zeros((*shape, self.plan.ensemble.n_outputs))

    @once
    def mean(self) -> NDArray[np.float64]:
        """The average score, for each output."""
        value, output, offset, counts = self._leaves
        weighted = value * counts[offset[:-1], None]
        total = self._blank()
        for k in range(value.shape[1]):
            total += np.bincount(output + k, weights=weighted[:, k], minlength=total.size)
        return total * self.unit + self.plan.ensemble.score.constant

    @once
    def exact(self) -> NDArray[np.float64]:
        """The number of rows that break exactly the players of each set, laid out as `counts`."""
        from glasswood.kernels._lookups import subset_differences

        plan, exact = self.plan, self.counts.astype(np.float64)
        tables = (plan.subsets.size, plan.subsets.minus)
        n_leaves = max(1, STEPS_AT_A_TIME // (plan.most_players * plan.subsets.rest.size))
        for one in range(0, plan.n_players.size, n_leaves):
            proceed()
            subset_differences(plan.leaf_offset[one:], plan.n_players[one : one + n_leaves], tables, exact)
        return exact

    def _some_leaves(self, steps: int) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
        """Yield the boxes and the values of some leaves after the other, given what each leaf costs."""
        first, *boxes = self.plan.boxes
        value, output, offset, counts = self._leaves
        n_leaves = max(1, STEPS_AT_A_TIME // steps)
        for one in range(0, first.size - 1, n_leaves):
            proceed()
            two = min(one + n_leaves, first.size - 1)
            yield (first[one : two + 1], *boxes), (value[one:two], output[one:two], offset[one:two], counts)

    def curves(self) -> dict[int, NDArray[np.float64]]:
        """Return the height of every cell, of every feature that is a player of its own, for each output."""
        from glasswood.kernels._cells import add_curves

        plan = self.plan
        single = np.bincount(plan.player_of)[plan.player_of] == 1
        width = np.where(single, plan.cells.n_cells + 1, 0)  # one more: the step behind the last cell
        place = np.where(single, np.cumsum(width) - width, -1)
        steps = self._blank(int(width.sum()))
        add_curves(plan.boxes, self._cells, self._leaves, plan.subsets.plus, place, steps)
        return {
            int(f): np.cumsum(steps[place[f] : place[f] + plan.cells.n_cells[f]], axis=0) * self.unit + self.mean
            for f in np.flatnonzero(single)
        }

    def interaction(self, a: int, b: int) -> NDArray[np.float64] | None:
        """Return the height of every pair of cells of the interaction of two features; None if they share no path."""
        from glasswood.kernels._cells import add_surface

        plan = self.plan
        n_a, n_b = (int(n) for n in plan.cells.n_cells[[a, b]])
        steps = self._blank(n_a + 1, n_b + 1)
        found = False
        for boxes, leaves in self._some_leaves(4096):
            found |= add_surface((a, b), boxes, self._cells, leaves, plan.subsets.plus, steps)
        if not found:
            return None
        heights = steps.cumsum(axis=0).cumsum(axis=1)
        return heights[:n_a, :n_b] * self.unit

    def interactions_on_grids(
        self, grids: NDArray[np.int64], pair_number: NDArray[np.int32], n_pairs: int
    ) -> NDArray[np.float64]:
        """Return the interactions of all pairs at some cells of each feature.

        The shape is (n_pairs, n_points, n_points, n_outputs).
        """
        from glasswood.kernels._cells import add_grids

        n_points = grids.shape[1]
        out = self._blank(n_pairs, n_points, n_points)
        for boxes, leaves in self._some_leaves((n_points * self.plan.most_players) ** 2):
            add_grids(grids, pair_number, boxes, self._cells, leaves, self.plan.subsets.plus, out)
        return out * self.unit

    def at(self, cells: NDArray[np.int64], features: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the partial dependence of some features at points, given the cell of each feature at each point."""
        from glasswood.kernels._cells import add_points

        plan = self.plan
        points = np.zeros((plan.ensemble.n_features, cells.shape[1]), dtype=np.int64)
        points[features] = cells
        fixed = np.zeros(plan.ensemble.n_features, dtype=bool)
        fixed[features] = True
        out = self._blank(cells.shape[1])
        tables = (plan.subsets.plus, plan.subsets.has)
        at_a_time = max(1, STEPS_AT_A_TIME // (8 * plan.ensemble.n_leaves))
        for one in range(0, cells.shape[1], at_a_time):
            proceed()
            some = np.ascontiguousarray(points[:, one : one + at_a_time])
            part = out[one : one + at_a_time]
            add_points(some, fixed, plan.boxes, self._cells, self._leaves, tables, part)
        return out * self.unit + plan.ensemble.score.constant


def path_dependent(plan: CountPlan) -> Effects:
    """Return the effects that need no data: shares of the training weight instead of counts.

    G_l(S)/n becomes the product, over the nodes of the path whose player is not in S, of the cover of the child over
    the cover of the node.
    """
    from glasswood.kernels._paths import cover_shares

    subsets = plan.subsets
    shares = np.empty(plan.n_counts)
    cover_shares(plan.slots[0], plan.shares, (subsets.size, subsets.has), (plan.leaf_offset, shares))
    return Effects(plan, shares, 1.0)
