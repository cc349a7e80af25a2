"""Metrics of rows by walking: each row goes through the trees together with every background row. For few rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.effects._row_cells import CellBlock, Rows
from glasswood.effects._set_values import WholeSets, sums_of
from glasswood.kernels import _core
from glasswood.parallel._interrupts import check_cancelled
from glasswood.parallel._threads import in_order
from glasswood.questions.rows._arithmetic_cube_values import CubeValues

__all__ = ["Ground", "WalkedRows", "Walks", "can_walk", "seconds_for_walks"]


MAX_ORDER = 2  # of sets

MAX_BYTES = 2**26  # of the values of a row

MAX_COLUMNS = 2**22

MAX_PAIRS = 2**14  # of a row and a background row, that a kernel takes at a time

MAX_NARROW = 25  # players, whose sets fit in one word

MAX_PARTS = 16  # of the trees, the same for any number of threads, so that sums are the same, too

SAMPLED_TREES = 8

SAMPLE_SIZES = (1, 2, 4, 8, 16)  # of rows: a pair may visit all nodes of a tree, so a small sample comes first

SAMPLED_VISITS = 2**17  # after which a sample is large enough

LANES = 8  # players that a kernel adds to at a time

MISSING, UNSEEN = 2**31 - 1, -1


def can_walk(plan: CountPlan, orders: range, n_outputs: int) -> bool:
    """Return whether a metric of sets of these sizes can be found by walking."""
    max_ = orders.stop - 1
    n_values = n_outputs * len(plan.players) ** max_
    return (
        len(orders) > 0
        and orders.start > 0
        and max_ <= MAX_ORDER
        and 8 * n_values <= MAX_BYTES
        and plan.ensemble.used_features.size <= MAX_COLUMNS
    )


def seconds_for_walks(visits: float, n_rows: int, n_background: int, orders: range, n_outputs: int) -> float:
    """Return about how long rows take on one core, given the visits of a pair of rows."""
    per_visit = 12e-9 + 2e-9 * n_outputs * (1 if orders.stop == 2 else 10)
    return n_rows * n_background * visits * per_visit


class Ground:
    """The trees and the background rows, made ready to walk. It fits any rows and any metric.

    Parameters
    ----------
    plan : CountPlan
    cells : ndarray of shape (n_columns, n_rows), int32
        Those of the background rows, which are written to.
    weight : ndarray of float64
        The weight of each background row; they sum to 1.
    """

    def __init__(self, plan: CountPlan, cells: NDArray[np.int32], weight: NDArray[np.float64]) -> None:
        self.plan = plan
        self.weight = weight
        self.players, place = np.unique(plan.player_of[plan.ensemble.used_features], return_inverse=True)
        self._player = place.astype(np.int32)  # of each column
        self.there = self.ranks(cells)
        self.trees = self._trees()

    @property
    def n_slots(self) -> int:
        """The players that a mask has room for: all of them, if they are few, or those of the longest path."""
        return self.players.size if self.by_player else self.plan.max_players

    @property
    def by_player(self) -> bool:
        """Whether masks are of all players, which are few, and not of those of a path."""
        return self.players.size <= MAX_NARROW

    @property
    def width(self) -> int:
        """The number of players, rounded up to what a kernel adds to at a time."""
        return -(-self.players.size // LANES) * LANES

    def shape(self, n_outputs: int) -> tuple[int, int]:
        """Return the shape of the values of a row as the kernel takes them: outputs and players, or the reverse."""
        if self.by_player:
            return n_outputs, self.width
        return self.players.size, 1 if n_outputs == 1 else -(-n_outputs // LANES) * LANES

    @property
    def n_bytes(self) -> int:
        """The memory of its larger arrays."""
        return int(self.there.nbytes + self.trees.n_bytes)

    def _trees(self) -> _core.WalkTrees:
        """Return the trees as the kernel takes them."""
        e, plan, cells = self.plan.ensemble, self.plan, self.plan.cells
        column = np.zeros(e.n_features, dtype=np.int32)
        column[e.used_features] = np.arange(e.used_features.size)
        by_column = column[e.feature]
        return _core.WalkTrees(
            trees=e.core_trees,
            slot=self._player[by_column] if self.by_player else plan.slot,
            column=by_column,
            rank=cells.rank,
            category_set=e.category_set,
            missing_left=e.missing_left,
            unseen_left=e.unseen_left,
            words=e.words,
            n_codes=cells.n_codes[e.used_features],
            player=self._player,
            output=np.maximum(e.tree_output, 0).astype(np.int64),
            value=e.value,
            n_slots=self.n_slots,
            slots_are_players=self.by_player,
        )

    def ranks(self, ranks: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return cells of rows, one line per column, with numbers for missing and unseen that need no look-up."""
        cells, used = self.plan.cells, self.plan.ensemble.used_features
        for line, n_cells, n_codes in zip(ranks, cells.n_cells[used], cells.n_codes[used], strict=True):
            line[line == n_cells - 1] = MISSING
            if n_codes:
                line[line == n_codes] = UNSEEN
        return ranks

    @property
    def block(self) -> int:
        """The number of background rows of a batch; it only depends on their total number."""
        return int(1 << max(6, (min(self.there.shape[1], 1024) - 1).bit_length()))

    @property
    def batch(self) -> int:
        """The number of rows of a batch."""
        return MAX_PAIRS // self.block

    def visits_of_a_pair(self) -> float:
        """Return about how many nodes and leaves a row and a background row visit together: of a sample of both."""
        n_trees, n_rows = self.plan.ensemble.n_trees, self.there.shape[1]
        trees = np.unique(np.linspace(0, n_trees - 1, SAMPLED_TREES).astype(np.int64)).tolist()
        visits = n_pairs = 0
        for size in SAMPLE_SIZES:
            here = self._sample(min(size, n_rows), 0.5)
            there = self._sample(min(4 * size, n_rows), 0.0)
            n_pairs = here.shape[1] * there.shape[1] * len(trees)
            visits = sum(self._visits(tree, here, there) for tree in trees)
            if visits > SAMPLED_VISITS:
                break
        return visits * n_trees / max(1, n_pairs)

    def _sample(self, n: int, offset: float) -> NDArray[np.int32]:
        """Return the ranks of some background rows, at equal distances."""
        return np.ascontiguousarray(self.there[:, ((np.arange(n) + offset) * self.there.shape[1] / n).astype(np.int64)])

    def _visits(self, tree: int, here: NDArray[np.int32], there: NDArray[np.int32]) -> int:
        """Return the visits of all pairs of some rows in a tree."""
        n_here, n_there = here.shape[1], there.shape[1]
        return _core.add_walks(
            first_tree=tree,
            last_tree=tree + 1,
            trees=self.trees,
            here=here,
            there=there,
            weight=np.ones(n_there),
            first_here=0,
            last_here=n_here,
            first_there=0,
            last_there=n_there,
            values=np.zeros((3, self.n_slots + 1, self.n_slots + 1)),
            output_place=np.full(self.plan.ensemble.n_outputs, -1),
            single=np.zeros((n_here, *self.shape(1))),
            pairs=np.zeros((0, self.width, self.width)),
        )


