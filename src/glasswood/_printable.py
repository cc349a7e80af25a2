"""Texts of others, such as names of columns, as texts that nothing happens to when they are printed."""

from __future__ import annotations

from typing import Any

__all__ = ["printable"]


def printable(value: Any) -> str:
    r"""Return a text with escapes, as Python's `repr` writes them, for all that cannot be seen.

    These move a terminal's cursor, turn the direction of writing, or make two names look the same.

    Examples
    --------
    >>> print(printable("age\x1b[2J"), printable("Größe 日本"))
    age\x1b[2J Größe 日本
    """
    text = str(value)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
