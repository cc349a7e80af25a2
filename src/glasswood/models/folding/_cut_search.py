"""Cuts of transformed values as cuts of the user's own: the last number that a monotone function maps to one side.

A transformed value is compared with a cut in floating point, so the cut of the user's values is found in floating
point, too: by search among the numbers of float64, until a number and the next one are on two sides of the cut.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cuts", "from_places", "grid_between", "places", "search"]

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Evaluate = Callable[[Mapping[int, Floats]], Mapping[int, NDArray[np.floating[Any]]]]

STEPS = np.array([1, 2, 4, 16, 256, 2**16, 2**30, 2**44])  # away from a guess, in numbers of float64
NEAR = np.concatenate([np.arange(1, 9), 2 ** np.arange(4, 53, 4)])  # away from a cut, where the order is checked
N_EVEN = 7  # further numbers, evenly between the ends
MAX_ROWS = 100_000  # that transformers are given at once
ALL_BITS = np.int64(2**63 - 1)
EXPONENTS = np.array([-1022, -500, -200, -100, -60, -40, -30, -20, -15, -10, *range(-7, 30, 2), 40, 60, 100, 200, 500])


def places(numbers: Floats) -> Places:
    """Return the place of each number among all numbers of float64, counted from 0.0; -0.0 is 0.0.

    Examples
    --------
    >>> places(np.array([0.0, 5e-324, -5e-324])).tolist()
    [0, 1, -1]
    """
    bits = np.ascontiguousarray(numbers, dtype=np.float64).view(np.int64)
    return np.where(bits >= 0, bits, -(bits & ALL_BITS))


def from_places(result: Places) -> Floats:
    """Return the numbers at some places.

    Examples
    --------
    >>> from_places(places(np.array([-1.5, 0.0, np.inf]))).tolist()
    [-1.5, 0.0, inf]
    """
    size = np.abs(result).view(np.float64)
    return np.where(result >= 0, size, -size)


def grid_between(known: Floats, low: float, high: float) -> Floats:
    """Return sorted numbers from low to high: both ends, known values, powers of two of either sign, and zero."""
    powers = 2.0**EXPONENTS
    numbers = np.concatenate([[low, high, 0.0], known, powers, -powers])
    return np.unique(numbers[(numbers >= low) & (numbers <= high)] + 0.0)


@dataclass
class Cuts:
    """Cuts of transformed columns, each of which depends on one column of the user's, in increasing order or not.

    Parameters
    ----------
    source, made : ndarray of shape (n_cuts,), intp
        The user's column and the transformed one.
    cut : ndarray of shape (n_cuts,), float64
    falls : ndarray of shape (n_cuts,), bool
        Whether the transformed value falls while the user's grows.
    low, high : ndarray of shape (n_cuts,), int64
        Places of two numbers of the user's, between which the cut is.
    at_low, at_high : ndarray of shape (n_cuts,), float64
        What they are transformed to.
    """

    source: NDArray[np.intp]
    made: NDArray[np.intp]
    cut: Floats
    falls: NDArray[np.bool_]
    low: Places
    high: Places
    at_low: Floats
    at_high: Floats

    def before(self, entries: NDArray[np.intp], values: Floats) -> NDArray[np.bool_]:
        """Return whether transformed values are on the side of each cut where the small ones of the user's are."""
        cut, falls = self.cut[entries, None], self.falls[entries, None]
        before: NDArray[np.bool_] = (values <= cut) ^ falls
        return before

    def narrow(self, entries: NDArray[np.intp], at: Places, values: Floats) -> NDArray[np.bool_]:
        """Move the ends of some cuts, given what numbers between them are transformed to; return which are in order."""
        before = self.before(entries, values)
        fine = np.asarray((before[:, :-1] >= before[:, 1:]).all(axis=1) & ~np.isnan(values).any(axis=1))
        n_before = before.sum(axis=1)
        rows = np.arange(entries.size)
        some, all_ = n_before > 0, n_before == at.shape[1]
        last, first = np.maximum(n_before - 1, 0), np.minimum(n_before, at.shape[1] - 1)
        self.low[entries] = np.where(some, at[rows, last], self.low[entries])
        self.at_low[entries] = np.where(some, values[rows, last], self.at_low[entries])
        self.high[entries] = np.where(all_, self.high[entries], at[rows, first])
        self.at_high[entries] = np.where(all_, self.at_high[entries], values[rows, first])
        return fine

    def guesses(self, entries: NDArray[np.intp]) -> Places:
        """Return places strictly between the ends of each cut, near to where a straight line would meet it."""
        low, high = self.low[entries], self.high[entries]
        with np.errstate(all="ignore"):
            x, y = from_places(low), from_places(high)
            a, b = self.at_low[entries], self.at_high[entries]
            met = x + (self.cut[entries] - a) / (b - a) * (y - x)
        middle = low // 2 + high // 2 + (low & high & 1)
        guess = np.where(np.isfinite(met) & (met >= x) & (met <= y), places(np.nan_to_num(met)), middle)[:, None]
        even = (np.arange(1, N_EVEN + 1) / (N_EVEN + 1))[None]
        spread = low[:, None] + ((high.astype(np.float64) - low)[:, None] * even).astype(np.int64)
        result = np.concatenate([guess, guess - STEPS, guess + STEPS, spread, middle[:, None]], axis=1)
        return np.sort(np.clip(result, low[:, None] + 1, high[:, None] - 1), axis=1)


