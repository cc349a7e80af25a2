"""Surfaces with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glasswood.plots._axes import histogram, hollow_pairs, in_view
from glasswood.plots._spec import Cells, Scale
from glasswood.plots._style import DIVERGING, SEQUENTIAL, Style
from glasswood.plots.matplotlib._categories import PLAIN, in_lines, set_ticks
from glasswood.plots.matplotlib._style import Drawer
from glasswood.text._plain import number, several

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DRAWERS"]

STRIP = 0.1  # the width of the strips of data next to a surface
WIDE = 24  # pixels of a cell that holds its number


def draw_cells(ax: Axes, panel: Cells, style: Style) -> None:
    """Draw a surface as exact cells, pale where there are no rows, with the distributions of both features."""
    (columns, x), (rows, y) = (_edges(scale) for scale in (panel.x, panel.y))
    heights = np.asarray(panel.heights)[rows, columns]
    low, high = _ends(heights, diverging=panel.diverging)
    colours = DIVERGING if panel.diverging else SEQUENTIAL
    mesh = ax.pcolormesh(
        x, y, heights, cmap=colours, vmin=low, vmax=high, shading="flat", rasterized=heights.size > 5000
    )
    if panel.density:
        empty = hollow_pairs(panel.x, panel.y, panel.density)[rows, columns]
        _hatch(ax, (x, y), empty, style.dim if panel.diverging else style.paper)
    if panel.with_numbers and ax.get_window_extent().width >= WIDE * panel.x.n_cells:
        _write_numbers(ax, heights, mesh)
    for axis, scale in ((ax.xaxis, panel.x), (ax.yaxis, panel.y)):
        if scale.edges:
            set_ticks(axis, scale)
        if scale.labels:
            labels = [style.readable(text) for text in several(scale.labels, 24)]
            turned = axis is ax.xaxis and (sum(map(len, labels)) > 34 or len(labels) > 12)
            rotation: dict[str, Any] = {"rotation": 90} if turned else {}
            axis.set_ticks(range(len(labels)), labels, **rotation, **PLAIN)
    ax.set_xlabel(style.readable(panel.x.label), **PLAIN)
    ax.set_ylabel(style.readable(panel.y.label), **PLAIN)
    _draw_strips(ax, panel, style)
    bar = ax.figure.colorbar(mesh, ax=ax, pad=0.02, fraction=0.06, aspect=25)
    bar.set_label(in_lines(style, panel.z_label, 40), **PLAIN)
    bar.outline.set_visible(False)


def _hatch(
    ax: Axes, edges: tuple[NDArray[np.float64], NDArray[np.float64]], empty: NDArray[np.bool_], ink: str
) -> None:
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
    options = {"facecolor": "none", "edgecolor": ink, "hatch": "/////", "linewidth": 0}
    ax.add_artist(PathPatch(Path(vertices, codes), rasterized=True, **options))  # the limits are known already


def _write_numbers(ax: Axes, heights: NDArray[np.float64], mesh: Any) -> None:
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
        max_ = max(abs(low), abs(high)) or 1.0
        return -max_, max_
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _draw_strips(ax: Axes, panel: Cells, style: Style) -> None:
    """Draw the distribution of each feature along its axis."""
    if panel.x_support:
        top = ax.inset_axes((0, 1.015, 1, STRIP), sharex=ax)
        ends, shares = _bars(panel.x, panel.x_support)
        top.stairs(shares, ends, fill=True, color=style.dim, alpha=0.7)
        top.set_ylim(0, max(float(shares.max()), 1e-300))
        top.axis("off")
    if panel.y_support:
        side = ax.inset_axes((1.015, 0, STRIP * 0.7, 1), sharey=ax)
        ends, shares = _bars(panel.y, panel.y_support)
        side.stairs(shares, ends, fill=True, orientation="horizontal", color=style.dim, alpha=0.7)
        side.set_xlim(0, max(float(shares.max()), 1e-300))
        side.axis("off")


def _bars(scale: Scale, support: tuple[float, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if scale.edges:
        return histogram(scale, support)
    return np.arange(scale.n_cells + 1, dtype=np.float64) - 0.5, np.asarray(support)


def size_of_cells(panel: Cells) -> tuple[float, float]:
    """Return the inches that a surface would like."""
    return max(5.8, 3.4 + 0.32 * len(panel.x.labels)), max(4.6, 2.2 + 0.24 * len(panel.y.labels))


DRAWERS = {Cells: Drawer(draw_cells, size_of_cells, framed=True)}
