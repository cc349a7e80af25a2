"""Metrics of rows without tables: for paths of any length, leaf by leaf, for the players that rows really meet."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.effects._row_cells import CellBlock, Rows
from glasswood.effects._set_values import WholeSets, sums_of
from glasswood.errors import TooLargeError
from glasswood.kernels import _core
from glasswood.parallel._interrupts import check_cancelled
from glasswood.parallel._lazy import cached_property
from glasswood.parallel._threads import in_order, n_threads
from glasswood.questions.rows._arithmetic_cube_values import CubeValues, n_sets
from glasswood.questions.rows._arithmetic_cubes import set_masks
from glasswood.questions.rows._arithmetic_leaf_sets import Leaves
from glasswood.text._printable import how_many

__all__ = ["LongPaths", "refuse_hours", "seconds_for_paths"]


MAX_SECONDS = 4 * 3600

SECONDS_AT_A_TIME = 0.2  # that a kernel may take, so that Ctrl-C is noticed

PER_SET = 2e-9  # seconds that a set of several players takes for a row and a background row

MAX_PARTS = 128  # the same for any number of threads, so that sums are the same, too


class LongPaths(WholeSets):
    """A metric of rows, computed at once, for paths of any length.

    Parameters
    ----------
    plan : CountPlan
    values : CubeValues
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
        values: CubeValues,
        rows: Rows | CellBlock,
        outputs: list[int],
        background: Rows | CellBlock | None,
        weight: NDArray[np.float64],
    ) -> None:
        used = [int(n) for n in np.unique(plan.n_players)]
        masks = {n: set_masks(values.orders, n) for n in used}
        self.plan = plan
        self.leaves = Leaves(plan, masks, outputs)
        self.sets = self.leaves.numbers.sets
        self.n_rows = rows.n_rows
        self._masks = np.concatenate([masks[n] for n in used])
        self._here = rows.cells(0, rows.n_rows)
        self._there = None if background is None else background.cells(0, background.n_rows)
        self._weight = weight
        self._on_cubes = values
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
        n_parts = min(n_chunks, MAX_PARTS)

        def work(part: int) -> NDArray[np.float64]:
            return self._part(range(part * n_chunks // n_parts, (part + 1) * n_chunks // n_parts))

        total = np.zeros((len(self.sets), len(self.leaves.outputs), self.n_rows))
        with in_order(n_parts, work, "paths") as parts:
            for result in parts:
                total += result
        total *= self.plan.ensemble.score.factor
        if self.sets and not self.sets[0]:  # the score without any leaf is an empty cube
            total[0] += self._on_cubes.of_empty_cube() * self.plan.ensemble.score.constant[self.leaves.outputs][:, None]
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
            check_cancelled()
            seats = leaves.chunks.seats_of(chunk)
            here = leaves.chunks.states_of(seats, cells)
            if self._there is not None:
                there = leaves.chunks.states_of(seats, self._there)
                table = self._on_cubes.table
                _core.add_long_paths(chunk, here, there, self._weight, chunked, leaves.core, value, sets, table, out)
            elif self._on_cubes.nodes is not None:
                nodes = _core.Quadrature(*self._on_cubes.nodes)
                _core.add_shared_paths(chunk, here, plan.shares, chunked, leaves.core, value, sets, nodes, out)
            else:
                table = self._on_cubes.table
                _core.add_weighed_paths(chunk, here, plan.shares, chunked, leaves.core, value, sets, table, out)
        return out

    @cached_property
    def _spans(self) -> list[slice]:
        """The number of rows of a batch, for which a chunk of 64 leaves takes a fraction of a second."""
        max_players = self.plan.max_players
        n_background = 0 if self._there is None else self._there.shape[1]
        per_row: float = seconds_per_row(max_players, n_background, self._on_cubes)
        if self._there is None:  # some nanoseconds per player and point of quadrature, for every row at worst
            per_row += 5e-9 * max_players * (max_players // 2 + 1)
        max_ = max(64, int(SECONDS_AT_A_TIME / (64 * max(1e-7, per_row))))
        return [slice(first, first + max_) for first in range(0, max(1, self.n_rows), max_)]


def seconds_for_paths(plan: CountPlan, values: CubeValues, n_rows: int, n_background: int) -> float:
    """Return about how long `LongPaths` takes at most, on one core; no background rows: path-dependent values."""
    return sum(
        n * (20e-9 * n_background + n_rows * seconds_per_row(used, n_background, values))
        for used, n in enumerate(plan.n_paths)
    )


def seconds_per_row(n_players: int, n_background: int, values: CubeValues) -> float:
    """Return the approximate time of a row at a leaf, given its number of players, at most."""
    larger = n_sets(values.orders, n_players) - (n_players if 1 in values.orders else 0)
    if n_background > 0:
        # Single players take part in the time for a background row.
        return 100e-9 + min(2.0**n_players, n_background) * (1e-9 + PER_SET * larger)
    if values.nodes is not None:
        return 100e-9 + 5e-9 * larger * (n_players // 2 + 1)
    return 100e-9 + 5e-9 * n_sets(values.orders, n_players) * (n_players + 1)


def refuse_hours(plan: CountPlan, n_rows: int, n_background: int, seconds: float) -> None:
    """Refuse rows that would take hours, given the seconds of one core, before anything is computed."""
    if seconds > MAX_SECONDS * n_threads():
        message = (
            f"{how_many(n_rows, 'row')}, {how_many(n_background, 'background row')} and "
            f"{how_many(plan.ensemble.n_leaves, 'leaf', 'leaves')} with up to {how_many(plan.max_players, 'feature')} "
            f"would take about {seconds / n_threads() / 3600:,.0f} h. Pass fewer rows, fewer background rows, or "
            "no background for path-dependent values"
        )
        raise TooLargeError(message)
