"""The gate: measures of drift of scopes against a reference, compared with rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._drift import index_and_chance, mean_and_largest, ndcg
from glasswood.effects._response_sums import name_of
from glasswood.errors import ArgumentError, BackgroundError, TableError
from glasswood.models._outputs import Chosen
from glasswood.parallel._once import once
from glasswood.results import (
    MEASURES,
    Comparison,
    Curve,
    Measured,
    Measures,
    Rule,
    default_rules,
    rules_by_value,
)
from glasswood.study._rows_again import deviation_of_scores
from glasswood.study._scope import Scope

__all__ = ["measures_of"]


class _Value(NamedTuple):
    """A value of a measure: of an output, if these differ, and with its mean by chance, if that is known."""

    value: float
    output: Any = None
    chance: float | None = None


def measures_of(
    scopes: Mapping[str, Scope],
    comparison: Comparison,
    reference: str,
    rules: Sequence[Rule] | None,
    choose: Callable[[Scope], Chosen],
) -> Measures:
    """Return the measures that rules ask for, of all scopes against the reference; None stands for default rules.

    Whatever a rule asks for and cannot be found is an error.
    """
    one_model = len(set(map(_model_of, scopes.values()))) == 1
    by_default = rules is None
    rules = default_rules(one_model=one_model) if rules is None else rules
    _check(scopes, rules, one_model=one_model)
    wanted = list(rules_by_value(rules, comparison.features))
    sides = {
        name: _Side(name, scope, choose(scope), {feature: own[k] for feature, own in comparison.shared.items()})
        for k, (name, scope) in enumerate(scopes.items())
    }
    found: list[Measured] = []
    for name, side in sides.items():
        if name != reference:
            without = by_default and not side.has_target
            own = [one for one in wanted if one[0] != "observed"] if without else wanted
            found += _Against(sides[reference], side).judged(own)
    return Measures(found=tuple(found), reference=reference)


def _model_of(scope: Scope) -> tuple[Any, str]:
    """Return what identifies a model on a scale: its trees, groups and leaf values."""
    return scope.study.plan(1).fingerprint, name_of(scope.study.ensemble, scope.scale)


def _check(scopes: Mapping[str, Scope], rules: Sequence[Rule], *, one_model: bool) -> None:
    """Raise an error if there are no rows, or if measures of one model are asked for that compare several."""
    for name, scope in scopes.items():
        if not scope.study.over.has_rows or scope.study.n_rows == 0:
            message = f"{name!r} has no rows, so that it cannot be compared with a reference"
            raise BackgroundError(message)
    others = [rule for rule in rules if not one_model and not MEASURES[rule.measure].of_models]
    if others:
        allowed = ", ".join(name for name, own in MEASURES.items() if own.of_models)
        message = f"{str(others[0])!r} is for one model on several groups of rows, but the explainers have different "
        message += f"models (or groups of columns); different models have these measures: {allowed}"
        raise ArgumentError(message)


class _Side:
    """An explainer that is compared.

    Parameters
    ----------
    name : str
    scope : Scope
    chosen : Chosen
    curves : mapping from str to Curve
        The curves of all features that all explainers have, on common cells.
    """

    def __init__(self, name: str, scope: Scope, chosen: Chosen, curves: Mapping[str, Curve]) -> None:
        self.name, self.curves = name, curves
        self._scope, self._chosen = scope, chosen

    @once
    def n_rows(self) -> int:
        """The number of rows."""
        return self._scope.study.n_rows

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean score, for each output."""
        return next(iter(self.curves.values())).mean

    @once
    def deviation(self) -> NDArray[np.float64]:
        """The standard deviation of the scores, for each output."""
        study, scale = self._scope.study, self._scope.scale
        try:
            found = deviation_of_scores(study, scale) if study.over.basis == "rows" else study.moments(scale).deviation
        except BackgroundError as error:
            message = "difference, largest and level are in units of the standard deviation of the scores of the "
            message += f"reference {self.name!r}, which counts alone do not tell: {error}"
            raise BackgroundError(message) from error
        found = found[self._chosen.columns]
        if not (found > 0).all():
            message = f"all scores of {self.name!r} are equal, so that difference, largest and level have no unit"
            raise BackgroundError(message)
        return found

    @property
    def has_target(self) -> bool:
        """Whether it is known what was observed."""
        return self._scope.study.has_targets

    @once
    def actual_expected(self) -> NDArray[np.float64]:
        """What was observed divided by what was predicted, over all rows and for each output."""
        if not self.has_target:
            message = f"'observed' cannot be judged: it is not known what was observed for the rows of {self.name!r}; "
            message += "make the Explainer with target=, or the Background with summarize(model, rows, target=...)"
            raise BackgroundError(message)
        found = self._scope.answers.actual_expected(self._chosen)
        if np.isnan(found).any():
            message = f"'observed' cannot be judged: the sum of the predictions for {self.name!r} is 0, or there are "
            message += "none, so that actual/expected is not defined"
            raise BackgroundError(message)
        return found

    @once
    def importance(self) -> dict[str, float]:
        """The importance of each feature, over all outputs; the most important first."""
        found = self._scope.overview.importance(self._chosen)
        return dict(zip(found.names, np.sqrt((found.heights**2).sum(axis=1)).tolist(), strict=True))

    @once
    def used(self) -> frozenset[str]:
        """The features that the model uses."""
        study = self._scope.study
        return frozenset(name for f, name in enumerate(study.ensemble.feature_names) if study.uses(f))


