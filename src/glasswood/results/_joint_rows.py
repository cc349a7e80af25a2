"""The rows in pairs of cells of two features."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.kernels._read_only import read_only
from glasswood.results._axis import Axis

__all__ = ["JointRows"]


class JointRows(NamedTuple):
    """The pairs of cells that contain rows, each listed once, and the number (or weight) of rows in it."""

    x: NDArray[np.int32]
    y: NDArray[np.int32]
    rows: NDArray[np.float64]

    @classmethod
    def of(cls, x: NDArray[np.int64], y: NDArray[np.int64], weight: NDArray[Any] | None = None) -> JointRows:
        """Return the distinct pairs, given the cells of each row."""
        n_y = int(y.max(initial=0)) + 1
        pairs, place = np.unique(x.astype(np.int64) * n_y + y, return_inverse=True)
        rows = np.bincount(place.ravel(), weights=None if weight is None else np.asarray(weight), minlength=pairs.size)
        return cls((pairs // n_y).astype(np.int32), (pairs % n_y).astype(np.int32), rows.astype(np.float64))

    def shares(self, axes: tuple[Axis, Axis]) -> NDArray[np.float64]:
        """Return the share of rows in each pair of cells, excluding missing values."""
        counts = np.zeros([axis.n_cells for axis in axes])
        counts[self.x, self.y] = self.rows
        result = counts[: axes[0].n_main, : axes[1].n_main] / max(counts.sum(), 1e-300)
        return read_only(result)

    def in_blocks(self, x: NDArray[np.int64], y: NDArray[np.int64], shape: tuple[int, int]) -> NDArray[np.float64]:
        """Return the share of rows in each pair of blocks, given the block of each cell (-1 for none)."""
        blocks = x[self.x], y[self.y]
        known = (blocks[0] >= 0) & (blocks[1] >= 0)
        numbers = blocks[0][known] * shape[1] + blocks[1][known]
        summed = np.bincount(numbers, weights=self.rows[known], minlength=shape[0] * shape[1])
        return (summed / max(float(self.rows.sum()), 1e-300)).reshape(shape)
