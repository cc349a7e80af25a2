"""Sizes in bins: a power of two is divided into equal steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["SIZES", "bins_of", "ends_of"]

PER_OCTAVE, OCTAVES, ABOVE = 8, 64, 16  # sizes that are distinct, from 2**-48 to 2**16 times the unit

SIZES = PER_OCTAVE * OCTAVES

STEPS = 2.0 ** (np.arange(1, PER_OCTAVE) / PER_OCTAVE - 1.0)  # between 1/2 and 1


def bins_of(sizes: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the bin of each size, eight to an octave; found without logarithms, so equal on all machines."""
    part, octave = np.frexp(sizes)
    result = PER_OCTAVE * (octave + OCTAVES - ABOVE - 1) + np.searchsorted(STEPS, part, side="right")
    return np.where(sizes > 0, np.clip(result, 0, SIZES - 1), 0)


def ends_of(number: int) -> tuple[float, float]:
    """Return what the sizes in a bin are not less than, and less than; 0 and infinity at the ends of all bins."""
    low, high = (2.0 ** ((number + more) / PER_OCTAVE - (OCTAVES - ABOVE)) for more in (0, 1))
    return 0.0 if number == 0 else low, np.inf if number == SIZES - 1 else high
