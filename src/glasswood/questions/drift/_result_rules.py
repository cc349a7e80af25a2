"""Rules of the gate: the measures there are, and limits for them, as texts, mappings and files."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from numbers import Real
from pathlib import Path
from typing import NamedTuple

from glasswood.errors import ArgumentError, FileError, TableError

__all__ = ["MEASURES", "Measure", "Rule", "default_rules", "parse_rule", "rules_by_value", "rules_in_file", "rules_of"]


class Measure(NamedTuple):
    """What is measured.

    Parameters
    ----------
    text : str
        What it is, in a few words.
    op, limit : str and float
        The default limit.
    of_features : bool
        Whether every feature has its own value; otherwise the model has one.
    of_models : bool
        Whether different models have it; otherwise all explainers must have the same one.
    """

    text: str
    op: str
    limit: float
    of_features: bool = True
    of_models: bool = False


MEASURES = {
    "psi": Measure("population stability index", ">", 0.2),
    "difference": Measure("mean distance of curves (sd of scores)", ">", 0.1, of_models=True),
    "largest": Measure("largest distance of curves (sd of scores)", ">", 0.5, of_models=True),
    "level": Measure("distance of mean scores (sd of scores)", ">", 0.2, of_features=False),
    "ndcg": Measure("agreement of importances", "<", 0.9, of_features=False, of_models=True),
    "observed": Measure("distance of actual/expected from 1", ">", 0.05, of_features=False, of_models=True),
    "missing": Measure("further missing values (share)", ">", 0.02),
    "unseen": Measure("further unseen categories (share)", ">", 0.02),
}


NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"

RULE = re.compile(
    rf"(?:(?P<feature>.*):)?\s*(?P<measure>[A-Za-z_]\w*)\s*(?P<op><=|>=|<|>)\s*(?P<limit>{NUMBER})", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A limit of a measure; what is beyond it breaks the rule.

    Parameters
    ----------
    measure : str
    op : {">", ">=", "<", "<="}
        Values for which this holds are beyond the limit.
    limit : float
    feature : str or None
        The name of a feature, or a pattern; None for all features.

    Examples
    --------
    >>> str(Rule("psi", ">", 0.2, "age")), Rule("ndcg", "<", 0.9).is_broken(0.95)
    ('age: psi > 0.2', False)
    """

    measure: str
    op: str
    limit: float
    feature: str | None = None

    def __str__(self) -> str:
        short = f"{self.limit:g}"
        limit = short if float(short) == self.limit else repr(self.limit)
        return f"{'' if self.feature is None else f'{self.feature}: '}{self.measure} {self.op} {limit}"

    @property
    def direction(self) -> str:
        """The side on which values are beyond the limit: ">" or "<"."""
        return self.op[0]

    def is_broken(self, value: float, margin: float = 0.0) -> bool:
        """Return whether a value is beyond the limit, by more than a margin."""
        value = value - margin if self.direction == ">" else value + margin
        if self.direction == ">":
            return value > self.limit or (value == self.limit and self.op == ">=")
        return value < self.limit or (value == self.limit and self.op == "<=")


def parse_rule(text: str) -> Rule:
    """Return the rule of a text: ``[feature:] measure (> >= < <=) number``. The last colon divides.

    Examples
    --------
    >>> parse_rule("a:b: largest>=1e-3")
    Rule(measure='largest', op='>=', limit=0.001, feature='a:b')
    """
    result = RULE.fullmatch(text.strip())
    if result is None:
        message = f"{text!r} is not a rule; write for example 'psi > 0.2', 'age: psi > 0.3', 'ndcg < 0.9'"
        raise ArgumentError(message)
    return _rule(result["feature"], result["measure"], result["op"], float(result["limit"]), text)


def _rule(feature: str | None, measure: str, op: str | None, limit: float, text: str) -> Rule:
    """Return a rule after checks; without an operator, on the side on which the default limit is."""
    if measure not in MEASURES:
        nearest = get_close_matches(measure, MEASURES, 1)
        advice = f" (did you mean {nearest[0]!r}?)" if nearest else ""
        message = f"{text!r}: there is no measure {measure!r}{advice}; the measures are {', '.join(MEASURES)}"
        raise ArgumentError(message)
    if feature is not None:
        feature = feature.strip()
        if not feature:
            message = f"{text!r} has no name of a feature before the colon"
            raise ArgumentError(message)
        if not MEASURES[measure].of_features:
            message = f"{text!r}: {measure!r} is a measure of the whole model, not of a feature; write {measure!r} only"
            raise ArgumentError(message)
    if not math.isfinite(limit):
        message = f"{text!r}: the limit must be a finite number, not {limit}"
        raise ArgumentError(message)
    return Rule(measure, op or MEASURES[measure].op, limit, feature)


