"""Series on axes of matplotlib: values over time, with limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from glasswood.plots._spec import Series
from glasswood.plots._style import DASHES, LINES, MARKS, Style
from glasswood.plots.matplotlib._categories import PLAIN, in_lines
from glasswood.plots.matplotlib._style import Drawer
from glasswood.text._plain import several

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["DRAWERS"]

ROOM = 0.08  # of the heights, above and below


def draw_series(ax: Axes, panel: Series, style: Style) -> list[Line2D]:
    """Draw a line per track, with filled marks beyond a limit and hollow ones within."""
    x = np.arange(len(panel.labels))
    for values in panel.faint:
        ax.plot(x, values, color=style.dim, linewidth=0.7, alpha=0.6, zorder=1)
    drawn = []
    for track in panel.tracks:
        k = track.colour or 0
        colour, mark = style.ink if track.colour is None else LINES[k % len(LINES)], MARKS[k % len(MARKS)]
        options: dict[str, Any] = {"color": colour, "marker": mark, "markersize": 6, "zorder": 3}
        hollow: dict[str, Any] = {
            "linewidth": 1.4,
            "markerfacecolor": style.paper,
            "linestyle": DASHES[k % len(DASHES)],
        }
        if track.errors:
            ax.errorbar(x, track.values, track.errors, color=colour, fmt="none", linewidth=1, capsize=3, zorder=2.8)
        drawn += ax.plot(x, track.values, **options, **hollow)
        beyond = np.flatnonzero(track.broken)
        ax.plot(x[beyond], np.asarray(track.values)[beyond], linestyle="none", **options)
    if panel.chance:
        ax.plot(x, panel.chance, color=style.dim, linestyle=":", linewidth=1.4, zorder=2)
        ax.annotate("by chance", (x[:2].mean(), np.mean(panel.chance[:2])), **_beside(style, "center"))
    for limit, text in panel.limits:
        ax.axhline(limit, color=style.ink, linewidth=1, linestyle="--", zorder=2)
        ax.annotate(style.readable(text), (1.0, limit), xycoords=("axes fraction", "data"), **_beside(style, "right"))
    ax.set_xticks(x, [style.readable(text) for text in several(panel.labels, 16)], **_turned(panel), **PLAIN)
    ax.set_xlim(-0.4, len(x) - 0.6)
    ax.set_ylim(*_heights(panel))
    ax.set_ylabel(in_lines(style, panel.y_label, 31), **PLAIN)
    return drawn


def _beside(style: Style, end: str) -> dict[str, Any]:
    """Return the style of a text above a line, readable above other lines and below marks."""
    place = {"xytext": (-2 if end == "right" else 0, 3), "textcoords": "offset points", "ha": end, "va": "bottom"}
    box = {"facecolor": style.paper, "edgecolor": "none", "alpha": 0.7, "pad": 0.5}
    return {**place, "fontsize": "x-small", "color": style.dim, "bbox": box, "zorder": 2.5, **PLAIN}


def _turned(panel: Series) -> dict[str, Any]:
    """Return how the labels are turned if they are long."""
    return {"rotation": 90} if sum(min(len(text), 16) + 2 for text in panel.labels) > 44 else {}


def _heights(panel: Series) -> tuple[float, float]:
    """Return the heights that are shown: all values, and the limits."""
    lines = [
        *(track.values for track in panel.tracks),
        *(np.add(track.values, track.errors) for track in panel.tracks if track.errors),
        *(np.subtract(track.values, track.errors) for track in panel.tracks if track.errors),
        *panel.faint,
        panel.chance,
        [limit for limit, _ in panel.limits],
    ]
    values = np.concatenate([np.asarray(line, dtype=np.float64) for line in lines])
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    low = min(low, 0.0) if low < 0.5 else low
    room = ROOM * ((high - low) or 1.0)
    return (0.0 if low == 0 else low - room), high + 1.5 * room


def size_of_series(_: Series) -> tuple[float, float]:
    """Return the inches that a series would like."""
    return 6.0, 3.8


def names_of_series(panel: Series) -> tuple[str, ...]:
    """Return the entries of the legend."""
    return tuple(track.name for track in panel.tracks)


DRAWERS = {Series: Drawer(draw_series, size_of_series, names_of_series)}
