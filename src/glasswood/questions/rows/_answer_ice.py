"""ICE: the responses of rows with some features at other values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from glasswood.errors import TableError
from glasswood.parallel._lazy import Deferred
from glasswood.questions.curves import Request, points_on_grid
from glasswood.questions.rows._answer_sources import SourceRows, ice_of_source
from glasswood.questions.rows._result_ice import Ice
from glasswood.questions.rows._result_sources import SourceValues
from glasswood.results import Axis, check_memory
from glasswood.results._folds import LOST_MEAN
from glasswood.study._axes import axis_of_rows
from glasswood.study._locations import Located, locate, rows_at_points
from glasswood.study._view import View
from glasswood.text._printable import how_many

__all__ = ["ice"]


def ice(view: View, features: Sequence[Any], rows: object, request: Request) -> Ice | SourceValues:
    """Return the responses of rows with some players at other values."""
    study, players = view.study, view.players(features)
    at = request.at if request.grid is None else points_on_grid(view, request.grid, players).columns
    if rows is None and study.over.basis != "rows":
        message = "pass rows=, the table of rows whose curves you want; counts and covers do not contain single rows"
        raise TableError(message)
    source = rows if isinstance(rows, SourceRows) else None
    opened = None if rows is None or source is not None else study.rows(rows)
    axis: Axis | None = None
    if at is None and len(players) == 1 and players[0] not in study.groups:
        feature = view.ensemble.feature_names.index(players[0])
        cells = np.arange(study.plan(1).cells.n_cells[feature])[None]
        axis, located = axis_of_rows(study, feature, opened), Located(np.array([feature]), cells, {})
    else:
        located = locate(study, players, at)
    if source is not None:
        view.refuse_offset("ICE")
        return ice_of_source(view, source, " x ".join(players), located)
    shown = located.shown
    size = study.n_rows if opened is None else opened.n_rows, located.cells.shape[1]
    if 0 in size:
        given = f"{how_many(size[0], 'row')} and {how_many(size[1], 'point')}"
        message = f"ice needs at least one row and one point, but got {given}"
        raise TableError(message)
    remedy = "Ask for fewer rows, one output, or some points: ice(..., at=a table of the feature's values)"
    check_memory((*size, view.chosen.n_columns), remedy=remedy)
    heights, shares = view.responses_of_rows(located.features, located.cells, opened)
    return Ice(
        name=" x ".join(players),
        axis=axis,
        columns=shown,
        heights=view.levels(heights),
        outputs=view.labels,
        units=view.units,
        weight=shares,
        find_rows=Deferred(lambda: rows_at_points(study, shown, opened) if shown else np.empty(0)),
        find_mean=Deferred(lambda: view.level, LOST_MEAN),
    )
