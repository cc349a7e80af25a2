"""Where files are: on this machine, or in a storage that Arrow or fsspec can open; patterns and folders of these."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase, translate
from glob import glob, has_magic
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, TypeVar

from glasswood.errors import ArgumentError, FileError, GlasswoodError, MissingExtraError, TableError

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

__all__ = [
    "Place",
    "existing",
    "files_of",
    "fsspec_of",
    "import_arrow",
    "is_address",
    "is_pattern",
    "is_remote",
    "naming",
    "place_of",
    "places_of",
    "read_at",
    "short",
    "stamp_of",
    "waiting",
    "write_at",
]

T = TypeVar("T")
U = TypeVar("U")

URI = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+)://(?P<host>[^/?]*)(?P<path>.*?)(?P<query>\?\w+=[^/]*)?", re.S)
TELLING = (
    "etag",
    "mtime",
    "lastmodified",
    "last_modified",
    "last-modified",
    "updated",
    "created",
)  # the best one first
REQUESTS = 32  # under way at once
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
    name = _told(uri)
    with naming(name):
        if storage_options is not None:
            return _by_fsspec(f"{uri['scheme']}://{uri['host']}{uri['path']}", name, storage_options)
        return _by_arrow(uri, name)


def places_of(
    paths: Sequence[str], filesystem: object = None, storage_options: Mapping[str, Any] | None = None
) -> list[Place]:
    """Return where several paths are; those of one call are in one file system."""
    found = [place_of(paths[0], filesystem, storage_options)]
    for path in paths[1:]:
        same = filesystem is None and _root(path) == _root(paths[0])  # a file system is opened by requests
        found.append(_inside(found[0].filesystem, path) if same else place_of(path, filesystem, storage_options))
        if not found[-1].filesystem.equals(found[0].filesystem):
            message = (
                f"{found[0].name!r} and {found[-1].name!r} are in different file systems; summarize each of them, and "
                "add the Backgrounds"
            )
            raise TableError(message)
    return found


def _root(path: str) -> tuple[str, ...]:
    """Return the part of a URI that tells its file system; nothing for a path of this machine."""
    uri = URI.fullmatch(path)
    return () if uri is None else (uri["scheme"], uri["host"], uri["query"] or "")


def _told(uri: re.Match[str]) -> str:
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


def _by_arrow(uri: re.Match[str], name: str) -> Place:
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
        return _by_fsspec(f"{uri['scheme']}://{uri['host']}{uri['path']}", name, {})
    path = f"{root.rstrip('/')}/{uri['path'].lstrip('/')}" if uri["path"].strip("/") else root
    return Place(filesystem, path.rstrip("/") or "/", name)


def _by_fsspec(text: str, name: str, options: Mapping[str, Any]) -> Place:
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
    name = text if uri is None else _told(uri)
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


# ------------------------------------------------------------------------------------------------------ files


def files_of(places: Sequence[Place]) -> list[str]:
    """Return the paths of all files of places that are in one file system; hidden files of folders are left out.

    A pattern means all that it matches, in the order of their names.
    """
    matching = [replace(place, path=found) for place in places for found in _matching(place)]
    return [file for files in waiting(_files_in, matching, places[0].filesystem) for file in files]


def waiting(work: Callable[[T], U], items: Sequence[T], filesystem: FileSystem) -> list[U]:
    """Return what `work` gives for each item; many at once if files are elsewhere, which is waiting mostly."""
    if len(items) < 2 or not is_remote(filesystem):
        return [work(item) for item in items]
    pool = ThreadPoolExecutor(min(REQUESTS, len(items)))
    try:
        return list(pool.map(work, items))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def existing(place: Place) -> Place:
    """Return a place, or raise an error if nothing is there."""
    _kind_of(place)
    return place


def _kind_of(place: Place) -> Any:
    """Return whether a place is a file or a folder; an error is raised if it is neither."""
    kind = _kind(place) if place.path else None
    if kind is None or kind.name == "NotFound":
        message = f"there is no file or folder {place.name!r}; pass Parquet files, or a table"
        raise TableError(message)
    return kind


def is_pattern(place: Place) -> bool:
    """Return whether a path is a pattern; the name of a file may have its signs, too."""
    return has_magic(place.path) and _kind(place).name == "NotFound"


def _matching(place: Place) -> list[str]:
    """Return what a pattern matches; a path without one is itself."""
    if not is_pattern(place):
        return [place.path]
    if place.is_local:
        found = sorted(glob(place.path, recursive=True))  # noqa: PTH207 (a pattern may be absolute)
    else:
        parts = PurePosixPath(place.path).parts
        first = next(number for number, part in enumerate(parts) if has_magic(part))
        found = sorted(_walk(place.filesystem, str(PurePosixPath(*parts[:first])), parts[first:]))
    if not found:
        message = f"no file matches {place.name!r}"
        raise TableError(message)
    return found


def _walk(filesystem: FileSystem, folder: str, parts: Sequence[str]) -> Iterator[str]:
    """Yield what is in a folder and matches a pattern, part by part: a bucket may hold a great many other files."""
    if parts[0] == "**":
        wanted = re.compile("".join("(?:[^/.][^/]*/)*" if part == "**" else f"{_of_name(part)}/" for part in parts))
        for info in _listed(filesystem, folder, deep=True):
            if info.is_file and wanted.fullmatch(f"{_below(info.path, folder)}/"):
                yield info.path
        return
    if len(parts) > 1 and not has_magic(parts[0]):
        yield from _walk(filesystem, f"{folder}/{parts[0]}", parts[1:])
        return
    for info in _listed(filesystem, folder, deep=False):
        matches = fnmatchcase(info.base_name, parts[0]) and (not info.base_name.startswith(".") or parts[0][0] == ".")
        if matches and len(parts) == 1:
            yield info.path
        elif matches and not info.is_file:
            yield from _walk(filesystem, info.path, parts[1:])


def _of_name(part: str) -> str:
    """Return a pattern of one name as a regular expression."""
    inner = translate(part).removeprefix("(?s:").removesuffix(r")\Z").removesuffix(r")\z")
    return f"(?!\\.){inner.replace('.*', '[^/]*')}"


def _files_in(place: Place) -> list[str]:
    """Return the files in a folder and in those within, hidden ones excepted; a file is itself."""
    if _kind_of(place).name == "File":
        return [place.path]
    with naming(place.name):
        found = [info.path for info in _listed(place.filesystem, place.path, deep=True) if info.is_file]
    names = {path: PurePosixPath(_below(path, place.path)).parts for path in sorted(found)}
    return [path for path, parts in names.items() if not any(part.startswith(("_", ".")) for part in parts)]


def _kind(place: Place) -> Any:
    with naming(place.name):
        return place.filesystem.get_file_info(place.path).type


def _listed(filesystem: FileSystem, folder: str, *, deep: bool) -> Iterable[Any]:
    from pyarrow import fs

    found: Iterable[Any] = filesystem.get_file_info(fs.FileSelector(folder, recursive=deep, allow_not_found=True))
    return found


def _below(path: str, folder: str) -> str:
    return path.removeprefix(folder).lstrip("/")


def stamp_of(filesystem: FileSystem, path: str, opened: Any = None) -> str:
    """Return what tells whether a file has changed: its size, and its ETag or else the time of the last change.

    The time in S3 has seconds only. An ETag follows from the content, or from the version of an object. `opened` is the
    file, if it has just been opened, which saves a request.
    """
    given = fsspec_of(filesystem)
    if given is not None:
        given.invalidate_cache(given._parent(path))
        facts = {str(name).lower(): value for name, value in given.info(path).items()}
    elif is_remote(filesystem):
        with filesystem.open_input_file(path) if opened is None else nullcontext(opened) as file:
            facts = {"size": file.size()} | {str(k).lower(): v for k, v in (file.metadata() or {}).items()}
    else:
        facts = {}
    told = next((facts[name] for name in TELLING if facts.get(name)), None)
    if told is not None:
        return f"{facts['size']}|{told.decode() if isinstance(told, bytes) else told}"
    info = filesystem.get_file_info(path)
    return f"{info.size}|{info.mtime_ns}"


def is_address(path: object, filesystem: object = None, storage_options: object = None) -> bool:
    """Return whether a path is in a storage that has to be opened, or the user says how to open it."""
    return "://" in str(path) or filesystem is not None or storage_options is not None


def read_at(place: Place) -> bytes:
    """Return the content of a file."""
    with naming(place.name, error=FileError), place.filesystem.open_input_stream(place.path, compression=None) as file:
        content: bytes = file.read()
    return content


def write_at(place: Place, content: bytes) -> None:
    """Write a file."""
    with naming(place.name, "cannot be written", FileError):  # noqa: SIM117 (closing it writes)
        with place.filesystem.open_output_stream(place.path) as file:
            file.write(content)


# ------------------------------------------------------------------------------------------------------ messages


class naming:
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
