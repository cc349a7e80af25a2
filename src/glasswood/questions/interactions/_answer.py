"""Strengths of interactions: of each pair of players, over the rows, the cells of both, or points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._many_sets import ManySets
from glasswood.effects._set_blocks import PlayerSets
from glasswood.effects._statistics import Moments, strongest_first
from glasswood.errors import BackgroundError, TooLargeError
from glasswood.parallel._lazy import Deferred
from glasswood.parallel._threads import in_order
from glasswood.questions.interactions._answer_rows import (
    MAX_SENT,
    CountedRows,
    JointlyCounted,
    PairRows,
    RowsAgain,
    RowsInMemory,
)
from glasswood.questions.interactions._arithmetic import (
    independent_moments,
    pair_moments,
    pair_strengths,
    point_moments,
)
from glasswood.questions.interactions._result import Strengths
from glasswood.results import Folds, JointRows
from glasswood.results._folds import LOST_ERROR
from glasswood.study._study import Study
from glasswood.study._view import View

__all__ = ["interaction_strengths", "pair_rows"]


# Seconds, about: of a pair and its surface, of a row in it, of a cell, of a box; of a value that is looked up.
PER_PAIR, PER_ROW, PER_CELL, PER_BOX = 3e-4, 3e-9, 15e-9, 1e-9

PER_LOOKUP = 12e-9

MANY_LEAVES = 2**17

MAX_CELLS_OF_PAIR = 2**25  # that are held at a time, and as many of rows

FEW_CELLS = 2**22  # of all pairs: then surfaces are made, whatever the rows, so that all sources have the same bits

MAX_REPLIES = 2**40  # of trees to rows: about half an hour

PER_REPLY = 2e-9  # seconds

MAX_CELLS = 2**36  # of all pairs: about a quarter of an hour

MAX_PAIRS_ON_PATHS = 2**26  # pairs of players on paths of leaves, whose values are found row by row


Floats = NDArray[np.float64]

PairMoments = tuple[list[tuple[int, int]], Floats]

"""Pairs of players, and the moments over rows of each."""


def interaction_strengths(view: View, rows: Any = None) -> Strengths:
    """Return how strongly pairs of players interact, which is the same for both classes of one score."""
    outputs = view.chosen.columns
    study, plan = view.study, view.study.plan(1)
    if study.ensemble.derived is None or not view.scale.is_score:
        view.only_raw("interaction_strengths")
    if rows is None and not study.over.has_rows:
        message = "pass rows=, the table of rows over which the strength of interactions is computed"
        raise BackgroundError(message)
    _refuse_uncountable_pairs(study)
    over = pair_rows(study, rows)
    pairs: list[Any] = []
    moments = np.zeros((4, 0, len(outputs)))
    if study.ensemble.derived is not None:
        pairs, moments = _moments_of_responses(view, over)
    elif plan.max_players >= 2:  # otherwise no path has a pair
        rows_only = not _use_points(view, over) and not study.over.once_only and not _use_cells(view, over)
        if rows_only:  # what is too large is refused before counting
            _refuse_many_pairs(PlayerSets(plan, 2, np.ones(len(plan.players), dtype=bool)).n_pairs)
        study.effects(2)  # the largest order first: some sources can be counted once only
        find = _moments_of_cells if _use_cells(view, over) else _moments_of_rows
        pairs, moments = (_moments_of_points if _use_points(view, over) else find)(view, over)
    scale = max((float(np.abs(curve).max(initial=0.0)) for curve in view.curves.values()), default=0.0)
    result = pair_strengths(moments, scale)
    order = strongest_first(result.strength)
    listed = [(plan.players[pairs[k][0]], plan.players[pairs[k][1]]) for k in order]
    return Strengths(
        pairs=listed,
        heights=result.strength[order],
        h=result.h[order],
        numerator=result.variance[order],
        denominator=result.joint[order],
        basis=over.basis,
        outputs=view.labels,
        units=view.units,
        names=plan.players,
        find_folds=Deferred(lambda: _folds(view, listed, own=rows is None), LOST_ERROR) if view.has_folds else None,
    )


def _folds(view: View, pairs: Sequence[tuple[str, str]], *, own: bool) -> dict[str, Folds]:
    """Return the strengths of pairs and their H without each fold of the background's rows."""
    if not own:
        message = "interaction strengths over rows= have no error: only the rows of the background are in folds"
        raise BackgroundError(message)
    heights, h, shares = [], [], []
    for share, left in view.each_without_fold("interaction strengths"):
        strengths = interaction_strengths(left)
        place = {pair: number for number, pair in enumerate(strengths.pairs)}
        order = [place[pair] for pair in pairs]
        heights.append(strengths.heights[order])
        h.append(strengths.h[order])
        shares.append(share)
    return {"value": Folds(np.stack(heights), np.array(shares)), "h": Folds(np.stack(h), np.array(shares))}


