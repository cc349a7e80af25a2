"""Tables as users give them: every form of the same rows gives the same answers, or a sentence on what is wrong."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xgboost as xgb
from catboost import CatBoostRegressor
from sklearn.ensemble import HistGradientBoostingRegressor, VotingRegressor

import glasswood as gw
from glasswood.errors import TableError
from glasswood.models._read_model import read_model
from glasswood.tables._columns import LabelColumn, NumberColumn
from glasswood.tables._given import as_trained, given_table, pandas_of
from glasswood.tables._tables import Schema
from helpers.versions import needs

N_ROWS = 200
LABELS = ["mid", "lo", "hi"]  # neither sorted nor as they come


@pytest.fixture(scope="module")
def labelled():
    """Rows with pandas' categories, some of them missing."""
    rng = np.random.default_rng(0)
    labels = rng.choice([*LABELS, None], size=N_ROWS, p=[0.3, 0.3, 0.3, 0.1])
    return pd.DataFrame({"f": rng.normal(size=N_ROWS), "k": pd.Categorical(labels, categories=LABELS)})


MODELS = {
    "HGB": lambda: HistGradientBoostingRegressor(max_iter=5, categorical_features="from_dtype"),
    "LightGBM": lambda: lgb.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1),
    "XGBoost": lambda: xgb.XGBRegressor(n_estimators=5, enable_categorical=True, n_jobs=1),
}


WITH_LABELS = needs("xgboost", (3, 1))  # models keep the labels of their categories


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=WITH_LABELS if name == "XGBoost" else ()) for name in MODELS]
)
def model(request, labelled):
    codes = labelled["k"].cat.codes
    return MODELS[request.param]().fit(labelled, codes * labelled["f"] + codes)


def text(frame):
    return frame.assign(k=frame["k"].astype(object).where(frame["k"].notna(), None))


FORMS = {
    "objects": text,
    "pandas strings": lambda X: X.astype({"k": "string"}),
    "pandas Arrow strings": lambda X: X.astype({"k": pd.ArrowDtype(pa.string())}),
    "other categories": lambda X: X.assign(k=pd.Categorical(text(X)["k"], categories=["hi", "lo", "mid", "not used"])),
    "Polars strings": lambda X: pl.from_pandas(text(X)),
    "Polars categories": lambda X: pl.from_pandas(text(X)).with_columns(pl.col("k").cast(pl.Categorical)),
    "Polars enum": lambda X: pl.from_pandas(text(X)).with_columns(pl.col("k").cast(pl.Enum(["lo", "hi", "mid"]))),
    "Arrow dictionary": lambda X: pa.Table.from_pandas(X),
    "Arrow strings": lambda X: pa.Table.from_pandas(text(X)),
    "mapping": lambda X: {"k": text(X)["k"].tolist(), "f": X["f"].to_numpy()},
    "Polars, other order, more columns": lambda X: pl.from_pandas(text(X)).select("k", pl.lit("?").alias("other"), "f"),
}


@pytest.mark.parametrize("form", FORMS)
def test_categories_are_identified_by_the_labels_of_the_model(form, model, labelled):
    table = FORMS[form](labelled)
    if form == "other categories" and isinstance(model, xgb.XGBModel):
        with pytest.raises(TableError, match="'not used'"):  # XGBoost refuses it as well, though no row has it
            gw.Explainer(model, table)
        return
    expected, found = gw.Explainer(model, labelled), gw.Explainer(model, table)
    assert gw.read_model(model, table).n_features == 2
    np.testing.assert_array_equal(found.ensemble.predict(table), expected.ensemble.predict(labelled))
    at = {"k": [*LABELS, None]}
    np.testing.assert_array_equal(
        found.partial_dependence("k", at=at).values, expected.partial_dependence("k", at=at).values
    )
    brute = [model.predict(labelled.assign(k=pd.Categorical([k] * N_ROWS, dtype=labelled["k"].dtype))) for k in at["k"]]
    np.testing.assert_allclose(found.partial_dependence("k", at=at).values, np.mean(brute, axis=1), atol=1e-6)
    np.testing.assert_array_equal(found.shap_values(table).values, expected.shap_values(labelled).values)
    np.testing.assert_array_equal(found.ice("k", rows=table).values, expected.ice("k", rows=labelled).values)
    assert gw.summarize(model, table) == gw.summarize(model, labelled)


@pytest.mark.parametrize(
    "form", ["Polars strings", "Polars categories", "Arrow dictionary", "Arrow strings", "mapping"]
)
def test_streams_and_files_of_categories(form, model, labelled, tmp_path):
    table, expected = FORMS[form](labelled), gw.summarize(model, labelled, order=2)
    if form == "mapping":
        parts = [{name: values[at : at + 50] for name, values in table.items()} for at in range(0, N_ROWS, 50)]
        assert gw.summarize(model, iter(parts), order=2) == expected
        return
    parts = [table[at : at + 50] if form.startswith("Polars") else table.slice(at, 50) for at in range(0, N_ROWS, 50)]
    assert gw.summarize(model, iter(parts), order=2) == expected
    assert gw.summarize(model, parts, order=2) == expected
    pq.write_table(
        table.to_arrow() if form.startswith("Polars") else table, tmp_path / "rows.parquet", row_group_size=60
    )
    assert gw.summarize(model, tmp_path / "rows.parquet", order=2) == expected
    if form.startswith("Polars"):
        assert gw.summarize(model, table.lazy(), order=2) == expected


