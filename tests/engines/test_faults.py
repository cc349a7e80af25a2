"""kill -9 of a worker and of a node, mid-run, on every engine: the job ends, and all numbers are the same in every bit.

Several statistics are taken in one pass: leaf counts, rows per cell, ends of columns, and sums of responses.

CI kills each kind of process once. The long forms kill at random times, several times in a run, and workers and nodes
together: `pytest -m slow tests/engines`.
"""

from __future__ import annotations

import pickle
import random
import sys
import time
from contextlib import ExitStack

import pytest

import glasswood as gw
from glasswood.counting._partial import Partial
from glasswood.engines import _dask, _ray, _spark
from helpers.clusters import busy, kill, kill_node, killing, traces
from helpers.clusters_spark import SPARK_WARNINGS, spark_cluster
from helpers.clusters_tasks import slow

pytestmark = [
    pytest.mark.xdist_group("engines"),
    pytest.mark.usefixtures("one_each"),
    pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning"),  # Dask's reader's
    *[pytest.mark.filterwarnings(warning) for warning in SPARK_WARNINGS],
]

PAUSE = 0.4  # seconds that a task takes longer than it needs


@pytest.fixture
def began(tmp_path, monkeypatch):
    """The folder in which tasks leave traces: all counting is slowed down."""
    return slow_down(tmp_path, monkeypatch, PAUSE)


@pytest.fixture
def began_slowly(tmp_path, monkeypatch):
    """The same, with more time for kills."""
    return slow_down(tmp_path, monkeypatch, 4 * PAUSE)


def slow_down(tmp_path, monkeypatch, pause):
    folder = tmp_path / "traces"
    folder.mkdir()
    for engine in (_dask, _spark):
        monkeypatch.setattr(engine, "_result_of_bundle", slow(engine._result_of_bundle, folder, pause))
        monkeypatch.setattr(engine, "_result_of_tables", slow(engine._result_of_tables, folder, pause))
    monkeypatch.setattr(_ray, "_result_of_bundle", slow(_ray._result_of_bundle, folder, pause))
    return folder


def survives(few, began, pids, how=kill, **options):
    """Kill the process that runs the third task, or its node, and compare the counts."""
    source = options.pop("source", few.folder)
    with killing(lambda: busy(pids(), began), lambda: len(traces(began)) > 2, how):
        assert gw.summarize(few.model, source, response="raw", **options) == few.expected(response="raw")
    return run_again(began)


def run_again(began):
    """How many tasks began that had begun before."""
    return len(traces(began)) - len({task for task, _ in traces(began)})


def test_dask_worker(few, began, dask_nodes):
    dask_nodes.repair()
    assert survives(few, began, dask_nodes.worker_pids, engine=dask_nodes.client) >= 1


def test_dask_node_under_a_frame(few, began, dask_nodes):
    import dask.dataframe as dd

    dask_nodes.repair()
    frame = dd.read_parquet(few.folder)
    assert survives(few, began, dask_nodes.nanny_pids, kill_node, source=frame, engine=dask_nodes.client) >= 1
    assert len(dask_nodes.nanny_pids()) == 1


def test_ray_worker(few, began, ray_nodes):
    ray_nodes.repair()
    assert survives(few, began, ray_nodes.task_worker_pids, engine="ray") >= 1


def test_spark_python_worker(few, began, spark_nodes):
    spark_nodes.repair()
    assert survives(few, began, spark_nodes.python_worker_pids, engine=spark_nodes.spark) >= 1


def test_spark_executor_under_a_frame(few, began, spark_nodes):
    spark_nodes.repair()
    frame = spark_nodes.spark.read.parquet(str(few.folder)).repartition(8)
    assert survives(few, began, spark_nodes.executor_pids, source=frame) >= 1


def test_spark_node_under_connect(few, began, spark_nodes):
    spark_nodes.repair()
    with spark_nodes.connect_session() as session:
        assert survives(few, began, spark_nodes.worker_daemon_pids, kill_node, engine=session) >= 1
    assert len(spark_nodes.worker_daemon_pids()) == 1


def test_ray_node(few, began_slowly, ray_nodes):
    ray_nodes.repair()
    assert survives(few, began_slowly, ray_nodes.raylet_pids, kill_node, engine="ray") >= 1
    assert ray_nodes.raylet_pids() == []


