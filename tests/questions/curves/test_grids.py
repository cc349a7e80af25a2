"""Grids: which values they have, and partial dependence at them, against predictions of modified rows."""

from __future__ import annotations

import pickle
from itertools import permutations, product

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, SplineTransformer
from xgboost import XGBRegressor

import glasswood as gw
from glasswood.effects._pairs import LeafPair
from glasswood.errors import ArgumentError, BackgroundError, TableError, UnsupportedModelError
from glasswood.questions.curves._answer_pairs import PairsOnGrid
from glasswood.study._study import Study
from glasswood.tables._folds import fold_of_positions

N = 200
NEAR = {"rtol": 0, "atol": 1e-9}
VALUES = {"a": [-0.5, 0.25, 1.0], "b": [0.0, None, 3.0, -2.0], "kind": ["y", "x"], "c": np.array([0.5])}
GRIDS = {"number": 4, "quantiles": ("quantiles", 3), "rows": ("rows", 5, 1), "values": VALUES}


def table(n=N):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(n, 3)).round(2), columns=list("abc"))
    X.loc[rng.random(n) < 0.15, "b"] = np.nan
    X["kind"] = pd.Categorical(rng.choice(list("xyz"), n))
    y = X.a * (X.kind == "x") + X.b.fillna(2) * X.c + rng.normal(size=n) / 5
    return X, y.to_numpy(), rng.integers(0, 4, n)


X, Y, WEIGHT = table()
MODEL = lgb.LGBMRegressor(n_estimators=10, num_leaves=8, verbose=-1, n_jobs=1).fit(X, Y)


@pytest.fixture(scope="module")
def ex():
    return gw.Explainer(MODEL, X)


def typed(columns, rows):
    """Return values as columns of the types of a table."""
    return pd.DataFrame({name: pd.Series(list(values)).astype(rows[name].dtype) for name, values in columns.items()})


def brute(predict, rows, columns, weight=None):
    """Return the mean prediction of the rows with the columns at each point."""
    found = []
    for _, point in typed(columns, rows).iterrows():
        own = {
            name: pd.Series([point[name]] * len(rows), index=rows.index).astype(rows[name].dtype)
            for name in point.index
        }
        found.append(np.average(predict(rows.assign(**own)), axis=0, weights=weight))
    return np.array(found)


# ------------------------------------------------------------------------------------------------- values


def test_quantiles_are_evenly_spaced_probabilities(ex):
    asked = np.linspace(0.05, 0.95, 7)
    found = ex.partial_dependence("a", grid=("quantiles", 7))
    np.testing.assert_array_equal(found.columns["a"], np.quantile(X.a, asked))
    np.testing.assert_array_equal(
        ex.partial_dependence("b", grid=("quantiles", 7)).columns["b"], np.quantile(X.b.dropna(), asked)
    )
    weighted = gw.Explainer(MODEL, X, sample_weight=WEIGHT).partial_dependence("a", grid=("quantiles", 7))
    repeated = np.quantile(np.repeat(X.a, WEIGHT), asked, method="inverted_cdf")
    np.testing.assert_array_equal(weighted.columns["a"], np.unique(repeated))
    assert ex.partial_dependence("kind", grid=("quantiles", 2)).columns["kind"] == ["x", "y", "z"]
    few = pd.DataFrame({"a": [1.0] * 90 + [2.0] * 10, "b": np.arange(100.0)})
    small = RandomForestRegressor(2, random_state=0).fit(few, few.b)
    assert gw.Explainer(small, few).partial_dependence("a", grid=("quantiles", 2)).columns["a"] == [1.0, 2.0]
    assert gw.Explainer(small, few.assign(a=few.a.where(few.b > 0, 3.0))).partial_dependence(
        "a", grid=("quantiles", 2)
    ).columns["a"] == pytest.approx([1.0, 2.0])


def test_rows_are_drawn_with_a_seed(ex):
    first = ex.partial_dependence("a", grid=("rows", 10, 0)).columns["a"]
    assert first == ex.partial_dependence("a", grid=("rows", 10, 0)).columns["a"] == sorted(set(first))
    assert set(first) <= set(X.a)
    assert first != ex.partial_dependence("a", grid=("rows", 10, 1)).columns["a"]
    assert ex.partial_dependence("a", grid=("rows", N, 5)).columns["a"] == sorted(set(X.a))
    assert ex.partial_dependence("b", grid=("rows", 2 * N, 5)).columns["b"] == sorted(set(X.b.dropna()))
    own = X.assign(a=np.arange(N) / 7, c=np.arange(N) * 3.0)  # of each feature, the same rows
    drawn = gw.Explainer(MODEL, own).partial_dependence(["a", "c"], grid=("rows", 15, 2**63))
    np.testing.assert_allclose(np.multiply(drawn["a"].columns["a"], 21), drawn["c"].columns["c"])
    assert len(drawn["a"].columns["a"]) == 15
    assert set(ex.partial_dependence("kind", grid=("rows", 1, 0)).columns["kind"]) < {"x", "y", "z"}
    seen = [ex.partial_dependence("kind", grid=("rows", 1, seed)).columns["kind"][0] for seed in range(30)]
    assert set(seen) == {"x", "y", "z"}


