"""AleAnswers: the local effects of a study on a scale, as results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._ale_pairs import WantedPair
from glasswood.counting._bins import Bins
from glasswood.effects._local_effects import accumulated, accumulated_pair
from glasswood.errors import ArgumentError
from glasswood.models._outputs import Chosen
from glasswood.parallel._once import Deferred, once
from glasswood.results import OTHERS, UNSEEN, Ale, AleLeftOut, AlePart, Ales, AleSurface, Folds, IfAsked
from glasswood.study._on_scale import OnScale
from glasswood.study._rows_again import deviation_of_scores
from glasswood.study._study import Study
from glasswood.text._printable import unlike

if TYPE_CHECKING:
    from glasswood.study._answers import Answers

__all__ = ["AleAnswers"]


class AleAnswers:
    """Create accumulated local effects from the counts of a study.

    Parameters
    ----------
    values : OnScale
    answers : Answers
        Those of the same scale.
    """

    def __init__(self, values: OnScale, answers: Answers) -> None:
        self._values, self._study, self._scale, self._answers = values, values.study, values.scale, answers

    @once
    def _deviation(self) -> NDArray[np.float64]:
        """The standard deviation of the rows' scores, for each output."""
        return deviation_of_scores(self._study, self._scale)

    def all(self, features: Sequence[int], bins: Bins, order: Any, chosen: Chosen) -> Ales:
        """Return those of several features."""
        names = self._study.ensemble.feature_names
        orders = {} if order is None else order
        if not isinstance(orders, Mapping):
            message = "order= of several features is a mapping from their names to the orders of their levels"
            raise ArgumentError(message)
        wrong = [name for name in orders if name not in {names[feature] for feature in features}]
        if wrong:
            message = f"order= names {wrong[0]!r}, which is none of the features"
            raise ArgumentError(message)
        return Ales({names[f]: self.one(f, bins, orders.get(names[f]), chosen) for f in features})

    def one(self, feature: int, bins: Bins, order: Any, chosen: Chosen) -> Ale:
        """Return the accumulated local effect of a feature."""
        study, folds = self._study, self._study.folds
        effects = study.local.effects(bins, self._scale)
        part, unit = self._part(self._values, feature, bins, chosen), effects.unit
        by_level, ordered_by = None, ""
        labels: tuple[Any, ...] | None = None
        if feature in bins.levels:
            found, ordered_by = study.local.order(feature, bins, effects.rows(feature))
            by_level, labels = tuple(found), self._labels(feature, bins)
        n_missing = int(effects.rows(feature)[-1])
        ale = Ale(
            axis=self._answers.axis(feature),
            part=part,
            edges=bins.edges.get(feature, np.empty(0)),
            order=by_level,
            all_levels=labels,
            ordered_by=ordered_by,
            missing_heights=chosen.changes(effects.contrast(feature)),
            missing_rows=n_missing if unit == 1 else n_missing * unit,
            outputs=chosen.labels,
            units=self._scale.units,
            find_left_out=None if folds is None else IfAsked(lambda: self._left_out(feature, bins, chosen)),
            find_deviation=IfAsked(lambda: self._deviation[chosen.columns]),
        )
        return ale if order is None else ale.in_order(order)

    def pair(self, features: tuple[int, int], bins: Bins, chosen: Chosen) -> AleSurface:
        """Return the accumulated local effect of two features."""
        study, folds = self._study, self._study.folds
        self._answers.only_raw("accumulated local effects of pairs")
        names, found = study.ensemble.feature_names, study.local.pair(features, bins)
        unit = found.unit
        return AleSurface(
            names=(names[features[0]], names[features[1]]),
            edges=(bins.edges[features[0]], bins.edges[features[1]]),
            heights=_surface(study, features, bins, chosen),
            rows=found.rows if unit == 1 else found.rows * unit,
            outputs=chosen.labels,
            units=self._scale.units,
            weighted=study.over.weighted,
            find_folds=None if folds is None else IfAsked(lambda: self._pair_folds(features, bins, chosen)),
        )

    def _pair_folds(self, features: tuple[int, int], bins: Bins, chosen: Chosen) -> Folds:
        """Return the same without each fold of the rows."""
        folds = self._study.folds
        left = [] if folds is None else folds.without(WantedPair(features, bins))
        heights = [_surface(study, features, bins, chosen) for _, study in left]
        return Folds(np.stack(heights), np.array([share for share, _ in left]))

    def _labels(self, feature: int, bins: Bins) -> tuple[Any, ...]:
        """Return the labels of the levels of a feature."""
        categories, kept = self._study.ensemble.schema.columns[feature].categories or (), bins.levels[feature]
        labels = tuple(categories[code] for code in kept)
        others, unseen = (unlike(name, categories) for name in (OTHERS, UNSEEN))
        return (*labels, unseen) if len(labels) == len(categories) else (*labels, others, unseen)

    def _part(self, values: OnScale, feature: int, bins: Bins, chosen: Chosen) -> AlePart:
        """Return what the answer for some rows is computed from."""
        study: Study = values.study
        effects = study.local.effects(bins, self._scale)
        rows, unit = effects.rows(feature), effects.unit
        if feature in bins.levels:
            rows = rows[:-1]
            heights, moved = np.empty((0, len(chosen.labels))), chosen.changes(effects.moved(feature))
            dependence = Deferred(lambda: _at_levels(values, feature, bins, chosen))
        else:
            edges = bins.edges[feature]
            rows = rows[:-1]
            moved = np.empty((0, 0, len(chosen.labels)))
            sums = effects.sums(feature)
            heights = chosen.changes(accumulated(sums, rows.astype(np.float64)))[: edges.size]
            rows = rows if edges.size > 1 else rows[:0]
            dependence = Deferred(lambda: _at_edges(values, feature, edges, chosen))
        return AlePart(heights=heights, rows=rows if unit == 1 else rows * unit, moved=moved, dependence=dependence)

    def _left_out(self, feature: int, bins: Bins, chosen: Chosen) -> AleLeftOut:
        """Return the same without each fold of the rows."""
        folds = self._study.folds
        left = [] if folds is None else folds.without(self._study.local.wanted(bins, self._scale))
        parts = [self._part(OnScale(study, self._scale), feature, bins, chosen) for _, study in left]
        return AleLeftOut(tuple(parts), np.array([share for share, _ in left]))


