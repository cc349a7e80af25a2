"""What plotly's panels are written on: traces, axes and texts as plain dictionaries, every name made harmless."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from glasswood.plots._axes import whole_numbers
from glasswood.plots._spec import Scale
from glasswood.plots._text import number, plain, shorten

__all__ = ["GREY", "Paper", "Place", "cell_texts", "safe", "ticks_of", "title_of", "whole_ticks"]

GREY = "rgba(128,128,128,0.45)"  # to be seen on white and on black


def safe(text: Any, most: int = 40) -> str:
    """Return a short text in which plotly finds no tag, no formula and no place to put a value."""
    return html.escape(shorten(text, most), quote=False).replace("$", "&#36;").replace("%{", "&#37;{")


def cell_texts(scale: Scale) -> list[str]:
    """Return what each cell of an axis is, for hovering."""
    if scale.labels:
        return [f"{safe(scale.label)}: {safe(label, 80)}" for label in scale.labels]
    name, cuts = safe(scale.label), [_exact(cut) for cut in scale.edges[1:-1]]
    inner = [f"{name}: above {a}, up to {b}" for a, b in pairwise(cuts)]
    return [f"{name}: up to {cuts[0]}", *inner, f"{name}: above {cuts[-1]}"]


def _exact(x: float) -> str:
    """Return a cut with more digits than other numbers."""
    return f"{x:.7g}" if abs(x) < 1e15 else number(x)


@dataclass(frozen=True)
class Place:
    """Where a panel is: from left to right and from bottom to top, as shares of the figure."""

    x: tuple[float, float]
    y: tuple[float, float]

    @classmethod
    def in_grid(cls, line: tuple[int, int], column: tuple[int, int], height: float) -> Place:
        """Return the place of a panel in line i of n, column j of m, with room for its labels."""
        (i, n), (j, m) = line, column
        room_x, room_y = 0.075, min(0.5 / n, 75 / height)
        wide = (1 - room_x * (m - 1)) / m
        high = (1 - room_y * (n - 1)) / n
        left, top = j * (wide + room_x), 1 - i * (high + room_y)
        return cls((left, left + wide), (max(0.0, top - high), top))


@dataclass
class Paper:
    """A figure as it grows."""

    heights: tuple[float, float] | None = None
    alone: bool = True
    traces: list[dict[str, Any]] = field(default_factory=list)
    layout: dict[str, Any] = field(default_factory=lambda: {"hovermode": "closest", "bargap": 0})
    annotations: list[dict[str, Any]] = field(default_factory=list)
    shapes: list[dict[str, Any]] = field(default_factory=list)
    named: set[str] = field(default_factory=set)
    noted: bool = False
    _n: int = 0

    @property
    def next_axis(self) -> str:
        """The end of the names of the next pair of axes."""
        return "" if self._n == 0 else str(self._n + 1)

    def axes(self, x: dict[str, Any], y: dict[str, Any]) -> tuple[str, str]:
        """Add a pair of axes, and return their names."""
        end = self.next_axis
        self._n += 1
        ids = f"x{end}", f"y{end}"
        self.layout[f"xaxis{end}"] = {"anchor": ids[1], "zeroline": False, "automargin": True} | x
        self.layout[f"yaxis{end}"] = {"anchor": ids[0], "zeroline": False, "automargin": True} | y
        return ids

    def add(self, axes: tuple[str, str], **trace: Any) -> None:
        """Add a trace; those without a name are not in the legend, and of one name only the first is."""
        name = trace.pop("name", None)
        shown = name is not None and name not in self.named
        if name is not None:
            self.named.add(name)
            trace |= {"name": safe(name), "legendgroup": safe(name, 80)}
        self.traces.append({"showlegend": shown, "xaxis": axes[0], "yaxis": axes[1]} | trace)

    def annotate(self, text: str, *, size: int = 11, **where: Any) -> None:
        """Add a text, which must be safe."""
        self.annotations.append({"text": text, "showarrow": False, "font": {"size": size}, "align": "left"} | where)


def title_of(text: str) -> dict[str, Any]:
    """Return the title of an axis."""
    return {"text": safe(text, 60), "standoff": 6}


def whole_ticks(scale: Scale) -> dict[str, Any]:
    """Return ticks at whole numbers, for a feature that seems to have only a few of them."""
    return {"dtick": 1} if whole_numbers(scale) and scale.view[1] - scale.view[0] <= 12 else {}


def ticks_of(labels: tuple[str, ...], most: int = 22) -> dict[str, Any]:
    """Return the ticks of an axis of labels: places are numbers, so that equal names are two places."""
    return {
        "tickvals": list(range(len(labels))),
        "ticktext": [safe(plain(label), most) or "(empty)" for label in labels],
    }