DRIVER = """
import pickle, sys
from pathlib import Path
from distributed import Client
import glasswood as gw
from helpers.clusters_tasks import slow
from glasswood.engines import _pass as _passes
from glasswood.engines import _dask

address, model, rows, saved, traces = sys.argv[1:]
_passes.waves = lambda fragments: [fragments[at:at + 2] for at in range(0, len(fragments), 2)]
_dask._result_of_bundle = slow(_dask._result_of_bundle, traces, 0.3)
with Client(address) as client:
    gw.summarize(pickle.loads(Path(model).read_bytes()), rows, response="raw", engine=client, checkpoint=saved)
"""


def saved_fragments(folder):
    """How many fragments a checkpoint has counted."""
    return sum(Partial.unpack(path.read_bytes())[0].n_fragments for path in folder.glob("*.partial"))


def test_a_killed_driver_goes_on_where_it_was(few, began, dask_nodes, tmp_path):
    """The workers are still there, the driver and its job are not: the same call counts what is left."""
    dask_nodes.repair()
    before, saved, model = tmp_path / "before", tmp_path / "saved", tmp_path / "model"
    before.mkdir()
    model.write_bytes(pickle.dumps(few.model))
    places = [str(path) for path in (model, few.folder, saved, before)]
    driver = dask_nodes.processes.start("driver", [sys.executable, "-c", DRIVER, dask_nodes.address, *places])
    dask_nodes.processes.wait("a checkpoint", lambda: saved_fragments(saved) >= 2)
    kill(driver.pid)
    counted = saved_fragments(saved)
    assert 2 <= counted < len(few.paths)
    found = gw.summarize(few.model, few.folder, response="raw", engine=dask_nodes.client, checkpoint=saved)
    assert found == few.expected(response="raw")
    assert len(traces(began)) == len(few.paths) - counted


def survives_all(case, began, seed, kills, source=None, engine="auto"):
    """Kill a process of each kind, in this order, at random times of one run, and compare the counts."""
    chance = random.Random(seed)
    began_at = time.monotonic()
    with ExitStack() as stack:
        for number, (pids, how) in enumerate(kills):
            due = began_at + chance.uniform(0, 1)

            def is_time(number=number, due=due):
                return len(traces(began)) > 2 + 3 * number and time.monotonic() > due

            stack.enter_context(killing(lambda pids=pids: busy(pids(), began), is_time, how))
        found = gw.summarize(case.model, case.folder if source is None else source, response="raw", engine=engine)
    assert found == case.expected(response="raw")
    assert run_again(began) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["files", "frame"])
def test_dask_worker_and_node(case, began_slowly, dask_nodes, kind, seed):
    """`pytest -m slow tests/engines`."""
    import dask.dataframe as dd

    dask_nodes.repair()
    source = dd.read_parquet(case.folder) if kind == "frame" else None
    kills = [(dask_nodes.worker_pids, kill), (dask_nodes.nanny_pids, kill_node)]
    survives_all(case, began_slowly, seed, kills, source, dask_nodes.client)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_ray_worker_and_node(case, began_slowly, ray_nodes, seed):
    """`pytest -m slow tests/engines`."""
    ray_nodes.repair()
    kills = [(ray_nodes.task_worker_pids, kill), (ray_nodes.raylet_pids, kill_node)]
    survives_all(case, began_slowly, seed, kills, engine="ray")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["files", "frame"])
def test_spark_worker_executor_and_node(case, began_slowly, spark_nodes, kind, seed):
    """`pytest -m slow tests/engines`."""
    spark_nodes.repair()
    source = spark_nodes.spark.read.parquet(str(case.folder)).repartition(12) if kind == "frame" else None
    kills = [(spark_nodes.python_worker_pids, kill), (spark_nodes.worker_daemon_pids, kill_node)]
    survives_all(case, began_slowly, seed, kills, source, spark_nodes.spark)


@pytest.mark.slow
def test_spark_connect_server_of_its_own(case, began_slowly, tmp_path):
    """`pytest -m slow tests/engines`."""
    with spark_cluster(tmp_path / "spark") as cluster, cluster.connect_session() as session:
        kills = [(cluster.python_worker_pids, kill), (cluster.executor_pids, kill)]
        survives_all(case, began_slowly, 0, kills, engine=session)
