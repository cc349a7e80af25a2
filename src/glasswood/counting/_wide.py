"""Wide whole numbers: vectors of more than 64 bits, which add up limb by limb.

A number is the sum of its limbs, of which limb k counts in units of 2**(26 * k). Limbs add up like other whole numbers,
so a sum does not depend on the order of the rows. Carrying is left to the end: it makes all limbs but the highest one
numbers from 0 to 2**26 - 1, which is the same for equal numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import TooLargeError

__all__ = ["LIMBS", "WIDTH", "digits_of", "limbs_of", "numbers_of", "weighted_sums"]

LIMBS = 5
WIDTH = 26  # binary digits of a limb
PART = 20  # binary digits of a number that are multiplied with a weight at a time


def numbers_of(limbs: NDArray[np.int64]) -> NDArray[np.object_]:
    """Return numbers as Python's own integers.

    Examples
    --------
    >>> numbers_of(limbs_of(np.array([-1, 2**80], dtype=object)))
    array([-1, 1208925819614629174706176], dtype=object)
    """
    parts = limbs.reshape(-1, LIMBS).astype(object)
    result: NDArray[np.object_] = parts[:, -1]
    for limb in range(LIMBS - 2, -1, -1):
        result = (result << WIDTH) + parts[:, limb]
    return result


def limbs_of(numbers: NDArray[np.object_]) -> NDArray[np.int64]:
    """Return the limbs of numbers, carried: those of the first number, then those of the next one."""
    result, rest = [], numbers
    for _ in range(LIMBS - 1):
        result.append(rest & (2**WIDTH - 1))
        rest = rest >> WIDTH
    if any(not -(2**62) < number < 2**62 for number in rest):
        message = "the sums of the responses do not fit; divide the weights by a power of two, or summarize fewer rows"
        raise TooLargeError(message)
    return np.column_stack([*result, rest]).astype(np.int64).ravel()


def digits_of(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the digits of numbers that are not negative, a line for each place, of which limbs have the units.

    Examples
    --------
    >>> digits_of(np.array([5, 2**26 + 7]))
    array([[5, 7],
           [0, 1]])
    """
    digits = [numbers]
    while (digits[-1] >> WIDTH).any():
        digits[-1:] = [digits[-1] & (2**WIDTH - 1), digits[-1] >> WIDTH]
    return np.stack(digits)


def weighted_sums(numbers: NDArray[np.float64], digits: NDArray[np.int64]) -> NDArray[np.object_]:
    """Return the sum of whole numbers below 2**60 times weights over the last axis, as Python's own integers.

    Weights are given by digits of 26 bits, at most 8,192 of them, so that no product of a part with them overflows.
    """
    result: NDArray[np.object_] = np.zeros(numbers.shape[:-1], dtype=object)
    whole = numbers.astype(np.int64)
    for part in range(3):
        some = (whole >> (PART * part)) & (2**PART - 1) if part < 2 else whole >> (PART * part)
        for place, line in enumerate(digits):
            result = result + ((some @ line).astype(object) << (PART * part + WIDTH * place))
    return result
