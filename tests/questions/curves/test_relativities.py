"""Relativities of models with a log link, against their definitions."""

from __future__ import annotations

import pickle

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest

import glasswood as gw
from glasswood.errors import ArgumentError, BackgroundError, UnsupportedModelError


@pytest.fixture(scope="module")
def case():
    generator = np.random.default_rng(0)
    X = pd.DataFrame({"a": generator.normal(size=400), "b": generator.normal(size=400)})
    X["kind"] = pd.Categorical(generator.choice(list("abc"), 400))
    y = generator.poisson(np.exp(X.a * (X.b > 0))).astype(float)
    return lgb.LGBMRegressor(objective="poisson", n_estimators=10, num_leaves=6, verbose=-1).fit(X, y), X, y


def test_ratios_of_both_scales(case):
    model, X, _ = case
    for response in (None, "prediction"):
        ex = gw.Explainer(model, X, response=response)
        curve = ex.partial_dependence("a")
        raw = ex.partial_dependence("a", response="raw").values
        mean = ex.partial_dependence("a", response="prediction").values
        at = int(curve.axis.cell_of([0.3])[0])
        np.testing.assert_allclose(curve.relativity(0.3), np.exp(raw - raw[at]), rtol=1e-12)
        np.testing.assert_allclose(curve.relativity(0.3, scale="response"), mean / mean[at], rtol=1e-12)
        assert np.ptp(curve.relativity(0.3) / curve.relativity(0.3, scale="response")) > 1e-3  # a and b interact
        assert curve.relativity()[np.argmax(curve.rows)] == 1.0
    kind = ex.partial_dependence("kind")
    assert kind.relativity("b")[1] == 1.0


def test_the_reference_is_where_most_exposure_is(case):
    model, X, y = case
    exposure = np.where(X.kind == "c", 100.0, 1.0)
    curve = gw.Explainer(model, X, target=y, exposure=exposure).partial_dependence("kind")
    assert curve.relativity()[2] == 1.0


def test_refusals(case):
    model, X, y = case
    curve = gw.Explainer(model, X).partial_dependence("a")
    with pytest.raises(ArgumentError, match="scale must be"):
        curve.relativity(scale="log")
    plain = lgb.LGBMRegressor(n_estimators=3, verbose=-1).fit(X, y)
    with pytest.raises(UnsupportedModelError, match="log link"):
        gw.Explainer(plain, X).partial_dependence("a").relativity()
    counted = gw.Explainer(model, gw.summarize(model, X, answers=["counts"])).partial_dependence("a")
    assert counted.relativity().shape == counted.values.shape
    with pytest.raises(BackgroundError, match="response"):
        counted.relativity(scale="response")
    with pytest.raises(BackgroundError, match="relativity"):
        pickle.loads(pickle.dumps(curve)).relativity(scale="response")
