"""Limits: two correlated features; the curve is averaged over rows that do not exist."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw


def draw() -> Any:
    """Return the figure."""
    draw = np.random.default_rng(0)
    height = draw.normal(170, 10, 3_000)
    X = pd.DataFrame({"height": height, "weight": 0.9 * height - 85 + draw.normal(0, 3, 3_000)})
    y = X["weight"] + draw.normal(0, 3, 3_000)
    surface = gw.Explainer(HistGradientBoostingRegressor(max_iter=60, random_state=0).fit(X, y), X).partial_dependence(
        "height", "weight"
    )
    figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    axes[0].scatter(X["height"], X["weight"], s=3, alpha=0.4)
    axes[0].axvline(190, color="C3", linestyle="--")
    axes[0].set(xlabel="height", ylabel="weight", title="the rows")
    surface.plot(kind="surface", ax=axes[1])
    axes[1].set_title("the model; cells without rows are hatched")
    return figure
