"""Axes of numbers on other scales: logarithms, or quantiles of the rows."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError
from glasswood.plots._spec import Scale
from glasswood.results.panels._layout import Layout
from glasswood.text._plain import number

__all__ = ["SCALES", "rescaled"]

SCALES = ("linear", "log", "quantile")
N_TICKS = 6


def rescaled(layout: Layout, xscale: str) -> Layout:
    """Return a layout whose axis of numbers is on another scale; that of categories stays as it is."""
    if xscale not in SCALES:
        message = f"xscale must be one of {SCALES!r}, not {xscale!r}"
        raise ArgumentError(message)
    scale = layout.scale
    if xscale == "linear" or not scale.edges:
        return layout
    if xscale == "log":
        return replace(layout, scale=_logarithmic(scale))
    if not layout.support or sum(layout.support) <= 0:
        message = 'xscale="quantile" needs rows of data; the Explainer has none of this feature'
        raise ArgumentError(message)
    return replace(layout, scale=_by_quantile(scale, np.asarray(layout.support)), note="")


def _with_cuts(scale: Scale) -> tuple[float, ...]:
    return scale.cuts or scale.edges[1:-1]


def _least(scale: Scale) -> float:
    """Return the least value on an axis: the first cell of whole numbers is drawn half a unit wider."""
    if scale.places:
        return scale.places[0][0]
    return scale.edges[0] + 0.5 if scale.whole else scale.edges[0]


def _logarithmic(scale: Scale) -> Scale:
    """Return the scale of logarithms; of numbers that are not all positive, one that is even near 0."""
    edges = np.array(scale.edges)
    if _least(scale) >= 0 > edges[0]:
        edges[0] = 0.0  # or the scale would show negative numbers, which no row has
    positive = bool(edges[0] > 0)
    sizes = np.abs(edges[edges != 0])
    unit = float(sizes.min(initial=1.0)) if not positive else 1.0

    def moved(x: NDArray[np.float64]) -> NDArray[np.float64]:
        result: NDArray[np.float64] = np.log10(x) if positive else np.arcsinh(x / (2 * unit)) / math.log(10)
        return result

    low, high = edges[0], edges[-1]
    max_ = max(abs(low), abs(high))
    powers = [
        10.0**k for k in range(math.floor(math.log10(low if positive else unit)), math.ceil(math.log10(max_)) + 1)
    ]
    values = powers if positive else [*(-x for x in reversed(powers)), 0.0, *powers]
    places = [x for x in values if low <= x <= high]
    if len(places) < 3:
        places = sorted({*places, float(low), float(high)})
    places = places[:: max(1, -(-len(places) // (N_TICKS + 2)))]
    new = moved(edges)
    ticks: list[tuple[float, str]] = []
    for x in places:
        at = float(moved(np.array(x)))
        if not ticks or at - ticks[-1][0] > 0.07 * float(new[-1] - new[0]):  # or they would be on each other
            ticks.append((at, number(x)))
    label = f"{scale.label} (log scale)"
    return replace(
        scale,
        label=label,
        edges=tuple(new.tolist()),
        view=(float(new[0]), float(new[-1])),
        cuts=_with_cuts(scale),
        ticks=tuple(ticks),
    )


def _by_quantile(scale: Scale, support: NDArray[np.float64]) -> Scale:
    """Return the scale on which each row has the same width."""
    below = np.concatenate([[0.0], np.cumsum(support)]) / support.sum()
    edges = np.asarray(scale.edges)
    held = np.flatnonzero(support)
    shares = np.linspace(0, 1, N_TICKS)
    # Ticks are at the edges of cells, where it is known how many rows are below.
    nearest = np.unique([int(np.abs(below - share).argmin()) for share in shares])
    inner = [k for k in nearest if held[0] < k <= held[-1]]
    ends = [] if any(scale.open_ends) else [int(held[0]), int(held[-1]) + 1]
    ticks = tuple((float(below[k]), number(edges[k])) for k in sorted({*inner, *ends}))
    return replace(
        scale,
        label=f"{scale.label} (quantile scale)",
        edges=tuple(below.tolist()),
        view=(0.0, 1.0),
        cuts=_with_cuts(scale),
        ticks=ticks,
    )
