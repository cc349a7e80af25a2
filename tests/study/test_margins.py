"""Margins, baselines and initial scores on the raw scale: what they replace, in every result, against each library."""

from __future__ import annotations

import json
import re
import sqlite3

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from catboost import CatBoostClassifier, CatBoostRegressor, Pool
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingClassifier, HistGradientBoostingRegressor

import glasswood as gw
from glasswood.errors import ArgumentError, BackgroundError, TableError, UnsupportedModelError

N = 300


def make_rows():
    """Return numbers (of float32, so that databases and libraries see the same), exposures, claims, and an offset."""
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(N, 3)).round(2), columns=["a", "b", "c"])
    X = X.astype(np.float32).astype(np.float64)
    exposure = generator.uniform(0.1, 1.0, N)
    y = generator.poisson(3 * exposure * np.exp(X.a + 0.5 * X.a * X.b)).astype(float)
    return X, y, exposure, np.log(exposure)


def xgboost(X, y, offset, **options):
    """Return a model trained with a margin, and the raw score that the library gives rows with margins."""
    model = xgb.XGBRegressor(objective="count:poisson", n_estimators=12, max_depth=2, n_jobs=1, **options)
    model.fit(X, y, base_margin=offset)
    return model, lambda Z, o: model.get_booster().predict(xgb.DMatrix(Z, base_margin=o), output_margin=True)


def lightgbm(X, y, offset, **options):
    """Return the same of LightGBM, whose predictions take no initial score: it is added by hand."""
    model = lgb.LGBMRegressor(objective="poisson", n_estimators=12, max_depth=2, verbose=-1, n_jobs=1, **options)
    model.fit(X, y, init_score=offset)
    return model, lambda Z, o: model.predict(Z, raw_score=True) + o


def catboost(X, y, offset, **options):
    """Return the same of CatBoost."""
    model = CatBoostRegressor(loss_function="Poisson", iterations=12, depth=2, verbose=0, thread_count=1, **options)
    model.fit(Pool(X, y, baseline=offset))
    return model, lambda Z, o: model.predict(Pool(Z, baseline=o), prediction_type="RawFormulaVal")


def hgb(X, y, offset, **options):
    """Return a model that knows no offsets: it is added to the raw score."""
    model = HistGradientBoostingRegressor(loss="poisson", max_iter=12, max_depth=2, random_state=0, **options)
    model.fit(X, y)
    return model, lambda Z, o: np.log(model.predict(Z)) + o


LIBRARIES = {"xgboost": xgboost, "lightgbm": lightgbm, "catboost": catboost, "hgb": hgb}
# XGBoost adds in float32, and CatBoost keeps baselines in it.
NEAR = {"xgboost": 1e-5, "lightgbm": 1e-9, "catboost": 1e-6, "hgb": 1e-9}


def predictions(model, X, offset):
    """Return the predictions that a library gives rows with margins."""
    if isinstance(model, xgb.XGBRegressor):
        return model.predict(X, base_margin=offset)
    if isinstance(model, CatBoostRegressor):
        return model.predict(Pool(X, baseline=offset), prediction_type="Exponent")
    return model.predict(X) * np.exp(offset)


