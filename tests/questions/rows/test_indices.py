"""Every index by its definition, and as shapiq computes it, on games of rows, weights, groups and covers."""

from __future__ import annotations

import warnings
from itertools import combinations, combinations_with_replacement

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw
from glasswood.questions.rows._answer_evaluator import evaluator_of
from helpers.cube_metrics import PDIVMetric, ShapleyMetric
from helpers.deep_trees import chains
from helpers.games import Game, players_of
from helpers.interactions import ENSEMBLES, SEEDS, close_to, some_groups
from helpers.strategies import tables
from zoo.cases import invented

# An index of sets of up to k players, and its definition.
INDICES = {
    "SII": (gw.metrics.ShapleyInteractions, lambda game, k: by_size(game.shapley_interactions, k)),
    "BII": (gw.metrics.BanzhafInteractions, lambda game, k: by_size(game.banzhaf_interactions, k)),
    "CHII": (gw.metrics.ChainingInteractions, lambda game, k: by_size(game.chaining_interactions, k)),
    "Moebius": (gw.metrics.PartialDependenceInteractions, lambda game, k: by_size(moebius(game), k)),
    "Co-Moebius": (gw.metrics.ExternalInteractions, lambda game, k: by_size(game.external_interactions, k)),
    "STII": (gw.metrics.ShapleyTaylor, Game.shapley_taylor),
    "FSII": (gw.metrics.FaithfulShapley, lambda game, k: game.faithful(k, shapley=True)),
    "FBII": (gw.metrics.FaithfulBanzhaf, lambda game, k: game.faithful(k, shapley=False)),
    "k-SII": (gw.metrics.KShapleyInteractions, Game.k_shapley),
    "kADD-SHAP": (gw.metrics.KAdditiveShapley, Game.k_additive),
}
EFFICIENT = ("STII", "FSII", "k-SII")  # whose values add up to the score minus the mean


def by_size(index, k):
    return {names: values for size in range(1, k + 1) for names, values in index(size).items()}


def moebius(game):
    values = game.pdiv()
    return lambda size: {names: values[:, mask] for names, mask in game.sets(size).items()}


def is_the_index(ex, game, rows, name, k, within):
    metric, definition = INDICES[name]
    found = ex.evaluate(metric(k), rows)
    expected = definition(game, k)
    for names, values in expected.items():
        if names:
            np.testing.assert_allclose(found[names].reshape(values.shape), values, rtol=0, atol=within, err_msg=name)
    assert set(found.subsets) <= {tuple(sorted(names, key=game.names.index)) for names in expected}
    if name in EFFICIENT or (name == "kADD-SHAP" and k == 1):
        total = found.values.reshape(len(rows), len(found), len(found.outputs)).sum(axis=1)
        np.testing.assert_allclose(total, game.values[:, -1] - game.values[:, 0], rtol=0, atol=within)


def explained(ensemble, seed):
    """Explainers of an ensemble with rows, with weights and groups, and with covers; with their games."""
    case, rng = invented(ensemble, 6, seed), np.random.default_rng(seed)
    rows, weight, groups = tables(ensemble, 2, seed + 1), rng.random(6) + 0.1, some_groups(ensemble, rng)
    players, grouped = players_of(ensemble), players_of(ensemble, groups)
    yield gw.Explainer(case.model, case.rows), Game.of_model(case, players, rows), rows
    weighted = gw.Explainer(case.model, case.rows, sample_weight=weight, groups=groups)
    yield weighted, Game.of_model(case, grouped, rows, weight), rows
    yield gw.Explainer(case.model), Game.of_covers(case.model, players, rows), rows


@given(ENSEMBLES, SEEDS)
@settings(max_examples=10)
def test_indices_by_their_definitions(ensemble, seed):
    for ex, game, rows in explained(ensemble, seed):
        k = 1 + seed % min(4, game.n_players)
        for name in INDICES:
            is_the_index(ex, game, rows, name, k, 1e3 * close_to(ensemble))


