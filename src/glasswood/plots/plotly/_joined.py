"""Panels of joined heights for Plotly: lines through places, dashed where there are no rows, and the data below."""

from __future__ import annotations

from itertools import pairwise

from glasswood.plots._joined import density_of, heights_of_joined, missing_label, places_of
from glasswood.plots._spec import Joined
from glasswood.plots._steps import limits
from glasswood.plots._style import LINES, PLOTLY_MARKS
from glasswood.plots.plotly._bands import faded
from glasswood.plots.plotly._builder import GREY, Drawer, FigureBuilder, Margins, Place, safe, title_of
from glasswood.text._plain import number, share_of_rows

__all__ = ["DRAWERS"]

STRIP, SIDE, SHADE = 0.15, 0.13, 0.18  # parts of the height for the data, and of the width for missing values


def room_of_joined(panel: Joined) -> Margins:
    """Return the room that the labels of a panel need."""
    return Margins(bottom=46 if missing_label(panel) is None else 56)


def draw_joined(builder: FigureBuilder, place: Place, panel: Joined) -> None:
    """Draw a panel of joined heights."""
    heights = limits(builder.heights or heights_of_joined(panel))
    label = missing_label(panel)
    end = 1.0 if label is None else 1.0 - SIDE
    across = {"domain": place.across(0, end), "range": list(places_of(panel)), "title": title_of(panel.x_label)}
    x = builder.axis("x", showgrid=False, **across)
    base = STRIP + 0.03 if panel.support else 0.0
    title = title_of(panel.y_label, place.height)
    y = builder.axis("y", domain=place.up(base, 1), range=list(heights), title=title, anchor=x)
    strip = None
    if panel.support:
        strip = builder.axis("y", domain=place.up(0, STRIP), range=[0, 1], visible=False, fixedrange=True)
        _draw_rows(builder, (x, strip), panel)
    builder.anchor(x, strip or y)
    builder.line(y0=0.0, y1=0.0, yref=y, x0=0, x1=1, xref=f"{x} domain")
    _draw_bands(builder, (x, y), panel)
    named = len(panel.lines) + len(panel.faint) + len(panel.bands) > 1
    for line in panel.faint:
        options = {"mode": "lines", "line": {"color": "rgb(128,128,128)", "width": 1.2}, "hoverinfo": "skip"}
        name = {"name": line.name} if line is panel.faint[0] else {}
        builder.add((x, y), type="scatter", x=list(panel.places), y=list(line.heights), **name, **options)
    for k in range(len(panel.lines)):
        _draw_line(builder, (x, y), panel, k, named=named)
    if label is not None:
        ticks = {"tickvals": [0], "ticktext": [label.replace("\n", "<br>")], "showgrid": False}
        side = builder.axis(
            "x", domain=place.across(end + 0.01, 1), anchor=strip or y, fixedrange=True, range=[-0.5, 0.5], **ticks
        )
        for k, line in enumerate(panel.lines):
            if line.missing is not None:
                mark = {"color": LINES[k % len(LINES)], "symbol": PLOTLY_MARKS[k % len(PLOTLY_MARKS)], "size": 8}
                text = f"{safe(panel.x_label)} missing<br>{safe(line.name)}: {number(line.missing)}"
                hover = {"hovertext": [text], "hoverinfo": "text", "cliponaxis": False}
                builder.add((side, y), type="scatter", mode="markers", x=[0], y=[line.missing], marker=mark, **hover)


def _draw_line(builder: FigureBuilder, axes: tuple[str, str], panel: Joined, k: int, *, named: bool) -> None:
    """Draw one line: solid where there are rows, and dashed elsewhere."""
    line, colour = panel.lines[k], LINES[k % len(LINES)]
    x: list[float | None] = []
    y: list[float | None] = []
    texts: list[str] = []
    for i, (at, height) in enumerate(zip(panel.places, line.heights, strict=True)):
        texts.append(f"{safe(panel.x_label)} = {number(at)}<br>{safe(line.name)}: {number(height)}")
        if i and panel.support:
            texts[-1] += f"<br>below: {share_of_rows(panel.support[i - 1], weighted=panel.weighted)}"
        x.append(at)
        y.append(height)
        if i < len(panel.empty) and panel.empty[i]:
            x.append(None)
            y.append(None)
            texts.append("")
            dashed = {"color": colour, "width": 1.2, "dash": "dash"}
            ends = {"x": list(panel.places[i : i + 2]), "y": list(line.heights[i : i + 2])}
            builder.add(axes, type="scatter", mode="lines", line=dashed, hoverinfo="skip", **ends)
    marker = {"color": colour, "size": 5, "symbol": PLOTLY_MARKS[k % len(PLOTLY_MARKS)]}
    options = {"line": {"color": colour, "width": 2}, "marker": marker, "hovertext": texts, "hoverinfo": "text"}
    name = {"name": line.name} if named else {}
    builder.add(axes, type="scatter", mode="lines+markers", x=x, y=y, **name, **options)


def _draw_bands(builder: FigureBuilder, axes: tuple[str, str], panel: Joined) -> None:
    """Draw what lies between two heights."""
    places, seen = list(panel.places), set()
    for band in panel.bands:
        colour = faded(LINES[(band.line or 0) % len(LINES)], SHADE)
        options = {"mode": "lines", "line": {"width": 0}, "fill": "toself", "hoverinfo": "skip", "fillcolor": colour}
        name = {} if band.name in seen else {"name": band.name}
        seen.add(band.name)
        lower = list(band.low)[::-1]
        builder.add(axes, type="scatter", x=places + places[::-1], y=[*band.high, *lower], **name, **options)


def _draw_rows(builder: FigureBuilder, axes: tuple[str, str], panel: Joined) -> None:
    """Draw the distribution of the rows at the bottom."""
    bins = list(pairwise(panel.places))
    bars = {"x": [(low + high) / 2 for low, high in bins], "width": [high - low for low, high in bins]}
    options = {"marker": {"color": GREY, "line": {"width": 0}}, "hoverinfo": "skip"}
    builder.add(axes, type="bar", y=density_of(panel).tolist(), **bars, **options)


def height_of_joined(_: Joined, n_panels: int) -> float:
    """Return the pixels that a panel would like to be high."""
    return 280.0 if n_panels == 1 else 200.0


DRAWERS = {Joined: Drawer(draw_joined, room_of_joined, height_of_joined)}
