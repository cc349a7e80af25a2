"""What users get: Curve, Surface and Points, with names, labels and units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood._columns import Column, Numbers, dictionary_of
from glasswood.results._frames import to_frame
from glasswood.results._html import facts_html, table_html, text_of

__all__ = ["Axis", "Curve", "Lazy", "Points", "Surface"]


@dataclass(frozen=True, eq=False, slots=True)
class Axis:
    """The cells of one feature.

    Parameters
    ----------
    column : Column
    cuts : ndarray of shape (K,)
        The model's cuts; cell k holds the values above cut k - 1 and up to cut k. Empty for categories.
    locate : callable
        From encoded values to the number of their cell.
    rows : ndarray of shape (n_cells,)
        The number (or weight) of background rows in each cell, missing ones last; empty without a background.
    """

    column: Column
    cuts: NDArray[np.float64]
    locate: Callable[[NDArray[np.floating[Any]]], NDArray[np.int64]]
    rows: NDArray[Any]

    @property
    def name(self) -> str:
        """The name of the feature."""
        return self.column.name

    @property
    def categories(self) -> tuple[Any, ...] | None:
        """The labels of the categories; None for numbers."""
        return self.column.categories

    @property
    def n_main(self) -> int:
        """The number of cells without those of unseen categories and missing values."""
        return self.column.n_codes or self.cuts.size + 1

    def cell_of(self, x: Any) -> NDArray[np.int64]:
        """Return the cell of each value."""
        values: Numbers = np.asarray(x)
        if self.categories is not None and values.dtype.kind in "OUS":
            values = np.asarray(x, dtype=object)  # NumPy alone makes the text "nan" of a NaN among texts
            return self.locate(self.column.encode(dictionary_of(values.ravel()))).reshape(values.shape)
        return self.locate(self.column.encode(values.ravel())).reshape(values.shape)

    def describe(self) -> dict[str, list[Any]]:
        """Return the columns of a frame that tell which cell a row of it is about."""
        if self.categories is not None:
            return {self.name: [*self.categories, "(unseen)", "(missing)"]}
        return {
            f"{self.name}_above": [-np.inf, *self.cuts.tolist(), np.nan],
            f"{self.name}_to": [*self.cuts.tolist(), np.inf, np.nan],
        }


def _squeezed(heights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return heights without the last axis, if there is one output."""
    return heights[..., 0] if heights.shape[-1] == 1 else heights


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Curve:
    """The partial dependence of one feature, at full resolution: the average score if the feature is x for all rows.

    Between two neighbouring cuts of the model the curve is constant, so its K + 1 values are the whole curve.

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
    outputs: tuple[str, ...]
    units: str

    @property
    def name(self) -> str:
        """The name of the feature."""
        return self.axis.name

    @property
    def cuts(self) -> NDArray[np.float64]:
        """The K sorted cuts; empty for categories."""
        return self.axis.cuts

    @property
    def categories(self) -> tuple[Any, ...] | None:
        """The labels of the categories; None for numbers."""
        return self.axis.categories

    @property
    def values(self) -> NDArray[np.float64]:
        """The K + 1 values between the cuts, or one per category; with a last axis of outputs if there are several."""
        return _squeezed(self.heights[: self.axis.n_main])

    @property
    def missing(self) -> Any:
        """The value where the feature is missing."""
        return _squeezed(self.heights[-1])

    @property
    def unseen(self) -> Any:
        """The value for categories that the model has not met; None for numbers."""
        return None if self.categories is None else _squeezed(self.heights[-2])

    @property
    def rows(self) -> NDArray[Any]:
        """The number (or weight) of background rows at each of `values`; empty without a background."""
        return self.axis.rows[: self.axis.n_main]

    def __call__(self, x: Any) -> NDArray[np.float64]:
        """Return the value of the curve at any x: numbers, categories, NaN."""
        return _squeezed(self.heights[self.axis.cell_of(x)])

    def __repr__(self) -> str:
        what = f"{len(self.categories)} categories" if self.categories is not None else f"{self.cuts.size} cuts"
        low, high = self.heights[: self.axis.n_main].min(), self.heights[: self.axis.n_main].max()
        outputs = f", {len(self.outputs)} outputs" if len(self.outputs) > 1 else ""
        return f"Curve({self.name}: {what}{outputs}, {self.units} from {low:.6g} to {high:.6g})"

    def _repr_html_(self) -> str:
        return table_html(repr(self), _columns([self.axis], self.heights, self.outputs, self.axis.rows))

    def to_frame(self) -> Any:
        """Return one row per cell (and output): where it is, its value, and the background rows in it.

        Examples
        --------
        See `Curve`.
        """
        return to_frame(_columns([self.axis], self.heights, self.outputs, self.axis.rows))

    def plot(
        self, *, engine: str = "matplotlib", ax: Any = None, output: str | int | None = None, sort: str | None = None
    ) -> Any:
        """Draw the curve: its true steps, pale where there are no rows, and the distribution of the rows below.

        Parameters
        ----------
        engine : {"matplotlib", "plotly"}, default "matplotlib"
        ax : matplotlib Axes, optional
            Where to draw; on a figure of its own by default.
        output : str or int, optional
            One output (class, target); all by default, up to eight.
        sort : {"model", "height", "rows"}, optional
            The order of categories.

        Returns
        -------
        Figure of matplotlib or plotly
            It is not shown by itself outside of notebooks; save it with ``savefig`` or ``write_html``.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X)
        >>> ex.partial_dependence("bmi").plot()
        <Drawing size ... with 1 Axes>
        """
        from glasswood.plots._draw import plot

        return plot(self, output, sort=sort, engine=engine, ax=ax)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Surface:
    """The joint partial dependence of two features, at full resolution.

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

    first: Curve
    second: Curve
    raw_interaction: NDArray[np.float64] | None

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two features."""
        return self.first.name, self.second.name

    @property
    def additive(self) -> bool:
        """Whether the model has no path with both features, so that the surface is the sum of two curves."""
        return self.raw_interaction is None

    @property
    def cuts(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The cuts of both features."""
        return self.first.cuts, self.second.cuts

    @property
    def shape(self) -> tuple[int, int]:
        """The number of cells of both features, without the missing ones."""
        return self.first.axis.n_main, self.second.axis.n_main

    @property
    def heights(self) -> NDArray[np.float64]:
        """The value of every pair of cells, missing ones last: (n_cells, n_cells, n_outputs)."""
        heights = self.first.heights[:, None] + self.second.heights[None] - self.first.mean
        return heights if self.raw_interaction is None else heights + self.raw_interaction

    @property
    def values(self) -> NDArray[np.float64]:
        """The value of every pair of cells, without the missing ones."""
        a, b = self.shape
        return _squeezed(self.heights[:a, :b])

    @property
    def interaction(self) -> NDArray[np.float64]:
        """What the pair adds to the sum of its curves (the partial dependence interaction value of order 2)."""
        a, b = self.shape
        if self.raw_interaction is None:
            return _squeezed(np.zeros((a, b, len(self.first.outputs))))
        return _squeezed(self.raw_interaction[:a, :b])

    def __call__(self, x: Any, y: Any) -> NDArray[np.float64]:
        """Return the value of the surface at any x and y, which broadcast."""
        x, y = self.first.axis.cell_of(x), self.second.axis.cell_of(y)
        heights = self.first.heights[x] + self.second.heights[y] - self.first.mean
        return _squeezed(heights if self.raw_interaction is None else heights + self.raw_interaction[x, y])

    def __repr__(self) -> str:
        a, b = self.shape
        kind = ", additive" if self.additive else ""
        return f"Surface({self.names[0]} x {self.names[1]}: {a} x {b} cells{kind}, {self.first.units})"

    def _repr_html_(self) -> str:
        values, alone = self.values, self.interaction
        facts = {
            "features": " x ".join(self.names),
            "cells": " x ".join(f"{n:,}" for n in self.shape),
            self.first.units: f"{text_of(values.min())} to {text_of(values.max())}",
            "interaction": "none" if self.additive else f"{text_of(alone.min())} to {text_of(alone.max())}",
        }
        return facts_html("Surface", facts | {"outputs": ", ".join(self.first.outputs)})

    def to_frame(self) -> Any:
        """Return one row per pair of cells (and output).

        Examples
        --------
        See `Surface`.
        """
        return to_frame(_columns([self.first.axis, self.second.axis], self.heights, self.first.outputs, None))

    def plot(
        self,
        *,
        kind: str = "both",
        engine: str = "matplotlib",
        ax: Any = None,
        output: str | int | None = None,
        rows: Any = None,
    ) -> Any:
        """Draw the surface as its exact cells, and beside it what the pair adds to the sum of its curves.

        Parameters
        ----------
        kind : {"both", "surface", "interaction"}, default "both"
            "both" draws two panels, and so takes two axes.
        engine : {"matplotlib", "plotly"}, default "matplotlib"
        ax : matplotlib Axes, or two of them, optional
            Where to draw; on a figure of its own by default.
        output : str or int, optional
            One output (class, target); needed if there are several.
        rows : table, optional
            Rows with columns of both names: pairs of cells without any row are drawn pale. `Explainer.plot` does so by
            itself.

        Returns
        -------
        Figure of matplotlib or plotly
            It is not shown by itself outside of notebooks; save it with ``savefig`` or ``write_html``.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X)
        >>> ex.partial_dependence("bmi", "s5").plot(kind="surface", rows=X)
        <Drawing size ... with 2 Axes>
        """
        from glasswood.plots._draw import plot_surface

        axes = self.first.axis, self.second.axis
        density = None if rows is None else self.shares(*(axis.cell_of(rows[axis.name]) for axis in axes))
        return plot_surface(self, kind, density, engine=engine, ax=ax, output=output)

    def shares(self, x: NDArray[np.int64], y: NDArray[np.int64], weight: Any = None) -> NDArray[np.float64]:
        """Return the share of rows in each pair of cells, given the cells of the rows; those of missing ones left out.

        Examples
        --------
        See `Surface.plot`.
        """
        counts = np.zeros((len(self.first.heights), len(self.second.heights)))
        np.add.at(counts, (x, y), 1.0 if weight is None else np.asarray(weight))
        shares: NDArray[np.float64] = counts[: self.shape[0], : self.shape[1]] / max(counts.sum(), 1e-300)
        return shares


