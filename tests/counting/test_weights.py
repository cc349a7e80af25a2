"""Weights of a column: any division and order of the rows gives the same bits, which are those of the exact sums."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestRegressor

import glasswood as gw
from glasswood.counting._job import Job, Sums
from glasswood.counting._partial import Partial
from glasswood.counting._plan import make_plan
from glasswood.counting._statistic import Tally
from glasswood.counting._weights import fixed_point, in_one_unit, lowest_planes, split, weights_of_groups
from glasswood.engines._pass import finish
from glasswood.errors import BackgroundError, TableError, TooLargeError


def tally_of(counts, cells, n_rows=0, total=0):
    return Tally({"counts": counts, "cells": cells}, {"counts": "sum", "cells": "sum"}, n_rows, total)


KINDS = {
    "shares": st.floats(0, 1),
    "any": st.floats(0, 1e300),
    "tiny": st.floats(0, 1e-290),
    "spread": st.integers(-1074, 970).map(lambda exponent: 2.0**exponent) | st.just(0.0),
    "whole": st.integers(0, 2**64 - 1),
    "zero or one": st.integers(0, 1),
    "whole floats": st.integers(0, 1000).map(float),
}
lists_of_weights = st.sampled_from(sorted(KINDS)).flatmap(lambda kind: st.lists(KINDS[kind], min_size=1, max_size=40))


def as_array(weights):
    """The weights as a column would have them: unsigned integers, or float64."""
    return np.array(weights, dtype=np.uint64 if all(isinstance(weight, int) for weight in weights) else np.float64)


@given(lists_of_weights)
def test_the_planes_of_a_weight_sum_to_it(weights):
    rest = [Fraction(weight) for weight in weights]
    for plane, digits in split(as_array(weights), -1000):
        assert digits.dtype == np.int64
        assert 0 < digits.max() < 2**28
        assert digits.min() >= 0
        rest = [left - int(digit) * Fraction(2) ** (28 * plane) for left, digit in zip(rest, digits, strict=True)]
    assert set(rest) == {0}


@given(lists_of_weights)
def test_what_is_left_out_is_less_than_a_billionth_of_a_trillionth(weights):
    weight = as_array(weights)
    lowest = int(lowest_planes(weight.max()))
    planes = list(split(weight, lowest))
    assert len(planes) <= 4
    for row, exact in enumerate(map(Fraction, weights)):
        kept = sum(int(digits[row]) * Fraction(2) ** (28 * plane) for plane, digits in planes)
        assert 0 <= exact - kept < Fraction(max(weights)) / 2**84 or exact == kept


@given(lists_of_weights, st.integers(0, 2**32))
def test_one_unit_has_the_exact_sums(weights, seed):
    """Compare with fractions: sums are cut off below the unit, and the unit is right to 61 bits."""
    weight = as_array(weights)
    chosen = np.random.default_rng(seed).random(weight.size) < 0.5
    planes = {}
    for plane, digits in split(weight, int(lowest_planes(weight.max()))):
        sums = np.array([digits.sum(), digits[chosen].sum()])
        planes[plane] = tally_of(sums, sums[1:], total=int(digits.sum()))
    if not planes:
        assert not weight.any()
        return
    tally, unit = in_one_unit(planes)
    exact = [Fraction(sum(map(Fraction, part))) for part in (weights, np.array(weights, dtype=object)[chosen])]
    slack = len(weights) * Fraction(max(weights)) / 2**84
    for found, selected in zip(
        (*tally.vectors["counts"].tolist(), *tally.vectors["cells"].tolist()), (*exact, exact[1]), strict=True
    ):
        assert selected - Fraction(unit) - slack < found * Fraction(unit) <= selected
    assert tally.total == tally.vectors["counts"][0] <= 2**62
    if all(Fraction(value).denominator == 1 for value in weights):
        assert unit >= 1
        assert unit == 1 or exact[0] > 2**62
    elif min(planes) < 0 and unit > 2.0**-1074:
        assert tally.total >= 2**61 - 1


# ------------------------------------------------------------------------------------------------- passes


@pytest.fixture(scope="module")
def known():
    """A model as trees, and rows of it in a few groups."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    X["g"] = rng.choice(["one", "two", "three"], size=60)
    fitted = RandomForestRegressor(3, max_depth=3, random_state=0).fit(X[list("abc")], X["a"] * X["b"])
    return gw.read_model(fitted), X


