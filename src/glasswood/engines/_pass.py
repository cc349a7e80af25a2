"""Pass: rows from any source, counted by any engine, with a proof that each row was counted once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from os import PathLike
from time import monotonic
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._background import Background, background_of
from glasswood.counting._folds import background_of_folds
from glasswood.counting._job import Job, partition_digest
from glasswood.counting._partial import WHOLE, Partial, ledger_of
from glasswood.counting._plan import CountPlan
from glasswood.counting._reading import Reading
from glasswood.counting._statistic import StatisticSpec, Tally
from glasswood.counting._weights import fixed_point
from glasswood.engines._checkpoint import Checkpoint
from glasswood.engines._engine import engine_of, load_engine
from glasswood.engines._local import count_files, count_stream, count_table
from glasswood.errors import ArgumentError, BackgroundError, TableError
from glasswood.models._opened import Opened
from glasswood.models._user_columns import UserColumns
from glasswood.parallel._threads import in_order
from glasswood.tables._columns import Dictionary
from glasswood.tables._parquet import Fragment, located, read_fragment
from glasswood.tables._places import is_address
from glasswood.tables._row_columns import row_weights, sorted_groups, without_columns
from glasswood.tables._row_values import NO_COLUMNS, NO_VALUES, RowColumns, RowValues
from glasswood.tables._seal import Seal
from glasswood.tables._sources import EngineFrame, Files, InMemory, Source, Stream
from glasswood.tables._tables import OpenColumns, Schema, column_names, n_rows
from glasswood.text._printable import how_many

__all__ = ["Pass", "RowsPart", "bundles", "finish", "verify"]

T = TypeVar("T")


class _WithRows(Protocol):
    """Something with rows, whose number may be known."""

    @property
    def n_rows(self) -> int | None: ...


P = TypeVar("P", bound=_WithRows)

log = logging.getLogger(__name__)

ROWS_PER_TASK = 2**21
WAVE = 2**27  # rows, about, between two saves of a checkpoint


class RowsPart(NamedTuple):
    """A part of the rows: some of their columns, and their weights, if any."""

    columns: OpenColumns
    weight: NDArray[np.float64] | None


@dataclass(frozen=True)
class _RowsReading:
    """Which columns of a source's tables are read, and the column of weights, if there is one."""

    reading: Reading
    weight: object

    @property
    def columns(self) -> list[Any]:
        """The names of all columns that are read."""
        further = [] if self.weight is None else [self.weight]
        return list(dict.fromkeys([*self.reading.columns, *further]))

    def open(self, tables: Iterable[Any]) -> Iterator[RowsPart]:
        """Yield the columns and the weights of tables."""
        for table in tables:
            weight = None if self.weight is None else row_weights(table, self.weight).astype(np.float64)
            yield RowsPart(self.reading.open(table), weight)


