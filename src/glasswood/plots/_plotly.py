"""Figures with plotly: a sheet in, a plotly Figure out. Colours of paper and text are left to plotly's template."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

from glasswood.errors import MissingExtraError
from glasswood.plots._plotly_others import draw_bars, draw_cells, draw_matrix, draw_network, draw_waterfall
from glasswood.plots._plotly_paper import Paper, Place, safe
from glasswood.plots._plotly_steps import draw_steps
from glasswood.plots._spec import Bars, Cells, Matrix, Network, Panel, Sheet, Steps, Waterfall
from glasswood.plots._steps import common_heights

try:
    import plotly.graph_objects as go
except ImportError as error:
    message = "these figures need plotly; install glasswood[plotly], or pass engine='matplotlib'"
    raise MissingExtraError(message) from error

__all__ = ["draw"]

DRAWERS: dict[type, Callable[[Paper, Place, Any], None]] = {
    Steps: draw_steps,
    Bars: draw_bars,
    Cells: draw_cells,
    Matrix: draw_matrix,
    Network: draw_network,
    Waterfall: draw_waterfall,
}
DOTS = 100  # to an inch


def draw(sheet: Sheet) -> Any:
    """Draw a sheet, and return the figure."""
    n = len(sheet.panels)
    n_columns = max(1, min(sheet.n_columns, n))
    n_lines = max(1, -(-n // n_columns))
    inches = [_height(panel) for panel in sheet.panels]
    height = 60 + n_lines * max(inches, default=300) * (1.0 if n == 1 else 0.85)
    paper = Paper(heights=common_heights(sheet), alone=n == 1)
    for i, panel in enumerate(sheet.panels):
        line, column = divmod(i, n_columns)
        place = Place.in_grid((line, n_lines), (column, n_columns), height)
        DRAWERS[type(panel)](paper, place, panel)
        _add_note(paper, place, getattr(panel, "note", ""))
    if sheet.notes:
        text = "<br>".join(safe(note, 200) for note in sheet.notes)
        paper.annotate(text, x=0, y=0, xref="paper", yref="paper", yshift=-70, size=10, xanchor="left", yanchor="top")
    layout = paper.layout | {"annotations": paper.annotations, "shapes": paper.shapes, "height": height}
    layout["margin"] = {"t": 60 if sheet.title or paper.named or paper.noted else 30, "b": 100 if sheet.notes else 60}
    if sheet.title:
        layout["title"] = {"text": safe(sheet.title, 100)}
    layout["legend"] = {"orientation": "h", "yanchor": "bottom", "y": 1.0 + 26 / height, "x": 0}
    if sheet.figsize is not None:
        layout |= {"width": DOTS * sheet.figsize[0], "height": DOTS * sheet.figsize[1]}
    return go.Figure(data=paper.traces, layout=layout)


def _height(panel: Panel) -> float:
    """Return the pixels that a panel would like to be high."""
    if isinstance(panel, Bars):
        return 90 + 24 * max(len(panel.labels), 3)
    if isinstance(panel, Waterfall):
        return 90 + 28 * (len(panel.labels) + 2)
    return 340 if isinstance(panel, Steps) else 460


def _add_note(paper: Paper, place: Place, note: str) -> None:
    """Write a panel's note above it."""
    if note:
        paper.noted = True
        text = "<br>".join(safe(line, 90) for line in textwrap.wrap(note, 80)[:3])
        paper.annotate(
            text, x=place.x[0], y=place.y[1], xref="paper", yref="paper", yshift=2, size=10, yanchor="bottom"
        )
