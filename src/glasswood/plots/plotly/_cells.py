"""Surfaces for Plotly: exact cells, with the distributions of both features."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasswood.plots._axes import histogram, hollow_pairs
from glasswood.plots._spec import Cells, Scale
from glasswood.plots._style import DIVERGING, SEQUENTIAL
from glasswood.plots.plotly._builder import (
    GREY,
    Drawer,
    FigureBuilder,
    Margins,
    Place,
    cell_texts,
    room_for,
    safe,
    ticks_of,
    title_of,
)
from glasswood.text._plain import number, share_of_rows

__all__ = ["DRAWERS"]

STRIP = 0.09  # the part of a surface's place that is for the data's strips
WIDE = 28  # pixels of a cell that holds its number
VEIL = "rgba(128,128,128,0.6)"


def room_of_cells(panel: Cells) -> Margins:
    """Return the room that the labels of a surface need."""
    left = 20 + room_for(panel.y.labels) if panel.y.labels else 62
    return Margins(left=left, right=96, bottom=26 + room_for(panel.x.labels) if panel.x.labels else 46)


def draw_cells(builder: FigureBuilder, place: Place, panel: Cells) -> None:
    """Draw a surface as exact cells, grey where there are no rows, with the distributions of both features."""
    right = 1 - STRIP * bool(panel.y_support)
    top = 1 - STRIP * bool(panel.x_support)
    x = {"domain": place.across(0, right), "title": title_of(panel.x.label), **_range(panel.x)}
    if panel.x.labels:
        x["tickangle"] = -90
    y = {"domain": place.up(0, top), "title": title_of(panel.y.label), **_range(panel.y)}
    axes = builder.axes(x, y)
    bar = {"title": {"text": safe(panel.z_label, 60), "side": "right"}, "thickness": 12, "outlinewidth": 0}
    bar |= {"x": place.x[1], "xpad": 6, "y": sum(place.up(0, top)) / 2, "len": place.up(0, top)[1] - place.y[0]}
    colours: dict[str, Any] = {"colorscale": DIVERGING, "zmid": 0} if panel.diverging else {"colorscale": SEQUENTIAL}
    grid = {"x": _places(panel.x), "y": _places(panel.y)}
    texts: dict[str, Any] = {"hovertext": _texts(panel), "hoverinfo": "text"}
    if panel.with_numbers and place.width >= WIDE * panel.x.n_cells:
        shown = [[_short(value) for value in line] for line in panel.heights]
        texts |= {"text": shown, "texttemplate": "%{text}", "textfont": {"size": 9}}
    builder.add(axes, type="heatmap", z=panel.heights, colorbar=bar, **grid, **colours, **texts)
    if panel.density:
        empty = hollow_pairs(panel.x, panel.y, panel.density).tolist()
        veil = [[1 if hide else None for hide in row] for row in empty]
        grey = {"colorscale": [[0, VEIL], [1, VEIL]], "showscale": False}
        builder.add(axes, type="heatmap", z=veil, hoverinfo="skip", **grid, **grey)
    _draw_strips(builder, axes, panel, place)


def _short(value: float) -> str:
    return number(float(f"{value:.2g}")) if np.isfinite(value) else ""


def _texts(panel: Cells) -> list[list[str]]:
    """Return the hover text of each pair of cells."""
    across, along = cell_texts(panel.x), cell_texts(panel.y)
    shares = [[f"<br>{share_of_rows(share, weighted=panel.weighted)}" for share in line] for line in panel.density]
    return [
        [
            f"{one}<br>{other}<br>{number(value) if np.isfinite(value) else 'no rows'}{shares[j][i] if shares else ''}"
            for i, (one, value) in enumerate(zip(across, line, strict=True))
        ]
        for j, (other, line) in enumerate(zip(along, panel.heights, strict=True))
    ]


def _range(scale: Scale) -> dict[str, Any]:
    ends = [-0.5, scale.n_cells - 0.5] if scale.labels else list(scale.view)
    return {"range": ends, **ticks_of(scale)}


def _places(scale: Scale) -> list[float]:
    """Return the edges of cells; categories are one apart."""
    return list(scale.edges) if scale.edges else [i - 0.5 for i in range(scale.n_cells + 1)]


def _draw_strips(builder: FigureBuilder, axes: tuple[str, str], panel: Cells, place: Place) -> None:
    """Draw the distribution of each feature along its axis."""
    hidden = {"visible": False, "fixedrange": True, "range": [0, 1]}
    options = {"type": "bar", "marker": {"color": GREY, "line": {"width": 0}}, "hoverinfo": "skip"}
    if panel.x_support:
        at, shares, widths = _bars(panel.x, panel.x_support)
        strip = axes[0], builder.axis("y", domain=place.up(1 - 0.9 * STRIP, 1), anchor=axes[0], **hidden)
        builder.add(strip, x=at, y=shares, width=widths, **options)
    if panel.y_support:
        at, shares, widths = _bars(panel.y, panel.y_support)
        strip = builder.axis("x", domain=place.across(1 - 0.9 * STRIP, 1), anchor=axes[1], **hidden), axes[1]
        builder.add(strip, y=at, x=shares, width=widths, orientation="h", **options)


def _bars(scale: Scale, support: tuple[float, ...]) -> tuple[list[float], list[float], list[float]]:
    """Return the middles, heights and widths of the bars of a strip."""
    if scale.labels:
        max_ = max(*support, 1e-300)
        return [float(i) for i in range(len(support))], [share / max_ for share in support], [0.8] * len(support)
    bins, dense = histogram(scale, support)
    return (bins[:-1] / 2 + bins[1:] / 2).tolist(), dense.tolist(), np.diff(bins).tolist()


def height_of_cells(panel: Cells, n_panels: int) -> float:
    """Return the pixels that a surface would like to be high."""
    return max(380.0 if n_panels == 1 else 320.0, 17.0 * len(panel.y.labels))


DRAWERS = {Cells: Drawer(draw_cells, room_of_cells, height_of_cells)}