def pair_rows(study: Study, rows: Any = None) -> PairRows:
    """Return the rows over which interactions are averaged: those given, or those of the background."""
    if rows is not None:
        return RowsInMemory(study, study.rows(rows), None)
    if study.over.in_memory:
        return RowsInMemory(study, study.own_rows(), study.over.weights)
    if study.over.basis == "rows":
        return RowsAgain(study)
    return JointlyCounted(study) if study.over.can_count and _few_cells(study) else CountedRows(study)


def _few_cells(study: Study) -> bool:
    """Return whether pairs are of single features, with few enough cells for workers to send a table of each."""
    return not _has_groups(study) and bool(_cells_of_pairs(study).max(initial=0.0) <= MAX_SENT)


def _has_groups(study: Study) -> bool:
    return bool(np.bincount(study.plan(1).player_of).max(initial=0) > 1)


def _cells_of_pairs(study: Study) -> Floats:
    """Return the number of cells of each pair of features that share a path."""
    a, b = np.nonzero(study.pairs)
    n_cells = study.plan(1).cells.n_cells
    result: Floats = n_cells[a].astype(np.float64) * n_cells[b]
    return result


def _pairs_of(study: Study) -> list[tuple[int, int]]:
    """Return the pairs of features that share a path."""
    return list(zip(*(side.tolist() for side in np.nonzero(study.pairs)), strict=True))


# --------------------------------------------------------------------------------------------------- which of the ways


def _refuse_uncountable_pairs(study: Study) -> None:
    """Raise an error if the counts of pairs do not fit in memory."""
    plan = study.plan(1)
    if not plan.countable(2):
        message = (
            f"the pairs on the paths of this model need {plan.n_sets(2):,} counts, too many; ask for "
            "interaction_values(rows, max_order=2, features=...) of some features"
        )
        raise TooLargeError(message)


def _refuse_many_pairs(n_pairs: int) -> None:
    """Refuse pairs of players whose tables do not fit in memory together."""
    if n_pairs > MAX_PAIRS_ON_PATHS:
        message = (
            "the pairs of features on the paths of this model are too many to compare row by row; at most "
            f"{MAX_PAIRS_ON_PATHS:,} are handled. Ask for interaction_values(rows, max_order=2).top()"
        )
        raise TooLargeError(message)


def _refuse_many_cells(n_cells: float) -> None:
    """Raise an error if all pairs of cells would take too long."""
    if n_cells > MAX_CELLS:
        message = (
            f"with counts alone, interactions are computed for all pairs of cells; this model has {n_cells:,.0f}, "
            f"which would take about {n_cells * PER_CELL / 60:,.0f} minutes. Pass rows=, a table of rows (a sample "
            "is enough), or ask for the surface of single pairs: partial_dependence(a, b).plot()"
        )
        raise TooLargeError(message)


def _use_cells(view: View, over: PairRows) -> bool:
    """Return whether to make the surface of each pair, rather than to look up the values of each row."""
    study, plan, n_outputs = view.study, view.study.plan(1), len(view.chosen.columns)
    if _has_groups(study):
        return False
    of_pairs = _cells_of_pairs(study)
    n_cells = float(of_pairs.sum())
    if over.basis == "counts":
        _refuse_many_cells(n_cells * n_outputs)
    few = n_cells * view.scale.outputs.n_columns <= FEW_CELLS
    if few or over.basis == "counts" or isinstance(over, JointlyCounted):
        return True
    if plan.cells.n_cells.max(initial=0) > 2**16 or of_pairs.max(initial=0.0) * n_outputs > MAX_CELLS_OF_PAIR:
        return False
    n_rows = over.n_rows
    by_cells = of_pairs.size * (PER_PAIR + n_rows * PER_ROW + int(plan.n_players.sum()) * PER_BOX)
    by_cells += n_cells * view.scale.outputs.n_columns * PER_CELL
    return bool(by_cells < of_pairs.size * n_rows * n_outputs * PER_LOOKUP)


def _use_points(view: View, over: PairRows) -> bool:
    """Return whether to evaluate the surface of each pair where rows are: of very many leaves, and rows in memory.

    Looking up the values of a row takes time proportional to the number of leaves.
    """
    study = view.study
    single = np.bincount(study.plan(1).player_of).max(initial=0) == 1
    return bool(single) and isinstance(over, RowsInMemory) and study.ensemble.n_leaves > MANY_LEAVES


# ----------------------------------------------------------------------------------------------------------- moments


