"""Three clusters, started once and only if a test asks for one; a model; rows in files; and what is to come out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.ensemble import HistGradientBoostingRegressor

from glasswood.counting._column_ends import EndsSpec
from glasswood.counting._plan import make_plan
from glasswood.effects._response_sums import ResponsesSpec
from glasswood.engines import _pass as _passes
from glasswood.engines._local import count
from glasswood.models._opened import open_model
from glasswood.models._scale import scale_of
from helpers.clusters import dask_cluster
from helpers.clusters_ray import ray_cluster
from helpers.clusters_spark import spark_cluster

ROWS = 200_000
FILES = 12
COLOURS = np.array(["red", "green", "blue", "rouge foncé"])
REGIONS = ["north", "south"]


@dataclass(frozen=True)
class Case:
    """A model, rows in a folder of files, and the same rows in memory."""

    model: Any
    folder: Path
    frame: pd.DataFrame

    @property
    def paths(self):
        return sorted(self.folder.rglob("*.parquet"))

    def expected(self, order=1, weight=None, response=None):
        """The counts of all rows, the ends of columns, and sums of a response, by one thread."""
        return self._count(self.frame, order, weight, response)

    def expected_by(self, names, order=1, weight=None):
        """The counts of each group of rows, by one thread of NumPy."""
        groups = self.frame.groupby(names, sort=False, observed=True)
        return {key: self._count(rows, order, weight) for key, rows in groups}

    def _count(self, rows, order, weight, response=None):
        opened = open_model(self.model, self.frame.head(100))
        plan = make_plan(opened.ensemble, order, None)
        further = [EndsSpec()]
        if response is not None:
            further.append(ResponsesSpec.of_model(opened.ensemble, scale_of(opened, response)))
        return count(plan, rows, None if weight is None else rows[weight], threads=1, further=further)


def make_rows(n_rows, seed=0):
    """Numbers with missing values, texts that are categories, flags, a group, weights, and what no model needs."""
    generator = np.random.default_rng(seed)
    columns = {f"x{place}": generator.normal(size=n_rows).round(2) for place in range(4)}
    for values in columns.values():
        values[generator.random(n_rows) < 0.05] = np.nan
    colour = generator.integers(0, 5, n_rows)
    columns["colour"] = pd.Categorical.from_codes(np.where(colour == 4, -1, colour), COLOURS)
    columns["flag"] = generator.random(n_rows) < 0.5
    columns["day"] = generator.integers(0, 5, n_rows)
    columns["weight"] = generator.integers(0, 4, n_rows)
    columns["unused"] = np.arange(n_rows)
    columns["share"] = np.exp(10 * generator.normal(size=n_rows))
    frame = pd.DataFrame(columns)
    frame["region"] = np.array(REGIONS)[(np.arange(n_rows) * len(REGIONS)) // max(n_rows, 1)]
    return frame


def make_model():
    """A small boosted model of numbers, categories and flags."""
    rows = make_rows(2000, seed=1)
    y = rows["x0"].fillna(1) + np.where(rows["x1"] > 0, rows["x2"].fillna(0), rows["flag"]) + (rows["colour"] == "blue")
    used = rows[["x0", "x1", "x2", "x3", "colour", "flag"]]
    return HistGradientBoostingRegressor(
        max_iter=12, max_leaf_nodes=8, categorical_features="from_dtype", random_state=0
    ).fit(used, y)


def to_arrow(frame):
    """The rows as an Arrow table: texts, and of the missing numbers every second is a NaN, the others are null."""
    table = pa.Table.from_pandas(frame.drop(columns=["colour", "region"]), preserve_index=False)
    for name in ("x0", "x1"):
        values = frame[name].to_numpy()
        null = np.isnan(values) & (np.arange(len(frame)) % 2 == 0)
        table = table.set_column(table.column_names.index(name), name, pa.array(values, mask=null, from_pandas=False))
    texts = frame["colour"].astype(object).where(frame["colour"].notna(), None)
    return table.append_column("colour", pa.array(texts, type=pa.string()))


def write_files(frame, folder, n_files=FILES):
    """Write rows to files, in one folder for each region."""
    table = to_arrow(frame)
    numbers = [n for n in np.array_split(np.arange(len(frame)), n_files) if n.size or n_files == 1]
    for number, rows in enumerate(numbers):
        for region in REGIONS:
            chosen = rows[frame["region"].to_numpy()[rows] == region]
            if chosen.size:
                path = folder / f"region={region}" / f"part-{number}.parquet"
                path.parent.mkdir(parents=True, exist_ok=True)
                parquet.write_table(table.take(chosen), path)
    return folder


@pytest.fixture(scope="session")
def case(tmp_path_factory):
    """200,000 rows in twelve files."""
    frame = make_rows(ROWS)
    return Case(make_model(), write_files(frame, tmp_path_factory.mktemp("rows")), frame)


@pytest.fixture(scope="session")
def few(tmp_path_factory):
    """2,000 rows in twelve files."""
    frame = make_rows(2000)
    return Case(make_model(), write_files(frame, tmp_path_factory.mktemp("few")), frame)


@pytest.fixture
def one_each(monkeypatch):
    """Every fragment is a task of its own: so few rows would be one task else."""
    real = _passes.bundles

    def bundles(fragments, *max_):
        return real(fragments, *max_) if max_ else [[fragment] for fragment in fragments]

    monkeypatch.setattr(_passes, "bundles", bundles)


@pytest.fixture(scope="session")
def dask_nodes(tmp_path_factory):
    with dask_cluster(tmp_path_factory.mktemp("dask")) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def ray_nodes(tmp_path_factory):
    with ray_cluster(tmp_path_factory.mktemp("ray")) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def spark_nodes(tmp_path_factory):
    """A cluster with a classic session, `.spark`, which is a Connect server as well."""
    with spark_cluster(tmp_path_factory.mktemp("spark")) as cluster, cluster.session() as spark:
        cluster.spark = spark
        yield cluster


@pytest.fixture
def write():
    return write_files
