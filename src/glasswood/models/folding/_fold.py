"""Folding a pipeline into its trees: nodes that compare transformed values become nodes that compare the user's own.

A column that is scaled, cast or passed through is a column of numbers with other cuts; one that is encoded is a column
of categories; a missing value goes where the value goes that is imputed for it. All of that is found by calling the
fitted transformers on values of one column at a time, and checked on the user's rows. Afterwards the pipeline is a
model like any other, and no transformer is needed.

What cannot be folded stays: a column that is not transformed by a monotone function (splines, the sine of the hour), or
that is no number and has no list of categories (texts, dates).
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from glasswood.errors import TableError, UnsupportedModelError
from glasswood.models._ensemble import TreeEnsemble
from glasswood.models._learned import learned
from glasswood.models._pipelines import Unwrapped
from glasswood.models.folding._labels import Labels, fold_labels
from glasswood.models.folding._nodes import Nodes
from glasswood.models.folding._numbers import Number, fold_numbers
from glasswood.models.folding._trials import Trials
from glasswood.models.folding._types import try_other_types
from glasswood.tables._columns import Column, LabelColumn, NumberColumn, dictionary_of
from glasswood.tables._given import given_table
from glasswood.tables._tables import Schema, encode, open_columns

__all__ = ["Folded", "fold"]

Found = Mapping[int, Number | Labels]  # by position of the user's column


@dataclass(frozen=True, eq=False)
class Folded:
    """Trees over the user's columns.

    Parameters
    ----------
    ensemble : TreeEnsemble
        Its columns are the user's, in their order; in the place of one that cannot be folded, what is made of it.
    places : tuple of tuple of two ints
        For each column of the ensemble, the user's column that it is or is made of, and the number of the transformed
        one; -1 if it is the user's own.
    reasons : dict from int to str
        Why columns of the user's, by position, are not folded.
    """

    ensemble: TreeEnsemble
    places: tuple[tuple[int, int], ...]
    reasons: dict[int, str]


def fold(ensemble: TreeEnsemble, given: Unwrapped, rows: Any, all_rows: Any = None, *, single: bool = False) -> Folded:
    """Return trees over the user's columns, given some rows of these.

    Parameters
    ----------
    ensemble : TreeEnsemble
        The trees behind the transformers.
    given : Unwrapped
    rows : table or None
        Some rows of the user's, at least one. None: a row is made up. If transformers reject it, nothing is folded.
    all_rows : table, optional
        All of them, if they are in memory. What code does that is not scikit-learn's own is checked on all.
    single : bool, default False
        Whether the numbers of a row that is made up are float32.
    """
    if ensemble.derived is not None:
        message = (
            "a model with statistics of combinations of columns (CTRs) behind transformers is not supported; transform "
            "the rows first and pass the model itself, or train it with max_ctr_complexity=1"
        )
        raise UnsupportedModelError(message)
    folder = _Folder(ensemble, given, _made_up_row(given, single=single) if rows is None else rows, all_rows)
    folder.probe_rows(made_up=rows is None)
    return folder.fold()


def _made_up_row(given: Unwrapped, *, single: bool) -> Any:
    """Return a row of zeros, or of categories where these are known, on which transformers are tried without rows."""
    dtype = np.float32 if single else np.float64
    labels = given.notes.labels
    values = [[labels[source][0]] if labels.get(source) else np.zeros(1, dtype) for source in range(given.n_columns)]
    if given.columns is None:
        return np.array([[value[0] for value in values]], dtype=object if labels else dtype)
    return given_table(dict(zip(given.columns, values, strict=True)))


class _Folder:
    """Folds the columns of one pipeline."""

    def __init__(self, ensemble: TreeEnsemble, given: Unwrapped, rows: Any, all_rows: Any) -> None:
        self._ensemble, self._given, self._rows, self._all_rows = ensemble, given, rows, all_rows
        self._trials = Trials(ensemble, given, rows)
        self._made = self._trials.made
        self._zeros_are_missing = False
        self._reasons: dict[int, str] = {}
        for source, columns in self._made.items():
            if any(given.sources[made] != (source,) for made in columns):
                self._reasons[source] = "is mixed with other columns"

    def probe_rows(self, *, made_up: bool) -> None:
        """Look at what transformers make of the rows; one that is made up may be rejected."""
        try:
            self._zeros_are_missing = self._trials.zeros_are_missing(self._rows)
        except TableError:
            if not made_up:
                raise
            self._reasons |= dict.fromkeys(self._made, "cannot be tried without rows")

    def fold(self) -> Folded:
        """Return the trees over the user's columns."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            known = {source: own for source in self._foldable if (own := self._known_labels(source))}
            seen = {source: self._seen_labels(source) for source in known}
            uneven = [source for source in self._foldable if source in self._given.notes.uneven and source not in known]
            self._reasons |= dict.fromkeys(uneven, "is not transformed by a monotone function")
            numbers = [source for source in self._foldable if source not in known]
            by_label, refused = fold_labels(self._trials, self._given.notes, known, seen)
            by_number, unsure = fold_numbers(
                self._trials, self._given.notes, self._ensemble, numbers, zeros_are_missing=self._zeros_are_missing
            )
            self._reasons |= refused | unsure
            wrong = try_other_types(self._trials, {k: own for k, own in by_number.items() if k not in self._reasons})
            self._reasons |= dict.fromkeys(wrong, "is transformed differently in the rows than on its own")
            result: dict[int, Number | Labels] = {**by_label, **by_number}
            self._check(result)
        return self._compose({source: own for source, own in result.items() if source not in self._reasons})

    @property
    def _foldable(self) -> list[int]:
        """The columns of the user's that matter and can be folded, as far as is known."""
        return [source for source in self._made if source not in self._reasons]

    def _known_labels(self, source: int) -> list[Hashable]:
        """Return the categories of a column that its encoders know, or the model itself."""
        known = self._given.notes.labels.get(source, [])
        columns = [self._trials.schema.columns[m] for m in self._made[source]]
        return known or [label for column in columns if isinstance(column, LabelColumn) for label in column.labels]

    def _seen_labels(self, source: int) -> list[Hashable]:
        """Return the categories of a column that the rows at hand have."""
        rows = self._rows if self._all_rows is None else self._all_rows
        return list(dictionary_of(open_columns(rows, self._given.schema, [source]).values[source]).labels)

    def _check(self, result: Found) -> None:
        """Compare what was found with what the transformers make of rows: some, or all where functions are unproven."""
        unproven = self._given.notes.unproven
        for rows, selected in (
            (self._rows, [source for source in self._foldable if self._all_rows is None or source not in unproven]),
            (
                self._all_rows,
                [source for source in self._foldable if source in unproven and self._all_rows is not None],
            ),
        ):
            if not selected:
                continue
            columns = list(self._given.schema.columns)
            for source in selected:
                columns[source] = result[source].column(columns[source].name)
            schema = replace(self._given.schema, columns=tuple(columns))
            seen = self._trials.of_rows(rows, [m for k in selected for m in self._made[k]])
            for source in selected:
                try:
                    encoded = encode(rows, schema, [source])[source].astype(np.float64)
                except TableError as error:
                    self._reasons[source] = str(error)
                    continue
                if not all(result[source].agrees(m, encoded, seen[m].astype(np.float64)) for m in self._made[source]):
                    self._reasons[source] = "is transformed differently in the rows than on its own"

    def _compose(self, result: Found) -> Folded:
        """Return the trees over the user's columns."""
        e, places = self._ensemble, self._places(result)
        columns = tuple(self._column(source, m, result) for source, m in places)
        nodes, feature = Nodes(e), np.zeros(e.n_features, dtype=np.int32)
        for source, own in result.items():
            for m in self._made[source]:
                nodes.fold(m, own)
        for k, (source, m) in enumerate(places):
            feature[self._made.get(source, []) if m < 0 else m] = k
        schema = Schema(
            columns,
            named=self._given.columns is not None,
            absent_is_missing=e.schema.absent_is_missing,
            before=self._hash(columns, places),
        )
        # Constraints are about the columns that transformers make, which may fall where the user's rise.
        ensemble = replace(e, feature=feature[e.feature], schema=schema, promised=None, **nodes.changed())
        reasons = {source: reason for source, reason in self._reasons.items() if source not in result}
        return Folded(ensemble, places, reasons)

    def _places(self, result: Found) -> tuple[tuple[int, int], ...]:
        """Return the columns of the new trees: the user's own, or what is made of those that are not folded."""
        places: list[tuple[int, int]] = []
        for source in range(self._given.n_columns):
            made = [m for m in range(self._ensemble.n_features) if self._given.sources[m][:1] == (source,)]
            stays = source in result or source not in self._made
            places += [(source, -1)] if stays else [(source, m) for m in made]
        return tuple(places)

    def _column(self, source: int, m: int, result: Found) -> Column:
        """Return a column of the new trees."""
        if m >= 0:
            made = self._ensemble.schema.columns[m]
            return replace(made, name=f"{made.name} (transformed)")
        name = self._given.schema.columns[source].name
        if source in result:
            return result[source].column(name)
        labels = self._given.notes.labels.get(source)  # of a column that does not matter
        return LabelColumn(name, tuple(labels)) if labels else NumberColumn(name)

    def _hash(self, columns: tuple[Column, ...], places: tuple[tuple[int, int], ...]) -> str:
        """Return a hash of what is done before the trees: of columns and categories, and of what stays transformed."""
        described = [(column.name, column.categories, getattr(column, "missing_between", None)) for column in columns]
        before = blake2b(repr((described, list(places))).encode(), digest_size=16)
        if any(m >= 0 for _, m in places):
            before.update(learned(self._trials.chain.steps).encode())
        return before.hexdigest()
