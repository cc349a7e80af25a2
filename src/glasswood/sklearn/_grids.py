"""The columns of the user's table, and the grid of values of each."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError, TableError
from glasswood.parallel._lazy import cached_property
from glasswood.tables._columns import Dictionary, NumberColumn
from glasswood.tables._sources import is_in_memory
from glasswood.tables._tables import Schema, open_columns
from glasswood.text._printable import how_many

__all__ = ["Grid", "Table"]


class Table:
    """A table, the names of its columns, and their contents.

    Parameters
    ----------
    data : table
        Lists become arrays.
    names : sequence of str, optional
        Names for the columns; those of a data frame by default, otherwise x0, x1, ...
    """

    def __init__(self, data: object, names: Iterable[Any] | None = None) -> None:
        if not is_in_memory(data):
            message = (
                "X must be a table in memory, as in scikit-learn, whose values the grid comes from; for files, streams "
                "and frames of a cluster, ask glasswood.Explainer(estimator, X).partial_dependence()"
            )
            raise TableError(message)
        self.data = data if hasattr(data, "shape") else _as_array(data)
        if len(self.data.shape) != 2:
            message = f"X must have rows and columns, but it has shape {tuple(self.data.shape)}"
            raise ArgumentError(message)
        self.n_rows, self.n_columns = (int(size) for size in self.data.shape)
        result = getattr(self.data, "column_names", getattr(self.data, "columns", None))  # PyArrow has the former
        self.own_names = None if result is None else list(result)
        given = self.own_names or [f"x{k}" for k in range(self.n_columns)] if names is None else list(names)
        if len(set(given)) != len(given):
            message = "feature_names should not contain duplicates"
            raise ArgumentError(message)
        if len(given) != self.n_columns:
            message = (
                f"feature_names has {how_many(len(given), 'name')}, but X has {how_many(self.n_columns, 'column')}"
            )
            raise ArgumentError(message)
        self.names: list[Any] = given

    def find(self, features: str | int | Iterable[Any]) -> tuple[int, ...]:
        """Return the numbers of columns that are given by names, numbers or a mask."""
        asked: list[Any] = [features] if isinstance(features, str | int | np.integer) else list(features)
        if len(asked) == 1 and isinstance(asked[0], tuple | list):  # a pair as one entry of a list
            asked = list(asked[0])
        if not asked:
            message = "features is empty; name at least one"
            raise ArgumentError(message)
        if all(isinstance(feature, bool | np.bool_) for feature in asked):
            if len(asked) != self.n_columns:
                message = f"a mask of features has one entry per column ({self.n_columns}), not {len(asked)}"
                raise ArgumentError(message)
            return tuple(np.flatnonzero(asked).tolist())
        return tuple(self._number(feature) for feature in asked)

    def _number(self, feature: object) -> int:
        if isinstance(feature, int | np.integer) and 0 <= feature < self.n_columns:
            return int(feature)
        if isinstance(feature, int | np.integer):
            message = f"all features must be in [0, {self.n_columns - 1}], but {feature} is not"
        elif feature in (self.own_names or ()):
            return (self.own_names or []).index(feature)
        elif feature in self.names:
            return self.names.index(feature)
        else:
            shown = ", ".join(map(repr, self.names[:10])) + (", ..." if self.n_columns > 10 else "")
            message = f"Feature {feature!r} not in feature_names; the columns of X are {shown}"
        raise ArgumentError(message)

    def categorical(self, features: object) -> set[int]:
        """Return the numbers of the columns that the user declares as categorical."""
        if features is None:
            return set()
        array = np.asarray(features)
        if array.size == 0:
            message = "categorical_features is empty; pass None if there are none"
            raise ArgumentError(message)
        if array.dtype.kind not in "biuOU":
            message = (
                "Expected `categorical_features` to be an array-like of boolean, integer or string values, "
                f"not {array.dtype}"
            )
            raise ArgumentError(message)
        if array.dtype.kind == "b" and array.size != self.n_columns:
            message = (
                f"categorical_features has the length {array.size}, but X has {how_many(self.n_columns, 'column')}"
            )
            raise ArgumentError(message)
        return set(self.find(array.tolist()))

    @cached_property
    def _schema(self) -> Schema:
        return Schema(tuple(NumberColumn(str(name)) for name in self.names), named=False)  # by position

    def column(self, number: int) -> Column:
        """Return one column."""
        values = open_columns(self.data, self._schema, [number]).values[number]
        if isinstance(values, Dictionary):
            distinct = [values.labels[k] for k in np.unique(values.positions[values.positions >= 0])]
            return Column(_sorted(distinct), bool((values.positions < 0).any()), labels=True)
        if values.dtype.kind == "O":
            return _column_of_objects(values.tolist())
        if values.dtype.kind == "f":
            missing = np.isnan(values)
            return Column(values[~missing], bool(missing.any()))
        return Column(values, missing=False, labels=values.dtype.kind in "USb")


@dataclass(frozen=True, eq=False, slots=True)
class Column:
    """The values of a column (at least once each) without missing ones; whether there are such; if they are labels."""

    values: NDArray[Any]
    missing: bool
    labels: bool = False

    @property
    def deciles(self) -> NDArray[np.float64]:
        """The nine deciles of a column of numbers."""
        return _quantiles(self.values, np.arange(0.1, 1.0, 0.1)) if self.values.size else np.empty(0)


def _as_array(data: object) -> NDArray[Any]:
    array = np.asarray(data)
    # Mixed strings and numbers: as objects, so that the numbers stay numbers.
    return np.asarray(data, dtype=object) if array.dtype.kind in "US" else array


def _column_of_objects(values: list[Any]) -> Column:
    known = [value for value in values if value is not None and value == value]  # NaN is not equal to itself
    if all(isinstance(value, numbers.Real) for value in known):
        return Column(np.array(known, dtype=np.float64), len(known) < len(values))
    return Column(_sorted(list(dict.fromkeys(known))), len(known) < len(values), labels=True)


def _sorted(values: list[Any]) -> NDArray[Any]:
    """Return distinct labels, sorted if possible, as an array that does not truncate strings."""
    try:
        values = sorted(values)
    except TypeError:
        values = sorted(values, key=lambda value: (type(value).__name__, value))
    array = np.array(values)
    return np.array(values, dtype=object) if array.dtype.kind in "USO" else array


def _quantiles(values: NDArray[Any], shares: object) -> NDArray[np.float64]:
    """Return quantiles as scikit-learn does: SciPy's method, which NumPy does not have."""
    from scipy.stats.mstats import mquantiles  # scikit-learn needs SciPy, too

    return np.asarray(mquantiles(values, prob=shares), dtype=np.float64)


