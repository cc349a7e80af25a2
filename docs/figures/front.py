"""The picture of the README. `python docs/figures/front.py` writes docs/_static/front.png."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from _loans import defaults, loans

import glasswood as gw

SHARES = ([0.0, 0.2, 0.4, 0.6], ["0", "20 %", "40 %", "60 %"])
INCOMES = ([30_000, 60_000, 90_000, 120_000], ["30,000", "60,000", "90,000", "120,000"])


def draw() -> Any:
    """Return a sampled curve, the exact one, and what was observed beside it."""
    model, X = loans()
    ex = gw.Explainer(model, X, target=defaults(), response="probability")
    curve = ex.partial_dependence("income")
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), sharey=True, layout="constrained")
    points = np.linspace(25_000, 130_000, 20)
    axes[0].plot(points, curve(points), "o-", color="0.35", markersize=4)
    axes[0].set(title="sampled at 20 values", xlabel="income", ylabel="probability of default")
    curve.plot(ax=axes[1], title="every step of the model")
    curve.plot(ax=axes[2], observed=True, title="what was observed")
    for place, one in enumerate(axes):
        one.set(xlim=(25_000, 130_000), ylim=(0, 0.65))
        one.set_xticks(*INCOMES)
        one.set_yticks(*SHARES)
        if place:
            one.set_ylabel("")
    return figure


if __name__ == "__main__":
    draw().savefig(Path(__file__).resolve().parents[1] / "_static" / "front.png", dpi=100, facecolor="white")