@st.composite
def divided(draw):
    """Weights of 60 rows, an order of them, and where it is divided into parts, and these into tables."""
    kind = KINDS[draw(st.sampled_from(sorted(KINDS)))]
    weights = draw(st.lists(kind, min_size=60, max_size=60))
    order = draw(st.permutations(range(60)))
    cuts = sorted(draw(st.lists(st.integers(0, 60), max_size=5)))
    return weights, np.array(order), [0, *cuts, 60], draw(st.booleans())


@pytest.mark.parametrize("lost", [1, -1])
def test_a_tree_that_lost_or_won_a_row_is_noticed(known, lost):
    ensemble, X = known
    job = Job(ensemble, 1, {}, dict(enumerate("abc")), (), None)
    sums = Sums(job)
    sums.add(X)
    partial = sums.partial()
    (tally,) = partial.tallies.values()
    tally.vectors["counts"][job.plan.leaf_offset[0]] -= lost  # of the first leaf's rows, with nothing fixed
    with pytest.raises(BackgroundError, match="the counts of a tree or feature do not sum to the number of rows"):
        finish(job, partial, [])


@given(divided(), st.booleans())
@settings(max_examples=40, deadline=None)
def test_any_division_and_order_of_rows_gives_the_same_bits(known, case, grouped):
    ensemble, X = known
    weights, order, cuts, packed = case
    table = X.assign(w=as_array(weights))
    by = ("g",) if grouped else ()
    plan = make_plan(ensemble, 2, None)
    job = Job(ensemble, 2, {}, dict(enumerate("abc")), by, "w")
    moved = table.iloc[order]
    parts = []
    for first, last in pairwise(cuts):
        sums = Sums(job)
        middle = (first + last) // 2
        sums.add(moved[first:middle])
        sums.add(moved[middle:last])
        part = sums.partial()
        parts.append(Partial.unpack(part.pack())[0] if packed else part)
    halves = Partial.unpack(Partial.sum([Partial.sum(parts[::2]), Partial.sum(parts[1::2])]).pack())[0]
    whole = finish(job, Partial.sum(parts), [])  # which writes into what it is given
    in_memory = gw.summarize(ensemble, table, order=plan.order, sample_weight="w", by="g" if grouped else None)
    assert whole == finish(job, halves, []) == in_memory
    for background in whole.values() if grouped else [whole]:
        assert (background.counts >= 0).all()


@given(st.lists(st.floats(0, 1), min_size=60, max_size=60), st.integers(-900, 900))
@settings(max_examples=25, deadline=None)
def test_a_column_is_as_right_as_an_array(known, weights, exponent):
    ensemble, X = known
    weight = np.ldexp(weights, exponent)
    column = gw.summarize(ensemble, iter([X.assign(w=weight)]), sample_weight="w", order=2)
    array = gw.summarize(ensemble, X, sample_weight=weight, order=2)
    assert abs(column.weight - array.weight) <= 1e-12 * array.weight
    for name in ("counts", "cells"):
        one, two = (getattr(found, name) * found.unit for found in (column, array))
        assert (np.abs(one - two) <= 1e-12 * array.weight).all()


def test_weights_that_need_few_bits_give_the_same_integers_as_an_array(known):
    ensemble, X = known
    rng = np.random.default_rng(0)
    for weight in (
        rng.random(60),
        rng.random(60).astype(np.float32),
        rng.integers(0, 9, 60),
        rng.integers(0, 9, 60) / 8,
    ):
        column = gw.summarize(ensemble, iter([X.assign(w=weight)]), sample_weight="w")
        assert column == gw.summarize(ensemble, X, sample_weight=weight)
        groups = gw.summarize(ensemble, iter([X.assign(w=weight)]), sample_weight="w", by="g")
        assert groups == gw.summarize(ensemble, X, sample_weight=weight, by=X["g"])


