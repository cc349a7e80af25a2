"""What was observed and predicted, as lines of a panel of a curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError
from glasswood.plots._spec import Line
from glasswood.results.panels._drawable import DrawableCurve
from glasswood.results.panels._layout import Layout

if TYPE_CHECKING:
    from glasswood.results._observations import Observations

__all__ = ["CURVE", "lines_of_observations", "pools_of"]

CURVE = "partial dependence"
LEAST = 0.05  # of the exposure: cells are drawn together until they have as much


def lines_of_observations(curve: DrawableCurve, output: int, layout: Layout) -> list[Line]:
    """Return the lines of what was observed and of what was predicted for one output."""
    found = curve.observations
    if not found.comparable:
        message = (
            f"observed and predicted are on the scale of predict ({found.units}), and this curve is not "
            f'({curve.units}, or centered); ask for the curve with response="prediction", or "probability"'
        )
        raise ArgumentError(message)
    return [_line(name, found, getattr(found, name)[:, output], layout) for name in ("observed", "predicted")]


def _line(name: str, found: Observations, values: NDArray[np.float64], layout: Layout) -> Line:
    heights, numbers = values[layout.cells], bool(layout.scale.edges)
    if numbers:
        exposure = np.nan_to_num(found.exposure[layout.cells])
        pools = pools_of(exposure)
        total = np.add.reduceat(exposure, pools)
        sums = np.add.reduceat(np.nan_to_num(heights) * exposure, pools)
        pooled = np.divide(sums, total, out=np.full(sums.shape, np.nan), where=total > 0)
        heights = np.repeat(pooled, np.diff(np.append(pools, exposure.size)))
    beside = [float(values[place]) if np.isfinite(values[place]) else None for place in (-1, -2)]
    unseen = beside[1] if found.axis.categories is not None and layout.unseen_share else None
    return Line(name, tuple(heights.tolist()), beside[0] if layout.missing_share else None, unseen)


def pools_of(exposure: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return where pools of neighbouring cells begin, such that each has a share of the exposure.

    Examples
    --------
    >>> pools_of(np.array([96.0, 1.0, 1.0, 2.0, 2.0, 6.0]))
    array([0, 1, 5])
    """
    least, starts, so_far = LEAST * exposure.sum(), [0], 0.0
    for cell, here in enumerate(exposure.tolist()):
        if so_far >= least > 0:
            starts.append(cell)
            so_far = 0.0
        so_far += here
    if so_far < least and len(starts) > 1:  # what is left at the end
        starts.pop()
    return np.array(starts, dtype=np.intp)
