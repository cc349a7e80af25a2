"""Curve: the partial dependence of a feature, with names, labels and units."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from glasswood.errors import ArgumentError, BackgroundError, UnsupportedModelError
from glasswood.kernels._read_only import read_only
from glasswood.models._outputs import position_of
from glasswood.parallel._lazy import Deferred
from glasswood.questions.curves._result_observed import Observations
from glasswood.results._axis import Axis, FloatOrArray, columns_of, of_outputs, squeezed
from glasswood.results._drawable import DrawnByOutput
from glasswood.results._folds import NO_FOLDS, Folds
from glasswood.results._frames import Tabular
from glasswood.text._arguments import Centering, checked_centering
from glasswood.text._html import table_html
from glasswood.text._printable import how_many, printable

if TYPE_CHECKING:
    from glasswood._types import A, AnyFigure, FigureOptions, MatplotlibFigure, PlotlyFigure

    class CurveFigure(FigureOptions, total=False):
        output: Hashable
        sort: str | None
        xscale: str
        std: bool
        observed: bool
        error: bool


__all__ = ["CURVES_ONLY", "LOST_RELATIVITY", "LOST_SPREAD", "Curve", "columns_in_cells", "columns_of_curve"]


LOST_SPREAD = (
    "this curve was copied or pickled before its spread was computed, and no longer knows its rows; call std() before "
    "that"
)
LOST_RELATIVITY = "this curve was copied or pickled, and no longer knows its rows; call relativity() before that"

CURVES_ONLY = ("std", "observed", "error")  # options of figures that surfaces and points do not have


NO_TARGET = (
    "no target given: make the Explainer with target=, or the Background with "
    "summarize(model, rows, target=...). Curves of a comparison whose cells are not the model's own have none"
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Curve(DrawnByOutput, Tabular):
    """The partial dependence of one feature at full resolution: the average score if the feature is x in all rows.

    The curve is constant between neighbouring cuts of the model, so its K + 1 values describe it completely.

    `to_frame` returns one row per cell (and output): its limits, its value, and the number of background rows in it. If
    a target is known, there are also the columns of `Observations.to_frame`.

    Examples
    --------
    >>> import glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> curve = gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X).partial_dependence("bmi")
    >>> len(curve.values) == len(curve.cuts) + 1
    True
    >>> curve([-0.05, 0.1]).round(1)
    array([..., ...])
    >>> curve.to_frame().columns.tolist()
    ['bmi_above', 'bmi_to', 'value', 'rows']
    """

    axis: Axis
    heights: NDArray[np.float64]
    mean: NDArray[np.float64]
    outputs: tuple[Any, ...]
    units: str
    find_spread: Deferred[NDArray[np.float64]] = field(default_factory=lambda: Deferred.gone(LOST_SPREAD))
    find_observations: Deferred[Observations] | None = None
    find_folds: Deferred[Folds] | None = None
    of_log_link: Mapping[str, Deferred[NDArray[np.float64]]] = field(default_factory=dict)
    folds_of_log_link: Mapping[str, Deferred[Folds]] = field(default_factory=dict)
    centering: Centering = False

    @property
    def name(self) -> str:
        """The name of the feature."""
        return self.axis.name

    @property
    def observations(self) -> Observations:
        """What was observed and predicted for the rows in each cell, missing values included.

        It is on the scale of `predict` and `predict_proba`, whatever the scale of the curve, and computed when it is
        first asked for. The Explainer, or the Background, must have been made with ``target=``.
        """
        if self.find_observations is None:
            raise BackgroundError(NO_TARGET)
        return self.find_observations()

    @property
    def observed(self) -> NDArray[np.float64]:
        """What was observed for the rows at each of `values`, on average: see `Observations` for the formulas."""
        return self._main(self.observations.observed)

    @property
    def predicted(self) -> NDArray[np.float64]:
        """What was predicted for the rows at each of `values`, on average."""
        return self._main(self.observations.predicted)

    @property
    def residual(self) -> NDArray[np.float64]:
        """Observed minus predicted, at each of `values`."""
        return self._main(self.observations.residual)

    @property
    def actual_expected(self) -> NDArray[np.float64]:
        """Observed divided by predicted (A/E), at each of `values`."""
        return self._main(self.observations.actual_expected)

    @property
    def error(self) -> NDArray[np.float64]:
        """The standard error at each of `values`: how much they would differ with other rows, the model as it is.

        It is found by leaving out one fold of the rows at a time (a delete-one-fold jackknife), so the Explainer, or
        the Background, must have been made with ``folds=``. It is neither the error of the model, which would need to
        be trained again, nor the spread of rows around the curve (`std`).

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X, folds=20)
        >>> curve = ex.partial_dependence("bmi")
        >>> curve.error.shape == curve.values.shape
        True
        """
        return self._main(self.errors)

    @property
    def errors(self) -> NDArray[np.float64]:
        """The standard errors of all cells, missing values last, and outputs."""
        if self.find_folds is None:
            raise BackgroundError(NO_FOLDS)
        return self.find_folds().error(self.heights)

    def _main(self, lines: NDArray[np.float64]) -> NDArray[np.float64]:
        return squeezed(read_only(lines)[: self.axis.n_main])

    @property
    def cuts(self) -> NDArray[np.float64]:
        """The K sorted cuts; empty for categories."""
        return self.axis.cuts

    @property
    def categories(self) -> tuple[Any, ...] | None:
        """The labels of the categories; None for numeric features."""
        return self.axis.categories

    @property
    def values(self) -> NDArray[np.float64]:
        """The K + 1 values between the cuts, or one per category; with a last axis of outputs if there are several."""
        return squeezed(self.heights[: self.axis.n_main])

    @property
    def missing(self) -> FloatOrArray:
        """The value where the feature is missing."""
        return of_outputs(self.heights[-1])

    @property
    def unseen(self) -> FloatOrArray | None:
        """The value for categories unknown to the model; None for numeric features."""
        return None if self.categories is None else of_outputs(self.heights[-2])

    @property
    def rows(self) -> NDArray[Any]:
        """The number (or weight) of background rows at each of `values`; empty without a background.

        The column of a feature that the model does not use is not read: all rows, missing values included, are at its
        only value. It is unknown which of them are in which category.
        """
        return self.axis.rows[: self.axis.n_main] if self.axis.unread is None else self.axis.unread

    @property
    def ends(self) -> tuple[float, float] | None:
        """The smallest and largest value in the background; None if unknown (no rows) and for categories."""
        return self.axis.ends

    def __call__(self, x: ArrayLike) -> NDArray[np.float64]:
        """Return the value of the curve at any x: numbers, categories, NaN."""
        return squeezed(self.heights[self.axis.cell_of(x)])

    def std(self, x: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the standard deviation over the background's rows of the score if the feature is x.

        It is the spread of the ICE curves around their mean, which is this curve: how differently rows respond to the
        same value. It is computed when it is first asked for, and takes a few times as long as one `predict` of all
        rows. A saved Background has it if it was made with ``summarize(..., response=...)`` on the same scale. Spreads
        so small that rounding may have caused them are returned as 0: about 2e-7 of the largest possible score, or 2e-6
        for voting, stacking and calibrated models and transformed targets.

        Parameters
        ----------
        x : array-like, optional
            Numbers, categories, NaN. By default, one value for each of `values`.

        Examples
        --------
        >>> curve = ex.partial_dependence("bmi")
        >>> bool(np.allclose(curve.std(), ex.ice("bmi").values.std(axis=0)))
        True
        """
        spread = read_only(self.find_spread())
        return squeezed(spread[: self.axis.n_main] if x is None else spread[self.axis.cell_of(x)])

    def __repr__(self) -> str:
        what = how_many(self.cuts.size, "cut")
        if self.categories is not None:
            what = how_many(len(self.categories), "category", "categories")
        main = self.heights[self.axis.ordinary]
        low, high = main.min(), main.max()
        outputs = f", {len(self.outputs)} outputs" if len(self.outputs) > 1 else ""
        return f"Curve({printable(self.name)}: {what}{outputs}, {self.units} from {low:.6g} to {high:.6g})"

    def _repr_html_(self) -> str:
        return table_html(repr(self), columns_of_curve(self))

    def _columns(self) -> dict[str, Any]:
        return columns_of_curve(self)

    def centered(self, how: Centering = True) -> Curve:  # noqa: FBT002 (as centered= of questions)
        """Return the curve relative to one of its values, or to the mean prediction.

        Parameters
        ----------
        how : True or "mean", default True
            True: minus the value in the first cell with rows, or in the most frequent category, so that the curve
            starts at zero. "mean": minus `mean`, the mean prediction over the same rows.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = HistGradientBoostingRegressor(max_iter=20).fit(X, y)
        >>> curve = gw.Explainer(model, X).partial_dependence("bmi")
        >>> float(curve.centered()(X["bmi"].min()))
        0.0
        >>> bool(np.allclose(curve.centered("mean").values, curve.values - model.predict(X).mean()))
        True
        """
        how = checked_centering(how)
        if how == "mean":
            return self._centered(self.mean, lambda folds: folds.minus_mean(), how)
        if not how:
            return self
        rows, first = self.rows, 0
        if rows.size and rows.any():
            first = int(np.argmax(rows)) if self.categories is not None else int(np.flatnonzero(rows)[0])
        return self._centered(self.heights[first], lambda folds: folds.centered(first), how)

    def _centered(self, level: NDArray[np.float64], without: Callable[[Folds], Folds], how: Centering) -> Curve:
        """Return the curve minus a level of each output; `without` does the same to what is known without each fold."""
        result = self.find_folds
        return replace(
            self,
            heights=self.heights - level,
            mean=self.mean - level,
            find_observations=self._not_comparable(),
            find_folds=None if result is None else Deferred(lambda: without(result())),
            centering=how,
        )

    def relativity(self, reference: Hashable = None, scale: str = "raw") -> NDArray[np.float64]:
        """Return how many times as high the model's mean is at each of `values` as at a reference value.

        For models with a log link: objectives like Poisson, gamma and Tweedie. On the raw scale it is
        ``exp(raw(x) - raw(reference))``, a ratio of geometric means over the rows, and what multiplies in a tariff; on
        the scale of the response, it is the ratio of the average predictions. Both are equal if the feature does not
        interact with others.

        Parameters
        ----------
        reference : value of the feature, optional
            By default, the cell with most exposure, or most rows.
        scale : {"raw", "response"}, default "raw"

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = HistGradientBoostingRegressor(loss="poisson", max_iter=20).fit(X, y)
        >>> curve = gw.Explainer(model, X).partial_dependence("bmi")
        >>> relativity = curve.relativity(0.0)
        >>> bool(relativity.min() < 1 < relativity.max())
        True
        """
        return self._main(self._relativities(self._reference(reference), scale))

    def relativity_error(self, reference: Hashable = None, scale: str = "raw") -> NDArray[np.float64]:
        """Return the standard error of each `relativity`: how much it would differ with other rows, the model as it is.

        The Explainer, or the Background, must have been made with ``folds=``, see `error`. The reference stays the
        same, and has the error 0.

        Parameters
        ----------
        reference, scale
            As for `relativity`.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> model = HistGradientBoostingRegressor(loss="poisson", max_iter=20).fit(X, y)
        >>> curve = gw.Explainer(model, X, folds=20).partial_dependence("bmi")
        >>> curve.relativity_error(0.0).shape == curve.relativity(0.0).shape
        True
        """
        cell = self._reference(reference)
        whole = self._relativities(cell, scale)
        if scale not in self.folds_of_log_link:
            raise BackgroundError(NO_FOLDS)
        folds = self.folds_of_log_link[scale]()
        left_out = np.stack([_relative(heights, cell, scale) for heights in folds.heights])
        return self._main(Folds(left_out, folds.shares).error(whole))

    def _relativities(self, cell: int, scale: str) -> NDArray[np.float64]:
        """Return the relativities of all cells to one of them."""
        if scale not in ("raw", "response"):
            message = f'scale must be "raw" or "response", not {scale!r}'
            raise ArgumentError(message)
        if not self.of_log_link:
            message = (
                "relativities are for models with a log link, such as Poisson, gamma and Tweedie; for others, look at "
                "differences: curve.centered()"
            )
            raise UnsupportedModelError(message)
        return _relative(self.of_log_link[scale](), cell, scale)

    def _reference(self, reference: Hashable) -> int:
        """Return the cell of a reference value; by default the one with most exposure, or most rows."""
        if reference is not None:
            return int(self.axis.cell_of(np.array([reference], dtype=object))[0])
        known = self.axis.rows if self.find_observations is None else np.nan_to_num(self.observations.exposure)
        return int(np.argmax(known[: self.axis.n_main])) if known.size else 0

    def _not_comparable(self) -> Deferred[Observations] | None:
        """Return the observations beside a curve that is on no scale of theirs."""
        result = self.find_observations
        return None if result is None else Deferred(lambda: replace(result(), comparable=False))

    @overload
    def plot(
        self, *, backend: Literal["matplotlib"] = "matplotlib", ax: None = None, **options: Unpack[CurveFigure]
    ) -> MatplotlibFigure: ...
    @overload
    def plot(self, *, backend: Literal["plotly"], **options: Unpack[CurveFigure]) -> PlotlyFigure: ...
    @overload
    def plot(self, *, ax: A, **options: Unpack[CurveFigure]) -> A: ...

    def plot(
        self,
        *,
        output: Hashable = None,
        sort: str | None = None,
        xscale: str = "linear",
        std: bool = False,
        observed: bool = False,
        error: bool = False,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        backend: str = "matplotlib",
        ax: object = None,
    ) -> AnyFigure:
        """Draw the curve as its exact steps, pale where there are no rows, with the distribution of the rows below.

        Parameters
        ----------
        xscale : {"linear", "log", "quantile"}, default "linear"
            The scale of numeric axes. With "quantile", every row of the background takes up the same width.
        std : bool, default False
            Whether to shade one standard deviation of the rows' own (ICE) curves above and below the curve, see
            `Curve.std`.
        observed : bool, default False
            Whether to draw what was observed and predicted, too: see `Curve.observations`. Neighbouring cells are
            merged until each holds 5 % of the exposure; a cell with more than half of it stays alone. What
            was observed is pale where a target that is a count, such as a number of claims, sums to less than 5.
        error : bool, default False
            Whether to shade what holds 95 % of the curves of other rows of the same kind, for the same model: see
            `Curve.error`.
        title : str, optional
        figsize : (float, float), optional
            Width and height in inches. Chosen to fit the panels by default.
        backend : {"matplotlib", "plotly"}, default "matplotlib"
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure is created.
        output : label, optional
            The output (class or target) to draw. By default all outputs, up to eight.
        sort : {"model", "height", "rows"}, optional
            The order of categories.

        Returns
        -------
        Matplotlib or Plotly figure, or `ax` if given
            Notebooks display it. In scripts, ``plt.show()`` displays it; ``savefig`` and ``write_html`` save it.

        Examples
        --------
        >>> ex.partial_dependence("bmi").plot(std=True)
        <Drawing size ... with 1 Axes>
        """
        place = position_of(self.outputs, output)
        return self._plot(
            (backend, ax, title, figsize), place, sort=sort, xscale=xscale, std=std, observed=observed, error=error
        )