def asked(name, *, given):
    """Return an explainer, and raw scores by the library of rows like those of the explainer."""
    X, y, exposure, offset = make_rows()
    model, raw = LIBRARIES[name](X, y, offset)
    if given:
        ex = gw.Explainer(model, X, target=y, exposure=exposure, offset=offset, response="raw")
        return ex, X, lambda Z: raw(Z, offset[: len(Z)]) - offset[: len(Z)]
    zero = None if name in ("xgboost", "catboost") else 0.0
    return gw.Explainer(model, X, response="raw"), X, lambda Z: raw(Z, zero)


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("name", LIBRARIES)
def test_raw_curves_and_shapley_sums(name, given):
    ex, X, raw = asked(name, given=given)
    near = {"rtol": 0, "atol": NEAR[name]}
    for value in (-0.7, 0.01, 1.3):
        curve = ex.partial_dependence("a")
        np.testing.assert_allclose(curve([value])[0], raw(X.assign(a=value)).mean(), **near)
    values = ex.shap_values(X[:9])
    np.testing.assert_allclose(values.base_values, raw(X).mean(), **near)
    np.testing.assert_allclose(values.values.sum(axis=1) + values.base_values, raw(X[:9]), **near)
    every = ex.interaction_values(X[:9])
    np.testing.assert_allclose(every.values.sum(axis=1), raw(X[:9]), **near)
    surface = ex.partial_dependence("a", "b")
    np.testing.assert_allclose(surface([0.5], [0.2]), raw(X.assign(a=0.5, b=0.2)).mean(), **near)


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("name", LIBRARIES)
def test_response_curves(name, given):
    X, y, _, offset = make_rows()
    model, raw = LIBRARIES[name](X, y, offset)
    ex = gw.Explainer(model, X, **({"offset": offset} if given else {}), response="prediction")
    zero = None if name in ("xgboost", "catboost") else 0.0
    predicted = np.exp(raw(X.assign(b=0.4), offset if given else zero).astype(np.float64))
    np.testing.assert_allclose(ex.partial_dependence("b")([0.4])[0], predicted.mean(), rtol=NEAR[name])


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("name", LIBRARIES)
def test_rating_table_and_sql(name, given, tmp_path):
    ex, X, raw = asked(name, given=given)
    table, expected = ex.rating_table(pairs=3), raw(X)
    assert table.exact
    near = {"rtol": 0, "atol": NEAR[name]}
    np.testing.assert_allclose(table.score(X), expected, **near)
    frame = table.to_frame()
    np.testing.assert_allclose(frame["value"][0], expected.mean(), **near)
    duckdb = pytest.importorskip("duckdb")
    rows = X.assign(n=np.arange(N))  # noqa: F841 (DuckDB finds it by its name)
    found = duckdb.sql(f"SELECT {table.to_sql('duckdb')} AS s FROM rows ORDER BY n").fetchnumpy()["s"]
    np.testing.assert_allclose(found, expected, **near)
    with sqlite3.connect(tmp_path / "rows.db") as connection:
        X.to_sql("rows", connection, index=False)
        found = connection.execute(f"SELECT {table.to_sql('ansi')} FROM rows ORDER BY rowid").fetchall()
    connection.close()
    np.testing.assert_allclose(np.ravel(found), expected, **near)
    if given:  # the response: with the offset, behind the link
        _, y, _, offset = make_rows()
        own = predictions(LIBRARIES[name](X, y, offset)[0], X, offset)
        np.testing.assert_allclose(np.exp(np.ravel(found) + offset), own, rtol=NEAR[name])


@pytest.mark.parametrize("how", ["dart", "booster", "several", "forest"])
def test_other_boosters_of_xgboost(how):
    X, y, _, offset = make_rows()
    options = {"objective": "count:poisson", "max_depth": 3, "nthread": 1}
    options |= {"booster": "dart", "rate_drop": 0.3, "seed": 1} if how == "dart" else {}
    options |= {"num_parallel_tree": 3} if how == "forest" else {}
    if how == "several":
        options |= {"objective": "multi:softprob", "num_class": 3}
        y, offset = y.clip(0, 2), np.random.default_rng(1).normal(size=(N, 3))
    booster = xgb.train(options, xgb.DMatrix(X, y, base_margin=offset), 6)
    left = booster.predict(xgb.DMatrix(X.assign(a=0.5), base_margin=offset), output_margin=True) - offset
    ex = gw.Explainer(booster, X, offset=offset, response="raw")
    np.testing.assert_allclose(ex.partial_dependence("a")([0.5])[0], left.mean(axis=0), rtol=0, atol=1e-5)


def test_a_baseline_is_added_to_the_bias_of_catboost():
    X, y, _, offset = make_rows()
    model = CatBoostRegressor(iterations=5, depth=2, verbose=0, thread_count=1).fit(X, y)  # which has a bias
    left = model.predict(Pool(X, baseline=offset)) - offset
    ex = gw.Explainer(model, X, offset=offset)
    np.testing.assert_allclose(ex.shap_values(X[:2]).base_values, left.mean(), rtol=1e-9)
    binary = CatBoostClassifier(iterations=5, depth=2, verbose=0, thread_count=1).fit(X, y > 1)
    raw = binary.predict(Pool(X.assign(a=1.0), baseline=offset), prediction_type="RawFormulaVal")
    curve = gw.Explainer(binary, X, offset=offset, response="probability").partial_dependence("a")
    np.testing.assert_allclose(curve([1.0])[0], np.mean(1 / (1 + np.exp(-raw))), rtol=1e-9)


