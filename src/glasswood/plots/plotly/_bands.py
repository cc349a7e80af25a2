"""Bands for Plotly: their colours, their place in the legend, and their hover texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from glasswood.plots._spec import Band, Steps
from glasswood.plots._steps import bands_in_legend
from glasswood.plots.plotly._builder import GREY, FigureBuilder, safe
from glasswood.text._plain import number

__all__ = ["add_bands_to_legend", "ends_of", "faded", "rank_of", "whisker"]

FIRST, LAST = 1000, 1001  # ranks in a legend; lines have the first


def faded(colour: str, shade: float) -> str:
    """Return a colour such as #0072B2 that lets others shine through."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{shade})"


def whisker(colour: str) -> dict[str, Any]:
    """Return the style of the spread around a mark."""
    line = {"color": faded(colour, 0.35), "width": 4}
    return {"type": "scatter", "mode": "lines", "line": line, "hoverinfo": "skip", "cliponaxis": False}


def ends_of(band: Band, ends: Sequence[float]) -> str:
    """Return the hover text of a band in a cell."""
    low, high = ends
    return f"{number(low)} to {number(high)}: {safe(band.name)}"


def rank_of(band: Band) -> int:
    """Return where a band is in the legend: those of lines come after the lines."""
    return FIRST if band.line is None else LAST


def add_bands_to_legend(builder: FigureBuilder, axes: tuple[str, str], panel: Steps) -> None:
    """Add grey entries for bands of several lines, which have different colours and the same name."""
    for name, colour, _ in bands_in_legend(panel):
        if colour is None and name not in builder.named:
            options = {"mode": "lines", "line": {"width": 0}, "fill": "toself", "fillcolor": GREY, "hoverinfo": "skip"}
            builder.add(axes, type="scatter", x=[None], y=[None], name=name, legendrank=LAST, **options)
