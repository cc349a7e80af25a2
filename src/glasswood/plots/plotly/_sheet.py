"""Figures with plotly: a sheet in, a plotly Figure out. Colours of paper and text are left to plotly's template."""

from __future__ import annotations

import textwrap
from importlib import import_module
from typing import Any

from glasswood.errors import MissingExtraError
from glasswood.plots._spec import DRAWN_IN, Panel, Sheet
from glasswood.plots._steps import common_heights, marked
from glasswood.plots.plotly._builder import LETTER, Drawer, FigureBuilder, Margins, Place, safe

try:
    import plotly.graph_objects as go
except ImportError as error:
    raise MissingExtraError.of(
        "plotly", extra="plotly", what="backend='plotly'", otherwise="pass backend='matplotlib'"
    ) from error

__all__ = ["draw"]

DOTS = 100  # to an inch
WIDE = 900  # what a figure of one panel is taken to be wide; it is as wide as its surroundings
LINE = 14  # the height of a line of text


def _drawer(panel: Panel) -> Drawer:
    """Return how a panel is drawn."""
    file = import_module(f"glasswood.plots.plotly.{DRAWN_IN[type(panel)]}")
    drawers: dict[type, Drawer] = file.DRAWERS
    return drawers[type(panel)]


def draw(sheet: Sheet) -> go.Figure:
    """Draw a sheet, and return the figure."""
    builder, heights = FigureBuilder(alone=len(sheet.panels) == 1), common_heights(sheet)
    sheet = marked(sheet, heights)
    grid = _Grid(sheet)
    for panel, place, builder.heights in zip(sheet.panels, grid.places(), heights, strict=True):
        _drawer(panel).draw(builder, place, panel)
        if panel.note:
            where = {"x": place.x[0], "y": place.y[1], "xref": "paper", "yref": "paper", "yshift": 2}
            builder.annotate(
                "<br>".join(_wrapped(panel, place.width)), **where, size=10, xanchor="left", yanchor="bottom"
            )
    layout = builder.layout | {"annotations": builder.annotations, "shapes": builder.shapes} | grid.size
    head = (34 if sheet.title else 0) + (26 * _legend_lines(builder, grid.width) if len(builder.named) > 1 else 0)
    notes = [safe(line, 200) for note in sheet.notes for line in textwrap.wrap(note, int(grid.width / LETTER))]
    foot = LINE * len(notes) + 6 * bool(notes)
    layout["margin"] = grid.margin | {"t": head + 4, "b": foot + 4}
    layout["height"] = layout["height"] + (0 if sheet.figsize else head + foot + 8)
    layout["showlegend"] = len(builder.named) > 1
    layout["legend"] = {"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0, "xanchor": "left"}
    if notes:
        where = {"x": 0, "y": 0, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "top", "yshift": -4}
        builder.annotate("<br>".join(notes), size=10, **where)
    if sheet.title:
        above = {"x": 0.5, "xanchor": "center", "y": 1 - 18 / layout["height"], "yanchor": "middle"}
        layout["title"] = {"text": safe(sheet.title, 100), **above}
    return go.Figure(data=builder.traces, layout=layout)


def _legend_lines(builder: FigureBuilder, width: float) -> int:
    return 1 + int(sum(60 + LETTER * min(len(name), 40) for name in builder.named) / width)


def _wrapped(panel: Panel, width: float) -> list[str]:
    """Return the lines of a panel's note."""
    return [safe(line, 200) for line in textwrap.wrap(panel.note, max(20, int(width / (0.85 * LETTER))))[:4]]


class _Grid:
    """The positions of the panels of a sheet, with enough room for labels so that texts do not overlap.

    Several columns have a fixed width; a single one fills the available width.
    """

    def __init__(self, sheet: Sheet) -> None:
        n = len(sheet.panels)
        self.n_columns = max(1, min(sheet.n_columns, n))
        self.width = WIDE if self.n_columns == 1 else 1040.0 if self.n_columns == 2 else 1160.0
        if sheet.figsize is not None:
            self.width = DOTS * sheet.figsize[0]
        self.rooms = [_drawer(panel).room(panel) for panel in sheet.panels]
        self.lines = [range(i, min(i + self.n_columns, n)) for i in range(0, n, self.n_columns)]
        single = self.n_columns == 1
        self.margin = {"l": max((room.left for room in self.rooms), default=0) if single else 0}
        self.margin |= {"r": max((room.right for room in self.rooms), default=0) if single else 0}
        self.inner = self.width - self.margin["l"] - self.margin["r"]
        self.tops = [max(self._top(sheet.panels[i], self.rooms[i]) for i in line) for line in self.lines]
        self.bottoms = [max(self.rooms[i].bottom for i in line) for line in self.lines]
        needed = [_drawer(panel).height(panel, n) for panel in sheet.panels]
        self.heights = [max(needed[i] for i in line) for line in self.lines]
        self.total = sum(self.tops) + sum(self.bottoms) + sum(self.heights) or 300.0
        self.size: dict[str, Any] = {"height": self.total}
        if sheet.figsize is not None:
            self.size = {"width": self.width, "height": DOTS * sheet.figsize[1]}
        elif not single:
            self.size["width"] = self.width

    def _top(self, panel: Panel, room: Margins) -> float:
        """Return the pixels above a panel, with its note."""
        return room.top + LINE * len(_wrapped(panel, self._width_of(room))) if panel.note else room.top

    def _width_of(self, room: Margins) -> float:
        """Return the pixels that a panel is wide within its room."""
        if self.n_columns == 1:
            return self.inner
        return max(60.0, self.inner / self.n_columns - room.left - room.right)

    def places(self) -> list[Place]:
        """Return the places of all panels."""
        result = []
        top = self.total
        for line, above, high, below in zip(self.lines, self.tops, self.heights, self.bottoms, strict=True):
            y = (top - above - high) / self.total, (top - above) / self.total
            for column, i in enumerate(line):
                wide = self._width_of(self.rooms[i])
                left = 0.0 if self.n_columns == 1 else column * self.inner / self.n_columns + self.rooms[i].left
                x = left / self.inner, (left + wide) / self.inner
                result.append(Place(x, (max(0.0, y[0]), min(1.0, y[1])), wide, high))
            top -= above + high + below
        return result
