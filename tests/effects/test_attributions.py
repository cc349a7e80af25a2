"""Shapley and Banzhaf values and interactions are those of the game, at any depth: brute force, shap, the libraries."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import factorial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xgboost as xgb
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from tests.effects.test_path_dependent import MODELS, WITHOUT
from tests.models.readers import test_catboost, test_lightgbm, test_sklearn, test_xgboost
from tests.study.test_partial_dependence import CASES, invented
from threadpoolctl import threadpool_limits

import glasswood as gw
from glasswood.models._ensemble import CategorySets, Score, Tree, TreeEnsemble, stack
from glasswood.tables._columns import NumberColumn
from glasswood.tables._tables import Schema, encode
from helpers import oracle
from helpers.brute import Case, tries
from helpers.games import Game, players_of
from helpers.strategies import ensembles, tables

FEW = {"n_estimators": 8, "random_state": 0}
BOOST = {"max_iter": 8, "random_state": 0}
METHODS = ["shap_values", "banzhaf_values", "shap_interaction_values"]
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
    most = min(3, len(game.names))
    shapley, banzhaf = {}, {}
    for order in range(1, most + 1):
        shapley |= game.shapley_interactions(order)
        banzhaf |= game.banzhaf_interactions(order)
    singles = {names: values for names, values in shapley.items() if len(names) == 1}
    pairs = {names: values for names, values in banzhaf.items() if len(names) == 2}
    metrics = gw.metrics
    for metric, expected in (
        (metrics.ShapleyValues(), singles),
        (metrics.ShapleyInteractions(max_order=most), shapley),
        (metrics.BanzhafValues(), {names: values for names, values in banzhaf.items() if len(names) == 1}),
        (metrics.BanzhafInteractions(max_order=most), banzhaf),
        (metrics.BanzhafInteractions(max_order=2, min_order=2), pairs),
        *((metrics.ShapleyTaylor(order=order), game.shapley_taylor(order)) for order in range(1, most + 1)),
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
    if name.startswith("xgboost: categories") and test_xgboost.VERSION < (3, 1):
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
    pools = [np.array(tries(case, e, f, rng, most=200).values) for f in range(e.n_features)]
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


def shap_or_skip():
    return pytest.importorskip("shap", reason="shap is not among the libraries of the tests")


def like_shap(found, theirs, name, rows):
    """Compare with shap to a millionth of the largest value."""
    theirs = np.asarray(theirs)
    # Of a random forest of LightGBM, shap explains the sum, as raw scores are (model-semantics.md, 1.2).
    theirs = theirs / test_lightgbm.TREES if name == "lightgbm: random forest" else theirs
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
    X, y = test_sklearn.data()
    model = RandomForestRegressor(max_depth=4, **FEW).fit(X, y)
    case, rows = Case(model, X[:30], test_sklearn.raw), X[30:34]
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
    pool = test_catboost.catboost.Pool(rows, cat_features=model.get_cat_feature_indices())
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


# ------------------------------------------------------------------------------------------------------- deep trees

# Weights of a coalition's size, as points of the multilinear extension: the Shapley value is its derivative, averaged
# along the diagonal, which 32 points do exactly for polynomials of up to 63 players; the Banzhaf value that in the
# middle.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(32)
DIAGONAL, MIDDLE = ((NODES + 1) / 2, WEIGHTS / 2), (np.array([0.5]), np.array([1.0]))


def leaves(e, *many_tables, members=()):
    """For every leaf: its value, its players, what they are worth by cover, and who of each table's rows meets them.

    A player is the number of a column; all `members` of a group are the first of them.
    """
    player_of = {f: members[0] if f in members else f for f in range(e.n_features)}
    sides = []
    for table in many_tables:
        columns = encode(table, e.schema, e.used_features)
        goes_left = np.zeros((e.n_nodes, len(table)), dtype=bool)
        for node, f in enumerate(e.feature.tolist()):
            goes_left[node] = [oracle.goes_left(e, node, x) for x in columns[f].astype(float).tolist()]
        sides.append(goes_left)
    for leaf, path in oracle.paths(e).items():
        players = sorted({player_of[int(e.feature[node])] for node, _ in path})
        share = np.ones(len(players))
        meets = [np.ones((goes_left.shape[1], len(players)), dtype=bool) for goes_left in sides]
        for node, left in path:
            place = players.index(player_of[int(e.feature[node])])
            child = int((e.left if left else e.right)[node])
            share[place] *= (e.cover[child] if child >= 0 else e.leaf_cover[~child]) / e.cover[node]
            for met, goes_left in zip(meets, sides, strict=True):
                met[:, place] &= goes_left[node] == left
        yield e.value[leaf, 0] * e.score.factor, players, share, *meets


def by_cover(e, rows, points=DIAGONAL, members=()):
    """Values of the path-dependent game: a leaf is worth the product of what its players meet, or else their share."""
    at, weights = points
    found = np.zeros((len(rows), e.n_features))
    for value, players, share, met in leaves(e, rows, members=members):
        slopes = met - share
        factors = share[:, None] + slopes[..., None] * at
        found[:, players] += value * slopes * (products_of_others(factors) @ weights)
    return found


def products_of_others(factors):
    """The product over all players but one, for each of them: factors of shape (n_rows, n_players, n_points)."""
    ones = np.ones_like(factors[:, :1])
    before = np.concatenate([ones, np.cumprod(factors, axis=1)[:, :-1]], axis=1)
    behind = np.concatenate([np.cumprod(factors[:, ::-1], axis=1)[:, ::-1][:, 1:], ones], axis=1)
    return before * behind


def pairs_by_cover(e, rows):
    """Halves of the Shapley interactions of the path-dependent game; nothing on the diagonal."""
    at, weights = DIAGONAL
    found = np.zeros((len(rows), e.n_features, e.n_features))
    for value, players, share, met in leaves(e, rows):
        slopes = met - share
        factors = share[:, None] + slopes[..., None] * at
        for i, player in enumerate(players):
            others = [j for j in range(len(players)) if j != i]
            rest = products_of_others(factors[:, others]) @ weights
            found[:, player, [players[j] for j in others]] += value / 2 * slopes[:, [i]] * slopes[:, others] * rest
    return found


def cube_weights(weight, most=65):
    """A table of weights by the number of players that must take part, and of those that must not."""
    return np.array([[weight(plus, minus) for minus in range(most)] for plus in range(most)])


def ratio(plus, minus, order):
    """The Shapley weight of a cube without `order` of the players that must take part."""
    if plus < order:
        return 0.0
    return factorial(plus - order) * factorial(minus) / factorial(plus + minus - order + 1)


SHAPLEY = cube_weights(lambda plus, minus: ratio(plus, minus, 1))
BANZHAF = cube_weights(lambda plus, minus: 0.5 ** (plus + minus - 1))
SAME_SIDE = cube_weights(lambda plus, minus: ratio(plus, minus, 2))
BOTH_SIDES = cube_weights(lambda plus, minus: ratio(plus, minus - 1, 1) if minus else 0.0)


def cubes(met, other):
    """For each row and background row: how many players must take part, and must not, and if there is a cube at all."""
    met, other = met.astype(float), other.astype(float)
    plus, minus = (a.round().astype(int) for a in (met @ (1 - other).T, (1 - met) @ other.T))
    return plus, minus, (1 - met) @ (1 - other).T == 0


def against_rows(e, background, rows, weights=SHAPLEY, members=()):
    """Values of the game of a background: a sum over cubes, one for each row, background row and leaf."""
    found = np.zeros((len(rows), e.n_features))
    for value, players, _, met, other in leaves(e, rows, background, members=members):
        plus, minus, possible = cubes(met, other)
        takes_part = (possible * weights[plus, minus]) @ ~other
        stays_away = (possible * weights[minus, plus]) @ other
        found[:, players] += value / len(background) * (met * takes_part - ~met * stays_away)
    return found


def pairs_against_rows(e, background, rows):
    """Halves of the Shapley interactions of the game of a background; nothing on the diagonal."""
    found = np.zeros((len(rows), e.n_features, e.n_features))
    for value, players, _, met, other in leaves(e, rows, background):
        plus, minus, possible = cubes(met, other)
        # Who must take part, and who must not, in each cube: (n_rows, n_background, n_players)
        take, stay = (met[:, None] & ~other[None]).astype(float), (~met[:, None] & other[None]).astype(float)
        inside, outside, across = (
            possible * table for table in (SAME_SIDE[plus, minus], SAME_SIDE[minus, plus], BOTH_SIDES[plus, minus])
        )
        both = np.einsum("nb,nbi,nbj->nij", inside, take, take) + np.einsum("nb,nbi,nbj->nij", outside, stay, stay)
        mixed = np.einsum("nb,nbi,nbj->nij", across, take, stay)
        both -= mixed + mixed.swapaxes(1, 2)
        both[:, range(len(players)), range(len(players))] = 0.0
        found[np.ix_(range(len(rows)), players, players)] += value / 2 / len(background) * both
    return found


def same(actual, expected, e):
    """Compare values, within what rounding does to sums of leaf values."""
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-10 * np.abs(e.value).sum() * e.score.factor)


def without_diagonal(matrices):
    return np.where(np.eye(matrices.shape[1], dtype=bool), 0.0, matrices)


def adds_up(found, scores, within):
    """Check that base and Shapley values are the prediction."""
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, scores, rtol=0, atol=within)


@st.composite
def chains(draw, n_players):
    """Trees that are one long path each through all of so many features, some of them twice, and rows for them."""
    rng = np.random.default_rng(draw(SEEDS))
    n_features = n_players + 2
    trees = [chain(rng, rng.permutation(n_features)[:n_players]) for _ in range(draw(st.integers(1, 2)))]
    schema = Schema(tuple(NumberColumn(f"x{j}") for j in range(n_features)))
    score = Score(base=np.array([0.3]), labels=("prediction",), units="value", scale=0.5)
    ensemble = TreeEnsemble(**stack(trees, CategorySets()), schema=schema, score=score, source="hypothesis")
    # Most rows stay on most of the path, or few leaves would matter.
    usual = rng.choice([-1.0, 1.0], n_features)
    table = np.where(rng.random((14, n_features)) < 0.9, usual, -usual)
    table[rng.random(table.shape) < 0.05] = np.nan
    return ensemble, table[:8], table[8:]


def chain(rng, players):
    """One path: every node has a leaf on one side, and the next node on the other."""
    again = rng.integers(len(players), size=len(players) // 4)
    features = np.concatenate([players, players[again]])
    n = len(features)
    left, right = np.full((2, 2 * n + 1), -1)
    inner, leaf, behind = 2 * np.arange(n), 2 * np.arange(n) + 1, 2 * np.arange(n) + 2
    turn = rng.random(n) < 0.5
    left[inner], right[inner] = np.where(turn, leaf, behind), np.where(turn, behind, leaf)
    cover = np.zeros(2 * n + 1)
    cover[[*leaf, 2 * n]] = rng.integers(1, 50, n + 1)
    for node in inner[::-1]:
        cover[node] = cover[node + 1] + cover[node + 2]
    feature = np.zeros(2 * n + 1, dtype=int)
    feature[inner] = features
    cut, missing_left = rng.choice([-0.5, 0.0, 0.5], 2 * n + 1), rng.random(2 * n + 1) < 0.5
    return Tree(feature, cut, left, right, missing_left, rng.normal(size=(2 * n + 1, 1)), cover)


@given(chains(n_players=5))
@settings(max_examples=20)
def test_the_formulas_for_deep_trees_are_those_of_the_game(chain):
    e, background, rows = chain
    case = Case(e, background, lambda model, rows: model.predict(rows))
    for game, values, middle, pairs in (
        (Game.of_covers(e, players_of(e), rows), by_cover(e, rows), by_cover(e, rows, MIDDLE), pairs_by_cover(e, rows)),
        (
            Game.of_model(case, players_of(e), rows),
            against_rows(e, background, rows),
            against_rows(e, background, rows, BANZHAF),
            pairs_against_rows(e, background, rows),
        ),
    ):
        same(values, game.shapley()[..., 0], e)
        same(middle, game.banzhaf()[..., 0], e)
        same(pairs, without_diagonal(game.shap_matrix()[..., 0]), e)


@pytest.mark.parametrize(
    ("n_players", "n_examples"),
    [(9, 5), (13, 3), (30, 2), (63, 1), *(pytest.param(n, 20, marks=pytest.mark.slow) for n in (13, 30, 63))],
)
def test_long_paths(n_players, n_examples):
    @given(chains(n_players=n_players))
    @settings(max_examples=n_examples)
    def proves(chain):
        is_right_at_any_depth(*chain)

    proves()


def is_right_at_any_depth(e, background, rows, *, interactions=True):
    """Compare all values of the two games with the formulas above."""
    scores, within = e.predict(rows), 1e-10 * np.abs(e.value).sum() + (1e-5 if e.score.dtype == "float32" else 0)
    ex = gw.Explainer(e)
    found = ex.shap_values(rows)
    same(found.values, by_cover(e, rows), e)
    adds_up(found, scores, within)
    same(ex.banzhaf_values(rows).values, by_cover(e, rows, MIDDLE), e)
    if interactions:
        pairs = ex.shap_interaction_values(rows).values
        same(without_diagonal(pairs), pairs_by_cover(e, rows), e)
        same(pairs.sum(axis=2), found.values, e)

    ex = gw.Explainer(e, background)
    found = ex.shap_values(rows)
    same(found.values, against_rows(e, background, rows), e)
    adds_up(found, scores, within)
    same(ex.banzhaf_values(rows).values, against_rows(e, background, rows, BANZHAF), e)
    if interactions:
        pairs = ex.shap_interaction_values(rows).values
        same(without_diagonal(pairs), pairs_against_rows(e, background, rows), e)
        same(pairs.sum(axis=2), found.values, e)


DEEP = ["IEEE-CIS_xgboost_model_depth_16", "IEEE-CIS_xgboost_model_depth_22"]


def real_rows(e, n_rows):
    """Rows of values at, between and beside the cuts of a model in float32, 40 % of them missing."""
    rng = np.random.default_rng(0)
    table = np.zeros((n_rows, e.n_features), dtype=np.float32)
    for f in e.used_features:
        cuts = np.unique(e.cut[e.feature == f]).astype(np.float32)
        beside = [np.nextafter(cuts, np.float32(side)) for side in (-np.inf, np.inf)]
        pool = np.concatenate([cuts, *beside, (cuts[1:] + cuts[:-1]) / 2, [cuts[0] - 1, cuts[-1] + 1]])
        table[:, f] = np.where(rng.random(n_rows) < 0.4, np.nan, rng.choice(pool, n_rows))
    return table


@pytest.mark.parametrize("name", DEEP)
def test_real_deep_models(name, shared):
    e = gw.read_model(shared / "models" / f"{name}.json")
    table = real_rows(e, 70)
    is_right_at_any_depth(e, table[20:], table[:20], interactions=False)
    background, rows = table[20:35], table[:4]
    for ex, pairs in (
        (gw.Explainer(e), pairs_by_cover(e, rows)),
        (gw.Explainer(e, background), pairs_against_rows(e, background, rows)),
    ):
        found = ex.shap_interaction_values(rows).values
        same(without_diagonal(found), pairs, e)
        same(found.sum(axis=2), ex.shap_values(rows).values, e)


@pytest.mark.slow
@pytest.mark.parametrize("name", DEEP)
def test_real_deep_models_with_many_rows(name, shared):
    e = gw.read_model(shared / "models" / f"{name}.json")
    table = real_rows(e, 1500)
    is_right_at_any_depth(e, table[1000:], table[:1000], interactions=False)


@pytest.mark.parametrize("name", DEEP)
def test_real_deep_models_against_xgboost(name, shared):
    booster = xgb.Booster(model_file=shared / "models" / f"{name}.json")
    ex = gw.Explainer(booster)
    rows = real_rows(ex.ensemble, 50)
    theirs = booster.predict(xgb.DMatrix(rows, feature_names=booster.feature_names), pred_contribs=True)
    np.testing.assert_allclose(ex.shap_values(rows).values, theirs[:, :-1], rtol=0, atol=1e-5 * np.abs(theirs).max())


@pytest.mark.parametrize("name", DEEP)
def test_real_deep_models_against_shap(name, shared):
    shap = shap_or_skip()
    model = xgb.XGBRegressor()
    model.load_model(shared / "models" / f"{name}.json")
    ex = gw.Explainer(model)
    rows = pd.DataFrame(real_rows(ex.ensemble, 30).astype(np.float64), columns=list(ex.ensemble.feature_names))
    theirs = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent").shap_values(rows)
    np.testing.assert_allclose(ex.shap_values(rows).values, theirs, rtol=0, atol=1e-5 * np.abs(theirs).max())


# Trees without a limit that split at random features have many of them on a path.
UNBOUNDED = {"n_estimators": 2, "max_depth": None, "max_features": 1, "random_state": 0}


def wide():
    """Rows of many features, a number that all of them matter for, and a class that can only be learned by heart."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 24))
    return X, X[:, 0] * X[:, 1] + X.sum(axis=1), rng.integers(3, size=300)


