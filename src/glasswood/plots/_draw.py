"""Figures of results: which panels, and which library draws them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from glasswood.errors import ArgumentError
from glasswood.plots._spec import TITLED, Canvas, Panel, Sheet
from glasswood.text._arguments import whole_number

if TYPE_CHECKING:
    from glasswood._types import AnyFigure

__all__ = ["BACKENDS", "PAGE", "Canvas", "draw", "page_of", "plot_page", "put"]

BACKENDS = ("matplotlib", "plotly")
PAGE = 12  # panels on a page
T = TypeVar("T")


def draw(sheet: Sheet, backend: str = "matplotlib", ax: Any = None) -> AnyFigure:
    """Draw a sheet: a Figure of matplotlib, or `ax` if that is given, or a Figure of plotly."""
    if backend == "matplotlib":
        from glasswood.plots.matplotlib._sheet import draw as with_matplotlib

        return with_matplotlib(sheet, ax)
    if backend == "plotly":
        from glasswood.plots.plotly._sheet import draw as with_plotly

        if ax is not None:
            message = "ax= is only supported by matplotlib; plotly returns a new figure"
            raise ArgumentError(message)
        return with_plotly(sheet)
    message = f"backend must be one of {BACKENDS!r}, not {backend!r}"
    raise ArgumentError(message)


def put(
    panels: Sequence[Panel],
    canvas: Canvas,
    *,
    n_columns: int = 3,
    notes: tuple[str, ...] = (),
    shared_y: bool = False,
) -> AnyFigure:
    """Draw panels on a canvas. Panels of single rows have a title unless the user passes one."""
    title = canvas.title
    _check_size(canvas.figsize)
    if title is None:
        title = panels[0].title if len(panels) == 1 and isinstance(panels[0], TITLED) else ""
    sheet = Sheet(tuple(panels), n_columns, title, notes, shared_y, canvas.figsize)
    return draw(sheet, canvas.backend, canvas.ax)


def _check_size(figsize: object) -> None:
    """Refuse a size that is not a width and a height."""
    if figsize is None:
        return
    sizes = list(figsize) if isinstance(figsize, Sequence | np.ndarray) and not isinstance(figsize, str) else []
    if len(sizes) != 2 or not all(isinstance(size, int | float | np.number) and 0 < size < np.inf for size in sizes):
        message = f"figsize is a width and a height in inches, such as (8, 4), not {figsize!r}"
        raise ArgumentError(message)


def plot_page(panels: Sequence[Panel], canvas: Canvas, notes: Sequence[str] = (), *, sharey: bool = True) -> AnyFigure:
    """Draw panels side by side, by default with the same heights."""
    n_columns = 3 if len(panels) > 4 or len(panels) == 3 else 2
    return put(panels, canvas, n_columns=n_columns, notes=tuple(notes), shared_y=sharey)


def page_of(items: Sequence[T], page: int, what: str = "feature") -> tuple[list[T], str]:
    """Return the items on a page, and a note if there are others."""
    if not items:
        message = f"there is no {what} to draw"
        raise ArgumentError(message)
    n_pages = -(-len(items) // PAGE)
    page = whole_number(page, "page is the number of a page", 0)
    if not 0 <= page < n_pages:
        message = f"there is no page {page}: pages are numbered from 0 to {n_pages - 1}"
        raise ArgumentError(message)
    first = page * PAGE
    shown = list(items[first : first + PAGE])
    others = " and ".join(f"page={other}" for other in (page - 1, page + 1) if 0 <= other < n_pages)
    note = f"{first + 1} to {first + len(shown)} of {len(items):,} {what}s; {others} for others"
    return shown, note if n_pages > 1 else ""
