"""What plotly's panels are written on: traces, axes and texts as plain dictionaries, every name made harmless."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from glasswood.plots._axes import whole_numbers
from glasswood.plots._cuts import cell_words
from glasswood.plots._spec import Scale
from glasswood.text._plain import plain, several, shorten

__all__ = [
    "GREY",
    "PALE",
    "Drawer",
    "FigureBuilder",
    "Margins",
    "Place",
    "cell_texts",
    "room_for",
    "safe",
    "ticks_of",
    "title_of",
]

GREY = "rgba(128,128,128,0.45)"  # to be seen on white and on black
PALE = "rgba(128,128,128,0.2)"
LETTER = 6.4  # pixels that a letter is wide, on average


def safe(text: object, max_: int = 40) -> str:
    """Return a short text in which plotly finds no tag, no formula and no place to put a value."""
    return html.escape(shorten(text, max_), quote=False).replace("$", "&#36;").replace("%{", "&#37;{")


def cell_texts(scale: Scale) -> list[str]:
    """Return what each cell of an axis is, for hovering."""
    name = safe(scale.label)
    if scale.labels:
        return [f"{name}: {safe(label, 80)}" for label in scale.labels]
    return [f"{name}: {words}" for words in cell_words(scale)]


@dataclass(frozen=True)
class Margins:
    """The pixels around a panel that its labels need."""

    left: float = 62
    right: float = 16
    top: float = 10
    bottom: float = 46


@dataclass(frozen=True)
class Place:
    """Where a panel is drawn: from left to right and from bottom to top, as shares of the figure, and its pixels."""

    x: tuple[float, float]
    y: tuple[float, float]
    width: float
    height: float

    def across(self, begin: float, end: float) -> list[float]:
        """Return the part of the figure between two shares of the place, from left to right."""
        low, high = self.x
        return [low + begin * (high - low), low + end * (high - low)]

    def up(self, begin: float, end: float) -> list[float]:
        """Return the part of the figure between two shares of the place, from bottom to top."""
        low, high = self.y
        return [low + begin * (high - low), low + end * (high - low)]


@dataclass(frozen=True)
class Drawer:
    """How a kind of panel is drawn; each file of panels has those of its kinds as `DRAWERS`.

    `room` is what a panel's labels need, and `height` the pixels that it would like to be high without them, in a
    figure of so many panels.
    """

    draw: Callable[[FigureBuilder, Place, Any], None]
    room: Callable[[Any], Margins]
    height: Callable[[Any, int], float]


@dataclass
class FigureBuilder:
    """A figure as it grows."""

    heights: tuple[float, float] | None = None
    alone: bool = True
    traces: list[dict[str, Any]] = field(default_factory=list)
    layout: dict[str, Any] = field(default_factory=lambda: {"hovermode": "closest", "bargap": 0, "barmode": "overlay"})
    annotations: list[dict[str, Any]] = field(default_factory=list)
    shapes: list[dict[str, Any]] = field(default_factory=list)
    named: dict[str, None] = field(default_factory=dict)
    _n: dict[str, int] = field(default_factory=lambda: {"x": 0, "y": 0})

    def axis(self, which: str, **options: object) -> str:
        """Add an axis, "x" or "y", and return its name."""
        self._n[which] += 1
        end = "" if self._n[which] == 1 else str(self._n[which])
        self.layout[f"{which}axis{end}"] = {"zeroline": False, "automargin": False} | options
        return which + end

    def axes(self, x: dict[str, Any], y: dict[str, Any]) -> tuple[str, str]:
        """Add a pair of axes that belong together, and return their names."""
        ids = self.axis("x", **x), self.axis("y", **y)
        self.anchor(*ids)
        return ids

    def anchor(self, x: str, y: str) -> None:
        """Draw two axes where they meet."""
        self.layout[f"xaxis{x[1:]}"]["anchor"] = y
        self.layout[f"yaxis{y[1:]}"]["anchor"] = x

    def add(self, axes: tuple[str, str], **trace: object) -> None:
        """Add a trace; those without a name are not in the legend, and of one name only the first is."""
        name = trace.pop("name", None)
        shown = isinstance(name, str) and name not in self.named
        if isinstance(name, str):
            self.named[name] = None
            trace |= {"name": safe(name), "legendgroup": safe(name, 80)}
        self.traces.append({"showlegend": shown, "xaxis": axes[0], "yaxis": axes[1]} | trace)

    def annotate(self, text: str, *, size: int = 11, **where: object) -> None:
        """Add a text, which must be safe."""
        self.annotations.append({"text": text, "showarrow": False, "font": {"size": size}, "align": "left"} | where)

    def line(self, **where: object) -> None:
        """Add a thin line."""
        options = {"color": GREY, "width": 1, "dash": where.pop("dash", "solid")}
        self.shapes.append({"type": "line", "layer": "below", "line": options} | where)


def title_of(text: str, length: float | None = None) -> dict[str, Any]:
    """Return the title of an axis of a given length in pixels, on two smaller lines if it does not fit on one."""
    if length is None or len(text) * 1.1 * LETTER <= length:
        return {"text": safe(text, 60), "standoff": 6}
    width = max(12, int(length / (0.95 * LETTER)))
    lines = textwrap.wrap(shorten(text, min(60, 2 * width - 6)), width)[:2]
    return {"text": "<br>".join(safe(line, width) for line in lines), "standoff": 4, "font": {"size": 12}}


def ticks_of(scale: Scale | tuple[str, ...], max_: int = 24) -> dict[str, Any]:
    """Return the ticks of an axis; places of labels are numbers, so that equal names are two places."""
    if isinstance(scale, tuple):
        texts = [html.escape(text, quote=False).replace("$", "&#36;") for text in several(map(plain, scale), max_)]
        return {"tickvals": list(range(len(texts))), "ticktext": texts, "showgrid": False}
    if scale.labels:
        return ticks_of(scale.labels, max_)
    if scale.ticks:
        return {"tickvals": [at for at, _ in scale.ticks], "ticktext": [safe(text) for _, text in scale.ticks]}
    if whole_numbers(scale) and scale.view[1] - scale.view[0] <= 13:
        return {"dtick": 1, "tick0": 0}
    return {"nticks": 7}


def room_for(labels: tuple[str, ...], max_: int = 24) -> float:
    """Return the pixels that the longest of some labels takes."""
    return 14 + LETTER * max((len(text) for text in several(labels, max_)), default=0)
