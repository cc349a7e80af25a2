"""Derived columns: numbers that several columns of a row determine together, which trees split on like on any other.

CatBoost keeps statistics of combinations of categories. Each is looked up under a *key*, a sum modulo 2**64 of numbers
that follow from single columns; what trees need to know of it is its *rank*, the number of borders below it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.kernels import _core
from glasswood.kernels._read_only import ReadOnly
from glasswood.parallel._lazy import cached_property, cached_unpickled

__all__ = ["CellsOfDerived", "Derived", "Key", "Part"]

MAX_RANKS = 256


class Part(NamedTuple):
    """What a column of the table adds to a key.

    Numbers have a `cut`, and three values: up to the cut, above it, and missing. Categories have one value per code,
    and last that of all others.
    """

    column: int
    cut: float | None
    value: NDArray[np.uint64]


class Key(NamedTuple):
    """A key: its parts, the values of the key that are known, in ascending order, and the columns that are looked up.

    Each column is an array of ranks: first that of values that are not known, then those of the known ones.
    """

    parts: Sequence[Part]
    known: NDArray[np.uint64]
    columns: Sequence[NDArray[np.uint8]]


@dataclass(frozen=True, eq=False)
class Derived(ReadOnly):
    """The derived columns of a model, key by key, as arrays.

    Parameters
    ----------
    part_first : ndarray of shape (n_keys + 1,), int64
        Where the parts of each key start.
    part_column : ndarray of shape (n_parts,), int32
        The column of the table.
    part_cut : ndarray of shape (n_parts,), float64
        NaN for categories.
    value_first : ndarray of shape (n_parts + 1,), int64
    value : ndarray of uint64
        The values of the parts, see `Part`.
    entry_first : ndarray of shape (n_keys + 1,), int64
    entry : ndarray of uint64
        The known values of the keys.
    column_first : ndarray of shape (n_keys + 1,), int64
        Where the derived columns of each key start.
    rank_first : ndarray of shape (n_columns,), int64
    rank : ndarray of uint8
        The ranks of the columns, see `Key`.
    """

    part_first: NDArray[np.int64]
    part_column: NDArray[np.int32]
    part_cut: NDArray[np.float64]
    value_first: NDArray[np.int64]
    value: NDArray[np.uint64]
    entry_first: NDArray[np.int64]
    entry: NDArray[np.uint64]
    column_first: NDArray[np.int64]
    rank_first: NDArray[np.int64]
    rank: NDArray[np.uint8]

    @classmethod
    def of(cls, keys: Sequence[Key]) -> Derived:
        """Return the derived columns of some keys."""
        parts = [part for key in keys for part in key.parts]
        columns = [column for key in keys for column in key.columns]
        return cls(
            part_first=_starts([len(key.parts) for key in keys]),
            part_column=np.array([part.column for part in parts], dtype=np.int32),
            part_cut=np.array([np.nan if part.cut is None else part.cut for part in parts], dtype=np.float64),
            value_first=_starts([part.value.size for part in parts]),
            value=np.concatenate([part.value for part in parts]),
            entry_first=_starts([key.known.size for key in keys]),
            entry=np.concatenate([key.known for key in keys]),
            column_first=_starts([len(key.columns) for key in keys]),
            rank_first=_starts([column.size for column in columns])[:-1],
            rank=np.concatenate(columns),
        )

    @property
    def n_keys(self) -> int:
        """The number of keys."""
        return self.part_first.size - 1

    @property
    def n_columns(self) -> int:
        """The number of derived columns."""
        return self.rank_first.size

    @cached_property
    def key_of(self) -> NDArray[np.int64]:
        """The key of each derived column."""
        return np.repeat(np.arange(self.n_keys), np.diff(self.column_first))

    @cached_property
    def part_key(self) -> NDArray[np.int64]:
        """The key of each part."""
        return np.repeat(np.arange(self.n_keys), np.diff(self.part_first))

    @cached_property
    def max_ranks(self) -> NDArray[np.int64]:
        """The largest rank of each derived column."""
        sizes = 1 + np.diff(self.entry_first)[self.key_of]
        columns = zip(self.rank_first.tolist(), sizes.tolist(), strict=True)
        return np.array([self.rank[first : first + size].max() for first, size in columns], dtype=np.int64)

    @cached_property
    def features(self) -> NDArray[np.int64]:
        """The columns of the table that some key has a part of, in increasing order."""
        return np.unique(self.part_column).astype(np.int64)

    def members(self, n_features: int) -> NDArray[np.bool_]:
        """Return which columns of the table each derived column depends on: (n_columns, n_features)."""
        of_key = np.zeros((self.n_keys, n_features), dtype=bool)
        of_key[self.part_key, self.part_column] = True
        return of_key[self.key_of]

    def cuts_of(self, feature: int) -> NDArray[np.float64]:
        """Return the cuts of the parts of a column of numbers, sorted; none for categories."""
        cuts = self.part_cut[self.part_column == feature]
        return np.unique(cuts[~np.isnan(cuts)])

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """All arrays, which tell two models apart."""
        return [getattr(self, field.name) for field in fields(self)]

    def problems(self, n_codes: NDArray[np.int64]) -> list[str]:
        """Return what is wrong with the arrays, for columns of the table with that many categories."""
        result = []
        if self.part_column.size and not 0 <= self.part_column.min() <= self.part_column.max() < n_codes.size:
            return [f"derived columns are made of column {self.part_column.max()} of {n_codes.size}"]
        is_number = ~np.isnan(self.part_cut)
        sizes = np.where(is_number, 3, n_codes[self.part_column] + 1)
        if np.any(is_number != (n_codes[self.part_column] == 0)) or np.any(np.diff(self.value_first) != sizes):
            result.append("a derived column has a condition that does not fit its column")
        n_known = np.diff(self.entry_first)[self.key_of]
        if np.any(self.rank_first + 1 + n_known > self.rank.size):
            result.append("a derived column has too few ranks")
        return result


class CellsOfDerived:
    """Derived columns as functions of the cells of columns of the table.

    Parameters
    ----------
    derived : Derived
    lines : ndarray of int
        The column of the table that each line of cells is of, in increasing order.
    cuts : mapping of int to ndarray
        The cuts between the cells of each column of numbers, among them all of its parts.
    """

    def __init__(self, derived: Derived, lines: NDArray[Any], cuts: Mapping[int, NDArray[np.float64]]) -> None:
        self.derived = derived
        self.line = np.searchsorted(lines, derived.part_column).astype(np.int32)
        values = [
            _by_cell(part_of(derived, p), cuts[feature]) for p, feature in enumerate(derived.part_column.tolist())
        ]
        self.first = _starts([value.size for value in values])
        self.value = np.concatenate(values)

    @cached_unpickled
    def held(self) -> _core.DerivedColumns:
        """The columns as kernels take them."""
        d = self.derived
        return _core.DerivedColumns(
            part_first=d.part_first,
            line=self.line,
            n_cells=np.diff(self.first),
            part=self.value,
            entry_first=d.entry_first,
            entry=d.entry,
            column_first=d.column_first,
            rank_first=d.rank_first,
            rank=d.rank,
            table=self.first[:-1].copy(),
        )

    def ranks(self, cells: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the ranks of rows, (n_columns, n_rows), given their cells, one line per column of the table."""
        ranks = np.empty((self.derived.n_columns, cells.shape[1]), dtype=np.int32)
        _core.write_ranks(cells, self.held, ranks)
        return ranks

    def values_at(self, part: int, cells: NDArray[np.integer[Any]]) -> NDArray[np.uint64]:
        """Return what a part is in some cells of its column."""
        result: NDArray[np.uint64] = self.value[self.first[part] + cells]
        return result


def part_of(derived: Derived, number: int) -> Part:
    """Return one of the parts of all keys."""
    cut = float(derived.part_cut[number])
    value = derived.value[derived.value_first[number] : derived.value_first[number + 1]]
    return Part(int(derived.part_column[number]), None if np.isnan(cut) else cut, value)


def _by_cell(part: Part, cuts: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return what a part is in each cell of its column, the missing one last."""
    if part.cut is None:
        return np.append(part.value, part.value[-1])  # CatBoost takes no missing categories
    n_below = int(np.searchsorted(cuts, part.cut)) + 1
    return np.concatenate([np.repeat(part.value[:2], [n_below, cuts.size + 1 - n_below]), part.value[2:]])


def _starts(sizes: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))]).astype(np.int64)
