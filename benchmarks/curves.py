"""Every curve and every pair, against one predict of the model and against woodelf, side by side in one run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from data import covertype, ieee, kddcup, rows_for
from measure import Figure, Laps, Report, race
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw

GLASSWOOD, WOODELF = "glasswood, every PDP at full resolution", "woodelf_pdp(k=100)"
GLASSWOOD_JOINT, WOODELF_JOINT = "glasswood, every pair on 5 x 5", "woodelf_pdp_joint(k=5)"
PREDICT, INPLACE = "predict", "inplace_predict"
INPLACE_ARRAY = "inplace_predict of a C-ordered array"  # the layout that XGBoost likes best


def every_curve(model: Any, X: Any) -> dict[str, Any]:
    """Return the values of every curve, from the model and the rows: reading, checking and counting included."""
    return {name: curve.values for name, curve in gw.Explainer(model, X).partial_dependence().items()}


def woodelf_curves(model: Any, X: pd.DataFrame) -> Any:
    from woodelf.pdp import woodelf_pdp

    return woodelf_pdp(model, X, k=100, verbose=False)


def woodelf_pairs(model: Any, X: pd.DataFrame) -> Any:
    from woodelf.pdp import woodelf_pdp_joint

    return woodelf_pdp_joint(model, X, k=5, verbose=False)


def five_values(X: pd.DataFrame) -> dict[str, Any]:
    """Return the five values of each column that woodelf chooses: equally spaced between two quantiles."""
    from scipy.stats.mstats import mquantiles

    ends = {name: mquantiles(X[name].to_numpy(), prob=(0.05, 0.95)) for name in X}
    return {name: np.linspace(low, high, 5) for name, (low, high) in ends.items()}


def difference_from_predict(model: Any, X: pd.DataFrame) -> float:
    """Return the largest difference from the model's own predict on modified rows, as a part of the curves' range.

    At 20 values of the table, chosen by chance, of features that matter.
    """
    rng = np.random.default_rng(0)
    curves = gw.Explainer(model, X).partial_dependence()
    heights = {name: float(np.ptp(curve.values)) for name, curve in curves.items()}
    gaps = []
    for name in rng.choice([name for name in heights if heights[name] > 0], 20):
        x = rng.choice(X[name].to_numpy())
        brute = np.mean(model.predict(X.assign(**{name: x})), dtype=np.float64)
        gaps.append(abs(float(curves[name](x)) - float(brute)))
    return max(gaps) / max(heights.values())


def difference_of_curves(model: Any, X: pd.DataFrame, peer: Any) -> float:
    """Return the largest difference from woodelf, at its own points, as a part of the range of the curves.

    Woodelf's curves are relative to the mean.
    """
    values, points = peer
    curves = gw.Explainer(model, X).partial_dependence()
    scale = max(float(np.ptp(curve.values)) for curve in curves.values())
    gaps = [np.abs(curves[f](points[f].to_numpy()) - curves[f].mean - y).max() for f, y in values.items()]
    return float(max(gaps)) / scale


def difference_of_pairs(grids: dict[tuple[str, str], Any], peer: Any) -> float:
    """Return the largest difference from woodelf over all pairs, as a part of the range of the surfaces.

    The first feature of a pair is the one that runs faster in woodelf's flat arrays.
    """
    scale = max(float(np.ptp(surface)) for surface in grids.values())
    gaps = [np.abs(surface - peer[0][pair].reshape(5, 5).T).max() for pair, surface in grids.items()]
    return float(max(gaps)) / scale


def claim(report: Report, case: str, laps: dict[str, Laps], pair: tuple[str, str], target: tuple[str, float]) -> None:
    """Note how many times longer the first of a pair takes than the second."""
    above, below = pair
    ratio = laps[above].best / laps[below].best
    if ratio == ratio:
        report.add(Figure(case, f"{above} / {below}", ratio, "x", target))


def boosting(report: Report, case: str, load: Callable[[int | None], Any]) -> None:
    X, y = load(5_000 if report.quick else None)
    model = HistGradientBoostingRegressor(max_iter=10 if report.quick else 100, max_depth=6, random_state=0).fit(X, y)
    case = f"{case} {X.shape[0]:,} x {X.shape[1]}"
    start = time.perf_counter()
    grids = five_values(X)
    choosing = time.perf_counter() - start
    contenders = {
        GLASSWOOD: lambda: every_curve(model, X),
        PREDICT: lambda: model.predict(X),
        WOODELF: lambda: woodelf_curves(model, X),
        GLASSWOOD_JOINT: lambda: dict(gw.Explainer(model, X).joint_partial_dependence(grid=grids).grid_values),
        WOODELF_JOINT: lambda: woodelf_pairs(model, X),
    }
    laps = race(contenders, report.rounds)
    report.add_times(case, laps)
    # woodelf sorts every column to choose its points; glasswood is given five of them, and needs none for whole curves
    report.add(Figure(case, "choosing woodelf's points, part of its time", choosing, "s"))
    claim(report, case, laps, (GLASSWOOD, PREDICT), ("<=", 0.1))
    claim(report, case, laps, (WOODELF, GLASSWOOD), (">=", 80))
    claim(report, case, laps, (WOODELF_JOINT, GLASSWOOD_JOINT), (">=", 50))
    check(report, case, model, X, laps[WOODELF])
    if not laps[WOODELF_JOINT].error:
        difference = difference_of_pairs(laps[GLASSWOOD_JOINT].result, laps[WOODELF_JOINT].result)
        report.add(Figure(case, "pairs: largest difference from woodelf / range", difference, "", ("<=", 1e-10)))


def check(report: Report, case: str, model: Any, X: pd.DataFrame, peer: Laps | None) -> None:
    """Note how far the curves are from brute force and from woodelf's."""
    difference = difference_from_predict(model, X.head(20_000))
    target = ("<=", 1e-5 if hasattr(model, "get_booster") else 1e-10)  # XGBoost adds in float32
    report.add(Figure(case, "curves: largest difference from brute force / range", difference, "", target))
    if peer is not None and not peer.error:
        difference = difference_of_curves(model, X, peer.result)
        report.add(Figure(case, "curves: largest difference from woodelf / range", difference, ""))


