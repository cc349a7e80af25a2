"""Voting, stacking and calibration: several models that answer together, against their own predictions."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import glasswood as gw
from glasswood.errors import ArgumentError, ModelMismatchError, UnsupportedModelError
from glasswood.models import _combinations as _several
from helpers.versions import has, needs
from zoo.store import fitted

HGB = HistGradientBoostingClassifier(max_iter=6, random_state=0)
FOREST = RandomForestClassifier(5, max_depth=4, random_state=0)
BOOST = GradientBoostingClassifier(n_estimators=5, random_state=0)
XGB = xgb.XGBClassifier(n_estimators=5, max_depth=3, n_jobs=1)
LGB = lgb.LGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1)
REGRESSORS = [
    ("hgb", HistGradientBoostingRegressor(max_iter=6, random_state=0)),
    ("forest", RandomForestRegressor(5, max_depth=4, random_state=0)),
]
CLASSIFIERS = [("hgb", HGB), ("forest", FOREST), ("boost", BOOST)]


def table(n_classes=2):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(240, 4)), columns=list("abcd"))
    score = X["a"] * X["b"] + X["c"]
    return X, score, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


MODELS = {
    "voting": lambda: VotingClassifier(CLASSIFIERS, voting="soft"),
    "voting, weights, one dropped": lambda: VotingClassifier(
        [*CLASSIFIERS, ("none", "drop")], voting="soft", weights=[1, 2, 0.5, 9]
    ),
    "stacking": lambda: StackingClassifier(CLASSIFIERS, cv=2),
    "stacking, scores": lambda: StackingClassifier(CLASSIFIERS[::2], cv=2, stack_method="decision_function"),
    "stacking, a forest on top": lambda: StackingClassifier(CLASSIFIERS, FOREST, cv=2),
    "calibrated, sigmoid": lambda: CalibratedClassifierCV(HGB, cv=3),
    "calibrated, isotonic": lambda: CalibratedClassifierCV(BOOST, cv=2, method="isotonic"),
    "calibrated, temperature": lambda: CalibratedClassifierCV(HGB, cv=2, method="temperature"),
    "calibrated, temperature, forest": lambda: CalibratedClassifierCV(FOREST, cv=3, method="temperature"),
    "calibrated, temperature, one forest": lambda: CalibratedClassifierCV(
        FOREST, cv=3, method="temperature", ensemble=False
    ),
    "calibrated, temperature, LightGBM": lambda: CalibratedClassifierCV(LGB, cv=2, method="temperature"),
    "calibrated, isotonic, one forest": lambda: CalibratedClassifierCV(FOREST, cv=2, method="isotonic", ensemble=False),
    "calibrated, forest": lambda: CalibratedClassifierCV(FOREST, cv=2),
    "calibrated, one model": lambda: CalibratedClassifierCV(HGB, cv=2, ensemble=False),
    "calibrated, XGBoost": lambda: CalibratedClassifierCV(XGB, cv=2),
    "calibrated, LightGBM": lambda: CalibratedClassifierCV(LGB, cv=2, method="isotonic"),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_classifiers(name, n_classes):
    if "temperature" in name and not has("scikit-learn", (1, 8)):
        pytest.skip("scikit-learn from 1.8")
    X, _, y = table(n_classes)
    model = fitted(MODELS[name](), X, y)
    ex = gw.Explainer(model, X, response="probability")
    within = 1e-6 if "XGBoost" in name else 1e-12
    curve = ex.partial_dependence("a")
    assert curve.units == "probability"
    assert curve.outputs == ((1,) if n_classes == 2 else (0, 1, 2))
    for x in (-1.0, 0.2):
        brute = model.predict_proba(X.assign(a=x))[:, 1 if n_classes == 2 else 0 :]
        np.testing.assert_allclose(np.atleast_1d(curve(x)), brute.mean(axis=0), rtol=0, atol=within)
        np.testing.assert_allclose(ex.ice("a", at={"a": [x]}).heights[:, 0], brute, rtol=0, atol=within)
    point = ex.partial_dependence("a", "c", at={"a": [0.5], "c": [-0.5]})
    brute = model.predict_proba(X.assign(a=0.5, c=-0.5))[:, 1 if n_classes == 2 else 0 :].mean(axis=0)
    np.testing.assert_allclose(point.heights[0], brute, rtol=0, atol=within)


@pytest.mark.parametrize(
    "model",
    [
        VotingRegressor(REGRESSORS),
        VotingRegressor(REGRESSORS, weights=[3, 1]),
        StackingRegressor(REGRESSORS, LinearRegression(), cv=2),
        StackingRegressor(REGRESSORS, GradientBoostingRegressor(n_estimators=5), cv=2),
    ],
    ids=["voting", "voting, weights", "stacking", "stacking, trees on top"],
)
def test_regressors(model):
    X, y, _ = table()
    model.fit(X, y)
    ex = gw.Explainer(model, X, response="prediction")
    surface = ex.partial_dependence("a", "b")
    brute = model.predict(X.assign(a=0.1, b=-0.3)).mean()
    np.testing.assert_allclose(surface(0.1, -0.3), brute, rtol=0, atol=1e-12)
    with pytest.raises(UnsupportedModelError, match='use response="prediction"'):
        gw.Explainer(model, X, response="probability")
    with pytest.raises(UnsupportedModelError, match="no score that is a sum over trees"):
        gw.Explainer(model, X, response="raw")
    assert gw.Explainer(model, X).response == "prediction"
    with pytest.raises(ArgumentError, match="not 'odds'"):  # found by fuzzing: it was taken for "prediction"
        gw.Explainer(model, X, response="odds")


@needs("scikit-learn", (1, 8))  # which is the first with temperatures
@pytest.mark.parametrize("base", [RandomForestClassifier(10, random_state=0), ExtraTreesClassifier(30, random_state=0)])
def test_temperature_takes_probabilities_for_probabilities(base):
    # Running sums of probabilities end at 1 + 2e-16, and scikit-learn takes a batch with such an entry for scores.
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = fitted(CalibratedClassifierCV(base.set_params(max_depth=4), method="temperature", cv=3), X, y)
    ex = gw.Explainer(model, X, response="probability")
    for name in X:
        curve = ex.partial_dependence(name)
        for x in X[name].unique()[::6]:
            brute = model.predict_proba(X.assign(**{name: x}))
            np.testing.assert_allclose(curve(x), brute.mean(axis=0), rtol=0, atol=1e-12)


def test_isotonic_calibration_of_float32_scores():
    X, _, y = table()
    for seed in range(4):
        model = fitted(
            CalibratedClassifierCV(XGB, cv=KFold(3, shuffle=True, random_state=seed), method="isotonic"), X, y
        )
        ex = gw.Explainer(model, X, response="probability")
        brute = model.predict_proba(X.assign(a=0.5))[:, 1]
        np.testing.assert_allclose(ex.ice("a", at={"a": [0.5]}).values[:, 0], brute, rtol=0, atol=1e-3)


def test_what_hangs_on_the_last_digits_is_refused():
    class Jump:
        def __init__(self, at):
            self.at = at

        def predict(self, scores):
            return (scores >= self.at).astype(float)

    X, _, y = table()
    model = fitted(CalibratedClassifierCV(FOREST, cv=2, ensemble=False), X, y)
    part = model.calibrated_classifiers_[0]
    part.calibrators = [Jump(part.estimator.predict_proba(X)[0, 1])]
    with pytest.raises(UnsupportedModelError, match="change by 1 if the scores of its members change in the last"):
        gw.Explainer(model, X, response="probability")


def test_rows_on_the_edge_of_a_jump_are_refused():
    steady = _several._Steady(lambda scores: (scores > 0.5).astype(float), "StackingClassifier", "float64")
    np.testing.assert_array_equal(steady(np.array([[0.4], [0.6]])), [[0.0], [1.0]])
    with pytest.raises(UnsupportedModelError, match="this StackingClassifier change by 1 if the scores"):
        steady(np.array([[0.4], [0.5 + 1e-15]]))
    X, _, y = table()
    for final, jumps in ((HGB, True), (FOREST, True), (LogisticRegression(), False)):
        assert _several._may_jump(fitted(StackingClassifier(CLASSIFIERS[:1], final, cv=2), X, y)) == jumps
    assert _several._may_jump(fitted(CalibratedClassifierCV(HGB, cv=2, method="isotonic"), X, y))
    assert not _several._may_jump(fitted(CalibratedClassifierCV(HGB, cv=2), X, y))


def test_a_model_that_was_calibrated_later():
    X, _, y = table()
    model = fitted(
        CalibratedClassifierCV(FrozenEstimator(fitted(HGB.__class__(max_iter=5), X[:100], y[:100]))), X[100:], y[100:]
    )
    brute = model.predict_proba(X.assign(b=0.4))[:, 1].mean()
    curve = gw.Explainer(model, X, response="probability").partial_dependence("b")
    np.testing.assert_allclose(curve(0.4), brute, rtol=0, atol=1e-12)


def test_refusals(monkeypatch):
    X, _, y = table()
    with pytest.raises(UnsupportedModelError, match='voting="soft"'):
        gw.Explainer(fitted(VotingClassifier(CLASSIFIERS), X, y), X, response="probability")
    with pytest.raises(UnsupportedModelError, match="passthrough=False"):
        gw.Explainer(fitted(StackingClassifier(CLASSIFIERS, cv=2, passthrough=True), X, y), X, response="probability")
    scaled = fitted(VotingClassifier([("scaled", make_pipeline(StandardScaler(), HGB))], voting="soft"), X, y)
    with pytest.raises(UnsupportedModelError, match="put the transformers before the whole"):
        gw.Explainer(scaled, X, response="probability")
    voting = fitted(VotingClassifier(CLASSIFIERS, voting="soft"), X, y)
    with pytest.raises(UnsupportedModelError, match='response="probability"'):
        gw.Explainer(voting, X, response="raw")
    with pytest.raises(UnsupportedModelError, match="explain the models that it combines"):
        gw.Explainer(voting, X).shap_values(X[:3])
    monkeypatch.setattr(_several, "_positive", lambda found: found[..., :1])
    with pytest.raises(ModelMismatchError, match="could not be reproduced"):
        gw.Explainer(voting, X, response="probability")
