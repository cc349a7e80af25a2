"""Seal: what columns were like when they were first read, so that a table that is changed later is found out.

An Explainer reads its table when a question needs it, and a table in memory can be changed in place between two
questions. What is compared are the values that a model reads: bits of numbers, positions and labels of categories. Of
few rows they are kept; of more, a digest of each block of rows, so that a part of the rows can be checked before it is
read again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import TableError
from glasswood.kernels import _core
from glasswood.kernels._arrays import aligned
from glasswood.parallel._once import Lock, once_here
from glasswood.parallel._threads import sum_over
from glasswood.tables._columns import Dictionary, Numbers, index_labels
from glasswood.tables._tables import OpenColumns

__all__ = ["Seal", "SealedColumns"]

FEW = 1024  # rows, whose values are kept
BLOCK = 1024  # rows that have a digest
BLOCKS_AT_A_TIME = 64  # of a thread

Labels = tuple[Any, ...] | None


class Seal:
    """What columns were like when they were first read. Any number of threads may check it.

    Parameters
    ----------
    what : str
        What has changed if they differ, and since when.
    remedy : str
        What to do then.
    """

    def __init__(
        self,
        what: str = "the table has changed since the Explainer was made",
        remedy: str = "make a new Explainer, or give it a copy of the table",
    ) -> None:
        self._what, self._remedy = what, remedy
        self._lock = Lock()  # of all that follows
        self._n_rows: int | None = None
        self._kinds: dict[int, tuple[str, Labels]] = {}  # by the model's number of the column
        self._values: dict[int, bytes] = {}  # of few rows
        # A line per block of rows, and a column for each of the model's: digests, and which of them are known.
        self._digests = np.empty((0, 0), dtype=np.uint64)
        self._known = np.empty((0, 0), dtype=bool)

    def of(self, columns: OpenColumns) -> SealedColumns:
        """Return columns that can be checked, any part of the rows at a time."""
        opened = {index: _bits(values) for index, values in columns.values.items()}
        with self._lock:
            if self._n_rows is None:
                self._n_rows = columns.n_rows
                shape = (-(-columns.n_rows // BLOCK), len(columns.schema.columns))
                self._digests, self._known = np.zeros(shape, dtype=np.uint64), np.zeros(shape, dtype=bool)
            if columns.n_rows != self._n_rows:
                self._refuse(f"it had {self._n_rows:,} rows, and now has {columns.n_rows:,}")
            for index, (bits, labels) in opened.items():
                kind = (bits.dtype.str, labels)
                if self._kinds.setdefault(index, kind) != kind:
                    name = columns.schema.columns[index].name
                    self._refuse(f"the column {name!r} has another type, or other categories")
        return SealedColumns(self, columns, {index: bits for index, (bits, _) in opened.items()})

    def check(self, columns: OpenColumns, first: int = 0, last: int | None = None) -> None:
        """Refuse columns that have changed: any values of these rows, or of others in the same blocks.

        What was not read before is noted.
        """
        self.of(columns).check(first, columns.n_rows if last is None else last)

    def compare_values(self, columns: OpenColumns, found: dict[int, bytes]) -> None:
        """Compare the values of few rows with those that are known, by column."""
        with self._lock:
            wrong = [index for index, values in found.items() if self._values.setdefault(index, values) != values]
        self._refuse_values(columns, wrong)

    def compare_digests(self, columns: OpenColumns, blocks: range, found: NDArray[np.uint64]) -> None:
        """Compare the digests of some blocks with those that are known: a line per block, in the order of columns."""
        features = np.array(list(columns.values), dtype=np.intp)
        part = slice(blocks.start, blocks.stop)
        with self._lock:
            known, kept = self._known[part, features], self._digests[part, features]
            wrong = (known & (kept != found)).any(axis=0)
            if not known.all() and not wrong.any():
                self._digests[part, features], self._known[part, features] = found, True
        self._refuse_values(columns, features[wrong].tolist())

    def _refuse_values(self, columns: OpenColumns, wrong: list[int]) -> None:
        if wrong:
            self._refuse(f"the column {columns.schema.columns[wrong[0]].name!r} has other values")

    def _refuse(self, how: str) -> None:
        message = f"{self._what}: {how}. Old and new values would be mixed in the answers; {self._remedy}"
        raise TableError(message)


class SealedColumns:
    """Columns that are compared with a seal.

    Parameters
    ----------
    seal : Seal
    columns : OpenColumns
    bits : mapping from int to ndarray
        What is compared, by the model's number of the column.
    """

    def __init__(self, seal: Seal, columns: OpenColumns, bits: dict[int, NDArray[Any]]) -> None:
        self._seal, self._columns, self._bits = seal, columns, bits

    @once_here
    def _held(self) -> _core.RawColumns:
        bits = [aligned(part).view(f"u{part.dtype.itemsize}") for part in self._bits.values()]
        return _core.RawColumns(bits, self._columns.n_rows)

    def check(self, first: int, last: int) -> None:
        """Refuse columns of which these rows, or others in the same blocks, have changed."""
        blocks = range(first // BLOCK, -(-last // BLOCK))
        if len(blocks) <= BLOCKS_AT_A_TIME:
            self._check(blocks)
            return
        parts = [blocks[at : at + BLOCKS_AT_A_TIME] for at in range(0, len(blocks), BLOCKS_AT_A_TIME)]
        sum_over(parts, lambda: None, lambda _, part: self._check(part))

    def check_part(self, first: int, last: int) -> None:
        """Do the same on this thread, which is one of several that read parts of the rows."""
        self._check(range(first // BLOCK, -(-last // BLOCK)))

    def _check(self, blocks: range) -> None:
        n_rows = self._columns.n_rows
        if n_rows <= FEW:
            self._seal.compare_values(self._columns, {index: bits.tobytes() for index, bits in self._bits.items()})
            return
        found = np.zeros((len(blocks), len(self._bits)), dtype=np.uint64)
        for block, line in zip(blocks, found, strict=True):
            _core.add_digests(self._held, block * BLOCK, min(n_rows, (block + 1) * BLOCK), line)
        self._seal.compare_digests(self._columns, blocks, found)


def _bits(values: Numbers | Dictionary) -> tuple[NDArray[Any], Labels]:
    """Return the values of a column as numbers of up to 8 bytes, and the labels that they stand for."""
    if isinstance(values, Dictionary):
        return np.asarray(values.positions), tuple(values.labels)
    if values.dtype.kind in "fiub" and values.dtype.itemsize <= 8 and values.dtype.isnative:
        return values, None
    return _bits(index_labels(values.tolist()))
