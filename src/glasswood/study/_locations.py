"""Points and rows in the columns that users know: those of the model, or those before a pipeline. Only here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._row_cells import Rows
from glasswood.errors import TableError
from glasswood.models._user_columns import UserColumns
from glasswood.study._study import Study
from glasswood.tables._given import given_table
from glasswood.tables._points import columns_of, rows_at, shown_values, take
from glasswood.tables._tables import Schema, distinct_rows, open_columns

__all__ = ["Located", "locate", "rows_at_points", "shown_rows"]


class Located(NamedTuple):
    """Points: the features of some players, the cell of each at each point, and the values as they are shown."""

    features: NDArray[np.intp]
    cells: NDArray[np.int64]
    shown: dict[str, Any]


def locate(study: Study, players: list[str], at: object) -> Located:
    """Return the cells of some players at points.

    `at` is a table of the points; None for the distinct rows of the background.
    """
    schema, plan = study.ensemble.schema, study.plan(1)
    if study.originals is not None:
        return _locate_before(study, study.originals, players, at)
    features = _features_of(study, players)
    part = Schema(tuple(schema.columns[f].of_any_type() for f in features), underscored=schema.underscored)
    if at is None:
        if not study.over.in_memory:
            message = f"pass at=, a table of the columns {[column.name for column in part.columns]!r}"
            raise TableError(message)
        at = distinct_rows(study.columns(features), features)
    columns = open_columns(at if isinstance(at, Mapping) else given_table(at), part, range(features.size))
    encoded = columns.encode(0, columns.n_rows)
    cells = np.array([plan.cells.locate(int(f), encoded[i]) for i, f in enumerate(features)])
    shown = {part.columns[i].name: columns.listed(i) for i in range(features.size)}
    return Located(features, cells.reshape(features.size, -1), shown)


def _locate_before(study: Study, originals: UserColumns, players: list[str], at: object) -> Located:
    """Return the same for players that are columns of a pipeline, through its transformers."""
    plan = study.plan(1)
    columns = [column for player in players for column in study.original_groups[player]]
    rows, shown = originals.points(columns, at)
    features = _features_of(study, players)
    opened = open_columns(rows, study.ensemble.schema, features)
    encoded = opened.encode(0, opened.n_rows)
    cells = np.zeros((features.size, opened.n_rows), dtype=np.int64)
    for i, f in enumerate(features):
        cells[i] = plan.cells.locate(int(f), encoded[int(f)])
    return Located(features, cells, shown)


def _features_of(study: Study, players: list[str]) -> NDArray[np.intp]:
    names = [name for player in players for name in study.groups.get(player, (player,))]
    return np.array([study.ensemble.feature_names.index(name) for name in names], dtype=np.intp)


def rows_at_points(study: Study, points: Mapping[str, Any], rows: Rows | None = None) -> NDArray[Any]:
    """Return how many rows (by weight, if of the background) are at each point; empty if some are at none."""
    originals = study.originals
    weight = study.over.weight if rows is None else None
    if originals is not None:
        names = list(points)
        table = originals.table if rows is None else rows.given
        listed = columns_of(table, names, [originals.names.index(name) for name in names])
        return rows_at(points, {name: shown_values(values) for name, values in listed.items()}, weight)
    numbers = [study.ensemble.feature_names.index(name) for name in points]
    if rows is None and not study.over.in_memory:
        return np.empty(0)
    columns = study.columns(numbers) if rows is None else rows.open(numbers)
    return rows_at(points, {name: columns.listed(f) for name, f in zip(points, numbers, strict=True)}, weight)


def shown_rows(study: Study, rows: Rows, numbers: NDArray[np.intp] | None) -> NDArray[Any] | None:
    """Return the values of some rows as an array, one column per player; None if a player has several columns."""
    rows.check()
    if study.originals is not None:
        return _shown_before(study, study.originals, rows.given, numbers)
    groups = [study.groups.get(player, (player,)) for player in study.plan(1).players]
    if any(len(group) != 1 for group in groups):
        return None
    features = [study.ensemble.feature_names.index(name) for (name,) in groups]
    columns = open_columns(rows.given, study.ensemble.schema, features)
    values = [np.array(columns.listed(f, numbers)) for f in features]
    return np.column_stack([v.astype(object) if v.dtype.kind in "US" else v for v in values])


def _shown_before(
    study: Study, originals: UserColumns, rows: object, numbers: NDArray[np.intp] | None
) -> NDArray[Any] | None:
    """Return the same for players that are columns of a pipeline."""
    columns = [study.original_groups[player] for player in study.plan(1).players]
    if any(len(group) != 1 for group in columns):
        return None
    names = [name for (name,) in columns]
    table = rows if numbers is None else take(rows, numbers.tolist())
    listed = columns_of(table, names, [originals.names.index(name) for name in names])
    return np.array([shown_values(values) for values in listed.values()], dtype=object).T
