"""PermutationImportance: how much a loss increases if a feature is permuted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import BackgroundError, TableError
from glasswood.parallel._lazy import Deferred
from glasswood.questions.importance._result import sample_column, sample_note
from glasswood.results._drawable import DrawnAsBarsOfAll
from glasswood.results._folds import NO_FOLDS, Folds
from glasswood.results._frames import Tabular
from glasswood.text._html import table_html
from glasswood.text._plain import number, plain
from glasswood.text._printable import how_many, printable

if TYPE_CHECKING:
    pass

__all__ = ["PermutationImportance", "text_of_loss"]

NAMES = {"poisson": "Poisson deviance", "gamma": "gamma deviance", "brier": "Brier score"}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PermutationImportance(DrawnAsBarsOfAll, Tabular):
    """Permutation importance: how much the mean loss increases if a feature is permuted, all others as they are.

    This is the mean over all permutations of the rows, and not over a few random ones, so it has no noise [1]_, [2]_::

        values_j = sum_i sum_k w_i w_k L(y_i, f(x_i with feature j of row k)) / W^2  -  base
        base     = sum_i w_i L(y_i, f(x_i)) / W

    where L is the loss, w are the rows' weights, and W is their sum. A row meets itself, too; without these pairs [2]_,
    `values` would be n / (n - 1) times as large for n rows of equal weight.

    A negative value means that the model predicts better without the feature: it has learned noise. Features that carry
    the same information share the importance, since the model can use the other one; and a permuted feature may make
    rows that do not exist.

    `to_frame` returns one row per feature: its name, value, ratio, and the error if there are folds; and the loss.

    Parameters
    ----------
    names : tuple of str
        The features (and groups), the most important first.
    values : ndarray of shape (n_features,)
        The increase of the mean loss.
    base : float
        The mean loss of the rows as they are.
    loss : str
        The name of the loss, see `Explainer.permutation_importance`.
    n_rows : int
        The number of rows that it was computed from.
    sampled : bool
        Whether these are a sample of the background's rows.

    References
    ----------
    .. [1] L. Breiman, "Random Forests", Machine Learning 45(1), 2001.
    .. [2] A. Fisher, C. Rudin and F. Dominici, "All Models are Wrong, but Many are Useful: Learning a Variable's
       Importance by Studying an Entire Class of Prediction Models Simultaneously", Journal of Machine Learning Research
       20(177), 2019.

    Examples
    --------
    >>> import glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = HistGradientBoostingRegressor(max_iter=20).fit(X, y)
    >>> importance = gw.Explainer(model, X, target=y).permutation_importance()
    >>> importance
    PermutationImportance(10 features, squared_error 1,...: s5 +..., bmi +..., ...)
    >>> importance.names[:2]
    ('s5', 'bmi')
    >>> bool(abs(importance.base - ((y - model.predict(X)) ** 2).mean()) < 1e-6)
    True
    >>> importance.to_frame().columns.tolist()
    ['feature', 'value', 'ratio', 'loss']
    """

    names: tuple[str, ...]
    values: NDArray[np.float64]
    base: float
    loss: str
    n_rows: int
    sampled: bool = False
    find_folds: Deferred[Folds] | None = None

    @property
    def ratio(self) -> NDArray[np.float64]:
        """The mean loss with each feature permuted divided by `base`; NaN if that is 0.

        It is large if the base is close to 0, as for rows that the model was trained on.
        """
        return (self.values + self.base) / self.base if self.base else np.full(len(self), np.nan)

    @property
    def error(self) -> NDArray[np.float64]:
        """The standard error of each of `values`: how much they would differ with other rows, the model as it is.

        The Explainer, or the Background, must have been made with ``folds=``, see `Curve.error`. A rank has none.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = HistGradientBoostingRegressor(max_iter=20).fit(X, y)
        >>> importance = gw.Explainer(model, X, target=y, folds=10).permutation_importance()
        >>> bool((importance.values[:2] > 3 * importance.error[:2]).all())
        True
        """
        if self.find_folds is None:
            raise BackgroundError(NO_FOLDS)
        return self.find_folds().error(self.values[:, None])[:, 0]

    @property
    def reach(self) -> NDArray[np.float64] | None:
        """Half of the width of a band of 95 %; None without folds."""
        return None if self.find_folds is None else self.find_folds().multiple * self.error

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, feature: str) -> float:
        """Return the importance of one feature."""
        if feature not in self.names:
            raise TableError.no_feature(feature, self.names)
        return float(self.values[self.names.index(feature)])

    def __repr__(self) -> str:
        shown = [f"{printable(name)} {value:+.4g}" for name, value in zip(self.names[:3], self.values[:3], strict=True)]
        more = ", ..." if len(self) > 3 else ""
        summary = f"{how_many(len(self), 'feature')}{sample_note(self)}, {printable(self.loss)} {number(self.base)}"
        return f"PermutationImportance({summary}{': ' if shown else ''}{', '.join(shown)}{more})"

    def _repr_html_(self) -> str:
        title = f"Permutation importance: increase of the {self.loss}, which is {number(self.base)}{sample_note(self)}"
        return table_html(title, self._columns())

    def top(self, n: int = 10) -> PermutationImportance:
        """Return the n most important features.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.ensemble import HistGradientBoostingClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> ex = gw.Explainer(HistGradientBoostingClassifier(max_iter=20).fit(X, y), X, target=y)
        >>> ex.permutation_importance().top(2)
        PermutationImportance(2 features, log_loss 0.0...: petal length (cm) +..., petal width (cm) +...)
        """
        n, folds = max(0, n), self.find_folds
        first = None if folds is None else Deferred(lambda: folds().first(n))
        return replace(self, names=self.names[:n], values=self.values[:n], find_folds=first)

    def _columns(self) -> dict[str, Any]:
        errors = {} if self.find_folds is None else {"error": self.error}
        result = {"feature": list(self.names), "value": self.values, "ratio": self.ratio, **errors}
        return {**result, "loss": [self.loss] * len(self), **sample_column(self)}


def text_of_loss(loss: str) -> str:
    """Return the name of a loss in sentences: "squared error", "Poisson deviance", "quantile loss at 0.9"."""
    name, _, level = loss.partition(":")
    if level:
        return f"quantile loss at {level}"
    return plain(loss) if loss.endswith("()") else NAMES.get(name, name.replace("_", " "))
