"""Templates: the values of a metric on every cube over n players, as arrays, computed once for each n."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError, TooLargeError
from glasswood.metrics import CubeMetric, InteractionIndex, members_of

__all__ = ["MOST_PLAYERS", "MOST_SLOTS", "Template", "moments_of", "refuse_long_paths", "set_masks"]

MOST_SLOTS = 63  # players of a path without tables: the bits of a mask
MOST_PLAYERS = 12  # of a path, whose 3**12 cubes are written down


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
    def of(cls, metric: CubeMetric, n_players: int) -> Template:
        """Return the template of a metric for a number of players."""
        refuse_long_paths(n_players)
        if isinstance(metric, InteractionIndex):
            masks, number, met, broken, value = _from_moments(metric, n_players)
        else:
            masks, number, met, broken, value = _from_cubes(metric, n_players)
        target = (number << n_players) | met
        return cls(masks, target.astype(np.int32), broken.astype(np.int32), value.astype(np.float64))


def refuse_long_paths(n_players: int) -> None:
    """Raise an error if there are too many cubes over this number of players."""
    if n_players > MOST_PLAYERS:
        message = (
            f"a path of the model has {n_players} features, which make {3**n_players:,} cubes; metrics are "
            f"evaluated for up to {MOST_PLAYERS} features ({3**MOST_PLAYERS:,} cubes). Shapley and Banzhaf values "
            "and interactions have no such limit"
        )
        raise TooLargeError(message)


def set_masks(metric: InteractionIndex, n_players: int) -> NDArray[np.int64]:
    """Return the sets of players that an index has values for, as bit masks sorted by size."""
    orders = metric.orders(n_players)
    masks = np.zeros(1, dtype=np.int64)
    for player in range(n_players):
        grown = masks[_bits(masks) < orders.stop - 1]
        masks = np.concatenate([masks, grown | np.int64(1 << player)])
    sizes = _bits(masks)
    kept = sizes >= orders.start
    return masks[kept][np.argsort(sizes[kept], kind="stable")]


def moments_of(metric: InteractionIndex, most: int) -> NDArray[np.float64]:
    """Return the moments for sets of all sizes, and paths of up to `most` players."""
    moments = np.zeros((metric.orders(most).stop, most + 1, most + 1))
    for size in metric.orders(most):
        for a in range(most + 1):
            for b in range(most + 1 - a):
                moments[size, a, b] = metric.moment(size, a, b)
    return moments


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


def _from_moments(metric: InteractionIndex, n_players: int) -> tuple[NDArray[Any], ...]:
    """Write down an index, whose values follow from numbers of players."""
    met, broken = _all_cubes(n_players)
    order = np.argsort(met, kind="stable")  # so that targets are in order
    met, broken = met[order], broken[order]
    kept = met & ~broken  # not in the cube
    n_bits = _bits(np.arange(1 << n_players))
    n_plus, n_minus = n_bits[broken], n_players - n_bits[met]
    masks = set_masks(metric, n_players)
    upto = range(n_players + 1)
    moments = {
        size: np.array([[metric.moment(size, a, b) for b in upto] for a in upto]) for size in metric.orders(n_players)
    }
    found = []
    for number, mask in enumerate(masks):
        at = np.flatnonzero((mask & kept) == 0)
        size, out = int(n_bits[mask]), n_bits[mask & ~met[at]]
        value = np.where(out % 2 == 0, 1.0, -1.0) * moments[size][n_plus[at] - (size - out), n_minus[at] - out]
        at, value = at[value != 0], value[value != 0]
        found.append((np.full(at.size, number), met[at], broken[at], value))
    columns = zip(*found, strict=True) if found else [[np.zeros(0, dtype=np.int64)]] * 4
    return masks, *(np.concatenate(column) for column in columns)


def _from_cubes(metric: CubeMetric, n_players: int) -> tuple[NDArray[Any], ...]:
    """Write down any metric, by asking it for every cube."""
    everyone = set(range(n_players))
    numbers: dict[int, int] = {}
    found: list[tuple[int, int, int, float]] = []
    for q, z in zip(*(array.tolist() for array in _all_cubes(n_players)), strict=True):
        plus = {player for player in everyone if z >> player & 1}
        minus = {player for player in everyone if not q >> player & 1}
        masks = set()
        values: object = metric.calc_metric(plus, minus)
        if not isinstance(values, Mapping):
            message = f"calc_metric must return a mapping from features or sets of them to numbers, not {values!r}"
            raise ArgumentError(message)
        for key, value in values.items():
            mask = members_of(key, z | ~q & ((1 << n_players) - 1))
            if mask in masks:
                message = f"the metric returned the set {key!r} twice for one cube; sets have no order"
                raise ArgumentError(message)
            masks.add(mask)
            if value:
                found.append((numbers.setdefault(mask, len(numbers)), q, z, float(value)))
    columns = [np.array(column) for column in zip(*found, strict=True)] if found else [np.zeros(0, np.int64)] * 4
    number, met, *others = columns
    order = np.lexsort((met, number))
    return np.array(list(numbers), dtype=np.int64), number[order], met[order], *(column[order] for column in others)
