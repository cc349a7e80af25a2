"""Drawable: results that can be drawn, and the functions that make their panels, which know them and not vice versa."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, Unpack, overload

from glasswood.errors import ArgumentError
from glasswood.kernels._read_only import ReadOnly
from glasswood.models._outputs import position_of
from glasswood.plots._spec import Canvas, Panel

if TYPE_CHECKING:
    from glasswood._types import A, AnyFigure, FigureOptions, MatplotlibFigure, PlotlyFigure

    class DrawnAsBarsFigure(FigureOptions, total=False):
        top: int
        output: Hashable

    class DrawnAsBarsOfAllFigure(FigureOptions, total=False):
        top: int


__all__ = ["Drawable", "DrawnAsBars", "DrawnAsBarsOfAll", "DrawnByOutput", "drawn", "maker_of"]

F = TypeVar("F", bound=Callable[..., Any])

_MAKERS: dict[tuple[type, str], Callable[..., Any]] = {}


def drawn(kind: type, how: str = "panel") -> Callable[[F], F]:
    """Register a function that makes panels of a class of results.

    Parameters
    ----------
    kind : type
    how : {"panel", "panels", "together"}
        "panel": one of one result. "panels": several of one result. "together": one of the results of several groups.
    """

    def register(make: F) -> F:
        _MAKERS[kind, how] = make
        return make

    return register


def maker_of(kind: type, how: str = "panel") -> Callable[..., Any] | None:
    """Return the function that makes panels of a class of results; None if there is none.

    A class in `_result_x.py` is drawn by `_panel_x.py` of the same folder, or by `_panel.py`. That file is
    imported when the first figure is made.
    """
    for base in kind.__mro__:
        folder, _, file = base.__module__.rpartition(".")
        if file.startswith("_result"):
            for name in dict.fromkeys((file.replace("_result", "_panel", 1), "_panel")):
                if find_spec(f"{folder}.{name}") is not None:
                    import_module(f"{folder}.{name}")
                if (base, how) in _MAKERS:
                    return _MAKERS[base, how]
    return None


class Drawable(ReadOnly):
    """A result that can be drawn."""

    _ignored_options: ClassVar[tuple[str, ...]] = ()  # of figures of several results, which this one does not have

    def _made(self, how: str, *args: Any, **options: Any) -> Any:
        """Return what a registered function makes of this result."""
        make = maker_of(type(self), how)
        if make is None:
            message = f"there is no figure of {type(self).__name__}"
            raise ArgumentError(message)
        return make(self, *args, **options)

    def _plot(self, canvas: tuple[Any, ...], *args: Any, **options: Any) -> AnyFigure:
        """Draw one panel on a canvas: a backend, axes, a title and a size."""
        from glasswood.plots._draw import put

        return put([self._made("panel", *args, **options)], Canvas(*canvas))


class DrawnByOutput(Drawable):
    """A result whose figure is that of one output, or of all."""

    def panel(self, output: int | None = None, **options: Any) -> Panel:
        """Return the data that `plot` draws. Options are those of `plot`; outputs are given by position."""
        result: Panel = self._made("panel", output, **options)
        return result


class DrawnAsBars(DrawnByOutput):
    """A result with a height per feature and output, and a figure of bars."""

    outputs: tuple[Any, ...]

    @overload
    def plot(
        self, *, backend: Literal["matplotlib"] = "matplotlib", ax: None = None, **options: Unpack[DrawnAsBarsFigure]
    ) -> MatplotlibFigure: ...
    @overload
    def plot(self, *, backend: Literal["plotly"], **options: Unpack[DrawnAsBarsFigure]) -> PlotlyFigure: ...
    @overload
    def plot(self, *, ax: A, **options: Unpack[DrawnAsBarsFigure]) -> A: ...

    def plot(
        self,
        *,
        top: int = 20,
        output: Hashable = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        backend: str = "matplotlib",
        ax: object = None,
    ) -> AnyFigure:
        """Draw a bar per feature, the largest first.

        Parameters
        ----------
        top : int, default 20
            The maximum number of bars.
        output : label, optional
            The output (class or target) to draw. By default all outputs, up to eight.
        title : str, optional
        figsize : (float, float), optional
            Width and height in inches. Chosen to fit the panels by default.
        backend : {"matplotlib", "plotly"}, default "matplotlib"
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure is created.

        Returns
        -------
        Matplotlib or Plotly figure, or `ax` if given
            Notebooks display it. In scripts, ``plt.show()`` displays it; ``savefig`` and ``write_html`` save it.

        Examples
        --------
        >>> ex.importance().plot(top=5)
        <Drawing size ... with 1 Axes>
        """
        place = position_of(self.outputs, output)
        return self._plot((backend, ax, title, figsize), place, top=top)


class DrawnAsBarsOfAll(Drawable):
    """A result with a height per feature for all outputs together, and a figure of bars."""

    def panel(self, **options: Any) -> Panel:
        """Return the data that `plot` draws. Options are those of `plot`.

        Examples
        --------
        >>> ex.rating_table(pairs=2).panel(top=2).labels
        ('bmi', 's5')
        """
        result: Panel = self._made("panel", **options)
        return result

    @overload
    def plot(
        self,
        *,
        backend: Literal["matplotlib"] = "matplotlib",
        ax: None = None,
        **options: Unpack[DrawnAsBarsOfAllFigure],
    ) -> MatplotlibFigure: ...
    @overload
    def plot(self, *, backend: Literal["plotly"], **options: Unpack[DrawnAsBarsOfAllFigure]) -> PlotlyFigure: ...
    @overload
    def plot(self, *, ax: A, **options: Unpack[DrawnAsBarsOfAllFigure]) -> A: ...

    def plot(
        self,
        *,
        top: int = 20,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        backend: str = "matplotlib",
        ax: object = None,
    ) -> AnyFigure:
        """Draw a bar per feature, the largest first.

        Parameters
        ----------
        top : int, default 20
            The maximum number of bars.
        title : str, optional
        figsize : (float, float), optional
            Width and height in inches. Chosen to fit the panels by default.
        backend : {"matplotlib", "plotly"}, default "matplotlib"
        ax : matplotlib Axes, optional
            The axes to draw on. By default, a new figure is created.

        Returns
        -------
        Matplotlib or Plotly figure, or `ax` if given
            Notebooks display it. In scripts, ``plt.show()`` displays it; ``savefig`` and ``write_html`` save it.

        Examples
        --------
        >>> ex.rating_table(pairs=2).plot(top=5)
        <Drawing size ... with 1 Axes>
        """
        return self._plot((backend, ax, title, figsize), top=top)
