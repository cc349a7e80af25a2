"""Units of sums over rows that are kept as whole numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.effects._response_sums import unit_of
from glasswood.effects._responses import Asked

__all__ = ["BITS", "HALF", "TOO_LARGE", "quotients", "unchanged", "unit_of_left"]

HALF = 40  # binary digits that are added up at a time

BITS = 2 * HALF  # of a value behind the unit

ROOM = 16.0  # how many times the largest score a value may be

TOO_LARGE = (
    "the parts of a score are so much larger than the score itself that their sums would not be exact; ask about fewer "
    "trees, or for interaction_values of some rows"
)


def unit_of_left(plan: CountPlan) -> float:
    """Return what values are multiplied with, a power of two that follows from the model alone."""
    return unit_of(plan, "identity").factor / ROOM


def quotients(numbers: NDArray[np.object_], by: int, unit: float) -> NDArray[np.float64]:
    """Return quotients of Python's own integers, rounded once, times a unit."""
    return np.array([number / by for number in numbers]) * unit


def unchanged() -> Asked:
    """Return the question of no change."""
    return (-1, np.empty(0, dtype=np.intp), np.empty((0, 1), dtype=np.int64))
