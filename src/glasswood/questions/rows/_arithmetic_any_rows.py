"""Questions about rows that are not known yet: values of sets of features, and responses at other values.

They can be pickled, so that any worker can answer them for the rows that it has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.effects._responses import AnyQuestions, Asked, Responses
from glasswood.effects._row_cells import CellBlock, CellsOfColumns
from glasswood.effects._set_values import largest
from glasswood.kernels import _core
from glasswood.kernels._arrays import aligned
from glasswood.models._ensemble import Link
from glasswood.models._outputs import OutputSelection
from glasswood.parallel._lazy import cached_property, cached_unpickled
from glasswood.tables._tables import OpenColumns

__all__ = ["LargestSets", "ResponsesOfRows", "RowEvaluator", "SetsOfRows", "arrange"]


MAX_VALUES = 2**21  # of a block of rows: 16 megabytes

MAX_ROWS = 8192  # of a block


class RowEvaluator(Protocol):
    """The values of sets for any rows, see `_arithmetic` and `glasswood.effects._interactions`."""

    @property
    def cache_key(self) -> tuple[Any, ...]:
        """What the values of rows depend on."""

    def of_rows(self, rows: CellBlock) -> Any:
        """Return the values of rows."""


def arrange(
    values: NDArray[np.float64], sets: Sequence[tuple[int, ...]], shape: tuple[int, ...]
) -> NDArray[np.float64]:
    """Return the values by feature; those of pairs as matrices, arranged as in the shap package.

    `values` is (n_rows, n_sets, n_outputs); `shape` has an additional axis if there are pairs.
    """
    single = [number for number, members in enumerate(sets) if len(members) == 1]
    players = [sets[number][0] for number in single]
    if len(shape) == 3:
        heights = np.zeros((shape[1], shape[2], shape[0])).transpose(2, 0, 1)
        heights[:, players] = values[:, single]
        return heights
    matrix = np.zeros((*shape[1:], shape[0])).transpose(3, 0, 1, 2)
    matrix[:, players, players] = values[:, single]
    for number, members in enumerate(sets):
        if len(members) == 2:
            a, b = members
            half = values[:, number] / 2
            matrix[:, a, b] = matrix[:, b, a] = half
            matrix[:, a, a] -= half
            matrix[:, b, b] -= half
    return matrix


@dataclass(frozen=True, eq=False)
class SetsOfRows:
    """The values of sets of players, one column per set and output.

    Parameters
    ----------
    values : OfAnyRows
    plan : CountPlan
    labels : tuple of str
        The name of each column of values.
    n_outputs : int
    arranged : tuple of int
        The number of players on each further axis, if the values are arranged by player, see `arrange`; otherwise
        empty.
    negated : bool
        Whether the values are those of the other class of a binary model of one score.
    """

    values: RowEvaluator
    plan: CountPlan
    labels: tuple[str, ...]
    n_outputs: int
    arranged: tuple[int, ...] = ()
    negated: bool = False

    @cached_property
    def cache_key(self) -> tuple[Any, ...]:
        """What the answers depend on."""
        return self.plan.fingerprint, self.labels, self.arranged, self.negated, *self.values.cache_key

    @cached_unpickled
    def _cells(self) -> CellsOfColumns:
        return CellsOfColumns(self.plan)

    @property
    def max_rows(self) -> int:
        """The number of rows of a block."""
        return max(1, min(MAX_ROWS, MAX_VALUES // max(1, len(self.labels))))

    def numbers(self, columns: OpenColumns, first: int, last: int) -> NDArray[np.float64]:
        """Return the values of some rows, (n_columns, n_rows)."""
        source = self.values.of_rows(_cells_of(self._cells, columns, first, last))
        n_rows = last - first
        out = np.empty((len(source.sets) * self.n_outputs, n_rows))
        source.write((0, n_rows), out, 0)
        if self.negated:
            np.subtract(0.0, out, out=out)
        if not self.arranged:
            return out
        by_set = out.reshape(len(source.sets), self.n_outputs, n_rows).transpose(2, 0, 1)
        result = arrange(by_set, source.sets, (n_rows, *self.arranged, self.n_outputs))
        return np.ascontiguousarray(result.reshape(n_rows, -1).T)

    def answer(self, columns: OpenColumns, first: int, last: int) -> dict[str, Any]:
        """Return columns of values of some rows."""
        return dict(zip(self.labels, self.numbers(columns, first, last), strict=True))

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column."""
        return dict.fromkeys(self.labels, "number")


