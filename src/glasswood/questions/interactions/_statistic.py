"""LeftSums: how far the scores of rows are from sums of their parts: of mains, of pairs, of a feature and all others.

These sums hold for the curves that they were made with, since parts come from counts of all rows. So they are a second
pass: the counts of the first one are sent along, and the name of the vector has a hash of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan, make_plan
from glasswood.counting._statistic import Batch, Tally, Vector
from glasswood.counting._wide import LIMBS, numbers_of
from glasswood.effects._closed_forms import Effects
from glasswood.effects._interactions import Lookups
from glasswood.effects._responses import AnyQuestions, Asked, Responses
from glasswood.effects._row_cells import CellBlock
from glasswood.effects._row_sums import BITS, TOO_LARGE, RowSums, add_powers, unchanged, unit_of_left
from glasswood.effects._set_blocks import PlayerSets
from glasswood.errors import TooLargeError
from glasswood.models._ensemble import TreeEnsemble
from glasswood.parallel._interrupts import check_cancelled
from glasswood.parallel._lazy import Deferred, cached_unpickled

__all__ = ["Complement", "LeftMoments", "LeftOverSpec", "LeftSums", "Parts"]


MAX_VALUES = 2**22  # of rows that are held at a time


class Complement(NamedTuple):
    """A player, and what it is replaced by to find the partial dependence of all others.

    Parameters
    ----------
    player : int
    features : ndarray of shape (n_features,)
        Its columns.
    cells : ndarray of shape (n_features, n_points)
        Their cells at each of the values that occur.
    share : ndarray of shape (n_points,)
        The share of the rows that has these values.
    """

    player: int
    features: NDArray[np.intp]
    cells: NDArray[np.int64]
    share: NDArray[np.float64]


class Parts(NamedTuple):
    """Counts of the rows, from which the parts of a score follow.

    Parameters
    ----------
    order : int
    counts : ndarray
    total : float
        The number (or weight) of the rows.
    """

    order: int
    counts: NDArray[Any]
    total: float


@dataclass(frozen=True, eq=False)
class LeftOverSpec:
    """What sums of parts leave over of the scores of rows, as it is asked for.

    Parameters
    ----------
    parts : Parts
    order : int
        The number of players of the largest sets that are subtracted: 1 for mains, 2 for mains and pairs.
    complements : tuple of Complement
        Those of all players.
    sets : tuple of tuples of int
        Sets of players whose interaction is compared with their joint effect.
    of_sets : Parts, optional
        Counts of at least the order of the largest of these sets, if there are any.
    """

    parts: Parts
    order: int
    complements: tuple[Complement, ...]
    sets: tuple[tuple[int, ...], ...] = ()
    of_sets: Parts | None = None

    @cached_property
    def key(self) -> str:
        """The name of the vector: what is asked for, and a hash of the counts."""
        digest = blake2b(digest_size=8)
        for parts in filter(None, (self.parts, self.of_sets)):
            digest.update(np.ascontiguousarray(parts.counts, dtype=np.int64).tobytes())
            digest.update(np.float64(parts.total).tobytes())
        for complement in self.complements:
            digest.update(np.ascontiguousarray(complement.share).tobytes())
        return f"left over {self.order} {self.sets!r} {digest.hexdigest()}"

    def statistic(self, plan: CountPlan) -> LeftSums:
        """Return the statistic of a model."""
        return LeftSums(plan, self)


class LeftSums(RowSums):
    """Sums of what is left over of scores, and of its squares, for each output.

    In this order: the score; the score without mains; without mains and pairs, if these are asked for; without the
    parts of each player and of all others; then, for each set, its interaction and its joint effect.

    Parameters
    ----------
    plan : CountPlan
    spec : LeftOverSpec
    """

    def __init__(self, plan: CountPlan, spec: LeftOverSpec) -> None:
        self._ensemble, self._spec = plan.ensemble, spec
        super().__init__(make_plan(plan.ensemble, spec.parts.order, plan.groups))
        self._factor = unit_of_left(plan)
        n_lines = 1 + spec.order + len(spec.complements) + 2 * len(spec.sets)
        self._shape = (n_lines, plan.ensemble.n_outputs, 2, LIMBS)

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """The sums, as wide numbers."""
        return (Vector(self._spec.key, int(np.prod(self._shape)), "wide sum"),)

    @cached_unpickled
    def responses(self) -> Responses:
        """What answers questions about rows: the plan of single players is enough."""
        return Responses(make_plan(self._ensemble, 1, self.plan.groups), "identity")

    @cached_unpickled
    def _questions(self) -> AnyQuestions:
        asked: list[Asked] = [(one.player, one.features, one.cells) for one in self._spec.complements]
        return self.responses.questions([*asked, unchanged()])

    @cached_unpickled
    def _lookups(self) -> Lookups:
        return self._lookups_of(self._spec.parts, self._spec.order, np.ones(len(self.plan.players), dtype=bool))

    @cached_unpickled
    def _lookups_of_sets(self) -> Lookups:
        parts = self._spec.of_sets or self._spec.parts
        spec = np.zeros(len(self.plan.players), dtype=bool)
        spec[[player for one in self._spec.sets for player in one]] = True
        return self._lookups_of(parts, max(map(len, self._spec.sets)), spec)

    def _lookups_of(self, parts: Parts, order: int, spec: NDArray[np.bool_]) -> Lookups:
        plan = make_plan(self._ensemble, parts.order, self.plan.groups)
        effects = Effects(plan, parts.counts, parts.total)
        player_sets = PlayerSets(plan, order, spec)
        return Lookups(player_sets, Deferred(lambda: effects), list(range(self._ensemble.n_outputs)))

    def add(self, tallies: Sequence[Tally], batch: Batch) -> None:
        """Add rows to the tallies of their groups."""
        cells = self.cells_of(batch)
        held = max(self._questions.n_questions, len(self._lookups.sets)) * self._ensemble.n_outputs
        step = max(1, MAX_VALUES // held)
        for tally, rows in zip(tallies, batch.groups, strict=True):
            sums = tally.vectors[self._spec.key].reshape(self._shape)
            for first in range(rows.start, rows.stop, step):
                check_cancelled()
                here = slice(first, min(rows.stop, first + step))
                values = self._values(np.ascontiguousarray(cells[:, here])) * self._factor
                if not (np.abs(values) < 1.0).all():
                    raise TooLargeError(TOO_LARGE)
                add_powers(sums, values, batch.weights(here))

    def _values(self, cells: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return what is added up for each row: (n_lines, n_outputs, n_rows)."""
        spec, n_outputs = self._spec, self._ensemble.n_outputs
        answers = self.responses.write_cells(cells, self._questions)
        by_set = _interaction_values(self._lookups, cells, n_outputs)
        mean, sets = by_set[0], self._lookups.sets
        score = answers[-1] - mean
        lines = [score]
        for size in range(1, spec.order + 1):
            own = [by_set[number] for number, members in enumerate(sets) if len(members) == size]
            lines.append(lines[-1] - _sum(own, score))
        alone = {members[0]: by_set[number] for number, members in enumerate(sets) if len(members) == 1}
        first = self._questions.first.tolist()
        for number, complement in enumerate(spec.complements):
            replies = answers[first[number] : first[number + 1]]
            others = _sum([share * reply for share, reply in zip(complement.share, replies, strict=True)], score) - mean
            lines.append(score - alone.get(complement.player, np.zeros_like(score)) - others)
        if spec.sets:
            lines += self._values_of_sets(cells)
        return np.stack(lines)

    def _values_of_sets(self, cells: NDArray[np.int32]) -> list[NDArray[np.float64]]:
        """Return the interaction of each set, and its joint effect."""
        source, n_outputs = self._lookups_of_sets, self._ensemble.n_outputs
        by_set, result = _interaction_values(source, cells, n_outputs), []
        for one in self._spec.sets:
            members = {own: by_set[number] for number, own in enumerate(source.sets) if own and {*own} <= {*one}}
            none = np.zeros_like(by_set[0])
            result += [members.get(tuple(sorted(one)), none), _sum(list(members.values()), none)]
        return result


