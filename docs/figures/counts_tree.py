"""How it works: a tree, its rows, and the counts of its leaves."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt

ROWS = [(30, 110), (35, 150), (45, 120), (55, 130), (60, 160), (70, 125)]
NODES = {(0.5, 0.9): "age <= 40", (0.7, 0.55): "bp <= 145"}
LEAVES = {(0.25, 0.55): "A: 1", (0.55, 0.18): "B: 4", (0.88, 0.18): "C: 5"}
EDGES = [
    ((0.5, 0.9), (0.25, 0.55)),
    ((0.5, 0.9), (0.7, 0.55)),
    ((0.7, 0.55), (0.55, 0.18)),
    ((0.7, 0.55), (0.88, 0.18)),
]


def counts() -> list[list[str]]:
    """Return, for each leaf, the rows that meet all conditions except perhaps those on a set of features."""
    paths = {
        "A": {"age": lambda age, _: age <= 40},
        "B": {"age": lambda age, _: age > 40, "bp": lambda _, bp: bp <= 145},
        "C": {"age": lambda age, _: age > 40, "bp": lambda _, bp: bp > 145},
    }
    sets = [(), ("age",), ("bp",), ("age", "bp")]
    return [
        [
            str(sum(all(met(*row) for name, met in path.items() if name not in free) for row in ROWS))
            if set(free) <= set(path)
            else ""
            for free in sets
        ]
        for path in paths.values()
    ]


def draw() -> Any:
    """Return the figure."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.2), width_ratios=[1, 1.2], layout="constrained")
    for start, end in EDGES:
        left.plot(*zip(start, end, strict=True), color="0.5", zorder=1)
    for place, text in {**NODES, **LEAVES}.items():
        shape = {"boxstyle": "round", "facecolor": "white" if place in NODES else "#d5e8f6", "edgecolor": "0.4"}
        left.text(*place, text, ha="center", va="center", bbox=shape, fontsize=11)
    left.set(xlim=(0.1, 1), ylim=(0, 1), title="a tree; leaves with their values")
    for axes in (left, right):
        axes.axis("off")
    right.set_title("number of rows that meet all conditions,\nexcept perhaps those on S")
    table = right.table(
        counts(),
        rowLabels=["leaf A", "leaf B", "leaf C"],
        colLabels=["S = {}", "S = {age}", "S = {bp}", "S = {age, bp}"],
        loc="center",
        cellLoc="center",
    )
    table.scale(1, 1.9)
    return figure
