"""Points: rows of the user's table with other values in some columns, in the table's own types.

A pipeline's steps may look at types: at the categories of a dtype, at integers, at truth values. So a point is a row of
the table, or one whose value the column itself could hold. No value is ever changed to fit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import TableError
from glasswood.tables._columns import NumberColumn, is_missing
from glasswood.tables._tables import Sparse, frame_of, frame_values, is_sparse, mapped_columns, n_rows, plain_array

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["Template", "columns_of", "distinct_points", "rows_at", "rows_with", "shown_values", "take"]


def columns_of(table: object, names: Sequence[str], positions: Sequence[int] | None = None) -> dict[str, list[Any]]:
    """Return some columns of a table as lists by name.

    Columns are found by name in frames and mappings, or else by position. Without positions the table has just these.
    """
    if isinstance(table, Mapping):
        return {name: list(values) for name, values in mapped_columns(table, names).items()}
    frame = None if isinstance(table, np.ndarray) or is_sparse(table) else frame_of(table)
    if frame is not None:
        result = _names_in(frame, names, positions)
        return {name: frame.get_column(column).to_list() for name, column in zip(names, result, strict=True)}
    array: Sparse | NDArray[Any] = table if is_sparse(table) else plain_array(table)
    places = range(len(names)) if positions is None else positions
    if len(array.shape) != 2 or array.shape[1] <= max(places):
        message = (
            f"a table of the columns {list(names)!r} has rows and columns, but this {type(table).__name__} has shape "
            f"{array.shape}; pass a mapping from names to lists, {{{names[0]!r}: [...]}}"
        )
        raise TableError(message)
    if is_sparse(table):
        return {
            name: table.tocsc()[:, [place]].toarray().ravel().tolist()
            for name, place in zip(names, places, strict=True)
        }
    return {name: array[:, place].tolist() for name, place in zip(names, places, strict=True)}


def shown_values(values: list[Any]) -> list[Any]:
    """Return values as results show them: pandas' own missing values are None."""
    return [None if type(value).__name__ in ("NAType", "NaTType") else value for value in values]


def _names_in(frame: nw.DataFrame[Any], names: Sequence[str], positions: Sequence[int] | None) -> list[Any]:
    """Return a frame's own names of some columns."""
    known = {str(name): name for name in frame.columns}
    absent = [name for name in names if name not in known]
    if not absent:
        return [known[name] for name in names]
    if positions is None or len(known) <= max(positions):
        message = f"the table lacks the columns {absent!r}; it has {list(known)[:10]!r}"
        raise TableError(message)
    return [frame.columns[place] for place in positions]


def distinct_points(table: object, names: Sequence[str], positions: Sequence[int]) -> tuple[Any, dict[str, list[Any]]]:
    """Return the first row of each combination of values in some columns, and these values as lists by name."""
    lists = columns_of(table, names, positions)
    first: dict[tuple[Any, ...], int] = {}
    try:
        for number, row in enumerate(zip(*lists.values(), strict=True)):
            first.setdefault(tuple(map(_key, row)), number)
    except TypeError as error:
        message = f"the columns {list(names)!r} hold values that cannot be compared ({error}); pass the points in at="
        raise TableError(message) from error
    rows = list(first.values())
    return take(table, rows), {name: [values[row] for row in rows] for name, values in lists.items()}


def rows_at(points: Mapping[str, Any], lists: Mapping[str, list[Any]], weight: object) -> NDArray[Any]:
    """Return the number (or weight) of rows that are at each point; empty if some row is at none of them."""
    try:
        place: dict[tuple[Any, ...], int] = {}
        for number, point in enumerate(zip(*points.values(), strict=True)):
            place.setdefault(tuple(map(_key, point)), number)
        places = [place.get(tuple(map(_key, row)), -1) for row in zip(*lists.values(), strict=True)]
    except TypeError:  # lists and the like, which are points of their own
        return np.empty(0)
    at = np.array(places, dtype=np.intp)
    if not at.size or (at < 0).any():
        return np.empty(0)
    n_points = len(next(iter(points.values())))
    weight = None if weight is None else np.asarray(weight, dtype=np.float64)
    counts: NDArray[Any] = np.bincount(at, weights=weight, minlength=n_points)
    return counts


