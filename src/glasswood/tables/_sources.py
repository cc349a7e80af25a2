"""Where rows come from: tables in memory, files, streams, and the frames of engines.

Libraries are recognised by the names of their types and never imported: an object's library is already loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from os import PathLike
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError, GlasswoodError, TableError
from glasswood.tables._given import given_table
from glasswood.tables._parquet import (
    Fragment,
    first_rows,
    fragments_of,
    is_dataset,
    open_dataset,
    read_batch,
    read_stream,
    scan,
)
from glasswood.tables._places import short
from glasswood.tables._seal import Seal
from glasswood.tables._tables import (
    OpenColumns,
    ReadableColumns,
    Schema,
    frame_of,
    is_sparse,
    native,
    open_columns,
    take_rows,
)
from glasswood.text._arguments import require_mapping

__all__ = [
    "HEAD",
    "EngineFrame",
    "Files",
    "InMemory",
    "Source",
    "Stored",
    "Stream",
    "is_in_memory",
    "open_source",
    "stored",
]

HEAD = 1000  # rows used to inspect a source and to check a model


@dataclass(frozen=True)
class InMemory:
    """A table in memory.

    `table` is what the trees of a model take, if that is not the table that the user has: transformers have made
    another one of it, or it is without the columns that tell groups and weights. With a seal, columns that have changed
    since they were first read are refused.
    """

    given: object
    table: object
    seal: Seal | None = None

    @property
    def names(self) -> list[Any] | None:
        """The names of the user's columns; None if there are none."""
        frame = None if isinstance(self.given, np.ndarray) or is_sparse(self.given) else frame_of(self.given)
        return None if frame is None else list(frame.columns)

    @property
    def head(self) -> object:
        """All rows."""
        return self.given

    def open(self, schema: Schema, features: Iterable[int]) -> OpenColumns:
        """Return some columns of the table, checked."""
        columns = open_columns(self.table, schema, features)
        if self.seal is not None:
            self.seal.check(columns)
        return columns

    def open_in_parts(self, schema: Schema, features: Iterable[int]) -> ReadableColumns:
        """Return some columns of the table, which are checked part by part when they are read."""
        columns = open_columns(self.table, schema, features)
        return columns if self.seal is None else self.seal.of(columns)

    def take(self, schema: Schema, rows: NDArray[np.intp]) -> InMemory:
        """Return some rows, copied."""
        table = take_rows(self.table, schema, rows)
        return InMemory(table, table)


@dataclass(frozen=True)
class Files:
    """Parquet files: fragments that can be read in any order, anywhere, repeatedly."""

    names: list[Any]
    head: object
    fragments: list[Fragment]


@dataclass(frozen=True)
class Stream:
    """Tables that come one after the other: `tables` starts them, given the columns that are wanted.

    `names` is None if the tables are arrays, whose columns have none. `again` is whether they can be read again.
    """

    names: list[Any] | None
    head: object
    tables: Callable[[Sequence[Any]], Iterator[Any]]
    again: bool = True


@dataclass(frozen=True)
class EngineFrame:
    """A frame of an engine for many machines, which is asked where the rows are."""

    engine: str
    frame: object


@dataclass(frozen=True)
class Stored:
    """Paths of files, and how the storage that they are in is opened."""

    paths: object
    filesystem: object
    storage_options: Mapping[str, Any] | None


def stored(source: object, filesystem: object, storage_options: Mapping[str, Any] | None) -> object:
    """Return a source together with the user's file system, or options of one; these are for paths only."""
    if filesystem is None and storage_options is None:
        return source
    if not _are_paths(source):
        message = f"filesystem= and storage_options= are for paths of files, not for a {type(source).__name__}"
        raise ArgumentError(message)
    if storage_options is not None:
        require_mapping(storage_options, "storage_options is a mapping of options of fsspec")
    return Stored(source, filesystem, storage_options)


Source = InMemory | Files | Stream | EngineFrame


