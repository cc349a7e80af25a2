"""Panels of curves, ICE curves and comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._statistics import quantiles
from glasswood.errors import ArgumentError
from glasswood.plots._cuts import cell_words
from glasswood.plots._spec import Band, Line, Steps
from glasswood.results._comparison import Comparison
from glasswood.results._curves import Curve
from glasswood.results._drawable import drawn
from glasswood.results._ice import Ice
from glasswood.results.panels._display import fitted
from glasswood.results.panels._layout import Layout, layout_of, shares_of
from glasswood.results.panels._observations import (
    CURVE,
    OTHER_ROWS,
    bands_of_observations,
    label_of_observations,
    lines_of_groups,
    lines_of_observations,
    note_of_pale,
)
from glasswood.results.panels._outputs import MOST_LINES, centered_label, one_output, outputs_shown, scale_label
from glasswood.results.panels._points import layout_of_points
from glasswood.results.panels._scales import rescaled
from glasswood.text._arguments import Centering, checked_centering
from glasswood.text._plain import plain

if TYPE_CHECKING:
    from glasswood.results._axis import Axis

__all__ = ["panel_of_comparison", "panel_of_curve", "panel_of_ice"]

N_FAINT = 12
BANDS = ((5, 95), (25, 75))
SPREAD = "± 1 standard deviation of rows"


@drawn(Curve)
def panel_of_curve(
    curve: Curve,
    output: int | None = None,
    *,
    sort: str | None = None,
    xscale: str = "linear",
    fit: bool = True,
    std: bool = False,
    observed: bool = False,
    error: bool = False,
) -> Steps:
    """Return the panel of a `Curve`: all outputs, or one; with so few steps that it fits a screen, or with all.

    `sort` orders categories: "height", "rows", or "model" (the order of the model, as by default). What is missing or
    unseen is beside the axis if there are such rows, or no rows at all. `std` adds the spread of rows around each line,
    `observed` what was observed and predicted, `error` a band of 95 %.
    """
    shown, note = outputs_shown(curve.heights, curve.outputs, output)
    layout = rescaled(layout_of(curve.axis, curve.heights[:, shown[0]], sort), xscale)
    names = [plain(curve.outputs[k]) for k in shown]
    if std and len(shown) == 1:  # a label that tells it from the spread
        names = [f"{average_word(weighted=layout.weighted)} of rows"]
    lines = [line_of(name, curve.heights[:, k], layout, curve.axis) for name, k in zip(names, shown, strict=True)]
    bands = _bands(lines, [curve.find_spread()[:, k] for k in shown], layout) if std else ()
    if error:
        off = curve.errors * (1.0 if curve.find_folds is None else curve.find_folds().multiple)
        bands += _bands(lines, [off[:, k] for k in shown], layout, OTHER_ROWS)
    if observed:
        k = one_output(curve.heights, curve.outputs, output, "what was observed")
        more = lines_of_observations(curve, k, layout)
        bands += bands_of_observations(curve, k, layout, more) if error else ()
        lines = [replace(lines[0], name=CURVE), *more]
    elif error and len(shown) == 1 and not std:
        lines = [replace(lines[0], name=CURVE)]
    panel = Steps(
        title=layout.scale.label,
        x=layout.scale,
        y_label=centered_label(
            scale_label(curve.units, curve.outputs, shown, weighted=layout.weighted), curve.centering
        ),
        lines=tuple(lines),
        support=layout.support,
        missing_share=layout.missing_share,
        bands=bands,
        mean=float(curve.mean[shown[0]]) if len(shown) == 1 else None,
        unseen_share=layout.unseen_share,
        weighted=layout.weighted,
        note="; ".join(filter(None, (layout.note, note, note_of_pale(lines)))),
    )
    return fitted(panel) if fit else panel


def line_of(name: str, heights: NDArray[np.float64], layout: Layout, axis: Axis) -> Line:
    """Return one output of a curve; what no row has is not beside the axis."""
    missing = None if layout.missing_share == 0 else float(heights[-1])
    unseen = None
    if axis.categories is not None and layout.unseen_share != 0:
        unseen = float(heights[-2])
    return Line(name, tuple(heights[layout.cells].tolist()), missing, unseen)


def average_word(*, weighted: bool) -> str:
    return "weighted average" if weighted else "average"


def _bands(
    lines: Sequence[Line], spreads: Sequence[NDArray[np.float64]], layout: Layout, name: str | None = None
) -> tuple[Band, ...]:
    """Return one standard deviation of rows above and below each line, given that in all cells; or other bands."""
    name = name or SPREAD + (" by weight" if layout.weighted else "")
    bands = []
    for k, (line, spread) in enumerate(zip(lines, spreads, strict=True)):
        heights, off = np.asarray(line.heights), spread[layout.cells]
        bands.append(
            Band(
                name,
                low=tuple((heights - off).tolist()),
                high=tuple((heights + off).tolist()),
                line=k,
                missing=_around(line.missing, spread, -1),
                unseen=_around(line.unseen, spread, -2),
            )
        )
    return tuple(bands)


def _around(height: float | None, spread: NDArray[np.float64], cell: int) -> tuple[float, float] | None:
    """Return the ends of a band in a cell next to the axis, if its line has a height there."""
    return None if height is None else (height - float(spread[cell]), height + float(spread[cell]))


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


@drawn(Comparison)
def panel_of_comparison(
    comparison: Comparison,
    feature: str,
    output: int | None = None,
    *,
    sort: str | None = None,
    xscale: str = "linear",
    fit: bool = True,
    std: bool = False,
    observed: bool = False,
) -> Steps:
    """Return the panel of one feature in a `Comparison`: a line per group of rows, or per model."""
    curves = comparison.curves(feature)
    return panel_of_curves(curves, output, sort=sort, xscale=xscale, fit=fit, std=std, observed=observed)


@drawn(Curve, "together")
def panel_of_curves(
    curves: Mapping[str, Curve],
    output: int | None = None,
    *,
    sort: str | None = None,
    xscale: str = "linear",
    fit: bool = True,
    std: bool = False,
    observed: bool = False,
) -> Steps:
    """Return the panel of curves of one feature over each other, with the same cells.

    They have shares of missing values of their own, so that no single share is told. `std` adds the spread of rows
    around each. `observed` shows what was observed and predicted in place of the curves.
    """
    if std and observed:
        message = "std= is about curves, and with observed=True, observed and predicted are drawn in their place"
        raise ArgumentError(message)
    names = list(curves)
    first = curves[names[0]]
    k = one_output(first.heights, first.outputs, output, "a comparison")
    layout = layout_of(first.axis, first.heights[:, k], sort)
    most = MOST_LINES // 2 if observed else MOST_LINES
    shown = names[:most]
    note = f"the first {most} of {len(names)}" if len(names) > most else ""
    shares = {name: shares_of(curves[name].axis) for name in shown}
    known = all(support.size for support, _, _ in shares.values())
    lines = [line_of(plain(name), curves[name].heights[:, k], layout, first.axis) for name in shown]
    if known:
        lines = [
            _of_group(line, shares[name], layout, float(curves[name].heights[-1, k]))
            for name, line in zip(shown, lines, strict=True)
        ]
    weighted = all(curves[name].axis.weighted for name in shown)
    together = tuple(np.mean([line.support for line in lines], axis=0).tolist()) if known else ()
    layout = rescaled(replace(layout, support=together, weighted=weighted), xscale)
    label = centered_label(scale_label(first.units, first.outputs, [k], weighted=weighted), first.centering)
    if observed:
        lines = _observed_lines({name: curves[name] for name in shown}, k, layout, lines)
        label = label_of_observations(first, k, weighted=weighted)
    panel = Steps(
        title=layout.scale.label,
        x=layout.scale,
        y_label=label,
        lines=tuple(lines),
        support=together,
        bands=_bands(lines, [curves[name].find_spread()[:, k] for name in shown], layout) if std else (),
        weighted=weighted,
        note="; ".join(filter(None, (layout.note, note, note_of_pale(lines)))),
    )
    return fitted(panel) if fit else panel


def _of_group(
    line: Line, shares: tuple[NDArray[np.float64], float | None, float | None], layout: Layout, missing: float
) -> Line:
    """Return the line of a group with the shares of its own rows, and its height for missing values if it has any."""
    support, share, _ = shares
    return replace(line, support=tuple(support[layout.cells].tolist()), missing=missing if share else None)


def _observed_lines(curves: Mapping[str, Curve], output: int, layout: Layout, lines: Sequence[Line]) -> list[Line]:
    """Return what was observed and predicted in place of curves; the first of both has the shares of the rows."""
    found = lines_of_groups(curves, output, layout)
    for k, line in enumerate(lines):
        found[2 * k] = replace(found[2 * k], support=line.support)
    return found
