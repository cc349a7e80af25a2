"""JointCounts: the number of rows in each pair of cells of two features, for some pairs of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.counting._statistic import Batch, Tally, Vector
from glasswood.counting._wide import WIDTH, digits_of
from glasswood.effects._row_sums import RowSums
from glasswood.parallel._interrupts import check_cancelled

__all__ = ["JointCounts", "JointSpec"]

MAX_ROWS = 2**13  # at a time: then sums of digits of weights are exact in floating point


@dataclass(frozen=True)
class JointSpec:
    """The rows in pairs of cells, as they are asked for.

    Parameters
    ----------
    pairs : tuple of (int, int)
        Pairs of features that the model uses.
    """

    pairs: tuple[tuple[int, int], ...]

    @property
    def key(self) -> str:
        """The name of the vector."""
        return "joint rows " + " ".join(f"{a}x{b}" for a, b in self.pairs)

    def statistic(self, plan: CountPlan) -> JointCounts:
        """Return the statistic of a model."""
        return JointCounts(plan, self)


class JointCounts(RowSums):
    """The number (or weight) of rows in pairs of cells, the tables of all pairs one after the other.

    Parameters
    ----------
    plan : CountPlan
    spec : JointSpec
    """

    max_rows = MAX_ROWS

    def __init__(self, plan: CountPlan, spec: JointSpec) -> None:
        super().__init__(plan)
        self._spec = spec
        self._line = {feature: line for line, feature in enumerate(plan.ensemble.used_features.tolist())}
        n_cells = plan.cells.n_cells
        self.shapes = [(int(n_cells[a]), int(n_cells[b])) for a, b in spec.pairs]

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """The tables."""
        return (Vector(self._spec.key, sum(n_a * n_b for n_a, n_b in self.shapes)),)

    def add(self, tallies: Sequence[Tally], batch: Batch) -> None:
        """Add rows to the tallies of their groups."""
        cells = self.cells_of(batch)
        for tally, rows in zip(tallies, batch.groups, strict=True):
            check_cancelled()
            here = cells[:, rows].astype(np.int64)
            weight = batch.weight[rows]
            tables = self.tables_of(tally.vectors[self._spec.key])
            for (a, b), table in zip(self._spec.pairs, tables, strict=True):
                place = here[self._line[a]] * table.shape[1] + here[self._line[b]]
                table += _counted(place, weight, table.size).reshape(table.shape)

    def tables_of(self, vector: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Return the table of each pair, as views."""
        ends = np.cumsum([n_a * n_b for n_a, n_b in self.shapes], dtype=np.int64)
        parts = np.split(vector, ends[:-1]) if self.shapes else []
        return [part.reshape(shape) for part, shape in zip(parts, self.shapes, strict=True)]


def _counted(place: NDArray[np.int64], weight: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return the number, or the weight, of rows at each place."""
    if not weight.size:
        return np.bincount(place, minlength=size)
    result = np.zeros(size, dtype=np.int64)
    for power, digits in enumerate(digits_of(weight)):
        result += np.bincount(place, weights=digits, minlength=size).astype(np.int64) << (WIDTH * power)
    return result
