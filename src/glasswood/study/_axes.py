"""The axis of a feature: its cells, with rows of the background in them, or other rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._row_cells import Rows
from glasswood.parallel._lazy import Deferred
from glasswood.results import Axis
from glasswood.study._study import Study
from glasswood.tables._columns import Extent, extent_of

__all__ = ["axis_of", "axis_of_rows"]


def axis_of(study: Study, feature: int) -> Axis:
    """Return the cells of a feature, with the rows of the background in them."""
    extent: Deferred[Extent | None] = Deferred(lambda: study.extent(feature))
    result = _axis(study, feature, study.rows_per_cell(feature), extent, weighted=study.over.weighted)
    unread = not study.uses(feature) and not result.column.n_codes
    return replace(result, unread=study.all_rows) if unread else result


def axis_of_rows(study: Study, feature: int, rows: Rows | None) -> Axis:
    """Return the cells of a feature, with some rows in them; None for those of the background."""
    cells = study.plan(1).cells
    if not study.uses(feature):
        return _axis(study, feature, np.empty(0), Deferred.of(None))
    if rows is None and not study.over.in_memory:
        return axis_of(study, feature)
    columns = study.columns([feature]) if rows is None else rows.open([feature])
    values, weight = columns.column(feature), study.over.weights if rows is None else None
    result = np.bincount(cells.locate(feature, values), weights=weight, minlength=int(cells.n_cells[feature]))
    numbers = not cells.n_codes[feature]
    extent = extent_of(values if weight is None else values[weight > 0]) if numbers else None
    return _axis(study, feature, result, Deferred.of(extent), weighted=weight is not None)


def _axis(
    study: Study, feature: int, rows: NDArray[Any], extent: Deferred[Extent | None], *, weighted: bool = False
) -> Axis:
    column = study.ensemble.schema.columns[feature]
    cuts = np.empty(0) if column.n_codes else study.plan(1).cells.cuts_of(feature).copy()
    return Axis(column, cuts, rows, extent, weighted)
