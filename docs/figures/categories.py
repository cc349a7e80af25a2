"""Curves: categories, and missing values, have levels of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw


def draw() -> Any:
    """Return the figure."""
    draw = np.random.default_rng(0)
    city = draw.choice(["Bern", "Oslo", "Rome"], 1_000, p=[0.5, 0.3, 0.2])
    size = np.where(draw.random(1_000) < 0.15, np.nan, draw.uniform(20, 150, 1_000).round())
    rent = 400 + 9 * np.nan_to_num(size, nan=95) + 250 * (city == "Oslo") + draw.normal(0, 60, 1_000)
    X = pd.DataFrame({"size": size, "city": pd.Categorical(city)})
    model = HistGradientBoostingRegressor(max_iter=50, categorical_features="from_dtype", random_state=0).fit(X, rent)
    return gw.Explainer(model, X).plot(["size", "city"])
