"""Shapley values of every row of files, written to files, on clusters: the cost beyond a job that copies columns.

Each engine gets two workers of one core on this machine. "copied" has the same tasks, which read the same columns and
write as many numbers; "in memory" is the time of as many rows that a table in memory takes with all cores.

Two more cases run on Spark: an executor is killed (kill -9) when half of the files are there; and so is the driver,
whose call is made again. In all cases the values of all rows are compared with those of a table in memory.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
from measure import Figure, Report, race
from pyarrow import parquet
from sklearn.ensemble import HistGradientBoostingRegressor
from streams import folder

import glasswood as gw

N_COLUMNS, N_FILES, N_WORKERS = 20, 20, 2
NAMES = [f"x{place}" for place in range(N_COLUMNS)]
BEYOND = ("<=", 1.5)
SAMPLE = 100_000  # rows whose time in memory is measured


@dataclass(frozen=True)
class Copied:
    """A question that costs nothing: its answers are the columns."""

    note: tuple[str, ...] = ("copied",)
    max_rows: int = 8192

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column."""
        return dict.fromkeys(NAMES, "number")

    def answer(self, columns: Any, first: int, last: int) -> dict[str, Any]:
        """Return the columns of some rows."""
        encoded = columns.encode(first, last)
        return {
            name: np.asarray(column, dtype=np.float64) for name, column in zip(NAMES, encoded.values(), strict=True)
        }


def made(n_rows: int, seed: int) -> dict[str, Any]:
    generator = np.random.default_rng(seed)
    return {name: generator.random(n_rows, dtype=np.float32) for name in NAMES}


def fitted() -> Any:
    X = pd.DataFrame(made(20_000, 0))
    weights = np.linspace(1, 2, N_COLUMNS)
    y = np.sin(9 * X["x0"]) + 3 * X["x1"] * X["x2"] + X.to_numpy() @ weights + (X["x3"] > 0.3) * X["x4"]
    return HistGradientBoostingRegressor(max_iter=100, max_depth=6, random_state=0).fit(X, y), X


