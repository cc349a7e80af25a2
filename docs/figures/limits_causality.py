"""Limits: a curve of the model against the effect of a treatment."""

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
    illness = draw.uniform(0, 1, 4_000)
    dose = np.clip(illness + draw.normal(0, 0.1, 4_000), 0, 1)
    outcome = 10 * illness - 3 * dose + draw.normal(0, 0.5, 4_000)
    seen = pd.DataFrame({"dose": dose, "illness": illness})
    figure, axis = plt.subplots(figsize=(6, 3.6), layout="constrained")
    for columns, label in ((["dose"], "model without illness"), (["dose", "illness"], "model with illness")):
        model = HistGradientBoostingRegressor(max_iter=100, random_state=0).fit(seen[columns], outcome)
        curve = gw.Explainer(model, seen[columns]).partial_dependence("dose", centered=True)
        at = np.linspace(0.02, 0.98, 400)
        axis.plot(at, curve(at) - curve(0.02), label=label)
    axis.plot([0, 1], [0, -3], "k--", label="what a dose does")
    axis.set(xlabel="dose", ylabel="change of the prediction")
    axis.legend(frameon=False)
    return figure
