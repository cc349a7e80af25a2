"""Matrices and networks of pairs with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from glasswood.plots._spec import Matrix, Network
from glasswood.plots._style import FAINTEST, LINES, SEQUENTIAL, Style
from glasswood.plots.matplotlib._categories import PLAIN, in_lines
from glasswood.plots.matplotlib._style import Drawer
from glasswood.text._plain import number, several

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DRAWERS"]


def draw_matrix(ax: Axes, panel: Matrix, style: Style) -> None:
    """Draw the half of a square below the diagonal, with its numbers if there is room."""
    values = np.array(panel.values, dtype=np.float64).reshape(len(panel.labels), len(panel.labels))
    values[np.triu_indices(len(values))] = np.nan
    shown = values[1:, :-1]
    max_ = float(np.nanmax(shown)) if np.isfinite(shown).any() else 1.0
    labels = [style.readable(text) for text in several(panel.labels, 20)]
    mesh = ax.pcolormesh(shown, cmap=SEQUENTIAL, vmin=0, vmax=max_ or 1.0, edgecolors=style.paper, linewidth=1)
    n = len(labels) - 1
    for i, j in zip(*np.nonzero(np.isfinite(shown)), strict=True):
        if n <= 12 and shown[i, j] >= 0.05 * max_:
            colour = "black" if shown[i, j] > 0.6 * max_ else "white"
            text = number(float(f"{shown[i, j]:.2g}")).removeprefix("0")
            ax.text(j + 0.5, i + 0.5, text, ha="center", va="center", fontsize="x-small", color=colour)
    ax.set_xticks(np.arange(n) + 0.5, labels[:-1], rotation=90, **PLAIN)
    ax.set_yticks(np.arange(n) + 0.5, labels[1:], **PLAIN)
    ax.set_ylim(max(n, 1), 0)
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    bar = ax.figure.colorbar(mesh, ax=ax, pad=0.02, fraction=0.05, aspect=25)
    bar.set_label(in_lines(style, panel.z_label, 40), **PLAIN)
    bar.outline.set_visible(False)


def draw_network(ax: Axes, panel: Network, style: Style) -> None:
    """Draw nodes on a circle, and links with a width proportional to their strength."""
    n = len(panel.labels)
    angles = np.pi / 2 - 2 * np.pi * np.arange(n) / max(n, 1)
    x, y = np.cos(angles), np.sin(angles)
    for a, b, strength in reversed([link for link in panel.links if link[2] >= FAINTEST]):
        t = np.linspace(0, 1, 30)
        bend = 0.35  # links bow to the middle, so that those of neighbours do not hide each other
        middle = bend * np.array([x[a] + x[b], y[a] + y[b]]) / 2
        px = (1 - t) ** 2 * x[a] + 2 * t * (1 - t) * middle[0] + t**2 * x[b]
        py = (1 - t) ** 2 * y[a] + 2 * t * (1 - t) * middle[1] + t**2 * y[b]
        options: dict[str, Any] = {"color": LINES[0], "solid_capstyle": "butt"}
        ax.plot(px, py, linewidth=0.3 + 7 * strength, alpha=0.15 + 0.7 * strength, **options)
    ax.scatter(
        x, y, s=40 + 360 * np.asarray(panel.sizes), color=LINES[1], edgecolor=style.paper, linewidth=1.2, zorder=3
    )
    for angle, text in zip(angles, several(panel.labels, 22), strict=True):
        side = "center" if abs(np.cos(angle)) < 0.2 else "left" if np.cos(angle) > 0 else "right"
        up = "bottom" if np.sin(angle) > 0.8 else "top" if np.sin(angle) < -0.8 else "center"
        place = 1.16 * np.cos(angle), 1.16 * np.sin(angle)
        ax.text(*place, style.readable(text), ha=side, va=up, fontsize="small", color=style.ink, **PLAIN)
    ax.set_xlim(-2.1, 2.1)
    ax.set_ylim(-1.4, 1.4)
    ax.set_aspect("equal")
    ax.axis("off")


DRAWERS = {
    Matrix: Drawer(draw_matrix, lambda _: (6.4, 5.4)),
    Network: Drawer(draw_network, lambda _: (6.6, 4.8)),
}