def test_rows_are_drawn_by_weight():
    own = X.assign(a=np.arange(N) * 1.0)
    weight = np.where(np.arange(N) % 2, 3.0, 0.0)
    drawn = [
        gw.Explainer(MODEL, own, sample_weight=w).partial_dependence("a", grid=("rows", 20, 4)).columns["a"]
        for w in (weight, weight * 1e-200, weight * 1e200)
    ]
    assert drawn[0] == drawn[1] == drawn[2]
    assert all(value % 2 for value in drawn[0])
    weight = np.where(np.arange(N) < 20, 1e9, 1.0)
    heavy = gw.Explainer(MODEL, own, sample_weight=weight)
    assert heavy.partial_dependence("a", grid=("rows", 20, 4)).columns["a"] == list(range(20))
    share = np.where(np.arange(N) < 100, 3.0, 1.0)  # three quarters of the weight
    ex = gw.Explainer(MODEL, own, sample_weight=share)
    first = [ex.partial_dependence("a", grid=("rows", 1, seed)).columns["a"][0] < 100 for seed in range(400)]
    assert 0.65 < np.mean(first) < 0.85
    equal = gw.Explainer(MODEL, own, sample_weight=np.full(N, 0.3)).partial_dependence("a", grid=("rows", 9, 3))
    assert equal.columns == gw.Explainer(MODEL, own).partial_dependence("a", grid=("rows", 9, 3)).columns


COLUMN = st.lists(
    st.one_of(st.sampled_from([np.nan, 0.0, -0.0, 1.0, np.inf, -np.inf, 1e300]), st.floats(-5, 5)),
    min_size=3,
    max_size=40,
)
SPECS = st.one_of(
    st.integers(2, 9),
    st.tuples(st.just("quantiles"), st.integers(2, 9)),
    st.tuples(st.just("rows"), st.integers(1, 9), st.integers(0, 99)),
)
NUMBERS = RandomForestRegressor(3, max_depth=4, random_state=0).fit(X[["a", "c"]], Y)


@settings(max_examples=150, deadline=None)
@given(COLUMN, SPECS, st.integers(0, 2**20), st.booleans())
def test_any_column_has_a_grid(values, spec, seed, weighted):
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({"a": values, "c": np.arange(len(values)) * 0.1}, dtype=float)
    rows["a"] = rows["a"].where(np.isfinite(rows["a"]) | rows["a"].isna(), 1e30)  # forests take no infinity
    weight = rng.integers(0, 3, len(values)) if weighted else None
    if weighted and not weight.sum():
        weight[0] = 1
    found = gw.Explainer(gw.read_model(NUMBERS), rows, sample_weight=weight).partial_dependence("a", grid=spec)
    got, known = found.columns["a"], np.asarray(values, dtype=float)
    known = rows["a"].to_numpy()[np.isfinite(rows["a"]) & (True if weight is None else weight > 0)]
    kind, n_points = ("spaced", spec) if isinstance(spec, int) else spec[:2]
    assert 1 <= len(got) <= n_points
    assert np.isfinite(got).all()
    assert got == sorted(set(got)) or (kind == "spaced" and got == sorted(got))
    if known.size:
        assert known.min() <= got[0]
        assert got[-1] <= known.max()
        assert (
            kind == "spaced" or len(np.unique(known)) > n_points or kind == "rows" or got == np.unique(known).tolist()
        )
        assert kind != "rows" or set(got) <= set(known)
    curve = gw.Explainer(gw.read_model(NUMBERS), rows, sample_weight=weight).partial_dependence("a")
    np.testing.assert_allclose(found.values, curve(got), **NEAR)


def test_infinite_values_make_no_grid_of_nan():
    rows = X[["a", "c"]].assign(a=np.where(np.arange(N) % 2, np.inf, X.a))
    ex = gw.Explainer(XGBRegressor(n_estimators=3, n_jobs=1).fit(X[["a", "c"]], Y), rows)
    for spec in (5, ("quantiles", 5)):
        values = ex.partial_dependence("a", grid=spec).columns["a"]
        assert np.isfinite(values).all()
        assert values[0] == np.quantile(X.a[::2], 0.05)


