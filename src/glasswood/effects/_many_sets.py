"""ManySets: interaction values of more sets than there is memory for their tables, block by block of the sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._closed_forms import Effects
from glasswood.effects._interactions import Lookups
from glasswood.effects._row_cells import CellBlock, Rows
from glasswood.effects._set_blocks import FoundTerms, PlayerSets, SetBlock, players_of_sets
from glasswood.effects._set_values import SetValues, values_of_rows
from glasswood.errors import TooLargeError
from glasswood.parallel._lazy import Deferred, Recent
from glasswood.parallel._memory import memory_left

__all__ = ["BlocksOfSets", "ManySets", "interactions_of", "sets_fit"]

MAX_CELLS_HELD = 2**26  # of rows that are looked up for each block
MIN_ENTRIES, MAX_ENTRIES, BYTES_PER_ENTRY = 2**18, 2**26, 64  # of the tables of a block; of what is left, an eighth
MAX_PAIRS = 2**32  # of a leaf and a set, which are numbered in half a minute or so
BYTES_PER_VALUE = 40  # of a set and an output: three means and the arrays that lead to them


class CountedBlock(NamedTuple):
    """A block, and the number of its sets by size."""

    block: SetBlock
    n_sets: NDArray[np.int64]


class BlocksOfSets(Sequence[tuple[int, ...]]):
    """The players of all sets, sorted by size and then by players: those of a block are found when they are needed.

    Parameters
    ----------
    player_sets : PlayerSets
    max_entries : int
        The number of entries of the tables of a block, about.
    """

    def __init__(self, player_sets: PlayerSets, max_entries: int) -> None:
        self.player_sets = player_sets
        self.blocks: list[CountedBlock] = []
        self.only_terms: FoundTerms | None = None  # those of the only block
        for block, terms in player_sets.blocks(max_entries):
            sizes = len(block.prefix) + terms.set_size[int(not block.own) :]
            self.only_terms = None if self.blocks else terms
            self.blocks.append(CountedBlock(block, np.bincount(sizes, minlength=player_sets.order + 1)))
        n_sets = np.array([counted.n_sets for counted in self.blocks])  # (n_blocks, sizes)
        starts = np.cumsum(n_sets.sum(axis=0)) - n_sets.sum(axis=0)
        self._first = starts + np.cumsum(n_sets, axis=0) - n_sets  # of each block and size: the number of the first set
        self.n_sets = n_sets.sum(axis=0)
        self._recent: Recent[list[tuple[int, ...]]] = Recent(2)

    def __len__(self) -> int:
        return int(self.n_sets.sum())

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of players of each set."""
        return np.repeat(np.arange(self.n_sets.size), self.n_sets)

    def numbers_of(self, place: int) -> NDArray[np.intp]:
        """Return the numbers of the sets of a block, in their order there."""
        spans = zip(self._first[place].tolist(), self.blocks[place].n_sets.tolist(), strict=True)
        return np.concatenate([np.arange(first, first + n) for first, n in spans]).astype(np.intp)

    def terms_of(self, place: int) -> FoundTerms:
        """Return the terms of a block."""
        return self.only_terms or self.player_sets.terms(self.blocks[place].block)

    @overload
    def __getitem__(self, number: int) -> tuple[int, ...]: ...

    @overload
    def __getitem__(self, number: slice) -> list[tuple[int, ...]]: ...

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        number = range(len(self))[number]
        size = int(np.searchsorted(np.cumsum(self.n_sets), number, side="right"))
        place = int(np.searchsorted(self._first[:, size], number, side="right")) - 1
        before = int(self.blocks[place].n_sets[:size].sum())
        return self._sets_of(place)[before + number - int(self._first[place, size])]

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        sets: list[tuple[int, ...]] = [()] * len(self)
        for place in range(len(self.blocks)):
            for number, members in zip(self.numbers_of(place).tolist(), self._sets_of(place), strict=True):
                sets[number] = members
        return iter(sets)

    def _sets_of(self, place: int) -> list[tuple[int, ...]]:
        block = self.blocks[place].block
        return self._recent.get(place, lambda: players_of_sets(block, self.terms_of(place)))


