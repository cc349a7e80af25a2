"""Pipelines and wrappers are explained in the user's own columns, against predictions through the whole pipeline."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost as xgb
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, OneHotEncoder, StandardScaler, TargetEncoder

import glasswood as gw
from glasswood.errors import TableError, UnsupportedModelError
from helpers.versions import quantiles


def prepared(numbers, texts, model):
    """One-hot encoding and imputation before a model."""
    hot = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    scaled = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    return make_pipeline(make_column_transformer((hot, texts), (scaled, numbers), sparse_threshold=0), model)


def probability(model, rows):
    return model.predict_proba(rows)[:, 1]


def adult(shared, n_rows):
    X = pd.read_parquet(shared / "data" / "adult_census.parquet").sample(n_rows, random_state=0).reset_index(drop=True)
    y = (X.pop("income") == ">50K").to_numpy()
    texts = [name for name in X if isinstance(X[name].dtype, pd.CategoricalDtype)]
    return X.astype(dict.fromkeys(texts, object)), y, texts


def flights(shared, n_rows):
    table = pd.read_parquet(shared / "data" / "nycflights13.parquet").sample(n_rows, random_state=0)
    X = table[["month", "dep_delay", "carrier", "origin", "distance", "air_time", "hour"]].reset_index(drop=True)
    texts = ["carrier", "origin"]
    y = (table["arr_delay"].fillna(0) > 15).to_numpy()
    return X.astype(dict.fromkeys(texts, object)), y, texts


TABLES = {
    "adult": (adult, ("age", "workclass", "hours-per-week")),
    "flights": (flights, ("dep_delay", "carrier", "hour")),
}
MODELS = {
    "HGB": HistGradientBoostingClassifier(max_iter=20, random_state=0),
    "XGBoost": xgb.XGBClassifier(n_estimators=20, max_depth=4, n_jobs=1),
}


def values_of(X, name, n=4):
    """A few values of a column, one of them missing if some are."""
    values = list(X[name].dropna().unique()[:n])
    return [*values, np.nan] if X[name].isna().any() else values


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("table", TABLES)
def test_real_pipelines(table, model, shared):
    make, names = TABLES[table]
    X, y, texts = make(shared, 1500)
    pipeline = prepared(
        [name for name in X if name not in texts], texts, MODELS[model].__class__(**MODELS[model].get_params())
    )
    pipeline.fit(X, y)
    within = 1e-6 if model == "XGBoost" else 1e-12
    rows = X[:400]
    ex = gw.Explainer(pipeline, rows, response="probability")
    for name in names:
        values = values_of(X, name)
        points = ex.partial_dependence(name, at={name: values})
        brute = [probability(pipeline, rows.assign(**{name: x})) for x in values]
        np.testing.assert_allclose(points.values, np.mean(brute, axis=1), rtol=0, atol=within)
        ice = ex.ice(name, at={name: values})
        np.testing.assert_allclose(ice.values.T, brute, rtol=0, atol=within)
        curve = ex.partial_dependence(name)
        np.testing.assert_allclose([curve(x) for x in values], points.values, rtol=1e-14)
    a, b = names[:2]
    pairs = {a: values_of(X, a), b: values_of(X, b)}
    at = pd.DataFrame([(x, z) for x in pairs[a] for z in pairs[b]], columns=[a, b])
    brute = [probability(pipeline, rows.assign(**{a: x, b: z})).mean() for x in pairs[a] for z in pairs[b]]
    np.testing.assert_allclose(ex.partial_dependence(a, b, at=at).values, brute, rtol=0, atol=within)


def test_rows_in_original_columns(shared):
    X, y, texts = adult(shared, 800)
    numbers = [name for name in X if name not in texts]
    pipeline = prepared(numbers, texts, HistGradientBoostingClassifier(max_iter=10)).fit(X, y)
    ex = gw.Explainer(pipeline, X)
    score = pipeline.decision_function(X[:50])
    shap_values = ex.shap_values(X[:50])
    assert shap_values.names == tuple(X.columns)
    np.testing.assert_allclose(shap_values.values.sum(axis=1) + shap_values.base_values, score, rtol=0, atol=1e-10)
    values = ex.interaction_values(X[:50], max_order=None)
    np.testing.assert_allclose(values.values.sum(axis=1), score, rtol=0, atol=1e-10)
    assert {name for names in values.subsets for name in names} <= set(X.columns)
    grouped = gw.Explainer(pipeline, X, groups={"work": ["workclass", "occupation"]})
    at = X[["workclass", "occupation"]][:3]
    np.testing.assert_allclose(
        grouped.partial_dependence("work", at=at).values,
        ex.partial_dependence("workclass", "occupation", at=at).values,
        rtol=0,
        atol=1e-12,
    )
    assert list(ex.partial_dependence()) == list(X.columns)
    assert sorted(ex.partial_dependence()["sex"].categories) == ["Female", "Male"]


def small(n_rows=200):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=["a", "b", "c"])
    X["d"] = rng.integers(0, 3, size=n_rows)
    return X, X["a"] * X["b"] + X["d"] + 0.1 * rng.normal(size=n_rows)


@pytest.mark.parametrize("kind", ["pandas", "polars", "array"])
def test_kinds_of_tables(kind):
    X, y = small()
    table = {"pandas": X, "polars": pl.from_pandas(X), "array": X.to_numpy()}[kind]
    pipeline = make_pipeline(StandardScaler(), GradientBoostingRegressor(n_estimators=10)).fit(table, y)
    name = "x0" if kind == "array" else "a"
    points = gw.Explainer(pipeline, table).partial_dependence(name, at={name: [-1.0, 0.25]})
    brute = [pipeline.predict(_with(table, kind, x)).mean() for x in (-1.0, 0.25)]
    np.testing.assert_allclose(points.values, brute, rtol=0, atol=1e-12)


def _with(table, kind, x):
    if kind == "pandas":
        return table.assign(a=x)
    if kind == "polars":
        return table.with_columns(pl.lit(x).alias("a"))
    changed = table.copy()
    changed[:, 0] = x
    return changed


def test_integers_may_take_fractions_and_columns_may_be_dropped():
    X, y = small()
    pipeline = make_pipeline(make_column_transformer(("passthrough", ["a", "d"])), GradientBoostingRegressor()).fit(
        X, y
    )
    ex = gw.Explainer(pipeline, X)
    points = ex.partial_dependence("d", at={"d": [0.5, 2.0]})
    np.testing.assert_allclose(points.values, [pipeline.predict(X.assign(d=x)).mean() for x in (0.5, 2.0)], atol=1e-12)
    flat = ex.partial_dependence("b", at={"b": [0.0, 1.0]}).values
    np.testing.assert_allclose(flat, pipeline.predict(X).mean(), atol=1e-12)
    assert not ex.shap_values(X[:5]).to_frame()["b"].any()


def test_values_of_rows_beside_groups():
    X, y = small()
    model = make_pipeline(StandardScaler(), HistGradientBoostingRegressor(max_iter=5)).fit(X, y)
    alone = gw.Explainer(model, X, groups={"first": ["d"]}).shap_values(X[:5])  # groups come before other columns
    assert alone.names == ("first", "a", "b", "c")
    np.testing.assert_array_equal(alone.columns(), X[:5][["d", "a", "b", "c"]].to_numpy())
    assert f"first = {X['d'][3]}" in str(alone.plot(3, backend="plotly").to_dict())
    several = gw.Explainer(model, X, groups={"two": ["a", "b"]})
    for found in (several.shap_values(X[:5]), several.interaction_values(X[:5])):
        assert found.columns() is None  # what a group holds is not one value
        found.plot(3, backend="plotly")


def test_target_encoding_and_binning():
    X, y = small()
    label = y > y.median()
    steps = make_column_transformer((TargetEncoder(), ["d"]), (KBinsDiscretizer(4, **quantiles("linear")), ["a", "b"]))
    pipeline = make_pipeline(steps, GradientBoostingClassifier(n_estimators=10)).fit(X, label)
    ex = gw.Explainer(pipeline, X, response="probability")
    for name, values in {"d": [0, 1, 2], "a": [-1.0, 0.0, 2.0]}.items():
        brute = [probability(pipeline, X.assign(**{name: x})).mean() for x in values]
        np.testing.assert_allclose(ex.partial_dependence(name, at={name: values}).values, brute, rtol=0, atol=1e-12)


def test_wrappers_give_the_numbers_of_the_bare_model():
    X, y = small()
    model = GradientBoostingRegressor(n_estimators=10, random_state=0).fit(X, y)
    bare = gw.Explainer(model, X).partial_dependence("a")
    for wrapped in (
        FrozenEstimator(model),
        GridSearchCV(GradientBoostingRegressor(n_estimators=10, random_state=0), {"max_depth": [3]}, cv=2).fit(X, y),
        make_pipeline(model),
    ):
        curve = gw.Explainer(wrapped, X).partial_dependence("a")
        np.testing.assert_array_equal(curve.values, bare.values)
        np.testing.assert_array_equal(curve.cuts, bare.cuts)


def test_a_transformed_target_is_a_response():
    X, y = small()
    y = np.exp(y)
    model = TransformedTargetRegressor(HistGradientBoostingRegressor(max_iter=10), func=np.log, inverse_func=np.exp)
    model.fit(X, y)
    ex = gw.Explainer(model, X, response="prediction")
    for x in (-1.0, 0.3):
        brute = model.predict(X.assign(a=x))
        np.testing.assert_allclose(ex.partial_dependence("a")(x), brute.mean(), rtol=1e-12)
        np.testing.assert_allclose(ex.ice("a", at={"a": [x]}).values[:, 0], brute, rtol=1e-12)
    raw = gw.Explainer(model, X)  # what trees add up to: the logarithm
    np.testing.assert_allclose(raw.partial_dependence("a").mean, model.regressor_.predict(X).mean())


def test_refusals():
    X, y = small()
    pipeline = make_pipeline(StandardScaler(), GradientBoostingRegressor(n_estimators=3)).fit(X, y)
    with pytest.raises(TableError, match="names the column 'nobody'"):
        gw.Explainer(pipeline, X, groups={"some": ["nobody"]})
    waves = make_pipeline(FunctionTransformer(np.cos), GradientBoostingRegressor(n_estimators=3)).fit(X, np.cos(X["a"]))
    with pytest.raises(TableError, match="pass a table as the background"):
        gw.Explainer(waves).partial_dependence("a", at={"a": [0.0]})
    with pytest.raises(TableError, match="groups name the column 'nobody'"):
        gw.Explainer(waves, X, groups={"some": ["nobody"]})
    with pytest.raises(TableError, match="lacks"):
        gw.Explainer(pipeline, X).partial_dependence("a", at=X[["b"]])
    from sklearn.decomposition import PCA

    with pytest.raises(UnsupportedModelError, match="PCA"):
        gw.Explainer(make_pipeline(PCA(2), GradientBoostingRegressor(n_estimators=3)).fit(X, y), X)
