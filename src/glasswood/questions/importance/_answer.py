"""Importance of players: total, main, and by permutation; and the order of players by it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._statistic import StatisticSpec
from glasswood.effects._statistics import standard_deviation, streamed_moments, strongest_first
from glasswood.effects._target_sums import scale_of_targets
from glasswood.errors import ArgumentError, BackgroundError, ScaleError, TooLargeError
from glasswood.parallel._lazy import Deferred
from glasswood.questions.curves import curve_of
from glasswood.questions.importance._answer_losses import (
    MeanLosses,
    has_losses,
    loss_spec,
    mean_losses,
    refuse_total,
    too_many_leaves,
    without_folds,
)
from glasswood.questions.importance._result import Importance
from glasswood.questions.importance._result_permutation import PermutationImportance
from glasswood.questions.importance._statistic import LossSpec, refuse_exposure
from glasswood.questions.importance._statistic_losses import CHANGE, loss_of
from glasswood.results import Folds
from glasswood.study._group_values import group_values, groups_of
from glasswood.study._study import Study
from glasswood.study._summary_plan import SummaryPlan
from glasswood.study._view import View, view_of

__all__ = ["importance", "loss_specs_of_summary", "permutation_importance", "ranked", "total_specs_of_summary"]


Floats = NDArray[np.float64]


def importance(view: View, kind: str | None = None, *, all_rows: bool = False) -> Importance:
    """Return the importance of every player: total by default, main if there is nothing to find that from."""
    if kind not in (None, "total", "main"):
        message = f'kind must be "total" or "main", not {kind!r}'
        raise ArgumentError(message)
    if kind == "total" or (kind is None and _total_is_default(view)):
        return _total(view, all_rows=all_rows)
    return _main(view)


# ------------------------------------------------------------------------------------------------------------ total


def _total_is_default(view: View) -> bool:
    """Return whether total importance can be found from what is at hand, and in a reasonable time."""
    study, spec = view.study, loss_spec(view.study, view.scale, CHANGE)
    known = has_losses(study, spec)
    return not refuse_total(study, spec, asked=False) and (known or not too_many_leaves(study, spec))


def _total(view: View, *, all_rows: bool) -> Importance:
    """Return the root mean squared change of the response of a row, if a player is redrawn from all rows."""
    study, spec = view.study, loss_spec(view.study, view.scale, CHANGE)
    why_not = refuse_total(study, spec, asked=True)
    if why_not:
        raise view.refusal(why_not)

    def heights(losses: MeanLosses) -> Floats:
        return np.sqrt(np.maximum(losses.redrawn, 0.0))[:, view.chosen.columns]  # the same for both classes of a score

    result = mean_losses(study, spec, all_rows=all_rows)
    order = strongest_first(heights(result))
    return Importance(
        names=tuple(study.plan(1).players[player] for player in order),
        heights=heights(result)[order],
        outputs=view.labels,
        units=view.units,
        kind="total",
        n_rows=result.n_rows,
        sampled=result.sampled,
        find_folds=Deferred(lambda: _folds_of_losses(result, spec, lambda left: heights(left)[order]))
        if view.has_folds
        else None,
    )


def _folds_of_losses(result: MeanLosses, spec: LossSpec, answer: Callable[[MeanLosses], Floats]) -> Folds:
    """Return an answer without each fold of the rows."""
    if result.sampled and not result.study.over.in_memory:
        message = "a sample of a source is not in folds; ask for all_rows=True, or pass a table as the background"
        raise BackgroundError(message)
    left = list(without_folds(result.study, spec))
    return Folds(np.stack([answer(part) for _, part in left]), np.array([share for share, _ in left]))


# ------------------------------------------------------------------------------------------------------------- main


def _main(view: View) -> Importance:
    """Return the standard deviation of every player's curve over the rows."""
    study, plan = view.study, view.study.plan(1)
    if not study.over.has_rows:
        message = (
            "importance needs rows over which the score varies, but there are none: pass them to Explainer as the "
            "background, or ask for interaction_values(rows, max_order=1).mean_square()"
        )
        raise BackgroundError(message)
    heights = np.zeros((len(plan.players), view.scale.outputs.n_columns))
    for feature, own in view.curves.items():
        rows = study.rows_per_cell(feature)
        if rows.size:
            heights[plan.player_of[feature]] = standard_deviation(own, rows)
    several = groups_of(study)
    if several.size:
        heights[several] = _importance_of_groups(view, several)
    heights = heights[:, view.chosen.columns]  # the same for both classes of one score
    order = strongest_first(heights)
    names = tuple(plan.players[player] for player in order)
    return Importance(
        names=names,
        heights=heights[order],
        outputs=view.labels,
        units=view.units,
        kind="main",
        n_rows=study.n_rows,
        find_folds=Deferred(lambda: _folds_of_main(view, names, groups=several.size > 0)) if view.has_folds else None,
    )


def _folds_of_main(view: View, names: Sequence[str], *, groups: bool) -> Folds:
    """Return the importance of features without each fold of the rows; groups need the rows themselves."""

    def heights(left: View) -> Floats:
        result = _main(left)
        return result.heights[[result.names.index(name) for name in names]]

    return view.folds_of(heights, view.each_without_fold("the importance of groups") if groups else None)


