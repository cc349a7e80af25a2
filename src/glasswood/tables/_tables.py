"""Any table the user has, as the numbers that a model's nodes compare, column by column.

This file and its neighbours `_given_tables` and `_points` are the only ones that know table libraries. This one imports
none of them: narwhals finds out which one a frame comes from.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import TableError
from glasswood.tables._columns import Column, Dictionary, Numbers, index_labels, missing_position, numbers_of
from glasswood.text._printable import how_many

if TYPE_CHECKING:
    import narwhals as nw

__all__ = [
    "Digests",
    "Encoded",
    "OpenColumns",
    "ReadableColumns",
    "Rows",
    "Schema",
    "SideBySide",
    "Sparse",
    "arrow_dictionary",
    "column_names",
    "distinct_rows",
    "encode",
    "frame_of",
    "frame_values",
    "is_sparse",
    "mapped_columns",
    "n_rows",
    "names_of",
    "native",
    "open_columns",
    "open_named",
    "plain_array",
    "take_rows",
    "with_labels",
]


FRAMES = (("pandas", "DataFrame"), ("pyarrow", "Table"))  # which have to be read as such
Rows = slice | NDArray[np.intp]
Encoded = dict[int, NDArray[np.floating[Any]]]  # by the model's number of the column

ARROW_NUMBERS = {"float", "double", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of the table that a model takes.

    Parameters
    ----------
    columns : tuple of Column
        One per feature, in the model's order.
    named : bool
        Whether the names are the user's own. If not (the model was trained on a plain array), tables are read by
        position.
    underscored : bool
        Whether the library wrote blanks in the user's names as underscores.
    absent_is_missing : bool
        What an absent entry of a sparse matrix means: 0, or a missing value, as for XGBoost.
    rounds_integers : bool
        Whether the library rounds arrays that are not of floats to float32 (LightGBM, not for frames).
    rounds_objects : bool
        Whether this also applies to arrays of objects: a Booster does so, while the estimators convert them to float64.
    before : str
        A hash of what is done to the user's values before they reach the trees; empty for a bare model.
    """

    columns: tuple[Column, ...]
    named: bool = True
    underscored: bool = False
    absent_is_missing: bool = False  # not NaN or 0: two NaN differ, so schemas would (since Python 3.13)
    rounds_integers: bool = False
    rounds_objects: bool = False
    before: str = ""

    def key(self, name: object) -> str:
        """Return a name as the library writes it."""
        return str(name).replace(" ", "_") if self.underscored else str(name)

    def number_of(self, name: object) -> int | None:
        """Return the number of a column, given its name as the user or as the library writes it; None if unknown."""
        names = [column.name for column in self.columns]
        keys = [self.key(text) for text in names]
        return names.index(name) if name in names else keys.index(self.key(name)) if self.key(name) in keys else None

    def named_by(self, names: Sequence[Any] | None) -> Schema:
        """Return the schema with the table's own names of the columns, where the library has changed them."""
        if names is None or not (self.named and self.underscored):
            return self
        own = map(str, column_names(names, self))
        columns = tuple(
            column if column.name == name else replace(column, name=name)
            for column, name in zip(self.columns, own, strict=True)
        )
        return replace(self, columns=columns)


@dataclass(frozen=True, eq=False, slots=True)
class SideBySide:
    """The user's table beside what transformers make of it: some columns of a model are in one, some in the other.

    Parameters
    ----------
    own, made : table
        With the same rows.
    names : sequence of str or None
        The names of all columns of the user's that transformers take; None if these are known by position.
    places : sequence of tuple of two ints
        For each column of the model, the position of the user's column, and that of the transformed one; the latter is
        negative where the user's own column is meant.
    """

    own: object
    made: object
    names: Sequence[str] | None
    places: Sequence[tuple[int, int]]

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and of the model's columns."""
        return n_rows(self.own), len(self.places)

    def take(self, rows: NDArray[np.intp]) -> SideBySide:
        """Return some rows."""
        frame = None if isinstance(self.own, np.ndarray) or is_sparse(self.own) else frame_of(self.own)
        own = _rows_of(self.own, rows) if frame is None else frame[rows].to_native()
        made = None if isinstance(self.made, np.ndarray) or is_sparse(self.made) else frame_of(self.made)
        return replace(self, own=own, made=_rows_of(self.made, rows) if made is None else made[rows].to_native())

    def reader(self, schema: Schema) -> Callable[[int], Numbers | Dictionary]:
        """Return a function from the model's number of a column to its values."""
        n_own, n_made = len(self.names or ()) or _width(self.own), _width(self.made)
        named = Schema(tuple(Column(name) for name in self.names or map(str, range(n_own))), self.names is not None)
        read_own = _column_reader(self.own, named)
        by_position = replace(schema, columns=tuple(Column(str(k)) for k in range(n_made)), named=False)
        read_made = _column_reader(self.made, by_position)
        return lambda index: (
            read_own(self.places[index][0]) if self.places[index][1] < 0 else read_made(self.places[index][1])
        )


