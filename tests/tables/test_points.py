"""Points of a pipeline's columns are rows of the user's table: same types, and no value is changed to fit."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import glasswood as gw
from glasswood.errors import TableError
from glasswood.tables._points import columns_of, distinct_points, rows_with

N_ROWS = 200
SIZES = ["small", "medium", "large"]


def small_model():
    return HistGradientBoostingRegressor(max_iter=10, min_samples_leaf=5)


def sized(*, ordered):
    rng = np.random.default_rng(0)
    size = pd.Categorical(rng.choice(SIZES, size=N_ROWS), categories=SIZES, ordered=ordered)
    return pd.DataFrame({"size": size, "age": rng.normal(size=N_ROWS)})


def of_codes(frame):
    return frame.assign(size=frame["size"].cat.codes.astype(float))


@pytest.mark.parametrize("ordered", [True, False])
def test_points_carry_the_categories_of_the_table(ordered):
    X = sized(ordered=ordered)
    pipeline = make_pipeline(FunctionTransformer(of_codes), small_model()).fit(X, X["size"].cat.codes * 2.0 + X["age"])
    ex = gw.Explainer(pipeline, X)
    by_default = ex.partial_dependence("size")
    heights = dict(zip(by_default.columns["size"], by_default.values, strict=True))
    for size in SIZES:
        brute = pipeline.predict(X.assign(size=pd.Categorical([size] * N_ROWS, dtype=X["size"].dtype))).mean()
        turned = pd.Categorical([size], categories=SIZES[::-1])  # a table of points has an order of its own
        for at in ({"size": [size]}, pd.DataFrame({"size": [size]}), pd.DataFrame({"size": turned})):
            np.testing.assert_allclose(ex.partial_dependence("size", at=at).values, brute, rtol=1e-12)
        assert heights[size] == pytest.approx(brute, rel=1e-12)
        np.testing.assert_allclose(ex.ice("size", at={"size": [size]}).values.mean(), brute, rtol=1e-12)


@pytest.mark.parametrize("value", ["huge", None, np.nan])
def test_further_categories_come_after_those_of_the_table(value):
    X = sized(ordered=False)
    pipeline = make_pipeline(FunctionTransformer(of_codes), small_model()).fit(X, X["size"].cat.codes * 2.0 + X["age"])
    further = X["size"].cat.add_categories(["huge"]).dtype
    brute = pipeline.predict(X.assign(size=pd.Categorical([value] * N_ROWS, dtype=further))).mean()
    found = gw.Explainer(pipeline, X).partial_dependence("size", at={"size": [value]})
    np.testing.assert_allclose(found.values, brute, rtol=1e-12)


TYPES = ["boolean", "bool[pyarrow]", "Int8", "Int64", "Float64", "int8[pyarrow]", "double[pyarrow]", "object", "polars"]


def flagged(kind):
    """Truth values with missing ones as floats, and the same table in another type."""
    rng = np.random.default_rng(0)
    flag = np.where(rng.random(N_ROWS) < 0.2, np.nan, rng.integers(0, 2, size=N_ROWS))
    plain = pd.DataFrame({"age": rng.normal(size=N_ROWS), "flag": flag})
    truths = plain["flag"].map({0.0: False, 1.0: True})
    if kind == "polars":
        return plain, pl.from_pandas(plain.assign(flag=truths.astype("boolean")))
    if kind == "object":
        return plain, plain.assign(flag=truths.astype(object).where(plain["flag"].notna(), None))
    return plain, plain.assign(flag=truths.astype("boolean").astype(kind) if "bool" in kind else flag).astype(
        {"flag": kind}
    )


@pytest.mark.parametrize("kind", TYPES)
def test_columns_that_can_be_missing(kind):
    plain, table = flagged(kind)
    y = plain["age"] + np.where(plain["flag"].isna(), -9, 3 * plain["flag"].fillna(0))
    pipeline = make_pipeline(StandardScaler(), small_model()).fit(plain, y)
    ex = gw.Explainer(pipeline, table)
    brute = {value: pipeline.predict(plain.assign(flag=value)).mean() for value in (0.0, 1.0, None)}
    curve = ex.partial_dependence("flag")
    for value in (0.0, 1.0, None):
        assert curve(value) == pytest.approx(brute[value], rel=1e-12)
    for value in (0, 1, None, np.nan):
        found = ex.partial_dependence("flag", at={"flag": [value]})
        expected = brute[None if value is None or np.isnan(value) else float(value)]
        np.testing.assert_allclose(found.values, expected, rtol=1e-12)


@pytest.mark.parametrize("value", [None, np.nan, 2, True, 0])
def test_truth_values_take_what_the_pipeline_takes(value):
    plain, _ = flagged("object")
    X = plain.assign(flag=plain["flag"] == 1)
    scaled = make_column_transformer((StandardScaler(), ["age"]), remainder="passthrough")
    pipeline = make_pipeline(scaled, small_model()).fit(plain, plain["age"] + plain["flag"].fillna(3))
    found = gw.Explainer(pipeline, X).partial_dependence("flag", at={"flag": [value]}).values
    expected = pipeline.predict(X.assign(flag=np.nan if value is None else float(value))).mean()
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(("value", "says"), [(None, "missing"), (np.nan, "missing"), (2, "be 2"), ("yes", "'yes'")])
def test_truth_values_are_not_made_of_others(value, says):
    plain, _ = flagged("object")
    X = plain.assign(flag=plain["flag"] == 1)
    waves = make_column_transformer((FunctionTransformer(parity), ["flag"]), remainder="passthrough")
    ex = gw.Explainer(make_pipeline(waves, small_model()).fit(X, plain["age"] + X["flag"]), X)
    with pytest.raises(TableError, match=f"column 'flag' of the table holds Boolean.*{says}"):
        ex.partial_dependence("flag", at={"flag": [value]})
    assert ex.partial_dependence("flag", at={"flag": [True, 0]}).values.shape == (2,)


def parity(X):
    return np.cos(3 * np.asarray(X, dtype=float))


FRAMES = {
    "int8": (pd.DataFrame({"a": np.array([1, 2], dtype="i1")}), [1, 0.5, None, 300]),
    "float32": (pd.DataFrame({"a": np.array([1, 2], dtype="f4")}), [0.1, None]),
    "large integers": (pd.DataFrame({"a": [1.0, 2.0]}), [2**53 + 1]),
    "Int8": (pd.DataFrame({"a": pd.array([1, None], dtype="Int8")}), [None, 7, 0.5]),
    "text": (pd.DataFrame({"a": ["x", "y"]}), ["x", "longer", None]),
    "days": (pd.DataFrame({"a": pd.date_range("2026-01-01", periods=2)}), [dt.datetime(2026, 5, 6), None]),
    "Polars integers": (pl.DataFrame({"a": [1, 2]}, schema={"a": pl.Int8}), [1, 0.5, 300]),
    "Polars enum": (pl.DataFrame({"a": ["x", "y"]}, schema={"a": pl.Enum(["y", "x"])}), ["x", None]),
    "Polars categories": (pl.DataFrame({"a": ["x", "y"]}, schema={"a": pl.Categorical()}), ["z", "x", None]),
    "Polars days": (pl.DataFrame({"a": [dt.date(2026, 1, 1)]}), [dt.date(2026, 5, 6), None]),
    "Arrow dictionary": (pa.table({"a": pa.array(["x", "y"]).dictionary_encode()}), ["z", "x", None]),
    "Arrow integers": (pa.table({"a": pa.array([1, 2], pa.int8())}), [1, 0.5]),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_no_value_is_changed(kind):
    table, values = FRAMES[kind]
    back = columns_of(rows_with(table, {"a": values}, [0]), ["a"])["a"]
    assert [None if pd.isna(value) else value for value in back] == values
    held = rows_with(table, {"a": values[:1]}, [0]) if kind not in ("float32", "large integers") else table
    assert str(held["a"].dtype if hasattr(held["a"], "dtype") else held["a"].type) == str(
        table["a"].dtype if hasattr(table["a"], "dtype") else table["a"].type
    )


@pytest.mark.parametrize(
    ("table", "value"),
    [
        (pd.DataFrame({"a": [1.0]}), "x"),
        (pd.DataFrame({"a": pd.array(["x"], dtype="string")}), 1),
        (pd.DataFrame({"a": pd.to_datetime(["2026-01-01"])}), "soon"),
        (pd.DataFrame({"a": pd.to_datetime(["2026-01-01"]).tz_localize("UTC")}), dt.datetime(2026, 1, 1)),
        (pl.DataFrame({"a": ["x"]}, schema={"a": pl.Enum(["x"])}), "y"),
        (pl.DataFrame({"a": [True]}), 2),
        (np.array([[1.0]]), {}),
        (scipy.sparse.csr_matrix([[1.0]]), {}),
    ],
)
def test_values_that_a_column_cannot_hold_are_refused(table, value):
    with pytest.raises(TableError, match="of the table holds"):
        rows_with(table, {"a": [value]}, [0])


def test_arrays_keep_their_type_if_it_holds_the_values():
    array = np.array([[1, 2]], dtype=np.float32)
    assert rows_with(array, {"a": [0.5, None]}, [0]).dtype == np.float32
    np.testing.assert_array_equal(rows_with(array, {"a": [0.1]}, [0]), [[0.1, 2.0]])
    np.testing.assert_array_equal(rows_with(array.astype(int), {"b": [None]}, [1]), [[1.0, np.nan]])
    np.testing.assert_array_equal(rows_with(scipy.sparse.csc_matrix(array), {"a": [0.1]}, [0]).toarray(), [[0.1, 2]])
    assert rows_with(np.array([["x", "y"]]), {"a": ["longer"]}, [0]).tolist() == [["longer", "y"]]


def test_missing_objects_are_distinct():
    table = pd.DataFrame({"a": pd.Series(["x", None, np.nan, "x", pd.NA], dtype=object)})
    rows, points = distinct_points(table, ["a"], [0])
    assert rows["a"].iloc[0] == "x"
    assert len(points["a"]) == 3  # None, and what is not None


def test_sparse_tables_have_points():
    X = scipy.sparse.random(N_ROWS, 3, density=0.3, random_state=0, format="csr")
    y = X.toarray()[:, 0] + X.toarray()[:, 1]
    pipeline = make_pipeline(StandardScaler(with_mean=False), small_model_of_sparse()).fit(X, y)
    ex = gw.Explainer(pipeline, X)
    for value in (0.0, 0.3):
        changed = X.toarray()
        changed[:, 1] = value
        brute = pipeline.predict(scipy.sparse.csr_matrix(changed)).mean()
        np.testing.assert_allclose(ex.partial_dependence("x1", at={"x1": [value]}).values, brute, rtol=1e-12)
        np.testing.assert_allclose(ex.partial_dependence("x1")(value), brute, rtol=1e-12)


def small_model_of_sparse():
    from sklearn.ensemble import GradientBoostingRegressor

    return GradientBoostingRegressor(n_estimators=10)


@pytest.mark.parametrize(
    ("at", "says"),
    [
        ({"age": [1.0]}, "lacks the columns"),
        ({"size": "small"}, "a list or an array of values"),
        ({"size": 3}, "a list or an array of values"),
        (["small"], "rows and columns"),
        (pd.DataFrame({"length": ["small"]}), "lacks 1 of"),
    ],
)
def test_points_that_are_no_table_are_refused(at, says):
    X = sized(ordered=False)
    encoded = make_column_transformer((OneHotEncoder(), ["size"]), remainder="passthrough", sparse_threshold=0)
    ex = gw.Explainer(make_pipeline(encoded, small_model()).fit(X, X["age"]), X)
    with pytest.raises(TableError, match=says):
        ex.partial_dependence("size", at=at)