@dataclass(frozen=True, eq=False, slots=True)
class Grid:
    """The grid of values at which partial dependence is computed, by scikit-learn's rules.

    Parameters
    ----------
    percentiles, resolution, custom
        As scikit-learn's arguments; the keys of `custom` are names or numbers of columns.
    categorical : set of int
        Columns whose grid is all of their values.
    """

    percentiles: Sequence[float]
    resolution: int | float
    custom: Mapping[Any, Any]
    categorical: set[int]

    def __post_init__(self) -> None:
        if np.ndim(self.percentiles) != 1 or np.size(self.percentiles) != 2:
            message = f"'percentiles' must be a sequence of 2 elements, not {self.percentiles!r}"
            raise ArgumentError(message)
        low, high = self.percentiles
        if not (0 <= low <= 1 and 0 <= high <= 1):
            message = f"'percentiles' values must be in [0, 1], but they are {low} and {high}"
            raise ArgumentError(message)
        if low >= high:
            message = f"percentiles[0] must be strictly less than percentiles[1], but they are {low} and {high}"
            raise ArgumentError(message)
        if not isinstance(self.resolution, int | np.integer) or self.resolution <= 1:
            message = f"'grid_resolution' must be strictly greater than 1, and whole, not {self.resolution!r}"
            raise ArgumentError(message)

    def axis(self, table: Table, number: int) -> NDArray[Any]:
        """Return the grid of one column, without missing values unless requested."""
        own = self._own_grid(table, number)
        if own is not None:
            return own
        column = table.column(number)
        distinct: NDArray[Any] = column.values if column.values.dtype.kind == "O" else np.unique(column.values)
        if not distinct.size:
            message = f"column {table.names[number]!r} has only missing values; give its grid in custom_values"
            raise ArgumentError(message)
        if column.labels or number in self.categorical or distinct.size < self.resolution:
            return distinct
        low, high = _quantiles(column.values, self.percentiles)
        if np.allclose(low, high):
            message = (
                f"percentiles are too close to each other in column {table.names[number]!r}: both are {low:.6g}; "
                "choose some that are further apart, or give the grid in custom_values"
            )
            raise ArgumentError(message)
        grid = np.linspace(low, high, num=int(self.resolution))
        return np.unique(np.rint(grid).astype(distinct.dtype)) if distinct.dtype.kind in "iu" else grid

    def _own_grid(self, table: Table, number: int) -> NDArray[Any] | None:
        """Return the user's grid of a column, by its name or number; None if there is none."""
        name = None if table.own_names is None else table.own_names[number]
        for key in (number, table.names[number], name):
            if key is not None and key in self.custom:
                values = list(self.custom[key])
                grid = np.asarray(values, dtype=object if any(isinstance(value, str) for value in values) else None)
                if grid.ndim != 1:
                    message = f"custom_values[{key!r}] is not a one-dimensional array: it has {grid.ndim} dimensions"
                    raise ArgumentError(message)
                return grid
        return None