@dataclass(frozen=True, eq=False)
class LargestSets:
    """The sets of each row whose values are largest in size, as lists of their names and of their values.

    Parameters
    ----------
    sets : SetsOfRows
        Of one output.
    k : int
        How many are wanted.
    skipped : int
        How many of the first columns do not take part.
    """

    sets: SetsOfRows
    k: int
    skipped: int

    @cached_property
    def cache_key(self) -> tuple[Any, ...]:
        """What the answers depend on."""
        return "largest", self.k, self.skipped, *self.sets.cache_key

    @property
    def max_rows(self) -> int:
        """The number of rows of a block."""
        return self.sets.max_rows

    def answer(self, columns: OpenColumns, first: int, last: int) -> dict[str, Any]:
        """Return the lists of some rows; names as numbers of labels."""
        result, values = largest(self.sets.numbers(columns, first, last).T, self.k, self.skipped)
        return {"features": (result, self.sets.labels), "values": values}

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column."""
        return {"features": "texts", "values": "numbers"}


@dataclass(frozen=True, eq=False)
class ResponsesOfRows:
    """The responses of rows with some features in given cells, one list per output.

    Parameters
    ----------
    plan : CountPlan
    link, inverse
        As of `Responses`.
    asked : Asked
    chosen : Chosen
        The outputs that are wanted.
    labels : tuple of str
        The name of each column.
    scale : str
        The name of the scale.
    """

    plan: CountPlan
    link: Link
    inverse: Callable[[Any], Any] | None
    asked: Asked
    chosen: OutputSelection
    labels: tuple[str, ...]
    scale: str = field(default="raw")

    @cached_property
    def cache_key(self) -> tuple[Any, ...]:
        """What the answers depend on."""
        player, features, cells = self.asked
        asked = (player, features.tobytes(), cells.tobytes())
        return "responses", self.plan.fingerprint, self.scale, self.labels, asked

    @cached_unpickled
    def _cells(self) -> CellsOfColumns:
        return CellsOfColumns(self.plan)

    @cached_unpickled
    def _asking(self) -> tuple[Responses, AnyQuestions]:
        responses = Responses(self.plan, self.link, self.inverse)
        return responses, responses.questions([self.asked])

    @property
    def max_rows(self) -> int:
        """The number of rows of a block."""
        n_points = int(self.asked[2].shape[1])
        return max(1, min(MAX_ROWS, MAX_VALUES // max(1, n_points * len(self.labels))))

    def answer(self, columns: OpenColumns, first: int, last: int) -> dict[str, Any]:
        """Return the responses of some rows, (n_rows, n_points) for each output."""
        responses, questions = self._asking
        rows = _cells_of(self._cells, columns, first, last)
        heights = self.chosen.levels(responses.write(rows, (0, last - first), questions).transpose(2, 0, 1))
        return {label: heights[:, :, place] for place, label in enumerate(self.labels)}

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column."""
        return dict.fromkeys(self.labels, "numbers")


def _cells_of(cells: CellsOfColumns, columns: OpenColumns, first: int, last: int) -> CellBlock:
    encoded: Sequence[NDArray[Any]] = list(columns.encode(first, last).values())
    return CellBlock(cells.of(_core.Columns([aligned(column) for column in encoded], last - first), last - first))
