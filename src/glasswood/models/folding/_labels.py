"""What transformers make of the categories of a column, of unseen ones and of missing values."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.models._column_sources import Notes
from glasswood.models.folding._trials import Trials, Unfoldable, equal, same
from glasswood.tables._columns import NAN, NONE, UNSEEN, Column, LabelColumn
from glasswood.tables._tables import Encoded

__all__ = ["Labels", "fold_labels"]

Floats = NDArray[np.float64]


@dataclass
class Labels:
    """A column of categories: what each of them, an unseen one and a missing one become."""

    labels: tuple[Hashable, ...]
    values: dict[int, Floats]  # for each transformed column: of the labels, of an unseen one, of a missing one
    refuse_unseen: bool
    refuse_missing: bool
    unseen_missing: int | None

    def column(self, name: str) -> Column:
        """Return the column."""
        return LabelColumn(name, self.labels, self.refuse_unseen, self.refuse_missing, self.unseen_missing)

    def agrees(self, made: int, encoded: Floats, values: Floats) -> bool:
        """Return whether transformed values are those that the categories are known to become."""
        n, missing = len(self.labels), np.isnan(encoded)
        codes = np.where(missing, n + 1, np.where(encoded == UNSEEN, n, np.nan_to_num(encoded))).astype(np.intp)
        return same(values, self.values[made][codes])


def fold_labels(
    trials: Trials, notes: Notes, known: Mapping[int, Sequence[Hashable]], seen: Mapping[int, Sequence[Hashable]]
) -> tuple[dict[int, Labels], dict[int, str]]:
    """Return what the categories of some columns become, and why others cannot be folded.

    Parameters
    ----------
    trials : Trials
    notes : Notes
        Which columns are known to refuse unseen categories or missing values, which are not tried.
    known : dict from int to sequence
        The categories that the encoders of each column know.
    seen : dict from int to sequence
        Those of the rows at hand. Any that is not treated like an unseen one is a category as well.
    """
    labels = {source: list(dict.fromkeys([*own, *seen[source]])) for source, own in known.items()}
    tried = trials.of_values(labels)
    unseen = trials.of_values({k: _unseen(own) for k, own in labels.items() if k not in notes.refuse_unseen})
    may_miss = [source for source in known if source not in notes.refuse_missing]
    nan, none = (trials.of_values({source: [value] for source in may_miss}) for value in (float("nan"), None))
    result, reasons = {}, {}
    for source, own in labels.items():
        if source not in tried:
            reasons[source] = "has categories that its transformers reject"
            continue
        missing = {NAN: nan.get(source), NONE: none.get(source)}
        try:
            result[source] = _labels_of(own, len(known[source]), tried[source], unseen.get(source), missing)
        except Unfoldable as error:
            reasons[source] = str(error)
    return result, reasons


def _labels_of(
    labels: list[Hashable],
    n_known: int,
    seen: Encoded,
    unseen: Encoded | None,
    missing: Mapping[int, Encoded | None],
) -> Labels:
    """Return a column of categories, given what these, unseen ones, NaN and None become; None: they are rejected."""
    columns = list(seen)
    if unseen is not None and not all(same(unseen[m], unseen[m][0]) for m in columns):
        message = "gets different values for categories that its transformers do not know"
        raise Unfoldable(message)
    like_unseen = [which for which, part in missing.items() if _same(part, unseen)]
    other = like_unseen[0] if len(like_unseen) == 1 else None  # just another unseen category, while the other is known
    taken = [part for which, part in missing.items() if part is not None and which != other]
    if len(taken) > 1 and not _same(*taken):
        message = "gets different values for None and NaN"
        raise Unfoldable(message)
    nothing = dict.fromkeys(columns, np.array([np.nan]))
    ends = nothing if unseen is None else unseen, taken[0] if taken else nothing
    kept = np.arange(len(labels)) < n_known
    for m, values in (unseen or {}).items():  # others are categories if they differ from unseen ones
        kept |= ~equal(seen[m], values[0])
    own = {m: np.concatenate([seen[m][kept], *(end[m][:1] for end in ends)]).astype(np.float64) for m in columns}
    named = tuple(label for label, there in zip(labels, kept.tolist(), strict=True) if there)
    return Labels(named, own, unseen is None, not taken, other)


def _same(part: Encoded | None, other: Encoded | None) -> bool:
    """Return whether two values become the same, or are both rejected."""
    if part is None or other is None:
        return part is other
    return all(same(values, other[m][:1]) for m, values in part.items())


def _unseen(labels: Sequence[Hashable]) -> list[Any]:
    """Return two labels that are not among those of a column."""
    numbers = [label for label in labels if isinstance(label, int | float)]
    if len(numbers) == len(labels):
        return [int(max(numbers)) + 1, int(max(numbers)) + 2]
    return ["no such category (glasswood)", "nor this (glasswood)"]
