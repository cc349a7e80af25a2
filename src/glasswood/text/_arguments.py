"""Checks of arguments before anything is computed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import wraps
from os import PathLike
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar

import numpy as np

from glasswood.errors import ArgumentError, FileError, TableError

__all__ = [
    "Centering",
    "brief",
    "by_position",
    "checked_centering",
    "checked_groups",
    "new_file",
    "refuse_no_name",
    "require_mapping",
    "whole_number",
]


P = ParamSpec("P")
T = TypeVar("T")

Centering = bool | Literal["mean"]
"""How curves are centred: not at all (False), from zero (True), or minus the mean prediction ("mean")."""


def by_position(max_: int, advice: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator of methods that refuses more arguments by position than there may be, with a sentence."""

    def decorated(method: Callable[P, T]) -> Callable[P, T]:
        @wraps(method)
        def checked(*given: P.args, **named: P.kwargs) -> T:
            if len(given) > max_ + 1:  # with the object itself
                message = f"at most {max_} arguments are passed by position, not {len(given) - 1}. {advice}"
                raise ArgumentError(message)
            return method(*given, **named)

        return checked

    return decorated


def whole_number(value: object, what: str, least: int = 1) -> int:
    """Return a whole number that is large enough; `what` describes it in the error message."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        message = f"{what}, at least {least}, not {value!r}"
        raise ArgumentError(message)
    return int(value)


def checked_centering(value: object) -> Centering:
    """Return how curves are to be centred, and raise an error for anything that is not a way to do it."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, str) and value == "mean":
        return "mean"
    message = (
        'centered must be True (the curve starts at zero), "mean" (the curve minus the mean prediction), or False, '
        f"not {brief(value)}"
    )
    raise ArgumentError(message)


def new_file(path: str | PathLike[str]) -> Path:
    """Return the path of a new file after checking, as far as possible, that it can be written."""
    try:
        target = Path(path)
    except TypeError as error:
        message = f"the path of a file must be a string or a path object, not {brief(path)}"
        raise FileError(message) from error
    if target.is_dir():
        message = f"{str(target)!r} is a folder; add a file name"
        raise FileError(message)
    folder = target.parent
    if not folder.is_dir():
        message = f"{target.name!r} cannot be written: there is no folder {str(folder)!r}; create it first"
        raise FileError(message)
    if not (os.access(folder, os.W_OK) or os.access(target, os.W_OK)):
        message = f"{str(target)!r} cannot be written: no permission"
        raise FileError(message)
    return target


def refuse_no_name(feature: object) -> None:
    """Raise an error for anything that cannot name a feature: lists, tables, booleans."""
    if isinstance(feature, str | int | np.integer) and not isinstance(feature, bool):
        return
    message = f"a feature is a name or a number, not a {type(feature).__name__}"
    if isinstance(feature, list | tuple):
        message += f"; pass several as separate arguments: {', '.join(map(repr, feature))}"
    elif hasattr(feature, "shape"):
        message += "; pass a table of rows as rows=, and points as at="
    raise TableError(message)


def brief(value: object) -> str:
    """Return a value as shown in messages: short, on one line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"a {type(value).__name__}: {text[:50]}..."


def require_mapping(given: object, what: str) -> Mapping[Any, Any]:
    """Return a mapping, and raise an error for anything else; `what` describes it in the error message."""
    if not isinstance(given, Mapping):
        message = f"{what}, not {brief(given)}"
        raise TableError(message)
    return given


def checked_groups(groups: object) -> dict[str, tuple[str, ...]]:
    """Return groups of columns as tuples of names; whether the columns exist is checked elsewhere."""
    if groups is None:
        return {}
    what = 'groups must map names to lists of columns, such as {"city": ["city_a", "city_b"]}'
    result: dict[str, tuple[str, ...]] = {}
    for name, columns in require_mapping(groups, what).items():
        if not isinstance(name, str) or isinstance(columns, str) or not hasattr(columns, "__iter__"):
            message = f"a group is a name and a list of columns, not {name!r}: {brief(columns)}"
            raise TableError(message)
        result[name] = tuple(columns)
    return result
