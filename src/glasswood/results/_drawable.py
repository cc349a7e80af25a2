"""Drawable: results that can be drawn, and the functions that make their panels, which know them and not vice versa."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, TypeVar

from glasswood.kernels._read_only import ReadOnly
from glasswood.plots._spec import Canvas, Panel

__all__ = ["Drawable", "DrawnByOutput", "drawn", "maker_of"]

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
            raise NotImplementedError(message)
        return make(self, *args, **options)

    def _plot(self, canvas: tuple[Any, ...], *args: Any, **options: Any) -> Any:
        """Draw one panel on a canvas: an engine, axes, a title and a size."""
        from glasswood.plots._draw import put

        return put([self._made("panel", *args, **options)], Canvas(*canvas))


class DrawnByOutput(Drawable):
    """A result whose figure is that of one output, or of all."""

    def panel(self, output: int | None = None, **options: Any) -> Panel:
        """Return the data that `plot` draws. Options are those of `plot`; outputs are given by position.

        Examples
        --------
        See `Curve`.
        """
        found: Panel = self._made("panel", output, **options)
        return found