def _key(value: object) -> Any:
    """Return keys that identify distinct values; missing values are not equal to themselves."""
    return ("missing", value is None) if is_missing(value) else value


def take(table: object, rows: list[int]) -> Any:
    """Return some rows of a user's table, in its own types."""
    if is_sparse(table):
        return table.tocsr()[rows]
    frame = None if isinstance(table, np.ndarray) else frame_of(table)
    return np.asarray(table)[rows] if frame is None else frame[np.array(rows, dtype=np.intp)].to_native()


def rows_with(table: object, points: Mapping[str, list[Any]], positions: Sequence[int]) -> Any:
    """Return copies of the first row of a user's table, one per point, with the points' values in some columns."""
    n_points = len(next(iter(points.values())))
    if n_rows(table) == 0:
        message = "the table has no rows, so there are no values to change"
        raise TableError(message)
    rows = take(table, [0] * n_points)
    replaced = dict(zip(positions, points.values(), strict=True))
    if is_sparse(table):
        rows = rows.astype(np.float64).tolil()
        for place, values in replaced.items():
            rows[:, [place]] = _numbers(f"column {place}", values).reshape(-1, 1)
        return rows.tocsr()
    frame = None if isinstance(table, np.ndarray) else frame_of(table)
    if frame is None:
        return _array_with(rows, replaced)
    import narwhals as nw

    names = _names_in(frame, list(points), positions)
    made = [_like(frame.get_column(name), own).alias(name) for name, own in zip(names, points.values(), strict=True)]
    return nw.from_native(rows, eager_only=True).with_columns(*made).to_native()


