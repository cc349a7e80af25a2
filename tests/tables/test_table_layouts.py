"""The same rows in every layout that a table can have: what the library itself predicts for them, or a sentence."""

from __future__ import annotations

import datetime as dt
import warnings

import catboost as cb
import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import xgboost as xgb
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor, RandomForestRegressor

import glasswood as gw
from glasswood.errors import TableError

N_ROWS = 120
ROWS = np.random.default_rng(0).integers(-3, 4, size=(N_ROWS, 4)).astype(np.float64)
TARGET = ROWS[:, 0] * ROWS[:, 1] + ROWS[:, 2]
FRAME = pd.DataFrame(ROWS, columns=list("abcd"))


class Subclass(np.ndarray):
    """Anybody's array."""


def unaligned():
    packed = np.zeros(N_ROWS, dtype=[("pad", "i1"), ("rows", "f8", (4,))])
    packed["rows"] = ROWS
    return packed["rows"]


def spread():
    wide = np.full((2 * N_ROWS, 9), 99.0)
    wide[::2, 1:9:2] = ROWS
    return wide[::2, 1:9:2]


def read_only():
    rows = ROWS.copy()
    rows.setflags(write=False)
    return rows


def with_zeros():
    matrix = scipy.sparse.csr_matrix(ROWS)
    matrix.data[::3] = 0.0
    return matrix


def twice():
    """A matrix that has several entries for the same place, in no order."""
    places = np.array([0, 0, 1, 3, 1, 2]), np.r_[0, 3, 6, np.full(N_ROWS - 2, 6)]
    return scipy.sparse.csr_matrix((np.ones(6), *places), shape=ROWS.shape)


LAYOUTS = {
    "Fortran": np.asfortranarray(ROWS),
    "spread": spread(),
    "negative strides": np.ascontiguousarray(ROWS[::-1, ::-1])[::-1, ::-1],
    "one row, broadcast": np.broadcast_to(ROWS[:1], ROWS.shape),
    "read only": read_only(),
    "subclass": ROWS.view(Subclass),
    "other bytes": ROWS.astype(">f8"),
    "integers of other bytes": ROWS.astype(">i4"),
    **{f"array of {kind}": ROWS.astype(kind) for kind in ("f2", "f4", "g", "i1", "i8", object)},
    "positive": np.abs(ROWS).astype("u1"),
    "truths": ROWS > 0,
    "objects, some None": np.where(ROWS == 1, None, ROWS.astype(object)),
    "texts": ROWS.astype(str),
    "bytes": ROWS.astype("S"),
    "lists": ROWS.tolist(),
    **{
        f"{kind}_{what}": getattr(scipy.sparse, f"{kind}_{what}")(ROWS)
        for kind in ("csr", "csc", "coo", "lil", "dok", "bsr")
        for what in ("matrix", "array")
    },
    "diagonals": scipy.sparse.dia_matrix((np.full((1, 4), 2.0), [0]), shape=ROWS.shape),
    "sparse, with zeros": with_zeros(),
    "sparse, with NaN": scipy.sparse.csc_matrix(np.where(ROWS == 1, np.nan, ROWS)),
    "sparse integers": scipy.sparse.csr_matrix(ROWS.astype(np.int64)),
    "sparse float32": scipy.sparse.csr_matrix(ROWS.astype(np.float32)),
    "names that are numbers": pd.DataFrame(ROWS),
    "names that are tuples": FRAME.set_axis(pd.MultiIndex.from_product([["p", "q"], ["a", "b"]]), axis=1),
    "names that are dates": FRAME.set_axis(pd.date_range("2026-01-01", periods=4), axis=1),
    "sparse columns": FRAME.astype(pd.SparseDtype("float", 0.0)),
    "sparse columns with NaN": FRAME.replace(1.0, np.nan).astype(pd.SparseDtype("float", np.nan)),
    **{f"frame of {kind}": FRAME.astype(kind) for kind in ("Int64", "Float64", "double[pyarrow]", object, "f2", "g")},
    "an index with one value": FRAME.set_index(np.zeros(N_ROWS, dtype=int)),
    "Polars decimals": pl.from_pandas(FRAME).with_columns(pl.col("a").cast(pl.Decimal(10, 2))),
    "Polars, nothing but null": pl.from_pandas(FRAME).with_columns(a=pl.lit(None)),
    "Polars integers of 128 bits": pl.from_pandas(FRAME).with_columns(pl.col("a").cast(pl.Int128)),
    "Polars objects": pl.from_pandas(FRAME).with_columns(a=pl.Series(FRAME["a"].tolist(), dtype=pl.Object)),
}


