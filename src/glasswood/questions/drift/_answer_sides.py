"""The sides of the gate: explainers that are compared, and the same without a fold of their rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import BackgroundError, TooLargeError
from glasswood.parallel._lazy import cached_property
from glasswood.questions.curves import Curve, actual_expected, actual_expected_without_folds
from glasswood.questions.drift._answer import number_of
from glasswood.questions.importance import importance
from glasswood.results import NO_FOLDS
from glasswood.study._folds import study_folds
from glasswood.study._second_pass import deviation_of_scores
from glasswood.study._view import View

__all__ = ["ComparisonData", "Side"]


Floats = NDArray[np.float64]


class ComparisonData(Protocol):
    """What measures are computed from: of all rows of an explainer, or of those without a fold."""

    @property
    def mean(self) -> Floats:
        """The mean score, for each output."""

    def rows(self, feature: str) -> NDArray[Any]:
        """Return the number (or weight) of rows in each cell of a feature."""

    def heights(self, feature: str) -> Floats:
        """Return the curve of a feature."""


class Side:
    """An explainer that is compared.

    Parameters
    ----------
    name : str
    view : View
    curves : mapping from str to Curve
        The curves of all features that all explainers have, on common cells.
    """

    def __init__(self, name: str, view: View, curves: Mapping[str, Curve]) -> None:
        self.name, self.curves, self._view = name, curves, view

    @cached_property
    def n_rows(self) -> int:
        """The number of rows."""
        return self._view.study.n_rows

    @property
    def mean(self) -> Floats:
        """The mean score, for each output."""
        return next(iter(self.curves.values())).mean

    def rows(self, feature: str) -> NDArray[Any]:
        """Return the number (or weight) of rows in each common cell of a feature."""
        return self.curves[feature].axis.rows

    def heights(self, feature: str) -> Floats:
        """Return the curve of a feature on common cells."""
        return self.curves[feature].heights

    @cached_property
    def deviation(self) -> Floats:
        """The standard deviation of the scores, for each output."""
        study, scale = self._view.study, self._view.scale
        try:
            result = deviation_of_scores(study, scale)
        except BackgroundError as error:
            message = "difference, largest and level are in units of the standard deviation of the scores of the "
            message += f"reference {self.name!r}, which counts alone do not tell: {error}"
            raise BackgroundError(message) from error
        result = result[self._view.chosen.columns]
        if not (result > 0).all():
            message = f"all scores of {self.name!r} are equal, so that difference, largest and level have no unit"
            raise BackgroundError(message)
        return result

    @property
    def has_target(self) -> bool:
        """Whether it is known what was observed."""
        return self._view.study.has_targets

    @cached_property
    def actual_expected(self) -> Floats:
        """What was observed divided by what was predicted, over all rows and for each output."""
        if not self.has_target:
            message = f"'observed' cannot be judged: no target given for the rows of {self.name!r}; "
            message += "make the Explainer with target=, or the Background with summarize(model, rows, target=...)"
            raise BackgroundError(message)
        result = actual_expected(self._view)
        if np.isnan(result).any():
            message = f"'observed' cannot be judged: the sum of the predictions for {self.name!r} is 0, or there are "
            message += "none, so that actual/expected is not defined"
            raise BackgroundError(message)
        return result

    @cached_property
    def importance(self) -> dict[str, float]:
        """The importance of each feature by its curve alone, over all outputs; the most important first."""
        result = importance(self._view, "main")
        sizes = np.sqrt((result.heights**2).sum(axis=1)).tolist()
        return {self._spelling.get(name, name): size for name, size in zip(result.names, sizes, strict=True)}

    @cached_property
    def _spelling(self) -> dict[str, str]:
        """The common name of each feature that has one."""
        study = self._view.study
        return {study.ensemble.feature_names[number_of(study, name)]: name for name in self.curves}

    @cached_property
    def used(self) -> frozenset[str]:
        """The features that the model uses."""
        study = self._view.study
        names = enumerate(study.ensemble.feature_names)
        return frozenset(self._spelling.get(name, name) for f, name in names if study.uses(f))

    def refuse_without_folds(self) -> None:
        """Raise an error if answers have no errors."""
        folds = study_folds(self._view.study)
        if folds is None:
            message = f"error= needs the errors of {self.name!r}, and {NO_FOLDS}"
            raise BackgroundError(message)
        folds.without()  # refuses empty folds, and too many counts

    @cached_property
    def has_errors(self) -> bool:
        """Whether answers have errors by folds."""
        try:
            self.refuse_without_folds()
        except (BackgroundError, TooLargeError):
            return False
        return True

    @cached_property
    def left_out(self) -> list[tuple[float, ComparisonData]]:
        """The explainer without each fold of its rows, and the fold's share of them."""
        number = {name: number_of(self._view.study, name) for name in self.curves}
        return [(share, _WithoutFold(view, number)) for share, view in self._view.left_out]

    @cached_property
    def ratios_left_out(self) -> list[tuple[float, Floats]]:
        """What was observed divided by what was predicted without each fold, and the fold's share of the rows."""
        return actual_expected_without_folds(self._view)


class _WithoutFold:
    """The same as `Side` without a fold of its rows, in the cells of its own model."""

    def __init__(self, view: View, number: Mapping[str, int]) -> None:
        self._view, self._number = view, number

    @property
    def mean(self) -> Floats:
        return self._view.level

    def rows(self, feature: str) -> NDArray[Any]:
        return self._view.study.rows_per_cell(self._number[feature])

    def heights(self, feature: str) -> Floats:
        return self._view.levels(self._view.curves[self._number[feature]])
