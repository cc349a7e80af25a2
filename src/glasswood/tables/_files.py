"""Files that are written as a whole or not at all, and arrays as bytes that are proven before they are used."""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import BackgroundError

__all__ = ["is_unfinished", "pack_arrays", "replacing", "unpack_arrays", "write_whole"]

DIGEST = 32  # bytes of a SHA-256
LENGTH = 8  # bytes of the length of the header
KINDS = {"<i8": ("|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<i8"), "<f8": ("<f8",), "|u1": ("|u1",)}


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a new file that takes the place of `path` when the block ends, and vanishes if the block raises.

    Nobody ever sees half a file. A symbolic link at `path` is replaced, and what it points to is left alone. Devices
    and pipes cannot be replaced and are written to.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(folder + "/x.txt") as file:
    ...         _ = file.write(b"whole")
    ...     Path(folder, "x.txt").read_bytes()
    b'whole'
    """
    target = Path(path)
    if _is_device(target):
        with target.open("wb") as file:
            yield file
        return
    fresh = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.new")
    # Never an existing file, and never through a link.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(fresh, flags, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.is_file() and not target.is_symlink():
            fresh.chmod(stat.S_IMODE(target.stat().st_mode))  # a private file stays private
        fresh.replace(target)
    except BaseException:
        with suppress(OSError):
            fresh.unlink()
        raise


def is_unfinished(name: str) -> bool:
    """Return whether a file has the name of one that `replacing` did not finish, because its process was killed."""
    return re.fullmatch(r"\..+\.[0-9a-f]{16}\.new", name) is not None


def _is_device(target: Path) -> bool:
    """Return whether a path is a device or a pipe; links to these count in /dev only, as in /dev/stdout."""
    special = target.exists() and not target.is_file() and not target.is_dir()
    return special and (not target.is_symlink() or target.parent == Path("/dev"))


def write_whole(path: str | PathLike[str], content: bytes) -> None:
    """Write a file as a whole, or leave what was there; see `replacing`."""
    with replacing(path) as file:
        file.write(content)


def pack_arrays(kind: str, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return facts and vectors as bytes.

    A line with the kind; the length of a header and the header, JSON text; the vectors one after the other; the
    SHA-256 of all that. Integers are stored in as few bytes as all numbers of their vector fit in. Nothing is
    compressed, so that what is read takes at most 8 times the bytes it is read from.

    Parameters
    ----------
    kind : str
        What it is, and in which version of the format: "glasswood background 4".
    facts : mapping
        What JSON can hold.
    arrays : mapping of str to ndarray
        Vectors of int64, float64 or uint8.

    Examples
    --------
    >>> packed = pack_arrays("glasswood example 1", {"rows": 3}, {"counts": np.array([1, 2, 300])})
    >>> unpack_arrays("glasswood example 1", packed)
    ({'rows': 3}, {'counts': array([  1,   2, 300])})
    """
    stored = {name: _narrow(array) for name, array in arrays.items()}
    layout = [[name, arrays[name].dtype.str, array.dtype.str, array.size] for name, array in stored.items()]
    header = json.dumps({"facts": dict(facts), "arrays": layout}).encode()
    parts = [f"{kind}\n".encode(), len(header).to_bytes(LENGTH, "little"), header]
    parts += [array.tobytes() for array in stored.values()]
    digest = sha256()
    for part in parts:
        digest.update(part)
    return b"".join([*parts, digest.digest()])


def _narrow(array: NDArray[Any]) -> NDArray[Any]:
    """Return integers in the narrowest type that holds them all."""
    if array.dtype != np.int64 or not array.size:
        return array
    narrow = np.result_type(np.min_scalar_type(array.min()), np.min_scalar_type(array.max()))
    return array.astype(narrow.newbyteorder("<")) if narrow.itemsize < array.itemsize else array


def unpack_arrays(kind: str, packed: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the facts and vectors that `pack_arrays` was given.

    Raises
    ------
    BackgroundError
        If the bytes are of a different kind, or differ from those that were packed.
    """
    start = len(kind) + 1 + LENGTH
    if not packed.startswith(f"{kind}\n".encode()) or len(packed) < start + DIGEST:
        message = f"it does not begin with the line {kind!r}, or it is truncated"
        raise BackgroundError(message)
    body = memoryview(packed)[:-DIGEST]
    if sha256(body).digest() != packed[-DIGEST:]:
        message = "its digest does not match its content: it is damaged, truncated, or was changed by hand"
        raise BackgroundError(message)
    size = int.from_bytes(packed[start - LENGTH : start], "little")
    try:
        header = json.loads(bytes(body[start : start + size]))
        facts, layout = header["facts"], header["arrays"]
        arrays = _vectors(body[start + size :], layout)
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
        message = f"its header is damaged ({type(error).__name__}: {error})"
        raise BackgroundError(message) from error
    if not isinstance(facts, dict):
        message = "its header is damaged"
        raise BackgroundError(message)
    return facts, arrays


def _vectors(body: memoryview, layout: list[tuple[str, str, str, int]]) -> dict[str, NDArray[Any]]:
    """Return the vectors, after their claimed sizes were found to be that of the bytes."""
    for _, kind, stored, size in layout:
        if stored not in KINDS[kind] or type(size) is not int or size < 0:
            message = f"a vector of {size} numbers {kind!r}, stored as {stored!r}"
            raise ValueError(message)
    if sum(int(stored[2:]) * size for _, _, stored, size in layout) != len(body):
        message = f"vectors of a different size than the {len(body)} bytes that follow"
        raise ValueError(message)
    arrays: dict[str, NDArray[Any]] = {}
    for name, kind, stored, size in layout:
        array = np.frombuffer(body, stored, size)
        arrays[str(name)] = array.astype(np.dtype(kind).newbyteorder("="), copy=False)
        body = body[array.nbytes :]
    return arrays
