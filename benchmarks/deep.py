"""Deep trees: a default random forest and a real XGBoost model of depth 22, against one predict, and peak memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from data import covertype, ieee, rows_for
from measure import GIGABYTE, Figure, Report, in_fresh_process, memory, peak_beyond, race, run
from sklearn.ensemble import RandomForestRegressor

import glasswood as gw

GLASSWOOD = "glasswood, every PDP at full resolution"


def every_curve(model: Any, X: Any) -> dict[str, Any]:
    """Return the values of every curve, from the model and the rows: reading, checking and counting included."""
    return {name: curve.values for name, curve in gw.Explainer(model, X).partial_dependence().items()}


def peak(model: Any, X: Any) -> tuple[int, int]:
    """Return the most memory that the curves take beyond the model and the rows, and that of the whole process."""
    beyond = peak_beyond(lambda: every_curve(model, X))[1]
    return beyond, memory("VmHWM")


def compare(report: Report, case: str, model: Any, X: Any, predict: tuple[str, Any]) -> None:
    laps = race({GLASSWOOD: lambda: every_curve(model, X), predict[0]: predict[1]}, report.rounds)
    report.add_times(case, laps)
    ratio = laps[GLASSWOOD].best / laps[predict[0]].best
    report.add(Figure(case, f"{GLASSWOOD} / {predict[0]}", ratio, "x", ("<=", 10)))
    beyond, whole = in_fresh_process(peak, model, X)
    report.add(Figure(case, "peak memory beyond model and rows", beyond / GIGABYTE, "GB"))
    report.add(Figure(case, "peak memory of the whole process", whole / GIGABYTE, "GB", ("<=", 2)))


def forest(report: Report) -> None:
    X, y = covertype(3_000 if report.quick else 100_000)
    model = RandomForestRegressor(n_estimators=5 if report.quick else 100, n_jobs=2, random_state=0).fit(X, y)
    leaves = sum(tree.tree_.n_leaves for tree in model.estimators_)
    case = f"forest, {len(model.estimators_)} trees, {leaves:,} leaves, {X.shape[0]:,} x {X.shape[1]}"
    compare(report, case, model, X, ("predict(n_jobs=2)", lambda: model.predict(X)))


def booster(report: Report) -> None:
    model = ieee("IEEE-CIS_xgboost_model_depth_22")
    X = rows_for(model, 3_000 if report.quick else 100_000, np.float32)
    case = f"ieee depth 22, {X.shape[0]:,} x {X.shape[1]}"
    rows = np.ascontiguousarray(X.to_numpy())  # the layout that XGBoost likes best
    predict = ("inplace_predict", lambda: model.get_booster().inplace_predict(rows, validate_features=False))
    compare(report, case, model, X, predict)


CASES = {"forest": forest, "ieee": booster}


if __name__ == "__main__":
    run(__doc__, CASES)
