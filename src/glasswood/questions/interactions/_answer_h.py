"""H statistics: what the parts of a score leave over, from a second pass over the rows with the counts of the first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._background import Background
from glasswood.counting._folds import without_each_fold
from glasswood.errors import ArgumentError, BackgroundError, TooLargeError
from glasswood.models._outputs import OutputSelection
from glasswood.parallel._lazy import Deferred
from glasswood.questions.interactions._result_h import HStatistics
from glasswood.questions.interactions._statistic import Complement, LeftMoments, LeftOverSpec, Parts
from glasswood.results import Folds
from glasswood.study._group_values import group_values
from glasswood.study._study import Study
from glasswood.study._view import View

__all__ = ["h_statistics"]


NOISE = 1e-12  # of the size of scores: below, what is left over is rounding

NO_ROWS = (
    "this reads the rows twice: for the counts, and for what their parts leave over of each score. Pass a table, files "
    "or a frame as the background; a Background and a stream that is read once do not have the rows"
)


def h_statistics(view: View, sets: Sequence[Sequence[Any]] = (), *, pairs: bool = True) -> HStatistics:
    """Return H of each player and of the whole, what mains and pairs leave over, and H of some sets."""
    study, plan, chosen = view.study, view.study.plan(1), view.chosen
    sets = [view.players(one) for one in sets]
    if not study.over.can_count:
        raise BackgroundError(NO_ROWS)
    short = [one for one in sets if len(one) < 2]
    if short:
        message = f"sets of features that interact have at least two members, not only {short[0][0]!r}"
        raise ArgumentError(message)
    places = [tuple(plan.players.index(name) for name in one) for one in sets]
    spec = _spec_of(study, places, pairs=pairs)
    result = study.one_pass(spec)
    lines = _Lines(study, spec, chosen)
    whole = lines.of(result.vectors[spec.key], result.total)
    order = np.argsort(-whole["numerator"].sum(axis=1), kind="stable")
    whole["numerator"] = whole["numerator"][order]
    return HStatistics(
        names=tuple(plan.players[player] for player in order),
        variances=whole,
        sets=tuple(tuple(one) for one in sets),
        with_pairs=pairs,
        outputs=chosen.labels,
        units=view.units,
        find_folds=None if result.folds is None else Deferred(lambda: lines.folds(result, order)),
    )


class _Lines:
    """The lines of `LeftSums` by name, as variances of the chosen outputs."""

    def __init__(self, study: Study, spec: LeftOverSpec, chosen: OutputSelection) -> None:
        self._study, self._spec, self._chosen = study, spec, chosen
        size = max((float(np.abs(curve).max(initial=0.0)) for curve in study.raw_curves.values()), default=0.0)
        self._noise = (NOISE * size) ** 2

    def of(self, limbs: NDArray[np.int64], total: int) -> dict[str, NDArray[np.float64]]:
        """Return them, given the sums."""
        variance = LeftMoments(self._study.ensemble, limbs, total).variance[:, self._chosen.columns]
        variance = np.where(variance > self._noise, variance, 0.0)
        order, players = self._spec.order, [one.player for one in self._spec.complements]
        first = 1 + order + len(players)
        numerator = np.zeros((len(self._study.plan(1).players), variance.shape[1]))
        numerator[players] = variance[1 + order : first]
        return {
            "score": variance[0],
            "without mains": variance[1],
            "without pairs": variance[order],
            "numerator": numerator,
            "of sets": variance[first::2],
            "joint effects": variance[first + 1 :: 2],
        }

    def folds(self, counted: Background, order: NDArray[np.intp]) -> dict[str, Folds]:
        """Return them without each fold of the rows, with the parts that all rows have."""
        left = without_each_fold(counted)
        result = [self.of(part.background.vectors[self._spec.key], part.background.total) for part in left]
        for own in result:
            own["numerator"] = own["numerator"][order]
        shares = np.array([part.share for part in left])
        return {name: Folds(np.stack([own[name] for own in result]), shares) for name in result[0]}


def _spec_of(study: Study, sets: Sequence[tuple[int, ...]], *, pairs: bool) -> LeftOverSpec:
    """Return what is asked of the second pass; the first one is made if need be."""
    if study.in_parts:
        message = "the model has too many counts to keep, and H needs them in a second pass; explain fewer trees"
        raise TooLargeError(message)
    if pairs and not study.plan(1).countable(2):
        message = (
            f"the pairs on the paths of this model need {study.plan(1).n_sets(2):,} counts, too many; ask for "
            "h_statistics(pairs=False)"
        )
        raise TooLargeError(message)
    largest = max((len(one) for one in sets), default=0)
    of_sets = _counts_of_order(study, largest) if sets else None
    order = study.plan(2 if pairs else 1).order  # no path may have two players
    return LeftOverSpec(
        _counts_of_order(study, order),
        order,
        tuple(_complements(study)),
        tuple(tuple(sorted(one)) for one in sets),
        of_sets,
    )


def _counts_of_order(study: Study, order: int) -> Parts:
    """Return counts of at least this order, unless no path has so many players."""
    effects = study.effects(order)
    return Parts(effects.plan.order, effects.counts, effects.total)


def _complements(study: Study) -> list[Complement]:
    """Return the values that each player has in the rows, and their shares."""
    plan, used = study.plan(1), study.ensemble.used_features
    result = []
    for player in np.unique(plan.player_of[used]).tolist():
        features = used[plan.player_of[used] == player]
        if features.size > 1:
            result.append(_complement_of_group(study, player))
            continue
        rows = np.asarray(study.rows_per_cell(int(features[0])), dtype=np.float64)
        result.append(Complement(player, features, np.arange(rows.size)[None], rows / rows.sum()))
    return result


def _complement_of_group(study: Study, player: int) -> Complement:
    """Return the same for several columns: the combinations of cells that occur."""
    if not study.over.in_memory:
        message = (
            f"H of the group {study.plan(1).players[player]!r} needs a table in memory; pass one as the background, or "
            "leave the group out"
        )
        raise BackgroundError(message)
    own = group_values(study, player, "or pass fewer rows")
    share = np.zeros(own.cells.shape[1])
    share += np.bincount(own.place, weights=study.over.shares, minlength=share.size)
    return Complement(player, own.features, own.cells, share)
