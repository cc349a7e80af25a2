"""Blocks of player sets: all sets that share a path, cut into intervals whose tables fit in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from math import comb
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.counting._subsets import Subsets
from glasswood.effects._chunks import Chunks
from glasswood.kernels import _core
from glasswood.parallel._interrupts import check_cancelled
from glasswood.parallel._lazy import cached_property, cached_unpickled
from glasswood.parallel._threads import run_interruptible

__all__ = ["FoundTerms", "PlayerSets", "SetBlock", "core_block_of", "order_of_sets", "players_of_sets"]

MAX_STATES = 1024  # entries of a table, but for single leaves
SAMPLED_CHUNKS = 24  # whose tables tell how large those of all chunks are
NO_LIMIT = 2**62
FEW_ENTRIES = 64  # that there are for each pair of a leaf and a set, about, unless paths are long
SPLIT_FACTOR = 3  # a block may have so many times more entries than it was made for, before it is divided


@dataclass(frozen=True, slots=True)
class SetBlock:
    """An interval of the sets, in lexicographic order of their players.

    The sets have all players of `prefix`, and at least one more, the smallest of which is from `first` on and below
    `last`. All sets are the block of no prefix, from the first player to the last.

    Parameters
    ----------
    prefix : tuple of int
        In increasing order.
    first, last : int
    own : bool
        Whether the prefix itself belongs to the block; without a prefix, the empty set.
    """

    prefix: tuple[int, ...]
    first: int
    last: int
    own: bool


class FoundTerms(NamedTuple):
    """The terms of a block, see `Terms` in src/core/interactions.h: a term is a set in a chunk."""

    set: NDArray[np.int32]
    rest: NDArray[np.int32]
    seat: NDArray[np.int32]
    size: NDArray[np.int64]
    first: NDArray[np.int64]
    pair_term: NDArray[np.int32]
    pair_first: NDArray[np.int64]
    set_rest: NDArray[np.int32]
    set_last: NDArray[np.int32]
    set_size: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class PlayerSets:
    """The sets of up to `order` selected players that share a path.

    Parameters
    ----------
    plan : CountPlan
    order : int
        The largest number of players of a set.
    selected : ndarray of shape (n_players,), bool
        Sets have no other players than these.
    """

    plan: CountPlan
    order: int
    selected: NDArray[np.bool_]
    _subsets: dict[int, Subsets] = field(default_factory=dict)

    @cached_property
    def chunks(self) -> Chunks:
        """The trees in chunks, in which sets have few combinations of states."""
        return Chunks.of(self.plan, self.order, MAX_STATES)

    @cached_unpickled
    def players(self) -> _core.PlayersOfLeaves:
        """The selected players of each leaf as kernels take them."""
        boxes, plan = self.plan.boxes, self.plan
        return _core.PlayersOfLeaves(boxes.first, boxes.feature, boxes.slot, plan.player_of, self.selected)

    @property
    def everything(self) -> SetBlock:
        """The block of all sets."""
        return SetBlock((), 0, self.selected.size, own=True)

    def subsets_of(self, block: SetBlock) -> Subsets:
        """Return the sets of the players of a path that follow the prefix of a block."""
        order = max(0, self.order - len(block.prefix))
        if order not in self._subsets:
            max_ = min(int(self.plan.n_players.max(initial=0)), int(self.selected.sum()))
            self._subsets[order] = Subsets.up_to(order, max_)
        return self._subsets[order]

    def find(
        self, block: SetBlock, max_entries: int = NO_LIMIT, chunks: tuple[int, int] | None = None
    ) -> FoundTerms | None:
        """Return the terms of a block, in all chunks or in some; None if their tables have more than `max_entries`."""
        subsets = self.subsets_of(block)
        first, last = (0, self.chunks.n_chunks) if chunks is None else chunks
        leaves, players, core_block = self.chunks.leaves, self.players, core_block_of(block)
        result = run_interruptible(
            lambda: _core.find_terms(first, last, leaves, players, subsets.size, subsets.rest, core_block, max_entries)
        )
        return None if result is None else FoundTerms(*cast("tuple[NDArray[Any], ...]", result))

    def terms(self, block: SetBlock) -> FoundTerms:
        """Return the terms of a block, however large their tables are."""
        return cast(FoundTerms, self.find(block))

    # ---------------------------------------------------------------------------------------------- how many there are

    @cached_property
    def _paths(self) -> NDArray[np.int32]:
        """The selected players of each leaf's path, sorted: (n_leaves, n); behind them the number of all players."""
        first, player = self.plan.slots
        n_slots, n_players = np.diff(first), self.selected.size
        longest = int(n_slots.max(initial=0))
        paths = np.full((n_slots.size, longest), n_players, dtype=np.int32)
        paths[np.arange(longest) < n_slots[:, None]] = np.where(self.selected, np.arange(n_players), n_players)[player]
        paths.sort(axis=1)
        n_used = int((paths < n_players).sum(axis=1).max(initial=0))
        return paths[:, :n_used]

    @cached_property
    def n_pairs(self) -> int:
        """The number of pairs of a leaf and a set of its path."""
        used = np.bincount((self._paths < self.selected.size).sum(axis=1)).tolist()
        return sum(n * n_subsets(length, self.order) for length, n in enumerate(used))

    def has_at_most(self, limit: int, order: int) -> bool:
        """Return whether there are certainly no more than `limit` distinct sets of up to `order` players."""
        return n_subsets(self._n_used, order) <= limit or self.max_sets(order) <= limit

    def max_sets(self, order: int) -> int:
        """Return a number that the distinct sets of up to `order` players do not exceed."""
        return sum(self._max_sets_of_size(size) for size in range(min(order, self._paths.shape[1]) + 1))

    def _max_sets_of_size(self, size: int) -> int:
        on_paths = sum(n * comb(length, size) for length, n in enumerate(self._distinct_paths))
        return min(comb(self._n_used, size), on_paths)

    @cached_property
    def _n_used(self) -> int:
        """The number of selected players that the model uses."""
        used = np.unique(self.plan.player_of[self.plan.ensemble.used_features])
        return int(np.count_nonzero(self.selected[used]))

    @cached_property
    def _distinct_paths(self) -> list[int]:
        """How many different paths have 0 players, 1, 2 and so on."""
        # Sums of random numbers, one for each player, identify paths. Comparing rows takes ten times as long.
        hashes = np.random.default_rng(0).integers(0, 2**64, self.selected.size + 1, dtype=np.uint64)
        hashes[-1] = 0  # behind the players of a path
        sums = np.zeros(len(self._paths), dtype=np.uint64)
        for players in self._paths.T:
            sums += hashes[players]
        _, chosen = np.unique(sums, return_index=True)
        used = (self._paths[chosen] < self.selected.size).sum(axis=1)
        result: list[int] = np.bincount(used).tolist()
        return result

    # -------------------------------------------------------------------------------------------------- cut into blocks

    def blocks(self, max_entries: int) -> Iterator[tuple[SetBlock, FoundTerms]]:
        """Yield blocks in the order of their sets, each with tables of about `max_entries` entries, and their terms."""
        waiting = [self.everything]
        if self.n_pairs > max_entries // FEW_ENTRIES and self.n_pairs * self._entries_per_pair > max_entries:
            waiting = self._cut(self.everything, max_entries)
        while waiting:
            check_cancelled()
            block = waiting.pop(0)
            result = self.find(block, SPLIT_FACTOR * max_entries)
            parts = [] if result is not None else self._halves(block, max_entries)
            if parts:
                waiting = parts + waiting
            else:
                yield block, self.terms(block) if result is None else result

    @cached_property
    def _entries_per_pair(self) -> float:
        """About how many entries of tables there are for each pair of a leaf and a set: those of a sample of chunks."""
        chunks = self.chunks
        chosen = np.unique(np.linspace(0, chunks.n_chunks - 1, SAMPLED_CHUNKS).astype(np.int64)).tolist()
        n_pairs = n_entries = 0
        for chunk in chosen:
            terms = self.find(self.everything, chunks=(chunk, chunk + 1))
            if terms is not None:
                n_pairs += terms.pair_term.size
                n_entries += int(terms.size.sum())
        return n_entries / max(1, n_pairs)

    def _cut(self, block: SetBlock, max_entries: int) -> list[SetBlock]:
        """Return a block cut into parts of about `max_entries` entries."""
        sizes = self._pairs_of(block) * self._entries_per_pair
        result: list[SetBlock] = []
        first, held = block.first, 0.0
        for player in range(block.first, block.last):
            size = float(sizes[player])
            if held + size > max_entries and held:
                result.append(SetBlock(block.prefix, first, player, own=False))
                first, held = player, 0.0
            if size > max_entries and len(block.prefix) + 1 < self.order:
                result += self._cut(self._below(block, player), max_entries)
                first = player + 1
            else:
                held += size
        if first < block.last:
            result.append(SetBlock(block.prefix, first, block.last, own=False))
        return _with_prefix(result, block)

    def _below(self, block: SetBlock, player: int) -> SetBlock:
        """Return the block of all sets that begin with the prefix of a block and a player."""
        return SetBlock((*block.prefix, player), player + 1, self.selected.size, own=True)

    def _halves(self, block: SetBlock, max_entries: int) -> list[SetBlock]:
        """Return two parts of a block, or those of its only player; none if it cannot be divided."""
        sizes = np.cumsum(self._pairs_of(block)[block.first : block.last])
        players = block.first + np.flatnonzero(np.diff(sizes, prepend=0) > 0)
        if players.size > 1:
            middle = block.first + int(np.searchsorted(sizes, sizes[-1] / 2)) + 1
            middle = min(middle, int(players[-1]))
            parts = [replace(block, last=middle, own=False), replace(block, first=middle, own=False)]
        elif players.size and len(block.prefix) + 1 < self.order:
            parts = self._cut(self._below(block, int(players[0])), max_entries)
        else:
            return []
        return _with_prefix(parts, block)

    def _pairs_of(self, block: SetBlock) -> NDArray[np.float64]:
        """Return the number of pairs of a leaf and a set of a block, by the first player behind the prefix."""
        paths, n_players = self._paths, self.selected.size
        if block.prefix:
            has = np.ones(len(paths), dtype=bool)
            for player in block.prefix:
                has &= (paths == player).any(axis=1)
            paths = paths[has]
        width = paths.shape[1]
        n_left = (paths < n_players).sum(axis=1)[:, None] - 1 - np.arange(width)  # players behind each one
        order = self.order - len(block.prefix) - 1
        n_sets = np.array([n_subsets(left, order) for left in range(max(1, width))], dtype=np.float64)
        here = (paths >= block.first) & (paths < block.last)
        return np.bincount(paths[here], weights=n_sets[n_left[here]], minlength=n_players).astype(np.float64)