def open_source(source: object) -> Source:
    """Return where the rows come from; what is not a table, nor anything else with rows, is refused."""
    if isinstance(source, Stored):
        return _files(open_dataset(source.paths, source.filesystem, source.storage_options), fill=False)
    source = native(source)
    if _are_paths(source):
        return _files(open_dataset(source), fill=False)
    kind = type(source).__module__.partition(".")[0], type(source).__name__
    if kind in OPENERS:
        return OPENERS[kind](source)
    if _are_frames(source):
        return _several(list(map(_table, source)))
    if not _is_in_memory(source):
        if hasattr(source, "__arrow_c_stream__"):
            return _arrow_stream(source)
        if _is_iterator(source):
            return _iterator(source)
    table = given_table(source)
    return InMemory(table, table)


def is_in_memory(source: object) -> bool:
    """Return whether something is a table in memory, and no path, stream, or frame of a cluster; nothing is opened."""
    source = native(source)
    kind = type(source).__module__.partition(".")[0], type(source).__name__
    if _are_paths(source) or kind in OPENERS:
        return False
    return _is_in_memory(source) or not (hasattr(source, "__arrow_c_stream__") or _is_iterator(source))


def _table(part: object) -> Any:
    """Return one of several tables as one in memory; a batch of Arrow's would pass for an array without names."""
    return read_batch(part) if type(part).__name__ == "RecordBatch" else native(part)


def _are_paths(source: object) -> bool:
    """Return whether something is a path, or several."""
    if isinstance(source, str | PathLike):
        return True
    return isinstance(source, list | tuple) and bool(source) and all(isinstance(x, str | PathLike) for x in source)


def _are_frames(source: object) -> TypeGuard[Sequence[object]]:
    return isinstance(source, list | tuple) and bool(source) and all(frame_of(_table(x)) is not None for x in source)


def _several(tables: list[Any]) -> Stream:
    """Return a list of data frames, below each other."""
    first = frame_of(tables[0])
    return Stream(None if first is None else list(first.columns), tables[0], lambda _: iter(tables))


def _is_iterator(source: object) -> TypeGuard[Iterator[object]]:
    return hasattr(source, "__next__")


def _is_in_memory(source: object) -> bool:
    return hasattr(source, "shape") or isinstance(source, dict | list | tuple) or frame_of(source) is not None


def _files(dataset: Any, *, fill: bool) -> Files:
    fragments, names = fragments_of(dataset, fill=fill), list(dataset.schema.names)
    return Files(names, first_rows(fragments, names, HEAD), fragments)


def _dataset(dataset: Any) -> Source:
    if is_dataset(dataset):
        return _files(dataset, fill=True)
    return Stream(list(dataset.schema.names), dataset.head(HEAD), lambda names: scan(dataset, names))


def _arrow_stream(stream: object) -> Stream:
    names, tables = read_stream(stream)
    return _once(names, tables, lambda table, columns: table.select(list(columns)))


def _iterator(given: Iterator[object]) -> Stream:
    """Return any tables in memory, one after the other, as a stream."""
    tables = map(_table, given)
    head = next(tables, None)
    if head is None:
        message = "the iterator yielded no table"
        raise TableError(message)
    frame = frame_of(head)
    return _once(None if frame is None else list(frame.columns), chain([head], tables), lambda table, _: table)


def _once(names: list[Any] | None, tables: Iterator[Any], select: Callable[[Any, Sequence[Any]], Any]) -> Stream:
    """Return a stream that can be read once, after a look at its first table."""
    head = next(tables, None)
    unread = [tables]

    def start(columns: Sequence[Any]) -> Iterator[Any]:
        if not unread:
            message = (
                "this stream has already been read, and cannot be read again. Summarize it once, with the largest "
                "order that you need: summarize(model, source, order=2); or pass something that can be read again, "
                "such as a path"
            )
            raise TableError(message)
        return (select(table, columns) for table in chain([] if head is None else [head], unread.pop()))

    return Stream(names, head, start, again=False)


