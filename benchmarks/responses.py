"""Curves on the scale of probabilities, and ICE, against predict_proba and scikit-learn's brute force."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from data import covertype, made
from measure import GIGABYTE, Figure, Report, in_fresh_process, memory, peak_beyond, race, run
from pyarrow import parquet
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.inspection import partial_dependence

import glasswood as gw

GRID = "glasswood, every curve on a grid of 100"
PREDICT = "predict_proba"
FEATURES, POINTS = 2, 5  # of scikit-learn's brute force; a predict_proba each


def grids(X: Any) -> dict[str, Any]:
    """Return the 100 values of each column that scikit-learn chooses: equally spaced between two quantiles."""
    ends = {name: np.quantile(X[name], (0.05, 0.95)) for name in X}
    return {name: np.linspace(low, high, 100) for name, (low, high) in ends.items()}


def on_grids(model: Any, X: Any, values: dict[str, Any]) -> dict[str, Any]:
    """Return the curve of every feature at the values of its grid."""
    curves = gw.Explainer(model, X, response="probability").partial_dependence()
    return {name: curve(values[name]) for name, curve in curves.items()}


def brute_seconds(model: Any, X: Any) -> tuple[float, dict[str, Any]]:
    """Return how long scikit-learn takes for 100 points of all features, scaled from a few, and the few curves."""
    start = time.perf_counter()
    found = {
        name: partial_dependence(
            model, X, [name], method="brute", response_method="predict_proba", kind="average", grid_resolution=POINTS
        )
        for name in list(X)[:FEATURES]
    }
    return (time.perf_counter() - start) * X.shape[1] / FEATURES * 100 / POINTS, found


def curves(report: Report) -> None:
    X, y = made(3_000 if report.quick else 200_000)
    model = HistGradientBoostingClassifier(max_iter=5 if report.quick else 100, max_depth=6, random_state=0)
    model.fit(X, y > y.median())
    case = f"made {len(X):,} x {X.shape[1]}"
    values = grids(X)
    laps = race(
        {GRID: lambda: on_grids(model, X, values), PREDICT: lambda: model.predict_proba(X)},
        report.rounds,
    )
    report.add_times(case, laps)
    report.add(Figure(case, f"{GRID} / {PREDICT}", laps[GRID].best / laps[PREDICT].best, "x", ("<=", 10)))
    seconds, found = brute_seconds(model, X)
    scaled = f"scaled from {POINTS} points of {FEATURES} features"
    report.add(Figure(case, f"scikit-learn, brute force, {scaled}", seconds, "s"))
    report.add(Figure(case, f"scikit-learn / {GRID}", seconds / laps[GRID].best, "x", (">=", 1000)))
    ex: Any = gw.Explainer(model, X, response="probability")
    gap = max(
        float(np.abs(ex.partial_dependence(name)(b["grid_values"][0]) - b["average"][0]).max())
        for name, b in found.items()
    )
    report.add(Figure(case, "largest difference from scikit-learn", gap, "", ("<=", 1e-12)))


def every_ice(model: Any, X: Any, rows: Any) -> float:
    """Return a number of the curves of all rows, feature by feature: no more than one feature's are held."""
    ex = gw.Explainer(model, X, response="probability")
    return sum(float(ex.ice(name, rows=rows).heights.sum()) for name in X)


def peak(model: Any, X: Any, rows: Any) -> tuple[int, int]:
    return peak_beyond(lambda: every_ice(model, X, rows))[1], memory("VmHWM")


def ice(report: Report) -> None:
    X, y = made(2_000 if report.quick else 200_000)
    model = HistGradientBoostingClassifier(max_iter=5 if report.quick else 100, max_depth=6, random_state=0)
    model.fit(X, y > y.median())
    rows = X.head(100 if report.quick else 10_000)
    case = f"made, ICE of {len(rows):,} rows x {X.shape[1]} features, at every cell"
    laps = race({"glasswood, feature by feature": lambda: every_ice(model, X, rows)}, report.rounds)
    report.add_times(case, laps)
    beyond, _ = in_fresh_process(peak, model, X, rows)
    report.add(Figure(case, "peak memory beyond model and rows", beyond / GIGABYTE, "GB"))


def write_covertype(path: Path, n_rows: int) -> int:
    """Write covertype again and again, in row groups of 145,253 rows, and return the number of rows."""
    X, _ = covertype(min(n_rows, 581_012))
    copies = -(-n_rows // len(X))
    for copy in range(copies):
        X.to_parquet(path / f"{copy:03}.parquet", row_group_size=len(X) // 4 + 1)
    return copies * len(X)


def classifier(n_classes: int, n_rounds: int, n_rows: int) -> Any:
    """Return a model of covertype: of the most frequent class against all others, or of all seven."""
    X, y = covertype(n_rows)
    kind = HistGradientBoostingClassifier(max_iter=n_rounds, max_depth=6, max_leaf_nodes=None, random_state=0)
    return kind.fit(X, y == 2 if n_classes == 2 else y)


def predict_files(model: Any, path: Path) -> Any:
    """Return the sum of the model's own probabilities over all rows of files, row group by row group."""
    total = 0.0
    for name in sorted(path.glob("*.parquet")):
        file = parquet.ParquetFile(name)
        for group in range(file.num_row_groups):
            total = total + model.predict_proba(file.read_row_group(group).to_pandas()).sum(axis=0)
    return total


def peak_of_files(model: Any, path: Path) -> int:
    """Return the memory of the process at the peak of a pass."""
    gw.summarize(model, path, response="probability")
    return memory("VmHWM")


def files(report: Report) -> None:
    """Sum the probabilities of ten million rows of Parquet, against a pass of predict_proba over the same files."""
    n_rows, rounds = (5_000, 5) if report.quick else (10**7, 100)
    with TemporaryDirectory(prefix="glasswood-benchmark-") as folder, TemporaryDirectory() as small:
        n_rows, n_few = write_covertype(Path(folder), n_rows), write_covertype(Path(small), n_rows // 10)
        for n_classes, n_rounds, target in ((2, rounds, 4.5), (7, rounds // 7 + 1, 10)):
            model = classifier(n_classes, n_rounds, 5_000 if report.quick else 100_000)
            n_trees = gw.read_model(model).n_trees
            case = f"covertype, {n_rows:,} rows x 54 of Parquet, {n_classes} classes, {n_trees} trees"
            ours, theirs = "summarize(response='probability')", "predict_proba of all row groups"
            laps = race(
                {
                    theirs: partial(predict_files, model, Path(folder)),
                    ours: partial(gw.summarize, model, folder, response="probability"),
                },
                min(report.rounds, 2),
            )
            report.add_times(case, laps)
            report.add(Figure(case, f"{ours} / {theirs}", laps[ours].best / laps[theirs].best, "x", ("<=", target)))
            for rows, place in ((n_few, small), (n_rows, folder)):
                peak = in_fresh_process(peak_of_files, model, Path(place))
                report.add(Figure(case, f"peak memory of the process, {rows:,} rows", peak / GIGABYTE, "GB"))


CASES = {"curves": curves, "ice": ice, "files": files}


if __name__ == "__main__":
    run(__doc__, CASES)