class Walks:
    """A metric against background rows.

    Parameters
    ----------
    ground : Ground
    values : CubeValues
        Of sets of one or two players.
    outputs : list of int
        The outputs that are wanted.
    """

    def __init__(self, ground: Ground, values: CubeValues, outputs: list[int]) -> None:
        self.ground = ground
        self.orders = values.orders
        self.outputs = outputs
        self._place = np.full(ground.plan.ensemble.n_outputs, -1)
        self._place[outputs] = np.arange(len(outputs))
        self._values = values.for_players(max(1, ground.n_slots))
        players = ground.players.tolist()
        self.sets: list[tuple[int, ...]] = [(player,) for player in players] if 1 in self.orders else []
        if 2 in self.orders:
            a, b = np.nonzero(np.triu(ground.plan.player_pairs[np.ix_(ground.players, ground.players)], 1))
            self._pairs = a * ground.width + b
            self.sets += [(players[i], players[j]) for i, j in zip(a.tolist(), b.tolist(), strict=True)]

    def add(self, here: NDArray[np.int32], span: tuple[int, int], trees: range) -> NDArray[np.float64]:
        """Return what some trees add to some rows, given as ranks: (n_sets, n_outputs, n_rows)."""
        ground, n_rows, n_outputs = self.ground, span[1] - span[0], len(self.outputs)
        width, n_there = ground.width, ground.there.shape[1]
        single = np.zeros((n_rows, *ground.shape(n_outputs)))
        pairs = np.zeros((n_rows * n_outputs if 2 in self.orders else 0, width, width))
        for first in range(0, n_there, ground.block):
            for tree in trees:
                check_cancelled()
                _core.add_walks(
                    first_tree=tree,
                    last_tree=tree + 1,
                    trees=ground.trees,
                    here=here,
                    there=ground.there,
                    weight=ground.weight,
                    first_here=span[0],
                    last_here=span[1],
                    first_there=first,
                    last_there=min(n_there, first + ground.block),
                    values=self._values,
                    output_place=self._place,
                    single=single,
                    pairs=pairs,
                )
        result: list[NDArray[Any]] = [np.empty((n_rows, n_outputs, 0))]
        if 1 in self.orders:
            values = single if ground.by_player else single.transpose(0, 2, 1)
            result.append(values[:, :n_outputs, : ground.players.size])
        if 2 in self.orders:
            result.append(pairs.reshape(n_rows, n_outputs, width * width)[:, :, self._pairs])
        return np.concatenate(result, axis=2).transpose(2, 1, 0)


