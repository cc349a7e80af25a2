"""One more row: answers of an Explainer that was asked before, in one thread and in eight."""

from __future__ import annotations

import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from data import california
from measure import MEGABYTE, Figure, Report, memory, race, run
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw

QUESTIONS: dict[str, Callable[[gw.Explainer, Any], Any]] = {
    "Shapley values": lambda ex, row: ex.shap_values(row).values,
    "Banzhaf values": lambda ex, row: ex.banzhaf_values(row).values,
    "Shapley interactions": lambda ex, row: ex.shap_interaction_values(row).values,
    "PDIV up to pairs": lambda ex, row: ex.interaction_values(row, max_order=2).values,
    "ICE of a feature": lambda ex, row: ex.ice(0, rows=row).values,
}


def model_and_rows(report: Report) -> tuple[Any, Any]:
    X, y = california(2_000 if report.quick else 10_000)
    return HistGradientBoostingRegressor(max_iter=10 if report.quick else 100, random_state=0).fit(X, y), X


def alone(report: Report) -> None:
    model, X = model_and_rows(report)
    case, frame, array = "1,000 background rows, 100 trees", X[1000:1001], X.to_numpy()[1000:1001]
    firsts = []
    for _ in range(report.rounds):
        ex = gw.Explainer(model, X[:1000])
        firsts.append(race({"first": partial(ex.shap_values, array)}, 1)["first"].best)
    report.add(Figure(case, "Shapley values, first row", 1e3 * min(firsts), "ms", ("<=", 40)))
    ex = gw.Explainer(model, X[:1000])
    for name, ask in QUESTIONS.items():
        again = {"array": partial(ask, ex, array), "frame": partial(ask, ex, frame)}
        laps = race(again, report.rounds * (1 if report.quick else 20))
        limits = {"array": ("<=", 2.0), "frame": ("<=", 4.0)} if name == "Shapley values" else {}
        for kind, lap in laps.items():
            what = (
                f"{name}, asked again, row of an {kind}" if kind == "array" else f"{name}, asked again, row of a frame"
            )
            report.add(Figure(case, what, 1e3 * lap.best, "ms", limits.get(kind)))
    fresh = gw.Explainer(model, X[:1000]).shap_values(array).values
    same = np.array_equal(ex.shap_values(array).values, fresh)
    report.add(Figure(case, "asked again: the bits of a new Explainer", float(same), "", (">=", 1)))


def threads(report: Report) -> None:
    model, X = model_and_rows(report)
    array, n_calls = X.to_numpy(), 200 if report.quick else 10_000
    ex = gw.Explainer(model, X[:1000])
    expected = gw.Explainer(model, X[:1000]).shap_values(array).values

    def right(number: int) -> bool:
        row = number % len(array)
        return np.array_equal(ex.shap_values(array[row : row + 1]).values[0], expected[row])

    def calls() -> list[bool]:
        with ThreadPoolExecutor(8) as pool:
            return list(pool.map(right, range(n_calls)))

    case = f"{n_calls:,} calls from 8 threads"
    found = calls()  # the C library keeps some memory per thread from then on
    gc.collect()
    before = memory("VmRSS")
    lap = race({"calls": calls}, 1)["calls"]
    found += lap.result
    gc.collect()
    report.add(Figure(case, "right", float(all(found)), "", (">=", 1)))
    report.add(Figure(case, "a call", 1e3 * lap.best / n_calls, "ms"))
    report.add(Figure(case, "more memory after them", (memory("VmRSS") - before) / MEGABYTE, "MB", ("<=", 16)))


CASES = {"alone": alone, "threads": threads}


if __name__ == "__main__":
    run(__doc__, CASES)
