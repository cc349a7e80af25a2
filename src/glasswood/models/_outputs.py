"""Outputs: the classes or targets that answers are about, asked for by label. The only place that does.

A label is an integer, a text, or whatever else the model calls its classes. A binary model of one score (boosted trees)
has two labels: the other class is what is left of a probability, or minus the score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import TableError

__all__ = ["NO_LABELS", "OutputSelection", "Outputs", "labels_of", "position_of"]

NO_LABELS = ("prediction", "depth")
"""Names of the only output of a model without labels, which can also be called 0."""

MAX_LISTED = 20


def labels_of(classes: object) -> tuple[Any, ...]:
    """Return classes of a model as Python's own integers, texts, floats and booleans; others as they are."""
    array = np.asarray(classes)
    return tuple(array.tolist() if array.dtype.kind in "biufUO" else array)


def position_of(labels: Sequence[Any], output: object = None) -> int | None:
    """Return the position of the requested output, given its label; None if none is requested.

    A string also matches a label of a different type if that is the only one with this text.
    """
    if output is None:
        return None
    result = [place for place, label in enumerate(labels) if _same(label, output)]
    if not result and isinstance(output, str):
        result = [place for place, label in enumerate(labels) if str(label) == output]
    if not result and tuple(labels) in ((name,) for name in NO_LABELS) and _same(0, output):
        result = [0]
    if len(result) == 1:
        return result[0]
    which = "several outputs have the label" if result else "there is no output"
    message = f"{which} {output!r}; {_listed(labels)}. output= takes a label"
    if len(labels) == 1 and labels[0] not in NO_LABELS:
        message += "; a result only has the outputs it was computed for, so ask the Explainer for others"
    raise TableError(message)


def _same(label: object, output: object) -> bool:
    """Return whether a label is the one asked for. True is not 1, and "1" is not 1."""
    return label is output or (_kind(label) == _kind(output) and bool(np.all(label == output)))


def _kind(label: object) -> str:
    for kind, types in (("bool", bool | np.bool_), ("text", str), ("number", int | float | np.number)):
        if isinstance(label, types):
            return kind
    return "other"


def _listed(labels: Sequence[Any]) -> str:
    more = f", ... ({len(labels):,} in all)" if len(labels) > MAX_LISTED else ""
    return f"the labels are {', '.join(map(repr, labels[:MAX_LISTED]))}{more}"


@dataclass(frozen=True, slots=True)
class OutputSelection:
    """Outputs that an answer is about.

    Parameters
    ----------
    columns : list of int
        Their places among the scores of the ensemble, or among the responses.
    labels : tuple
        The label of each.
    n_columns : int
        The number of all scores.
    total : float or None
        What the score asked for and the only score that there is sum to, if the former is not computed itself: 1 for
        probabilities, 0 for raw scores.
    """

    columns: list[int]
    labels: tuple[Any, ...]
    n_columns: int
    total: float | None = None

    def levels(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores of these outputs, (..., n_chosen), given all of them, (..., n_columns)."""
        if self.total is not None:
            turned: NDArray[np.float64] = self.total - scores[..., self.columns]
            return turned
        return scores if len(self.columns) == self.n_columns else scores[..., self.columns]

    def changes(self, differences: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return differences of scores, such as what a pair adds to its curves, for these outputs."""
        if self.total is not None:
            turned: NDArray[np.float64] = 0.0 - differences[..., self.columns]
            return turned
        return self.levels(differences)


@dataclass(frozen=True, slots=True)
class Outputs:
    """What a model can be asked about.

    Parameters
    ----------
    labels : tuple
        All labels: of each score; or of both classes, if there is one score for the second.
    n_columns : int
        The number of scores.
    binary : bool
        Whether the labels are the two classes of a binary model: only the second is answered by default.
    total : float, default 0
        What the two classes of a binary model of one score sum to: 1 for probabilities, 0 for raw scores.
    """

    labels: tuple[Any, ...]
    n_columns: int
    binary: bool
    total: float = 0.0

    def choose(self, output: object = None) -> OutputSelection:
        """Return the output that is asked for; by default all, or the second class of a binary model."""
        place = position_of(self.labels, output)
        if place is None and not self.binary:
            return OutputSelection(list(range(self.n_columns)), self.labels, self.n_columns)
        place = 1 if place is None else place
        if self.n_columns == len(self.labels):
            return OutputSelection([place], (self.labels[place],), self.n_columns)
        return OutputSelection([0], (self.labels[place],), self.n_columns, self.total if place == 0 else None)
