"""Figures of results: which panels, and which library draws them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from glasswood.plots._attributions import panel_of_attributions
from glasswood.plots._make import (
    panel_of_comparison,
    panel_of_curve,
    panel_of_ice,
    panel_of_importance,
    panel_of_points,
    panel_of_row,
    panel_of_strengths,
    panel_of_surface,
)
from glasswood.plots._spec import Canvas, Dots, Panel, Sheet, Waterfall
from glasswood.plots._surfaces import panels_of_surface

__all__ = ["ENGINES", "PAGE", "Canvas", "draw", "page_of", "panel_of", "plot", "plot_page", "plot_surface"]

ENGINES = ("matplotlib", "plotly")
PAGE = 12  # panels on a page
WIDE = 8  # categories along a surface, from which on two of them are no longer side by side

MAKERS: dict[str, Callable[..., Panel]] = {
    "Curve": panel_of_curve,
    "Ice": panel_of_ice,
    "Points": panel_of_points,
    "Surface": panel_of_surface,
    "Importance": panel_of_importance,
    "Strengths": panel_of_strengths,
    "Comparison": panel_of_comparison,
    "Interactions": panel_of_row,
    "Attributions": panel_of_attributions,
}


def draw(sheet: Sheet, engine: str = "matplotlib", ax: Any = None) -> Any:
    """Draw a sheet: a Figure of matplotlib, or `ax` if that is given, or a Figure of plotly."""
    if engine == "matplotlib":
        from glasswood.plots._matplotlib import draw as with_matplotlib

        return with_matplotlib(sheet, ax)
    if engine == "plotly":
        from glasswood.plots._plotly import draw as with_plotly

        if ax is not None:
            message = "ax= is for matplotlib; plotly returns a figure of its own"
            raise ValueError(message)
        return with_plotly(sheet)
    message = f"engine must be one of {ENGINES!r}, not {engine!r}"
    raise ValueError(message)


def panel_of(result: Any, *arguments: Any, **options: Any) -> Panel:
    """Return the panel of any result."""
    return MAKERS[type(result).__name__](result, *arguments, **options)


def plot(result: Any, *arguments: Any, canvas: Canvas, **options: Any) -> Any:
    """Draw a result as a figure of one panel."""
    return put([panel_of(result, *arguments, **options)], canvas)


def put(panels: Sequence[Panel], canvas: Canvas, **options: Any) -> Any:
    """Draw panels on a canvas. What is said of single rows has a title, unless the user gives another."""
    title = canvas.title
    if title is None:
        title = panels[0].title if len(panels) == 1 and isinstance(panels[0], Waterfall | Dots) else ""
    return draw(Sheet(tuple(panels), title=title, figsize=canvas.figsize, **options), canvas.engine, canvas.ax)


def plot_page(panels: Sequence[Panel], canvas: Canvas, notes: Sequence[str] = (), *, sharey: bool = True) -> Any:
    """Draw panels side by side, by default with the same heights."""
    n_columns = 3 if len(panels) > 4 or len(panels) == 3 else 2
    return put(panels, canvas, n_columns=n_columns, notes=tuple(notes), shared_y=sharey)


def plot_surface(surface: Any, kind: str, canvas: Canvas, **options: Any) -> Any:
    """Draw a surface, what the pair adds to its curves, or both side by side (one below the other if they are wide)."""
    kinds = {"both": (False, True), "surface": (False,), "interaction": (True,)}
    if kind not in kinds:
        message = f"kind must be one of {tuple(kinds)!r}, not {kind!r}"
        raise ValueError(message)
    panels = panels_of_surface(surface, alone=kinds[kind], **options)
    return put(panels, canvas, n_columns=1 if len(panels[0].x.labels) > WIDE else 2)


def page_of(items: Sequence[Any], page: int) -> tuple[Sequence[Any], str]:
    """Return the items on a page, and a note if there are others."""
    n_pages = max(1, -(-len(items) // PAGE))
    if not 0 <= page < n_pages:
        message = f"there is no page {page}: pages are numbered from 0 to {n_pages - 1}"
        raise ValueError(message)
    first = page * PAGE
    shown = items[first : first + PAGE]
    others = " and ".join(f"page={other}" for other in (page - 1, page + 1) if 0 <= other < n_pages)
    note = f"{first + 1} to {first + len(shown)} of {len(items):,} features; {others} for others"
    return shown, note if n_pages > 1 else ""
