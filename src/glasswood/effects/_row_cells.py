"""Rows to explain, block by block, as the cells of a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.kernels import _core
from glasswood.kernels._arrays import aligned
from glasswood.parallel._interrupts import check_cancelled
from glasswood.parallel._lazy import cached_unpickled
from glasswood.tables._seal import SealedColumns
from glasswood.tables._sources import InMemory
from glasswood.tables._tables import OpenColumns, open_columns

__all__ = ["CellBlock", "CellsOfColumns", "Rows"]

MAX_ROWS = 2**16  # at a time


class CellsOfColumns:
    """Finds the cells of encoded columns.

    Parameters
    ----------
    plan : CountPlan
    """

    def __init__(self, plan: CountPlan) -> None:
        cells, used = plan.cells, plan.ensemble.used_features
        self._of_columns = (cells.cut, cells.cut_offset[used], cells.n_codes[used], cells.n_cells[used])

    @cached_unpickled
    def _cuts(self) -> _core.CutsOfColumns:
        return _core.CutsOfColumns(*self._of_columns)

    def of(self, held: _core.Columns, n_rows: int) -> NDArray[np.int32]:
        """Return the cells of the columns of all features that the model uses: one line per feature."""
        cells = np.empty((self._of_columns[1].size, n_rows), dtype=np.int32)
        _core.write_cells(held, self._cuts, cells)
        return cells


class Rows:
    """The rows of a table, as numbers of cells.

    Parameters
    ----------
    plan : CountPlan
    table : table, or the opened columns of the features that the model uses
    source : InMemory, optional
        Where the columns come from. If it has a seal, they are checked before they are read: results that are computed
        when they are looked at may be so long after the question.
    """

    def __init__(self, plan: CountPlan, table: object, source: InMemory | None = None) -> None:
        e = plan.ensemble
        self._columns = table if isinstance(table, OpenColumns) else open_columns(table, e.schema, e.used_features)
        self.source = source
        self._of_columns = CellsOfColumns(plan)

    @cached_unpickled
    def _sealed(self) -> SealedColumns | None:
        seal = None if self.source is None else self.source.seal
        return None if seal is None else seal.of(self._columns)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self._columns.n_rows

    def cells(self, first: int, last: int) -> NDArray[np.int32]:
        """Return the cells of the rows from first to last: one line per feature that the model uses."""
        if last - first > MAX_ROWS:
            starts = range(first, last, MAX_ROWS)
            return np.concatenate([self.cells(start, min(last, start + MAX_ROWS)) for start in starts], axis=1)
        check_cancelled()
        self.check(first, last)
        return self._cells_of(self._columns.encode(first, last), last - first)

    @property
    def given(self) -> Any:
        """The user's own table, before a pipeline."""
        return None if self.source is None else self.source.given

    def open(self, features: Sequence[int]) -> OpenColumns:
        """Return some columns of the table, which may be others than those that the model uses."""
        if self.source is None:
            return self._columns
        return self.source.open(self._columns.schema, features)

    def check(self, first: int = 0, last: int | None = None) -> None:
        """Refuse rows that have changed since the question."""
        if self._sealed is not None:
            self._sealed.check(first, self.n_rows if last is None else last)

    def cells_at(self, rows: NDArray[np.intp]) -> NDArray[np.int32]:
        """Return the cells of some rows, given by their numbers."""
        self.check()
        return self._cells_of(self._columns.take(rows), rows.size)

    def _cells_of(self, columns: Mapping[int, NDArray[np.floating[Any]]], n_rows: int) -> NDArray[np.int32]:
        held = _core.Columns([aligned(column) for column in columns.values()], n_rows)
        return self._of_columns.of(held, n_rows)


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
