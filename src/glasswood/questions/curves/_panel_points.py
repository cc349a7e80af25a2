"""Panels of points: along an axis, on the grid of two features, or as dots."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from glasswood.plots._spec import Cells, Dots, Line, Steps
from glasswood.questions.curves._result_points import Points
from glasswood.results._drawable import drawn
from glasswood.results.panels._display import fitted
from glasswood.results.panels._outputs import as_tuples, centered_label, one_output, outputs_shown, scale_label
from glasswood.results.panels._places import (
    Places,
    is_one_hot,
    layout_of_points,
    numbers_of,
    places_of,
    scale_of_places,
)
from glasswood.results.panels._scales import rescaled
from glasswood.text._plain import plain

__all__ = ["panel_of_points", "steps_of_points"]

FILLED = 0.4  # the part of a grid that must have points

FINEST = 300  # values of a feature on a grid


@drawn(Points)
def panel_of_points(
    points: Points, output: int | None = None, *, sort: str | None = None, xscale: str = "linear"
) -> Steps | Cells | Dots:
    """Return the panel of `Points`: along the axis for one column of numbers; two columns as a surface or as dots."""
    if len(points.columns) == 2 and not is_one_hot(points.columns):
        places = [places_of(column) for column in points.columns.values()]
        if all(place.n > 1 for place in places):
            return _panel_of_pair(points, places, output)
    return steps_of_points(points, output, sort=sort, xscale=xscale)


def steps_of_points(
    points: Points,
    output: int | None = None,
    *,
    sort: str | None = None,
    xscale: str = "linear",
    fit: bool = True,
) -> Steps:
    """Return the panel of `Points` along one axis: of numbers, or of labels."""
    shown, note = outputs_shown(points.heights, points.outputs, output)
    layout = layout_of_points(points, points.heights[:, shown[0]], sort)
    layout = rescaled(layout, xscale)
    lines = [
        Line(plain(points.outputs[k]), tuple(points.heights[layout.cells, k].tolist()), _missing_point(points, k))
        for k in shown
    ]
    panel = Steps(
        title=plain(points.name),
        x=layout.scale,
        y_label=centered_label(
            scale_label(points.units, points.outputs, shown, weighted=points.weighted), points.centering
        ),
        lines=tuple(lines),
        support=layout.support,
        missing_share=layout.missing_share,
        mean=float(points.mean[shown[0]]) if len(shown) == 1 and points.mean is not None else None,
        weighted=points.weighted,
        note="; ".join(filter(None, (layout.note, note))),
    )
    return fitted(panel) if fit else panel


def _missing_point(points: Points, k: int) -> float | None:
    """Return the height of the point at NaN, if there is one on an axis of numbers."""
    values = numbers_of(next(iter(points.columns.values()))) if len(points.columns) == 1 else None
    if values is None or not np.isnan(values).any() or np.isfinite(values).sum() < 2:
        return None
    return float(points.heights[np.flatnonzero(np.isnan(values))[0], k])


# ------------------------------------------------------------------------------------------------ pairs


def _panel_of_pair(points: Points, places: list[Places], output: int | None) -> Cells | Dots:
    """Return the panel of points of two features: a surface if they are on a grid, dots if they are not."""
    k = one_output(points.heights, points.outputs, output, "a panel of two features")
    finite = np.all([np.isfinite(_positions(place)) for place in places], axis=0)
    at = np.array([place.cells[finite] for place in places])
    a, b = (place.n for place in places)
    on_grid = np.unique(at, axis=1).shape[1] >= FILLED * a * b and max(a, b) <= FINEST
    make = _grid_of_pair if on_grid else _dots_of_pair
    return replace(
        make(points, places, finite, k),
        title=plain(points.name),
        note="" if finite.all() else "points with missing values are not shown",
    )


def _dots_of_pair(points: Points, places: list[Places], finite: NDArray[np.bool_], k: int) -> Dots:
    names = [plain(name) for name in points.columns]
    x, y = ([place.labels[cell] for cell in place.cells[finite]] for place in places)
    return Dots(
        title="",
        x_label=names[0],
        y_label=names[1],
        x=tuple(_positions(places[0])[finite].tolist()),
        y=tuple(_positions(places[1])[finite].tolist()),
        colours=tuple(points.heights[finite, k].tolist()),
        colour_label=centered_label(
            scale_label(points.units, points.outputs, [k], weighted=points.weighted), points.centering
        ),
        x_labels=tuple(places[0].labels) if places[0].values is None else (),
        y_labels=tuple(places[1].labels) if places[1].values is None else (),
        texts=tuple(f"{names[0]} = {a}, {names[1]} = {b}" for a, b in zip(x, y, strict=True)),
    )


def _grid_of_pair(points: Points, places: list[Places], finite: NDArray[np.bool_], k: int) -> Cells:
    names, rows = [plain(name) for name in points.columns], np.asarray(points.rows, dtype=np.float64)
    cells = places[1].cells[finite], places[0].cells[finite]
    heights, density = (np.full((places[1].n, places[0].n), value) for value in (np.nan, 0.0))
    heights[cells] = points.heights[finite, k]
    if rows.size:
        np.add.at(density, cells, rows[finite] / max(float(rows.sum()), 1e-300))
    shares = density.sum(axis=0), density.sum(axis=1)
    scales = [scale_of_places(name, place, share) for name, place, share in zip(names, places, shares, strict=True)]
    return Cells(
        title="",
        x=scales[0],
        y=scales[1],
        z_label=centered_label(
            scale_label(points.units, points.outputs, [k], weighted=points.weighted), points.centering
        ),
        heights=as_tuples(heights),
        density=as_tuples(density) if rows.size else (),
        x_support=tuple(shares[0].tolist()) if rows.size else (),
        y_support=tuple(shares[1].tolist()) if rows.size else (),
        weighted=points.weighted,
    )


def _positions(place: Places) -> NDArray[np.float64]:
    """Return where each point is along one feature: its number, or the number of its category."""
    return place.cells.astype(np.float64) if place.values is None else place.values[place.cells]
