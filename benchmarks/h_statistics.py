"""H of all pairs, of each feature and of the whole model, on all rows: seconds, memory, and one predict beside it."""

from __future__ import annotations

import contextlib
import io
from functools import partial
from typing import Any

import pandas as pd
from data import covertype, kddcup
from interactions import boosting
from measure import GIGABYTE, Figure, Report, in_fresh_process, memory, peak_beyond, race, run

import glasswood as gw

PREDICT = "predict"
PAIRS = "H of all pairs"
WHOLE = "H of each feature and of the model"


def pairs_of(model: Any, X: pd.DataFrame) -> Any:
    return gw.Explainer(model, X).interaction_strengths()


def whole_of(model: Any, X: pd.DataFrame) -> Any:
    return gw.Explainer(model, X).h_statistics()


def peak(model: Any, X: pd.DataFrame) -> tuple[int, int]:
    """Return the most memory that H of all pairs takes beyond the model and the rows, and that of the whole process."""
    with contextlib.redirect_stderr(io.StringIO()):  # a bar of progress
        beyond = peak_beyond(lambda: pairs_of(model, X))[1]
    return beyond, memory("VmHWM")


def all_rows(report: Report) -> None:
    for name, load in (("kdd", kddcup), ("covertype", covertype)):
        X, y = load(3_000 if report.quick else None)
        model = boosting(X, y, quick=report.quick)
        pairs = len(gw.Explainer(model, X.head(100)).interaction_strengths())
        case = f"{name}, all {len(X):,} rows x {X.shape[1]}, {pairs:,} pairs"
        laps = race(
            {
                PREDICT: partial(model.predict, X),
                PAIRS: partial(pairs_of, model, X),
                WHOLE: partial(whole_of, model, X),
            },
            report.rounds,
        )
        report.add_times(case, laps)
        report.add(Figure(case, PAIRS, laps[PAIRS].best, "s", ("<=", 15)))
        report.add(Figure(case, f"{WHOLE} / {PREDICT}", laps[WHOLE].best / laps[PREDICT].best, "x"))
        beyond, whole = in_fresh_process(peak, model, X)
        report.add(Figure(case, f"{PAIRS}: peak memory beyond model and rows", beyond / GIGABYTE, "GB"))
        report.add(Figure(case, f"{PAIRS}: peak memory of the whole process", whole / GIGABYTE, "GB", ("<=", 2)))


if __name__ == "__main__":
    run(__doc__, {"all-rows": all_rows})
