"""Place: where files are: a folder of this machine, or of a store."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from glasswood.tables._parquet import import_arrow

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

__all__ = ["Place", "place_of"]


class Place(NamedTuple):
    """A file or folder, and the filesystem that it is in."""

    filesystem: FileSystem
    path: str


def place_of(path: str | PathLike[str]) -> Place:
    """Return where a path is."""
    import_arrow("reading and writing Parquet")
    from pyarrow import fs

    text = str(path)
    if "://" in text:
        return Place(*fs.FileSystem.from_uri(text))
    return Place(fs.LocalFileSystem(), str(Path(text).absolute()))
