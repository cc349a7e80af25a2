"""Parquet larger than memory, on one machine: speed, memory, growth, groups, and the cost beyond a bare scan."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from data import covertype
from measure import MEGABYTE, Figure, Report, in_fresh_process, memory, race
from pyarrow import parquet
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw

N_COLUMNS = 10
ROW_GROUP = 500_000
N_CORES = len(os.sched_getaffinity(0))


@contextmanager
def folder() -> Iterator[Path]:
    """Give a folder for files that are made on the spot, and remove it with all of them."""
    path = Path(tempfile.mkdtemp(prefix="glasswood-benchmark-"))
    try:
        yield path
    finally:
        shutil.rmtree(path)


def write_made(path: Path, n_rows: int, n_groups: int = 0) -> None:
    """Write rows of 10 columns of float64, four million to a file, and perhaps a column of groups."""
    rng = np.random.default_rng(n_rows)
    for start in range(0, n_rows, 8 * ROW_GROUP):
        n_here = min(8 * ROW_GROUP, n_rows - start)
        columns: dict[str, Any] = {f"x{k}": rng.random(n_here) for k in range(N_COLUMNS)}
        if n_groups:
            columns["shop"] = rng.integers(0, n_groups, n_here)
        table = pa.table(columns)
        parquet.write_table(table, path / f"{start:012}.parquet", row_group_size=ROW_GROUP, use_dictionary=["shop"])


def fitted_on_made(n_trees: int) -> Any:
    values = np.random.default_rng(0).random((20_000, N_COLUMNS))
    X = pd.DataFrame(values, columns=[f"x{k}" for k in range(N_COLUMNS)])
    y = np.sin(9 * X["x0"]) + 3 * X["x1"] * X["x2"] + values @ np.linspace(1, 2, N_COLUMNS) + (X["x3"] > 0.3) * X["x4"]
    model = HistGradientBoostingRegressor(max_iter=n_trees, max_depth=6, max_leaf_nodes=None, random_state=0)
    return gw.read_model(model.fit(X, y))


def summarized(ensemble: Any, path: Path, options: dict[str, Any]) -> tuple[float, int, int]:
    """Return the seconds that a pass takes, the process's memory at its peak in bytes, and the rows."""
    first = sorted(path.glob("*.parquet"))[0]
    few = next(parquet.ParquetFile(first).iter_batches(5000))
    gw.summarize(ensemble, pa.Table.from_batches([few]), **options)  # loads what is imported late
    Path("/proc/self/clear_refs").write_text("5")
    start = time.perf_counter()
    found = gw.summarize(ensemble, path, **options)
    seconds = time.perf_counter() - start
    rows = found.n_rows if isinstance(found, gw.Background) else sum(part.n_rows for part in found.values())
    return seconds, memory("VmHWM"), rows


def growth(report: Report) -> None:
    """Count a million to a hundred million rows, in processes of their own."""
    ensemble = fitted_on_made(5 if report.quick else 100)
    sizes = [10**4, 10**5] if report.quick else [10**6, 10**7, 10**8]
    times = []
    for n_rows in sizes:
        case = f"{n_rows:,} rows x {N_COLUMNS}, {ensemble.n_trees} trees of depth 6"
        with folder() as path:
            write_made(path, n_rows)
            rounds = [in_fresh_process(summarized, ensemble, path, {}) for _ in range(1 if n_rows > 10**7 else 3)]
        seconds, peak, rows = min(rounds)
        if rows != n_rows:
            message = f"{rows} rows were counted, not {n_rows}"
            raise SystemExit(message)
        times.append(seconds)
        report.add(Figure(case, "time", seconds, "s"))
        report.add(Figure(case, "rows per second and core", n_rows / seconds / N_CORES / 1e6, "million"))
        report.add(Figure(case, "peak memory of the process", peak / MEGABYTE, "MB", ("<=", 1500)))
    per_row = [seconds / n_rows for seconds, n_rows in zip(times, sizes, strict=True)]
    report.add(Figure("growth", "time per row, most rows / fewest", per_row[-1] / per_row[0], "x", ("<=", 1.25)))


