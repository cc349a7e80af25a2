"""The gate: measures of drift of explainers against a reference, compared with rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._jackknife import jackknife
from glasswood.effects._row_sums import name_of
from glasswood.errors import ArgumentError, BackgroundError, TableError
from glasswood.questions.drift._answer_sides import ComparisonData, Side
from glasswood.questions.drift._arithmetic import index_and_chance, mean_and_largest, ndcg
from glasswood.questions.drift._result import Comparison
from glasswood.questions.drift._result_gate import Measured, Measures
from glasswood.questions.drift._result_rules import MEASURES, Rule, default_rules, rules_by_value
from glasswood.study._view import View

__all__ = ["measures_of"]


Floats = NDArray[np.float64]


class _Value(NamedTuple):
    """A value of a measure: of an output, if these differ; with its mean by chance and its error, if they are known."""

    value: float
    output: Any = None
    chance: float | None = None
    error: float | None = None


def measures_of(
    views: Mapping[str, View],
    comparison: Comparison,
    reference: str,
    rules: Sequence[Rule] | None,
    margin: float | None = None,
) -> Measures:
    """Return the measures that rules ask for, of all explainers against the reference; None stands for default rules.

    With a margin, a value breaks a rule if it is beyond the limit by more than so many standard errors. Whatever a rule
    asks for and cannot be found is an error.
    """
    one_model = len(set(map(_model_of, views.values()))) == 1
    by_default = rules is None
    rules = default_rules(one_model=one_model) if rules is None else rules
    _check(views, rules, one_model=one_model)
    rules_of_values = list(rules_by_value(rules, comparison.features))
    sides = {
        name: Side(name, view, {feature: own[k] for feature, own in comparison.shared.items()})
        for k, (name, view) in enumerate(views.items())
    }
    result: list[Measured] = []
    for name, side in sides.items():
        if name != reference:
            without = by_default and not side.has_target
            own = [one for one in rules_of_values if one[0] != "observed"] if without else rules_of_values
            result += _Against(sides[reference], side, margin, one_model=one_model).judged(own)
    return Measures(entries=tuple(result), reference=reference, margin=margin)


def _model_of(view: View) -> tuple[Any, str]:
    """Return what identifies a model on a scale: its trees, groups and leaf values."""
    return view.study.plan(1).fingerprint, name_of(view.ensemble, view.scale)


def _check(views: Mapping[str, View], rules: Sequence[Rule], *, one_model: bool) -> None:
    """Raise an error if there are no rows, or if measures of one model are asked for that compare several."""
    for name, view in views.items():
        if not view.study.over.has_rows or view.study.n_rows == 0:
            message = f"{name!r} has no rows, so that it cannot be compared with a reference"
            raise BackgroundError(message)
    others = [rule for rule in rules if not one_model and not MEASURES[rule.measure].of_models]
    if others:
        allowed = ", ".join(name for name, own in MEASURES.items() if own.of_models)
        message = f"{str(others[0])!r} is for one model on several groups of rows, but the explainers have different "
        message += "models (or groups of columns, or types of numbers before a pipeline); different models have these "
        message += f"measures: {allowed}"
        raise ArgumentError(message)


class _Against:
    """An explainer against the reference.

    Parameters
    ----------
    reference, other : Side
    margin : float or None
        By how many standard errors a value must be beyond its limit; None if it only must be beyond it.
    one_model : bool
        Whether both have the same model, and so the same cells.
    """

    def __init__(self, reference: Side, other: Side, margin: float | None, *, one_model: bool) -> None:
        self._reference, self._other, self._margin, self._one_model = reference, other, margin, one_model

    def judged(self, rules_of_values: Sequence[tuple[str, str | None, Rule]]) -> list[Measured]:
        """Return the values that rules ask for, of each measure the worst first, with the rule of each."""
        result: list[Measured] = []
        for measure in dict.fromkeys(measure for measure, _, _ in rules_of_values):
            rules = [(feature, rule) for own, feature, rule in rules_of_values if own == measure]
            values = [
                self._measured(value, feature, rule) for feature, rule in rules for value in self._values(feature, rule)
            ]
            if not values and measure != "unseen":  # of which there are none without categories
                message = f"{str(rules[0][1])!r} cannot be judged: the model uses no feature that it applies to"
                raise TableError(message)
            result += sorted(values, key=lambda one: -one.value if MEASURES[one.measure].op == ">" else one.value)
        return result

    def _measured(self, value: _Value, feature: str | None, rule: Rule) -> Measured:
        error = value.error if value.error is not None and np.isfinite(value.error) else None
        if self._margin is not None and error != value.error:
            message = (
                f"{str(rule)!r} cannot be judged with error=: if one of the folds is left out, the measure is not "
                "defined; use fewer folds"
            )
            raise BackgroundError(message)
        margin = 0.0 if self._margin is None or error is None else self._margin * error
        return Measured(
            name=self._other.name,
            measure=rule.measure,
            feature=feature,
            output=value.output,
            value=value.value,
            limit=rule.limit,
            rule=str(rule),
            broken=rule.is_broken(value.value, margin),
            chance=value.chance,
            error=error,
            rows=self._other.n_rows,
            reference_rows=self._reference.n_rows,
        )

    def _values(self, feature: str | None, rule: Rule) -> list[_Value]:
        """Return the values of a rule's measure; none if a feature that the rule does not name has no such measure."""
        if feature is None:
            return {"level": self._level, "ndcg": self._ndcg, "observed": self._observed}[rule.measure]()
        categories = self._reference.curves[feature].categories
        reason = ""
        if feature not in self._reference.used | self._other.used:
            reason = f"the model does not use {feature!r}"
        elif rule.measure == "unseen" and categories is None:
            reason = f"{feature!r} has no categories"
        if reason and rule.feature == feature:
            message = f"{str(rule)!r} cannot be judged: {reason}"
            raise TableError(message)
        if reason:
            return []
        if not all(side.rows(feature).size and side.rows(feature).sum() > 0 for side in (self._reference, self._other)):
            message = f"{str(rule)!r} cannot be judged: it is not known how many rows are in the common cells of "
            message += f"{feature!r}; pass the rows themselves, not counts of them"
            raise BackgroundError(message)
        return self._values_of_feature(rule.measure, feature)

    def _values_of_feature(self, measure: str, feature: str) -> list[_Value]:
        axis = self._reference.curves[feature].axis
        if measure == "psi":
            bins, sizes = self._reference.rows(feature), (self._reference.n_rows, self._other.n_rows)

            def index(one: ComparisonData, other: ComparisonData) -> Floats:
                rows = _rows(feature, one, other)
                return np.array(index_and_chance(rows, sizes, ordered=axis.categories is None, by=bins))

            (value, chance), errors = self._with_errors(index)
            return [_Value(float(value), chance=float(chance), error=_first(errors))]
        if measure in ("missing", "unseen"):
            cell = -1 if measure == "missing" else -2

            def change(one: ComparisonData, other: ComparisonData) -> Floats:
                rows = _rows(feature, one, other)
                share = rows[:, cell] / rows.sum(axis=1)
                return np.array([share[1] - share[0]])

            values, errors = self._with_errors(change)
            return [_Value(float(values[0]), error=_first(errors))]

        def distances(one: ComparisonData, other: ComparisonData) -> tuple[Floats, Floats]:
            heights = np.array([one.heights(feature), other.heights(feature)])
            return mean_and_largest(heights, _rows(feature, one, other), axis.n_main)

        unit = self._reference.deviation
        if measure == "largest":
            return self._values_by_output(distances(self._reference, self._other)[1] / unit)
        return self._values_by_output(*self._with_errors(lambda one, other: distances(one, other)[0] / unit))

    def _level(self) -> list[_Value]:
        unit = self._reference.deviation
        change, errors = self._with_errors(lambda one, other: (other.mean - one.mean) / unit)
        return self._values_by_output(np.abs(change), errors)

    def _observed(self) -> list[_Value]:
        ratio, errors = self._other.actual_expected, None
        if self._margin is not None:
            self._other.refuse_without_folds()
        if self._other.has_errors:
            shares, left_out = zip(*self._other.ratios_left_out, strict=True)
            errors = jackknife(ratio, left_out, shares)
        return self._values_by_output(np.abs(ratio - 1.0), errors)

    def _with_errors(self, of: Callable[[ComparisonData, ComparisonData], Floats]) -> tuple[Floats, Floats | None]:
        """Return a measure of the reference and the other, and its standard errors; None if they are not known.

        The rows of both are different ones, so that the squares of the errors by the folds of either are added.
        """
        sides = self._reference, self._other
        value = of(*sides)
        if self._margin is not None:
            self._refuse_without_errors()
        if not self._one_model or not all(side.has_errors for side in sides):
            return value, None
        squares = np.zeros_like(value)
        for place, side in enumerate(sides):
            shares, parts = zip(*side.left_out, strict=True)
            left_out = [of(part, sides[1]) if place == 0 else of(sides[0], part) for part in parts]
            squares += jackknife(value, left_out, shares) ** 2
        return value, np.sqrt(squares)

    def _refuse_without_errors(self) -> None:
        """Raise an error if the errors that a margin needs are not known."""
        if not self._one_model:
            message = "error= is for one model on several groups of rows (and for 'observed'): rows in the common "
            message += "cells of different models are not counted by folds"
            raise ArgumentError(message)
        self._reference.refuse_without_folds()
        self._other.refuse_without_folds()

    def _values_by_output(self, values: Floats, errors: Floats | None = None) -> list[_Value]:
        """Return a value for each output, with its label if there are several."""
        outputs = next(iter(self._reference.curves.values())).outputs
        labels = outputs if len(outputs) > 1 else (None,)
        known = [None] * values.size if errors is None else errors.tolist()
        return [
            _Value(value, output, error=error)
            for value, output, error in zip(values.tolist(), labels, known, strict=True)
        ]

    def _ndcg(self) -> list[_Value]:
        own, other = self._reference.importance, self._other.importance
        names = list(own | other)  # in the order of the reference, so that equal importances are no change
        value = ndcg(*(np.array([values.get(name, 0.0) for name in names]) for values in (own, other)))
        if np.isnan(value):
            message = f"'ndcg' cannot be judged: all importances of {self._reference.name!r} are 0"
            raise BackgroundError(message)
        return [_Value(value)]


def _rows(feature: str, *seen: ComparisonData) -> Floats:
    """Return the rows in the cells of a feature, (n_groups, n_cells)."""
    return np.array([one.rows(feature) for one in seen], dtype=np.float64)


def _first(errors: Floats | None) -> float | None:
    return None if errors is None else float(errors[0])
