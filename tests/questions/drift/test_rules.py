"""Rules of the gate: what is one, what is refused, and which of several applies."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasswood as gw
from glasswood.questions.drift._result_rules import (
    MEASURES,
    Rule,
    default_rules,
    parse_rule,
    rules_by_value,
    rules_in_file,
    rules_of,
)
from helpers.hostile_names import HOSTILE_NAMES

OF_FEATURES = [name for name, measure in MEASURES.items() if measure.of_features]
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
OPS = st.sampled_from([">", ">=", "<", "<="])
NAMES = st.text(min_size=1).map(str.strip).filter(bool)


@given(NAMES, st.sampled_from(OF_FEATURES), OPS, NUMBERS)
def test_rules_are_read_as_they_are_written(feature, measure, op, limit):
    rule = Rule(measure, op, limit, feature)
    assert parse_rule(str(rule)) == rule
    assert parse_rule(f" {feature} :{measure}{op}{limit!r}\t") == rule


@given(st.sampled_from(list(MEASURES)), OPS, NUMBERS)
def test_general_rules_are_read_as_they_are_written(measure, op, limit):
    rule = Rule(measure, op, limit)
    assert parse_rule(str(rule)) == parse_rule(f"{measure}{op}{limit!r}") == rule


@given(st.text())
def test_any_text_is_a_rule_or_refused(text):
    with contextlib.suppress(gw.errors.ArgumentError):
        rule = parse_rule(text)
        assert parse_rule(str(rule)) == rule


@given(st.sampled_from(list(MEASURES)), OPS, NUMBERS, NUMBERS)
def test_a_rule_is_broken_if_what_it_says_holds(measure, op, limit, value):
    holds = {">": value > limit, ">=": value >= limit, "<": value < limit, "<=": value <= limit}
    assert Rule(measure, op, limit).is_broken(value) == holds[op]
    assert Rule(measure, op, limit).is_broken(limit) == op.endswith("=")


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_any_name_can_have_a_rule(name):
    rule = parse_rule(f"{name}: psi > 0.2")
    assert (rule.feature, rule.measure, rule.limit) == (name.strip(), "psi", 0.2)
    assert parse_rule(f"x:{name}: psi>1").feature == f"x:{name}".strip()
    found = list(rules_by_value([parse_rule(f"*{name.strip()}*: psi > 0.2")], HOSTILE_NAMES))
    assert name in [feature for _, feature, _ in found]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "is not a rule"),
        ("psi", "is not a rule"),
        ("psi > ", "is not a rule"),
        ("psi > 0,2", "is not a rule"),
        ("psi > 20%", "is not a rule"),
        ("psi > nan", "is not a rule"),
        ("psi > 1e999", "finite"),
        ("psi == 0.2", "is not a rule"),
        ("psi > 0.2 > 0.1", "is not a rule"),
        ("psi > ٣", "is not a rule"),
        (": psi > 0.2", "no name of a feature"),
        ("pssi > 0.2", "did you mean 'psi'"),
        ("shift > 0.2", "the measures are psi, difference"),
        ("age: ndcg < 0.9", "of the whole model"),
        ("age: level > 0.9", "of the whole model"),
    ],
)
def test_what_is_not_a_rule(text, word):
    with pytest.raises(gw.errors.ArgumentError, match=word):
        parse_rule(text)


def test_limits_of_any_form(tmp_path):
    selected = [Rule("psi", ">", 0.2), Rule("psi", ">", 0.3, "a:b"), Rule("ndcg", "<", 0.8)]
    assert rules_of({"psi": 0.2, "a:b: psi": 0.3, "ndcg": 0.8}) == selected
    assert rules_of(["psi > 0.2", "a:b: psi>0.3", "ndcg<0.8"]) == selected
    assert rules_of("psi > 0.2") == selected[:1]
    path = tmp_path / "gate.txt"
    path.write_text("psi > 0.2\na:b: psi>0.3\nndcg<0.8\n")
    assert rules_of(path) == selected == rules_in_file(str(path))


@pytest.mark.parametrize(
    ("limits", "word"),
    [
        ({}, "no rules"),
        ([], "no rules"),
        (3, "is a mapping"),
        (["psi > 0.2", 3], "is a mapping"),
        ({3: 0.2}, "which is not a text"),
        ({"psi": True}, "must be a number"),
        ({"psi": "0.2"}, "must be a number"),
        ({"psi": math.nan}, "finite"),
        ({"psi > 0.2": 0.2}, "no measure 'psi > 0.2'"),
    ],
)
def test_limits_that_are_none(limits, word):
    with pytest.raises(gw.errors.ArgumentError, match=word):
        rules_of(limits)


FILE = """\ufeff# limits of the credit model
psi > 0.2          # of all features
   # city is known to change
