"""Values of rows: interaction values of sets of any order, metrics over cubes, Shapley and Banzhaf values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._row_cells import Rows
from glasswood.effects._set_values import PartOfSets, SetValues
from glasswood.errors import ArgumentError
from glasswood.metrics import ABBREVIATIONS, HasCalcMetric, InteractionIndex, PartialDependenceInteractions
from glasswood.parallel._lazy import Deferred
from glasswood.questions.rows._answer_evaluator import evaluate, evaluate_any_rows, refuse_uncountable_sets
from glasswood.questions.rows._answer_sources import SourceRows, attributions_of_source, interactions_of_source
from glasswood.questions.rows._arithmetic_any_rows import arrange
from glasswood.questions.rows._result import Attributions
from glasswood.questions.rows._result_sets import Interactions
from glasswood.questions.rows._result_shown import ShownRows
from glasswood.questions.rows._result_sources import SourceValues
from glasswood.results import check_memory
from glasswood.study._locations import shown_rows
from glasswood.study._view import View
from glasswood.tables._given import given_table
from glasswood.tables._tables import n_rows

__all__ = ["Negated", "attributions", "interaction_values", "metric_values", "refuse_no_metric"]


@dataclass(frozen=True, slots=True)
class Negated:
    """Values of sets with the opposite sign: those of the other class of a binary model of one score.

    Parameters
    ----------
    source : SetValues
        The values of the class that has a score.
    """

    source: SetValues

    @property
    def sets(self) -> Sequence[tuple[int, ...]]:
        """The players of each set."""
        return self.source.sets

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.source.n_rows

    def write(self, span: tuple[int, int], out: NDArray[np.float64], at: int) -> None:
        """Write the values of some rows to the columns of `out`, from `at` on."""
        self.source.write(span, out, at)
        part = out[:, at : at + span[1] - span[0]]
        np.subtract(0.0, part, out=part)

    def moments(self, span: tuple[int, int]) -> NDArray[np.float64]:
        """Return the sums of absolute values, squares and values over some rows."""
        sizes, squares, sums = self.source.moments(span)
        return np.stack([sizes, squares, 0.0 - sums])

    def parts(self) -> Iterator[PartOfSets]:
        """Yield the numbers of some sets, and their values."""
        for numbers, part in self.source.parts():
            yield numbers, Negated(part)

    def pieces(self, max_sets: int) -> Iterator[tuple[NDArray[np.intp], SetValues]]:
        """Yield the numbers of some sets, at most so many at a time, and their values."""
        for numbers, piece in self.source.pieces(max_sets):
            yield numbers, Negated(piece)


def interaction_values(
    view: View, rows: object, max_order: int | None, features: Sequence[Any] | None
) -> Interactions | SourceValues:
    """Return the interaction values of rows, of sets of some features or of all."""
    study, plan, columns = view.study, view.study.plan(1), view.chosen.columns
    order = plan.max_players if max_order is None else min(max_order, plan.max_players)
    selected = np.full(len(plan.players), features is None)
    for feature in () if features is None else features:
        selected[plan.players.index(study.player(feature))] = True
    order = min(order, max(1, int(selected.sum())))
    refuse_uncountable_sets(study, order, selected, len(columns))
    if isinstance(rows, SourceRows):
        return interactions_of_source(view, rows, "interaction values", study.interactions(order, selected, columns))
    opened = study.rows(rows)  # first: what is wrong with them is found before anything is counted
    result = study.interactions(order, selected, columns).of_rows(opened)
    return _interactions(view, result, opened, PartialDependenceInteractions())


def metric_values(view: View, metric: HasCalcMetric, rows: object) -> Interactions | SourceValues:
    """Return the values of a metric for rows."""
    study, columns = view.study, view.chosen.columns
    if isinstance(rows, SourceRows):
        values = evaluate_any_rows(study, metric, rows.n_rows, columns)
        return interactions_of_source(view, rows, _name_of(metric), values)
    opened = study.rows(rows)
    return _interactions(view, evaluate(study, metric, opened, columns), opened, metric)


def attributions(view: View, rows: object, name: str, metric: InteractionIndex) -> Attributions | SourceValues:
    """Return a metric of features, or of pairs of them."""
    view.only_raw(name)
    if isinstance(rows, SourceRows):
        return attributions_of_source(view, rows, name, metric)
    study, rows = view.study, given_table(rows)
    n_players, n_outputs = len(study.plan(1).players), len(view.labels)
    shape = (n_rows(rows), *(n_players,) * (metric.max_order or 1), n_outputs)
    check_memory(shape)  # before anything is computed
    opened = study.rows(rows)
    result = _interactions(view, evaluate(study, metric, opened, view.chosen.columns), opened, metric)
    values = result.values.reshape(result.n_rows, len(result), n_outputs)
    return Attributions(
        name=name,
        heights=arrange(values, result.source.sets, shape),
        mean=view.level,
        names=result.players,
        outputs=result.outputs,
        units=result.units,
        columns=result.columns,
    )


def _interactions(view: View, source: SetValues, rows: Rows, metric: HasCalcMetric) -> Interactions:
    """Return values of sets for rows, made of the scores that are chosen."""
    study = view.study
    return Interactions(
        source=source if view.chosen.total is None else Negated(source),
        players=study.plan(1).players,
        outputs=view.labels,
        units=view.units,
        find_mean=Deferred(lambda: view.level),
        index=ABBREVIATIONS.get(type(metric), ""),
        order=metric.max_order if isinstance(metric, InteractionIndex) else None,
        columns=ShownRows(lambda numbers: shown_rows(study, rows, numbers)),
    )


def refuse_no_metric(metric: object) -> None:
    """Refuse what is no metric over cubes."""
    if isinstance(metric, type) or not callable(getattr(metric, "calc_metric", None)):
        made = f"; make one: {metric.__name__}()" if isinstance(metric, type) else ""
        message = (
            "a metric is an object with the method calc_metric(s_plus, s_minus), such as those of "
            f"glasswood.metrics, not {metric!r}{made}"
        )
        raise ArgumentError(message)


def _name_of(metric: HasCalcMetric) -> str:
    """Return what a metric is called: what it says of itself, or its class."""
    own = type(metric).__repr__ is not object.__repr__
    return repr(metric) if own else type(metric).__name__
