"""Answers, and the Explainer itself, are pickled and copied: the copy says the same."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw
from helpers.questions import bits_of, questions_of


@pytest.fixture(scope="module")
def explained():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 3)), columns=list("abc"))
    X["d"] = pd.Categorical(["x", "y"] * 40)
    model = HistGradientBoostingRegressor(max_iter=5, max_leaf_nodes=6, categorical_features="from_dtype")
    return gw.Explainer(model.fit(X, X["a"] * X["b"] + (X["d"] == "x")), X), X


@pytest.mark.parametrize("again", [copy.deepcopy, copy.copy, lambda answer: pickle.loads(pickle.dumps(answer))])
def test_copies_of_answers_say_the_same(explained, again):
    ex, X = explained
    for name, ask in questions_of(ex, X, list("abcd")).items():
        answer = ask()
        bits = bits_of(answer)  # the spread of a curve is known to a copy if it was known before
        same = again(answer)
        assert bits_of(same) == bits, name
        if isinstance(answer, dict):
            continue
        assert repr(same) == repr(answer), name
        assert same._repr_html_() == answer._repr_html_(), name
        pd.testing.assert_frame_equal(same.to_frame(), answer.to_frame())


def test_copies_are_drawn(explained):
    ex, X = explained
    for name, ask in questions_of(ex, X, list("abcd"), only=("curve", "surface", "ice", "shap", "strengths")).items():
        assert pickle.loads(pickle.dumps(ask())).plot() is not None, name


@pytest.mark.parametrize("again", [copy.deepcopy, lambda ex: pickle.loads(pickle.dumps(ex))])
def test_copies_of_an_explainer_answer_the_same(explained, again):
    ex, X = explained
    before = again(gw.Explainer(ex.ensemble, X))  # nothing is counted yet
    selected = {name: bits_of(ask()) for name, ask in questions_of(ex, X, list("abcd")).items()}
    for same in (before, again(ex)):
        found = {name: bits_of(ask()) for name, ask in questions_of(same, X, list("abcd")).items()}
        assert found == selected


@pytest.mark.parametrize("again", [copy.deepcopy, lambda answer: pickle.loads(pickle.dumps(answer))])
def test_copies_of_a_surface_that_was_asked_before_keep_its_interaction(explained, again):
    surface = next(one for one in explained[0].joint_partial_dependence().values() if not one.additive)
    selected = surface.interaction.copy(), surface.values.copy(), surface(np.nan, np.nan).copy()
    same = again(surface)
    np.testing.assert_array_equal(same.values, selected[1])  # first: heights must not be written over the interaction
    np.testing.assert_array_equal(same.interaction, selected[0])
    np.testing.assert_array_equal(same(np.nan, np.nan), selected[2])


def test_surfaces_that_are_made_when_looked_up_are_pickled(explained):
    surfaces = explained[0].joint_partial_dependence()
    same = pickle.loads(pickle.dumps(surfaces))
    assert list(same) == list(surfaces)
    np.testing.assert_array_equal(same["a", "b"].values, surfaces["a", "b"].values)