# --------------------------------------------------------------------------------------------- against brute force


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("spec", GRIDS)
def test_grids_are_mean_predictions(spec, weighted):
    weight = WEIGHT if weighted else None
    ex = gw.Explainer(MODEL, X, sample_weight=weight)
    asked = [("a",), ("b",), ("kind",), ("a", "kind"), ("b", "c"), ("c", "b"), ("a", "b", "kind")]
    for features in asked:
        found = ex.partial_dependence(*features, grid=GRIDS[spec])
        np.testing.assert_allclose(found.values, brute(MODEL.predict, X, found.columns, weight), **NEAR)
        assert list(found.grid) == list(found.columns) == list(features)
        assert list(product(*found.grid.values())) == list(zip(*found.columns.values(), strict=True))
        shape = tuple(len(values) for values in found.grid.values())
        np.testing.assert_array_equal(found.grid_values, found.values.reshape(shape))
    listed = ex.partial_dependence(["a", ("b", "kind")], grid=GRIDS[spec])
    assert list(listed) == ["a", ("b", "kind")]
    np.testing.assert_array_equal(listed["a"].values, ex.partial_dependence("a", grid=GRIDS[spec]).values)
    np.testing.assert_array_equal(
        listed["b", "kind"].values, ex.partial_dependence("b", "kind", grid=GRIDS[spec]).values
    )
    every = ex.partial_dependence(grid=GRIDS[spec])
    assert set(every) == set(X)
    np.testing.assert_array_equal(every["kind"].values, ex.partial_dependence("kind", grid=GRIDS[spec]).values)


CLASSIFIERS = {
    "boosted": lambda y: HistGradientBoostingClassifier(max_iter=6, categorical_features="from_dtype").fit(X, y > 0),
    "three classes": lambda y: HistGradientBoostingClassifier(max_iter=4, categorical_features="from_dtype").fit(
        X, np.digitize(y, [-0.5, 0.5])
    ),
}


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_grids_on_every_scale(kind):
    model = CLASSIFIERS[kind](Y)
    columns = slice(1, 2) if kind == "boosted" else slice(None)
    predicts = {
        "probability": lambda rows: model.predict_proba(rows)[:, columns],
        "raw": lambda rows: np.reshape(model.decision_function(rows), (len(rows), -1)),
    }
    for response, predict in predicts.items():
        ex = gw.Explainer(model, X, sample_weight=WEIGHT, response=response)
        pairs = ex.joint_partial_dependence(grid=VALUES)
        for found in (
            ex.partial_dependence("b", grid=("quantiles", 4)),
            ex.partial_dependence("a", "b", grid=("rows", 3, 0)),
            pairs["a", "b"],
            pairs["b", "kind"],
        ):
            np.testing.assert_allclose(found.heights, brute(predict, X, found.columns, WEIGHT), **NEAR)
        if kind != "boosted":
            assert pairs["b", "kind"].grid_values.shape == (4, 2, 3)
            one = ex.joint_partial_dependence(grid=VALUES, output=2)["b", "kind"]
            np.testing.assert_allclose(one.values, pairs["b", "kind"].heights[:, 2], **NEAR)
    other = gw.Explainer(model, X).joint_partial_dependence(grid=3, output=gw.Explainer(model, X).outputs[0])["a", "b"]
    points = gw.Explainer(model, X).partial_dependence("a", "b", grid=3, output=gw.Explainer(model, X).outputs[0])
    np.testing.assert_allclose(other.heights, points.heights, **NEAR)


def test_forests_and_float32():
    classes = np.digitize(Y, [-0.5, 0.5])
    rows = X[["a", "b", "c"]].fillna(0.0)
    forest = RandomForestClassifier(8, max_depth=5, random_state=0).fit(rows, classes)
    found = gw.Explainer(forest, rows).joint_partial_dependence(grid={"c": [0.0, 1.0], "a": [0.5]})
    assert list(found) == [("c", "a")]
    expected = brute(forest.predict_proba, rows, found["c", "a"].columns)
    np.testing.assert_allclose(found["c", "a"].heights, expected, **NEAR)
    boosted = XGBRegressor(n_estimators=8, n_jobs=1).fit(rows, Y)
    point = gw.Explainer(boosted, rows).joint_partial_dependence(grid=("rows", 3, 0))["a", "c"]
    np.testing.assert_allclose(point.values, brute(boosted.predict, rows, point.columns), rtol=0, atol=1e-5)


