"""Bars and waterfalls with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from glasswood.plots._spec import Bars, Waterfall
from glasswood.plots._style import LINES, MARKS, Style
from glasswood.plots.matplotlib._categories import PLAIN
from glasswood.plots.matplotlib._style import Drawer
from glasswood.text._plain import number, several

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["DRAWERS"]


def draw_bars(ax: Axes, panel: Bars, style: Style) -> list[Line2D]:
    """Draw one bar per label, the first on top; several series as dots on one line."""
    places = np.arange(len(panel.labels))
    drawn = []
    if len(panel.series) == 1:
        ax.barh(places, panel.values[0], 0.7, color=LINES[0])
        if panel.reach:
            ax.errorbar(panel.values[0], places, xerr=panel.reach, fmt="none", ecolor=style.ink, linewidth=1.0)
        for at, value in enumerate(panel.values[0]):
            end = max(value, 0.0) if not panel.reach else max(value + panel.reach[at], 0.0)
            ax.text(end, at, f" {number(value)}", va="center", ha="left", fontsize="small", color=style.ink, **PLAIN)
    else:
        values = np.asarray(panel.values)
        ends_of_lines = (values.min(axis=0, initial=0.0), values.max(axis=0, initial=0.0))
        ax.hlines(places, *ends_of_lines, color=style.dim, linewidth=0.8, alpha=0.6)
        for k, line in enumerate(values):
            options: dict[str, Any] = {
                "color": LINES[k % len(LINES)],
                "marker": MARKS[k % len(MARKS)],
                "linestyle": "none",
            }
            drawn += ax.plot(line, places, markersize=6.5, alpha=0.9, **options)
    ax.set_yticks(places, [style.readable(text) for text in several(panel.labels, 32)], **PLAIN)
    ax.set_ylim(len(panel.labels) - 0.4, -0.6)
    reach = np.asarray(panel.reach or 0.0)
    ends = np.concatenate([np.ravel(np.asarray(panel.values) + side) for side in (reach, -reach)])
    low, high = min(0.0, float(ends.min(initial=0.0))), 1.14 * max(0.0, float(ends.max(initial=0.0))) or 1.0
    ax.set_xlim(low - 0.03 * (high - low) * (low < 0), high)
    ax.set_xlabel(style.readable(panel.x_label), **PLAIN)
    return drawn


def draw_waterfall(ax: Axes, panel: Waterfall, style: Style) -> None:
    """Draw a waterfall from the start at the top to the end at the bottom; the combined part is a thin bar."""
    ends = panel.start[1] + np.concatenate([[0.0], np.cumsum(panel.values)])
    n = len(panel.values)
    low, high = float(ends.min()), float(ends.max())
    room = 0.02 * ((high - low) or 1.0)
    for i, value in enumerate(panel.values):
        colour = LINES[1] if value > 0 else LINES[0]
        ax.barh(i + 1, value, 0.3 if panel.rest and i == n - 1 else 0.7, ends[i], color=colour)
        ax.vlines(ends[i], i + 0.35 - (i > 0) * 0.7, i + 1.35, color=style.dim, linewidth=0.8)
        at, side = max(ends[i], ends[i + 1]) + room, "left"
        sign = "+" if value > 0 else ""
        ax.text(at, i + 1, sign + number(value), va="center", ha=side, fontsize="small", color=style.ink, **PLAIN)
    for place, (_, value) in ((0, panel.start), (n + 1, panel.end)):
        ax.plot([value], [place], marker="D", color=style.ink, markersize=6)
        ax.text(value + room, place, f" {number(value)}", va="center", ha="left", fontweight="bold", **PLAIN)
    ax.vlines(ends[-1], n + 0.65, n + 1, color=style.dim, linewidth=0.8)
    labels = [panel.start[0], *panel.labels, panel.end[0]]
    ax.set_yticks(range(n + 2), [style.readable(text) for text in several(labels, 40)], **PLAIN)
    ax.set_ylim(n + 1.6, -0.6)
    ax.set_xlim(low - 4 * room, high + 10 * room)
    ax.set_xlabel(style.readable(panel.x_label), **PLAIN)


def size_of_bars(panel: Bars) -> tuple[float, float]:
    """Return the inches that bars would like."""
    return 6.4, 1.3 + 0.27 * max(len(panel.labels), 3)


def size_of_waterfall(panel: Waterfall) -> tuple[float, float]:
    """Return the inches that a waterfall would like."""
    return 6.8, 1.2 + 0.33 * (len(panel.labels) + 2)


def names_of_bars(panel: Bars) -> tuple[str, ...]:
    """Return the entries of the legend."""
    return panel.series


DRAWERS = {
    Bars: Drawer(draw_bars, size_of_bars, names_of_bars),
    Waterfall: Drawer(draw_waterfall, size_of_waterfall),
}
