"""Panels of curves, ICE curves and comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError
from glasswood.plots._spec import Band, Line, Steps
from glasswood.questions.curves._panel_observed import (
    bands_of_observations,
    label_of_observations,
    lines_of_groups,
    lines_of_observations,
    note_of_pale,
)
from glasswood.questions.curves._result import Curve
from glasswood.results._drawable import drawn
from glasswood.results.panels._display import fitted
from glasswood.results.panels._layout import Layout, layout_of, line_of, shares_of
from glasswood.results.panels._outputs import (
    CURVE,
    MAX_LINES,
    OTHER_ROWS,
    average_word,
    centered_label,
    one_output,
    outputs_shown,
    scale_label,
)
from glasswood.results.panels._scales import rescaled
from glasswood.text._plain import plain

__all__ = ["panel_of_curve", "panel_of_curves"]

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

    They have shares of missing values of their own, so that no single share is shown. `std` adds the spread of rows
    around each. `observed` shows what was observed and predicted in place of the curves.
    """
    if std and observed:
        message = "std= is about curves, and with observed=True, observed and predicted are drawn in their place"
        raise ArgumentError(message)
    names = list(curves)
    first = curves[names[0]]
    k = one_output(first.heights, first.outputs, output, "a comparison")
    layout = layout_of(first.axis, first.heights[:, k], sort)
    max_ = MAX_LINES // 2 if observed else MAX_LINES
    shown = names[:max_]
    note = f"the first {max_} of {len(names)}" if len(names) > max_ else ""
    shares = {name: shares_of(curves[name].axis) for name in shown}
    known = all(support.size for support, _, _ in shares.values())
    lines = [line_of(plain(name), curves[name].heights[:, k], layout, first.axis) for name in shown]
    if known:
        lines = [
            _line_of_group(line, shares[name], layout, float(curves[name].heights[-1, k]))
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


def _line_of_group(
    line: Line, shares: tuple[NDArray[np.float64], float | None, float | None], layout: Layout, missing: float
) -> Line:
    """Return the line of a group with the shares of its own rows, and its height for missing values if it has any."""
    support, share, _ = shares
    return replace(line, support=tuple(support[layout.cells].tolist()), missing=missing if share else None)


def _observed_lines(curves: Mapping[str, Curve], output: int, layout: Layout, lines: Sequence[Line]) -> list[Line]:
    """Return what was observed and predicted in place of curves; the first of both has the shares of the rows."""
    result = lines_of_groups(curves, output, layout)
    for k, line in enumerate(lines):
        result[2 * k] = replace(result[2 * k], support=line.support)
    return result
