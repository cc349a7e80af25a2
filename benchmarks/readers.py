"""How long reading a model takes, and how much memory: XGBoost, LightGBM, and a forest of 30 million leaves."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import numpy as np
from measure import GIGABYTE, Figure, Report, in_fresh_process, peak_beyond, race, run
from sklearn.ensemble import ExtraTreesRegressor

import glasswood as gw


def noise(n_rows: int, n_features: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n_rows, n_features)).astype(np.float32), rng.normal(size=n_rows)


def boosters(report: Report) -> None:
    import lightgbm
    import xgboost

    X, y = noise(500 if report.quick else 50_000, 50)
    n_trees = 10 if report.quick else 100
    models = {
        "XGBoost, depth 6": xgboost.XGBRegressor(n_estimators=n_trees, max_depth=6),
        "XGBoost, depth 6, as a Booster": xgboost.XGBRegressor(n_estimators=n_trees, max_depth=6),
        "LightGBM, 31 leaves": lightgbm.LGBMRegressor(n_estimators=n_trees, verbose=-1),
        "LightGBM, 31 leaves, as a Booster": lightgbm.LGBMRegressor(n_estimators=n_trees, verbose=-1),
    }
    for name, model in models.items():
        model.fit(X, y)
        if "Booster" in name:
            model = model.get_booster() if name.startswith("X") else model.booster_
        lap = race({"read_model": partial(gw.read_model, model)}, 4 * report.rounds)["read_model"]
        note = f"best of {len(lap.times)}; {lap.result.value.shape[0]:,} leaves"
        report.add(Figure(f"{n_trees} trees, {name}", "read_model", 1e3 * lap.best, "ms", ("<=", 60), note))


def read_large_forest(n_trees: int, n_rows: int, rounds: int) -> tuple[str, list[float], int, int]:
    """Fit a forest, and return what was read, the times, the bytes of the arrays, and the peak of the first reading."""
    X, y = noise(n_rows, 8)
    model = ExtraTreesRegressor(n_trees, max_features=1, bootstrap=True, n_jobs=2, random_state=0).fit(X, y)
    gw.read_model(ExtraTreesRegressor(1).fit(X[:10], y[:10]))  # loads the library
    ensemble, beyond = peak_beyond(lambda: gw.read_model(model))
    arrays = [getattr(ensemble, each.name) for each in dataclasses.fields(ensemble)]
    size = sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))
    shown = repr(ensemble)
    del ensemble, arrays
    times = race({"read_model": lambda: repr(gw.read_model(model))}, rounds)["read_model"].times
    return shown, times, size, beyond


def forest(report: Report) -> None:
    n_trees, n_rows = (5, 1_000) if report.quick else (500, 100_000)
    shown, times, size, beyond = in_fresh_process(read_large_forest, n_trees, n_rows, report.rounds)
    case = f"forest of {n_trees} trees"
    report.add(Figure(case, "read_model", min(times), "s", ("<=", 2), f"best of {len(times)}; {shown}"))
    report.add(Figure(case, "bytes of the arrays", size / GIGABYTE, "GB"))
    report.add(Figure(case, "peak memory beyond the model / bytes of the arrays", beyond / size, "x", ("<=", 3)))


CASES = {"boosters": boosters, "forest": forest}


if __name__ == "__main__":
    run(__doc__, CASES)
