"""Values of a metric for rows: from tables of leaves, path by path, or by walking, whichever costs least."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.effects._closed_forms import Effects
from glasswood.effects._row_cells import CellBlock, Rows
from glasswood.errors import BackgroundError
from glasswood.metrics import HasCalcMetric
from glasswood.parallel._lazy import cached_property, cached_unpickled
from glasswood.parallel._lru_cache import LRUCache
from glasswood.parallel._memory import check_memory
from glasswood.questions.rows._arithmetic_cube_values import CubeValues, values_on_cubes
from glasswood.questions.rows._arithmetic_leaf_sets import max_sets
from glasswood.questions.rows._arithmetic_leaf_tables import LeafTables, TabledRows, seconds_for_tables, templates_of
from glasswood.questions.rows._arithmetic_long_paths import LongPaths, refuse_hours, seconds_for_paths
from glasswood.questions.rows._arithmetic_walks import Ground, WalkedRows, Walks, can_walk, seconds_for_walks

__all__ = ["AgainstRows", "BackgroundRows", "Evaluator"]


WORTH_A_THOUGHT = 0.3  # seconds

SAMPLED_ROWS = 128  # of the background, to find out what rows cost


class BackgroundRows(NamedTuple):
    """The rows of a background in memory, and the share of each."""

    rows: Rows
    shares: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AgainstRows:
    """A metric of any rows, path by path or by walking, which is made ready where rows are explained.

    Parameters
    ----------
    plan : CountPlan
    values : CubeValues
    outputs : list of int
        The outputs that are wanted.
    cells : ndarray of shape (n_columns, n_background), int32, or None
        Those of the background rows; None for path-dependent values.
    shares : ndarray of float64
        The weight of each background row; they sum to 1.
    walked : bool
        Whether trees are walked with pairs of rows.
    """

    plan: CountPlan
    values: CubeValues
    outputs: list[int]
    cells: NDArray[np.int32] | None = None
    shares: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    walked: bool = False

    @property
    def cache_key(self) -> tuple[Any, ...]:
        """What the values of rows depend on."""
        cells = None if self.cells is None else self.cells.tobytes()
        return "walks" if self.walked else "paths", *self.values.cache_key, self.outputs, cells, self.shares.tobytes()

    @cached_unpickled
    def _walks(self) -> Walks:
        cells = np.empty((0, 0), dtype=np.int32) if self.cells is None else self.cells.copy()
        return Walks(Ground(self.plan, cells, self.shares), self.values, self.outputs)

    def of_rows(self, rows: Rows | CellBlock) -> LongPaths | WalkedRows:
        """Return the values of rows."""
        if self.walked:
            return WalkedRows(self._walks, rows)
        background = None if self.cells is None else CellBlock(self.cells)
        return LongPaths(self.plan, self.values, rows, self.outputs, background, self.shares)


@dataclass(eq=False)
class Evaluator:
    """Evaluates metrics, and keeps what further rows will need.

    Parameters
    ----------
    plans : callable
        From an order to the plan of sets of up to so many players.
    effects : callable
        From an order to effects of at least that order; counts rows if need be.
    background : callable or None
        Gives the rows of the background; None if they are not a table in memory.
    n_background : int
        How many these are.
    only_counts : bool
        Whether there are counts of rows (or will be), and the rows themselves are not at hand.
    kept : LRUCache
        Tables that wait for more rows.
    """

    plans: Callable[[int], CountPlan]
    effects: Callable[[int], Effects]
    background: Callable[[], BackgroundRows] | None
    n_background: int
    only_counts: bool
    kept: LRUCache

    @property
    def plan(self) -> CountPlan:
        """The plan of single players."""
        return self.plans(1)

    def evaluate(self, metric: HasCalcMetric, rows: Rows, outputs: list[int]) -> TabledRows | LongPaths | WalkedRows:
        """Return the values of a metric.

        How they are computed does not depend on the tables that happen to be kept, since they may differ in the last
        digit.
        """
        values = self.values(metric)
        way = self._way(values, rows.n_rows, len(outputs))
        if way == "tables":
            return self.tables(values, outputs).of_rows(rows)
        check_memory((rows.n_rows, max_sets(self.plan, values.orders), len(outputs)))
        return (self.by_walks if way == "walks" else self.by_paths)(values, rows, outputs)

    def for_any_rows(self, metric: HasCalcMetric, n_rows: int, outputs: list[int]) -> LeafTables | AgainstRows:
        """Return the values of a metric for rows that are not known yet, computed the way that is best for n of them.

        The result can be pickled.
        """
        values = self.values(metric)
        way = self._way(values, n_rows, len(outputs))
        if way == "tables":
            return self.tables(values, outputs)
        if self._shared:
            return AgainstRows(self.plan, values, outputs)
        rows, shares = self._rows()
        return AgainstRows(self.plan, values, outputs, rows.cells(0, shares.size), shares, walked=way == "walks")

    def values(self, metric: HasCalcMetric) -> CubeValues:
        """Return what a metric says of the cubes of paths."""
        return values_on_cubes(metric, self.plan, shared=self._shared)

    @property
    def _shared(self) -> bool:
        """Whether values are path-dependent."""
        return self.background is None and not self.only_counts

    def _way(self, values: CubeValues, n_rows: int, n_outputs: int) -> Literal["tables", "paths", "walks"]:
        """Return how the values of some rows are computed; refuse what takes too long, or has too many sets."""
        plan, orders = self.plan, values.orders
        by_tables = seconds_for_tables(orders, plan) if plan.countable(plan.max_players) else float("inf")
        if by_tables < WORTH_A_THOUGHT or (self.only_counts and by_tables < float("inf")):
            return "tables"
        n_background = self.n_background
        by_paths, by_walks = seconds_for_paths(plan, values, n_rows, n_background), float("inf")
        if self.background is not None and can_walk(plan, orders, n_outputs):
            by_walks = seconds_for_walks(self._visits, n_rows, n_background, orders, n_outputs)
        if by_tables < float("inf"):
            by_tables = seconds_for_tables(orders, plan, n_rows)
        if by_tables < min(by_paths, by_walks):
            return "tables"
        refuse_hours(plan, n_rows, n_background, min(by_paths, by_walks))
        return "walks" if by_walks < by_paths else "paths"

    def _rows(self) -> BackgroundRows:
        if self.background is None:
            message = (
                f"a path of the model has {self.plan.max_players} features, too many for tables of all their sets; "
                "pass the rows themselves as the background, or nothing for path-dependent values"
            )
            raise BackgroundError(message)
        return self.background()

    @cached_property
    def _visits(self) -> float:
        """The nodes and leaves that a row and a background row visit together, about: of a sample of rows."""
        rows, shares = self._rows()
        n = shares.size
        chosen = np.unique(np.linspace(0, n - 1, min(n, SAMPLED_ROWS)).astype(np.intp))
        return Ground(self.plan, rows.cells_at(chosen), np.ones(chosen.size)).visits_of_a_pair()

    @property
    def ground(self) -> Ground:
        """The trees and the rows of the background, made ready to walk."""

        def make() -> Ground:
            rows, shares = self._rows()
            return Ground(self.plan, rows.cells(0, shares.size), shares)

        return self.kept.get(Ground, make)

    def by_walks(self, values: CubeValues, rows: Rows, outputs: list[int]) -> WalkedRows:
        """Return the values of a metric by walking through the trees with pairs of rows."""
        return WalkedRows(Walks(self.ground, values, outputs), rows)

    def tables(self, values: CubeValues, outputs: list[int]) -> LeafTables:
        """Return the values of a metric as tables of leaves."""

        def make() -> LeafTables:
            templates = templates_of(values, self.plan)  # first: too large ones are refused before any counting
            return LeafTables(self.effects(self.plan.max_players), values, outputs, templates)

        return self.kept.get((LeafTables, *values.cache_key, tuple(outputs)), make)

    def by_paths(self, values: CubeValues, rows: Rows, outputs: list[int]) -> LongPaths:
        """Return the values of a metric path by path."""
        if self._shared:
            return LongPaths(self.plan, values, rows, outputs, None, np.empty(0))
        background = self._rows()
        return LongPaths(self.plan, values, rows, outputs, background.rows, background.shares)
