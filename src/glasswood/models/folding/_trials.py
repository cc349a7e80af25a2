"""Calling the fitted transformers on values of the user's columns, to see what the trees get to see of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.models._ensemble import TreeEnsemble
from glasswood.models._pipelines import Chain, Unwrapped
from glasswood.models._user_columns import transformed
from glasswood.tables._points import Template, take
from glasswood.tables._tables import Encoded, encode, is_sparse

__all__ = ["Trials", "Unfoldable", "equal", "same"]

Floats = NDArray[np.float64]


class Unfoldable(Exception):
    """Why a column cannot be folded."""


class Trials:
    """The transformers of a pipeline, ready to be called on values of one column or of several.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees behind the transformers.
    given : Unwrapped
    rows : table
        At least one row of the user's: what the other columns hold meanwhile.

    Attributes
    ----------
    chain : Chain
        The transformers.
    template : Template
        Makes tables like the rows.
    schema : Schema
        The columns that the trees see.
    made : dict from int to list of int
        Of each column of the user's that matters, the transformed columns that are made of it and used.
    """

    def __init__(self, ensemble: TreeEnsemble, given: Unwrapped, rows: Any) -> None:
        self.chain = given.transform or Chain((), given.columns)
        self.template = Template(rows, given.columns)
        self.schema = replace(ensemble.schema, named=False)
        self.made: dict[int, list[int]] = {}
        for made in ensemble.used_features.tolist():
            for source in given.sources[made]:
                self.made.setdefault(source, []).append(made)
        self._dense = replace(self.schema, absent_is_missing=False)
        self._row = take(rows, [0])
        self._parts: dict[tuple[int, ...], bool] = {}  # whether transformers work without the others, by what they make

    def zeros_are_missing(self, rows: Any) -> bool:
        """Return whether rows become a sparse table, the zeros of which the model takes for missing values.

        Raises
        ------
        TableError
            If the transformers reject the rows.
        """
        return is_sparse(transformed(self.chain, rows)) and self.schema.absent_is_missing

    def of_rows(self, rows: Any, columns: list[int]) -> Encoded:
        """Return what the trees see of rows, in some transformed columns."""
        return encode(transformed(self.chain, rows), self.schema, columns)

    def of_values(
        self, values: Mapping[int, Any], *, dense: bool = False, as_given: bool = False
    ) -> dict[int, Encoded]:
        """Return what the trees see of values of some columns, by column; those that transformers reject are left out.

        All columns are tried in the same rows, as they do not mix, and one by one if that fails. If `dense`, zeros are
        zeros, even if the model takes them for missing values. If `as_given`, numbers keep their types; otherwise they
        have that of the column.
        """
        if not values:
            return {}
        try:
            result = self._together(values, dense=dense, as_given=as_given)
        except Exception:  # noqa: BLE001 (anybody's code)
            if len(values) == 1:
                return {}
            alone = [self.of_values({k: own}, dense=dense, as_given=as_given) for k, own in values.items()]
            return {k: part for one in alone for k, part in one.items()}
        return {source: {m: result[m][: len(own)] for m in self.made[source]} for source, own in values.items()}

    def of_numbers(self, numbers: Mapping[int, Floats]) -> Encoded:
        """Return what the trees see of numbers of some columns, by transformed column; NaN where they are rejected."""
        tried = self.of_values(numbers, dense=True)
        rejected = {m: np.full(len(own), np.nan) for source, own in numbers.items() for m in self.made[source]}
        return rejected | {m: values for part in tried.values() for m, values in part.items()}

    def _together(self, values: Mapping[int, Any], *, dense: bool, as_given: bool) -> Encoded:
        """Return what the trees see of values of some columns, from those transformers only that these columns need."""
        rows = self.template.with_values(values, as_given=as_given)
        schema = self._dense if dense else self.schema
        selected = [m for source in values for m in self.made[source]]
        some = self.chain.only(selected)
        if some is None or not self._works(*some):
            return encode(transformed(self.chain, rows), schema, selected)
        steps, made = some
        place = {m: k for k, m in enumerate(made)}
        part = replace(schema, columns=tuple(schema.columns[m] for m in made))
        result = encode(transformed(steps, rows), part, [place[m] for m in selected])
        return {m: result[place[m]] for m in selected}

    def _works(self, steps: Chain, made: list[int]) -> bool:
        """Return whether transformers work without the others: whether they take a row of the user's."""
        part = tuple(made)
        if part not in self._parts:
            try:
                columns = tuple(self.schema.columns[m] for m in made)
                encode(transformed(steps, self._row), replace(self.schema, columns=columns), range(len(made)))
            except Exception:  # noqa: BLE001 (anybody's code)
                self._parts[part] = False
            else:
                self._parts[part] = True
        return self._parts[part]


def equal(values: NDArray[Any], expected: float) -> NDArray[np.bool_]:
    """Return which values are equal to one; NaN is equal to NaN."""
    return np.asarray((values == expected) | (np.isnan(values) & np.isnan(expected)))


def same(values: NDArray[Any], expected: object) -> bool:
    """Return whether values are equal to others, or to one; NaN is equal to NaN."""
    other = np.broadcast_to(np.asarray(expected, dtype=np.float64), values.shape)
    return bool(((values == other) | (np.isnan(values) & np.isnan(other))).all())
