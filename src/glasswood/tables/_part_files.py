"""Answers about rows as Arrow tables, and the folder of Parquet files that they are written to, one per part.

A file is there with all rows of its part or not at all, and says which job wrote it, of which rows, and a hash of its
values. So the folder is its own checkpoint: an interrupted job that is started again reads what is there, and writes
what is missing or damaged.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from posixpath import basename, dirname
from shutil import copyfileobj
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from glasswood.errors import TableError
from glasswood.tables._files import is_unfinished, replacing
from glasswood.tables._places import import_arrow, is_remote, storage_errors
from glasswood.tables._tables import frame_of

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

__all__ = ["MANIFEST", "PartFile", "PartFiles", "Written", "arrow_table", "arrow_type", "digest_of"]

NOTE = b"glasswood part"
MANIFEST = "_glasswood.json"  # readers of folders pass over names that begin with an underscore


def arrow_type(kind: str) -> Any:
    """Return the type of a column of answers: numbers, or lists of numbers or of texts."""
    pa = import_arrow("answers about the rows of a source")
    return {"number": pa.float64(), "numbers": pa.list_(pa.float64()), "texts": pa.list_(pa.string())}[kind]


def arrow_table(table: object, keep: Mapping[str, str], span: tuple[int, int], answers: Mapping[str, Any]) -> Any:
    """Return columns of a table that are kept, and the answers about some of its rows, as an Arrow table."""
    pa = import_arrow("answers about the rows of a source")
    columns = dict(zip(keep.values(), _kept(table, list(keep), span), strict=True))
    return pa.table(columns | {name: _array(values) for name, values in answers.items()})


def _kept(table: object, names: list[str], span: tuple[int, int]) -> list[Any]:
    """Return some columns of some rows of a data frame."""
    if not names:
        return []
    frame = frame_of(table)
    if frame is None:
        message = f"keep= names columns, but the rows are arrays, which have none: {names!r}"
        raise TableError(message)
    kept = frame[span[0] : span[1]].select(names).to_arrow()
    return [_plain(kept.column(place)) for place in range(len(names))]


def _plain(column: Any) -> Any:
    """Return a column without a dictionary: those of several parts would differ."""
    import pyarrow as pa

    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _array(values: Any) -> Any:
    """Return answers as an Arrow array: numbers, or one list per line of numbers, or of numbers of labels."""
    import pyarrow as pa

    if isinstance(values, tuple):
        numbers, labels = values
        flat = pa.DictionaryArray.from_arrays(
            pa.array(numbers.ravel()), pa.array(labels, pa.string())
        ).dictionary_decode()
        return pa.ListArray.from_arrays(_offsets(numbers.shape), flat)
    if values.ndim == 1:
        return pa.array(values)
    return pa.ListArray.from_arrays(_offsets(values.shape), pa.array(np.ascontiguousarray(values).ravel()))


def _offsets(shape: tuple[int, int]) -> Any:
    import pyarrow as pa

    return pa.array(np.arange(shape[0] + 1, dtype=np.int32) * shape[1], pa.int32())


def digest_of(table: object) -> bytes:
    """Return a hash of the values of a table, whatever the bytes between them in memory."""
    import pyarrow as pa

    frame = frame_of(table)
    arrow: Any = table if isinstance(table, pa.Table) or frame is None else frame.to_arrow()
    digest = blake2b(digest_size=16)
    for name, column in zip(arrow.column_names, arrow.columns, strict=True):
        for part in (name.encode(), *_bytes_of(_plain(column))):
            digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()


def _bytes_of(column: Any) -> tuple[bytes, bytes]:
    """Return which values of a column are there, and the values."""
    import pyarrow as pa
    from pyarrow import compute

    whole = column.null_count == 0
    valid = b"" if whole else np.packbits(compute.is_valid(column).to_numpy()).tobytes()
    kinds = pa.types
    if kinds.is_integer(column.type) or kinds.is_floating(column.type):
        filled = column if whole else compute.fill_null(column, pa.scalar(0, column.type))
        return valid, filled.to_numpy().tobytes()
    return valid, "\0".join(map(repr, column.to_pylist())).encode()


class Written(NamedTuple):
    """What a file says of itself: the job that wrote it, what was explained and its values as hashes, and its rows."""

    job: str
    digest: str
    n_rows: int
    values: str = ""


class ValuesDigest:
    """A hash of the values of tables that are below each other, however they are divided."""

    def __init__(self) -> None:
        self._digests: dict[str, Any] = {}

    def add(self, table: Any) -> None:
        """Take in more rows: an Arrow table."""
        for name, column in zip(table.column_names, table.columns, strict=True):
            for chunk in column.chunks:
                for kind, part in _parts_of(chunk):
                    digest = self._digests.setdefault(f"{name} {kind}", blake2b(digest_size=16))
                    digest.update(part)

    @property
    def text(self) -> str:
        """The hash so far."""
        whole = blake2b(digest_size=16)
        for name in sorted(self._digests):
            whole.update(name.encode("utf-8", "backslashreplace") + b" " + self._digests[name].digest())
        return whole.hexdigest()


def _parts_of(array: Any) -> Iterator[tuple[str, bytes]]:
    """Yield bytes that tell the values of an Arrow array, each with its kind: those of parts make up the whole's."""
    import pyarrow as pa
    from pyarrow import compute

    kinds, kind = pa.types, array.type
    if kinds.is_list(kind) or kinds.is_large_list(kind):
        lengths = compute.fill_null(compute.list_value_length(array).cast(pa.int64()), -1)
        yield "lengths", np.asarray(lengths).tobytes()
        yield from ((f"of lists: {inner}", part) for inner, part in _parts_of(array.flatten()))
    elif kinds.is_integer(kind) or kinds.is_floating(kind):
        yield "known", np.asarray(compute.is_valid(array)).tobytes()
        yield str(kind), np.asarray(compute.fill_null(array, pa.scalar(0, kind))).tobytes()
    else:
        texts = map(repr, array.to_pylist())
        yield "texts", "".join(f"{len(text)} {text}" for text in texts).encode("utf-8", "backslashreplace")