def _width(table: Any) -> int:
    return int(table.shape[1])


def _rows_of(table: Any, rows: NDArray[np.intp]) -> Any:
    return table.tocsr()[rows] if is_sparse(table) else plain_array(table)[rows]


def encode(table: object, schema: Schema, indices: Iterable[int]) -> dict[int, NDArray[np.floating[Any]]]:
    """Return the wanted columns of a table, by the model's number of the column, as float32 or float64 numbers.

    Numeric columns that are float32 or float64 already are not copied; no other column is touched.
    """
    columns = open_columns(table, schema, indices)
    return columns.encode(0, columns.n_rows)


@dataclass(frozen=True, eq=False, slots=True)
class Digests:
    """Digests of columns, which are taken of rows while they are read for another reason: they are in the cache then.

    Parameters
    ----------
    lines : ndarray of shape (n_blocks, n_columns), uint64
        Where to write them: a line for each block of rows, see `kernels._core.DIGEST_ROWS`.
    selected : ndarray of shape (n_columns,), bool
        Which columns are wanted.
    """

    lines: NDArray[np.uint64]
    selected: NDArray[np.bool_]


class ReadableColumns(Protocol):
    """Columns that are read part by part, by several threads."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        ...

    def read(self, rows: Rows, digested: Collection[int]) -> AbstractContextManager[tuple[Encoded, Digests | None]]:
        """Yield some rows as numbers, and the digests that the caller must take of features that it can digest."""
        ...


@dataclass(frozen=True, slots=True)
class OpenColumns:
    """The wanted columns of a table, found but not yet encoded."""

    schema: Schema
    n_rows: int
    values: dict[int, Numbers | Dictionary]

    def encode(self, first: int, last: int) -> dict[int, NDArray[np.floating[Any]]]:
        """Return the rows from first to last as numbers, by the model's number of the column."""
        return self.take(slice(first, last))

    def take(self, rows: Rows) -> Encoded:
        """Return some rows as numbers, by the model's number of the column."""
        columns = self.schema.columns
        return {index: columns[index].encode(values[rows]) for index, values in self.values.items()}

    @contextmanager
    def read(self, rows: Rows, digested: Collection[int]) -> Iterator[tuple[Encoded, Digests | None]]:  # noqa: ARG002
        """Yield some rows as numbers; no digests are wanted."""
        yield self.take(rows), None

    def column(self, index: int) -> NDArray[np.floating[Any]]:
        """Return all rows of a column as numbers."""
        return self.schema.columns[index].encode(self.values[index])

    def listed(self, index: int, rows: NDArray[np.intp] | None = None) -> list[Any]:
        """Return the values of a column as the user knows them, of all rows or of some."""
        values = self.values[index] if rows is None else self.values[index][rows]
        if isinstance(values, Dictionary):
            return [None if position < 0 else values.labels[position] for position in values.positions.tolist()]
        return list(values.tolist())


def with_labels(table: object, schema: Schema) -> Schema:
    """Return the schema with the labels of categories that only the table knows."""
    wanting = [index for index, column in enumerate(schema.columns) if column.wants_labels]
    if not wanting:
        return schema
    columns = list(schema.columns)
    for index, values in open_columns(table, schema, wanting).values.items():
        columns[index] = columns[index].labelled(values)
    return replace(schema, columns=tuple(columns))


def distinct_rows(columns: OpenColumns, features: NDArray[np.intp]) -> dict[str, list[Any]]:
    """Return the distinct rows of some columns, as lists by name."""
    places: NDArray[np.intp] = np.zeros(columns.n_rows, dtype=np.intp)
    for values in columns.encode(0, columns.n_rows).values():  # column by column, because sorting rows takes longer
        distinct, codes = np.unique(values, return_inverse=True)  # NaN is one value
        places = np.unique(places * distinct.size + codes, return_inverse=True)[1]
    first = np.sort(np.unique(places, return_index=True)[1])
    return {columns.schema.columns[int(f)].name: columns.listed(int(f), first) for f in features}


