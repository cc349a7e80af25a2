"""Panels of categories for Plotly: one line per category, so that labels are horizontal."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasswood.plots._spec import Band, Line, Steps
from glasswood.plots._steps import band_of, cells_beside_axis, colour_of, coloured_bands, dodge
from glasswood.plots._style import PALE_OPACITY, PLOTLY_MARKS
from glasswood.plots.plotly._bands import add_bands_to_legend, ends_of, faded, rank_of, whisker
from glasswood.plots.plotly._builder import (
    GREY,
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

__all__ = ["draw_categories", "room_of_categories"]

Axes = tuple[str, str]
STRIP = 0.15  # the part of the width that is for the data
SPREAD = 0.55  # how far the marks of several lines are apart


def room_of_categories(panel: Steps) -> Margins:
    """Return the room that the labels of a panel need."""
    return Margins(left=20 + room_for(_labels(panel)), right=20)


def _labels(panel: Steps) -> tuple[str, ...]:
    return (*panel.x.labels, *(label.replace("\n", " ") for _, label in cells_beside_axis(panel)))


def draw_categories(builder: FigureBuilder, place: Place, panel: Steps, heights: tuple[float, float]) -> None:
    """Draw the heights of categories as marks, the first category on top, and the share of rows as bars at the left."""
    n, outer = panel.x.n_cells, cells_beside_axis(panel)
    small = {"tickfont": {"size": max(7, min(11, int(place.height / max(n + len(outer), 1)) - 2))}}
    lines: dict[str, Any] = {"range": [n + len(outer) - 0.5, -0.6], **small, **ticks_of(_labels(panel))}
    base = STRIP + 0.02 if panel.support else 0.0
    y = builder.axis("y", domain=place.up(0, 1), title=title_of(panel.x.label), **lines)
    title = title_of(panel.y_label, place.width)
    x = builder.axis("x", domain=place.across(base, 1), range=list(heights), title=title, nticks=6)
    builder.anchor(x, y)
    if panel.support:
        strip = builder.axis("x", domain=place.across(0, STRIP), range=[0, 1], visible=False, fixedrange=True)
        builder.anchor(strip, y)
        _draw_shares(builder, (strip, y), panel)
    if panel.mean is not None:
        builder.line(x0=panel.mean, x1=panel.mean, xref=x, y0=0, y1=1, yref=f"{y} domain")
    if outer:
        builder.line(x0=0, x1=1, xref=f"{x} domain", y0=n - 0.5, y1=n - 0.5, yref=y, dash="dot")
    _draw_rows(builder, (x, y), panel)
    for k in range(len(panel.lines)):
        _draw_marks(builder, (x, y), panel, k)


def _draw_rows(builder: FigureBuilder, axes: Axes, panel: Steps) -> None:
    """Draw bands of rows, and single ones. Bands of several lines are thin, behind the marks."""
    places = list(range(panel.x.n_cells))
    add_bands_to_legend(builder, axes, panel)
    for i, (band, colour, shade) in enumerate(coloured_bands(panel)):
        ranges = [ends for ends in _ends(panel, band) if ends is not None]
        at = [place for place, ends in enumerate(_ends(panel, band)) if ends is not None]
        if band.line is None or len(panel.lines) == 1:
            width = 0.5 if i or band.line is not None else 0.7
            bars = {"x": [high - low for low, high in ranges], "base": [low for low, _ in ranges]}
            options = {"orientation": "h", "width": width, "marker": {"color": faded(colour, shade)}}
            options |= {"hoverinfo": "skip", "legendrank": rank_of(band)}
            builder.add(axes, type="bar", y=at, name=band.name, **bars, **options)
            continue
        shift = SPREAD * dodge(band.line, len(panel.lines))
        x = [value for ends in ranges for value in (*ends, None)]
        y = [value for place in at for value in (place + shift, place + shift, None)]
        builder.add(axes, x=x, y=y, name=band.name, **whisker(colour))
    for row in panel.faint:
        options = {"mode": "lines", "line": {"color": GREY, "width": 0.7}, "hoverinfo": "skip", "name": "single rows"}
        builder.add(axes, type="scatter", x=list(row), y=places, **options)


def _ends(panel: Steps, band: Band) -> list[tuple[float, float] | None]:
    """Return the ends of a band in all cells, those next to the axis last."""
    return [*zip(band.low, band.high, strict=True), *(getattr(band, field) for field, _ in cells_beside_axis(panel))]


def _draw_marks(builder: FigureBuilder, axes: Axes, panel: Steps, k: int) -> None:
    """Draw one height per category, hollow where there are no rows, joined to the average if that is known."""
    line, named = panel.lines[k], len(panel.lines) > 1 or bool(panel.bands)
    colour, mark = colour_of(panel, k), PLOTLY_MARKS[k % len(PLOTLY_MARKS)]
    heights, texts, empty = _all_cells(panel, line)
    band = band_of(panel, k)
    if band is not None:
        ends = _ends(panel, band)
        texts = [
            (cell, text if at is None else f"{text}<br>{ends_of(band, at)}")
            for (cell, text), at in zip(texts, ends, strict=True)
        ]
    shift = SPREAD * dodge(k, len(panel.lines))
    places = [place + shift for place, height in enumerate(heights) if height is not None]
    kept = [i for i, height in enumerate(heights) if height is not None]
    values = [heights[i] for i in kept]
    if panel.mean is not None:
        x = [value for height in values for value in (panel.mean, height, None)]
        y = [value for at in places for value in (at, at, None)]
        thin = {"mode": "lines", "line": {"color": colour, "width": 1}, "opacity": 0.5, "hoverinfo": "skip"}
        builder.add(axes, type="scatter", x=x, y=y, **thin)
    of = f"{safe(line.name)}: " if named else ""
    hover = {"hovertext": [f"{texts[i][0]}<br>{of}{texts[i][1]}" for i in kept], "hoverinfo": "text"}
    size = 9 if panel.x.n_cells <= 15 else 7
    options = {"color": colour, "symbol": [mark + ("-open" if empty[i] else "") for i in kept], "size": size}
    pale = [
        *(line.pale or [False] * panel.x.n_cells),
        *(field in line.pale_beside for field, _ in cells_beside_axis(panel)),
    ]
    options |= {"opacity": [PALE_OPACITY if pale[i] else 1.0 for i in kept]} if any(pale) else {}
    name = {"name": line.name} if named else {}
    builder.add(axes, type="scatter", mode="markers", x=values, y=places, marker=options, **hover, **name)


def _all_cells(panel: Steps, line: Line) -> tuple[list[float | None], list[tuple[str, str]], list[bool]]:
    """Return the heights of all cells, those next to the axis last, their texts, and which have no rows."""
    support = line.support or panel.support
    heights: list[float | None] = [float(h) if np.isfinite(h) else None for h in line.heights]
    shares = [f"<br>{share_of_rows(share, weighted=panel.weighted)}" for share in support] or [""] * len(heights)
    cells = zip(cell_texts(panel.x), heights, shares, strict=True)
    texts = [(cell, f"{'' if height is None else number(height)}{share}") for cell, height, share in cells]
    for field, label in cells_beside_axis(panel):
        height = getattr(line, field)
        heights.append(height)
        text = "" if height is None else number(height)
        texts.append((f"{safe(panel.x.label)} {label.replace(chr(10), ', ')}", text))
    empty = [share == 0 for share in support] or [False] * len(line.heights)
    return heights, texts, empty + [False] * len(cells_beside_axis(panel))


def _draw_shares(builder: FigureBuilder, axes: Axes, panel: Steps) -> None:
    """Draw the share of rows of each category on the left, and of missing and unseen values next to the axis."""
    grouped = [(k, line) for k, line in enumerate(panel.lines) if line.support]
    options: dict[str, Any] = {"type": "bar", "orientation": "h", "hoverinfo": "skip"}
    if grouped:
        max_ = max(max(line.support) for _, line in grouped) or 1.0
        width = 0.8 / len(grouped)
        for i, (k, line) in enumerate(grouped):
            at = [place - 0.4 + width * (i + 0.5) for place in range(panel.x.n_cells)]
            bars = {"x": [share / max_ for share in line.support], "y": at, "width": 0.9 * width}
            builder.add(axes, marker={"color": colour_of(panel, k)}, opacity=0.5, **options, **bars)
        return
    others = [
        panel.missing_share if field == "missing" else panel.unseen_share for field, _ in cells_beside_axis(panel)
    ]
    shares = [*panel.support, *(share or 0.0 for share in others)]
    max_ = max(*shares, 1e-300)
    bars = {"x": [share / max_ for share in shares], "y": list(range(len(shares))), "width": 0.8}
    builder.add(axes, marker={"color": GREY, "line": {"width": 0}}, **options, **bars)