def read_deep(model):
    e = gw.read_model(model)
    assert max(len({e.feature[node] for node, _ in path}) for path in oracle.paths(e).values()) > 13
    return e


def test_unbounded_trees_of_a_forest():
    X, y, _ = wide()
    is_right_at_any_depth(read_deep(RandomForestRegressor(**UNBOUNDED).fit(X, y)), X[:30], X[30:36])


@pytest.mark.parametrize("background", [True, False], ids=["rows", "path-dependent"])
def test_several_outputs_of_deep_trees(background):
    X, _, y = wide()
    e = read_deep(RandomForestClassifier(**UNBOUNDED).fit(X, y))
    table, rows = X[:30] if background else None, X[30:36]
    for method in METHODS:
        whole = getattr(gw.Explainer(e, table), method)(rows)
        for k, name in enumerate(whole.outputs):
            # A model of its own for each class, whose values are proved above.
            score = replace(e.score, base=e.score.base[[k]], labels=(name,))
            alone = getattr(gw.Explainer(replace(e, value=e.value[:, [k]], score=score), table), method)(rows)
            same(whole.values[..., k], alone.values, e)
            assert whole.base_values[k] == pytest.approx(alone.base_values)


def test_classes_with_deep_trees_of_their_own():
    X, _, y = wide()
    model = GradientBoostingClassifier(**UNBOUNDED).fit(X, y)
    rows, scores, e = X[30:36], model.decision_function(X[30:36]), read_deep(model)
    assert np.unique(e.tree_output).tolist() == [0, 1, 2]
    for ex in (gw.Explainer(e, X[:30]), gw.Explainer(e)):
        found, pairs = ex.shap_values(rows), ex.shap_interaction_values(rows)
        adds_up(found, scores, 1e-10 * np.ptp(scores))
        np.testing.assert_allclose(pairs.values.sum(axis=2), found.values, rtol=0, atol=1e-10 * np.ptp(scores))
        for k in range(3):
            part = ex.shap_values(rows, output=k)
            np.testing.assert_allclose(part.values, found.values[..., k], rtol=0, atol=1e-10 * np.ptp(scores))


