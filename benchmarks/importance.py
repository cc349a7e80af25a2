"""Total and permutation importance of all features, on all rows, against one predict_proba."""

from __future__ import annotations

from data import covertype
from measure import Figure, Report, race, run
from sklearn.ensemble import HistGradientBoostingClassifier

import glasswood as gw

PREDICT = "predict_proba"
MAIN = "main importance"
TOTAL = "total importance"
PERMUTATION = "permutation importance (log loss)"


def ranking(report: Report) -> None:
    X, y = covertype(3_000 if report.quick else None)
    target = y.to_numpy() == 2
    model = HistGradientBoostingClassifier(
        max_iter=5 if report.quick else 100, max_depth=6, early_stopping=False, random_state=0
    ).fit(X, target)
    case = f"covertype {len(X):,} x {X.shape[1]}, {model.n_iter_} trees"
    laps = race(
        {
            PREDICT: lambda: model.predict_proba(X),
            MAIN: lambda: gw.Explainer(model, X).importance(kind="main"),
            TOTAL: lambda: gw.Explainer(model, X).importance(all_rows=True),
            PERMUTATION: lambda: gw.Explainer(model, X, target=target).permutation_importance(all_rows=True),
        },
        report.rounds,
    )
    report.add_times(case, laps)
    for name, bar in ((TOTAL, 4.0), (PERMUTATION, 6.0)):
        report.add(Figure(case, f"{name} / {PREDICT}", laps[name].best / laps[PREDICT].best, "x", ("<=", bar)))


if __name__ == "__main__":
    run(__doc__, {"ranking": ranking})
