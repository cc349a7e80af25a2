"""Words that a report chooses by numbers: the same numbers have the same words in every section."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from glasswood.text._plain import number, share_of_rows

__all__ = ["NEARLY", "is_spike", "n_inside", "sample_note", "shape_word", "text_of_grids", "text_of_reversals"]

NEARLY = 0.05  # of a curve's range, and of the rows: what goes against a direction by more is no small reversal
MANY = 0.05  # of the rows: a stretch with as many is no spike


def shape_word(direction: str, main: str, against: float, span: float, share: float) -> str:
    """Return the shape of a curve in a word or two.

    Parameters
    ----------
    direction, main : str
        Of the curve, and of most of its steps, as `Monotonicity` has them.
    against, span : float
        The largest step against the main direction, and the range of the curve.
    share : float
        The share of the rows between such a step and the point where the curve has recovered; NaN if unknown.
    """
    if direction != "neither":
        return direction
    small = 0 < against <= NEARLY * span and not share > NEARLY
    return f"nearly {main}" if small else "not monotone"


def text_of_reversals(main: str, against: float, at: float, share: float, *, weighted: bool) -> str:
    """Return a sentence about a curve that is nearly monotone."""
    rows = "" if np.isnan(share) else f", and {share_of_rows(share, weighted=weighted)} are affected"
    rows = rows.replace("the weight are", "the weight is")
    return f"{main}, except for small reversals; the largest is {number(against)}, at {number(at)}{rows}."


def is_spike(rows: float, total: float) -> bool:
    """Return whether a stretch of a curve has so few of the rows that it is a spike; NaN if its rows are unknown."""
    return not rows >= MANY * total


def n_inside(above: float, to: float, points: NDArray[np.float64]) -> int:
    """Return how many points of a grid are in a stretch."""
    return int(((points > above) & (points <= to)).sum())


def text_of_grids(n_points: int, basis: str, above: float, to: float, values: NDArray[np.float64] | None) -> str:
    """Return which grids would show a stretch that evenly spaced points between the ends miss.

    Parameters
    ----------
    n_points : int
        The number of points of a grid.
    basis : str
        What the ends are those of, see `Spikes`.
    above, to : float
        The stretch.
    values : ndarray or None
        The values of the feature in the rows, if they are at hand.
    """
    ends = "the smallest and the largest value" if basis == "rows" else "the ends that are known"
    ends = "the first and the last cut" if basis == "covers" else ends
    text = f"A grid of {n_points:,} evenly spaced values between {ends} misses it"
    finite = np.empty(0) if values is None else values[np.isfinite(values)]
    if not finite.size:
        return f"{text}."
    low, high = np.quantile(finite, [0.05, 0.95]).tolist()
    inside = n_inside(above, to, np.linspace(low, high, n_points))
    if not inside:
        return f"{text}, and so does one between the 5th and the 95th percentile."
    points = "1 point" if inside == 1 else f"{inside:,} points"
    return f"{text}; one between the 5th and the 95th percentile has {points} there."


def sample_note(n_rows: int, *, sampled: bool) -> str:
    """Return what number of rows an answer was estimated from, if these are a sample."""
    return f" (from a sample of {n_rows:,} rows)" if sampled else ""
