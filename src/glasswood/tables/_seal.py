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
from glasswood.parallel._once import Lock
from glasswood.parallel._threads import sum_over
from glasswood.tables._columns import Dictionary, Numbers, index_labels
from glasswood.tables._tables import OpenColumns

__all__ = ["Seal"]

FEW = 1024  # rows, whose values are kept
BLOCK = 2**16  # rows that have a digest
WORTH_THREADS = 2**21  # values

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
        self._lock = Lock()
        self._n_rows: int | None = None
        self._kinds: dict[int, tuple[str, Labels]] = {}  # by the model's number of the column
        self._parts: dict[tuple[int, int], bytes | int] = {}  # by column and block: the values of few rows, or a digest

    def check(self, columns: OpenColumns, first: int = 0, last: int | None = None) -> None:
        """Refuse columns that have changed: any values of these rows, or of others in the same blocks.

        What was not read before is noted.
        """
        with self._lock:
            n_rows = self._n_rows = columns.n_rows if self._n_rows is None else self._n_rows
        if columns.n_rows != n_rows:
            self._refuse(f"it had {n_rows:,} rows, and now has {columns.n_rows:,}")
        opened = {index: _bits(values) for index, values in columns.values.items()}
        for index, (bits, labels) in opened.items():
            kind = (bits.dtype.str, labels)
            if self._kinds.setdefault(index, kind) != kind:
                self._refuse(f"the column {columns.schema.columns[index].name!r} has another type, or other categories")
        if n_rows <= FEW:
            found: dict[tuple[int, int], Any] = {(index, 0): bits.tobytes() for index, (bits, _) in opened.items()}
        else:
            blocks = range(first // BLOCK, -(-(n_rows if last is None else last) // BLOCK))
            found = _digests({index: bits for index, (bits, _) in opened.items()}, n_rows, blocks)
        for (index, block), part in found.items():
            if self._parts.setdefault((index, block), part) != part:
                self._refuse(f"the column {columns.schema.columns[index].name!r} has other values")

    def _refuse(self, how: str) -> None:
        message = f"{self._what}: {how}. Old and new values would be mixed in the answers; {self._remedy}"
        raise TableError(message)


def _digests(opened: dict[int, NDArray[Any]], n_rows: int, blocks: range) -> dict[tuple[int, int], int]:
    """Return the digests of some blocks of columns, by column and block."""
    held = _core.RawColumns([_unsigned(bits) for bits in opened.values()], n_rows)
    found = np.zeros((len(blocks), len(opened)), dtype=np.uint64)

    def fill(_: None, block: int) -> None:
        ends = block * BLOCK, min(n_rows, (block + 1) * BLOCK)
        _core.add_digests(held, *ends, found[block - blocks.start])

    if found.size * BLOCK <= WORTH_THREADS:
        for block in blocks:
            fill(None, block)
    else:
        sum_over(blocks, lambda: None, fill)
    return {
        (index, block): digest
        for block, line in zip(blocks, found.tolist(), strict=True)
        for index, digest in zip(opened, line, strict=True)
    }


def _unsigned(bits: NDArray[Any]) -> NDArray[Any]:
    return aligned(bits).view(f"u{bits.dtype.itemsize}")


def _bits(values: Numbers | Dictionary) -> tuple[NDArray[Any], Labels]:
    """Return the values of a column as numbers of up to 8 bytes, and the labels that they stand for."""
    if isinstance(values, Dictionary):
        return np.asarray(values.positions), tuple(values.labels)
    if values.dtype.kind in "fiub" and values.dtype.itemsize <= 8 and values.dtype.isnative:
        return values, None
    return _bits(index_labels(values.tolist()))
