"""Statistics of curves and interactions: heights of cells and rows per cell in, a few numbers out.

Arrays only: names appear in `results`. Curves have one line per cell, the missing one last, and a last axis of outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from glasswood.kernels import _core
from glasswood.parallel._threads import in_order

__all__ = ["NOISE", "Floats", "Moments", "quantiles", "standard_deviation", "streamed_moments", "strongest_first"]


Floats = NDArray[np.float64]


NOISE = 1e-12  # of the size of scores: below, differences are rounding

VALUES_OF_A_BATCH = 2**21  # 16 megabytes


def standard_deviation(heights: Floats, rows: NDArray[Any]) -> Floats:
    """Return the standard deviation of the heights of cells, (n_cells, n_outputs), over the rows in them."""
    share = rows / rows.sum()
    centred = heights - share @ heights
    deviation: Floats = np.sqrt(share @ centred**2)
    return np.where(deviation > NOISE * np.abs(heights).max(initial=0.0), deviation, 0.0)


# ------------------------------------------------------------------------------------------- interactions of pairs


def quantiles(values: Floats, q: ArrayLike, weight: Floats | None) -> Floats:
    """Return quantiles of values over their first axis, as NumPy does: one, or a first axis of several.

    With weights, the smallest value such that it and those below have at least the share q of the weight.
    """
    if weight is None:
        result: Floats = np.quantile(values, np.asarray(q, dtype=np.float64), axis=0)
        return result
    values, weight = values[weight > 0], weight[weight > 0]
    order = np.argsort(values, axis=0, kind="stable")
    below = np.cumsum(weight[order], axis=0)
    below /= below[-1]
    asked = np.atleast_1d(np.asarray(q, dtype=np.float64))
    places = [np.argmax(below >= share - NOISE, axis=0)[None] for share in asked.ravel()]
    ordered = np.take_along_axis(values, order, axis=0)
    each = np.concatenate([np.take_along_axis(ordered, place, axis=0) for place in places])
    return each.reshape(*np.shape(q), *values.shape[1:])


class Streamed(Protocol):
    """Values of sets, (n_sets x n_outputs, ...), for any rows."""

    @property
    def sets(self) -> Sequence[tuple[int, ...]]:
        """The players of each set."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    def write(self, span: tuple[int, int], out: Floats, at: int) -> None:
        """Write the values of some rows to the columns of `out` from `at` on."""


class Moments:
    """Sums of the values of sets over rows, batch by batch in the order of the rows.

    If rows are added in parts, all of which but the last are whole batches, the result has the same bits as if they
    were added at once.

    Parameters
    ----------
    sets : list of tuples of int
        The players of each set.
    n_outputs : int
    """

    def __init__(self, sets: Sequence[tuple[int, ...]], n_outputs: int) -> None:
        number = {players: index for index, players in enumerate(sets)}
        parts = np.full((2, len(sets)), -1, dtype=np.int64)
        for index, players in enumerate(sets):
            if len(players) == 2:
                parts[:, index] = [number[(player,)] for player in players]
        outputs = np.arange(n_outputs)
        first, second = (np.where(part[:, None] < 0, -1, part[:, None] * n_outputs + outputs).ravel() for part in parts)
        self._players = (first, second)
        self._shape = (4, len(sets), n_outputs)
        self._n_groups = len(sets) * n_outputs
        self._sums = np.zeros((4, self._n_groups))
        self._weight = 0.0
        self.batch = max(64, min(4096, VALUES_OF_A_BATCH // max(1, self._n_groups)))

    def add(self, source: Streamed, weight: Floats | None) -> None:
        """Add rows of a source of these sets."""

        def work(index: int) -> tuple[Floats, float]:
            span = (index * self.batch, min(source.n_rows, (index + 1) * self.batch))
            values, sums = np.empty((self._n_groups, span[1] - span[0])), np.zeros((4, self._n_groups))
            source.write(span, values, 0)
            weights = np.ones(span[1] - span[0]) if weight is None else np.ascontiguousarray(weight[span[0] : span[1]])
            _core.add_moments(values, *self._players, weights, sums)
            return sums, float(weights.sum())

        with in_order(-(-source.n_rows // self.batch), work, "interactions") as batches:
            for sums, total in batches:
                self._sums += sums
                self._weight += total

    @property
    def means(self) -> Floats:
        """The moments over all rows so far: (4, n_sets, n_outputs), for pairs as `pair_moments` has them.

        Other sets have the means of values and of squares, and zeros.
        """
        return (self._sums / self._weight).reshape(self._shape)


def streamed_moments(source: Streamed, weight: Floats | None, n_outputs: int) -> Floats:
    """Return the moments of sets over the rows of one source, see `Moments`."""
    moments = Moments(source.sets, n_outputs)
    moments.add(source, weight)
    return moments.means


def strongest_first(heights: Floats) -> NDArray[np.intp]:
    """Return the order of lines of heights, (n, n_outputs), by their sum of squares; equal ones stay as they are."""
    return np.argsort(-(heights**2).sum(axis=1), kind="stable")
