"""Arrow: Parquet files read part by part and written, and keys of groups as bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasswood.errors import BackgroundError, TableError
from glasswood.parallel._lazy import cached_property
from glasswood.tables._files import replacing
from glasswood.tables._listing import existing, files_of, is_pattern, stamp_of, waiting
from glasswood.tables._places import Place, import_arrow, is_remote, places_of, storage_errors
from glasswood.tables._ranges import column_ranges, fetch
from glasswood.text._printable import how_many

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset, FileSystemDataset
    from pyarrow.fs import FileSystem

__all__ = [
    "Fragment",
    "file_errors",
    "first_rows",
    "fragments_of",
    "is_dataset",
    "open_dataset",
    "pack_keys",
    "read_batch",
    "read_fragment",
    "read_stream",
    "read_whole",
    "scan",
    "unpack_keys",
    "write_parquet",
]

BATCH = 131072  # rows decoded at a time
PAGE = 2**20  # bytes of a column that are fetched for a few rows
MANY_FILES = 10000  # whose footers are left to those who read the files
MAX_FOOTERS = 16

_footers: dict[tuple[str, str], Any] = {}


# ------------------------------------------------------------------------------------------------------ reading


@dataclass(frozen=True)
class Fragment:
    """A part of a table that can be read independently and repeatedly: one row group of a Parquet file, or all.

    Parameters
    ----------
    path : str
    filesystem : pyarrow.fs.FileSystem
    row_group : int or None
        None for all of the file.
    n_rows : int or None
        None if not read yet.
    stamp : str
        What the file was when the work was planned, see `stamp_of`. A file that has changed since is refused.
    partition : tuple of (str, value)
        What the names of the folders say, for all rows of the file.
    first_row : int or None
        The number of its first row among those of all fragments; None if it is not known, or not needed.
    """

    path: str
    filesystem: FileSystem
    row_group: int | None
    n_rows: int | None
    stamp: str
    partition: tuple[tuple[str, Any], ...] = ()
    first_row: int | None = None

    @property
    def name(self) -> str:
        """The file, and the row group if it is one."""
        return self.path if self.row_group is None else f"{self.path}, row group {self.row_group}"

    def refuse_changed(self, opened: Any = None) -> None:
        """Raise an error if the file is not the one that the work was planned for."""
        if stamp_of(self.filesystem, self.path, opened) != self.stamp:
            message = f"{self.path} has changed since the work was planned; start again"
            raise TableError(message)

    @cached_property
    def digest(self) -> bytes:
        """A hash of the fragment's identity; sums of these show which fragments were counted, and how often."""
        return blake2b(f"{self.name}|{self.stamp}".encode(), digest_size=16).digest()


def open_dataset(paths: object, filesystem: object = None, storage_options: Mapping[str, Any] | None = None) -> Any:
    """Return a dataset of Parquet files, given a path, a folder, a pattern such as ``data/*.parquet``, or several.

    They may be anywhere, see `place_of`.
    """
    import_arrow("reading Parquet")
    from pyarrow import dataset

    several = list(map(str, paths)) if isinstance(paths, list | tuple) else [str(paths)]
    places = places_of(several, filesystem, storage_options)
    for place in places:
        _refuse_no_parquet(place)
    files: Any = files_of(places) if len(places) > 1 or is_pattern(places[0]) else existing(places[0]).path
    text = ", ".join(place.name for place in places[:3])
    with storage_errors(text, "cannot be read as Parquet"):
        whole = dataset.dataset(files, format="parquet", partitioning="hive", filesystem=places[0].filesystem)
    if not whole.files:
        message = f"there is no Parquet file in {text!r}"
        raise TableError(message)
    return whole


def _refuse_no_parquet(place: Place) -> None:
    """Raise a short error early if a path is not that of a Parquet file."""
    if Path(place.path).suffix.lower() in (".csv", ".tsv", ".json", ".xlsx", ".pkl", ".feather", ".arrow"):
        existing(place)
        message = f"{place.name!r} is not a Parquet file; read it with its own library, and pass the table"
        raise TableError(message)


def is_dataset(thing: object) -> bool:
    """Return whether something is a dataset of Parquet files and nothing but these: no filter, no other format."""
    from pyarrow import dataset

    return (
        isinstance(thing, dataset.FileSystemDataset)
        and isinstance(thing.format, dataset.ParquetFileFormat)
        and not getattr(thing, "_scan_options", None)
    )