def test_a_column_may_begin_with_whole_numbers(known):
    ensemble, X = known
    parts = [X[:30].assign(w=3), X[30:].assign(w=0.1)]
    found = gw.summarize(ensemble, iter(parts), sample_weight="w")
    assert found == gw.summarize(ensemble, pd.concat(parts), sample_weight="w")
    assert found.weight == pytest.approx(93)


@pytest.mark.parametrize("small", [1e-20, 1e-200])
def test_a_group_of_small_weights_is_as_right_as_the_others(known, small):
    """Compare with the group alone, by the name of a column and as an array."""
    ensemble, X = known
    weight = np.random.default_rng(1).random(60) * np.where(X["g"] == "two", small, 1.0)
    table = X.assign(w=weight)
    for source, weights, by in ((iter([table]), "w", "g"), (table, "w", "g"), (X, weight, "g")):
        groups = gw.summarize(ensemble, source, sample_weight=weights, by=by)
        for key, found in groups.items():
            rows = (X["g"] == key).to_numpy()
            assert found == gw.summarize(ensemble, X[rows], sample_weight=weight[rows]), key


def test_weights_that_are_all_zero_are_none(known):
    ensemble, X = known
    for source in (X.assign(w=0.0), iter([X.assign(w=0.0)])):
        found = gw.summarize(ensemble, source, sample_weight="w")
        assert (found.n_rows, found.total) == (60, 0)
        with pytest.raises(gw.errors.BackgroundError, match="only rows of weight 0"):
            gw.Explainer(ensemble, found).partial_dependence("a")
    groups = gw.summarize(ensemble, iter([X.assign(w=(X["g"] == "one") * 0.5)]), sample_weight="w", by="g")
    assert {key: found.weight > 0 for key, found in groups.items()} == {"one": True, "three": False, "two": False}


def test_sums_beyond_float64_are_refused(known):
    ensemble, X = known
    says = r"sum to more than 1.8e\+308, the largest float64; divide them by a power of two"
    weight = np.full(60, 1e308)
    with pytest.raises(TooLargeError, match=says):
        gw.Explainer(ensemble, X[list("abc")], sample_weight=weight)
    with pytest.raises(TooLargeError, match=says):
        weights_of_groups(weight, np.zeros(60, dtype=np.intp), 1)
    with pytest.raises(TooLargeError, match=f"'w' {says}"):
        gw.summarize(ensemble, iter([X.assign(w=weight)]), sample_weight="w")
    with pytest.raises(TooLargeError, match=f"'w' {says}"):
        gw.summarize(ensemble, X.assign(w=weight), sample_weight="w")
    one_each = [X[row : row + 1].assign(w=1e308) for row in range(2)]
    with pytest.raises(TooLargeError, match=f"'w' {says}"):
        gw.summarize(ensemble, iter(one_each), sample_weight="w")
    assert gw.summarize(ensemble, iter(one_each[:1]), sample_weight="w").weight == 1e308


def test_large_whole_weights_are_exact(known):
    ensemble, X = known
    large = gw.summarize(ensemble, iter([X.assign(w=2**53 + 1)]), sample_weight="w")
    assert (large.total, large.unit) == (60 * (2**53 + 1), 1)
    larger = gw.summarize(ensemble, iter([X.assign(w=2**61)]), sample_weight="w")  # eight of them are 0 in 64 bits
    assert larger.total * int(larger.unit) == 60 * 2**61


@pytest.mark.parametrize(
    ("weight", "says"),
    [
        (-1, "not negative; the column 'w' has -1$"),
        (-0.5, "not negative; the column 'w' has -0.5$"),
        (np.nan, "finite.*'w' has nan, or a missing value$"),
        (np.inf, "finite.*'w' has inf$"),
        ("many", "weights must be numbers, but the column 'w' holds"),
    ],
)
def test_wrong_weights_name_the_column_and_the_value(known, weight, says):
    ensemble, X = known
    for source in (X.assign(w=weight), iter([X.assign(w=weight)]), iter([X.assign(w=1.0), X.assign(w=weight)])):
        with pytest.raises(TableError, match=says):
            gw.summarize(ensemble, source, sample_weight="w")


def test_wrong_weights_of_an_array_name_the_value():
    with pytest.raises(TableError, match=r"not negative; a row has -2\.0$"):
        fixed_point([1.0, -2.0], 2)
