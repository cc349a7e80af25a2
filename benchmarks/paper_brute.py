"""Brute force, as scikit-learn has it: measured where it ends soon, otherwise estimated, and the estimate checked.

Brute force predicts all n rows for each point, so its time is c n x (points). A feature has k points, a pair k^2, and
Full PDP one for each threshold. PDIVs of any order need the partial dependence of every set of features (each subset of
a set is in the list, too) at every explained row: (rows) x (sets) points. The constant c is the time of one prediction
at a small size. It is checked at a larger one, for features and for pairs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from measure import Figure, Report
from threadpoolctl import threadpool_limits

import glasswood as gw

__all__ = ["CHECK", "Estimator", "add_brute_force", "mean_of_predictions", "number_of_cuts"]

LIMIT = float(os.environ.get("PAPER_BRUTE", "60"))  # seconds; what is estimated to take longer is not run
SMALL_ROWS, LARGE_ROWS, SOME_FEATURES, SOME_PAIRS = 10_000, 50_000, 4, 20
CHECK = "check of the estimate"

Grids = Mapping[str, Any]


def brute(model: Any, X: pd.DataFrame, sets: Iterable[tuple[str, ...]], grids: Grids, method: str = "brute") -> float:
    """Return the time of scikit-learn for some features or pairs at the points of a grid."""
    from sklearn.inspection import partial_dependence

    start = time.perf_counter()
    for names in sets:
        points = {name: np.asarray(grids[name], dtype=X[name].dtype) for name in names}
        partial_dependence(model, X, list(names), method=method, kind="average", custom_values=points)
    return time.perf_counter() - start


def mean_of_predictions(model: Any, X: pd.DataFrame, point: Mapping[str, float]) -> float:
    """Return the mean prediction with some features set to the values of a point."""
    return float(np.mean(model.predict(X.assign(**point))))


def pdivs(model: Any, X: pd.DataFrame, rows: pd.DataFrame, sets: Iterable[tuple[str, ...]]) -> float:
    """Return the time of the partial dependence of some sets at some rows."""
    start = time.perf_counter()
    for names in sets:
        for row in range(len(rows)):
            mean_of_predictions(model, X, {name: rows[name].iloc[row] for name in names})
    return time.perf_counter() - start


def number_of_cuts(model: Any) -> int:
    """Return how many thresholds all features have."""
    ensemble = gw.read_model(model)
    cuts = (np.unique(ensemble.cut[ensemble.feature == feature]) for feature in range(ensemble.n_features))
    return sum(int(values.size) for values in cuts)


@dataclass(frozen=True)
class Estimator:
    """The time of one prediction of a model for each row and point, from a small size.

    Parameters
    ----------
    model, X
        The model and all rows.
    grids : dict of dict
        The points of each column, by their number.
    """

    model: Any
    X: pd.DataFrame
    grids: Mapping[int, Grids]

    def _some(self, n_rows: int) -> pd.DataFrame:
        return self.X if n_rows >= len(self.X) else self.X.sample(n_rows, random_state=0)

    def _features(self, size: int) -> list[tuple[str, ...]]:
        rng = np.random.default_rng(size)
        columns = list(self.X)
        if size == 1:
            return [(columns[j],) for j in rng.permutation(len(columns))[:SOME_FEATURES]]
        pairs = [tuple(rng.choice(len(columns), 2, replace=False).tolist()) for _ in range(SOME_PAIRS)]
        return [(columns[a], columns[b]) for a, b in pairs]

    def constant(self) -> float:
        """Return the seconds per row and point, from a few features with 5 points each."""
        X, sets = self._some(SMALL_ROWS), self._features(1)
        brute(self.model, X, sets[:1], self.grids[5])  # warm-up
        times = [brute(self.model, X, sets, self.grids[5]) for _ in range(2)]
        return min(times) / (len(X) * len(sets) * 5)

    def threads(self) -> int | None:
        """Return with how many threads scikit-learn predicts faster: one, for few rows, or all of them (None)."""
        found: dict[int | None, float] = {}
        for threads in (1, None):
            with threadpool_limits(threads, "openmp"):
                found[threads] = self.constant()
        return min(found, key=found.__getitem__)

    def checks(self, constant: float) -> dict[str, tuple[float, float]]:
        """Return predicted and measured seconds at larger sizes: more rows and points, and pairs."""
        more, small = self._some(LARGE_ROWS), self._some(SMALL_ROWS)
        features, pairs = self._features(1), self._features(2)[:2]
        sizes = {
            f"{len(features)} features, {len(more):,} rows, k=10": (more, features, self.grids[10], 10),
            f"{len(pairs)} pairs, {len(small):,} rows, k=5": (small, pairs, self.grids[5], 25),
        }
        found = {
            name: (constant * len(X) * len(sets) * points, brute(self.model, X, sets, grids))
            for name, (X, sets, grids, points) in sizes.items()
        }
        measured = pdivs(self.model, more, more.head(4), pairs)
        found[f"4 rows x 2 sets, {len(more):,} rows"] = constant * len(more) * 8, measured
        return found

    def points(self, task: str) -> int:
        """Return the number of points of a task of exact PDPs, over all features or pairs."""
        n: int = self.X.shape[1]
        if task == "Exact full PDP":
            return number_of_cuts(self.model)
        k = int(task.rpartition("=")[2])
        return n * (n - 1) // 2 * k * k if "Joint" in task else n * k

    def whole(self, task: str) -> float:
        """Return the measured time of a task of exact PDPs."""
        if task == "Exact full PDP":
            ensemble, names = gw.read_model(self.model), list(self.X)
            cuts = {name: np.unique(ensemble.cut[ensemble.feature == j]) for j, name in enumerate(names)}
            return brute(self.model, self.X, [(name,) for name in names if cuts[name].size], cuts)
        k = int(task.rpartition("=")[2])
        sets: Iterable[tuple[str, ...]] = combinations(self.X, 2) if "Joint" in task else ((name,) for name in self.X)
        return brute(self.model, self.X, sets, self.grids[k])

    def approximate(self, task: str) -> tuple[float, str]:
        """Return the time of the recursion of scikit-learn, over all features, or scaled from some pairs."""
        if "Joint" not in task:
            return brute(self.model, self.X, [(name,) for name in self.X], self.grids[5], "recursion"), "best of 1"
        n = self.X.shape[1]
        pairs, of_all = self._features(2), n * (n - 1) // 2
        if of_all <= 2 * SOME_PAIRS:
            return brute(self.model, self.X, combinations(self.X, 2), self.grids[5], "recursion"), "best of 1"
        few, many = (brute(self.model, self.X, part, self.grids[5], "recursion") for part in (pairs[:5], pairs))
        note = f"estimate: {len(pairs)} of {of_all:,} pairs; 5 pairs predict {4 * few / many:.2f} of the time of 20"
        return many / len(pairs) * of_all, note


def add_brute_force(report: Report, case: str, estimator: Estimator, tasks: Iterable[str], n_sets: int = 0) -> None:
    """Add scikit-learn's time of each task: measured if it ends soon, otherwise estimated; and the checks."""
    with threadpool_limits(estimator.threads(), "openmp"):
        _add_brute_force(report, case, estimator, tasks, n_sets)


