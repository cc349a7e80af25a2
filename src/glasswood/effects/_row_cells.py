"""Rows to explain, block by block, as the cells of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.kernels import _core
from glasswood.kernels._arrays import aligned
from glasswood.parallel._interrupts import proceed
from glasswood.parallel._once import once_here
from glasswood.tables._tables import OpenColumns, open_columns

__all__ = ["CellBlock", "Rows"]

MOST_ROWS = 2**16  # at a time


class Rows:
    """The rows of a table, as numbers of cells.

    Parameters
    ----------
    plan : CountPlan
    table : table, or the opened columns of the features that the model uses
    """

    def __init__(self, plan: CountPlan, table: object) -> None:
        e, cells = plan.ensemble, plan.cells
        used = e.used_features
        self._columns = table if isinstance(table, OpenColumns) else open_columns(table, e.schema, used)
        self._of_columns = (cells.cut, cells.cut_offset[used], cells.n_codes[used], cells.n_cells[used])

    @once_here
    def _cuts(self) -> _core.CutsOfColumns:
        return _core.CutsOfColumns(*self._of_columns)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self._columns.n_rows

    def cells(self, first: int, last: int) -> NDArray[np.int32]:
        """Return the cells of the rows from first to last: one line per feature that the model uses."""
        if last - first > MOST_ROWS:
            starts = range(first, last, MOST_ROWS)
            return np.concatenate([self.cells(start, min(last, start + MOST_ROWS)) for start in starts], axis=1)
        proceed()
        return self._cells_of(self._columns.encode(first, last), last - first)

    def cells_at(self, rows: NDArray[np.intp]) -> NDArray[np.int32]:
        """Return the cells of some rows, given by their numbers."""
        return self._cells_of(self._columns.take(rows), rows.size)

    def _cells_of(self, columns: Mapping[int, NDArray[np.floating[Any]]], n_rows: int) -> NDArray[np.int32]:
        cells = np.empty((len(columns), n_rows), dtype=np.int32)
        held = _core.Columns([aligned(column) for column in columns.values()], n_rows)
        _core.write_cells(held, self._cuts, cells)
        return cells


class CellBlock:
    """Rows whose cells are known already; otherwise like `Rows`.

    Parameters
    ----------
    cells : ndarray of shape (n_features, n_rows), int32
        One line per feature that the model uses.
    """

    def __init__(self, cells: NDArray[np.int32]) -> None:
        self._cells = cells

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self._cells.shape[1])

    def cells(self, first: int, last: int) -> NDArray[np.int32]:
        """Return the cells of the rows from first to last."""
        return np.ascontiguousarray(self._cells[:, first:last])
