"""ICE: the mean of all rows, and some of their own curves."""

from __future__ import annotations

from typing import Any

from _diabetes import explainer


def draw() -> Any:
    """Return the figure."""
    return explainer().ice("bmi").plot()