def _add_brute_force(report: Report, case: str, estimator: Estimator, tasks: Iterable[str], n_sets: int) -> None:
    """Add the times with the number of threads that is set."""
    constant = estimator.constant()
    note = f"{constant:.3g} s per row and point at {min(SMALL_ROWS, len(estimator.X)):,} rows, k=5"
    for name, (predicted, measured) in estimator.checks(constant).items():
        what = f"{CHECK}: {name}"
        report.add(Figure(case, what, predicted / measured, "predicted / measured", note=f"{measured:.3g} s; {note}"))
    for task in tasks:
        value, how = _brute_force(estimator, constant, task, n_sets, 0.5 if report.quick else LIMIT)
        if how:
            report.add(Figure(case, f"{task}: scikit-learn", value, "s", note=how))


def _brute_force(estimator: Estimator, constant: float, task: str, n_sets: int, limit: float) -> tuple[float, str]:
    """Return the time of one task and how it was found, or no words if there is none."""
    n_rows = len(estimator.X)
    if task.startswith("Approx"):
        recursion = hasattr(estimator.model, "_compute_partial_dependence_recursion")
        return estimator.approximate(task) if recursion else (0.0, "")
    if task.startswith("Any-order"):
        explained = min(n_rows, 10_000) if "n=" in task else n_rows
        points = explained * n_sets
        return (
            constant * n_rows * points,
            f"estimate: {explained:,} rows x {n_sets:,} sets, each {n_rows:,} predictions",
        )
    points = estimator.points(task)
    estimate = constant * n_rows * points
    if estimate <= limit:
        return estimator.whole(task), f"best of 1; the estimate was {estimate:.3g} s"
    return estimate, f"estimate: {points:,} points x {n_rows:,} rows"
