"""Attributions: the contribution of each feature, or pair of features, to the score of each row."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from glasswood.counting._exact import exact_means, exact_sums
from glasswood.models._outputs import position_of
from glasswood.questions.rows._result_shown import ShownRows
from glasswood.results._drawable import Drawable
from glasswood.results._frames import Tabular
from glasswood.text._html import facts_html, table_html
from glasswood.text._printable import how_many

if TYPE_CHECKING:
    from glasswood._types import (
        A,
        AnyFigure,
        Explanation,
        FigureOptions,
        InteractionValues,
        MatplotlibFigure,
        PlotlyFigure,
    )
    from glasswood.plots._spec import Bars, Dots, Waterfall

    class AttributionsFigure(FigureOptions, total=False):
        kind: str
        feature: str | None
        color: str | None
        top: int
        output: Hashable


__all__ = ["Attributions"]


def mean_size(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean absolute value over the rows (the first axis), rounded once; 0 if there are no rows."""
    lines = np.abs(values.reshape(len(values), math.prod(values.shape[1:])).T)
    return exact_means(exact_sums(lines), len(values), len(lines)).reshape(values.shape[1:])


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Attributions(Drawable, Tabular):
    """The contribution of each feature, or pair of features, to the score of each row.

    `to_frame` returns one column per feature or pair of features (and output).

    Examples
    --------
    >>> import numpy as np, glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = HistGradientBoostingRegressor(max_iter=20).fit(X, y)
    >>> shap_values = gw.Explainer(model, X).shap_values(X)
    >>> shap_values
    Attributions(Shapley values: 442 rows x 10 features, value)
    >>> bool(np.allclose(shap_values.values.sum(axis=1) + shap_values.base_values, model.predict(X)))
    True
    """

    name: str
    heights: NDArray[np.float64]
    mean: NDArray[np.float64]
    names: tuple[str, ...]
    outputs: tuple[Any, ...]
    units: str
    columns: ShownRows

    @property
    def values(self) -> NDArray[np.float64]:
        """(n_rows, n_features), or (n_rows, n_features, n_features); a last axis of outputs if there are several."""
        return self.heights[..., 0] if len(self.outputs) == 1 else self.heights

    @property
    def base_values(self) -> float | NDArray[np.float64]:
        """The mean score; adding the values of a row gives its score. One per output if there are several."""
        return float(self.mean[0]) if len(self.outputs) == 1 else self.mean

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: FBT001
        return np.array(self.values, dtype=dtype) if copy else np.asarray(self.values, dtype=dtype)

    def __len__(self) -> int:
        return len(self.heights)

    def __repr__(self) -> str:
        pairs = "" if self.heights.ndim == 3 else f" x {len(self.names)}"
        outputs = f" x {len(self.outputs)} outputs" if len(self.outputs) > 1 else ""
        features = f"{len(self.names)}{pairs} " + ("feature" if len(self.names) == 1 else "features")
        return f"Attributions({self.name}: {how_many(len(self), 'row')} x {features}{outputs}, {self.units})"

    def _repr_html_(self) -> str:
        if self.heights.ndim > 3:  # pairs
            facts = {"rows": len(self), "features": len(self.names), "units": self.units}
            return facts_html(f"Attributions: {self.name}", facts | {"outputs": ", ".join(map(str, self.outputs))})
        mean = mean_size(self.heights)
        order = np.argsort(-mean.sum(axis=1), kind="stable")
        ends = [f" [{name}]" for name in self.outputs] if len(self.outputs) > 1 else [""]
        columns: dict[str, Any] = {"feature": [self.names[k] for k in order]}
        return table_html(repr(self), columns | {f"mean size{end}": mean[order, k] for k, end in enumerate(ends)})

    def mean_abs(self) -> NDArray[np.float64]:
        """Return the mean absolute value of each feature (or pair) over the rows.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.ensemble import RandomForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> ex = gw.Explainer(RandomForestClassifier(5, random_state=0).fit(X, y), X)
        >>> ex.shap_values(X).mean_abs().shape
        (4, 3)
        """
        return mean_size(self.values)

    def _columns(self) -> dict[str, Any]:
        ends = [f" [{name}]" for name in self.outputs] if len(self.outputs) > 1 else [""]
        labels = self.names if self.heights.ndim == 3 else [f"{a} x {b}" for a in self.names for b in self.names]
        flat = self.heights.reshape(len(self), len(labels), len(self.outputs))
        return {label + end: flat[:, i, k] for i, label in enumerate(labels) for k, end in enumerate(ends)}

    def to_shap(self) -> Explanation:
        """Return the values as a `shap.Explanation`, for the plots of the shap package.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=5).fit(X, y), X)
        >>> explanation = ex.shap_values(X).to_shap()  # doctest: +SKIP
        """
        from glasswood.questions.rows._result_exports import shap_explanation

        return shap_explanation(self.heights, self.mean, self.columns(), self.names, self.outputs)

    def to_shapiq(self, row: int = 0, *, output: Hashable = None) -> InteractionValues:
        """Return the values of one row as `shapiq.InteractionValues`, for the plots of the shapiq package.

        Parameters
        ----------
        row : int, default 0
            The number of the row.
        output : label, optional
            The output (class or target); required if there are several.

        Returns
        -------
        shapiq.InteractionValues
            Shapley values have the index "SV", Banzhaf values "BV", and Shapley interactions "k-SII" of order 2.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=5).fit(X, y), X)
        >>> ex.shap_interaction_values(X[:3]).to_shapiq(row=1).plot_network()  # doctest: +SKIP
        """
        from glasswood.questions.rows._result_exports import shapiq_values
        from glasswood.results.panels._outputs import one_output, one_row

        place = position_of(self.outputs, output)
        row, k = one_row(len(self), row), one_output(self.heights, self.outputs, place, "an object of shapiq")
        return shapiq_values(self.name, self.heights[row, ..., k], float(self.mean[k]))

    def panel(self, row: int = 0, output: int | None = None, **options: Any) -> Waterfall | Bars | Dots:
        """Return the data that `plot` draws. Options are those of `plot`; outputs are given by position."""
        result: Waterfall | Bars | Dots = self._made("panel", row, output, **options)
        return result

    @overload
    def plot(
        self,
        row: int = 0,
        *,
        backend: Literal["matplotlib"] = "matplotlib",
        ax: None = None,
        **options: Unpack[AttributionsFigure],
    ) -> MatplotlibFigure: ...
    @overload
    def plot(
        self, row: int = 0, *, backend: Literal["plotly"], **options: Unpack[AttributionsFigure]
    ) -> PlotlyFigure: ...
    @overload
    def plot(self, row: int = 0, *, ax: A, **options: Unpack[AttributionsFigure]) -> A: ...

    def plot(
        self,
        row: int = 0,
        *,
        kind: str = "waterfall",
        feature: str | None = None,
        color: str | None = None,
        top: int = 10,
        output: Hashable = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        backend: str = "matplotlib",
        ax: object = None,
    ) -> AnyFigure:
        """Draw the contribution of each feature (or pair) to the score of one row, or of all rows.

        Parameters
        ----------
        row : int, default 0
            The number of the row to draw as a waterfall.
        kind : {"waterfall", "bar", "beeswarm", "scatter"}, default "waterfall"
            "waterfall" breaks down the score of one row, "bar" shows the mean absolute value of each feature over all
            rows, "beeswarm" a dot per row and feature, coloured by the feature's value, and "scatter" the contributions
            of one feature against its values.
        feature : str, optional
            The feature of a scatter plot. Defaults to the one with the largest contributions.
        color : str, optional
            The feature that colours a scatter plot. Defaults to the one that best explains the variation left by
            `feature`.
        top : int, default 10
            The maximum number of features. A waterfall combines all others into one part; it shows up to twenty
            features if the combined part would otherwise be the largest.
        title : str, optional
        figsize : (float, float), optional
            Width and height in inches. Chosen to fit the panels by default.
        backend : {"matplotlib", "plotly"}, default "matplotlib"
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure is created.
        output : label, optional
            The output (class or target) to draw; required if there are several.

        Returns
        -------
        Matplotlib or Plotly figure, or `ax` if given
            Notebooks display it. In scripts, ``plt.show()`` displays it; ``savefig`` and ``write_html`` save it.

        Examples
        --------
        >>> ex.shap_values(X).plot(row=3)
        <Drawing size ... with 1 Axes>
        >>> ex.shap_values(X).plot(kind="beeswarm")
        <Drawing size ... with 2 Axes>
        """
        place = position_of(self.outputs, output)
        return self._plot((backend, ax, title, figsize), row, place, kind=kind, top=top, feature=feature, color=color)