def _lazy_polars(frame: Any) -> Stream:
    if not hasattr(frame, "collect_batches"):
        message = (
            "the rows of a LazyFrame are read part by part, which needs Polars 1.34 or newer; update Polars, or pass "
            "frame.collect()"
        )
        raise TableError(message)

    def tables(names: Sequence[Any]) -> Iterator[Any]:
        named = sys.modules["polars"].selectors.by_name(*names)  # names alone may be patterns: "*", "^a.*$"
        return (part.to_arrow() for part in frame.select(named).collect_batches())

    return Stream(frame.collect_schema().names(), frame.head(HEAD).collect().to_arrow(), tables)


def _quoted(names: Sequence[Any]) -> str:
    """Return columns as SQL names them."""
    return ", ".join('"' + str(name).replace('"', '""') + '"' for name in names)


def _duckdb(relation: Any) -> Stream:
    def tables(names: Sequence[Any]) -> Iterator[Any]:
        return read_stream(relation.project(_quoted(names)))[1]

    _, few = read_stream(relation.limit(HEAD))
    return Stream(list(relation.columns), next(few, None), tables)


def _delta(table: Any) -> Source:
    """Return a Delta table at the version that it was loaded at.

    Its files are read here. With deletion vectors, which tell rows of these files that are no more, Delta's own engine
    reads them.
    """
    library = sys.modules["deltalake"]
    features = set(table.protocol().reader_features or ())
    if "deletionVectors" not in features:
        with _as_table_error("Delta table", library.exceptions.DeltaError):
            return _dataset(table.to_pyarrow_dataset())
    if "columnMapping" in features or not hasattr(table, "deletion_vectors"):
        message = (
            f"this Delta table has {' and '.join(sorted(features))}, which this version of deltalake, or Glasswood, "
            "cannot read; pass a frame of Spark, or rewrite the table without them"
        )
        raise TableError(message)

    def run(names: Sequence[Any], limit: str = "") -> Iterator[Any]:
        query = f"select {_quoted(names)} from given{limit}"
        return read_stream(library.QueryBuilder().register("given", table).execute(query))[1]

    names = [field.name for field in table.schema().fields]
    with _as_table_error("Delta table", library.exceptions.DeltaError):
        return Stream(names, next(run(names, f" limit {HEAD}"), None), run)


def _iceberg(scanned: Any) -> Stream:
    """Return a scan of an Iceberg table: of its newest snapshot, or of the one that the scan names."""

    def tables(names: Sequence[Any]) -> Iterator[Any]:
        return read_stream(scanned.select(*names).to_arrow_batch_reader())[1]

    with _as_table_error("Iceberg table", (ValueError, NotImplementedError)):  # such as deletes by values
        names, few = read_stream(scanned.to_arrow_batch_reader())
        return Stream(names, next(few, None), tables)


@contextmanager
def _as_table_error(what: str, errors: type[Exception] | tuple[type[Exception], ...]) -> Iterator[None]:
    """Make a library's refusal of a table a TableError."""
    try:
        yield
    except GlasswoodError:
        raise
    except errors as error:
        message = f"this {what} cannot be read: {short(error)}"
        raise TableError(message) from error


OPENERS: dict[tuple[str, str], Callable[[Any], Source]] = {
    ("pyarrow", "FileSystemDataset"): _dataset,
    ("pyarrow", "UnionDataset"): _dataset,
    ("pyarrow", "InMemoryDataset"): _dataset,
    ("pyarrow", "Scanner"): lambda scanner: _arrow_stream(scanner.to_reader()),
    ("polars", "LazyFrame"): _lazy_polars,
    ("duckdb", "DuckDBPyRelation"): _duckdb,
    ("_duckdb", "DuckDBPyRelation"): _duckdb,
    ("deltalake", "DeltaTable"): _delta,
    ("pyiceberg", "Table"): lambda table: _iceberg(table.scan()),
    ("pyiceberg", "DataScan"): _iceberg,
    ("pyspark", "DataFrame"): lambda frame: EngineFrame("spark", frame),
    ("dask", "DataFrame"): lambda frame: EngineFrame("dask", frame),
    ("ray", "Dataset"): lambda frame: EngineFrame("ray", frame),
    ("ray", "MaterializedDataset"): lambda frame: EngineFrame("ray", frame),
}
