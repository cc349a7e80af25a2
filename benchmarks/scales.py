"""What the default scale costs: curves of probabilities beside predict_proba, and reports beside those of the score."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from data import adult, covertype
from lightgbm import LGBMClassifier
from measure import Figure, Report, race, run
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingClassifier

import glasswood as gw

PREDICT, FIRST, ALL = "predict_proba", "the first curve of one feature", "all curves"
MODELS: dict[str, Callable[[int], Any]] = {
    "HistGradientBoosting": lambda n: HistGradientBoostingClassifier(
        max_iter=n, categorical_features="from_dtype", random_state=0
    ),
    "LightGBM": lambda n: LGBMClassifier(n_estimators=n, verbose=-1, random_state=0),
}


def tables(name: str, *, quick: bool) -> tuple[Any, Any]:
    """Return a table and its target."""
    if name == "covertype":
        return covertype(3_000 if quick else 100_000)
    X, y = adult()
    X = X.astype({column: "category" for column in X if X[column].dtype == object})
    return (X.head(3_000), y.head(3_000)) if quick else (X, y)


def curves(report: Report, data: str, kind: str) -> None:
    """Time the first curve of one feature, and all of them."""
    X, y = tables(data, quick=report.quick)
    model = MODELS[kind](5 if report.quick else 100).fit(X, y)
    feature = gw.Explainer(model, X.head(1000)).importance().names[0]
    case = f"{data} {len(X):,} x {X.shape[1]}, {kind}"
    laps = race(
        {
            PREDICT: lambda: model.predict_proba(X),
            FIRST: lambda: gw.Explainer(model, X).partial_dependence(feature),
            ALL: lambda: gw.Explainer(model, X).partial_dependence(),
            "all curves of the score": lambda: gw.Explainer(model, X, response="raw").partial_dependence(),
        },
        report.rounds,
    )
    report.add_times(case, laps)
    for what, target in ((FIRST, 1.5), (ALL, 3)):
        report.add(Figure(case, f"{what} / {PREDICT}", laps[what].best / laps[PREDICT].best, "x", ("<=", target)))


def reports(report: Report, kind: str) -> None:
    """Time the report of adult census on both scales."""
    X, y = tables("adult", quick=report.quick)
    model = MODELS[kind](5 if report.quick else 100).fit(X, y)
    case = f"report of adult {len(X):,} x {X.shape[1]}, {kind}"
    laps = race(
        {
            "response='raw'": lambda: gw.Explainer(model, X, response="raw").report(),
            "default": lambda: gw.Explainer(model, X).report(),
        },
        min(report.rounds, 3),
    )
    report.add_times(case, laps)
    report.add(Figure(case, "default / raw", laps["default"].best / laps["response='raw'"].best, "x", ("<=", 2)))


def small(report: Report) -> None:
    """Time all curves of a table of the size of scikit-learn's diabetes."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = HistGradientBoostingClassifier(max_iter=100, random_state=0).fit(X, y > y.median())
    case = f"diabetes {len(X)} x {X.shape[1]}"
    laps = race({ALL: lambda: gw.Explainer(model, X).partial_dependence()}, 2 * report.rounds)
    report.add(Figure(case, ALL, 1000 * laps[ALL].best, "ms", ("<=", 50)))


CASES: dict[str, Callable[[Report], None]] = {
    **{f"{data}-{kind}": partial(curves, data=data, kind=kind) for data in ("adult", "covertype") for kind in MODELS},
    **{f"report-{kind}": partial(reports, kind=kind) for kind in MODELS},
    "small": small,
}

if __name__ == "__main__":
    run(__doc__ or "", CASES)
