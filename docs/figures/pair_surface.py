"""Pairs: the surface of two features, and what the pair adds to the two curves."""

from __future__ import annotations

from typing import Any

from _diabetes import explainer


def draw() -> Any:
    """Return the figure."""
    return explainer().partial_dependence("bmi", "s5").plot()
