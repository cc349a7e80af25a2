"""Interactions as lookups: one small table per chunk of leaves and player set, indexed by the states of its players."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.kernels._compile import kernel

__all__ = ["subset_differences"]


@kernel
def subset_differences(
    leaf_offset: NDArray[np.int64], n_players: NDArray[np.int32], subsets: tuple[Any, ...], counts: NDArray[np.float64]
) -> None:
    """Turn the rows that break no others than S, for each leaf, into those that break exactly S.

    `subsets` are the tables size and minus, see `glasswood._plan.Subsets`. Undoes `subset_sums`.
    """
    size, minus = subsets
    for leaf in range(n_players.size):
        offset, used = leaf_offset[leaf], n_players[leaf]
        for s in range(used):
            for i in range(size[used] - 1, -1, -1):
                if minus[s, i] >= 0:
                    counts[offset + i] -= counts[offset + minus[s, i]]
