"""Counter: all statistics of one pass over the rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._cell_counts import CellCounts
from glasswood.counting._leaf_counts import LeafCounts
from glasswood.counting._plan import CountPlan
from glasswood.counting._statistic import Batch, Columns, Statistic, StatisticSpec, Tally, Vector
from glasswood.kernels import _core
from glasswood.kernels._arrays import aligned
from glasswood.tables._row_values import NO_VALUES, RowValues
from glasswood.tables._tables import Digests

__all__ = ["Counter"]


class Counter:
    """Adds batches of rows to tallies: the counts of a plan, and further statistics.

    Parameters
    ----------
    plan : CountPlan
    further : sequence of StatisticSpec
        Statistics beside the counts.
    lists_only : bool
        Whether to count all trees with lists, see `LeafCounts`.
    """

    def __init__(self, plan: CountPlan, further: Sequence[StatisticSpec] = (), *, lists_only: bool = False) -> None:
        self.plan = plan
        counts = LeafCounts(plan, lists_only=lists_only) if plan.ensemble.derived is None else CellCounts(plan)
        self._statistics: list[Statistic] = [counts]
        self._statistics += [spec.statistic(plan) for spec in further]

    @property
    def vectors(self) -> list[Vector]:
        """All vectors."""
        return [vector for statistic in self._statistics for vector in statistic.vectors]

    @property
    def max_rows(self) -> int:
        """The number of rows of a batch, which a kernel counts in a fraction of a second."""
        return min(statistic.max_rows for statistic in self._statistics)

    def start(self) -> Tally:
        """Return the tally of no rows."""
        return Tally.start(self.vectors)

    def fits(self, tally: Tally) -> bool:
        """Return whether a tally has the vectors of this counter."""
        result = [Vector(name, part.size, tally.combine[name]) for name, part in tally.vectors.items()]
        return result == self.vectors

    @property
    def digested(self) -> frozenset[int]:
        """The features whose digests can be taken on the way."""
        return self._statistics[0].digested if isinstance(self._statistics[0], LeafCounts) else frozenset()

    def add(
        self,
        tally: Tally,
        columns: Columns,
        n_rows: int,
        weight: NDArray[np.int64] | None = None,
        digests: Digests | None = None,
        values: RowValues = NO_VALUES,
    ) -> None:
        """Count some rows: the encoded columns of all used features, in order, and their weights if there are any."""
        self.add_groups([tally], columns, np.array([0, n_rows]), weight, digests, values)

    def add_groups(
        self,
        tallies: Sequence[Tally],
        columns: Columns,
        bounds: NDArray[np.int64],
        weight: NDArray[np.int64] | None = None,
        digests: Digests | None = None,
        values: RowValues = NO_VALUES,
    ) -> None:
        """Count rows that are sorted by group: those from bounds[k] to bounds[k + 1] go to tallies[k].

        The result is that of `add`, but trees are walked once for all groups of a block of rows.

        Parameters
        ----------
        tallies : sequence of Tally, no two the same
        columns : mapping of int to arrays
            The encoded columns of all used features, in order.
        bounds : ndarray of shape (n_groups + 1,), int64, not decreasing
        weight : ndarray of shape (n_rows,), int64, optional
        digests : Digests, optional
            Digests to take of columns that are among `digested`.
        values : RowValues, optional
            What else is known of the rows.
        """
        some = np.flatnonzero(np.diff(bounds)).tolist()
        if not some:
            return
        tallies = [tallies[k] for k in some]
        bounds = np.append(bounds[some], bounds[-1]).astype(np.int64)
        weights = np.empty(0, dtype=np.int64) if weight is None else weight
        held = _core.Columns([aligned(column) for column in columns.values()], int(bounds[-1]))
        batch = Batch(columns, bounds, weights, held, digests, values)
        for statistic in self._statistics:
            statistic.add(tallies, batch)
        n_rows = np.diff(bounds)
        total = n_rows if weight is None else np.add.reduceat(weight[: bounds[-1]], bounds[:-1])
        for tally, more_rows, more in zip(tallies, n_rows.tolist(), total.tolist(), strict=True):
            tally.n_rows += more_rows
            tally.total += more

    def finish(self, tally: Tally) -> Tally:
        """Turn the numbers of a tally into the counts G and the rows per cell; once, after the last row."""
        for statistic in self._statistics:
            statistic.finish(tally)
        return tally
