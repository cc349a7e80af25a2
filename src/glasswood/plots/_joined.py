"""Panels of joined heights, as needed by both drawing libraries."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from glasswood.plots._spec import Joined
from glasswood.text._plain import percent, several

__all__ = ["density_of", "heights_of_joined", "missing_label", "names_of_joined", "places_of"]

LETTERS = 24  # of the name of a line in a legend
NARROW = 1e-3  # of the axis: narrower bins are as dense as if they were as wide


def heights_of_joined(panel: Joined) -> tuple[float, float]:
    """Return the lowest and the highest of all heights of a panel."""
    values: list[float] = [0.0]
    for line in (*panel.lines, *panel.faint):
        values += [*line.heights, *(x for x in (line.missing,) if x is not None)]
    for band in panel.bands:
        values += [*band.low, *band.high]
    result = np.array(values, dtype=np.float64)
    result = result[np.isfinite(result)]
    return float(result.min()), float(result.max())


def density_of(panel: Joined) -> NDArray[np.float64]:
    """Return how dense rows are between two places, as shares of the largest."""
    least = max(NARROW * (panel.places[-1] - panel.places[0]), np.finfo(np.float64).tiny)
    dense = np.asarray(panel.support) / np.maximum(np.diff(panel.places), least)
    return dense / max(float(dense.max(initial=0.0)), np.finfo(np.float64).tiny)


def missing_label(panel: Joined) -> str | None:
    """Return what is written below the heights of missing values; None if there are none."""
    if all(line.missing is None for line in panel.lines):
        return None
    return f"missing\n{percent(panel.missing_share)}" if panel.missing_share else "missing"


def names_of_joined(panel: Joined) -> list[str]:
    """Return the entries of the legend: lines, lines to compare with, bands."""
    names = several([line.name for line in (*panel.lines, *panel.faint[:1])], LETTERS)
    return [*names, *dict.fromkeys(band.name for band in panel.bands)]


def places_of(panel: Joined) -> tuple[float, float]:
    """Return where the axis begins and ends."""
    if not panel.places:
        return 0.0, 1.0
    low, high = panel.places[0], panel.places[-1]
    room = 0.02 * (high - low) or max(abs(low), 1.0)
    return low - room, high + room
