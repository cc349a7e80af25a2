"""Bars of features in the order of their heights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.plots._spec import Bars
from glasswood.results._ranking import Ranking
from glasswood.results.panels._outputs import outputs_shown
from glasswood.text._arguments import whole_number
from glasswood.text._plain import plain

__all__ = ["Ranked", "first_of", "joined", "ranked_bars"]


class Ranked(NamedTuple):
    """Heights of features in the order of the figure."""

    heights: NDArray[np.float64]
    names: Sequence[str]
    outputs: tuple[Any, ...]
    units: str


def ranked_bars(result: Ranking, output: int | None, top: int, title: str, label: str) -> Bars:
    """Return bars of the heights of features."""
    heights = np.asarray(result.heights)
    shown, note = outputs_shown(heights, result.outputs, output)
    order = np.arange(len(heights)) if output is None else np.argsort(-heights[:, shown[0]], kind="stable")
    order, some = first_of(order, top)
    several = len(shown) > 1
    return Bars(
        title=title,
        x_label=label,
        labels=tuple(plain(result.names[i]) for i in order),
        values=tuple(tuple(heights[order, k].tolist()) for k in shown),
        series=tuple(plain(result.outputs[k]) for k in shown) if several else ("",),
        note=joined(some, note),
    )


def first_of(order: NDArray[np.intp], top: int) -> tuple[NDArray[np.intp], str]:
    """Return the features that are shown, and a note if some are left out."""
    top = whole_number(top, "top is the number of bars")
    return order[:top], f"the first {top} of {len(order):,} features" if len(order) > top else ""


def joined(*notes: str) -> str:
    return "; ".join(filter(None, notes))
