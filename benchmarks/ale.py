"""Accumulated local effects of all features, exact on all rows, against one predict_proba and the counts alone."""

from __future__ import annotations

from data import covertype
from measure import Figure, Report, race, run
from sklearn.ensemble import HistGradientBoostingClassifier

import glasswood as gw

PREDICT = "predict_proba"
COUNTS = "counts alone"
ALE = "ALE of all features, with a first pass for the edges"
GIVEN = "counts and those of ALE, with given edges"


def passes(report: Report) -> None:
    X, y = covertype(3_000 if report.quick else None)
    model = HistGradientBoostingClassifier(
        max_iter=5 if report.quick else 100, max_depth=6, early_stopping=False, random_state=0
    ).fit(X, y.to_numpy() == 2)
    edges = {name: ale.edges for name, ale in gw.Explainer(model, X).ale().items() if ale.edges.size > 1}
    case = f"covertype {len(X):,} x {X.shape[1]}, {model.n_iter_} trees"
    laps = race(
        {
            PREDICT: lambda: model.predict_proba(X),
            COUNTS: lambda: gw.summarize(model, X),
            ALE: lambda: gw.Explainer(model, X).ale(),
            GIVEN: lambda: gw.summarize(model, X, answers={"ale": {"bins": edges}}),
        },
        report.rounds,
    )
    report.add_times(case, laps)
    report.add(Figure(case, f"{ALE} / {PREDICT}", laps[ALE].best / laps[PREDICT].best, "x", ("<=", 0.5)))


if __name__ == "__main__":
    run(__doc__, {"passes": passes})
