"""Observations: what was observed and predicted for the rows in each cell of a feature, beside its curve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError, BackgroundError
from glasswood.kernels._read_only import ReadOnly
from glasswood.results._axis import Axis, columns_of
from glasswood.results._folds import NO_FOLDS, Folds
from glasswood.results._frames import Tabular
from glasswood.text._html import table_html
from glasswood.text._printable import how_many, printable

__all__ = ["Observations"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Observations(ReadOnly, Tabular):
    """What was observed and what was predicted for the background's rows in each cell of a feature.

    With weights w, exposures e (1 if none were given), targets y and predictions m, summed over the rows of a cell:

    ``observed = sum(w y) / sum(w e)``, ``predicted = sum(w m) / sum(w e)``, ``residual = observed - predicted``,
    ``actual_expected = sum(w y) / sum(w m)``, ``spread = sqrt(sum(w y^2 / e) / sum(w e) - observed^2)``.

    The target is a row's total, such as its number of claims, and all are ratios of sums, as insurers use them [1]_.
    For classes, y is 1 for rows of the class and 0 for others, and m its probability. A cell without rows has NaN.
    Unlike a curve, this compares different rows: differences between cells may be due to other features.

    Every array has one line per cell, missing values last, and one column per output. `comparable` is whether the curve
    is on the same scale, that of `predict` and `predict_proba`, so that one figure can show all. `counts` are the sums
    of a target that is a count, such as a number of claims; None for others.

    References
    ----------
    .. [1] M. Goldburd, A. Khare, D. Tevet, D. Guller: Generalized Linear Models for Insurance Rating, Casualty
       Actuarial Society Monograph 5, 2nd edition, 2020, chapter 7.

    `to_frame` returns one row per cell (and output).

    Examples
    --------
    >>> import glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X, target=y)
    >>> found = ex.partial_dependence("bmi").observations
    >>> found
    Observations(bmi: ... cells, observed ..., predicted ...)
    >>> found.to_frame().columns.tolist()
    ['bmi_above', 'bmi_to', 'observed', 'predicted', 'residual', 'actual_expected', 'spread', 'exposure']
    """

    axis: Axis
    exposure: NDArray[np.float64]
    observed: NDArray[np.float64]
    predicted: NDArray[np.float64]
    spread: NDArray[np.float64]
    mean_observed: NDArray[np.float64]
    mean_predicted: NDArray[np.float64]
    outputs: tuple[Any, ...]
    units: str
    comparable: bool = True
    folds: Mapping[str, Folds] = field(default_factory=dict)
    counts: NDArray[np.float64] | None = None

    @property
    def residual(self) -> NDArray[np.float64]:
        """Observed minus predicted."""
        return self.observed - self.predicted

    @property
    def actual_expected(self) -> NDArray[np.float64]:
        """Observed divided by predicted (A/E); NaN where nothing is predicted."""
        return np.divide(
            self.observed, self.predicted, out=np.full_like(self.observed, np.nan), where=self.predicted != 0
        )

    def error(self, what: str = "observed") -> NDArray[np.float64]:
        """Return standard errors: how much an average would differ with other rows of the same kind, for this model.

        Parameters
        ----------
        what : {"observed", "predicted", "residual", "actual_expected"}, default "observed"

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X, target=y, folds=10)
        >>> ex.partial_dependence("sex").observations.error("residual").shape  # missing values are a cell, too
        (3, 1)
        """
        if not self.folds:
            raise BackgroundError(NO_FOLDS)
        if what not in ERRORS:
            message = f"what must be one of {', '.join(ERRORS)}, not {what!r}"
            raise ArgumentError(message)
        observed, predicted = self.folds["observed"], self.folds["predicted"]
        with np.errstate(invalid="ignore", divide="ignore"):
            parts = {
                "observed": observed.heights,
                "predicted": predicted.heights,
                "residual": observed.heights - predicted.heights,
                "actual_expected": observed.heights / predicted.heights,
            }
            return Folds(parts[what], observed.shares).error(getattr(self, what))

    @property
    def ratio(self) -> NDArray[np.float64]:
        """Observed divided by predicted over all rows, for each output."""
        zero = np.where(self.mean_predicted == 0, np.nan, self.mean_predicted)
        return np.asarray(self.mean_observed / zero)

    def __repr__(self) -> str:
        means = f"observed {_text_of(self.mean_observed)}, predicted {_text_of(self.mean_predicted)}"
        return f"Observations({printable(self.axis.name)}: {how_many(self.axis.n_cells, 'cell')}, {means})"

    def _repr_html_(self) -> str:
        return table_html(repr(self), self._columns())

    def _numbers(self) -> dict[str, NDArray[np.float64]]:
        """Return the columns of a frame that are not about cells: one entry per cell and output."""
        result = {name: getattr(self, name).ravel() for name in COLUMNS}
        errors = {f"{name}_error": self.error(name).ravel() for name in ("observed", "residual")} if self.folds else {}
        return result | {"exposure": np.repeat(self.exposure, len(self.outputs))} | errors

    def _columns(self) -> dict[str, Any]:
        listed = columns_of([self.axis], self.observed, self.outputs, None)
        del listed["value"]
        return listed | self._numbers()


COLUMNS = ("observed", "predicted", "residual", "actual_expected", "spread")

ERRORS = COLUMNS[:4]


def _text_of(values: NDArray[np.float64]) -> str:
    return ", ".join(f"{value:.6g}" for value in values[:3].tolist()) + (", ..." if values.size > 3 else "")
