"""ColumnEnds: the least and the greatest value of each column of numbers, and whether all are whole numbers.

Numbers are kept as integers in the same order, so that the ends of two sets of rows combine like any other vector. An
entry that is still the neutral element has seen no value: all were missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._background import Background
from glasswood.counting._plan import CountPlan
from glasswood.counting._statistic import NEUTRAL, Batch, Tally, Vector
from glasswood.kernels import _core
from glasswood.parallel._interrupts import check_cancelled
from glasswood.tables._columns import Extent

__all__ = ["ColumnEnds", "EndsSpec", "extents_of"]

NAMES = ("least", "greatest", "whole")
BLOCK, MAX_BLOCKS = 4096, 2**14  # rows, and such blocks of all columns in a fraction of a second


@dataclass(frozen=True)
class EndsSpec:
    """The ends of columns, as they are asked for."""

    key: ClassVar[str] = "ends of columns"

    def statistic(self, plan: CountPlan) -> ColumnEnds:
        """Return the statistic of a model."""
        return ColumnEnds(plan)


class ColumnEnds:
    """The ends of all columns of numbers that a model uses, over rows of positive weight.

    Parameters
    ----------
    plan : CountPlan
    """

    def __init__(self, plan: CountPlan) -> None:
        used = plan.ensemble.used_features
        self._which = np.flatnonzero(plan.cells.n_codes[used] == 0)  # among the columns of a batch
        self.features: NDArray[np.intp] = used[self._which]

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """The least and the greatest number of each column, in the order of floats, and 1 if all are whole, else 0."""
        size = self.features.size
        return Vector("least", size, "smallest"), Vector("greatest", size, "largest"), Vector("whole", size, "smallest")

    @property
    def max_rows(self) -> int:
        """The number of rows that it adds in a fraction of a second."""
        return BLOCK * max(1, MAX_BLOCKS // max(1, self.features.size))

    def add(self, tallies: Sequence[Tally], batch: Batch) -> None:
        """Add rows to the tallies of their groups. Rows of weight 0 are not among them."""
        if not self.features.size:
            return
        check_cancelled()
        ends = _core.Ends(*([tally.vectors[name] for tally in tallies] for name in NAMES))
        _core.add_ends(batch.held, self._which, batch.bounds, ends)

    def finish(self, tally: Tally) -> None:
        """Do nothing: the numbers are final at any time."""


def extents_of(plan: CountPlan, background: Background) -> dict[int, Extent | None]:
    """Return the extent of each column of numbers, None if all of its values are missing.

    Nothing is known of any column if the background has no ends, as after a subtraction.
    """
    if not background.vectors.keys() >= set(NAMES):
        return {}
    least, greatest, whole = (background.vector(name) for name in NAMES)
    seen = (least != NEUTRAL["smallest"]).tolist()
    ends_of_columns = zip(_numbers(least).tolist(), _numbers(greatest).tolist(), (whole == 1).tolist(), strict=True)
    extents = [Extent(*ends) if known else None for ends, known in zip(ends_of_columns, seen, strict=True)]
    return dict(zip(ColumnEnds(plan).features.tolist(), extents, strict=True))


def _numbers(ordered: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the numbers behind integers of the same order, see `src/core/ends`."""
    return (ordered ^ (ordered >> 63 & np.iinfo(np.int64).max)).view(np.float64)
