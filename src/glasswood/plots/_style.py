"""Colours, dashes and marks that are distinguishable for everyone, in colour and in grey, on white and on black."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = [
    "DASHES",
    "DIVERGING",
    "FAINTEST",
    "LINES",
    "MARKS",
    "PALE_OPACITY",
    "PLOTLY_DASHES",
    "PLOTLY_MARKS",
    "SEQUENTIAL",
    "Style",
]

# The colours of Okabe and Ito, without the yellow, which is lost on white; grey and brown in its place.
LINES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F", "#8C510A")
DASHES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (3, 1)), (0, (1, 2.5)))
PLOTLY_DASHES = ("solid", "dash", "dashdot", "dot", "longdashdot", "longdash", "5px,2px", "1px,4px")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
PLOTLY_MARKS = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x", "star")
PALE_OPACITY = 0.35  # how opaque marks and lines are that say little
FAINTEST = 0.03  # the strength of the weakest link of a network that is drawn
SEQUENTIAL, DIVERGING = "viridis", "RdBu_r"


@dataclass(frozen=True)
class Style:
    """What a drawing takes over from its surroundings: the colours of text and paper, and what the font can show.

    `heights` are those that all panels of steps have in common, if they are to be equal.
    """

    ink: str
    paper: str
    readable: Callable[[str], str]
    alone: bool = True
    heights: tuple[float, float] | None = None

    def opacity(self, shade: float) -> float:
        """Return how opaque a shade is: on dark paper more, or it would be lost."""
        light = sum(int(self.paper[i : i + 2], 16) for i in (1, 3, 5))
        return shade if light > 3 * 127 else min(1.0, 2 * shade)

    @property
    def dim(self) -> str:
        """The colour of what is less important: halfway between ink and paper."""
        pairs = [(self.ink[i : i + 2], self.paper[i : i + 2]) for i in (1, 3, 5)]
        return "#" + "".join(f"{(int(a, 16) + int(b, 16)) // 2:02x}" for a, b in pairs)
