"""Frames of unusual shapes and types on every engine: counts and values of rows are those of a table in memory.

The long form has 2,000 partitions and 1,000 columns.
"""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw
from helpers.clusters_spark import SPARK_WARNINGS

pytestmark = [
    pytest.mark.xdist_group("engines"),
    *[pytest.mark.filterwarnings(warning) for warning in SPARK_WARNINGS],
    pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:`use_:DeprecationWarning"),
]

ENGINES = ["dask", "ray", "spark"]


@pytest.fixture
def in_parts(request):
    """What makes a frame of an engine with one partition per table; Spark joins some, and leaves some empty."""

    def frame_of(engine, parts):
        if engine == "dask":
            import dask.dataframe as dd
            from dask import delayed

            request.getfixturevalue("dask_nodes")
            # with types of Arrow: Dask makes texts of other objects, such as decimals
            frames = [delayed(part.to_pandas)(types_mapper=pd.ArrowDtype) for part in parts]
            return dd.from_delayed(frames, meta=parts[0].slice(0, 0).to_pandas(types_mapper=pd.ArrowDtype))
        if engine == "ray":
            import ray

            request.getfixturevalue("ray_nodes")
            return ray.data.from_arrow(parts)
        spark = request.getfixturevalue("spark_nodes").spark
        numbered = [part.append_column("part", pa.array([k] * part.num_rows, "int64")) for k, part in enumerate(parts)]
        whole = pa.concat_tables(numbered).combine_chunks()  # PySpark 4.3 loses rows behind a chunk without any
        return spark.createDataFrame(whole).repartition(len(parts), "part")

    return frame_of


def cut(table, sizes):
    """Return the first rows of a table, the next ones, ..., given their numbers."""
    ends = np.cumsum(sizes)
    assert ends[-1] == table.num_rows
    return [table.slice(int(end - size), int(size)) for end, size in zip(ends, sizes, strict=True)]


def make(n_rows, n_columns):
    generator = np.random.default_rng(0)
    names = [f"x{place}" for place in range(n_columns)]
    X = pd.DataFrame(generator.normal(size=(n_rows, n_columns)).round(2), columns=names)
    y = X["x0"] * X["x1"] + (X["x2"] > 0) + 0.1 * X.sum(axis=1)
    # Shallow trees: the values of deep ones are computed in other ways if the number of rows is not known.
    return X, HistGradientBoostingRegressor(max_iter=30, max_depth=5, random_state=0).fit(X, y)


def check(model, X, frame, out):
    """Compare counts, Shapley values of all rows, and their means, with those of a table in memory."""
    counts = gw.summarize(model, X)
    assert gw.summarize(model, frame) == counts
    explainer = gw.Explainer(model, X[:200])
    expected = explainer.shap_values(X)
    values = explainer.shap_values(frame, keep=["id"])
    assert values.to_parquet(out) == len(X)
    found = parquet.read_table(out).sort_by("id")
    assert found["id"].to_pylist() == list(range(len(X)))
    assert np.array_equal(found.select(list(X)).to_pandas().to_numpy(), expected.values)
    assert np.array_equal(values.mean_abs(), expected.mean_abs())


def numbered(X):
    return pa.Table.from_pandas(X.assign(id=np.arange(len(X))), preserve_index=False)


@pytest.mark.parametrize("engine", ENGINES)
def test_one_large_partition_many_small_ones_and_some_without_rows(engine, in_parts, tmp_path):
    X, model = make(30_000, 4)
    sizes = [0, 1, 0, *[7] * 20, len(X) - 142, 0, 1]
    check(model, X, in_parts(engine, cut(numbered(X), sizes)), tmp_path / "out")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_2000_partitions(engine, in_parts, tmp_path):
    X, model = make(20_000, 4)
    check(model, X, in_parts(engine, cut(numbered(X), [10] * 2000)), tmp_path / "out")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_1000_columns(engine, in_parts, tmp_path):
    X, model = make(2000, 1000)
    check(model, X, in_parts(engine, cut(numbered(X), [500] * 4)), tmp_path / "out")


@pytest.mark.parametrize("engine", ENGINES)
def test_decimals_timestamps_and_missing_categories(engine, in_parts, tmp_path):
    generator = np.random.default_rng(0)
    n = 400
    cents = generator.integers(-500, 500, n)
    X = pd.DataFrame({"amount": cents / 100, "kind": pd.Categorical.from_codes(generator.integers(-1, 3, n), [*"xyz"])})
    model = HistGradientBoostingRegressor(max_iter=10, categorical_features="from_dtype")
    model.fit(X, X["amount"] ** 2 + (X["kind"] == "y"))
    begin = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    table = pa.table(
        {
            "amount": pa.array([None if k % 9 == 0 else Decimal(int(k)) / 100 for k in cents], pa.decimal128(9, 2)),
            "kind": pa.array(X["kind"].astype(object).where(X["kind"].notna(), None), pa.string()),
            "when": pa.array([begin + datetime.timedelta(hours=k) for k in range(n)], pa.timestamp("us", "UTC")),
            "price": pa.array([Decimal(k) / 1000 for k in range(n)], pa.decimal128(20, 3)),
            "id": np.arange(n),
        }
    )
    frame = in_parts(engine, cut(table, [n // 4] * 4))
    assert gw.summarize(model, frame) == gw.summarize(model, table)
    explainer = gw.Explainer(model, table)
    values = explainer.shap_values(frame, keep=["id", "when", "price"])
    values.to_parquet(tmp_path / "out")
    found = parquet.read_table(tmp_path / "out").sort_by("id")
    expected = explainer.shap_values(table)
    assert np.array_equal(found.select(["amount", "kind"]).to_pandas().to_numpy(), expected.values)
    assert found["when"].cast(table["when"].type).equals(table["when"])
    assert found["price"].to_pylist() == table["price"].to_pylist()
