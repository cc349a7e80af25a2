"""Templates: the values of a metric on every cube over n players, as arrays, computed once for each n."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.questions.rows._arithmetic_cube_values import CubeValues

__all__ = ["MAX_PLAYERS", "Template", "set_masks"]


MAX_PLAYERS = 12  # of a path, whose 3**12 cubes are written down


@dataclass(frozen=True, eq=False, slots=True)
class Template:
    """The values of a metric on all cubes over some players, which are numbered.

    A row that meets the players q of a leaf, and a background row that breaks the players z, make the cube with s_plus
    = z and s_minus = all others than q, if z is a part of q.

    Parameters
    ----------
    masks : ndarray of shape (n_sets,), int64
        The sets that have a value on some cube, as bit masks.
    target : ndarray of int32
        The number of a set times ``2**n_players``, plus q; in increasing order.
    broken : ndarray of int32
        z.
    value : ndarray of float64
    """

    masks: NDArray[np.int64]
    target: NDArray[np.int32]
    broken: NDArray[np.int32]
    value: NDArray[np.float64]

    @classmethod
    def of(cls, values: CubeValues, n_players: int) -> Template:
        """Return the template of a metric for a number of players, up to MAX_PLAYERS."""
        met, broken = _all_cubes(n_players)
        order = np.argsort(met, kind="stable")  # so that targets are in order
        met, broken = met[order], broken[order]
        kept = met & ~broken  # not in the cube
        n_bits = _bits(np.arange(1 << n_players))
        n_plus, n_minus = n_bits[broken], n_players - n_bits[met]
        masks = set_masks(values.orders, n_players)
        cubes = []
        for number, mask in enumerate(masks):
            at = np.flatnonzero((mask & kept) == 0)
            size, out = int(n_bits[mask]), n_bits[mask & ~met[at]]
            value = values.table[values.kind(size, out), n_plus[at] - (size - out), n_minus[at] - out]
            at, value = at[value != 0], value[value != 0]
            cubes.append(((number << n_players) | met[at], broken[at], value))
        columns = zip(*cubes, strict=True) if cubes else [[np.zeros(0, dtype=np.int64)]] * 3
        target, z, worth = (np.concatenate(column) for column in columns)
        return cls(masks, target.astype(np.int32), z.astype(np.int32), worth.astype(np.float64))


def set_masks(orders: range, n_players: int) -> NDArray[np.int64]:
    """Return the sets of players of some sizes, as bit masks sorted by size."""
    masks = np.zeros(1, dtype=np.int64)
    for player in range(n_players):
        grown = masks[_bits(masks) < orders.stop - 1]
        masks = np.concatenate([masks, grown | np.int64(1 << player)])
    sizes = _bits(masks)
    kept = sizes >= orders.start
    return masks[kept][np.argsort(sizes[kept], kind="stable")]


def _bits(masks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of bits of each mask, none of which is negative: of pairs, of fours, of bytes, then of all."""
    left: NDArray[Any] = np.asarray(masks).astype(np.uint64)
    left = left - (left >> 1 & 0x5555555555555555)
    left = (left & 0x3333333333333333) + (left >> 2 & 0x3333333333333333)
    left = left + (left >> 4) & 0x0F0F0F0F0F0F0F0F
    bits: NDArray[np.int64] = (left * np.uint64(0x0101010101010101) >> 56).astype(np.int64)
    return bits


def _all_cubes(n_players: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all pairs of a set q and a part z of it."""
    met, broken = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for player in range(n_players):
        bit = np.int64(1 << player)
        met, broken = np.concatenate([met, met | bit, met | bit]), np.concatenate([broken, broken, broken | bit])
    return met, broken
