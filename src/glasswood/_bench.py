"""The constants of this machine: what reading, counting and explaining cost per row, and what larger work would take.

Everything is measured in one thread, on generated models and rows, as time of the processor: the figures are per core,
and other programs hardly matter.
"""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from glasswood._explainer import Explainer
from glasswood._summarize import summarize
from glasswood.counting._column_ends import EndsSpec
from glasswood.counting._job import Job, count_fragments
from glasswood.counting._plan import make_plan
from glasswood.models._ensemble import TreeEnsemble
from glasswood.models._read_trees import read_trees
from glasswood.parallel._threads import n_threads, threads_limited_to
from glasswood.tables._parquet import read_fragment, write_parquet
from glasswood.tables._sources import open_source

__all__ = ["STEPS", "Constants", "capacity", "measure_constants"]

DEPTH = 6
FEW, MANY = 20, 100  # features, and trees: two models of one and the other tell the two costs apart
MIN_ROWS, MAX_ROWS = 2**14, 2**20
STEPS = 6  # of a measurement, for progress
ROWS_PER_TASK = 2**21

Features = dict[str, Any]


@dataclass(frozen=True)
class Constants:
    """What one core of this machine takes, in seconds, for trees of depth 6."""

    read_value: float  # one value of a Parquet file
    count_1_feature: float  # one row and feature, at order 1
    count_1_tree: float  # one row and tree, at order 1
    count_2_feature: float
    count_2_tree: float
    shapley_tree: float  # the Shapley values of one row, per tree
    task: float  # one task of a cluster, beside its rows; 100 trees
    numbers_1: float  # of a sum at order 1, per tree
    numbers_2: float
    cores: int
    machine: str

    def facts(self) -> dict[str, Any]:
        """Return the constants by name."""
        return asdict(self)


def made_model(n_features: int, n_trees: int, seed: int = 0) -> TreeEnsemble:
    """Return complete trees of depth 6 with splits at random places."""
    rng = np.random.default_rng(seed)
    n_inner = 2**DEPTH - 1
    inner, leaves = np.arange(n_inner), n_inner + 1

    def tree() -> dict[str, Any]:
        none = np.full(leaves, -1)
        return {
            "feature": np.concatenate([rng.integers(0, n_features, n_inner), none]),
            "cut": np.concatenate([rng.normal(size=n_inner).round(2), np.zeros(leaves)]),
            "left": np.concatenate([2 * inner + 1, none]),
            "right": np.concatenate([2 * inner + 2, none]),
            "value": np.concatenate([np.zeros(n_inner), rng.normal(size=leaves)]),
        }

    return read_trees([tree() for _ in range(n_trees)], [f"x{place}" for place in range(n_features)])


def made_rows(n_rows: int, n_features: int) -> Features:
    """Return columns of float32."""
    rng = np.random.default_rng(1)
    return {f"x{place}": rng.normal(size=n_rows).astype(np.float32) for place in range(n_features)}


def measure_constants(seconds: float = 20.0, done: Callable[[str], None] = lambda _: None) -> Constants:
    """Measure the constants of one core, in about so many seconds; `done` is called after each of `STEPS` steps."""
    share, cores = seconds / 8, n_threads()
    result: dict[str, Any] = {}
    with threads_limited_to(1):
        for name, values in _measured(share):
            result |= values
            done(name)
    return Constants(**result, cores=cores, machine=f"{_processor()}, Python {platform.python_version()}")


