"""Panels of steps, as needed by both drawing libraries: what is shown next to the axis, and the range of heights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from glasswood.plots._axes import in_view
from glasswood.plots._joined import heights_of_joined
from glasswood.plots._spec import Band, Joined, Sheet, Steps
from glasswood.plots._style import LINES
from glasswood.text._plain import percent, several

__all__ = [
    "BASE",
    "band_of",
    "bands_in_legend",
    "cells_beside_axis",
    "colour_of",
    "coloured_bands",
    "common_heights",
    "dodge",
    "height_range",
    "limits",
    "marked",
    "names_in_legend",
]

BASE = 0.14  # the part of the height that is for the data, at the bottom
SHADES = (0.16, 0.26)  # of the wider and the narrower of two bands
SHADE_OF_LINE = 0.18
ALIKE = 5.0  # times as far as another one, panels that share their heights may reach
FLAT = 1e-9  # of the span of the widest panel: what is less may come from rounding
LETTERS = 24  # of the name of a line in a legend


def cells_beside_axis(panel: Steps) -> list[tuple[str, str]]:
    """Return what is shown next to the axis: the attribute of lines, and the label."""
    result = []
    for field, share in (("missing", panel.missing_share), ("unseen", panel.unseen_share)):
        if any(getattr(line, field) is not None for line in panel.lines):
            result.append((field, f"{field}\n{percent(share)}" if share else field))
    return result


def names_in_legend(panel: Steps) -> list[str]:
    """Return the entries of the legend: lines, bands, single rows."""
    return [
        *several([line.name for line in panel.lines], LETTERS),
        *(name for name, _, _ in bands_in_legend(panel)),
        *["single rows"][: len(panel.faint)],
    ]


def colour_of(panel: Steps, line: int) -> str:
    """Return the colour of a line."""
    own = panel.lines[line].colour
    return LINES[(line if own is None else own) % len(LINES)]


def coloured_bands(panel: Steps) -> list[tuple[Band, str, float]]:
    """Return bands with their colours and shades: those of lines have the colour of their line."""
    result, shades = [], iter(SHADES)
    for band in panel.bands:
        shade = next(shades, SHADES[-1]) if band.line is None else SHADE_OF_LINE
        result.append((band, LINES[0] if band.line is None else colour_of(panel, band.line), shade))
    return result


def bands_in_legend(panel: Steps) -> list[tuple[str, str | None, float]]:
    """Return the names of bands, their colours (None if bands of several lines have the name) and their shades."""
    result: dict[str, tuple[str, str | None, float]] = {}
    for band, colour, shade in coloured_bands(panel):
        mixed = band.line is not None and len(panel.lines) > 1
        result.setdefault(band.name, (band.name, None if mixed else colour, shade))
    return list(result.values())


def band_of(panel: Steps, line: int) -> Band | None:
    """Return the band that belongs to a line."""
    return next((band for band in panel.bands if band.line == line), None)


def height_range(panel: Steps) -> tuple[float, float]:
    """Return the lowest and the highest of all heights of a panel that are in view."""
    here = in_view(panel.x)[0] if panel.x.edges else slice(None)
    values: list[float] = [] if panel.mean is None else [panel.mean]
    for line in panel.lines:
        values += [*line.heights[here], *(x for x in (line.missing, line.unseen) if x is not None)]
    for band in panel.bands:
        values += [*band.low[here], *band.high[here], *(band.missing or ()), *(band.unseen or ())]
    for row in panel.faint:
        values += row[here]
    result = np.array(values, dtype=np.float64)
    result = result[np.isfinite(result)]
    return (float(result.min()), float(result.max())) if result.size else (0.0, 1.0)


def limits(heights: tuple[float, float]) -> tuple[float, float]:
    """Return where an axis of heights begins and ends: a little beyond the lowest and the highest of them."""
    low, high = heights
    span = high - low
    if span <= 1e-12 * max(abs(low), abs(high)):
        span = 0.1 * abs(high) or 1.0
        low, high = low - span / 2, high + span / 2
    return low - 0.06 * span, high + 0.07 * span


def dodge(i: int, n: int) -> float:
    """Return the distance of the i-th of n marks from the middle, from -0.5 to 0.5."""
    return 0.0 if n == 1 else i / (n - 1) - 0.5


def common_heights(sheet: Sheet) -> list[tuple[float, float] | None]:
    """Return the heights that each panel shares with others; None if it has its own.

    Panels of curves share them if they are on one scale, and none of them reaches less than a fifth as far as another:
    it would look flat. A curve that is flat stays with the others.
    """
    own = {k: panel for k, panel in enumerate(sheet.panels) if isinstance(panel, Steps | Joined)}
    if not sheet.shared_y or len({panel.y_label for panel in own.values()}) != 1:
        return [None] * len(sheet.panels)
    ranges = {k: height_range(p) if isinstance(p, Steps) else heights_of_joined(p) for k, p in own.items()}
    widest = max(high - low for low, high in ranges.values())
    shared = {k: (low, high) for k, (low, high) in ranges.items() if not FLAT * widest < high - low < widest / ALIKE}
    heights = min(low for low, _ in shared.values()), max(high for _, high in shared.values())
    return [heights if k in shared else None for k in range(len(sheet.panels))]


def marked(sheet: Sheet, heights: Sequence[tuple[float, float] | None]) -> Sheet:
    """Return a sheet whose panels say so if they do not share the heights of others."""
    if not any(heights):
        return sheet
    panels = list(sheet.panels)
    for k, panel in enumerate(panels):
        if heights[k] is None and isinstance(panel, Steps | Joined):
            panels[k] = replace(panel, note="; ".join(filter(None, [panel.note, "on its own scale"])))
    return replace(sheet, panels=tuple(panels))
