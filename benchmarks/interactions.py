"""Interactions of any order and Shapley values, against woodelf in one run; on all rows there are; of deep trees."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from curves import claim
from data import covertype, ieee, kddcup, kddcup_test, made, rows_for
from measure import GIGABYTE, Figure, Laps, Report, in_fresh_process, memory, peak_beyond, race, run
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw

VALUES, MEANS = "glasswood, every PDIV", "glasswood, mean absolute PDIV of every set"
SHAPLEY = "glasswood, Shapley values"
WOODELF = "woodelf, every PDIV, calculate_background_metric"
WOODELF_HIGH = "woodelf, every PDIV, woodelf_for_high_depth"
WOODELF_MEANS, WOODELF_SHAPLEY = "woodelf, every PDIV, then the means", "woodelf, WoodelfExplainer.shap_values"
PATHS, CONTRIBUTIONS = "glasswood, path-dependent Shapley values", "XGBoost, pred_contribs"


def boosting(X: pd.DataFrame, y: pd.Series, *, quick: bool) -> Any:
    return HistGradientBoostingRegressor(max_iter=10 if quick else 100, max_depth=6, random_state=0).fit(X, y)


def every_value(model: Any, X: pd.DataFrame, rows: pd.DataFrame) -> tuple[list[tuple[str, ...]], Any]:
    """Return all sets and the values of all rows, from the model and the background: reading and counting included."""
    found = gw.Explainer(model, X).interaction_values(rows)
    return found.subsets, found.values


def mean_values(model: Any, X: pd.DataFrame, rows: pd.DataFrame) -> dict[frozenset[str], float]:
    """Return the mean absolute value of every set."""
    found = gw.Explainer(model, X).interaction_values(rows)
    return dict(zip(map(frozenset, found.subsets), found.mean_abs().tolist(), strict=True))


def shapley(model: Any, X: pd.DataFrame | None, rows: pd.DataFrame) -> Any:
    return gw.Explainer(model, X).shap_values(rows).values


def woodelf_values(model: Any, X: pd.DataFrame, rows: pd.DataFrame) -> Any:
    """Return the values of every set. The explainer itself would drop all sets but pairs when it makes its frame."""
    from woodelf.core.cube_metric import PDIVMetric
    from woodelf.simple_woodelf import calculate_background_metric

    return calculate_background_metric(model, rows, X, PDIVMetric(), verbose=False)


def woodelf_values_high(model: Any, X: pd.DataFrame, rows: pd.DataFrame) -> Any:
    """Return the same the way that WoodelfExplainer takes."""
    from woodelf.core.cube_metric import PDIVMetric
    from woodelf.high_depth_woodelf import woodelf_for_high_depth

    return woodelf_for_high_depth(model, rows, X, PDIVMetric(), verbose=False)


def woodelf_shapley(model: Any, X: pd.DataFrame, rows: pd.DataFrame) -> Any:
    from woodelf.explainer import WoodelfExplainer

    return WoodelfExplainer(model, X).shap_values(rows, verbose=False)


def by_set(values: dict[tuple[str, ...], Any]) -> dict[frozenset[str], Any]:
    """Return woodelf's values by set: it may have several orders of the same names, each with a part of the value."""
    found: dict[frozenset[str], Any] = {}
    for names, value in values.items():
        key = frozenset(names)
        found[key] = found[key] + value if key in found else value
    return found


def woodelf_means(values: dict[tuple[str, ...], Any]) -> dict[frozenset[str], float]:
    return {names: float(np.abs(value).mean()) for names, value in by_set(values).items()}


def difference_of_values(ours: tuple[list[tuple[str, ...]], Any], theirs: dict[tuple[str, ...], Any]) -> float:
    """Return the largest difference over all sets and rows, as a part of the range of our values.

    The empty set, the mean, is left out: woodelf reads no constant from the model.
    """
    subsets, values = ours
    peer = by_set(theirs)
    gap, low, high = 0.0, np.inf, -np.inf
    for number, names in enumerate(subsets):
        if names:
            column = values[:, number]
            gap = max(gap, float(np.abs(column - peer.pop(frozenset(names), 0.0)).max()))
            low, high = min(low, column.min()), max(high, column.max())
    rest = [float(np.abs(value).max()) for names, value in peer.items() if names]
    return max([gap, *rest]) / float(high - low)


def difference(ours: Any, theirs: Any) -> float:
    """Return the largest difference of two arrays as a part of the range of the first."""
    return float(np.abs(ours - theirs).max()) / float(np.ptp(ours))


def compare(report: Report, case: str, laps: tuple[Laps, Laps], what: str, gap: Callable[[Any, Any], float]) -> None:
    """Note how far two contenders are apart, if both arrived. Some weights and frequencies of woodelf are float32."""
    ours, theirs = laps
    if not ours.error and not theirs.error:
        value = gap(ours.result, theirs.result)
        report.add(Figure(case, f"{what}: largest difference from woodelf / range", value, "", ("<=", 1e-6)))