@given(ENSEMBLES, SEEDS)
@settings(max_examples=15)
def test_all_ways_agree(ensemble, seed):
    for ex, _, rows in explained(ensemble, seed):
        study, outputs = ex._study, list(range(ex.ensemble.n_outputs))
        evaluator, opened = evaluator_of(study), study.rows(rows)
        for metric in (
            *(index(1 + seed % 3) for index, _ in INDICES.values()),
            Halves(),
            PDIVMetric(),
            ShapleyMetric(),
        ):
            values = evaluator.values(metric)
            ways = [evaluator.tables(values, outputs).of_rows(opened), evaluator.by_paths(values, opened, outputs)]
            if evaluator.background is not None and values.orders.start > 0 and 1 < values.orders.stop < 4:
                ways.append(evaluator.by_walks(values, opened, outputs))
            found = [dict(zip(way.sets, written(way, len(outputs)), strict=True)) for way in ways]
            for subset in {subset for values in found for subset in values}:
                for values in found[1:]:
                    expected, got = (v.get(subset, np.zeros(1)) for v in (found[0], values))
                    np.testing.assert_allclose(got, expected, rtol=0, atol=1e3 * close_to(ensemble))


def written(source, n_outputs):
    out = np.empty((len(source.sets) * n_outputs, source.n_rows))
    source.write((0, source.n_rows), out, 0)
    return out.reshape(len(source.sets), n_outputs, source.n_rows)


class Halves(gw.metrics.CubeMetric):
    """A metric of cubes that does not add up: its values depend on the trees."""

    def calc_metric(self, s_plus, s_minus):
        values = dict.fromkeys(s_plus, 0.5) | dict.fromkeys(s_minus, -0.25)
        return values | {pair: 1.0 / (1 + len(s_minus)) for pair in combinations(s_plus, 2)}


LONG = ("Moebius", "Co-Moebius", "FSII", "FBII")  # the definitions of the others take too long


@pytest.mark.parametrize("name", LONG)
def test_indices_of_long_paths(name):
    @given(chains(n_players=13))
    @settings(max_examples=1)
    def proves(chain):
        e, background, rows = chain
        names, rows = e.feature_names, rows[:2]
        used = {names[f]: [f] for f in e.used_features.tolist()}
        for ex, game in (
            (gw.Explainer(e), Game.of_covers(e, used, rows)),
            (gw.Explainer(e, background), Game(tuple(used), values_of_rows(e, list(used.values()), background, rows))),
        ):
            is_the_index(ex, game, rows, name, 2, 1e4 * close_to(e))

    proves()


def values_of_rows(e, columns, background, rows):
    """The mean score of every coalition of columns, for each row."""
    masks = np.arange(2 ** len(columns))
    found = np.zeros((len(rows), len(masks), 1))
    for k, row in enumerate(rows):
        for other in background:
            mixed = np.tile(other, (len(masks), 1))
            for place, (column,) in enumerate(columns):
                mixed[:, column] = np.where(masks >> place & 1, row[column], other[column])
            found[k, :, 0] += e.predict(mixed) / len(background)
    return found


def regression_rows():
    return pd.DataFrame(np.random.default_rng(0).normal(size=(60, 7)), columns=[f"x{j}" for j in range(7)])


@pytest.fixture(scope="module")
def regression():
    """An Explainer, rows to explain, and the value of every coalition for the second of them."""
    X = regression_rows()
    y = X["x0"] * X["x1"] + X["x2"] * X["x3"] * X["x4"] + X["x5"]
    model = HistGradientBoostingRegressor(max_iter=30, max_depth=6, min_samples_leaf=3, random_state=0).fit(X, y)
    rows, heights = X.iloc[:3], []
    for mask in range(2**7):
        mixed = X.copy()
        for place in range(7):
            if mask >> place & 1:
                mixed.iloc[:, place] = rows.iloc[1, place]
        heights.append(model.predict(mixed).mean())
    return gw.Explainer(model, X), rows, np.array(heights)


