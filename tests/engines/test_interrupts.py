"""Ctrl-C in a driver that lives on, as a notebook does: the call ends within seconds, and so do its tasks."""

from __future__ import annotations

import json
import pickle
import signal
import sys
import time

import pytest

from helpers.clusters import LOOPBACK, running
from helpers.clusters_spark import SPARK_WARNINGS

pytestmark = [
    pytest.mark.xdist_group("engines"),
    *[pytest.mark.filterwarnings(warning) for warning in SPARK_WARNINGS],
]

DRIVER = """
import json, logging, pickle, sys, time
from pathlib import Path
import glasswood as gw
from glasswood.engines import _pass
from helpers.clusters_tasks import lasting

kind, address, model, rows, beats, reported = sys.argv[1:]
_pass.bundles = lambda fragments, *_: [[fragment] for fragment in fragments]
logging.basicConfig(level=logging.INFO)

def begin():
    if kind == "dask":
        from distributed import Client
        from glasswood.engines import _dask
        _dask._result_of_bundle = lasting(_dask._result_of_bundle, beats, 60)
        return Client(address)
    if kind == "ray":
        import ray
        from glasswood.engines import _ray
        _ray._result_of_bundle = lasting(_ray._result_of_bundle, beats, 60)
        ray.init(address=address, log_to_driver=False)
        return "ray"
    from glasswood.engines import _spark
    _spark._result_of_bundle = lasting(_spark._result_of_bundle, beats, 60)
    if kind == "connect":
        from pyspark.sql.connect.session import SparkSession
        return SparkSession.builder.remote(address).create()
    from pyspark.sql import SparkSession
    return SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()

engine = begin()
try:
    gw.summarize(pickle.loads(Path(model).read_bytes()), rows, engine=engine)
except KeyboardInterrupt:
    Path(reported).write_text(json.dumps({"at": time.monotonic()}))
    time.sleep(300)  # as a notebook goes on
"""


def beating(folder, seconds=0.5):
    """The processes whose tasks touched their files a moment ago."""
    now = time.time()
    return [path.name for path in folder.iterdir() if now - path.stat().st_mtime < seconds]


def interrupt(kind, address, processes, few, tmp_path, **environment):
    """Start a pass in another process, press Ctrl-C there, and return the seconds until it ends and its tasks do."""
    model, beats, reported = tmp_path / "model", tmp_path / "beats", tmp_path / "reported"
    model.write_bytes(pickle.dumps(few.model))
    beats.mkdir()
    places = [str(path) for path in (model, few.folder, beats, reported)]
    driver = processes.start("driver", [sys.executable, "-c", DRIVER, kind, address, *places], **environment)
    try:
        processes.wait("the first tasks", lambda: len(beating(beats)) >= 1)
        pressed, clock = time.monotonic(), time.time()
        driver.send_signal(signal.SIGINT)
        processes.wait("the end of the pass", reported.exists, 30)
        reported_at = json.loads(reported.read_text())["at"]
        processes.wait("the end of all tasks", lambda: not beating(beats, 3), 30)
        last = max(path.stat().st_mtime for path in beats.iterdir())
        time.sleep(2)  # queued tasks do not begin either
        assert beating(beats, 1.9) == []
    finally:
        processes.end("driver")
    seconds = {"driver": reported_at - pressed, "tasks": last - clock}
    sys.stdout.write(f"{kind}: {seconds}\n")  # shown with pytest -s
    return seconds


def check(seconds):
    assert seconds["driver"] < 8
    assert seconds["tasks"] < 10


def test_dask(few, dask_nodes, tmp_path):
    dask_nodes.repair()
    check(interrupt("dask", dask_nodes.address, dask_nodes.processes, few, tmp_path))


def test_ray(few, ray_nodes, tmp_path):
    ray_nodes.repair()
    check(interrupt("ray", ray_nodes.address, ray_nodes.processes, few, tmp_path, **ray_nodes.environment()))


def test_spark(few, tmp_path):
    with running(tmp_path / "spark") as processes:
        check(interrupt("spark", "local", processes, few, tmp_path))


@pytest.mark.slow
def test_spark_connect(few, spark_nodes, tmp_path):
    spark_nodes.repair()
    with spark_nodes.connect_session():
        address = f"sc://{LOOPBACK}:{spark_nodes.connect_port}"
        check(interrupt("connect", address, spark_nodes.processes, few, tmp_path))
