"""Tasks that are run again do not count again: each pattern that counts rows twice elsewhere, and what it does here."""

from __future__ import annotations

import dask
import numpy as np
import pytest
from pyarrow import parquet

import glasswood as gw
from glasswood.counting._job import count_fragments
from glasswood.counting._partial import Partial, add_packed
from glasswood.counting._plan import make_plan
from glasswood.engines import _dask, _ray, _rows, _spark
from glasswood.engines._pass import Pass, verify
from glasswood.errors import BackgroundError
from glasswood.tables._sources import open_source
from helpers.clusters import traces
from helpers.clusters_spark import SPARK_WARNINGS, spark_cluster
from helpers.clusters_tasks import add_in_place, die, fail, once, slow

pytestmark = [
    pytest.mark.xdist_group("engines"),
    pytest.mark.usefixtures("one_each"),
    *[pytest.mark.filterwarnings(warning) for warning in SPARK_WARNINGS],
]

TWICE = "parts of the data to be counted exactly once each, but the ledger shows"


@pytest.fixture
def shipped(few):
    """What workers get, the fragments, and their digests."""
    source = open_source(few.folder)
    plan = make_plan(gw.read_model(few.model, source.head), 1, None)
    return Pass(source)._job(plan, None, None).ship(), source.fragments, [part.digest for part in source.fragments]


@pytest.mark.parametrize("function", ["_result_of_bundle", "_add"])
def test_dask_runs_a_failed_task_again(dask_nodes, few, function, tmp_path, monkeypatch):
    monkeypatch.setattr(_dask, function, once(getattr(_dask, function), tmp_path / "failed", fail))
    with dask.annotate(retries=2):
        assert gw.summarize(few.model, few.folder, engine=dask_nodes.client) == few.expected()
    assert (tmp_path / "failed").exists()


def test_dask_without_retries_says_what_failed(dask_nodes, few, tmp_path, monkeypatch):
    monkeypatch.setattr(_dask, "_add", once(_dask._add, tmp_path / "failed", fail))
    with pytest.raises(OSError, match="on purpose"):
        gw.summarize(few.model, few.folder, engine=dask_nodes.client)


def test_a_reducer_that_adds_in_place_is_caught(dask_nodes, few, tmp_path, monkeypatch):
    """What it added before it failed stays where it is, and is added again."""
    monkeypatch.setattr(_dask, "_add", once(add_in_place(_dask._add, tmp_path), tmp_path / "failed", fail))
    with dask.annotate(retries=2), pytest.raises(BackgroundError, match=TWICE):
        gw.summarize(few.model, few.folder, engine=dask_nodes.client)


@pytest.mark.parametrize("function", ["_result_of_bundle", "_add"])
def test_ray_runs_a_killed_task_again(ray_nodes, few, function, tmp_path, monkeypatch):
    monkeypatch.setattr(_ray, function, once(getattr(_ray, function), tmp_path / "died", die))
    assert gw.summarize(few.model, few.folder, engine="ray") == few.expected()
    assert (tmp_path / "died").exists()


def test_an_accumulator_is_caught(ray_nodes, shipped, tmp_path):
    """Tasks that add into an actor, one of which dies after that: the actor has its counts twice."""
    import ray

    job, fragments, digests = shipped

    @ray.remote(num_cpus=0)
    class Accumulator:
        def __init__(self):
            self.sum = Partial().pack()

        def add(self, packed):
            self.sum = add_packed(self.sum, packed)

        def get(self):
            return self.sum

    actor = Accumulator.remote()

    def count(fragment):
        ray.get(actor.add.remote(count_fragments(job, [fragment])))

    task = ray.remote(once(count, tmp_path / "died", die))
    ray.get([task.remote(fragment) for fragment in fragments])
    found = Partial.unpack(ray.get(actor.get.remote()))[0]
    assert found.n_fragments == len(fragments) + 1
    with pytest.raises(BackgroundError, match=TWICE):
        verify(found, digests)


@pytest.mark.parametrize("then", [fail, die], ids=["failed", "killed"])
def test_spark_runs_a_task_again(spark_nodes, few, then, tmp_path, monkeypatch):
    monkeypatch.setattr(_spark, "_result_of_bundle", once(_spark._result_of_bundle, tmp_path / "1", then))
    monkeypatch.setattr(_spark, "_result_of_tables", once(_spark._result_of_tables, tmp_path / "2", then))
    assert gw.summarize(few.model, few.folder, engine=spark_nodes.spark) == few.expected()
    assert gw.summarize(few.model, spark_nodes.spark.read.parquet(str(few.folder))) == few.expected()
    assert len(list(tmp_path.iterdir())) == 2


def test_a_second_action_counts_nothing_twice(spark_nodes, few):
    """Of a frame that Spark keeps, computed by another action before, and by two passes."""
    frame = spark_nodes.spark.read.parquet(str(few.folder)).repartition(5).cache()
    assert frame.count() == len(few.frame)
    assert gw.summarize(few.model, frame) == gw.summarize(few.model, frame) == few.expected()
    frame.unpersist()


def test_a_partition_that_comes_twice_is_caught(spark_nodes, few, monkeypatch):
    real = _spark._rows_of

    def twice(*arguments):
        yield from real(*arguments)
        yield from real(*arguments)

    monkeypatch.setattr(_spark, "_rows_of", twice)
    for source, engine in [(few.folder, spark_nodes.spark), (spark_nodes.spark.read.parquet(str(few.folder)), "auto")]:
        with pytest.raises(BackgroundError, match=TWICE):
            gw.summarize(few.model, source, engine=engine)


@pytest.mark.slow
def test_speculative_copies_count_nothing_twice(few, tmp_path, monkeypatch):
    """The slowest task is begun once more elsewhere, as Spark thinks that it hangs: `pytest -m slow tests/engines`."""
    folder = tmp_path / "traces"
    folder.mkdir()
    monkeypatch.setattr(_spark, "_result_of_bundle", slow(_spark._result_of_bundle, folder, 0.2, slowest=0))
    speculation = {"speculation": "true", "speculation__interval": "100ms", "speculation__multiplier": "1.5"}
    speculation |= {"speculation__quantile": "0.5", "speculation__minTaskRuntime": "100ms"}
    options = {f"spark__{name}": value for name, value in speculation.items()}
    with spark_cluster(tmp_path / "spark") as cluster, cluster.connect_session(**options) as spark:
        assert gw.summarize(few.model, few.folder, engine=spark) == few.expected()
        n_begun = len(traces(folder))
        assert n_begun > len(few.paths)
        monkeypatch.setattr(_rows, "ROWS_PER_TASK", 1)
        names = ["x0", "x1", "x2", "x3", "colour", "flag"]
        explainer = gw.Explainer(few.model, few.frame[names])
        explainer.shap_values(few.folder, keep=["unused"], engine=spark).to_parquet(tmp_path / "out")
        assert len(traces(folder)) - n_begun > len(few.paths)
    found = parquet.read_table(tmp_path / "out", partitioning=None).sort_by("unused")
    assert found["unused"].to_pylist() == list(range(len(few.frame)))
    assert np.array_equal(found.select(names).to_pandas(), explainer.shap_values(few.frame[names]).values)