def order_of_sets(block: SetBlock, terms: FoundTerms) -> NDArray[np.int64]:
    """Return the sets of a block, by number, sorted by size and then by players."""
    rank = np.zeros(terms.set_rest.size, dtype=np.int64)
    result = [np.zeros(int(block.own), dtype=np.int64)]
    for size in range(1, int(terms.set_size.max(initial=0)) + 1):
        members = np.flatnonzero(terms.set_size == size)
        members = members[np.lexsort((terms.set_last[members], rank[terms.set_rest[members]]))]
        rank[members] = np.arange(members.size)
        result.append(members)
    return np.concatenate(result)


def players_of_sets(block: SetBlock, terms: FoundTerms) -> list[tuple[int, ...]]:
    """Return the players of each set of a block, sorted by size and then by players."""
    order = order_of_sets(block, terms).tolist()
    rest, last = terms.set_rest.tolist(), terms.set_last.tolist()
    players: list[tuple[int, ...]] = [block.prefix] * len(rest)
    for number in order[int(block.own) :]:
        players[number] = (*players[rest[number]], last[number])
    return [players[number] for number in order]


def _with_prefix(parts: list[SetBlock], block: SetBlock) -> list[SetBlock]:
    """Return parts of a block, of which the first has the prefix itself if the block has it."""
    if not block.own:
        return parts
    if parts and parts[0].prefix == block.prefix:
        return [replace(parts[0], own=True), *parts[1:]]
    return [replace(block, last=block.first), *parts]


@cache
def n_subsets(n: int, order: int) -> int:
    """Return how many sets of up to `order` of n players there are, the empty one included."""
    return sum(comb(n, size) for size in range(min(n, order) + 1))


def core_block_of(block: SetBlock) -> _core.SetBlock:
    """Return a block as kernels take it."""
    return _core.SetBlock(np.array(block.prefix, dtype=np.int32), block.first, block.last, own=block.own)
