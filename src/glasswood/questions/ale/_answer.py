"""Accumulated local effects, as results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError
from glasswood.parallel._lazy import Deferred
from glasswood.questions.ale._answer_bins import PlannedAle, effects_of_pair, effects_spec, local_effects, order_of
from glasswood.questions.ale._arithmetic import accumulated, accumulated_pair
from glasswood.questions.ale._result import OTHERS, UNSEEN, Ale, AleLeftOut, AlePart
from glasswood.questions.ale._result_collections import Ales
from glasswood.questions.ale._result_pair import AleSurface
from glasswood.questions.ale._statistic_bins import Bins
from glasswood.questions.ale._statistic_pairs import PairSpec
from glasswood.results import Folds
from glasswood.results._folds import LOST_ERROR
from glasswood.study._second_pass import deviation_of_scores
from glasswood.study._view import View
from glasswood.text._printable import unlike

__all__ = ["ale"]


def ale(view: View, planned: PlannedAle) -> Ale | AleSurface | Ales:
    """Return the accumulated local effects of one feature, of two, or of several."""
    if planned.is_pair:
        a, b = planned.features
        return _ale_of_pair(view, (a, b), planned.bins)
    if planned.several:
        return _ales_of(view, planned.features, planned.bins, planned.order)
    return _ale_of(view, planned.features[0], planned.bins, planned.order)


def _ales_of(view: View, features: Sequence[int], bins: Bins, order: Any) -> Ales:
    """Return those of several features."""
    names = view.ensemble.feature_names
    orders = {} if order is None else order
    if not isinstance(orders, Mapping):
        message = "order= of several features is a mapping from their names to the orders of their levels"
        raise ArgumentError(message)
    wrong = [name for name in orders if name not in {names[feature] for feature in features}]
    if wrong:
        message = f"order= names {wrong[0]!r}, which is none of the features"
        raise ArgumentError(message)
    return Ales({names[f]: _ale_of(view, f, bins, orders.get(names[f])) for f in features})


def _ale_of(view: View, feature: int, bins: Bins, order: Any) -> Ale:
    """Return the accumulated local effect of a feature."""
    effects = local_effects(view, bins)
    part, unit = _part(view, feature, bins), effects.unit
    by_level, ordered_by = None, ""
    labels: tuple[Any, ...] | None = None
    if feature in bins.levels:
        found, ordered_by = order_of(view.study, feature, bins, effects.rows(feature))
        by_level, labels = tuple(found), _labels(view, feature, bins)
    n_missing = int(effects.rows(feature)[-1])
    result = Ale(
        axis=view.axis(feature),
        part=part,
        edges=bins.edges.get(feature, np.empty(0)),
        order=by_level,
        all_levels=labels,
        ordered_by=ordered_by,
        missing_heights=view.changes(effects.contrast(feature)),
        missing_rows=n_missing if unit == 1 else n_missing * unit,
        outputs=view.labels,
        units=view.units,
        find_left_out=Deferred(lambda: _left_out(view, feature, bins), LOST_ERROR) if view.has_folds else None,
        find_deviation=Deferred(lambda: _deviation(view)[view.chosen.columns], LOST_ERROR),
    )
    return result if order is None else result.in_order(order)


def _deviation(view: View) -> NDArray[np.float64]:
    """Return the standard deviation of the rows' scores, for each of all outputs."""
    study, scale = view.study, view.scale
    return study.cached(("deviation of scores", scale.response), lambda: deviation_of_scores(study, scale))


def _ale_of_pair(view: View, features: tuple[int, int], bins: Bins) -> AleSurface:
    """Return the accumulated local effect of two features."""
    view.only_raw("accumulated local effects of pairs")
    names, result = view.ensemble.feature_names, effects_of_pair(view.study, features, bins)
    unit = result.unit
    return AleSurface(
        names=(names[features[0]], names[features[1]]),
        edges=(bins.edges[features[0]], bins.edges[features[1]]),
        heights=_surface(view, features, bins),
        rows=result.rows if unit == 1 else result.rows * unit,
        outputs=view.labels,
        units=view.units,
        weighted=view.study.over.weighted,
        find_folds=Deferred(lambda: _folds_of_pair(view, features, bins), LOST_ERROR) if view.has_folds else None,
    )


def _folds_of_pair(view: View, features: tuple[int, int], bins: Bins) -> Folds:
    """Return the same without each fold of the rows."""
    return view.folds_of(lambda left: _surface(left, features, bins), view.without_folds(PairSpec(features, bins)))


def _surface(view: View, features: tuple[int, int], bins: Bins) -> NDArray[np.float64]:
    """Return the heights of the accumulated local effect of two features."""
    result = effects_of_pair(view.study, features, bins)
    edges = (bins.edges[features[0]], bins.edges[features[1]])
    return view.changes(accumulated_pair(result.sums, result.rows.astype(np.float64), edges))


def _labels(view: View, feature: int, bins: Bins) -> tuple[Any, ...]:
    """Return the labels of the levels of a feature."""
    categories, kept = view.ensemble.schema.columns[feature].categories or (), bins.levels[feature]
    labels = tuple(categories[code] for code in kept)
    others, unseen = (unlike(name, categories) for name in (OTHERS, UNSEEN))
    return (*labels, unseen) if len(labels) == len(categories) else (*labels, others, unseen)


def _part(view: View, feature: int, bins: Bins) -> AlePart:
    """Return what the answer for some rows is computed from."""
    effects = local_effects(view, bins)
    rows, unit = effects.rows(feature), effects.unit
    if feature in bins.levels:
        rows = rows[:-1]
        heights, moved = np.empty((0, len(view.labels))), view.changes(effects.moved(feature))
        dependence = Deferred(lambda: _heights_at_levels(view, feature, bins))
    else:
        edges = bins.edges[feature]
        rows = rows[:-1]
        moved = np.empty((0, 0, len(view.labels)))
        sums = effects.sums(feature)
        heights = view.changes(accumulated(sums, rows.astype(np.float64)))[: edges.size]
        rows = rows if edges.size > 1 else rows[:0]
        dependence = Deferred(lambda: _heights_at_edges(view, feature, edges))
    return AlePart(heights=heights, rows=rows if unit == 1 else rows * unit, moved=moved, dependence=dependence)


def _left_out(view: View, feature: int, bins: Bins) -> AleLeftOut:
    """Return the same without each fold of the rows."""
    left = view.without_folds(effects_spec(view, bins))
    parts = [_part(own, feature, bins) for _, own in left]
    return AleLeftOut(tuple(parts), np.array([share for share, _ in left]))


def _heights_at_edges(view: View, feature: int, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the partial dependence at edges."""
    cells = view.study.plan(1).cells.locate(feature, edges)
    return view.levels(view.curves[feature])[cells]


def _heights_at_levels(view: View, feature: int, bins: Bins) -> NDArray[np.float64]:
    """Return the partial dependence at levels, that of all others together as a mean over their rows."""
    heights, kept = view.levels(view.curves[feature]), bins.levels[feature]
    heights, unseen = heights[:-2], heights[-2:-1]
    if kept.size == len(heights):
        return np.concatenate([heights[kept], unseen])
    rest = np.delete(np.arange(len(heights)), kept)
    rows = view.study.rows_per_cell(feature)[:-2][rest].astype(np.float64)
    weight = rows if rows.sum() > 0 else np.ones(rest.size)
    return np.concatenate([heights[kept], (weight @ heights[rest] / weight.sum())[None], unseen])
