"""The clusters of the other tests in this folder: they are real, survive a killed worker, and leave nothing behind."""

from __future__ import annotations

import sys
import time

import psutil
import pytest

from helpers.clusters import (
    ClusterError,
    Processes,
    busy,
    dask_cluster,
    is_alive,
    kill_node,
    killing,
    leave_trace,
    running,
    traces,
)
from helpers.clusters_ray import ray_cluster
from helpers.clusters_spark import SPARK_WARNINGS, spark_cluster

pytestmark = [
    pytest.mark.xdist_group("engines"),
    *[pytest.mark.filterwarnings(warning) for warning in SPARK_WARNINGS],
]

N_TASKS = 12
TOTAL = sum(range(N_TASKS))


def task(folder, i):
    """Return i, after leaving a trace and some time to be killed in."""
    leave_trace(folder, i)
    time.sleep(0.4)
    return i


def on_batches(folder):
    """The same task for Spark: a batch holds one number."""

    def run(batches):
        for batch in batches:
            for i in batch.column(0).to_pylist():
                task(folder, i)
            yield batch

    return run


def on_dask(client, folder):
    return sum(client.gather(client.map(task, [str(folder)] * N_TASKS, range(N_TASKS), pure=False)))


def on_ray(folder):
    import ray

    remote = ray.remote(num_cpus=1, scheduling_strategy="SPREAD")(task)
    return sum(ray.get([remote.remote(str(folder), i) for i in range(N_TASKS)]))


def on_spark(spark, folder):
    numbers = spark.range(0, N_TASKS, 1, N_TASKS)
    return sum(row.id for row in numbers.mapInArrow(on_batches(str(folder)), "id long").collect())


@pytest.fixture
def survives(tmp_path):
    """A function that runs a job while a process is killed, and compares the result with the one expected."""

    def survives(job, pids, **how):
        folder = tmp_path / f"traces-{time.monotonic_ns()}"
        folder.mkdir()
        with killing(lambda: busy(pids(), folder), lambda: len(traces(folder)) > 2, **how):
            assert job(folder) == TOTAL
        began = [i for i, _ in traces(folder)]
        assert set(began) == set(range(N_TASKS))
        return len(began) - N_TASKS

    return survives


def assert_gone(processes):
    assert processes
    assert [process for process in processes if is_alive(process)] == []


@pytest.mark.slow  # the short form is in `test_faults`
def test_dask(tmp_path, survives):
    with dask_cluster(tmp_path / "dask") as cluster:
        assert len(cluster.worker_pids()) == len(cluster.nanny_pids()) == 2
        assert survives(lambda folder: on_dask(cluster.client, folder), cluster.worker_pids) >= 1
        survives(lambda folder: on_dask(cluster.client, folder), cluster.nanny_pids, how=kill_node)
        assert len(cluster.nanny_pids()) == 1
        processes = cluster.processes.alive()
    assert_gone(processes)


@pytest.mark.slow  # the short form is in `test_faults`
def test_ray(tmp_path, survives):
    with ray_cluster(tmp_path / "ray") as cluster:
        assert len(cluster.raylet_pids()) == 1
        assert survives(on_ray, cluster.task_worker_pids) >= 1
        survives(on_ray, cluster.raylet_pids, how=kill_node)
        assert cluster.raylet_pids() == []
        processes = cluster.processes.alive()
    assert_gone(processes)


@pytest.mark.slow  # the short form is in `test_faults`
def test_spark_classic_and_connect_in_one_process(tmp_path, survives):
    from pyspark.sql import functions

    with spark_cluster(tmp_path / "spark") as cluster, cluster.session() as spark:
        assert len(cluster.executor_pids()) == len(cluster.worker_daemon_pids()) == 2
        assert survives(lambda folder: on_spark(spark, folder), cluster.executor_pids) >= 1
        with cluster.connect_session() as remote:
            assert type(remote).__module__ == "pyspark.sql.connect.session"
            assert survives(lambda folder: on_spark(remote, folder), cluster.python_worker_pids) >= 1
            assert remote.range(5).select(functions.sum("id")).first()[0] == 10
        assert spark.range(5).select(functions.sum("id")).first()[0] == 10
        processes = cluster.processes.alive()
    assert_gone(processes)


@pytest.mark.slow
def test_spark_connect_server_of_its_own(tmp_path, survives):
    with spark_cluster(tmp_path / "spark") as cluster:
        with cluster.connect_session() as spark:
            assert survives(lambda folder: on_spark(spark, folder), cluster.python_worker_pids) >= 1
            assert survives(lambda folder: on_spark(spark, folder), cluster.executor_pids) >= 1
        with cluster.session() as spark:
            survives(lambda folder: on_spark(spark, folder), cluster.worker_daemon_pids, how=kill_node)
            assert len(cluster.worker_daemon_pids()) == 1
        processes = cluster.processes.alive()
    assert_gone(processes)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_nothing_is_left_after_an_error(tmp_path, error):
    seen = []
    child = "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])"

    def fail():
        with running(tmp_path) as processes:
            processes.start("parent", [sys.executable, "-c", f"{child}; time.sleep(60)"])
            seen.extend(processes.wait("the child", lambda: len(found := processes.alive()) == 2 and found))
            raise error

    with pytest.raises(error):
        fail()
    assert_gone(seen)


@pytest.mark.parametrize("environment", ["None", "{}"], ids=["marked", "without its environment"])
def test_orphans_are_found(tmp_path, environment):
    sleep = "[sys.executable, '-c', 'import time; time.sleep(60)']"
    script = f"import subprocess, sys; subprocess.Popen({sleep}, env={environment})"
    with running(tmp_path) as processes:
        parent = processes.start("parent", [sys.executable, "-c", script])
        assert parent.wait() == 0
        orphans = processes.alive()
        assert len(orphans) == 1
        assert psutil.Process().children(recursive=True) == []
    assert_gone(orphans)


def test_a_failed_start_shows_the_log(tmp_path):
    with running(tmp_path) as processes:
        processes.start("broken", [sys.executable, "-c", "raise SystemExit('no memory left')"])
        with pytest.raises(ClusterError, match=r"broken ended while waiting for a miracle.*[\s\S]*no memory left"):
            processes.wait("a miracle", lambda: False)


def test_a_start_that_takes_too_long_shows_the_log(tmp_path):
    with running(tmp_path) as processes:
        processes.start("slow", [sys.executable, "-uc", "print('thinking'); import time; time.sleep(60)"])
        processes.wait("its log", (tmp_path / "slow.log").read_text)
        with pytest.raises(ClusterError, match=r"a miracle: not after 0 s[\s\S]*thinking"):
            processes.wait("a miracle", lambda: False, patience=0.2)


def test_killing_too_late_is_an_error():
    with pytest.raises(ClusterError, match="before anything could be killed"), killing(list, lambda: True):
        pass


def test_children_do_not_inherit_other_clusters(tmp_path, monkeypatch):
    for name in ["RAY_ADDRESS", "SPARK_REMOTE", "DASK_SCHEDULER_ADDRESS", "PYSPARK_SUBMIT_ARGS"]:
        monkeypatch.setenv(name, "elsewhere")
    assert "elsewhere" not in Processes(tmp_path).environment().values()
