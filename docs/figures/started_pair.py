"""Getting started: the surface of a pair."""

from __future__ import annotations

from typing import Any

from _diabetes import explainer


def draw() -> Any:
    """Return the figure."""
    ex = explainer()
    return ex.partial_dependence("bmi", "bp").plot()
