"""Where files are: on this machine, or in a storage that Arrow or fsspec can open."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasswood.errors import ArgumentError, FileError, GlasswoodError, MissingExtraError, TableError

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

__all__ = [
    "Place",
    "fsspec_of",
    "import_arrow",
    "is_address",
    "is_remote",
    "place_of",
    "places_of",
    "read_at",
    "short",
    "storage_errors",
    "write_at",
]

URI = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+)://(?P<host>[^/?]*)(?P<path>.*?)(?P<query>\?\w+=[^/]*)?", re.S)
LONGEST = 300  # characters of another library's message
DENIED = re.compile(r"access.?denied|\bforbidden\b|status 403|access.?key.?id|signature.?does.?not|unauthorized", re.I)
QUOTED = re.compile(r"'[^']*'")


def import_arrow(what: str) -> Any:
    """Return PyArrow, or say which extra brings it."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtraError.of("pyarrow", extra="parquet", what=what) from error
    return pa


@dataclass(frozen=True)
class Place:
    """A file, a folder or a pattern: a file system of Arrow, and a path inside it.

    Parameters
    ----------
    filesystem : pyarrow.fs.FileSystem
        It can be pickled, credentials included, and so sent to workers.
    path : str
        Absolute on this machine; "bucket/folder/file" in S3.
    name : str
        The path as the user knows it, without credentials, for messages.
    """

    filesystem: FileSystem
    path: str
    name: str

    @property
    def is_local(self) -> bool:
        """Whether the files are on this machine."""
        return not is_remote(self.filesystem)


def is_remote(filesystem: FileSystem) -> bool:
    """Return whether files of a file system are elsewhere, so that each request takes a while."""
    from pyarrow import fs

    while isinstance(filesystem, fs.SubTreeFileSystem):
        filesystem = filesystem.base_fs
    return not isinstance(filesystem, fs.LocalFileSystem)


def fsspec_of(filesystem: Any) -> Any:
    """Return the file system of fsspec that is inside one of Arrow; None if there is none."""
    from pyarrow import fs

    wraps = isinstance(filesystem, fs.PyFileSystem) and isinstance(filesystem.handler, fs.FSSpecHandler)
    return filesystem.handler.fs if wraps else None


