"""Panels of dots on axes of matplotlib: a dot per row, coloured by another number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from glasswood.plots._spec import Dots
from glasswood.plots._style import LINES, SEQUENTIAL, Style
from glasswood.plots.matplotlib._categories import PLAIN, in_lines
from glasswood.plots.matplotlib._style import Drawer
from glasswood.text._plain import several

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection

__all__ = ["DRAWERS"]


def draw_dots(ax: Axes, panel: Dots, style: Style) -> None:
    """Draw a dot per row, those without a colour in grey and below the others."""
    x, y = np.asarray(panel.x), np.asarray(panel.y)
    size = 14 if x.size < 1000 else 7
    if panel.zero:
        ax.axvline(0, color=style.dim, linewidth=0.8, zorder=0)
    if not panel.colours:
        ax.scatter(x, y, s=size, color=LINES[0], alpha=0.6, linewidth=0, rasterized=x.size > 5000)
    else:
        colours = np.asarray(panel.colours)
        known = np.isfinite(colours)
        options: dict[str, Any] = {"s": size, "linewidth": 0, "alpha": 0.8, "rasterized": x.size > 5000}
        ax.scatter(x[~known], y[~known], color=style.dim, **options)
        dots = ax.scatter(x[known], y[known], c=colours[known], cmap=SEQUENTIAL, **options)
        if known.any():
            _add_bar(ax, panel, dots, style)
    for axis, labels in ((ax.xaxis, panel.x_labels), (ax.yaxis, panel.y_labels)):
        if labels:
            texts = [style.readable(text) for text in several(labels, 24)]
            turned = axis is ax.xaxis and sum(map(len, texts)) > 40
            rotation: dict[str, Any] = {"rotation": 90} if turned else {}
            axis.set_ticks(range(len(texts)), texts, **rotation, **PLAIN)
    if panel.y_labels:
        ax.set_ylim(len(panel.y_labels) - 0.4, -0.6)
    ax.set_xlabel(style.readable(panel.x_label), **PLAIN)
    ax.set_ylabel(in_lines(style, panel.y_label, 40), **PLAIN)


def _add_bar(ax: Axes, panel: Dots, dots: PathCollection, style: Style) -> None:
    """Add the bar of colours."""
    bar = ax.figure.colorbar(dots, ax=ax, pad=0.02, fraction=0.05, aspect=30)
    bar.set_label(style.readable(panel.colour_label), **PLAIN)
    bar.outline.set_visible(False)
    if bar.solids is not None:
        bar.solids.set_alpha(1)
    if panel.colour_ends:
        low, high = dots.get_clim()
        bar.set_ticks([low, high], labels=[style.readable(text) for text in panel.colour_ends])
        bar.ax.tick_params(length=0)


def size_of_dots(panel: Dots) -> tuple[float, float]:
    """Return the inches that dots would like."""
    return 6.4, max(4.2, 1.2 + 0.36 * len(panel.y_labels))


DRAWERS = {Dots: Drawer(draw_dots, size_of_dots)}
