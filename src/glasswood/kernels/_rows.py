"""Rows as cells: the number of the cell that every value of a block of rows lies in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.kernels._bits import load_double, load_single
from glasswood.kernels._compile import kernel

__all__ = ["write_cells"]


@kernel
def write_cells(columns: tuple[Any, ...], cuts: tuple[Any, ...], cells: NDArray[np.int32]) -> None:
    """Write the cell of every value, see `glasswood._plan.Cells`.

    Parameters
    ----------
    columns : address, stride, is_single
        As for `count_with_bitsets`.
    cuts : values, first, n_codes, n_cells
        The sorted cuts of each column, from ``first[c]`` on; its number of categories, 0 for numbers; its cells.
    cells : ndarray of shape (n_columns, n_rows), int32
        Written.
    """
    address, stride, is_single = columns
    values, first, n_codes, n_cells = cuts
    for column in range(address.size):
        start, last = first[column], first[column] + n_cells[column] - 2
        for row in range(cells.shape[1]):
            at = address[column] + row * stride[column]
            x = load_single(at) if is_single[column] else load_double(at)
            if x != x:
                cell = n_cells[column] - 1
            elif n_codes[column] > 0:
                cell = np.int64(x) if x >= 0 else n_codes[column]
            else:
                low, high = start, last
                while low < high:
                    middle = (low + high) >> 1
                    if values[middle] < x:
                        low = middle + 1
                    else:
                        high = middle
                cell = low - start
            cells[column, row] = cell