OF_OTHERS = [
    pytest.param(kind, form, marks=needs("catboost", (1, 2, 8)) if (kind, form[:6]) == ("CatBoost", "Polars") else ())
    for kind in ("CatBoost", "voting")
    for form in FORMS
    if form != "other categories"
]  # CatBoost 1.2.7 takes no frames of Polars


@pytest.mark.parametrize(("kind", "form"), OF_OTHERS)
def test_other_models_of_categories(kind, form, labelled):
    known = labelled[labelled["k"].notna()].reset_index(drop=True)  # CatBoost takes no missing categories
    if kind == "voting":
        model = VotingRegressor([("a", MODELS["LightGBM"]()), ("b", MODELS["LightGBM"]())])
    else:
        settings = {"iterations": 5, "depth": 3, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
        model = CatBoostRegressor(cat_features=["k"], **settings)
    model.fit(known, known["k"].cat.codes * known["f"])
    ex = gw.Explainer(model, FORMS[form](known), response="prediction")
    at = {"k": LABELS}
    brute = [model.predict(known.assign(k=pd.Categorical([k] * len(known), dtype=known["k"].dtype))) for k in LABELS]
    np.testing.assert_allclose(ex.partial_dependence("k", at=at).values, np.mean(brute, axis=1), rtol=1e-6)


@pytest.mark.parametrize("ordered", [False, True])
def test_categories_with_unsigned_codes_become_those_of_pandas(ordered):
    parts = [
        pa.DictionaryArray.from_arrays(pa.array(codes, pa.uint32()), labels, ordered=ordered)
        for codes, labels in (([1, 0, None], ["lo", "hi"]), ([0], ["hi"]))
    ]
    made = pandas_of(pa.table({"k": pa.chunked_array(parts), "f": [1.0, 2.0, 3.0, 4.0]}))
    assert made["k"].dtype.ordered == ordered
    assert made["k"].astype(object).where(made["k"].notna(), None).tolist() == ["hi", "lo", None, "hi"]
    assert made["f"].tolist() == [1.0, 2.0, 3.0, 4.0]


def test_the_check_compares_with_the_library_on_categories_of_pandas(labelled):
    model = MODELS["LightGBM"]().fit(labelled, labelled["k"].cat.codes)
    ensemble = read_model(model)
    trained = as_trained(FORMS["Polars enum"](labelled), ensemble.schema)
    assert trained["k"].dtype.categories.tolist() == ["lo", "hi", "mid"]  # LightGBM itself is to tell which is which
    pd.testing.assert_frame_equal(trained.assign(k=trained["k"].cat.set_categories(LABELS)), labelled)
    assert as_trained(labelled, ensemble.schema) is labelled
    array = labelled[["f"]].to_numpy()
    assert as_trained(array, ensemble.schema) is array


def test_unseen_labels_are_what_they_are_for_the_library(labelled):
    rows = text(labelled).assign(k="never seen")
    model = MODELS["LightGBM"]().fit(labelled, labelled["k"].cat.codes)
    np.testing.assert_array_equal(
        gw.read_model(model, rows).predict(rows),
        model.predict(rows.astype({"k": "category"}), raw_score=True),
    )


@WITH_LABELS
def test_unseen_labels_are_refused_where_the_library_refuses_them(labelled):
    rows = text(labelled).assign(k="never seen")
    with pytest.raises(TableError, match="never seen"):
        gw.read_model(MODELS["XGBoost"]().fit(labelled, labelled["f"]), rows)


def test_what_the_library_refuses_is_refused_with_its_words(labelled):
    model = MODELS["LightGBM"]().fit(labelled, labelled["f"])
    wrong = labelled.assign(f=pd.Categorical(["1"] * N_ROWS))  # LightGBM counts columns of categories
    with pytest.raises(TableError, match=r"LGBMRegressor: the library itself cannot predict these rows \(ValueError"):
        gw.Explainer(model, wrong)


RAGGED = [[1.0, 2.0], [3.0]]
STRUCTURED = np.zeros(3, dtype=[("a", "f8"), ("b", "f8")])


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (np.zeros(3), r"has the shape \(3,\).*reshape"),
        (np.float64(3), "is not a table in memory"),
        (np.zeros((2, 2, 2)), r"the shape \(2, 2, 2\)"),
        (pd.Series([1.0, 2.0]), "this Series has the shape"),
        (pl.Series([1.0, 2.0]), "this Series has the shape"),
        (RAGGED, "this list is not a table"),
        ([1.0, 2.0], r"this list has the shape \(2,\)"),
        ([{"a": 1.0, "b": 2.0}], "this list has the shape"),
        (STRUCTURED, "structured"),
        (np.ma.masked_invalid([[1.0, np.nan]]), r"filled\(np.nan\)"),
        ("rows.parquet", "not as 'rows.parquet'"),
        (None, "not as None"),
        (iter([]), "not as a list_iterator"),
        (object(), "object of builtins is not a table in memory"),
        ({"a": [1.0], "b": [1.0, 2.0]}, "not equally long"),
    ],
)
def test_what_is_no_table_is_refused(table, says):
    with pytest.raises(TableError, match=says):
        given_table(table)


