"""JSON in model files, which may be damaged: every name once, UTF-8, and no deeper than models are."""

from __future__ import annotations

import json
from typing import Any

from glasswood.errors import UnsupportedModelError

__all__ = ["parse_json"]


def parse_json(content: bytes | str, name: str = "the model") -> Any:
    """Return what a JSON text holds; `name` is used in errors.

    Raises
    ------
    UnsupportedModelError
        If it is no JSON text, or has one name twice in one object, of which libraries take one or the other.

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
        return json.loads(text, object_pairs_hook=_object)
    except RecursionError as error:
        message = f"{name} is not a whole JSON file: it is nested more deeply than any model; save the model again"
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