class Pass:
    """A pass over the rows of a source, and further ones if it can be read again.

    Parameters
    ----------
    source : Source
    engine, checkpoint
        As for `summarize`.
    """

    def __init__(
        self, source: Source, *, engine: object = "auto", checkpoint: str | PathLike[str] | None = None
    ) -> None:
        self.source = source
        self._before: UserColumns | None = None
        self._further: tuple[Any, ...] = ()  # columns that are not the model's
        self.engine, self.session = engine_of(engine)
        self.names: list[Any] | None
        self._folder = checkpoint
        if isinstance(source, EngineFrame):
            self.engine = self._engine_of_frame(source)
            self.names, self.head = load_engine(self.engine).names_and_head(source.frame, self.session)
        else:
            self.names, self.head = source.names, source.head
        self._refuse_what_needs_files()

    def _engine_of_frame(self, source: EngineFrame) -> str:
        """Return the engine of a frame, the only one that can count it."""
        if self.engine not in ("auto", source.engine):
            message = f"a {source.engine} frame must be counted by {source.engine}, not by {self.engine}"
            raise TableError(message)
        return source.engine

    def _refuse_what_needs_files(self) -> None:
        """Refuse checkpoints of, and engines for, what cannot be read in parts and read again."""
        if self._folder is not None and is_address(self._folder):
            message = f"checkpoint= is a folder of this machine, not {str(self._folder)!r}"
            raise ArgumentError(message)
        if isinstance(self.source, InMemory):
            if self._folder is not None or self.engine not in ("auto", "threads"):
                message = (
                    "engine= and checkpoint= are for Parquet files; a table in memory is counted by threads, at once"
                )
                raise TableError(message)
            return
        asked = self._folder is not None or (self.is_stream and self.engine != "auto")
        if asked and not isinstance(self.source, Files):
            message = (
                "checkpoint= and engine= are for Parquet files, whose parts can be identified and read again; this "
                f"source is a {'stream' if self.is_stream else 'frame of ' + self.engine}"
            )
            raise TableError(message)

    @property
    def is_stream(self) -> bool:
        """Whether the source is a stream of tables."""
        return isinstance(self.source, Stream)

    @property
    def here(self) -> bool:
        """Whether the threads of this process read the rows."""
        return self.engine in ("auto", "threads")

    @property
    def n_rows(self) -> int | None:
        """The number of rows, if it is known before they are read."""
        if isinstance(self.source, InMemory):
            return n_rows(self.source.given)
        sizes = [fragment.n_rows for fragment in self.source.fragments] if isinstance(self.source, Files) else [None]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def reading(
        self, schema: Schema, features: Iterable[int], before: UserColumns | None, further: Sequence[Any]
    ) -> Reading:
        """Return how tables become columns of a model, after a look at the first rows. Some columns are not its own."""
        following = copy(self)
        following._before = before
        features = [int(feature) for feature in features]
        reading = Reading(schema, features, following._names_of(schema, features, further), before)
        if self.head is not None:
            reading.open(self.head)  # raises errors that would otherwise occur on a worker
        return reading

    @property
    def in_memory(self) -> bool:
        """Whether all rows are a table in memory."""
        return isinstance(self.source, InMemory)

    @property
    def table_in_memory(self) -> InMemory:
        """The source, if it is a table in memory."""
        if not isinstance(self.source, InMemory):
            message = "the rows are not a table in memory"
            raise TableError(message)
        return self.source

    def taken_by(self, opened: Opened, further: Sequence[Any], seal: Seal | None = None) -> Pass:
        """Return a pass over the rows as the trees of a model take them: transformed, and without further columns.

        With a seal, a table in memory may be read again as long as it does not change.
        """
        if not isinstance(self.source, InMemory):
            result = copy(self)
            result._before, result._further = opened.columns, tuple(further)
            return result
        table = opened.table
        if opened.columns is None and not opened.ensemble.schema.named:
            table = without_columns(table, further)
        return Pass(replace(self.source, table=table, seal=seal))

    def count(
        self,
        plan: CountPlan,
        sample_weight: object = None,
        by: object = None,
        *,
        lists_only: bool | None = None,
        further: Sequence[StatisticSpec] = (),
        values: RowColumns | RowValues = NO_COLUMNS,
    ) -> Any:
        """Return the counts of a plan, and further statistics: a Background, or one per group.

        Tables in memory may be counted with lists only, see `glasswood.counting._counter`. Their values may be known.
        """
        if isinstance(self.source, InMemory):
            known = self.values_of(values, sample_weight)
            return count_table(
                plan, self.source, sample_weight, by, lists_only=lists_only, further=further, values=known
            )
        plan.refuse_uncountable(plan.order)
        job = self._job(plan, sample_weight, by, further, values)
        self._log_plan(job)
        began = monotonic()
        if isinstance(self.source, Files):
            partial = self._count_files(job, self.source)
            expected = [fragment.digest for fragment in self.source.fragments]
        elif isinstance(self.source, Stream):
            partial = count_stream(job, self.source, None)
            expected = []
        else:
            packed, n_parts = load_engine(self.engine).run_frame(job.ship(self._dumps), self.source.frame, self.session)
            partial = Partial.unpack(packed)[0]
            expected = [partition_digest(str(number)) for number in range(n_parts)]
        result = finish(job, partial, expected)
        counted, parts = how_many(sum(partial.rows.values()), "row"), how_many(partial.n_fragments, "part")
        log.info("counted %s in %.1f s; the ledger shows each of %s once", counted, monotonic() - began, parts)
        return result

    def resumes(
        self,
        plan: CountPlan,
        sample_weight: object,
        by: object,
        *,
        further: Sequence[StatisticSpec],
        values: RowColumns,
    ) -> bool:
        """Return whether the folder of checkpoints has one of this pass."""
        if self._folder is None:
            return False
        return Checkpoint.path_of(self._folder, self._job(plan, sample_weight, by, further, values)).exists()

    def _log_plan(self, job: Job) -> None:
        """Log what is about to be counted."""
        if not log.isEnabledFor(logging.INFO):
            return
        what = "a stream" if self.is_stream else f"a frame of {self.engine}"
        if isinstance(self.source, Files):
            rows = "an unknown number of rows" if self.n_rows is None else how_many(self.n_rows, "row")
            what = f"{how_many(len(self.source.fragments), 'part')} of Parquet files with {rows}"
        size = sum(vector.size for vector in job.counter.vectors)
        engine = "threads of this process" if self.here else self.engine
        columns, statistics = how_many(len(job.columns), "column"), ", ".join(v.name for v in job.counter.vectors)
        log.info("counting %s by %s: %s, order %d, job %s", what, engine, columns, job.order, job.key)
        log.info("statistics: %s; %s numbers (%.1f MB) for each group of rows", statistics, f"{size:,}", 8e-6 * size)
        log.debug("columns: %s; groups by %s; weights %r", job.columns, job.by, job.weight)

    def _count_files(self, job: Job, source: Files) -> Partial:
        if job.values.by_position:
            if self._folder is not None:
                message = "folds by position change if files are added to a checkpoint; name a column in fold_by="
                raise TableError(message)
            source = replace(source, fragments=located(source.fragments))
        checkpoint = None if self._folder is None else Checkpoint(self._folder, job)
        fragments = source.fragments if checkpoint is None else checkpoint.remaining(source.fragments)
        if checkpoint is not None:
            done, all_parts = len(source.fragments) - len(fragments), len(source.fragments)
            log.info("%d of %d parts are in the checkpoint %s", done, all_parts, checkpoint.path)
        if self.here:
            return count_files(job, fragments, checkpoint, None)
        engine, shipped = load_engine(self.engine), job.ship(self._dumps)  # once: workers know it by its digest
        log.debug("the job takes %.2f MB, digest %s", 1e-6 * len(shipped.packed), shipped.key)
        if checkpoint is None:
            return Partial.unpack(engine.run_files(shipped, bundles(fragments), self.session))[0]
        all_waves = waves(fragments)
        for number, wave in enumerate(all_waves, 1):
            log.info("wave %d of %d: %s", number, len(all_waves), how_many(len(wave), "part"))
            partial = Partial.unpack(engine.run_files(shipped, bundles(wave), self.session))[0]
            verify(partial, [fragment.digest for fragment in wave])
            checkpoint.add(partial, [fragment.digest for fragment in wave])
        return checkpoint.partial

    def values_of(self, values: RowColumns | RowValues, sample_weight: object) -> RowValues:
        """Return the values of the rows of a table in memory."""
        if isinstance(values, RowValues) or not values:
            return values if isinstance(values, RowValues) else NO_VALUES
        table = self.table_in_memory.given
        fold = values.folds_of(table, n_rows(table)) if values.folds else None
        if isinstance(sample_weight, str):
            weight: NDArray[Any] | None = row_weights(table, sample_weight)
        else:
            weight = fixed_point(sample_weight, n_rows(table))[0]
        result = values.read(table, n_rows(table), weight)
        return result if fold is None else replace(result, fold=fold, division=values.division)

    def _job(
        self,
        plan: CountPlan,
        sample_weight: object,
        by: object,
        further: Sequence[StatisticSpec] = (),
        values: RowColumns | RowValues = NO_COLUMNS,
    ) -> Job:
        """Return the job: the columns to read, and what to count."""
        schema = plan.ensemble.schema
        groups = () if by is None else tuple(by) if isinstance(by, Iterable) and not isinstance(by, str) else (by,)
        columns = values if isinstance(values, RowColumns) else NO_COLUMNS
        columns.refuse_absent(self.names)
        if columns.by_position and not isinstance(self.source, Files):
            message = (
                "the rows of streams and of frames on a cluster have no fixed numbers, so folds= needs a column to "
                "make folds by: fold_by="
            )
            raise TableError(message)
        others = [*groups, *([] if sample_weight is None else [sample_weight]), *columns.names]
        names = self._names_of(schema, plan.ensemble.used_features, others)
        if sample_weight is not None and self.head is not None:
            row_weights(self.head, sample_weight)  # raises errors that would otherwise occur on a worker
        what = (plan.ensemble, plan.order, plan.groups, names)
        return Job(*what, groups, sample_weight, tuple(further), self._before, columns)

    def _dumps(self, parts: object) -> bytes:
        """Return a job as the engine pickles it, which can send functions of a notebook."""
        return load_engine(self.engine).dumps(parts)

    def _names_of(self, schema: Schema, features: Iterable[int], further: Sequence[Any]) -> dict[int, Any] | None:
        """Return the source's names of some columns of the model; None if it has none. Some are not the model's.

        If transformers make columns of it, the names of all columns that they take.
        """
        if self._before is not None:
            schema, features = self._before.schema, range(self._before.n_columns)
        for name in further:
            if self.names is None or not isinstance(name, str) or name not in self.names:
                message = f"by= and sample_weight= name columns of a source; it has no column {name!r}"
                raise TableError(message)
        if self.names is None:
            return None
        not_its = {*further, *self._further}
        own = self.names if schema.named else [name for name in self.names if name not in not_its]
        result = column_names(own, schema)
        return {int(index): result[index] for index in features}

    # ----------------------------------------------------------------------------------------- the rows, once more

    @property
    def can_read_again(self) -> bool:
        """Whether the rows themselves can be read here repeatedly, as with files and lists of tables.

        Iterators can be read only once, and the rows of an engine's frame stay on the cluster.
        """
        return isinstance(self.source, InMemory | Files) or (isinstance(self.source, Stream) and self.source.again)

    @property
    def can_count_again(self) -> bool:
        """Whether the rows can be counted repeatedly: all but iterators, whose rows are gone."""
        return not isinstance(self.source, Stream) or self.source.again

    def parts(self, schema: Schema, features: Iterable[int], sample_weight: object) -> Iterator[RowsPart]:
        """Yield some columns of all rows, part by part in their order, and the weights: a table is one part."""
        if isinstance(self.source, InMemory):
            weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
            yield RowsPart(self.source.open(schema, features), weight)
            return
        reading = self._reading(schema, features, sample_weight)
        if isinstance(self.source, Files):
            for fragment in self.source.fragments:
                yield from reading.open(read_fragment(fragment, reading.columns))
        elif isinstance(self.source, Stream):
            yield from reading.open(self.source.tables(reading.columns))

    def each(
        self, schema: Schema, features: Iterable[int], sample_weight: object, work: Callable[[RowsPart], T]
    ) -> Iterator[T]:
        """Yield the result of `work` for each part of the rows, in order. Files are read by several threads."""
        if not isinstance(self.source, Files):
            yield from map(work, self.parts(schema, features, sample_weight))
            return
        reading, fragments = self._reading(schema, features, sample_weight), self.source.fragments

        def of_fragment(number: int) -> list[T]:
            return [work(part) for part in reading.open(read_fragment(fragments[number], reading.columns))]

        with in_order(len(fragments), of_fragment, "reading") as parts_of_fragments:
            for several in parts_of_fragments:
                yield from several

    def _reading(self, schema: Schema, features: Iterable[int], sample_weight: object) -> _RowsReading:
        features = [int(feature) for feature in features]
        further = [] if sample_weight is None else [sample_weight]
        names = self._names_of(schema, features, further)
        return _RowsReading(Reading(schema, features, names, self._before), sample_weight)

    def with_labels(self, schema: Schema, sample_weight: object) -> Schema:
        """Return the schema with labels of categories that are only in the rows, if these can be read again."""
        wanting = [index for index, column in enumerate(schema.columns) if column.wants_labels]
        if not wanting or not self.can_read_again:
            return schema
        columns = list(schema.columns)

        def labels_of(part: RowsPart) -> dict[int, Sequence[Hashable]]:
            values = part.columns.values
            return {index: schema.columns[index].labelled(values[index]).own_labels for index in wanting}

        for labels in self.each(schema, wanting, sample_weight, labels_of):
            for index in wanting:
                columns[index] = columns[index].labelled(Dictionary(labels[index], np.empty(0, dtype=np.intp)))
        return replace(schema, columns=tuple(columns))