def made_rows(report: Report) -> None:
    X, y = made(2_000 if report.quick else 200_000)
    model, rows = boosting(X, y, quick=report.quick), X.head(200 if report.quick else 10_000)
    sets = len(gw.Explainer(model, X).interaction_values(rows.head(1)))
    case = f"made {len(X):,} x {X.shape[1]}, {len(rows):,} rows, {sets:,} sets"
    peers = {WOODELF: woodelf_values, WOODELF_HIGH: woodelf_values_high}

    contenders: dict[str, Callable[[], Any]] = {VALUES: lambda: every_value(model, X, rows)}
    contenders |= {name: partial(way, model, X, rows) for name, way in peers.items()}
    laps = race(contenders, report.rounds)
    report.add_times(case, laps)
    faster = WOODELF_HIGH if laps[WOODELF_HIGH].best < laps[WOODELF].best else WOODELF
    claim(report, case, laps, (faster, VALUES), (">=", 8))
    compare(report, case, (laps[VALUES], laps[faster]), VALUES, difference_of_values)
    laps.clear()  # gigabytes

    contenders = {
        MEANS: lambda: mean_values(model, X, rows),
        WOODELF_MEANS: lambda: woodelf_means(peers[faster](model, X, rows)),
    }
    laps = race(contenders, report.rounds)
    report.add_times(case, laps)
    claim(report, case, laps, (WOODELF_MEANS, MEANS), (">=", 15))
    compare(report, case, (laps[MEANS], laps[WOODELF_MEANS]), MEANS, difference_of_means)

    case = f"made {len(X):,} x {X.shape[1]}, {len(rows):,} rows"
    laps = race_shapley(report, case, model, X, rows)
    claim(report, case, laps, (WOODELF_SHAPLEY, SHAPLEY), (">=", 10))


def difference_of_means(ours: dict[frozenset[str], float], theirs: dict[frozenset[str], float]) -> float:
    """Return the largest difference over all sets but the empty one, as a part of the largest mean."""
    names = [key for key in ours.keys() | theirs.keys() if key]
    return max(abs(ours.get(key, 0.0) - theirs.get(key, 0.0)) for key in names) / max(ours[key] for key in ours if key)


def race_shapley(report: Report, case: str, model: Any, X: pd.DataFrame, rows: pd.DataFrame) -> dict[str, Laps]:
    contenders = {
        SHAPLEY: lambda: shapley(model, X, rows),
        WOODELF_SHAPLEY: lambda: woodelf_shapley(model, X, rows),
    }
    laps = race(contenders, report.rounds)
    report.add_times(case, laps)
    compare(report, case, (laps[SHAPLEY], laps[WOODELF_SHAPLEY]), SHAPLEY, difference)
    return laps


def test_table(report: Report) -> None:
    """Explain a whole test table against a whole training table."""
    X, y = kddcup(5_000 if report.quick else None)
    model, rows = boosting(X, y, quick=report.quick), kddcup_test(X, 500 if report.quick else None)
    case = f"kdd, {len(rows):,} rows against {len(X):,}"
    laps = race_shapley(report, case, model, X, rows)
    for name, lap in laps.items():
        report.add(Figure(case, f"{name}: explained rows per second", len(rows) / lap.best, "/ s"))
    ratio = laps[WOODELF_SHAPLEY].best / laps[SHAPLEY].best
    report.add(Figure(case, f"rows per second, glasswood / woodelf, all {len(rows):,} rows each", ratio, "x"))


def peak(model: Any, X: pd.DataFrame) -> tuple[int, int]:
    """Return the most memory that the means take beyond the model and the rows, and that of the whole process."""
    with contextlib.redirect_stderr(io.StringIO()):  # a bar of progress
        beyond = peak_beyond(lambda: mean_values(model, X, X))[1]
    return beyond, memory("VmHWM")


def all_rows(report: Report) -> None:
    """Take the mean absolute value of every set over all rows of a table, which are the background too."""
    for name, load in (("kdd", kddcup), ("covertype", covertype)):
        X, y = load(3_000 if report.quick else None)
        model = boosting(X, y, quick=report.quick)
        sets = len(gw.Explainer(model, X).interaction_values(X.head(1)))
        case = f"{name}, all {len(X):,} rows, {sets:,} sets"
        report.add_times(case, race({MEANS: partial(mean_values, model, X, X)}, report.rounds))
        beyond, whole = in_fresh_process(peak, model, X)
        report.add(Figure(case, "peak memory beyond model and rows", beyond / GIGABYTE, "GB"))
        report.add(Figure(case, "peak memory of the whole process", whole / GIGABYTE, "GB", ("<=", 2)))


def deep(report: Report) -> None:
    """Explain a real model of depth 22, with a background and without."""
    import xgboost

    model = ieee("IEEE-CIS_xgboost_model_depth_22")
    n_rows, n_background = (20, 100) if report.quick else (1_000, 10_000)
    table = rows_for(model, n_rows + n_background, np.float32)
    rows, X = table.head(n_rows), table.tail(n_background)
    case = f"ieee depth 22, {n_rows:,} rows"
    against = f"{SHAPLEY}, background of {n_background:,} rows"
    matrix = xgboost.DMatrix(rows)
    contenders = {
        against: lambda: shapley(model, X, rows),
        PATHS: lambda: shapley(model, None, rows),
        CONTRIBUTIONS: lambda: model.get_booster().predict(matrix, pred_contribs=True),
    }
    laps = race(contenders, report.rounds)
    report.add_times(case, laps)
    if not laps[PATHS].error:
        gap = difference(laps[PATHS].result, laps[CONTRIBUTIONS].result[:, :-1])
        report.add(Figure(case, f"{PATHS}: largest difference from XGBoost / range", gap, "", ("<=", 1e-4)))
    if not laps[against].error:
        scores, others = (model.predict(part, output_margin=True).astype(np.float64) for part in (rows, X))
        gap = difference(scores, laps[against].result.sum(axis=1) + others.mean())
        report.add(Figure(case, f"{against}: largest error of the sums / range", gap, "", ("<=", 1e-5)))


CASES: dict[str, Callable[[Report], None]] = {"made": made_rows, "kdd": test_table, "all-rows": all_rows, "deep": deep}


if __name__ == "__main__":
    run(__doc__, CASES)
