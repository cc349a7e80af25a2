"""Importance: how much the score varies with each feature."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import BackgroundError, TableError
from glasswood.parallel._lazy import Deferred
from glasswood.results._drawable import DrawnAsBars
from glasswood.results._folds import NO_FOLDS, Folds
from glasswood.results._frames import Tabular
from glasswood.results._ranking import by_output, colon_of, root_of_squares, totals
from glasswood.text._html import table_html
from glasswood.text._printable import how_many, printable

__all__ = ["MEANINGS", "Importance", "sample_column", "sample_note"]


MEANINGS = {
    "total": "root mean squared change if the feature is redrawn from the rows",
    "main": "standard deviation of each feature's curve",
}


class FromRows(Protocol):
    """A result that may be of a sample of the rows."""

    @property
    def n_rows(self) -> int: ...
    @property
    def sampled(self) -> bool: ...
    def __len__(self) -> int: ...


def sample_note(result: FromRows) -> str:
    """Return from how many rows a result was computed, if these are a sample."""
    return f" of {result.n_rows:,} sampled rows" if result.sampled else ""


def sample_column(result: FromRows) -> dict[str, Any]:
    """Return a column of the number of rows, if these are a sample."""
    return {"sampled_rows": [result.n_rows] * len(result)} if result.sampled else {}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Importance(DrawnAsBars, Tabular):
    """The importance of each feature: how much the score varies with it over the rows.

    Total importance (the default) is the root of the mean squared change of the score if the feature is redrawn from
    all rows, and all others stay as they are. It includes what the feature does together with others::

        total_j = sqrt(sum_i sum_k w_i w_k (f(x_i) - f(x_i with feature j of row k))^2 / W^2)

    where w are the rows' weights, and W is their sum. For independent features it is the root of twice the variance
    that Sobol's total index is a share of [1]_.

    Main importance (``kind="main"``) is the standard deviation of the feature's own curve, and has nothing of what the
    feature only does together with others: see `Explainer.interaction_strengths`. For a feature without interactions,
    the total is sqrt(2) times as large: the change is between two random rows, and not from the mean.

    A feature is not important if the score varies little where the rows are, however steep it is elsewhere. Rows with a
    missing value are included.

    `to_frame` returns one row per feature: its name, the value of each output, and the `total` if there are several.
    There is a column of the `kind`, and one of the number of rows if these are a sample.

    Parameters
    ----------
    names : tuple of str
        The features (and groups), the most important first. Several outputs are ranked by the root of the sum of
        squares.
    heights : ndarray of shape (n_features, n_outputs)
        The importances, in units of the score.
    outputs : tuple
        The labels of the outputs.
    units : str
    kind : {"total", "main"}
        By default "main" only if there are neither rows nor sums of changes, as in a Background that was made without
        ``summarize(..., answers=["importance"])``.
    n_rows : int
        The number of rows that it was computed from.
    sampled : bool
        Whether these are a sample of the background's rows, because there are very many; see `Explainer.importance`.

    References
    ----------
    .. [1] T. Homma and A. Saltelli, "Importance measures in global sensitivity analysis of nonlinear models",
       Reliability Engineering & System Safety 52(1), 1996.

    Examples
    --------
    >>> importance = ex.importance()
    >>> importance
    Importance(total, 10 features, value: s5 ..., bmi ..., ...)
    >>> importance.names[:2]
    ('s5', 'bmi')
    >>> importance.to_frame().columns.tolist()
    ['feature', 'value', 'kind']
    >>> main = ex.importance(kind="main")
    >>> bool(abs(main["s5"] - ex.partial_dependence("s5")(X["s5"]).std()) < 1e-9)
    True
    """

    names: tuple[str, ...]
    heights: NDArray[np.float64]
    outputs: tuple[Any, ...]
    units: str
    kind: str = "main"
    n_rows: int = 0
    sampled: bool = False
    find_folds: Deferred[Folds] | None = None

    @property
    def values(self) -> NDArray[np.float64]:
        """One value per feature; with a last axis of outputs if there are several."""
        return self.heights[:, 0] if len(self.outputs) == 1 else self.heights

    @property
    def error(self) -> NDArray[np.float64]:
        """The standard error of each of `values`: how much they would differ with other rows, the model as it is.

        The Explainer, or the Background, must have been made with ``folds=``, see `Curve.error`. A rank has none.
        """
        if self.find_folds is None:
            raise BackgroundError(NO_FOLDS)
        result = self.find_folds().error(self.heights)
        return result[:, 0] if len(self.outputs) == 1 else result

    @property
    def total(self) -> NDArray[np.float64]:
        """One value per feature: the root of the sum of squares over outputs, by which features are ranked."""
        return root_of_squares(self.heights)

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, feature: str) -> Any:
        """Return the importance of one feature; one per output if there are several."""
        if feature not in self.names:
            raise TableError.no_feature(feature, self.names)
        result = self.values[self.names.index(feature)]
        return float(result) if len(self.outputs) == 1 else result

    def __repr__(self) -> str:
        shown = [f"{printable(name)} {value:.4g}" for name, value in zip(self.names[:3], self.total[:3], strict=True)]
        more = ", ..." if len(self) > 3 else ""
        outputs = f" x {len(self.outputs)} outputs" if len(self.outputs) > 1 else ""
        colon = colon_of(self) if shown else ""
        features = f"{self.kind}{sample_note(self)}, {how_many(len(self), 'feature')}{outputs}"
        return f"Importance({features}, {self.units}{colon}{', '.join(shown)}{more})"

    def _repr_html_(self) -> str:
        return table_html(f"Importance: {MEANINGS[self.kind]} ({self.units}){sample_note(self)}", self._columns())

    def top(self, n: int = 10) -> Importance:
        """Return the n most important features.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.ensemble import RandomForestClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> ex = gw.Explainer(RandomForestClassifier(20, random_state=0).fit(X, y), X)
        >>> ex.importance().top(2)
        Importance(total, 2 features x 3 outputs, probability, total: petal ...)
        """
        n, folds = max(0, n), self.find_folds
        first = None if folds is None else Deferred(lambda: folds().first(n))
        return replace(self, names=self.names[:n], heights=self.heights[:n], find_folds=first)

    def _columns(self) -> dict[str, Any]:
        error = self.error if self.find_folds is not None else None
        errors = {} if error is None else by_output(error.reshape(self.heights.shape), self.outputs)
        named = {name.replace("value", "error", 1): part for name, part in errors.items()}
        result = {"feature": list(self.names), **by_output(self.heights, self.outputs), **totals(self), **named}
        return {**result, "kind": [self.kind] * len(self), **sample_column(self)}
