"""How rows fall on the cells of two features at once, and sums over rows of what pairs do together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.kernels._compile import kernel

__all__ = ["add_joint_rows", "add_moments"]


@kernel
def add_joint_rows(
    first: NDArray[Any], second: NDArray[Any], weight: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """Add the weight of each row (1 if `weight` is empty) to the pair of cells that it is in: `out`, (n_a, n_b)."""
    if weight.size == 0:
        for row in range(first.size):
            out[first[row], second[row]] += 1.0
        return
    for row in range(first.size):
        out[first[row], second[row]] += weight[row]


@kernel
def add_moments(
    values: NDArray[np.float64],
    players: tuple[Any, ...],
    weight: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> None:
    """Add up a block of values of sets over its rows.

    Parameters
    ----------
    values : ndarray of shape (n_groups, n_rows)
        The values of each (set, output).
    players : first, second
        For each of these groups that is of a pair, those of its two players with the same output; -1 for other groups.
    weight : ndarray of shape (n_rows,)
    sums : ndarray of shape (4, n_groups)
        Added to: the sums of values and of squares, then the same of the sum of a pair's value and its players' values.
    """
    first, second = players
    for group in range(values.shape[0]):
        total = square = joint_total = joint_square = 0.0
        if first[group] < 0:
            for row in range(values.shape[1]):
                value = values[group, row]
                total += weight[row] * value
                square += weight[row] * value * value
        else:
            a, b = first[group], second[group]
            for row in range(values.shape[1]):
                value = values[group, row]
                joint = value + values[a, row] + values[b, row]
                total += weight[row] * value
                square += weight[row] * value * value
                joint_total += weight[row] * joint
                joint_square += weight[row] * joint * joint
        sums[0, group] += total
        sums[1, group] += square
        sums[2, group] += joint_total
        sums[3, group] += joint_square
