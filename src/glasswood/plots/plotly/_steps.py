"""Panels of steps for Plotly: curves, missing values next to the axis, and the data below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from glasswood.plots._axes import histogram, hollow, open_bins
from glasswood.plots._spec import Band, Steps
from glasswood.plots._steps import band_of, cells_beside_axis, colour_of, coloured_bands, dodge, height_range, limits
from glasswood.plots._style import PALE_OPACITY, PLOTLY_DASHES, PLOTLY_MARKS
from glasswood.plots.plotly._bands import add_bands_to_legend, ends_of, faded, rank_of, whisker
from glasswood.plots.plotly._builder import (
    GREY,
    PALE,
    Drawer,
    FigureBuilder,
    Margins,
    Place,
    cell_texts,
    safe,
    ticks_of,
    title_of,
)
from glasswood.plots.plotly._categories import draw_categories, room_of_categories
from glasswood.text._plain import number, share_of_rows

__all__ = ["DRAWERS"]

Axes = tuple[str, str]
STRIP = 0.15  # the part of the height that is for the data
SIDE = 0.13  # the share of the width for each panel next to the axis


def room_of_steps(panel: Steps) -> Margins:
    """Return the room that the labels of a panel need."""
    return room_of_categories(panel) if panel.x.labels else Margins(bottom=56 if cells_beside_axis(panel) else 46)


def draw_steps(builder: FigureBuilder, place: Place, panel: Steps) -> None:
    """Draw a panel of steps."""
    heights = limits(builder.heights or height_range(panel))
    if panel.x.labels:
        draw_categories(builder, place, panel, heights)
        return
    main, side, strip = _axes_of(builder, place, panel, heights)
    if strip is not None:
        _draw_data(builder, strip, panel)
    if panel.mean is not None:
        _draw_mean(builder, main, panel.mean)
    add_bands_to_legend(builder, main, panel)
    for band, colour, shade in coloured_bands(panel):
        _draw_band(builder, main, panel, band, faded(colour, shade))
    for row in panel.faint:
        x, y = _path(panel, row)
        options = {"mode": "lines", "line": {"color": GREY, "width": 0.7}, "hoverinfo": "skip", "name": "single rows"}
        builder.add(main, type="scatter", x=x, y=y, **options)
    for k in range(len(panel.lines)):
        _draw_line(builder, main, panel, k)
    if side is not None:
        _draw_beside(builder, main, side, strip, panel)


def _axes_of(
    builder: FigureBuilder, place: Place, panel: Steps, heights: tuple[float, float]
) -> tuple[Axes, str | None, Axes | None]:
    """Add the axes of a panel: for the curve, for missing values next to it, and for the data below."""
    n_beside = len(cells_beside_axis(panel))
    end = 1 - SIDE * n_beside
    ticks = {"showgrid": False, **ticks_of(panel.x)}
    x = builder.axis("x", domain=place.across(0, end), range=list(panel.x.view), title=title_of(panel.x.label), **ticks)
    base, title = STRIP + 0.03 if panel.support else 0.0, title_of(panel.y_label, place.height)
    y = builder.axis("y", domain=place.up(base, 1), range=list(heights), title=title, nticks=7)
    builder.anchor(x, y)
    strip = None
    if panel.support:
        strip = x, builder.axis("y", domain=place.up(0, STRIP), range=[0, 1], visible=False, fixedrange=True)
        builder.anchor(*strip)
    if not n_beside:
        return (x, y), None, strip
    labels = [label.replace("\n", "<br>") for _, label in cells_beside_axis(panel)]
    options: dict[str, Any] = {"range": [-0.5, n_beside - 0.5], "showgrid": False, "fixedrange": True}
    options |= {"tickvals": list(range(n_beside)), "ticktext": labels, "tickangle": 0}
    side = builder.axis("x", domain=place.across(end + 0.01, 1), anchor=(strip or (x, y))[1], **options)
    return (x, y), side, strip


def _draw_mean(builder: FigureBuilder, axes: Axes, mean: float) -> None:
    """Draw the average as a line to compare with; alone, it has a label."""
    across = {"x0": 0, "x1": 1, "xref": f"{axes[0]} domain"}
    builder.line(y0=mean, y1=mean, yref=axes[1], **across)
    where = {"x": 1, "xref": f"{axes[0]} domain", "y": mean, "yref": axes[1], "xanchor": "right", "yanchor": "bottom"}
    if builder.alone:
        builder.annotate(f"average {number(mean)}", size=10, **where)


def _path(
    panel: Steps, heights: Sequence[float], hidden: Sequence[bool] | None = None
) -> tuple[list[float], list[float | None]]:
    """Return the corners of steps."""
    values: list[float | None] = [float(h) if np.isfinite(h) else None for h in heights]
    if hidden is not None:
        values = [None if hide else value for hide, value in zip(hidden, values, strict=True)]
    return np.repeat(panel.x.edges, 2)[1:-1].tolist(), [value for value in values for _ in range(2)]


def _middles(panel: Steps) -> list[float]:
    """Return where the text of each cell is hovered over: in the middle of the part that is in view."""
    edges = np.asarray(panel.x.edges)
    inside = np.clip(edges, panel.x.view[0], panel.x.view[1])
    middle = np.where(np.diff(inside) > 0, inside[:-1] / 2 + inside[1:] / 2, edges[:-1] / 2 + edges[1:] / 2)
    return [float(x) for x in middle]


def _draw_line(builder: FigureBuilder, axes: Axes, panel: Steps, k: int) -> None:
    """Draw one line: dotted where there are no rows, and a text for each cell."""
    line, named = panel.lines[k], len(panel.lines) > 1 or bool(panel.bands)
    colour = colour_of(panel, k)
    support = line.support or panel.support
    empty = hollow(panel.x, support).tolist() if support else [False] * len(line.heights)
    of = f"{safe(line.name)}: " if named else ""
    shares = [f"<br>{share_of_rows(share, weighted=panel.weighted)}" for share in support] or [""] * len(line.heights)
    cells = zip(cell_texts(panel.x), line.heights, shares, strict=True)
    texts = [f"{cell}<br>{of}{number(height)}{share}" for cell, height, share in cells]
    band = band_of(panel, k)
    if band is not None:
        texts = [f"{text}<br>{ends_of(band, ends)}" for text, *ends in zip(texts, band.low, band.high, strict=True)]
    if any(empty):
        x, y = _path(panel, line.heights)
        dotted = {"color": colour, "width": 1, "dash": "1px,2px"}
        builder.add(axes, type="scatter", mode="lines", x=x, y=y, line=dotted, opacity=0.6, hoverinfo="skip")
    options = {"color": colour, "width": 2, "dash": PLOTLY_DASHES[k % len(PLOTLY_DASHES)]}
    if line.pale:
        x, y = _path(panel, line.heights, empty)
        builder.add(axes, type="scatter", mode="lines", x=x, y=y, line=options, opacity=PALE_OPACITY, hoverinfo="skip")
        empty = [hidden or pale for hidden, pale in zip(empty, line.pale, strict=True)]
    x, y = _path(panel, line.heights, empty)
    name = {"name": line.name} if named else {}
    builder.add(axes, type="scatter", mode="lines", x=x, y=y, line=options, hoverinfo="skip", **name)
    hover = {"hovertext": texts, "hoverinfo": "text", "marker": {"color": colour, "opacity": 0, "size": 12}}
    builder.add(axes, type="scatter", mode="markers", x=_middles(panel), y=list(line.heights), **hover)


def _draw_band(builder: FigureBuilder, axes: Axes, panel: Steps, band: Band, colour: str) -> None:
    """Draw what lies between two heights."""
    x, upper = _path(panel, band.high)
    _, lower = _path(panel, band.low)
    options = {
        "mode": "lines",
        "line": {"width": 0},
        "fill": "toself",
        "hoverinfo": "skip",
        "legendrank": rank_of(band),
    }
    builder.add(axes, type="scatter", x=x + x[::-1], y=upper + lower[::-1], name=band.name, fillcolor=colour, **options)


def _draw_data(builder: FigureBuilder, axes: Axes, panel: Steps) -> None:
    """Draw the distribution of the rows at the bottom, pale where the extent of a cell is unknown."""
    grouped = [(k, line) for k, line in enumerate(panel.lines) if line.support]
    for k, line in grouped:
        bins, dense = histogram(panel.x, line.support)
        x, y = np.repeat(bins, 2)[1:-1].tolist(), np.repeat(dense, 2).tolist()
        options = {"color": colour_of(panel, k), "width": 1, "dash": PLOTLY_DASHES[k % len(PLOTLY_DASHES)]}
        builder.add(axes, type="scatter", mode="lines", x=x, y=y, line=options, hoverinfo="skip")
    if grouped:
        return
    bins, dense = histogram(panel.x, panel.support)
    bars = {"x": (bins[:-1] / 2 + bins[1:] / 2).tolist(), "y": dense.tolist(), "width": np.diff(bins).tolist()}
    colours = [PALE if unknown else GREY for unknown in open_bins(panel.x, bins)]
    builder.add(axes, type="bar", hoverinfo="skip", marker={"color": colours, "line": {"width": 0}}, **bars)


def _draw_beside(builder: FigureBuilder, main: Axes, side: str, strip: Axes | None, panel: Steps) -> None:
    """Draw the heights of missing and unseen values next to the axis, and the shares of such rows below."""
    for at, (field, label) in enumerate(cells_beside_axis(panel)):
        share = panel.missing_share if field == "missing" else panel.unseen_share
        if strip is not None and share:
            bar = {"x": [at], "y": [max(0.04, share)], "width": 0.4, "marker": {"color": GREY}}
            builder.add((side, strip[1]), type="bar", hoverinfo="skip", **bar)
        marked = [(k, getattr(line, field)) for k, line in enumerate(panel.lines) if getattr(line, field) is not None]
        for i, (k, height) in enumerate(marked):
            of = f"{safe(panel.lines[k].name)}: " if len(panel.lines) > 1 else ""
            mark = {"color": colour_of(panel, k), "symbol": PLOTLY_MARKS[k % len(PLOTLY_MARKS)], "size": 8}
            mark |= {"opacity": PALE_OPACITY} if field in panel.lines[k].pale_beside else {}
            text = f"{safe(panel.x.label)} {label.replace(chr(10), ', ')}<br>{of}{number(height)}"
            x, band = at + 0.6 * dodge(i, len(marked)), band_of(panel, k)
            ends = getattr(band, field, None)
            if band is not None and ends is not None:
                text += f"<br>{ends_of(band, ends)}"
                builder.add((side, main[1]), x=[x, x], y=list(ends), name=band.name, **whisker(colour_of(panel, k)))
            hover = {"hovertext": [text], "hoverinfo": "text", "cliponaxis": False}
            builder.add((side, main[1]), type="scatter", mode="markers", x=[x], y=[height], marker=mark, **hover)


def height_of_steps(panel: Steps, n_panels: int) -> float:
    """Return the pixels that a panel of steps would like to be high."""
    low, line = (280.0, 18.0) if n_panels == 1 else (200.0, 14.0)
    return max(low, line * len(panel.x.labels))


DRAWERS = {Steps: Drawer(draw_steps, room_of_steps, height_of_steps)}
