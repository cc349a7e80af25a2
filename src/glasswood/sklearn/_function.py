"""partial_dependence with scikit-learn's arguments and results, and the exact values behind it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import inspection
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from glasswood._explainer import Explainer
from glasswood.errors import ArgumentError, ModelMismatchError, TooLargeError, UnsupportedModelError
from glasswood.sklearn._grids import Grid, Table
from glasswood.text._arguments import brief
from glasswood.text._printable import how_many

__all__ = ["UNREADABLE", "Exact", "check_estimator", "partial_dependence", "warn_of_brute_force"]

UNREADABLE = (UnsupportedModelError, ModelMismatchError, TooLargeError)
KINDS = ("average", "individual", "both")
RESPONSES = {"auto": "probability", "predict_proba": "probability", "decision_function": "raw"}


def partial_dependence(  # noqa: PLR0913 (scikit-learn's signature)
    estimator: object,
    X: object,
    features: str | int | Iterable[Any],
    *,
    sample_weight: ArrayLike | None = None,
    categorical_features: object = None,
    feature_names: Iterable[str] | None = None,
    response_method: str = "auto",
    percentiles: Sequence[float] = (0.05, 0.95),
    grid_resolution: int = 100,
    custom_values: Mapping[Any, Any] | None = None,
    method: str = "auto",
    kind: str = "average",
) -> Bunch:
    """Return the partial dependence of features on a grid, as `sklearn.inspection.partial_dependence` does.

    Parameters
    ----------
    estimator : fitted classifier or regressor
        Tree ensembles are explained exactly, everything else by scikit-learn's brute force, with a warning.
    X : table of shape (n_rows, n_features)
        The rows to average over, which also determine the grid: NumPy, pandas, Polars, PyArrow, SciPy sparse, lists.
    features : int, str, a sequence of them, or a mask
        One feature, or several features that are fixed together.
    sample_weight : array of shape (n_rows,), optional
        Weights of the average. Individual curves have none.
    categorical_features : mask, or sequence of int or str, optional
        Features whose grid consists of all their values. Columns of strings and categories are always categorical.
    feature_names : sequence of str, optional
        Names for the columns of a table that has none.
    response_method : {"auto", "predict_proba", "decision_function"}
        For classifiers: "auto" is the probability for every `kind`, and "decision_function" the raw score.
    percentiles : pair of float
        The ends of the grid.
    grid_resolution : int
        The number of equally spaced points of the grid; a feature with fewer distinct values uses these instead.
    custom_values : mapping from features to arrays, optional
        Custom grids.
    method : {"auto", "recursion", "brute"}
        "auto" is exact; the others are scikit-learn's own.
    kind : {"average", "individual", "both"}
        Whether to return the average, a curve for each row, or both.

    Returns
    -------
    Bunch
        `grid_values`: one array per feature. `average`: ``(n_outputs, *grid)``. `individual`:
        ``(n_outputs, n_rows, *grid)``.
        If a column has missing values, also `missing`: for each feature None, or a Bunch of `average` and `individual`
        where it is missing, without the axis of that feature.

    Examples
    --------
    >>> from glasswood.sklearn import partial_dependence
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = HistGradientBoostingRegressor(max_iter=20).fit(X, y)
    >>> result = partial_dependence(model, X, ["bmi"], grid_resolution=5, kind="both")
    >>> result.average.shape, result.individual.shape
    ((1, 5), (1, 442, 5))
    """
    own: dict[str, Any] = {
        "sample_weight": sample_weight,
        "categorical_features": categorical_features,
        "feature_names": feature_names,
        "response_method": response_method,
        "percentiles": percentiles,
        "grid_resolution": grid_resolution,
        "kind": kind,
    }
    if custom_values is not None:  # which scikit-learn 1.6 does not know
        own["custom_values"] = custom_values
    if method != "auto":
        return inspection.partial_dependence(estimator, X, features, method=method, **own)
    check_estimator(estimator, response_method)
    if kind not in KINDS:
        message = f"kind must be one of {KINDS}, not {kind!r}"
        raise ArgumentError(message)
    table = Table(X, feature_names)
    asked = table.find(features)
    grid = Grid(percentiles, grid_resolution, custom_values or {}, table.categorical(categorical_features))
    weight = check_weight(sample_weight, table)
    try:
        exact = Exact(estimator, table, response_method, weight)
        return exact.result(asked, [grid.axis(table, number) for number in asked], kind)
    except UNREADABLE as error:
        warn_of_brute_force(estimator, error)
    return inspection.partial_dependence(estimator, X, features, method="brute", **own)


def check_estimator(estimator: Any, response_method: str) -> None:
    """Raise scikit-learn's errors for estimators without partial dependence, or without this kind of it."""
    check_is_fitted(estimator)
    if not (is_classifier(estimator) or is_regressor(estimator)):
        message = f"'estimator' must be a fitted regressor or classifier, not {type(estimator).__name__}"
        raise ArgumentError(message)
    if is_classifier(estimator) and isinstance(estimator.classes_[0], np.ndarray):
        message = "Multiclass-multioutput estimators are not supported"
        raise ArgumentError(message)
    if response_method not in RESPONSES:
        message = f"response_method must be one of {tuple(RESPONSES)}, not {response_method!r}"
        raise ArgumentError(message)
    if is_regressor(estimator) and response_method != "auto":
        message = "The response_method parameter is ignored for regressors and must be 'auto': they only predict"
        raise ArgumentError(message)


