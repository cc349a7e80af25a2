"""Text for people: names from the data without control characters, and counts with their nouns."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["how_many", "printable", "unlike"]


def how_many(count: int, noun: str, plural: str | None = None) -> str:
    """Return a count and its noun.

    Examples
    --------
    >>> how_many(1, "row"), how_many(2500, "row"), how_many(0, "leaf", "leaves")
    ('1 row', '2,500 rows', '0 leaves')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def printable(value: object) -> str:
    r"""Return text in which invisible characters are escaped as in Python's `repr`.

    Such characters move a terminal's cursor, change the direction of writing, or make two names look the same.

    Examples
    --------
    >>> print(printable("age\x1b[2J"), printable("Größe 日本"))
    age\x1b[2J Größe 日本
    """
    text = str(value)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def unlike(name: str, others: Iterable[object]) -> str:
    """Return a name that no other one is equal to: in more parentheses, if it is taken.

    Examples
    --------
    >>> unlike("(missing)", ["a", "b"]), unlike("(missing)", ["a", "(missing)"])
    ('(missing)', '((missing))')
    """
    taken = set(map(str, others))
    while name in taken:
        name = f"({name})"
    return name
