"""Chunks: small parts of trees, in which what a row does is a handful of states, one per player."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.kernels import _core
from glasswood.parallel._lazy import cached_property, cached_unpickled

__all__ = ["Chunks", "block_width"]

LANES = 32  # rows that kernels handle at a time


def block_width(n_rows: int, max_: int) -> int:
    """Return how many rows make a block: about `max_`, in equal blocks, and a multiple of what kernels handle."""
    max_ = min(2048, max(64, max_))
    n_blocks = max(1, -(-n_rows // max_))
    return max(1, -(-n_rows // (n_blocks * LANES))) * LANES


@dataclass(frozen=True, eq=False)
class Chunks:
    """The trees of a plan, cut into chunks of up to 64 leaves.

    A *seat* is a player in a chunk. All a chunk asks of a row is which leaves' conditions on each of its players the
    row meets: the *state* of the seat. An *axis* is a feature of a seat. See src/core/chunks.h for more on the arrays.

    Parameters
    ----------
    plan : CountPlan
    chunk_first : ndarray of shape (n_chunks + 1,)
    leaf_order : ndarray of shape (n_leaves,)
        The leaves, chunk by chunk.
    seat_first : ndarray of shape (n_chunks + 1,)
    seat_player : ndarray of shape (n_seats,)
    axis_first : ndarray of shape (n_seats + 1,)
    axis_feature : ndarray of shape (n_axes,)
    axis_table : ndarray of shape (n_axes,)
        Where the entries of the axis start in `table`.
    axis_kind : ndarray of shape (n_axes,)
        The number of cuts, or -1 for categories.
    state_first : ndarray of shape (n_seats + 1,)
    table : ndarray of int32
        From cells to states.
    words : ndarray of uint64
        For each state, which leaves of the chunk the row suits.
    """

    plan: CountPlan
    chunk_first: NDArray[np.int64]
    leaf_order: NDArray[np.int32]
    seat_first: NDArray[np.int64]
    seat_player: NDArray[np.int32]
    axis_first: NDArray[np.int64]
    axis_feature: NDArray[np.int32]
    axis_table: NDArray[np.int64]
    axis_kind: NDArray[np.int32]
    state_first: NDArray[np.int64]
    table: NDArray[np.int32]
    words: NDArray[np.uint64]

    @classmethod
    def of(cls, plan: CountPlan, order: int, max_states: int) -> Chunks:
        """Cut the trees of a plan so that `order` players of a leaf have a limited number of combinations of states.

        With derived columns, each column is a player of its own: what users know as a player changes several.
        """
        e = plan.ensemble
        player = plan.player_of if e.derived is None else np.arange(e.n_columns, dtype=np.int32)
        made = _core.make_chunks(e.root, e.left, e.right, plan.core_boxes, player, max_states, order)
        return cls(plan, **made)

    @property
    def n_chunks(self) -> int:
        """The number of chunks."""
        return self.chunk_first.size - 1

    @cached_unpickled
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

    @cached_unpickled
    def axes(self) -> _core.Axes:
        """The way from cells to states as kernels take it."""
        e = self.plan.ensemble
        lines = np.append(e.used_features, np.arange(e.n_features, e.n_columns))  # derived columns come last
        return _core.Axes(
            leaves=self.leaves,
            first=self.axis_first,
            line=np.searchsorted(lines, self.axis_feature).astype(np.int32),
            missing=self.plan.column_cells.n_cells[self.axis_feature] - 1,
            start=self.axis_table,
            kind=self.axis_kind,
            table=self.table,
        )

    @property
    def n_seats(self) -> int:
        """The number of seats."""
        return self.seat_player.size

    @cached_property
    def output(self) -> NDArray[np.int64]:
        """The (first) output that each chunk adds to."""
        plan = self.plan
        tree = plan.leaf_tree[self.leaf_order[self.chunk_first[:-1]]]
        return np.maximum(plan.ensemble.tree_output, 0)[tree].astype(np.int64)

    def write_states(
        self,
        cells: NDArray[np.int32],
        rows: tuple[int, int],
        states: NDArray[np.uint16],
        seats: NDArray[np.int64] | None = None,
    ) -> None:
        """Write the states of all seats, or of some, for the rows from first to last: (n_seats, or more rows)."""
        _core.write_states(cells, *rows, self.axes, self._all_seats if seats is None else seats, states)

    def states_of(self, seats: NDArray[np.int64], cells: NDArray[np.int32]) -> NDArray[np.uint16]:
        """Return the states of some seats, for all rows."""
        states = np.empty((seats.size, cells.shape[1]), dtype=np.uint16)
        _core.write_states(cells, 0, cells.shape[1], self.axes, seats, states)
        return states

    def changes_along(self, seats: NDArray[np.int64], n_cells: int) -> tuple[NDArray[np.int64], ...] | None:
        """Return where the states of some seats change along all cells of their only feature, if that is of numbers.

        Of each change: its cell, the state from there on and the state before, counted from the seat's first one, and
        the place of the seat. In the order of cells, then of seats. None for other seats.
        """
        axis = self.axis_first[seats]
        n_cuts = self.axis_kind[axis].astype(np.int64)
        if (self.axis_first[seats + 1] - axis != 1).any() or (n_cuts < 0).any():
            return None
        start, ends = self.axis_table[axis], np.cumsum(n_cuts)
        place = np.repeat(np.arange(seats.size), n_cuts)
        old = np.arange(place.size) - (ends - n_cuts)[place]
        cell = self.table[start[place] + 2 + old].astype(np.int64) + 1  # the table has the last cell below each cut
        gap = self.table[start].astype(np.int64)  # the state of missing values, which are in the last cell
        last = np.flatnonzero(gap != n_cuts)
        cell = np.append(cell, np.full(last.size, n_cells - 1))
        place, old, new = np.append(place, last), np.append(old, n_cuts[last]), np.append(old + 1, gap[last])
        order = np.lexsort((place, cell))
        result = (cell, new, old, place)
        return tuple(array[order] for array in result)

    @cached_property
    def _all_seats(self) -> NDArray[np.int64]:
        return np.arange(self.n_seats)

    def seats_of(self, chunk: int) -> NDArray[np.int64]:
        """Return the seats of a chunk."""
        return np.arange(self.seat_first[chunk], self.seat_first[chunk + 1])

    @cached_property
    def seat_chunk(self) -> NDArray[np.int64]:
        """The chunk of each seat."""
        return np.repeat(np.arange(self.n_chunks), np.diff(self.seat_first))
