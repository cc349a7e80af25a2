"""A gate: measures over time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw


def draw() -> Any:
    """Return the figure."""
    rng = np.random.default_rng(0)

    def month(drift: float, n: int = 2000) -> pd.DataFrame:
        X = pd.DataFrame({"age": rng.normal(45 + drift, 12, n), "income": rng.lognormal(10, 0.4, n)})
        return X.assign(city=pd.Categorical(rng.choice(["Bern", "Genf", "Lugano"], n)))

    X = month(0)
    y = X["age"] * np.log(X["income"]) + 20 * (X["city"] == "Bern")
    model = HistGradientBoostingRegressor(max_iter=60, categorical_features="from_dtype").fit(X, y)
    months = {"2026-01": X, "2026-02": month(1), "2026-03": month(4), "2026-04": month(7)}
    explainers = {name: gw.Explainer(model, rows) for name, rows in months.items()}
    return gw.compare(explainers, reference="2026-01", limits={"psi": 0.2, "level": 0.2}).measures.plot()
