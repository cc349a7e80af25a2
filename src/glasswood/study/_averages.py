"""What answers are averages over: a table in memory, a source that is read when needed, counts, or covers of training.

Four small classes with the same methods, so that questions ask what they need and not what there happens to be.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._background import Background
from glasswood.counting._column_ends import ColumnEnds, EndsSpec
from glasswood.counting._plan import CountPlan
from glasswood.counting._statistic import StatisticSpec
from glasswood.counting._weights import fixed_point
from glasswood.engines._pass import Pass, RowsPart
from glasswood.errors import BackgroundError, TableError, UnsupportedModelError
from glasswood.models._ensemble import TreeEnsemble
from glasswood.parallel._lazy import cached_property
from glasswood.tables._row_columns import row_weights
from glasswood.tables._row_values import NO_COLUMNS, NO_VALUES, RowColumns, RowValues
from glasswood.tables._sources import InMemory
from glasswood.tables._tables import OpenColumns, Schema, n_rows
from glasswood.text._printable import how_many

__all__ = ["NO_ROWS", "Average", "OverCounts", "OverCovers", "OverSource", "OverTable", "average_over"]

T = TypeVar("T")

MANY_COUNTS = 2**24
NO_ROWS = "the background has no rows, or only rows of weight 0; there is nothing to average over"


class RowAccess(IntEnum):
    """What can be done with rows; each includes those before it."""

    NONE = 0  # there are none: answers are averages over the covers of training
    COUNTED = 1  # they were counted before
    ONCE = 2  # they can be read once, as those of an iterator
    COUNT = 3  # they can be counted any number of times, as those of a frame of a cluster
    READ = 4  # they can be read here any number of times, as files
    MEMORY = 5  # they are a table in memory


class Average(ABC):
    """What answers are averages over. This is the common part, for when there are no rows.

    Attributes
    ----------
    access : RowAccess
        What can be done with the rows.
    no_sums : str
        Why there are no sums of a response over the rows, and what to do; a format of the `response`.
    weight : array of shape (n_rows,), name of a column, or None
        The weights of the rows.
    columns : RowColumns
        What else is known of the rows.
    """

    access = RowAccess.NONE
    no_sums = "this response is computed row by row, so it needs rows; pass them to Explainer as the background"
    weight: object = None
    columns: RowColumns = NO_COLUMNS

    @property
    def basis(self) -> str:
        """What is at hand for questions about the rows themselves, "rows", "counts" or "covers": see `BASES`."""
        return "rows" if self.access >= RowAccess.READ else "counts" if self.has_rows else "covers"

    @property
    def in_memory(self) -> bool:
        """Whether all rows are a table in memory."""
        return self.access is RowAccess.MEMORY

    @property
    def has_rows(self) -> bool:
        """Whether there are rows to average over, or counts of them; path-dependent answers do without."""
        return self.access > RowAccess.NONE

    @property
    def only_counts(self) -> bool:
        """Whether there are counts of rows (or will be), and the rows themselves are not at hand."""
        return self.has_rows and not self.in_memory

    @property
    def once_only(self) -> bool:
        """Whether rows are better counted once, with the largest order that will be needed."""
        return RowAccess.ONCE <= self.access < RowAccess.MEMORY

    @property
    def can_count(self) -> bool:
        """Whether rows can be counted any number of times."""
        return self.access >= RowAccess.COUNT

    @property
    @abstractmethod
    def text(self) -> str:
        """What the answers are averages over, in words."""

    @property
    def n_rows(self) -> int:
        """The number of rows that are known without counting."""
        return 0

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self.weight is not None

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """The weights of the rows of a table in memory; None if there are none."""
        return None

    @property
    def shares(self) -> NDArray[np.float64]:
        """The weights of the rows of a table in memory, which sum to 1."""
        raise BackgroundError(NO_ROWS)

    @property
    def offset(self) -> NDArray[np.float64] | None:
        """The offsets of the rows of a table in memory, (n_rows, n_outputs); None if there are none."""
        return None

    @property
    def row_values(self) -> RowValues:
        """What else is known of the rows of a table in memory."""
        return NO_VALUES

    @property
    def fold(self) -> NDArray[np.intp] | None:
        """The fold of each row of a table in memory; None if there are none."""
        return None

    @property
    def source(self) -> InMemory | None:
        """The table in memory; None if there is none."""
        return None

    @property
    def table(self) -> Any:
        """The table in memory that the trees take; None if there is none."""
        return None

    @property
    def given(self) -> Any:
        """The user's own table in memory, before a pipeline; None if there is none."""
        return None

    @property
    def counted(self) -> Background | None:
        """Counts that are at hand before anything is counted."""
        return None

    @abstractmethod
    def check(self, ensemble: TreeEnsemble, plan: Callable[[int], CountPlan]) -> None:
        """Raise early what would fail later."""

    def seal(self, schema: Schema, features: Iterable[int]) -> None:  # noqa: B027 (others have nothing to note)
        """Note what some columns of a table in memory are like: a change is refused when they are read again."""

    def count(
        self,
        plan: CountPlan,  # noqa: ARG002
        further: Iterable[StatisticSpec] = (),  # noqa: ARG002
        *,
        lists_only: bool | None = None,  # noqa: ARG002
        in_folds: bool = False,  # noqa: ARG002
    ) -> Background | None:
        """Return the counts of a plan and further statistics, after a pass over the rows; None if there are none.

        Counts of order 1 are in folds, if there are any; others only if that is asked for, or if rows cannot be counted
        again.
        """
        return self.counted

    def count_by(self, plan: CountPlan, by: object, further: Sequence[StatisticSpec] = ()) -> Any:  # noqa: ARG002
        """Return the counts of groups of rows, and further statistics, after a pass over the rows."""
        raise BackgroundError(NO_ROWS)

    def some(self, schema: Schema, rows: NDArray[np.intp], *, in_folds: bool = True) -> Average:  # noqa: ARG002
        """Return some rows of a table in memory, in folds as before or without."""
        raise BackgroundError(NO_ROWS)

    def with_labels(self, schema: Schema) -> Schema:
        """Return the schema with the labels of categories that only the rows know."""
        return schema

    def open(self, schema: Schema, features: Iterable[int]) -> OpenColumns:  # noqa: ARG002
        """Return some columns of a table in memory."""
        message = "this needs the rows themselves; pass a table in memory as the background"
        raise BackgroundError(message)

    def parts(self, schema: Schema, features: Iterable[int]) -> Iterator[RowsPart]:
        """Yield some columns of all rows and the weights, part by part in the order of the rows: a table is one part.

        Only if `basis` is "rows", and after they were counted.
        """
        return self.each(schema, features, lambda part: part)

    def each(
        self,
        schema: Schema,
        features: Iterable[int],
        work: Callable[[RowsPart], T],  # noqa: ARG002
    ) -> Iterator[T]:
        """Yield what `work` makes of each of these parts, in their order, by threads where that is possible."""
        self.open(schema, features)  # raises
        return iter(())


