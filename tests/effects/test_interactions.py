"""Interactions of any order are the inclusion-exclusion of the model's own scores; and what users make of them."""

from __future__ import annotations

import sys
from itertools import combinations

import catboost
import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xgboost as xgb
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor
from threadpoolctl import threadpool_limits

import glasswood as gw
from glasswood.counting import _leaf_counts as _counts
from glasswood.errors import BackgroundError, TableError, TooLargeError
from glasswood.questions.rows import _result_sets as _interactions
from helpers.brute import Case, tries
from helpers.cube_metrics import PDIVMetric
from helpers.games import Game, players_of
from helpers.interactions import (
    ENSEMBLES,
    ROWS,
    SEEDS,
    close_to,
    explained,
    follows_the_game,
    margin,
    moved,
    some_groups,
)
from helpers.strategies import tables
from zoo import sklearn_models, xgboost_models
from zoo.cases import CASES, N_ROWS, invented, sample, some_rows
from zoo.covers import MODELS, with_covers

BOOST = {"max_iter": 8, "random_state": 0}
MODES = pytest.mark.parametrize("mode", ["rows", "covers"])

pytestmark = [
    # The argument of LightGBM that all its versions know is on its way out.
    pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated"),
    # scikit-learn bins infinities by computing with them.
    pytest.mark.filterwarnings("ignore:invalid value encountered in (add|subtract|multiply|reduce):RuntimeWarning"),
]


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    with threadpool_limits(1):  # for few rows, the threads of scikit-learn only wait for each other
        yield


def follows_the_model(case, ex, **options):
    """Compare all sets of all players with brute force; everything together is the prediction."""
    e, players = ex.ensemble, players_of(ex.ensemble)
    rows, within = explained(case, e), margin(case, e)
    found = ex.interaction_values(rows, **options)
    follows_the_game(found, Game.of_model(case, players, rows), within)
    values = found.values.reshape(len(rows), len(found), -1)
    np.testing.assert_allclose(values.sum(axis=1), case.scores(rows), rtol=0, atol=within)
    return found


# ----------------------------------------------------------------------------------------- every model that is read


@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_model(name):
    case = CASES[name]()
    follows_the_model(case, gw.Explainer(case.model, case.rows))


@pytest.mark.parametrize("name", MODELS)
def test_every_model_with_covers(name):
    if name.startswith("xgboost: categories") and xgboost_models.VERSION < (3, 1):
        pytest.skip("before 3.1, models do not keep the labels of categories")
    model, table = MODELS[name]()
    e = with_covers(gw.read_model(model))
    ex = gw.Explainer(model)
    rows = explained(Case(model, table, None), e, n_rows=4)
    scale = np.abs(e.value).sum() * e.score.scale / e.score.divisor + np.abs(e.score.base).max()
    follows_the_game(ex.interaction_values(rows), Game.of_covers(e, players_of(e), rows), 1e-12 * scale)