def _columns(
    axes: list[Axis], heights: NDArray[np.float64], outputs: tuple[str, ...], rows: NDArray[Any] | None
) -> dict[str, Any]:
    """Return heights as the columns of a tidy frame."""
    shape = heights.shape
    cells = np.indices(shape).reshape(len(shape), -1)
    columns: dict[str, Any] = {}
    for axis, at in zip(axes, cells, strict=False):
        for name, labels in axis.describe().items():
            columns[name] = [labels[cell] for cell in at]
    if len(outputs) > 1:
        columns["output"] = [outputs[k] for k in cells[-1]]
    columns["value"] = heights.ravel()
    if rows is not None and rows.size:
        columns["rows"] = rows[cells[0]]
    return columns


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Points:
    """The partial dependence of some features, or a group of them, at given points.

    Examples
    --------
    >>> import glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X, groups={"blood": ["s1", "s2"]})
    >>> ex.partial_dependence("blood", at=X[["s1", "s2"]][:3])
    Points(blood: 3 points, value)
    """

    name: str
    columns: Mapping[str, Any]
    heights: NDArray[np.float64]
    outputs: tuple[str, ...]
    units: str

    @property
    def values(self) -> NDArray[np.float64]:
        """The value at each point."""
        return _squeezed(self.heights)

    def __repr__(self) -> str:
        return f"Points({self.name}: {len(self.heights)} points, {self.units})"

    def _repr_html_(self) -> str:
        return table_html(repr(self), self._listed())

    def _listed(self) -> dict[str, Any]:
        names = ["value"] if len(self.outputs) == 1 else [f"value_{name}" for name in self.outputs]
        return dict(self.columns) | dict(zip(names, self.heights.T, strict=True))

    def to_frame(self) -> Any:
        """Return one row per point: the features' values, and the partial dependence of each output.

        Examples
        --------
        See `Points`.
        """
        return to_frame(self._listed())

    def plot(
        self, *, engine: str = "matplotlib", ax: Any = None, output: str | int | None = None, sort: str | None = None
    ) -> Any:
        """Draw the points: along the axis for one feature that is a number, else each with its label.

        Parameters
        ----------
        engine : {"matplotlib", "plotly"}, default "matplotlib"
        ax : matplotlib Axes, optional
            Where to draw; on a figure of its own by default.
        output : str or int, optional
            One output (class, target); all by default, up to eight.
        sort : {"model", "height"}, optional
            The order of points with labels.

        Returns
        -------
        Figure of matplotlib or plotly
            It is not shown by itself outside of notebooks; save it with ``savefig`` or ``write_html``.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X, groups={"blood": ["s1", "s2"]})
        >>> ex.partial_dependence("blood", at=X[["s1", "s2"]][:3]).plot()
        <Drawing size ... with 1 Axes>
        """
        from glasswood.plots._draw import plot

        return plot(self, output, sort=sort, engine=engine, ax=ax)


class Lazy(Mapping[Any, Any]):
    """A mapping whose values are made when they are looked up."""

    def __init__(self, keys: list[Any], make: Callable[[Any], Any]) -> None:
        self._keys = dict.fromkeys(keys)
        self._make = make

    def __getitem__(self, key: Any) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return self._make(key)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} results, made when looked up)"
