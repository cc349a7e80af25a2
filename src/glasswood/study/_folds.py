"""StudyFolds: a study without each fold of its rows, from counts in folds or from the rows of a table in memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._background import Background
from glasswood.counting._folds import refuse_empty, without_each_fold
from glasswood.counting._statistic import StatisticSpec
from glasswood.effects._closed_forms import Effects
from glasswood.errors import BackgroundError
from glasswood.parallel._lazy import Lock, cached_property
from glasswood.study._averages import NO_ROWS
from glasswood.study._study import Study
from glasswood.tables._folds import Division

__all__ = ["StudyFolds", "study_folds"]


def study_folds(study: Study) -> StudyFolds | None:
    """Return a study without each fold of its rows; None if these are not in folds."""
    division = study.division
    return None if division is None else study.cached(StudyFolds, lambda: StudyFolds(study, division))


class StudyFolds:
    """A study without each fold of its rows, and the share of the weight that the fold has.

    Parameters
    ----------
    study : Study
    division : Division
        How its rows are divided.
    """

    def __init__(self, study: Study, division: Division) -> None:
        self._study, self.division = study, division
        self._lock = Lock()
        self._left: list[tuple[Background, list[tuple[float, Study]]]] = []

    def without(self, spec: StatisticSpec | None = None, order: int = 1) -> list[tuple[float, Study]]:
        """Return studies of counts without each fold: of sets of so many players, with what else is wanted of rows."""
        with self._lock:
            counted = self._study.counted_in_folds(spec, order)
            for known, left in self._left:
                if known is counted:
                    return left
            left = [(part.share, self._study.over_counts(part.background)) for part in without_each_fold(counted)]
            self._left.append((counted, left))
            return left

    def pair_effects(self, a: int, b: int) -> list[tuple[float, Effects]]:
        """Return effects without each fold, from which the interaction of two features can be found."""
        study = self._study
        plan = study.plan_of_pair(a, b)
        if plan is None:
            return [(share, left.effects(2)) for share, left in self.without(order=2)]
        counted = study.over.count(plan, in_folds=True)
        if counted is None:
            raise BackgroundError(NO_ROWS)
        left_out = [(part.share, part.background) for part in without_each_fold(counted)]
        return [(share, Effects(plan, left.counts, left.total)) for share, left in left_out]

    @cached_property
    def rows(self) -> list[tuple[float, NDArray[np.intp]]]:
        """The share of each fold and the numbers of its rows, of a table in memory."""
        over, number = self._study.over, self.division.number
        fold = np.zeros(over.n_rows, dtype=np.intp) if over.fold is None else over.fold
        shares = np.bincount(fold, weights=over.shares, minlength=number)
        refuse_empty(shares, self.division)
        return [(share, np.flatnonzero(fold == k)) for k, share in enumerate(shares.tolist())]

    def refuse_without_table(self, what: str, otherwise: str = "") -> None:
        """Refuse what needs the rows of each fold, unless these are a table in memory."""
        if not self._study.over.in_memory:
            message = (
                f"the error of {what} needs the rows of each fold, and rows that are no table in memory are only "
                f"counted in folds; pass a table as the background{otherwise}"
            )
            raise BackgroundError(message)

    def without_rows(self) -> Iterator[tuple[float, Study]]:
        """Yield studies of the rows of a table in memory without each fold; nothing of them is kept."""
        everything = np.arange(self._study.over.n_rows)
        for share, rows in self.rows:
            yield share, self._study.on_some_rows(np.delete(everything, rows), in_folds=False)

    def of_rows(self) -> Iterator[tuple[float, Study]]:
        """Yield studies of the rows of a table in memory that are in each fold."""
        for share, rows in self.rows:
            yield share, self._study.on_some_rows(rows, in_folds=False)
