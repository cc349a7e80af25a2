"""Panels of surfaces: one height per pair of cells, as exact as a figure can show."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.plots._axes import Layout, layout_of
from glasswood.plots._outputs import one_output, scale_label
from glasswood.plots._scales import rescaled
from glasswood.plots._spec import Cells, Scale
from glasswood.plots._text import plain, share_of_rows

__all__ = ["nested", "panel_of_surface"]

FINEST = 250  # cells narrower than one part in so many of the axis are drawn together


def panel_of_surface(
    surface: Any,
    output: int | None = None,
    *,
    interaction: bool = False,
    density: NDArray[np.float64] | None = None,
    sort: str | None = None,
    xscale: str = "linear",
) -> Cells:
    """Return the panel of a `Surface`, or of what the pair adds to its curves.

    `density` is the share of rows in each pair of cells of (first, second); that of the background by default. Both
    features are drawn on the scale.
    """
    density = surface.density if density is None else density
    first, second = surface.first, surface.second
    k = one_output(first.heights, first.outputs, output, "a surface")
    x, y = (rescaled(layout_of(curve.axis, curve.heights[:, k], sort), xscale) for curve in (first, second))
    runs = _runs(x), _runs(y)
    heights = _heights(surface, k, interaction=interaction)[np.ix_(x.cells, y.cells)]
    notes = [f"{curve.name}: {side.note}" for curve, side in ((first, x), (second, y)) if side.note]
    if any(run.starts.size < run.weights.size for run in runs):
        notes.append("narrow cells are drawn together")
    for curve, side in ((first, x), (second, y)):
        if side.missing_share:
            share = share_of_rows(side.missing_share, weighted=side.weighted)
            notes.append(f"not shown: {share}, where {plain(curve.name)} is missing")
    rows: tuple[tuple[float, ...], ...] = ()
    if density is not None:
        rows = nested(_summed(np.asarray(density, dtype=np.float64)[np.ix_(x.cells, y.cells)], runs).T)
    label = scale_label(first.units, first.outputs, [k], average=not interaction, weighted=x.weighted)
    return Cells(
        title=f"{x.scale.label} x {y.scale.label}",
        x=runs[0].scale,
        y=runs[1].scale,
        z_label=f"interaction ({label})" if interaction else label,
        heights=nested(_averaged(heights, runs).T),
        density=rows,
        diverging=interaction,
        x_support=_shares(x, runs[0]),
        y_support=_shares(y, runs[1]),
        weighted=x.weighted,
        note="; ".join(notes),
    )


def _heights(surface: Any, k: int, *, interaction: bool) -> NDArray[np.float64]:
    """Return one output of a surface, without missing values, or of its interaction: surfaces of all may be large."""
    a, b = surface.shape
    heights = np.zeros((a, b))
    if surface.raw_interaction is not None:
        heights += surface.raw_interaction[:a, :b, k]
    if not interaction:
        heights += surface.first.heights[:a, k][:, None] + surface.second.heights[:b, k] - surface.first.mean[k]
    return heights


class _Run(NamedTuple):
    """Which neighbouring cells are drawn together: where each run begins, what each cell weighs, and the new scale."""

    starts: NDArray[np.intp]
    weights: NDArray[np.float64]
    scale: Scale


def _runs(layout: Layout) -> _Run:
    scale, n = layout.scale, layout.cells.size
    if not scale.edges or n <= FINEST:
        return _Run(np.arange(n), np.ones(n), scale)
    edges = np.asarray(scale.edges)
    low, high = scale.view
    step = (high - low) / FINEST
    inside = np.clip(edges, low, high)
    part = np.floor((inside[:-1] - low) / step)
    begins = (np.diff(part, prepend=-1.0) > 0) | (np.diff(inside) > step)
    begins |= np.concatenate([[False], begins[:-1] & (np.diff(inside)[:-1] > step)])  # a wide cell stays alone
    starts = np.flatnonzero(begins)
    widths = np.maximum(np.diff(edges) / (edges[-1] / 2 - edges[0] / 2), 1e-9)
    weights = np.asarray(layout.support) + 1e-6 * widths if layout.support else widths
    kept = tuple(scale.cuts[start - 1] for start in starts[1:]) if scale.cuts else ()
    return _Run(starts, weights, replace(scale, edges=(*edges[starts].tolist(), float(edges[-1])), cuts=kept))


def _summed(values: NDArray[np.float64], runs: tuple[_Run, _Run]) -> NDArray[np.float64]:
    """Return the sums over runs of cells of both axes."""
    if all(run.starts.size == run.weights.size for run in runs):
        return values
    summed: NDArray[np.float64] = np.add.reduceat(np.add.reduceat(values, runs[0].starts, 0), runs[1].starts, 1)
    return summed


def _averaged(values: NDArray[np.float64], runs: tuple[_Run, _Run]) -> NDArray[np.float64]:
    """Return the averages over runs of cells of both axes."""
    if all(run.starts.size == run.weights.size for run in runs):
        return values
    weights = runs[0].weights[:, None] * runs[1].weights
    return _summed(values * weights, runs) / _summed(weights, runs)


def _shares(layout: Layout, run: _Run) -> tuple[float, ...]:
    return tuple(np.add.reduceat(layout.support, run.starts).tolist()) if layout.support else ()


def nested(array: NDArray[np.float64]) -> tuple[tuple[float, ...], ...]:
    """Return an array as tuples."""
    return tuple(tuple(row) for row in array.tolist())
