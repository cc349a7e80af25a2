"""Curves of a pipeline in the user's columns, against those of its bare model plus the time of the transformers."""

from __future__ import annotations

from typing import Any

import pandas as pd
from data import adult
from measure import Figure, Report, race, run
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import glasswood as gw

OURS, TRANSFORM = "curves of the pipeline", "the transformers alone"
BARE = "curves of the bare model, of transformed rows"


def fitted(X: Any, y: Any, n_rounds: int) -> Any:
    """Return a pipeline as people write it: imputers, one-hot encoded texts, scaled numbers, a boosted model."""
    texts = [name for name in X if X[name].dtype == object]
    hot = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    scaled = make_pipeline(SimpleImputer(), StandardScaler())
    numbers = [name for name in X if name not in texts]
    steps = make_column_transformer((hot, texts), (scaled, numbers), sparse_threshold=0)
    return make_pipeline(steps, HistGradientBoostingClassifier(max_iter=n_rounds, random_state=0)).fit(X, y)


def curves(report: Report) -> None:
    X, y = adult()
    pipeline = fitted(X, y, 5 if report.quick else 100)
    n_rows = 3_000 if report.quick else 1_000_000
    many = pd.concat([X] * (n_rows // len(X) + 1), ignore_index=True)[:n_rows]
    made = pipeline[:-1].transform(many)
    case = f"adult, {n_rows:,} rows x {X.shape[1]}, of which {made.shape[1]} columns are made"
    laps = race(
        {
            OURS: lambda: gw.Explainer(pipeline, many).partial_dependence(),
            BARE: lambda: gw.Explainer(pipeline[-1], made).partial_dependence(),
            TRANSFORM: lambda: pipeline[:-1].transform(many),
            "predict_proba of the pipeline": lambda: pipeline.predict_proba(many),
        },
        report.rounds,
    )
    report.add_times(case, laps)
    allowed = 1.5 * laps[BARE].best + laps[TRANSFORM].best
    report.add(Figure(case, "pipeline / (1.5 x bare + transformers)", laps[OURS].best / allowed, "x", ("<=", 1)))


if __name__ == "__main__":
    run(__doc__, {"curves": curves})
