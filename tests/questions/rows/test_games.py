"""The brute-force games that other tests compare with: against games worked out by hand, and against each other."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.tree import DecisionTreeRegressor

import glasswood as gw
from helpers.brute import Case
from helpers.games import Game, bits, players_of, sums_of_subsets
from helpers.strategies import ensembles, tables
from zoo import sklearn_models

# The gloves: a has a left one, b and c have a right one each, and a pair is worth 6.
GLOVES = Game(("a", "b", "c"), np.array([0.0, 0.0, 0.0, 6.0, 0.0, 6.0, 0.0, 6.0]).reshape(1, 8, 1))


def flat(found):
    return {names: values.item() for names, values in found.items()}


def test_gloves():
    assert GLOVES.pdiv().ravel().tolist() == [0, 0, 0, 6, 0, 6, 0, -6]
    assert GLOVES.shapley().ravel() == pytest.approx([4, 1, 1])
    assert GLOVES.banzhaf().ravel() == pytest.approx([4.5, 1.5, 1.5])
    # Averages over the third player's absence and presence, with the same weight for both.
    assert flat(GLOVES.shapley_interactions(2)) == pytest.approx({("a", "b"): 3, ("a", "c"): 3, ("b", "c"): -3})
    assert flat(GLOVES.banzhaf_interactions(2)) == flat(GLOVES.shapley_interactions(2))
    assert flat(GLOVES.shapley_interactions(3)) == {("a", "b", "c"): -6}
    # A third of the triple to each of its pairs.
    taylor = {("a",): 0, ("b",): 0, ("c",): 0, ("a", "b"): 4, ("a", "c"): 4, ("b", "c"): -2}
    assert flat(GLOVES.shapley_taylor(2)) == pytest.approx(taylor)
    assert GLOVES.shap_matrix()[0, ..., 0] == pytest.approx(np.array([[1, 1.5, 1.5], [1.5, 1, -1.5], [1.5, -1.5, 1]]))


def test_all_three_or_nothing():
    game = Game(("a", "b", "c"), np.array([0.0] * 7 + [12.0]).reshape(1, 8, 1))
    assert game.shapley().ravel() == pytest.approx([4, 4, 4])
    assert game.banzhaf().ravel() == pytest.approx([3, 3, 3])
    assert set(flat(game.shapley_interactions(2)).values()) == {6}
    assert list(flat(game.shapley_taylor(2)).values()) == pytest.approx([0, 0, 0, 4, 4, 4])
    assert flat(game.shapley_taylor(3))["a", "b", "c"] == pytest.approx(12)


def random_game(seed, n_players):
    values = np.random.default_rng(seed).normal(size=(3, 2**n_players, 2))
    return Game(tuple("abcdef"[:n_players]), values)


@pytest.mark.parametrize("n_players", range(1, 6))
def test_indices_of_random_games(n_players):
    game = random_game(n_players, n_players)
    whole, pdiv = 2**n_players - 1, game.pdiv()
    gain = game.pdv(whole) - game.pdv(0)
    for mask in range(whole + 1):
        np.testing.assert_allclose(pdiv[:, mask], game.difference(mask, 0), atol=1e-12)
        np.testing.assert_allclose(pdiv[:, game.subsets(mask)].sum(axis=1), game.pdv(mask), atol=1e-12)
    np.testing.assert_allclose(sums_of_subsets(pdiv), game.values, atol=1e-12)
    # Shapley values are what players add in a random order; a PDIV is shared by its players alike.
    orders = list(permutations(range(n_players)))
    marginal = np.zeros((3, n_players, 2))
    for order in orders:
        for k, player in enumerate(order):
            before = sum(1 << other for other in order[:k])
            marginal[:, player] += (game.pdv(before | 1 << player) - game.pdv(before)) / len(orders)
    shared, banzhaf = np.zeros_like(marginal), np.zeros_like(marginal)
    for mask in range(1, whole + 1):
        shared[:, bits(mask)] += pdiv[:, mask, None] / mask.bit_count()
        banzhaf[:, bits(mask)] += pdiv[:, mask, None] / 2 ** (mask.bit_count() - 1)
    np.testing.assert_allclose(game.shapley(), marginal, atol=1e-12)
    np.testing.assert_allclose(game.shapley(), shared, atol=1e-12)
    np.testing.assert_allclose(game.banzhaf(), banzhaf, atol=1e-12)
    np.testing.assert_allclose(game.shapley().sum(axis=1), gain, atol=1e-12)
    np.testing.assert_allclose(game.shap_matrix().sum(axis=2), game.shapley(), atol=1e-12)
    np.testing.assert_array_equal(game.shap_matrix(), game.shap_matrix().swapaxes(1, 2))
    for order in range(1, n_players + 1):
        np.testing.assert_allclose(sum(game.shapley_taylor(order).values()), gain, atol=1e-12)
        # In terms of PDIVs, the indices of a set are shares of the PDIVs of all larger sets.
        for names, mask in game.sets(order).items():
            above = [(other, other.bit_count() - order) for other in range(whole + 1) if mask & ~other == 0]
            share = {
                "shapley": sum(pdiv[:, other] / (more + 1) for other, more in above),
                "banzhaf": sum(pdiv[:, other] / 2**more for other, more in above),
            }
            np.testing.assert_allclose(game.shapley_interactions(order)[names], share["shapley"], atol=1e-12)
            np.testing.assert_allclose(game.banzhaf_interactions(order)[names], share["banzhaf"], atol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_player_that_does_nothing_changes_nothing(order):
    game = random_game(0, 4)
    idle = Game(("idle", *game.names), np.repeat(game.values, 2, axis=1))
    for index in ("shapley_interactions", "banzhaf_interactions", "shapley_taylor"):
        expected = getattr(game, index)(order)
        for names, values in getattr(idle, index)(order).items():
            np.testing.assert_allclose(values, expected.get(names, 0.0), atol=1e-12)


def test_the_game_of_a_model_by_hand():
    # y = x0 * x1 on the corners of a square; x2 is not used.
    X = np.array([[0.0, 0.0, 7.0], [0.0, 1.0, 7.0], [1.0, 0.0, 7.0], [1.0, 1.0, 7.0]])
    model = DecisionTreeRegressor().fit(X, X[:, 0] * X[:, 1])
    case, e = Case(model, X[[0, 1, 3]], sklearn_models.raw), gw.read_model(model)
    rows = np.array([[1.0, 1.0, 0.0]])
    game = Game.of_model(case, players_of(e), rows)
    assert game.names == ("x0", "x1", "x2")
    assert game.values.ravel() == pytest.approx([1 / 3, 2 / 3, 1 / 3, 1] * 2)
    weighted = Game.of_model(case, {"x1": [1]}, rows, weight=[0, 1, 3])
    assert weighted.values.ravel() == pytest.approx([3 / 4, 3 / 4])
    groups = Game.of_model(case, players_of(e, {"both": ["x1", "x0"]}), rows)
    assert groups.names == ("both", "x2")
    assert groups.values.ravel() == pytest.approx([1 / 3, 1, 1 / 3, 1])
    covers = Game.of_covers(e, players_of(e), rows)
    assert covers.values.ravel() == pytest.approx([1 / 4, 1 / 2, 1 / 2, 1] * 2)


def test_the_game_of_a_frame_with_categories():
    frame, y = sklearn_models.category_frame()
    model = HistGradientBoostingRegressor(max_iter=5).fit(frame, y)
    case, rows = Case(model, frame[:20], sklearn_models.raw), frame[50:53]
    game = Game.of_model(case, players_of(gw.read_model(model)), rows)
    for mask in (0, 5, 15):
        for k in range(3):
            table = pd.concat([frame[:20]] + [rows[k : k + 1]] * 20)[:20]
            for f in bits(mask):
                name = frame.columns[f]
                table[name] = frame[name].iloc[[50 + k] * 20].array
            assert game.pdv(mask)[k] == pytest.approx(model.predict(table).mean())


@given(ensembles(max_trees=3, max_depth=4), st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_nobody_and_everybody(ensemble, seed):
    rows, background = tables(ensemble, 2, seed), tables(ensemble, 6, seed + 1)
    case = Case(ensemble, background, lambda model, rows: model.predict(rows))
    for game in (Game.of_covers(ensemble, players_of(ensemble), rows), Game.of_model(case, players_of(ensemble), rows)):
        np.testing.assert_allclose(game.pdv(2**game.n_players - 1), case.scores(rows), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(game.pdv(0), np.tile(case.scores(background).mean(axis=0), (2, 1)), rtol=1e-5, atol=1e-5)


def test_tables_scored_in_parts(monkeypatch):
    X, y = sklearn_models.data("classification", classes=3)
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    case, players = Case(model, X[:30], sklearn_models.raw), {"x1": [1], "rest": [0, 2], "x4": [4]}
    whole = Game.of_model(case, players, X[40:44])
    monkeypatch.setattr("helpers.games.MAX_ROWS", 300)
    np.testing.assert_array_equal(Game.of_model(case, players, X[40:44]).values, whole.values)
    assert whole.values.shape == (4, 8, 3)
