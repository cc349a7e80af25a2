"""What two features do together, cell by cell, without holding all pairs of cells: `LeafPair` and its likes.

Deep forests have tens of thousands of cuts of a feature, and 10^9 pairs of cells; a figure shows 10^5 of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from glasswood.kernels import _core
from glasswood.kernels._read_only import read_only
from glasswood.parallel._interrupts import check_cancelled
from glasswood.parallel._lazy import Deferred, cached_property, cached_unpickled

__all__ = ["KnownPair", "LeafPair", "Pair", "PairArrays", "averaged", "middle_cells"]

Floats = NDArray[np.float64]
Cells = NDArray[np.int64]

MAX_KEPT = 2**22  # heights of pairs of cells that are computed at once and looked up: 32 megabytes
NO_RANKS: Cells = np.empty(0, dtype=np.int64)
SUMS_AT_A_TIME = 2**26  # of a kernel: a tenth of a second


class Pair(Protocol):
    """What a pair of features adds to the sum of its curves, for each pair of cells and each output."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """The number of cells of both features, missing ones included, and of outputs."""

    @property
    def is_known(self) -> bool:
        """Whether all heights are known, or computed in a moment."""

    def all(self) -> Floats:
        """Return the heights of all pairs of cells."""

    def at(self, x: Cells, y: Cells) -> Floats:
        """Return the heights at points, given their cells: (n_points, n_outputs)."""

    def grid(self, x: Cells, y: Cells) -> Floats:
        """Return the heights of all pairs of some cells of both features."""

    def means(self, x: Floats, y: Floats) -> Floats:
        """Return what is drawn of blocks of cells: their means; or the heights at their middles, if that is too much.

        Blocks are given by where cells begin, and the last one ends: those of the third from 2.0 to 3.0, each with its
        weight. A cell without weight begins where the next one does.
        """


class PairArrays(NamedTuple):
    """The leaves that have both features: their boxes, counts and values, see `_core.PairLeaves`."""

    n_cells: NDArray[np.int64]
    n_codes: NDArray[np.int64]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    missing: NDArray[np.bool_]
    unseen: NDArray[np.bool_]
    sets: NDArray[np.uint64]
    terms: Floats
    value: Floats
    output: NDArray[np.int32]


class LeafPair:
    """The interaction of two features as the boxes of the leaves that have both.

    A height has the same bits whether it is asked for alone, in a grid or with all others.

    Parameters
    ----------
    find : Deferred
        Finds the leaves when they are needed.
    shape : (int, int, int)
        The number of cells of both features, and of outputs.
    unit : float
        What a leaf value times a count is worth.
    turned : bool, default False
        Whether the sign is changed: for the other class of a model of one score.
    """

    def __init__(
        self, find: Deferred[PairArrays], shape: tuple[int, int, int], unit: float, *, turned: bool = False
    ) -> None:
        self._find, self.shape, self._unit, self._turned = find, shape, unit, turned

    @cached_unpickled
    def _leaves(self) -> _core.PairLeaves:
        return _core.PairLeaves(*self._find())

    @property
    def is_known(self) -> bool:
        """Whether all heights are computed in a moment, and kept."""
        return self.shape[0] * self.shape[1] * self.shape[2] <= MAX_KEPT

    @cached_property
    def _kept(self) -> Floats:
        return read_only(self._compute())

    def all(self) -> Floats:
        """Return the heights of all pairs of cells."""
        return self._kept if self.is_known else self._compute()

    def _compute(self) -> Floats:
        return self._swept(np.arange(self.shape[0]), np.arange(self.shape[1]))

    def _swept(self, x: Cells, y: Cells) -> Floats:
        """Return the heights of all pairs of cells that are given in their order."""
        out = np.empty((x.size, y.size, self.shape[2]))
        if out.size:
            sweep = _core.Sweep(self._leaves, self.shape[2], int(x[-1]) + 1, int(y[-1]) + 1, NO_RANKS, NO_RANKS)
            for some in _blocks_of_lines(x.size, (int(y[-1]) + 1) * self.shape[2]):
                sweep.write_grid(x[some], y, self._unit, out[some])
        return self._signed(out)

    def _signed(self, out: Floats) -> Floats:
        return np.subtract(0.0, out, out=out) if self._turned else out

    def at(self, x: Cells, y: Cells) -> Floats:
        """Return the heights at points, given their cells."""
        if self.is_known:
            result: Floats = self.all()[x, y]
            return result
        return self._at(x, y, NO_RANKS, NO_RANKS)

    def at_many(self, x: Cells, y: Cells) -> Floats:
        """Return the same as `at`, but for rounding, in less time if there are many points.

        Cells are counted anew, only those that are asked for, so that steps between them are added at once.
        """
        (own_x, place_x), (own_y, place_y) = (np.unique(cells, return_inverse=True) for cells in (x, y))
        ranks = (np.searchsorted(own, np.arange(n + 1)) for own, n in zip((own_x, own_y), self.shape[:2], strict=True))
        return self._at(place_x, place_y, *ranks)

    def _at(self, x: Cells, y: Cells, rank_x: Cells, rank_y: Cells) -> Floats:
        out, sorted_out = (np.empty((x.size, self.shape[2])) for _ in range(2))
        if not x.size:
            return out
        order = np.lexsort((y, x))
        x, y = x[order].astype(np.int64), y[order].astype(np.int64)
        starts = np.flatnonzero(np.diff(x, prepend=-1))
        ends = np.append(starts[1:], x.size)
        n_columns = int(y.max()) + 1
        sweep = _core.Sweep(self._leaves, self.shape[2], int(x[-1]) + 1, n_columns, rank_x, rank_y)
        for some in _blocks_of_lines(starts.size, n_columns * self.shape[2]):
            part = slice(int(starts[some.start]), int(ends[some.stop - 1]))
            sweep.write_points(x[part], y[part], self._unit, sorted_out[part])
        out[order] = sorted_out
        return self._signed(out)

    def grid(self, x: Cells, y: Cells) -> Floats:
        """Return the heights of all pairs of some cells of both features."""
        if self.is_known:
            result: Floats = self.all()[np.ix_(x, y)]
            return result
        (own_x, place_x), (own_y, place_y) = (np.unique(cells, return_inverse=True) for cells in (x, y))
        return self._swept(own_x, own_y)[np.ix_(place_x, place_y)]

    def sparse_grid(self, x: Cells, y: Cells) -> Floats:
        """Return the same as `grid`, but for rounding; cells between those that are asked for are not computed."""
        (own_x, place_x), (own_y, place_y) = (np.unique(cells, return_inverse=True) for cells in (x, y))
        ranks = [np.searchsorted(own, np.arange(n + 1)) for own, n in zip((own_x, own_y), self.shape[:2], strict=True)]
        out = np.empty((own_x.size, own_y.size, self.shape[2]))
        if out.size:
            sweep = _core.Sweep(self._leaves, self.shape[2], own_x.size, own_y.size, *ranks)
            every = np.arange(own_y.size)
            for some in _blocks_of_lines(own_x.size, own_y.size * self.shape[2]):
                sweep.write_grid(np.arange(some.start, some.stop), every, self._unit, out[some])
        result: Floats = self._signed(out)[np.ix_(place_x, place_y)]
        return result

    def lines(self, x: Cells) -> Iterator[tuple[slice, Floats]]:
        """Yield the heights of some cells of the first feature, in order, with all of the second; some at a time."""
        y = np.arange(self.shape[1])
        sweep = _core.Sweep(self._leaves, self.shape[2], int(x[-1]) + 1, y.size, NO_RANKS, NO_RANKS)
        for some in _blocks_of_lines(x.size, y.size * self.shape[2], SUMS_AT_A_TIME // 32):
            out = np.empty((some.stop - some.start, y.size, self.shape[2]))
            sweep.write_grid(x[some], y, self._unit, out)
            yield some, self._signed(out)

    def means(self, x: Floats, y: Floats) -> Floats:
        """Return the means over blocks of cells."""
        n_x, n_y = (int(np.ceil(place[-1])) for place in (x, y))
        steps = np.zeros((n_x + 1, n_y + 1, self.shape[2]))
        _core.add_blocks(self._leaves, x, y, steps)
        return self._signed(steps.cumsum(axis=0).cumsum(axis=1)[:n_x, :n_y] * self._unit)


def _blocks_of_lines(n: int, each: int, max_: int = SUMS_AT_A_TIME) -> Iterator[slice]:
    """Yield parts of something of n lines, given how many sums each line takes."""
    size = max(1, max_ // max(1, each))
    for first in range(0, n, size):
        check_cancelled()
        yield slice(first, min(n, first + size))


class KnownPair:
    """Heights that are known.

    Parameters
    ----------
    heights : ndarray of shape (n_cells, n_cells, n_outputs)
    """

    is_known = True

    def __init__(self, heights: Floats) -> None:
        self._heights = read_only(heights)
        n_x, n_y, n_outputs = heights.shape
        self.shape = (n_x, n_y, n_outputs)

    def all(self) -> Floats:
        """Return the heights of all pairs of cells."""
        return self._heights

    def at(self, x: Cells, y: Cells) -> Floats:
        """Return the heights at points, given their cells."""
        result: Floats = self.all()[x, y]
        return result

    def grid(self, x: Cells, y: Cells) -> Floats:
        """Return the heights of all pairs of some cells of both features."""
        result: Floats = self.all()[np.ix_(x, y)]
        return result

    def means(self, x: Floats, y: Floats) -> Floats:
        """Return the means over blocks of cells."""
        return averaged(self.all(), x, y)


def averaged(heights: Floats, x: Floats, y: Floats) -> Floats:
    """Return the means of heights of all pairs of cells over blocks of them, see `Pair.means`."""
    return _averaged(_averaged(heights, x, 0), y, 1)


def _averaged(heights: Floats, place: Floats, axis: int) -> Floats:
    """Return the means of heights over blocks of cells along an axis."""
    weight = np.diff(place)
    cells = np.flatnonzero(weight)
    starts = np.flatnonzero(np.diff(np.floor(place[cells]), prepend=-1.0))
    shape = [-1 if k == axis else 1 for k in range(heights.ndim)]
    summed: Floats = np.add.reduceat(heights.take(cells, axis) * weight[cells].reshape(shape), starts, axis)
    return summed


def middle_cells(place: Floats) -> Cells:
    """Return the cell in the middle of each block, by weight."""
    n_blocks = int(np.ceil(place[-1]))
    result: Cells = np.searchsorted(place, np.arange(n_blocks) + 0.5, side="right") - 1
    return result
