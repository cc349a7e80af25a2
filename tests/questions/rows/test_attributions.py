"""Shapley and Banzhaf values and interactions are those of the game, at any depth: brute force, shap, the libraries."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xgboost as xgb
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from threadpoolctl import threadpool_limits

import glasswood as gw
from helpers.attributions import METHODS, shap_or_skip
from helpers.brute import Case, tries
from helpers.games import Game, players_of
from helpers.strategies import ensembles, tables
from zoo import catboost_models, lightgbm_models, sklearn_models, xgboost_models
from zoo.cases import CASES, invented
from zoo.covers import MODELS, WITHOUT

FEW = {"n_estimators": 8, "random_state": 0}
BOOST = {"max_iter": 8, "random_state": 0}
ROWS, SEEDS = st.integers(1, 12), st.integers(0, 2**32 - 1)

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


# ---------------------------------------------------------------------------------------------------------- the game


def close(found, expected, names, within):
    """Compare attributions with arrays of a game: a row, one or two axes of players, and one of outputs."""
    order = [names.index(name) for name in found.names]
    for axis in range(1, expected.ndim - 1):
        expected = np.take(expected, order, axis=axis)
    expected = expected[..., 0] if len(found.outputs) == 1 else expected
    assert found.values.shape == expected.shape
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=within)


def has_the_values_of(game, ex, rows, within):
    """Compare Shapley values, their interactions and Banzhaf values, and what they start from and add up to."""
    shapley, banzhaf, pairs = (getattr(ex, method)(rows) for method in METHODS)
    close(shapley, game.shapley(), game.names, within)
    close(banzhaf, game.banzhaf(), game.names, within)
    close(pairs, game.shap_matrix(), game.names, within)
    nobody, everybody = game.values[0, 0], game.values[:, -1]
    for found in (shapley, banzhaf, pairs):
        np.testing.assert_allclose(np.ravel(found.base_values), nobody, rtol=0, atol=within)
        assert np.shape(found.base_values) == (() if len(found.outputs) == 1 else (len(found.outputs),))
    n_players, few = len(game.names), 4 * within  # sums of many roundings
    total = shapley.values.reshape(len(rows), n_players, -1).sum(axis=1) + shapley.base_values
    np.testing.assert_allclose(total, everybody, rtol=0, atol=few)
    sums = pairs.values.reshape(len(rows), n_players, n_players, -1).sum(axis=2)
    np.testing.assert_allclose(sums.reshape(shapley.values.shape), shapley.values, rtol=0, atol=few)


def has_the_indices_of(game, ex, rows, within):
    """Compare what `evaluate` gives for every metric with a definition of its own."""
    max_ = min(3, len(game.names))
    shapley, banzhaf = {}, {}
    for order in range(1, max_ + 1):
        shapley |= game.shapley_interactions(order)
        banzhaf |= game.banzhaf_interactions(order)
    singles = {names: values for names, values in shapley.items() if len(names) == 1}
    pairs = {names: values for names, values in banzhaf.items() if len(names) == 2}
    metrics = gw.metrics
    for metric, expected in (
        (metrics.ShapleyValues(), singles),
        (metrics.ShapleyInteractions(max_order=max_), shapley),
        (metrics.BanzhafValues(), {names: values for names, values in banzhaf.items() if len(names) == 1}),
        (metrics.BanzhafInteractions(max_order=max_), banzhaf),
        (metrics.BanzhafInteractions(max_order=2, min_order=2), pairs),
        *((metrics.ShapleyTaylor(order=order), game.shapley_taylor(order)) for order in range(1, max_ + 1)),
    ):
        found = by_set(ex.evaluate(metric, rows))
        sets = {frozenset(names): values for names, values in expected.items()}
        assert set(found) <= set(sets), metric
        for names, values in sets.items():
            # Sets that share no path are not listed, and have no value.
            actual = found.get(names, np.zeros_like(values))
            np.testing.assert_allclose(actual, values, rtol=0, atol=within, err_msg=f"{metric}, {sorted(names)}")


def by_set(found):
    """The values of each set of players, (n_rows, n_outputs)."""
    values = found.values.reshape(found.n_rows, len(found.subsets), len(found.outputs))
    return {frozenset(names): values[:, k] for k, names in enumerate(found.subsets)}


def explained(case, n_background=20, n_rows=3):
    """A case of some of the rows, and others to explain."""
    rows = case.rows[n_background : n_background + n_rows]
    rows = rows.reset_index(drop=True) if isinstance(rows, pd.DataFrame) else rows
    return replace(case, rows=case.rows[:n_background]), rows


@cache
def made(name):
    return CASES[name]()


def skip_old(name):
    if name.startswith("xgboost: categories") and xgboost_models.VERSION < (3, 1):
        pytest.skip("before 3.1, models do not keep the labels of categories")


@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_model_against_rows(name):
    skip_old(name)
    case, rows = explained(made(name))
    ex = gw.Explainer(case.model, case.rows)
    game = Game.of_model(case, players_of(ex.ensemble), rows)
    has_the_values_of(game, ex, rows, case.margin(ex.ensemble))


@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_model_by_its_covers(name):
    skip_old(name)
    case, rows = explained(made(name), n_rows=2)
    # Categories whose labels only a table knows are labelled by it.
    e = gw.Explainer(case.model, case.rows).ensemble
    if e.cover is None:
        return
    game = Game.of_covers(e, players_of(e), rows)
    within = 1e-12 * (np.abs(e.value).sum() * e.score.factor + np.abs(e.score.base).max())
    has_the_values_of(game, gw.Explainer(e), rows, within)


# Each row of the table of model-semantics.md, section 3.2: what shap 0.51 has wrong, or refuses.
WRONG_IN_SHAP = {
    "histogram, categories": ["sklearn: categories", "sklearn: categories, numbers in an array"],
    "xgboost, several classes and targets": ["xgboost: 3 classes", "xgboost: 2 targets"],
    "xgboost, dart": ["xgboost: dart", "xgboost: dart, 3 classes"],
    "xgboost, categories": ["xgboost: categories, both", "xgboost: codes", "xgboost: codes, 300 levels"],
    "xgboost, vector leaves": ["xgboost: 3 classes, vector leaves", "xgboost: 2 targets, vector leaves"],
    "xgboost, parallel trees": ["xgboost: 3 classes, 3 trees at a time", "xgboost: random forest regression"],
    "lightgbm, missing values that training had not": ["lightgbm: regression"],
    "lightgbm, zero is missing": ["lightgbm: zero_as_missing"],
    "lightgbm, categories": ["lightgbm: codes, one-hot", "lightgbm: codes, 90 levels", "lightgbm: pandas categories"],
    "catboost, RMSE": ["catboost: regression"],
    "catboost, missing values to the right": ["catboost: missing values, right"],
    "catboost, categories": ["catboost: CTR, as by default", "catboost: one-hot and CTR"],
    "catboost, one-hot": ["catboost: one-hot"],
    "catboost, depthwise": ["catboost: depthwise", "catboost: one-hot, depthwise"],
    "boosting, three classes": ["sklearn: boosting, 3 classes"],
    "boosting, init zero": ["sklearn: boosting, init zero", "sklearn: boosting, binary, init zero"],
    "boosting, exponential": ["sklearn: boosting, exponential"],
    "isolation forest": ["sklearn: isolation forest", "sklearn: isolation forest, some features"],
    # What shap has right, at least away from cuts.
    "right in shap": ["sklearn: forest, missing values", "sklearn: histogram, binary", "lightgbm: binary"],
}


@pytest.mark.parametrize("name", [name for names in WRONG_IN_SHAP.values() for name in names])
def test_all_indices_where_shap_is_wrong(name):
    skip_old(name)
    case, rows = explained(made(name), n_rows=4)
    e = gw.Explainer(case.model, case.rows).ensemble
    within = case.margin(e)
    has_the_indices_of(Game.of_model(case, players_of(e), rows), gw.Explainer(case.model, case.rows), rows, within)
    if e.cover is not None:
        has_the_indices_of(Game.of_covers(e, players_of(e), rows), gw.Explainer(e), rows, within)


# 3.2: float64 right above a cut of float32 (XGBRegressor, isolation forests), and cuts that shap narrows (shap#5116).
BESIDE_CUTS = [
    *("sklearn: forest, regression", "sklearn: isolation forest", "sklearn: histogram, regression"),
    *("xgboost: regression", "xgboost: binary", "lightgbm: regression, missing values", "catboost: regression"),
]


@pytest.mark.parametrize("name", BESIDE_CUTS)
def test_rows_at_cuts_and_right_beside_them(name):
    case, rng = made(name), np.random.default_rng(0)
    e = gw.read_model(case.model)
    pools = [np.array(tries(case, e, f, rng, max_=200).values) for f in range(e.n_features)]
    pools = [np.concatenate([pool, np.nextafter(pool, -np.inf), np.nextafter(pool, np.inf)]) for pool in pools]
    table = np.column_stack([rng.choice(pool[np.isfinite(pool)], 24) for pool in pools])
    case, rows = explained(replace(case, rows=table))
    has_the_values_of(
        Game.of_model(case, players_of(e), rows), gw.Explainer(case.model, case.rows), rows, case.margin(e)
    )


# -------------------------------------------------------------------------------------- groups, weights, any ensemble


@given(ensembles(max_trees=3, max_depth=4), ROWS, SEEDS)
@settings(max_examples=25)
def test_invented_ensembles(ensemble, n_rows, seed):
    case = invented(ensemble, n_rows, seed)
    rows, players = tables(ensemble, 3, seed + 1), players_of(ensemble)
    within = case.margin(case.model)
    game, ex = Game.of_model(case, players, rows), gw.Explainer(case.model, case.rows)
    has_the_values_of(game, ex, rows, within)
    has_the_indices_of(game, ex, rows, within)


@given(ensembles(max_trees=3, max_depth=4), SEEDS)
@settings(max_examples=25)
def test_invented_ensembles_by_their_covers(ensemble, seed):
    rows = tables(ensemble, 3, seed)
    within = 1e-12 * (np.abs(ensemble.value).sum() + 10)
    game, ex = Game.of_covers(ensemble, players_of(ensemble), rows), gw.Explainer(ensemble)
    has_the_values_of(game, ex, rows, within)
    has_the_indices_of(game, ex, rows, within)


@given(ensembles(max_trees=3, max_depth=4), ROWS, SEEDS, st.booleans())
@settings(max_examples=25)
def test_groups_are_players(ensemble, n_rows, seed, covers):
    case, rng, names = invented(ensemble, n_rows, seed), np.random.default_rng(seed), ensemble.feature_names
    members = rng.permutation(len(names))[: rng.integers(1, len(names) + 1)]
    groups, rows = {"group": [names[f] for f in members]}, tables(ensemble, 3, seed + 1)
    players = players_of(ensemble, groups)
    game = Game.of_covers(case.model, players, rows) if covers else Game.of_model(case, players, rows)
    ex = gw.Explainer(case.model, None if covers else case.rows, groups=groups)
    within = case.margin(case.model)
    assert set(ex.shap_values(rows).names) == set(players)
    has_the_values_of(game, ex, rows, within)
    has_the_indices_of(game, ex, rows, within)


@given(ensembles(max_trees=3, max_depth=4), ROWS, SEEDS, st.booleans())
@settings(max_examples=25)
def test_weights_of_background_rows(ensemble, n_rows, seed, whole):
    case, rng = invented(ensemble, n_rows, seed), np.random.default_rng(seed)
    weight = rng.integers(0, 4, n_rows) if whole else rng.exponential(size=n_rows)
    weight = weight + np.eye(n_rows, dtype=weight.dtype)[0]  # some row must count
    rows, players = tables(ensemble, 3, seed + 1), players_of(ensemble)
    ex = gw.Explainer(case.model, case.rows, sample_weight=weight)
    has_the_values_of(Game.of_model(case, players, rows, weight), ex, rows, case.margin(case.model))


@given(ensembles(max_trees=3, max_depth=4), st.integers(2, 12), SEEDS)
@settings(max_examples=15)
def test_a_background_is_as_good_as_its_rows(ensemble, n_rows, seed):
    case = invented(ensemble, n_rows, seed)
    rows = tables(ensemble, 3, seed + 1)
    one, two = (gw.summarize(case.model, part, order=None) for part in (case.rows[:1], case.rows[1:]))
    asked, table = gw.Explainer(case.model, one + two), gw.Explainer(case.model, case.rows)
    for method in METHODS:
        ours, theirs = (getattr(ex, method)(rows) for ex in (asked, table))
        np.testing.assert_allclose(ours.values, theirs.values, rtol=0, atol=case.margin(case.model))
        np.testing.assert_allclose(ours.base_values, theirs.base_values, rtol=0, atol=case.margin(case.model))


# ----------------------------------------------------------------------------------------------------------------- shap


def away_from_cuts(table, n_rows, seed):
    """Rows in the range of a table, in float32, that lie right beside no cut: shap rounds cuts to float32."""
    rng = np.random.default_rng(seed)
    finite = np.where(np.isfinite(table), table, np.nan)
    rows = rng.normal(np.nanmean(finite, axis=0), np.nanstd(finite, axis=0), size=(n_rows, table.shape[1]))
    rows = rows.astype(np.float32).astype(np.float64)
    rows[rng.random(rows.shape) < np.isnan(table).mean()] = np.nan
    return rows


# Right according to section 3.2, and some whose values are right but for a constant.
IN_SHAP = [
    *("sklearn: tree, regression", "sklearn: tree, 3 targets", "sklearn: tree, 3 classes"),
    *("sklearn: forest, regression", "sklearn: forest, binary", "sklearn: forest, 4 classes"),
    *("sklearn: forest, missing values", "sklearn: forest, 2 targets", "sklearn: extra trees, regression"),
    *("sklearn: extra trees, missing values", "sklearn: boosting, regression", "sklearn: boosting, binary"),
    *("sklearn: boosting, huber", "sklearn: boosting, early stopping", "sklearn: boosting, exponential"),
    *("sklearn: histogram, regression", "sklearn: histogram, missing values", "sklearn: histogram, binary"),
    *("sklearn: histogram, poisson", "sklearn: histogram, 3 classes", "xgboost: regression"),
    *("xgboost: regression, missing values", "xgboost: binary", "xgboost: booster, counts", "xgboost: 3 classes"),
    *("lightgbm: regression", "lightgbm: regression, missing values", "lightgbm: dart", "lightgbm: random forest"),
    *("lightgbm: binary", "lightgbm: LGBMRegressor", "lightgbm: LGBMClassifier, 3 classes", "catboost: two classes"),
]


def like_shap(found, theirs, name, rows):
    """Compare with shap to a millionth of the largest value."""
    theirs = np.asarray(theirs)
    # Of a random forest of LightGBM, shap explains the sum, as raw scores are (model-semantics.md, 1.2).
    theirs = theirs / lightgbm_models.TREES if name == "lightgbm: random forest" else theirs
    assert len(found.values) == len(rows)
    if theirs.size == 2 * found.values.size:  # both classes, where ours are of the second
        theirs = theirs[..., 1]
    theirs = theirs.reshape(found.values.shape)
    np.testing.assert_allclose(found.values, theirs, rtol=0, atol=1e-6 * np.abs(theirs).max())


@pytest.mark.parametrize("name", IN_SHAP)
def test_shap_with_a_background(name):
    shap = shap_or_skip()
    model, table = MODELS[name]()
    background, rows = (away_from_cuts(np.asarray(table), n, seed) for n, seed in ((100, 0), (30, 1)))
    theirs = shap.TreeExplainer(model, background, feature_perturbation="interventional")
    found = gw.Explainer(model, background).shap_values(rows)
    like_shap(found, theirs.shap_values(rows, check_additivity=False), name, rows)


@pytest.mark.filterwarnings("ignore:LightGBM binary classifier with TreeExplainer shap values output has changed")
@pytest.mark.parametrize("name", IN_SHAP)
def test_shap_by_covers(name):
    shap = shap_or_skip()
    model, table = MODELS[name]()
    rows = away_from_cuts(np.asarray(table), 20, seed=1)
    theirs, ex = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent"), gw.Explainer(model)
    like_shap(ex.shap_values(rows), theirs.shap_values(rows, check_additivity=False), name, rows)
    pairs = np.asarray(theirs.shap_interaction_values(rows[:5]))
    like_shap(ex.shap_interaction_values(rows[:5]), pairs, name, rows[:5])


def test_interactions_with_a_background_are_not_zero():
    shap = shap_or_skip()
    X, y = sklearn_models.data()
    model = RandomForestRegressor(max_depth=4, **FEW).fit(X, y)
    case, rows = Case(model, X[:30], sklearn_models.raw), X[30:34]
    theirs = shap.TreeExplainer(model, case.rows, feature_perturbation="interventional")
    assert not np.asarray(theirs.shap_interaction_values(rows)).any()
    ex = gw.Explainer(model, case.rows)
    found = ex.shap_interaction_values(rows)
    close(found, Game.of_model(case, players_of(ex.ensemble), rows).shap_matrix(), ex.ensemble.feature_names, 1e-9)
    assert np.abs(found.values).min(axis=0).max() > 0


# ---------------------------------------------------------------------------------- contributions of the libraries


def of_xgboost(model, rows):
    """Contributions and their interactions, with the base as the last ones."""
    if isinstance(model, xgb.Booster):
        booster, rounds, missing = model, (0, 0), np.nan
    else:
        booster, missing = model.get_booster(), model.missing
        rounds = (0, model.best_iteration + 1) if getattr(model, "early_stopping_rounds", None) else (0, 0)
    known = {} if isinstance(rows, pd.DataFrame) else {"feature_types": booster.feature_types}
    known |= {} if isinstance(rows, pd.DataFrame) else {"feature_names": booster.feature_names}
    matrix = xgb.DMatrix(rows, missing=missing, enable_categorical=True, **known)
    kinds = ({"pred_contribs": True}, {"pred_interactions": True})
    return [booster.predict(matrix, iteration_range=rounds, **kind) for kind in kinds]


def of_lightgbm(model, rows):
    found = model.predict(rows, pred_contrib=True)
    booster = getattr(model, "booster_", model)
    # Contributions of a random forest are sums, as its raw scores are.
    return [found / (booster.current_iteration() if "\naverage_output\n" in booster.model_to_string() else 1)]


def of_catboost(model, rows):
    pool = catboost_models.catboost.Pool(rows, cat_features=model.get_cat_feature_indices())
    return [model.get_feature_importance(pool, type="ShapValues")]


LIBRARIES = {"xgboost": of_xgboost, "lightgbm": of_lightgbm, "catboost": of_catboost}


@pytest.mark.parametrize(
    # CatBoost's own do not add up to its scores for the last one either.
    "name",
    [
        name
        for name in MODELS
        if name.partition(":")[0] in LIBRARIES and not name.endswith((*WITHOUT, "right, lossguide"))
    ],
)
def test_contributions_of_the_library(name):
    skip_old(name)
    model, table = MODELS[name]()
    rows, ex = table[:10], gw.Explainer(model)
    n_players, n_outputs = table.shape[1], ex.ensemble.n_outputs
    shapley = ex.shap_values(rows)
    theirs = LIBRARIES[name.partition(":")[0]](model, rows)
    within = np.abs(theirs[0]).max() * (1e-5 if ex.ensemble.score.dtype == "float32" else 1e-10)
    values = theirs[0].reshape(len(rows), n_outputs, n_players + 1).swapaxes(1, 2)
    close(shapley, values[:, :-1], ex.ensemble.feature_names, within)
    np.testing.assert_allclose(np.tile(shapley.base_values, (len(rows), 1)), values[:, -1], rtol=0, atol=within)
    for pairs in theirs[1:]:
        pairs = np.moveaxis(pairs.reshape(len(rows), n_outputs, n_players + 1, n_players + 1), 1, 3)
        close(ex.shap_interaction_values(rows), pairs[:, :-1, :-1], ex.ensemble.feature_names, within)


# ---------------------------------------------------------------------------------------------------------- results


@pytest.fixture(scope="module")
def classes():
    X, y = sklearn_models.data("classification", classes=3)
    return RandomForestClassifier(max_depth=4, **FEW).fit(X, np.array([*"abc"])[y]), X[:60], X[60:70]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("background", [True, False], ids=["rows", "path-dependent"])
def test_one_output_is_that_part_of_all(classes, method, background):
    model, X, rows = classes
    ask = getattr(gw.Explainer(model, X if background else None), method)
    whole = ask(rows)
    assert whole.outputs == ("a", "b", "c")
    assert whole.names == tuple(f"x{j}" for j in range(5))
    assert whole.units == "probability"
    assert whole.values.shape == (10, *[5] * (1 + (method == METHODS[2])), 3)
    np.testing.assert_array_equal(np.asarray(whole), whole.values)
    for k, name in enumerate("abc"):
        part = ask(rows, output=name)
        assert part.outputs == (name,)
        np.testing.assert_allclose(part.values, whole.values[..., k], rtol=0, atol=1e-14)
        assert part.base_values == pytest.approx(whole.base_values[k])
    with pytest.raises(gw.errors.TableError, match="there is no output 'd'"):
        ask(rows, output="d")


@pytest.mark.parametrize("method", METHODS)
def test_means(classes, method):
    model, X, rows = classes
    for found in (getattr(gw.Explainer(model, X), method)(rows, **output) for output in ({}, {"output": "b"})):
        np.testing.assert_allclose(found.mean_abs(), np.abs(found.values).mean(axis=0), rtol=1e-12)


def test_frames(classes):
    model, X, rows = classes
    ex = gw.Explainer(model, X)
    one, several = ex.shap_values(rows, output="b"), ex.shap_values(rows)
    frame = pd.DataFrame(one.to_frame())
    assert list(frame.columns) == list(one.names)
    np.testing.assert_array_equal(frame.to_numpy(), one.values)
    frame = pd.DataFrame(several.to_frame())
    assert list(frame.columns) == [f"{name} [{output}]" for name in several.names for output in "abc"]
    np.testing.assert_array_equal(frame.to_numpy(), several.values.reshape(len(rows), -1))


def test_rows_of_any_kind_of_table():
    frame, y = sklearn_models.category_frame()
    model = HistGradientBoostingRegressor(**BOOST).fit(frame, y)
    ex, rows = gw.Explainer(model, frame), frame[:20]
    for method in METHODS:
        expected = getattr(ex, method)(rows).values
        for table in (pl.from_pandas(rows), pa.Table.from_pandas(rows), rows[[*rows.columns[::-1]]]):
            np.testing.assert_array_equal(getattr(ex, method)(table).values, expected)


@pytest.mark.parametrize("method", METHODS)
def test_no_rows_one_row_and_many(method):
    X, y = sklearn_models.data(missing=True)
    model = HistGradientBoostingRegressor(max_iter=5, max_leaf_nodes=9).fit(X, y)
    many = np.tile(X, (41, 1))[:12_300]
    for background in (X, None):
        ask = getattr(gw.Explainer(model, background), method)
        expected = ask(X).values
        none = ask(X[:0])
        assert none.values.shape == (0, *expected.shape[1:])
        assert not none.mean_abs().any()  # without a warning
        assert "Attributions" in none._repr_html_()
        np.testing.assert_allclose(ask(X[7:8]).values, expected[7:8], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(ask(many).values, np.tile(expected, (41, *[1] * (expected.ndim - 1))), atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_rows_that_do_not_fit(classes, method):
    model, X, rows = classes
    with pytest.raises(gw.errors.TableError, match="the table has 2 columns"):
        getattr(gw.Explainer(model, X), method)(rows[:, :2])


@pytest.mark.parametrize("method", METHODS)
def test_backgrounds_of_too_low_an_order(classes, method):
    model, X, rows = classes
    with pytest.raises(gw.errors.BackgroundError, match="order"):
        getattr(gw.Explainer(model, gw.summarize(model, X, order=1)), method)(rows)


def test_features_that_no_tree_uses_have_no_value():
    X, y = sklearn_models.data()
    X[:, 3] = 1.0
    model = GradientBoostingRegressor(**FEW).fit(X, y)
    for ex in (gw.Explainer(model, X), gw.Explainer(model)):
        assert not ex.shap_values(X[:10]).values[:, 3].any()
        assert not ex.banzhaf_values(X[:10]).values[:, 3].any()
        pairs = ex.shap_interaction_values(X[:10]).values
        assert not pairs[:, 3].any()
        assert not pairs[:, :, 3].any()


@pytest.mark.parametrize("background", [True, False], ids=["rows", "path-dependent"])
def test_plots_of_shap(background):
    shap = shap_or_skip()
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not among the libraries of the tests")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X, y = sklearn_models.data("classification")
    X = pd.DataFrame(X, columns=[*"abcde"])
    model = HistGradientBoostingClassifier(**BOOST).fit(X, y)
    found = gw.Explainer(model, X if background else None).shap_values(X[:40])
    explanation = found.to_shap()
    assert isinstance(explanation, shap.Explanation)
    assert list(explanation.feature_names) == [*"abcde"]
    np.testing.assert_array_equal(explanation.values, found.values)
    np.testing.assert_array_equal(np.asarray(explanation.data, dtype=float), X[:40])
    # As shap's own: one base for every row.
    np.testing.assert_array_equal(explanation.base_values, np.full(40, found.base_values))
    shap.plots.beeswarm(explanation, show=False)
    shap.plots.bar(explanation, show=False)
    shap.plots.waterfall(explanation[0], show=False)
    plt.close("all")


def test_plots_of_shap_for_one_of_several_outputs(classes):
    shap = shap_or_skip()
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not among the libraries of the tests")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    model, X, rows = classes
    explanation = gw.Explainer(model, X).shap_values(rows).to_shap()
    assert explanation.values.shape == (10, 5, 3)
    assert explanation.base_values.shape == (10, 3)
    shap.plots.waterfall(explanation[0, :, 2], show=False)
    shap.plots.beeswarm(explanation[..., 1], show=False)
    plt.close("all")
