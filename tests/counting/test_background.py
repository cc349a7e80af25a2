"""Backgrounds add up, are stored and come back, and refuse what does not fit."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_regression
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor, RandomForestRegressor

import glasswood as gw
from glasswood.counting._background import FORMAT
from glasswood.errors import BackgroundError, TableError, TooLargeError
from glasswood.tables._files import pack_arrays, unpack_arrays

X, Y = make_regression(300, 4, random_state=0)


@pytest.fixture(scope="module")
def model():
    return HistGradientBoostingRegressor(max_iter=5, random_state=0).fit(X, Y)


def test_explaining_without_the_data(model, tmp_path):
    gw.summarize(model, X, order=2).save(tmp_path / "x.gw")
    asked = gw.Explainer(model, gw.Background.load(tmp_path / "x.gw"))
    direct = gw.Explainer(model, X)
    np.testing.assert_array_equal(asked.partial_dependence(0).values, direct.partial_dependence(0).values)
    np.testing.assert_array_equal(asked.partial_dependence(0).rows, direct.partial_dependence(0).rows)
    np.testing.assert_allclose(asked.partial_dependence(0, 1).values, direct.partial_dependence(0, 1).values)


def test_groups_are_stored(model, tmp_path):
    background = gw.summarize(model, X, groups={"pair": ["x0", "x1"]})
    background.save(tmp_path / "x.gw")
    again = gw.Background.load(tmp_path / "x.gw")
    assert again == background
    assert again.groups == {"pair": ("x0", "x1")}
    assert gw.Explainer(model, again).partial_dependence("pair", at=X[:2, :2]).values.shape == (2,)


def test_a_sliding_window(model):
    days = [gw.summarize(model, X[k : k + 100]) for k in (0, 100, 200)]
    week = days[0] + days[1]
    assert week + days[2] - days[0] == days[1] + days[2]
    assert (week + days[2]).n_rows == 300


def test_float_weights_add_up(model):
    weight = np.random.default_rng(0).random(300)
    whole = gw.summarize(model, X, sample_weight=weight)
    parts = gw.summarize(model, X[:30], sample_weight=weight[:30]) + gw.summarize(
        model, X[30:], sample_weight=weight[30:]
    )
    assert whole.weight == pytest.approx(weight.sum(), rel=1e-12)
    scale = np.abs(whole.counts).max()
    np.testing.assert_allclose(parts.counts * (parts.unit / whole.unit), whole.counts, atol=1e-12 * scale)
    assert "weight 1" in repr(whole)


def test_other_things_are_not_combined(model):
    one = gw.summarize(model, X)
    with pytest.raises(BackgroundError, match="a different order"):
        one + gw.summarize(model, X, order=2)
    other = HistGradientBoostingRegressor(max_iter=6, random_state=0).fit(X, Y)
    with pytest.raises(BackgroundError, match="a different model"):
        one + gw.summarize(other, X)
    with pytest.raises(BackgroundError, match="different groups"):
        one - gw.summarize(model, X, groups={"pair": ["x0", "x1"]})
    with pytest.raises(TypeError):
        one + 1
    assert one != 1
    assert one != gw.summarize(model, X[:299])


def test_a_background_of_another_model_is_refused(model):
    other = HistGradientBoostingRegressor(max_iter=6, random_state=0).fit(X, Y)
    with pytest.raises(BackgroundError, match="a different model"):
        gw.Explainer(other, gw.summarize(model, X))


def test_models_that_differ_in_one_place_have_other_fingerprints():
    frame = pd.DataFrame({"x": X[:, 0], "kind": pd.Categorical(np.where(X[:, 1] > 0, "a", "b"))})
    categories = HistGradientBoostingRegressor(max_iter=2, categorical_features="from_dtype").fit(frame, Y)
    e = gw.read_model(categories)
    node = int(np.flatnonzero(e.category_set < 0)[0])
    by_set = int(np.flatnonzero(e.category_set >= 0)[0])

    def changed(name, place, change):
        array = getattr(e, name).copy()
        array[place] = change(array[place])
        return replace(e, **{name: array})

    others = {
        "cut": changed("cut", node, lambda cut: cut + 1),
        "missing_left": changed("missing_left", node, np.logical_not),
        "unseen_left": changed("unseen_left", by_set, np.logical_not),
        "words": changed("words", 0, lambda word: ~word & np.uint64(3)),
        "children": replace(e, left=e.right, right=e.left),
    }
    whole = gw.summarize(e, frame)
    for name, other in others.items():
        assert gw.summarize(other, frame).fingerprint != whole.fingerprint, name
        with pytest.raises(BackgroundError, match="a different model"):
            gw.Explainer(other, whole)


def test_an_order_too_low_is_refused(model):
    ex = gw.Explainer(model, gw.summarize(model, X))
    assert ex.partial_dependence(0, 1).additive  # no path has both, so two curves tell all
    with pytest.raises(BackgroundError, match="order 2, but it has order 1; make one with summarize"):
        ex.partial_dependence(0, 2)


def rewrite(path, facts=None, arrays=None, kind=FORMAT):
    """Write a background's file anew, with some of its parts changed and a digest that is right."""
    old_facts, old_arrays = unpack_arrays(FORMAT, path.read_bytes())
    arrays = {name: array for name, array in (old_arrays | (arrays or {})).items() if array is not None}
    path.write_bytes(pack_arrays(kind, old_facts | (facts or {}), arrays))
    return path


