"""Pipelines folded into their trees: full curves in the user's own units, against predictions of the whole pipeline."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)

import glasswood as gw
from glasswood.errors import TableError
from glasswood.models._opened import open_model
from helpers.short_form import all_pairs
from helpers.versions import has, needs

# ------------------------------------------------------------------------------------------------------ real pipelines


def adult(shared):
    X = pd.read_parquet(shared / "data" / "adult_census.parquet").sample(2500, random_state=0).reset_index(drop=True)
    y = (X.pop("income") == ">50K").to_numpy().astype(int)
    texts = [name for name in X if isinstance(X[name].dtype, pd.CategoricalDtype)]
    return X.astype(dict.fromkeys(texts, object)), y, texts


def flights(shared):
    table = pd.read_parquet(shared / "data" / "nycflights13.parquet").sample(2500, random_state=0)
    X = table[["month", "dep_delay", "carrier", "origin", "distance", "air_time", "hour"]].reset_index(drop=True)
    return (
        X.astype({"carrier": object, "origin": object}),
        (table["arr_delay"].fillna(0) > 15).to_numpy().astype(int),
        [
            "carrier",
            "origin",
        ],
    )


TABLES = {"adult": adult, "flights": flights}


def one_hot(numbers, texts):
    hot = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    scaled = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    return make_column_transformer((hot, texts), (scaled, numbers), sparse_threshold=0)


def sparse(numbers, texts):
    return make_column_transformer((OneHotEncoder(handle_unknown="ignore"), texts), remainder="passthrough")


def ordinal(numbers, texts):
    encode = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2)
    return make_column_transformer((encode, texts), (PowerTransformer(), numbers))


def nested(numbers, texts):
    inner = make_column_transformer(
        (RobustScaler(), numbers[:1]), remainder=make_pipeline(SimpleImputer(), MinMaxScaler())
    )
    encode = TargetEncoder(random_state=0)
    return ColumnTransformer([("texts", encode, texts), ("numbers", inner, numbers)])


STEPS = {"one-hot": one_hot, "sparse": sparse, "ordinal": ordinal, "nested": nested}
MODELS = {
    "HGB": lambda: HistGradientBoostingClassifier(max_iter=15, random_state=0),
    "XGBoost": lambda: xgb.XGBClassifier(n_estimators=15, max_depth=4, n_jobs=1),
    "LightGBM": lambda: LGBMClassifier(n_estimators=15, num_leaves=12, n_jobs=1, verbose=-1),
    "CatBoost": lambda: CatBoostClassifier(
        iterations=15, depth=4, verbose=0, thread_count=1, allow_writing_files=False
    ),
    "forest": lambda: RandomForestClassifier(8, max_leaf_nodes=20, random_state=0),
}
TAKES_NO_MISSING = {"forest"}


def changed(X, name, values):
    """A table in which all rows have each of some values in turn."""
    rows = X.loc[X.index.repeat(len(values))].reset_index(drop=True)
    column = pd.Series(list(values) * len(X), dtype=object)
    return rows.assign(**{name: column if X[name].dtype == object else column.astype(np.float64)})


def brute(pipeline, X, name, values):
    """The mean predicted probability with a column at some values."""
    found = pipeline.predict_proba(changed(X, name, values))[:, 1]
    return found.reshape(len(X), len(values)).mean(axis=0)


def beside(cuts):
    return np.unique(np.concatenate([cuts, np.nextafter(cuts, np.inf), np.nextafter(cuts, -np.inf)]))


def fitted(table, steps, model, shared, **parameters):
    X, y, texts = TABLES[table](shared)
    numbers = [name for name in X if name not in texts]
    if model in TAKES_NO_MISSING and steps in ("sparse", "ordinal"):
        X = X.fillna(dict.fromkeys(numbers, 0))
    if model in ("CatBoost", "HGB") and steps == "sparse":
        pytest.skip("takes no sparse tables, or none with missing values")
    core = MODELS[model]().set_params(**parameters)
    return make_pipeline(STEPS[steps](numbers, texts), core).fit(X, y), X, texts


def check_curves(pipeline, X, texts, n_rows, max_cuts=None):
    """Compare the curves of all used columns with predictions of the pipeline: at cuts and one number beside each."""
    opened = open_model(pipeline, X)
    assert opened.columns is None, opened.columns.reasons
    rows = X[:n_rows]
    ex = gw.Explainer(pipeline, rows, response="probability")
    core = type(pipeline[-1]).__name__
    encoder_is_strict = core == "RandomForestClassifier" and "TargetEncoder" in str(pipeline)
    n_values = 0
    for index in opened.ensemble.used_features:
        name = X.columns[index]
        curve = ex.partial_dependence(name)
        values = [np.nan] if X[name].isna().any() else []
        if name in texts:
            values += [*X[name].dropna().unique(), *([] if encoder_is_strict else ["never seen"])]
        else:
            cuts = curve.cuts if max_cuts is None else curve.cuts[:: max(1, curve.cuts.size // max_cuts)]
            values += [*beside(cuts), X[name].min(), X[name].max()]
        n_values += len(values)
        found = np.array([curve(x) for x in values])
        within = 1e-6 if core == "XGBClassifier" else 1e-12
        np.testing.assert_allclose(found, brute(pipeline, rows, name, values), rtol=0, atol=within, err_msg=name)
    return n_values


# Every pair of a table, steps and a model; all combinations in the long form.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("table", "steps", "model"), all_pairs(TABLES, STEPS, MODELS))
def test_curves_at_cuts_and_one_number_beside_them(table, steps, model, shared):
    assert check_curves(*fitted(table, steps, model, shared), n_rows=60, max_cuts=60) > 100


ROUNDS = {"HGB": "max_iter", "CatBoost": "iterations"}  # of others: n_estimators


@pytest.mark.slow  # the short form is above
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("table", TABLES)
def test_curves_at_every_cut_of_a_large_model(table, steps, model, shared):
    pipeline, X, texts = fitted(table, steps, model, shared, **{ROUNDS.get(model, "n_estimators"): 100})
    assert check_curves(pipeline, X, texts, n_rows=25) > 400


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", ["HGB", "XGBoost"])
def test_surfaces(model, shared):
    X, y, texts = adult(shared)
    numbers = [name for name in X if name not in texts]
    pipeline = make_pipeline(one_hot(numbers, texts), MODELS[model]()).fit(X, y)
    rows = X[:40]
    ex = gw.Explainer(pipeline, rows, response="probability")
    rng = np.random.default_rng(0)
    for a, b in (("age", "hours-per-week"), ("age", "marital-status"), ("occupation", "marital-status")):
        at = pd.DataFrame({name: rng.choice(X[name], 340) for name in (a, b)})
        at = at.astype({name: X[name].dtype for name in (a, b)})
        surface = ex.partial_dependence(a, b)
        found = [float(surface(x, z)) for x, z in zip(at[a], at[b], strict=True)]
        table = rows.loc[rows.index.repeat(len(at))].reset_index(drop=True)
        table = table.assign(**{name: list(at[name]) * len(rows) for name in (a, b)}).astype(X.dtypes)
        expected = pipeline.predict_proba(table)[:, 1].reshape(len(rows), -1).mean(axis=0)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 if model == "XGBoost" else 1e-12)


# ---------------------------------------------------------------------------------------------- kinds of transformers


def numbers(n_rows=300):
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"a": rng.normal(3, 2, n_rows), "b": rng.exponential(2, n_rows), "c": rng.normal(size=n_rows)})
    return X, np.sin(X["a"]) + np.sqrt(X["b"]) + X["c"] ** 2


def backwards(X):
    return -X


def cast(X):
    return X.astype(np.float32)


def logarithm(X):
    return np.log(X)


MONOTONE = {
    "power": PowerTransformer(),
    "box-cox of positive numbers": make_pipeline(MinMaxScaler((1, 2)), PowerTransformer("box-cox")),
    "quantiles": QuantileTransformer(n_quantiles=20),
    "quantiles of a normal distribution": QuantileTransformer(n_quantiles=20, output_distribution="normal"),
    "binarizer": Binarizer(threshold=0.5),
    "bins": KBinsDiscretizer(5, encode="ordinal", strategy="uniform"),
    "clipped": MinMaxScaler(clip=True),
    "falling": FunctionTransformer(backwards),
    "float32": FunctionTransformer(cast),
    "root": FunctionTransformer(np.cbrt),
    "two columns of each": FeatureUnion([("scaled", StandardScaler()), ("above", Binarizer())]),
    "one after the other": make_pipeline(StandardScaler(), PowerTransformer(), RobustScaler()),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", MONOTONE)
def test_monotone_transformers(kind, dtype):
    if "normal" in kind and not has("scipy", (1, 14)):
        pytest.skip("scipy from 1.14: its quantiles of the normal distribution are not monotone before")
    X, y = numbers()
    X = X.astype(dtype)
    pipeline = make_pipeline(MONOTONE[kind], HistGradientBoostingRegressor(max_iter=8)).fit(X, y)
    opened = open_model(pipeline, X)
    assert opened.columns is None, opened.columns.reasons
    np.testing.assert_array_equal(opened.ensemble.predict(X), pipeline.predict(X))
    curves = gw.Explainer(pipeline, X[:50]).partial_dependence()
    for name in X:
        cuts = curves[name].cuts
        values = [*beside(cuts), 1.5] if dtype == np.float64 else X[name]
        found = pipeline.predict(pd.concat([X[:50].assign(**{name: dtype(x)}) for x in values]))
        expected = found.reshape(len(values), 50).mean(axis=1)
        np.testing.assert_allclose([curves[name](x) for x in values], expected, rtol=0, atol=1e-12)
    assert len(gw.Explainer(pipeline, X).monotonicity()) == 3


@pytest.mark.parametrize("model", [HistGradientBoostingRegressor(max_iter=8), xgb.XGBRegressor(n_estimators=8)])
def test_missing_numbers_go_where_the_imputed_one_goes(model):
    X, y = numbers()
    X.loc[::9, "a"] = np.nan
    pipeline = make_pipeline(SimpleImputer(add_indicator=True), clone(model)).fit(X, y)
    curve = gw.Explainer(pipeline, X).partial_dependence("a")
    expected = pipeline.predict(X.assign(a=np.nan)).astype(np.float64).mean()
    np.testing.assert_allclose(curve(np.nan), expected, rtol=0, atol=1e-6)
    assert curve.axis.rows[-1] == X["a"].isna().sum()


def test_logarithms_of_negative_numbers_are_missing():
    X, y = numbers()
    X["b"] -= 0.5
    with np.errstate(all="ignore"):
        for function in (np.log, logarithm):
            steps = make_column_transformer((FunctionTransformer(function), ["b"]), remainder="passthrough")
            pipeline = make_pipeline(steps, HistGradientBoostingRegressor(max_iter=8)).fit(X, y)
            curve = gw.Explainer(pipeline, X).partial_dependence("b")
            values = [*beside(curve.cuts), -1.0, -5e-324, 0.0, 5e-324, np.nan]
            expected = [pipeline.predict(X.assign(b=x)).mean() for x in values]
            np.testing.assert_allclose([curve(x) for x in values], expected, rtol=0, atol=1e-12)
            assert curve.axis.rows[-1] == (X["b"] < 0).sum()


UNFOLDED = {
    "waves": FunctionTransformer(np.cos),
    "splines": SplineTransformer(),
    "one-hot bins": KBinsDiscretizer(5, encode="onehot-dense", strategy="uniform"),
}


@pytest.mark.parametrize("kind", UNFOLDED)
def test_what_is_not_monotone_has_points(kind, tmp_path):
    X, y = numbers()
    steps = make_column_transformer((UNFOLDED[kind], ["a"]), (StandardScaler(), ["b", "c"]))
    pipeline = make_pipeline(steps, HistGradientBoostingRegressor(max_iter=8)).fit(X, y)
    opened = open_model(pipeline, X)
    assert opened.columns.reasons.pop("a") == "is not transformed by a monotone function"
    assert not opened.columns.reasons
    ex = gw.Explainer(pipeline, X)
    curves = ex.partial_dependence()
    assert [type(curve).__name__ for curve in curves.values()] == ["Points", "Curve", "Curve"]
    points = ex.partial_dependence("a", at={"a": [0.5, 3.0]})
    expected = [pipeline.predict(X.assign(a=x)).mean() for x in (0.5, 3.0)]
    np.testing.assert_allclose(points.values, expected, rtol=0, atol=1e-12)
    both = ex.partial_dependence("a", "b", at={"a": [0.5, 3.0], "b": [1.0, 4.0]})
    expected = [pipeline.predict(X.assign(a=x, b=z)).mean() for x, z in ((0.5, 1.0), (3.0, 4.0))]
    np.testing.assert_allclose(both.values, expected, rtol=0, atol=1e-12)
    values = ex.shap_values(X[:20])
    np.testing.assert_allclose(values.values.sum(axis=1) + values.base_values, pipeline.predict(X[:20]), atol=1e-10)
    assert values.names == ("a", "b", "c")
    X.to_parquet(tmp_path / "rows.parquet")
    streamed = gw.Explainer(pipeline, tmp_path / "rows.parquet")
    np.testing.assert_array_equal(streamed.partial_dependence("b").heights, curves["b"].heights)
    np.testing.assert_array_equal(
        streamed.partial_dependence("a", at=X[:9]).heights, ex.partial_dependence("a", at=X[:9][["a"]]).heights
    )
    assert gw.summarize(pipeline, tmp_path / "rows.parquet") == gw.summarize(pipeline, X)
    ex.report(tmp_path / "page.html")
    with pytest.raises(gw.errors.UnsupportedModelError, match="'a' is not transformed by a monotone function"):
        gw.read_model(pipeline, X)


UNEVEN = {
    "splines": SplineTransformer(knots=np.array([[0.0], [40.0], [41.0], [42.0], [43.0], [100.0]])),
    "scaled, splines": make_pipeline(StandardScaler(), SplineTransformer(20)),
    "one-hot bins": KBinsDiscretizer(30, encode="onehot-dense", strategy="uniform"),
    "bins, one-hot": make_pipeline(KBinsDiscretizer(30, encode="ordinal", strategy="uniform"), OneHotEncoder()),
    "a number for missing ones": SimpleImputer(missing_values=41.0),
    "bins, a number for missing ones": make_pipeline(
        KBinsDiscretizer(30, encode="ordinal", strategy="uniform"), SimpleImputer(missing_values=12.0)
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", UNEVEN)
def test_bumps_that_no_row_of_the_background_tells_of(kind):
    X = pd.DataFrame({"a": np.linspace(0, 100, 1001).round(1), "b": np.arange(1001.0) % 7})
    y = (X["a"] - 41.0).abs().lt(1) * 10.0 + X["b"]
    steps = make_column_transformer((UNEVEN[kind], ["a"]), remainder="passthrough", sparse_threshold=0)
    pipeline = make_pipeline(steps, HistGradientBoostingRegressor(max_iter=20)).fit(X, y)
    background = X.iloc[[0, 3, 996, 1000]]
    at = {"a": [0.0, 40.9, 41.0, 41.4, 42.0, 100.0]}
    expected = [pipeline.predict(background.assign(a=x)).mean() for x in at["a"]]
    ex = gw.Explainer(pipeline, background)
    np.testing.assert_allclose(ex.partial_dependence("a", at=at).values, expected, rtol=0, atol=1e-12)
    rows = X.iloc[400:430]
    values = ex.shap_values(rows)
    np.testing.assert_allclose(values.values.sum(axis=1) + values.base_values, pipeline.predict(rows), atol=1e-10)


def test_a_text_for_missing_ones_that_no_row_of_the_background_has():
    X, y = labelled()
    X["city"] = X["city"].fillna("?")
    encoder = make_pipeline(SimpleImputer(missing_values="?", strategy="most_frequent"), OneHotEncoder())
    steps = make_column_transformer((encoder, ["city"]), remainder="passthrough")
    pipeline = make_pipeline(steps, HistGradientBoostingRegressor(max_iter=10)).fit(X, y)
    background = X[X["city"] != "?"]
    curve = gw.Explainer(pipeline, background).partial_dependence("city")
    assert curve.categories == (*"abcd", "?")
    for value in curve.categories:
        np.testing.assert_allclose(curve(value), pipeline.predict(background.assign(city=value)).mean(), atol=1e-12)


def rare(X):
    """Grows with X, but for a few numbers that no list of tried ones has."""
    return np.where(np.abs(X - 123.456) < 1e-6, -1e9, X)


def test_functions_are_checked_on_all_rows():
    X, y = numbers(30_000)
    X.loc[17_001, "a"] = 123.456
    steps = make_column_transformer((FunctionTransformer(rare), ["a"]), remainder="passthrough")
    pipeline = make_pipeline(steps, HistGradientBoostingRegressor(max_iter=8)).fit(X, y)
    assert "transformed differently in the rows" in open_model(pipeline, X).columns.reasons["a"]
    assert open_model(pipeline, X.drop(index=17_001)).columns is None


# ------------------------------------------------------------------------------------------------------- categories


def labelled(n_rows=400):
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"city": rng.choice(["a", "b", "c", "d"], n_rows), "x": rng.normal(size=n_rows)})
    X["city"] = X["city"].astype(object)
    X.loc[rng.random(n_rows) < 0.1, "city"] = np.nan
    X["month"] = rng.integers(1, 13, n_rows)
    return X, (X["city"] == "a") + X["x"] + (X["month"] > 6) * X["x"]


ENCODERS = {
    "one-hot": OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    "few categories": OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=50, sparse_output=False),
    "dropped": OneHotEncoder(drop="first", handle_unknown="ignore", sparse_output=False),
    "ordinal": OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
    "target": TargetEncoder(random_state=0),
    "imputed": make_pipeline(
        SimpleImputer(strategy="constant", fill_value="none"),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    ),
    "most frequent": make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    ),
    # The second encoder's categories are codes of the first one, which no table of the user's has.
    "codes, one-hot": make_pipeline(
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    ),
    "codes, imputed, one-hot": make_pipeline(
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
        SimpleImputer(strategy="most_frequent", add_indicator=True),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    ),
    "imputed, codes, target": make_pipeline(
        SimpleImputer(strategy="most_frequent"),
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
        TargetEncoder(random_state=0),
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ENCODERS)
def test_encoders(kind):
    X, y = labelled()
    steps = make_column_transformer((ENCODERS[kind], ["city"]), (StandardScaler(), ["x"]), remainder="passthrough")
    pipeline = make_pipeline(steps, HistGradientBoostingRegressor(max_iter=10)).fit(X, y)
    opened = open_model(pipeline, X)
    assert opened.columns is None, opened.columns.reasons
    curve = gw.Explainer(pipeline, X).partial_dependence("city")
    assert list(curve.categories) == [*"abcd"] + ["none"] * (kind == "imputed")
    for value in ["a", "b", "c", "d", "never seen", np.nan]:
        expected = pipeline.predict(X.assign(city=pd.Series([value] * len(X), dtype=object))).mean()
        np.testing.assert_allclose(curve(value), expected, rtol=0, atol=1e-12, err_msg=str(value))
    assert curve.axis.rows.sum() == len(X)


@pytest.mark.parametrize(
    ("knows", "dtype"),
    [pytest.param(np.nan, "str", marks=needs("pandas", (3, 0))), (np.nan, object), (None, object)],
)
def test_none_and_nan_are_two_values_for_an_encoder(knows, dtype):
    X, y = labelled()
    texts = X["city"].astype(object)
    X = X.assign(city=texts.where(texts.notna(), knows).astype(dtype))
    pipeline = make_pipeline(
        make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["city"]), remainder="passthrough"),
        RandomForestRegressor(n_estimators=5, random_state=0),
    ).fit(X, y + 9 * X["city"].isna())
    explainer = gw.Explainer(pipeline, X)
    rows = X[:4].assign(city=pd.Series([None, np.nan, "a", "never seen"], dtype=object))
    predicted = pipeline.predict(rows)
    assert predicted[0] != predicted[1]
    values = explainer.shap_values(rows)
    np.testing.assert_allclose(values.values.sum(1) + values.base_values, predicted, rtol=0, atol=1e-9)
    curve = explainer.partial_dependence("city")  # where nobody can tell them apart, a missing value is the known one
    assert curve(None) == curve(np.nan) == curve([np.nan, "a"])[0] != curve("never seen")
    asked = explainer.partial_dependence("city", at={"city": [None, "a"]})
    np.testing.assert_allclose(asked.heights[0], curve(None), rtol=0, atol=1e-12)


def test_none_is_rejected_if_the_encoder_rejects_it():
    X, y = labelled()
    encoder = OrdinalEncoder(encoded_missing_value=-2)
    steps = make_column_transformer((encoder, ["city"]), ("passthrough", ["x"]))
    pipeline = make_pipeline(steps, RandomForestRegressor(n_estimators=5, random_state=0)).fit(X, y)
    explainer = gw.Explainer(pipeline, X)
    with pytest.raises(ValueError, match="unknown categories"):
        pipeline.predict(X[:1].assign(city=pd.Series([None], dtype=object)))
    with pytest.raises(gw.errors.TableError, match=r"'city' holds categories that the model was not .*: \[None\]"):
        explainer.shap_values(X[:1].assign(city=pd.Series([None], dtype=object)))


def test_numbers_as_categories():
    X, y = labelled()
    hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    steps = make_column_transformer((hot, ["month"]), ("passthrough", ["x"]))
    pipeline = make_pipeline(steps, HistGradientBoostingRegressor(max_iter=10)).fit(X, y + 9 * (X["month"] == 7))
    curve = gw.Explainer(pipeline, X).partial_dependence("month")
    assert list(curve.categories) == list(range(1, 13))
    for value in (1, 7, 12, 13):
        np.testing.assert_allclose(curve(value), pipeline.predict(X.assign(month=value)).mean(), rtol=0, atol=1e-12)


def test_what_transformers_reject_is_rejected():
    X, y = labelled()
    known = X.dropna()
    steps = make_column_transformer((OneHotEncoder(sparse_output=False), ["city"]), (StandardScaler(), ["x"]))
    pipeline = make_pipeline(steps, HistGradientBoostingRegressor(max_iter=10)).fit(known, y[known.index])
    ex = gw.Explainer(pipeline, known)
    for rows, says in (
        (X, "'city' has missing values, which the steps of the pipeline reject"),
        (known.assign(city="never seen"), "'city' holds categories that the model was not trained with"),
        (known.assign(x=np.inf), "'x' holds inf, which the steps of the pipeline reject"),
    ):
        with pytest.raises(TableError, match=says):
            ex.shap_values(rows)


def test_zeros_of_sparse_tables_that_xgboost_takes_for_missing_values():
    X, y = labelled()
    X["x"] = X["x"].round(1)
    X["x"] -= X["x"].min()  # some are zero
    X.loc[:20, "x"] = 0.0
    hot = OneHotEncoder(handle_unknown="ignore")
    for numeric in ("passthrough", StandardScaler(with_mean=False), StandardScaler()):
        steps = make_column_transformer((hot, ["city", "month"]), (numeric, ["x"]), sparse_threshold=1)
        pipeline = make_pipeline(steps, xgb.XGBRegressor(n_estimators=10, n_jobs=1)).fit(X, y)
        curve = gw.Explainer(pipeline, X).partial_dependence("x")
        values = [*beside(curve.cuts), 0.0, -1.0, np.nan]
        expected = [pipeline.predict(X.assign(x=x)).mean(dtype=np.float64) for x in values]
        np.testing.assert_allclose([curve(x) for x in values], expected, rtol=0, atol=1e-5)
    mean = pipeline[0].transformers_[1][1].mean_[0]
    np.testing.assert_allclose(curve(mean), pipeline.predict(X.assign(x=mean)).mean(dtype=np.float64), atol=1e-5)


def test_categories_of_sparse_tables():
    X, y = labelled()
    steps = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["city"]), ("passthrough", ["x"]), sparse_threshold=1
    )
    pipeline = make_pipeline(steps, xgb.XGBRegressor(n_estimators=10, n_jobs=1)).fit(X, y + 3 * (X["city"] == "b"))
    curve = gw.Explainer(pipeline, X).partial_dependence("city")
    for value in ["a", "b", "c", "d", "never seen", np.nan]:
        changed = X.assign(city=pd.Series([value] * len(X), dtype=object))
        np.testing.assert_allclose(curve(value), pipeline.predict(changed).mean(dtype=np.float64), rtol=0, atol=1e-5)


def test_categories_that_the_model_has_never_seen():
    """The encoder knows all categories, the model behind it some of them, by their codes."""
    X, y = labelled()
    encode = OrdinalEncoder(
        categories=[["a", "b", "c", "d", "e", "f"]], handle_unknown="use_encoded_value", unknown_value=-1
    )
    steps = make_column_transformer((encode, ["city"]), ("passthrough", ["x"]))
    for missing in (True, False):
        rows = X if missing else X.dropna()
        model = HistGradientBoostingRegressor(max_iter=10, categorical_features=[0])
        pipeline = make_pipeline(steps, model).fit(rows, y[rows.index] + 3 * (rows["city"] == "b"))
        curve = gw.Explainer(pipeline, rows).partial_dependence("city")
        for value in ["a", "b", "e", "f", "never seen", np.nan]:
            changed = rows.assign(city=pd.Series([value] * len(rows), dtype=object, index=rows.index))
            np.testing.assert_allclose(curve(value), pipeline.predict(changed).mean(), rtol=0, atol=1e-12)


# --------------------------------------------------------------------------------------------------- backgrounds


def test_counts_know_which_pipeline_they_are_of():
    X, y = labelled()
    steps = make_column_transformer((OrdinalEncoder(), ["city"]), ("passthrough", ["x", "month"]))
    pipeline = make_pipeline(steps, HistGradientBoostingRegressor(max_iter=5, random_state=0)).fit(X, y)
    background = gw.summarize(pipeline, X)
    renamed = X.assign(city=X["city"].map({"a": "e", "b": "f", "c": "g", "d": "h"}))
    other = clone(pipeline).fit(renamed, y)
    gw.Explainer(pipeline, background)
    with pytest.raises(gw.errors.BackgroundError, match="different model"):
        gw.Explainer(other, background)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_counts_of_tables_of_either_precision(dtype):
    X, y = numbers()
    X = X.astype(dtype)
    pipeline = make_pipeline(StandardScaler(), HistGradientBoostingRegressor(max_iter=5)).fit(X, y)
    by_counts = gw.Explainer(pipeline, gw.summarize(pipeline, X)).partial_dependence("a")
    by_rows = gw.Explainer(pipeline, X).partial_dependence("a")
    np.testing.assert_array_equal(by_counts.cuts, by_rows.cuts)
    np.testing.assert_array_equal(by_counts.heights, by_rows.heights)


def shifted(X, by=0.0):
    return np.cos(X + by)


def test_counts_of_what_is_not_folded_know_what_was_learned():
    X, y = numbers()

    def fitted(by):
        function = FunctionTransformer(shifted, kw_args={"by": by})
        steps = make_column_transformer((function, ["a"]), ("passthrough", ["b", "c"]))
        return make_pipeline(steps, HistGradientBoostingRegressor(max_iter=5, random_state=0)).fit(X, y)

    one, two = fitted(0.0), fitted(0.0)
    background = gw.summarize(one, X)
    gw.Explainer(two, background)
    two[0].transformers_[0][1].kw_args["by"] = 1.0
    with pytest.raises(gw.errors.BackgroundError, match="different model"):
        gw.Explainer(two, background)


def test_a_pipeline_of_dates_without_rows():
    X, y = numbers()
    X["when"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(len(X)), unit="D")
    steps = make_column_transformer((FunctionTransformer(month), ["when"]), (StandardScaler(), ["a", "b", "c"]))
    pipeline = make_pipeline(steps, HistGradientBoostingRegressor(max_iter=5)).fit(X, y + 3 * (X["when"].dt.month == 7))
    assert gw.Explainer(pipeline).shap_values(X[:5]).names == ("a", "b", "c", "when")
    with pytest.raises(gw.errors.BackgroundError, match="dates or texts, pass the rows"):
        gw.Explainer(pipeline, gw.summarize(pipeline, X))


def month(X):
    return X.apply(lambda column: column.dt.month)


def test_many_columns_are_tried_together(monkeypatch):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {f"text {k}": rng.choice(["a", "b"], 50).astype(object) for k in range(40)}
        | {f"number {k}": rng.normal(size=50) for k in range(40)}
    )
    steps = make_column_transformer((OrdinalEncoder(), list(X)[:40]), (StandardScaler(), list(X)[40:]))
    pipeline = make_pipeline(steps, RandomForestClassifier(20, random_state=0)).fit(X, X["text 3"] == "a")
    calls = []
    for kind in (OrdinalEncoder, StandardScaler):
        own = kind.transform
        monkeypatch.setattr(kind, "transform", lambda self, table, own=own: calls.append(1) or own(self, table))
    assert open_model(pipeline, X).columns is None
    assert len(calls) < 40  # and not some for each column


# --------------------------------------------------------------------------------------------------- types of numbers


def numbers_near_thresholds(seed=0, n=300):
    draw = np.random.default_rng(seed)
    X = pd.DataFrame({"a": draw.normal(10, 30, n), "b": draw.normal(size=n)}).astype(np.float32).astype(np.float64)
    return X, (X["a"] * X["b"]).to_numpy()


@pytest.mark.parametrize("transformer", [StandardScaler(), PowerTransformer()], ids=["scaler", "power"])
def test_numbers_of_a_type_that_is_transformed_differently_are_refused(transformer):
    X, y = numbers_near_thresholds()
    pipeline = make_pipeline(transformer, xgb.XGBRegressor(n_estimators=20)).fit(X, y)
    single = X.astype(np.float32)
    assert np.abs(pipeline.predict(single) - pipeline.predict(X)).max() > 1  # the thresholds are at values of the rows
    explainer = gw.Explainer(pipeline, X)
    with pytest.raises(TableError, match=r"'a' holds float32, of which the steps .* convert .*astype\('float64'\)"):
        explainer.shap_values(single)
    with pytest.raises(TableError, match="'a' holds float32"):
        gw.read_model(pipeline).predict(single)
    with pytest.raises(TableError, match="'a' holds float32"):
        gw.summarize(pipeline, [X, single])  # the second part of a stream
    values = explainer.shap_values(single.astype(np.float64))
    np.testing.assert_allclose(values.values.sum(axis=1) + values.base_values, pipeline.predict(X), rtol=0, atol=1e-4)
    other = gw.Explainer(pipeline, single)
    with pytest.raises(TableError, match=r"'a' holds float64, .*astype\('float32'\)"):
        other.shap_values(X)
    values = other.shap_values(single)
    np.testing.assert_allclose(
        values.values.sum(axis=1) + values.base_values, pipeline.predict(single), rtol=0, atol=1e-4
    )
    curve = other.partial_dependence("a")
    np.testing.assert_allclose(other.partial_dependence("a", at={"a": [1.0]}).heights[:, 0], curve([1.0]))


@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "bool"])
def test_numbers_of_a_type_that_makes_no_difference_are_taken(dtype):
    draw = np.random.default_rng(0)
    X = pd.DataFrame({"a": draw.integers(0, 2, 200).astype(float), "b": draw.normal(size=200).round(1)})
    pipeline = make_pipeline(StandardScaler(), RandomForestRegressor(5, random_state=0)).fit(X, X["a"] * X["b"])
    rows = X.astype({"a": dtype})
    values = gw.Explainer(pipeline, X).shap_values(rows)
    np.testing.assert_allclose(values.values.sum(axis=1) + values.base_values, pipeline.predict(rows), atol=1e-12)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_small_integers_behind_a_function_of_numpy(dtype):
    draw = np.random.default_rng(0)
    X = pd.DataFrame({"a": draw.integers(0, 100, 300), "b": draw.random(300)})
    log = FunctionTransformer(np.log1p, feature_names_out="one-to-one")
    pipeline = make_pipeline(log, RandomForestRegressor(10, random_state=0)).fit(X, np.log1p(X["a"]) * X["b"])
    rows = X.astype({"a": dtype})
    assert np.abs(pipeline.predict(rows) - pipeline.predict(X)).max() > 0.01  # logarithms of float16
    with pytest.raises(TableError, match=f"'a' holds {dtype}"):
        gw.Explainer(pipeline, X).shap_values(rows)
    explainer = gw.Explainer(pipeline, rows)  # points, which transformers compute
    assert isinstance(explainer.partial_dependence("a"), gw.Points)
    values = explainer.shap_values(rows)
    np.testing.assert_allclose(values.values.sum(axis=1) + values.base_values, pipeline.predict(rows), atol=1e-9)