# ------------------------------------------------------------------------------------------------- all pairs


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("spec", GRIDS)
def test_all_pairs(ex, spec, at_once, monkeypatch):
    monkeypatch.setattr("glasswood.questions.curves._answer_pairs.MAX_AT_ONCE", 12 if at_once else 0)
    found = ex.joint_partial_dependence(grid=GRIDS[spec])
    assert set(map(frozenset, found)) == {frozenset(pair) for pair in ex.joint_partial_dependence()}
    for a, b in found:
        alone = ex.partial_dependence(a, b, grid=GRIDS[spec])
        assert found[a, b].columns == alone.columns
        assert found[a, b].grid == alone.grid
        np.testing.assert_allclose(found[a, b].values, alone.values, **NEAR)
        np.testing.assert_allclose(found[a, b].values, brute(MODEL.predict, X, alone.columns), **NEAR)
        np.testing.assert_array_equal(found[a, b].mean, alone.mean)
        np.testing.assert_array_equal(found.grid_values[a, b], found[a, b].grid_values)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sample_weight": WEIGHT},
        {"groups": {"both": ["c", "kind"]}},
        {"response": "probability"},
        {"folds": 3},
        {"n_jobs": 3},
    ],
    ids=["plain", "weights", "groups", "probability", "folds", "threads"],
)
def test_values_on_grids_are_those_of_each_result(options):
    three = HistGradientBoostingClassifier(max_iter=4, categorical_features="from_dtype", random_state=0)
    ex = gw.Explainer(three.fit(X, np.arange(N) % 3), X, **options)
    spec = {name: VALUES[name] for name in ("a", "b", "kind", "c") if "groups" not in options or name in "ab"}
    for asked in ({}, {"output": 1}):
        found = ex.joint_partial_dependence(grid=spec, **asked)
        values = pickle.loads(pickle.dumps(found)).grid_values
        assert list(values) == list(found)
        for pair, one in found.items():
            np.testing.assert_array_equal(values[pair], one.grid_values)
            assert not values[pair].flags.writeable
    alone = ex.partial_dependence(list(spec), grid=spec)
    assert [part.shape for part in alone.grid_values.values()] == [(len(values), 3) for values in spec.values()]


@pytest.mark.parametrize("names", list(permutations(["a", "b", "c", "kind"]))[::5])
def test_values_on_grids_in_any_order(names):
    ex = gw.Explainer(MODEL, X, sample_weight=WEIGHT)
    expected = ex.joint_partial_dependence(grid=VALUES).grid_values
    found = ex.joint_partial_dependence(grid={name: VALUES[name] for name in names})
    pairs = list(found)
    for pair in pairs[3:] + pairs[:3]:
        known = expected[pair] if pair in expected else expected[pair[::-1]].T
        np.testing.assert_allclose(found.grid_values[pair], known, **NEAR)
        np.testing.assert_array_equal(found.grid_values[pair], found[pair].grid_values)


def test_values_on_grids_need_a_grid(ex):
    with pytest.raises(ArgumentError, match="'a x b' is not on a grid; ask for these results with grid="):
        _ = ex.joint_partial_dependence().grid_values["a", "b"]
    with pytest.raises(ArgumentError, match="'a' is not on a grid"):
        _ = ex.partial_dependence().grid_values["a"]
    with pytest.raises(KeyError):
        _ = ex.joint_partial_dependence(grid=3).grid_values["b", "a"]


def test_values_on_grids_of_a_table_that_was_changed_are_refused():
    rows = X.copy()
    found = gw.Explainer(MODEL, rows).joint_partial_dependence(grid=VALUES)
    rows.loc[0, "a"] += 5
    with pytest.raises(TableError, match="chang"):
        _ = found.grid_values["a", "b"]


def test_values_on_grids_of_files_and_backgrounds(tmp_path):
    X.astype({"kind": str}).to_parquet(tmp_path / "rows.parquet", row_group_size=50)
    expected = gw.Explainer(MODEL, X).joint_partial_dependence(grid=VALUES).grid_values
    (gw.summarize(MODEL, X[:90], order=2) + gw.summarize(MODEL, X[90:], order=2)).save(tmp_path / "rows.gw")
    for source in (tmp_path / "rows.parquet", gw.Background.load(tmp_path / "rows.gw")):
        found = gw.Explainer(MODEL, source, n_jobs=3).joint_partial_dependence(grid=VALUES).grid_values
        for pair, values in expected.items():
            np.testing.assert_array_equal(found[pair], values)


