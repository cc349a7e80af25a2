"""Accumulated local effects: against their definition by the library's own predictions, from every source."""

from __future__ import annotations

import pickle
import warnings
from itertools import pairwise

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from catboost import CatBoostRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

import glasswood as gw
from glasswood.counting import _leaf_counts
from glasswood.effects._jackknife import jackknife
from glasswood.errors import ArgumentError, BackgroundError, TableError, UnsupportedModelError
from helpers.versions import has
from zoo.store import fitted

N = 400
NUMBERS = ["a", "b", "ties", "c"]


def make_rows(n=N, seed=0, *, category=True):
    """Correlated numbers (one with ties, one with missing values), a category, a target and weights (some 0)."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    X = pd.DataFrame({"a": a, "b": 0.8 * a + 0.6 * rng.normal(size=n)})
    X["ties"], X["c"] = rng.integers(0, 6, n).astype(float), rng.gamma(2.0, size=n)
    X.loc[rng.random(n) < 0.15 + 0.2 * (a > 0.5), "b"] = np.nan
    k = (2.5 * a + rng.normal(size=n)).round().clip(-3, 4).astype(int) + 3
    if category:
        X["kind"] = pd.Categorical(np.array(list("hcaedbgf"))[k])
    y = a + np.where(X.b.isna(), 0.3, X.b.fillna(0) * (X.ties > 2)) + 0.3 * k * (X.c > 2) + rng.normal(size=n) * 0.3
    return X, y.to_numpy(), rng.integers(0, 4, n)


def trained(name, X, y):
    """Return a model of a library, and the rows as it takes them."""
    if name == "xgboost" and "kind" in X and not has("xgboost", (3, 1)):
        pytest.skip("before 3.1, models do not keep the labels of categories")
    text = X.assign(kind=X.kind.astype(str)) if "kind" in X else X
    models = {
        "lightgbm": (lgb.LGBMRegressor(n_estimators=15, num_leaves=12, min_child_samples=5, verbose=-1), X),
        "xgboost": (xgb.XGBRegressor(n_estimators=15, max_depth=4, enable_categorical=True), X),
        "hgb": (HistGradientBoostingRegressor(max_iter=15, categorical_features="from_dtype"), X),
        "forest": (RandomForestRegressor(8, max_depth=6, random_state=0), X[NUMBERS]),
        "catboost": (CatBoostRegressor(iterations=15, depth=4, verbose=0, one_hot_max_size=20), text),
    }
    model, rows = models[name]
    fit = {"cat_features": ["kind"]} if name == "catboost" and "kind" in rows else {}
    return model.fit(rows, y, **fit), rows


def scored(name, model, rows):
    """Return predictions of rows in float64: XGBoost adds in float32, so its leaves are added here."""
    if name != "xgboost":
        return np.asarray(model.predict(rows), dtype=np.float64)
    booster = model.get_booster()
    leaves = booster.predict(xgb.DMatrix(rows, enable_categorical=True), pred_leaf=True).astype(int)
    nodes = booster.trees_to_dataframe()
    values = {
        (tree, node): np.float32(gain) for tree, node, gain in zip(nodes.Tree, nodes.Node, nodes.Gain, strict=True)
    }
    return np.array([sum(float(values[tree, leaf]) for tree, leaf in enumerate(line)) for line in leaves])


def bins_of(x, z):
    """Return the bin of each value, from 1, and 0 for missing ones."""
    return np.where(np.isnan(x), 0, np.clip(np.searchsorted(z, x), 1, z.size - 1))


def by_definition(predict, X, name, z, w):
    """Return heights at edges: predictions of rows at both edges of their own bin, averaged, added up and centred."""
    k = bins_of(X[name].to_numpy(float), z)
    seen = k > 0
    low, high = X.copy(), X.copy()
    low.loc[seen, name], high.loc[seen, name] = z[k[seen] - 1], z[k[seen]]
    change = np.where(seen, predict(high) - predict(low), 0.0)
    weight = np.bincount(k, w, z.size)[1:]
    steps = np.bincount(k, w * change, z.size)[1:] / np.where(weight > 0, weight, 1)
    heights = np.append(0.0, np.cumsum(steps))
    return heights - (weight * (heights[1:] + heights[:-1]) / 2).sum() / weight.sum()


def contrast_by_definition(predict, X, name, w):
    """Return the mean score of rows with a missing value minus that with the values of all other rows."""
    gone = X[name].isna().to_numpy()
    others = [np.average(predict(X[gone].assign(**{name: value})), weights=w[gone]) for value in X[name][~gone]]
    return np.average(predict(X[gone]), weights=w[gone]) - np.average(others, weights=w[~gone])


def levels_by_definition(predict, X, name, levels, w):
    """Return heights of levels: the mean changes of the rows of two neighbours, added up and centred."""
    column = X[name]
    moved, weight = {}, np.array([w[(column == level).to_numpy()].sum() for level in levels], float)
    for to in levels:
        values = pd.Series([to] * len(X), index=X.index).astype(column.dtype)
        score = predict(X.assign(**{name: values}))
        for level in levels:
            own = (column == level).to_numpy()
            moved[level, to] = np.average(score[own], weights=w[own])
    steps = [
        (weight[i] * (moved[p, q] - moved[p, p]) + weight[i + 1] * (moved[q, q] - moved[q, p]))
        / weight[i : i + 2].sum()
        for i, (p, q) in enumerate(pairwise(levels))
    ]
    heights = np.append(0.0, np.cumsum(steps))
    return heights - weight @ heights / weight.sum()


@pytest.fixture(scope="module")
def rows():
    return make_rows()


NAMES = ["lightgbm", "xgboost", "hgb", "forest", "catboost"]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_numbers_and_missing_are_their_definition(rows, name, weighted):
    X, y, w = rows
    model, table = trained(name, X, y)
    weight = w if weighted else np.ones(N, dtype=int)
    ex = gw.Explainer(model, table, sample_weight=weight if weighted else None)

    def predict(rows):
        return scored(name, model, rows)

    span = np.ptp(predict(table))
    atol = 1e-9 * span
    for feature in NUMBERS:
        given = np.unique(np.quantile(table[feature].dropna(), np.linspace(0.05, 0.95, 8)).round(2))
        for ale in (ex.ale(feature), ex.ale(feature, bins=7), ex.ale(feature, bins=given)):
            expected = by_definition(predict, table, feature, ale.edges, weight)
            np.testing.assert_allclose(ale.values, expected, atol=atol)
            k = bins_of(table[feature].to_numpy(float), ale.edges)
            np.testing.assert_array_equal(ale.rows, np.bincount(k, weight, ale.edges.size)[1:])
        assert np.array_equal(given, ale.edges)
    ale = ex.ale("b")
    np.testing.assert_allclose(ale.missing, contrast_by_definition(predict, table, "b", weight), atol=atol)
    assert ale.missing_rows == weight[table["b"].isna()].sum()
    assert np.isnan(ex.ale("a").missing)


@pytest.mark.parametrize("name", ["lightgbm", "xgboost", "hgb"])
def test_categories_are_their_definition_in_any_order(rows, name):
    X, y, w = rows
    model, table = trained(name, X, y)
    ex = gw.Explainer(model, table, sample_weight=w)

    def predict(rows):
        return scored(name, model, rows)

    atol = 1e-9 * np.ptp(predict(table))
    ale = ex.ale("kind")
    assert ale.ordered_by == "of similarity"
    assert sorted(ale.levels) == sorted(X.kind.unique())
    for order in (ale.levels, sorted(ale.levels), tuple(ale.levels[::-1])):
        found = ale.in_order(order)
        assert found.levels == tuple(order)
        np.testing.assert_allclose(found.values, levels_by_definition(predict, table, "kind", order, w), atol=atol)
        assert found.rows.tolist() == [w[(X.kind == level).to_numpy()].sum() for level in order]
        np.testing.assert_array_equal(ex.ale("kind", order=order).values, found.values)
    np.testing.assert_allclose(ale.in_order(ale.levels[::-1]).values[::-1], ale.values, atol=atol)
    assert ale(["a", "b"]).tolist() == [ale.values[ale.levels.index(level)] for level in "ab"]


def test_levels_that_are_alike_are_neighbours(rows):
    X, y, _ = rows
    model, table = trained("lightgbm", X, y)
    order = "".join(gw.Explainer(model, table).ale("kind").levels)
    assert order in ("hcaedbgf", "fgbdeach") or sum(x != z for x, z in zip(order, "hcaedbgf", strict=True)) <= 4
    ordered = table.assign(kind=table.kind.cat.as_ordered())
    ale = gw.Explainer(model, ordered).ale("kind")
    assert ale.ordered_by == "of the categories"
    assert "".join(ale.levels) == "abcdefgh"


def test_categories_that_the_model_does_not_know_are_a_level(rows):
    X, y, _ = rows
    model, table = trained("catboost", X, y)
    ex = gw.Explainer(model, table)
    ale = ex.ale("kind")
    known = [level for level in ale.levels if level != "(unseen)"]
    unknown = sorted(set(table.kind) - set(known))
    assert ale.rows.sum() == N
    if unknown:
        place = ale.levels.index("(unseen)")
        assert ale.rows[place] == table.kind.isin(unknown).sum()
        assert ale(unknown).tolist() == [ale.values[place]] * len(unknown)


def test_outputs(rows):
    X, y, w = rows
    label = np.digitize(y, [0.0, 1.5])
    for model in (
        fitted(HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype"), X, label),
        fitted(lgb.LGBMClassifier(n_estimators=4, num_leaves=7, verbose=-1), X, label),
    ):
        raw = gw.read_model(model).predict
        ex = gw.Explainer(model, X, sample_weight=w, response="raw")
        edges = [-2.0, -1.0, 0.0, 0.3, 2.0]
        ale = ex.ale("a", bins=edges)
        assert ale.heights.shape == (5, 3)
        for k in range(3):
            expected = by_definition(lambda rows, k=k, raw=raw: np.asarray(raw(rows))[:, k], X, "a", ale.edges, w)
            np.testing.assert_allclose(ale.heights[:, k], expected, atol=1e-9)
            np.testing.assert_array_equal(ex.ale("a", bins=edges, output=k).values, ale.heights[:, k])
    forest = fitted(RandomForestClassifier(5, max_depth=4, random_state=0), X[NUMBERS].fillna(0), label)
    ale = gw.Explainer(forest, X[NUMBERS].fillna(0)).ale("b")
    for k in range(3):
        expected = by_definition(
            lambda rows, k=k: forest.predict_proba(rows)[:, k], X[NUMBERS].fillna(0), "b", ale.edges, np.ones(N)
        )
        np.testing.assert_allclose(ale.heights[:, k], expected, atol=1e-9)
    two = fitted(HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype"), X, label > 0)
    ex = gw.Explainer(two, X, response="raw")
    np.testing.assert_array_equal(ex.ale("a", output=False).values, -ex.ale("a").values)


@pytest.mark.parametrize("kind", ["binary", "classes", "poisson"])
def test_responses_are_their_definition(rows, kind, tmp_path):
    X, y, w = rows
    label = np.digitize(y, [0.0, 1.5])
    if kind == "binary":
        model = fitted(HistGradientBoostingClassifier(max_iter=30, categorical_features="from_dtype"), X, label > 0)
    elif kind == "classes":
        model = fitted(lgb.LGBMClassifier(n_estimators=6, num_leaves=9, verbose=-1), X, label)
    else:
        model = fitted(lgb.LGBMRegressor(objective="poisson", n_estimators=20, num_leaves=9, verbose=-1), X, np.abs(y))
    response = "prediction" if kind == "poisson" else "probability"
    ex = gw.Explainer(model, X, sample_weight=w, response=response, folds=4)
    ales = ex.ale()
    for k in range(3 if kind == "classes" else 1):

        def predict(rows, k=k):
            found = model.predict(rows) if kind == "poisson" else model.predict_proba(rows)
            return found if kind == "poisson" else found[:, 1 if kind == "binary" else k]

        for name, ale in ales.items():
            if ale.levels is None:
                expected = by_definition(predict, X, name, ale.edges, w)
            else:
                expected = levels_by_definition(predict, X, name, ale.levels, w)
            np.testing.assert_allclose(ale.heights[:, k], expected, atol=1e-10)
        found = ales["b"].missing_heights[k]
        np.testing.assert_allclose(found, contrast_by_definition(predict, X, "b", w), atol=1e-10)
    assert ales["a"].units == response
    assert (ales["a"].errors > 0).any()
    edges = {name: ale.edges if ale.levels is None else True for name, ale in ales.items()}
    whole = gw.summarize(model, X, sample_weight=w, answers=["ale"], response=response)
    parts = [
        gw.summarize(model, X[part], sample_weight=w[part], answers={"ale": {"bins": edges}}, response=response)
        for part in (slice(0, 130), slice(130, N))
    ]
    assert parts[0] + parts[1] == whole
    assert whole - parts[0] == parts[1]
    whole.save(tmp_path / "whole.gw")
    loaded = gw.Explainer(model, gw.Background.load(tmp_path / "whole.gw"), response=response)
    np.testing.assert_array_equal(loaded.ale("b").heights, ales["b"].heights)
    np.testing.assert_array_equal(loaded.ale("b").missing_heights, ales["b"].missing_heights)
    assert loaded.ale("b").gap == pytest.approx(ales["b"].gap)
    with pytest.raises(BackgroundError, match=f'response="{response}"'):
        gw.Explainer(model, gw.summarize(model, X, answers=["counts"]), response=response).ale("a")


def test_lists_count_what_bitsets_count(rows, monkeypatch):
    X, y, w = rows
    model, table = trained("lightgbm", X, y)
    for options in ({}, {"sample_weight": w}, {"by": "kind"}, {"folds": 4}):
        one = gw.summarize(model, table, answers={"ale": {"bins": 6}}, **options)
        for least in (0, 9, 11):  # all trees, or some of them
            with monkeypatch.context() as patch:
                patch.setattr(_leaf_counts, "LARGE_TREE", least)
                assert gw.summarize(model, table, answers={"ale": {"bins": 6}}, **options) == one


def test_the_same_numbers_from_every_source(rows, tmp_path):
    X, y, w = rows
    model, _ = trained("lightgbm", X, y)
    table = X.assign(w=w, group=np.where(X.a > 0, "high", "low"))
    table[:150].to_parquet(tmp_path / "one.parquet")
    table[150:].to_parquet(tmp_path / "two.parquet", row_group_size=60)
    whole = gw.summarize(model, table, answers=["ale"], sample_weight="w")
    assert gw.summarize(model, tmp_path, answers=["ale"], sample_weight="w") == whole
    bins = gw.Explainer(model, whole).ale()
    edges = {name: ale.edges if ale.levels is None else True for name, ale in bins.items()}
    stream = (table[first : first + 90] for first in range(0, N, 90))
    assert gw.summarize(model, stream, answers={"ale": {"bins": edges}}, sample_weight="w") == whole
    parts = [
        gw.summarize(model, part, answers={"ale": {"bins": edges}}, sample_weight="w")
        for part in (table[:150], table[150:])
    ]
    assert parts[0] + parts[1] == whole
    assert whole - parts[0] == parts[1]
    whole.save(tmp_path / "whole.gw")
    loaded = gw.Background.load(tmp_path / "whole.gw")
    assert loaded == whole
    direct, ex = gw.Explainer(model, X, sample_weight=w), gw.Explainer(model, loaded)
    left = gw.Explainer(model, whole - parts[0])
    for name in direct.ale():
        one, two = direct.ale(name), ex.ale(name)
        order = {} if one.levels is None else {"order": one.levels}
        np.testing.assert_array_equal(one.heights, ex.ale(name, **order).heights)
        np.testing.assert_array_equal(one.missing_heights, two.missing_heights)
        np.testing.assert_array_equal(one.part.dependence(), two.part.dependence())
        expected = gw.Explainer(model, X[150:], sample_weight=w[150:])
        if one.levels is None:
            np.testing.assert_array_equal(left.ale(name).heights, expected.ale(name, bins=one.edges).heights)
    assert ex.ale("kind").ordered_by == "of the model"
    by = gw.summarize(model, table, answers=["ale"], by="group")
    total = gw.summarize(model, table, answers=["ale"])
    assert by["high"] + by["low"] == total
    grouped = gw.Explainer(model, table[[*X]]).ale("a", by=table.group.to_numpy())
    for key in ("high", "low"):
        np.testing.assert_array_equal(grouped[key].values, gw.Explainer(model, by[key]).ale("a").values)
        np.testing.assert_array_equal(grouped[key].edges, gw.Explainer(model, total).ale("a").edges)
    grouped.plot()
    from_files = gw.Explainer(model, tmp_path / "one.parquet").ale()
    from_table = gw.Explainer(model, X[:150]).ale()
    for name, ale in from_table.items():
        np.testing.assert_array_equal(ale.heights, from_files[name].heights)
        assert ale.levels == from_files[name].levels


def test_errors_leave_out_one_fold_at_a_time(rows):
    X, y, w = rows
    model, _ = trained("lightgbm", X, y)
    fold = np.arange(N) % 40
    ex = gw.Explainer(model, X, sample_weight=w, folds=5, fold_by=fold)
    counts = gw.Explainer(model, gw.summarize(model, X, sample_weight=w, folds=5, fold_by=fold, answers=["ale"]))
    deviation = np.sqrt(np.average((model.predict(X) - np.average(model.predict(X), weights=w)) ** 2, weights=w))
    for name in ("b", "kind"):
        ale = ex.ale(name)
        order = {} if ale.levels is None else {"order": ale.levels}
        np.testing.assert_array_equal(counts.ale(name, **order).error, ale.error)
        left = ale.folds.heights
        assert left.shape == (5, *ale.heights.shape)
        expected = jackknife(ale.heights, list(left), ale.folds.shares.tolist())
        np.testing.assert_array_equal(ale.errors, expected)
        assert (ale.error > 0).any()
        assert 0 < ale.gap_error < 0.1
        centred = ale.dependence - np.average(ale.dependence, weights=_weights(ale))
        gap = np.sqrt(np.average((centred - ale.values) ** 2, weights=_weights(ale)))
        assert ale.difference == pytest.approx(gap)
        assert ale.gap == pytest.approx(gap / deviation)
    with pytest.raises(BackgroundError, match="folds="):
        _ = gw.Explainer(model, X).ale("a").error
    with pytest.raises(BackgroundError, match='response="raw"'):
        _ = counts.ale("a").gap
    summed = gw.summarize(model, X, sample_weight=w, answers=["ale"], response="raw")
    assert gw.Explainer(model, summed).ale("b").gap == pytest.approx(ex.ale("b").gap)


def _weights(ale):
    rows = ale.rows.astype(float)
    return rows if ale.levels is not None else (np.append(rows, 0) + np.append(0, rows)) / 2


def test_left_out_folds_are_answers_of_the_other_rows(rows):
    X, y, _ = rows
    model, _ = trained("hgb", X, y)
    ex = gw.Explainer(model, X, folds=3)
    fold = ex._study.over.fold
    for name in ("a", "kind"):
        ale = ex.ale(name)
        for k, heights in enumerate(ale.folds.heights):
            rest = gw.Explainer(model, X[fold != k])
            expected = rest.ale(name, **({"bins": ale.edges} if ale.levels is None else {"order": ale.levels}))
            np.testing.assert_allclose(heights, expected.heights, atol=1e-12)


def test_no_gap_without_interactions():
    rng = np.random.default_rng(0)
    a = rng.normal(size=500)
    X = pd.DataFrame({"a": a, "b": 0.95 * a + 0.3 * rng.normal(size=500)})
    stumps = fitted(lgb.LGBMRegressor(n_estimators=40, num_leaves=2, verbose=-1), X, X.a + X.b**2)
    assert max(gw.Explainer(stumps, X).ale().gaps.values()) < 1e-12
    a = rng.normal(size=3000)
    X = pd.DataFrame({"a": a, "b": 0.5 * a + 0.87 * rng.normal(size=3000)})
    product = fitted(lgb.LGBMRegressor(n_estimators=60, num_leaves=15, verbose=-1), X, X.a * X.b)
    assert max(gw.Explainer(product, X).ale().gaps.values()) > 0.1


def test_edges(rows):
    X, y, w = rows
    model, _ = trained("lightgbm", X, y)
    ex = gw.Explainer(model, X, sample_weight=w)
    cuts = ex.partial_dependence("a").cuts
    edges = ex.ale("a", bins=10).edges
    shown = X.a[w > 0]
    assert (edges[0], edges[-1]) == (shown.min(), shown.max())
    assert set(edges[1:-1]) <= set(cuts)
    for k in range(1, 10):  # the first cut at which the rows reach the quantile
        reached = [cut for cut in cuts if w[X.a <= cut].sum() >= k / 10 * w.sum()]
        assert not reached or reached[0] >= edges[-1] or reached[0] in edges
    assert ex.ale("a", bins=1).edges.size == 2
    empty = ex.ale("a", bins=[-9.0, -8.0, 0.0, 8.0, 9.0])
    assert empty.rows.tolist()[0] == empty.rows.tolist()[3] == 0
    assert empty.values[0] == empty.values[1]
    assert empty.values[3] == empty.values[4]
    for wrong in ([0.0], [0.0, 0.0], [1.0, 0.0], [0.0, np.nan], [0.0, np.inf], [[0.0, 1.0]], ["x", "y"], [0.0, "y"]):
        with pytest.raises(ArgumentError, match="edges of 'a'"):
            ex.ale("a", bins=wrong)
    for wrong in (0, -3, 2.5, True, False, "many"):
        with pytest.raises(ArgumentError):
            ex.ale("a", bins=wrong) if wrong is not True else ex.ale(bins=[0.0, 1.0])
    with pytest.raises(ArgumentError, match="has categories"):
        ex.ale("kind", bins=[0.0, 1.0])
    both = ex.ale(["a", "c"], bins={"a": [-1.0, 1.0], "c": 3})
    assert both["a"].edges.tolist() == [-1.0, 1.0]
    assert both["c"].edges.size <= 4


def test_odd_columns():
    """A constant, a column without values, infinities, float32, and rows of weight 0."""
    rng = np.random.default_rng(1)
    n = 300
    X = pd.DataFrame({"x": rng.normal(size=n), "z": rng.normal(size=n), "s": rng.normal(size=n).astype(np.float32)})
    y = X.x + X.z * (X.x > 0) + X.s
    model = fitted(HistGradientBoostingRegressor(max_iter=10), X, y)
    same, none = X.assign(z=0.25), X.assign(z=np.nan)
    ale = gw.Explainer(model, same).ale("z")
    assert (ale.edges.tolist(), ale.values.tolist(), ale.gap) == ([0.25], [0.0], 0.0)
    assert ale.to_frame().shape == (1, 3)
    empty = gw.Explainer(model, none).ale("z")
    assert (empty.edges.size, empty.missing_rows) == (0, n)
    assert repr(empty) == "Ale(z: 0 bins, no values)"
    assert np.isnan(empty([0.0])).all()
    for panel in (ale, empty):
        panel.plot()
        panel.plot(backend="plotly")
    far = X.copy()
    far.loc[:20, "z"], far.loc[21:40, "z"] = np.inf, -np.inf
    ale = gw.Explainer(model, far).ale("z")
    assert np.isfinite(ale.edges).all()
    np.testing.assert_allclose(ale.values, by_definition(model.predict, far, "z", ale.edges, np.ones(n)), atol=1e-9)
    edges = [-0.7, 0.1, 0.3]  # none of which float32 holds
    ale = gw.Explainer(model, X).ale("s", bins=edges)
    twice = X.astype(np.float64)
    np.testing.assert_allclose(ale.values, by_definition(model.predict, twice, "s", ale.edges, np.ones(n)), atol=1e-9)


def test_many_categories_share_a_level():
    """Of 300 levels, the 255 most frequent ones; a row that is moved to the others takes one of them by their rows."""
    rng = np.random.default_rng(2)
    n, names = 3000, [f"k{i}" for i in range(300)]
    code = rng.integers(0, 300, n)
    X = pd.DataFrame({"kind": pd.Categorical.from_codes(code, names), "x": rng.normal(size=n)})
    y = np.sin(code / 20) * (X.x > 0) + X.x
    options = {"n_estimators": 10, "num_leaves": 12, "min_data_per_group": 1, "cat_smooth": 1.0, "verbose": -1}
    model = fitted(lgb.LGBMRegressor(min_child_samples=5, **options), X, y)
    ale = gw.Explainer(model, X).ale("kind")
    counts = X.kind.value_counts()
    rest = [name for name in names if name not in ale.levels]
    assert len(ale.levels) == 256
    assert (ale.rows.sum(), ale.rows[ale.levels.index("(others)")]) == (n, counts[rest].sum())
    assert counts[rest].max() <= min(counts[level] for level in ale.levels if level != "(others)")
    one = next(level for level in ale.levels if level != "(others)")
    own, other = (X.kind == one).to_numpy(), X.kind.isin(rest).to_numpy()

    def moved(rows, to):
        return model.predict(X[rows].assign(kind=pd.Categorical([to] * rows.sum(), names))).sum()

    def to_rest(rows):
        return sum(counts[name] * moved(rows, name) for name in rest) / counts[rest].sum()

    step = (to_rest(own) - moved(own, one) + to_rest(other) - moved(other, one)) / (own.sum() + other.sum())
    order = [one, "(others)", *[level for level in ale.levels if level not in (one, "(others)")]]
    heights = ale.in_order(order).values
    assert heights[1] - heights[0] == pytest.approx(step)
    assert ale(rest[0]) == ale.values[ale.levels.index("(others)")]
    two = fitted(lgb.LGBMClassifier(min_child_samples=5, **options), X, y > 0)
    ex = gw.Explainer(two, X, response="probability")
    with pytest.raises(UnsupportedModelError, match="more than 256 categories"):
        ex.ale("kind")
    assert ex.ale("x").units == "probability"


def test_offsets(rows):
    X, y, _ = rows
    model = fitted(lgb.LGBMRegressor(objective="poisson", n_estimators=9, num_leaves=9, verbose=-1), X, np.abs(y))
    ex = gw.Explainer(model, X, offset=np.linspace(-1, 0, N), target=np.abs(y))
    np.testing.assert_array_equal(ex.ale("a").values, gw.Explainer(model, X).ale("a", response="raw").values)
    with pytest.raises(UnsupportedModelError, match="offset="):
        ex.ale("a", response="prediction")


def test_refusals(rows):
    X, y, _ = rows
    model, _ = trained("lightgbm", X, y)
    ex = gw.Explainer(model, X)
    with pytest.raises(BackgroundError, match=r"answers=\['ale'\]"):
        gw.Explainer(model, gw.summarize(model, X)).ale()
    with pytest.raises(BackgroundError, match="other edges"):
        gw.Explainer(model, gw.summarize(model, X, answers={"ale": {"bins": 5}})).ale("a", bins=6)
    assert gw.Explainer(model, gw.summarize(model, X, answers={"ale": {"bins": 5}})).ale("a", bins=5).edges.size <= 6
    stream = (X[first : first + 90] for first in range(0, N, 90))
    with pytest.raises(BackgroundError, match="read only once"):
        gw.summarize(model, stream, answers=["ale"])
    with pytest.raises(BackgroundError, match="read only once"):
        gw.Explainer(model, iter([X])).ale()
    with pytest.raises(BackgroundError, match="averages over rows"):
        gw.Explainer(model).ale("a")
    with pytest.raises(TableError, match="nowhere"):
        ex.ale("nowhere")
    with pytest.raises(TableError, match="nowhere"):
        gw.summarize(model, X, answers={"ale": {"bins": {"nowhere": [0.0, 1.0]}}})
    with pytest.raises(TableError, match="group of columns"):
        gw.Explainer(model, X, groups={"both": ["a", "b"]}).ale("both")
    assert "a" not in gw.Explainer(model, X, groups={"both": ["a", "b"]}).ale()
    with pytest.raises(ArgumentError, match="each level of 'kind' once"):
        ex.ale("kind", order=["a", "b"])
    with pytest.raises(ArgumentError, match="is a number"):
        ex.ale("a", order=["a", "b"])
    unused = X.assign(idle=0.0)
    flat = fitted(lgb.LGBMRegressor(n_estimators=3, verbose=-1), unused, y)
    with pytest.raises(TableError, match="0 everywhere"):
        gw.Explainer(flat, unused).ale("idle")
    one, two = (
        gw.summarize(model, X, answers={"ale": {"bins": 5}}),
        gw.summarize(model, X, answers={"ale": {"bins": 6}}),
    )
    with pytest.raises(BackgroundError, match="local effects"):
        _ = one + two


def test_results_print_pickle_and_draw(rows):
    X, y, _ = rows
    model, _ = trained("lightgbm", X, y)
    ales = gw.Explainer(model, X, folds=4).ale()
    assert list(ales) == [name for name in X if name in ales]
    for ale in ales.values():
        copy = pickle.loads(pickle.dumps(ale))
        np.testing.assert_array_equal(copy.values, ale.values)
        np.testing.assert_array_equal(copy.dependence, ale.dependence)
        with pytest.raises(ValueError, match="read-only"):
            ale.values[0] = 0.0
        frame = ale.to_frame()
        assert len(frame) == len(ale.values)
        assert frame["rows"].sum() == ale.rows.sum()
        for backend in ("matplotlib", "plotly"):
            ale.plot(backend=backend, partial_dependence=True, error=True)
        assert "Ale(" in ale._repr_html_()
    frame = ales.to_frame()
    assert set(frame.columns) == {"feature", "edge", "category", "value", "rows", "error"}
    assert len(frame) == sum(len(ale.values) for ale in ales.values())
    assert "kind" in repr(ales)
    ales.plot()
    ales.plot(backend="plotly", partial_dependence=True)
    ale = ales["b"]
    panel = ale.panel()
    assert panel.places == tuple(ale.edges)
    assert panel.lines[0].missing == pytest.approx(ale.missing)
    middle = (ale.edges[:-1] + ale.edges[1:]) / 2
    np.testing.assert_allclose(ale(middle), (ale.values[:-1] + ale.values[1:]) / 2)
    assert ale(-1e9) == ale.values[0]
    assert np.isnan(ale(np.nan))


def pair_by_definition(predict, X, names, edges, w):
    """Return the mean change over each pair of bins, the rows there, and the accumulated, centred heights."""
    ks = [bins_of(X[name].to_numpy(float), z) for name, z in zip(names, edges, strict=True)]
    seen = (ks[0] > 0) & (ks[1] > 0)
    total = 0.0
    for one in (0, 1):
        for two in (0, 1):
            moved = X.copy()
            for name, k, z, back in zip(names, ks, edges, (one, two), strict=True):
                moved.loc[seen, name] = z[k[seen] - back]
            total = total + (-1) ** (one + two) * predict(moved)
    rows, sums = (np.zeros((edges[0].size - 1, edges[1].size - 1)) for _ in range(2))
    np.add.at(rows, (ks[0][seen] - 1, ks[1][seen] - 1), w[seen])
    np.add.at(sums, (ks[0][seen] - 1, ks[1][seen] - 1), (w * total)[seen])
    change = sums / np.where(rows > 0, rows, 1)
    middle = [(z[1:] + z[:-1]) / 2 / (z[-1] - z[0]) for z in edges]
    filled = np.argwhere(rows > 0)
    for a, b in np.argwhere(rows == 0):
        apart = [(middle[0][i] - middle[0][a]) ** 2 + (middle[1][j] - middle[1][b]) ** 2 for i, j in filled]
        change[a, b] = change[tuple(filled[int(np.argmin(apart))])]
    g = np.zeros((rows.shape[0] + 1, rows.shape[1] + 1))
    g[1:, 1:] = change.cumsum(0).cumsum(1)
    along, across = np.diff(g, axis=0), np.diff(g, axis=1)
    n_a, n_b = (np.where(rows.sum(axis) > 0, rows.sum(axis), 1) for axis in (1, 0))
    first = np.append(0.0, np.cumsum((rows * (along[:, 1:] + along[:, :-1]) / 2).sum(1) / n_a))
    second = np.append(0.0, np.cumsum((rows * (across[1:] + across[:-1]) / 2).sum(0) / n_b))
    g = g - first[:, None] - second
    corners = (g[1:, 1:] + g[1:, :-1] + g[:-1, 1:] + g[:-1, :-1]) / 4
    return rows, g - (rows * corners).sum() / rows.sum()


@pytest.mark.parametrize("name", NAMES)
def test_pairs_are_their_definition(rows, name):
    X, y, w = rows
    model, table = trained(name, X, y)
    ex = gw.Explainer(model, table, sample_weight=w)

    def predict(rows):
        return scored(name, model, rows)

    atol = 1e-9 * np.ptp(predict(table))
    for names, bins in ((("a", "b"), 6), (("c", "a"), {"a": [-1.0, 0.0, 0.2, 3.0]}), (("b", "ties"), None)):
        surface = ex.ale(*names, bins=bins)
        n_rows, expected = pair_by_definition(predict, table, names, surface.edges, w)
        np.testing.assert_array_equal(surface.rows, n_rows)
        np.testing.assert_allclose(surface.values, expected, atol=atol)
    assert surface.edges[1].size <= 11
    turned = ex.ale("ties", "b")
    np.testing.assert_allclose(turned.values.T, surface.values, atol=atol)


def test_pairs_from_other_sources_and_by_folds(rows, tmp_path, monkeypatch):
    X, y, _ = rows
    model, _ = trained("lightgbm", X, y)
    X[:250].to_parquet(tmp_path / "one.parquet", row_group_size=70)
    X[250:].to_parquet(tmp_path / "two.parquet")
    whole = gw.Explainer(model, X, folds=3).ale("a", "b", bins=5)
    from_files = gw.Explainer(model, tmp_path, folds=3).ale("a", "b", bins=5)
    np.testing.assert_array_equal(from_files.values, whole.values)
    np.testing.assert_array_equal(from_files.error, whole.error)
    for least in (0, 9):
        with monkeypatch.context() as patch:
            patch.setattr(_leaf_counts, "LARGE_TREE", least)
            patch.setattr("glasswood.questions.ale._statistic_pairs.MAX_HELD", 1)
            np.testing.assert_array_equal(gw.Explainer(model, X).ale("a", "b", bins=5).values, whole.values)
    fold = gw.Explainer(model, X, folds=3)._study.over.fold
    edges = dict(zip("ab", whole.edges, strict=True))
    left = [gw.Explainer(model, X[fold != k]).ale("a", "b", bins=edges).heights for k in range(3)]
    shares = (np.bincount(fold) / N).tolist()
    np.testing.assert_allclose(whole.error, jackknife(whole.heights, left, shares)[..., 0], atol=1e-9)
    by = gw.Explainer(model, X).ale("a", "b", bins=5, by=np.where(X.a > 0, "x", "z"))
    assert by["x"].rows.sum() + by["z"].rows.sum() == whole.rows.sum()
    copy = pickle.loads(pickle.dumps(whole))
    np.testing.assert_array_equal(copy.values, whole.values)
    assert len(whole.to_frame()) == whole.values.size
    one, two = whole.edges
    assert whole(one[2], two[3]) == pytest.approx(whole.values[2, 3])
    for backend in ("matplotlib", "plotly"):
        whole.plot(backend=backend)
    ex = gw.Explainer(model, X)
    with pytest.raises(UnsupportedModelError, match="has categories"):
        ex.ale("a", "kind")
    with pytest.raises(BackgroundError, match="when they are asked for"):
        gw.Explainer(model, gw.summarize(model, X, answers=["ale"])).ale("a", "b")
    for wrong in (("a", "a"), ("a", "b", "c")):
        with pytest.raises(ArgumentError, match="two different ones"):
            ex.ale(*wrong)


def test_pyale_on_its_own_edges(rows):
    why = "PyALE installs a package that is called tests, so CI does without it"
    one = pytest.importorskip("PyALE._src.ALE_1D", reason=why)
    X, y, _ = rows
    X = X.drop(columns="kind").fillna(0.0)
    model = fitted(lgb.LGBMRegressor(n_estimators=20, num_leaves=12, verbose=-1), X, y)
    ex = gw.Explainer(model, X)
    for name in NUMBERS:
        theirs = one.aleplot_1D_continuous(X, model, name, grid_size=15, include_CI=False)
        ale = ex.ale(name, bins=theirs.index.to_numpy(float))
        np.testing.assert_allclose(ale.values, theirs.eff.to_numpy(), atol=1e-9)
    two = pytest.importorskip("PyALE._src.ALE_2D")
    theirs = two.aleplot_2D_continuous(X, model, ["a", "b"], grid_size=8)
    edges = {"a": theirs.index.to_numpy(float), "b": theirs.columns.to_numpy(float)}
    np.testing.assert_allclose(ex.ale("a", "b", bins=edges).values, theirs.to_numpy(), atol=1e-9)


def test_an_order_of_categories_is_found_by_position():
    """A model that was fitted on an array has names of its own."""
    rng = np.random.default_rng(0)
    codes, numbers = rng.integers(0, 3, 300), rng.normal(size=300)
    y = np.array([3.0, -1.0, 2.0])[codes] + numbers
    options = {"n_estimators": 5, "max_depth": 3, "tree_method": "hist", "enable_categorical": True}
    model = xgb.XGBRegressor(feature_types=["c", "q"], **options).fit(np.column_stack([codes, numbers]), y)
    table = pd.DataFrame({"size": pd.Categorical.from_codes(codes, [0, 1, 2], ordered=True), "number": numbers})
    assert gw.Explainer(model, table).ale(0).ordered_by == "of the categories"
    polars = pytest.importorskip("polars").DataFrame({"size": codes, "number": numbers})
    assert gw.Explainer(model, polars).ale(0).ordered_by == "of similarity"


def test_edges_near_the_largest_numbers():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=998), [-1.7e308, 1.7e308]])
    model = xgb.XGBRegressor(n_estimators=3, max_depth=2).fit(x[:998, None], np.sin(3 * x[:998]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ale = gw.Explainer(model, pd.DataFrame({"x": np.clip(x, -1e308, 1e308)})).ale(0)
    assert ale.edges[0] == -1e308
    assert ale.edges[-1] == 1e308
    assert np.isfinite(ale.heights).all()
