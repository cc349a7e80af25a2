"""Metrics that users write as formulas of a cube: the paper's, Shapley values, keys of any shape, and wrong answers."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

import glasswood as gw
from helpers.cube_metrics import CPDVMetric, PDIVMetric, ShapleyMetric, all_subsets
from helpers.games import Game, players_of
from helpers.interactions import (
    ENSEMBLES,
    SEEDS,
    close_to,
    explained,
    follows_the_game,
    margin,
    moved,
    some_groups,
)
from helpers.strategies import tables
from zoo import sklearn_models
from zoo.cases import CASES, invented

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


@pytest.fixture(scope="module")
def regression():
    X, y = sklearn_models.data(missing=True)
    return HistGradientBoostingRegressor(max_iter=10, random_state=0).fit(X, y), X


def metric_explainers(ensemble, seed):
    """Explainers of an ensemble with rows, rows and weights, groups, and covers; with their games."""
    case, rng = invented(ensemble, 8, seed), np.random.default_rng(seed)
    rows, weight, groups = tables(ensemble, 3, seed + 1), rng.random(8) + 0.1, some_groups(ensemble, rng)
    players, grouped = players_of(ensemble), players_of(ensemble, groups)
    yield gw.Explainer(case.model, case.rows), Game.of_model(case, players, rows), rows
    weighted = gw.Explainer(case.model, case.rows, sample_weight=weight, groups=groups)
    yield weighted, Game.of_model(case, grouped, rows, weight), rows
    yield gw.Explainer(case.model), Game.of_covers(case.model, players, rows), rows


def same(found, expected, within):
    """Compare two results whose sets may differ where all values are zero."""
    for subset in {*found.subsets, *expected.subsets}:
        np.testing.assert_allclose(found[subset], expected[subset], rtol=0, atol=within)


@given(ENSEMBLES, SEEDS)
@settings(max_examples=40)
def test_the_metrics_of_the_paper(ensemble, seed):
    within = close_to(ensemble)
    for ex, game, rows in metric_explainers(ensemble, seed):
        pdiv = ex.evaluate(PDIVMetric(), rows)
        follows_the_game(pdiv, game, within)  # the empty set has the mean: the constant of the score is a cube, too
        same(pdiv, ex.interaction_values(rows), within)
        cpdv = ex.evaluate(CPDVMetric(), rows)
        same(cpdv, ex.evaluate(gw.metrics.CenteredPartialDependence(), rows), within)
        for k, name in enumerate(game.names):
            centered = game.pdv(1 << k) - game.pdv(0)
            np.testing.assert_allclose(cpdv[name].reshape(centered.shape), centered, rtol=0, atol=within)


@given(ENSEMBLES, SEEDS)
@settings(max_examples=40)
def test_interactions_as_a_metric(ensemble, seed):
    for ex, game, rows in metric_explainers(ensemble, seed):
        order = 1 + seed % game.n_players
        whole = ex.interaction_values(rows)
        for max_order in (None, order):
            found = ex.evaluate(gw.metrics.PartialDependenceInteractions(max_order=max_order), rows)
            assert set(found.subsets) <= {s for s in whole.subsets if 0 < len(s) <= (max_order or game.n_players)}
            for subset in whole.subsets[1:]:
                expected = whole[subset] if len(subset) <= (max_order or game.n_players) else 0 * whole[subset]
                np.testing.assert_allclose(found[subset], expected, rtol=0, atol=close_to(ensemble))


@given(ENSEMBLES, SEEDS)
@settings(max_examples=40)
def test_shapley_values_written_by_a_user(ensemble, seed):
    for ex, game, rows in metric_explainers(ensemble, seed):
        found = ex.evaluate(ShapleyMetric(), rows)
        assert all(len(subset) == 1 for subset in found.subsets)
        for k, name in enumerate(game.names):
            expected = game.shapley()[:, k]
            np.testing.assert_allclose(found[name].reshape(expected.shape), expected, rtol=0, atol=close_to(ensemble))


@pytest.mark.parametrize(
    "name", ["sklearn: categories, 3 classes", "xgboost: 3 classes, vector leaves", "catboost: CTR"]
)
def test_metrics_of_models(name):
    name = next(known for known in CASES if known.startswith(name))
    case = CASES[name]()
    ex = gw.Explainer(case.model, case.rows)
    rows, within = explained(case, ex.ensemble), margin(case, ex.ensemble)
    game = Game.of_model(case, players_of(ex.ensemble), rows)
    follows_the_game(ex.evaluate(PDIVMetric(), rows), game, within)
    one = ex.evaluate(PDIVMetric(), rows, output=0)
    assert one.outputs == ex.ensemble.score.labels[:1]
    follows_the_game(one, replace(game, values=game.values[..., :1]), within)


class Shapes(gw.metrics.CubeMetric):
    """Single and joint differences at the empty set, with keys of some shape."""

    def __init__(self, single, pair):
        self.single, self.pair = single, pair

    def calc_metric(self, s_plus, s_minus):
        found = {}
        for subset in all_subsets([*s_plus, *s_minus]):
            if set(s_plus) <= set(subset) and 0 < len(subset) <= 2:
                key = self.single(subset[0]) if len(subset) == 1 else self.pair(subset)
                found[key] = (-1.0) ** (len(subset) - len(s_plus))
        return found


SINGLE = {"player": lambda player: player, "tuple": lambda player: (player,), "frozenset": lambda p: frozenset([p])}
PAIR = {"tuple": tuple, "frozenset": frozenset, "backwards": lambda players: players[::-1]}


@pytest.mark.parametrize("single", SINGLE)
@pytest.mark.parametrize("pair", PAIR)
def test_keys_of_any_shape(regression, single, pair):
    model, X = regression
    ex = gw.Explainer(model, X)
    found, expected = (
        ex.evaluate(Shapes(SINGLE[single], PAIR[pair]), X[:20]),
        ex.interaction_values(X[:20], max_order=2),
    )
    assert found.subsets == expected.subsets[1:]
    np.testing.assert_allclose(found.values, expected.values[:, 1:], rtol=0, atol=1e-10)


def metric_of(answer):
    class Answer(gw.metrics.CubeMetric):
        def calc_metric(self, s_plus, s_minus):
            return answer(s_plus, s_minus)

    return Answer()


def test_metrics_are_results_like_others(regression, tmp_path):
    model, X = regression
    ex = gw.Explainer(model, X)
    found, rows = ex.evaluate(ShapleyMetric(), moved(X, 2500)), moved(X, 2500)
    shap = ex.shap_values(rows)
    np.testing.assert_allclose(found.values, shap.values, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.mean_abs(), np.abs(found.values).mean(axis=0), rtol=1e-10)
    # No set is left out: there is no empty one.
    assert found.top_per_row(2)[0].min() == 0
    assert len(found.top()) == len(found) == 5
    assert found.to_frame().columns.tolist() == ["x0", "x1", "x2", "x3", "x4"]
    np.testing.assert_array_equal(np.concatenate([block for _, block in found.blocks(64)]), found.values)
    found.to_parquet(tmp_path / "metric.parquet")
    assert len(pd.read_parquet(tmp_path / "metric.parquet")) == np.count_nonzero(found.values)


def test_a_metric_that_has_nothing_to_say(regression):
    model, X = regression
    found = gw.Explainer(model, X).evaluate(metric_of(lambda s_plus, s_minus: {}), X[:5])
    assert found.subsets == []
    assert found.values.shape == (5, 0)
    assert not found["x0"].any()


# ------------------------------------------------------------------------------------------------------------ errors


@pytest.mark.parametrize("player", ["nobody", 1000, ("nobody", "x0"), frozenset([-1]), None, 0.5])
def test_keys_that_are_no_players(regression, player):
    model, X = regression
    with pytest.raises(ValueError, match="a metric must return features of its cube"):
        gw.Explainer(model, X).evaluate(metric_of(lambda s_plus, s_minus: {player: 1.0}), X[:5])


def test_players_of_other_cubes(regression):
    model, X = regression
    pdv = metric_of(lambda s_plus, s_minus: {player: 1.0 for player in range(5) if s_plus <= {player} - s_minus})
    with pytest.raises(
        ValueError, match=r"features of its cube, .* null players: .* as CenteredPartialDependence does"
    ):
        gw.Explainer(model, X).evaluate(pdv, X[:5])


def test_sets_that_are_named_twice(regression):
    model, X = regression
    for answer in (
        lambda s_plus, s_minus: dict.fromkeys([*permutations(s_plus, 2)], 1.0),
        lambda s_plus, s_minus: {(player, player): 1.0 for player in s_plus},
        lambda s_plus, s_minus: {(player,): 1.0 for player in s_plus} | dict.fromkeys(s_plus, 2.0),
    ):
        with pytest.raises(ValueError, match=r"twice|distinct"):
            gw.Explainer(model, X).evaluate(metric_of(answer), X[:5])


@pytest.mark.parametrize("answer", [None, 1.0, [("x0", 1.0)], {"x0"}])
def test_answers_that_are_no_mappings(regression, answer):
    model, X = regression
    with pytest.raises(TypeError, match="mapping"):
        gw.Explainer(model, X).evaluate(metric_of(lambda s_plus, s_minus: answer), X[:5])


def test_metrics_that_are_none(regression):
    model, X = regression
    for metric in (CPDVMetric, PDIVMetric().calc_metric, "shapley"):
        with pytest.raises(TypeError, match="an object with the method calc_metric"):
            gw.Explainer(model, X).evaluate(metric, X[:5])
