"""Panels other than steps for plotly: surfaces, bars, squares, networks, waterfalls."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasswood.plots._axes import histogram, hollow_pairs
from glasswood.plots._look import DIVERGING, FAINTEST, LINES, PLOTLY_MARKS, SEQUENTIAL
from glasswood.plots._plotly_paper import GREY, Paper, Place, safe, ticks_of, title_of, whole_ticks
from glasswood.plots._spec import Bars, Cells, Matrix, Network, Scale, Waterfall
from glasswood.plots._text import number

__all__ = ["draw_bars", "draw_cells", "draw_matrix", "draw_network", "draw_waterfall"]

STRIP = 0.09  # the part of a surface's place that is for the data's strips
BAR = 0.2  # the part of a place that is for the bar of colours


def draw_cells(paper: Paper, place: Place, panel: Cells) -> None:
    """Draw a surface as exact cells, grey where there are no rows, and the distributions of both features beside it."""
    (left, right), (bottom, top) = place.x, place.y
    right_end, top_end = right - BAR * (right - left), top - STRIP * (top - bottom)
    x = {
        "domain": [left, right_end - STRIP * (right - left)],
        "title": title_of(panel.x.label),
        **_range(panel.x, paper),
    }
    y = {"domain": [bottom, top_end], "title": title_of(panel.y.label), **_range(panel.y, paper)}
    axes = paper.axes(x, y)
    bar = {"title": {"text": safe(panel.z_label, 60), "side": "right"}, "thickness": 12, "outlinewidth": 0}
    bar |= {"x": right_end, "y": (bottom + top_end) / 2, "len": top_end - bottom, "xpad": 4}
    colours: dict[str, Any] = {"colorscale": DIVERGING, "zmid": 0} if panel.diverging else {"colorscale": SEQUENTIAL}
    grid = {"x": _places(panel.x), "y": _places(panel.y)}
    template = f"{safe(panel.x.label)}: %{{x}}<br>{safe(panel.y.label)}: %{{y}}<br>%{{z:.4~g}}"
    more: dict[str, Any] = {"hovertemplate": template + "<extra></extra>"}
    if panel.density:
        more = {
            "customdata": panel.density,
            "hovertemplate": template + "<br>%{customdata:.2~%} of rows<extra></extra>",
        }
    paper.add(axes, type="heatmap", z=panel.heights, colorbar=bar, **grid, **colours, **more)
    if panel.density:
        empty = hollow_pairs(panel.x, panel.y, panel.density).tolist()
        veil = [[1 if hide else None for hide in row] for row in empty]
        grey = {"colorscale": [[0, "rgba(128,128,128,0.6)"], [1, "rgba(128,128,128,0.6)"]], "showscale": False}
        paper.add(axes, type="heatmap", z=veil, hoverinfo="skip", **grid, **grey)
    _draw_strips(paper, axes, panel, place)


def _range(scale: Scale, paper: Paper) -> dict[str, Any]:
    if scale.labels:
        return {"range": [-0.5, scale.n_cells - 0.5], **ticks_of(scale.labels, 22 if paper.alone else 9)}
    return {"range": list(scale.view), **whole_ticks(scale)}


def _places(scale: Scale) -> list[float]:
    """Return the edges of cells; categories are one apart."""
    return list(scale.edges) if scale.edges else [i - 0.5 for i in range(scale.n_cells + 1)]


def _draw_strips(paper: Paper, axes: tuple[str, str], panel: Cells, place: Place) -> None:
    """Draw the distribution of each feature along its axis."""
    (left, right), (bottom, top) = place.x, place.y
    inner = right - BAR * (right - left)
    hidden = {"visible": False, "fixedrange": True, "range": [0, 1]}
    style = {"type": "bar", "marker": {"color": GREY, "line": {"width": 0}}, "hoverinfo": "skip"}
    if panel.x_support:
        at, shares, widths = _bars(panel.x, panel.x_support)
        domain = [left, inner - STRIP * (right - left)]
        strip = paper.axes(
            {"domain": domain, "matches": axes[0], "visible": False},
            {"domain": [top - 0.9 * STRIP * (top - bottom), top], **hidden},
        )
        paper.add(strip, x=at, y=shares, width=widths, **style)
    if panel.y_support:
        at, shares, widths = _bars(panel.y, panel.y_support)
        strip = paper.axes(
            {"domain": [inner - 0.9 * STRIP * (right - left), inner], **hidden},
            {"domain": [bottom, top - STRIP * (top - bottom)], "matches": axes[1], "visible": False},
        )
        paper.add(strip, y=at, x=shares, width=widths, orientation="h", **style)


def _bars(scale: Scale, support: tuple[float, ...]) -> tuple[list[float], list[float], list[float]]:
    """Return the middles, heights and widths of the bars of a strip."""
    if scale.labels:
        most = max(*support, 1e-300)
        return [float(i) for i in range(len(support))], [share / most for share in support], [0.8] * len(support)
    bins, dense = histogram(scale, support)
    return (bins[:-1] / 2 + bins[1:] / 2).tolist(), dense.tolist(), np.diff(bins).tolist()


# ------------------------------------------------------------------------------------------------ bars


def draw_bars(paper: Paper, place: Place, panel: Bars) -> None:
    """Draw one bar per label, the first on top; several series as marks on one line."""
    n = len(panel.labels)
    y = {"domain": place.y, "range": [n - 0.4, -0.6], "showgrid": False, **ticks_of(panel.labels, 36)}
    axes = paper.axes({"domain": place.x, "title": title_of(panel.x_label), "rangemode": "tozero"}, y)
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
    """Draw how parts add up: from the start at the top to the end at the bottom."""
    labels = (panel.start[0], *panel.labels, panel.end[0])
    n = len(panel.values)
    y = {"domain": place.y, "range": [n + 1.6, -0.6], "showgrid": False, **ticks_of(labels, 44)}
    axes = paper.axes({"domain": place.x, "title": title_of(panel.x_label)}, y)
    ends = (panel.start[1] + np.concatenate([[0.0], np.cumsum(panel.values)])).tolist()
    signed = [("+" if value > 0 else "") + number(value) for value in panel.values]
    texts = [f"{safe(label, 120)}<br>{value}" for label, value in zip(panel.labels, signed, strict=True)]
    bars = {"base": ends[:-1], "x": list(panel.values), "y": list(range(1, n + 1)), "orientation": "h", "width": 0.7}
    colours = {"marker": {"color": [LINES[1] if value > 0 else LINES[0] for value in panel.values]}}
    hover = {"hovertext": texts, "hoverinfo": "text"}
    shown = {"text": signed, "textposition": "outside", "cliponaxis": False}
    paper.add(axes, type="bar", **bars, **colours, **hover, **shown)
    totals = {
        "x": [panel.start[1], panel.end[1]],
        "y": [0, n + 1],
        "mode": "markers+text",
        "textposition": "middle right",
    }
    mark = {"symbol": "diamond", "size": 10, "color": "rgb(128,128,128)"}
    text = [f" {number(panel.start[1])}", f" {number(panel.end[1])}"]
    paper.add(axes, type="scatter", marker=mark, text=text, hoverinfo="skip", cliponaxis=False, **totals)


# ------------------------------------------------------------------------------------------------ pairs


def draw_matrix(paper: Paper, place: Place, panel: Matrix) -> None:
    """Draw the half of a square below the diagonal."""
    n = len(panel.labels)
    values = np.array(panel.values, dtype=np.float64).reshape(n, n)
    values[np.triu_indices(n)] = np.nan
    z = [[float(v) if np.isfinite(v) else None for v in row] for row in values[1:, :-1]]
    names = [safe(label, 60) for label in panel.labels]
    texts = [
        [f"{names[j]} x {names[i + 1]}<br>{number(v)}" if v is not None else "" for j, v in enumerate(row)]
        for i, row in enumerate(z)
    ]
    x = {"domain": place.x, "showgrid": False, "tickangle": -90, **ticks_of(panel.labels[:-1])}
    y = {"domain": place.y, "autorange": "reversed", "showgrid": False, **ticks_of(panel.labels[1:])}
    axes = paper.axes(x, y)
    bar = {"title": {"text": safe(panel.z_label, 70), "side": "right"}, "thickness": 12, "outlinewidth": 0}
    hover = {"hovertext": texts, "hoverinfo": "text", "hoverongaps": False}
    paper.add(axes, type="heatmap", z=z, colorscale=SEQUENTIAL, zmin=0, colorbar=bar, xgap=1, ygap=1, **hover)


def draw_network(paper: Paper, place: Place, panel: Network) -> None:
    """Draw nodes on a circle, and links as wide as they are strong."""
    n = len(panel.labels)
    angles = np.pi / 2 - 2 * np.pi * np.arange(n) / max(n, 1)
    x, y = np.cos(angles), np.sin(angles)
    hidden = {"visible": False}
    axes = paper.axes(
        {"domain": place.x, "range": [-2.2, 2.2], **hidden},
        {"domain": place.y, "range": [-1.4, 1.4], "scaleanchor": f"x{paper.next_axis}", **hidden},
    )
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
