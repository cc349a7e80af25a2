"""Limits: an average that is flat, and rows that are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw


def draw() -> Any:
    """Return the figure."""
    draw = np.random.default_rng(0)
    X = pd.DataFrame({"dose": draw.uniform(0, 1, 2_000), "marker": draw.integers(0, 2, 2_000)})
    y = (2 * X["marker"] - 1) * X["dose"] + draw.normal(0, 0.1, 2_000)
    ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=60, random_state=0).fit(X, y), X)
    return ex.ice("dose").plot()