@pytest.fixture(scope="module")
def models():
    """One model of each library, of arrays."""
    found = {
        "forest": RandomForestRegressor(3, max_depth=4, random_state=0),
        "histogram": HistGradientBoostingRegressor(max_iter=3),
        "gradient": GradientBoostingRegressor(n_estimators=3),
        "LightGBM": lgb.LGBMRegressor(n_estimators=3, verbose=-1, n_jobs=1),
        "XGBoost": xgb.XGBRegressor(n_estimators=3, n_jobs=1),
        "CatBoost": cb.CatBoostRegressor(iterations=3, depth=3, verbose=0, thread_count=1, allow_writing_files=False),
    }
    return {name: model.fit(ROWS, TARGET) for name, model in found.items()}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout, models):
    table, read = LAYOUTS[layout], 0
    for model in models.values():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                expected = model.predict(table)
            except Exception:  # noqa: BLE001 (what the library refuses may be refused here)
                expected = None
        try:
            ex = gw.Explainer(model, table)
        except TableError:
            misread = ("other bytes", "integers of other bytes", "array of g")  # by XGBoost
            assert expected is None or layout in misread, model
            continue
        read += 1
        if expected is not None:
            np.testing.assert_allclose(ex.ensemble.predict(table), expected, rtol=1e-6, atol=1e-6)
        sums = ex.shap_values(table).values.sum(axis=1) + ex.partial_dependence(0).mean
        np.testing.assert_allclose(sums, ex.ensemble.predict(table), rtol=1e-6, atol=1e-6)
    assert read


WRONG = {
    "complex": (ROWS.astype(complex), "complex"),
    "sparse complex": (scipy.sparse.csr_matrix(ROWS.astype(complex)), "complex128 is not supported"),
    "several entries for one place": (twice(), "sum_duplicates"),
    "masked": (np.ma.masked_equal(ROWS, 2), "filled"),
    "records": (np.rec.fromarrays(ROWS.T), "structured"),
    "one column too many": (np.hstack([ROWS, ROWS[:, :1]]), "5 columns, but the model was trained on 4"),
    "no columns": (ROWS[:, :0], "0 columns"),
    "a cube": (ROWS[None], "shape"),
    "the same name twice": (FRAME.set_axis(list("aabc"), axis=1), "cannot be read"),
    "days": (FRAME.assign(a=pd.date_range("2026-01-01", periods=N_ROWS)), "Datetime"),
    "days of a zone": (FRAME.assign(a=pd.date_range("2026-01-01", periods=N_ROWS, tz="UTC")), "Datetime"),
    "lengths of time": (FRAME.assign(a=pd.to_timedelta(np.arange(N_ROWS), unit="D")), "Duration"),
    "periods": (FRAME.assign(a=pd.period_range("2026-01-01", periods=N_ROWS, freq="D")), "must hold numbers"),
    "intervals": (FRAME.assign(a=pd.interval_range(0, N_ROWS, periods=N_ROWS)), "must hold numbers"),
    "lists in cells": (FRAME.assign(a=[[1.0]] * N_ROWS), "neither numbers nor labels"),
    "Polars lists": (pl.from_pandas(FRAME).with_columns(a=pl.Series([[1.0]] * N_ROWS)), "List"),
    "Polars times": (pl.from_pandas(FRAME).with_columns(a=pl.Series([dt.time(1)] * N_ROWS)), "Time"),
}


@pytest.mark.parametrize("name", WRONG)
def test_tables_that_no_model_takes(name, models):
    table, says = WRONG[name]
    for model in models.values():
        with pytest.raises(TableError, match=says):
            gw.Explainer(model, table)


def test_what_libraries_misread_is_refused(models):
    # XGBoost takes the bytes in the wrong order, and ends the process for some frames of long doubles.
    for table in (ROWS.astype(">f4"), FRAME.astype("g")):
        with pytest.raises(TableError, match="XGBoost misreads"):
            gw.Explainer(models["XGBoost"], table)
    with pytest.raises(TableError, match="trained without pandas' categories"):
        gw.Explainer(models["LightGBM"], FRAME.astype("category"))
