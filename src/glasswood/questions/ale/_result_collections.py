"""Ales: the accumulated local effects of several features, by name."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

import numpy as np

from glasswood.models._outputs import position_of
from glasswood.questions.ale._result import Ale, columns_of_ale
from glasswood.results._collections import Several
from glasswood.results._frames import Tabular

if TYPE_CHECKING:
    from glasswood._types import A, AnyFigure, FigureOptions, MatplotlibFigure, PlotlyFigure
    from glasswood.plots._spec import Panel

    class AlesFigure(FigureOptions, total=False):
        page: int
        output: Hashable
        partial_dependence: bool
        error: bool
        sharey: bool


__all__ = ["Ales"]


class Ales(Several[Ale], Tabular):
    """The accumulated local effects of several features: a mapping from their names to `Ale`.

    `to_frame` returns a row per edge or level of each feature (and output): the feature, the edge, its value and its
    rows.

    Examples
    --------
    >>> import glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> ales = gw.Explainer(HistGradientBoostingRegressor(max_iter=20).fit(X, y), X).ale()
    >>> ales["bmi"]
    Ale(bmi: ... bins, value from ... to ...)
    >>> max(ales.gaps.values()) < 0.1
    True
    >>> ales.to_frame().columns.tolist()
    ['feature', 'edge', 'category', 'value', 'rows']
    """

    def __repr__(self) -> str:
        return f"Ales({self._names()})"

    @property
    def gaps(self) -> dict[str, float]:
        """The `Ale.gap` of each feature, the largest first; the largest of all outputs, if there are several."""
        result = {name: float(np.max(ale.gap)) for name, ale in self.items()}
        return dict(sorted(result.items(), key=lambda item: -np.nan_to_num(item[1])))

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, list[Any]] = {"feature": [], "edge": [], "category": []}
        for name, ale in self.items():
            own = {"feature": [], **columns_of_ale(ale)}
            place = "edge" if ale.levels is None else "category"
            values = list(own.pop(name))
            own["feature"] = [name] * len(values)
            own["edge"], own["category"] = [None] * len(values), [None] * len(values)
            own[place] = values if place == "edge" else [str(value) for value in values]
            for key, more in own.items():
                columns.setdefault(key, []).extend(list(more))
        return columns

    @overload
    def plot(
        self, *, backend: Literal["matplotlib"] = "matplotlib", ax: None = None, **options: Unpack[AlesFigure]
    ) -> MatplotlibFigure: ...
    @overload
    def plot(self, *, backend: Literal["plotly"], **options: Unpack[AlesFigure]) -> PlotlyFigure: ...
    @overload
    def plot(self, *, ax: A, **options: Unpack[AlesFigure]) -> A: ...

    def plot(
        self,
        *,
        page: int = 0,
        output: Hashable = None,
        partial_dependence: bool = False,
        error: bool = False,
        sharey: bool = True,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        backend: str = "matplotlib",
        ax: object = None,
    ) -> AnyFigure:
        """Draw all features side by side, twelve per page, by default with a shared y-axis.

        Parameters
        ----------
        page : int, default 0
            The page, if there are more than twelve panels.
        output, partial_dependence, error
            As for `Ale.plot`.
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
        >>> ex.ale().plot()
        <Drawing size ... with 10 Axes>
        """
        from glasswood.plots._draw import Canvas, page_of, plot_page

        def panel(ale: Ale) -> Panel:
            place = position_of(ale.outputs, output)
            return ale.panel(place, partial_dependence=partial_dependence, error=error)

        drawers: list[Callable[[], Panel]] = [partial(panel, ale) for ale in self.values()]
        shown, note = page_of(drawers, page)
        canvas = Canvas(backend, ax, title, figsize)
        return plot_page([make() for make in shown], canvas, [note] if note else [], sharey=sharey)