def _moments_of_points(view: View, over: PairRows) -> PairMoments:
    """Return the pairs of players, and their moments over rows, from the surface of each pair at all rows."""
    study, plan, outputs = view.study, view.study.plan(1), view.chosen.columns
    effects, curves = study.effects(2), view.curves
    result = _pairs_of(study)
    block, weight = next(over.blocks(1))
    cells = dict(zip(study.ensemble.used_features.tolist(), block.cells(0, block.n_rows), strict=True))

    def moments(number: int) -> Floats:
        a, b = result[number]
        rows = JointRows.of(cells[a], cells[b], weight)
        alone = effects.pair(a, b, outputs).at_many(rows.x.astype(np.int64), rows.y.astype(np.int64))
        both = (curves[a][:, outputs], curves[b][:, outputs])
        return point_moments(alone, both, (rows.x, rows.y), rows.rows)

    with in_order(len(result), moments, "interactions") as parts:
        listed = list(parts)
    players = [(int(plan.player_of[a]), int(plan.player_of[b])) for a, b in result]
    return players, np.array(listed).reshape(len(result), 4, len(outputs)).transpose(1, 0, 2)


def _moments_of_responses(view: View, over: PairRows) -> PairMoments:
    """Return the same for models whose leaves are not counted: all rows are asked for each pair of values."""
    study, outputs = view.study, view.chosen.columns
    if not isinstance(over, RowsInMemory) or _has_groups(study):
        message = (
            "interaction strengths of a model with statistics of combinations of columns (CTRs) need a table in "
            "memory, and no groups of columns; pass such a table as the background"
        )
        raise BackgroundError(message)
    curves, mean = view.curves, view.mean
    result = _pairs_of(study)
    block, weight = next(over.blocks(1))
    cells = dict(zip(study.ensemble.used_features.tolist(), block.cells(0, block.n_rows), strict=True))
    rows = {(a, b): JointRows.of(cells[a], cells[b], weight) for a, b in result}
    n_replies = sum(own.x.size for own in rows.values()) * float(study.over.n_rows) * study.ensemble.n_trees
    if n_replies > MAX_REPLIES:
        message = (
            f"interactions of this model, which has statistics of combinations (CTRs), would take about "
            f"{n_replies * PER_REPLY / 60:,.0f} minutes; make an Explainer of a sample of the rows, or ask for the "
            "surface of single pairs: partial_dependence(a, b)"
        )
        raise TooLargeError(message)
    listed = []
    for (a, b), own in rows.items():
        x, y = own.x.astype(np.int64), own.y.astype(np.int64)
        joint = view.responses_at(np.array([a, b]), np.stack([x, y]))
        alone = (joint - curves[a][x] - curves[b][y] + mean)[:, outputs]
        both = (curves[a][:, outputs], curves[b][:, outputs])
        listed.append(point_moments(np.ascontiguousarray(alone), both, (own.x, own.y), own.rows))
    return result, np.array(listed).reshape(len(result), 4, len(outputs)).transpose(1, 0, 2)


def _moments_of_cells(view: View, over: PairRows) -> PairMoments:
    """Return the pairs of players, and their moments over rows, from the surface of each pair."""
    study, plan, outputs = view.study, view.study.plan(1), view.chosen.columns
    effects, curves = study.effects(2), view.curves
    result = _pairs_of(study)
    listed: list[Floats] = []
    for pairs, joint in over.joint(result):

        def moments(number: int, pairs: Any = pairs, joint: Any = joint) -> Floats:
            a, b = pairs[number]
            both = (curves[a][:, outputs], curves[b][:, outputs])
            pair = effects.pair(a, b, outputs)
            if np.prod(pair.shape) <= MAX_CELLS_OF_PAIR:
                return pair_moments(pair.all(), both, joint(number))
            of_rows = study.rows_per_cell
            return independent_moments(pair, both, (of_rows(a), of_rows(b)))

        with in_order(len(pairs), moments, "interactions") as parts:
            listed += parts
    players = [(int(plan.player_of[a]), int(plan.player_of[b])) for a, b in result]
    return players, np.array(listed).reshape(len(result), 4, len(outputs)).transpose(1, 0, 2)


def _moments_of_rows(view: View, over: PairRows) -> tuple[list[tuple[int, ...]], Floats]:
    """Return the same from the values of each row."""
    study, plan, outputs = view.study, view.study.plan(1), view.chosen.columns
    selected = np.ones(len(plan.players), dtype=bool)
    source = study.interactions(2, selected, outputs)
    if isinstance(source, ManySets):
        _refuse_many_pairs(MAX_PAIRS_ON_PATHS + 1)
    moments = Moments(source.sets, len(outputs))
    for rows, weight in over.blocks(moments.batch):
        moments.add(source.of_rows(rows), weight)
    kept = [number for number, members in enumerate(source.sets) if len(members) == 2]
    return [source.sets[number] for number in kept], moments.means[:, kept]
