"""What a pass says to `logging`: nothing by default, its plan and its progress at INFO."""

from __future__ import annotations

import logging
import pickle
import subprocess
import sys

import glasswood as gw
from glasswood.engines import _pass
from glasswood.engines._reduction import sum_on_workers


def test_the_plan_and_the_proof(few, caplog, tmp_path):
    with caplog.at_level(logging.DEBUG, "glasswood"):
        gw.summarize(few.model, few.folder, checkpoint=tmp_path)
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    assert {record.name.partition(".")[0] for record in caplog.records} == {"glasswood"}
    assert said[0].startswith(
        "counting 13 parts of Parquet files with 2,000 rows by threads of this process: 5 columns"
    )
    assert said[1].startswith("statistics: counts, cells")
    assert said[2].startswith("0 of 13 parts are in the checkpoint")
    assert said[3].startswith("counted 2,000 rows in ")
    assert said[3].endswith("the ledger shows each of 13 parts once")
    assert any("x0" in record.getMessage() for record in caplog.records if record.levelno == logging.DEBUG)


def test_the_progress_of_tasks(caplog):
    with caplog.at_level(logging.INFO, "glasswood"):
        sum_on_workers(list(range(100)), 2, lambda task: [task], lambda parts: parts, lambda running: running[0])
    said = [record.getMessage() for record in caplog.records]
    assert said[0] == "100 tasks on 2 cores, at most 6 at a time"
    assert [line.split(" after")[0] for line in said[1:]] == [f"{n} of 100 tasks are done" for n in range(10, 101, 10)]


def test_waves(few, caplog, monkeypatch, tmp_path):
    counted = []

    class Engine:
        @staticmethod
        def dumps(parts):
            return pickle.dumps(parts)

        @staticmethod
        def run_files(shipped, bundles, _):
            counted.append(shipped.key)
            return shipped.of_bundle([part for bundle in bundles for part in bundle])

    monkeypatch.setattr(_pass, "load_engine", lambda _: Engine)
    monkeypatch.setattr(_pass, "WAVE", 700)
    with caplog.at_level(logging.INFO, "glasswood"):
        gw.summarize(few.model, few.folder, engine="dask", checkpoint=tmp_path)
    waves = [record.getMessage() for record in caplog.records if record.getMessage().startswith("wave")]
    assert len(waves) == len(counted) > 1
    assert waves[0].startswith(f"wave 1 of {len(waves)}: ")
    assert len(set(counted)) == 1  # workers open it once for all waves


def test_nothing_is_printed_by_default(few, tmp_path):
    program = """
import sys, pickle, logging
import glasswood as gw
assert any(isinstance(handler, logging.NullHandler) for handler in logging.getLogger("glasswood").handlers)
gw.summarize(pickle.load(open(sys.argv[1], "rb")), sys.argv[2])
"""
    (tmp_path / "model").write_bytes(pickle.dumps(few.model))
    command = [sys.executable, "-c", program, tmp_path / "model", few.folder]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
