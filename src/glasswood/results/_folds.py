"""Folds: an answer without each fold of the rows, from which its error follows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._jackknife import jackknife, student
from glasswood.kernels._read_only import ReadOnly

__all__ = ["NO_FOLDS", "Folds"]

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
    """

    heights: NDArray[np.float64]
    shares: NDArray[np.float64]

    @property
    def multiple(self) -> float:
        """How many errors on both sides make a band of 95 %."""
        return student(self.shares.size - 1)

    def error(self, whole: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the standard error of the answer of all rows."""
        return jackknife(whole, list(self.heights), self.shares.tolist())

    def centered(self, cell: int) -> Folds:
        """Return the same of heights minus that of a cell."""
        return Folds(self.heights - self.heights[:, cell : cell + 1], self.shares)