def bundles(parts: Sequence[P], max_: int | None = None) -> list[list[P]]:
    """Return parts of files in bundles of moderate numbers of rows: a task costs an engine up to 50 milliseconds.

    Few rows make smaller bundles, so that no worker is idle.
    """
    if max_ is None:
        total = sum(part.n_rows or ROWS_PER_TASK for part in parts)
        max_ = min(ROWS_PER_TASK, max(ROWS_PER_TASK // 8, total // 64))
    result: list[list[P]] = []
    room = 0
    for part in parts:
        size = max_ if part.n_rows is None else part.n_rows
        if not result or size > room:
            result.append([])
            room = max_
        result[-1].append(part)
        room -= size
    return result


def waves(fragments: Sequence[Fragment]) -> list[list[Fragment]]:
    """Return fragments in larger bundles, after each of which a checkpoint is saved."""
    return bundles(fragments, WAVE)


def verify(partial: Partial, expected: Sequence[bytes]) -> None:
    """Raise an error unless each fragment was counted exactly once."""
    if (partial.n_fragments, partial.ledger) != (len(expected), ledger_of(expected)):
        message = (
            f"expected {len(expected)} parts of the data to be counted exactly once each, but the ledger shows "
            f"{partial.n_fragments} (some lost or repeated). Nothing was saved. Please report this with the versions "
            "of Glasswood and of the engine."
        )
        raise BackgroundError(message)


def finish(job: Job, partial: Partial, expected: Sequence[bytes]) -> Any:
    """Return the background of a partial, or one per group, after proving that it has every row exactly once."""
    verify(partial, expected)
    rows: dict[Any, int] = {} if job.by else {WHOLE: 0}
    for key, n_more in partial.rows.items():
        rows[job.group_of(key)] = rows.get(job.group_of(key), 0) + n_more
    planes: dict[Any, dict[int, dict[int, Tally]]] = {key: {} for key in rows}
    for (key, plane), tally in partial.tallies.items():
        _check_sums(job.plan, key, tally)
        fold = key[-1] if job.values.folds else 0
        planes[job.group_of(key)].setdefault(fold, {})[plane] = tally.writable()
    result = {key: _background(job, parts, rows[key]) for key, parts in planes.items()}
    return sorted_groups(result) if job.by else result[WHOLE]


def _background(job: Job, folds: Mapping[int, dict[int, Tally]], n_rows: int) -> Background:
    """Return the background of a group of rows, given its sums by fold (all in one if there are none) and by plane."""
    division = job.values.division
    if division is not None:
        return background_of_folds(job.counter, folds, division, n_rows, weight=job.weight)
    return background_of(job.counter, folds.get(0, {}), n_rows, weight=job.weight)


def _check_sums(plan: CountPlan, key: object, tally: Tally) -> None:
    """Raise an error unless each row is in one leaf of each tree, or in one cell of each feature."""
    if plan.ensemble.derived is None:
        first_leaf = np.searchsorted(plan.leaf_tree, np.arange(plan.ensemble.n_trees))
        rows = np.add.reduceat(tally.vectors["counts"][plan.leaf_offset[:-1]], first_leaf)  # with nothing fixed
    else:  # leaves are not counted
        rows = np.add.reduceat(tally.vectors["cells"], plan.cells.offset[:-1])[plan.ensemble.used_features]
    if (rows != tally.total).any():
        message = f"the counts of a tree or feature do not sum to the number of rows (group {key!r}); nothing is saved"
        raise BackgroundError(message)
