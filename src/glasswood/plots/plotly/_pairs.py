"""Matrices and networks of pairs with plotly."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasswood.plots._spec import Matrix, Network
from glasswood.plots._style import FAINTEST, LINES, SEQUENTIAL
from glasswood.plots.plotly._builder import Drawer, FigureBuilder, Margins, Place, room_for, safe, ticks_of
from glasswood.text._plain import number

__all__ = ["DRAWERS"]


def room_of_matrix(panel: Matrix) -> Margins:
    """Return the room that the labels of a square need."""
    label = room_for(panel.labels)
    return Margins(left=label, right=100, bottom=label)


def draw_matrix(builder: FigureBuilder, place: Place, panel: Matrix) -> None:
    """Draw the half of a square below the diagonal, with its numbers."""
    n = len(panel.labels)
    values = np.array(panel.values, dtype=np.float64).reshape(n, n)
    values[np.triu_indices(n)] = np.nan
    z = [[float(v) if np.isfinite(v) else None for v in row] for row in values[1:, :-1]]
    names = [safe(label, 60) for label in panel.labels]
    texts = [
        [f"{names[j]} x {names[i + 1]}<br>{number(v)}" if v is not None else "" for j, v in enumerate(row)]
        for i, row in enumerate(z)
    ]
    x = {"domain": place.across(0, 1), "tickangle": -90, **ticks_of(panel.labels[:-1])}
    y = {"domain": place.up(0, 1), "autorange": "reversed", **ticks_of(panel.labels[1:])}
    axes = builder.axes(x, y)
    bar = {"title": {"text": safe(panel.z_label, 70), "side": "right"}, "thickness": 12, "outlinewidth": 0}
    bar |= {"x": place.x[1], "xpad": 6, "y": sum(place.y) / 2, "len": place.y[1] - place.y[0]}
    hover = {"hovertext": texts, "hoverinfo": "text", "hoverongaps": False}
    shown = [["" if v is None else number(float(f"{v:.2g}")) for v in row] for row in z]
    if n <= 16:
        hover |= {"text": shown, "texttemplate": "%{text}", "textfont": {"size": 10}}
    builder.add(axes, type="heatmap", z=z, colorscale=SEQUENTIAL, zmin=0, colorbar=bar, xgap=1, ygap=1, **hover)


def draw_network(builder: FigureBuilder, place: Place, panel: Network) -> None:
    """Draw nodes on a circle, and links with a width proportional to their strength."""
    n = len(panel.labels)
    angles = np.pi / 2 - 2 * np.pi * np.arange(n) / max(n, 1)
    x, y = np.cos(angles), np.sin(angles)
    hidden = {"visible": False}
    axes = builder.axes(
        {"domain": place.across(0, 1), "range": [-2.2, 2.2], **hidden},
        {"domain": place.up(0, 1), "range": [-1.4, 1.4], **hidden},
    )
    builder.layout[f"yaxis{axes[1][1:]}"]["scaleanchor"] = axes[0]
    names = [safe(label, 60) for label in panel.labels]
    for a, b, strength in reversed([link for link in panel.links if link[2] >= FAINTEST]):
        t = np.linspace(0, 1, 24)
        middle = 0.35 * np.array([x[a] + x[b], y[a] + y[b]]) / 2  # links bow to the middle, so that none hides another
        px = (1 - t) ** 2 * x[a] + 2 * t * (1 - t) * middle[0] + t**2 * x[b]
        py = (1 - t) ** 2 * y[a] + 2 * t * (1 - t) * middle[1] + t**2 * y[b]
        line = {"color": LINES[0], "width": 0.4 + 9 * strength}
        text = f"{names[a]} x {names[b]}<br>{100 * strength:.0f} % of the strongest"
        hover = {"hovertext": text, "hoverinfo": "text", "opacity": 0.15 + 0.7 * strength}
        builder.add(axes, type="scatter", mode="lines", x=px.tolist(), y=py.tolist(), line=line, **hover)
    mark = {"color": LINES[1], "size": (8 + 20 * np.sqrt(panel.sizes)).tolist(), "opacity": 1, "line": {"width": 1}}
    hover = {"hovertext": names, "hoverinfo": "text"}
    builder.add(axes, type="scatter", mode="markers", x=x.tolist(), y=y.tolist(), marker=mark, **hover)
    for angle, label in zip(angles, panel.labels, strict=True):
        side = "center" if abs(np.cos(angle)) < 0.2 else "left" if np.cos(angle) > 0 else "right"
        where: dict[str, Any] = {"x": 1.15 * float(np.cos(angle)), "y": 1.15 * float(np.sin(angle)), "xanchor": side}
        builder.annotate(safe(label, 24), xref=axes[0], yref=axes[1], **where)


DRAWERS = {
    Matrix: Drawer(draw_matrix, room_of_matrix, lambda *_: 420.0),
    Network: Drawer(draw_network, lambda _: Margins(10, 10, 10, 10), lambda *_: 420.0),
}
