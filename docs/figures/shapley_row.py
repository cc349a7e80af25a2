"""Interactions: how the score of one row adds up."""

from __future__ import annotations

from typing import Any

from _diabetes import explainer
from sklearn.datasets import load_diabetes


def draw() -> Any:
    """Return the figure."""
    X = load_diabetes(as_frame=True, scaled=False).data
    return explainer().shap_values(X).plot(row=0)
