"""Spark, with the DataFrame API only, so that it also runs on Spark Connect and serverless clusters.

Every partition becomes one partial, in slices if it is large; the slices are brought together and added up by tasks,
and the driver only receives the sum.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import pyarrow as pa
from pyspark import cloudpickle, inheritable_thread_target
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from glasswood.counting._row_job import ShippedRows
from glasswood.engines._engine import ShippedWork
from glasswood.engines._reduction import FAN_IN, own_errors
from glasswood.errors import TableError
from glasswood.parallel._threads import run_interruptible
from glasswood.tables._sources import HEAD

if TYPE_CHECKING:
    from pyspark.sql.types import StructField

__all__ = ["dumps", "map_frame", "names_and_head", "run_files", "run_frame"]

SCHEMA = "slice int, partial binary, parts int"

log = logging.getLogger(__name__)

T = TypeVar("T")

Batches = Iterator[pa.RecordBatch]


def dumps(parts: object) -> bytes:
    """Return objects as bytes that workers unpickle, functions of a notebook included."""
    packed: bytes = cloudpickle.dumps(parts, protocol=5)
    return packed


def names_and_head(frame: DataFrame, _: object) -> tuple[list[Any], Any]:
    """Return the names of a frame's columns, and its first rows. Columns that Arrow cannot represent are null there."""
    if frame.isStreaming:
        message = (
            "a streaming DataFrame has no end, so its rows cannot be counted. Count each batch in foreachBatch and add "
            "the Backgrounds, or read what has been written so far with spark.read"
        )
        raise TableError(message)
    names = list(frame.columns)
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        message = f"several columns of the frame are called {doubled[0]!r}; drop or rename all but one"
        raise TableError(message)
    held = [place for place, field in enumerate(frame.schema.fields) if _is_held(field)]
    head = _numbered(frame, held).limit(HEAD)
    if not hasattr(head, "toArrow"):
        return names, head.toPandas().set_axis([names[place] for place in held], axis=1)
    table = head.toArrow()
    columns = dict(zip(held, table.columns, strict=True))
    nothing = pa.nulls(table.num_rows)
    return names, pa.table([columns.get(place, nothing) for place in range(len(names))], names=names)


def _is_held(field: StructField) -> bool:
    """Return whether Arrow can represent a column: all but intervals of months, which no model splits on."""
    return re.search(r"interval(?! (day|hour|minute|second))", field.dataType.simpleString()) is None


def _numbered(frame: DataFrame, places: Sequence[int]) -> DataFrame:
    """Return columns of a frame under plain names, because Spark interprets dots, stars and backticks in names."""
    plain = frame.toDF(*(f"c{place}" for place in range(len(frame.columns))))
    return plain.select(*(f"c{place}" for place in places)) if places else plain.selectExpr("0 AS none")


def run_frame(shipped: ShippedWork, frame: DataFrame, _: object) -> tuple[bytes, int]:
    """Return the result of a Spark DataFrame, and the number of partitions that reported; Connect knows no more."""
    chosen, named = _selected_columns(shipped, frame)
    n_slices = shipped.n_slices

    def work(batches: Batches) -> Batches:
        from pyspark import TaskContext

        number = TaskContext.get().partitionId()
        tables = (pa.Table.from_batches([batch]).rename_columns(named) for batch in batches)
        yield from _rows_of(shipped.cut(_result_of_tables(shipped, tables, str(number)), n_slices))

    what = f"glasswood: {len(named)} columns of a frame"
    return _sum(shipped, chosen.mapInArrow(work, SCHEMA), what)


def run_files(shipped: ShippedWork, bundles: Sequence[Any], session: SparkSession | None) -> bytes:
    """Return the result of bundles of files, which tasks read themselves: Spark's transfer to Python costs more."""
    if not bundles:
        return shipped.join([])
    session = session or SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
    n_slices = shipped.n_slices

    def work(batches: Batches) -> Batches:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from _rows_of(shipped.cut(_result_of_bundle(shipped, bundles[number]), n_slices))

    numbers = session.range(0, len(bundles), 1, len(bundles))
    what = f"glasswood: {sum(map(len, bundles)):,} parts of Parquet files"
    return _sum(shipped, numbers.mapInArrow(work, SCHEMA), what)[0]


