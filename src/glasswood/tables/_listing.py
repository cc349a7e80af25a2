"""Which files are at a place: those of folders and patterns, and what tells that one has changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from fnmatch import fnmatchcase, translate
from glob import glob, has_magic
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, TypeVar

from glasswood.errors import TableError
from glasswood.tables._places import Place, fsspec_of, is_remote, storage_errors

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

__all__ = ["existing", "files_of", "is_pattern", "stamp_of", "waiting"]

T = TypeVar("T")
U = TypeVar("U")

TIMES = ("mtime", "lastmodified", "last_modified", "last-modified", "updated", "created")  # as storages call them
REQUESTS = 32  # under way at once


def files_of(places: Sequence[Place]) -> list[str]:
    """Return the paths of all files of places that are in one file system; hidden files of folders are left out.

    A pattern means all that it matches, in the order of their names.
    """
    matching = [replace(place, path=path) for place in places for path in _matching(place)]
    return [file for files in waiting(_files_in, matching, places[0].filesystem) for file in files]


def waiting(work: Callable[[T], U], items: Sequence[T], filesystem: FileSystem) -> list[U]:
    """Return what `work` gives for each item; many at once if files are remote, as that is mostly waiting."""
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
        result = sorted(glob(place.path, recursive=True))  # noqa: PTH207 (a pattern may be absolute)
    else:
        parts = PurePosixPath(place.path).parts
        first = next(number for number, part in enumerate(parts) if has_magic(part))
        result = sorted(_walk(place.filesystem, str(PurePosixPath(*parts[:first])), parts[first:]))
    if not result:
        message = f"no file matches {place.name!r}"
        raise TableError(message)
    return result


def _walk(filesystem: FileSystem, folder: str, parts: Sequence[str]) -> Iterator[str]:
    """Yield what is in a folder and matches a pattern, part by part: a bucket may hold a great many other files."""
    if parts[0] == "**":
        pattern = re.compile(
            "".join("(?:[^/.][^/]*/)*" if part == "**" else f"{_name_pattern(part)}/" for part in parts)
        )
        for info in _listed(filesystem, folder, deep=True):
            if info.is_file and pattern.fullmatch(f"{_below(info.path, folder)}/"):
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


def _name_pattern(part: str) -> str:
    """Return a pattern of one name as a regular expression."""
    inner = translate(part).removeprefix("(?s:").removesuffix(r")\Z").removesuffix(r")\z")
    return f"(?!\\.){inner.replace('.*', '[^/]*')}"


def _files_in(place: Place) -> list[str]:
    """Return the files in a folder and in those within, hidden ones excepted; a file is itself."""
    if _kind_of(place).name == "File":
        return [place.path]
    with storage_errors(place.name):
        paths = [info.path for info in _listed(place.filesystem, place.path, deep=True) if info.is_file]
    names = {path: PurePosixPath(_below(path, place.path)).parts for path in sorted(paths)}
    return [path for path, parts in names.items() if not any(part.startswith(("_", ".")) for part in parts)]


def _kind(place: Place) -> Any:
    with storage_errors(place.name):
        return place.filesystem.get_file_info(place.path).type


def _listed(filesystem: FileSystem, folder: str, *, deep: bool) -> Iterable[Any]:
    from pyarrow import fs

    result: Iterable[Any] = filesystem.get_file_info(fs.FileSelector(folder, recursive=deep, allow_not_found=True))
    return result


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
    stamp = next((facts[name] for name in ("etag", *TIMES) if facts.get(name)), None)
    if stamp is not None:
        return f"{facts['size']}|{stamp.decode() if isinstance(stamp, bytes) else stamp}"
    info = filesystem.get_file_info(path)
    return f"{info.size}|{info.mtime_ns}"
