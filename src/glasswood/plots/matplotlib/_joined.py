"""Panels of joined heights for Matplotlib: lines through places, dashed where there are no rows, and the data below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from glasswood.plots._joined import density_of, heights_of_joined, missing_label, names_of_joined, places_of
from glasswood.plots._spec import Joined
from glasswood.plots._steps import BASE, dodge
from glasswood.plots._style import LINES, MARKS, Style
from glasswood.plots.matplotlib._categories import PLAIN, in_lines, set_heights
from glasswood.plots.matplotlib._style import Drawer
from glasswood.text._plain import number

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["DRAWERS"]

SHADE = 0.18


def draw_joined(ax: Axes, panel: Joined, style: Style) -> list[Artist]:
    """Draw a panel of joined heights, and return the marks for a legend."""
    set_heights(ax, "y", style.heights or heights_of_joined(panel), room=bool(panel.support))
    ax.set_ylabel(in_lines(style, panel.y_label, 38 if style.alone else 30), **PLAIN)
    ax.set_xlabel(style.readable(panel.x_label), **PLAIN)
    ax.axhline(0.0, color=style.dim, linewidth=0.7, zorder=1)
    low, high = places_of(panel)
    if panel.support:
        base = ax.get_xaxis_transform()
        ax.stairs(
            BASE * density_of(panel), panel.places, fill=True, color=style.dim, alpha=0.55, transform=base, linewidth=0
        )
    for band in panel.bands:
        colour = LINES[(band.line or 0) % len(LINES)]
        ax.fill_between(panel.places, band.low, band.high, color=colour, alpha=style.opacity(SHADE), linewidth=0)
    faint = [ax.plot(panel.places, line.heights, color=style.dim, linewidth=1.2)[0] for line in panel.faint]
    drawn: list[Artist] = [_draw_line(ax, panel, k) for k in range(len(panel.lines))]
    _draw_missing(ax, panel, style, low, high)
    if low < high and max(abs(low), abs(high)) >= 1e4:
        ax.xaxis.set_major_formatter(lambda x, _: number(x))
    names = dict.fromkeys(band.name for band in panel.bands)
    bands = [ax.fill([], [], color=LINES[0], alpha=style.opacity(SHADE + 0.1), linewidth=0)[0] for _ in names]
    return [*drawn, *faint[:1], *bands]


def _draw_line(ax: Axes, panel: Joined, k: int) -> Artist:
    """Draw one line: solid where there are rows, and dashed elsewhere."""
    options: dict[str, Any] = {"color": LINES[k % len(LINES)]}
    heights, places = panel.lines[k].heights, panel.places
    for i, empty in enumerate(panel.empty):
        if empty:
            ax.plot(places[i : i + 2], heights[i : i + 2], linewidth=1.1, linestyle=(0, (3, 2)), **options)
    whole = np.array(heights, dtype=np.float64)
    x, y = [], []
    for i in range(len(places)):
        x.append(places[i])
        y.append(whole[i])
        if i < len(panel.empty) and panel.empty[i]:  # a gap
            x.append(places[i])
            y.append(np.nan)
    mark: dict[str, Any] = {"marker": MARKS[k % len(MARKS)], "markersize": 3.2}
    return ax.plot(x, y, linewidth=1.7, **mark, **options)[0]


def _draw_missing(ax: Axes, panel: Joined, style: Style, low: float, high: float) -> None:
    """Draw the heights of missing values next to the axis, not joined to the lines."""
    label, width = missing_label(panel), high - low
    if label is None:
        ax.set_xlim(low, high)
        return
    at = high + 0.11 * width
    marked = [(k, line.missing) for k, line in enumerate(panel.lines) if line.missing is not None]
    for i, (k, height) in enumerate(marked):
        x = at + dodge(i, len(marked)) * 0.07 * width
        ax.plot([x], [height], color=LINES[k % len(LINES)], marker=MARKS[k % len(MARKS)], markersize=5.5)
    ax.text(at, -0.025, label, transform=ax.get_xaxis_transform(), ha="center", va="top", fontsize="small", **PLAIN)
    ax.axvline(high + 0.01 * width, color=style.dim, linewidth=0.8, linestyle=(0, (1, 2)))
    ax.set_xlim(low, high + 0.2 * width)
    ticks = [tick for tick in ax.get_xticks() if low <= tick <= high]
    ax.set_xticks([tick for tick in ticks if len(ticks) < 3 or tick <= high - 0.04 * width])


def size_of_joined(_: Joined) -> tuple[float, float]:
    """Return the inches that a panel would like."""
    return 5.2, 3.6


DRAWERS = {Joined: Drawer(draw_joined, size_of_joined, names_of_joined)}
