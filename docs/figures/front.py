"""The picture of the README. `python docs/figures/front.py` writes docs/_static/front.png."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from _diabetes import explainer


def draw() -> Any:
    """Return two curves and their surface."""
    return explainer().plot(["bmi", "s5", ("bmi", "s5")], std=True)


if __name__ == "__main__":
    draw().savefig(Path(__file__).resolve().parents[1] / "_static" / "front.png", dpi=100, facecolor="white")
