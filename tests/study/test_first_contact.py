"""What a new user gets wrong is answered by a GlasswoodError whose sentence helps, and before anything is computed."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost as xgb
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingRegressor,
    VotingRegressor,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import glasswood as gw
from glasswood.errors import ArgumentError, FileError, GlasswoodError, TableError, UnsupportedModelError

N_ROWS = 100
RNG = np.random.default_rng(0)
X = pd.DataFrame({"age": RNG.normal(size=N_ROWS), "income": RNG.normal(size=N_ROWS), "c": RNG.integers(0, 3, N_ROWS)})
Y = X["age"] * X["income"] + X["c"]
MODEL = HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=5).fit(X, Y)
PIPELINE = make_pipeline(StandardScaler(), HistGradientBoostingRegressor(max_iter=3)).fit(X, Y)
LABELS = X.assign(c=pd.Categorical(np.array(["x", "y", "z"])[X["c"]]))
OF_LABELS = HistGradientBoostingRegressor(max_iter=3, categorical_features="from_dtype").fit(LABELS, Y)
TEXTS = pd.Series(RNG.choice(["good day", "bad day", "no day"], N_ROWS), name="text")


@pytest.fixture(scope="module")
def ex():
    return gw.Explainer(MODEL, X)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (lambda ex: ex.partial_dependence(["age"], ["income"]), r"not a list; pass .*: 'age'"),
        (lambda ex: ex.partial_dependence(("age", "income")), r"not a tuple; pass .*: 'age', 'income'"),
        (lambda ex: ex.ice(["age"]), "not a list"),
        (lambda ex: ex.monotonicity(["age"]), "not a list"),
        (lambda ex: ex.partial_dependence("Age"), r"did you mean 'age'\?"),
        (lambda ex: ex.partial_dependence("incme"), r"did you mean 'income'\?"),
        (lambda ex: ex.partial_dependence("zzz"), r"no feature 'zzz'; the features are 'age', "),
        (lambda ex: ex.partial_dependence(7), "no feature 7"),
        (lambda ex: ex.partial_dependence(True), "not a bool"),
        (lambda ex: ex.partial_dependence(None), "not a NoneType"),
        (lambda ex: ex.partial_dependence(X["age"]), "not a Series"),
        (lambda ex: ex.partial_dependence(X), "not a DataFrame"),
        (lambda ex: ex.partial_dependence("age", at=1.0), "not a table in memory"),
        (lambda ex: ex.partial_dependence("age", at=[1.0, 2.0]), "rows and columns"),
        (lambda ex: ex.partial_dependence("age", at=X["age"]), "to_frame"),
        (lambda ex: ex.partial_dependence("age", at="x.parquet"), "table in memory"),
        (lambda ex: ex.partial_dependence("age", at={"age": 1.0}), "a list or an array"),
        (lambda ex: ex.partial_dependence("age", at={"income": [1.0]}), "lacks the columns"),
        (lambda ex: ex.partial_dependence("age", at={"age": ["x"]}), "must hold numbers"),
        (lambda ex: ex.partial_dependence("age", at={"age": [dt.date(2026, 1, 1)]}), "must hold numbers"),
        (lambda ex: ex.partial_dependence("age", at={"age": [1j]}), "complex"),
        (lambda ex: ex.partial_dependence("age", "c", at={"age": [1.0], "c": [1, 2]}), "not equally long"),
        (lambda ex: ex.shap_values(None), "table in memory"),
        (lambda ex: ex.shap_values(X.iloc[0]), "one row into a list of one row"),
        (lambda ex: ex.shap_values(X.to_numpy()[0]), "one row into a list of one row"),
        (lambda ex: ex.shap_values("rows.parquet"), "there is no file or folder 'rows.parquet'"),
        (lambda ex: ex.shap_values(X[["age"]]), "lacks 2 of the model's 3 columns"),
        (lambda ex: ex.shap_values(pl.from_pandas(X[["age"]]).lazy()), "lacks 2 of the model's 3 columns"),
        (lambda ex: ex.interaction_values(X, max_order="2"), "max_order is the number of features"),
        (lambda ex: ex.interaction_values(X, max_order=0), "at least 1, not 0"),
        (lambda ex: ex.interaction_values(X).top_per_row(0), "k is the number of sets"),
        (lambda ex: ex.ice("age", rows=X["age"]), "rows and columns"),
        (lambda ex: ex.ice("age", rows=X[:0]), "at least one row and one point, but got 0 rows"),
        (lambda ex: ex.ice("age", at=X[["age"]][:0]), "at least one row and one point, but got 100 rows and 0 points"),
        (lambda ex: ex.shap_values(X[:0]).plot(), "there is no row 0; the result has no rows"),
        (lambda ex: ex.evaluate("shapley", X), "an object with the method calc_metric"),
        (lambda ex: ex.joint_partial_dependence().grid_values["age", "income"], "ask for these results with grid="),
        (lambda ex: ex.spikes(points="5"), "number of sample points"),
        (lambda ex: ex.interaction_strengths("x"), "table in memory"),
    ],
)
def test_questions(asked, says, ex):
    with pytest.raises(GlasswoodError, match=says):
        asked(ex)


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (lambda: gw.Explainer(X, MODEL), "the model comes first"),
        (lambda: gw.Explainer(X.to_numpy(), MODEL), "the model comes first"),
        (lambda: gw.summarize(X, MODEL), "the model comes first"),
        (lambda: gw.Explainer(X), "the model comes first"),
        (lambda: gw.Explainer(RandomForestRegressor, X), "a class, not a fitted model"),
        (lambda: gw.Explainer(RandomForestRegressor(), X), "is not fitted"),
        (lambda: gw.Explainer(xgb.XGBRegressor(), X), "is not fitted"),
        (lambda: gw.Explainer(VotingRegressor([("a", RandomForestRegressor())]), X), "is not fitted"),
        (lambda: gw.Explainer(StackingRegressor([("a", RandomForestRegressor())]), X), "is not fitted"),
        (lambda: gw.Explainer(CalibratedClassifierCV(RandomForestClassifier()), X), "is not fitted"),
        (
            lambda: gw.Explainer(make_pipeline(StandardScaler(), RandomForestRegressor()), X),
            "is not fitted; call fit first",
        ),
        (lambda: gw.Explainer(SVC().fit(X, X["c"]), X), "Glasswood explains sums of trees only"),
        (lambda: gw.Explainer(LinearRegression().fit(X, Y), X), "Glasswood explains sums of trees only"),
        (lambda: gw.Explainer(MLPRegressor(), X), "Glasswood explains sums of trees only"),
        (lambda: gw.Explainer(make_pipeline(StandardScaler(), LinearRegression()).fit(X, Y), X), "sums of trees only"),
        (lambda: gw.Explainer(MODEL.predict, X), "is not a tree ensemble"),
        (lambda: gw.Explainer("nofile.json", X), "there is no model file"),
    ],
)
def test_models(made, says):
    with pytest.raises((UnsupportedModelError, TableError), match=says) as caught:
        made()
    assert "Pass the fitted trees" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"sample_weight": "age"}, "finite and not negative; the column 'age'"),
        ({"sample_weight": "weight"}, "names the column 'weight'"),
        ({"sample_weight": ["x"] * N_ROWS}, "one number per row"),
        ({"sample_weight": [[1.0], [1.0, 2.0]]}, "one number per row"),
        ({"sample_weight": np.ones(N_ROWS) * 1j}, "one number per row"),
        ({"sample_weight": pd.Series(np.ones(N_ROWS - 1))}, "the table has 100 rows"),
        ({"groups": ["age", "income"]}, "groups must map names to lists of columns"),
        ({"groups": {"both": "age"}}, "a group is a name and a list of columns"),
        ({"groups": {"both": None}}, "a group is a name and a list of columns"),
        ({"groups": {1: ["age"]}}, "a group is a name and a list of columns"),
        ({"response": "proba"}, "not 'proba'"),
    ],
)
def test_settings(settings, says):
    with pytest.raises(GlasswoodError, match=says):
        gw.Explainer(MODEL, X, **settings)
    if "response" not in settings and not isinstance(settings.get("sample_weight"), str):
        with pytest.raises(GlasswoodError, match=says):
            gw.summarize(MODEL, X, **settings)


def test_a_column_of_weights_is_named_or_passed():
    weighted = X.assign(weight=np.arange(N_ROWS))
    named, passed = (gw.Explainer(MODEL, weighted, sample_weight=w) for w in ("weight", np.arange(N_ROWS)))
    np.testing.assert_array_equal(named.partial_dependence("age").values, passed.partial_dependence("age").values)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"order": "2"}, "order is the number of features"),
        ({"order": 1.5}, "order is the number of features"),
        ({"by": X[["age", "c"]]}, "one value per row"),
        ({"by": [[1]] * N_ROWS}, "one value per row"),
        ({"by": len}, "one value per row"),
        ({"by": [1, 2]}, "the table has 100 rows"),
    ],
)
def test_settings_of_summarize(settings, says):
    with pytest.raises(GlasswoodError, match=says):
        gw.summarize(MODEL, X, **settings)


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("nofile.parquet", "there is no file or folder 'nofile.parquet'"),
        ("", "there is no file or folder"),
        (["nofile.parquet"], "there is no file or folder 'nofile.parquet'"),
        ("rows.csv", "'rows.csv' is not a Parquet file; read it"),
    ],
)
def test_files_of_rows(path, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X.to_csv("rows.csv", index=False)
    for asked in (gw.Explainer, gw.summarize):
        with pytest.raises(TableError, match=says):
            asked(MODEL, path)


def test_a_report_that_cannot_be_written_is_refused_at_once(ex, tmp_path, monkeypatch):
    monkeypatch.setattr("glasswood.report.report_of", lambda *_: pytest.fail("it was made in vain"))
    for path, says in (
        (tmp_path / "nodir" / "x.html", "there is no folder"),
        (tmp_path, "is a folder"),
        (3, "not 3"),
    ):
        with pytest.raises(FileError, match=says):
            ex.report(path)


def test_a_background_that_cannot_be_written(tmp_path):
    background = gw.summarize(MODEL, X)
    for path, says in {tmp_path / "nodir" / "x.gw": "there is no folder", tmp_path: "is a folder"}.items():
        with pytest.raises(FileError, match=says):
            background.save(path)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (X[["age"]], "now missing: - c|lacks 2 of the model's 3 columns: 'income', 'c'"),
        (X.to_numpy()[:, :2], "2 features|2 columns, but the model was trained on 3"),
        (X.assign(c="x"), "convert string|'c' must hold numbers"),
        (X["age"], "rows and columns"),
    ],
)
def test_rows_of_pipelines(rows, says):
    with pytest.raises(TableError, match=says):
        gw.Explainer(PIPELINE, rows)
    with pytest.raises(TableError, match=says):
        gw.Explainer(PIPELINE, X).shap_values(rows)


def test_a_pipeline_that_begins_with_texts():
    pipeline = make_pipeline(TfidfVectorizer(), RandomForestRegressor(2)).fit(TEXTS, Y)
    with pytest.raises(TableError, match="rows and columns"):
        gw.Explainer(pipeline, TEXTS)
    with pytest.raises(TableError, match=r"turn 100 rows into 1.*Explainer"):  # it reads the names of the columns
        gw.Explainer(pipeline, TEXTS.to_frame())
    table = pd.DataFrame({"text": TEXTS, "age": X["age"]})
    words = make_column_transformer((TfidfVectorizer(), "text"), remainder="passthrough", sparse_threshold=0)
    pipeline = make_pipeline(words, RandomForestRegressor(2, random_state=0)).fit(table, Y)
    found = gw.Explainer(pipeline, table).partial_dependence("text")
    brute = [pipeline.predict(table.assign(text=text)).mean() for text in found.columns["text"]]
    np.testing.assert_allclose(found.values, brute, rtol=1e-12)


def test_codes_in_place_of_categories():
    codes = LABELS.assign(c=LABELS["c"].cat.codes)
    ex = gw.Explainer(OF_LABELS, LABELS)
    for asked in (
        lambda: gw.Explainer(OF_LABELS, codes),
        lambda: ex.shap_values(codes),
        lambda: ex.partial_dependence("c", at={"c": [0, 1]}),
        lambda: ex.partial_dependence("c")(0),
    ):
        with pytest.raises(TableError, match=r"values like 0, .* as \['x', 'y', 'z'\].*as they were in training"):
            asked()


def test_mappings_are_tables():
    mapping = {name: X[name].tolist() for name in X}
    for model in (MODEL, PIPELINE):
        expected, found = gw.Explainer(model, X), gw.Explainer(model, mapping)
        at = {"age": [0.0, 1.0]}
        np.testing.assert_array_equal(
            found.partial_dependence("age", at=at).values, expected.partial_dependence("age", at=at).values
        )
        np.testing.assert_array_equal(found.shap_values(mapping).values, expected.shap_values(X).values)


def test_errors_of_arguments_are_what_python_would_raise():
    assert issubclass(ArgumentError, ValueError)
    assert issubclass(ArgumentError, TypeError)
    assert issubclass(FileError, OSError)
