"""RemainderSums: how far the scores of rows are from a table of mains and pairs.

The table comes from all rows, so this is a second pass: the table is sent along, and the name of the vectors has a hash
of it. Sums are those of the score, of what the table leaves, and of its absolute value, each with squares; sizes are
those of what it leaves, see `shapes/_statistic`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._octaves import SIZES, bins_of, ends_of
from glasswood.counting._plan import CountPlan, make_plan
from glasswood.counting._statistic import Batch, Tally, Vector
from glasswood.counting._wide import LIMBS, numbers_of
from glasswood.effects._responses import AnyQuestions, Responses
from glasswood.effects._row_sums import BITS, TOO_LARGE, RowSums, add_powers, unchanged, unit_of_left
from glasswood.errors import TooLargeError
from glasswood.models._ensemble import TreeEnsemble
from glasswood.parallel._interrupts import check_cancelled
from glasswood.parallel._lazy import cached_unpickled

__all__ = ["Remainder", "RemainderSpec", "RemainderSums", "Rest", "Table"]


MAX_ROWS = 2**14  # at a time

LINES = 3  # score, what the table leaves, its absolute value


@dataclass(frozen=True, eq=False)
class Table:
    """A score as a sum of entries.

    Parameters
    ----------
    base : float
    mains : dict from int to ndarray of shape (n_cells,)
        By feature.
    pairs : dict from (int, int) to ndarray of shape (n_cells, n_cells)
    output : int
        The number of the score.
    sign : float
        -1 for the other class of a binary model of one score.
    """

    base: float
    mains: dict[int, NDArray[np.float64]]
    pairs: dict[tuple[int, int], NDArray[np.float64]]
    output: int
    sign: float

    def of_cells(self, cells: NDArray[np.int32], place: dict[int, int]) -> NDArray[np.float64]:
        """Return the sum of entries of rows, given the cells of used features and the line of each."""
        result = np.full(cells.shape[1], self.base)
        for feature, heights in self.mains.items():
            result += heights[cells[place[feature]]]
        for (a, b), heights in self.pairs.items():
            result += heights[cells[place[a]], cells[place[b]]]
        return result


class Rest:
    """Scores of rows beside those of a table.

    Parameters
    ----------
    ensemble : TreeEnsemble
    table : Table
    """

    def __init__(self, ensemble: TreeEnsemble, table: Table) -> None:
        self.plan, self._table = make_plan(ensemble, 1, {}), table
        self._place = {f: k for k, f in enumerate(ensemble.used_features.tolist())}

    @cached_unpickled
    def _responses(self) -> Responses:
        return Responses(self.plan, "identity")

    @cached_unpickled
    def _questions(self) -> AnyQuestions:
        return self._responses.questions([unchanged()])

    def of_cells(self, cells: NDArray[np.int32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the scores of rows, and those of the table, given cells of the features that the model uses."""
        answers = self._responses.write_cells(np.ascontiguousarray(cells), self._questions)
        return self._table.sign * answers[-1, self._table.output], self._table.of_cells(cells, self._place)


@dataclass(frozen=True, eq=False)
class RemainderSpec:
    """What a table leaves of the scores of rows, as it is asked for."""

    table: Table

    @cached_property
    def key(self) -> str:
        """The name of the vector of sums, with a hash of the table; " sizes" follows in that of sizes."""
        digest = blake2b(f"{self.table.output} {self.table.sign} {self.table.base!r}".encode(), digest_size=8)
        for part in (self.table.mains, self.table.pairs):
            for names, heights in part.items():
                digest.update(repr(names).encode() + np.ascontiguousarray(heights).tobytes())
        return f"remainder of a table {digest.hexdigest()}"

    def statistic(self, plan: CountPlan) -> RemainderSums:
        """Return the statistic of a model."""
        return RemainderSums(plan.ensemble, self)


class RemainderSums(RowSums):
    """Sums of scores and of what a table leaves of them.

    Parameters
    ----------
    ensemble : TreeEnsemble
    spec : RemainderSpec
    """

    max_rows = MAX_ROWS

    def __init__(self, ensemble: TreeEnsemble, spec: RemainderSpec) -> None:
        self._key, self._rest = spec.key, Rest(ensemble, spec.table)
        super().__init__(self._rest.plan)
        self._factor = unit_of_left(self._rest.plan)

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """The sums, as wide numbers, and the weights of rows by the size of what is left."""
        return Vector(self._key, LINES * 2 * LIMBS, "wide sum"), Vector(f"{self._key} sizes", SIZES)

    def add(self, tallies: Sequence[Tally], batch: Batch) -> None:
        """Add rows to the tallies of their groups."""
        check_cancelled()
        cells = self.cells_of(batch)
        score, tabulated = self._rest.of_cells(cells)
        left = score - tabulated
        values = np.stack([score, left, np.abs(left)])[:, None] * self._factor
        if not (np.abs(values) < 1.0).all():
            raise TooLargeError(TOO_LARGE)
        bins = bins_of(np.abs(left) * self._factor)
        for tally, rows in zip(tallies, batch.groups, strict=True):
            weight = batch.weights(rows)
            np.add.at(tally.vectors[f"{self._key} sizes"], bins[rows], weight)
            add_powers(tally.vectors[self._key].reshape(LINES, 1, 2, LIMBS), values[:, :, rows], weight)


class Remainder(NamedTuple):
    """What a table leaves of the scores of rows.

    Parameters
    ----------
    mean : float
        The mean of its absolute value.
    share : float
        Its variance, as a share of that of the score; 0 if the score does not vary.
    bounds : (float, float)
        What the largest is not less than, and less than.
    """

    mean: float
    share: float
    bounds: tuple[float, float]

    @classmethod
    def of(cls, ensemble: TreeEnsemble, limbs: NDArray[np.int64], sizes: NDArray[np.int64], total: int) -> Remainder:
        """Return it, given the vectors and the sum of the rows' weights."""
        numbers = numbers_of(limbs).reshape(LINES, 2)
        unit = unit_of_left(make_plan(ensemble, 1, {}))
        variances = [((second * total) << BITS) - first**2 for first, second in numbers]
        share = max(0, variances[1]) / variances[0] if variances[0] > 0 else 0.0
        low, high = ends_of(int(np.flatnonzero(sizes)[-1]))
        return cls(float(numbers[2, 0] / (total << BITS)) / unit, float(share), (low / unit, high / unit))
