"""Curves: the results of several features by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError, TableError
from glasswood.questions.curves._result import Curve, columns_of_curve
from glasswood.questions.curves._result_points import Points, values_of
from glasswood.results._collections import Lazy, Several, draw_page, panel_of_one, text_of_key
from glasswood.results._frames import Tabular

if TYPE_CHECKING:
    from glasswood._types import A, AnyFigure, FigureOptions, MatplotlibFigure, PlotlyFigure
    from glasswood.plots._spec import Panel

    class CurvesFigure(FigureOptions, total=False):
        page: int
        output: Hashable
        sort: str | None
        xscale: str
        std: bool
        observed: bool
        error: bool
        sharey: bool


__all__ = ["Curves", "Pairs"]


R = TypeVar("R", covariant=True)


class Pairs(Collection[tuple[str, str]]):
    """All pairs of names, in order. They are generated lazily: 5,000 names have 12 million pairs."""

    def __init__(self, names: Sequence[str]) -> None:
        self._place = {name: place for place, name in enumerate(names)}

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, tuple) or len(key) != 2:
            return False
        first, second = (self._place.get(name, -1) for name in key)
        return 0 <= first < second

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return combinations(self._place, 2)

    def __len__(self) -> int:
        return len(self._place) * (len(self._place) - 1) // 2


class Curves(Several[R], Tabular):
    """Curves, surfaces or points of several features: a mapping from names, or pairs of names, to results.

    `to_frame` returns one row per cell of each curve (and output): the feature, the cell, its value and its rows. Cells
    of numbers are the values above `above` up to `to`; those of categories have a `category`. In points of a single
    column, `category` has its values.

    Examples
    --------
    >>> curves = ex.partial_dependence(["bmi", "s5"])
    >>> curves
    Curves(bmi, s5)
    >>> curves["bmi"]
    Curve(bmi: ... cuts, value from ... to ...)
    >>> curves.to_frame().columns.tolist()
    ['feature', 'above', 'to', 'category', 'value', 'rows']
    """

    _drawn_by_group: ClassVar[bool] = True

    def __init__(self, result: Mapping[Any, R], grid_values: Mapping[Any, NDArray[np.float64]] | None = None) -> None:
        super().__init__(result)
        self._grid_values = grid_values

    def __repr__(self) -> str:
        return f"Curves({self._names()})"

    @property
    def grid_values(self) -> Mapping[Any, NDArray[np.float64]]:
        """The values of each result on the grid, computed when they are looked up: `Points.grid_values` of each.

        The results are those that were asked for with ``grid=``. For all pairs, this takes less time than the results.

        Examples
        --------
        >>> ex.joint_partial_dependence(grid=5).grid_values["bmi", "s5"].shape
        (5, 5)
        """
        return Lazy(self, self._values_on_grid) if self._grid_values is None else self._grid_values

    def _values_on_grid(self, key: Hashable) -> NDArray[np.float64]:
        values: NDArray[np.float64] | None = getattr(self[key], "grid_values", None)
        if values is None:
            message = f"{text_of_key(key)!r} is not on a grid; ask for these results with grid=, such as grid=20"
            raise ArgumentError(message)
        return values

    def _columns(self) -> dict[str, Any]:
        parts = []
        for key, result in self.items():
            if (isinstance(result, Points) and len(result.columns) > 1) or not isinstance(result, Curve | Points):
                message = (
                    f"{text_of_key(key)!r} is not a curve, and only curves have a common frame; "
                    f"ask for this one alone: curves[{key!r}].to_frame()"
                )
                raise TableError(message)
            parts.append({"feature": text_of_key(key), **_common_columns(result)})
        return _stacked_columns(parts)

    @overload
    def plot(
        self, *, backend: Literal["matplotlib"] = "matplotlib", ax: None = None, **options: Unpack[CurvesFigure]
    ) -> MatplotlibFigure: ...
    @overload
    def plot(self, *, backend: Literal["plotly"], **options: Unpack[CurvesFigure]) -> PlotlyFigure: ...
    @overload
    def plot(self, *, ax: A, **options: Unpack[CurvesFigure]) -> A: ...

    def plot(
        self,
        *,
        page: int = 0,
        output: Hashable = None,
        sort: str | None = None,
        xscale: str = "linear",
        std: bool = False,
        observed: bool = False,
        error: bool = False,
        sharey: bool = True,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        backend: str = "matplotlib",
        ax: object = None,
    ) -> AnyFigure:
        """Draw all results side by side, twelve per page, by default with a shared y-axis.

        Parameters
        ----------
        page : int, default 0
            The page, if there are more than twelve panels.
        output : label, optional
            One output (class, target); all by default, up to eight. Surfaces need one.
        sort : {"model", "height", "rows"}, optional
            The order of categories.
        xscale : {"linear", "log", "quantile"}, default "linear"
            The axis of numbers; on a "quantile" scale, all rows of the background are equally wide.
        std : bool, default False
            Whether to shade one standard deviation of the rows' own (ICE) curves above and below each curve, see
            `Curve.std`. Surfaces and points have none.
        observed : bool, default False
            Whether to draw what was observed and predicted beside each curve, see `Curve.observations`.
        error : bool, default False
            Whether to shade a band of 95 % around each curve, see `Curve.error`.
        sharey : bool, default True
            Whether panels share the y-axis. Those of curves that reach less than a fifth as far as others have their
            own, and say so.
        title : str, optional
        figsize : (float, float), optional
            Width and height in inches; as large as the panels need by default.
        backend : {"matplotlib", "plotly"}, default "matplotlib"
        ax : matplotlib Axes, one per panel, optional
            Where to draw; on a new figure by default.

        Returns
        -------
        Figure of matplotlib or plotly, or `ax` if that is given
            Notebooks show it. In scripts ``plt.show()`` shows it; ``savefig`` and ``write_html`` save it.

        Examples
        --------
        >>> ex.partial_dependence(["bmi", ("bmi", "s5")]).plot()
        <Drawing size ... with 3 Axes>
        """
        chosen: dict[str, Any] = {"output": output, "sort": sort, "xscale": xscale}
        chosen |= {"std": std, "observed": observed, "error": error}
        return draw_page(
            self._drawers(**chosen),
            "result",
            page,
            sharey=sharey,
            canvas=(backend, ax, title, figsize),
        )

    def _drawers(self, *, output: Hashable = None, **options: Any) -> list[Callable[[], Panel]]:
        """Return a function for each panel of the figure, so that only those on a page are computed."""
        return [partial(panel_of_one, self, key, output, options) for key in self]


def _common_columns(result: Curve | Points) -> dict[str, list[Any]]:
    """Return the columns of a curve, or of points of one column, with the same names for all features."""
    if isinstance(result, Points):
        found: dict[str, Any] = {"category": next(iter(result.columns.values())), **values_of(result)}
    else:
        names = {f"{result.name}_above": "above", f"{result.name}_to": "to", result.name: "category"}
        listed = columns_of_curve(result)
        found = {names.get(name, name): values for name, values in listed.items()}
    return {name: list(values) for name, values in found.items()}


def _stacked_columns(parts: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the concatenated columns of several results; None where a result does not have a column."""
    names = ["feature", "above", "to", "category"]
    names += [name for part in parts for name in part if name not in names]
    columns: dict[str, list[Any]] = {name: [] for name in dict.fromkeys(names)}
    for part in parts:
        n = len(part["value"]) if "value" in part else len(next(v for v in part.values() if isinstance(v, list)))
        for name, column in columns.items():
            values = part.get(name)
            column += values if isinstance(values, list) else [values] * n
    kinds = {type(label) for label in columns["category"] if label is not None}
    if len(kinds) > 1:
        columns["category"] = [None if label is None else str(label) for label in columns["category"]]
    return columns
