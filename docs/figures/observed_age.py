"""Observed beside predicted: claims per year by age, with the band of the curve."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw


def draw() -> Any:
    """Return the figure."""
    generator = np.random.default_rng(0)
    policies = pd.DataFrame({"age": generator.uniform(18, 90, 3000), "power": generator.gamma(3, 30, 3000)})
    policies["exposure"] = generator.uniform(0.05, 1, 3000)
    policies["claims"] = generator.poisson(policies["exposure"] * np.where(policies["age"] < 26, 0.4, 0.1))
    rate = HistGradientBoostingRegressor(loss="poisson", max_iter=20)
    rate.fit(policies[["age", "power"]], policies["claims"] / policies["exposure"], sample_weight=policies["exposure"])
    ex = gw.Explainer(rate, policies, target="claims", exposure="exposure", folds=20, response="prediction")
    return ex.partial_dependence("age").plot(observed=True, error=True)
