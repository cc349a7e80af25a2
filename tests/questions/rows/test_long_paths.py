"""Shapley and Banzhaf values and interactions of trees with long paths: formulas, shap, the libraries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from hypothesis import given, settings
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from threadpoolctl import threadpool_limits

import glasswood as gw
from helpers import oracle
from helpers.attributions import METHODS, shap_or_skip
from helpers.brute import Case
from helpers.deep_trees import (
    BANZHAF,
    MIDDLE,
    SEEDS,
    against_rows,
    by_cover,
    chains,
    pairs_against_rows,
    pairs_by_cover,
    same,
    without_diagonal,
)
from helpers.games import Game, players_of

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


def adds_up(found, scores, within):
    """Check that base and Shapley values are the prediction."""
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, scores, rtol=0, atol=within)


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
