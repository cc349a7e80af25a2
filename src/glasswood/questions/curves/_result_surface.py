"""Surface: the joint partial dependence of two features."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from glasswood.effects._pairs import Pair
from glasswood.errors import ArgumentError, BackgroundError
from glasswood.kernels._read_only import ReadOnly, read_only
from glasswood.models._outputs import position_of
from glasswood.parallel._lazy import Deferred, cached_property
from glasswood.questions.curves._result import CURVES_ONLY, Curve
from glasswood.results._axis import columns_of, squeezed
from glasswood.results._drawable import DrawnByOutput
from glasswood.results._folds import NO_FOLDS, Folds
from glasswood.results._frames import TabularWithError, check_memory
from glasswood.results._joint_rows import JointRows
from glasswood.text._html import facts_html
from glasswood.text._plain import text_of
from glasswood.text._printable import printable

if TYPE_CHECKING:
    from glasswood._types import A, AnyFigure, FigureOptions, MatplotlibFigure, PlotlyFigure

    class SurfaceFigure(FigureOptions, total=False):
        kind: str
        output: Hashable
        rows: Any
        sort: str | None
        xscale: str


__all__ = ["REMEDY", "Surface", "SurfaceFolds"]


KINDS = {"both": (False, True), "surface": (False,), "interaction": (True,)}  # whether a panel shows the interaction

WIDE = 8  # with more categories along the x-axis, the two panels are drawn below each other


UNKNOWN: Deferred[JointRows | None] = Deferred.of(None)

REMEDY = (
    "Evaluate it at the points you need: partial_dependence(..., at=a table of points) and surface(x, y) take little "
    "memory; plot() draws the whole surface"
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Surface(DrawnByOutput, TabularWithError):
    """The joint partial dependence of two features, at full resolution.

    Everything is computed lazily. ``surface(x, y)`` and figures take little memory regardless of the number of cells;
    `values`, `heights`, `interaction` and `density` hold all pairs of cells, are cached, and raise an error if they
    would not fit in memory. Values are bit-identical however they are computed, with one exception: with a response
    other than the raw score and more than 2**16 pairs of cells, values at points may differ from `values` by rounding.

    `to_frame` returns one row per pair of cells (and output), with its standard error if asked for, see `error`.

    Examples
    --------
    >>> import glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> surface = gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X).partial_dependence("bmi", "s5")
    >>> surface.additive
    False
    >>> surface([0.05, 0.1], [0.01, 0.01]).round(1)
    array([..., ...])
    """

    _ignored_options: ClassVar[tuple[str, ...]] = CURVES_ONLY

    first: Curve
    second: Curve
    pair: Pair | None
    find_rows: Deferred[JointRows | None] = UNKNOWN
    find_folds: Deferred[SurfaceFolds] | None = None

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two features."""
        return self.first.name, self.second.name

    @property
    def additive(self) -> bool:
        """Whether the model has no path with both features, so that the surface is the sum of two curves."""
        return self.pair is None

    @property
    def cuts(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The cuts of both features."""
        return self.first.cuts, self.second.cuts

    @property
    def shape(self) -> tuple[int, int]:
        """The number of cells of both features, excluding those for missing values."""
        return self.first.axis.n_main, self.second.axis.n_main

    def _check_memory(self, *, n_arrays: int = 1) -> None:
        """Raise an error if arrays of all pairs of cells would not fit in memory."""
        cells = self.first.axis.n_cells, self.second.axis.n_cells
        check_memory((*cells, len(self.first.outputs)), n_arrays, REMEDY)

    @cached_property
    def raw_interaction(self) -> NDArray[np.float64] | None:
        """The interaction, missing values last: (n_cells, n_cells, n_outputs); None if additive."""
        if self.pair is None:
            return None
        self._check_memory()
        return read_only(self.pair.all())

    @cached_property
    def heights(self) -> NDArray[np.float64]:
        """The value of every pair of cells, missing values last: (n_cells, n_cells, n_outputs)."""
        self._check_memory()
        added = None if self.pair is None else self.pair.all()
        shape = self.first.axis.n_cells, self.second.axis.n_cells, len(self.first.outputs)
        # An array cached by the pair must not be overwritten; its flags do not tell, because copies are writeable.
        heights = np.empty(shape) if added is None or self.pair is None or self.pair.is_known else added
        n_lines = max(1, 2**18 // (shape[1] * shape[2]))
        for at in range(0, shape[0], n_lines):  # in blocks of lines, because the array may be large
            some = slice(at, at + n_lines)
            lines = self.first.heights[some, None] + self.second.heights[None] - self.first.mean
            heights[some] = lines if added is None else lines + added[some]
        return read_only(heights)

    @property
    def values(self) -> NDArray[np.float64]:
        """The value of every pair of cells, excluding missing values."""
        a, b = self.shape
        return squeezed(self.heights[:a, :b])

    @property
    def interaction(self) -> NDArray[np.float64]:
        """The part of the surface not explained by the sum of its curves (the interaction value of order 2)."""
        a, b = self.shape
        if self.raw_interaction is None:
            self._check_memory()
            return squeezed(np.zeros((a, b, len(self.first.outputs))))
        return squeezed(self.raw_interaction[:a, :b])

    @cached_property
    def errors(self) -> NDArray[np.float64]:
        """The standard error of every pair of cells, missing values last: (n_cells, n_cells, n_outputs)."""
        return read_only(self._folds().surface.error(self.heights))

    def _folds(self) -> SurfaceFolds:
        """Return the surface without each fold of the rows."""
        if self.find_folds is None:
            raise BackgroundError(NO_FOLDS)
        return self.find_folds()

    @property
    def error(self) -> NDArray[np.float64]:
        """The standard error of each of `values`: how much they would differ with other rows, the model as it is.

        The Explainer, or the Background, must have been made with ``folds=``, see `Curve.error`. Pairs of features are
        counted in folds when this is first asked for, which takes about three times as long as without folds, and as
        many times the memory as there are folds.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X, folds=20)
        >>> surface = ex.partial_dependence("bmi", "s5")
        >>> surface.error.shape == surface.interaction_error.shape == surface.values.shape
        True
        """
        a, b = self.shape
        return squeezed(self.errors[:a, :b])

    @property
    def interaction_error(self) -> NDArray[np.float64]:
        """The standard error of each of `interaction`, as `error`; 0 if the surface is additive."""
        folds, (a, b), alone = self._folds(), self.shape, self.raw_interaction
        if folds.interaction is None or alone is None:
            return squeezed(np.zeros((a, b, len(self.first.outputs))))
        return squeezed(Folds(folds.interaction[:, :a, :b], folds.shares).error(alone[:a, :b]))

    @cached_property
    def density(self) -> NDArray[np.float64] | None:
        """The share of background rows in each pair of cells, excluding missing values; None without the rows."""
        rows = self.find_rows()
        if rows is None:
            return None
        check_memory((self.first.axis.n_cells, self.second.axis.n_cells), 2, REMEDY)
        return rows.shares((self.first.axis, self.second.axis))

    def __call__(self, x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
        """Return the value of the surface at any x and y, which are broadcast."""
        x, y = np.broadcast_arrays(self.first.axis.cell_of(x), self.second.axis.cell_of(y))
        check_memory((x.size, len(self.first.outputs)), 4, "Ask for fewer points at a time")
        heights = self.first.heights[x] + self.second.heights[y] - self.first.mean
        if self.pair is not None:
            heights = heights + self.pair.at(x.ravel(), y.ravel()).reshape(heights.shape)
        return squeezed(heights)

    def __repr__(self) -> str:
        a, b = self.shape
        kind = ", additive" if self.additive else ""
        names = " x ".join(map(printable, self.names))
        return f"Surface({names}: {a} x {b} cells{kind}, {self.first.units})"

    def _repr_html_(self) -> str:
        facts = {"features": " x ".join(self.names), "cells": " x ".join(f"{n:,}" for n in self.shape)}
        facts["units"], facts["interaction"] = self.first.units, "none" if self.additive else "yes"
        if self.pair is not None and self.pair.is_known:  # a repr should not start a long computation
            alone, values = self.interaction, self.values
            facts["interaction"] = f"{text_of(alone.min())} to {text_of(alone.max())}"
            facts[self.first.units] = f"{text_of(values.min())} to {text_of(values.max())}"
        return facts_html("Surface", facts | {"outputs": ", ".join(map(str, self.first.outputs))})

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle and copy: everything except cached values."""
        return {name: value for name, value in self.__dict__.items() if name in self.__dataclass_fields__}

    def _columns(self) -> dict[str, Any]:
        self._check_memory(n_arrays=12)
        return columns_of([self.first.axis, self.second.axis], self.heights, self.first.outputs, None)

    def _error_columns(self) -> dict[str, Any]:
        return {"error": self.errors.ravel()}

    @overload
    def plot(
        self, *, backend: Literal["matplotlib"] = "matplotlib", ax: None = None, **options: Unpack[SurfaceFigure]
    ) -> MatplotlibFigure: ...
    @overload
    def plot(self, *, backend: Literal["plotly"], **options: Unpack[SurfaceFigure]) -> PlotlyFigure: ...
    @overload
    def plot(self, *, ax: A, **options: Unpack[SurfaceFigure]) -> A: ...

    def plot(
        self,
        *,
        kind: str = "both",
        output: Hashable = None,
        rows: Any = None,
        sort: str | None = None,
        xscale: str = "linear",
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        backend: str = "matplotlib",
        ax: object = None,
    ) -> AnyFigure:
        """Draw the exact cells of the surface and, next to it, the interaction of the two features.

        If an axis has more than 300 cells, narrow cells are merged into their mean, and a note says so.

        Parameters
        ----------
        kind : {"both", "surface", "interaction"}, default "both"
            "both" draws two panels and needs two axes.
        xscale : {"linear", "log", "quantile"}, default "linear"
            The scale of both numeric axes. With "quantile", every row of the background takes up the same width.
        title : str, optional
        figsize : (float, float), optional
            Width and height in inches. Chosen to fit the panels by default.
        backend : {"matplotlib", "plotly"}, default "matplotlib"
        ax : matplotlib Axes, or two of them, optional
            The axes to draw on. By default, a new figure is created.
        output : label, optional
            The output (class or target) to draw; required if there are several.
        rows : table, optional
            Rows with columns of both names, used instead of the background to draw pairs of cells without rows pale.
        sort : {"model", "height", "rows"}, optional
            The order of categories.

        Returns
        -------
        Matplotlib or Plotly figure, or `ax` if given
            Notebooks display it. In scripts, ``plt.show()`` displays it; ``savefig`` and ``write_html`` save it.

        Examples
        --------
        >>> ex.partial_dependence("bmi", "s5").plot(kind="surface")
        <Drawing size ... with 2 Axes>
        """
        from glasswood.plots._draw import Canvas, put

        if kind not in KINDS:
            message = f"kind must be one of {tuple(KINDS)!r}, not {kind!r}"
            raise ArgumentError(message)
        axes = self.first.axis, self.second.axis
        over = None if rows is None else JointRows.of(*(axis.cell_of(rows[axis.name]) for axis in axes))
        place = position_of(self.first.outputs, output)
        panels = self._made("panels", place, KINDS[kind], rows=over, sort=sort, xscale=xscale)
        n_columns = 1 if len(panels[0].x.labels) > WIDE else 2
        return put(panels, Canvas(backend, ax, title, figsize), n_columns=n_columns)


@dataclass(frozen=True, eq=False)
class SurfaceFolds(ReadOnly):
    """A surface without each fold of the rows, in the parts that it is the sum of.

    Parameters
    ----------
    first, second : ndarray of shape (n_folds, n_cells, n_outputs)
        The curves of both features.
    mean : ndarray of shape (n_folds, n_outputs)
    interaction : ndarray of shape (n_folds, n_cells, n_cells, n_outputs), or None if there is none
    shares : ndarray of shape (n_folds,)
        The share of the rows' weight that each fold has.
    """

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    mean: NDArray[np.float64]
    interaction: NDArray[np.float64] | None
    shares: NDArray[np.float64]

    @property
    def surface(self) -> Folds:
        """The whole surface."""
        heights = self.first[:, :, None] + self.second[:, None] - self.mean[:, None, None]
        return Folds(heights if self.interaction is None else heights + self.interaction, self.shares)