def open_columns(table: object, schema: Schema, indices: Iterable[int]) -> OpenColumns:
    """Return the wanted columns of a table, as views where the table allows it."""
    read = _column_reader(table, schema)
    return _opened(table, schema, {int(index): read(index) for index in indices})


def open_named(table: object, schema: Schema, names: Mapping[int, Any]) -> OpenColumns:
    """Return the columns of a data frame that are named, by the model's number of the column."""
    frame = frame_of(table)
    if frame is None:
        message = f"a stream of data frames contains a {type(table).__name__}; all its parts must have the same type"
        raise TableError(message)
    known = set(frame.columns)
    absent = [name for name in names.values() if name not in known]
    if absent:
        message = f"the table lacks the columns {absent!r}"
        raise TableError(message)
    return _opened(table, schema, {index: frame_values(frame, name) for index, name in names.items()})


def _opened(table: object, schema: Schema, values: dict[int, Numbers | Dictionary]) -> OpenColumns:
    for index, own in values.items():
        schema.columns[index].check_type(own)
    return OpenColumns(schema, n_rows(table), values)


def n_rows(table: Any) -> int:
    """Return the number of rows of any table."""
    if isinstance(table, Mapping) and not is_sparse(table):
        return len(next(iter(mapped_columns(table, ()).values()), ()))
    shape = getattr(table, "shape", None)
    return int(shape[0]) if shape is not None else len(table)


def names_of(table: object) -> list[Any] | None:
    """Return the names of the columns of a table; None if it has none, or there is no table."""
    if table is None or isinstance(table, np.ndarray | SideBySide) or is_sparse(table):
        return None
    if isinstance(table, Mapping):
        return list(table)
    frame = frame_of(table)
    return None if frame is None else list(frame.columns)


def take_rows(table: object, schema: Schema, rows: NDArray[np.intp]) -> Any:
    """Return some rows of the model's columns, in the model's order, as a table of the same type."""
    if isinstance(table, SideBySide):
        return table.take(rows)
    if is_sparse(table):
        return table.tocsr()[rows]
    frame = None if isinstance(table, np.ndarray) else frame_of(table)
    if frame is not None:
        place = {name: index for index, name in enumerate(frame.columns)}
        return frame[rows, [place[name] for name in column_names(frame.columns, schema)]].to_native()
    return plain_array(table)[rows]


def _column_reader(table: object, schema: Schema) -> Callable[[int], Numbers | Dictionary]:
    """Return a function from the model's number of a column to its values in the table."""
    if isinstance(table, SideBySide):
        return table.reader(schema)
    if is_sparse(table):
        _check_width(table.shape[1], schema)
        if table.dtype.kind not in "fiub":
            message = f"a sparse matrix of {table.dtype} is not supported, only one of real numbers"
            raise TableError(message)
        matrix = table.tocsc()
        return lambda index: _dense(matrix, index, np.nan if schema.absent_is_missing else 0.0)
    if isinstance(table, Mapping):
        own = [column.name for column in schema.columns]
        given = [str(name) for name in column_names(list(table), schema)] if schema.underscored else own
        columns = mapped_columns(table, given)
        return lambda index: _list_values(columns[given[index]])
    frame = None if isinstance(table, np.ndarray) else frame_of(table)
    if frame is not None:
        names = column_names(frame.columns, schema)
        return lambda index: frame_values(frame, names[index])
    array = plain_array(table)
    if array.ndim != 2:
        message = f"a table has rows and columns, but this {type(table).__name__} has shape {array.shape}"
        raise TableError(message)
    _check_width(array.shape[1], schema)
    exact = array.dtype in (np.float32, np.float64) or (array.dtype == object and not schema.rounds_objects)
    if schema.rounds_integers and not exact:
        return lambda index: _rounded(numbers_of(schema.columns[index].name, array[:, index]))
    return lambda index: array[:, index]


