"""Grids: evenly spaced values of a feature, at which its partial dependence is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._statistics import quantiles
from glasswood.errors import TableError
from glasswood.study._study import Study
from glasswood.tables._columns import is_missing
from glasswood.tables._points import columns_of, shown_values

__all__ = ["grid_of"]

ENDS = (0.05, 0.95)  # percentiles


def grid_of(study: Study, players: Sequence[str], n_points: int) -> dict[str, list[Any]]:
    """Return a grid of some features, with at most `n_points` values of each, as columns: every combination is a point.

    Numbers are evenly spaced from the 5th to the 95th percentile of the rows; or from the first to the last cut if only
    counts are at hand. Features with fewer values, and categories, have all of them.
    """
    values = [_values(study, player, n_points) for player in players]
    places = np.indices([len(own) for own in values]).reshape(len(values), -1)
    return {
        player: [own[k] for k in place.tolist()] for player, own, place in zip(players, values, places, strict=True)
    }


def _values(study: Study, player: str, n_points: int) -> list[Any]:
    """Return the values of one feature."""
    if study.originals is not None and player in study.groups:
        return _values_before(study, player, n_points)
    if player in study.groups:
        message = f"grid= is for single features, but {player!r} is a group; pass its points in at="
        raise TableError(message)
    feature = study.ensemble.feature_names.index(player)
    column = study.ensemble.schema.columns[feature]
    if column.n_codes:
        labels = range(column.n_codes) if column.categories is None else column.categories
        return list(labels)
    if not study.over.in_memory:
        cuts = study.plan(1).cells.cuts_of(feature)
        return np.linspace(cuts[0], cuts[-1], n_points).tolist() if cuts.size else [0.0]
    return _spaced(study.columns([feature]).column(feature), study.over.weights, n_points)


def _values_before(study: Study, player: str, n_points: int) -> list[Any]:
    """Return the values of one of a pipeline's columns."""
    originals = study.originals
    if originals is None or originals.table is None or len(study.original_groups[player]) > 1:
        message = f"grid= needs a table of rows and a single column, but {player!r} has none; pass its points in at="
        raise TableError(message)
    listed = columns_of(originals.table, [player], [originals.names.index(player)])[player]
    shown = shown_values(listed)
    known = [value for value in shown if not is_missing(value)]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        numbers = np.array([np.nan if is_missing(value) else value for value in shown], dtype=np.float64)
        return _spaced(numbers, study.over.weights, n_points)
    return list(dict.fromkeys(known))


def _spaced(values: NDArray[np.floating[Any]], weight: NDArray[np.float64] | None, n_points: int) -> list[Any]:
    """Return the distinct values of a column of numbers, or evenly spaced ones if there are more."""
    here = ~np.isnan(values) if weight is None else ~np.isnan(values) & (weight > 0)
    numbers, weight = values[here].astype(np.float64), None if weight is None else weight[here]
    distinct = np.unique(numbers)
    if distinct.size <= n_points:
        return [float(value) for value in distinct] or [0.0]
    low, high = quantiles(numbers, np.array(ENDS), weight)
    if low == high:
        low, high = distinct[0], distinct[-1]
    return [float(value) for value in np.linspace(low, high, n_points)]
