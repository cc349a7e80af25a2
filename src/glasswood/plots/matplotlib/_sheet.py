"""Figures with matplotlib: a sheet in, a Figure out (or the axes that were given). No setting is changed."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from glasswood.errors import ArgumentError
from glasswood.plots._spec import DRAWN_IN, Joined, Panel, Sheet, Steps
from glasswood.plots._steps import common_heights, marked
from glasswood.plots._style import Style
from glasswood.plots.matplotlib._categories import PLAIN
from glasswood.plots.matplotlib._figure import new_figure
from glasswood.plots.matplotlib._style import Drawer, look_of
from glasswood.text._arguments import brief
from glasswood.text._plain import several
from glasswood.text._printable import how_many

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

    from glasswood._types import AnyFigure

__all__ = ["draw"]

LINE = 58  # characters of a line of a note


def _drawer(panel: Panel) -> Drawer:
    """Return how a panel is drawn."""
    file = import_module(f"glasswood.plots.matplotlib.{DRAWN_IN[type(panel)]}")
    drawers: dict[type, Drawer] = file.DRAWERS
    return drawers[type(panel)]


def draw(sheet: Sheet, ax: Any = None) -> AnyFigure:
    """Draw a sheet on a new figure, and return it; or on given axes, and return these."""
    if ax is not None:
        axes = list(np.ravel(np.asarray(ax, dtype=object)))
        if not axes or not all(hasattr(one, "figure") for one in axes):
            message = f"ax is an Axes of matplotlib, or several, not {brief(ax)}"
            raise ArgumentError(message)
        _check_given(sheet, len(axes))
        _fill(axes[0].figure, axes, sheet)
        return ax
    with new_figure(sheet.figsize or _figsize(sheet)) as figure:
        axes = _new_axes(figure, sheet)
        style = _fill(figure, axes, sheet, own=True)
        _add_texts(figure, sheet, style)
        _trim(axes, sheet)
    return figure


def _check_given(sheet: Sheet, n_axes: int) -> None:
    """Refuse axes that do not fit a sheet."""
    if n_axes != len(sheet.panels):
        message = f"the figure has {how_many(len(sheet.panels), 'panel')}, so ax needs as many axes, not {n_axes}"
        raise ArgumentError(message)
    if sheet.figsize is not None:
        message = "figsize= is for a new figure; with ax= the size is that of your own figure"
        raise ArgumentError(message)
    if sheet.title and n_axes > 1:
        message = "title= is for a new figure, or for one panel; with several axes, set the titles of these"
        raise ArgumentError(message)


# ------------------------------------------------------------------------------------------------ sizes


def _lines(sheet: Sheet) -> tuple[int, list[list[Panel]]]:
    """Return the number of columns, and the panels line by line."""
    n_columns = max(1, min(sheet.n_columns, len(sheet.panels)))
    return n_columns, [list(sheet.panels[i : i + n_columns]) for i in range(0, len(sheet.panels), n_columns)]


def _line_heights(lines: list[list[Panel]], n_columns: int) -> list[float]:
    """Return the inches that each line of panels is high."""
    part = 1.0 if n_columns == 1 else 0.85
    return [part * max(_drawer(panel).size(panel)[1] for panel in line) for line in lines]


def _figsize(sheet: Sheet) -> tuple[float, float]:
    """Return the default width and height of a sheet in inches."""
    n_columns, lines = _lines(sheet)
    widest = max((_drawer(panel).size(panel)[0] for panel in sheet.panels), default=4.0)
    width = n_columns * widest * (1.0 if n_columns == 1 else 0.85)
    return width, sum(_line_heights(lines, n_columns)) or 3.0


def _new_axes(figure: Figure, sheet: Sheet) -> list[Axes]:
    """Return axes for all panels of a sheet, in a grid whose lines are as high as their panels like to be."""
    n_columns, lines = _lines(sheet)
    if not lines:
        return []
    grid = figure.add_gridspec(len(lines), n_columns, height_ratios=_line_heights(lines, n_columns))
    return [figure.add_subplot(grid[divmod(i, n_columns)]) for i in range(len(sheet.panels))]


# ------------------------------------------------------------------------------------------------ panels


def _fill(figure: Figure, axes: list[Axes], sheet: Sheet, *, own: bool = False) -> Style:
    """Draw the panels of a sheet on axes, with their legends."""
    style, heights = look_of(axes[0] if axes else None, alone=len(axes) == 1), common_heights(sheet)
    sheet = marked(sheet, heights)
    legends = [
        _draw_panel(one, panel, replace(style, heights=own))
        for one, panel, own in zip(axes, sheet.panels, heights, strict=True)
    ]
    _add_legends(figure, axes, legends, style, own=own)
    if sheet.title and not own:
        n_lines = axes[0].get_title(loc="left").count("\n") + 1 if axes[0].get_title(loc="left") else 0
        axes[0].set_title(style.readable(sheet.title), pad=6 + 9 * n_lines, **PLAIN)
    return style


def _draw_panel(ax: Axes, panel: Panel, style: Style) -> tuple[list[Artist], list[str]]:
    """Draw a panel, and return the marks and names of its legend."""
    drawer = _drawer(panel)
    drawn, names = drawer.draw(ax, panel, style), drawer.names(panel)
    if not drawer.framed:
        ax.spines[["top", "right"]].set_visible(False)
    if panel.note:
        options: dict[str, Any] = {"loc": "left", "fontsize": "x-small", "color": style.dim}
        ax.set_title(_wrapped([panel.note], style), **options, **PLAIN)
    return (list(drawn or []), list(names)) if len(names) > 1 else ([], [])


def _wrapped(notes: Sequence[str], style: Style) -> str:
    """Return notes as lines that are not too long."""
    return "\n".join(style.readable(line) for note in notes for line in textwrap.wrap(note, LINE))


def _add_legends(
    figure: Figure, axes: list[Axes], legends: list[tuple[list[Artist], list[str]]], style: Style, *, own: bool
) -> None:
    """Add one legend for all panels if they have the same names, else one to each panel."""
    named = [legend for legend in legends if legend[1]]
    if not named:
        return
    if own and len({tuple(names) for _, names in named}) == 1:
        handles, names = named[0]
        n_columns = min(len(names), 2 if max(map(len, names)) > 12 else 4) if len(axes) == 1 else 8
        place = {"loc": "outside upper center", "ncols": n_columns}
        _label(figure.legend(handles, [str(i) for i in range(len(handles))], **place, frameon=False), names, style)
        return
    for ax, (handles, names) in zip(axes, legends, strict=True):
        if names:
            _label(ax.legend(handles, [str(i) for i in range(len(handles))], fontsize="small"), names, style)


def _label(legend: Legend, names: list[str], style: Style) -> None:
    """Write names into a legend: matplotlib itself would leave out those that begin with an underscore."""
    for text, name in zip(legend.get_texts(), several(names, 40), strict=True):
        text.set(text=style.readable(name), **PLAIN)


def _add_texts(figure: Figure, sheet: Sheet, style: Style) -> None:
    """Add the title and the notes of a sheet."""
    if sheet.title and figure.legends:  # matplotlib would draw one over the other
        figure.legends[0].set_title(style.readable(sheet.title))
        figure.legends[0].get_title().set(fontsize="large", **PLAIN)
    elif sheet.title:
        figure.suptitle(style.readable(sheet.title), **PLAIN)
    if sheet.notes:
        options = {"fontsize": "x-small", "color": style.dim, "x": 0.01, "ha": "left"}
        figure.supxlabel(_wrapped(sheet.notes, style), **options, **PLAIN)


def _trim(axes: list[Axes], sheet: Sheet) -> None:
    """Take away what neighbours say already: labels of heights but the first of each line."""
    if not sheet.shared_y:
        return
    for i, (ax, panel) in enumerate(zip(axes, sheet.panels, strict=True)):
        left = sheet.panels[i - 1] if i % sheet.n_columns else None
        if _is_upright(panel) and _is_upright(left):
            ax.set_ylabel("")


def _is_upright(panel: Panel | None) -> bool:
    """Return whether a panel of curves has its heights along y."""
    return isinstance(panel, Joined) or (isinstance(panel, Steps) and bool(panel.x.edges))