class PartFile:
    """A file that is being written.

    Parameters
    ----------
    file : file opened for writing
    job : str
    """

    def __init__(self, file: Any, job: str) -> None:
        self._file, self._job = file, job
        self._writer: Any = None
        self._values = ValuesDigest()
        self.n_rows = 0

    def write(self, table: Any) -> None:
        """Write more rows."""
        from pyarrow import parquet

        if self._writer is None:
            self._writer = parquet.ParquetWriter(self._file, table.schema)
        self._writer.write_table(table)
        self._values.add(table)
        self.n_rows += table.num_rows

    def finish(self, digest: str) -> None:
        """Write down what was explained, and that this is all."""
        note = json.dumps(Written(self._job, digest, self.n_rows, self._values.text))
        self._writer.add_key_value_metadata({NOTE: note.encode()})
        self._writer.close()

    def abandon(self) -> None:
        """Close the writer of a file that is removed: it would complain about that later."""
        if self._writer is not None:
            with suppress(Exception):
                self._writer.close()


@dataclass(frozen=True)
class PartFiles:
    """A folder of files, one per part of the rows.

    Parameters
    ----------
    filesystem : pyarrow.fs.FileSystem
    folder : str
    job : str
        A hash of what is asked.
    """

    filesystem: FileSystem
    folder: str
    job: str

    @property
    def is_local(self) -> bool:
        """Whether the folder is one of this machine, or mounted by it."""
        return not is_remote(self.filesystem)

    def path(self, name: str) -> str:
        """Return the path of a part."""
        return f"{self.folder}/{name}"

    def begin(self) -> None:
        """Note which job writes to the folder. One that has other files is refused, and so is that of another job."""
        from pyarrow.fs import FileSelector, FileType

        with storage_errors(self.folder):
            if self.is_local:
                self.filesystem.create_dir(self.folder, recursive=True)
            known = self.filesystem.get_file_info(self.path(MANIFEST)).type == FileType.File
            if not known:
                listed = self.filesystem.get_file_info(FileSelector(self.folder, allow_not_found=True))
                if listed:
                    message = (
                        f"the folder {self.folder!r} is not empty ({listed[0].base_name!r}), and nothing in it says "
                        "that an interrupted call wrote it; pass a new folder"
                    )
                    raise TableError(message)
            elif self._manifest()["job"] != self.job:
                message = (
                    f"the folder {self.folder!r} has the answers to another question: of another model, background, "
                    "metric, output or selection of columns; pass a new folder"
                )
                raise TableError(message)
        self._note(complete=False)

    def end(self, rows: Mapping[str, int]) -> None:
        """Remove parts that are none any more, and note that all of them are there."""
        from pyarrow.fs import FileSelector, FileType

        with storage_errors(self.folder):
            for info in self.filesystem.get_file_info(FileSelector(self.folder, recursive=True)):
                name = info.path.removeprefix(self.folder).lstrip("/")
                if info.type == FileType.File and name not in rows and self._is_left_over(name):
                    self.filesystem.delete_file(info.path)
        self._note(complete=True, rows=sum(rows.values()), files=len(rows))

    def _is_left_over(self, name: str) -> bool:
        """Return whether a file is one of ours: a part, or one that was being written when its writer was killed."""
        return is_unfinished(basename(name)) or (name.endswith(".parquet") and self._noted(name) is not None)

    def _note(self, **facts: Any) -> None:
        content = json.dumps({"job": self.job, **facts}).encode()
        with self._opened(MANIFEST) as file:
            file.write(content)

    def _manifest(self) -> dict[str, Any]:
        with self.filesystem.open_input_stream(self.path(MANIFEST)) as file:
            try:
                facts = json.loads(file.read())
                return {"job": facts["job"], **facts}
            except (ValueError, TypeError, KeyError) as error:
                message = f"{self.path(MANIFEST)} is damaged; pass a new folder"
                raise TableError(message) from error

    def written(self, name: str) -> Written | None:
        """Return what a part says of itself; None if it is not there, was written by another job, or is damaged."""
        result = self._noted(name)
        return result if result is not None and self._is_intact(name, result) else None

    def _is_intact(self, name: str, result: Written) -> bool:
        """Return whether a part has the values that were written."""
        import pyarrow as pa
        from pyarrow import parquet

        digest = ValuesDigest()
        try:
            with self.filesystem.open_input_file(self.path(name)) as file, parquet.ParquetFile(file) as opened:
                for number in range(opened.num_row_groups):
                    digest.add(opened.read_row_group(number, use_threads=False))
        except (pa.ArrowException, OSError, ValueError, MemoryError):
            return False
        return digest.text == result.values

    def _noted(self, name: str) -> Written | None:
        import pyarrow as pa
        from pyarrow import parquet
        from pyarrow.fs import FileType

        if self.filesystem.get_file_info(self.path(name)).type != FileType.File:
            return None
        try:
            with self.filesystem.open_input_file(self.path(name)) as file:
                footer = parquet.read_metadata(file)
            result = Written(*json.loads((footer.metadata or {})[NOTE]))
        except (pa.ArrowException, OSError, KeyError, ValueError, TypeError):
            return None
        return result if result.job == self.job and result.n_rows == footer.num_rows else None

    @contextmanager
    def open(self, name: str) -> Iterator[PartFile]:
        """Open a part for writing. It is there when the block ends, and not at all if the block raises."""
        with storage_errors(self.path(name), "cannot be written"), self._opened(name) as file:
            part = PartFile(file, self.job)
            try:
                yield part
            except BaseException:
                part.abandon()
                raise

    @contextmanager
    def _opened(self, name: str) -> Iterator[Any]:
        path = self.path(name)
        if self.is_local:
            self.filesystem.create_dir(dirname(path), recursive=True)
            with replacing(path) as file:
                yield file
            return
        with tempfile.TemporaryFile() as file:  # objects of a store are uploaded as a whole
            yield file
            file.seek(0)
            with self.filesystem.open_output_stream(path) as upload:
                copyfileobj(file, upload, 2**22)
