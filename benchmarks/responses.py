"""Curves on the scale of probabilities, and ICE, against predict_proba and scikit-learn's brute force."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from data import made
from measure import GIGABYTE, Figure, Report, in_fresh_process, memory, peak_beyond, race, run
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


CASES = {"curves": curves, "ice": ice}


if __name__ == "__main__":
    run(__doc__, CASES)
