"""Offsets: added before the link as each library does it, in predictions and in curves, against brute force."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from catboost import CatBoostRegressor, Pool
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, VotingRegressor

import glasswood as gw
from glasswood.errors import ArgumentError, TableError, UnsupportedModelError

N = 500


def make_rows():
    """Numbers with missing values, exposures, and claims."""
    generator = np.random.default_rng(0)
    X = pd.DataFrame({"a": generator.normal(size=N), "b": generator.normal(size=N)})
    X.loc[generator.random(N) < 0.1, "b"] = np.nan
    exposure = generator.uniform(0.1, 1.0, N)
    return X, generator.poisson(exposure * np.exp(X.a)).astype(float), exposure, generator.integers(0, 4, N)


def fitted(name, X, y, offset):
    """Return a model that was trained with an offset, and how it predicts with one."""
    if name == "xgboost":
        model = xgb.XGBRegressor(objective="count:poisson", n_estimators=15, max_depth=3)
        model.fit(X, y, base_margin=offset)
        return model, lambda Z, o: model.predict(Z, base_margin=o).astype(float)
    if name == "catboost":
        model = CatBoostRegressor(loss_function="Poisson", iterations=15, depth=3, verbose=0)
        model.fit(Pool(X, y, baseline=offset))
        raw = lambda Z, o: model.predict(Pool(Z, baseline=o), prediction_type="RawFormulaVal")  # noqa: E731
        return model, lambda Z, o: np.exp(raw(Z, o))
    if name == "lightgbm":
        model = lgb.LGBMRegressor(objective="poisson", n_estimators=15, num_leaves=6, verbose=-1)
        model.fit(X, y, init_score=offset)
        return model, lambda Z, o: np.exp(o + model.predict(Z, raw_score=True))
    model = HistGradientBoostingRegressor(loss="poisson", max_iter=15).fit(X, y)
    return model, lambda Z, o: model.predict(Z) * np.exp(o)


@pytest.mark.parametrize("name", ["xgboost", "catboost", "lightgbm", "hgb"])
def test_predictions_and_curves(name):
    X, y, exposure, weight = make_rows()
    offset = np.log(exposure)
    model, predict = fitted(name, X, y, offset)
    near = {"rtol": 1e-9} if name in ("lightgbm", "hgb") else {"rtol": 2e-6}  # others add in float32
    ex = gw.Explainer(model, X, target=y, exposure=exposure, offset=offset, sample_weight=weight, response="prediction")
    curve = ex.partial_dependence("a")
    cell, n = curve.axis.cell_of(X.a), curve.axis.n_cells
    total = np.bincount(cell, weight * exposure, n)
    with np.errstate(invalid="ignore"):
        expected = np.bincount(cell, weight * predict(X, offset), n) / total
    np.testing.assert_allclose(curve.observations.predicted[:, 0], expected, **near)
    for x in (-0.5, 0.3):
        moved = predict(X.assign(a=x), offset)
        per_unit = (weight @ moved) / (weight @ exposure)
        np.testing.assert_allclose(curve([x])[0], per_unit, **near)
    plain = gw.Explainer(model, X, offset=offset, sample_weight=weight, response="prediction")
    np.testing.assert_allclose(plain.partial_dependence("a")([0.3])[0], np.average(moved, weights=weight), **near)
    left = np.log(predict(X.assign(a=0.3), offset)) - offset  # of the library's own score: what the offset was added to
    raw = ex.partial_dependence("a", response="raw")([0.3])[0]
    np.testing.assert_allclose(raw, np.average(left, weights=weight), rtol=0, atol=2e-5 if name != "hgb" else 1e-9)


def test_from_files_and_saved(tmp_path):
    X, y, exposure, weight = make_rows()
    model, _ = fitted("xgboost", X, y, np.log(exposure))
    frame = X.assign(y=y, e=exposure, o=np.log(exposure), w=weight)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=100)
    asked = {"target": "y", "exposure": "e", "offset": "o", "sample_weight": "w", "response": "prediction"}
    background = gw.summarize(model, frame, **asked)
    assert gw.summarize(model, str(tmp_path / "rows.parquet"), **asked) == background
    background.save(tmp_path / "rows.gw")
    again = gw.Explainer(model, gw.Background.load(tmp_path / "rows.gw"), response="prediction")
    expected = gw.Explainer(model, frame, **asked).partial_dependence("b")
    found = again.partial_dependence("b")
    np.testing.assert_array_equal(found.heights, expected.heights)
    np.testing.assert_array_equal(found.observations.predicted, expected.observations.predicted)
    assert expected.observations.comparable
    report = gw.Explainer(model, frame, **asked).report().html
    assert "actual/expected" in report


def test_classes():
    X, y, _, _ = make_rows()
    model = HistGradientBoostingClassifier(max_iter=5).fit(X, y.clip(0, 2))
    offset = np.random.default_rng(1).normal(size=(N, 3))
    curve = gw.Explainer(model, X, target=y.clip(0, 2), offset=offset, response="probability").partial_dependence("a")
    scores = model.decision_function(X.assign(a=0.3)) + offset
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(curve([0.3])[0], shares.mean(axis=0), rtol=1e-9)
    binary = HistGradientBoostingClassifier(max_iter=5).fit(X, y > 0)
    curve = gw.Explainer(binary, X, offset=offset[:, 0], response="probability").partial_dependence("a")
    scores = binary.decision_function(X.assign(a=0.3)) + offset[:, 0]
    np.testing.assert_allclose(curve([0.3])[0], np.mean(1 / (1 + np.exp(-scores))), rtol=1e-9)
    with pytest.raises(TableError, match="needs 3 columns"):
        gw.Explainer(model, X, offset=offset[:, 0])


def test_refusals():
    X, y, exposure, _ = make_rows()
    model, _ = fitted("lightgbm", X, y, np.log(exposure))
    with pytest.raises(TableError, match="missing or infinite"):
        gw.Explainer(model, X, offset=np.full(N, -np.inf))
    with pytest.raises(TableError, match="one value per row"):
        gw.Explainer(model, X, offset=np.zeros(3))
    ex = gw.Explainer(model, X, offset=np.log(exposure), response="prediction")
    for ask in (lambda: ex.ice("a"), lambda: ex.partial_dependence("a", "b").values):
        with pytest.raises(UnsupportedModelError, match="offset="):
            ask()
    both = VotingRegressor([("one", HistGradientBoostingRegressor(max_iter=3))]).fit(X, y)
    with pytest.raises(ArgumentError, match="offset="):
        gw.Explainer(both, X, offset=np.log(exposure))
    one = gw.summarize(model, X, response="prediction")
    with pytest.raises(gw.errors.BackgroundError, match="offset"):
        one + gw.summarize(model, X, response="prediction", offset=np.log(exposure))
