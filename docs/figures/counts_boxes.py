"""How it works: a curve is a sum of boxes, one for each leaf."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

BOXES = {"A": (20, 40, 1 * 6 / 6), "B": (40, 80, 4 * 4 / 6), "C": (40, 80, 5 * 2 / 6)}  # from, to, value x count / rows


def draw() -> Any:
    """Return the figure."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3), sharex=True, layout="constrained")
    edges = np.array([20, 40, 80])
    for colour, (name, (start, stop, height)) in enumerate(BOXES.items()):
        left.fill_between([start, stop], height, alpha=0.35, color=f"C{colour}", label=f"leaf {name}")
        left.plot([start, start, stop, stop], [0, height, height, 0], color=f"C{colour}")
    left.set(title="each leaf is a box over the feature", xlabel="age", ylabel="value * count / rows")
    left.legend(frameon=False)
    total = [sum(height for start, stop, height in BOXES.values() if start <= at < stop) for at in edges[:-1]]
    right.stairs(total, edges, linewidth=2)
    right.set(title="the curve is their sum", xlabel="age", ylabel="average prediction", ylim=(0, 5.5))
    return figure
