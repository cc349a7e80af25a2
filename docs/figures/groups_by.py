"""Groups: one curve per group of rows."""

from __future__ import annotations

from typing import Any

from _diabetes import explainer


def draw() -> Any:
    """Return the figure."""
    return explainer().partial_dependence(["bmi", "s5"], by="sex").plot()