def map_frame(shipped: ShippedRows, frame: DataFrame) -> DataFrame:
    """Return a frame with the answers of a RowJob about each row, computed lazily."""
    from pyspark.sql.types import ArrayType, DoubleType, StringType, StructField, StructType

    chosen, named = _selected_columns(shipped, frame)
    job = shipped.open()
    kinds = {"number": DoubleType(), "numbers": ArrayType(DoubleType()), "texts": ArrayType(StringType())}
    own = [StructField(new, frame.schema.fields[frame.columns.index(name)].dataType) for name, new in job.keep.items()]
    fields = [*own, *(StructField(name, kinds[kind]) for name, kind in job.question.kinds.items())]

    def work(batches: Batches) -> Batches:
        for batch in batches:
            for result in shipped.explain(pa.Table.from_batches([batch]).rename_columns(named)):
                yield from result.combine_chunks().to_batches()

    return chosen.mapInArrow(work, StructType(fields))


def _selected_columns(shipped: ShippedWork, frame: DataFrame) -> tuple[DataFrame, list[Any]]:
    """Return the columns of a frame that a job reads, and their names."""
    columns = shipped.columns
    places = [frame.columns.index(name) for name in columns]
    for field in (frame.schema.fields[place] for place in places):
        if not _is_held(field):
            message = f"column {field.name!r} has type {field.dataType.simpleString()}, which Arrow cannot represent"
            raise TableError(message)
    return _numbered(frame, places), columns or ["none"]  # without any column, rows would be lost in transfer


def _describe(session: SparkSession, tags: set[str], what: str) -> None:
    """Describe the jobs of this thread where Spark shows them. None of it is needed to count."""
    with suppress(Exception):
        for tag in tags:
            session.addTag(tag)
    with suppress(Exception):  # Connect and some managed clusters have no context
        session.sparkContext.setLocalProperty("spark.job.description", what)


def _inheriting(session: SparkSession, work: Callable[[], T]) -> Callable[[], T]:
    """Return work that another thread does with the properties of this one, such as the user's group of jobs."""
    with suppress(Exception):
        if session.sparkContext is not None:  # Connect has none
            inheriting: Callable[[], T] = inheritable_thread_target(session)(work)
            return inheriting
    return work


def _sum(shipped: ShippedWork, results: DataFrame, what: str) -> tuple[bytes, int]:
    """Return the sum of results, and the number of parts.

    Another thread waits for Spark, because Ctrl-C would break that connection.
    """
    session, tag = results.sparkSession, f"glasswood-{uuid4().hex}"
    add = shipped.add  # without the job, which is large

    def work(batches: Batches) -> Batches:
        """Add the slices of a partition, a few at a time, as they arrive."""
        waiting: dict[int, list[bytes]] = {}
        n_parts: dict[int, int] = {}
        for batch in batches:
            for number, packed, parts in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                some = waiting.setdefault(number, [])
                some.append(packed)
                n_parts[number] = n_parts.get(number, 0) + parts
                if len(some) >= FAN_IN:
                    waiting[number] = [add(*some)]
        for number, some in waiting.items():
            yield _batch_of_slice(number, add(*some), n_parts[number])

    summed = results.repartition(shipped.n_slices, "slice").mapInArrow(work, SCHEMA)
    tags = {tag}
    with suppress(Exception):
        tags |= session.getTags()  # the user's

    def collect() -> Any:
        _describe(session, tags, what)
        return summed.collect()

    log.info("%s; tag of the jobs: %s", what, tag)
    try:
        with own_errors(PySparkException):
            rows = sorted(run_interruptible(_inheriting(session, collect)), key=lambda row: row["slice"])
    except Exception:  # the job has ended
        raise
    except BaseException:  # Ctrl-C
        log.info("jobs with the tag %s are interrupted", tag)
        with suppress(Exception):
            session.interruptTag(tag)
        raise
    return shipped.join([bytes(row["partial"]) for row in rows]), rows[0]["parts"] if rows else 0


def _result_of_tables(shipped: ShippedWork, tables: Iterable[Any], name: str) -> bytes:
    return shipped.of_tables(tables, name)


def _result_of_bundle(shipped: ShippedWork, bundle: Any) -> bytes:
    return shipped.of_bundle(bundle)


def _rows_of(slices: Sequence[bytes]) -> Batches:
    """Yield the slices of a result, one per row of a batch."""
    for number, part in enumerate(slices):
        yield _batch_of_slice(number, part, 1)


def _batch_of_slice(number: int, packed: bytes, parts: int) -> pa.RecordBatch:
    arrays = [pa.array([number], pa.int32()), pa.array([packed], pa.binary()), pa.array([parts], pa.int32())]
    return pa.RecordBatch.from_arrays(arrays, names=["slice", "partial", "parts"])