class Template:
    """Copies of one row of a user's table, in which some columns have other values: what transformers are tried on.

    Columns of numbers take any numbers, at the precision of the table; integers and truth values become float64, as
    transformers make them.

    Parameters
    ----------
    table : table
        Rows of the user's, at least one.
    names : sequence of str, optional
        The names of the columns; None if they are known by position.
    """

    def __init__(self, table: Any, names: Sequence[str] | None) -> None:
        self._table = table
        self._frame = None if isinstance(table, np.ndarray) or is_sparse(table) else frame_of(table)
        self._names: list[Any] | None = None
        if self._frame is not None:
            self._names = list(self._frame.columns) if names is None else _names_in(self._frame, names, None)

    def number_type(self, position: int) -> np.dtype[Any] | None:
        """Return the type of numbers that a column takes, float32 or float64; None if it holds something else."""
        if self._frame is None or self._names is None:
            dtype = self._table.dtype
            if dtype.kind in "fiub":
                return np.dtype(np.float32 if dtype == np.float32 else np.float64)
            return np.dtype(np.float64) if all(map(_is_number_or_missing, self._table[:, position])) else None
        import narwhals as nw

        column = self._frame.get_column(self._names[position])
        known = column.dtype.is_numeric() or isinstance(column.dtype, nw.Boolean)
        if not known and not (column.dtype == nw.Object() and all(map(_is_number_or_missing, column.to_list()))):
            return None
        return np.dtype(np.float32 if column.dtype == nw.Float32() else np.float64)

    def own_type(self, position: int) -> str:
        """Return the name of the type that a column of numbers has, as NumPy calls it."""
        if self._frame is None or self._names is None:
            return str(self._table.dtype)
        values = self._values(position)
        return str(values.dtype) if isinstance(values, np.ndarray) else "object"

    def numbers(self, position: int, max_: int = 200) -> NDArray[np.float64]:
        """Return some of the distinct numbers of a column, the smallest and the largest included."""
        table = NumberColumn(str(position)).encode(self._values(position)).astype(np.float64)
        distinct = np.unique(table[np.isfinite(table)])
        return (
            distinct[np.unique(np.linspace(0, distinct.size - 1, max_).astype(np.intp))] if distinct.size else distinct
        )

    def _values(self, position: int) -> Any:
        if self._frame is not None and self._names is not None:
            return frame_values(self._frame, self._names[position])
        if is_sparse(self._table):
            return self._table.tocsc()[:, [position]].toarray().ravel()
        return self._table[:, position]

    def with_values(self, columns: Mapping[int, Any], *, as_given: bool = False) -> Any:
        """Return as many rows as the longest of some columns is, each column filled up with its last value.

        Numbers have the type of the column, or their own if `as_given`; they must all have one type then.
        """
        n = max(len(values) for values in columns.values())
        numbers = {k: values for k, values in columns.items() if isinstance(values, np.ndarray)}
        labels = {k: [*values, *[values[-1]] * (n - len(values))] for k, values in columns.items() if k not in numbers}
        longer = {k: np.append(values, np.repeat(values[-1:], n - values.size)) for k, values in numbers.items()}
        names = [str(k) for k in labels] if self._names is None else [str(self._names[k]) for k in labels]
        rows = take(self._table, [0] * n)
        if labels:
            rows = self._with_labels(rows, dict(zip(names, labels.values(), strict=True)), list(labels))
        return self._with_numbers(rows, longer, as_given=as_given) if longer else rows

    def _with_labels(self, rows: Any, labels: Mapping[str, list[Any]], positions: Sequence[int]) -> Any:
        """Return rows with some values in columns of categories: of the table's own types, or as objects of pandas'.

        A column of truth values cannot be missing, and one of numbers cannot be a text, but transformers may take both.
        A column of pandas' texts makes NaN of None, but further rows may come with None.
        """
        pandas = self._frame is not None and self._frame.implementation.is_pandas()
        if pandas and any(value is None for values in labels.values() for value in values):
            return self._with_objects(rows, labels, positions)
        try:
            return rows_with(self._table, labels, positions)
        except TableError:
            if not pandas:
                raise
            return self._with_objects(rows, labels, positions)

    def _with_objects(self, rows: Any, labels: Mapping[str, list[Any]], positions: Sequence[int]) -> Any:
        """Return rows of pandas' with some values as Python's objects."""
        names = [(self._names or [])[k] for k in positions]
        own = type(rows[names[0]])
        given = zip(names, labels.values(), strict=True)
        return rows.assign(**{name: own(values, dtype=object, index=rows.index) for name, values in given})

    def _with_numbers(self, rows: Any, columns: Mapping[int, NDArray[Any]], *, as_given: bool) -> Any:
        types = {k: values.dtype if as_given else self.number_type(k) for k, values in columns.items()}
        of_all = next(iter(types.values())) if as_given else np.dtype(np.float64)
        if self._frame is not None and self._names is not None:
            import narwhals as nw

            backend = self._frame.implementation
            more = [
                nw.new_series(str(self._names[k]), values.astype(types[k]), backend=backend).alias(self._names[k])
                for k, values in columns.items()
            ]
            return nw.from_native(rows, eager_only=True).with_columns(*more).to_native()
        if is_sparse(self._table):
            rows = rows.astype(of_all).tolil()
            for k, values in columns.items():
                rows[:, [k]] = values.reshape(-1, 1)
            return rows.tocsr()
        made = rows.astype(of_all) if rows.dtype.kind in ("fiub" if as_given else "iub") else rows.copy()
        for k, values in columns.items():
            made[:, k] = values
        return made


def _is_number_or_missing(value: object) -> bool:
    return is_missing(value) or _is_number(value)