def _surface(study: Study, features: tuple[int, int], bins: Bins, chosen: Chosen) -> NDArray[np.float64]:
    """Return the heights of the accumulated local effect of two features."""
    found = study.local.pair(features, bins)
    edges = (bins.edges[features[0]], bins.edges[features[1]])
    return chosen.changes(accumulated_pair(found.sums, found.rows.astype(np.float64), edges))


def _at_edges(values: OnScale, feature: int, edges: NDArray[np.float64], chosen: Chosen) -> NDArray[np.float64]:
    """Return the partial dependence at edges."""
    cells = values.study.plan(1).cells.locate(feature, edges)
    return chosen.levels(values.curves[feature])[cells]


def _at_levels(values: OnScale, feature: int, bins: Bins, chosen: Chosen) -> NDArray[np.float64]:
    """Return the partial dependence at levels, that of all others together as a mean over their rows."""
    heights, kept = chosen.levels(values.curves[feature]), bins.levels[feature]
    heights, unseen = heights[:-2], heights[-2:-1]
    if kept.size == len(heights):
        return np.concatenate([heights[kept], unseen])
    rest = np.delete(np.arange(len(heights)), kept)
    rows = values.study.rows_per_cell(feature)[:-2][rest].astype(np.float64)
    weight = rows if rows.sum() > 0 else np.ones(rest.size)
    return np.concatenate([heights[kept], (weight @ heights[rest] / weight.sum())[None], unseen])
