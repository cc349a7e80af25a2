"""Encoders of skrub and category_encoders, read as scikit-learn's: against predictions of the whole pipeline."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline

import glasswood as gw
from glasswood.models._opened import open_model

encoders = pytest.importorskip("category_encoders")
skrub = pytest.importorskip("skrub")

pytestmark = pytest.mark.filterwarnings("ignore")


def table(n_rows=400):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"city": rng.choice(["a", "b", "c", "d"], n_rows).astype(object), "x": rng.normal(size=n_rows)})
    X["n"] = rng.integers(0, 50, n_rows)
    X.loc[rng.random(n_rows) < 0.1, "x"] = np.nan
    return X, (X["city"] == "a") * 2 + (X["city"] == "b") + X["x"].fillna(0) ** 2 + (X["n"] > 20)


def average(pipeline, X, name, value):
    column = [value] * len(X)
    changed = X.assign(**{name: pd.Series(column, dtype=object) if name == "city" else column})
    return pipeline.predict(changed).mean()


def check(pipeline, X, cities, step=1):
    """Compare curves with predictions at every cut, or at some: skrub takes its time for a prediction."""
    ex = gw.Explainer(pipeline, X)
    curve = ex.partial_dependence("city")
    for value in cities:
        np.testing.assert_allclose(curve(value), average(pipeline, X, "city", value), rtol=0, atol=1e-12)
    for name in ("x", "n"):
        curve = ex.partial_dependence(name)
        cuts = curve.cuts[::step]
        values = np.concatenate([cuts, np.nextafter(cuts, np.inf), [0.5]])
        expected = [average(pipeline, X, name, value) for value in values]
        np.testing.assert_allclose([curve(value) for value in values], expected, rtol=0, atol=1e-12)
    scores = ex.shap_values(X[:20])
    np.testing.assert_allclose(scores.values.sum(axis=1) + scores.base_values, pipeline.predict(X[:20]), atol=1e-10)


KINDS = ["OrdinalEncoder", "OneHotEncoder", "TargetEncoder", "BinaryEncoder", "BaseNEncoder", "CountEncoder"]
KINDS += ["LeaveOneOutEncoder", "CatBoostEncoder", "JamesSteinEncoder", "MEstimateEncoder", "HelmertEncoder"]


@pytest.mark.parametrize("kind", KINDS)
def test_encoders_of_categories(kind):
    X, y = table()
    encoder = getattr(encoders, kind)(cols=["city"])
    pipeline = make_pipeline(encoder, HistGradientBoostingRegressor(max_iter=10)).fit(X, y)
    opened = open_model(pipeline, X)
    assert opened.columns is None, opened.columns.reasons
    check(pipeline, X, ["a", "b", "c", "d", "never seen"])


def test_encoders_in_a_column_transformer():
    X, y = table()
    steps = make_column_transformer((encoders.TargetEncoder(), ["city"]), remainder="passthrough")
    pipeline = make_pipeline(steps, HistGradientBoostingRegressor(max_iter=10)).fit(X, y)
    assert open_model(pipeline, X).columns is None
    check(pipeline, X, ["a", "b", "never seen"])


def test_the_table_vectorizer():
    X, y = table()
    pipeline = skrub.tabular_pipeline(HistGradientBoostingRegressor(max_iter=10)).fit(X, y)
    assert open_model(pipeline, X).columns is None
    check(pipeline, X, ["a", "b", "c", "d"], step=5)
    vectorized = make_pipeline(skrub.TableVectorizer(), HistGradientBoostingRegressor(max_iter=10)).fit(X, y)
    opened = open_model(vectorized, X)
    assert opened.columns is None, opened.columns.reasons
    assert set(opened.ensemble.schema.columns[0].categories) == set("abcd")
    check(vectorized, X, ["a", "b", "c", "d", "never seen"], step=5)


def test_texts_that_the_table_vectorizer_takes_for_missing():
    X, y = table()
    pipeline = make_pipeline(skrub.TableVectorizer(), HistGradientBoostingRegressor(max_iter=10)).fit(X, y)
    rows = X.assign(city=np.where(X["city"] == "a", "N/A", X["city"]))
    curve = gw.Explainer(pipeline, rows).partial_dependence("x")
    for value in (-0.5, 0.7):
        np.testing.assert_allclose(curve(value), average(pipeline, rows, "x", value), rtol=0, atol=1e-12)


def test_dates_and_texts_have_points():
    X, y = table()
    X["when"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(len(X)) * 5, unit="D")
    X["note"] = [f"note {k} of {len(X)}" for k in range(len(X))]
    late = X["when"].dt.month > 6
    pipeline = make_pipeline(skrub.TableVectorizer(), HistGradientBoostingRegressor(max_iter=10)).fit(X, y + 5 * late)
    opened = open_model(pipeline, X)
    assert "when" in opened.columns.reasons
    ex = gw.Explainer(pipeline, X)
    points = ex.partial_dependence("when", at=X[:3][["when"]])
    expected = [pipeline.predict(X.assign(when=value)).mean() for value in X["when"][:3]]
    np.testing.assert_allclose(points.values, expected, rtol=0, atol=1e-12)
    check(pipeline, X, ["a", "b"], step=10)