@given(chains(n_players=20), SEEDS)
@settings(max_examples=6)
def test_weights_with_long_paths(chain, seed):
    e, background, rows = chain
    weight = np.random.default_rng(seed).integers(0, 4, len(background))
    weight[0] += 1  # some row must count
    repeated = np.repeat(background, weight, axis=0)
    for scale in (1, 0.3):
        found = gw.Explainer(e, background, sample_weight=scale * weight).shap_values(rows)
        same(found.values, against_rows(e, repeated, rows), e)
        assert found.base_values == pytest.approx(e.predict(repeated).mean())


@given(chains(n_players=20), SEEDS)
@settings(max_examples=6)
def test_groups_with_long_paths(chain, seed):
    e, background, rows = chain
    rng, names = np.random.default_rng(seed), e.feature_names
    members = rng.permutation(e.n_features)[: rng.integers(2, 5)].tolist()
    groups = {"group": [names[f] for f in members]}
    for ex, expected in (
        (gw.Explainer(e, groups=groups), by_cover(e, rows, members=members)),
        (gw.Explainer(e, background, groups=groups), against_rows(e, background, rows, members=members)),
    ):
        found = ex.shap_values(rows)
        columns = [members[0] if name == "group" else names.index(name) for name in found.names]
        same(found.values, expected[:, columns], e)