def write(path: Path, n_rows: int) -> None:
    for number in range(N_FILES):
        rows = made(n_rows // N_FILES, number + 1)
        table = pa.table(rows | {"id": np.arange(n_rows // N_FILES) + number * (n_rows // N_FILES)})
        parquet.write_table(table, path / f"{number:03d}.parquet", row_group_size=2**17, use_dictionary=False)


@contextmanager
def threads() -> Iterator[Any]:
    """Use the threads of this process."""
    yield "threads"


@contextmanager
def dask() -> Iterator[Any]:
    """Start a cluster of two processes."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=N_WORKERS, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def ray() -> Iterator[Any]:
    """Start Ray with two cores."""
    import ray

    ray.init(address="local", num_cpus=N_WORKERS, include_dashboard=False, log_to_driver=False)
    try:
        yield "ray"
    finally:
        ray.shutdown()


@contextmanager
def spark() -> Iterator[Any]:
    """Start two executors of one core, processes of their own."""
    import pyspark
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
    builder = SparkSession.builder.master(f"local-cluster[{N_WORKERS},1,1024]").config("spark.ui.enabled", "false")
    session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()


ENGINES: dict[str, Callable[[], Any]] = {"threads": threads, "dask": dask, "ray": ray, "spark": spark}


def check(path: Path, out: Path, explainer: Any) -> None:
    """Raise an error unless all files have the values of a table in memory, in every bit, and each row once."""
    for file in sorted(path.glob("*.parquet")):
        rows = parquet.read_table(file)
        found = parquet.read_table(out / file.name).sort_by("id")
        values = np.column_stack([column.to_numpy() for column in found.select(NAMES).columns])
        expected = explainer.shap_values(rows.select(NAMES)).values
        if not found["id"].equals(rows["id"]) or not np.array_equal(values, expected):
            message = f"{out / file.name} differs from the values of a table in memory"
            raise SystemExit(message)


def measure(report: Report, engine: str) -> None:
    n_rows = 20_000 if report.quick else 10**7
    model, X = fitted()
    explainer = gw.Explainer(model, X)
    sample = pd.DataFrame(made(n_rows if report.quick else SAMPLE, 99))
    with folder() as path, ENGINES[engine]() as session:
        (path / "rows").mkdir()
        write(path / "rows", n_rows)
        values = explainer.shap_values(path / "rows", keep=["id"], engine=session)
        copied = replace(values, rows=values.rows.asking(Copied()))
        count = iter(range(1000))
        runs = {
            "copied": lambda: copied.to_parquet(path / f"copied-{next(count)}"),
            "Shapley values": lambda: values.to_parquet(path / f"shap-{next(count)}"),
            f"in memory, {len(sample):,} rows": lambda: explainer.shap_values(sample).values.shape,
        }
        laps = race(runs, report.rounds)
        for lap in laps.values():
            if lap.error:
                raise SystemExit(lap.error)
        check(path / "rows", sorted(path.glob("shap-*"))[-1], explainer)
    case = f"{engine}, {n_rows:,} rows, {N_COLUMNS} columns, 100 trees"
    report.add_times(case, laps)
    copy, ours, alone = (lap.best for lap in laps.values())
    expected = copy + alone * n_rows / len(sample)
    target = None if engine == "threads" else BEYOND
    report.add(Figure(case, "Shapley values / (copied + in memory)", ours / expected, "x", target, "all bits compared"))


def half_written(out: Path, job: Callable[[], bool]) -> None:
    """Wait until half of the files are there, or the job has ended."""
    while job() and len(list(out.glob("*.parquet"))) < N_FILES // 2:
        sleep(0.05)


def executors() -> list[psutil.Process]:
    """Return the executors of this process's Spark."""
    below = psutil.Process().children(recursive=True)
    return [process for process in below if any("CoarseGrainedExecutorBackend" in word for word in process.cmdline())]


def killed_executor(report: Report) -> None:
    n_rows = 20_000 if report.quick else 10**7
    model, X = fitted()
    explainer = gw.Explainer(model, X)
    with folder() as path, spark() as session:
        (path / "rows").mkdir()
        write(path / "rows", n_rows)
        explainer.shap_values(path / "rows" / "000.parquet", engine=session).to_parquet(path / "warm")
        killed: list[int] = []

        def kill() -> None:
            half_written(path / "out", lambda: True)
            victim = executors()[0]
            killed.append(victim.pid)
            victim.kill()

        Thread(target=kill, daemon=True).start()
        began = monotonic()
        explainer.shap_values(path / "rows", keep=["id"], engine=session).to_parquet(path / "out")
        seconds = monotonic() - began
        check(path / "rows", path / "out", explainer)
    case = f"spark, {n_rows:,} rows, an executor is killed"
    report.add(Figure(case, "Shapley values", seconds, "s", None, f"{len(killed)} executor killed; all bits compared"))


def drive(path: Path) -> None:
    """Write all values with Spark: what a driver does."""
    model, X = fitted()
    with spark() as session:
        gw.Explainer(model, X).shap_values(path / "rows", keep=["id"], engine=session).to_parquet(path / "out")


def killed_driver(report: Report) -> None:
    n_rows = 20_000 if report.quick else 10**7
    model, X = fitted()
    with folder() as path:
        (path / "rows").mkdir()
        write(path / "rows", n_rows)
        driver = multiprocessing.get_context("spawn").Process(target=drive, args=(path,))
        driver.start()
        half_written(path / "out", driver.is_alive)
        for process in [*psutil.Process(driver.pid).children(recursive=True), driver]:
            process.kill()
        driver.join()
        there = {file: file.stat().st_mtime_ns for file in (path / "out").glob("*.parquet")}
        began = monotonic()
        drive(path)
        seconds = monotonic() - began
        kept = sum(file.stat().st_mtime_ns == time for file, time in there.items())
        if not 0 < kept == len(there) < N_FILES:
            message = f"{len(there)} files were there when the driver was killed, of which {kept} were kept"
            raise SystemExit(message)
        check(path / "rows", path / "out", gw.Explainer(model, X))
    case = f"spark, {n_rows:,} rows, the driver is killed"
    note = f"{kept} of {N_FILES} files were there and were kept; all bits compared"
    report.add(Figure(case, "the second call, with the start of Spark", seconds, "s", None, note))


FAULTS = {"killed executor": killed_executor, "killed driver": killed_driver}


def main() -> None:
    report = Report(__doc__ or "", [*ENGINES, *FAULTS])
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    for case in report.cases:
        FAULTS[case](report) if case in FAULTS else measure(report, case)
    report.finish()


if __name__ == "__main__":
    main()