def _measured(share: float) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what was measured, step by step, and the constants found."""
    yield "reading Parquet", {"read_value": _read(share)}
    wide, high = made_model(MANY, FEW), made_model(FEW, MANY)
    for order in (1, 2):
        of_wide, of_high = (_counting(model, order, share) for model in (wide, high))
        # time per row = features x f + trees x t, for both models; noise must not make one of them negative
        costs = np.linalg.solve([[MANY, FEW], [FEW, MANY]], [of_wide, of_high])
        feature, tree = (float(max(cost, 1e-12)) for cost in costs)
        yield f"counting at order {order}", {f"count_{order}_feature": feature, f"count_{order}_tree": tree}
    # With few features, paths split on the same one again, and tables are smaller.
    explainer = Explainer(wide, summarize(wide, made_rows(2000, MANY), order=None))
    explainer.shap_values(made_rows(64, MANY))  # makes the tables
    yield "Shapley values", {"shapley_tree": _shapley(explainer, share) / FEW}
    yield "a task", {"task": _task(high)}
    sizes = {f"numbers_{order}": make_plan(high, order, {}).n_counts / MANY for order in (1, 2)}
    yield "sums", sizes


def _counting(model: TreeEnsemble, order: int, share: float) -> float:
    """Return the seconds that counting takes per row, with as many rows as there is time for."""
    n_rows = MIN_ROWS
    while True:
        rows = made_rows(n_rows, len(model.feature_names))
        took = _seconds(partial(summarize, model, rows, order=order))
        if took > share / 3 or n_rows >= MAX_ROWS:
            return took / n_rows
        n_rows *= 2 if took > share / 10 else 4


def _shapley(explainer: Explainer, share: float) -> float:
    """Return the seconds that the Shapley values of a row take."""
    n_rows = 256
    while True:
        rows = made_rows(n_rows, MANY)
        took = _seconds(partial(explainer.shap_values, rows))
        if took > share / 3:
            return took / n_rows
        n_rows *= 2


def _seconds(work: Callable[[], object]) -> float:
    """Return the time that a processor works on something; other programs do not count."""
    began = process_time()
    work()
    return process_time() - began


@contextmanager
def _written(rows: Features) -> Iterator[Any]:
    """Give the parts of a Parquet file of some rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write_parquet(path, [rows], {})
        source: Any = open_source(path)
        yield source.fragments


def _read(share: float) -> float:
    """Return the seconds that a value of a Parquet file takes, as tasks read it."""
    rows = made_rows(2**16, 50)
    with _written(rows) as fragments:
        began, n_values = process_time(), 0
        while process_time() - began < share / 2 or not n_values:
            for table in read_fragment(fragments[0], list(rows)):
                n_values += table.num_rows * table.num_columns
        return (process_time() - began) / n_values


def _task(model: TreeEnsemble) -> float:
    """Return the seconds of a task of one row, once its worker knows the job."""
    names = dict(enumerate(model.feature_names))
    shipped = Job(model, 1, {}, names, (), None, (EndsSpec(),)).ship()
    with _written(made_rows(1, FEW)) as fragments:
        count_fragments(shipped, fragments)
        n_tasks = 20
        return sum(_seconds(lambda: count_fragments(shipped, fragments)) for _ in range(n_tasks)) / n_tasks


def _processor() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or os.name


def capacity(constants: Constants) -> dict[str, list[Any]]:
    """Return the core-hours of larger work, as columns: passes over Parquet files, and Shapley values of all rows."""
    c = constants
    table: dict[str, list[Any]] = {
        name: [] for name in ("rows", "features", "trees", "order 1", "order 2", "Shapley values")
    }
    for rows in (10**8, 10**9, 10**10):
        for features in (100, 1000):
            for trees in (100, 1000):
                read = features * c.read_value
                tasks = rows / ROWS_PER_TASK * c.task * trees / MANY
                first = rows * (read + features * c.count_1_feature + trees * c.count_1_tree) + tasks
                second = rows * (read + features * c.count_2_feature + trees * c.count_2_tree) + tasks
                values = rows * (read + trees * c.shapley_tree)
                line = (rows, features, trees, *(_hours(seconds) for seconds in (first, second, values)))
                for name, value in zip(table, line, strict=True):
                    table[name].append(value)
    return table


def _hours(seconds: float) -> float:
    """Return core-hours with two digits."""
    return float(f"{seconds / 3600:.2g}")
