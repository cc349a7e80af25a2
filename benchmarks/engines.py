"""Dask, Ray and Spark: the cost of counting beyond the same job that reads the same columns and does nothing else.

Each engine gets two workers of one core on this machine. "bare" has the same tasks, the same shapes of results and the
same way of adding them up; its tasks touch every column and return an array as large as the counts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from measure import Figure, Report, race
from streams import N_CORES, folder, touch, write_covertype

import glasswood as gw

N_WORKERS = 2
TARGET = {"dask": None, "ray": ("<=", 2), "spark": ("<=", 2)}


def add(*parts: Any) -> Any:
    return np.sum(parts, axis=0)


def bundled(path: Path) -> list[list[tuple[str, int | None]]]:
    """Return the row groups in the bundles that glasswood makes of them."""
    from glasswood.engines._pass import bundles
    from glasswood.tables._sources import open_source

    source: Any = open_source(path)
    return [[(part.path, part.row_group) for part in bundle] for bundle in bundles(source.fragments)]


Runs = dict[str, Callable[[], Any]]


@dataclass(frozen=True)
class Scan:
    """What is read: files, the columns of them that the model uses, and how many counts there are."""

    ensemble: Any
    path: Path
    columns: list[str]
    n_counts: int

    def touch_bundle(self, bundle: list[tuple[str, int]]) -> Any:
        """Read some row groups of files."""
        return add(*(touch(file, group, self.columns, self.n_counts) for file, group in bundle))

    def touch_arrays(self, arrays: Iterable[Any], n_rows: int) -> Any:
        """Touch columns that somebody else has read."""
        sums = np.zeros(self.n_counts, dtype=np.int64)
        for k, array in enumerate(arrays):
            sums[k] += int(array[0])
        sums[-1] += n_rows
        return sums

    def touch_frame(self, frame: Any) -> Any:
        """Touch the columns of a pandas frame."""
        return self.touch_arrays((frame[name].to_numpy() for name in frame.columns), len(frame))

    def touch_batch(self, batch: Any) -> Any:
        """Touch the columns of an Arrow table or batch."""
        return self.touch_arrays((column.to_numpy() for column in batch.columns), batch.num_rows)


@contextmanager
def dask(scan: Scan) -> Iterator[Runs]:
    """Start a cluster of two processes."""
    import dask.dataframe as dd
    from dask import compute, delayed
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=N_WORKERS, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as c,
    ):

        def bare_files() -> Any:
            parts = [c.submit(scan.touch_bundle, bundle, pure=False) for bundle in bundled(scan.path)]
            return c.submit(add, *parts, pure=False).result()

        def bare_frame() -> Any:
            parts = dd.read_parquet(scan.path)[scan.columns].to_delayed()
            return compute(delayed(add)(*(delayed(scan.touch_frame)(part) for part in parts)))[0]

        yield {
            "files, bare": bare_files,
            "files": lambda: gw.summarize(scan.ensemble, scan.path, engine=c),
            "frame, bare": bare_frame,
            "frame": lambda: gw.summarize(scan.ensemble, dd.read_parquet(scan.path)),
        }


@contextmanager
def ray(scan: Scan) -> Iterator[Runs]:
    """Start Ray with two cores."""
    import ray

    def bare_files() -> Any:
        task, adding = ray.remote(Scan.touch_bundle), ray.remote(add)
        return ray.get(adding.remote(*(task.remote(scan, bundle) for bundle in bundled(scan.path))))

    def bare_frame() -> Any:
        data = ray.data.read_parquet(str(scan.path)).select_columns(scan.columns)
        counted = data.map_batches(
            lambda table: {"counts": [scan.touch_batch(table).tobytes()]}, batch_format="pyarrow", batch_size=None
        )
        return add(*(np.frombuffer(row["counts"], dtype=np.int64) for row in counted.take_all()))

    ray.init(address="local", num_cpus=N_WORKERS, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    try:
        yield {
            "files, bare": bare_files,
            "files": lambda: gw.summarize(scan.ensemble, scan.path, engine="ray"),
            "frame, bare": bare_frame,
            "frame": lambda: gw.summarize(scan.ensemble, ray.data.read_parquet(str(scan.path))),
        }
    finally:
        ray.shutdown()


@contextmanager
def spark(scan: Scan) -> Iterator[Runs]:
    """Start Spark with two cores; its Python workers are processes of their own."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master(f"local[{N_WORKERS}]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "3g").config("spark.ui.showConsoleProgress", "false")
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    bundles = bundled(scan.path)

    def bare_files() -> Any:
        def work(batches: Any) -> Any:
            for batch in batches:
                yield from (row(scan.touch_bundle(bundles[number])) for number in batch.column(0).to_pylist())

        return sum_up(session.range(0, len(bundles), 1, len(bundles)).mapInArrow(work, "counts binary"))

    def bare_frame() -> Any:
        def work(batches: Any) -> Any:
            yield row(add(np.zeros(scan.n_counts, dtype=np.int64), *map(scan.touch_batch, batches)))

        frame = session.read.parquet(str(scan.path)).select(*scan.columns)
        return sum_up(frame.mapInArrow(work, "counts binary"))

    try:
        yield {
            "files, bare": bare_files,
            "files": lambda: gw.summarize(scan.ensemble, scan.path, engine=session),
            "frame, bare": bare_frame,
            "frame": lambda: gw.summarize(scan.ensemble, session.read.parquet(str(scan.path))),
        }
    finally:
        session.stop()


def row(sums: Any) -> Any:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([pa.array([sums.tobytes()])], names=["counts"])


def sum_up(frame: Any) -> Any:
    """Return the sum of the arrays in a Spark frame, added up by one task."""

    def work(batches: Any) -> Any:
        arrays = (np.frombuffer(counts, dtype=np.int64) for b in batches for counts in b.column(0).to_pylist())
        yield row(reduce(np.add, arrays))

    found = frame.repartition(1).mapInArrow(work, "counts binary").collect()
    return np.frombuffer(found[0]["counts"], dtype=np.int64)


ENGINES = {"dask": dask, "ray": ray, "spark": spark}


def measure(report: Report, engine: str) -> None:
    with folder() as path:
        ensemble, n_rows = write_covertype(path, 20_000 if report.quick else 10**7)
        columns = [ensemble.feature_names[f] for f in ensemble.used_features]
        expected = gw.summarize(ensemble, path)
        with ENGINES[engine](Scan(ensemble, path, columns, expected.counts.size)) as runs:
            laps = race(runs, report.rounds)
    case = f"{engine}, {n_rows:,} rows, {len(columns)} columns, {ensemble.n_trees} trees"
    report.add_times(case, laps)
    for way in ("files", "frame"):
        bare, ours = laps[f"{way}, bare"], laps[way]
        if ours.result != expected or int(bare.result[-1]) < n_rows:
            message = f"{engine}, {way}: not the counts of all rows: {ours.error or bare.error or ours.result}"
            raise SystemExit(message)
        report.add(Figure(case, f"{way}: counting / bare", ours.best / bare.best, "x", TARGET[engine]))
        report.add(Figure(case, f"{way}: million rows per second and core", n_rows / ours.best / N_CORES / 1e6, ""))


def main() -> None:
    report = Report(__doc__ or "", ENGINES)
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)  # where workers find this file's neighbours
    for engine in report.cases:
        measure(report, engine)
    report.finish()


if __name__ == "__main__":
    main()
