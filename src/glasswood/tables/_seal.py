"""Seal: what columns were like when the Explainer was made, so that a table that is changed later is found out.

An Explainer reads its table when a question needs it, and a table in memory can be changed in place before that. The
columns that the model uses are sealed when the Explainer is made, others when they are first read. What is compared are
the values that a model reads: bits of numbers, positions and labels of categories. Of few rows they are kept; of more,
a digest of each block of rows, so that a part of the rows can be checked before it is read again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import TableError
from glasswood.kernels import _core
from glasswood.kernels._arrays import aligned
from glasswood.parallel._lazy import Lock
from glasswood.parallel._threads import sum_over
from glasswood.tables._columns import Dictionary, Numbers, index_labels
from glasswood.tables._tables import Digests, Encoded, OpenColumns, Rows

__all__ = ["Seal", "SealedColumns"]

FEW = 1024  # rows, whose values are kept
BLOCK: int = _core.DIGEST_ROWS  # rows that have a digest together
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
        unsigned = {index: aligned(bits).view(f"u{bits.itemsize}") for index, (bits, _) in opened.items()}
        return SealedColumns(self, columns, unsigned)

    def check(self, columns: OpenColumns, first: int = 0, last: int | None = None) -> None:
        """Refuse columns that have changed: any values of these rows, or of others in the same blocks.

        What was not read before is noted.
        """
        self.of(columns).check(first, columns.n_rows if last is None else last)

    def compare_values(self, columns: OpenColumns, result: dict[int, bytes]) -> None:
        """Compare the values of few rows with those that are known, by column."""
        with self._lock:
            wrong = [index for index, values in result.items() if self._values.setdefault(index, values) != values]
        self._refuse_values(columns, wrong)

    def compare_digests(self, columns: OpenColumns, blocks: range, result: NDArray[np.uint64]) -> None:
        """Compare the digests of some blocks with those that are known: a line per block, in the order of columns."""
        features = np.array(list(columns.values), dtype=np.intp)
        part = slice(blocks.start, blocks.stop)
        with self._lock:
            known, kept = self._known[part, features], self._digests[part, features]
            wrong = (known & (kept != result)).any(axis=0)
            if not known.all() and not wrong.any():
                self._digests[part, features], self._known[part, features] = result, True
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
    bits : mapping from int to ndarray of unsigned integers
        What is compared, by the model's number of the column.
    """

    def __init__(self, seal: Seal, columns: OpenColumns, bits: dict[int, NDArray[Any]]) -> None:
        self._seal, self._columns, self._bits = seal, columns, bits

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self._columns.n_rows

    def check(self, first: int, last: int) -> None:
        """Refuse columns of which these rows, or others in the same blocks, have changed."""
        blocks = range(first // BLOCK, -(-last // BLOCK))
        if len(blocks) <= BLOCKS_AT_A_TIME:
            self._check(blocks)
            return
        parts = [blocks[at : at + BLOCKS_AT_A_TIME] for at in range(0, len(blocks), BLOCKS_AT_A_TIME)]
        sum_over(parts, lambda: None, lambda _, part: self._check(part))

    def _check(self, blocks: range) -> None:
        if self.n_rows <= FEW:
            self._seal.compare_values(self._columns, {index: bits.tobytes() for index, bits in self._bits.items()})
        else:
            self._seal.compare_digests(self._columns, blocks, self._digests_of(list(self._bits), blocks))

    def _digests_of(self, features: list[int], blocks: range) -> NDArray[np.uint64]:
        held = _core.RawColumns([self._bits[feature] for feature in features], self.n_rows)
        result = np.empty((len(blocks), len(features)), dtype=np.uint64)
        _core.write_digests(held, blocks.start * BLOCK, min(self.n_rows, blocks.stop * BLOCK), result)
        return result

    @contextmanager
    def read(self, rows: Rows, digested: Collection[int]) -> Iterator[tuple[Encoded, Digests | None]]:
        """Yield some rows as numbers, and the digests that the caller must take, because it reads the rows anyway.

        They are compared when the caller has read the rows. This runs on one of several threads that read parts.

        Parameters
        ----------
        rows : slice or ndarray
        digested : collection of int
            The features whose digests the caller can take.
        """
        first, last = _span(rows, self.n_rows)
        blocks = range(first // BLOCK, -(-last // BLOCK))
        encoded = self._columns.take(rows)
        whole = isinstance(rows, slice) and first % BLOCK == 0 and (last % BLOCK == 0 or last == self.n_rows)
        selected = np.array(
            [whole and f in digested and _same(bits[first:], encoded[f]) for f, bits in self._bits.items()], dtype=bool
        )
        if self.n_rows <= FEW or not selected.any():
            self._check(blocks)
            yield encoded, None
            return
        digests = Digests(np.empty((len(blocks), len(self._bits)), dtype=np.uint64), selected)
        others = np.array(list(self._bits))[~selected].tolist()
        if others:
            digests.lines[:, ~selected] = self._digests_of(others, blocks)
        yield encoded, digests
        self._seal.compare_digests(self._columns, blocks, digests.lines)


def _same(bits: NDArray[Any], encoded: NDArray[Any]) -> bool:
    """Return whether encoded values are those of the table itself, neither copied nor changed."""
    same_kind = bits.itemsize == encoded.itemsize and bits.strides == encoded.strides
    return same_kind and bits.ctypes.data == encoded.ctypes.data


def _span(rows: Rows, n_rows: int) -> tuple[int, int]:
    """Return the first of some rows, and where the last one ends."""
    if isinstance(rows, slice):
        return rows.indices(n_rows)[:2]
    return (int(rows.min()), int(rows.max()) + 1) if rows.size else (0, 0)


def _bits(values: Numbers | Dictionary) -> tuple[NDArray[Any], Labels]:
    """Return the values of a column as numbers of up to 8 bytes, and the labels that they stand for."""
    if isinstance(values, Dictionary):
        return np.asarray(values.positions), tuple(values.labels)
    if values.dtype.kind in "fiub" and values.dtype.itemsize <= 8:
        return values.astype(values.dtype.newbyteorder("="), copy=False), None
    return _bits(index_labels(values.tolist()))