def ten_features(n=400):
    """Numbers with missing values, and a target that is made of products of many of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10))
    y = 3 * np.prod(np.sign(X[:, :4]), axis=1) + X[:, 4] * X[:, 5] * X[:, 6] + X[:, 7] * (X[:, 8] > 0) + X[:, 9]
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


TEN_FEATURES = {
    "sklearn": (HistGradientBoostingRegressor(max_iter=12, min_samples_leaf=4), sklearn_models.raw),
    "forest": (RandomForestRegressor(5, max_depth=10, random_state=0), sklearn_models.raw),
    "xgboost": (xgb.XGBRegressor(n_estimators=12, max_depth=8), xgboost_models.margin),
    "lightgbm": (
        lgb.LGBMRegressor(n_estimators=12, num_leaves=40, min_child_samples=3, verbose=-1, n_jobs=1),
        lambda model, rows: model.booster_.predict(rows, raw_score=True),
    ),
    "catboost": (
        catboost.CatBoostRegressor(n_estimators=12, depth=8, verbose=0, allow_writing_files=False, random_seed=0),
        lambda model, rows: model.predict(rows),
    ),
}


@pytest.mark.parametrize("name", TEN_FEATURES)
def test_all_orders_of_ten_features(name):
    model, raw = TEN_FEATURES[name]
    X, y = ten_features()
    case = Case(model.fit(X, y), X[:25], raw)
    found = follows_the_model(case, gw.Explainer(case.model, case.rows))
    assert max(map(len, found.subsets)) >= 7
    e = gw.read_model(model)
    rows = explained(case, e)
    within = margin(case, e)
    covers = gw.Explainer(model).interaction_values(rows)
    follows_the_game(covers, Game.of_covers(e, players_of(e), rows), within)


def test_a_path_of_thirteen_features():
    # The number of leading ones, which a tree learns as one long path.
    rng = np.random.default_rng(0)
    X = (rng.random((2000, 13)) < 0.8).astype(float)
    model = DecisionTreeRegressor(random_state=0).fit(X, np.cumprod(X, axis=1).sum(axis=1))
    case = Case(model, X[:9], sklearn_models.raw)
    found = follows_the_model(case, gw.Explainer(model, case.rows))
    assert max(map(len, found.subsets)) >= 12
    rows, e = explained(case, gw.read_model(model)), gw.read_model(model)
    covers = gw.Explainer(model).interaction_values(rows)
    follows_the_game(covers, Game.of_covers(e, players_of(e), rows), margin(case, e))


def test_some_features_of_adult_census(shared):
    table = sample(shared, "adult_census", 2000)
    X = table.drop(columns=["income", "split"])
    model = HistGradientBoostingClassifier(max_iter=20, max_depth=5, random_state=0).fit(X, table["income"])
    case = Case(model, X[:40], sklearn_models.raw)
    ex = gw.Explainer(model, case.rows)
    names = ["hours-per-week", "age", "workclass", "education", "native-country", "capital-gain"]
    rows = explained(case, ex.ensemble)
    players = {name: columns for name, columns in players_of(ex.ensemble).items() if name in names}
    game = Game.of_model(case, players, rows)
    follows_the_game(ex.interaction_values(rows, features=names), game, margin(case, ex.ensemble))
    singles = [(ex.ensemble.feature_names[f],) for f in ex.ensemble.used_features]
    assert ex.interaction_values(rows, max_order=2).subsets[1 : len(singles) + 1] == singles


@pytest.mark.parametrize("name", xgboost_models.REAL)
def test_some_features_of_real_models(name, shared):
    path = shared / "models" / f"{name}.json"
    e, rng = gw.read_model(path), np.random.default_rng(0)
    case = Case(xgb.Booster(model_file=path), np.zeros((N_ROWS, e.n_features)), xgboost_models.margin)
    for f in e.used_features:
        values = tries(case, e, f, rng).values
        case.rows[:, f] = np.where(rng.random(N_ROWS) < 0.4, np.nan, rng.choice(values, size=N_ROWS))
    rows = explained(case, e)
    often_used = np.sort(np.argsort(np.bincount(e.feature))[-6:]).tolist()
    players = {e.feature_names[f]: [f] for f in often_used}
    for ex, game in (
        (gw.Explainer(case.model, case.rows), Game.of_model(case, players, rows)),
        (gw.Explainer(case.model), Game.of_covers(e, players, rows)),
    ):
        found = ex.interaction_values(rows, features=often_used, max_order=3)
        follows_the_game(found, game, margin(case, e), max_order=3)


@MODES
def test_forty_features_add_up(mode):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 40))
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.nan_to_num(X[:, :39] * X[:, 1:]).sum(axis=1)
    model = HistGradientBoostingRegressor(max_iter=30, random_state=0).fit(X, y)
    ex = gw.Explainer(model, X if mode == "rows" else None)
    rows = X[:70]
    found, within = ex.interaction_values(rows), 1e-9 * np.ptp(model.predict(X))
    np.testing.assert_allclose(found.values.sum(axis=1), model.predict(rows), rtol=0, atol=within)
    # What curves and surfaces say, which are computed in another way.
    curves, mean = ex.partial_dependence(), found[()]
    for f, (name, curve) in enumerate(curves.items()):
        np.testing.assert_allclose(found[name] + mean, curve(rows[:, f]), rtol=0, atol=within)
    for a, b in [subset for subset in found.subsets if len(subset) == 2][::40]:
        surface = ex.partial_dependence(a, b)(rows[:, int(a[1:])], rows[:, int(b[1:])])
        np.testing.assert_allclose(found[a, b] + found[a] + found[b] + mean, surface, rtol=0, atol=within)
    # And Shapley values: every set shares its value among its features.
    shared = np.zeros(rows.shape)
    for subset, values in zip(found.subsets[1:], found.values.T[1:], strict=True):
        shared[:, [int(name[1:]) for name in subset]] += values[:, None] / len(subset)
    np.testing.assert_allclose(ex.shap_values(rows).values, shared, rtol=0, atol=within)


def test_trees_of_thousands_of_leaves():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 6)), rng.normal(size=3000)
    X[rng.random(X.shape) < 0.1] = np.nan
    model = RandomForestRegressor(2, random_state=0).fit(X, y)
    small = RandomForestRegressor(1, max_leaf_nodes=30, random_state=1).fit(X, y)
    model.estimators_.insert(1, small.estimators_[0])  # large and small trees are not counted alike
    case = Case(model, some_rows(X, missing=True), sklearn_models.raw)
    assert case.model.estimators_[0].get_n_leaves() > _counts.LARGE_TREE
    follows_the_model(case, gw.Explainer(case.model, case.rows))


# ----------------------------------------------------------------------------------------------- invented ensembles


@given(ENSEMBLES, ROWS, SEEDS, st.sampled_from(["none", "whole", "any"]), st.booleans())
@settings(max_examples=80)
def test_invented_ensembles(ensemble, n_rows, seed, weights, grouped):
    case, rng = invented(ensemble, n_rows, seed), np.random.default_rng(seed)
    weight = {"none": None, "whole": rng.integers(0, 4, n_rows) + np.eye(n_rows)[0], "any": rng.random(n_rows) + 0.01}
    groups = some_groups(ensemble, rng) if grouped else None
    ex = gw.Explainer(case.model, case.rows, sample_weight=weight[weights], groups=groups)
    rows = tables(ensemble, 4, seed + 1)
    game = Game.of_model(case, players_of(ensemble, groups), rows, weight[weights])
    found = ex.interaction_values(rows)
    follows_the_game(found, game, close_to(ensemble))
    np.testing.assert_allclose(
        found.values.reshape(4, len(found), -1).sum(axis=1), case.scores(rows), atol=close_to(ensemble)
    )


@given(ENSEMBLES, SEEDS, st.booleans())
@settings(max_examples=60)
def test_invented_ensembles_with_covers(ensemble, seed, grouped):
    groups = some_groups(ensemble, np.random.default_rng(seed)) if grouped else None
    rows = tables(ensemble, 4, seed)
    found = gw.Explainer(ensemble, groups=groups).interaction_values(rows)
    follows_the_game(found, Game.of_covers(ensemble, players_of(ensemble, groups), rows), close_to(ensemble))


@given(ENSEMBLES, SEEDS, st.booleans())
@settings(max_examples=60)
def test_orders_features_and_outputs_are_parts_of_the_whole(ensemble, seed, covers):
    case, rng = invented(ensemble, 12, seed), np.random.default_rng(seed)
    groups = some_groups(ensemble, rng) if seed % 2 else None
    ex = gw.Explainer(case.model, None if covers else case.rows, groups=groups)
    names, rows = list(players_of(ensemble, groups)), tables(ensemble, 3, seed + 1)
    whole = ex.interaction_values(rows)
    order = int(rng.integers(1, len(names) + 1))
    chosen = rng.permutation(names)[: rng.integers(1, len(names) + 1)].tolist()
    output = int(rng.integers(ensemble.n_outputs))
    for options in (
        {"max_order": order},
        {"features": chosen},
        {"output": output},
        {"max_order": order, "features": chosen, "output": ensemble.score.labels[output]},
    ):
        part = ex.interaction_values(rows, **options)
        within = set(options.get("features", names))
        max_ = options.get("max_order", len(names))
        assert part.subsets == [s for s in whole.subsets if len(s) <= max_ and within.issuperset(s)]
        expected = np.stack([whole[s] for s in part.subsets], axis=1).reshape(3, len(part), -1)
        outputs = [output] if "output" in options else range(ensemble.n_outputs)
        assert part.outputs == tuple(ensemble.score.labels[k] for k in outputs)
        values = part.values.reshape(3, len(part), -1)
        np.testing.assert_allclose(values, expected[..., outputs], rtol=0, atol=close_to(ensemble))


def test_features_are_given_in_any_form():
    X, y = sklearn_models.data()
    ex = gw.Explainer(HistGradientBoostingRegressor(**BOOST).fit(X, y), X)
    by_number = ex.interaction_values(X[:3], features=[3, 0, -1])
    by_name = ex.interaction_values(X[:3], features=["x0", "x3", "x4"])
    assert by_number.subsets == by_name.subsets
    np.testing.assert_array_equal(by_number.values, by_name.values)
    for features in (np.array([0, 3, 4]), pd.Index(["x0", "x3", "x4"]), ("x4", 3, 0), {"x0", "x3", "x4"}):
        assert ex.interaction_values(X[:3], features=features).subsets == by_name.subsets
    assert ex.interaction_values(X[:3], features=[]).subsets == [()]


def test_sets_that_share_no_path_have_no_interaction():
    X, y = sklearn_models.data()
    model = HistGradientBoostingRegressor(interaction_cst=[{0, 1}, {2}, {3, 4}], **BOOST).fit(X, y)
    for ex in (gw.Explainer(model, X), gw.Explainer(model)):
        found = ex.interaction_values(X[:10])
        pairs = {("x0", "x1"), ("x3", "x4")}
        assert set(found.subsets) <= {(), *((f"x{f}",) for f in range(5)), *pairs}
        for pair in combinations(["x0", "x1", "x2", "x3", "x4"], 2):
            assert found[pair].shape == (10,)
            assert found[pair].any() == (pair in pairs)
        assert not found["x0", "x1", "x2", "x3"].any()


@pytest.mark.parametrize("name", ["sklearn: tree, one leaf", "xgboost: regression, no split"])
def test_models_without_splits(name):
    case = CASES[name]()
    for ex in (gw.Explainer(case.model, case.rows), gw.Explainer(case.model)):
        found = ex.interaction_values(case.rows[:7])
        assert found.subsets == [()]
        np.testing.assert_allclose(found.values, case.scores(case.rows)[:7], rtol=1e-6)
        assert not found[ex.ensemble.feature_names[0]].any()
        assert len(found.top()) == 0


def test_two_rows_and_a_product():
    # x0 * x1 at the corners of a square, against two of them: worked out by hand.
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    model = RandomForestRegressor(1, bootstrap=False, random_state=0).fit(X, X[:, 0] * X[:, 1])
    found = gw.Explainer(model, X[[1, 3]]).interaction_values(X)
    assert found.subsets == [(), ("x0",), ("x1",), ("x0", "x1")]
    half = 1 / 2
    expected = [[half, -half, -half, half], [half, -half, 0, 0], [half, half, -half, -half], [half, half, 0, 0]]
    np.testing.assert_allclose(found.values, expected, atol=1e-15)


# ------------------------------------------------------------------------------------------------------ many rows


@pytest.fixture(scope="module")
def regression():
    X, y = sklearn_models.data(missing=True)
    return HistGradientBoostingRegressor(max_iter=10, random_state=0).fit(X, y), X


@pytest.fixture(scope="module")
def classification():
    X, y = sklearn_models.data("classification", classes=3)
    return HistGradientBoostingClassifier(max_iter=5, random_state=0).fit(X, y), X


MANY = pytest.mark.parametrize("n_rows", [1, 2, 63, 1000, 5000])


def interactions(model, X, n_rows, mode="rows", **options):
    return gw.Explainer(model, X if mode == "rows" else None).interaction_values(moved(X, n_rows), **options)


@MODES
@MANY
@pytest.mark.parametrize("kind", ["regression", "classification"])
def test_everything_follows_from_the_values(kind, mode, n_rows, request):
    model, X = request.getfixturevalue(kind)
    found = interactions(model, X, n_rows, mode)
    n_outputs = 1 if kind == "regression" else 3
    axes = (n_outputs,) if n_outputs > 1 else ()
    values = found.values
    assert values.shape == (n_rows, len(found), *axes)
    assert found.n_rows == n_rows
    assert len(found) == len(found.subsets)
    np.testing.assert_allclose(values.sum(axis=1), model_score(model, moved(X, n_rows)), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.mean_abs(), np.abs(values).mean(axis=0), rtol=1e-10)
    np.testing.assert_allclose(found.mean_square(), np.square(values).mean(axis=0), rtol=1e-10)
    for k, subset in enumerate(found.subsets):
        np.testing.assert_array_equal(found[subset[::-1]], values[:, k])
    for size in (None, 1 if n_rows < 100 else 37, 64, 4096, 10_000):
        blocks = list(found.blocks(size) if size else found.blocks())
        firsts = [first for first, _ in blocks]
        assert firsts == np.cumsum([0] + [len(block) for _, block in blocks])[:-1].tolist()
        assert all(len(block) == size for _, block in blocks[:-1]) or size is None
        np.testing.assert_array_equal(np.concatenate([block for _, block in blocks]), values)


def model_score(model, rows):
    return model.decision_function(rows) if hasattr(model, "decision_function") else model.predict(rows)


def names_of(subsets):
    return [" x ".join(subset) if subset else "(mean)" for subset in subsets]


@MODES
def test_a_row_does_not_depend_on_the_others(regression, mode):
    model, X = regression
    found = interactions(model, X, 1000, mode)
    ex = gw.Explainer(model, X if mode == "rows" else None)
    for k in (0, 63, 64, 517, 999):
        alone = ex.interaction_values(moved(X, 1000)[k : k + 1])
        np.testing.assert_array_equal(alone.values[0], found.values[k])


@MODES
@MANY
def test_the_largest_of_all(regression, mode, n_rows):
    found = interactions(*regression, n_rows, mode)
    table = found.top(7)
    assert table.columns.tolist() == ["features", "order", "mean_abs", "mean_square", "signed_mean"]
    assert len(table) == 7
    names, mean_abs, mean_square = names_of(found.subsets), found.mean_abs(), found.mean_square()
    by_size = 1 + np.argsort(-mean_abs[1:], kind="stable")
    np.testing.assert_allclose(table["mean_abs"], mean_abs[by_size[:7]], rtol=1e-12)
    for _, line in table.iterrows():
        k = names.index(line["features"])
        assert line["order"] == len(found.subsets[k])
        assert (line["mean_abs"], line["mean_square"]) == pytest.approx((mean_abs[k], mean_square[k]))
    assert len(found.top()) == 10
    everything = found.top(10**6)
    assert sorted(everything["features"]) == sorted(names[1:])


def test_the_largest_of_several_outputs(classification):
    found = interactions(*classification, 50)
    table = found.top(9)
    assert table.columns.tolist() == ["features", "order", "output", "mean_abs", "mean_square", "signed_mean"]
    assert table["mean_abs"].is_monotonic_decreasing
    expected = np.sort(found.mean_abs()[1:].ravel())[::-1][:9]
    np.testing.assert_allclose(table["mean_abs"], expected, rtol=1e-12)
    for _, line in table.iterrows():
        k, output = names_of(found.subsets).index(line["features"]), found.outputs.index(line["output"])
        assert line["mean_abs"] == pytest.approx(found.mean_abs()[k, output])
        assert line["mean_square"] == pytest.approx(found.mean_square()[k, output])


@MODES
@MANY
def test_the_largest_of_each_row(regression, classification, mode, n_rows):
    for found in (interactions(*regression, n_rows, mode), interactions(*classification, n_rows, mode, output=1)):
        for k in (1, 3, 8):
            numbers, values = found.top_per_row(k) if k != 3 else found.top_per_row()
            assert numbers.shape == values.shape == (n_rows, k)
            np.testing.assert_array_equal(np.take_along_axis(found.values, numbers, axis=1), values)
            expected = np.sort(np.abs(found.values[:, 1:]), axis=1)[:, ::-1][:, :k]
            np.testing.assert_array_equal(np.abs(values), expected)
            assert numbers.min() > 0
            assert all(len(set(line)) == k for line in numbers.tolist())


@MODES
@MANY
def test_frames(regression, classification, mode, n_rows):
    found = interactions(*regression, n_rows, mode)
    frame = found.to_frame()
    assert frame.columns.tolist() == names_of(found.subsets)
    np.testing.assert_array_equal(frame.to_numpy(), found.values)
    found = interactions(*classification, n_rows, mode)
    frame = found.to_frame()
    for k, name in enumerate(names_of(found.subsets)):
        for j, output in enumerate(found.outputs):
            np.testing.assert_array_equal(frame[f"{name} [{output}]"], found.values[:, k, j])
    assert frame.shape == (n_rows, len(found) * 3)


@MODES
@MANY
def test_files(regression, classification, mode, n_rows, tmp_path):
    found = interactions(*regression, n_rows, mode)
    found.to_parquet(tmp_path / "one.parquet")
    table = pd.read_parquet(tmp_path / "one.parquet")
    assert table.columns.tolist() == ["row", "features", "value"]
    number = {name: k for k, name in enumerate(names_of(found.subsets))}
    again = np.zeros_like(found.values)
    again[table["row"], table["features"].map(number).astype(int)] = table["value"]
    np.testing.assert_array_equal(again, found.values)
    assert len(table) == np.count_nonzero(found.values)

    found = interactions(*classification, n_rows, mode)
    found.to_parquet(str(tmp_path / "three.parquet"))
    table = pd.read_parquet(tmp_path / "three.parquet")
    assert table.columns.tolist() == ["row", "features", "output", "value"]
    again = np.zeros_like(found.values)
    output = table["output"].map({name: k for k, name in enumerate(found.outputs)}).astype(int)
    number = {name: k for k, name in enumerate(names_of(found.subsets))}
    again[table["row"], table["features"].map(number).astype(int), output] = table["value"]
    np.testing.assert_array_equal(again, found.values)
    assert len(table) == np.count_nonzero(found.values)


@pytest.mark.parametrize("kind", ["regression", "classification"])
def test_little_memory(kind, request, monkeypatch, tmp_path):
    model, X = request.getfixturevalue(kind)
    whole = interactions(model, X, 300)
    output = None if kind == "regression" else 2
    best = interactions(model, X, 300, output=output).top_per_row()
    whole.to_parquet(tmp_path / "whole.parquet")
    monkeypatch.setattr(_interactions, "BLOCK_VALUES", 1600)
    assert len(list(whole.blocks())) > 4
    np.testing.assert_array_equal(np.concatenate([block for _, block in whole.blocks()]), whole.values)
    parts = interactions(model, X, 300)
    for subset in whole.subsets[::5]:
        np.testing.assert_array_equal(parts[subset], whole[subset])
    parts.to_parquet(tmp_path / "parts.parquet")
    pd.testing.assert_frame_equal(*(pd.read_parquet(tmp_path / f"{name}.parquet") for name in ("parts", "whole")))
    for ours, theirs in zip(interactions(model, X, 300, output=output).top_per_row(), best, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_blocks_that_are_not_all_read(regression):
    model, X = regression
    found = gw.Explainer(model, X).interaction_values(np.broadcast_to(X[:1], (10**8, 5)))
    first, block = next(found.blocks(100))
    assert first == 0
    np.testing.assert_array_equal(block[[0, 99]], gw.Explainer(model, X).interaction_values(X[[0, 0]]).values)
    with pytest.raises(TableError, match="n_rows must be at least 1, not -1"):
        next(found.blocks(-1))


def test_no_rows_to_explain(regression, tmp_path):
    model, X = regression
    found = gw.Explainer(model, X).interaction_values(X[:0])
    assert found.values.shape == (0, len(found))
    assert found["x0"].shape == (0,)
    found.to_parquet(tmp_path / "none.parquet")
    assert len(pd.read_parquet(tmp_path / "none.parquet")) == 0


def test_what_is_printed(regression, classification):
    found = interactions(*regression, 12)
    assert repr(found).startswith("Interactions(")
    assert found.units == "value"
    assert found.outputs == ("prediction",)
    assert interactions(*classification, 12).outputs == (0, 1, 2)


@pytest.mark.parametrize("make", [pl.from_pandas, pa.Table.from_pandas, lambda frame: frame[[*frame.columns[::-1]]]])
def test_any_kind_of_table_is_explained_alike(make):
    frame, y = sklearn_models.category_frame()
    ex = gw.Explainer(HistGradientBoostingRegressor(**BOOST).fit(frame, y), frame)
    expected = ex.interaction_values(frame[:70])
    np.testing.assert_array_equal(ex.interaction_values(make(frame[:70])).values, expected.values)


@pytest.mark.parametrize("layout", ["F", "float32", "strided", "integers"])
def test_any_layout_is_explained_alike(regression, layout):
    model, X = regression
    rows = moved(np.nan_to_num(X), 200)
    rows = {
        "F": np.asfortranarray(rows),
        "float32": rows.astype(np.float32),
        "strided": np.repeat(rows, 2, axis=1)[::-1, ::2],
        "integers": np.rint(rows * 3).astype(np.int64),
    }[layout]
    ex = gw.Explainer(model, X)
    expected = ex.interaction_values(np.ascontiguousarray(rows, dtype=np.float64)).values
    np.testing.assert_array_equal(ex.interaction_values(rows).values, expected)


def set_threads(monkeypatch, threads):
    """Let every module of the package believe in so many cores."""
    for name, module in list(sys.modules.items()):
        if name.startswith("glasswood") and hasattr(module, "n_threads"):
            monkeypatch.setattr(module, "n_threads", lambda: threads)


@MODES
def test_results_do_not_depend_on_the_number_of_threads(regression, mode, monkeypatch):
    model, X = regression
    results = []
    for threads in (1, 2, 5):
        set_threads(monkeypatch, threads)
        found = interactions(model, X, 5000, mode)
        metric = gw.Explainer(model, X if mode == "rows" else None).evaluate(PDIVMetric(), moved(X, 3000))
        everything = (found.values, found.mean_abs(), found.mean_square(), *found.top_per_row(5))
        results.append((*everything, metric.values, metric.mean_abs()))
    for other in results[1:]:
        for ours, theirs in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(ours, theirs)


# ------------------------------------------------------------------------------------------------------ backgrounds


@given(ENSEMBLES, st.integers(2, 20), SEEDS, st.booleans())
@settings(max_examples=30)
def test_backgrounds_are_as_good_as_their_rows(ensemble, n_rows, seed, grouped):
    case = invented(ensemble, n_rows, seed)
    groups = some_groups(ensemble, np.random.default_rng(seed)) if grouped else None
    at = 1 + seed % (n_rows - 1)
    one, two = (gw.summarize(case.model, r, order=None, groups=groups) for r in (case.rows[:at], case.rows[at:]))
    rows = tables(ensemble, 3, seed + 1)
    asked = gw.Explainer(case.model, one + two).interaction_values(rows)
    expected = gw.Explainer(case.model, case.rows, groups=groups).interaction_values(rows)
    assert asked.subsets == expected.subsets
    np.testing.assert_array_equal(asked.values, expected.values)


def test_a_background_from_a_file(classification, tmp_path):
    model, X = classification
    gw.summarize(model, X, order=None).save(tmp_path / "all.gw")
    gw.summarize(model, X, order=2).save(tmp_path / "pairs.gw")
    expected = gw.Explainer(model, X).interaction_values(X[:70])
    loaded = gw.Explainer(model, gw.Background.load(tmp_path / "all.gw"))
    np.testing.assert_array_equal(loaded.interaction_values(X[:70]).values, expected.values)
    pairs = gw.Explainer(model, gw.Background.load(tmp_path / "pairs.gw"))
    few = pairs.interaction_values(X[:70], max_order=2)
    np.testing.assert_array_equal(few.values, expected.values[:, : len(few)])
    with pytest.raises(BackgroundError, match="order"):
        pairs.interaction_values(X[:70]).mean_abs()
    with pytest.raises(BackgroundError, match="order"):
        pairs.interaction_values(X[:70], max_order=3).mean_abs()
    with pytest.raises(BackgroundError, match="order"):
        pairs.evaluate(PDIVMetric(), X[:70])
    metric = gw.Explainer(model, X).evaluate(PDIVMetric(), X[:70])
    np.testing.assert_array_equal(loaded.evaluate(PDIVMetric(), X[:70]).values, metric.values)
    # All orders are enough for what needs fewer.
    curve = gw.Explainer(model, X).partial_dependence("x0")
    np.testing.assert_array_equal(loaded.partial_dependence("x0").heights, curve.heights)


# ------------------------------------------------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"features": ["x0", "nothing"]}, "there is no feature 'nothing'; the features are 'x0', 'x1'"),
        ({"features": [7]}, "there is no feature 7"),
        ({"output": "3"}, "there is no output '3'; the labels are 0, 1, 2"),
    ],
)
def test_questions_that_make_no_sense(classification, options, says):
    model, X = classification
    with pytest.raises(TableError, match=says):
        gw.Explainer(model, X).interaction_values(X[:3], **options)


@pytest.mark.parametrize("order", [0, -1])
def test_orders_that_make_no_sense(regression, order):
    model, X = regression
    with pytest.raises(ValueError, match=f"{order}"):
        gw.Explainer(model, X).interaction_values(X[:3], max_order=order)


def test_questions_to_a_group(regression):
    model, X = regression
    ex = gw.Explainer(model, X, groups={"pair": ["x3", "x1"]})
    found = ex.interaction_values(X[:3])
    assert found.subsets[:5] == [(), ("pair",), ("x0",), ("x2",), ("x4",)]
    with pytest.raises(TableError, match=r"'x1' \(it belongs to the group 'pair', which is treated as one feature"):
        ex.interaction_values(X[:3], features=["x1"])
    with pytest.raises(TableError, match="'x1'"):
        found["x1"]


def test_names_that_are_unknown(classification):
    model, X = classification
    found = gw.Explainer(model, X).interaction_values(X[:3])
    with pytest.raises(TableError, match="nothing"):
        found["nothing"]
    with pytest.raises(TableError, match="nothing"):
        found["x0", "nothing"]
    with pytest.raises(TableError, match="output="):
        found.top_per_row()


def test_rows_that_do_not_fit(regression):
    model, X = regression
    for ex in (gw.Explainer(model, X), gw.Explainer(model)):
        with pytest.raises(TableError, match="2 columns, but the model was trained on 5"):
            ex.interaction_values(X[:, :2])
        with pytest.raises(TableError, match="rows and columns"):
            ex.interaction_values(X[0])


def test_backgrounds_without_rows(regression):
    model, X = regression
    with pytest.raises(BackgroundError, match="nothing to average over"):
        gw.Explainer(model, X[:0]).interaction_values(X[:3]).mean_abs()


def test_values_that_do_not_fit_in_memory(regression):
    model, X = regression
    # A view: many rows of a table that takes 40 bytes.
    found = gw.Explainer(model, X).interaction_values(np.broadcast_to(X[:1], (2 * 10**8, 5)))
    with pytest.raises(TooLargeError, match=r"blocks|mean_abs|to_parquet"):
        _ = found.values


@MODES
def test_hopeless_work_is_refused(mode):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 60))
    model = RandomForestRegressor(2, max_features=1, random_state=0).fit(X, rng.normal(size=3000))
    ex = gw.Explainer(model, X[:100] if mode == "rows" else None)
    with pytest.raises(TooLargeError, match="max_order"):
        _ = ex.interaction_values(X[:3]).values
    e = ex.ensemble
    players = {e.feature_names[f]: [f] for f in (0, 1, 2)}
    case = Case(model, X[:100], sklearn_models.raw)
    game = Game.of_model(case, players, X[:3]) if mode == "rows" else Game.of_covers(e, players, X[:3])
    few = ex.interaction_values(X[:3], max_order=2, features=list(players))
    follows_the_game(few, game, margin(case, e), max_order=2)
