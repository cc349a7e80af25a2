"""Spark, with the DataFrame API only, so that it also runs on Spark Connect and serverless clusters.

Every partition becomes one partial, in slices if it is large; the slices are brought together and added up by tasks,
and the driver only receives the sum.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import pyarrow as pa
from pyspark import cloudpickle, inheritable_thread_target
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from glasswood.counting._job import Job, ShippedJob, count_fragments, count_tables
from glasswood.counting._partial import Partial
from glasswood.engines._reduction import own_errors
from glasswood.errors import TableError
from glasswood.parallel._threads import beside
from glasswood.tables._parquet import Fragment
from glasswood.tables._sources import HEAD

if TYPE_CHECKING:
    from pyspark.sql.types import StructField

__all__ = ["count_files", "count_frame", "dumps", "look"]

SLICE = 2**19  # counts that are added up together: four megabytes

SCHEMA = "slice int, partial binary"

log = logging.getLogger(__name__)

T = TypeVar("T")

Batches = Iterator[pa.RecordBatch]


def dumps(parts: object) -> bytes:
    """Return objects as bytes that workers unpickle, functions of a notebook included."""
    packed: bytes = cloudpickle.dumps(parts, protocol=5)
    return packed


def look(frame: DataFrame, _: object) -> tuple[list[Any], Any]:
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
    found = head.toArrow()
    columns = dict(zip(held, found.columns, strict=True))
    nothing = pa.nulls(found.num_rows)
    return names, pa.table([columns.get(place, nothing) for place in range(len(names))], names=names)


def _is_held(field: StructField) -> bool:
    """Return whether Arrow can represent a column: all but intervals of months, which no model splits on."""
    return re.search(r"interval(?! (day|hour|minute|second))", field.dataType.simpleString()) is None


def _numbered(frame: DataFrame, places: Sequence[int]) -> DataFrame:
    """Return columns of a frame under plain names, because Spark interprets dots, stars and backticks in names."""
    plain = frame.toDF(*(f"c{place}" for place in range(len(frame.columns))))
    return plain.select(*(f"c{place}" for place in places)) if places else plain.selectExpr("0 AS none")


def count_frame(shipped: ShippedJob, frame: DataFrame, _: object) -> tuple[Partial, int]:
    """Return the counts of a Spark DataFrame, and the number of partitions that reported; Connect knows no more."""
    job = shipped.open()
    n_slices = _slices(job)
    places = [frame.columns.index(name) for name in job.columns]
    named = job.columns or ["none"]  # without any column, rows would be lost in transfer
    for field in (frame.schema.fields[place] for place in places):
        if not _is_held(field):
            message = f"column {field.name!r} has type {field.dataType.simpleString()}, which Arrow cannot represent"
            raise TableError(message)

    def count(batches: Batches) -> Batches:
        from pyspark import TaskContext

        number = TaskContext.get().partitionId()
        tables = (pa.Table.from_batches([batch]).rename_columns(named) for batch in batches)
        yield from _cut(count_tables(shipped, tables, str(number)), n_slices)

    what = f"glasswood: count {len(places)} columns of a frame"
    partial = _sum(_numbered(frame, places).mapInArrow(count, SCHEMA), n_slices, what)
    return partial, partial.n_fragments


def count_files(shipped: ShippedJob, bundles: Sequence[Sequence[Fragment]], session: SparkSession | None) -> Partial:
    """Return the counts of bundles of fragments, which tasks read themselves: Spark's transfer to Python costs more."""
    if not bundles:
        return Partial()
    session = session or SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
    n_slices = _slices(shipped.open())

    def count(batches: Batches) -> Batches:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from _cut(count_fragments(shipped, bundles[number]), n_slices)

    numbers = session.range(0, len(bundles), 1, len(bundles))
    what = f"glasswood: count {sum(map(len, bundles)):,} parts of Parquet files"
    return _sum(numbers.mapInArrow(count, SCHEMA), n_slices, what)


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


def _sum(partials: DataFrame, n_slices: int, what: str) -> Partial:
    """Return the sum of partials. Another thread waits for Spark, because Ctrl-C would break that connection."""
    session, tag = partials.sparkSession, f"glasswood-{uuid4().hex}"
    summed = partials.repartition(n_slices, "slice").mapInArrow(_add, SCHEMA)

    tags = {tag}
    with suppress(Exception):
        tags |= session.getTags()  # the user's

    def collect() -> Any:
        _describe(session, tags, what)
        return summed.collect()

    log.info("%s; tag of the jobs: %s", what, tag)
    try:
        with own_errors(PySparkException):
            rows = beside(_inheriting(session, collect))
    except Exception:  # the job has ended
        raise
    except BaseException:  # Ctrl-C
        log.info("jobs with the tag %s are interrupted", tag)
        with suppress(Exception):
            session.interruptTag(tag)
        raise
    parts = {row["slice"]: Partial.unpack(bytes(row["partial"]))[0] for row in rows}
    return Partial.join([parts[number] for number in sorted(parts)]) if parts else Partial()


def _slices(job: Job) -> int:
    return max(1, -(-sum(vector.size for vector in job.counter.vectors) // SLICE))


def _cut(packed: bytes, n_slices: int) -> Batches:
    """Yield a partial in slices, one per row of a batch."""
    slices = [packed] if n_slices == 1 else [part.pack() for part in Partial.unpack(packed)[0].slices(n_slices)]
    for number, part in enumerate(slices):
        yield _row(number, part)


def _add(batches: Batches) -> Batches:
    """Add the slices of a partition one by one, as they arrive."""
    sums: dict[int, Partial] = {}
    for batch in batches:
        for number, packed in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            part = Partial.unpack(packed)[0]
            sums[number] = Partial.sum([sums[number], part]) if number in sums else part
    for number, part in sums.items():
        yield _row(number, part.pack())


def _row(number: int, packed: bytes) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array([number], type=pa.int32()), pa.array([packed], type=pa.binary())], names=["slice", "partial"]
    )
