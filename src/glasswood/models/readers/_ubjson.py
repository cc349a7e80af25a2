"""Decodes Universal Binary JSON, in which XGBoost keeps its models; typed arrays become NumPy arrays without a copy."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from glasswood.errors import UnsupportedModelError
from glasswood.text._printable import how_many

__all__ = ["decode"]

# A value is a marker of its type and its content. All numbers are big-endian.
NUMBERS = {ord(mark): struct.Struct(f">{kind}") for mark, kind in zip("iUIlLdD", "bBhiqfd", strict=True)}
DTYPES = {mark: np.dtype(kind.format) for mark, kind in NUMBERS.items()}
CONSTANTS = {ord("Z"): None, ord("T"): True, ord("F"): False}
STRING, ARRAY, OBJECT = b"S[{"
DEEPEST = 64  # of arrays and objects within each other
TYPE, COUNT, END_OF_ARRAY, END_OF_OBJECT = b"$#]}"


def decode(data: bytes) -> Any:
    r"""Return the one value that the bytes hold, made of dicts, lists, strings, numbers and NumPy arrays.

    Parameters
    ----------
    data : bytes
        Universal Binary JSON. Its typed arrays of numbers become read-only big-endian arrays over these bytes.

    Returns
    -------
    dict, list, ndarray, str, int, float, bool or None

    Raises
    ------
    UnsupportedModelError
        If the bytes end early, or are something else.

    Examples
    --------
    >>> decode(b"{U\x04cuts[$d#U\x02\x3f\x80\x00\x00\x40\x00\x00\x00U\x04nameSU\x06gbtree}")
    {'cuts': array([1., 2.], dtype='>f4'), 'name': 'gbtree'}
    """
    decoder = _Decoder(data)
    try:
        value = decoder.value()
    except (IndexError, KeyError, ValueError, struct.error) as error:
        message = f"the model is not Universal Binary JSON, or ends early: byte {decoder.at} of {len(data)}, {error!r}"
        raise UnsupportedModelError(message) from error
    if decoder.at != len(data):
        message = f"the model is not Universal Binary JSON: {how_many(len(data) - decoder.at, 'byte')} after its end"
        raise UnsupportedModelError(message)
    return value


class _Decoder:
    """A position in the bytes; every method reads what comes next, and moves on."""

    __slots__ = ("at", "data", "depth")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.depth = 0

    def value(self) -> Any:
        mark = self.data[self.at]
        if mark in NUMBERS:
            return self.number()
        self.at += 1
        if mark == STRING:
            return self.text()
        if mark in (ARRAY, OBJECT):
            self.depth += 1
            if self.depth > DEEPEST:
                message = f"nested more than {DEEPEST} deep"
                raise ValueError(message)
            value = self.array() if mark == ARRAY else self.members()
            self.depth -= 1
            return value
        return CONSTANTS[mark]

    def number(self) -> Any:
        kind = NUMBERS[self.data[self.at]]
        (number,) = kind.unpack_from(self.data, self.at + 1)
        self.at += 1 + kind.size
        return number

    def length(self) -> int:
        size = self.number()
        if not isinstance(size, int) or not 0 <= size <= len(self.data):
            message = f"a length of {size}"
            raise ValueError(message)
        return size

    def text(self) -> str:
        size = self.length()
        start, self.at = self.at, self.at + size
        if self.at > len(self.data):
            message = f"a text of {size} bytes"
            raise ValueError(message)
        return self.data[start : self.at].decode()

    def array(self) -> Any:
        if self.data[self.at] == TYPE:
            dtype = DTYPES[self.data[self.at + 1]]
            self.at += 2
            return self.typed(dtype, self.count())
        count = self.count()
        elements: list[Any] = []
        while len(elements) != count and not self.ends(count, END_OF_ARRAY):
            elements.append(self.value())
        return elements

    def typed(self, dtype: np.dtype[Any], count: int | None) -> Any:
        if count is None:
            message = f"an array of {count} numbers"
            raise ValueError(message)
        numbers = np.frombuffer(self.data, dtype, count, self.at) if count else np.empty(0, dtype)
        self.at += numbers.nbytes
        return numbers

    def members(self) -> dict[str, Any]:
        count = self.count()
        members: dict[str, Any] = {}
        while len(members) != count and not self.ends(count, END_OF_OBJECT):
            name = self.text()
            if name in members:
                message = f"the name {name[:50]!r} twice"
                raise ValueError(message)
            members[name] = self.value()
        return members

    def count(self) -> int | None:
        """Return how many elements follow; None if the container has an end instead."""
        if self.data[self.at] != COUNT:
            return None
        self.at += 1
        return self.length()

    def ends(self, count: int | None, end: int) -> bool:
        if count is not None or self.data[self.at] != end:
            return False
        self.at += 1
        return True
