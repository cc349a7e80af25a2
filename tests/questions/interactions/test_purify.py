"""Purification against the sweeps of Lengerich et al., and of models against their own sums of effects."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasswood as gw
from glasswood.errors import ArgumentError, BackgroundError, TableError, UnsupportedModelError
from glasswood.questions.interactions._arithmetic_purify import purify


def swept(heights, rows, sweeps=20_000):
    """Move the weighted mean of each line and of each column to the curves, again and again."""
    f, a, b = heights.copy(), np.zeros(len(heights)), np.zeros(heights.shape[1])
    of_a, of_b = rows.sum(axis=1), rows.sum(axis=0)
    for _ in range(sweeps):
        m = np.divide((rows * f).sum(axis=1), of_a, out=np.zeros_like(a), where=of_a > 0)
        f, a = f - m[:, None], a + m
        q = np.divide((rows * f).sum(axis=0), of_b, out=np.zeros_like(b), where=of_b > 0)
        f, b = f - q, b + q
        if max(np.abs(m).max(), np.abs(q).max()) < 1e-13:
            break
    return f


@given(st.integers(1, 7), st.integers(1, 7), st.integers(0, 10**6), st.sampled_from([0.0, 0.4, 0.7]))
@settings(max_examples=150, deadline=None)
def test_means_of_lines_and_columns_are_zero_and_nothing_is_lost(n_a, n_b, seed, empty):
    generator = np.random.default_rng(seed)
    heights = generator.normal(size=(n_a, n_b, 2))
    rows = generator.integers(1, 50, (n_a, n_b)) * (generator.random((n_a, n_b)) >= empty).astype(float)
    rows[generator.integers(n_a), generator.integers(n_b)] = 3.0
    found = purify(heights, rows)
    np.testing.assert_allclose(found.interaction + found.first[:, None] + found.second[None], heights, atol=1e-12)
    weighted = rows[:, :, None] * found.interaction / rows.sum()
    np.testing.assert_allclose(weighted.sum(axis=0), 0.0, atol=1e-11)
    np.testing.assert_allclose(weighted.sum(axis=1), 0.0, atol=1e-11)
    known = rows > 0
    for k in range(2):
        np.testing.assert_allclose(found.interaction[known, k], swept(heights[:, :, k], rows)[known], atol=1e-8)


@pytest.mark.parametrize("correlation", [0.0, 0.9, 0.99])
def test_correlated_features(correlation):
    generator = np.random.default_rng(0)
    a = generator.normal(size=3000)
    b = correlation * a + np.sqrt(1 - correlation**2) * generator.normal(size=3000)
    cells = [np.searchsorted(np.quantile(x, np.linspace(0, 1, 21)[1:-1]), x) for x in (a, b)]
    rows = np.zeros((20, 20))
    np.add.at(rows, tuple(cells), 1)
    heights = (np.linspace(-2, 2, 20)[:, None] - np.linspace(-2, 2, 20)) ** 2
    found = purify(heights[:, :, None], rows).interaction[:, :, 0]
    np.testing.assert_allclose(found[rows > 0], swept(heights, rows)[rows > 0], atol=1e-9)


def test_two_blocks_without_common_rows():
    rows = np.kron(np.eye(2), np.ones((3, 3)))
    heights = np.random.default_rng(1).normal(size=(6, 6))
    shifted = heights + np.kron([[0.0, 1.0], [-1.0, 0.0]], np.ones((3, 3)))
    one, other = (purify(own[:, :, None], rows).interaction[:, :, 0] for own in (heights, shifted))
    np.testing.assert_allclose(one[rows > 0], other[rows > 0], atol=1e-12)


@pytest.fixture(scope="module")
def case():
    generator = np.random.default_rng(2)
    X = pd.DataFrame(generator.normal(size=(500, 3)), columns=list("abc"))
    X["b"] = X.a + 0.3 * X.b
    X.loc[generator.random(500) < 0.1, "b"] = np.nan
    X["kind"] = pd.Categorical(generator.choice(list("xyz"), 500))
    y = X.a * X.b.fillna(1) + (X.kind == "x") * X.c
    model = lgb.LGBMRegressor(n_estimators=15, num_leaves=8, verbose=-1).fit(X, y)
    return model, X, generator.integers(0, 4, 500)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_model(case, weighted):
    model, X, weight = case
    weight = weight if weighted else None
    ex = gw.Explainer(model, X, sample_weight=weight)
    pairs = [("a", "b"), ("c", "kind"), ("b", "c")]
    found = ex.purified_effects(*pairs)
    curves, surfaces = ex.partial_dependence(), {pair: ex.partial_dependence(*pair) for pair in pairs}
    mean = curves["a"].mean[0]
    before = mean + sum(curve(X[name]) - mean for name, curve in curves.items())
    before += sum(
        surface(X[a], X[b]) - curves[a](X[a]) - curves[b](X[b]) + mean for (a, b), surface in surfaces.items()
    )
    after = found.constant[0] + sum(curve(X[name]) for name, curve in found.curves.items())
    after += sum(found[a, b](X[a], X[b]) - found[a](X[a]) - found[b](X[b]) for a, b in pairs)
    np.testing.assert_allclose(after, before, atol=1e-12)
    for name, curve in found.curves.items():
        assert abs(np.average(curve(X[name]), weights=weight)) < 1e-12
    for a, b in pairs:
        alone = found[a, b](X[a], X[b]) - found[a](X[a]) - found[b](X[b])
        for side in (a, b):
            cell = ex.partial_dependence(side).axis.cell_of(X[side]).ravel()
            mass = np.ones(len(X)) if weight is None else weight
            assert np.abs(np.bincount(cell, weights=mass * alone)).max() < 1e-9
    assert found["b", "a"] is found["a", "b"]
    assert len(found.to_frame()) == len(found.curves) + 3


def test_from_files(case, tmp_path):
    model, X, _ = case
    X.to_parquet(tmp_path / "rows.parquet", row_group_size=90)
    there, here = (gw.Explainer(model, rows).purified_effects(("a", "b")) for rows in (tmp_path / "rows.parquet", X))
    assert np.array_equal(there["a", "b"].raw_interaction, here["a", "b"].raw_interaction)
    assert all(np.array_equal(there[name].heights, here[name].heights) for name in here.curves)


def test_a_feature_that_the_model_does_not_use(case):
    model, X, _ = case
    narrow = lgb.LGBMRegressor(n_estimators=3, verbose=-1).fit(X.assign(none=0.0), model.predict(X))
    found = gw.Explainer(narrow, X.assign(none=0.0)).purified_effects(("a", "none"), ("a", "b"))
    assert not found["a", "none"].interaction.any()
    assert found.to_frame()["value"].iloc[-1] == 0.0 or found["a", "b"].interaction.any()


def test_refusals(case):
    model, X, _ = case
    ex = gw.Explainer(model, X)
    with pytest.raises(ArgumentError, match="two features"):
        ex.purified_effects(("a", "b", "c"))
    with pytest.raises(ArgumentError, match="twice"):
        ex.purified_effects(("a", "b"), ("b", "a"))
    with pytest.raises(TableError, match="no pair"):
        ex.purified_effects(("a", "b"))["a", "c"]
    with pytest.raises(BackgroundError, match="how rows fall"):
        gw.Explainer(model, gw.summarize(model, X, order=2)).purified_effects(("a", "b"))
    with pytest.raises(UnsupportedModelError, match="raw score only"):
        ex.purified_effects(("a", "b"), response="prediction")
    with pytest.raises(TableError, match="is a group"):
        gw.Explainer(model, X, groups={"both": ["a", "b"]}).purified_effects(("both", "c"))
