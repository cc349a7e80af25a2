"""What fitted transformers have learned, as a hash: the same for equal numbers and functions, in any process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from types import FunctionType
from typing import Any

import numpy as np

__all__ = ["learned"]

# Parameters that do not change what a transformer makes of a row.
WITHOUT_EFFECT = {"copy", "memory", "n_jobs", "transformer_weights_", "verbose"}
DEEPEST = 12


def learned(steps: Iterable[object]) -> str:
    """Return a hash of fitted transformers: their classes, parameters and learned numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import StandardScaler
    >>> one, two = (StandardScaler().fit(np.array([[0.0], [x]])) for x in (1.0, 2.0))
    >>> learned([one]) == learned([StandardScaler().fit(np.array([[0.0], [1.0]]))] ) != learned([two])
    True
    """
    digest = blake2b(digest_size=16)
    for part in _components(list(steps), 0):
        digest.update(part + b"|")
    return digest.hexdigest()


def _components(value: Any, depth: int) -> Iterator[bytes]:
    """Yield what a value is made of. Of objects that are not known, their class."""
    kind = type(value)
    yield f"{kind.__module__}.{kind.__qualname__}".encode()
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        yield f"{array.dtype.str}{array.shape}".encode()
        yield repr(array.tolist()).encode() if array.dtype.kind == "O" else np.ascontiguousarray(array).tobytes()
    elif value is None or isinstance(value, bool | int | float | complex | str | bytes):
        yield repr(value).encode()
    elif isinstance(value, set | frozenset):
        yield from sorted(repr(item).encode() for item in value)
    elif depth < DEEPEST:
        for inner in _within(value):
            yield from _components(inner, depth + 1)


def _within(value: Any) -> list[Any]:
    """Return what is within a value that has parts."""
    if isinstance(value, Mapping):
        return [part for item in value.items() for part in item]
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, FunctionType):
        code = value.__code__
        consts = [item for item in code.co_consts if not hasattr(item, "co_code")]
        return [code.co_code, code.co_names, consts, [cell.cell_contents for cell in value.__closure__ or ()]]
    if callable(value) and not hasattr(value, "transform"):
        return [str(getattr(value, "__qualname__", getattr(value, "__name__", "")))]
    known = getattr(value, "__dict__", {})
    return [part for item in sorted(known.items()) if item[0] not in WITHOUT_EFFECT for part in item]