def place_of(
    path: str | PathLike[str],
    filesystem: object = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Place:
    """Return where a path is.

    Parameters
    ----------
    path : str or path
        A path of this machine, a URI such as ``"s3://bucket/folder"``, or a path inside `filesystem`.
    filesystem : pyarrow.fs.FileSystem, or a file system of fsspec, optional
    storage_options : mapping, optional
        What fsspec takes to open the storage of a URI.

    Examples
    --------
    >>> place_of("data/rows.parquet").is_local
    True
    """
    import_arrow("reading files")
    text = str(path)
    if filesystem is not None and storage_options is not None:
        message = "filesystem= and storage_options= both say how files are opened; pass one of them"
        raise ArgumentError(message)
    if filesystem is not None:
        return _inside(filesystem, text)
    uri = URI.fullmatch(text)
    if uri is None or uri["scheme"].lower() == "file":
        _refuse_options(storage_options, text)
        return _local(text)
    name = _shown_uri(uri)
    with storage_errors(name):
        if storage_options is not None:
            return _place_by_fsspec(f"{uri['scheme']}://{uri['host']}{uri['path']}", name, storage_options)
        return _place_by_arrow(uri, name)


def places_of(
    paths: Sequence[str], filesystem: object = None, storage_options: Mapping[str, Any] | None = None
) -> list[Place]:
    """Return where several paths are; those of one call are in one file system."""
    result = [place_of(paths[0], filesystem, storage_options)]
    for path in paths[1:]:
        same = filesystem is None and _root(path) == _root(paths[0])  # a file system is opened by requests
        result.append(_inside(result[0].filesystem, path) if same else place_of(path, filesystem, storage_options))
        if not result[-1].filesystem.equals(result[0].filesystem):
            message = (
                f"{result[0].name!r} and {result[-1].name!r} are in different file systems; summarize each of them, "
                "and add the Backgrounds"
            )
            raise TableError(message)
    return result


def _root(path: str) -> tuple[str, ...]:
    """Return the part of a URI that tells its file system; nothing for a path of this machine."""
    uri = URI.fullmatch(path)
    return () if uri is None else (uri["scheme"], uri["host"], uri["query"] or "")


def _shown_uri(uri: re.Match[str]) -> str:
    """Return a URI without a password. What stands before the @ of Azure's is a container."""
    before, at, host = uri["host"].rpartition("@")
    shown = f"{before}@{host}" if at and ":" not in before and uri["scheme"].startswith("abfs") else host
    return f"{uri['scheme']}://{shown}{uri['path']}"


def _refuse_options(options: object, text: str) -> None:
    if options is not None:
        message = f"storage_options= are for addresses such as 's3://bucket/folder'; {text!r} is a path of this machine"
        raise ArgumentError(message)


def _local(text: str) -> Place:
    from pyarrow import fs

    if text.startswith("file:"):
        filesystem, path = fs.FileSystem.from_uri(text)
        return Place(filesystem, path, path)
    return Place(fs.LocalFileSystem(), str(Path(text).absolute()) if text else text, text)


def _place_by_arrow(uri: re.Match[str], name: str) -> Place:
    """Return the place of a URI whose storage Arrow knows, or fsspec.

    Only the host is given to Arrow: it takes %20 in a path for a space, which it is not in the keys of a bucket.
    """
    import pyarrow as pa
    from pyarrow import fs

    try:
        query = uri["query"] or ("?retry_limit_seconds=60" if uri["scheme"] in ("gs", "gcs") else "")  # not 15 minutes
        filesystem, root = fs.FileSystem.from_uri(f"{uri['scheme']}://{uri['host']}{query}")
    except pa.ArrowInvalid as error:
        if "Unrecognized filesystem" not in str(error):
            raise
        return _place_by_fsspec(f"{uri['scheme']}://{uri['host']}{uri['path']}", name, {})
    path = f"{root.rstrip('/')}/{uri['path'].lstrip('/')}" if uri["path"].strip("/") else root
    return Place(filesystem, path.rstrip("/") or "/", name)


def _place_by_fsspec(text: str, name: str, options: Mapping[str, Any]) -> Place:
    from pyarrow import fs

    try:
        from fsspec.core import url_to_fs

        opened, path = url_to_fs(text, **options)
    except (ImportError, ValueError) as error:  # ValueError: the scheme is unknown
        scheme = text.partition("://")[0]
        message = f"{name!r} cannot be opened: fsspec, and its library for {scheme!r}, are needed ({short(error)})"
        raise TableError(message) from error
    return Place(fs.PyFileSystem(fs.FSSpecHandler(opened)), path, name)


def _inside(filesystem: Any, text: str) -> Place:
    """Return the place of a path inside a file system that the user has opened; it may be a URI all the same."""
    from pyarrow import fs

    uri = URI.fullmatch(text)
    name = text if uri is None else _shown_uri(uri)
    filesystem = fsspec_of(filesystem) or filesystem
    if isinstance(filesystem, fs.FileSystem):
        if uri is not None:
            container, _, _ = uri["host"].rpartition("@")
            is_host = uri["scheme"].lower() in ("hdfs", "viewfs", "file")
            azure = uri["scheme"].lower().startswith("abfs")
            bucket = "" if is_host else container if azure and container else uri["host"].rpartition("@")[2]
            text = f"{bucket}{uri['path']}"
        local = isinstance(filesystem, fs.LocalFileSystem)
        return Place(filesystem, str(Path(text).absolute()) if local else text.rstrip("/") or "/", name)
    if not (hasattr(filesystem, "_strip_protocol") and hasattr(filesystem, "info")):
        message = f"filesystem= is a file system of pyarrow.fs or of fsspec, not a {type(filesystem).__name__}"
        raise ArgumentError(message)
    path = str(filesystem._strip_protocol(text))
    if type(filesystem).__module__ == "fsspec.implementations.local":
        return Place(fs.LocalFileSystem(), path, name)
    return Place(fs.PyFileSystem(fs.FSSpecHandler(filesystem)), path, name)


def is_address(path: object, filesystem: object = None, storage_options: object = None) -> bool:
    """Return whether a path is in a storage that has to be opened, or the user says how to open it."""
    return "://" in str(path) or filesystem is not None or storage_options is not None


def read_at(place: Place) -> bytes:
    """Return the content of a file."""
    with (
        storage_errors(place.name, error=FileError),
        place.filesystem.open_input_stream(place.path, compression=None) as file,
    ):
        content: bytes = file.read()
    return content


def write_at(place: Place, content: bytes) -> None:
    """Write a file."""
    with storage_errors(place.name, "cannot be written", FileError):  # noqa: SIM117 (closing it writes)
        with place.filesystem.open_output_stream(place.path) as file:
            file.write(content)


# ------------------------------------------------------------------------------------------------------ messages


class storage_errors:
    """A block in which errors of storages get the name of the file, and become short."""

    def __init__(self, name: str, what: str = "cannot be read", error: type[GlasswoodError] = TableError) -> None:
        self.name, self.what, self.error = name, what, error

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        import pyarrow as pa

        if isinstance(error, pa.ArrowException | OSError) and not isinstance(error, GlasswoodError):
            raise self.error(self._message(error)) from error

    def _message(self, error: BaseException) -> str:
        text = short(error)
        if DENIED.search(QUOTED.sub("", text.replace(self.name, ""))):  # a file may have such a name
            return f"{self.name} {self.what}: the storage denies access; check the credentials ({text})"
        return f"{self.name} {self.what}: {text}"


def short(error: BaseException) -> str:
    """Return what an error says, on one line of moderate length."""
    text = " ".join(str(error).split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
