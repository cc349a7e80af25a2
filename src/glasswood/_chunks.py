"""Chunks: small parts of trees, in which what a row does is a handful of states, one per player."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood._once import once
from glasswood._plan import CountPlan
from glasswood.kernels import _core

__all__ = ["Chunks", "block_width"]

LANES = 32  # rows that kernels handle at a time


def block_width(n_rows: int, most: int) -> int:
    """Return how many rows make a block: about `most`, in equal blocks, and a multiple of what kernels handle."""
    most = min(2048, max(64, most))
    n_blocks = max(1, -(-n_rows // most))
    return max(1, -(-n_rows // (n_blocks * LANES))) * LANES


@dataclass(frozen=True, eq=False)
class Chunks:
    """The trees of a plan, cut into chunks of up to 64 leaves.

    A *seat* is a player in a chunk. All a chunk asks of a row is which leaves' conditions on each of its players the
    row meets: the *state* of the seat. See `glasswood.kernels._chunks.make_chunks` for the arrays.

    Parameters
    ----------
    plan : CountPlan
    chunk_first : ndarray of shape (n_chunks + 1,)
    leaf_order : ndarray of shape (n_leaves,)
        The leaves, chunk by chunk.
    seat_first : ndarray of shape (n_chunks + 1,)
    seat_player : ndarray of shape (n_seats,)
    state_first : ndarray of shape (n_seats + 1,)
    words : ndarray of uint64
        For each state, which leaves of the chunk the row suits.
    axes : tuple of arrays
        axis_first, axis_place, axis_missing, axis_table, axis_kind, table; see `write_states`.
    """

    plan: CountPlan
    chunk_first: NDArray[np.int64]
    leaf_order: NDArray[np.int32]
    seat_first: NDArray[np.int64]
    seat_player: NDArray[np.int32]
    state_first: NDArray[np.int64]
    words: NDArray[np.uint64]
    axes: tuple[Any, ...]

    @classmethod
    def of(cls, plan: CountPlan, order: int, most_states: int) -> Chunks:
        """Cut the trees of a plan, so that `order` players of a leaf have at most so many combinations of states."""
        from glasswood.kernels._chunks import make_chunks, order_leaves

        e, cells = plan.ensemble, plan.cells
        leaf_order, ranges = np.empty(e.n_leaves, dtype=np.int32), np.empty((e.n_nodes, 2), dtype=np.int64)
        order_leaves(e.root, (e.left, e.right), leaf_order, ranges)
        chunk_first, seat_first, seat_player, axis_first, feature, *axis, state_first, table, words = make_chunks(
            (e.root, e.left, e.right),
            (leaf_order, ranges),
            plan.boxes,
            (plan.player_of, cells.n_cells, cells.n_codes),
            most_states,
            order,
        )
        place = np.zeros(e.n_features, dtype=np.int32)
        place[e.used_features] = np.arange(e.used_features.size)
        axes = (axis_first, place[feature], cells.n_cells[feature] - 1, *axis, table)
        return cls(plan, chunk_first, leaf_order, seat_first, seat_player, state_first, words, axes)

    @property
    def n_chunks(self) -> int:
        """The number of chunks."""
        return self.chunk_first.size - 1

    @once
    def leaves(self) -> _core.ChunkedLeaves:
        """The chunks as kernels take them."""
        return _core.ChunkedLeaves(
            chunk_first=self.chunk_first,
            leaf_order=self.leaf_order,
            seat_first=self.seat_first,
            seat_player=self.seat_player,
            state_first=self.state_first,
            words=self.words,
        )

    @property
    def n_seats(self) -> int:
        """The number of seats."""
        return self.seat_player.size

    @once
    def output(self) -> NDArray[np.int64]:
        """The (first) output that each chunk adds to."""
        plan = self.plan
        tree = plan.leaf_tree[self.leaf_order[self.chunk_first[:-1]]]
        return np.maximum(plan.ensemble.tree_output, 0)[tree].astype(np.int64)

    def write_states(self, cells: NDArray[np.int32], rows: tuple[int, int], states: NDArray[np.uint16]) -> None:
        """Write the state of every seat, for the rows from first to last: (n_seats, at least so many)."""
        from glasswood.kernels._chunks import write_states

        write_states(cells, rows, self.axes, self._all_seats, states)

    def states_of(self, seats: NDArray[np.int64], cells: NDArray[np.int32]) -> NDArray[np.uint16]:
        """Return the states of some seats, for all rows."""
        from glasswood.kernels._chunks import write_states

        states = np.empty((seats.size, cells.shape[1]), dtype=np.uint16)
        write_states(cells, (0, cells.shape[1]), self.axes, seats, states)
        return states

    @once
    def _all_seats(self) -> NDArray[np.int64]:
        return np.arange(self.n_seats)

    def seats_of(self, chunk: int) -> NDArray[np.int64]:
        """Return the seats of a chunk."""
        return np.arange(self.seat_first[chunk], self.seat_first[chunk + 1])

    @once
    def seat_chunk(self) -> NDArray[np.int64]:
        """The chunk of each seat."""
        return np.repeat(np.arange(self.n_chunks), np.diff(self.seat_first))