def _rounded(numbers: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    """Return numbers as float32; those beyond it become infinite, as LightGBM has it."""
    with np.errstate(over="ignore"):
        return numbers.astype(np.float32)


def mapped_columns(table: Mapping[Any, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the named columns of a mapping from names to lists or arrays, after checking that all are equally long."""
    known = {str(name): values for name, values in table.items()}
    absent = [name for name in names if name not in known]
    if absent:
        message = f"the table lacks the columns {absent!r}"
        raise TableError(message)
    for name, values in known.items():
        if isinstance(values, str | bytes) or not hasattr(values, "__len__") or getattr(values, "ndim", 1) != 1:
            message = f"column {name!r} is {values!r:.60}; a mapping has a list or an array of values for each column"
            raise TableError(message)
    lengths = {name: len(values) for name, values in known.items()}
    if len(set(lengths.values())) > 1:
        short, long = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
        message = (
            f"the columns of the table are not equally long: {long!r} has {lengths[long]} values, {short!r} has "
            f"{lengths[short]}"
        )
        raise TableError(message)
    return {name: known[name] for name in names} if names else known


def _list_values(values: object) -> Numbers | Dictionary:
    array = np.asarray(values)
    if array.ndim != 1:
        message = f"a column holds one value per row, but one of this table has the shape {array.shape}"
        raise TableError(message)
    # As objects: NumPy alone makes the text "nan" of a NaN among texts.
    return index_labels(np.asarray(values, dtype=object).tolist()) if array.dtype.kind in "OUS" else array


def _check_width(width: int, schema: Schema) -> None:
    if width != len(schema.columns):
        message = (
            f"the table has {how_many(width, 'column')}, but the model was trained on {len(schema.columns)}; "
            "pass the columns in the model's order, or a data frame with their names"
        )
        raise TableError(message)


class Sparse(Protocol):
    """What is used of a sparse matrix or array of SciPy's."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    format: str
    nnz: int
    has_canonical_format: bool

    def tocsc(self) -> Any:
        """Return it with compressed columns."""

    def tocsr(self) -> Any:
        """Return it with compressed rows."""

    def copy(self) -> Any:
        """Return a copy."""

    def __getitem__(self, places: object) -> Any: ...


def is_sparse(table: object) -> TypeGuard[Sparse]:
    """Return whether a table is a sparse matrix or array of SciPy's."""
    return type(table).__module__.startswith("scipy.sparse")


def _dense(matrix: Any, index: int, fill: float) -> NDArray[np.float64]:
    """Return one column of a compressed sparse column matrix, with `fill` where it holds nothing."""
    start, stop = matrix.indptr[index], matrix.indptr[index + 1]
    column = np.full(matrix.shape[0], fill)
    column[matrix.indices[start:stop]] = matrix.data[start:stop]
    return column


def native(table: object) -> Any:
    """Return what narwhals has wrapped; any other table as it is."""
    return table.to_native() if _is_wrapped(table) else table


def _is_wrapped(table: object) -> TypeGuard[nw.DataFrame[Any] | nw.LazyFrame[Any]]:
    return type(table).__module__.startswith("narwhals.")


def frame_of(table: object) -> nw.DataFrame[Any] | None:
    """Return a narwhals frame over the user's one, or None if the table is not a data frame."""
    import narwhals as nw

    try:
        return nw.from_native(table, eager_only=True)
    except (TypeError, ValueError) as error:
        if any(name in sys.modules and isinstance(table, getattr(sys.modules[name], kind)) for name, kind in FRAMES):
            message = f"this {type(table).__name__} cannot be read: {' '.join(str(error).split())}"
            raise TableError(message) from error
        return None


def plain_array(table: object) -> NDArray[Any]:
    """Return anything that is not a data frame as an array, unless it has column names, which an array would lose."""
    if hasattr(type(table), "columns") or hasattr(type(table), "column_names"):
        message = (
            f"this {type(table).__name__} of {type(table).__module__.partition('.')[0]} has columns, but is not a data "
            "frame in memory; convert it to pandas, Polars or PyArrow first"
        )
        raise TableError(message)
    try:
        return np.asarray(table)
    except (TypeError, ValueError) as error:
        message = f"this {type(table).__name__} is not a table: {error}"
        raise TableError(message) from error


def column_names(names: Sequence[Any], schema: Schema) -> Sequence[Any]:
    """Return a table's name of each of the model's columns: by name if the model knows names, else by position."""
    if not schema.named:
        _check_width(len(names), schema)
        return names
    texts, needed = [schema.key(name) for name in names], [schema.key(column.name) for column in schema.columns]
    by_text = dict(zip(texts, names, strict=True))
    absent = [name for name in needed if name not in by_text]
    if absent:
        shown = ", ".join(repr(name) for name in absent[:5]) + (", ..." if len(absent) > 5 else "")
        message = f"the table lacks {len(absent)} of the model's {how_many(len(schema.columns), 'column')}: {shown}"
        raise TableError(message)
    doubled = set(needed) & {text for text, n in Counter(texts).items() if n > 1}
    if doubled:
        message = f"several columns of the table could be the model's column {min(doubled)!r}; pass only one of them"
        raise TableError(message)
    return [by_text[name] for name in needed]


def frame_values(frame: nw.DataFrame[Any], name: Any) -> Numbers | Dictionary:
    """Return a column of a frame as an array of numbers (null is NaN), or as a dictionary of categories."""
    if frame.implementation.is_pandas():
        column = frame.to_native()[name]
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiub":
            return np.asarray(column)  # most columns of most tables; a tenth of the time of the general way
    if frame.implementation.is_pyarrow():
        column = frame.to_native()[name]
        if column.num_chunks == 1 and str(column.type) in ARROW_NUMBERS:  # several chunks would be copied
            values: Numbers = column.chunk(0).to_numpy(zero_copy_only=False)
            return values
    return _series_values(frame.get_column(name))


def _series_values(series: nw.Series[Any]) -> Numbers | Dictionary:
    """Return a column of a frame as an array of numbers (null is NaN), or as a dictionary of categories."""
    import narwhals as nw

    dtype = series.dtype
    if isinstance(dtype, nw.Boolean) and not series.null_count():
        return series.to_numpy()  # True and False, which may be categories
    if dtype.is_numeric() and not isinstance(dtype, nw.Decimal | nw.Int128 | nw.UInt128):  # which NumPy does not have
        # Narwhals turns integers with nulls into float64 with NaN, and copies nothing else that NumPy can hold.
        return series.to_numpy()
    if isinstance(dtype, nw.Int128 | nw.UInt128):
        return series.cast(nw.Float64()).to_numpy()
    if isinstance(dtype, nw.Boolean | nw.Decimal):
        # Through text, because text is rounded to the nearest number, by everybody; decimals are not.
        exact = series.cast(nw.String()) if isinstance(dtype, nw.Decimal) else series
        return exact.cast(nw.Float64()).to_numpy()
    if isinstance(dtype, nw.Categorical | nw.Enum):
        return _dictionary(series)
    if isinstance(dtype, nw.String) and series.implementation.is_pyarrow():
        return arrow_dictionary(series.to_native())
    if dtype.is_temporal():
        message = (
            f"column {series.name!r} holds {dtype}; no tree library trains on dates as such. "
            "Pass the number that the model was trained with (a month, a timestamp, ...)"
        )
        raise TableError(message)
    if dtype.is_nested():
        message = f"column {series.name!r} holds {dtype}; a model splits on one value per row"
        raise TableError(message)
    if series.implementation.is_pandas():
        return _factorized(series.to_native())
    return index_labels(series.to_list())


def _factorized(column: Any) -> Dictionary:
    """Return the distinct values of a column of pandas', in order of appearance, found in compiled code."""
    try:
        positions, labels = column.factorize()
    except TypeError:  # lists and the like: the general way has a message for them
        return index_labels(column.tolist(), objects=True)
    missing = np.flatnonzero(positions < 0)
    if missing.size and column.dtype == np.dtype(object):
        positions[missing] = [missing_position(value) for value in column.iloc[missing]]
    return Dictionary(labels.tolist(), positions)


def _dictionary(series: nw.Series[Any]) -> Dictionary:
    """Return the categories and codes that a frame library already keeps for a column."""
    native = series.to_native()
    if series.implementation.is_pandas_like():
        return Dictionary(native.cat.categories.tolist(), native.cat.codes.to_numpy())
    if series.implementation.is_pyarrow():
        return arrow_dictionary(native)
    if series.implementation.is_polars():
        # Polars shares one table of categories among columns, so its numbers are neither dense nor ours to keep.
        physical = native.to_physical().cast(int).fill_null(-1).to_numpy()
        distinct, first, positions = np.unique(physical, return_index=True, return_inverse=True)
        labels = [native[int(row)] for row in first]
        n_missing = int(distinct.size > 0 and distinct[0] == -1)
        return Dictionary(labels[n_missing:], positions - n_missing)
    return index_labels(series.to_list())


def arrow_dictionary(column: Any) -> Dictionary:
    """Return the distinct values of a chunked array of Arrow's, which finds them in compiled code, and positions."""
    if str(column.type) == "null":
        return Dictionary([], np.full(len(column), -1))
    encoded = column.dictionary_encode().unify_dictionaries().combine_chunks()
    encoded = encoded.chunk(0) if hasattr(encoded, "chunk") else encoded
    indices = encoded.indices.cast("int64").fill_null(-1)  # from Polars they come unsigned
    return Dictionary(encoded.dictionary.to_pylist(), indices.to_numpy(zero_copy_only=False))
