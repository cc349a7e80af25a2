"""CellCounts: the number of rows in each cell of each feature, for models whose leaves are not counted.

A leaf below a split on a derived column is no product of conditions on single columns, so that its counts would answer
nothing; see `models/_derived`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from glasswood.counting._plan import CountPlan
from glasswood.counting._statistic import Batch, Tally, Vector
from glasswood.kernels import _core
from glasswood.parallel._interrupts import check_cancelled
from glasswood.parallel._lazy import cached_unpickled

__all__ = ["CellCounts"]

MAX_ROWS = 2**16  # at a time


class CellCounts:
    """The number of rows in each cell of each feature, and no counts of leaves.

    Parameters
    ----------
    plan : CountPlan
    """

    def __init__(self, plan: CountPlan) -> None:
        self._cells, self._used = plan.cells, plan.ensemble.used_features

    max_rows = MAX_ROWS

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """The numbers of rows per cell, and an empty vector of counts."""
        return Vector("counts", 0), Vector("cells", int(self._cells.offset[-1]))

    @cached_unpickled
    def _cuts(self) -> _core.CutsOfColumns:
        cells, used = self._cells, self._used
        return _core.CutsOfColumns(cells.cut, cells.cut_offset[used], cells.n_codes[used], cells.n_cells[used])

    def add(self, tallies: Sequence[Tally], batch: Batch) -> None:
        """Count rows that are sorted by group."""
        which, offset = np.arange(self._used.size), self._cells.offset[self._used]
        ranks = np.empty((self._used.size, _core.LIST_ROWS), dtype=np.int32)
        for tally, rows in zip(tallies, batch.groups, strict=True):
            for first in range(rows.start, rows.stop, _core.LIST_ROWS):
                check_cancelled()
                n_rows = min(rows.stop - first, _core.LIST_ROWS)
                weight = batch.weight[first : first + n_rows]
                cells = tally.vectors["cells"]
                _core.rank_rows(batch.held, which, self._cuts, offset, first, n_rows, weight, ranks, cells)

    def finish(self, tally: Tally) -> None:
        """There is nothing left to do."""
