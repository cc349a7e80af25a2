"""Ice: the response of each row, if one feature (or some) took other values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._statistics import quantiles
from glasswood.kernels._read_only import ReadOnly
from glasswood.models._outputs import position_of
from glasswood.parallel._once import Deferred
from glasswood.results._axis import Axis, spread
from glasswood.results._frames import check_memory, to_frame
from glasswood.text._html import facts_html, text_of
from glasswood.text._printable import how_many, printable

if TYPE_CHECKING:
    from glasswood.plots._spec import Steps

__all__ = ["Ice"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Ice(ReadOnly):
    """Individual conditional expectation: one curve per row. Their mean is the partial dependence.

    Rows of the background have their weights (`weight`, which sums to 1; None if there are none); other rows have none.

    Examples
    --------
    >>> import glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X)
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

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self.weight is not None

    def _main(self, heights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return heights without the cells of missing and unseen values, and without a single output."""
        if self.axis is not None:
            heights = heights[..., : self.axis.n_main, :]
        return heights[..., 0] if len(self.outputs) == 1 else heights

    @property
    def values(self) -> NDArray[np.float64]:
        """The response of each row at each point: (n_rows, n_points), with a last axis of outputs if there are several.

        The points are the values of `Curve.values`, or those of `at`.
        """
        return self._main(self.heights)

    @property
    def missing(self) -> Any:
        """The response of each row where the feature is missing; None for points that were asked for."""
        if self.axis is None:
            return None
        return self.heights[:, -1, 0] if len(self.outputs) == 1 else self.heights[:, -1]

    @property
    def cuts(self) -> NDArray[np.float64] | None:
        """The model's cuts, as for `Curve`; None for points that were asked for."""
        return None if self.axis is None else self.axis.cuts

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean over rows, with their weights: partial dependence, if the rows are those of the background."""
        return self._main(np.average(self.heights, axis=0, weights=self.weight))

    def std(self) -> NDArray[np.float64]:
        """Return the standard deviation over rows, with their weights, at each point.

        Examples
        --------
        See `Ice`.
        """
        centred = self.heights - np.average(self.heights, axis=0, weights=self.weight)
        return self._main(np.sqrt(np.average(centred**2, axis=0, weights=self.weight)))

    def quantile(self, q: Any) -> NDArray[np.float64]:
        """Return quantiles over rows, at each point: one, or a first axis of several.

        Between two rows they are interpolated, as by NumPy. If rows have weights, a quantile is the smallest response
        such that rows up to it have at least the share `q` of the weight.

        Examples
        --------
        See `Ice`.
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

    def to_frame(self) -> Any:
        """Return one row per row and point (and output): the row's number, the point, the response.

        Examples
        --------
        >>> import glasswood as gw
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=5).fit(X, y), X)
        >>> ex.ice("bmi", rows=X[:2], at=X[["bmi"]][:3]).to_frame().columns.tolist()
        ['row', 'bmi', 'value']
        """
        shape = self.heights.shape
        shown = dict(self.columns) if self.axis is None else self.axis.describe()
        check_memory(shape, 2 * (len(shown) + 3), "Ask for fewer rows, or for some points: ice(..., at=a table)")
        columns: dict[str, Any] = {"row": np.repeat(np.arange(shape[0]), shape[1] * shape[2])}
        columns |= {name: spread(list(labels), shape, 1) for name, labels in shown.items()}
        if shape[2] > 1:
            columns["output"] = spread(list(self.outputs), shape, 2)
        return to_frame(columns | {"value": self.heights.reshape(-1)})

    def panel(self, output: int | None = None, **options: Any) -> Steps:
        """Return what `plot` draws, as plain data. Options are those of `plot`; outputs are given by position.

        Examples
        --------
        See `Ice`.
        """
        from glasswood.results.panels import panel_of_ice

        return panel_of_ice(self, output, **options)

    def plot(
        self,
        *,
        output: Any = None,
        output_index: int | None = None,
        sort: str | None = None,
        xscale: str = "linear",
        centered: bool = False,
        n_lines: int = 12,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        engine: str = "matplotlib",
        ax: Any = None,
    ) -> Any:
        """Draw the mean of all rows, bands that hold 90 % and half of them at each point, and a few single rows.

        Parameters
        ----------
        xscale : {"linear", "log", "quantile"}, default "linear"
            The axis of numbers; on a "quantile" scale, all rows of the background are equally wide.
        centered : bool, default False
            Whether rows are shown as they differ from their own value in the first cell (of numbers) or in the most
            frequent category, so that only their shapes are compared.
        title : str, optional
        figsize : (float, float), optional
            Width and height in inches; as large as the panels need by default.
        engine : {"matplotlib", "plotly"}, default "matplotlib"
        ax : matplotlib Axes, optional
            Where to draw; on a new figure by default.
        output : label, optional
            One output (class, target); needed if there are several.
        output_index : int, optional
            The same, by its position among `outputs`.
        sort : {"model", "height", "rows"}, optional
            The order of categories.
        n_lines : int, default 12
            The number of single rows.

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
        >>> ex.ice("bmi").plot()
        <Drawing size ... with 1 Axes>
        """
        from glasswood.plots._draw import Canvas, put

        return put(
            [
                self.panel(
                    position_of(self.outputs, output, output_index),
                    sort=sort,
                    n_lines=n_lines,
                    xscale=xscale,
                    centered=centered,
                )
            ],
            Canvas(engine, ax, title, figsize),
        )
