"""Bars and waterfalls with plotly."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from glasswood.plots._spec import Bars, Waterfall
from glasswood.plots._style import LINES, PLOTLY_MARKS
from glasswood.plots.plotly._builder import Drawer, FigureBuilder, Margins, Place, room_for, safe, ticks_of, title_of
from glasswood.text._plain import number

__all__ = ["DRAWERS"]

LONGEST = 44  # characters of a label of bars


def room_of_bars(panel: Bars | Waterfall) -> Margins:
    """Return the room that the labels of bars need."""
    return Margins(left=room_for(panel.labels, LONGEST), right=60)


def draw_bars(builder: FigureBuilder, place: Place, panel: Bars) -> None:
    """Draw one bar per label, the first on top; several series as marks on one line."""
    n = len(panel.labels)
    y = {"domain": place.up(0, 1), "range": [n - 0.4, -0.6], **ticks_of(panel.labels, LONGEST)}
    x = {"domain": place.across(0, 1), "title": title_of(panel.x_label), "rangemode": "tozero"}
    axes = builder.axes(x, y)
    for k, (name, values) in enumerate(zip(panel.series, panel.values, strict=True)):
        of = f"<br>{safe(name)}: " if name else "<br>"
        pairs = zip(panel.labels, values, strict=True)
        texts = [f"{safe(label, 80)}{of}{number(value)}" for label, value in pairs]
        common: dict[str, Any] = {"x": list(values), "y": list(range(n)), "hovertext": texts, "hoverinfo": "text"}
        if len(panel.series) == 1:
            shown = {"text": [number(value) for value in values], "textposition": "outside", "cliponaxis": False}
            bars: dict[str, Any] = {"marker": {"color": LINES[0]}, "width": 0.7, "orientation": "h"}
            if panel.reach:
                bars["error_x"] = {"array": list(panel.reach), "thickness": 1.2, "width": 0}
            builder.add(axes, type="bar", **common, **shown, **bars)
        else:
            mark = {"color": LINES[k % len(LINES)], "symbol": PLOTLY_MARKS[k % len(PLOTLY_MARKS)], "size": 9}
            builder.add(axes, type="scatter", mode="markers", marker=mark, name=name, **common)


def draw_waterfall(builder: FigureBuilder, place: Place, panel: Waterfall) -> None:
    """Draw a waterfall from the start at the top to the end at the bottom; the combined part is a thin bar."""
    labels = (panel.start[0], *panel.labels, panel.end[0])
    n = len(panel.values)
    ends = (panel.start[1] + np.concatenate([[0.0], np.cumsum(panel.values)])).tolist()
    room = 0.04 * (max(ends) - min(ends) or 1.0)
    y = {"domain": place.up(0, 1), "range": [n + 1.6, -0.6], **ticks_of(labels, LONGEST)}
    x = {"range": [min(ends) - room, max(ends) + 2 * room], "title": title_of(panel.x_label)}
    axes = builder.axes({"domain": place.across(0, 1), **x}, y)
    signed = [("+" if value > 0 else "") + number(value) for value in panel.values]
    texts = [f"{safe(label, 120)}<br>{value}" for label, value in zip(panel.labels, signed, strict=True)]
    widths = [0.3 if panel.rest and i == n - 1 else 0.7 for i in range(n)]
    bars = {"base": ends[:-1], "x": list(panel.values), "y": list(range(1, n + 1)), "orientation": "h", "width": widths}
    colours = {"marker": {"color": [LINES[1] if value > 0 else LINES[0] for value in panel.values]}}
    builder.add(axes, type="bar", hovertext=texts, hoverinfo="text", **bars, **colours)
    signs = {"x": [max(a, b) for a, b in pairwise(ends)], "y": list(range(1, n + 1)), "text": signed}
    options = {"mode": "text", "textposition": "middle right", "hoverinfo": "skip", "cliponaxis": False}
    builder.add(axes, type="scatter", **signs, **options)
    totals: dict[str, Any] = {"x": [panel.start[1], panel.end[1]], "y": [0, n + 1]}
    mark = {"symbol": "diamond", "size": 10, "color": "rgb(128,128,128)"}
    text = [f" <b>{number(value)}</b>" for _, value in (panel.start, panel.end)]
    builder.add(axes, type="scatter", marker=mark, text=text, **totals, **(options | {"mode": "markers+text"}))


def height_of_bars(panel: Bars, _: int) -> float:
    """Return the pixels that bars would like to be high."""
    return 24.0 * max(len(panel.labels), 3)


def height_of_waterfall(panel: Waterfall, _: int) -> float:
    """Return the pixels that a waterfall would like to be high."""
    return 27.0 * (len(panel.labels) + 2)


DRAWERS = {
    Bars: Drawer(draw_bars, room_of_bars, height_of_bars),
    Waterfall: Drawer(draw_waterfall, room_of_bars, height_of_waterfall),
}
