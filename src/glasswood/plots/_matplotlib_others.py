"""Panels other than steps on axes of matplotlib: surfaces, bars, squares, networks, waterfalls."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.plots._axes import histogram, hollow_pairs, in_view
from glasswood.plots._look import DIVERGING, FAINTEST, LINES, MARKS, SEQUENTIAL, Look
from glasswood.plots._matplotlib_categories import PLAIN, in_lines, set_ticks
from glasswood.plots._spec import Bars, Cells, Matrix, Network, Scale, Waterfall
from glasswood.text._plain import number, several

__all__ = ["draw_bars", "draw_cells", "draw_matrix", "draw_network", "draw_waterfall"]

STRIP = 0.1  # the width of the data's strips beside a surface
WIDE = 24  # pixels of a cell that holds its number


# ------------------------------------------------------------------------------------------------ surfaces


def draw_cells(ax: Any, panel: Cells, look: Look) -> None:
    """Draw a surface as exact cells, pale where there are no rows, and the distributions of both features beside it."""
    (columns, x), (rows, y) = (_edges(scale) for scale in (panel.x, panel.y))
    heights = np.asarray(panel.heights)[rows, columns]
    low, high = _ends(heights, diverging=panel.diverging)
    colours = DIVERGING if panel.diverging else SEQUENTIAL
    mesh = ax.pcolormesh(
        x, y, heights, cmap=colours, vmin=low, vmax=high, shading="flat", rasterized=heights.size > 5000
    )
    if panel.density:
        empty = hollow_pairs(panel.x, panel.y, panel.density)[rows, columns]
        _hatch(ax, (x, y), empty, look.dim if panel.diverging else look.paper)
    if panel.with_numbers and ax.get_window_extent().width >= WIDE * panel.x.n_cells:
        _write_numbers(ax, heights, mesh)
    for axis, scale in ((ax.xaxis, panel.x), (ax.yaxis, panel.y)):
        if scale.edges:
            set_ticks(axis, scale)
        if scale.labels:
            labels = [look.readable(text) for text in several(scale.labels, 24)]
            turned = axis is ax.xaxis and (sum(map(len, labels)) > 34 or len(labels) > 12)
            axis.set_ticks(range(len(labels)), labels, **({"rotation": 90} if turned else {}), **PLAIN)
    ax.set_xlabel(look.readable(panel.x.label), **PLAIN)
    ax.set_ylabel(look.readable(panel.y.label), **PLAIN)
    _draw_strips(ax, panel, look)
    bar = ax.figure.colorbar(mesh, ax=ax, pad=0.02, fraction=0.06, aspect=25)
    bar.set_label(in_lines(look, panel.z_label, 40), **PLAIN)
    bar.outline.set_visible(False)


def _hatch(ax: Any, edges: tuple[NDArray[np.float64], NDArray[np.float64]], empty: NDArray[np.bool_], ink: str) -> None:
    """Hatch cells, as one area: hatching them one by one takes seconds if there are many."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    x, y = edges
    turns = np.diff(np.pad(empty.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    (line, first), (_, end) = np.nonzero(turns == 1), np.nonzero(turns == -1)
    if not line.size:
        return
    corners = [(x[first], y[line]), (x[end], y[line]), (x[end], y[line + 1]), (x[first], y[line + 1])]
    corners.append(corners[0])
    vertices = np.stack([np.stack(corner, axis=1) for corner in corners], axis=1).reshape(-1, 2)
    codes = np.tile([Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY], line.size)
    style = {"facecolor": "none", "edgecolor": ink, "hatch": "/////", "linewidth": 0}
    ax.add_artist(PathPatch(Path(vertices, codes), rasterized=True, **style))  # the limits are known already


def _write_numbers(ax: Any, heights: NDArray[np.float64], mesh: Any) -> None:
    """Write the height of each cell into it, light on dark colours and dark on light ones."""
    for (j, i), value in np.ndenumerate(heights):
        if np.isfinite(value):
            red, green, blue, _ = mesh.cmap(mesh.norm(value))
            colour = "black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "white"
            text = number(float(f"{value:.2g}"))
            ax.text(i, j, text, ha="center", va="center", fontsize="xx-small", color=colour)


def _edges(scale: Scale) -> tuple[slice, NDArray[np.float64]]:
    """Return which cells are drawn, and where; categories are one apart."""
    if scale.edges:
        return in_view(scale)
    return slice(0, scale.n_cells), np.arange(scale.n_cells + 1, dtype=np.float64) - 0.5


def _ends(heights: NDArray[np.float64], *, diverging: bool) -> tuple[float, float]:
    """Return the heights of the first and the last colour."""
    finite = heights[np.isfinite(heights)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if diverging:
        most = max(abs(low), abs(high)) or 1.0
        return -most, most
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _draw_strips(ax: Any, panel: Cells, look: Look) -> None:
    """Draw the distribution of each feature along its axis."""
    if panel.x_support:
        top = ax.inset_axes([0, 1.015, 1, STRIP], sharex=ax)
        ends, shares = _bars(panel.x, panel.x_support)
        top.stairs(shares, ends, fill=True, color=look.dim, alpha=0.7)
        top.set_ylim(0, max(float(shares.max()), 1e-300))
        top.axis("off")
    if panel.y_support:
        side = ax.inset_axes([1.015, 0, STRIP * 0.7, 1], sharey=ax)
        ends, shares = _bars(panel.y, panel.y_support)
        side.stairs(shares, ends, fill=True, orientation="horizontal", color=look.dim, alpha=0.7)
        side.set_xlim(0, max(float(shares.max()), 1e-300))
        side.axis("off")


def _bars(scale: Scale, support: tuple[float, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if scale.edges:
        return histogram(scale, support)
    return np.arange(scale.n_cells + 1, dtype=np.float64) - 0.5, np.asarray(support)


# ------------------------------------------------------------------------------------------------ bars


def draw_bars(ax: Any, panel: Bars, look: Look) -> list[Any]:
    """Draw one bar per label, the first on top; several series as dots on one line."""
    places = np.arange(len(panel.labels))
    drawn = []
    if len(panel.series) == 1:
        ax.barh(places, panel.values[0], 0.7, color=LINES[0])
        for at, value in zip(places, panel.values[0], strict=True):
            ax.text(value, at, f" {number(value)}", va="center", ha="left", fontsize="small", color=look.ink, **PLAIN)
    else:
        values = np.asarray(panel.values)
        ax.hlines(places, 0, values.max(axis=0, initial=0.0), color=look.dim, linewidth=0.8, alpha=0.6)
        for k, line in enumerate(values):
            style = {"color": LINES[k % len(LINES)], "marker": MARKS[k % len(MARKS)], "linestyle": "none"}
            drawn += ax.plot(line, places, markersize=6.5, alpha=0.9, **style)
    ax.set_yticks(places, [look.readable(text) for text in several(panel.labels, 32)], **PLAIN)
    ax.set_ylim(len(panel.labels) - 0.4, -0.6)
    ax.set_xlim(0, 1.14 * max((max(line, default=0.0) for line in panel.values), default=0.0) or 1.0)
    ax.set_xlabel(look.readable(panel.x_label), **PLAIN)
    return drawn


def draw_waterfall(ax: Any, panel: Waterfall, look: Look) -> None:
    """Draw how parts add up: from the start at the top to the end at the bottom; all others together are thin."""
    ends = panel.start[1] + np.concatenate([[0.0], np.cumsum(panel.values)])
    n = len(panel.values)
    low, high = float(ends.min()), float(ends.max())
    room = 0.02 * ((high - low) or 1.0)
    for i, value in enumerate(panel.values):
        colour = LINES[1] if value > 0 else LINES[0]
        ax.barh(i + 1, value, 0.3 if panel.rest and i == n - 1 else 0.7, ends[i], color=colour)
        ax.vlines(ends[i], i + 0.35 - (i > 0) * 0.7, i + 1.35, color=look.dim, linewidth=0.8)
        at, side = max(ends[i], ends[i + 1]) + room, "left"
        sign = "+" if value > 0 else ""
        ax.text(at, i + 1, sign + number(value), va="center", ha=side, fontsize="small", color=look.ink, **PLAIN)
    for place, (_, value) in ((0, panel.start), (n + 1, panel.end)):
        ax.plot([value], [place], marker="D", color=look.ink, markersize=6)
        ax.text(value + room, place, f" {number(value)}", va="center", ha="left", fontweight="bold", **PLAIN)
    ax.vlines(ends[-1], n + 0.65, n + 1, color=look.dim, linewidth=0.8)
    labels = [panel.start[0], *panel.labels, panel.end[0]]
    ax.set_yticks(range(n + 2), [look.readable(text) for text in several(labels, 40)], **PLAIN)
    ax.set_ylim(n + 1.6, -0.6)
    ax.set_xlim(low - 4 * room, high + 10 * room)
    ax.set_xlabel(look.readable(panel.x_label), **PLAIN)


# ------------------------------------------------------------------------------------------------ pairs


def draw_matrix(ax: Any, panel: Matrix, look: Look) -> None:
    """Draw the half of a square below the diagonal, with its numbers if there is room."""
    values = np.array(panel.values, dtype=np.float64).reshape(len(panel.labels), len(panel.labels))
    values[np.triu_indices(len(values))] = np.nan
    shown = values[1:, :-1]
    most = float(np.nanmax(shown)) if np.isfinite(shown).any() else 1.0
    labels = [look.readable(text) for text in several(panel.labels, 20)]
    mesh = ax.pcolormesh(shown, cmap=SEQUENTIAL, vmin=0, vmax=most or 1.0, edgecolors=look.paper, linewidth=1)
    n = len(labels) - 1
    for i, j in zip(*np.nonzero(np.isfinite(shown)), strict=True):
        if n <= 12 and shown[i, j] >= 0.05 * most:
            colour = "black" if shown[i, j] > 0.6 * most else "white"
            text = number(float(f"{shown[i, j]:.2g}")).removeprefix("0")
            ax.text(j + 0.5, i + 0.5, text, ha="center", va="center", fontsize="x-small", color=colour)
    ax.set_xticks(np.arange(n) + 0.5, labels[:-1], rotation=90, **PLAIN)
    ax.set_yticks(np.arange(n) + 0.5, labels[1:], **PLAIN)
    ax.set_ylim(max(n, 1), 0)
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    bar = ax.figure.colorbar(mesh, ax=ax, pad=0.02, fraction=0.05, aspect=25)
    bar.set_label(in_lines(look, panel.z_label, 40), **PLAIN)
    bar.outline.set_visible(False)


def draw_network(ax: Any, panel: Network, look: Look) -> None:
    """Draw nodes on a circle, and links as wide as they are strong."""
    n = len(panel.labels)
    angles = np.pi / 2 - 2 * np.pi * np.arange(n) / max(n, 1)
    x, y = np.cos(angles), np.sin(angles)
    for a, b, strength in reversed([link for link in panel.links if link[2] >= FAINTEST]):
        t = np.linspace(0, 1, 30)
        bend = 0.35  # links bow to the middle, so that those of neighbours do not hide each other
        middle = bend * np.array([x[a] + x[b], y[a] + y[b]]) / 2
        px = (1 - t) ** 2 * x[a] + 2 * t * (1 - t) * middle[0] + t**2 * x[b]
        py = (1 - t) ** 2 * y[a] + 2 * t * (1 - t) * middle[1] + t**2 * y[b]
        style = {"color": LINES[0], "solid_capstyle": "butt"}
        ax.plot(px, py, linewidth=0.3 + 7 * strength, alpha=0.15 + 0.7 * strength, **style)
    ax.scatter(
        x, y, s=40 + 360 * np.asarray(panel.sizes), color=LINES[1], edgecolor=look.paper, linewidth=1.2, zorder=3
    )
    for angle, text in zip(angles, several(panel.labels, 22), strict=True):
        side = "center" if abs(np.cos(angle)) < 0.2 else "left" if np.cos(angle) > 0 else "right"
        up = "bottom" if np.sin(angle) > 0.8 else "top" if np.sin(angle) < -0.8 else "center"
        place = 1.16 * np.cos(angle), 1.16 * np.sin(angle)
        ax.text(*place, look.readable(text), ha=side, va=up, fontsize="small", color=look.ink, **PLAIN)
    ax.set_xlim(-2.1, 2.1)
    ax.set_ylim(-1.4, 1.4)
    ax.set_aspect("equal")
    ax.axis("off")
