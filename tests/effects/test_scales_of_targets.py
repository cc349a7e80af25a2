"""Answers grow with the target: targets in other units, a power of two, give the same answers bit for bit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import RandomForestRegressor, StackingRegressor, VotingRegressor
from sklearn.linear_model import LinearRegression

import glasswood as gw

RANDOM = np.random.default_rng(0)
X = pd.DataFrame(RANDOM.normal(size=(150, 3)), columns=list("abc"))
Y = X["a"] - 0.5 * X["b"] * X["c"]
SCALES = [2.0**-20, 2.0**-16, 2.0**-8, 2.0**12]


def forests():
    return [(name, RandomForestRegressor(4, max_depth=3, random_state=k)) for k, name in enumerate("fg")]


MODELS = {
    "forest": lambda: RandomForestRegressor(5, max_depth=3, random_state=0),
    "voting": lambda: VotingRegressor(forests(), weights=[2, 1]),
    "transformed target": lambda: TransformedTargetRegressor(
        RandomForestRegressor(4, max_depth=3, random_state=0), func=lambda y: 2 * y, inverse_func=lambda y: y / 2
    ),
}


def answers(model, scale, background):
    """Return all that has the scale of the target, and what has that of its square, divided by these."""
    ex = background(model, X, Y * scale)
    curve, ale, falls = ex.partial_dependence("a"), ex.ale("b"), ex.row_monotonicity()
    one = {
        "curve": curve.values,
        "spread": curve.std(),
        "observed": curve.observed,
        "predicted": curve.predicted,
        "spread of the observed": curve.observations.spread,
        "importance": ex.importance(kind="total").values,
        "main importance": ex.importance(kind="main").values,
        "absolute error": ex.permutation_importance(loss="absolute_error").values,
        "local effects": ale.values,
    }
    two = {"permutation": ex.permutation_importance().values}
    rows = {"falls": falls.to_frame("pandas")[["direction", "rows", "at", "rows_at"]].to_numpy()}
    return {k: v / scale for k, v in one.items()} | {k: v / scale**2 for k, v in two.items()} | rows


def of_table(model, X, y):
    return gw.Explainer(model, X, target=y, response="prediction")


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", MODELS)
def test_other_units_of_the_target(kind, scale):
    expected = answers(MODELS[kind]().fit(X, Y), 1.0, of_table)
    found = answers(MODELS[kind]().fit(X, Y * scale), scale, of_table)
    for what, values in expected.items():
        if what == "falls":
            assert (pd.DataFrame(found[what]).fillna(-1) == pd.DataFrame(values).fillna(-1)).all(axis=None), what
        else:
            within = (1e-5, 1e-7) if what.startswith("spread") else (1e-9, 1e-11)  # differences of squares
            np.testing.assert_allclose(found[what], values, *within, err_msg=what)


def half_square(y, prediction):
    return (y - prediction) ** 2 / 2


@pytest.mark.parametrize("kind", MODELS)
def test_small_losses_of_functions(kind):
    model = MODELS[kind]().fit(X, Y * 1e-4)
    ex = gw.Explainer(model, X, target=Y * 1e-4)
    found, known = ex.permutation_importance(loss=half_square), ex.permutation_importance()
    np.testing.assert_allclose(found.values, known.values / 2, rtol=1e-6)
    np.testing.assert_allclose(found.base, known.base / 2, rtol=1e-6)


def test_functions_of_small_scores():
    """A stacked model has a slope that is found from the data, so that predictions are the oracle."""
    y = Y * 1e-6
    model = StackingRegressor(forests(), LinearRegression(), cv=2).fit(X, y)
    ex = gw.Explainer(model, X)
    curve = ex.partial_dependence("a")
    for value in X["a"][:10]:
        expected = model.predict(X.assign(a=value))
        np.testing.assert_allclose(curve([value]), expected.mean(), rtol=1e-9)
    other = gw.Explainer(model, gw.summarize(model, X[:70]) + gw.summarize(model, X[70:]))
    np.testing.assert_array_equal(other.partial_dependence("a").values, curve.values)
