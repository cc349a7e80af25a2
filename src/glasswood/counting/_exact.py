"""Sums of floating-point numbers without rounding, which are the same in any order and add up across parts."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

__all__ = ["exact_deviation", "exact_means", "exact_squares", "exact_sums"]

UNIT = 1200  # sums are whole numbers of 2**-UNIT, of which every float64 is a multiple
DIGITS = 53  # of a float64
LOW = 27  # digits that are summed apart from the higher ones, so that neither sum is rounded
AT_A_TIME = 2**18  # values, which is also few enough that sums of LOW digits are exact


def exact_sums(values: NDArray[np.float64]) -> list[int] | None:
    """Return the sum of each line of values, (n_lines, n), in units of 2**-UNIT; None if a value is not finite.

    Examples
    --------
    >>> exact_means(exact_sums(np.array([[1e16, 1.0, -1e16]])), 3)
    array([0.33333333])
    """
    if not np.isfinite(values).all():
        return None
    totals = [0] * len(values)
    step = max(1, AT_A_TIME // max(1, len(values)))
    for first in range(0, values.shape[1], step):
        part = _sums(values[:, first : first + step])
        totals = [total + more for total, more in zip(totals, part, strict=True)]
    return totals


def _sums(values: NDArray[np.float64]) -> list[int]:
    """Return the same, of few values: digits of the same exponent are summed, in two halves."""
    if not values.size:
        return [0] * len(values)
    fraction, exponent = np.frexp(values)
    whole = np.ldexp(fraction, DIGITS).astype(np.int64)
    lowest = int(exponent.min())
    n_exponents = int(exponent.max()) - lowest + 1
    places = (exponent - lowest + n_exponents * np.arange(len(values))[:, None]).ravel()
    size = len(values) * n_exponents
    high, low = (
        np.bincount(places, half.ravel(), size).reshape(-1, n_exponents).astype(np.int64)
        for half in (whole >> LOW, whole & (2**LOW - 1))
    )
    totals = [0] * len(values)
    for line, place in zip(*(result.tolist() for result in np.nonzero((high != 0) | (low != 0))), strict=True):
        digits = (int(high[line, place]) << LOW) + int(low[line, place])
        totals[line] += digits << (lowest + place - DIGITS + UNIT)
    return totals


def exact_squares(values: NDArray[np.float64]) -> list[int] | None:
    """Return the sum of the squares of each line, in units of 2**-UNIT, without rounding the squares either."""
    high = values * values
    split = values * (2.0**LOW + 1)  # after Dekker: a square is the sum of two floats
    upper = split - (split - values)
    lower = values - upper
    rest = ((upper * upper - high) + 2 * upper * lower) + lower * lower
    one, other = exact_sums(high), exact_sums(rest)
    return None if one is None or other is None else [a + b for a, b in zip(one, other, strict=True)]


def exact_deviation(totals: Iterable[int], squares: Iterable[int], n: int) -> NDArray[np.float64]:
    """Return the standard deviation of each line, given its exact sums; 0 of no values.

    Examples
    --------
    >>> values = np.array([[1e9 + 1, 1e9 + 2, 1e9 + 3]])
    >>> exact_deviation(exact_sums(values), exact_squares(values), 3)
    array([0.81649658])
    """
    n = max(1, n)
    variances = [
        max(0, n * (square << UNIT) - total * total) / (n * n << 2 * UNIT)
        for total, square in zip(totals, squares, strict=True)
    ]
    return np.sqrt(np.array(variances, dtype=np.float64))


def exact_means(totals: Iterable[int] | None, n: int, size: int = 0) -> NDArray[np.float64]:
    """Return means, each rounded once; NaN if a value was not finite (`size` of them), and 0 of no values."""
    if totals is None:
        return np.full(size, np.nan)
    return np.array([total / (max(1, n) << UNIT) for total in totals], dtype=np.float64)
