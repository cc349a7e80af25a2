"""Columns of a row group, fetched from a storage by several requests at once before they are decoded."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from glasswood.tables._listing import waiting
from glasswood.tables._places import fsspec_of

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

__all__ = ["column_ranges", "fetch"]

HOLE = 2**16  # bytes between two columns that are fetched needlessly, to save a request
PIECE = 2**23  # bytes of a request at most


def fetch(filesystem: FileSystem, path: str, opened: Any, columns: list[tuple[int, int]]) -> Any:
    """Return a file of Arrow that has parts of a file, given by their first bytes and sizes, in memory.

    The rest of it is read if it is asked for. Arrow itself would fetch one column after the other.
    """
    import pyarrow as pa

    spans = _joined(columns)
    parts = {begin: bytearray(end - begin) for begin, end in spans}
    pieces = [(begin, at, min(at + PIECE, end)) for begin, end in spans for at in range(begin, end, PIECE)]
    given = fsspec_of(filesystem)

    def one(piece: tuple[int, int, int]) -> None:
        begin, first, last = piece
        parts[begin][first - begin : last - begin] = opened.read_at(last - first, first)

    if given is None:
        waiting(one, pieces, filesystem)
    else:  # whose files are read one at a time
        contents = given.cat_ranges(
            [path] * len(pieces), [p[1] for p in pieces], [p[2] for p in pieces], on_error="raise"
        )
        for (begin, first, last), content in zip(pieces, contents, strict=True):
            parts[begin][first - begin : last - begin] = content
    return pa.PythonFile(_Fetched(opened, parts), mode="r")


def column_ranges(footer: Any, group: int, names: Collection[str]) -> list[tuple[int, int]]:
    """Return the first byte and the size of the columns of a row group."""
    result = []
    row_group = footer.row_group(group)
    for number in range(row_group.num_columns):
        column = row_group.column(number)
        if column.path_in_schema in names or column.path_in_schema.partition(".")[0] in names:
            first = [column.data_page_offset, column.dictionary_page_offset or column.data_page_offset]
            result.append((min(first), column.total_compressed_size))
    return result


def _joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the beginnings and ends of ranges, those that are near each other as one."""
    spans = sorted((begin, begin + size) for begin, size in ranges if size > 0)
    breaks = [number for number, (one, other) in enumerate(pairwise(spans), start=1) if other[0] - one[1] > HOLE]
    edges = [0, *breaks, len(spans)]
    return [(spans[i][0], max(end for _, end in spans[i:j])) for i, j in pairwise(edges) if i < j]


class _Fetched:
    """A file for Python, parts of which are in memory."""

    closed = False

    def __init__(self, opened: Any, parts: dict[int, bytearray]) -> None:
        self._opened, self._parts, self._at = opened, parts, 0

    def read(self, n: int = -1) -> Any:
        n = self._opened.size() - self._at if n < 0 else n
        for begin, part in self._parts.items():
            if begin <= self._at and self._at + n <= begin + len(part):
                result: Any = memoryview(part)[self._at - begin : self._at - begin + n]
                break
        else:
            result = self._opened.read_at(n, self._at)
        self._at += len(result)
        return result

    def seek(self, to: int, whence: int = 0) -> int:
        self._at = to + (0, self._at, self._opened.size())[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        self._parts = {}
