"""Partial dependence interaction values of rows: effects in, one small table per set and chunk of leaves, values."""

from __future__ import annotations

from copy import copy
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.counting._subsets import Subsets
from glasswood.effects._chunks import Chunks, block_width
from glasswood.effects._closed_forms import Effects
from glasswood.effects._row_cells import CellBlock, Rows
from glasswood.errors import TooLargeError
from glasswood.kernels import _core
from glasswood.parallel._interrupts import proceed
from glasswood.parallel._once import Deferred, once, once_here
from glasswood.parallel._threads import beside, for_each, n_threads

__all__ = ["Lookups", "check_pairs"]

MOST_STATES = 1024  # entries of a table
MOST_PAIRS = 2**26  # of a leaf and a set
ENTRIES_AT_A_TIME = 2**17  # that a thread fills, in a few tenths of a second
MOST_ENTRIES = 2**26  # of all tables: half a gigabyte; so no table has more entries than the 2**16 that fit in an index
STATES_IN_CACHE = 2**22  # of all seats, for a block of rows


def check_pairs(plan: CountPlan, max_order: int, wanted: NDArray[np.bool_]) -> None:
    """Raise an error before anything is counted if the leaves have too many sets of up to `order` wanted players."""
    n_wanted = int(wanted.sum())
    n_pairs = sum(
        n * sum(comb(min(used, n_wanted), k) for k in range(min(max_order, used, n_wanted) + 1))
        for used, n in enumerate(plan.n_paths)
    )
    if n_pairs > MOST_PAIRS:
        raise _too_large(n_pairs, "sets of players on paths", MOST_PAIRS)


