"""Answers per unit of exposure, with offsets: averages of rates, against the library's own predictions of every row."""

from __future__ import annotations

import json
import re

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw
from glasswood.errors import ArgumentError

N = 240
NEAR = {"rtol": 1e-7, "atol": 1e-9}


def make_rows():
    """Return numbers, exposures that go with one of them, claims, and weights, some of which are 0."""
    generator = np.random.default_rng(3)
    X = pd.DataFrame(generator.normal(size=(N, 2)).round(1), columns=["a", "b"])
    exposure = np.clip(np.exp(X.b) * generator.uniform(0.05, 0.5, N), 0.02, 1.0).to_numpy()
    y = generator.poisson(4 * exposure * np.exp(0.5 * X.a + X.a * X.b)).astype(float)
    return X, y, exposure, generator.integers(0, 4, N).astype(float)


def fitted(X, y, exposure, kind="exp"):
    """Return a model, and the prediction that it makes for rows with offsets."""
    if kind == "exp":
        model = lgb.LGBMRegressor(objective="poisson", n_estimators=15, num_leaves=6, verbose=-1, n_jobs=1)
        model.fit(X, y, init_score=np.log(exposure))
        return model, lambda Z, o: np.exp(model.predict(Z, raw_score=True) + o)
    own = HistGradientBoostingRegressor(max_iter=10, random_state=0)
    model = TransformedTargetRegressor(own, func=np.log1p, inverse_func=np.expm1).fit(X, y)
    return model, lambda Z, o: np.expm1(model.regressor_.predict(Z) + o)


def moments(rates, weight):
    """Return mean and standard deviation of rates."""
    mean = np.average(rates, weights=weight)
    return mean, np.sqrt(np.average((rates - mean) ** 2, weights=weight))


@pytest.mark.parametrize("kind", ["exp", "function"])
@pytest.mark.parametrize("weighted", [False, True])
def test_curves_and_their_spread(kind, weighted):
    X, y, exposure, weight = make_rows()
    model, predict = fitted(X, y, exposure, kind)
    offset, w = np.log(exposure), weight if weighted else np.ones(N)
    given = {"target": y, "exposure": exposure, "offset": offset, "sample_weight": w if weighted else None}
    curve = gw.Explainer(model, X, **given, response="prediction").partial_dependence("a")
    for value in (-1.0, 0.3, 1.4):
        rates = predict(X.assign(a=value), offset) / exposure
        mean, deviation = moments(rates, w * exposure)
        cell = int(curve.axis.cell_of([value])[0])
        np.testing.assert_allclose(curve.heights[cell, 0], mean, **NEAR)
        np.testing.assert_allclose(curve.find_spread()[cell, 0], deviation, rtol=1e-5)
    assert curve.find_spread().min() > 0


@pytest.mark.parametrize("kind", ["exp", "function"])
def test_total_and_main_importance(kind):
    X, y, exposure, weight = make_rows()
    model, predict = fitted(X, y, exposure, kind)
    offset, used = np.log(exposure), weight > 0
    ex = gw.Explainer(model, X, target=y, exposure=exposure, offset=offset, sample_weight=weight, response="prediction")
    base = predict(X, offset) / exposure
    for name in ("a", "b"):
        total, curve = 0.0, []
        for value, share in zip(X[name], weight, strict=True):
            rates = predict(X.assign(**{name: value}), offset) / exposure
            total += share * (weight @ (rates - base) ** 2)
            curve.append(np.average(rates, weights=weight * exposure))
        np.testing.assert_allclose(ex.importance()[name], np.sqrt(total) / weight.sum(), **NEAR)
        np.testing.assert_allclose(ex.importance(kind="main")[name], moments(curve, weight)[1], **NEAR)
    grouped = gw.Explainer(
        model,
        X[used],
        groups={"both": ["a", "b"]},
        target=y[used],
        exposure=exposure[used],
        offset=offset[used],
        response="prediction",
    )
    own, total = X[used], 0.0
    for a, b in own.to_numpy():
        rates = predict(own.assign(a=a, b=b), offset[used]) / exposure[used]
        total += ((rates - base[used]) ** 2).mean()
    expected = np.sqrt(total / used.sum())
    np.testing.assert_allclose(grouped.importance()["both"], expected, **NEAR)


def test_without_interactions_the_total_is_the_main_importance_times_the_root_of_two():
    X, y, exposure, _ = make_rows()
    model = lgb.LGBMRegressor(objective="poisson", n_estimators=15, num_leaves=6, verbose=-1, n_jobs=1)
    model.fit(X.assign(b=0.0), y, init_score=np.log(exposure))
    given = {"target": y, "exposure": exposure, "offset": np.log(exposure), "response": "prediction"}
    ex = gw.Explainer(model, X.assign(b=0.0), **given)
    np.testing.assert_allclose(ex.importance()["a"] / ex.importance(kind="main")["a"], np.sqrt(2), rtol=1e-9)
    curve = ex.partial_dependence("a")
    assert not curve.find_spread().any()  # every row has the same rate
    counted = gw.summarize(model, X.assign(b=0.0, y=y, e=exposure, o=np.log(exposure)), target="y", exposure="e",
                           offset="o", response="prediction", answers=["importance"])  # fmt: skip
    again = gw.Explainer(model, counted, response="prediction")
    assert not again.partial_dependence("a").find_spread().any()
    np.testing.assert_array_equal(again.partial_dependence("a").heights, curve.heights)
    np.testing.assert_allclose(again.importance()["a"], ex.importance()["a"], rtol=1e-12)


