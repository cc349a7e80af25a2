"""Panels of steps for Matplotlib: curves, missing values next to the axis, and the data below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glasswood.plots._axes import histogram, hollow, in_view, open_bins
from glasswood.plots._spec import Steps
from glasswood.plots._steps import (
    BASE,
    band_of,
    bands_in_legend,
    cells_beside_axis,
    colour_of,
    coloured_bands,
    dodge,
    height_range,
    names_in_legend,
)
from glasswood.plots._style import DASHES, MARKS, PALE_OPACITY, Style
from glasswood.plots.matplotlib._categories import PLAIN, WHISKER, draw_categories, in_lines, set_heights, set_ticks
from glasswood.plots.matplotlib._style import Drawer
from glasswood.text._plain import number

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["DRAWERS"]


def draw_steps(ax: Axes, panel: Steps, style: Style) -> list[Artist]:
    """Draw a panel of steps, and return the marks for a legend."""
    heights = style.heights or height_range(panel)
    draw = _draw_numbers if panel.x.edges else draw_categories
    drawn: list[Artist] = [*draw(ax, panel, style, heights)]
    for _, colour, shade in bands_in_legend(panel):
        drawn += ax.fill([], [], color=colour or style.dim, alpha=style.opacity(shade + 0.1), linewidth=0)
    if panel.faint:
        drawn += ax.plot([], [], color=style.dim, linewidth=0.8)
    return drawn


# ------------------------------------------------------------------------------------------------ numbers


def _draw_numbers(ax: Axes, panel: Steps, style: Style, heights: tuple[float, float]) -> list[Line2D]:
    set_heights(ax, "y", heights, room=bool(panel.support))
    ax.set_ylabel(in_lines(style, panel.y_label, 38 if style.alone else 30), **PLAIN)
    ax.set_xlabel(style.readable(panel.x.label), **PLAIN)
    if panel.mean is not None:
        ax.axhline(panel.mean, color=style.dim, linewidth=0.7, zorder=1)
        if style.alone:
            options: dict[str, Any] = {"fontsize": "x-small", "color": style.dim, "va": "center", "ha": "left"}
            ax.text(1.01, panel.mean, f"average\n{number(panel.mean)}", transform=ax.get_yaxis_transform(), **options)
    here, edges = in_view(panel.x)
    low, high = panel.x.view
    _shade(ax, panel, edges, here, style)
    for band, colour, shade in coloured_bands(panel):
        lower, upper = (np.repeat(side[here], 2) for side in (band.low, band.high))
        ax.fill_between(_corners(edges), lower, upper, color=colour, alpha=style.opacity(shade), linewidth=0)
    for row in panel.faint:
        ax.plot(_corners(edges), np.repeat(row[here], 2), color=style.dim, alpha=0.6, linewidth=0.6)
    empty = hollow(panel.x, panel.support)[here] if panel.support else np.zeros(edges.size - 1, dtype=bool)
    drawn = [_draw_line(ax, panel, k, here, edges, empty) for k in range(len(panel.lines))]
    set_ticks(ax.xaxis, panel.x)
    outer = cells_beside_axis(panel)
    width = high - low
    for i, (field, label) in enumerate(outer):
        at = high + width * (0.11 + 0.2 * i)
        _draw_beside(ax, panel, style, (at, 0.035 * width), field)
        ax.text(at, -0.025, label, transform=ax.get_xaxis_transform(), ha="center", va="top", fontsize="small", **PLAIN)
    if outer:
        ax.axvline(high + 0.01 * width, color=style.dim, linewidth=0.8, linestyle=(0, (1, 2)))
    ax.set_xlim(low, high + width * 0.2 * len(outer))
    if outer:  # ticks belong to the axis only
        ticks = [tick for tick in ax.get_xticks() if low <= tick <= high]
        ax.set_xticks([tick for tick in ticks if len(ticks) < 3 or tick <= high - 0.04 * width])
    return drawn


def _corners(edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return where the corners of steps are; patches of matplotlib's `stairs` take a second for thousands of steps."""
    return np.repeat(edges, 2)[1:-1]


