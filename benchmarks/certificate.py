"""Monotonicity proven from the trees alone: 100 trees of 31 leaves, and the IEEE-CIS models up to depth 22."""

from __future__ import annotations

from functools import partial
from typing import Any

from data import california, ieee
from lightgbm import LGBMRegressor
from measure import Figure, Report, race, run

import glasswood as gw

PROVE = "certificate"
READ = "certificate, with reading the model"


def prove(explainer: gw.Explainer) -> Any:
    return explainer.certificate()


def read_and_prove(model: Any) -> Any:
    return gw.Explainer(model).certificate()


def timed(report: Report, case: str, model: Any, limit: float) -> None:
    """Add the time of a certificate of all features; each lap compares all leaves again."""
    explainer = gw.Explainer(model)
    found = race({PROVE: partial(prove, explainer), READ: partial(read_and_prove, model)}, report.rounds)
    report.add_times(case, found)
    report.add(Figure(case, PROVE, found[PROVE].best, "s", ("<=", limit)))
    report.add(Figure(case, "pairs of leaves compared in all trees", float(found[PROVE].result.exact), "", (">=", 1)))


def boosted(report: Report) -> None:
    X, y = california(2_000 if report.quick else None)
    for name, constraints in (("free", None), ("constrained", [1, *[0] * (X.shape[1] - 1)])):
        model = LGBMRegressor(n_estimators=100, num_leaves=31, monotone_constraints=constraints, verbose=-1).fit(X, y)
        timed(report, f"100 trees of 31 leaves, {name}", model, 0.1)


def deep(report: Report) -> None:
    for depth in ("", "_depth_16", "_depth_22"):
        model = ieee(f"IEEE-CIS_xgboost_model{depth}")
        timed(report, f"IEEE-CIS{depth.replace('_', ' ')}, {gw.read_model(model).n_leaves:,} leaves", model, 10)
        if report.quick:
            return


if __name__ == "__main__":
    run(__doc__, {"boosted": boosted, "deep": deep})