class OverTable(Average):
    """A table in memory.

    Parameters
    ----------
    rows : Pass
    weight : array of shape (n_rows,), name of a column, or None
    columns : RowColumns
        What else is known of the rows.
    values : RowValues, optional
        The same, if it was read already.
    """

    access = RowAccess.MEMORY

    def __init__(
        self, rows: Pass, weight: object, columns: RowColumns = NO_COLUMNS, values: RowValues | None = None
    ) -> None:
        self._rows, self.columns = rows, columns
        self._values = rows.values_of(columns, weight) if values is None else values
        self._source: InMemory = rows.table_in_memory
        self.weight = row_weights(self._source.given, weight) if isinstance(weight, str) else weight

    @property
    def text(self) -> str:
        """What the answers are averages over, in words."""
        return how_many(self.n_rows, "row")

    @property
    def source(self) -> InMemory:
        """The table in memory."""
        return self._source

    @property
    def given(self) -> Any:
        """The user's own table, before a pipeline."""
        return self._source.given

    @property
    def table(self) -> Any:
        """The table that the trees take."""
        return self._source.table

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return n_rows(self._source.table)

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """The weights of the rows; None if there are none."""
        return None if self.weight is None else np.asarray(self.weight, dtype=np.float64)

    @property
    def offset(self) -> NDArray[np.float64] | None:
        """The offsets of the rows, (n_rows, n_outputs); None if there are none."""
        return self._values.by_role.get("offset")

    @property
    def row_values(self) -> RowValues:
        """What else is known of the rows."""
        return self._values

    @property
    def fold(self) -> NDArray[np.intp] | None:
        """The fold of each row; None if there are none."""
        return self._values.fold

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The weights of the rows, which sum to 1."""
        weight = np.ones(self.n_rows) if self.weights is None else self.weights
        if weight.sum() <= 0:
            raise BackgroundError(NO_ROWS)
        shares: NDArray[np.float64] = weight / weight.sum()
        return shares

    def check(self, ensemble: TreeEnsemble, plan: Callable[[int], CountPlan]) -> None:  # noqa: ARG002
        """Refuse weights that are none, and keep a copy of the others."""
        if self.weight is not None:
            fixed_point(self.weight, self.n_rows)
            self.weight = np.array(self.weight)

    def count(
        self,
        plan: CountPlan,
        further: Iterable[StatisticSpec] = (),
        *,
        lists_only: bool | None = None,
        in_folds: bool = False,
    ) -> Background:
        """Return the counts of a plan and further statistics.

        Many counts are kept in 32 bits if they fit, which takes half the memory.
        """
        specs = tuple(further)
        folded = in_folds or (plan.order == 1 and not lists_only)
        values = self._values if folded else replace(self._values, fold=None)
        result: Background = self._rows.count(plan, self.weight, lists_only=lists_only, further=specs, values=values)
        if result.counts.size < MANY_COUNTS or result.total > np.iinfo(np.int32).max:
            return result
        return replace(result, vectors={**result.vectors, "counts": result.counts.astype(np.int32)})

    def count_by(self, plan: CountPlan, by: object, further: Sequence[StatisticSpec] = ()) -> Any:
        """Return the counts of groups of rows."""
        return self._rows.count(plan, self.weight, by, further=further)

    def with_labels(self, schema: Schema) -> Schema:
        """Return the schema with the labels of categories that only the rows know."""
        return self._rows.with_labels(schema, None)

    def seal(self, schema: Schema, features: Iterable[int]) -> None:
        """Note what some columns are like: a change is refused when they are read again."""
        self._source.open(schema, features)

    def open(self, schema: Schema, features: Iterable[int]) -> OpenColumns:
        """Return some columns of the table."""
        return self._source.open(schema, features)

    def each(self, schema: Schema, features: Iterable[int], work: Callable[[RowsPart], T]) -> Iterator[T]:
        """Yield what `work` makes of the table."""
        return self._rows.each(schema, features, self.weight, work)

    def some(self, schema: Schema, rows: NDArray[np.intp], *, in_folds: bool = True) -> OverTable:
        """Return some rows of the table, in folds as before or without."""
        weight = None if self.weight is None else np.asarray(self.weight)[rows]
        columns, values = self.columns, self._values.take(rows)
        if not in_folds:
            columns, values = columns.without_folds, replace(values, fold=None)
        return OverTable(Pass(self._source.take(schema, rows)), weight, columns, values)


class OverSource(Average):
    """Rows that are not a table in memory: they are read, or counted by a cluster, when a question needs it.

    Parameters
    ----------
    rows : Pass
    weight : name of a column, or None
    columns : RowColumns
        What else is read of the rows.
    """

    no_sums = (
        'this stream can be read only once; make the Explainer with response="{response}", so that the sums of the '
        "response are found in the same pass"
    )

    def __init__(self, rows: Pass, weight: object, columns: RowColumns = NO_COLUMNS) -> None:
        self._rows, self.weight, self.columns = rows, weight, columns
        can_count = RowAccess.COUNT if rows.can_count_again else RowAccess.ONCE
        self.access = RowAccess.READ if rows.can_read_again else can_count
        self._n_rows: int | None = None

    @property
    def text(self) -> str:
        """What the answers are averages over, in words."""
        return "rows that are read when needed"

    def check(self, ensemble: TreeEnsemble, plan: Callable[[int], CountPlan]) -> None:
        """Find nothing wrong: the source was looked at when it was opened."""

    def count(
        self,
        plan: CountPlan,
        further: Iterable[StatisticSpec] = (),
        *,
        lists_only: bool | None = None,  # noqa: ARG002
        in_folds: bool = False,
    ) -> Background:
        """Return the counts of a plan, the ends of columns, and further statistics."""
        folded = in_folds or plan.order == 1 or not self.can_count
        columns = self.columns if folded else self.columns.without_folds
        result: Background = self._rows.count(plan, self.weight, further=(EndsSpec(), *further), values=columns)
        self._n_rows = result.n_rows
        return result

    def count_by(self, plan: CountPlan, by: object, further: Sequence[StatisticSpec] = ()) -> Any:
        """Return the counts of groups of rows."""
        return self._rows.count(plan, self.weight, by, further=(EndsSpec(), *further))

    def with_labels(self, schema: Schema) -> Schema:
        """Return the schema with the labels of categories that only the rows know."""
        return self._rows.with_labels(schema, self.weight)

    def each(self, schema: Schema, features: Iterable[int], work: Callable[[RowsPart], T]) -> Iterator[T]:
        """Yield what `work` makes of each part, read once more. A source that has changed is refused at its end."""
        n_read = 0

        def with_size(part: RowsPart) -> tuple[int, T]:
            return part.columns.n_rows, work(part)

        for size, result in self._rows.each(schema, features, self.weight, with_size):
            n_read += size
            yield result
        self._refuse_change(n_read)

    def _refuse_change(self, n_read: int) -> None:
        """Refuse a source that has changed since it was counted."""
        if self._n_rows is not None and self._n_rows != n_read:
            message = (
                f"the source has {how_many(n_read, 'row')} now, but had {self._n_rows:,} when it was counted; it "
                "must not change while an Explainer uses it. Make a new Explainer"
            )
            raise TableError(message)

    def parts(self, schema: Schema, features: Iterable[int]) -> Iterator[RowsPart]:
        """Yield some columns of all rows and the weights, part by part: one at a time is held."""
        n_read = 0
        for part in self._rows.parts(schema, features, self.weight):
            n_read += part.columns.n_rows
            yield part
        self._refuse_change(n_read)


class OverCounts(Average):
    """Counts of rows, made by `summarize`.

    Parameters
    ----------
    background : Background
    weight : object
        None: weights were counted with.
    """

    access = RowAccess.COUNTED
    no_sums = (
        "the Background has no sums of this response of this model; make it with "
        'summarize(model, rows, response="{response}")'
    )

    def __init__(self, background: Background, weight: object) -> None:
        self._background, self._asked = background, weight

    @property
    def text(self) -> str:
        """What the answers are averages over, in words."""
        return f"counts of {how_many(self.n_rows, 'row')}, order {self._background.order}"

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self._background.n_rows

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self._background.total != self._background.n_rows

    @property
    def counted(self) -> Background:
        """The counts."""
        return self._background

    def check(self, ensemble: TreeEnsemble, plan: Callable[[int], CountPlan]) -> None:
        """Refuse counts of another model."""
        _refuse_weight(self._asked)
        counts, own = self._background, plan(self._background.order)
        fits = counts.fingerprint == own.fingerprint and counts.counts.size == own.n_counts
        sizes = {"cells": own.cells.n_cells.sum(), **{vector.name: vector.size for vector in ColumnEnds(own).vectors}}
        if not fits or any(counts.vectors[name].size != sizes[name] for name in sizes.keys() & counts.vectors.keys()):
            message = "the background is for a different model or different groups; run summarize with this model"
            if ensemble.schema.before:
                message += ". Counts of a pipeline also depend on the types of the columns: if these are of several "
                message += "precisions, or dates or texts, pass the rows themselves"
            raise BackgroundError(message)
        _refuse_negative(counts)


class OverCovers(Average):
    """The covers that the model keeps from training: answers are path-dependent.

    Parameters
    ----------
    weight : object
        None: there are no rows that have weights.
    """

    def __init__(self, weight: object) -> None:
        self._asked = weight

    @property
    def text(self) -> str:
        """What the answers are averages over, in words."""
        return "the covers of training (path-dependent)"

    def check(self, ensemble: TreeEnsemble, plan: Callable[[int], CountPlan]) -> None:  # noqa: ARG002
        """Refuse a model that keeps none."""
        _refuse_weight(self._asked)
        if ensemble.cover is None:
            message = (
                f"the model read from {ensemble.source} has no covers, so there are no path-dependent "
                "answers; pass the rows to average over as the second argument"
            )
            raise UnsupportedModelError(message)


def _refuse_negative(counts: Background) -> None:
    """Refuse a difference of rows and others that are no part of them, if a count proves it."""
    least = min((int(counts.vector(name).min(initial=0)) for name in ("cells", "counts")), default=0)
    rounded = 0 if counts.unit == 1 else -8  # units: what rounding may leave when units are made equal
    if min(least, counts.total) < rounded:
        message = (
            f"the background has a negative number of rows ({min(least, counts.total) * counts.unit:g}) in some cell "
            "of a feature or leaf: the rows that were subtracted are no part of those that they were subtracted from. "
            "Subtract rows that were counted there, or add what is missing first"
        )
        raise BackgroundError(message)


def _refuse_weight(weight: object) -> None:
    if weight is not None:
        message = "sample_weight belongs to a table of rows; a Background was summarized with its own weights"
        raise TableError(message)


def average_over(
    background: Background | None, rows: Pass | None, weight: object, values: RowColumns = NO_COLUMNS
) -> Average:
    """Return what answers are averages over, given counts, or rows, or none of both."""
    if values and rows is None:
        message = (
            "target= and other values of rows belong to rows; pass these as the background, or make a Background that "
            "has what was observed: summarize(model, rows, target=...)"
        )
        raise TableError(message)
    if background is not None:
        return OverCounts(background, weight)
    if rows is None:
        return OverCovers(weight)
    return OverTable(rows, weight, values) if rows.in_memory else OverSource(rows, weight, values)
