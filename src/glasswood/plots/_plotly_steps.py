"""Panels of steps for plotly: curves, what is beside the axis, and the data below."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasswood.plots._axes import histogram, hollow
from glasswood.plots._look import LINES, PLOTLY_DASHES, PLOTLY_MARKS
from glasswood.plots._plotly_paper import GREY, Paper, Place, cell_texts, safe, ticks_of, title_of, whole_ticks
from glasswood.plots._spec import Band, Steps
from glasswood.plots._steps import BASE, beside, height_range
from glasswood.plots._text import number, percent

__all__ = ["draw_steps"]

Axes = tuple[str, str]


def draw_steps(paper: Paper, place: Place, panel: Steps) -> None:
    """Draw a panel of steps."""
    low, high = paper.heights or height_range(panel)
    span = (high - low) or 0.1 * abs(high) or 1.0
    room = 0.28 if panel.support else 0.06
    x = {"domain": place.x, "title": title_of(panel.x.label), "showgrid": False, **_ticks(panel, alone=paper.alone)}
    below = paper.axes(x, {"domain": place.y, "range": [0, 1 / BASE], "visible": False, "fixedrange": True})
    heights: dict[str, Any] = {
        "overlaying": below[1],
        "anchor": below[0],
        "range": [low - room * span, high + 0.07 * span],
    }
    heights |= {"tickmode": "auto", "showgrid": True}
    main = below[0], paper.axes({"visible": False}, {**heights, "title": title_of(panel.y_label)})[1]
    _draw_data(paper, below, panel)
    if panel.mean is not None:
        line = {"color": GREY, "width": 1}
        paper.shapes.append(
            {"type": "line", "x0": 0, "x1": 1, "xref": f"{main[0]} domain", "yref": main[1]}
            | {"y0": panel.mean, "y1": panel.mean, "line": line}
        )
    for shade, band in zip((0.16, 0.26), panel.bands, strict=False):
        _draw_band(paper, main, panel, band, shade)
    for row in panel.faint:
        x_line, y_line = _path(panel, row)
        style = {"mode": "lines", "line": {"color": GREY, "width": 0.7}, "hoverinfo": "skip", "name": "single rows"}
        paper.add(main, type="scatter", x=x_line, y=y_line, **style)
    for k in range(len(panel.lines)):
        _draw_line(paper, main, panel, k)
    _draw_beside(paper, main, panel)


def _ticks(panel: Steps, *, alone: bool) -> dict[str, Any]:
    """Return the range and the ticks of the axis."""
    n_beside = len(beside(panel))
    if panel.x.labels:
        ends = [-0.6, panel.x.n_cells - 0.4 + 1.2 * n_beside]
        small: dict[str, Any] = {} if alone else {"tickangle": -90, "tickfont": {"size": 9}, "automargin": False}
        return {"range": ends, **ticks_of(panel.x.labels, 22 if alone else 8), **small}
    low, high = panel.x.view
    return {"range": [low, high + 0.2 * n_beside * (high - low)], **whole_ticks(panel.x)}


def _path(panel: Steps, heights: Any, hidden: Any = None) -> tuple[list[float], list[float | None]]:
    """Return the corners of steps, or the middles of categories."""
    values: list[float | None] = [float(h) if np.isfinite(h) else None for h in heights]
    if hidden is not None:
        values = [None if hide else value for hide, value in zip(hidden, values, strict=True)]
    if panel.x.labels:
        return list(range(len(values))), values
    return np.repeat(panel.x.edges, 2)[1:-1].tolist(), [value for value in values for _ in range(2)]


def _middles(panel: Steps) -> list[float]:
    """Return where the text of each cell is hovered over: in the middle of the part that is in view."""
    if panel.x.labels:
        return [float(i) for i in range(panel.x.n_cells)]
    edges = np.asarray(panel.x.edges)
    inside = np.clip(edges, panel.x.view[0], panel.x.view[1])
    middle = np.where(np.diff(inside) > 0, inside[:-1] / 2 + inside[1:] / 2, edges[:-1] / 2 + edges[1:] / 2)
    return [float(x) for x in middle]


def _draw_line(paper: Paper, axes: Axes, panel: Steps, k: int) -> None:
    """Draw one line: dotted where there are no rows, and a text for each cell."""
    line, several = panel.lines[k], len(panel.lines) > 1 or bool(panel.bands)
    colour = LINES[k % len(LINES)]
    support = line.support or panel.support
    empty = hollow(panel.x, support).tolist() if support else [False] * len(line.heights)
    of = f"{safe(line.name)}: " if several else ""
    shares = [f"<br>{percent(share)} of rows" for share in support] or [""] * len(line.heights)
    cells = zip(cell_texts(panel.x), line.heights, shares, strict=True)
    texts = [f"{cell}<br>{of}{number(height)}{share}" for cell, height, share in cells]
    hover = {"hovertext": texts, "hoverinfo": "text", "type": "scatter", "mode": "markers"}
    name = {"name": line.name} if several else {}
    if panel.x.labels:
        shift = 0.0 if len(panel.lines) == 1 else 0.5 * (k / (len(panel.lines) - 1) - 0.5)
        marks = [PLOTLY_MARKS[k % len(PLOTLY_MARKS)] + ("-open" if hide else "") for hide in empty]
        at = [place + shift for place in _middles(panel)]
        paper.add(
            axes, x=at, y=list(line.heights), marker={"color": colour, "symbol": marks, "size": 9}, **hover, **name
        )
        return
    if any(empty):
        x, y = _path(panel, line.heights)
        dotted = {"color": colour, "width": 1, "dash": "1px,2px"}
        paper.add(axes, type="scatter", mode="lines", x=x, y=y, line=dotted, opacity=0.6, hoverinfo="skip")
    x, y = _path(panel, line.heights, empty)
    style = {"color": colour, "width": 2, "dash": PLOTLY_DASHES[k % len(PLOTLY_DASHES)]}
    paper.add(axes, type="scatter", mode="lines", x=x, y=y, line=style, hoverinfo="skip", **name)
    paper.add(
        axes, x=_middles(panel), y=list(line.heights), marker={"color": colour, "opacity": 0, "size": 12}, **hover
    )


def _draw_band(paper: Paper, axes: Axes, panel: Steps, band: Band, shade: float) -> None:
    """Draw what lies between two heights."""
    low, high, name = band.low, band.high, band.name
    colour = f"rgba(0,114,178,{shade})"
    if panel.x.labels:
        width = 0.7 if shade < 0.2 else 0.5
        heights = [b - a for a, b in zip(low, high, strict=True)]
        place = {"x": list(range(len(low))), "base": list(low), "width": width}
        paper.add(axes, type="bar", y=heights, marker={"color": colour}, name=name, hoverinfo="skip", **place)
        return
    x, upper = _path(panel, high)
    _, lower = _path(panel, low)
    style = {"mode": "lines", "line": {"width": 0}, "fill": "toself", "fillcolor": colour, "hoverinfo": "skip"}
    paper.add(axes, type="scatter", x=x + x[::-1], y=upper + lower[::-1], name=name, **style)


def _draw_data(paper: Paper, axes: Axes, panel: Steps) -> None:
    """Draw the distribution of rows at the bottom."""
    if not panel.support:
        return
    grouped = [line for line in panel.lines if line.support]
    for k, support in enumerate([line.support for line in grouped] or [panel.support]):
        colour = LINES[k % len(LINES)] if grouped else GREY
        if panel.x.labels:
            most = max(*support, 1e-300)
            width = 0.8 / max(1, len(grouped))
            at = [i - 0.4 + width * (k + 0.5) for i in range(panel.x.n_cells)] if grouped else list(range(len(support)))
            bars = {"x": at, "y": [share / most for share in support], "width": width}
        else:
            bins, dense = histogram(panel.x, support)
            bars = {"x": (bins[:-1] / 2 + bins[1:] / 2).tolist(), "y": dense.tolist(), "width": np.diff(bins).tolist()}
        style = {"marker": {"color": colour, "line": {"width": 0}}, "opacity": 0.5 if grouped else 1.0}
        paper.add(axes, type="bar", hoverinfo="skip", **bars, **style)


def _draw_beside(paper: Paper, axes: Axes, panel: Steps) -> None:
    """Draw the heights of what is missing or unseen, beside the axis."""
    found = beside(panel)
    if not found:
        return
    if panel.x.labels:
        places, end = [panel.x.n_cells + 0.2 + 1.2 * i for i in range(len(found))], panel.x.n_cells - 0.4
    else:
        low, high = panel.x.view
        places, end = [high + (0.11 + 0.2 * i) * (high - low) for i in range(len(found))], high
    line = {"color": GREY, "width": 1, "dash": "dot"}
    place = {"x0": end, "x1": end, "y0": 0, "y1": 1, "xref": axes[0], "yref": f"{axes[1]} domain"}
    paper.shapes.append({"type": "line", "line": line} | place)
    for at, (field, label) in zip(places, found, strict=True):
        paper.annotate(
            label.replace("\n", "<br>"),
            x=at,
            y=0,
            xref=axes[0],
            yref=f"{axes[1]} domain",
            yanchor="top",
            align="center",
        )
        for k, one in enumerate(panel.lines):
            height = getattr(one, field)
            if height is not None:
                of = f"{safe(one.name)}: " if len(panel.lines) > 1 else ""
                mark = {"color": LINES[k % len(LINES)], "symbol": PLOTLY_MARKS[k % len(PLOTLY_MARKS)], "size": 9}
                text = f"{safe(panel.x.label)} {label.replace(chr(10), ', ')}<br>{of}{number(height)}"
                hover = {"hovertext": [text], "hoverinfo": "text"}
                paper.add(axes, type="scatter", mode="markers", x=[at], y=[height], marker=mark, **hover)
