"""How time grows with rows, grid points and trees, and how much memory ten million rows take beyond themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np
from measure import MEGABYTE, Figure, Report, in_fresh_process, peak_beyond, race, run
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw

N_FEATURES = 54
SMALL, LARGE = (10, 1_000), (100, 20_000)  # trees and training rows of the models
LAYOUTS = {"columns (Fortran order)": "F", "rows (C order)": "C"}


def made_rows(n_rows: int, order: str = "F") -> Any:
    """Return float32 rows, made in place: nothing is left over in memory that a measurement could reuse."""
    rng = np.random.default_rng(0)
    if order == "C":
        X = np.empty((n_rows, N_FEATURES), dtype=np.float32)
        for start in range(0, n_rows, 2**14):
            X[start : start + 2**14] = rng.random((min(2**14, n_rows - start), N_FEATURES), dtype=np.float32)
        return X
    X = np.empty((N_FEATURES, n_rows), dtype=np.float32)
    for column in X:
        rng.random(out=column, dtype=np.float32)
    return X.T


@cache
def fitted(n_trees: int, n_rows: int) -> HistGradientBoostingRegressor:
    X = made_rows(n_rows)
    y = X[:, :10].sum(axis=1) + 3 * X[:, 10] * X[:, 11] + np.sin(9 * X[:, 12]) + X @ np.linspace(0, 1, N_FEATURES)
    return HistGradientBoostingRegressor(max_iter=n_trees, max_depth=6, random_state=0).fit(X, y)


def every_curve(model: Any, X: Any, grid: Any = None) -> list[Any]:
    """Return the values of every curve, or those at a grid."""
    curves = gw.Explainer(model, X).partial_dependence().values()
    return [curve.values if grid is None else curve(grid) for curve in curves]


def straight_line(x: list[float], y: list[float]) -> tuple[float, float, float]:
    """Return a and b of ``y = a + b x``, fitted so that relative errors count, and the largest relative error."""
    weight = 1 / np.asarray(y)
    columns = np.column_stack([np.ones(len(x)), x])
    (a, b), *_ = np.linalg.lstsq(columns * weight[:, None], np.ones(len(x)), rcond=None)
    return float(a), float(b), float(np.abs((a + b * np.asarray(x)) * weight - 1).max())


def timed(report: Report, case: str, runs: Mapping[str, Callable[[], Any]]) -> list[float]:
    laps = race(runs, report.rounds)
    report.add_times(case, laps)
    return [lap.best for lap in laps.values()]


def rows(report: Report) -> None:
    model = fitted(*SMALL) if report.quick else fitted(*LARGE)
    decades = (3, 4) if report.quick else (4, 7)
    sizes = [round(10**power) for power in np.arange(decades[0], decades[1] + 0.1, 0.5)]
    for layout, order in LAYOUTS.items():
        X = made_rows(sizes[-1], order)
        case = f"rows x {N_FEATURES}, float32, stored by {layout}"
        runs = {f"{n:,} rows": partial(every_curve, model, X[:n]) for n in sizes}
        times = timed(report, case, runs)
        del X, runs
        start, slope, error = straight_line([float(n) for n in sizes], times)
        report.add(Figure(case, "time = a + b rows: a", 1e3 * start, "ms"))
        report.add(Figure(case, "b", 1e9 * slope, "ns per row"))
        report.add(Figure(case, "largest deviation from the line", 100 * error, "%", ("<=", 25)))


def grid(report: Report) -> None:
    model = fitted(*SMALL) if report.quick else fitted(*LARGE)
    X = made_rows(2_000 if report.quick else 1_000_000)
    sizes = [10, 100, 1_000, 10_000]
    case = f"grid, {X.shape[0]:,} rows x {N_FEATURES}"
    points = {n: np.linspace(0, 1, n) for n in sizes}
    runs = {f"{n:,} points per feature": partial(every_curve, model, X, points[n]) for n in sizes}
    times = timed(report, case, runs)
    report.add(Figure(case, "10,000 points / 10 points", times[-1] / times[0], "x", ("<=", 1.25)))


def trees(report: Report) -> None:
    sizes = [5, 10, 20] if report.quick else [25, 50, 100, 200, 400]
    X = made_rows(2_000 if report.quick else 1_000_000)
    case = f"trees, {X.shape[0]:,} rows x {N_FEATURES}"
    models = {n: fitted(n, (SMALL if report.quick else LARGE)[1]) for n in sizes}
    runs = {f"{n} trees": partial(every_curve, models[n], X) for n in sizes}
    times = timed(report, case, runs)
    start, slope, error = straight_line([float(n) for n in sizes], times)
    report.add(Figure(case, "time = a + b trees: a", 1e3 * start, "ms"))
    report.add(Figure(case, "b", 1e3 * slope, "ms per tree"))
    report.add(Figure(case, "largest deviation from the line", 100 * error, "%", ("<=", 25)))


def peak(model: Any, n_rows: int, order: str) -> int:
    """Return the most memory that the curves take beyond the rows; the core is part of it."""
    X = made_rows(n_rows, order)
    return peak_beyond(lambda: every_curve(model, X))[1]


def memory(report: Report) -> None:
    model = fitted(*SMALL) if report.quick else fitted(*LARGE)
    n_rows = 10_000 if report.quick else 10_000_000
    for layout, order in LAYOUTS.items():
        case = f"memory, {n_rows:,} rows x {N_FEATURES}, float32, stored by {layout}"
        beyond = in_fresh_process(peak, model, n_rows, order)
        report.add(Figure(case, "peak beyond the rows", beyond / MEGABYTE, "MB", ("<=", 300)))


CASES = {"rows": rows, "grid": grid, "trees": trees, "memory": memory}


if __name__ == "__main__":
    run(__doc__, CASES)
