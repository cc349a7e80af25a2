"""The tasks of the paper's tables, as glasswood and the paper's own package carry them out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from interactions import woodelf_values
from paper_models import Spec, fitted, table

import glasswood as gw

__all__ = ["PEER_FIRST", "number_of_sets", "ours", "points_of", "theirs"]

# woodelf has a limited time for all tasks of a case, so the most telling ones come first.
PEER_FIRST = ("Exact full PDP", "Exact Joint-PDP k=5", "Approx. Joint-PDP k=5", "Exact PDP k=100", "Approx. PDP k=5")

Points = Mapping[str, Any]


def points_of(X: pd.DataFrame, k: int) -> dict[str, Any]:
    """Return k evenly spaced values between the 5th and the 95th percentile of each column."""
    ends = {name: np.nanquantile(X[name].to_numpy(), [0.05, 0.95]) for name in X}
    return {name: np.linspace(low, high, k) for name, (low, high) in ends.items()}


def curves_at(explainer: gw.Explainer, points: Points) -> dict[str, Any]:
    return {name: curve(points[name]) for name, curve in explainer.partial_dependence().items()}


def full_curves(explainer: gw.Explainer) -> dict[str, Any]:
    return {name: curve.values for name, curve in explainer.partial_dependence().items()}


def ours(model: Any, X: pd.DataFrame, tasks: Iterable[str]) -> dict[str, Callable[[], Any]]:
    """Return what glasswood does for each task: from the fitted model and the rows to all values in hand."""
    grids = {k: points_of(X, k) for k in (5, 10, 100)}
    found: dict[str, Callable[[], Any]] = {
        f"Exact PDP k={k}": partial(lambda k: curves_at(gw.Explainer(model, X), grids[k]), k) for k in grids
    }
    found |= {
        "Exact full PDP": lambda: full_curves(gw.Explainer(model, X)),
        "Exact Joint-PDP k=5": lambda: dict(gw.Explainer(model, X).joint_partial_dependence(grid=grids[5]).grid_values),
        "Approx. PDP k=5": lambda: curves_at(gw.Explainer(model), grids[5]),
        "Approx. Joint-PDP k=5": lambda: dict(gw.Explainer(model).joint_partial_dependence(grid=grids[5]).grid_values),
        "Any-order PDIV n=10,000": lambda: gw.Explainer(model, X).interaction_values(X.head(10_000)).values,
        "Any-order PDIV": lambda: gw.Explainer(model, X).interaction_values(X).mean_abs(),
    }
    return {task: found[task] for task in tasks}


def theirs(spec: Spec) -> dict[str, Callable[[], Any]]:
    """Return what the paper's own package does for each task; it chooses its points itself, as part of its time."""
    from woodelf.core.cube_metric import PDIVMetric
    from woodelf.pdp import woodelf_pdp, woodelf_pdp_joint
    from woodelf.simple_woodelf import calculate_background_metric

    X, _ = table(spec.data, quick=spec.quick)
    model = fitted(spec)
    one = partial(woodelf_pdp, model, X, verbose=False)
    pair = partial(woodelf_pdp_joint, model, X, k=5, verbose=False)
    found: dict[str, Callable[[], Any]] = {f"Exact PDP k={k}": partial(one, k=k) for k in (5, 10, 100)}
    means = partial(calculate_background_metric, model, X, X, PDIVMetric(), global_importance=True, verbose=False)
    return found | {
        "Exact full PDP": partial(one, full_pdp=True),
        "Exact Joint-PDP k=5": pair,
        "Approx. PDP k=5": partial(one, k=5, accurate=False),
        "Approx. Joint-PDP k=5": partial(pair, accurate=False),
        "Any-order PDIV n=10,000": lambda: woodelf_values(model, X, X.head(10_000)),
        "Any-order PDIV": means,  # over the rows, tree by tree, as in the paper
    }


def number_of_sets(model: Any, X: pd.DataFrame) -> int:
    """Return how many sets of features have interaction values."""
    return len(gw.Explainer(model, X.head(100)).interaction_values(X.head(1)))
