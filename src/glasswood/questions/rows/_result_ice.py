"""Ice: the response of each row as one or more features vary."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from glasswood.effects._statistics import quantiles
from glasswood.models._outputs import position_of
from glasswood.parallel._lazy import Deferred
from glasswood.results._axis import Axis, spread
from glasswood.results._drawable import DrawnByOutput
from glasswood.results._folds import LOST_MEAN
from glasswood.results._frames import Tabular, check_memory
from glasswood.text._arguments import Centering
from glasswood.text._html import facts_html
from glasswood.text._plain import text_of
from glasswood.text._printable import how_many, printable

if TYPE_CHECKING:
    from glasswood._types import A, AnyFigure, FigureOptions, MatplotlibFigure, PlotlyFigure

    class IceFigure(FigureOptions, total=False):
        output: Hashable
        sort: str | None
        xscale: str
        centered: Centering
        n_lines: int


__all__ = ["Ice"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Ice(DrawnByOutput, Tabular):
    """Individual conditional expectation: one curve per row. Their mean is the partial dependence.

    Rows of the background keep their weights (`weight`, which sums to 1; None if unweighted); other rows have none.

    `to_frame` returns one line per row and point (and output): the row's number, the point, the response.

    Examples
    --------
    >>> ice = ex.ice("bmi")
    >>> ice
    Ice(bmi: 442 rows x ... points, value)
    >>> bool(abs(ice.mean - ex.partial_dependence("bmi").values).max() < 1e-9)
    True
    >>> ice.quantile([0.1, 0.9]).shape == (2, len(ice.mean))
    True
    """

    name: str
    axis: Axis | None
    columns: Mapping[str, Any]
    heights: NDArray[np.float64]
    outputs: tuple[Any, ...]
    units: str
    weight: NDArray[np.float64] | None = None
    find_rows: Deferred[NDArray[Any]] = field(default_factory=lambda: Deferred.of(np.empty(0)))
    find_mean: Deferred[NDArray[np.float64]] = field(default_factory=lambda: Deferred.gone(LOST_MEAN))

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self.weight is not None

    def _main(self, heights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return heights without the cells for missing and unseen values, squeezed if there is only one output."""
        if self.axis is not None:
            heights = heights[..., : self.axis.n_main, :]
        return heights[..., 0] if len(self.outputs) == 1 else heights

    @property
    def values(self) -> NDArray[np.float64]:
        """The response of each row at each point: (n_rows, n_points), with a last axis of outputs if there are several.

        The points are those of `Curve.values`, or those passed as `at`.
        """
        return self._main(self.heights)

    @property
    def missing(self) -> NDArray[np.float64] | None:
        """The response of each row where the feature is missing; None if points were passed as `at`."""
        if self.axis is None:
            return None
        return self.heights[:, -1, 0] if len(self.outputs) == 1 else self.heights[:, -1]

    @property
    def cuts(self) -> NDArray[np.float64] | None:
        """The model's cuts, as in `Curve`; None if points were passed as `at`."""
        return None if self.axis is None else self.axis.cuts

    @property
    def mean(self) -> NDArray[np.float64]:
        """The weighted mean over the rows: the partial dependence if the rows are those of the background."""
        return self._main(np.average(self.heights, axis=0, weights=self.weight))

    def std(self) -> NDArray[np.float64]:
        """Return the weighted standard deviation over the rows at each point."""
        centred = self.heights - np.average(self.heights, axis=0, weights=self.weight)
        return self._main(np.sqrt(np.average(centred**2, axis=0, weights=self.weight)))

    def quantile(self, q: ArrayLike) -> NDArray[np.float64]:
        """Return one or more quantiles over the rows at each point; several along the first axis.

        Quantiles are interpolated between rows as in NumPy. If rows have weights, a quantile is the smallest response
        such that the rows up to it have at least the share `q` of the weight.
        """
        return self._main(quantiles(self.heights, q, self.weight))

    def __len__(self) -> int:
        return len(self.heights)

    def __repr__(self) -> str:
        outputs = f" x {len(self.outputs)} outputs" if len(self.outputs) > 1 else ""
        size = f"{how_many(len(self), 'row')} x {how_many(self.values.shape[1], 'point')}"
        return f"Ice({printable(self.name)}: {size}{outputs}, {self.units})"

    def _repr_html_(self) -> str:
        mean = self.mean
        facts = {
            "feature": self.name,
            "rows": len(self),
            "points": self.values.shape[1],
            f"mean over rows ({self.units})": f"{text_of(mean.min())} to {text_of(mean.max())}",
            f"single rows ({self.units})": f"{text_of(self.values.min())} to {text_of(self.values.max())}",
            "outputs": ", ".join(map(str, self.outputs)),
        }
        return facts_html("Ice: one curve per row", facts)

    def _columns(self) -> dict[str, Any]:
        shape = self.heights.shape
        shown = dict(self.columns) if self.axis is None else self.axis.describe()
        check_memory(shape, 2 * (len(shown) + 3), "Pass fewer rows, or fewer points: ice(..., at=a table)")
        columns: dict[str, Any] = {"row": np.repeat(np.arange(shape[0]), shape[1] * shape[2])}
        columns |= {name: spread(list(labels), shape, 1) for name, labels in shown.items()}
        if shape[2] > 1:
            columns["output"] = spread(list(self.outputs), shape, 2)
        return columns | {"value": self.heights.reshape(-1)}

    @overload
    def plot(
        self, *, backend: Literal["matplotlib"] = "matplotlib", ax: None = None, **options: Unpack[IceFigure]
    ) -> MatplotlibFigure: ...
    @overload
    def plot(self, *, backend: Literal["plotly"], **options: Unpack[IceFigure]) -> PlotlyFigure: ...
    @overload
    def plot(self, *, ax: A, **options: Unpack[IceFigure]) -> A: ...

    def plot(
        self,
        *,
        output: Hashable = None,
        sort: str | None = None,
        xscale: str = "linear",
        centered: Centering = False,
        n_lines: int = 12,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        backend: str = "matplotlib",
        ax: object = None,
    ) -> AnyFigure:
        """Draw the mean of all rows, bands that contain 90 % and 50 % of them at each point, and some single rows.

        Parameters
        ----------
        xscale : {"linear", "log", "quantile"}, default "linear"
            The scale of numeric axes. With "quantile", every row of the background takes up the same width.
        centered : bool or "mean", default False
            True: each row is drawn relative to its own value in the first cell with rows (numeric features) or in the
            most frequent category, so that only the shapes are compared. "mean": all rows are drawn relative to the
            mean prediction over the background, so that the mean of its rows is the curve that
            ``partial_dependence(..., centered="mean")`` returns.
        title : str, optional
        figsize : (float, float), optional
            Width and height in inches. Chosen to fit the panels by default.
        backend : {"matplotlib", "plotly"}, default "matplotlib"
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure is created.
        output : label, optional
            The output (class or target) to draw; required if there are several.
        sort : {"model", "height", "rows"}, optional
            The order of categories.
        n_lines : int, default 12
            The number of single rows to draw.

        Returns
        -------
        Matplotlib or Plotly figure, or `ax` if given
            Notebooks display it. In scripts, ``plt.show()`` displays it; ``savefig`` and ``write_html`` save it.

        Examples
        --------
        >>> ex.ice("bmi").plot()
        <Drawing size ... with 1 Axes>
        """
        place = position_of(self.outputs, output)
        options: dict[str, Any] = {"sort": sort, "n_lines": n_lines, "xscale": xscale, "centered": centered}
        return self._plot((backend, ax, title, figsize), place, **options)