class _Against:
    """An explainer against the reference.

    Parameters
    ----------
    reference, other : _Side
    """

    def __init__(self, reference: _Side, other: _Side) -> None:
        self._reference, self._other = reference, other

    def judged(self, wanted: Sequence[tuple[str, str | None, Rule]]) -> list[Measured]:
        """Return the values that rules ask for, of each measure the worst first, with the rule of each."""
        found: list[Measured] = []
        for measure in dict.fromkeys(measure for measure, _, _ in wanted):
            rules = [(feature, rule) for own, feature, rule in wanted if own == measure]
            values = [
                self._measured(value, feature, rule) for feature, rule in rules for value in self._values(feature, rule)
            ]
            if not values and measure != "unseen":  # of which there are none without categories
                message = f"{str(rules[0][1])!r} cannot be judged: the model uses no feature that it applies to"
                raise TableError(message)
            found += sorted(values, key=lambda one: -one.value if MEASURES[one.measure].op == ">" else one.value)
        return found

    def _measured(self, value: _Value, feature: str | None, rule: Rule) -> Measured:
        return Measured(
            name=self._other.name,
            measure=rule.measure,
            feature=feature,
            output=value.output,
            value=value.value,
            limit=rule.limit,
            rule=str(rule),
            broken=rule.is_broken(value.value),
            chance=value.chance,
            rows=self._other.n_rows,
            reference_rows=self._reference.n_rows,
        )

    def _values(self, feature: str | None, rule: Rule) -> list[_Value]:
        """Return the values of a rule's measure; none if a feature that the rule does not name has no such measure."""
        if feature is None:
            return {"level": self._level, "ndcg": self._ndcg, "observed": self._observed}[rule.measure]()
        curves = [self._reference.curves[feature], self._other.curves[feature]]
        reason = ""
        if feature not in self._reference.used | self._other.used:
            reason = f"the model does not use {feature!r}"
        elif rule.measure == "unseen" and curves[0].categories is None:
            reason = f"{feature!r} has no categories"
        if reason and rule.feature == feature:
            message = f"{str(rule)!r} cannot be judged: {reason}"
            raise TableError(message)
        if reason:
            return []
        rows = [curve.axis.rows for curve in curves]
        if not all(own.size and own.sum() > 0 for own in rows):
            message = f"{str(rule)!r} cannot be judged: it is not known how many rows are in the common cells of "
            message += f"{feature!r}; pass the rows themselves, not counts of them"
            raise BackgroundError(message)
        return self._of_feature(rule.measure, curves, np.array(rows, dtype=np.float64))

    def _of_feature(self, measure: str, curves: Sequence[Curve], rows: NDArray[np.float64]) -> list[_Value]:
        if measure == "psi":
            sizes = self._reference.n_rows, self._other.n_rows
            index, chance = index_and_chance(rows, sizes, ordered=curves[0].categories is None)
            return [_Value(index, chance=chance)]
        if measure in ("missing", "unseen"):
            share = rows[:, -1 if measure == "missing" else -2] / rows.sum(axis=1)
            return [_Value(float(share[1] - share[0]))]
        heights = np.array([curve.heights for curve in curves])
        mean, largest = mean_and_largest(heights, rows, curves[0].axis.n_main)
        return self._of_outputs((mean if measure == "difference" else largest) / self._reference.deviation)

    def _level(self) -> list[_Value]:
        return self._of_outputs(np.abs(self._other.mean - self._reference.mean) / self._reference.deviation)

    def _observed(self) -> list[_Value]:
        return self._of_outputs(np.abs(self._other.actual_expected - 1.0))

    def _of_outputs(self, values: NDArray[np.float64]) -> list[_Value]:
        """Return a value for each output, with its label if there are several."""
        outputs = next(iter(self._reference.curves.values())).outputs
        labels = outputs if len(outputs) > 1 else (None,)
        return [_Value(value, output) for value, output in zip(values.tolist(), labels, strict=True)]

    def _ndcg(self) -> list[_Value]:
        own, other = self._reference.importance, self._other.importance
        names = list(own | other)  # in the order of the reference, so that equal importances are no change
        value = ndcg(*(np.array([found.get(name, 0.0) for name in names]) for found in (own, other)))
        if np.isnan(value):
            message = f"'ndcg' cannot be judged: all importances of {self._reference.name!r} are 0"
            raise BackgroundError(message)
        return [_Value(value)]