def test_any_change_of_a_file_is_noticed(model, tmp_path):
    path = tmp_path / "x.gw"
    gw.summarize(model, X).save(path)
    content = path.read_bytes()
    for place in range(0, len(content), 7):
        path.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        with pytest.raises(BackgroundError, match=r"x\.gw' is not a Glasswood background, or it is damaged"):
            gw.Background.load(path)
    for damaged in (content[:-1], content + b"\0", b"", b"something else", FORMAT.encode(), content[:40]):
        path.write_bytes(damaged)
        with pytest.raises(BackgroundError, match="or it is damaged"):
            gw.Background.load(path)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"arrays": {"counts": None}}, "its vectors are not those of the header"),
        ({"arrays": {"counts": np.zeros(3)}}, "or not integers"),
        ({"kind": "glasswood background 1"}, "does not begin with the line 'glasswood background 4'"),
        ({"facts": {"order": 0}}, "order 0"),
        ({"facts": {"order": 10**30}}, "order 1000000000"),
        ({"facts": {"n_rows": "3"}}, "'3' rows"),
        ({"facts": {"unit": 0.3}}, "unit 0.3"),
        ({"facts": {"unit": float("nan")}}, "unit nan"),
        ({"facts": {"unit": True}}, "unit True"),
        ({"facts": {"groups": [1]}}, "groups"),
        ({"facts": {"groups": {"g": [1]}}}, "groups are not strings"),
        ({"facts": {"groups": {"g": 3}}}, "not iterable"),
        ({"facts": {"more": 1}}, "more"),
    ],
)
def test_files_that_somebody_made_are_refused(model, change, says, tmp_path):
    path = tmp_path / "x.gw"
    gw.summarize(model, X).save(path)
    with pytest.raises(BackgroundError, match=f"or it is damaged: .*{says}"):
        gw.Background.load(rewrite(path, **change))


def test_a_background_of_another_size_is_refused(model, tmp_path):
    path = tmp_path / "x.gw"
    for name in ("counts", "cells", "least", "greatest", "whole"):
        gw.summarize(model, X).save(path)
        short = gw.Background.load(rewrite(path, arrays={name: np.zeros(7, dtype=np.int64)}))
        with pytest.raises(BackgroundError, match="a different model"):
            gw.Explainer(model, short)


def test_files_hold_no_pickles(model, tmp_path):
    path = tmp_path / "x.gw"
    gw.summarize(model, X).save(path)
    content = path.read_bytes()
    assert content.startswith(b"glasswood background 4\n")
    start = len(FORMAT) + 9
    header = json.loads(content[start : start + int.from_bytes(content[start - 8 : start], "little")])
    assert header["facts"]["n_rows"] == 300
    assert [name for name, *_ in header["arrays"]] == ["counts", "cells", "least", "greatest", "whole"]


@pytest.mark.parametrize(
    ("groups", "says"),
    [
        ({"g": ["nothing"]}, "'g' names the column 'nothing'"),
        ({"g": ["x0"], "h": ["x0"]}, "'x0' is in two groups"),
        ({"x1": ["x0"]}, "'x1' has the name of a column that is not in it"),
    ],
)
def test_wrong_groups_are_refused(model, groups, says):
    with pytest.raises(TableError, match=says):
        gw.summarize(model, X, groups=groups)
    with pytest.raises(TableError, match=says):
        gw.Explainer(model, X, groups=groups)