def _importance_of_groups(view: View, players: NDArray[np.intp]) -> Floats:
    """Return the same for players of several columns, which have no curve, computed from the rows."""
    study, plan, n_outputs = view.study, view.study.plan(1), view.scale.outputs.n_columns
    if not study.over.in_memory:
        message = (
            f"the importance of the group {plan.players[players[0]]!r} needs the rows themselves, not only counts; "
            "pass a table as the background, or leave the group out"
        )
        raise BackgroundError(message)
    weight, rows = study.over.weights, study.own_rows()
    if not view.scale.additive:
        return np.array([_deviation_of_responses(view, int(player), weight) for player in players])
    spec = np.zeros(len(plan.players), dtype=bool)
    spec[players] = True
    plan.refuse_uncountable(1)
    source = study.interactions(1, spec, list(range(n_outputs))).of_rows(rows)
    mean, square = streamed_moments(source, weight, n_outputs)[:2]
    deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
    heights = np.zeros((len(plan.players), n_outputs))
    for number, members in enumerate(source.sets):
        if members:
            heights[members[0]] = deviation[number]
    return heights[players]


def _deviation_of_responses(view: View, player: int, weight: Floats | None) -> Floats:
    """Return the standard deviation of the mean response with a group at each row's values."""
    on_raw = view.refusal is ScaleError
    remedy = 'ask for response="raw", or pass fewer rows' if on_raw else "pass fewer rows"
    own = group_values(view.study, player, remedy, ScaleError if on_raw else TooLargeError)
    if not own.features.size:
        return np.zeros(view.scale.outputs.n_columns)
    count = np.bincount(own.place, weights=weight, minlength=own.cells.shape[1])
    return standard_deviation(view.responses_at(own.features, own.cells), count)


# ------------------------------------------------------------------------------------------------------- permutation


def permutation_importance(view: View, loss: object = None, *, all_rows: bool = False) -> PermutationImportance:
    """Return how much a loss increases if each player is permuted, on average over all permutations."""
    study = view.study
    refuse_exposure(study.over.columns)
    scale = scale_of_targets(study.model, own=True)
    asked = loss_of(loss, scale)
    spec = loss_spec(study, scale, asked)
    _refuse_unknown(study, spec)
    result = mean_losses(study, spec, all_rows=all_rows)
    order = np.argsort(-result.increase[:, 0], kind="stable")
    return PermutationImportance(
        names=tuple(study.plan(1).players[player] for player in order),
        values=result.increase[order, 0],
        base=float(result.base[0]),
        loss=asked.text,
        n_rows=result.n_rows,
        sampled=result.sampled,
        find_folds=Deferred(lambda: _folds_of_losses(result, spec, lambda left: left.increase[order, :1]))
        if study.has_folds
        else None,
    )


def _refuse_unknown(study: Study, spec: LossSpec) -> None:
    """Refuse losses of what is not known."""
    over, groups = study.over, groups_of(study)
    if groups.size and not over.in_memory:
        message = (
            f"the permutation importance of the group {study.plan(1).players[int(groups[0])]!r} needs the rows "
            "themselves, not only counts; pass a table as the background, or leave the group out"
        )
        raise BackgroundError(message)
    if has_losses(study, spec):
        return
    name = spec.loss.text
    if over.counted is not None or (over.has_rows and not over.can_count):
        message = (
            f"permutation importance needs sums of the loss {name!r}, which this Background or stream does not have; "
            f"make a Background with summarize(model, rows, target=..., "
            f"answers={{'permutation_importance': {{'loss': {name!r}}}}})"
        )
        raise BackgroundError(message)
    if over.columns.target is None:
        message = (
            "permutation importance compares predictions with what was observed: make the Explainer with rows and "
            f"target=, or a Background with summarize(model, rows, target=..., "
            f"answers={{'permutation_importance': {{'loss': {name!r}}}}})"
        )
        raise BackgroundError(message)


# -------------------------------------------------------------------------------------------------------- the order


def ranked(view: View) -> list[str]:
    """Return the names of all features that the model uses, the most important first; of one, if it uses none.

    If a group has too many values to try all of them for each row, this is the main importance of the raw score.
    """
    study = view.study
    view = view_of(study, view.scale.response)  # of all outputs
    names = _names_by_importance(view) if study.over.has_rows else _names_by_span(view)
    plan, used = study.plan(1), study.ensemble.used_features
    players = {plan.players[player] for player in plan.player_of[used]}
    return [name for name in names if name in players] or names[:1]


def _names_by_importance(view: View) -> list[str]:
    try:
        return list(importance(view).names)
    except (ScaleError, TooLargeError):
        return list(importance(view_of(view.study), "main").names)


def _names_by_span(view: View) -> list[str]:
    """Return the names of features that have a curve, ordered by its range; used if there are no rows."""
    curves = [curve_of(view, feature) for feature in view.curves]
    spans = np.array([np.ptp(own.heights[own.axis.ordinary], axis=0) for own in curves])
    return [curves[k].name for k in strongest_first(spans.reshape(len(curves), -1))]


# ------------------------------------------------------------------------------------------------- in a Background


def total_specs_of_summary(summary: SummaryPlan) -> list[StatisticSpec]:
    """Return the sums of changes of the score that a Background is to have."""
    return [LossSpec.of_model(summary.model.ensemble, summary.scale, CHANGE, summary.columns)]


def loss_specs_of_summary(summary: SummaryPlan, loss: object = None) -> list[StatisticSpec]:
    """Return the sums of a loss of the target that a Background is to have."""
    model, columns = summary.model, summary.columns
    if columns.target is None:
        message = "permutation importance compares predictions with what was observed; pass target=, too"
        raise ArgumentError(message)
    refuse_exposure(columns)
    scale = scale_of_targets(model, own=True)
    return [LossSpec.of_model(model.ensemble, scale, loss_of(loss, scale), columns)]
