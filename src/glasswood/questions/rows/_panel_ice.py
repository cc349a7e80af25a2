"""Panels of ICE: bands of percentiles of rows, a few rows, and their mean."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._statistics import quantiles
from glasswood.plots._cuts import cell_words
from glasswood.plots._spec import Band, Line, Steps
from glasswood.questions.rows._result_ice import Ice
from glasswood.results._drawable import drawn
from glasswood.results.panels._display import fitted
from glasswood.results.panels._layout import Layout, layout_of, line_of
from glasswood.results.panels._outputs import average_word, centered_label, one_output, scale_label
from glasswood.results.panels._places import layout_of_points
from glasswood.results.panels._scales import rescaled
from glasswood.text._arguments import Centering, checked_centering
from glasswood.text._plain import plain

__all__ = ["panel_of_ice"]


N_FAINT = 12

BANDS = ((5, 95), (25, 75))


@drawn(Ice)
def panel_of_ice(
    ice: Ice,
    output: int | None = None,
    *,
    sort: str | None = None,
    n_lines: int = N_FAINT,
    xscale: str = "linear",
    centered: Centering = False,
) -> Steps:
    """Return the panel of an `Ice`: bands of percentiles of its rows, a few rows, and their mean.

    With `centered`, rows are shown as they differ from their own value in one cell, or ("mean") from the mean
    prediction.
    """
    centered = checked_centering(centered)
    k = one_output(ice.heights[0], ice.outputs, output, "a panel of ICE curves")
    heights, label = ice.heights[..., k], scale_label(ice.units, ice.outputs, [k], average=False)
    mean = np.average(heights, axis=0, weights=ice.weight)
    layout = layout_of_points(ice, mean, sort) if ice.axis is None else layout_of(ice.axis, mean, sort)
    if centered:
        level, note = _level(ice, heights, k, layout, centered)
        heights, label = heights - level, centered_label(label, centered)
        mean = np.average(heights, axis=0, weights=ice.weight)
        layout = replace(layout, note="; ".join(filter(None, (layout.note, note))))
    layout = rescaled(layout, xscale)
    in_order = np.array_equal(layout.cells, np.arange(layout.cells.size))
    main = heights[:, : layout.cells.size] if in_order else heights[:, layout.cells]  # no copy, if it can be
    ends = _percentiles(main, ice.weight)
    bands = []
    for place, (low, high) in enumerate(BANDS):
        name = f"{low}th to {high}th percentile" + (" by weight" if ice.weighted else "")
        bands.append(Band(name, tuple(ends[2 * place].tolist()), tuple(ends[2 * place + 1].tolist())))
    panel = Steps(
        title=plain(ice.name),
        x=layout.scale,
        y_label=label,
        lines=(_mean_line(ice, mean, layout),),
        support=layout.support,
        missing_share=layout.missing_share,
        bands=tuple(bands),
        faint=tuple(tuple(row.tolist()) for row in main[_picked(main, n_lines)]),
        unseen_share=layout.unseen_share,
        weighted=ice.weighted,
        note=layout.note,
    )
    return fitted(panel)


def _percentiles(main: NDArray[np.float64], weight: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Return the ends of all bands at each point, some points at a time: sorting all would take their memory again."""
    asked = [percent / 100 for band in BANDS for percent in band]
    n = max(1, 2**22 // max(1, len(main)))
    parts = [quantiles(main[:, at : at + n], asked, weight) for at in range(0, main.shape[1], n)]
    return np.concatenate(parts, axis=1)


def _mean_line(ice: Ice, mean: NDArray[np.float64], layout: Layout) -> Line:
    name = average_word(weighted=ice.weighted)
    if ice.axis is None:
        return Line(name, tuple(mean[layout.cells].tolist()))
    return line_of(name, mean, layout, ice.axis)


def _level(
    ice: Ice, heights: NDArray[np.float64], output: int, layout: Layout, centered: Centering
) -> tuple[NDArray[np.float64], str]:
    """Return what is subtracted from ICE curves to centre them, and a note."""
    if centered == "mean":
        return ice.find_mean()[[output]], ""
    cell, name = _first_cell(layout)
    return heights[:, [layout.cells[cell]]], f"each row from its value at: {name}"


def _first_cell(layout: Layout) -> tuple[int, str]:
    """Return the cell that rows are compared with, and what it holds: the first with rows, or the largest category."""
    support = np.asarray(layout.support)
    if layout.scale.labels:
        cell = int(support.argmax()) if support.size else 0
        return cell, layout.scale.labels[cell]
    cell = int(np.flatnonzero(support)[0]) if support.any() else 0
    return cell, cell_words(layout.scale)[cell]


def _picked(main: NDArray[np.float64], n_lines: int) -> NDArray[np.intp]:
    """Return a few rows, evenly in the order of their mean response: low, middle and high ones, the same each time."""
    order = np.argsort(main.mean(axis=1), kind="stable")
    n = min(n_lines, len(main))
    return order[np.round((np.arange(n) + 0.5) / max(n, 1) * len(main) - 0.5).astype(np.intp)]
