"""Leaves as places of a metric: the player sets that they have, in which seats their players are, their outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.effects._chunks import Chunks
from glasswood.kernels import _core
from glasswood.parallel._lazy import cached_property, cached_unpickled
from glasswood.questions.rows._arithmetic_cube_values import n_sets

__all__ = ["Leaves", "max_sets"]


MAX_STATES = 2**15  # of a seat


def max_sets(plan: CountPlan, orders: range) -> int:
    """Return how many sets of some sizes there are at most, without looking for them."""
    of_paths = sum(n * n_sets(orders, used) for used, n in enumerate(plan.n_paths))
    return min(n_sets(orders, len(plan.players)), of_paths)


class SetNumbers:
    """The player sets that the leaves of a plan have under a metric, numbered.

    Parameters
    ----------
    plan : CountPlan
    masks : mapping from a number of players to an array of bit masks
        The sets of a path with this number of players.
    """

    def __init__(self, plan: CountPlan, masks: Mapping[int, NDArray[np.int64]]) -> None:
        slot_first, slot_player = plan.slots
        n_masks = np.zeros(int(plan.n_players.max(initial=0)) + 1, dtype=np.int64)
        for used, of_leaf in masks.items():
            n_masks[used] = of_leaf.size
        self.n_masks = n_masks
        self.first = np.concatenate([[0], np.cumsum(n_masks[plan.n_players])])
        self.of_leaf = np.empty(self.first[-1], dtype=np.int64)
        self.sets: list[tuple[int, ...]] = []
        by_size: dict[int, list[tuple[NDArray[Any], NDArray[Any]]]] = {}
        for used, of_leaf in masks.items():
            leaves = np.flatnonzero(plan.n_players == used)
            players = slot_player[slot_first[leaves][:, None] + np.arange(used)]
            for number, mask in enumerate(of_leaf.tolist()):
                slots = [slot for slot in range(used) if mask >> slot & 1]
                members = np.sort(players[:, slots], axis=1)
                by_size.setdefault(len(slots), []).append((self.first[leaves] + number, members))
        for size in sorted(by_size):
            places, members = (np.concatenate(arrays) for arrays in zip(*by_size[size], strict=True))
            key = np.zeros(places.size, dtype=np.int64)
            for column in members.T:
                key = np.unique(key, return_inverse=True)[1] * len(plan.players) + column
            _, first, numbers = np.unique(key, return_index=True, return_inverse=True)
            self.of_leaf[places] = len(self.sets) + numbers
            self.sets += [tuple(row) for row in members[first].tolist()]


class Leaves:
    """What both ways to evaluate a metric need of the leaves: chunks, seats, sets, outputs.

    Parameters
    ----------
    plan : CountPlan
    masks : mapping from a number of players to an array of bit masks
        The sets of a path with this number of players.
    outputs : list of int
        The outputs that are wanted.
    """

    def __init__(self, plan: CountPlan, masks: Mapping[int, NDArray[np.int64]], outputs: list[int]) -> None:
        self.plan = plan
        self.numbers = SetNumbers(plan, masks)
        self.outputs = outputs
        self.chunks = Chunks.of(plan, 1, MAX_STATES)
        self.output_place = np.full(plan.ensemble.n_outputs, -1)
        self.output_place[outputs] = np.arange(len(outputs))
        self.output = np.maximum(plan.ensemble.tree_output, 0)[plan.leaf_tree].astype(np.int64)

    @cached_unpickled
    def core(self) -> _core.MetricLeaves:
        """The leaves as kernels take them."""
        plan, numbers = self.plan, self.numbers
        return _core.MetricLeaves(
            chunks=self.chunks.leaves,
            n_players=plan.n_players,
            slot_first=plan.slots[0],
            seat=self.slot_seat,
            output=self.output,
            output_place=self.output_place,
            n_sets=numbers.n_masks,
            set_first=numbers.first,
            set=numbers.of_leaf,
            n_values=plan.ensemble.value.shape[1],
            n_outputs=len(self.outputs),
            n_numbers=len(numbers.sets),
        )

    @cached_property
    def slot_seat(self) -> NDArray[np.int64]:
        """The seat of each slot of each leaf."""
        chunks, slot_player = self.chunks, self.plan.slots[1]
        n_players = len(self.plan.players)
        keys = chunks.seat_chunk * n_players + chunks.seat_player
        selected = np.repeat(self._chunk_of, self.plan.n_players) * n_players + slot_player
        seats: NDArray[np.int64] = np.searchsorted(keys, selected).astype(np.int64)
        return seats

    @property
    def partners(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The sibling of each left leaf if it is also a leaf and only the split between them is its player's; else -1.

        Such leaves are met with the same players, but for the player of the split, as a bit.
        """
        e, plan = self.plan.ensemble, self.plan
        partner, bit = np.full(e.n_leaves, -1), np.zeros(e.n_leaves, dtype=np.int64)
        nodes = np.flatnonzero((e.left < 0) & (e.right < 0) & plan.is_new)
        left, right = ~e.left[nodes], ~e.right[nodes]
        together = self._chunk_of[left] == self._chunk_of[right]
        partner[left[together]] = right[together]
        bit[left] = np.left_shift(1, plan.slot[nodes].astype(np.int64))
        return partner, bit

    @cached_property
    def _chunk_of(self) -> NDArray[np.int64]:
        """The chunk of each leaf."""
        chunks = self.chunks
        chunk_of = np.empty(chunks.leaf_order.size, dtype=np.int64)
        chunk_of[chunks.leaf_order] = np.repeat(np.arange(chunks.n_chunks), np.diff(chunks.chunk_first))
        return chunk_of

    @property
    def n_groups(self) -> int:
        """The number of pairs of a set and an output."""
        return len(self.numbers.sets) * len(self.outputs)

    @property
    def n_bytes(self) -> int:
        """The memory of its larger arrays."""
        chunks, numbers = self.chunks, self.numbers
        arrays = (self.slot_seat, self.output, numbers.first, numbers.of_leaf, chunks.table, chunks.words)
        return sum(int(array.nbytes) for array in arrays)
