"""Curves: what a sampled curve misses and the exact one shows."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from _loans import loans

import glasswood as gw


def draw() -> Any:
    """Return the figure."""
    model, X = loans()
    curve = gw.Explainer(model, X, response="probability").partial_dependence("income")
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), sharey=True, layout="constrained")
    points = np.linspace(*X["income"].quantile([0.01, 0.99]), 20)
    axes[0].plot(points, curve(points), "o-", color="0.35", markersize=4)
    axes[0].set(title="sampled at 20 values", xlabel="income", ylabel="average probability of default")
    axes[0].set_xticks([50_000, 100_000, 150_000], ["50,000", "100,000", "150,000"])
    curve.plot(ax=axes[1])
    axes[1].set(title="exact", xlim=axes[0].get_xlim(), ylabel="")
    return figure
