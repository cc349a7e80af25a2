"""Interactions: how strongly each pair interacts."""

from __future__ import annotations

from typing import Any

from _diabetes import explainer


def draw() -> Any:
    """Return the figure."""
    return explainer().interaction_strengths().plot()
