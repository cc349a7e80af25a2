"""Curves of a CatBoost model with its default settings, against its own predict on modified rows at the same points."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np
import pandas as pd
from catboost import CatBoostClassifier
from data import adult
from measure import GIGABYTE, Figure, Report, in_fresh_process, peak_beyond, race, run

import glasswood as gw

PREDICT = "predict of all rows"
BRUTE = "CatBoost's own predict on modified rows, at every category and cut of every feature"
CURVES = "curves of all features, at every category and cut"


def curves_of(model: Any, X: pd.DataFrame) -> gw.Curves[gw.Curve]:
    return gw.Explainer(model, X).partial_dependence()


def values_of(curve: gw.Curve) -> list[Any]:
    """Return a value of each cell of a curve in which rows can be."""
    axis = curve.axis
    if axis.column.categories:
        return list(axis.column.categories)
    return [*axis.cuts.tolist(), np.nextafter(axis.cuts[-1], np.inf)] if axis.cuts.size else []


def brute_force(model: Any, X: pd.DataFrame, points: dict[str, list[Any]]) -> dict[str, list[float]]:
    """Return the mean score of all rows with a feature at each of some values."""
    found: dict[str, list[float]] = {}
    for name, values in points.items():
        rows, found[name] = X.copy(), []
        for value in values:
            rows[name] = value
            found[name].append(float(model.predict(rows, prediction_type="RawFormulaVal").mean()))
    return found


def peak(model: Any, X: pd.DataFrame) -> int:
    """Return the most memory that curves take beyond the model and the rows."""
    with contextlib.redirect_stderr(io.StringIO()):  # a bar of progress
        return peak_beyond(lambda: curves_of(model, X))[1]


def defaults(report: Report) -> None:
    X, y = adult()
    texts = [name for name in X if X[name].dtype == object]
    X[texts] = X[texts].where(X[texts].notna(), "missing").astype(str)
    if report.quick:
        X, y = X[:2_000], y[:2_000]
    model = CatBoostClassifier(
        cat_features=texts, iterations=5 if report.quick else 1_000, random_seed=0, verbose=0, allow_writing_files=False
    ).fit(X, y)
    curves = curves_of(model, X)
    points = {name: values_of(curve) for name, curve in curves.items()}
    n_points = sum(map(len, points.values()))
    case = f"adult census {len(X):,} x {X.shape[1]}, {model.tree_count_:,} trees, {n_points:,} points"
    laps = race(
        {
            PREDICT: lambda: model.predict(X, prediction_type="RawFormulaVal"),
            CURVES: lambda: curves_of(model, X),
        },
        report.rounds,
    )
    laps |= race({BRUTE: lambda: brute_force(model, X, points)}, 1)
    report.add_times(case, laps)
    expected = laps[BRUTE].result
    differences = [
        float(np.abs(curves[name].heights[: len(values), 0] - expected[name]).max(initial=0.0))
        for name, values in points.items()
    ]
    report.add(Figure(case, "largest difference between both", max(differences), "", ("<=", 1e-12)))
    report.add(Figure(case, "CatBoost's own predict / curves", laps[BRUTE].best / laps[CURVES].best, "x", (">=", 10)))
    report.add(Figure(case, f"{CURVES} / {PREDICT}", laps[CURVES].best / laps[PREDICT].best, "x"))
    beyond = in_fresh_process(peak, model, X)
    report.add(Figure(case, f"{CURVES}: peak memory beyond model and rows", beyond / GIGABYTE, "GB"))


if __name__ == "__main__":
    run(__doc__, {"defaults": defaults})
