"""What `plot` returns and takes, for type checkers: a figure of matplotlib or plotly, or the axes that were given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, TypeVar

from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MatplotlibFigure
    from plotly.graph_objects import Figure as PlotlyFigure

__all__ = ["A", "AnyFigure", "FigureOptions", "MatplotlibFigure", "PlotlyFigure"]

A = TypeVar("A", bound="Axes | Sequence[Axes] | NDArray[Any]")

AnyFigure: TypeAlias = "MatplotlibFigure | PlotlyFigure | Axes | Sequence[Axes] | NDArray[Any]"


class FigureOptions(TypedDict, total=False):
    """The options that all figures have."""

    title: str | None
    figsize: tuple[float, float] | None
