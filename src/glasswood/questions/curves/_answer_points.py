"""The partial dependence of any players at points."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import TooLargeError
from glasswood.parallel._lazy import Deferred
from glasswood.questions.curves._result_points import Points
from glasswood.results import Folds, check_memory
from glasswood.results._folds import LOST_ERROR
from glasswood.study._locations import Located, locate, rows_at_points
from glasswood.study._view import View
from glasswood.text._printable import how_many

__all__ = ["MAX_VISITS", "points_at", "points_of_located"]


MAX_VISITS = 2**30  # of leaves by points: about a second

PER_VISIT, MAX_HOURS = 1e-9, 4  # seconds of one; of all


Floats = NDArray[np.float64]


def points_at(view: View, players: list[str], at: object, shape: tuple[int, ...] | None = None) -> Points:
    """Return the partial dependence of players at points; `shape` is that of the grid that the points are on."""
    if view.scale.additive and view.study.over.in_memory:
        view.study.plan(len(players))  # refuses sets of too many players before anything is computed
    located, n_players = locate(view.study, players, at), len(players)
    return points_of_located(view, players, located, shape, lambda own: _heights_at(own, located, n_players))


def points_of_located(
    view: View, players: list[str], located: Located, shape: tuple[int, ...] | None, heights: Callable[[View], Floats]
) -> Points:
    """Return points, given how their heights are computed."""
    shown = located.shown
    result = heights(view)  # first: some sources can be counted once only
    return Points(
        name=" x ".join(players),
        columns=shown,
        heights=view.levels(result),
        outputs=view.labels,
        units=view.units,
        mean=view.level,
        find_rows=Deferred(lambda: rows_at_points(view.study, shown)),
        weighted=view.study.over.weighted,
        find_folds=Deferred(lambda: _folds(view, len(players), located, heights), LOST_ERROR)
        if view.has_folds
        else None,
        grid=None if shape is None else _values_of_axes(shown, shape),
    )


def _folds(view: View, n_players: int, located: Located, heights: Callable[[View], Floats]) -> Folds:
    """Return the partial dependence at points without each fold of the rows."""
    features, cells = located.features, located.cells
    result: Any
    if view.scale.additive:
        result = [heights(part) for _, part in view.without_folds(order=n_players)]
    elif features.size == 1 and features[0] in view.curves:
        result = [part.curves[int(features[0])][cells[0]] for _, part in view.left_out]
    else:
        result = view.responses_without_folds("several features on this scale", features, cells)
    left = view.left_out
    means, shares = np.stack([part.level for _, part in left]), np.array([share for share, _ in left])
    return Folds(np.stack([view.levels(part) for part in result]), shares, means)


def _heights_at(view: View, located: Located, n_players: int) -> Floats:
    """Return the partial dependence of features at points: (n_points, n_outputs).

    For many points of large models, values are looked up in a curve or surface instead of visiting all leaves for each
    point.
    """
    study, features, cells = view.study, located.features, located.cells
    n_points = cells.shape[1]
    check_memory((n_points, view.ensemble.n_outputs), 8, "Ask for fewer points at a time")
    has_offset = not view.scale.additive and study.responses_spec(view.scale).offset  # which sums over rows have
    if not view.scale.additive and features.size == 1 and (has_offset or not study.over.in_memory):
        known: Floats = view.curve(int(features[0]))[cells[0]]
        return known
    if not view.scale.additive:
        return view.responses_at(features, cells)
    visits = n_points * view.ensemble.n_leaves
    leaf_by_leaf = n_players != features.size or n_players > 2 or visits < MAX_VISITS
    if leaf_by_leaf and visits * PER_VISIT > MAX_HOURS * 3600:
        message = (
            f"{how_many(n_points, 'point')} and {how_many(view.ensemble.n_leaves, 'leaf', 'leaves')} would take "
            f"about {visits * PER_VISIT / 3600:,.0f} h. Ask for fewer points, or for one or two features"
        )
        raise TooLargeError(message)
    effects = study.effects(n_players)  # the largest order first: some sources can be counted once only
    if leaf_by_leaf:
        return effects.at(cells, features)
    heights: Floats = view.curves[int(features[0])][cells[0]]
    if n_players == 1:
        return heights
    a, b = features.tolist()
    heights = heights + view.curves[b][cells[1]] - view.mean
    return heights + effects.pair(a, b).at(cells[0], cells[1]) if study.shares_path(a, b) else heights


def _values_of_axes(columns: Mapping[str, Any], shape: tuple[int, ...]) -> dict[str, list[Any]]:
    """Return the values along each axis of a grid, given the columns of all of its points."""
    steps = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    sizes = zip(columns.items(), shape, steps, strict=True)
    return {name: list(values)[: size * step : step] for (name, values), size, step in sizes}
