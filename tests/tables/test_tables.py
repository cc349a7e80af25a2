"""Every kind of table gives the same columns."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from glasswood.errors import TableError
from glasswood.tables._columns import LabelColumn, NumberColumn
from glasswood.tables._tables import OpenColumns, Schema, distinct_rows, encode, n_rows, open_columns, take_rows

NAN = np.nan
NUMBERS = Schema((NumberColumn("a"), NumberColumn("b")))
MIXED = Schema((NumberColumn("n"), LabelColumn("c", ("x", "y"))))
COLUMNS = {"c": ["y", None, "z", "x"], "n": [1, 2, None, 4], "other": ["p", "q", "r", "s"]}
ARROW = pa.table(COLUMNS)


def frames():
    text, numbers = COLUMNS["c"], COLUMNS["n"]
    labels = pa.array(text).dictionary_encode()
    chunks = pa.chunked_array([pa.array(text[:2]).dictionary_encode(), pa.array(text[2:]).dictionary_encode()])
    polars = pl.DataFrame(COLUMNS)
    return {
        "pandas, strings": pd.DataFrame(COLUMNS),
        "pandas, objects": pd.DataFrame({"c": np.array(text, dtype=object), "n": numbers}),
        "pandas, categories": pd.DataFrame({"c": pd.Categorical(text), "n": numbers}),
        "pandas, nullable": pd.DataFrame({"c": pd.array(text, dtype="string"), "n": pd.array(numbers, dtype="Int64")}),
        "pandas, arrow": pd.DataFrame({"c": pd.array(text, dtype=pd.ArrowDtype(pa.string())), "n": numbers}),
        "polars, strings": polars,
        "polars, categories": polars.with_columns(pl.col("c").cast(pl.Categorical)),
        "polars, enum": polars.with_columns(pl.col("c").cast(pl.Enum(["x", "y", "z", "w"]))),
        "arrow, strings": ARROW,
        "arrow, dictionary": ARROW.set_column(0, "c", labels),
        "arrow, chunks": ARROW.set_column(0, "c", chunks),
        "arrow, decimal": ARROW.set_column(1, "n", pa.array([Decimal(1), Decimal(2), None, Decimal(4)])),
    }


@pytest.mark.parametrize("name", frames())
def test_frames(name):
    columns = encode(frames()[name], MIXED, [0, 1])
    np.testing.assert_array_equal(columns[0], [1.0, 2.0, NAN, 4.0])
    np.testing.assert_array_equal(columns[1], [1.0, NAN, -1.0, 0.0])
    assert n_rows(frames()[name]) == 4
    taken = take_rows(frames()[name], MIXED, np.array([3, 0]))
    np.testing.assert_array_equal(encode(taken, MIXED, [1])[1], [0.0, 1.0])


@pytest.mark.parametrize("values", [[True, False, True], [True, None, True]])
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_booleans(values, library):
    frame = library({"a": values, "b": [0, 1, 2]})
    expected = [NAN if value is None else float(value) for value in values]
    np.testing.assert_array_equal(encode(frame, NUMBERS, [0])[0], expected)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays_are_not_copied(order, dtype):
    X = np.asarray(np.arange(6).reshape(3, 2), dtype=dtype, order=order)
    assert np.shares_memory(encode(X, NUMBERS, [1])[1], X)


def test_arrays_of_other_kinds():
    for X in (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]], np.array([[1, 2], [3, 4]], dtype=object)):
        np.testing.assert_array_equal(encode(X, NUMBERS, [1])[1], [2.0, 4.0])
    np.testing.assert_array_equal(take_rows([[1, 2], [3, 4]], NUMBERS, np.array([1])), [[3, 4]])
    assert n_rows([[1, 2], [3, 4]]) == 2


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", ["csr_matrix", "csc_array", "coo_array"])
def test_sparse_matrices(kind, missing):
    X = getattr(scipy.sparse, kind)(np.array([[1.0, 0.0], [0.0, 2.0]]))
    schema = Schema(NUMBERS.columns, absent_is_missing=missing)
    assert schema == Schema(NUMBERS.columns, absent_is_missing=missing)
    np.testing.assert_array_equal(encode(X, schema, [1])[1], [NAN if missing else 0.0, 2.0])
    np.testing.assert_array_equal(take_rows(X, schema, np.array([1])).toarray(), [[0.0, 2.0]])


def test_only_wanted_columns_are_touched():
    frame = pd.DataFrame({"a": [1.0], "b": ["not a number"]})
    assert list(encode(frame, NUMBERS, [0])) == [0]


def test_frames_of_models_without_names_are_read_by_position():
    schema = Schema(NUMBERS.columns, named=False)
    np.testing.assert_array_equal(encode(pd.DataFrame({"q": [1.0], "p": [2.0]}), schema, [1])[1], [2.0])
    np.testing.assert_array_equal(encode(pd.DataFrame([[1.0, 2.0]]), schema, [1])[1], [2.0])


def test_names_that_are_numbers():
    schema = Schema((NumberColumn("7"), NumberColumn("8")))
    np.testing.assert_array_equal(encode(pd.DataFrame({8: [1.0], 7: [2.0]}), schema, [0])[0], [2.0])


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (np.zeros((2, 3)), "3 columns, but the model was trained on 2"),
        (np.zeros(2), "shape"),
        (scipy.sparse.csr_matrix(np.zeros((2, 3))), "3 columns"),
        (pd.DataFrame({"b": [1.0]}), "lacks 1 of the model's 2 columns: 'a'"),
        (pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), "cannot be read"),
        (pd.DataFrame({"a": pd.to_datetime(["2026-01-01"]), "b": [1.0]}), "holds Datetime"),
        (pd.DataFrame({"a": ["x"], "b": [1.0]}), "must hold numbers"),
    ],
)
def test_tables_that_do_not_fit_are_refused(table, says):
    with pytest.raises(TableError, match=says):
        encode(table, NUMBERS, [0, 1])


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"a": [1.0, 2.0], "b": [1.0]}, "not equally long: 'a' has 2 values, 'b' has 1"),
        ({"b": np.array([1.0]), "a": np.array([1.0, 2.0])}, "not equally long"),
        ({"a": [1.0], "b": [2.0], "unused": [1.0, 2.0]}, "not equally long"),
        ({"a": [1.0]}, "lacks the columns"),
        ({"a": 1.0, "b": 2.0}, "a list or an array of values"),
        ({"a": "12", "b": "34"}, "a list or an array of values"),
        ({"a": [[1.0]], "b": [[2.0]]}, "one value per row"),
        ({"a": np.ones((1, 1)), "b": np.ones((1, 1))}, "a list or an array of values"),
    ],
)
def test_mappings_that_are_no_tables_are_refused(table, says):
    with pytest.raises(TableError, match=says):
        encode(table, NUMBERS, [0, 1])


def test_distinct_rows_take_as_many_steps_as_there_are_columns(monkeypatch):
    calls = []
    listed = OpenColumns.listed
    monkeypatch.setattr(OpenColumns, "listed", lambda *arguments: calls.append(arguments[1]) or listed(*arguments))
    table = np.random.default_rng(0).integers(0, 2, size=(5000, 12)).astype(float)
    schema = Schema(tuple(NumberColumn(f"x{k}") for k in range(12)), named=False)
    found = distinct_rows(open_columns(table, schema, range(12)), np.arange(12))
    assert len(calls) == 12  # not one more for each of the distinct rows
    rows = set(map(tuple, table.tolist()))
    assert len(found["x0"]) == len(rows)
    assert set(zip(*found.values(), strict=True)) == rows