def real_booster(report: Report, case: str, dtype: type[np.floating[Any]]) -> None:
    model = ieee("IEEE-CIS_xgboost_model")
    booster = model.get_booster()
    X = rows_for(model, 5_000 if report.quick else 472_432, dtype)
    rows = np.ascontiguousarray(X.to_numpy())
    case = f"{case} {X.shape[0]:,} x {X.shape[1]}"
    contenders = {
        GLASSWOOD: lambda: every_curve(model, X),
        INPLACE: lambda: booster.inplace_predict(X),
        INPLACE_ARRAY: lambda: booster.inplace_predict(rows, validate_features=False),
        WOODELF: lambda: woodelf_curves(model, X),
    }
    if report.quick:
        del contenders[WOODELF]  # a minute even for few rows
    laps = race(contenders, report.rounds)
    report.add_times(case, laps)
    for predict in (INPLACE, INPLACE_ARRAY):
        claim(report, case, laps, (GLASSWOOD, predict), ("<=", 0.5))
    if WOODELF in laps:
        claim(report, case, laps, (WOODELF, GLASSWOOD), (">=", 80))
    check(report, case, model, X, laps.get(WOODELF))


CASES: dict[str, Callable[[Report, str], None]] = {
    "covertype": lambda report, case: boosting(report, case, covertype),
    "kddcup": lambda report, case: boosting(report, case, kddcup),
    "ieee-float32": lambda report, case: real_booster(report, case, np.float32),
    "ieee-float64": lambda report, case: real_booster(report, case, np.float64),
}


def main() -> None:
    report = Report(__doc__ or "", CASES)
    for case in report.cases:
        CASES[case](report, case)
    report.finish()


if __name__ == "__main__":
    main()
