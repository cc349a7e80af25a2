"""The cells of features that are on an axis: those of numbers, without cells that only hold infinity."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan

__all__ = ["LARGEST", "Axes", "axes_of"]

LARGEST = 3.4e38  # numbers that float32 holds are smaller


class Axes(NamedTuple):
    """The cells of each feature that are on its axis: from `first` to `last`; none for categories."""

    first: NDArray[np.int64]
    last: NDArray[np.int64]


def axes_of(plan: CountPlan) -> Axes:
    """Return the cells of each feature that hold ordinary numbers, see `Axis.ordinary`."""
    cells = plan.cells
    first, last = np.zeros((2, plan.ensemble.n_features), dtype=np.int64)
    for feature in plan.ensemble.used_features.tolist():
        cuts = cells.cuts_of(feature)
        first[feature], last[feature] = (cuts <= -LARGEST).sum(), (cuts < LARGEST).sum()
    last[cells.n_codes > 0] = -1
    return Axes(first, last)
