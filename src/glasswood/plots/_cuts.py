"""Cuts as people read them: the shortest number that separates the two sides of a cut, and cells in words.

Cells hold the values above one cut and up to the next. A library that rounds to float32 has a cut between two numbers
of that type: XGBoost's "below 4" is "up to 3.9999998807907104" for float64. Results keep these; people read "below 4".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.plots._spec import Scale
from glasswood.text._plain import MINUS

__all__ = ["ShownCut", "cell_text", "cell_words", "shown_cut", "shown_cuts"]

ZERO = float(np.float32(1e-35))  # LightGBM's representation of a cut at 0; no nonzero value is this small
JUST_BEYOND = float(np.nextafter(ZERO, 1.0))
WORTH = 3  # digits that a shorter number must save


class ShownCut(NamedTuple):
    """A cut as shown to users: values up to `number` are on its left or, if it is `strict`, values below it."""

    number: float
    strict: bool = False


def shown_cut(cut: float) -> ShownCut:
    """Return the shortest number that separates the two sides of a cut."""
    return shown_cuts([cut])[0]


def shown_cuts(cuts: Sequence[float]) -> list[ShownCut]:
    """Return sorted cuts as shown to users. Where two would look the same, both are shown in full."""
    exact = np.asarray(cuts, dtype=np.float64)
    listed = (side.tolist() for side in (exact, *_neighbours(exact)))
    shown = [_shortest(*three) for three in zip(*listed, strict=True)]
    alike = {k for k in range(1, len(shown)) if not shown[k - 1].number < shown[k].number}
    return [ShownCut(float(exact[k])) if {k, k + 1} & alike else one for k, one in enumerate(shown)]


def _shortest(cut: float, left: float, right: float) -> ShownCut:
    """Return the shortest of a cut and the numbers next to it, if it is much shorter than the cut."""
    if not math.isfinite(cut):
        return ShownCut(cut)
    if ZERO <= abs(cut) <= JUST_BEYOND:
        return ShownCut(0.0, strict=cut < 0)
    n_digits = _n_digits(cut)
    if n_digits <= WORTH:
        return ShownCut(cut)
    best = min(ShownCut(left), ShownCut(right, strict=True), key=lambda shown: _n_digits(shown.number))
    return best if _n_digits(best.number) + WORTH <= n_digits else ShownCut(cut)


@np.errstate(over="ignore", under="ignore", invalid="ignore")
def _neighbours(cuts: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the numbers next to each cut, of the type that the model compares in, as short decimals."""
    single = cuts.astype(np.float32)
    below = np.nextafter(single, np.float32(-np.inf))
    left = np.where(single.astype(np.float64) <= cuts, single, below)
    right = np.nextafter(left, np.float32(np.inf))
    middle = left.astype(np.float64) / 2 + right.astype(np.float64) / 2
    rounded = (cuts == middle) | (cuts == np.nextafter(middle, -np.inf))
    low, high = np.nextafter(cuts, -np.inf), np.nextafter(cuts, np.inf)
    low[rounded], high[rounded] = ([float(str(x)) + 0.0 for x in side[rounded]] for side in (left, right))
    return low, high


def _n_digits(number: float) -> int:
    """Return how many digits a number has when it is written as short as it gets."""
    return len(repr(number).partition("e")[0].replace(".", "").replace("-", "").strip("0"))


def cell_text(cuts: Sequence[ShownCut], cell: int, *, whole: bool = False) -> str:
    """Return which values a cell holds, in words: "up to 3.5", "above 3.5, below 4", "from 4"; "3", "4 to 7"."""
    before = cuts[cell - 1] if cell > 0 else None
    after = cuts[cell] if cell < len(cuts) else None
    if whole:
        return _text_of_whole(before, after)
    parts = []
    if before is not None:
        parts.append(f"{'from' if before.strict else 'above'} {_number(before.number)}")
    if after is not None:
        parts.append(f"{'below' if after.strict else 'up to'} {_number(after.number)}")
    return ", ".join(parts) or "any value"


def cell_words(scale: Scale) -> list[str]:
    """Return which values each cell of an axis of numbers holds, in words."""
    if scale.places:
        return [_number(a) if a == b else f"{_number(a)} to {_number(b)}" for a, b in scale.places]
    cuts = shown_cuts(scale.cuts or scale.edges[1:-1])
    return [cell_text(cuts, cell, whole=scale.whole) for cell in range(scale.n_cells)]


def _text_of_whole(before: ShownCut | None, after: ShownCut | None) -> str:
    """Return the same for whole numbers."""
    first = None if before is None else _first_whole(before)
    last = None if after is None else _first_whole(after) - 1
    if first is None:
        return "any value" if last is None else f"up to {_number(last)}"
    if last is None:
        return f"from {_number(first)}"
    return _number(first) if last <= first else f"{_number(first)} to {_number(last)}"


def _first_whole(cut: ShownCut) -> float:
    """Return the first whole number on the right of a cut."""
    return float(np.ceil(cut.number)) if cut.strict else float(np.floor(cut.number) + 1)


def _number(x: float) -> str:
    """Return a number with up to nine digits, and three behind the point if it is large."""
    digits = 9 if abs(x) < 1e6 or not math.isfinite(x) else min(17, math.floor(math.log10(abs(x))) + 4)
    return f"{x:,.{digits}g}".replace("-", MINUS)