def test_pairs_are_lazy_and_only_cells_that_are_asked_for_are_computed(monkeypatch):
    ex, asked, one = gw.Explainer(MODEL, X), [], PairsOnGrid.__call__
    monkeypatch.setattr(PairsOnGrid, "__call__", lambda pairs, pair: asked.append(pair) or one(pairs, pair))
    monkeypatch.setattr(LeafPair, "_compute", lambda pair: pytest.fail(f"all cells of {pair.shape}"))
    for number in (5, 30):
        found = ex.joint_partial_dependence(grid=number)
        assert len(found) == 6
        assert asked == []
        assert len(found["a", "b"].values) == number**2
        assert asked == [("a", "b")]
        asked.clear()


def test_rows_are_counted_once_for_all_pairs(monkeypatch):
    counted, count = [], Study.counted
    monkeypatch.setattr(Study, "counted", lambda study, order: counted.append(order) or count(study, order))
    rows = iter([X[:90], X[90:]])
    ex = gw.Explainer(MODEL, rows)  # a stream that is read once
    found = ex.joint_partial_dependence(grid={"a": [0.0, 1.0], "b": [0.5], "c": [0.1, 0.2, 0.3]})
    for pair in found:
        np.testing.assert_allclose(found[pair].values, brute(MODEL.predict, X, found[pair].columns), **NEAR)
    assert max(counted) == 2


def test_pairs_of_groups_of_rows_and_by_covers():
    found = gw.Explainer(MODEL, X).joint_partial_dependence(grid=3, by="kind")
    for key, own in found.items():
        some = X[X.kind == key]
        np.testing.assert_allclose(own["a", "c"].values, brute(MODEL.predict, some, own["a", "c"].columns), **NEAR)
        low, high = some.a.quantile([0.05, 0.95])
        assert own["a", "c"].grid["a"] == pytest.approx(np.linspace(low, high, 3))
    covers = gw.Explainer(MODEL)
    surface = covers.partial_dependence("a", "b")
    for spec in (4, {"a": [-1.0, 0.0], "b": [0.3, None, 1.0]}):
        points = covers.joint_partial_dependence(grid=spec)["a", "b"]
        x, y = (np.array(points.columns[name], dtype=float) for name in ("a", "b"))
        np.testing.assert_allclose(points.values, surface(x, y), **NEAR)
        np.testing.assert_allclose(points.values, covers.partial_dependence("a", "b", grid=spec).values, **NEAR)
    assert covers.partial_dependence("a", grid=4).columns["a"] == np.linspace(*surface.cuts[0][[0, -1]], 4).tolist()


# ------------------------------------------------------------------------------------------------- sources


def test_files_streams_and_backgrounds(tmp_path):
    X.to_parquet(tmp_path / "rows.parquet", row_group_size=60)
    counts = gw.summarize(MODEL, X[:80], order=2) + gw.summarize(MODEL, X[80:], order=2)
    counts.save(tmp_path / "rows.gw")
    sources = [str(tmp_path / "rows.parquet"), gw.Background.load(tmp_path / "rows.gw"), iter([X])]
    for source in sources:
        ex = gw.Explainer(MODEL, source)
        pair = ex.joint_partial_dependence(grid=VALUES)["b", "c"]
        np.testing.assert_allclose(pair.values, brute(MODEL.predict, X, pair.columns), **NEAR)
        one = ex.partial_dependence("a", grid=5)
        cuts = ex.partial_dependence("a").cuts
        np.testing.assert_allclose(one.columns["a"], np.linspace(cuts[0], cuts[-1], 5))
        np.testing.assert_allclose(one.values, brute(MODEL.predict, X, one.columns), **NEAR)
        assert ex.partial_dependence("kind", grid=("quantiles", 9)).columns["kind"] == ["x", "y", "z"]
        for spec in (("quantiles", 5), ("rows", 5, 0)):
            for ask in (ex.partial_dependence, ex.joint_partial_dependence):
                with pytest.raises(
                    BackgroundError, match=r"needs the rows as a table in memory.*grid=\{'a': \[...\]\}"
                ):
                    ask(grid=spec)
    files = gw.Explainer(MODEL, sources[0], response="prediction").partial_dependence("a", "kind", grid=VALUES)
    np.testing.assert_allclose(files.values, brute(MODEL.predict, X, files.columns), **NEAR)


