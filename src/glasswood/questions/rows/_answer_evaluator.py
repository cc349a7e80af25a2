"""What evaluates metrics for rows: the evaluator of a study, and what it refuses."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._many_sets import sets_fit
from glasswood.effects._row_cells import Rows
from glasswood.effects._set_blocks import PlayerSets
from glasswood.effects._set_values import SetValues
from glasswood.metrics import HasCalcMetric
from glasswood.questions.rows._arithmetic import BackgroundRows, Evaluator
from glasswood.questions.rows._arithmetic_any_rows import RowEvaluator
from glasswood.study._study import Study

__all__ = ["evaluate", "evaluate_any_rows", "evaluator_of", "refuse_uncountable_sets"]


def evaluate(study: Study, metric: HasCalcMetric, rows: Rows, outputs: list[int]) -> SetValues:
    """Return the values of a metric for rows."""
    return evaluator_of(study).evaluate(metric, rows, outputs)


def evaluate_any_rows(study: Study, metric: HasCalcMetric, n_rows: int, outputs: list[int]) -> RowEvaluator:
    """Return the values of a metric for rows that are not known yet, computed as is best for n of them."""
    return evaluator_of(study).for_any_rows(metric, n_rows, outputs)


def evaluator_of(study: Study) -> Evaluator:
    """Return what evaluates metrics over the background of a study."""
    return study.cached(Evaluator, lambda: _find_evaluator(study))


def _find_evaluator(study: Study) -> Evaluator:
    study.plan(1).refuse_derived()
    over = study.over
    background, n_background = (partial(_background_rows, study), over.n_rows) if over.in_memory else (None, 0)
    return Evaluator(study.plan, study.effects, background, n_background, over.only_counts, study.kept)


def _background_rows(study: Study) -> BackgroundRows:
    return BackgroundRows(study.own_rows(), study.over.shares)


def refuse_uncountable_sets(study: Study, order: int, selected: NDArray[np.bool_], n_outputs: int) -> None:
    """Refuse sets of up to `order` players whose counts do not fit in memory, and name an order that fits."""
    plan = study.plan(1)
    if not plan.countable(order, study.max_counts):
        player_sets = PlayerSets(plan, order, selected)
        plan.refuse_uncountable(
            order, "max_order", study.max_counts, lambda smaller: sets_fit(player_sets, smaller, n_outputs)
        )