def check_weight(weight: ArrayLike | None, table: Table) -> NDArray[np.float64] | None:
    """Return the weights of rows as an array; a single number applies to all rows."""
    if weight is None or np.ndim(weight) == 0:
        return None
    weights = np.asarray(weight, dtype=np.float64)
    if weights.shape != (table.n_rows,):
        message = (
            f"sample_weight.shape == {weights.shape}, but X has {how_many(table.n_rows, 'row')}: ({table.n_rows},)"
        )
        raise ArgumentError(message)
    return weights


def check_centered(centered: object) -> None:
    """Refuse to centre curves in another way than scikit-learn does."""
    if not isinstance(centered, bool | np.bool_):
        message = (
            f"centered must be True or False, as in scikit-learn, where curves start at zero, not {brief(centered)}; "
            'curves minus the mean prediction are glasswood.Explainer(...).partial_dependence(centered="mean")'
        )
        raise ArgumentError(message)


def warn_of_brute_force(estimator: object, reason: Exception) -> None:
    """Warn the user that this is slow, and why."""
    message = (
        f"{type(estimator).__name__} is left to scikit-learn's brute force, which predicts all rows at each point of "
        f"the grid, because Glasswood cannot explain it exactly: {reason}"
    )
    warnings.warn(message, UserWarning, stacklevel=3)


class Exact:
    """A model that Glasswood reads, and the rows to average over.

    Parameters
    ----------
    estimator : fitted classifier or regressor
    table : Table
    response_method : {"auto", "predict_proba", "decision_function"}
    weight : array of shape (n_rows,) or None
    """

    def __init__(
        self, estimator: object, table: Table, response_method: str, weight: NDArray[np.float64] | None
    ) -> None:
        self.table = table
        response = RESPONSES[response_method] if is_classifier(estimator) else "prediction"
        self.explainer = Explainer(estimator, table.data, response=response, sample_weight=weight)
        score = self.explainer.ensemble.score
        if response == "raw" and score.units == "probability" and not hasattr(estimator, "decision_function"):
            message = f"{type(estimator).__name__} has no decision_function: its trees average probabilities"
            raise AttributeError(message)
        self._study = self.explainer._study  # for two classes, the result is for the second one, as in scikit-learn

    def result(self, asked: Sequence[int], axes: list[NDArray[Any]], kind: str) -> Bunch:
        """Return the partial dependence of some columns on the grid of their axes, as scikit-learn arranges it."""
        result = Bunch(grid_values=axes, **self._on_grid(asked, axes, kind))
        missing: list[Any] = [None] * len(asked)
        for place, number in enumerate(asked):
            if self.table.column(number).missing:
                there = [*axes[:place], np.array([np.nan]), *axes[place + 1 :]]
                found = self._on_grid(asked, there, kind)
                first = {"average": 1, "individual": 2}  # where the axes of the grid begin
                missing[place] = Bunch(**{key: np.squeeze(v, first[key] + place) for key, v in found.items()})
        if any(entry is not None for entry in missing):
            result["missing"] = missing
        return result

    def _on_grid(self, asked: Sequence[int], axes: list[NDArray[Any]], kind: str) -> dict[str, NDArray[np.float64]]:
        players = [self._player(number) for number in asked]
        points = _cartesian(axes)
        shape = tuple(axis.size for axis in axes)
        result = {}
        if kind != "individual":
            heights = self._average(players, points)
            result["average"] = heights.T.reshape(-1, *shape).copy()  # scikit-learn's own arrays are writeable
        if kind != "average":
            curves = self.explainer.ice(*players, rows=self.table.data, at=points).heights
            result["individual"] = np.moveaxis(curves, -1, 0).reshape(-1, self.table.n_rows, *shape).copy()
        return result

    def _average(self, players: list[str | int], points: NDArray[Any]) -> NDArray[np.float64]:
        """Return the average at points: (n_points, n_outputs)."""
        alone = len(players) == 1 and self._study.player(players[0]) not in self._study.groups
        if alone and self.explainer._view().scale.additive:  # a curve, in forests of any size
            curve = self.explainer.partial_dependence(players[0])
            heights: NDArray[np.float64] = curve.heights[curve.axis.cell_of(points[:, 0])]
        else:
            heights = self.explainer.partial_dependence(*players, at=points).heights
        return heights

    def _player(self, number: int) -> str | int:
        """Return the explainer's name of a column, or its number if the model has no feature names."""
        own = None if self.table.own_names is None else str(self.table.own_names[number])
        originals = self._study.originals
        if originals is not None:
            return own if own in originals.names else originals.names[number]
        return own if own is not None and self.explainer.ensemble.schema.named else number


def _cartesian(axes: list[NDArray[Any]]) -> NDArray[Any]:
    """Return every combination of values, one per row; the last axis changes fastest."""
    columns = [grid.ravel() for grid in np.meshgrid(*axes, indexing="ij")]
    plain = all(column.dtype.kind in "fiub" for column in columns)
    points = np.empty((columns[0].size, len(columns)), dtype=np.result_type(*columns) if plain else object)
    for k, column in enumerate(columns):
        points[:, k] = column
    return points
