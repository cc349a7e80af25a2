"""AleSurface: the accumulated local effect of two features, beyond those of each alone."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from glasswood.errors import BackgroundError
from glasswood.kernels._read_only import read_only
from glasswood.models._outputs import position_of
from glasswood.parallel._lazy import Deferred
from glasswood.results._axis import spread, squeezed
from glasswood.results._drawable import Drawable
from glasswood.results._folds import NO_FOLDS, Folds
from glasswood.results._frames import Tabular
from glasswood.text._html import table_html
from glasswood.text._printable import printable

if TYPE_CHECKING:
    from glasswood._types import A, AnyFigure, FigureOptions, MatplotlibFigure, PlotlyFigure
    from glasswood.plots._spec import Cells

    class AleSurfaceFigure(FigureOptions, total=False):
        output: Hashable


__all__ = ["AleSurface"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AleSurface(Drawable, Tabular):
    """The accumulated local effect (ALE) of two features of numbers, beyond the effects of each of them alone.

    Rows are moved to the four corners of their own pair of bins. The mean over the rows of bins a and b of
    ``(s(z_a, z_b) - s(z_(a-1), z_b)) - (s(z_a, z_(b-1)) - s(z_(a-1), z_(b-1)))`` is accumulated in both directions; the
    accumulated mean effects along each axis are subtracted, and then the mean of the corners over the rows [1]_. Pairs
    of bins without rows take the change of the nearest pair that has some; heights beyond them rest on that, and
    figures hatch them.

    References
    ----------
    .. [1] D. W. Apley, J. Zhu: Visualizing the effects of predictor variables in black box supervised learning models.
       Journal of the Royal Statistical Society B 82, 1059-1086, 2020.

    `to_frame` returns a row per pair of edges (and output).

    Examples
    --------
    >>> surface = ex.ale("bmi", "s5", bins=4)
    >>> surface
    AleSurface(bmi x s5: 4 x 4 bins, ... without rows, value from ... to ...)
    >>> surface.values.shape, surface.rows.shape
    ((5, 5), (4, 4))
    >>> surface.to_frame().columns.tolist()
    ['bmi', 's5', 'value']
    """

    names: tuple[str, str]
    edges: tuple[NDArray[np.float64], NDArray[np.float64]]
    heights: NDArray[np.float64]
    rows: NDArray[Any]
    outputs: tuple[Any, ...]
    units: str
    weighted: bool = False
    find_folds: Deferred[Folds] | None = None

    def _close(self) -> None:
        super()._close()
        one, two = self.edges
        object.__setattr__(self, "edges", (read_only(one), read_only(two)))

    @property
    def values(self) -> NDArray[np.float64]:
        """The heights at the edges of both features; with a last axis of outputs if there are several."""
        return squeezed(self.heights)

    @property
    def empty_share(self) -> float:
        """The share of pairs of bins that have no rows."""
        return float((self.rows <= 0).mean())

    @property
    def error(self) -> NDArray[np.float64]:
        """The standard error at each of `values`, see `Curve.error`; with ``folds=`` only."""
        if self.find_folds is None:
            raise BackgroundError(NO_FOLDS)
        return squeezed(read_only(self.find_folds().error(self.heights)))

    def __call__(self, x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
        """Return the height at any points: between the edges by bilinear interpolation, beyond them that of the end."""
        parts = []
        for given, edges in zip((x, y), self.edges, strict=True):
            at = np.clip(np.asarray(given, dtype=np.float64), edges[0], edges[-1])
            low = np.clip(np.searchsorted(edges, at) - 1, 0, edges.size - 2)
            parts.append((low, ((at - edges[low]) / (edges[low + 1] - edges[low]))[..., None]))
        (a, s), (b, t) = parts
        h = self.heights
        result = (1 - s) * ((1 - t) * h[a, b] + t * h[a, b + 1]) + s * ((1 - t) * h[a + 1, b] + t * h[a + 1, b + 1])
        return squeezed(result)

    def __repr__(self) -> str:
        n_a, n_b = self.rows.shape
        name = " x ".join(map(printable, self.names))
        outputs = f", {len(self.outputs)} outputs" if len(self.outputs) > 1 else ""
        span = f"{self.units} from {self.heights.min():.6g} to {self.heights.max():.6g}"
        return f"AleSurface({name}: {n_a} x {n_b} bins, {self.empty_share:.0%} without rows{outputs}, {span})"

    def _repr_html_(self) -> str:
        return table_html(repr(self), self._columns())

    def _columns(self) -> dict[str, Any]:
        """Return the columns of a frame, by name."""
        shape = self.heights.shape
        columns = {
            name: spread([float(edge) for edge in edges], shape, k)
            for k, (name, edges) in enumerate(zip(self.names, self.edges, strict=True))
        }
        if len(self.outputs) > 1:
            columns["output"] = spread(list(self.outputs), shape, 2)
        columns["value"] = self.heights.ravel()
        if self.find_folds is not None:
            columns["error"] = np.ravel(self.error)
        return columns

    def panel(self, output: int | None = None) -> Cells:
        """Return the data that `plot` draws. The output is given by its position."""
        result: Cells = self._made("panel", output)
        return result

    @overload
    def plot(
        self, *, backend: Literal["matplotlib"] = "matplotlib", ax: None = None, **options: Unpack[AleSurfaceFigure]
    ) -> MatplotlibFigure: ...
    @overload
    def plot(self, *, backend: Literal["plotly"], **options: Unpack[AleSurfaceFigure]) -> PlotlyFigure: ...
    @overload
    def plot(self, *, ax: A, **options: Unpack[AleSurfaceFigure]) -> A: ...

    def plot(
        self,
        *,
        output: Hashable = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        backend: str = "matplotlib",
        ax: object = None,
    ) -> AnyFigure:
        """Draw the mean of the four corners of each pair of bins, hatched where there are no rows.

        Parameters
        ----------
        output : label, optional
            The output (class or target) to draw; required if there are several.
        title : str, optional
        figsize : (float, float), optional
            Width and height in inches.
        backend : {"matplotlib", "plotly"}, default "matplotlib"
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure is created.

        Returns
        -------
        Matplotlib or Plotly figure, or `ax` if given
            Notebooks display it. In scripts, ``plt.show()`` displays it; ``savefig`` and ``write_html`` save it.

        Examples
        --------
        >>> ex.ale("bmi", "s5").plot()
        <Drawing size ... with 2 Axes>
        """
        place = position_of(self.outputs, output)
        return self._plot((backend, ax, title, figsize), place)