class ManySets:
    """The interaction values of every set of players that share a path, as `Lookups`, of one block after the other.

    Parameters
    ----------
    sets : BlocksOfSets
    find_effects : Deferred
        Finds the effects of at least the order of the sets.
    outputs : list of int
        The outputs that are wanted.
    rows : Rows or CellBlock, optional
        At first there are none.
    """

    def __init__(
        self,
        sets: BlocksOfSets,
        find_effects: Deferred[Effects],
        outputs: list[int],
        rows: Rows | CellBlock | None = None,
    ) -> None:
        n_used = sets.player_sets.plan.ensemble.used_features.size
        self.sets, self.outputs, self._find_effects = sets, outputs, find_effects
        self.rows = CellBlock(np.empty((n_used, 0), dtype=np.int32)) if rows is None else rows

    def of_rows(self, rows: Rows | CellBlock) -> ManySets:
        """Return the same sets for some rows."""
        return ManySets(self.sets, self._find_effects, self.outputs, rows)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.rows.n_rows

    @property
    def n_bytes(self) -> int:
        """More than is kept: nothing here is worth it."""
        return 2**62

    @property
    def cache_key(self) -> tuple[Any, ...]:
        """What the values of rows depend on."""
        return "blocks of sets", list(self.sets), self.outputs, self._find_effects().counts.tobytes()

    def parts(self) -> Iterator[tuple[NDArray[np.intp], Lookups]]:
        """Yield the numbers of the sets of each block, and their values."""
        n_values = self.n_rows * self.sets.player_sets.plan.ensemble.used_features.size
        rows = CellBlock(self.rows.cells(0, self.n_rows)) if n_values <= MAX_CELLS_HELD else self.rows
        for place, counted in enumerate(self.sets.blocks):
            terms = self.sets.terms_of(place)
            result = Lookups(self.sets.player_sets, self._find_effects, self.outputs, counted.block, terms)
            yield self.sets.numbers_of(place), result.of_rows(rows)

    def pieces(self, max_sets: int) -> Iterator[tuple[NDArray[np.intp], SetValues]]:
        """Yield the numbers of some sets, at most so many at a time, and their values."""
        for numbers, part in self.parts():
            for places, piece in part.pieces(max_sets):
                yield numbers[places], piece

    def write(self, span: tuple[int, int], out: NDArray[np.float64], at: int) -> None:
        """Write the values of some rows to the columns of `out`, (n_sets x n_outputs, ...), from `at` on."""
        out[:, at : at + span[1] - span[0]] = values_of_rows(self, span, len(self.outputs))

    def moments(self, span: tuple[int, int]) -> NDArray[np.float64]:
        """Return the sums of absolute values, squares and values over some rows: (3, n_sets x n_outputs)."""
        sums = np.empty((3, len(self.sets), len(self.outputs)))
        for numbers, part in self.parts():
            sums[:, numbers] = part.moments(span).reshape(3, -1, len(self.outputs))
        return sums.reshape(3, -1)


def interactions_of(
    player_sets: PlayerSets, find_effects: Deferred[Effects], outputs: list[int], max_entries: int | None = None
) -> Lookups | ManySets:
    """Return the interaction values of sets for rows that are not known yet: at once, or block by block.

    The tables of a block have about `max_entries` entries, which by default depends on the memory that is left. Values
    do not depend on it.
    """
    refuse_too_many(player_sets, len(outputs))
    sets = BlocksOfSets(player_sets, entries_that_fit() if max_entries is None else max_entries)
    refuse_too_many(player_sets, len(outputs), len(sets))
    if sets.only_terms is None:
        return ManySets(sets, find_effects, outputs)
    return Lookups(player_sets, find_effects, outputs, terms=sets.only_terms)


def entries_that_fit() -> int:
    """Return the number of entries of the tables of a block."""
    return max(MIN_ENTRIES, min(MAX_ENTRIES, memory_left() // BYTES_PER_ENTRY))


def refuse_too_many(player_sets: PlayerSets, n_outputs: int, n_sets: int | None = None) -> None:
    """Refuse sets whose means do not fit in memory, if their number is known or can only be bounded."""
    order = player_sets.order
    if n_sets is None and player_sets.n_pairs <= MAX_PAIRS:
        return  # they are numbered first
    number = player_sets.max_sets(order) if n_sets is None else n_sets
    if number * n_outputs * BYTES_PER_VALUE <= memory_left() // 2:
        return
    smaller = next((k for k in range(order - 1, 0, -1) if sets_fit(player_sets, k, n_outputs)), 0)
    about = "up to " if n_sets is None else ""
    outputs = f" and {n_outputs} outputs" if n_outputs > 1 else ""
    remedy = f"ask for max_order={smaller}" if smaller else "ask for fewer features"
    size = number * n_outputs * BYTES_PER_VALUE / 1e9
    message = (
        f"the features of this model share paths in {about}{number:,} sets of up to {order} features{outputs}. Their "
        f"means take {size:,.1f} GB, more than half of the memory that is left: {remedy}"
    )
    raise TooLargeError(message)


def sets_fit(player_sets: PlayerSets, order: int, n_outputs: int) -> bool:
    """Return whether the means of sets of up to `order` players are certain to fit in memory."""
    return player_sets.has_at_most(memory_left() // 2 // (n_outputs * BYTES_PER_VALUE), order)
