"""Statistics: named vectors of whole numbers that rows add to. Merges, groups, files and engines see nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.kernels import _core
from glasswood.tables._row_values import NO_VALUES, RowValues
from glasswood.tables._tables import Digests

__all__ = ["Batch", "Columns", "Combine", "Statistic", "StatisticSpec", "Tally", "Vector", "combine"]

Columns = Mapping[int, NDArray[np.floating[Any]]]

Combine = Literal["sum", "wide sum", "largest", "smallest", "same"]
"""How the vectors of two sets of rows become that of both.

Wide sums have several limbs, see `_wide`. What is the same for all rows, such as the edges of bins, is written by
`Statistic.finish`, and kept by sums and differences.
"""

UFUNCS: dict[Combine, np.ufunc] = {
    "sum": np.add,
    "wide sum": np.add,
    "largest": np.maximum,
    "smallest": np.minimum,
    "same": np.maximum,
}
LIMITS = np.iinfo(np.int64)
NEUTRAL: dict[Combine, int] = {
    "sum": 0,
    "wide sum": 0,
    "largest": int(LIMITS.min),
    "smallest": int(LIMITS.max),
    "same": int(LIMITS.min),
}


@dataclass(frozen=True)
class Vector:
    """A named vector of whole numbers.

    Parameters
    ----------
    name : str
    size : int
    combine : {"sum", "wide sum", "largest", "smallest", "same"}
        How those of two sets of rows become that of both. Only sums, and what is the same, can be subtracted.
    """

    name: str
    size: int
    combine: Combine = "sum"

    def start(self) -> NDArray[np.int64]:
        """Return the vector of no rows."""
        return np.full(self.size, NEUTRAL[self.combine], dtype=np.int64)


@dataclass(eq=False, slots=True)
class Tally:
    """The vectors of the rows so far. They combine at any time, and mean something after `Statistic.finish`.

    Parameters
    ----------
    vectors : mapping from str to ndarray of int64
    combine : mapping from str to {"sum", "wide sum", "largest", "smallest", "same"}
        How each of them combines.
    n_rows : int
    total : int
        The sum of the rows' weights.
    """

    vectors: dict[str, NDArray[np.int64]]
    combine: Mapping[str, Combine]
    n_rows: int = 0
    total: int = 0

    @classmethod
    def start(cls, vectors: Sequence[Vector]) -> Tally:
        """Return the tally of no rows."""
        return cls({one.name: one.start() for one in vectors}, {one.name: one.combine for one in vectors})

    def writable(self) -> Tally:
        """Return a tally that can be added to: copies of arrays that are views of foreign bytes."""
        return replace(self, vectors={name: np.require(part, requirements="W") for name, part in self.vectors.items()})

    def __add__(self, other: Tally) -> Tally:
        vectors = {name: combine(self.combine[name], part, other.vectors[name]) for name, part in self.vectors.items()}
        return Tally(vectors, self.combine, self.n_rows + other.n_rows, self.total + other.total)

    def __iadd__(self, other: Tally) -> Tally:
        for name, part in self.vectors.items():
            UFUNCS[self.combine[name]](part, other.vectors[name], out=part)
        self.n_rows += other.n_rows
        self.total += other.total
        return self


def combine(how: Combine, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the vector of two sets of rows."""
    result: NDArray[np.int64] = UFUNCS[how](one, other)
    return result


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows that are added to tallies, sorted by group.

    Parameters
    ----------
    columns : mapping from int to arrays
        The encoded columns of all features that the model uses, in order.
    bounds : ndarray of shape (n_groups + 1,), int64
        The rows of group k are those from bounds[k] to bounds[k + 1], at least one.
    weight : ndarray of shape (n_rows,), int64
        Whole numbers; empty for rows without weights.
    held : _core.Columns
        The columns, as kernels take them.
    digests : Digests, optional
        Digests that whoever reads columns first must take of them.
    values : RowValues
        What else is known of the rows, such as their target.
    """

    columns: Columns
    bounds: NDArray[np.int64]
    weight: NDArray[np.int64]
    held: _core.Columns
    digests: Digests | None = None
    values: RowValues = NO_VALUES

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.bounds[-1])

    @property
    def groups(self) -> list[slice]:
        """Where the rows of each group are."""
        return [slice(*ends) for ends in pairwise(self.bounds.tolist())]

    def weights(self, rows: slice) -> NDArray[np.int64]:
        """Return the weights of some rows; 1 for rows without weights."""
        return self.weight[rows] if self.weight.size else np.ones(rows.stop - rows.start, dtype=np.int64)


class Statistic(Protocol):
    """What rows add to some vectors. A file of its own, and a kernel."""

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """The vectors that it adds to."""

    @property
    def max_rows(self) -> int:
        """The number of rows that it adds in a fraction of a second."""

    def add(self, tallies: Sequence[Tally], batch: Batch) -> None:
        """Add rows to the tallies of their groups."""

    def finish(self, tally: Tally) -> None:
        """Turn the numbers so far into those that the statistic is about; once, after the last row."""


class StatisticSpec(Protocol):
    """A statistic that is asked for by name: what is sent to workers."""

    @property
    def key(self) -> str:
        """Everything that its numbers depend on, the model and the data excepted."""

    def statistic(self, plan: CountPlan) -> Statistic:
        """Return the statistic of a model."""
