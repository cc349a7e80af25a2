"""What the driver sends: opened once per process, and only by workers whose versions fit."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import cloudpickle
import numpy as np
import pandas as pd
import pytest

import glasswood as gw
from glasswood.counting import _job, _shipped
from glasswood.counting._job import Job, count_tables
from glasswood.counting._partial import Partial
from glasswood.counting._row_job import ShippedRows
from glasswood.engines._reduction import own_errors
from glasswood.parallel._lazy import Recent

TREE = {
    "feature": [0, -1, 1, -1, -1],
    "cut": [0.0] * 5,
    "left": [1, -1, 3, -1, -1],
    "right": [2, -1, 4, -1, -1],
    "value": [0.0, 1, 0, 4, 5],
}


@pytest.fixture(autouse=True)
def _nothing_opened():
    _shipped._made.clear()


@pytest.fixture
def job():
    return Job(gw.read_trees([TREE], ["a", "b"]), 1, {}, {0: "a", 1: "b"})


@pytest.fixture
def table():
    return pd.DataFrame(np.random.default_rng(0).normal(size=(100, 2)), columns=["a", "b"])


def test_many_tasks_of_many_threads_open_it_once(job, table, monkeypatch):
    opened, planned, counters = [], [], []
    loads, init, counter = pickle.loads, _job.CountPlan.__init__, _job.Counter.__init__

    def noted(where, call):
        return lambda *args, **more: (where.append(threading.get_ident()), call(*args, **more))[1]

    packed = pickle.dumps(job.ship())
    monkeypatch.setattr(_shipped.pickle, "loads", noted(opened, loads))
    monkeypatch.setattr(_job.CountPlan, "__init__", noted(planned, init))
    monkeypatch.setattr(_job.Counter, "__init__", noted(counters, counter))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: count_tables(loads(packed), [table], str(n)), range(64)))
    assert (len(opened), len(planned), len(counters)) == (1, 1, 1)
    assert {part.rows[key] for part in (Partial.unpack(one)[0] for one in found) for key in part.rows} == {100}


def test_the_latest_values_are_kept():
    made, recent = [], Recent(2)
    for key in "aabacacbb":
        assert recent.get(key, lambda key=key: made.append(key) or key) == key
    assert made == ["a", "b", "c", "b"]

    def fail():
        message = "not yet"
        raise ValueError(message)

    with pytest.raises(ValueError, match="not yet"):
        recent.get("d", fail)


def test_other_versions_of_glasswood_are_refused_before_anything_is_opened(job, monkeypatch):
    shipped = job.ship()
    monkeypatch.setattr(gw, "__version__", "9.9")
    monkeypatch.setattr(_shipped.pickle, "loads", lambda _: pytest.fail("it was opened"))
    message = (
        r"the driver has glasswood 0\.1\.0 and a worker has glasswood 9\.9; .* install glasswood 0\.1\.0 on all work"
    )
    with pytest.raises(gw.errors.WorkerVersionError, match=message):
        shipped.open()


@pytest.mark.parametrize("by_value", [True, False])
def test_functions_need_the_same_minor_version_of_python(by_value, monkeypatch):
    shipped = ShippedRows.of((lambda: 5) if by_value else len, cloudpickle.dumps)
    monkeypatch.setattr(_shipped.platform, "python_version", lambda: "3.99.1")
    if by_value:
        with pytest.raises(gw.errors.WorkerVersionError, match=r"and a worker has Python 3\.99; "):
            shipped.made(lambda function: function)
    else:
        assert shipped.made(lambda function: function) is len


def test_what_fails_to_open_names_both_versions(job, monkeypatch):
    shipped = job.ship()

    def fail(_):
        message = "No module named 'numpy._core'"
        raise ModuleNotFoundError(message)

    monkeypatch.setattr(_shipped.pickle, "loads", fail)
    with pytest.raises(gw.errors.UnsupportedModelError, match="a worker cannot import what the model needs"):
        shipped.open()
    monkeypatch.setattr(_shipped.np, "__version__", "1.26.0")
    with pytest.raises(gw.errors.WorkerVersionError, match=rf"numpy\._core.* NumPy {np.version.version} and 1\.26\.0"):
        shipped.open()


WORKER = """
import pickle, sys
import glasswood
glasswood.__version__ = "0.0.9"
from glasswood.counting._job import count_tables
count_tables(pickle.loads(open(sys.argv[1], "rb").read()), [], "0")
"""


def test_another_process_of_another_version(job, tmp_path):
    (tmp_path / "job").write_bytes(pickle.dumps(job.ship()))
    command = [sys.executable, "-c", WORKER, tmp_path / "job"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    with pytest.raises(gw.errors.WorkerVersionError, match=r"a worker has glasswood 0\.0\.9"), own_errors(RuntimeError):
        raise RuntimeError(done.stderr)  # as engines tell it to the driver
