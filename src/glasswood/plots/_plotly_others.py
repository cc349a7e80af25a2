"""Panels other than steps for plotly: bars, waterfalls, squares, networks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from glasswood.plots._look import FAINTEST, LINES, PLOTLY_MARKS, SEQUENTIAL
from glasswood.plots._plotly_paper import Paper, Place, Room, room_for, safe, ticks_of, title_of
from glasswood.plots._spec import Bars, Matrix, Network, Waterfall
from glasswood.text._plain import number

__all__ = ["LONGEST", "draw_bars", "draw_matrix", "draw_network", "draw_waterfall", "room_of_bars", "room_of_matrix"]

LONGEST = 44  # characters of a label of bars


def room_of_bars(panel: Bars | Waterfall) -> Room:
    """Return the room that the labels of bars need."""
    return Room(left=room_for(panel.labels, LONGEST), right=60)


def draw_bars(paper: Paper, place: Place, panel: Bars) -> None:
    """Draw one bar per label, the first on top; several series as marks on one line."""
    n = len(panel.labels)
    y = {"domain": place.up(0, 1), "range": [n - 0.4, -0.6], **ticks_of(panel.labels, LONGEST)}
    x = {"domain": place.across(0, 1), "title": title_of(panel.x_label), "rangemode": "tozero"}
    axes = paper.axes(x, y)
    for k, (name, values) in enumerate(zip(panel.series, panel.values, strict=True)):
        of = f"<br>{safe(name)}: " if name else "<br>"
        pairs = zip(panel.labels, values, strict=True)
        texts = [f"{safe(label, 80)}{of}{number(value)}" for label, value in pairs]
        common: dict[str, Any] = {"x": list(values), "y": list(range(n)), "hovertext": texts, "hoverinfo": "text"}
        if len(panel.series) == 1:
            shown = {"text": [number(value) for value in values], "textposition": "outside", "cliponaxis": False}
            bars = {"marker": {"color": LINES[0]}, "width": 0.7, "orientation": "h"}
            paper.add(axes, type="bar", **common, **shown, **bars)
        else:
            mark = {"color": LINES[k % len(LINES)], "symbol": PLOTLY_MARKS[k % len(PLOTLY_MARKS)], "size": 9}
            paper.add(axes, type="scatter", mode="markers", marker=mark, name=name, **common)


def draw_waterfall(paper: Paper, place: Place, panel: Waterfall) -> None:
    """Draw how parts add up: from the start at the top to the end at the bottom; all others together are thin."""
    labels = (panel.start[0], *panel.labels, panel.end[0])
    n = len(panel.values)
    ends = (panel.start[1] + np.concatenate([[0.0], np.cumsum(panel.values)])).tolist()
    room = 0.04 * (max(ends) - min(ends) or 1.0)
    y = {"domain": place.up(0, 1), "range": [n + 1.6, -0.6], **ticks_of(labels, LONGEST)}
    x = {"range": [min(ends) - room, max(ends) + 2 * room], "title": title_of(panel.x_label)}
    axes = paper.axes({"domain": place.across(0, 1), **x}, y)
    signed = [("+" if value > 0 else "") + number(value) for value in panel.values]
    texts = [f"{safe(label, 120)}<br>{value}" for label, value in zip(panel.labels, signed, strict=True)]
    widths = [0.3 if panel.rest and i == n - 1 else 0.7 for i in range(n)]
    bars = {"base": ends[:-1], "x": list(panel.values), "y": list(range(1, n + 1)), "orientation": "h", "width": widths}
    colours = {"marker": {"color": [LINES[1] if value > 0 else LINES[0] for value in panel.values]}}
    paper.add(axes, type="bar", hovertext=texts, hoverinfo="text", **bars, **colours)
    told = {"x": [max(a, b) for a, b in pairwise(ends)], "y": list(range(1, n + 1)), "text": signed}
    style = {"mode": "text", "textposition": "middle right", "hoverinfo": "skip", "cliponaxis": False}
    paper.add(axes, type="scatter", **told, **style)
    totals: dict[str, Any] = {"x": [panel.start[1], panel.end[1]], "y": [0, n + 1]}
    mark = {"symbol": "diamond", "size": 10, "color": "rgb(128,128,128)"}
    text = [f" <b>{number(value)}</b>" for _, value in (panel.start, panel.end)]
    paper.add(axes, type="scatter", marker=mark, text=text, **totals, **(style | {"mode": "markers+text"}))


# ------------------------------------------------------------------------------------------------ pairs


def room_of_matrix(panel: Matrix) -> Room:
    """Return the room that the labels of a square need."""
    label = room_for(panel.labels)
    return Room(left=label, right=100, bottom=label)


def draw_matrix(paper: Paper, place: Place, panel: Matrix) -> None:
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
    axes = paper.axes(x, y)
    bar = {"title": {"text": safe(panel.z_label, 70), "side": "right"}, "thickness": 12, "outlinewidth": 0}
    bar |= {"x": place.x[1], "xpad": 6, "y": sum(place.y) / 2, "len": place.y[1] - place.y[0]}
    hover = {"hovertext": texts, "hoverinfo": "text", "hoverongaps": False}
    shown = [["" if v is None else number(float(f"{v:.2g}")) for v in row] for row in z]
    if n <= 16:
        hover |= {"text": shown, "texttemplate": "%{text}", "textfont": {"size": 10}}
    paper.add(axes, type="heatmap", z=z, colorscale=SEQUENTIAL, zmin=0, colorbar=bar, xgap=1, ygap=1, **hover)


def draw_network(paper: Paper, place: Place, panel: Network) -> None:
    """Draw nodes on a circle, and links as wide as they are strong."""
    n = len(panel.labels)
    angles = np.pi / 2 - 2 * np.pi * np.arange(n) / max(n, 1)
    x, y = np.cos(angles), np.sin(angles)
    hidden = {"visible": False}
    axes = paper.axes(
        {"domain": place.across(0, 1), "range": [-2.2, 2.2], **hidden},
        {"domain": place.up(0, 1), "range": [-1.4, 1.4], **hidden},
    )
    paper.layout[f"yaxis{axes[1][1:]}"]["scaleanchor"] = axes[0]
    names = [safe(label, 60) for label in panel.labels]
    for a, b, strength in reversed([link for link in panel.links if link[2] >= FAINTEST]):
        t = np.linspace(0, 1, 24)
        middle = 0.35 * np.array([x[a] + x[b], y[a] + y[b]]) / 2  # links bow to the middle, so that none hides another
        px = (1 - t) ** 2 * x[a] + 2 * t * (1 - t) * middle[0] + t**2 * x[b]
        py = (1 - t) ** 2 * y[a] + 2 * t * (1 - t) * middle[1] + t**2 * y[b]
        line = {"color": LINES[0], "width": 0.4 + 9 * strength}
        text = f"{names[a]} x {names[b]}<br>{100 * strength:.0f} % of the strongest"
        hover = {"hovertext": text, "hoverinfo": "text", "opacity": 0.15 + 0.7 * strength}
        paper.add(axes, type="scatter", mode="lines", x=px.tolist(), y=py.tolist(), line=line, **hover)
    mark = {"color": LINES[1], "size": (8 + 20 * np.sqrt(panel.sizes)).tolist(), "opacity": 1, "line": {"width": 1}}
    hover = {"hovertext": names, "hoverinfo": "text"}
    paper.add(axes, type="scatter", mode="markers", x=x.tolist(), y=y.tolist(), marker=mark, **hover)
    for angle, label in zip(angles, panel.labels, strict=True):
        side = "center" if abs(np.cos(angle)) < 0.2 else "left" if np.cos(angle) > 0 else "right"
        where: dict[str, Any] = {"x": 1.15 * float(np.cos(angle)), "y": 1.15 * float(np.sin(angle)), "xanchor": side}
        paper.annotate(safe(label, 24), xref=axes[0], yref=axes[1], **where)
