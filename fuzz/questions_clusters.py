"""Questions to clusters: Dask, Ray and Spark count what one thread counts. They are asked on request only.

A cluster of two processes is started by the first question, and ends with the process.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import glasswood as gw
from fuzz.questions_sources import can_count, named, write
from fuzz.session import Session

__all__ = ["QUESTIONS"]


def dask(s: Session) -> None:
    """A Dask DataFrame, and files read by its workers."""
    import dask.dataframe

    _ask(s, _dask(), lambda path: dask.dataframe.read_parquet(path))


def ray(s: Session) -> None:
    """A Ray Dataset, and files read by its workers."""
    import ray.data

    _start_ray()
    _ask(s, "ray", ray.data.read_parquet)


def spark(s: Session) -> None:
    """A Spark DataFrame, and files read by its workers."""
    session = _spark()
    _ask(s, session, session.read.parquet)


def _ask(s: Session, engine: Any, read: Callable[[str], Any]) -> None:
    """Compare the counts of files and of a frame with those of the same rows in memory; with weights, and by groups."""
    rows = named(s)
    if not can_count(s) or not len(rows) or len(set(map(str.lower, rows))) < rows.shape[1]:
        return
    keys = s.rng.choice(["a", "b"], size=len(rows))
    frame = rows.assign(**{"the key": keys, "the weight": s.rng.integers(0, 4, size=len(rows))})
    folder = _parts(s, frame)
    for what, settings in (
        ("counts", {"order": int(s.rng.integers(1, 4))}),
        ("counts with weights", {"sample_weight": "the weight"}),
        ("groups", {"by": "the key"}),
    ):
        settings = settings | {"groups": s.setting.groups}
        want = gw.summarize(s.setting.fitted.model, frame, **settings)
        found = gw.summarize(s.setting.fitted.model, folder, engine=engine, **settings)
        s.true(f"{what} of files", found == want, f"{found} and {want}")
        found = gw.summarize(s.setting.fitted.model, read(folder), **settings)
        s.true(f"{what} of a frame", found == want, f"{found} and {want}")


def _parts(s: Session, frame: pd.DataFrame) -> str:
    """Write rows as files of any length, and return their folder."""
    bounds = np.unique([0, *s.rng.integers(0, len(frame), size=2), len(frame)])
    for number, (first, last) in enumerate(pairwise(bounds)):
        write(s, frame[first:last].reset_index(drop=True), f"cluster/{number}.parquet")
    return str(Path(s.case["folder"]) / "cluster")


@cache
def _dask() -> Any:
    from distributed import Client, LocalCluster

    return Client(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"))


@cache
def _start_ray() -> None:
    import ray

    ray.init(address="local", num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False


@cache
def _spark() -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"], os.environ["SPARK_LOCAL_IP"] = sys.executable, "127.0.0.1"
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    return session


QUESTIONS = (dask, ray, spark)
