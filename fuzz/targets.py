"""Invented targets: numbers, classes with odd labels, several targets at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fuzz.streams import stream

__all__ = ["LABEL_STYLES", "Target", "make_target"]

LABEL_STYLES: dict[str, tuple] = {
    "whole": (0, 1, 2, 3),
    "from_one": (1, 2, 3, 4),
    "swapped": (2, 0, 1, 3),
    "negative": (-1, 1, -3, 5),
    "text": ("no", "yes", "maybe", "x"),
    "digits": ("1", "0", "2", "10"),
    "unicode": ("ä", "猫", "", "Ω é"),
    "bools": (False, True),
    "floats": (1.0, -3.0, 2.0, 1e9),
}


@dataclass(frozen=True)
class Target:
    """What a model is to learn: `values` as its library takes them, and the classes in its order, if there are any."""

    task: str
    values: Any
    labels: tuple | None = None


def make_target(case: dict, frame: pd.DataFrame) -> Target:
    """Return the target of a case: a function of its columns, with noise."""
    spec, z = case["target"], _smooth(case, frame)
    rng = stream(case["seed"], "target")
    task = spec["task"]
    if task == "positive":
        return Target(task, np.exp(np.clip(z, -3, 3)) + 0.01)
    if task == "share":
        return Target(task, 1 / (1 + np.exp(-z)))
    if task == "several":
        return Target(task, np.column_stack([z, z**2, -z + rng.normal(size=len(z))][: spec.get("n_targets", 2)]))
    if task in ("binary", "multiclass"):
        n_classes = 2 if task == "binary" else spec.get("n_classes", 3)
        classes = np.digitize(z, np.quantile(z, np.linspace(0, 1, n_classes + 1)[1:-1])) if len(z) else z.astype(int)
        classes[: min(n_classes, len(z))] = np.arange(
            min(n_classes, len(z))
        )  # each class has a row, if there are enough
        labels = LABEL_STYLES[spec.get("labels", "whole")]
        known = sorted({labels[k] for k in classes})
        return Target(task, np.array([labels[k] for k in classes]), tuple(known))
    if task == "ranking":
        return Target(task, rng.integers(0, 3, size=len(z)))
    if spec.get("chain"):  # each split takes off the largest few, so that trees are chains
        return Target("number", 1.2 ** np.argsort(np.argsort(z)))
    return Target("number", z * spec.get("scale", 1.0) + spec.get("level", 0.0))


def _smooth(case: dict, frame: pd.DataFrame) -> np.ndarray:
    """Return a function of ranks and categories, with an interaction and noise, that no hostile value spoils."""
    z = 0.2 * stream(case["seed"], "noise").normal(size=len(frame))
    last = np.zeros(len(frame))
    for column, name in zip(case["columns"], frame.columns, strict=True):
        rng = stream(column["seed"], "effect")
        values = frame[name]
        if values.dtype.kind == "f":
            place = np.argsort(np.argsort(values.fillna(0.5).to_numpy(), kind="stable"), kind="stable")
            x = place / max(1, len(values)) + (values.isna().to_numpy() * 0.5)
        else:
            x = pd.factorize(values.astype(str))[0] / 4.0
        z += rng.normal() * np.sin(3 * x) + rng.normal() * x + 1.5 * rng.normal() * x * last
        last = x
    return z