def _array_with(rows: NDArray[Any], replaced: Mapping[int, list[Any]]) -> NDArray[Any]:
    """Return an array with other values in some columns, of the same type if that holds them."""
    if rows.dtype.kind not in "fiub" or any(isinstance(x, str | bytes) for values in replaced.values() for x in values):
        rows = rows.astype(object)
        for place, values in replaced.items():
            rows[:, place] = values
        return rows
    columns = {place: _numbers(f"column {place}", values) for place, values in replaced.items()}
    with np.errstate(all="ignore"):
        held = all(np.array_equal(x, x.astype(rows.dtype), equal_nan=True) for x in columns.values())
    rows = rows if held else rows.astype(np.float64)
    for place, numbers in columns.items():
        rows[:, place] = numbers
    return rows


def _numbers(name: str, values: list[Any]) -> NDArray[np.float64]:
    try:
        return np.array([np.nan if is_missing(value) else value for value in values], dtype=np.float64)
    except (TypeError, ValueError) as error:
        message = f"{name} of the table holds numbers; the points have {values[:3]!r}"
        raise TableError(message) from error


def _like(column: nw.Series[Any], values: list[Any]) -> nw.Series[Any]:
    """Return values as a column of the same type; numbers that a type of numbers does not hold as what they are."""
    import narwhals as nw

    dtype = column.dtype
    if getattr(column.to_native(), "dtype", None) != np.dtype(object):  # None and NaN are two there, as for imputers
        values = [None if is_missing(value) else value for value in values]
    if isinstance(dtype, nw.Boolean):
        values = [bool(value) if _is_number(value) and value in (0, 1) else value for value in values]
    own = _column_if_unchanged(values, lambda: nw.from_native(_column_of_type(column, values), series_only=True))
    if own is not None:
        return own
    if dtype.is_numeric() and all(value is None or _is_number(value) for value in values):
        whole = all(isinstance(value, int | np.integer) for value in values)
        plain = values if whole else [float("nan") if value is None else float(value) for value in values]
        other = _column_if_unchanged(values, lambda: nw.new_series(column.name, plain, backend=column.implementation))
        if other is not None:
            return other
    message = f"column {column.name!r} of the table holds {dtype}, which cannot be {_first_wrong(dtype, values)!r}"
    if isinstance(dtype, nw.Boolean) and None in values:
        message += ". Make the Explainer with a table in which it can be missing (pandas' boolean, or float)"
    raise TableError(message)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number)


def _column_if_unchanged(values: list[Any], make: Callable[[], nw.Series[Any]]) -> nw.Series[Any] | None:
    """Return the column that is made of values, unless it cannot be made, or changes any of them."""
    try:
        made = make()
        back = made.to_list()
        same = all(is_missing(b) if is_missing(a) else bool(a == b) for a, b in zip(values, back, strict=True))
    except Exception:  # noqa: BLE001 (every library of tables has errors of its own)
        return None
    return made if same else None


def _column_of_type(column: nw.Series[Any], values: list[Any]) -> Any:
    """Return values as a column of a table library, of the very type that another column has."""
    native = column.to_native()
    if column.implementation.is_polars():
        return type(native)(column.name, values, dtype=native.dtype, strict=True)
    if column.implementation.is_pyarrow():
        arrow = sys.modules["pyarrow"]
        return arrow.chunked_array([arrow.array(values, type=native.type)])
    dtype = native.dtype
    if hasattr(dtype, "categories"):  # further ones come after those that the table has, whose codes stay
        known = list(dtype.categories)
        further = [value for value in dict.fromkeys(values) if value is not None and value not in known]
        dtype = type(dtype)([*known, *further], ordered=dtype.ordered) if further else dtype
    return type(native)(values, dtype=dtype)


def _first_wrong(dtype: object, values: list[Any]) -> Any:
    """Return a value that may be the one that does not fit: missing ones for truth values, else the first."""
    if None in values and dtype.__class__.__name__ == "Boolean":
        return None
    return next((value for value in values if value is not None), None)
