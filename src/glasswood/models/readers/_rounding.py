"""Cuts of the libraries that compare in float32, as cuts for the user's float64 values.

Rounding to float32 never changes the order of two numbers, so "x rounded to float32 is at most t" is "x <= t'" for one
float64 t', and no value has to be rounded when trees are walked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["cut_at_most", "cut_below", "float32_interval"]

SMALLEST_NORMAL = 2.0**-126

Floats = NDArray[np.floating[Any]]


def cut_at_most(cut: Floats) -> NDArray[np.float64]:
    """Return t' such that ``x <= t'`` in float64 iff ``float32(x) <= cut``, for cuts in float32 or float64."""
    cut = np.asarray(cut)
    single = _to_float32(cut)
    if cut.dtype != np.float32:  # the largest float32 that is not above the cut
        with np.errstate(over="ignore"):
            single = np.where(single.astype(np.float64) > cut, np.nextafter(single, np.float32(-np.inf)), single)
    return _last_rounding_to(single)


def cut_below(cut: Floats) -> NDArray[np.float64]:
    """Return t' such that ``x <= t'`` in float64 iff ``float32(x) < cut``, for cuts in float32."""
    single = np.asarray(cut, dtype=np.float32)
    with np.errstate(over="ignore"):
        below = _last_rounding_to(np.nextafter(single, np.float32(-np.inf)))
    return np.where(np.isneginf(single), np.nan, below)  # nothing is below -inf: NaN, which readers must refuse


def float32_interval(number: float) -> tuple[float, float]:
    """Return the smallest and the largest float64 that round to the same float32 as `number`."""
    single = np.float32(number)
    with np.errstate(over="ignore"):
        below = np.nextafter(single, np.float32(-np.inf))
    first = -np.inf if np.isneginf(single) else np.nextafter(_last_rounding_to(np.array([below]))[0], np.inf)
    return float(first), float(_last_rounding_to(np.array([single]))[0])


def _to_float32(cut: Floats) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):  # a float64 beyond float32's range becomes an infinity, as in the libraries
        return cut.astype(np.float32)


def _last_rounding_to(single: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the largest float64 that rounds to each float32 or to one below it."""
    # The bits of a float64 hold those of a float32 and 29 more, so half a step of float32 is 2**28 steps of float64,
    # away from zero or towards it. From there a tie rounds to the float32 with even bits: one step less, if odd.
    half = np.int64(2**28) - (single.view(np.int32) & 1)
    low = single.astype(np.float64)
    bits = low.view(np.int64)
    last = np.where(bits >= 0, bits + half, bits - half).view(np.float64)
    special = (np.abs(low) <= SMALLEST_NORMAL) | np.isinf(low)
    if special.any():
        last[special] = _last_rounding_to_special(single[special])
    return last


def _last_rounding_to_special(single: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the same for infinities, zeros and numbers too small for the bits to be laid out as usual."""
    low = single.astype(np.float64)
    step = np.float64(2.0**-149)  # between two subnormal numbers
    middle = np.nan_to_num(low, posinf=0.0, neginf=0.0) + step / 2
    last = np.where(_to_float32(middle) <= single, middle, np.nextafter(middle, -np.inf))
    # All that lies beyond float32's range rounds to an infinity, so -inf has a last value and +inf has none.
    return np.where(np.isposinf(low), np.inf, np.where(np.isneginf(low), -(2.0**128 - 2.0**103), last))
