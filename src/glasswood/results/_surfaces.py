"""What users get: Surface, the joint partial dependence of two features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood._once import Deferred
from glasswood._outputs import position_of
from glasswood._printable import printable
from glasswood._read_only import ReadOnly, read_only
from glasswood.results._axis import Axis, columns_of, squeezed
from glasswood.results._curves import Curve
from glasswood.results._frames import to_frame
from glasswood.results._html import facts_html, text_of

__all__ = ["Surface", "shares"]

UNKNOWN: Deferred[NDArray[np.float64] | None] = Deferred.of(None)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Surface(ReadOnly):
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
    find_density: Deferred[NDArray[np.float64] | None] = UNKNOWN

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
        return squeezed(self.heights[:a, :b])

    @property
    def interaction(self) -> NDArray[np.float64]:
        """What the pair adds to the sum of its curves (the partial dependence interaction value of order 2)."""
        a, b = self.shape
        if self.raw_interaction is None:
            return squeezed(np.zeros((a, b, len(self.first.outputs))))
        return squeezed(self.raw_interaction[:a, :b])

    @property
    def density(self) -> NDArray[np.float64] | None:
        """The share of the background's rows in each pair of cells, without the missing ones; None without its rows."""
        return self.find_density()

    def __call__(self, x: Any, y: Any) -> NDArray[np.float64]:
        """Return the value of the surface at any x and y, which broadcast."""
        x, y = self.first.axis.cell_of(x), self.second.axis.cell_of(y)
        heights = self.first.heights[x] + self.second.heights[y] - self.first.mean
        return squeezed(heights if self.raw_interaction is None else heights + self.raw_interaction[x, y])

    def __repr__(self) -> str:
        a, b = self.shape
        kind = ", additive" if self.additive else ""
        names = " x ".join(map(printable, self.names))
        return f"Surface({names}: {a} x {b} cells{kind}, {self.first.units})"

    def _repr_html_(self) -> str:
        values, alone = self.values, self.interaction
        facts = {
            "features": " x ".join(self.names),
            "cells": " x ".join(f"{n:,}" for n in self.shape),
            self.first.units: f"{text_of(values.min())} to {text_of(values.max())}",
            "interaction": "none" if self.additive else f"{text_of(alone.min())} to {text_of(alone.max())}",
        }
        return facts_html("Surface", facts | {"outputs": ", ".join(map(str, self.first.outputs))})

    def to_frame(self) -> Any:
        """Return one row per pair of cells (and output).

        Examples
        --------
        See `Surface`.
        """
        return to_frame(columns_of([self.first.axis, self.second.axis], self.heights, self.first.outputs, None))

    def plot(
        self,
        *,
        kind: str = "both",
        output: Any = None,
        output_index: int | None = None,
        rows: Any = None,
        sort: str | None = None,
        xscale: str = "linear",
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        engine: str = "matplotlib",
        ax: Any = None,
    ) -> Any:
        """Draw the surface as its exact cells, and beside it what the pair adds to the sum of its curves.

        Parameters
        ----------
        kind : {"both", "surface", "interaction"}, default "both"
            "both" draws two panels, and so takes two axes.
        xscale : {"linear", "log", "quantile"}, default "linear"
            The axes of numbers, both of them; on a "quantile" scale, all rows of the background are equally wide.
        title : str, optional
        figsize : (float, float), optional
            Width and height in inches; as large as the panels need by default.
        engine : {"matplotlib", "plotly"}, default "matplotlib"
        ax : matplotlib Axes, or two of them, optional
            Where to draw; on a new figure by default.
        output : label, optional
            One output (class, target); needed if there are several.
        output_index : int, optional
            The same, by its position among `outputs`.
        rows : table, optional
            Rows with columns of both names, instead of the background: pairs of cells without any row are drawn pale.
        sort : {"model", "height", "rows"}, optional
            The order of categories.

        Returns
        -------
        Figure of matplotlib or plotly, or `ax` if that is given
            Notebooks show it. In scripts ``plt.show()`` shows it; ``savefig`` and ``write_html`` save it.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X)
        >>> ex.partial_dependence("bmi", "s5").plot(kind="surface")
        <Drawing size ... with 2 Axes>
        """
        from glasswood.plots._draw import Canvas, plot_surface

        axes = self.first.axis, self.second.axis
        density = None if rows is None else self.shares(*(axis.cell_of(rows[axis.name]) for axis in axes))
        canvas = Canvas(engine, ax, title, figsize)
        place = position_of(self.first.outputs, output, output_index)
        return plot_surface(self, kind, canvas, output=place, density=density, sort=sort, xscale=xscale)

    def shares(self, x: NDArray[np.int64], y: NDArray[np.int64], weight: Any = None) -> NDArray[np.float64]:
        """Return the share of rows in each pair of cells, given the cells of the rows; those of missing ones left out.

        Examples
        --------
        See `Surface.plot`.
        """
        return shares((self.first.axis, self.second.axis), x, y, weight)


def shares(
    axes: tuple[Axis, Axis], x: NDArray[np.int64], y: NDArray[np.int64], weight: Any = None
) -> NDArray[np.float64]:
    """Return the share of rows in each pair of cells, given the cells of the rows; those of missing ones left out."""
    counts = np.zeros([axis.n_cells for axis in axes])
    np.add.at(counts, (x, y), 1.0 if weight is None else np.asarray(weight))
    found: NDArray[np.float64] = counts[: axes[0].n_main, : axes[1].n_main] / max(counts.sum(), 1e-300)
    return read_only(found)