def test_order_must_be_positive(model):
    with pytest.raises(ValueError, match="at least 1"):
        gw.summarize(model, X, order=0)


def test_an_order_beyond_reach_is_refused_before_counting():
    X, y = make_regression(3000, 60, n_informative=60, random_state=0)
    deep = ExtraTreesRegressor(1, random_state=0).fit(X, y)
    with pytest.raises(TooLargeError, match=r"Sets of up to 9 of them need .* GB\), .*: ask for order=[1-8]"):
        gw.summarize(deep, X, order=9)


@pytest.fixture(scope="module")
def weighted():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    return RandomForestRegressor(5, max_depth=3, random_state=0).fit(X, X["a"] * X["b"]), X


@pytest.mark.parametrize("small", [0.3, 0.004])
def test_backgrounds_in_different_units_are_added_and_subtracted_exactly(weighted, small):
    model, X = weighted
    weight = np.where(np.arange(len(X)) < 100, 1.0, small)
    one, two = (gw.summarize(model, X[at], sample_weight=weight[at]) for at in (slice(100), slice(100, None)))
    whole = gw.summarize(model, X, sample_weight=weight)
    assert one.unit == 1 > two.unit
    for total in (one + two, two + one):
        assert total.weight == pytest.approx(weight.sum(), rel=1e-15)
        curve, selected = (gw.Explainer(model, found).partial_dependence("a") for found in (total, whole))
        np.testing.assert_allclose(curve.values, selected.values, rtol=0, atol=1e-14)
    for left in (one + two - one, whole - one):
        assert left.weight == pytest.approx(100 * small, rel=1e-8)
        curve, selected = (gw.Explainer(model, found).partial_dependence("a") for found in (left, two))
        np.testing.assert_allclose(curve.values, selected.values, rtol=0, atol=1e-8)


def test_sums_of_many_weighted_backgrounds_do_not_overflow(weighted):
    model, X = weighted
    part = gw.summarize(model, X, sample_weight=np.random.default_rng(1).random(len(X)))
    total = part
    for _ in range(9):
        total = total + part
    assert (total.counts >= 0).all()
    assert total.weight == pytest.approx(10 * part.weight, rel=1e-15)
    curve, selected = (gw.Explainer(model, found).partial_dependence("a") for found in (total, part))
    np.testing.assert_allclose(curve.values, selected.values, rtol=0, atol=1e-14)


def test_what_is_only_rounding_is_not_left_by_subtraction(weighted):
    model, X = weighted
    large = gw.summarize(model, X, sample_weight=np.full(len(X), 2.0**40))
    small = gw.summarize(model, X, sample_weight=np.full(len(X), 0.3e-6))
    with pytest.raises(gw.errors.BackgroundError, match="differ too much"):
        large + small - large


@pytest.mark.parametrize("scale", [1 / 200, 1e-9, 1e-300, 1e15, 1e300])
def test_columns_of_small_and_large_weights_are_exact(weighted, scale):
    model, X = weighted
    weight = np.random.default_rng(2).random(len(X)) * scale
    exact = gw.summarize(model, X, sample_weight=weight)
    for source in (X.assign(w=weight), iter([X.assign(w=weight)])):
        found = gw.summarize(model, source, sample_weight="w")
        assert found.weight == pytest.approx(weight.sum(), rel=1e-15)
        curve, selected = (gw.Explainer(model, part).partial_dependence("a") for part in (found, exact))
        np.testing.assert_allclose(curve.values, selected.values, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("small", "large"), [(1e-30, 1), (1e-12, 1e9), (1, 1e30), (2**-62, 2), (2**-64, 1)])
def test_weights_of_very_different_size(model, small, large):
    """The small ones are less than the last of 62 bits of the sum, or just above."""
    u = np.random.default_rng(0).random(len(X))
    one, two = gw.summarize(model, X, sample_weight=u * small), gw.summarize(model, X, sample_weight=u * large)
    for both in (one + two, two + one):
        assert both.n_rows == 2 * len(X)
        np.testing.assert_allclose(both.weight, one.weight + two.weight, rtol=1e-12)
        np.testing.assert_allclose(both.counts * both.unit, two.counts * two.unit, rtol=1e-12, atol=1e-12 * two.weight)