def search(cuts: Cuts, evaluate: Evaluate) -> set[int]:
    """Move the ends of all cuts until they are neighbours; return the user's columns that turned out not to be ordered.

    Around each cut, numbers on either side are tried as well: there, too, all small ones must be on one side of it.
    """
    wrong: set[int] = set()
    while True:
        alone = ~np.isin(cuts.source, list(wrong))
        left = np.flatnonzero((cuts.high - cuts.low > 1) & alone)
        if not left.size:
            break
        for entries in _batches_of_cuts(left, STEPS.size * 2 + N_EVEN + 2):
            at = cuts.guesses(entries)
            fine = cuts.narrow(entries, at, _evaluated(cuts, entries, at, evaluate))
            wrong |= set(cuts.source[entries[~fine]].tolist())
    lasts = {int(s): (cuts.low[cuts.source == s].min(), cuts.high[cuts.source == s].max()) for s in set(cuts.source)}
    for entries in _batches_of_cuts(np.flatnonzero(~np.isin(cuts.source, list(wrong))), 2 * NEAR.size):
        low = cuts.low[entries, None]
        ends = np.array([lasts[source] for source in cuts.source[entries].tolist()]).reshape(-1, 2)
        at = np.clip(np.concatenate([low - NEAR[::-1] + 1, low + NEAR], axis=1), ends[:, :1], ends[:, 1:])
        before = cuts.before(entries, _evaluated(cuts, entries, at, evaluate))
        fine = (before == (at <= low)).all(axis=1)
        wrong |= set(cuts.source[entries[~fine]].tolist())
    return wrong


def _batches_of_cuts(entries: NDArray[np.intp], n_points: int) -> list[NDArray[np.intp]]:
    """Return cuts in parts of so many that their points are rows for transformers."""
    max_ = max(1, MAX_ROWS // n_points)
    return [entries[first : first + max_] for first in range(0, entries.size, max_)]


def _evaluated(cuts: Cuts, entries: NDArray[np.intp], at: Places, evaluate: Evaluate) -> Floats:
    """Return what numbers are transformed to, one line per cut; all columns of the user's are tried at once."""
    sources = cuts.source[entries]
    lines = {int(source): np.flatnonzero(sources == source) for source in np.unique(sources)}
    columns = evaluate({source: from_places(at[own]).ravel() for source, own in lines.items()})
    values = np.empty(at.shape)
    for own in lines.values():
        made = cuts.made[entries[own]]
        for column in np.unique(made):
            here = np.flatnonzero(made == column)
            several = np.asarray(columns[int(column)], dtype=np.float64)[: own.size * at.shape[1]]
            values[own[here]] = several.reshape(own.size, -1)[here]
    return values
