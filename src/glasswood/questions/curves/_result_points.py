"""Points: the partial dependence of any features at points, with names, labels and units."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError, BackgroundError
from glasswood.kernels._read_only import read_only
from glasswood.models._outputs import position_of
from glasswood.parallel._lazy import Deferred
from glasswood.questions.curves._result import CURVES_ONLY
from glasswood.results._axis import squeezed
from glasswood.results._drawable import DrawnByOutput
from glasswood.results._folds import NO_FOLDS, Folds
from glasswood.results._frames import TabularWithError
from glasswood.text._arguments import Centering, checked_centering
from glasswood.text._html import table_html
from glasswood.text._printable import how_many, printable

if TYPE_CHECKING:
    from glasswood._types import A, AnyFigure, FigureOptions, MatplotlibFigure, PlotlyFigure

    class PointsFigure(FigureOptions, total=False):
        output: Hashable
        sort: str | None
        xscale: str


__all__ = ["Points", "values_of"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Points(DrawnByOutput, TabularWithError):
    """The partial dependence of some features, or a group of them, at given points.

    `to_frame` returns one row per point: the features' values, and the partial dependence of each output. With
    ``error=True``, its standard error, too: see `error`.

    Examples
    --------
    >>> import glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X, groups={"blood": ["s1", "s2"]})
    >>> ex.partial_dependence("blood", at=X[["s1", "s2"]][:3])
    Points(blood: 3 points, value)

    With ``grid=``, the points are all combinations of some values of each feature; the last feature changes fastest.

    >>> points = ex.partial_dependence("bmi", "bp", grid={"bmi": [-0.05, 0.05], "bp": [-0.1, 0.0, 0.1]})
    >>> points.grid
    {'bmi': [-0.05, 0.05], 'bp': [-0.1, 0.0, 0.1]}
    >>> points.values.shape, points.grid_values.shape
    ((6,), (2, 3))
    """

    _ignored_options: ClassVar[tuple[str, ...]] = CURVES_ONLY

    name: str
    columns: Mapping[str, Any]
    heights: NDArray[np.float64]
    outputs: tuple[Any, ...]
    units: str
    mean: NDArray[np.float64] | None = None
    find_rows: Deferred[NDArray[Any]] = field(default_factory=lambda: Deferred.of(np.empty(0)))
    weighted: bool = False
    find_folds: Deferred[Folds] | None = None
    grid: Mapping[str, Any] | None = None
    centering: Centering = False

    @property
    def values(self) -> NDArray[np.float64]:
        """The value at each point."""
        return squeezed(self.heights)

    @property
    def grid_values(self) -> NDArray[np.float64] | None:
        """The values as an array with an axis for each feature of `grid`, and one of outputs if there are several.

        None, as is `grid`, if the points were not asked for with ``grid=``.
        """
        if self.grid is None:
            return None
        shape = [len(values) for values in self.grid.values()]
        return squeezed(self.heights.reshape(*shape, len(self.outputs)))

    @property
    def error(self) -> NDArray[np.float64]:
        """The standard error of each of `values`: how much they would differ with other rows, the model as it is.

        The Explainer, or the Background, must have been made with ``folds=``, see `Curve.error`.
        """
        return squeezed(self._errors())

    def _errors(self) -> NDArray[np.float64]:
        if self.find_folds is None:
            raise BackgroundError(NO_FOLDS)
        return read_only(self.find_folds().error(self.heights))

    @property
    def rows(self) -> NDArray[Any]:
        """The number (or weight) of background rows at each point; empty unless every row is at one of the points."""
        return self.find_rows()

    def __repr__(self) -> str:
        return f"Points({printable(self.name)}: {how_many(len(self.heights), 'point')}, {self.units})"

    def _repr_html_(self) -> str:
        return table_html(repr(self), self._columns())

    def _columns(self) -> dict[str, Any]:
        return dict(self.columns) | values_of(self)

    def _error_columns(self) -> dict[str, Any]:
        return columns_of_outputs("error", self._errors(), self.outputs)

    def centered(self, how: Centering = True) -> Points:  # noqa: FBT002 (as centered= of questions)
        """Return the points relative to the first of them, or to the mean prediction.

        Parameters
        ----------
        how : True or "mean", default True
            True: minus the value at the first point. "mean": minus the mean prediction over the same rows.

        Examples
        --------
        >>> points = ex.partial_dependence("bmi", grid=5)
        >>> float(points.centered().values[0])
        0.0
        >>> bool((points.centered("mean").values == points.values - points.mean).all())
        True
        """
        how = checked_centering(how)
        if how == "mean":
            if self.mean is None:
                message = "the mean prediction of these points is not known"
                raise ArgumentError(message)
            return self._centered(self.mean, lambda folds: folds.minus_mean(), how)
        return self._centered(self.heights[0], lambda folds: folds.centered(0), how) if how else self

    def _centered(self, level: NDArray[np.float64], without: Callable[[Folds], Folds], how: Centering) -> Points:
        """Return the points minus a level of each output; `without` does the same to those without each fold."""
        mean, folds = None if self.mean is None else self.mean - level, self.find_folds
        centered = None if folds is None else folds.map(without)
        return replace(self, heights=self.heights - level, mean=mean, find_folds=centered, centering=how)

    @overload
    def plot(
        self, *, backend: Literal["matplotlib"] = "matplotlib", ax: None = None, **options: Unpack[PointsFigure]
    ) -> MatplotlibFigure: ...
    @overload
    def plot(self, *, backend: Literal["plotly"], **options: Unpack[PointsFigure]) -> PlotlyFigure: ...
    @overload
    def plot(self, *, ax: A, **options: Unpack[PointsFigure]) -> A: ...

    def plot(
        self,
        *,
        output: Hashable = None,
        sort: str | None = None,
        xscale: str = "linear",
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        backend: str = "matplotlib",
        ax: object = None,
    ) -> AnyFigure:
        """Draw the points: along an axis for one numeric feature, as a surface or as dots for two features.

        All other points are drawn by label, in the order given.

        Parameters
        ----------
        xscale : {"linear", "log", "quantile"}, default "linear"
            The scale of numeric axes. With "quantile", every row of the background takes up the same width.
        title : str, optional
        figsize : (float, float), optional
            Width and height in inches. Chosen to fit the panels by default.
        backend : {"matplotlib", "plotly"}, default "matplotlib"
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure is created.
        output : label, optional
            The output (class or target) to draw. By default all outputs, up to eight.
        sort : {"height", "rows"}, optional
            The order of points with labels.

        Returns
        -------
        Matplotlib or Plotly figure, or `ax` if given
            Notebooks display it. In scripts, ``plt.show()`` displays it; ``savefig`` and ``write_html`` save it.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X, groups={"blood": ["s1", "s2"]})
        >>> ex.partial_dependence("blood", at=X[["s1", "s2"]][:3]).plot()
        <Drawing size ... with 2 Axes>
        """
        place = position_of(self.outputs, output)
        return self._plot((backend, ax, title, figsize), place, sort=sort, xscale=xscale)


def values_of(points: Points) -> dict[str, NDArray[np.float64]]:
    """Return the value columns of a frame of points, one per output."""
    return columns_of_outputs("value", points.heights, points.outputs)


def columns_of_outputs(
    name: str, heights: NDArray[np.float64], outputs: tuple[Any, ...]
) -> dict[str, NDArray[np.float64]]:
    """Return the columns of a frame that hold heights, (n, n_outputs), one per output."""
    names = [name] if len(outputs) == 1 else [f"{name}_{label}" for label in outputs]
    return dict(zip(names, heights.T, strict=True))