@given(chains(n_players=20))
@settings(max_examples=4)
def test_pairs_of_long_paths_by_evaluate(chain):
    e, background, rows = chain
    metric = gw.metrics.ShapleyInteractions(max_order=2)
    for ex, pairs, singles in (
        (gw.Explainer(e), pairs_by_cover(e, rows), by_cover(e, rows)),
        (gw.Explainer(e, background), pairs_against_rows(e, background, rows), against_rows(e, background, rows)),
    ):
        found = ex.evaluate(metric, rows)
        values = np.zeros_like(pairs)
        for names, column in zip(found.subsets, found.values.T, strict=True):
            i, j = e.feature_names.index(names[0]), e.feature_names.index(names[-1])
            values[:, i, j] = values[:, j, i] = column
        same(without_diagonal(values), 2 * pairs, e)
        same(values[:, range(e.n_features), range(e.n_features)], singles, e)


# ---------------------------------------------------------------------------------------------------------- results


@pytest.fixture(scope="module")
def classes():
    X, y = test_sklearn.data("classification", classes=3)
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
        for part in (ask(rows, output=name), ask(rows, output_index=k)):
            assert part.outputs == (name,)
            np.testing.assert_allclose(part.values, whole.values[..., k], rtol=0, atol=1e-14)
            assert part.base_values == pytest.approx(whole.base_values[k])
    with pytest.raises(gw.errors.TableError, match="there is no output 'd'"):
        ask(rows, output="d")


@pytest.mark.parametrize("method", METHODS)
def test_means(classes, method):
    model, X, rows = classes
    for found in (getattr(gw.Explainer(model, X), method)(rows, **output) for output in ({}, {"output_index": 1})):
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
    frame, y = test_sklearn.category_frame()
    model = HistGradientBoostingRegressor(**BOOST).fit(frame, y)
    ex, rows = gw.Explainer(model, frame), frame[:20]
    for method in METHODS:
        expected = getattr(ex, method)(rows).values
        for table in (pl.from_pandas(rows), pa.Table.from_pandas(rows), rows[[*rows.columns[::-1]]]):
            np.testing.assert_array_equal(getattr(ex, method)(table).values, expected)


@pytest.mark.parametrize("method", METHODS)
def test_no_rows_one_row_and_many(method):
    X, y = test_sklearn.data(missing=True)
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
    X, y = test_sklearn.data()
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

    X, y = test_sklearn.data("classification")
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