def fragments_of(dataset: FileSystemDataset, *, fill: bool) -> list[Fragment]:
    """Return the row groups of all files of a dataset; the files themselves if there are very many.

    A column of the dataset that a file lacks is missing in all its rows, if `fill`: tables get columns with time.
    """
    from pyarrow import dataset as module

    result, filesystem = list(dataset.get_fragments()), dataset.filesystem

    def planned(file: Any) -> list[Fragment]:
        partition = tuple(module.get_partition_keys(file.partition_expression).items())
        with storage_errors(file.path):
            stamp = stamp_of(filesystem, file.path)
            if len(result) > MANY_FILES:
                return [Fragment(file.path, filesystem, None, None, stamp, partition)]
            groups = [(group.id, group.num_rows) for group in file.row_groups]
            known = {*file.physical_schema.names, *dict(partition)} if fill else set(dataset.schema.names)
        partition += tuple((name, None) for name in dataset.schema.names if name not in known)
        return [Fragment(file.path, filesystem, group, n, stamp, partition) for group, n in groups]

    return [fragment for several in waiting(planned, result, filesystem) for fragment in several]


def located(fragments: Sequence[Fragment]) -> list[Fragment]:
    """Return fragments that know the numbers of their first rows, from the footers of the files."""
    result, first = [], 0
    for fragment in fragments:
        if fragment.n_rows is None:
            message = (
                "there are so many files that their footers are not read, so rows have no numbers; name a column in "
                "fold_by="
            )
            raise TableError(message)
        result.append(replace(fragment, first_row=first))
        first += fragment.n_rows
    return result


def first_rows(fragments: Iterable[Fragment], names: Sequence[str], n: int) -> Any:
    """Return up to n rows of the first fragment that has any; None if there is none.

    A dataset's own `head` decodes whole row groups of several files.
    """
    tables = (table for fragment in fragments for table in read_fragment(fragment, names, few=n))
    return next((table for table in tables if table.num_rows), None)


def read_fragment(fragment: Fragment, names: Sequence[str], *, few: int | None = None) -> Iterator[Any]:
    """Yield some columns of a fragment as tables of moderate size; of few rows, if only the first one is wanted.

    One row group at a time, because readers of whole datasets buffer as many as they can.
    """
    import pyarrow as pa

    with storage_errors(fragment.path):
        with fragment.filesystem.open_input_file(fragment.path) as opened:
            fragment.refuse_changed(opened)
            footer = _footer(fragment, opened)
            partition, known = dict(fragment.partition), footer.schema.to_arrow_schema().names
            absent = [name for name in names if name not in known and name not in partition]
            if absent:
                message = f"{fragment.path} lacks the columns {absent!r}"
                raise TableError(message)
            columns = [name for name in names if name not in partition]
            groups = range(footer.num_row_groups) if fragment.row_group is None else [fragment.row_group]
            for batch in chain.from_iterable(_batches(fragment, opened, group, columns, few) for group in groups):
                table = pa.Table.from_batches([batch])
                for name in names:
                    if name in partition:
                        table = table.append_column(name, pa.repeat(pa.scalar(partition[name]), table.num_rows))
                yield table
        fragment.refuse_changed()  # while it was read


def read_whole(fragment: Fragment, names: Sequence[str]) -> Iterator[Any]:
    """Yield the same of all rows; an error is raised at the end if they are not as many as the footer says."""
    n_read = 0
    for table in read_fragment(fragment, names):
        n_read += table.num_rows
        yield table
    if fragment.n_rows is not None and n_read != fragment.n_rows:
        message = f"{fragment.name} has {how_many(n_read, 'row')}, but its footer says {fragment.n_rows}"
        raise TableError(message)


@contextmanager
def file_errors(path: str) -> Iterator[None]:
    """Give a block whose errors about tables name the file."""
    try:
        yield
    except TableError as error:
        if path in str(error):
            raise
        message = f"{path}: {error}"
        raise TableError(message) from error


def _batches(fragment: Fragment, opened: object, group: int, columns: Sequence[str], few: int | None) -> Iterator[Any]:
    """Return some columns of a row group in batches; texts become dictionaries.

    From a storage, the columns are fetched by several requests at once; for a few rows, the beginning of each only.
    """
    from pyarrow import parquet

    footer = _footer(fragment, opened)
    settings: dict[str, Any] = {"metadata": footer, "pre_buffer": False, "page_checksum_verification": True}
    settings["read_dictionary"] = [field.name for field in footer.schema.to_arrow_schema() if _is_text(field.type)]
    if is_remote(fragment.filesystem):
        ranges = column_ranges(footer, group, set(columns))
        if few is not None:
            settings["buffer_size"] = PAGE
            ranges = [(begin, min(size, PAGE)) for begin, size in ranges]
        opened = fetch(fragment.filesystem, fragment.path, opened, ranges)
    file = parquet.ParquetFile(opened, **settings)
    result: Iterator[Any] = file.iter_batches(few or BATCH, row_groups=[group], columns=columns, use_threads=False)
    return result


def _footer(fragment: Fragment, opened: object) -> Any:
    """Return what the end of a file says of it, parsed once for all of its row groups: files may have thousands."""
    from pyarrow import parquet

    key = (fragment.path, fragment.stamp)
    footer = _footers.get(key)
    if footer is None:
        footer = parquet.read_metadata(opened)
        if len(_footers) >= MAX_FOOTERS:
            _footers.clear()
        _footers[key] = footer
    return footer


