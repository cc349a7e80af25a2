"""Metrics of rows without tables: for paths of any length, leaf by leaf, for the players that rows really meet."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.effects._cubes import MOST_SLOTS, moments_of, set_masks
from glasswood.effects._leaf_sets import Leaves
from glasswood.effects._row_cells import CellBlock, Rows
from glasswood.effects._set_values import WholeSets, sums_of
from glasswood.errors import TooLargeError
from glasswood.kernels import _core
from glasswood.metrics import InteractionIndex
from glasswood.parallel._interrupts import proceed
from glasswood.parallel._once import once
from glasswood.parallel._threads import in_order, n_threads
from glasswood.text._printable import how_many

__all__ = ["LongPaths", "refuse_hours", "seconds_for_paths"]

MOST_SECONDS = 4 * 3600
SECONDS_AT_A_TIME = 0.2  # that a kernel may take, so that Ctrl-C is noticed
MOST_PARTS = 128  # the same for any number of threads, so that sums are the same, too


class LongPaths(WholeSets):
    """An index of rows, computed at once, for paths of any length.

    Parameters
    ----------
    plan : CountPlan
    metric : InteractionIndex
    rows : Rows or CellBlock
    outputs : list of int
        The outputs that are wanted.
    background : Rows or CellBlock, or None
        The rows to average over; None for path-dependent values.
    weight : ndarray of float64
        The weight of each background row; they sum to 1.
    """

    def __init__(
        self,
        plan: CountPlan,
        metric: InteractionIndex,
        rows: Rows | CellBlock,
        outputs: list[int],
        background: Rows | CellBlock | None,
        weight: NDArray[np.float64],
    ) -> None:
        _refuse_players(plan.most_players)
        used = [int(n) for n in np.unique(plan.n_players)]
        masks = {n: set_masks(metric, n) for n in used}
        self.plan = plan
        self.leaves = Leaves(plan, masks, outputs)
        self.sets = self.leaves.numbers.sets
        self.n_rows = rows.n_rows
        self._masks = np.concatenate([masks[n] for n in used])
        self._here = rows.cells(0, rows.n_rows)
        self._there = None if background is None else background.cells(0, background.n_rows)
        self._weight = weight
        self._nodes = _nodes(metric, max(used)) if background is None else ()
        self._moments = np.zeros(0) if background is None else moments_of(metric, max(used))
        self._values = self._sum()

    def write(self, span: tuple[int, int], out: NDArray[np.float64], at: int) -> None:
        """Write the values of some rows to the columns of `out`, (n_sets x n_outputs, ...), from `at` on."""
        out[:, at : at + span[1] - span[0]] = self._values[:, span[0] : span[1]]

    def moments(self, span: tuple[int, int]) -> NDArray[np.float64]:
        """Return the sums of absolute values, squares and values over some rows: (3, n_sets x n_outputs)."""
        return sums_of(self._values[:, span[0] : span[1]])

    def _sum(self) -> NDArray[np.float64]:
        """Return the sum over all leaves, part by part of the trees, in a fixed order."""
        n_chunks = self.leaves.chunks.n_chunks
        n_parts = min(n_chunks, MOST_PARTS)

        def work(part: int) -> NDArray[np.float64]:
            return self._part(range(part * n_chunks // n_parts, (part + 1) * n_chunks // n_parts))

        total = np.zeros((len(self.sets), len(self.leaves.outputs), self.n_rows))
        with in_order(n_parts, work, "paths") as parts:
            for found in parts:
                total += found
        total *= self.plan.ensemble.score.factor
        return total.reshape(self.leaves.n_groups, self.n_rows)

    def _part(self, chunks: range) -> NDArray[np.float64]:
        """Return what some chunks add."""
        parts = [self._part_of_rows(chunks, rows) for rows in self._spans]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=2)

    def _part_of_rows(self, chunks: range, rows: slice) -> NDArray[np.float64]:
        """Return what some chunks add to some rows."""
        plan, leaves, chunked = self.plan, self.leaves, self.leaves.chunks.leaves
        sets = _core.SetMasks(
            first=np.concatenate([[0], np.cumsum(leaves.numbers.n_masks)]), mask=self._masks.astype(np.uint64)
        )
        value = plan.ensemble.value
        cells = np.ascontiguousarray(self._here[:, rows])
        out = np.zeros((len(self.sets), len(leaves.outputs), cells.shape[1]))
        for chunk in chunks:
            proceed()
            seats = leaves.chunks.seats_of(chunk)
            here = leaves.chunks.states_of(seats, cells)
            if self._there is None:
                nodes = _core.Quadrature(*self._nodes)
                _core.add_shared_paths(chunk, here, plan.shares, chunked, leaves.core, value, sets, nodes, out)
            else:
                there = leaves.chunks.states_of(seats, self._there)
                _core.add_long_paths(
                    chunk, here, there, self._weight, chunked, leaves.core, value, sets, self._moments, out
                )
        return out

    @once
    def _spans(self) -> list[slice]:
        """The number of rows of a batch, for which a chunk of 64 leaves takes a fraction of a second."""
        most_players = self.plan.most_players
        # Without a background, a row costs a leaf some nanoseconds per player and point of quadrature.
        per_row = 5e-9 * most_players * (most_players // 2 + 1)
        if self._there is not None:
            per_row = seconds_per_row(most_players, self._there.shape[1])
        most = max(64, int(SECONDS_AT_A_TIME / (64 * max(1e-7, per_row))))
        return [slice(first, first + most) for first in range(0, max(1, self.n_rows), most)]


def seconds_for_paths(plan: CountPlan, n_rows: int, n_background: int) -> float:
    """Return about how long `LongPaths` takes at most, on one core; no background rows: path-dependent values."""
    per_leaf = 20e-9 * n_background + n_rows * seconds_per_row(plan.n_players, n_background)
    return float(per_leaf.sum())


def seconds_per_row(n_players: int | NDArray[np.integer[Any]], n_background: int) -> Any:
    """Return the approximate time of a row at a leaf, given its number of players."""
    return 100e-9 + 1e-9 * np.minimum(2.0**n_players, n_background)


def refuse_hours(plan: CountPlan, n_rows: int, n_background: int, seconds: float) -> None:
    """Refuse rows that would take hours, given the seconds of one core, before anything is computed."""
    if seconds > MOST_SECONDS * n_threads():
        message = (
            f"{how_many(n_rows, 'row')}, {how_many(n_background, 'background row')} and "
            f"{how_many(plan.ensemble.n_leaves, 'leaf', 'leaves')} with up to {how_many(plan.most_players, 'feature')} "
            f"would take about {seconds / n_threads() / 3600:,.0f} h. Pass fewer rows, fewer background rows, or "
            "no background for path-dependent values"
        )
        raise TooLargeError(message)


def _refuse_players(most: int) -> None:
    """Refuse paths with more players than a mask has bits."""
    if most > MOST_SLOTS:
        message = f"a path of the model has {most} features; at most {MOST_SLOTS} are handled"
        raise TooLargeError(message)


def _nodes(metric: InteractionIndex, most: int) -> tuple[NDArray[Any], ...]:
    """Return the points and weights for paths of up to `most` players, concatenated."""
    points: list[NDArray[np.float64]] = []
    weights: list[NDArray[np.float64]] = []
    for used in range(most + 1):
        found = metric.nodes(max(0, used - 1))
        if found is None:
            message = (
                f"a path of the model has {most} features, too many for tables, and {metric!r} has no other way. Use a "
                "metric of Shapley or Banzhaf, or interaction_values with max_order"
            )
            raise TooLargeError(message)
        points.append(found[0])
        weights.append(found[1])
    return np.concatenate([[0], np.cumsum([p.size for p in points])]), np.concatenate(points), np.concatenate(weights)