def columns_in_cells(curve: Curve, place: NDArray[np.int64]) -> dict[str, Any]:
    """Return what else a curve tells, in other cells, each of which is a part of one of its own.

    What was observed is not known for parts of cells.
    """
    folds, same = curve.find_folds, np.array_equal(place, np.arange(curve.axis.n_cells))
    return {
        "find_observations": curve.find_observations if same else None,
        "find_folds": None if folds is None else folds.map(lambda own: own.at_cells(place)),
        "of_log_link": {scale: find.map(lambda own: own[place]) for scale, find in curve.of_log_link.items()},
        "folds_of_log_link": {
            scale: find.map(lambda own: own.at_cells(place)) for scale, find in curve.folds_of_log_link.items()
        },
    }


def _relative(heights: NDArray[np.float64], cell: int, scale: str) -> NDArray[np.float64]:
    """Return the heights of a curve on a scale as multiples of that of a cell."""
    result: NDArray[np.float64] = np.exp(heights - heights[cell]) if scale == "raw" else heights / heights[cell]
    return result


def columns_of_curve(curve: Curve) -> dict[str, Any]:
    """Return the columns of a frame of a curve, by name."""
    listed = columns_of([curve.axis], curve.heights, curve.outputs, curve.axis.rows)
    listed |= {} if curve.find_folds is None else {"error": curve.errors.ravel()}
    return listed if curve.find_observations is None else listed | curve.observations._numbers()
