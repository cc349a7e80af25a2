"""Weighted rows: counting covertype with weights of 1, 8, 24 and 43 bits, against the same without weights."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from data import covertype
from measure import Figure, Report, race, run
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw
from glasswood.engines._local import count
from glasswood.kernels import _core

LIMITS = {
    "avx512": {"0 or 1": 1.3, "up to 255": 2.0, "floats": 5.0},
    "other": {"0 or 1": 1.3, "up to 255": 4.0, "floats": 9.0},
}


def weights_of(n_rows: int) -> dict[str, Any]:
    """Return weights of several kinds."""
    rng = np.random.default_rng(0)
    return {
        "0 or 1": rng.integers(0, 2, n_rows),
        "up to 255": rng.integers(0, 256, n_rows),
        "floats": rng.exponential(size=n_rows),
    }


def weights(report: Report) -> None:
    X, y = covertype(5_000 if report.quick else None)
    model = HistGradientBoostingRegressor(max_iter=5 if report.quick else 100, max_depth=6, random_state=0).fit(X, y)
    plan = gw.Explainer(model, X)._study.plan(1)
    given = {"none": None, **weights_of(len(X))}
    laps = race({name: partial(count, plan, X, weight) for name, weight in given.items()}, report.rounds)
    case = f"covertype, {len(X):,} rows, level {_core.LEVEL}"
    report.add_times(case, laps)
    limits = LIMITS.get(_core.LEVEL, LIMITS["other"])
    for name in limits:
        ratio = laps[name].best / laps["none"].best
        report.add(Figure(case, f"weights {name} / none", ratio, "x", ("<=", limits[name])))
        lists = count(plan, X, given[name], lists_only=True).counts
        same = np.array_equal(laps[name].result.counts, lists)
        report.add(Figure(case, f"weights {name}: the counts of the kernel of lists", float(same), "", (">=", 1)))


CASES = {"weights": weights}


if __name__ == "__main__":
    run(__doc__, CASES)