def test_counts_tell_whether_rows_had_an_offset(tmp_path):
    X, y, exposure, offset = make_rows()
    model, raw = xgboost(X, y, offset)
    rows = X.assign(o=offset, e=exposure, y=y, g=np.where(X.b > 0, "high", "low"))
    background = gw.summarize(model, rows, offset="o", by="g", answers=["counts"])  # no sums of responses are in it
    background["high"].save(tmp_path / "high.gw")
    again = gw.Background.load(tmp_path / "high.gw")
    ex = gw.Explainer(model, again)
    high = (X.b > 0).to_numpy()
    left = (raw(X, offset) - offset)[high].mean()
    np.testing.assert_allclose(ex.partial_dependence("a").mean, left, atol=1e-5)
    both = background["high"] + background["low"]
    assert both == gw.summarize(model, rows, offset="o", answers=["counts"])
    np.testing.assert_allclose(
        gw.Explainer(model, both - background["low"]).partial_dependence("a").mean, left, atol=1e-5
    )
    with pytest.raises(BackgroundError, match="offset"):
        background["high"] + gw.summarize(model, rows[~high])
    rows.to_parquet(tmp_path / "rows.parquet")
    files = gw.Explainer(model, str(tmp_path / "rows.parquet"), offset="o", response="raw")
    np.testing.assert_allclose(files.partial_dependence("a").mean, (raw(X, offset) - offset).mean(), atol=1e-5)


def test_of_groups_and_probabilities_in_the_report():
    X, y, _, offset = make_rows()
    model = HistGradientBoostingClassifier(max_iter=5, random_state=0).fit(X, y > 1)
    ex = gw.Explainer(model, X, offset=offset)
    shares = 1 / (1 + np.exp(-(model.decision_function(X) + offset)))
    group = np.where(X.b > 0, "high", "low")
    data = json.loads(re.findall(r'id="data">(.*?)</script>', ex.report(by=group).html, re.DOTALL)[0])
    section = next(one for one in data["sections"] if one["id"] == "groups")
    lines = section["more"][0]["rows"]
    columns = [column["name"] for column in section["more"][0]["columns"]]
    for line in lines:
        found = line[columns.index("Average probability")]
        np.testing.assert_allclose(found, shares[group == line[0]].mean(), rtol=1e-3)


def test_curves_without_the_offset_are_not_drawn_beside_what_was_observed():
    X, y, _, offset = make_rows()
    model = xgb.XGBRegressor(n_estimators=5, max_depth=2, n_jobs=1).fit(X, y, base_margin=offset)
    ex = gw.Explainer(model, X, target=y, offset=offset)
    curve = ex.partial_dependence("a")
    assert not curve.observations.comparable
    with pytest.raises(ArgumentError, match="do not contain the offset of the rows"):
        curve.plot(observed=True)
    assert "Predictions contain the offset of the rows, and curves do not." in ex.report().html
    predicted = model.predict(X, base_margin=offset)
    np.testing.assert_allclose(curve.observations.mean_predicted, predicted.mean(), rtol=1e-5)


def test_refusals_come_at_the_call():
    X, y, _, offset = make_rows()
    model, _ = lightgbm(X, y, offset)
    ex = gw.Explainer(model, X, offset=offset, response="prediction")
    for ask in (
        lambda: ex.ice("a"),
        lambda: ex.partial_dependence("a", "b"),
        lambda: ex.partial_dependence("a", "b", at=X[:2]),
        lambda: gw.Explainer(model, X, offset=offset, response="prediction", groups={"g": ["a", "b"]}).importance(
            kind="main"
        ),
        lambda: ex.ale("a"),
        lambda: gw.summarize(model, X, offset=offset, response="prediction", answers=["ale"]),
    ):
        with pytest.raises(UnsupportedModelError, match="not available with offset="):
            ask()
    points = ex.partial_dependence("a", at=X[["a"]][:3])  # of one feature, curves know
    np.testing.assert_array_equal(points.values, ex.partial_dependence("a")(X.a[:3]))


def test_treelite_does_not_tell():
    treelite = pytest.importorskip("treelite")
    X, y, _, offset = make_rows()
    model = GradientBoostingRegressor(n_estimators=3).fit(X, y)
    read = treelite.sklearn.import_model(model)
    with pytest.raises(ArgumentError, match="does not tell whether an offset is added"):
        gw.Explainer(read, X.to_numpy(), offset=offset)
    gw.Explainer(read, X.to_numpy())
    with pytest.raises(TableError, match="one value per row"):
        gw.Explainer(model, X, offset=offset[:5])
