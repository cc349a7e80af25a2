"""Partial dependence interaction values of rows: effects in, one small table per set and chunk of leaves, values."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._chunks import block_width
from glasswood.effects._closed_forms import Effects
from glasswood.effects._row_cells import CellBlock, Rows
from glasswood.effects._set_blocks import (
    FoundTerms,
    PlayerSets,
    SetBlock,
    core_block_of,
    order_of_sets,
    players_of_sets,
)
from glasswood.effects._set_values import SetValues, WholeSets, sums_of
from glasswood.kernels import _core
from glasswood.parallel._interrupts import check_cancelled
from glasswood.parallel._lazy import Deferred, cached_property, cached_unpickled
from glasswood.parallel._threads import for_each, n_threads

__all__ = ["Lookups"]

ENTRIES_AT_A_TIME = 2**17  # that a thread fills, in a few tenths of a second
STATES_IN_CACHE = 2**22  # of all seats, for a block of rows
MAX_WIDTH, MAX_STATES_HELD = 384, 2**26  # rows that are looked up at a time, and how many states are held


class Lookups(WholeSets):
    """The interaction values of sets of players that share a path: of all of them, or of a block.

    For a set X, the part of the score that only X together explains depends on the values of X alone. In a chunk of a
    tree these have few states, so that part is a small table; a row's value is the sum of one lookup per chunk.

    Parameters
    ----------
    player_sets : PlayerSets
    find_effects : Deferred
        Finds the effects of at least the order of the sets.
    outputs : list of int
        The outputs that are wanted.
    block : SetBlock, optional
        All sets by default.
    terms : FoundTerms, optional
        Those of the block, if they are known.
    """

    def __init__(
        self,
        player_sets: PlayerSets,
        find_effects: Deferred[Effects],
        outputs: list[int],
        block: SetBlock | None = None,
        terms: FoundTerms | None = None,
    ) -> None:
        self.player_sets, self.plan, self.chunks = player_sets, player_sets.plan, player_sets.chunks
        self._find_effects = find_effects
        self.outputs = outputs
        self.rows: Rows | CellBlock = CellBlock(np.empty((self.plan.ensemble.used_features.size, 0), dtype=np.int32))
        self.block = player_sets.everything if block is None else block
        self.terms = player_sets.terms(self.block) if terms is None else terms
        _ = self._lookups  # before threads share it

    @property
    def effects(self) -> Effects:
        """The effects of sets of players, which are found when they are first needed."""
        return self._find_effects()

    def of_rows(self, rows: Rows | CellBlock) -> Lookups:
        """Return the same tables for some rows; at first there are none."""
        result = copy(self)
        result.rows = rows
        return result

    def pieces(self, max_sets: int) -> Iterator[tuple[NDArray[np.intp], SetValues]]:
        """Yield the numbers of some sets, at most so many at a time, and their values."""
        for first in range(0, self.order.size, max_sets):
            some = slice(first, min(first + max_sets, self.order.size))
            yield np.arange(some.start, some.stop), SomeLookups(self, some)

    @property
    def cache_key(self) -> tuple[Any, ...]:
        """What the values of rows depend on."""
        return "lookups", self.sets, self.outputs, self.mean.tobytes(), self._table.tobytes()

    @property
    def n_bytes(self) -> int:
        """The memory of the tables and their index."""
        arrays = (self._table, *self._groups, *self.terms, self.chunks.table, self.chunks.words)
        return sum(int(array.nbytes) for array in arrays)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The sets, sorted by size and then by players."""
        return order_of_sets(self.block, self.terms)

    @cached_property
    def sets(self) -> list[tuple[int, ...]]:
        """The players of each set, sorted by size and then by players."""
        return players_of_sets(self.block, self.terms)

    @property
    def n_outputs(self) -> int:
        """The number of outputs that are wanted."""
        return len(self.outputs)

    @property
    def n_groups(self) -> int:
        """The number of pairs of a set and an output."""
        return self.order.size * self.n_outputs

    @cached_property
    def _groups(self) -> tuple[Any, ...]:
        """The terms of each (set, output), sorted, and where their tables are."""
        n_values = self.plan.ensemble.value.shape[1]
        has_prefix = self.block.own and bool(self.block.prefix)
        terms = np.flatnonzero(self.terms.set > (-1 if has_prefix else 0))
        chunk = np.searchsorted(self.terms.first, terms, side="right") - 1
        rank = np.empty(self.terms.set_rest.size, dtype=np.int64)
        rank[self.order] = np.arange(self.order.size)
        place = np.full(self.plan.ensemble.n_outputs, -1)  # of an output among those that are wanted
        place[self.outputs] = np.arange(self.n_outputs)
        values = np.arange(n_values)
        output = place[self.chunks.output[chunk][:, None] + values]
        groups = (rank[self.terms.set[terms]] * self.n_outputs)[:, None] + output
        tables = self._table_first[terms][:, None] + values * self.terms.size[terms][:, None]
        kept = np.flatnonzero(output.ravel() >= 0)
        kept = kept[np.argsort(groups.ravel()[kept], kind="stable")]
        first = np.searchsorted(groups.ravel()[kept], np.arange(self.n_groups + 1))
        entry_term = np.repeat(terms, n_values)[kept].astype(np.int32)
        # Groups in the order of their first terms: what they look up is then close together in memory.
        head = np.where(np.diff(first) > 0, np.append(entry_term, 0)[first[:-1]], -1)
        return np.argsort(head, kind="stable"), first, entry_term, tables.ravel()[kept]

    @cached_property
    def _table_first(self) -> NDArray[np.int64]:
        sizes = np.where(self.terms.seat >= 0, self.terms.size, 0) * self.plan.ensemble.value.shape[1]
        return np.concatenate([[0], np.cumsum(sizes)])

    @cached_property
    def _table(self) -> NDArray[np.float64]:
        plan, chunks = self.effects.plan, self.chunks
        n_entries = int(self._table_first[-1])
        table = np.zeros(n_entries + 64)
        e = plan.ensemble
        counted = _core.GrowingSets(plan.subsets.plus, plan.subsets.size, plan.order)
        result, subsets = self.terms, self.player_sets.subsets_of(self.block)
        players, block = self.player_sets.players, core_block_of(self.block)
        terms = _core.TermTables(
            chunks=chunks.leaves,
            rest=result.rest,
            seat=result.seat,
            pair_term=result.pair_term,
            pair_first=result.pair_first,
            table_first=self._table_first,
            n_values=e.value.shape[1],
        )

        def fill(index: int) -> None:
            first, last = index * chunks.n_chunks // parts, (index + 1) * chunks.n_chunks // parts
            _core.fill_tables(
                first=first,
                last=last,
                chunks=chunks.leaves,
                players=players,
                size=subsets.size,
                rest=subsets.rest,
                block=block,
                counted=counted,
                terms=terms,
                value=e.value,
                leaf_offset=plan.leaf_offset,
                exact=self.effects.exact,
                table=table,
            )

        parts = min(chunks.n_chunks, max(4 * n_threads(), n_entries // ENTRIES_AT_A_TIME))
        for_each(parts, fill, "tables" if self.block == self.player_sets.everything else None)
        table *= self.effects.unit
        return table

    @cached_property
    def _seats(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
        """The seats whose states are looked at, the place of each term's seat among them, and where states start."""
        used = np.unique(self.terms.seat[self.terms.seat >= 0]).astype(np.int64)
        place = np.where(self.terms.seat >= 0, np.searchsorted(used, self.terms.seat), -1).astype(np.int32)
        n_states = np.diff(self.chunks.state_first)[used]
        return used, place, np.concatenate([[0], np.cumsum(n_states)])

    @cached_unpickled
    def _lookups(self) -> _core.Lookups:
        return self.lookups_of(slice(0, self.order.size))

    def lookups_of(self, sets: slice) -> _core.Lookups:
        """Return what is looked up for some sets, as kernels take it."""
        group_order, group_first, entry_term, entry_table = self._groups
        _, seat, state_first = self._seats
        first, last = sets.start * self.n_outputs, sets.stop * self.n_outputs
        group_first = group_first[first : last + 1]
        entries = slice(group_first[0], group_first[-1])
        return _core.Lookups(
            group_order=group_order[(group_order >= first) & (group_order < last)] - first,
            group_first=group_first - group_first[0],
            entry_term=entry_term[entries],
            entry_table=entry_table[entries],
            rest=self.terms.rest,
            seat=seat,
            state_first=state_first,
            table=self._table,
        )

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.rows.n_rows

    @property
    def has_mean(self) -> bool:
        """Whether the first of the sets is the empty one."""
        return self.block.own and not self.block.prefix

    def write(self, span: tuple[int, int], out: NDArray[np.float64], at: int) -> None:
        """Write the values of the rows from first to last to the columns of `out`, (n_groups, ...), from `at` on."""
        self.look_up(self._lookups, self.rows.cells(*span), out, at, np.empty((3, 0)))
        if self.has_mean:
            out[: self.n_outputs, at : at + span[1] - span[0]] = self.mean[:, None]

    def moments(self, span: tuple[int, int]) -> NDArray[np.float64]:
        """Return the sums of absolute values, squares and values over some rows: (3, n_groups)."""
        sums = np.zeros((3, self.n_groups))
        self.look_up(self._lookups, self.rows.cells(*span), np.empty((0, 0)), 0, sums)
        if self.has_mean:
            n_rows = span[1] - span[0]
            sums[:, : self.n_outputs] = np.abs(self.mean) * n_rows, self.mean**2 * n_rows, self.mean * n_rows
        return sums

    @property
    def mean(self) -> NDArray[np.float64]:
        """The value of the empty set, for each output."""
        return self.effects.mean[self.outputs]

    def look_up(
        self,
        lookups: _core.Lookups,
        cells: NDArray[np.int32],
        out: NDArray[np.float64],
        at: int,
        sums: NDArray[np.float64],
    ) -> None:
        """Write the values of rows, unless `out` is empty, and add up their moments, unless `sums` is."""
        n_rows, (seats, *_) = cells.shape[1], self._seats
        sum_width = block_width(n_rows, STATES_IN_CACHE // max(1, self.chunks.n_seats))  # the same for all blocks
        width = sum_width * max(1, min(MAX_WIDTH // sum_width, MAX_STATES_HELD // max(1, seats.size * sum_width)))
        states = np.zeros((seats.size, width), dtype=np.uint16)
        for row in range(0, n_rows, width):
            check_cancelled()
            span = (row, min(n_rows, row + width))
            self.chunks.write_states(cells, span, states, seats)
            _core.look_up(states, span[1] - span[0], sum_width, lookups, at + span[0], out, sums)


class SomeLookups(WholeSets):
    """The values of some of the sets of `Lookups`.

    Parameters
    ----------
    source : Lookups
    some : slice
    """

    def __init__(self, source: Lookups, some: slice) -> None:
        self.source, self.some = source, some
        self.sets, self.n_rows = source.sets[some], source.n_rows
        self._lookups = source.lookups_of(some)

    def write(self, span: tuple[int, int], out: NDArray[np.float64], at: int) -> None:
        """Write the values of some rows to the columns of `out`, (n_sets x n_outputs, ...), from `at` on."""
        source = self.source
        source.look_up(self._lookups, source.rows.cells(*span), out, at, np.empty((3, 0)))
        if source.has_mean and self.some.start == 0:
            out[: source.n_outputs, at : at + span[1] - span[0]] = source.mean[:, None]

    def moments(self, span: tuple[int, int]) -> NDArray[np.float64]:
        """Return the sums of absolute values, squares and values over some rows: (3, n_sets x n_outputs)."""
        values = np.empty((len(self.sets) * self.source.n_outputs, span[1] - span[0]))
        self.write(span, values, 0)
        return sums_of(values)
