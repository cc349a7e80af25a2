"""Figures of results: which panels, and which library draws them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

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
from glasswood.plots._spec import Panel, Sheet

__all__ = ["ENGINES", "PAGE", "draw", "panel_of", "plot"]

ENGINES = ("matplotlib", "plotly")
PAGE = 12  # panels on a page

MAKERS: dict[str, Callable[..., Panel]] = {
    "Curve": panel_of_curve,
    "Ice": panel_of_ice,
    "Points": panel_of_points,
    "Surface": panel_of_surface,
    "Importance": panel_of_importance,
    "Strengths": panel_of_strengths,
    "Comparison": panel_of_comparison,
    "Interactions": panel_of_row,
    "Attributions": panel_of_row,
}


def draw(sheet: Sheet, engine: str = "matplotlib", ax: Any = None) -> Any:
    """Draw a sheet: a Figure of matplotlib, on `ax` if that is given, or of plotly."""
    if engine == "matplotlib":
        from glasswood.plots._matplotlib import draw as with_matplotlib

        return with_matplotlib(sheet, ax)
    if engine == "plotly":
        from glasswood.plots._plotly import draw as with_plotly

        if ax is not None:
            message = "ax= is for matplotlib; plotly returns a figure of its own"
            raise ValueError(message)
        return with_plotly(sheet)
    message = f"engine is one of {ENGINES!r}, not {engine!r}"
    raise ValueError(message)


def panel_of(result: Any, *arguments: Any, **options: Any) -> Panel:
    """Return the panel of any result."""
    return MAKERS[type(result).__name__](result, *arguments, **options)


def plot(result: Any, *arguments: Any, engine: str, ax: Any = None, **options: Any) -> Any:
    """Draw a result as a figure of one panel."""
    return draw(Sheet((panel_of(result, *arguments, **options),)), engine, ax)


def plot_page(panels: Sequence[Panel], engine: str, ax: Any = None, notes: Sequence[str] = ()) -> Any:
    """Draw panels side by side, with the same heights."""
    n_columns = 3 if len(panels) > 4 or len(panels) == 3 else 2
    return draw(Sheet(tuple(panels), n_columns, notes=tuple(notes), shared_y=True), engine, ax)


def plot_surface(surface: Any, kind: str, density: Any, *, engine: str, ax: Any = None, output: Any = None) -> Any:
    """Draw a surface, what the pair adds to its curves, or both side by side."""
    kinds = {"both": (False, True), "surface": (False,), "interaction": (True,)}
    if kind not in kinds:
        message = f"kind is one of {tuple(kinds)!r}, not {kind!r}"
        raise ValueError(message)
    panels = [panel_of_surface(surface, output, interaction=alone, density=density) for alone in kinds[kind]]
    return draw(Sheet(tuple(panels), 2), engine, ax)


def page_of(items: Sequence[Any], page: int) -> tuple[Sequence[Any], str]:
    """Return the items on a page, and a note if there are others."""
    n_pages = max(1, -(-len(items) // PAGE))
    if not 0 <= page < n_pages:
        message = f"there are {n_pages} pages, numbered from 0; there is no page {page}"
        raise ValueError(message)
    first = page * PAGE
    shown = items[first : first + PAGE]
    note = f"{first + 1} to {first + len(shown)} of {len(items):,}, page {page} of 0 to {n_pages - 1}"
    return shown, note if n_pages > 1 else ""
