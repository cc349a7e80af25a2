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
    """Return the exact curve with a sampled one, and what was observed beside it."""
    model, X = loans()
    curve = gw.Explainer(model, X, target=defaults(), response="probability").partial_dependence("income")
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
    curve.plot(ax=axes[0], title="Every step, and a grid of 20 values")
    points = np.linspace(25_000, 130_000, 20)
    axes[0].plot(points, curve(points), "o", color="black", markersize=4, zorder=5, label="grid of 20 values")
    axes[0].legend(loc="upper right")
    curve.plot(ax=axes[1], observed=True, title="What was observed")
    for one in axes:
        one.set(xlim=(25_000, 130_000), ylim=(0, 0.65), ylabel="")
        one.set_xticks(*INCOMES)
        one.set_yticks(*SHARES)
        one.spines["left"].set_bounds(0, 0.6)
    axes[0].set_ylabel("probability of default")
    return figure


if __name__ == "__main__":
    draw().savefig(Path(__file__).resolve().parents[1] / "_static" / "front.png", dpi=110, facecolor="white")