def test_level_of_the_gate():
    X, y, exposure, _ = make_rows()
    model, predict = fitted(X, y, exposure)
    offset, old = np.log(exposure), X.a.to_numpy() > 0
    rates = predict(X, offset) / exposure
    (mean, deviation), (other, _) = (moments(rates[rows], exposure[rows]) for rows in (old, ~old))
    explainers = {
        name: gw.Explainer(model, X[r], target=y[r], exposure=exposure[r], offset=offset[r], response="prediction")
        for name, r in {"old": old, "young": ~old}.items()
    }
    gate = gw.compare(explainers, reference="old", limits={"level": 0.2})
    found = gate.measures.to_frame().set_index("measure")["value"]["level"]
    np.testing.assert_allclose(found, abs(other - mean) / deviation, rtol=1e-7)


def test_rows_that_fall_are_measured_by_their_own_rate():
    X, y, exposure, _ = make_rows()
    model, predict = fitted(X, y, exposure)
    offset = np.log(exposure)
    given = {"target": "y", "exposure": "e", "offset": "o", "response": "prediction"}
    rows = X.assign(y=y, e=exposure, o=offset)
    ex = gw.Explainer(model, rows, **given)
    found = ex.row_monotonicity("a")
    curve = ex.partial_dependence("a")
    values = [*curve.cuts.tolist(), np.inf]
    rates = np.array([predict(X.assign(a=min(value, 1e9)), offset) / exposure for value in values])
    side = 1.0 if found.directions[0, 0] == "increasing" else -1.0
    falls = (np.maximum.accumulate(side * rates, axis=0) - side * rates).max(axis=0)
    low, high = found.bounds[0, 0]
    assert low <= falls.max() < high
    worst = found.worst("a")
    np.testing.assert_allclose(falls[worst.row], falls.max(), rtol=1e-9)
    np.testing.assert_allclose(abs(np.subtract(*worst.responses)), falls.max(), rtol=1e-7)
    counted = gw.summarize(model, rows, **given, answers=["row_monotonicity"])
    again = gw.Explainer(model, counted, response="prediction").row_monotonicity("a")
    np.testing.assert_array_equal(again.bounds, found.bounds)


def test_errors_by_folds_are_those_of_rates():
    X, y, exposure, _ = make_rows()
    model, predict = fitted(X, y, exposure)
    offset, fold_by = np.log(exposure), np.arange(N) % 4
    given = {"target": y, "exposure": exposure, "offset": offset, "response": "prediction"}
    curve = gw.Explainer(model, X, **given, folds=2, fold_by=fold_by).partial_dependence("a")
    cell = int(curve.axis.cell_of([0.3])[0])
    rates = predict(X.assign(a=0.3), offset) / exposure
    left_out = curve.find_folds().heights[:, cell, 0]
    every = {tuple(sorted(kept)): np.average(rates[rows], weights=exposure[rows])
             for kept in ([0], [1], [2], [3], [0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3], [0, 1, 2], [0, 1, 3],
                          [0, 2, 3], [1, 2, 3]) for rows in [np.isin(fold_by, kept)]}  # fmt: skip
    for found in left_out:
        assert min(abs(found - value) for value in every.values()) < 1e-9


def test_groups_of_the_report_have_their_own_exposure():
    X, y, exposure, weight = make_rows()
    model, predict = fitted(X, y, exposure)
    offset = np.log(exposure)
    ex = gw.Explainer(model, X, target=y, exposure=exposure, offset=offset, sample_weight=weight, response="prediction")
    group = np.where(X.b > 0.4, "long", "short")
    data = json.loads(re.findall(r'id="data">(.*?)</script>', ex.report(by=group).html, re.DOTALL)[0])
    section = next(one for one in data["sections"] if one["id"] == "groups")
    for name, *_, found in section["more"][0]["rows"]:
        rows = group == name
        rates = predict(X[rows], offset[rows]) / exposure[rows]
        np.testing.assert_allclose(found, moments(rates, (weight * exposure)[rows])[0], rtol=1e-3)
    checks = next(one for one in data["sections"] if one["id"] == "checks")
    assert all(item.get("good") is not False for item in checks["list"])


def test_rows_of_weight_0_may_have_no_exposure():
    X, y, exposure, weight = make_rows()
    model, _ = fitted(X, y, exposure)
    none = weight == 0
    given = {"target": y, "sample_weight": weight, "response": "prediction"}
    expected = gw.Explainer(model, X, **given, exposure=exposure, offset=np.log(exposure))
    exposure = np.where(none, 0.0, exposure)
    with np.errstate(divide="ignore"):
        found = gw.Explainer(model, X, **given, exposure=exposure, offset=np.log(exposure))
    for ask in (lambda ex: ex.partial_dependence("a").heights, lambda ex: ex.partial_dependence("a").std()):
        np.testing.assert_array_equal(ask(found), ask(expected))
    assert found.importance()["a"] == expected.importance()["a"]


def test_shares_are_no_rates():
    X, y, exposure, _ = make_rows()
    options = {"objective": "reg:logistic", "nthread": 1}
    model = xgb.train(options, xgb.DMatrix(X, y / (1 + y), base_margin=np.log(exposure)), 3)
    given = {"target": y / (1 + y), "offset": np.log(exposure)}
    gw.Explainer(model, X, **given)
    with pytest.raises(ArgumentError, match="totals of rows"):
        gw.Explainer(model, X, **given, exposure=exposure)