class WalkedRows(WholeSets):
    """A metric of rows, found by walking, at once.

    Parameters
    ----------
    walks : Walks
    rows : Rows or CellBlock
    """

    def __init__(self, walks: Walks, rows: Rows | CellBlock) -> None:
        self.sets = walks.sets
        self.n_rows = rows.n_rows
        self._values = self._sum(walks, walks.ground.ranks(rows.cells(0, rows.n_rows)))

    def write(self, span: tuple[int, int], out: NDArray[np.float64], at: int) -> None:
        """Write the values of some rows to the columns of `out`, (n_sets x n_outputs, ...), from `at` on."""
        out[:, at : at + span[1] - span[0]] = self._values[:, span[0] : span[1]]

    def moments(self, span: tuple[int, int]) -> NDArray[np.float64]:
        """Return the sums of absolute values, squares and values over some rows: (3, n_sets x n_outputs)."""
        return sums_of(self._values[:, span[0] : span[1]])

    def _sum(self, walks: Walks, here: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the sum over all trees, part by part of them, in a fixed order."""
        ground = walks.ground
        n_trees = ground.plan.ensemble.n_trees
        n_parts = min(n_trees, MAX_PARTS)
        spans = [(row, min(self.n_rows, row + ground.batch)) for row in range(0, self.n_rows, ground.batch)]

        def work(number: int) -> NDArray[np.float64]:
            part = number % n_parts
            trees = range(part * n_trees // n_parts, (part + 1) * n_trees // n_parts)
            return walks.add(here, spans[number // n_parts], trees)

        total = np.zeros((len(self.sets), len(walks.outputs), self.n_rows))
        with in_order(len(spans) * n_parts, work, "rows") as parts:
            for number, result in enumerate(parts):
                total[:, :, slice(*spans[number // n_parts])] += result
        total *= ground.plan.ensemble.score.factor
        return total.reshape(len(self.sets) * len(walks.outputs), self.n_rows)