def test_frames_of_dask():
    dd = pytest.importorskip("dask.dataframe")
    import dask

    with dask.config.set(scheduler="synchronous"):
        ex = gw.Explainer(MODEL, dd.from_pandas(X, npartitions=3))
        pairs = ex.joint_partial_dependence(grid={"a": [0.0, 1.0], "kind": ["x", "z"]})
        np.testing.assert_allclose(
            pairs["a", "kind"].values, brute(MODEL.predict, X, pairs["a", "kind"].columns), **NEAR
        )
        one = ex.partial_dependence("b", grid=3, centered="mean")
        expected = brute(MODEL.predict, X, one.columns) - MODEL.predict(X).mean()
        np.testing.assert_allclose(one.values, expected, **NEAR)
        with pytest.raises(BackgroundError, match="needs the rows as a table in memory"):
            ex.partial_dependence("a", grid=("rows", 3, 0))


def test_a_table_that_has_changed_is_refused():
    for spec in (3, ("quantiles", 3), ("rows", 3, 0)):
        rows = X[["a", "c"]].fillna(0.0).to_numpy(copy=True)
        ex = gw.Explainer(RandomForestRegressor(3, random_state=0).fit(rows, Y), rows)
        pairs = ex.joint_partial_dependence(grid=spec)
        ex.partial_dependence("x1")
        rows[:, 1] += 1
        with pytest.raises(TableError, match="has changed"):
            ex.partial_dependence("x1", grid=spec)
        with pytest.raises(TableError, match="has changed"):
            pairs["x0", "x1"]


# ------------------------------------------------------------------------------------------------- pipelines, CatBoost


def test_columns_before_transformers():
    rows = X.assign(kind=X.kind.astype(object), old=np.arange(N) % 3 == 0).drop(columns="b")
    steps = make_column_transformer(
        (SplineTransformer(4), ["a"]), (OneHotEncoder(), ["kind"]), ("passthrough", ["c", "old"])
    )
    model = make_pipeline(steps, RandomForestRegressor(6, max_depth=5, random_state=0)).fit(rows, Y)
    ex = gw.Explainer(model, rows, sample_weight=WEIGHT)
    used = WEIGHT > 0
    values = {"a": [0.0, 0.7], "kind": ["z", "x"], "c": [0.1, 0.2, 0.3], "old": [True, False]}
    for spec in (3, ("quantiles", 4), ("rows", 6, 2), values):
        for features in (("a",), ("kind",), ("old",), ("a", "c"), ("kind", "a"), ("c", "kind")):
            found = ex.partial_dependence(*features, grid=spec)
            np.testing.assert_allclose(found.values, brute(model.predict, rows, found.columns, WEIGHT), **NEAR)
    drawn = ex.partial_dependence("a", grid=("rows", 500, 0)).columns["a"]
    assert drawn == sorted(set(rows.a[used]))
    assert drawn[:: len(drawn) - 1] == [rows.a[used].min(), rows.a[used].max()]
    pairs = ex.joint_partial_dependence(grid=values)
    assert len(pairs) == 6
    for pair in pairs:
        expected = brute(model.predict, rows, pairs[pair].columns, WEIGHT)
        np.testing.assert_allclose(pairs[pair].values, expected, **NEAR)
    assert set(ex.joint_partial_dependence(grid=3)) == set(ex.joint_partial_dependence())
    counts = gw.Explainer(model, gw.summarize(model, rows))
    for spec in (3, ("rows", 3, 0)):
        with pytest.raises(TableError, match="needs a table of rows for 'a', a column that goes through transformers"):
            counts.partial_dependence("a", grid=spec)
    with pytest.raises(TableError, match="need all columns: pass a table"):
        counts.partial_dependence("a", grid={"a": [0.0]})
    grouped = gw.Explainer(model, rows, groups={"both": ["a", "c"], "only": ["kind"]})
    for name in ("both", "only"):
        for spec in (3, {name: ["x"]}):
            with pytest.raises(TableError, match="is a group; pass its points in at="):
                grouped.partial_dependence(name, grid=spec)


