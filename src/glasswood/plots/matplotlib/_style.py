"""What a drawing takes over from matplotlib's settings: colours, and what the fonts can show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.colors import to_hex, to_rgb
from matplotlib.font_manager import FontProperties, findfont, get_font

from glasswood.plots._style import Style
from glasswood.text._plain import shorten

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["Drawer", "look_of"]


@dataclass(frozen=True)
class Drawer:
    """How a kind of panel is drawn; each file of panels has those of its kinds as `DRAWERS`.

    `draw` takes axes, a panel and a Look, and returns the marks of the legend, if any; `names` are the names of these.
    `size` is what a panel alone would like, in inches. `framed` panels have lines on all four sides.
    """

    draw: Callable[[Axes, Any, Style], Sequence[Artist] | None]
    size: Callable[[Any], tuple[float, float]]
    names: Callable[[Any], Sequence[str]] = lambda _: ()
    framed: bool = False


def look_of(ax: Axes | None, *, alone: bool) -> Style:
    """Return the colours of the surroundings, and what the font can show."""
    paper = ax.get_facecolor() if ax is not None else mpl.rcParams["axes.facecolor"]
    if len(paper) == 4 and not isinstance(paper, str) and paper[3] == 0:
        paper = "white" if sum(to_rgb(mpl.rcParams["text.color"])) < 1.5 else "black"
    return Style(to_hex(mpl.rcParams["text.color"]), to_hex(paper), _readable(_fonts()), alone)


def _fonts() -> tuple[str, ...]:
    """Return the files of the fonts that texts are set in."""
    result: list[str] = []
    settings = mpl.rcParams  # to look at all of them would load pyplot
    for family in settings["font.family"]:
        for name in settings.get(f"font.{family}", [family]):
            try:
                result.append(findfont(FontProperties(family=[name]), fallback_to_default=False))
            except ValueError:
                continue
            break  # matplotlib takes the first font of a family that is there
    return tuple(result) or (findfont(FontProperties()),)


@lru_cache(maxsize=8)
def _readable(fonts: tuple[str, ...]) -> Callable[[str], str]:
    """Return a function that shortens a text, and puts a square for what no font has, which would be a warning."""
    known: set[int] = set().union(*(get_font(font).get_charmap() for font in fonts))
    square = "\u25a1" if 0x25A1 in known else "?"

    def readable(text: str) -> str:
        return "".join(c if ord(c) in known or c == "\n" else square for c in shorten(text, 60))

    return readable
