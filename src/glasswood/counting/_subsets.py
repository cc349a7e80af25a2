"""Subsets: numbered sets of up to `order` players of a path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Subsets"]


@dataclass(frozen=True, slots=True)
class Subsets:
    """The sets of up to `order` of the players of a path, as tables of their numbers.

    Sets are numbered by the order of their bit masks, so that the sets of the first u players are the first ``size[u]``
    ones: a path that meets a new player only appends.

    Parameters
    ----------
    size : ndarray of shape (n_players + 1,), int64
        The number of sets of the first u players.
    rest : ndarray of shape (n_sets,), int32
        The number of each set without its last player.
    has : ndarray of shape (n_players, n_sets), bool
        Whether a set has a player.
    plus, minus : ndarray of shape (n_players, n_sets), int32
        The number of a set with a player added or taken away; -1 if there is none.
    """

    size: NDArray[np.int64]
    rest: NDArray[np.int32]
    has: NDArray[np.bool_]
    plus: NDArray[np.int32]
    minus: NDArray[np.int32]

    @classmethod
    def up_to(cls, order: int, n_players: int) -> Subsets:
        """Return the tables for sets of up to `order` of `n_players` players."""
        sizes = np.zeros(1, dtype=np.int64)  # the number of players of each set
        rest = np.zeros(1, dtype=np.int32)
        has = np.zeros((max(1, n_players), 1), dtype=bool)
        plus = np.full(has.shape, -1, dtype=np.int32)
        size = [1]
        for player in range(n_players):
            grown = np.flatnonzero(sizes < order)
            new = np.arange(sizes.size, sizes.size + grown.size, dtype=np.int32)
            place = np.full(sizes.size, -1, dtype=np.int32)
            place[grown] = new
            has_new, plus_new = has[:, grown].copy(), plus[:, grown].copy()
            has_new[player] = True
            # (S + t) + s is the number of S + t, plus s; what is not in the tables stays -1.
            plus_new = np.where(plus_new >= 0, place[plus_new], -1)
            plus_new[player] = -1
            plus[player, grown] = new
            sizes = np.concatenate([sizes, sizes[grown] + 1])
            rest = np.concatenate([rest, grown.astype(np.int32)])
            has, plus = np.concatenate([has, has_new], axis=1), np.concatenate([plus, plus_new], axis=1)
            size.append(sizes.size)
        minus = np.full(plus.shape, -1, dtype=np.int32)
        players, sets = np.nonzero(plus >= 0)
        minus[players, plus[players, sets]] = sets
        return cls(np.array(size), rest, has, plus, minus)