def test_catboost_by_default():
    catboost = pytest.importorskip("catboost")
    rows = X.assign(kind=X.kind.astype(str), town=[f"t{k % 17}" for k in range(N)])
    small = {"iterations": 15, "random_seed": 3, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    model = catboost.CatBoostRegressor(**small, cat_features=["kind", "town"], model_size_reg=0).fit(rows, Y)
    ex = gw.Explainer(model, rows, sample_weight=WEIGHT)
    values = {"a": [0.0, 0.7], "town": ["t3", "nowhere"], "kind": ["z", "x"]}
    pairs = ex.joint_partial_dependence(grid=values)
    found = [pairs[pair] for pair in pairs]
    found += [ex.partial_dependence(name, grid=("rows", 3, 0)) for name in ("a", "town")]
    found += [ex.partial_dependence("a", "kind", grid=("quantiles", 2)), ex.partial_dependence("town", grid=values)]
    for one in found:
        np.testing.assert_allclose(one.values, brute(model.predict, rows, one.columns, WEIGHT), **NEAR)


# ------------------------------------------------------------------------------------------------- folds, offsets


@pytest.mark.parametrize("response", ["raw", "prediction"])
@pytest.mark.parametrize("spec", [*GRIDS, "one by one"])
def test_errors_by_folds(spec, response, monkeypatch):
    if spec == "one by one":
        monkeypatch.setattr("glasswood.questions.curves._answer_pairs.MAX_AT_ONCE", 0)
    folds = fold_of_positions(0, N, 4)
    asked = {"sample_weight": WEIGHT, "response": response}
    ex = gw.Explainer(MODEL, X, folds=4, **asked)
    grid = GRIDS.get(spec, 3)
    for found in (
        ex.partial_dependence("b", grid=grid),
        ex.partial_dependence("a", "kind", grid=grid),
        ex.joint_partial_dependence(grid=grid)["b", "c"],
    ):
        left = [brute(MODEL.predict, X[folds != k], found.columns, WEIGHT[folds != k]) for k in range(4)]
        h = [WEIGHT.sum() / WEIGHT[folds == k].sum() for k in range(4)]
        mean = 4 * found.values - sum((1 - 1 / h[k]) * left[k] for k in range(4))
        square = sum((h[k] * found.values - (h[k] - 1) * left[k] - mean) ** 2 / (h[k] - 1) for k in range(4))
        np.testing.assert_allclose(found.error, np.sqrt(square / 4), rtol=1e-6, atol=1e-9)


def test_offsets_and_exposures():
    exposure = np.random.default_rng(0).uniform(0.1, 1.0, N)
    claims = np.random.default_rng(1).poisson(exposure * np.exp(X.a / 2)).astype(float)
    model = lgb.LGBMRegressor(objective="poisson", n_estimators=8, num_leaves=6, verbose=-1, n_jobs=1)
    model.fit(X, claims, init_score=np.log(exposure))
    ex = gw.Explainer(model, X, target=claims, exposure=exposure, offset=np.log(exposure), response="prediction")

    def rates(rows):
        return np.exp(model.predict(rows, raw_score=True))

    for spec in GRIDS.values():
        found = ex.partial_dependence("a", grid=spec)
        np.testing.assert_allclose(found.values, brute(rates, X, found.columns, exposure), **NEAR)
        raw = ex.joint_partial_dependence(grid=spec, response="raw")["a", "b"]
        expected = brute(lambda rows: model.predict(rows, raw_score=True), X, raw.columns)
        np.testing.assert_allclose(raw.values, expected, **NEAR)
        with pytest.raises(UnsupportedModelError, match="not available with offset="):
            ex.partial_dependence("a", "b", grid=spec)
        with pytest.raises(UnsupportedModelError, match="not available with offset="):
            ex.joint_partial_dependence(grid=spec)["a", "b"]


# ------------------------------------------------------------------------------------------------- at=, ICE, figures


def test_values_of_several_features_in_at(ex):
    found = ex.partial_dependence(at=VALUES)
    assert list(found) == list(VALUES)
    for name, points in found.items():
        assert list(points.columns[name]) == list(VALUES[name])
        np.testing.assert_allclose(points.values, brute(MODEL.predict, X, {name: VALUES[name]}), **NEAR)
    listed = ex.partial_dependence(["kind", "a"], at=VALUES, centered="mean")
    assert list(listed) == ["kind", "a"]
    np.testing.assert_allclose(listed["a"].values, found["a"].values - MODEL.predict(X).mean(), **NEAR)
    with pytest.raises(ArgumentError, match="at= has no values of 'c', only of"):
        ex.partial_dependence(["a", "c"], at={"a": [1.0]})
    with pytest.raises(ArgumentError, match="at= in a list is for single features"):
        ex.partial_dependence([("a", "c")], at=VALUES)
    with pytest.raises(TableError, match="at= maps each of several features to its values"):
        ex.partial_dependence(at=X)
    with pytest.raises(TableError, match="at= is for single features, but 'both' is a group; ask for it alone"):
        gw.Explainer(MODEL, X, groups={"both": ["a", "c"]}).partial_dependence(at={"both": [1.0]})


def test_values_in_any_container(ex):
    expected = ex.partial_dependence("a", "kind", grid={"a": [0.0, 1.0], "kind": ["x", "z"]})
    for a, kind in (
        (np.array([0.0, 1.0], dtype=np.float32), np.array(["x", "z"])),
        (pd.Series([0.0, 1.0]), pd.Categorical(["x", "z"])),
        (pl.Series([0, 1]), pl.Series(["x", "z"])),
        (pa.array([0.0, 1.0]), pa.array(["x", "z"])),
        ((0, 1), ("x", "z")),
        (range(2), ["x", "z"]),
    ):
        found = ex.partial_dependence("a", "kind", grid={0: a, "kind": kind, "b": [1.0]})
        np.testing.assert_array_equal(found.values, expected.values)
        assert found.grid == {"a": [0.0, 1.0], "kind": ["x", "z"]}
        assert all(type(value) in (int, float, str) for values in found.grid.values() for value in values)


def test_ice_on_grids(ex):
    for spec in GRIDS.values():
        found = ex.ice("a", "kind", grid=spec, rows=X[:5])
        columns = ex.partial_dependence("a", "kind", grid=spec).columns
        assert found.columns == columns
        expected = np.stack([brute(MODEL.predict, X[k : k + 1], columns) for k in range(5)])
        np.testing.assert_allclose(found.values, expected, **NEAR)
    with pytest.raises(ArgumentError, match="not both"):
        ex.ice("a", grid=3, at={"a": [0.0]})


WRONG = {
    "one": (1, "grid is the number of points, at least 2, or"),
    "half": (2.5, "not 2.5"),
    "true": (True, "not True"),
    "text": ("quantiles", "not 'quantiles'"),
    "no number": (("quantiles",), "not \\('quantiles',\\)"),
    "one quantile": (("quantiles", 1), "the number of quantiles of grid= is a whole number, at least 2"),
    "no rows": (("rows", 0, 1), "the number of rows of grid= is a whole number, at least 1"),
    "no seed": (("rows", 3), "not \\('rows', 3\\)"),
    "seed": (("rows", 3, -1), "the seed of grid= is a whole number, at least 0"),
    "list": ([1.0, 2.0], "a mapping from features to values"),
    "nothing": ({}, "grid= is an empty mapping"),
    "no values": ({"a": []}, "grid= has no values of 'a'"),
    "a number": ({"a": 3}, "a list or an array of values"),
    "a matrix": ({"a": np.zeros((2, 2))}, "a list or an array of values"),
    "twice": ({"a": [1.0], 0: [1.0]}, "the feature 'a' twice"),
    "name": ({"aa": [1.0], "a": [1.0]}, "no feature 'aa'"),
    "texts": ({"a": ["high"]}, "must hold numbers"),
    "another": ({"b": [1.0]}, "grid= has no values of 'a', only of \\['b'\\]; add them"),
}


@pytest.mark.parametrize("name", WRONG)
def test_refusals(ex, name):
    spec, says = WRONG[name]
    with pytest.raises(ValueError, match=says) as error:
        ex.partial_dependence("a", grid=spec)
    assert isinstance(error.value, gw.errors.GlasswoodError)
    if name not in ("another", "texts"):
        with pytest.raises(ValueError, match=says):
            ex.joint_partial_dependence(grid=spec)


@pytest.mark.parametrize("backend", ["matplotlib", "plotly"])
def test_figures(ex, backend):
    ex.partial_dependence("a", grid=("quantiles", 6)).plot(backend=backend)
    pair = ex.partial_dependence("a", "c", grid=4)
    panel = pair.panel()
    assert np.shape(panel.heights) == (4, 4)
    np.testing.assert_array_equal(np.transpose(panel.heights), pair.grid_values)
    pair.plot(backend=backend)
    ex.partial_dependence("a", "kind", grid=4).plot(backend=backend)
    ex.joint_partial_dependence(grid={"a": [0.0, 1.0], "b": [0.5, None, 1.0], "kind": ["x", "z"]}).plot(backend=backend)
    assert "points" in ex.joint_partial_dependence(grid=2)["a", "c"]._repr_html_()


def test_points_of_grids_are_pickled(ex):
    found = gw.Explainer(MODEL, X, folds=3).joint_partial_dependence(grid=3)["a", "b"]
    again = pickle.loads(pickle.dumps(found))
    assert again.grid == found.grid
    np.testing.assert_array_equal(again.grid_values, found.grid_values)
    assert ex.partial_dependence("a", "b", at=X[:3]).grid is None
    assert ex.partial_dependence("a", "b", at=X[:3]).grid_values is None