def groups(report: Report) -> None:
    """Count with a thousand groups and without, in one process, in turn."""
    n_rows, n_groups = (20_000, 20) if report.quick else (10**7, 1000)
    ensemble = fitted_on_made(5 if report.quick else 100)
    with folder() as path:
        write_made(path, n_rows, n_groups)
        case = f"{n_rows:,} rows x {N_COLUMNS}, {ensemble.n_trees} trees, {n_groups:,} groups"
        laps = race(
            {
                "summarize": lambda: gw.summarize(ensemble, path),
                "summarize by groups": lambda: gw.summarize(ensemble, path, by="shop"),
            },
            min(report.rounds, 3),
        )
        whole, parts = (lap.result for lap in laps.values())
        total = sum((part.counts for part in parts.values()), start=np.zeros_like(whole.counts))
        if len(parts) != n_groups or not np.array_equal(total, whole.counts):
            message = "the groups do not sum to the whole"
            raise SystemExit(message)
        report.add_times(case, laps)
        ratio = laps["summarize by groups"].best / laps["summarize"].best
        report.add(Figure(case, "by groups / without", ratio, "x", ("<=", 2)))
        peak = in_fresh_process(summarized, ensemble, path, {"by": "shop"})[1]
        report.add(Figure(case, "peak memory of the process, by groups", peak / MEGABYTE, "MB"))


def write_covertype(path: Path, n_rows: int) -> tuple[Any, int]:
    """Write covertype again and again, and return a model of it and the number of rows."""
    X, y = covertype(min(n_rows, 581_012))
    n_trees = 10 if n_rows < 10**6 else 100
    model = HistGradientBoostingRegressor(max_iter=n_trees, max_depth=6, max_leaf_nodes=None, random_state=0)
    ensemble = gw.read_model(model.fit(X[:100_000], y[:100_000]))
    table = pa.Table.from_pandas(X, preserve_index=False)
    copies = -(-n_rows // len(X))
    for copy in range(copies):
        parquet.write_table(table, path / f"{copy:03}.parquet", row_group_size=len(X) // 2 + 1)
    return ensemble, copies * len(X)


def touch(path: str, row_group: int, columns: list[str], n_counts: int) -> Any:
    """Decode a row group and touch every column: what any engine must do, however little it asks."""
    sums = np.zeros(n_counts, dtype=np.int64)
    file = parquet.ParquetFile(path, pre_buffer=False)
    for batch in file.iter_batches(131072, row_groups=[row_group], columns=columns, use_threads=False):
        for k, column in enumerate(batch.columns):
            sums[k] += int(column.to_numpy(zero_copy_only=False)[0])
        sums[-1] += batch.num_rows
    return sums


def bare_scan(path: Path, columns: list[str], n_counts: int) -> Any:
    """Return what a scan by as many threads returns that does nothing else."""
    files = [str(file) for file in sorted(path.glob("*.parquet"))]
    parts = [(file, group) for file in files for group in range(parquet.ParquetFile(file).num_row_groups)]
    total, lock = np.zeros(n_counts, dtype=np.int64), threading.Lock()

    def work(part: tuple[str, int]) -> None:
        sums = touch(*part, columns, n_counts)
        with lock:
            np.add(total, sums, out=total)

    with ThreadPoolExecutor(N_CORES) as pool:
        list(pool.map(work, parts))
    return total


def scan(report: Report) -> None:
    """Count, and scan the same columns for nothing, in turn."""
    with folder() as path:
        ensemble, n_rows = write_covertype(path, 20_000 if report.quick else 10**7)
        columns = [ensemble.feature_names[f] for f in ensemble.used_features]
        n_counts = gw.summarize(ensemble, path / "000.parquet").counts.size
        case = f"covertype, {n_rows:,} rows, {len(columns)} of 54 columns used, {ensemble.n_trees} trees of depth 6"
        laps = race(
            {
                "bare scan, PyArrow": lambda: bare_scan(path, columns, n_counts),
                "bare scan, PyArrow's own (dataset.to_batches)": lambda: sum(
                    batch.num_rows for batch in pa.dataset.dataset(path).to_batches(columns=columns)
                ),
                "summarize": lambda: gw.summarize(ensemble, path),
            },
            report.rounds,
        )
        report.add_times(case, laps)
        ours = laps["summarize"].best
        report.add(Figure(case, "million rows per second and core", n_rows / ours / N_CORES / 1e6, ""))
        for name, lap in list(laps.items())[:2]:
            report.add(Figure(case, f"summarize / {name}", ours / lap.best, "x", ("<=", 4)))


CASES = {"growth": growth, "groups": groups, "scan": scan}


def main() -> None:
    report = Report(__doc__ or "", CASES)
    for case in report.cases:
        CASES[case](report)
    report.finish()


if __name__ == "__main__":
    import pyarrow.dataset

    main()
