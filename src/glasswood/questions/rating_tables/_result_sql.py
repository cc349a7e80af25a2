"""Entries of tables as SQL: CASE expressions over the cells of one feature, or of two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError, TableError
from glasswood.results._axis import Axis

__all__ = ["DIALECTS", "Dialect", "dialect_of", "literal"]


class Dialect:
    """How a database writes names, how it tells a number that is none (NaN), and how it makes numbers of truth values.

    Parameters
    ----------
    quote : str
        The character around names.
    is_nan : str
        The test, with {} for the column; empty if the database has no such numbers.
    number : str
        What makes a number of a truth value, and leaves 0 and 1 as they are, with {} for the column.
    any_number : bool
        Whether that leaves all numbers as they are.
    """

    def __init__(self, quote: str, is_nan: str, number: str, *, any_number: bool) -> None:
        self._quote, self._is_nan, self._number, self._any_number = quote, is_nan, number, any_number

    def case(self, axis: Axis, entries: Sequence[str]) -> str:
        """Return an expression that chooses one of some texts, (n_cells,), by the cell of a feature.

        Neighbouring cells with equal texts are one line.
        """
        name = self._quote + axis.name.replace(self._quote, 2 * self._quote) + self._quote
        if axis.categories is not None:
            return self._case_of_categories(name, axis.categories, entries)
        missing = f"{name} IS NULL"
        if self._may_be_truth_values(axis):
            name = self._number.format(name)
        if self._is_nan:
            missing += f" OR {self._is_nan.format(name)}"
        between = getattr(axis.column, "missing_between", None)
        if between is not None:  # numbers that the model reads as missing
            missing += f" OR {name} BETWEEN {literal(between[0])} AND {literal(between[1])}"
        lines = [
            f" WHEN {name} <= {literal(cut)} THEN {entries[k]}"
            for k, cut in enumerate(axis.cuts.tolist())
            if entries[k] != entries[k + 1]
        ]
        if not lines and entries[-1] == entries[0]:
            return entries[0]
        return f"CASE WHEN {missing} THEN {entries[-1]}{''.join(lines)} ELSE {entries[axis.cuts.size]} END"

    def _may_be_truth_values(self, axis: Axis) -> bool:
        """Return whether a column may be one of truth values, which no database compares with numbers."""
        if not ((axis.cuts >= 0) & (axis.cuts < 1)).all():
            return False
        if self._any_number:
            return True
        some_missing = axis.rows.size > 0 and axis.rows[-1] > 0  # NaN is no integer
        return axis.whole and axis.ends in ((0.0, 1.0), (0.0, 0.0), (1.0, 1.0)) and not some_missing

    def _case_of_categories(self, name: str, categories: Sequence[Any], entries: Sequence[str]) -> str:
        *known, unseen, missing = entries
        groups: dict[str, list[str]] = {}
        for label, entry in zip(categories, known, strict=True):
            if entry != unseen:
                groups.setdefault(entry, []).append(_label(label))
        lines = "".join(f" WHEN {name} IN ({', '.join(labels)}) THEN {entry}" for entry, labels in groups.items())
        if not lines and missing == unseen:
            return unseen
        return f"CASE WHEN {name} IS NULL THEN {missing}{lines} ELSE {unseen} END"

    def main(self, axis: Axis, heights: NDArray[np.float64]) -> str:
        """Return the expression of a feature."""
        return self.case(axis, [literal(height) for height in heights.tolist()])

    def pair(self, axes: tuple[Axis, Axis], heights: NDArray[np.float64]) -> str:
        """Return the expression of a pair."""
        return self.case(axes[0], [self.main(axes[1], line) for line in heights])


DIALECTS = {
    "duckdb": Dialect('"', "isnan(CAST({} AS DOUBLE))", "CAST({} AS DOUBLE)", any_number=True),
    "postgres": Dialect('"', "CAST({} AS DOUBLE PRECISION) = 'NaN'", "CAST({} AS INTEGER)", any_number=False),
    "spark": Dialect("`", "isnan({})", "CAST({} AS DOUBLE)", any_number=True),
    "ansi": Dialect('"', "", "CAST({} AS INTEGER)", any_number=False),
}


def dialect_of(name: str) -> Dialect:
    """Return a dialect by its name."""
    if name not in DIALECTS:
        message = f"dialect must be one of {', '.join(map(repr, DIALECTS))}, not {name!r}"
        raise ArgumentError(message)
    return DIALECTS[name]


def literal(number: float) -> str:
    """Return a number with all its digits, in the notation of floats: a plain 0.1 is a decimal in some databases."""
    return f"{number:.17e}" if number >= 0 else f"({number:.17e})"


def _label(label: Any) -> str:
    if isinstance(label, bool | np.bool_):
        return "TRUE" if label else "FALSE"
    if isinstance(label, int | np.integer):
        return str(int(label))
    if isinstance(label, float | np.floating):
        return literal(float(label))
    if isinstance(label, str):
        return "'" + label.replace("'", "''") + "'"
    message = f"the category {label!r} cannot be written as SQL; use texts or numbers as categories"
    raise TableError(message)
