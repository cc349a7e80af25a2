"""How rows fall on the cells of two features at once: rows in memory, rows that are read again, or counts alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._joint_counts import JointCounts, JointSpec
from glasswood.effects._row_cells import CellBlock, Rows
from glasswood.errors import BackgroundError
from glasswood.parallel._threads import in_order
from glasswood.questions.interactions._arithmetic import joint_rows
from glasswood.study._second_pass import blocks_of_cells
from glasswood.study._study import Study

__all__ = ["MAX_SENT", "CountedRows", "JointlyCounted", "PairRows", "RowsAgain", "RowsInMemory"]


Floats = NDArray[np.float64]

Pair = tuple[int, int]

Joint = Callable[[int], Floats]

"""From a position in a list of pairs to the number (or weight) of rows in each pair of cells."""


MAX_CELLS = 2**26  # of all pairs that are counted in one pass: 512 megabytes

MAX_SENT = 2**22  # the same on a cluster, where workers send them: 32 megabytes

ROWS_AT_A_TIME = 2**17


class PairRows(Protocol):
    """The rows over which the interactions of pairs are taken."""

    basis: str

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    def joint(self, pairs: Sequence[Pair]) -> Iterator[tuple[Sequence[Pair], Joint]]:
        """Yield all pairs in order, in blocks, and for each a function that returns how rows fall on its cells."""

    def blocks(self, batch: int) -> Iterator[tuple[Rows | CellBlock, Floats | None]]:
        """Yield all rows and their weights in blocks: whole batches of the given size, except for the last."""


class RowsInMemory:
    """Rows of a table.

    Parameters
    ----------
    study : Study
    rows : Rows
    weight : ndarray of shape (n_rows,), or None
    """

    basis = "rows"

    def __init__(self, study: Study, rows: Rows, weight: Floats | None) -> None:
        self._study, self._rows, self._weight = study, rows, weight

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self._rows.n_rows

    def joint(self, pairs: Sequence[Pair]) -> Iterator[tuple[Sequence[Pair], Joint]]:
        """Yield all pairs at once; each is counted when it is asked for."""
        n_cells = self._study.plan(1).cells.n_cells
        cells = self._cells()
        weight = np.empty(0) if self._weight is None else self._weight

        def count(number: int) -> Floats:
            a, b = pairs[number]
            return joint_rows(cells[a], cells[b], weight, np.zeros((n_cells[a], n_cells[b])))

        yield pairs, count

    def _cells(self) -> dict[int, NDArray[np.uint16]]:
        """Return the cells of all rows for each feature that is used, in a quarter of the memory of float64."""
        rows, used = self._rows, self._study.ensemble.used_features
        cells = np.empty((len(used), rows.n_rows), dtype=np.uint16)
        for first in range(0, rows.n_rows, 2**16):
            last = min(rows.n_rows, first + 2**16)
            cells[:, first:last] = rows.cells(first, last)
        return dict(zip(used.tolist(), cells, strict=True))

    def blocks(self, batch: int) -> Iterator[tuple[Rows, Floats | None]]:  # noqa: ARG002 (all are one block)
        """Yield all rows at once."""
        yield self._rows, self._weight


class RowsAgain:
    """The rows of a background that are read again for each question, in the same order, a block at a time.

    Parameters
    ----------
    study : Study
    """

    basis = "rows"

    def __init__(self, study: Study) -> None:
        self._study = study

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self._study.n_rows

    def joint(self, pairs: Sequence[Pair]) -> Iterator[tuple[Sequence[Pair], Joint]]:
        """Yield pairs in blocks whose cells fit in memory; each block takes one pass over the rows."""
        n_cells = self._study.plan(1).cells.n_cells
        for some in _in_blocks(self._study, pairs, MAX_CELLS):
            yield some, self._count(some, [np.zeros((n_cells[a], n_cells[b])) for a, b in some]).__getitem__

    def _count(self, pairs: Sequence[Pair], tables: list[Floats]) -> list[Floats]:
        """Add all rows to the cells of some pairs."""
        line = {feature: number for number, feature in enumerate(self._study.ensemble.used_features.tolist())}
        for block, weight in blocks_of_cells(self._study, ROWS_AT_A_TIME):
            cells = block.cells(0, block.n_rows).astype(np.uint16)
            weights = np.empty(0) if weight is None else weight

            def add(number: int, cells: NDArray[np.uint16] = cells, weights: Floats = weights) -> None:
                a, b = pairs[number]
                joint_rows(cells[line[a]], cells[line[b]], weights, tables[number])

            with in_order(len(pairs), add) as done:
                for _ in done:
                    pass
        return tables

    def blocks(self, batch: int) -> Iterator[tuple[CellBlock, Floats | None]]:
        """Yield the rows in blocks of moderate size."""
        return blocks_of_cells(self._study, batch * max(1, ROWS_AT_A_TIME // batch))


class JointlyCounted:
    """Rows of a cluster's frame: its workers count the rows in pairs of cells, in a pass for each block of pairs.

    Parameters
    ----------
    study : Study
    """

    basis = "rows"

    def __init__(self, study: Study) -> None:
        self._study = study

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self._study.n_rows

    def joint(self, pairs: Sequence[Pair]) -> Iterator[tuple[Sequence[Pair], Joint]]:
        """Yield pairs in blocks whose cells fit in memory."""
        for some in _in_blocks(self._study, pairs, MAX_SENT):
            spec = JointSpec(tuple(some))
            background = self._study.one_pass(spec)
            tables = JointCounts(self._study.plan(1), spec).tables_of(background.vectors[spec.key])
            weights: list[Floats] = [table.astype(np.float64) * background.unit for table in tables]
            yield some, weights.__getitem__

    def blocks(self, batch: int) -> Iterator[tuple[CellBlock, Floats | None]]:  # noqa: ARG002 (they stay where they are)
        """Yield nothing: the rows are not here."""
        return iter(())


def _in_blocks(study: Study, pairs: Sequence[Pair], max_: int) -> Iterator[Sequence[Pair]]:
    """Yield pairs in order, in blocks of at most so many cells, or of one pair."""
    n_cells = study.plan(1).cells.n_cells
    sizes = np.array([int(n_cells[a]) * int(n_cells[b]) for a, b in pairs])
    first = 0
    while first < len(pairs):
        last = first + max(1, int(np.searchsorted(np.cumsum(sizes[first:]), max_, side="right")))
        yield pairs[first:last]
        first = last


class CountedRows:
    """Rows of which only counts are known: the two features of a pair are taken as independent.

    Parameters
    ----------
    study : Study
    """

    basis = "counts"

    def __init__(self, study: Study) -> None:
        self._study, plan = study, study.plan(1)
        if plan.max_players > 1 and np.bincount(plan.player_of).max(initial=0) > 1:
            message = "interactions of groups need the rows themselves, not only counts; pass rows=, a table"
            raise BackgroundError(message)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self._study.n_rows

    def joint(self, pairs: Sequence[Pair]) -> Iterator[tuple[Sequence[Pair], Joint]]:
        """Yield all pairs at once: every combination of cells is as frequent as if they were independent."""
        per_cell = self._study.rows_per_cell
        yield pairs, lambda number: np.outer(*map(per_cell, pairs[number])).astype(np.float64)

    def blocks(self, batch: int) -> Iterator[tuple[CellBlock, Floats | None]]:  # noqa: ARG002 (there are none)
        """Yield nothing: the rows are not available."""
        return iter(())
