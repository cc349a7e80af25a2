"""JSON in model files, which may be damaged: every name once, UTF-8, no deeper than models are; lists of numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import UnsupportedModelError

__all__ = ["number_array", "parse_json"]


def parse_json(content: bytes | str, name: str = "the model", parse_int: Callable[[str], int | float] = int) -> Any:
    """Return what a JSON text holds; `name` is used in errors, and `parse_int` makes numbers of digits.

    Raises
    ------
    UnsupportedModelError
        If it is not JSON, or if an object has the same name twice, for which libraries differ in which one they use.

    Examples
    --------
    >>> parse_json('{"trees": [1, 2]}')
    {'trees': [1, 2]}
    >>> parse_json('{"trees": 1, "trees": 2}')
    Traceback (most recent call last):
    ...
    glasswood.errors.UnsupportedModelError: ... 'trees' twice...
    """
    try:
        text = content.decode("utf-8") if isinstance(content, bytes) else content
        return json.loads(text, object_pairs_hook=_object, parse_int=parse_int)
    except RecursionError as error:
        message = f"{name} is not a whole JSON file: it is nested more deeply than any model is; save the model again"
        raise UnsupportedModelError(message) from error
    except ValueError as error:
        message = f"{name} is not a whole JSON file ({str(error)[:200]}); save the model again"
        raise UnsupportedModelError(message) from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        message = f"an object has the name {twice[:50]!r} twice"
        raise ValueError(message)
    return members


def number_array(values: object, name: str) -> NDArray[Any]:
    """Return a list of numbers, or of flags, as an array; arrays are returned as they are.

    Anything else is refused before NumPy sees it. NumPy takes True among numbers for 1, and if there is one text, it
    makes all numbers texts, and takes as much memory for each of them as for the longest.

    Raises
    ------
    UnsupportedModelError
        If it is not a list, or holds other things than numbers.

    Examples
    --------
    >>> number_array([1, 2.5], "leaf_values")
    array([1. , 2.5])
    >>> number_array([True, 2.5], "leaf_values")
    Traceback (most recent call last):
    ...
    glasswood.errors.UnsupportedModelError: leaf_values should be a list of numbers; the model is damaged
    """
    if isinstance(values, np.ndarray):
        return values
    kinds = set(map(type, values)) if isinstance(values, list | tuple) else {None}
    if not (kinds <= {int, float} or kinds == {bool}):
        message = f"{name} should be a list of numbers; the model is damaged"
        raise UnsupportedModelError(message)
    return np.asarray(values)