def rules_of(limits: object) -> list[Rule]:
    """Return the rules that a user passes: a mapping from measures to numbers, texts, or the path of a file."""
    if isinstance(limits, Mapping):
        rules = [_rule_of_item(key, limit) for key, limit in limits.items()]
    elif isinstance(limits, os.PathLike):
        rules = rules_in_file(limits)
    elif isinstance(limits, str):
        rules = [parse_rule(limits)]
    elif isinstance(limits, Sequence) and all(isinstance(rule, str) for rule in limits):
        rules = [parse_rule(rule) for rule in limits]
    else:
        message = 'limits is a mapping such as {"psi": 0.2}, a list of rules such as ["psi > 0.2"], or the Path of a '
        message += f"file of rules, not {type(limits).__name__}"
        raise ArgumentError(message)
    if not rules:
        message = "limits has no rules; leave it out for the default limits"
        raise ArgumentError(message)
    return rules


def _rule_of_item(key: object, limit: object) -> Rule:
    """Return the rule of an item of a mapping: a measure (of a feature) and a number."""
    if not isinstance(key, str):
        message = f"limits has the key {key!r}, which is not a text; keys are measures: {', '.join(MEASURES)}"
        raise ArgumentError(message)
    if isinstance(limit, bool) or not isinstance(limit, Real):
        message = f"limits: the limit of {key!r} must be a number, not {limit!r}"
        raise ArgumentError(message)
    feature, colon, measure = key.rpartition(":")
    return _rule(feature if colon else None, measure.strip(), None, float(limit), key)


def rules_in_file(path: str | os.PathLike[str]) -> list[Rule]:
    """Return the rules of a file in UTF-8: one per line; empty lines and comments (#) are skipped."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        message = f"the file of rules {str(path)!r} cannot be read: {error.strerror}"
        raise FileError(message) from error
    except UnicodeDecodeError as error:
        message = f"the file of rules {str(path)!r} is not a text in UTF-8"
        raise ArgumentError(message) from error
    rules = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            rules.append(parse_rule(_without_comment(line)))
        except ArgumentError as error:
            message = f"{path}, line {number}: {error}"
            raise ArgumentError(message) from None
    if not rules:
        message = f"the file {str(path)!r} has no rules"
        raise ArgumentError(message)
    return rules


def _without_comment(line: str) -> str:
    """Return a line without what follows a rule and a #. A # that belongs to the name of a feature is kept."""
    for place in (match.start() for match in re.finditer(r"\s#", line)):
        if RULE.fullmatch(line[:place].strip()):
            return line[:place]
    return line


def default_rules(*, one_model: bool) -> list[Rule]:
    """Return the rules that apply if none are given; that of "observed" only where there is a target."""
    return [Rule(name, own.op, own.limit) for name, own in MEASURES.items() if one_model or own.of_models]


def rules_by_value(rules: Sequence[Rule], features: Sequence[str]) -> Iterator[tuple[str, str | None, Rule]]:
    """Yield each measure, each feature (None for measures of the model) and a rule that applies to it.

    A rule for a feature by name replaces one by a pattern, and that a general one, if they limit the same measure on
    the same side. Of two rules for the same features, measure and side, the last one counts.
    """
    own = {(rule.feature, rule.measure, rule.direction): rule for rule in rules}
    matched = {rule: _matched(rule, features) for rule in own.values()}
    for measure in dict.fromkeys(rule.measure for rule in own.values()):
        these = [rule for rule in own.values() if rule.measure == measure]
        for feature in features if MEASURES[measure].of_features else [None]:
            applies = [rule for rule in these if feature is None or feature in matched[rule]]
            for direction in "><":
                same = [rule for rule in applies if rule.direction == direction]
                max_ = max((_precise(rule, features) for rule in same), default=0)
                yield from ((measure, feature, rule) for rule in same if _precise(rule, features) == max_)


def _precise(rule: Rule, features: Sequence[str]) -> int:
    return 0 if rule.feature is None else 2 if rule.feature in features else 1


def _matched(rule: Rule, features: Sequence[str]) -> frozenset[str]:
    """Return the features of a rule; raise an error if there are none."""
    if rule.feature is None or not MEASURES[rule.measure].of_features:
        return frozenset(features)
    if rule.feature in features:
        return frozenset([rule.feature])
    parts = [{"*": ".*", "?": "."}.get(part, re.escape(part)) for part in re.split(r"([*?])", rule.feature)]
    pattern = re.compile("".join(parts), re.DOTALL)
    result = frozenset(name for name in features if pattern.fullmatch(name))
    if not result:
        raise TableError.no_feature(rule.feature, features)
    return result