class Lookups:
    """The interaction values of every set of players that share a path.

    For a set X, the part of the score that only X together explains depends on the values of X alone. In a chunk of a
    tree these have few states, so that part is a small table; a row's value is the sum of one lookup per chunk.

    Parameters
    ----------
    plan : CountPlan
    find_effects : Deferred
        Finds the effects of at least `max_order`, once it is known that the tables fit.
    max_order : int
        The largest number of players of a set.
    wanted : ndarray of shape (n_players,), bool
        Sets have no other players than these.
    outputs : list of int
        The outputs that are wanted.
    """

    def __init__(
        self,
        plan: CountPlan,
        find_effects: Deferred[Effects],
        max_order: int,
        wanted: NDArray[np.bool_],
        outputs: list[int],
    ) -> None:
        self.plan = plan
        self._find_effects = find_effects
        self.outputs = outputs
        self.rows: Rows | CellBlock = CellBlock(np.empty((plan.ensemble.used_features.size, 0), dtype=np.int32))
        self.subsets = Subsets.up_to(max_order, min(int(plan.n_players.max(initial=0)), int(wanted.sum())))
        self.chunks = Chunks.of(plan, max_order, MOST_STATES)
        self._wanted = wanted
        leaves, players = self.chunks.leaves, self._players
        found = beside(lambda: _core.find_terms(leaves, players, self.subsets.size, self.subsets.rest))
        self.term_set, self.term_rest, self.term_seat, self.term_size, self.term_first = found[:5]
        self._pairs = found[5:7]
        self._set_rest, self._set_last, self._set_size = found[7:]
        n_entries = int(self._table_first[-1])
        if n_entries > MOST_ENTRIES:
            raise _too_large(n_entries, "entries of tables", MOST_ENTRIES)
        _ = self._lookups  # before threads share it

    @property
    def effects(self) -> Effects:
        """The effects of sets of players, which are found when they are first needed."""
        return self._find_effects()

    def of_rows(self, rows: Rows | CellBlock) -> Lookups:
        """Return the same tables for some rows; at first there are none."""
        found = copy(self)
        found.rows = rows
        return found

    @property
    def told(self) -> tuple[Any, ...]:
        """What the values of rows depend on."""
        return "lookups", self.sets, self.outputs, self._mean.tobytes(), self._table.tobytes()

    @property
    def n_bytes(self) -> int:
        """The memory of the tables and their index."""
        arrays = (self._table, *self._groups, *self._pairs, self.term_set, self.term_rest, self.term_seat)
        return sum(int(array.nbytes) for array in (*arrays, self.chunks.table, self.chunks.words))

    @once_here
    def _players(self) -> _core.PlayersOfLeaves:
        """The wanted players of each leaf as kernels take them."""
        boxes, plan = self.plan.boxes, self.plan
        return _core.PlayersOfLeaves(boxes.first, boxes.feature, boxes.slot, plan.player_of, self._wanted)

    @once
    def order(self) -> NDArray[np.int64]:
        """The sets, sorted by size and then by players."""
        rank = np.zeros(self._set_rest.size, dtype=np.int64)
        sorted_sets = [np.zeros(1, dtype=np.int64)]
        for size in range(1, int(self._set_size.max(initial=0)) + 1):
            members = np.flatnonzero(self._set_size == size)
            members = members[np.lexsort((self._set_last[members], rank[self._set_rest[members]]))]
            rank[members] = np.arange(members.size)
            sorted_sets.append(members)
        return np.concatenate(sorted_sets)

    @once
    def sets(self) -> list[tuple[int, ...]]:
        """The players of each set, the empty set first."""
        players: list[tuple[int, ...]] = [()] * self._set_rest.size
        rest, last = self._set_rest.tolist(), self._set_last.tolist()
        for number in self.order[1:].tolist():
            players[number] = (*players[rest[number]], last[number])
        return [players[number] for number in self.order.tolist()]

    @property
    def n_outputs(self) -> int:
        """The number of outputs that are wanted."""
        return len(self.outputs)

    @property
    def n_groups(self) -> int:
        """The number of pairs of a set and an output."""
        return self.order.size * self.n_outputs

    @once
    def _groups(self) -> tuple[Any, ...]:
        """The terms of each (set, output), sorted, and where their tables are."""
        n_values = self.plan.ensemble.value.shape[1]
        terms = np.flatnonzero(self.term_set > 0)
        chunk = np.searchsorted(self.term_first, terms, side="right") - 1
        rank = np.empty(self.order.size, dtype=np.int64)
        rank[self.order] = np.arange(self.order.size)
        place = np.full(self.plan.ensemble.n_outputs, -1)  # of an output among those that are wanted
        place[self.outputs] = np.arange(self.n_outputs)
        values = np.arange(n_values)
        output = place[self.chunks.output[chunk][:, None] + values]
        groups = (rank[self.term_set[terms]] * self.n_outputs)[:, None] + output
        tables = self._table_first[terms][:, None] + values * self.term_size[terms][:, None]
        kept = np.flatnonzero(output.ravel() >= 0)
        kept = kept[np.argsort(groups.ravel()[kept], kind="stable")]
        first = np.searchsorted(groups.ravel()[kept], np.arange(self.n_groups + 1))
        entry_term = np.repeat(terms, n_values)[kept].astype(np.int32)
        # Groups in the order of their first terms: what they look up is then close together in memory.
        head = np.where(np.diff(first) > 0, np.append(entry_term, 0)[first[:-1]], -1)
        return np.argsort(head, kind="stable"), first, entry_term, tables.ravel()[kept]

    @once
    def _table_first(self) -> NDArray[np.int64]:
        sizes = np.where(self.term_set > 0, self.term_size, 0) * self.plan.ensemble.value.shape[1]
        return np.concatenate([[0], np.cumsum(sizes)])

    @once
    def _table(self) -> NDArray[np.float64]:
        plan, chunks = self.effects.plan, self.chunks
        n_entries = int(self._table_first[-1])
        table = np.zeros(n_entries + 64)
        e = plan.ensemble
        counted = _core.GrowingSets(plan.subsets.plus, plan.subsets.size, plan.order)
        pair_term, pair_first = self._pairs
        terms = _core.TermTables(
            chunks=chunks.leaves,
            rest=self.term_rest,
            seat=self.term_seat,
            pair_term=pair_term,
            pair_first=pair_first,
            table_first=self._table_first,
            n_values=e.value.shape[1],
        )

        def fill(index: int) -> None:
            first, last = index * chunks.n_chunks // parts, (index + 1) * chunks.n_chunks // parts
            _core.fill_tables(
                first=first,
                last=last,
                chunks=chunks.leaves,
                players=self._players,
                size=self.subsets.size,
                rest=self.subsets.rest,
                counted=counted,
                terms=terms,
                value=e.value,
                leaf_offset=plan.leaf_offset,
                exact=self.effects.exact,
                table=table,
            )

        parts = min(chunks.n_chunks, max(4 * n_threads(), n_entries // ENTRIES_AT_A_TIME))
        for_each(parts, fill, "tables")
        table *= self.effects.unit
        return table

    @once_here
    def _lookups(self) -> _core.Lookups:
        group_order, group_first, entry_term, entry_table = self._groups
        return _core.Lookups(
            group_order=group_order,
            group_first=group_first,
            entry_term=entry_term,
            entry_table=entry_table,
            rest=self.term_rest,
            seat=self.term_seat,
            state_first=self.chunks.state_first,
            table=self._table,
        )

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.rows.n_rows

    def write(self, span: tuple[int, int], out: NDArray[np.float64], at: int) -> None:
        """Write the values of the rows from first to last to the columns of `out`, (n_groups, ...), from `at` on."""
        self._look_up(self.rows.cells(*span), out, at, np.empty((2, 0)))
        out[: self.n_outputs, at : at + span[1] - span[0]] = self._mean[:, None]

    def moments(self, span: tuple[int, int]) -> NDArray[np.float64]:
        """Return the sums of absolute values and of squares over the rows from first to last: (2, n_groups)."""
        sums = np.zeros((2, self.n_groups))
        self._look_up(self.rows.cells(*span), np.empty((0, 0)), 0, sums)
        n_rows = span[1] - span[0]
        sums[:, : self.n_outputs] = np.abs(self._mean) * n_rows, self._mean**2 * n_rows
        return sums

    @property
    def _mean(self) -> NDArray[np.float64]:
        return self.effects.mean[self.outputs]

    def _look_up(self, cells: NDArray[np.int32], out: NDArray[np.float64], at: int, sums: NDArray[np.float64]) -> None:
        n_rows = cells.shape[1]
        width = block_width(n_rows, STATES_IN_CACHE // max(1, self.chunks.n_seats))
        states = np.zeros((self.chunks.n_seats, width), dtype=np.uint16)
        for row in range(0, n_rows, width):
            proceed()
            span = (row, min(n_rows, row + width))
            self.chunks.write_states(cells, span, states)
            _core.look_up(states, span[1] - span[0], self._lookups, at + span[0], out, sums)


def _too_large(needed: int, what: str, most: int) -> TooLargeError:
    return TooLargeError(
        f"the interactions of this model have {needed:,} {what}; at most {most:,} are handled. Ask for a smaller "
        "max_order, or for fewer features"
    )