def _sum(values: Sequence[NDArray[np.float64]], like: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a sum in the order of the values, which does not depend on how many rows there are."""
    result = np.zeros_like(like)
    for value in values:
        result += value
    return result


def _interaction_values(source: Lookups, cells: NDArray[np.int32], n_outputs: int) -> NDArray[np.float64]:
    """Return the interaction values of all sets for rows: (n_sets, n_outputs, n_rows)."""
    n_rows = cells.shape[1]
    out = np.empty((source.n_groups, n_rows))
    source.of_rows(CellBlock(cells)).write((0, n_rows), out, 0)
    return out.reshape(-1, n_outputs, n_rows)


class LeftMoments:
    """The variances over rows of what is left over, see `LeftSums` for the order of the lines.

    Parameters
    ----------
    ensemble : TreeEnsemble
    limbs : ndarray of int64
        The sums.
    total : int
        The sum of the rows' weights in the same unit.
    """

    def __init__(self, ensemble: TreeEnsemble, limbs: NDArray[np.int64], total: int) -> None:
        numbers = numbers_of(limbs).reshape(-1, ensemble.n_outputs, 2)
        first, second = numbers[:, :, 0], numbers[:, :, 1]
        numerators = ((second * total) << BITS) - first**2
        whole = total**2 << (2 * BITS)
        variances = np.array([max(0, number) / whole for number in numerators.ravel()]).reshape(first.shape)
        self.variance: NDArray[np.float64] = variances / unit_of_left(make_plan(ensemble, 1, {})) ** 2