@pytest.mark.parametrize("name", [*INDICES, "SV", "BV"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_indices_as_shapiq_computes_them(name, k, regression):
    shapiq = pytest.importorskip("shapiq")
    ex, rows, heights = regression

    def play(coalitions):
        return heights[np.asarray(coalitions, dtype=int) @ (1 << np.arange(7))]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # CHII has no empty set
        theirs = shapiq.ExactComputer(play, n_players=7)(name, k)
    alone = {"SV": gw.metrics.ShapleyValues, "BV": gw.metrics.BanzhafValues}
    found = ex.evaluate(alone[name]() if name in alone else INDICES[name][0](k), rows)
    # shapiq fits FSII and kADD-SHAP with a weight of 10^8 in place of an infinite one.
    within = 1e-6 if name in ("FSII", "kADD-SHAP") else 1e-10
    for subset, value in theirs.dict_values.items():
        if 0 < len(subset) <= k:
            ours = found[tuple(f"x{player}" for player in subset)][1]
            assert ours == pytest.approx(value, rel=0, abs=within)
    exported = found.to_shapiq(row=1)
    assert exported.index == (theirs.index if name != "Moebius" else name)
    assert exported.n_players == 7
    assert exported.baseline_value == pytest.approx(heights[0])
    for subset, value in exported.dict_values.items():
        if subset:
            assert value == found[tuple(f"x{player}" for player in subset)][1]


def test_the_index_of_shapiq_is_that_of_the_metric(regression):
    pytest.importorskip("shapiq")
    ex, rows, _ = regression
    assert ex.interaction_values(rows, max_order=2).to_shapiq().index == "Moebius"
    assert ex.evaluate(gw.metrics.FaithfulShapley(3), rows).to_shapiq(2).max_order == 3
    with pytest.raises(gw.errors.ArgumentError, match="metric of your own"):
        ex.evaluate(ShapleyMetric(), rows).to_shapiq()
    with pytest.raises(gw.errors.TableError, match="no row 3"):
        ex.evaluate(gw.metrics.ShapleyValues(), rows).to_shapiq(3)


def test_orders_that_are_larger_than_the_model(regression):
    ex, rows, _ = regression
    pdiv = ex.interaction_values(rows)
    for metric in (gw.metrics.FaithfulShapley, gw.metrics.FaithfulBanzhaf, gw.metrics.ShapleyTaylor):
        found = ex.evaluate(metric(7), rows)  # the fit is the game itself
        for subset in pdiv.subsets[1:]:
            np.testing.assert_allclose(found[subset], pdiv[subset], rtol=0, atol=1e-9)
    found = ex.evaluate(gw.metrics.KShapleyInteractions(7), rows)
    scores = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(scores, ex.ensemble.predict(rows), rtol=0, atol=1e-9)


def test_pairs_of_k_shapley_interactions_are_those_of_shap(regression):
    ex, rows, _ = regression
    found, shap = ex.evaluate(gw.metrics.KShapleyInteractions(2), rows), ex.shap_interaction_values(rows)
    names = list(shap.names)
    for a, b in combinations_with_replacement(range(7), 2):
        expected = shap.values[:, a, a] if a == b else shap.values[:, a, b] + shap.values[:, b, a]
        np.testing.assert_allclose(found[tuple({names[a], names[b]})], expected, rtol=0, atol=1e-10)


def test_generalized_values_are_values_of_groups(regression):
    """The Shapley generalized value of a set is the Shapley value of its features as one player, and so on."""
    shapiq = pytest.importorskip("shapiq")
    ex, rows, heights = regression
    computer = shapiq.ExactComputer(lambda z: heights[np.asarray(z, dtype=int) @ (1 << np.arange(7))], n_players=7)
    grouped = gw.Explainer(ex.ensemble, regression_rows(), groups={"both": ["x1", "x4"]})
    for name, metric in {
        "SGV": gw.metrics.ShapleyValues(),
        "BGV": gw.metrics.BanzhafValues(),
        "IGV": gw.metrics.CenteredPartialDependence(),
        "EGV": gw.metrics.ExternalInteractions(1),
    }.items():
        found = grouped.evaluate(metric, rows)["both"][1]
        assert found == pytest.approx(computer(name, 2).dict_values[1, 4], rel=0, abs=1e-10)