def _draw_line(
    ax: Axes, panel: Steps, k: int, here: slice, edges: NDArray[np.float64], empty: NDArray[np.bool_]
) -> Line2D:
    """Draw one curve: thin everywhere, and thick where there are rows."""
    options: dict[str, Any] = {"color": colour_of(panel, k), "linestyle": DASHES[k % len(DASHES)]}
    values = np.asarray(panel.lines[k].heights[here], dtype=np.float64)
    if empty.any():
        dotted: dict[str, Any] = {"color": options["color"], "alpha": 0.55, "linewidth": 0.9, "linestyle": ":"}
        ax.plot(_corners(edges), np.repeat(values, 2), **dotted)
        values = np.where(empty, np.nan, values)
    if panel.lines[k].pale:
        ax.plot(_corners(edges), np.repeat(values, 2), linewidth=1.7, alpha=PALE_OPACITY, **options)
        values = np.where(panel.lines[k].pale[here], np.nan, values)
    return ax.plot(_corners(edges), np.repeat(values, 2), linewidth=1.7, solid_joinstyle="miter", **options)[0]


def _shade(ax: Axes, panel: Steps, edges: NDArray[np.float64], here: slice, style: Style) -> None:
    """Draw the distribution of rows at the bottom, and shade cells without any."""
    if not panel.support:
        return
    base = ax.get_xaxis_transform()
    empty = hollow(panel.x, panel.support)[here]
    if empty.any():
        x = np.repeat(edges, 2)[1:-1]
        where = np.repeat(empty, 2)
        ax.fill_between(x, 0, 1, where=where, transform=base, color=style.ink, alpha=0.06, linewidth=0, zorder=0)
    bins, shares = histogram(panel.x, panel.support)
    grouped = [(k, line) for k, line in enumerate(panel.lines) if line.support]
    if not grouped:
        unknown = open_bins(panel.x, bins)  # pale: the extent of these cells is unknown
        for shade, hidden in ((0.55, unknown), (0.2, ~unknown)):
            heights = np.where(hidden, 0.0, BASE * shares)
            ax.stairs(heights, bins, fill=True, color=style.dim, alpha=shade, transform=base, linewidth=0)
        return
    for k, line in grouped:
        options: dict[str, Any] = {"color": colour_of(panel, k), "linestyle": DASHES[k % len(DASHES)]}
        dense = histogram(panel.x, line.support)[1]
        ax.stairs(BASE * dense, bins, baseline=None, transform=base, linewidth=1.0, **options)


def _draw_beside(ax: Axes, panel: Steps, style: Style, place: tuple[float, float], field: str) -> None:
    """Draw the heights of what is missing (or unseen) as marks, side by side, and the share of such rows below."""
    at, room = place
    share = panel.missing_share if field == "missing" else panel.unseen_share
    if share:
        height = BASE * max(0.04, share)  # of all rows, since other bars are as high as rows are dense
        base = ax.get_xaxis_transform()
        ax.fill_between([at - room, at + room], 0, height, transform=base, color=style.dim, alpha=0.55, linewidth=0)
    marked = [(k, line) for k, line in enumerate(panel.lines) if getattr(line, field) is not None]
    for i, (k, line) in enumerate(marked):
        x = at + dodge(i, len(marked)) * 2 * room
        ends = getattr(band_of(panel, k), field, None)
        if ends is not None:
            ax.plot([x, x], ends, color=colour_of(panel, k), **WHISKER)
        options: dict[str, Any] = {
            "color": colour_of(panel, k),
            "alpha": PALE_OPACITY if field in line.pale_beside else None,
        }
        ax.plot([x], [getattr(line, field)], marker=MARKS[k % len(MARKS)], markersize=5.5, **options)


def size_of_steps(panel: Steps) -> tuple[float, float]:
    """Return the inches that a panel of steps would like."""
    return 5.2, max(3.6, 1.2 + 0.22 * len(panel.x.labels))


DRAWERS = {Steps: Drawer(draw_steps, size_of_steps, names_in_legend)}
