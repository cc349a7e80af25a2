"""Panels of dots for plotly: a dot per row, coloured by another number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.plots._spec import Dots
from glasswood.plots._style import LINES, SEQUENTIAL
from glasswood.plots.plotly._builder import Drawer, FigureBuilder, Margins, Place, room_for, safe, ticks_of, title_of

__all__ = ["DRAWERS"]


def room_of_dots(panel: Dots) -> Margins:
    """Return the room that the labels of dots need."""
    left = 20 * bool(panel.y_label) + room_for(panel.y_labels) if panel.y_labels else 62
    bottom = 26 + room_for(panel.x_labels) if panel.x_labels else 46
    return Margins(left=left, right=96 if panel.colours else 16, bottom=bottom)


def draw_dots(builder: FigureBuilder, place: Place, panel: Dots) -> None:
    """Draw a dot per row, those without a colour in grey and below the others."""
    x: dict[str, Any] = {"domain": place.across(0, 1), "title": title_of(panel.x_label), "zeroline": panel.zero}
    y: dict[str, Any] = {"domain": place.up(0, 1), "title": title_of(panel.y_label)}
    if panel.x_labels:
        x |= {"tickangle": -90, **ticks_of(panel.x_labels)}
    if panel.y_labels:
        y |= {"range": [len(panel.y_labels) - 0.4, -0.6], **ticks_of(panel.y_labels)}
    axes = builder.axes(x, y)
    size = 6 if len(panel.x) < 1000 else 4
    colours = np.asarray(panel.colours or [np.nan] * len(panel.x), dtype=np.float64)
    known = np.isfinite(colours)
    plain = {"color": "rgb(128,128,128)" if panel.colours else LINES[0], "size": size, "opacity": 0.7}
    _add(builder, axes, panel, ~known, plain)
    bar = {"title": {"text": safe(panel.colour_label, 60), "side": "right"}, "thickness": 12, "outlinewidth": 0}
    bar |= {"x": place.x[1], "xpad": 6, "y": sum(place.y) / 2, "len": place.y[1] - place.y[0]}
    if panel.colour_ends and known.any():
        ends = [float(colours[known].min()), float(colours[known].max())]
        bar |= {"tickvals": ends, "ticktext": [safe(text) for text in panel.colour_ends]}
    scale = {"color": colours[known].tolist(), "colorscale": SEQUENTIAL, "showscale": True, "colorbar": bar}
    _add(builder, axes, panel, known, {"size": size, "opacity": 0.8, **scale})


def _add(
    builder: FigureBuilder, axes: tuple[str, str], panel: Dots, which: NDArray[np.bool_], marker: dict[str, Any]
) -> None:
    """Add some of the dots."""
    numbers = np.flatnonzero(which)
    if not numbers.size:
        return
    x, y = np.asarray(panel.x)[numbers].tolist(), np.asarray(panel.y)[numbers].tolist()
    hover: dict[str, Any] = {"hoverinfo": "x+y"}
    if panel.texts:
        hover = {"hovertext": [safe(panel.texts[i], 120) for i in numbers], "hoverinfo": "text"}
    builder.add(
        axes, type="scattergl" if len(x) > 3000 else "scatter", mode="markers", x=x, y=y, marker=marker, **hover
    )


def height_of_dots(panel: Dots, n_panels: int) -> float:
    """Return the pixels that dots would like to be high."""
    return max(380.0 if n_panels == 1 else 280.0, 32.0 * len(panel.y_labels))


DRAWERS = {Dots: Drawer(draw_dots, room_of_dots, height_of_dots)}
