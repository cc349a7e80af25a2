"""What a result says, as plain values that can be compared; and attempts to write into every array of it."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

__all__ = ["arrays_of", "digest", "snapshot", "vandalize"]

DEEPEST = 4
# Methods without arguments that hand out arrays.
METHODS = ("mean_abs", "mean_square", "std", "matrix")
MAX_OF_A_MAPPING = 3
# Not what computes them, which may differ.
RESULTS = re.compile(r"glasswood\.(results|questions\.\w+\._result|counting\._background)")
# Attributes of results that hold objects without a public name, and words, which may change.
PRIVATE = re.compile(r"\.(axis|source|find_\w+|folds\w*|schema|score|core_trees|pair|facts|caveat|fingerprint)\b")


def _is_result(value: Any) -> bool:
    return RESULTS.match(type(value).__module__) is not None


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a result: entries of mappings and sequences, public attributes and properties."""
    if isinstance(value, Mapping):
        for key in list(value)[:MAX_OF_A_MAPPING]:
            yield f"[{key!r}]", value[key]
    elif isinstance(value, list | tuple):
        for number, part in enumerate(value[:20]):
            yield f"[{number}]", part
    elif _is_result(value):
        for name in _public(value):
            try:
                part = getattr(value, name)
                part = part() if name in METHODS else part
            except (AttributeError, ValueError, TypeError, NotImplementedError):
                continue  # a property that does not apply
            yield f".{name}", part


def _public(value: Any) -> list[str]:
    fields = [field.name for field in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else []
    properties = [
        name
        for cls in type(value).__mro__
        for name, member in vars(cls).items()
        if not name.startswith("_") and (isinstance(member, property) or hasattr(member, "attrname"))
    ]
    methods = [name for name in METHODS if callable(getattr(type(value), name, None))]
    return list(dict.fromkeys([*fields, *properties, *methods]))


def arrays_of(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, np.ndarray]]:
    """Yield every array that a result hands out, and where it is."""
    if isinstance(value, np.ndarray):
        yield path, value
    elif depth < DEEPEST:
        for name, part in _parts(value):
            yield from arrays_of(part, path + name, depth + 1)


def snapshot(value: Any) -> dict[str, Any]:
    """Return copies of all arrays of a result, and its numbers and texts."""
    return dict(_leaves(value, "", 0))


def _leaves(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    if isinstance(value, np.ndarray):
        yield path, value.copy()
    elif isinstance(value, str | int | float | bool | np.generic | None):
        yield path, value
    elif depth < DEEPEST:
        for name, part in _parts(value):
            yield from _leaves(part, path + name, depth + 1)


def vandalize(result: Any) -> int:
    """Write into every array that a result hands out, as far as it can be written; return how many took it."""
    written = 0
    for _, array in arrays_of(result):
        try:
            if array.dtype.kind in "fiu" and array.size:
                array[...] = 77
                written += 1
        except ValueError:
            pass  # read-only, as it should be
    return written


def digest(taken: Mapping[str, Any]) -> bytes:
    """Return a digest of the public part of a snapshot: two are the same if all numbers and texts are."""
    found = hashlib.sha256()
    for path in sorted(path for path in taken if not PRIVATE.search(path)):
        value = taken[path]
        array = isinstance(value, np.ndarray) and value.dtype != object
        said = f"{value.dtype.str}{value.shape}" if array else repr(getattr(value, "tolist", lambda v=value: v)())
        found.update(f"{path}\0{said}\0".encode(errors="backslashreplace"))
        found.update(np.ascontiguousarray(value).tobytes() if array else b"")
    return found.digest()
