"""Ale: the accumulated local effect of a feature, with names, labels and units."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from glasswood.errors import ArgumentError, BackgroundError
from glasswood.kernels._read_only import ReadOnly, read_only
from glasswood.models._outputs import position_of
from glasswood.parallel._lazy import Deferred
from glasswood.questions.ale._arithmetic import along_levels, rms_gap, weights_of_edges
from glasswood.results._axis import Axis, FloatOrArray, of_outputs, spread, squeezed
from glasswood.results._drawable import DrawnByOutput
from glasswood.results._folds import NO_FOLDS, Folds
from glasswood.results._frames import Tabular
from glasswood.text._html import table_html
from glasswood.text._printable import how_many, printable, unlike

if TYPE_CHECKING:
    from glasswood._types import A, AnyFigure, FigureOptions, MatplotlibFigure, PlotlyFigure

    class AleFigure(FigureOptions, total=False):
        output: Hashable
        partial_dependence: bool
        error: bool


__all__ = ["OTHERS", "UNSEEN", "Ale", "AleLeftOut", "AlePart", "columns_of_ale"]


OTHERS, UNSEEN = "(others)", "(unseen)"


@dataclass(frozen=True, eq=False, kw_only=True)
class AlePart(ReadOnly):
    """What an ALE of some rows is computed from.

    Parameters
    ----------
    heights : ndarray of shape (n_edges, n_outputs)
        The heights at the edges of numbers; empty for categories.
    rows : ndarray of shape (n_bins,) or (n_levels,)
        The number (or weight) of rows in each bin, or of each level.
    moved : ndarray of shape (n_levels, n_levels, n_outputs)
        The mean score of the rows of each level if they are moved to each level, up to a constant; empty for numbers.
    dependence : Deferred
        The partial dependence at the edges, or levels: (n, n_outputs).
    """

    heights: NDArray[np.float64]
    rows: NDArray[Any]
    moved: NDArray[np.float64]
    dependence: Deferred[NDArray[np.float64]]

    def in_order(self, order: Sequence[int] | None) -> NDArray[np.float64]:
        """Return the heights, those of levels in an order."""
        return self.heights if order is None else along_levels(self.moved, self.rows.astype(np.float64), order)

    def gap(self, order: Sequence[int] | None) -> NDArray[np.float64]:
        """Return the root mean squared gap between both centred curves, for each output."""
        rows, dependence = self.rows.astype(np.float64), self.dependence()
        if order is None:
            weight = weights_of_edges(rows) if len(self.heights) > 1 else np.ones(len(self.heights))
            return rms_gap(dependence, self.heights, weight)
        return rms_gap(dependence[list(order)], self.in_order(order), rows[list(order)])


@dataclass(frozen=True, eq=False)
class AleLeftOut:
    """The parts without each fold of the rows, and the shares of the folds."""

    parts: tuple[AlePart, ...]
    shares: NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Ale(DrawnByOutput, Tabular):
    """The accumulated local effect (ALE) of one feature: what the score changes by along the feature, among like rows.

    A row is only moved to the two edges of its own bin, and not to values that no such row has, as for partial
    dependence. With edges ``z_0 < ... < z_B``, weights w, and s(x) the score of a row with the feature set to x:

    ``delta_b = sum_(rows in bin b) w (s(z_b) - s(z_(b-1))) / V_b``, with V_b the weight of bin b; ``a_0 = 0`` and
    ``a_b = a_(b-1) + delta_b``; the height at edge b is ``a_b`` minus the mean of a over the rows. Bin b holds the
    values above z_(b-1) up to z_b, the first bin also those below, the last one those above. Between edges heights are
    joined by straight lines [1]_. Bins without rows change nothing.

    Categories are put in an order in which neighbours are alike. The step from level p to the next one, q, is the mean
    over the rows of both of what the score changes by from p to q; heights are sums of steps, minus their mean.

    Missing values have no neighbour. Their contrast, `missing`, is the mean over the rows with a missing value of the
    score minus the mean score with values drawn from the other rows.

    References
    ----------
    .. [1] D. W. Apley, J. Zhu: Visualizing the effects of predictor variables in black box supervised learning models.
       Journal of the Royal Statistical Society B 82, 1059-1086, 2020.

    `to_frame` returns a row per edge (and output), with the rows of the bin that ends there; or a row per level.

    Examples
    --------
    >>> ale = ex.ale("bmi", bins=10)
    >>> ale
    Ale(bmi: 10 bins, value from ... to ...)
    >>> ale.edges.shape, ale.values.shape, ale.rows.shape
    ((11,), (11,), (10,))
    >>> bool(ale(0.1) > ale(-0.05))
    True
    >>> ale.to_frame().columns.tolist()
    ['bmi', 'value', 'rows']
    """

    axis: Axis
    part: AlePart
    edges: NDArray[np.float64]
    order: tuple[int, ...] | None
    all_levels: tuple[Any, ...] | None
    ordered_by: str
    missing_heights: NDArray[np.float64]
    missing_rows: float
    outputs: tuple[Any, ...]
    units: str
    find_left_out: Deferred[AleLeftOut] | None = None
    find_deviation: Deferred[NDArray[np.float64]]

    @property
    def name(self) -> str:
        """The name of the feature."""
        return self.axis.name

    @property
    def heights(self) -> NDArray[np.float64]:
        """The heights at all edges, or of all levels in their order: (n, n_outputs)."""
        return read_only(self.part.in_order(self.order))

    @property
    def values(self) -> NDArray[np.float64]:
        """The heights at the edges, or of the levels; with a last axis of outputs if there are several."""
        return squeezed(self.heights)

    @property
    def levels(self) -> tuple[Any, ...] | None:
        """The categories that rows have, in the order of `values`; None for numbers.

        Beyond 256 categories, all but the 255 most frequent ones are one level, "(others)". Categories that the model
        does not know are one level, too, "(unseen)".
        """
        if self.order is None or self.all_levels is None:
            return None
        return tuple(self.all_levels[place] for place in self.order)

    @property
    def rows(self) -> NDArray[Any]:
        """The number (or weight) of rows in each bin, one less than edges; or of each of `levels`."""
        return read_only(self.part.rows if self.order is None else self.part.rows[list(self.order)])

    @property
    def missing(self) -> FloatOrArray:
        """The contrast of missing values, see `Ale`; NaN if no row has one."""
        return of_outputs(self.missing_heights)

    @property
    def dependence(self) -> NDArray[np.float64]:
        """The partial dependence at the same places as `values`, centred in the same way."""
        result = self.part.dependence()
        result = result if self.order is None else result[list(self.order)]
        weight = self._weights
        return squeezed(read_only(result - (weight @ result) / weight.sum() if weight.sum() > 0 else result))

    @property
    def _weights(self) -> NDArray[np.float64]:
        rows = self.rows.astype(np.float64)
        if self.order is not None:
            return rows
        return weights_of_edges(rows) if self.edges.size > 1 else np.ones(self.edges.size)

    @property
    def difference(self) -> FloatOrArray:
        """The root mean squared difference between the partial dependence and the ALE, both centred, over the rows."""
        return of_outputs(self.part.gap(self.order))

    @property
    def gap(self) -> FloatOrArray:
        """The `difference`, divided by the standard deviation of the score over the rows.

        It is 0 for models without interactions. Beyond about 0.1, the partial dependence rests on rows that do not
        occur: the feature interacts with others that it depends on. See the guide.

        Examples
        --------
        >>> bool(ex.ale("bmi").gap < 0.1)
        True
        """
        return of_outputs(self._relative(self.part.gap(self.order)))

    def _relative(self, difference: NDArray[np.float64]) -> NDArray[np.float64]:
        deviation = self.find_deviation()
        return np.where(deviation > 0, difference / np.where(deviation > 0, deviation, 1.0), 0.0)

    @property
    def gap_error(self) -> FloatOrArray:
        """The standard error of `gap`, by folds of the rows; the deviation of the score is that of all rows."""
        left = self._left_out()
        gaps = np.stack([self._relative(part.gap(self.order)) for part in left.parts])
        return of_outputs(Folds(gaps, left.shares).error(self._relative(self.part.gap(self.order))))

    @property
    def error(self) -> NDArray[np.float64]:
        """The standard error at each of `values`: how much they would differ with other rows, the model as it is.

        The Explainer, or the Background, must have been made with ``folds=``, see `Curve.error`.
        """
        return squeezed(read_only(self.errors))

    @property
    def errors(self) -> NDArray[np.float64]:
        """The standard errors at all edges or levels, and outputs."""
        return self.folds.error(self.heights)

    @property
    def folds(self) -> Folds:
        """The heights without each fold of the rows."""
        left = self._left_out()
        return Folds(np.stack([part.in_order(self.order) for part in left.parts]), left.shares)

    def _left_out(self) -> AleLeftOut:
        if self.find_left_out is None:
            raise BackgroundError(NO_FOLDS)
        return self.find_left_out()

    def in_order(self, order: Sequence[Hashable]) -> Ale:
        """Return the ALE of a feature of categories along another order of its levels.

        Parameters
        ----------
        order : sequence of labels
            All of `levels`, each once.

        Examples
        --------
        >>> import glasswood as gw, pandas as pd
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> X["size"] = pd.cut(X.pop("bmi"), 3, labels=["small", "medium", "large"])
        >>> model = HistGradientBoostingRegressor(max_iter=20, categorical_features="from_dtype").fit(X, y)
        >>> ale = gw.Explainer(model, X).ale("size")
        >>> ale.in_order(["small", "medium", "large"]).levels
        ('small', 'medium', 'large')
        """
        levels = self.levels
        if levels is None or self.order is None:
            message = f"{self.name!r} is a number, whose values have an order; order= is for categories"
            raise ArgumentError(message)
        given = list(order)
        if len(given) != len(levels) or set(given) != set(levels):
            message = f"order must have each level of {self.name!r} once: {list(levels)!r}, not {given!r}"
            raise ArgumentError(message)
        place = dict(zip(levels, self.order, strict=True))
        return replace(self, order=tuple(place[level] for level in given), ordered_by="given")

    def __call__(self, x: ArrayLike) -> NDArray[np.float64]:
        """Return the height at any x: numbers between the edges by interpolation, beyond them that of the end.

        NaN for missing values, for which see `missing`, and for categories that no row has.
        """
        heights, result = self.heights, self.axis.cell_of(x) if self.order is not None else np.asarray(x, np.float64)
        if self.order is None:
            if not self.edges.size:
                return squeezed(np.full((*result.shape, heights.shape[1]), np.nan))
            lines = [np.interp(result, self.edges, heights[:, k]) for k in range(heights.shape[1])]
            return squeezed(np.where(np.isnan(result)[..., None], np.nan, np.stack(lines, axis=-1)))
        return squeezed(self._of_cells(heights)[result])

    def _of_cells(self, heights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the height of each cell of a feature of categories; NaN if it is unknown."""
        out = np.full((self.axis.n_cells, heights.shape[1]), np.nan)
        labels = list(self.axis.categories or ())
        places = dict(zip(self.levels or (), range(len(heights)), strict=True))
        others, unseen = (unlike(name, labels) for name in (OTHERS, UNSEEN))
        for code, label in enumerate(labels):
            place = places.get(label, places.get(others))
            if place is not None:
                out[code] = heights[place]
        if unseen in places:
            out[-2] = heights[places[unseen]]
        return out

    def __repr__(self) -> str:
        n = len(self.rows)
        what = how_many(n, "bin") if self.order is None else how_many(n, "level")
        outputs = f", {len(self.outputs)} outputs" if len(self.outputs) > 1 else ""
        heights = self.heights
        span = f"{self.units} from {heights.min():.6g} to {heights.max():.6g}" if heights.size else "no values"
        ordered = f" in the order {self.ordered_by}" if self.order is not None else ""
        return f"Ale({printable(self.name)}: {what}{ordered}{outputs}, {span})"

    def _repr_html_(self) -> str:
        return table_html(repr(self), columns_of_ale(self))

    def _columns(self) -> dict[str, Any]:
        return columns_of_ale(self)

    @overload
    def plot(
        self, *, backend: Literal["matplotlib"] = "matplotlib", ax: None = None, **options: Unpack[AleFigure]
    ) -> MatplotlibFigure: ...
    @overload
    def plot(self, *, backend: Literal["plotly"], **options: Unpack[AleFigure]) -> PlotlyFigure: ...
    @overload
    def plot(self, *, ax: A, **options: Unpack[AleFigure]) -> A: ...

    def plot(
        self,
        *,
        output: Hashable = None,
        partial_dependence: bool = False,
        error: bool = False,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        backend: str = "matplotlib",
        ax: object = None,
    ) -> AnyFigure:
        """Draw the heights at the edges, joined by lines (dashed through bins without rows); or those of the levels.

        Parameters
        ----------
        output : label, optional
            The output (class or target) to draw. By default all outputs, up to eight.
        partial_dependence : bool, default False
            Whether to draw the centred partial dependence beside it.
        error : bool, default False
            Whether to shade what holds 95 % of the heights of other rows of the same kind, for the same model.
        title : str, optional
        figsize : (float, float), optional
            Width and height in inches. Chosen to fit the panels by default.
        backend : {"matplotlib", "plotly"}, default "matplotlib"
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure is created.

        Returns
        -------
        Matplotlib or Plotly figure, or `ax` if given
            Notebooks display it. In scripts, ``plt.show()`` displays it; ``savefig`` and ``write_html`` save it.

        Examples
        --------
        >>> ex.ale("bmi").plot(partial_dependence=True)
        <Drawing size ... with 1 Axes>
        """
        place = position_of(self.outputs, output)
        options: dict[str, Any] = {"partial_dependence": partial_dependence, "error": error}
        return self._plot((backend, ax, title, figsize), place, **options)


def columns_of_ale(ale: Ale) -> dict[str, Any]:
    """Return the columns of a frame of an ALE, by name."""
    heights = ale.heights
    labels = [float(edge) for edge in ale.edges] if ale.levels is None else list(ale.levels)
    columns: dict[str, Any] = {ale.name: spread(labels, heights.shape, 0)}
    if len(ale.outputs) > 1:
        columns["output"] = spread(list(ale.outputs), heights.shape, 1)
    columns["value"] = heights.ravel()
    rows = ale.rows
    if ale.levels is None:  # the first edge ends no bin
        rows = np.append(np.zeros(1, dtype=rows.dtype), rows)[: len(heights)]
    columns["rows"] = np.repeat(rows, heights.shape[1])
    if ale.find_left_out is not None:
        columns["error"] = ale.errors.ravel()
    return columns