def _is_text(kind: object) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def scan(dataset: Dataset, names: Sequence[str]) -> Iterator[Any]:
    """Yield some columns of any dataset as tables, a few of them ahead."""
    import pyarrow as pa

    scanner = dataset.scanner(columns=list(names), batch_size=BATCH, batch_readahead=2, fragment_readahead=1)
    return (pa.Table.from_batches([batch]) for batch in scanner.to_batches())


def read_stream(stream: object) -> tuple[list[str], Iterator[Any]]:
    """Return the names of the columns of any stream of Arrow data, and its tables."""
    pa = import_arrow("reading a stream of Arrow data")
    reader = stream if isinstance(stream, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(stream)
    return list(reader.schema.names), map(read_batch, reader)


def read_batch(batch: object) -> Any:
    """Return a batch as a table. Views of texts, which few functions take, become texts."""
    import pyarrow as pa

    return without_views(pa.Table.from_batches([batch]))


def without_views(table: Any) -> Any:
    """Return an Arrow table whose views of texts, which few functions take, are texts."""
    import pyarrow as pa

    views = [place for place, field in enumerate(table.schema) if str(field.type) == "string_view"]
    for place in views:
        try:
            texts = table.column(place).cast(pa.large_string())
        except pa.ArrowNotImplementedError:  # by PyArrow 17
            texts = pa.array(table.column(place).to_pylist(), pa.large_string())
        table = table.set_column(place, table.field(place).name, texts)
    return table


def can_join(one: Any, other: Any) -> bool:
    """Return whether two tables are Arrow's, with the same columns, so that they can be joined without a copy."""
    return hasattr(one, "schema") and type(one) is type(other) and _is_arrow(one) and one.schema.equals(other.schema)


def join(tables: Sequence[Any]) -> Any:
    """Return tables below each other, as one; a single one may be of any type."""
    if len(tables) == 1:
        return tables[0]
    import pyarrow as pa

    return pa.concat_tables(tables)


def n_bytes(table: Any) -> int:
    """Return about how many bytes an Arrow table takes; a great many for others, which cannot be joined."""
    return int(table.nbytes) if _is_arrow(table) else 2**62


def _is_arrow(table: object) -> bool:
    return type(table).__module__.startswith("pyarrow.")


# ------------------------------------------------------------------------------------------------------ bytes


def pack_keys(columns: Sequence[Sequence[Any]]) -> bytes:
    """Return columns of values as bytes that keep their types."""
    pa = import_arrow("adding up counts of many parts")
    table = pa.table({str(index): _array_of(values) for index, values in enumerate(columns)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def _array_of(values: Sequence[Any]) -> Any:
    """Return values as an Arrow array that holds them exactly; by itself Arrow cuts off nanoseconds."""
    import pyarrow as pa

    known = [value for value in values if value is not None]
    kind = None
    if any(getattr(value, "nanosecond", 0) for value in known):
        kind = pa.timestamp("ns", tz=None if known[0].tzinfo is None else str(known[0].tzinfo))
    elif known and all(type(value) is int for value in known) and max(known) >= 2**63:
        kind = pa.uint64()
    try:
        return pa.array(values, type=kind)
    except (pa.ArrowException, OverflowError) as error:
        message = f"the values of by= must have one type, but there are {known[0]!r}, {known[-1]!r}, ... ({error})"
        raise TableError(message) from error


def unpack_keys(packed: bytes) -> list[list[Any]]:
    """Return the columns that `pack_keys` was given."""
    import pyarrow as pa

    try:
        with pa.ipc.open_stream(pa.py_buffer(packed)) as reader:
            table = reader.read_all()
        table.validate(full=True)
        return [column.to_pylist() for column in table.columns]
    except (pa.ArrowException, OSError, ValueError, ArithmeticError, MemoryError) as error:
        message = f"the keys of its groups are damaged ({error})"
        raise BackgroundError(message) from error


# ------------------------------------------------------------------------------------------------------ writing


def write_parquet(
    path: str | PathLike[str], parts: Iterable[Mapping[str, Any]], labels: Mapping[str, list[Any]]
) -> None:
    """Write parts of a table, each a mapping from column names to arrays, to one file.

    Columns that are named in `labels` hold positions in the list of their labels, and are written as dictionaries.
    """
    pa = import_arrow("writing Parquet")
    from pyarrow import parquet

    texts = {name: all(isinstance(label, str) for label in known) for name, known in labels.items()}
    dictionaries = {name: pa.array(known, pa.string() if texts[name] else None) for name, known in labels.items()}
    with replacing(path) as file:
        writer = None
        try:
            for part in parts:
                arrays = {
                    name: pa.DictionaryArray.from_arrays(pa.array(values), dictionaries[name])
                    if name in dictionaries
                    else pa.array(values)
                    for name, values in part.items()
                }
                batch = pa.table(arrays)
                if writer is None:
                    writer = parquet.ParquetWriter(file, batch.schema)
                writer.write_table(batch)
        finally:
            if writer is not None:
                writer.close()
