"""Folds: an answer without each fold of the rows, from which its error follows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._jackknife import jackknife, student
from glasswood.errors import BackgroundError
from glasswood.kernels._read_only import ReadOnly

__all__ = ["LOST_ERROR", "LOST_MEAN", "NO_FOLDS", "Folds"]


T = TypeVar("T")


LOST = (
    "this result was copied or pickled before its {0} was computed, and no longer knows its rows; ask for the {0} "
    "before that"
)
LOST_ERROR, LOST_MEAN = LOST.format("error"), LOST.format("mean prediction")

NO_FOLDS = (
    "errors come from folds of the rows: make the Explainer with folds=20, or the Background with "
    "summarize(model, rows, folds=20)"
)


@dataclass(frozen=True, eq=False)
class Folds(ReadOnly):
    """An answer without each fold of the rows.

    Parameters
    ----------
    heights : ndarray of shape (n_folds, ...)
        The answer without each fold.
    shares : ndarray of shape (n_folds,)
        The share of the rows' weight that each fold has.
    mean : ndarray of shape (n_folds, n_outputs), optional
        The mean prediction without each fold, of curves and points.
    """

    heights: NDArray[np.float64]
    shares: NDArray[np.float64]
    mean: NDArray[np.float64] | None = None

    @property
    def multiple(self) -> float:
        """How many errors on both sides make a band of 95 %."""
        return student(self.shares.size - 1)

    def error(self, whole: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the standard error of the answer of all rows."""
        return jackknife(whole, list(self.heights), self.shares.tolist())

    def centered(self, cell: int) -> Folds:
        """Return the same of heights minus that of a cell."""
        mean = None if self.mean is None else self.mean - self.heights[:, cell]
        return Folds(self.heights - self.heights[:, cell : cell + 1], self.shares, mean)

    def minus_mean(self) -> Folds:
        """Return the same of heights minus the mean prediction of the same rows."""
        if self.mean is None:
            message = "the mean prediction without each fold is not known; ask for the curve again"
            raise BackgroundError(message)
        return Folds(self.heights - self.mean[:, None], self.shares, self.mean - self.mean)

    def at_cells(self, place: NDArray[np.int64]) -> Folds:
        """Return the same of some cells."""
        return Folds(self.heights[:, place], self.shares, self.mean)

    def first(self, n: int) -> Folds:
        """Return the same of the first n lines."""
        return Folds(self.heights[:, :n], self.shares, self.mean)
