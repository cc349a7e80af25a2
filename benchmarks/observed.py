"""What was observed beside what was predicted, and folds for bands, against one predict_proba and a plain pass."""

from __future__ import annotations

from data import covertype
from measure import Figure, Report, race, run
from sklearn.ensemble import HistGradientBoostingClassifier

import glasswood as gw

PREDICT = "predict_proba"
COUNTS = "counts alone"
GIVEN = "counts, observed and predicted, with a column of predictions"
WALKED = "counts, observed and predicted, with predictions of its own"
FOLDS = "counts in 20 folds"


def passes(report: Report) -> None:
    X, y = covertype(3_000 if report.quick else None)
    target = y.to_numpy() == 2
    model = HistGradientBoostingClassifier(
        max_iter=5 if report.quick else 100, max_depth=6, early_stopping=False, random_state=0
    ).fit(X, target)
    prediction = model.predict_proba(X)
    case = f"covertype {len(X):,} x {X.shape[1]}, {model.n_iter_} trees"
    laps = race(
        {
            PREDICT: lambda: model.predict_proba(X),
            COUNTS: lambda: gw.summarize(model, X),
            GIVEN: lambda: gw.summarize(model, X, target=target, prediction=prediction),
            WALKED: lambda: gw.summarize(model, X, target=target),
            FOLDS: lambda: gw.summarize(model, X, folds=20),
        },
        report.rounds,
    )
    report.add_times(case, laps)
    for name, target_ratio in ((GIVEN, 0.3), (WALKED, 1.5)):
        report.add(Figure(case, f"{name} / {PREDICT}", laps[name].best / laps[PREDICT].best, "x", ("<=", target_ratio)))
    report.add(Figure(case, f"{FOLDS} / {COUNTS}", laps[FOLDS].best / laps[COUNTS].best, "x", ("<=", 2.5)))


if __name__ == "__main__":
    run(__doc__, {"passes": passes})