def test_kinds_of_tables_that_become_others():
    plain = np.array([[1.0, 2.0], [3.0, 4.0]])
    for table in (plain.tolist(), [(1.0, 2.0), (3.0, 4.0)], plain.view(np.matrix), np.ma.masked_array(plain)):
        made = given_table(table)
        assert type(made) is np.ndarray
        np.testing.assert_array_equal(made, plain)
    frame = given_table({"a": [1, None], "b": pd.Series([1.0, 2.0], index=[7, 8]), "c": np.array(["x", "y"])})
    assert frame["a"].tolist()[0] == 1
    assert frame["b"].tolist() == [1.0, 2.0]


def test_labels_and_numbers_of_other_libraries():
    schema = Schema((NumberColumn("n"), LabelColumn("c", (3, 1))))
    made = as_trained(pl.DataFrame({"c": [1, 3, None, 2], "n": [1, None, 3, 4]}), schema)
    assert made["c"].cat.categories.tolist() == [1, 2, 3]
    assert made["c"].cat.codes.tolist() == [0, 2, -1, 1]
    np.testing.assert_array_equal(made["n"], [1.0, np.nan, 3.0, 4.0])
    with pytest.raises(TableError, match="must hold numbers"):
        as_trained(pl.DataFrame({"c": [1], "n": ["x"]}), schema)


@pytest.fixture(scope="module")
def of_numbers():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    return HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=5).fit(X, X["a"] - 2 * X["b"]), X


def test_columns_with_names_are_never_identified_by_their_place(of_numbers):
    model, X = of_numbers
    ex, expected = gw.Explainer(model, X), gw.Explainer(model, X).shap_values(X).values
    turned = pa.RecordBatch.from_pandas(X[["b", "a"]])
    np.testing.assert_array_equal(ex.shap_values(turned).values, expected)
    np.testing.assert_array_equal(gw.Explainer(model, turned).shap_values(turned).values, expected)
    assert gw.summarize(model, turned) == gw.summarize(model, X)
    batch = gw.Explainer(model, turned)  # a table in memory, which can be asked again
    np.testing.assert_array_equal(batch.partial_dependence("a").values, ex.partial_dependence("a").values)
    np.testing.assert_array_equal(batch.partial_dependence("a", "b").values, ex.partial_dependence("a", "b").values)
    doubled = pa.table([pa.array(X["a"]), pa.array(X["b"])], names=["a", "a"])
    for asked in (
        lambda: gw.Explainer(model, doubled),
        lambda: gw.summarize(model, doubled),
        lambda: gw.summarize(model, iter([doubled])),
        lambda: gw.summarize(model, doubled.to_reader()),
        lambda: ex.shap_values(doubled),
        lambda: ex.shap_values(doubled.to_batches()[0]),
        lambda: ex.ensemble.predict(doubled),
        lambda: ex.partial_dependence("a", at=doubled),
    ):
        with pytest.raises(TableError, match=r"cannot be read: .*'a' 2 times"):
            asked()


def test_frames_that_are_not_in_memory_are_no_tables(of_numbers):
    dd = pytest.importorskip("dask.dataframe")
    model, X = of_numbers
    frame, ex = dd.from_pandas(X, npartitions=2), gw.Explainer(model, X)
    for asked in (
        lambda: ex.ensemble.predict(frame),
        lambda: ex.partial_dependence("a", at=frame),
    ):
        with pytest.raises(TableError, match="has columns, but is not a data frame in memory"):
            asked()


def test_views_of_texts_are_texts(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "k": pd.Categorical(rng.choice(list("xyz"), 60))})
    fitted = HistGradientBoostingRegressor(max_iter=5, categorical_features="from_dtype", min_samples_leaf=5)
    fitted.fit(frame, frame["a"] * (frame["k"] == "x"))
    views = pa.table({"a": frame["a"], "k": pa.array(frame["k"].astype(str).tolist()).cast(pa.string_view())})
    expected = gw.summarize(fitted, frame)
    assert gw.summarize(fitted, views) == gw.summarize(fitted, views.to_reader()) == expected
    assert gw.Explainer(fitted, views).partial_dependence("k", by="k").keys() == {"x", "y", "z"}
    frame.to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(gw.errors.FileError, match="checkpoint= is the path of a folder"):
        gw.summarize(fitted, tmp_path / "rows.parquet", checkpoint=tmp_path / "rows.parquet")
