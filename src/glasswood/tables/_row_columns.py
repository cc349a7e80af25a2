"""Columns of a table in addition to the model's own: those that define groups of rows, and weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import TableError
from glasswood.tables._columns import Dictionary, dictionary_of, index_labels, numbers_of
from glasswood.tables._tables import arrow_dictionary, frame_of, frame_values
from glasswood.text._arguments import brief
from glasswood.text._printable import how_many

if TYPE_CHECKING:
    import narwhals as nw

__all__ = [
    "check_weights",
    "group_rows",
    "names_in",
    "names_of_groups",
    "places_of_groups",
    "refuse_size_of_groups",
    "row_weights",
    "sorted_groups",
    "without_columns",
]


def group_rows(table: object, by: Sequence[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the groups that rows fall into by the values of some columns, and each row's place in their list.

    A group is known by its value, or by the tuple of its values if there are several columns; missing is None.
    """
    frame = frame_of(table)
    if frame is None:
        message = "by= needs a data frame with that column, or an array with the group of each row"
        raise TableError(message)
    absent = [name for name in by if name not in frame.columns]
    if absent:
        message = f"by= names the columns {absent!r}, which the table does not have"
        raise TableError(message)
    columns = [_labels(frame.get_column(name)) for name in by]
    keys, places = columns[0]
    for more, positions in columns[1:]:
        codes, places = np.unique(places * len(more) + positions, return_inverse=True)
        keys = [(*_tuple(keys[code // len(more)]), more[code % len(more)]) for code in codes.tolist()]
    return keys, places


def sorted_groups(result: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return groups in the order of their keys, if they have one; missing comes last."""

    def place(key: object) -> list[Any]:
        return [(part is None, 0 if part is None else part) for part in (key if isinstance(key, tuple) else (key,))]

    try:
        keys = sorted(result, key=place)
    except TypeError:  # several types
        keys = sorted(result, key=lambda key: (type(key).__name__, str(key)))
    return {key: result[key] for key in keys}


def _tuple(key: object) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


def _labels(series: nw.Series[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the distinct values of any column, missing as None, and each row's place in the list."""
    if series.dtype.is_nested():
        message = f"by= names the column {series.name!r} of {series.dtype}; groups need a single value per row"
        raise TableError(message)
    if series.implementation.is_pyarrow():
        dictionary = arrow_dictionary(series.to_native())
    elif series.dtype.is_integer():
        dictionary = _dictionary_of_integers(series)
    elif series.dtype.is_float():
        dictionary = dictionary_of(series.to_numpy())
    else:
        dictionary = index_labels(series.to_list())
    labels = [None if label != label else label for label in dictionary.labels]  # NaN
    places = dictionary.positions.astype(np.intp)
    if None in labels or (places < 0).any():
        missing = labels.index(None) if None in labels else len(labels)
        labels = labels if None in labels else [*labels, None]
        places = np.where(places < 0, missing, places)
    number: dict[Any, int] = {}  # labels that are equal, as 0.0 and -0.0, are one
    numbers = [number.setdefault(label, len(number)) for label in labels]
    return list(number), np.array(numbers, dtype=np.intp)[places]


def _dictionary_of_integers(series: nw.Series[Any]) -> Dictionary:
    """Return the distinct integers of a column; beside missing values, libraries would make float64 of them."""
    missing = series.is_null().to_numpy()
    values = series.fill_null(0).to_numpy()
    result = dictionary_of(values[~missing])
    positions = np.full(len(missing), -1, dtype=np.int64)
    positions[~missing] = result.positions
    return Dictionary(result.labels, positions)


def without_columns(table: object, names: Sequence[Any]) -> Any:
    """Return a table without some columns, if it is a data frame that has any of them."""
    frame = None if isinstance(table, np.ndarray | dict) else frame_of(table)
    result = [] if frame is None else [name for name in frame.columns if name in names]
    return frame.drop(result).to_native() if frame is not None and result else table


def row_weights(table: object, name: object) -> NDArray[Any]:
    """Return the weights of rows, which are in a column of a data frame, as float64, or as integers if they are."""
    frame = frame_of(table)
    if frame is None or name not in frame.columns:
        message = f"sample_weight names the column {name!r}, which the table does not have"
        raise TableError(message)
    values = frame_values(frame, name)
    try:
        weight = numbers_of(str(name), values) if isinstance(values, Dictionary) else values
        if weight.dtype.kind not in "iu":
            weight = weight.astype(np.int64 if weight.dtype.kind == "b" else np.float64)
    except (TableError, TypeError, ValueError) as error:
        message = f"weights must be numbers, but the column {name!r} holds {frame.get_column(name).dtype}"
        raise TableError(message) from error
    check_weights(weight, f"the column {name!r}")
    return weight


def check_weights(weight: NDArray[Any], where: str) -> None:
    """Raise an error if a weight is missing, infinite or negative."""
    wrong = ~(np.isfinite(weight) & (weight >= 0))
    if wrong.any():
        first = weight[wrong][0].item()
        shown = "nan, or a missing value" if first != first else f"{first!r}"
        message = f"sample_weight must be finite and not negative; {where} has {shown}"
        raise TableError(message)


def names_in(by: object, sample_weight: object) -> list[str]:
    """Return the column names used by `by` and `sample_weight`."""
    several = by if isinstance(by, list | tuple) else (by,)
    return [name for name in (*several, sample_weight) if isinstance(name, str)]


def names_of_groups(table: object, by: object) -> tuple[str, ...]:
    """Return the names of the columns that tell groups of rows apart; none if there is a label for each row."""
    if isinstance(by, str):
        return (by,)
    frame = None if hasattr(table, "__array_interface__") else frame_of(table)
    return tuple(by) if frame is not None and _are_names(by, frame) else ()


def refuse_size_of_groups(places: NDArray[np.intp], n_rows: int) -> None:
    """Refuse groups of another number of rows than those of the table."""
    if places.shape != (n_rows,):
        labels = "1 label" if places.size == 1 else f"{places.size:,} labels"
        message = f"by= has {labels}, but the table has {how_many(n_rows, 'row')}; pass one label per row"
        raise TableError(message)


def places_of_groups(table: object, by: object) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the groups that rows of a table fall into, and each row's place in their list."""
    if names := names_of_groups(table, by):
        return group_rows(table, names)
    labels = np.asarray(by, dtype=object)
    if labels.ndim != 1:
        message = f"by= must be the name of a column, several names, or one value per row, not {brief(by)}"
        raise TableError(message)
    result = index_labels(labels.tolist())
    return [*result.labels, None], np.where(result.positions < 0, len(result.labels), result.positions)


def _are_names(by: object, frame: nw.DataFrame[Any]) -> TypeGuard[Sequence[str]]:
    """Return whether a list has names of columns, and not one value per row."""
    if not isinstance(by, list | tuple) or not all(isinstance(name, str) for name in by):
        return False
    return set(by) <= set(frame.columns) or len(by) != len(frame)
