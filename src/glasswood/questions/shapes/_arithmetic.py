"""Shapes of curves: their trend, and what a grid of points misses."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._statistics import NOISE, Floats

__all__ = ["Missed", "Trend", "missed", "trend"]

WORTH_A_WORD = 0.05  # of a curve's range: what a spike must stand out by


# --------------------------------------------------------------------------------------------------------- shapes


class Trend(NamedTuple):
    """Whether a curve rises or falls; one entry per output."""

    direction: list[str]
    main: list[str]
    against: Floats
    cut: NDArray[np.int64]
    share: Floats


def trend(heights: Floats, rows: NDArray[Any]) -> Trend:
    """Return the trend of heights between cuts, (n_cells, n_outputs), without the missing cell.

    `rows` are those in each cell, then the missing ones; empty if there are none. `cut` is the number of the cut of the
    largest step against the main direction, -1 if there is none.
    """
    scale, extent = np.abs(heights).max(axis=0, initial=0.0), np.ptp(heights, axis=0)
    noise = NOISE * scale + 1e-9 * extent
    steps = np.diff(heights, axis=0)
    rises, falls = np.maximum(steps, 0.0), np.maximum(-steps, 0.0)
    up = rises.sum(axis=0) >= falls.sum(axis=0)
    wrong = np.where(up, falls, rises)
    cut = np.zeros(up.size, dtype=np.int64) if not len(steps) else wrong.argmax(axis=0)
    against = wrong[cut, np.arange(up.size)] if len(steps) else np.zeros(up.size)
    bad, flat = against > noise, extent <= noise
    turned = np.where(up, heights, -heights)
    behind = np.maximum.accumulate(turned, axis=0) - turned > noise
    known = rows.size > 0 and rows.sum() > 0
    share = rows[: len(heights)] @ behind / rows.sum() if known else np.full(up.size, np.nan)
    main = ["increasing" if rising else "decreasing" for rising in up]
    named = zip(main, bad, flat, strict=True)
    return Trend(
        direction=["constant" if still else "neither" if broken else which for which, broken, still in named],
        main=main,
        against=np.where(bad & ~flat, against, 0.0),
        cut=np.where(bad & ~flat, cut, -1),
        share=np.where(flat, 0.0, share) if known else share,
    )


class Missed(NamedTuple):
    """A stretch of cells, from `first` to before `last`, that a sampled curve does not show."""

    first: int
    last: int
    height: float
    by: float


def missed(heights: Floats, sampled: NDArray[np.int64]) -> list[Missed]:
    """Return what a curve of one output does between neighbouring sample points, beyond the heights of both.

    `sampled` are the cells of the sample points, in ascending order. A stretch leaves the range of both points by more
    than 5 % of the curve's whole range, on one side; the stretches of the two sides of an interval are separate.
    """
    least = WORTH_A_WORD * float(np.ptp(heights))
    if least <= NOISE * float(np.abs(heights).max()):
        return []
    result = []
    left, right = sampled[:-1], sampled[1:]
    spans = np.column_stack([left, right + 1]).ravel()
    for sign in (1.0, -1.0):
        turned = np.append(sign * heights, -np.inf)  # one more, because an end is not included
        highest = np.maximum.reduceat(turned, spans)[::2]
        shown_height = np.maximum(turned[left], turned[right])
        for interval in np.flatnonzero(highest - shown_height > least):
            first, last = int(left[interval]), int(right[interval])
            limit = shown_height[interval] + least
            tip = first + int(turned[first : last + 1].argmax())
            low, high = tip, tip + 1
            while turned[low - 1] > limit:  # the sample points themselves are below the limit
                low -= 1
            while turned[high] > limit:
                high += 1
            result.append(Missed(low, high, float(heights[tip]), sign * float(turned[tip] - shown_height[interval])))
    return result
