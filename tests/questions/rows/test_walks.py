"""Rows explained by walking: the values of the game, those of the other ways, and the same bits however it is done."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor

import glasswood as gw
from glasswood.effects._row_cells import Rows
from glasswood.questions.rows import _arithmetic_walks as _walks
from glasswood.questions.rows._answer_evaluator import evaluate, evaluator_of
from glasswood.questions.rows._arithmetic_long_paths import LongPaths
from glasswood.questions.rows._arithmetic_walks import WalkedRows
from glasswood.study import _study
from helpers.deep_trees import BANZHAF, against_rows, chains, pairs_against_rows, same, without_diagonal
from helpers.games import Game, players_of
from helpers.strategies import ensembles, tables
from zoo.cases import invented

SEEDS = st.integers(0, 2**32 - 1)
METRICS = [
    gw.metrics.ShapleyValues(),
    gw.metrics.BanzhafValues(),
    gw.metrics.CenteredPartialDependence(),
    gw.metrics.ShapleyInteractions(2),
    gw.metrics.ShapleyInteractions(2, min_order=2),
    gw.metrics.BanzhafInteractions(2),
    gw.metrics.PartialDependenceInteractions(2),
    gw.metrics.ShapleyTaylor(2),
]


def outputs_of(ex):
    return list(range(ex.ensemble.n_outputs))


def walked(ex, metric, rows):
    """The values by walking: the sets, and an array of shape (n_sets, n_outputs, n_rows)."""
    evaluator = evaluator_of(ex._study)
    found = evaluator.by_walks(evaluator.values(metric), ex._study.rows(rows), outputs_of(ex))
    return found.sets, found._values.reshape(len(found.sets), ex.ensemble.n_outputs, found.n_rows)


def by_paths(ex, metric, rows):
    """The same, leaf by leaf."""
    study = ex._study
    plan = study.plan(1)
    values = evaluator_of(study).values(metric)
    found = LongPaths(plan, values, study.rows(rows), outputs_of(ex), Rows(plan, study.over.table), study.over.shares)
    return found.sets, found._values.reshape(len(found.sets), ex.ensemble.n_outputs, found.n_rows)


def agree(one, other, e):
    assert one[0] == other[0]
    np.testing.assert_allclose(one[1], other[1], rtol=0, atol=1e-12 * max(1e-300, np.abs(e.value).sum()))


@st.composite
def questions(draw):
    """An invented ensemble, background rows, rows, and perhaps a group and weights."""
    case = invented(draw(ensembles(max_trees=3, max_depth=5)), draw(st.integers(1, 9)), draw(SEEDS))
    names = case.model.feature_names
    n_members = draw(st.integers(0, len(names)))
    groups = {"together": list(names[:n_members])} if n_members > 1 else None
    weight = np.array(draw(st.lists(st.integers(0, 3), min_size=len(case.rows), max_size=len(case.rows))), dtype=float)
    weight = weight + 1 if weight.sum() == 0 else weight
    return case, tables(case.model, draw(st.integers(1, 5)), draw(SEEDS)), groups, draw(st.sampled_from([None, weight]))


@pytest.mark.parametrize("max_", [_walks.MAX_NARROW, 0], ids=["players", "slots"])
def test_invented_ensembles(max_, monkeypatch):
    monkeypatch.setattr(_walks, "MAX_NARROW", max_)  # whether masks are of players, or of those of a path

    @given(questions())
    @settings(max_examples=60)
    def proves(question):
        case, rows, groups, weight = question
        e = case.model
        ex = gw.Explainer(e, case.rows, groups=groups, sample_weight=weight)
        game = Game.of_model(case, players_of(e, groups), rows, weight=weight)
        margin = case.margin(e)
        for metric, expected in ((METRICS[0], game.shapley()), (METRICS[1], game.banzhaf())):
            sets, values = walked(ex, metric, rows)
            found = np.zeros((len(rows), len(game.names), values.shape[1]))
            for (player,), value in zip(sets, values, strict=True):
                found[:, player] = value.T
            np.testing.assert_allclose(found, expected, rtol=0, atol=margin)
        for metric in METRICS:
            agree(walked(ex, metric, rows), by_paths(ex, metric, rows), e)

    proves()


@pytest.mark.parametrize(("n_players", "n_examples"), [(9, 10), (25, 4), (26, 4), (40, 2), (63, 1)])
def test_long_paths(n_players, n_examples):
    @given(chains(n_players=n_players))
    @settings(max_examples=n_examples)
    def proves(chain):
        e, background, rows = chain
        ex = gw.Explainer(e, background)
        for metric, expected in (
            (METRICS[0], against_rows(e, background, rows)),
            (METRICS[1], against_rows(e, background, rows, BANZHAF)),
        ):
            sets, values = walked(ex, metric, rows)
            found = np.zeros_like(expected)
            found[:, [player for (player,) in sets]] = values[:, 0].T
            same(found, expected, e)
        pairs = np.zeros((len(rows), e.n_features, e.n_features))
        sets, values = walked(ex, gw.metrics.ShapleyInteractions(2, min_order=2), rows)
        for (a, b), value in zip(sets, values[:, 0] / 2, strict=True):
            pairs[:, a, b] = pairs[:, b, a] = value
        same(without_diagonal(pairs), pairs_against_rows(e, background, rows), e)

    proves()


def wide(n_rows=400):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 30))
    return X, X[:, 0] * X[:, 1] + X.sum(axis=1), rng.integers(3, size=n_rows)


@pytest.mark.parametrize("metric", METRICS, ids=repr)
@pytest.mark.parametrize("n_features", [8, 30])
def test_forests_of_several_classes(metric, n_features):
    X, _, y = wide()
    X = X[:, :n_features]
    model = ExtraTreesClassifier(6, random_state=0).fit(X, y)
    ex = gw.Explainer(model, X[:150], sample_weight=np.arange(150.0))
    agree(walked(ex, metric, X[200:220]), by_paths(ex, metric, X[200:220]), ex.ensemble)


def test_one_row_of_a_forest_is_walked_and_adds_up():
    X, y, _ = wide()
    model = RandomForestRegressor(20, random_state=0).fit(X, y)
    ex = gw.Explainer(model, X[:100])
    assert isinstance(evaluate(ex._study, METRICS[0], ex._study.rows(X[:1]), [0]), WalkedRows)
    found = ex.shap_values(X[:3])
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, model.predict(X[:3]), rtol=1e-12)
    pairs = ex.shap_interaction_values(X[:3]).values
    np.testing.assert_allclose(pairs.sum(axis=2), found.values, rtol=0, atol=1e-10)
    assert (pairs == pairs.swapaxes(1, 2)).all()


def test_the_same_bits_for_any_number_of_threads(monkeypatch):
    X, y, _ = wide()
    ex = gw.Explainer(RandomForestRegressor(37, random_state=0).fit(X, y), X[:130])
    found = []
    for n in (1, 2, 4):
        monkeypatch.setattr("glasswood.parallel._threads.n_threads", lambda n=n: n)
        found.append([walked(ex, metric, X[200:260])[1] for metric in (METRICS[0], METRICS[3])])
    for others in found[1:]:
        assert all(np.array_equal(one, other) for one, other in zip(found[0], others, strict=True))


def test_values_of_a_row_do_not_depend_on_the_others():
    X, y, _ = wide()
    ex = gw.Explainer(RandomForestRegressor(5, random_state=0).fit(X, y), X[:70])
    whole = walked(ex, METRICS[0], X)[1]
    for row in (0, 1, 255, 256, 399):
        assert np.array_equal(walked(ex, METRICS[0], X[row : row + 1])[1][..., 0], whole[..., row])


@pytest.mark.parametrize("n", [1, 63, 64, 65, 1024, 1025, 2050])
def test_any_number_of_background_rows(n):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(2050, 4))
    model = RandomForestRegressor(3, random_state=0).fit(X[:500], X[:500].prod(axis=1))
    ex = gw.Explainer(model, X[:n])
    for metric in (METRICS[0], METRICS[3]):
        agree(walked(ex, metric, X[:20]), by_paths(ex, metric, X[:20]), ex.ensemble)


def test_no_rows():
    X, y, _ = wide()
    ex = gw.Explainer(RandomForestRegressor(20, random_state=0).fit(X, y), X[:100])
    assert walked(ex, METRICS[3], X[:0])[1].shape[-1] == 0
    assert ex.shap_values(X[:0]).values.shape == (0, 30)


def test_the_way_does_not_depend_on_what_is_kept_or_on_threads(monkeypatch):
    X, _, y = wide()
    model, ways = RandomForestClassifier(10, max_depth=9, random_state=0).fit(X[:, :8], y), []
    X = X[:, :8]
    for n, max_ in ((1, 0), (1, 2**26), (4, 2**26), (64, 2**26)):
        monkeypatch.setattr("glasswood.parallel._threads.n_threads", lambda n=n: n)
        monkeypatch.setattr(_study, "MAX_KEPT", max_)
        ex = gw.Explainer(model, X[:300])
        asked = [(metric, ex._study.rows(X[:k])) for metric in METRICS for k in (1, 2, 300, 1)]
        ways.append([type(evaluate(ex._study, metric, rows, [0])) for metric, rows in asked])
    assert all(way == ways[0] for way in ways)


def test_trees_and_rows_made_ready_are_kept():
    X, y, _ = wide()
    ex = gw.Explainer(RandomForestRegressor(20, random_state=0).fit(X, y), X[:100])
    ex.shap_values(X[:1])
    ground = evaluator_of(ex._study).ground
    ex.banzhaf_values(X[1:2])
    assert evaluator_of(ex._study).ground is ground
    assert evaluator_of(ex._study).kept.n_bytes == ground.n_bytes > 0
