"""Series for plotly: values over time, with limits."""

from __future__ import annotations

import numpy as np

from glasswood.plots._spec import Series
from glasswood.plots._style import LINES, PLOTLY_DASHES, PLOTLY_MARKS
from glasswood.plots.plotly._builder import (
    GREY,
    PALE,
    Drawer,
    FigureBuilder,
    Margins,
    Place,
    room_for,
    safe,
    ticks_of,
    title_of,
)
from glasswood.text._plain import number

__all__ = ["DRAWERS"]


def room_of_series(panel: Series) -> Margins:
    """Return the room that the labels of a series need."""
    return Margins(bottom=20 + room_for(panel.labels))


def draw_series(builder: FigureBuilder, place: Place, panel: Series) -> None:
    """Draw a line per track, with filled marks beyond a limit and hollow ones within."""
    n = len(panel.labels)
    x = {"domain": place.across(0, 1), "range": [-0.4, n - 0.6], "tickangle": -90, **ticks_of(panel.labels)}
    y = {"domain": place.up(0, 1), "title": title_of(panel.y_label, place.height)}
    axes = builder.axes(x, y)
    places = list(range(n))
    for values in panel.faint:
        builder.add(
            axes, type="scatter", mode="lines", x=places, y=list(values), line={"color": PALE}, hoverinfo="skip"
        )
    if panel.chance:
        line = {"color": GREY, "dash": "dot"}
        texts = [f"mean by chance: {number(value)}" for value in panel.chance]
        options = {"mode": "lines", "line": line, "hovertext": texts, "hoverinfo": "text"}
        builder.add(axes, type="scatter", x=places, y=list(panel.chance), **options)
    for track in panel.tracks:
        k = track.colour or 0
        marks = PLOTLY_MARKS[k % len(PLOTLY_MARKS)]
        symbols = [marks if broken else f"{marks}-open" for broken in track.broken]
        colour = "rgb(128,128,128)" if track.colour is None else LINES[k % len(LINES)]
        pairs = zip(panel.labels, track.values, strict=True)
        texts = [f"{safe(track.name, 80)}<br>{safe(label)}: {number(value)}" for label, value in pairs]
        options = {"line": {"color": colour, "dash": PLOTLY_DASHES[k % len(PLOTLY_DASHES)]}, "hoverinfo": "text"}
        marker = {"symbol": symbols, "size": 9, "color": colour}
        if track.errors:
            ends = [None if np.isnan(error) else error for error in track.errors]
            options["error_y"] = {"type": "data", "array": ends, "thickness": 1, "color": colour}
        named = {} if track.colour is None else {"name": track.name}
        trace = {"x": places, "y": list(track.values), "marker": marker, "hovertext": texts}
        builder.add(axes, type="scatter", mode="lines+markers", **named, **trace, **options)
    for limit, text in panel.limits:
        dashed = {"mode": "lines", "line": {"color": "rgb(128,128,128)", "dash": "dash", "width": 1.5}}
        builder.add(axes, type="scatter", x=[-0.4, n - 0.6], y=[limit, limit], hoverinfo="skip", **dashed)
        where = {"xref": f"{axes[0]} domain", "yref": axes[1], "x": 1, "y": limit}
        builder.annotate(safe(text, 60), size=10, xanchor="right", yanchor="bottom", **where)


def height_of_series(_: Series, n_panels: int) -> float:
    """Return the pixels that a series would like to be high."""
    return 340.0 if n_panels == 1 else 250.0


DRAWERS = {Series: Drawer(draw_series, room_of_series, height_of_series)}