city_*: psi > 0.4

item #3: psi > 0.5 # a name with a hash: it stays
a: psi > 1 # was: psi > 2
"""


def test_files_have_comments(tmp_path):
    path = tmp_path / "gate.txt"
    path.write_text(FILE.replace("\n", "\r\n"), encoding="utf-8", newline="")
    assert list(map(str, rules_in_file(path))) == [
        "psi > 0.2",
        "city_*: psi > 0.4",
        "item #3: psi > 0.5",
        "a: psi > 1",
    ]


def test_files_that_cannot_be_used(tmp_path):
    path = tmp_path / "gate.txt"
    path.write_text("psi > 0.2\n\npsi >> 3\n")
    with pytest.raises(gw.errors.ArgumentError, match="line 3: 'psi >> 3' is not a rule"):
        rules_in_file(path)
    path.write_text("# nothing\n")
    with pytest.raises(gw.errors.ArgumentError, match="has no rules"):
        rules_in_file(path)
    path.write_bytes(b"psi > 0.2\xff")
    with pytest.raises(gw.errors.ArgumentError, match="UTF-8"):
        rules_in_file(path)
    with pytest.raises(gw.errors.FileError, match="cannot be read"):
        rules_in_file(Path("nowhere.txt"))


def applied(*rules, features=("age", "city_a", "city_b", "x[0]", "a*")):
    found = rules_by_value([parse_rule(rule) for rule in rules], features)
    return {(measure, feature, rule.direction): rule.limit for measure, feature, rule in found}


def test_the_rule_of_a_feature_replaces_that_of_a_pattern_and_the_general_one():
    found = applied("city_a: psi > 3", "city_*: psi > 2", "psi > 1")
    assert found == {
        ("psi", "age", ">"): 1,
        ("psi", "city_a", ">"): 3,
        ("psi", "city_b", ">"): 2,
        ("psi", "x[0]", ">"): 1,
        ("psi", "a*", ">"): 1,
    }


def test_rules_of_the_other_side_stay():
    found = applied("missing > 0.02", "missing < -0.02", "age: missing > 0.5")
    assert found["missing", "age", ">"] == 0.5
    assert found["missing", "age", "<"] == -0.02


def test_the_last_of_equal_rules_counts():
    assert set(applied("psi > 0.1", "psi >= 0.3").values()) == {0.3}


def test_two_patterns_both_count():
    rules = [parse_rule("city_*: psi > 1"), parse_rule("*_a: psi > 2")]
    assert [rule.limit for _, feature, rule in rules_by_value(rules, ["city_a"])] == [1, 2]


def test_names_come_before_patterns_and_brackets_are_letters():
    assert applied("x[0]: psi > 1") == {("psi", "x[0]", ">"): 1}
    assert applied("a*: psi > 1") == {("psi", "a*", ">"): 1}
    assert {key[1] for key in applied("??ty_?: psi > 1")} == {"city_a", "city_b"}
    with pytest.raises(gw.errors.TableError, match="did you mean 'age'"):
        applied("agee: psi > 1")
    with pytest.raises(gw.errors.TableError, match="no feature 'z\\*'"):
        applied("z*: psi > 1")


def test_measures_of_the_model_have_no_feature():
    assert applied("ndcg < 0.9") == {("ndcg", None, "<"): 0.9}


def test_default_rules_are_those_of_the_measures():
    assert [rule.measure for rule in default_rules(one_model=True)] == list(MEASURES)
    assert [rule.measure for rule in default_rules(one_model=False)] == ["difference", "largest", "ndcg", "observed"]
    assert str(default_rules(one_model=True)[0]) == "psi > 0.2"
