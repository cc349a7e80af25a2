"""Tables as users give them: made into what every step takes, and into what a model's own library takes."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import TableError
from glasswood.tables._columns import LabelColumn, dictionary_of, numbers_of
from glasswood.tables._parquet import read_batch, without_views
from glasswood.tables._tables import (
    Schema,
    Sparse,
    column_names,
    frame_of,
    frame_values,
    is_sparse,
    mapped_columns,
    native,
    plain_array,
)

__all__ = ["as_pandas", "as_trained", "given_table", "pandas_of"]

LIBRARIES = ("pandas", "polars", "pyarrow")  # of data frames, the first that is installed


def given_table(table: object) -> Any:
    """Return a user's table in memory as one that every step takes: a data frame, an array, or a sparse matrix.

    A mapping from names to lists becomes a data frame, lists of rows become an array.
    """
    table = native(table)
    if type(table).__name__ == "RecordBatch":  # which would pass for an array without names
        table = read_batch(table)
    if _is_arrow_table(table):
        table = without_views(table)
    if isinstance(table, np.ndarray):
        return _array(table)
    if is_sparse(table):
        return _sparse(table)
    if isinstance(table, Mapping):
        return _frame(table)
    if callable(getattr(table, "predict", None)):
        message = (
            f"this {type(table).__name__} is a model, but rows are expected; the model comes first, then the rows: "
            "Explainer(model, X)"
        )
        raise TableError(message)
    if isinstance(table, str | bytes | PathLike) or table is None or hasattr(table, "__next__"):
        message = (
            f"rows are passed as a table in memory (pandas, Polars, PyArrow or NumPy), not as {_called(table)}; "
            "read them first"
        )
        raise TableError(message)
    return table if frame_of(table) is not None else _array(_converted(table))


def _is_arrow_table(table: object) -> bool:
    return type(table).__module__.partition(".")[0] == "pyarrow" and type(table).__name__ == "Table"


def _called(table: object) -> str:
    text = f"{table!r:.60}"
    return text if isinstance(table, str | bytes) or table is None else f"a {type(table).__name__}"


def _converted(table: object) -> NDArray[Any]:
    """Return an array of lists of rows, or of anything that NumPy makes an array of."""
    array = plain_array(table)
    _check_shape(table, array.shape)
    return array


def _check_shape(table: object, shape: tuple[int, ...]) -> None:
    if len(shape) == 2:
        return
    if not shape:
        message = (
            f"this {type(table).__name__} of {type(table).__module__.partition('.')[0]} is not a table in memory; pass "
            "a data frame of pandas, Polars or PyArrow, an array, or a mapping from column names to lists"
        )
        raise TableError(message)
    hint = {
        1: "turn one column into a table with .to_frame() or .reshape(-1, 1), and one row into a list of one row",
    }.get(len(shape), "a model splits on one value per row and column")
    message = f"a table has rows and columns, but this {type(table).__name__} has the shape {shape}; {hint}"
    raise TableError(message)


def _array(array: NDArray[Any]) -> NDArray[Any]:
    """Return a plain array of rows and columns."""
    if array.dtype.names:
        message = (
            "structured arrays are not supported; pass its fields as columns, "
            "{name: array[name] for name in array.dtype.names}"
        )
        raise TableError(message)
    if isinstance(array, np.ma.MaskedArray):
        if np.ma.getmaskarray(array).any():
            message = (
                "masked arrays are not supported, because libraries disagree on them; pass "
                "array.astype(float).filled(np.nan)"
            )
            raise TableError(message)
        array = array.data
    _check_shape(array, array.shape)
    return np.asarray(array)


def _sparse(matrix: Sparse) -> Sparse:
    """Return a sparse matrix with one entry per place, at most: libraries disagree on several."""
    _check_shape(matrix, matrix.shape)
    if matrix.format not in ("csr", "csc", "bsr") or matrix.has_canonical_format:
        return matrix
    summed = matrix.copy()
    summed.sum_duplicates()
    if summed.nnz != matrix.nnz:
        message = "the sparse matrix has several entries for the same place; call its sum_duplicates() first"
        raise TableError(message)
    return matrix


def _frame(table: Mapping[Any, Any]) -> Any:
    """Return a data frame of a mapping from names to lists or arrays."""
    import narwhals as nw

    columns = {name: getattr(values, "array", values) for name, values in mapped_columns(table, ()).items()}
    library = next((name for name in LIBRARIES if find_spec(name)), None)
    if library is None:
        known = ", ".join(LIBRARIES)
        message = f"a mapping is turned into a data frame, which needs one of {known}; install one, or pass an array"
        raise TableError(message)
    try:
        return nw.from_dict(columns, backend=import_module(library)).to_native()
    except Exception as error:  # each of these libraries has errors of its own
        message = f"the mapping is not a table: {error}"
        raise TableError(message) from error


def pandas_of(table: Any) -> Any:
    """Return an Arrow table as pandas', including categories as Polars makes them: PyArrow 17 refuses unsigned codes.

    Examples
    --------
    >>> import pyarrow as pa
    >>> codes = pa.array([1, 0, None], pa.uint32())
    >>> pandas_of(pa.table({"k": pa.DictionaryArray.from_arrays(codes, ["lo", "hi"])}))["k"].tolist()
    ['hi', 'lo', nan]
    """
    arrow = sys.modules["pyarrow"]
    for place, field in enumerate(table.schema):
        kind = field.type
        if arrow.types.is_dictionary(kind) and arrow.types.is_unsigned_integer(kind.index_type):
            signed = arrow.dictionary(arrow.int64(), kind.value_type, ordered=kind.ordered)
            table = table.set_column(place, field.name, table.column(place).cast(signed))
    return table.to_pandas()


def as_pandas(table: Any, names: Sequence[Any] | None = None) -> Any:
    """Return some columns of a table as transformers take them: Arrow's become pandas', other frames stay.

    Texts of pandas whose missing values are NA become objects with NaN: transformers cannot compare NA, and Dask reads
    files as such texts.

    Examples
    --------
    >>> import pyarrow as pa
    >>> as_pandas(pa.table({"a": [1], "b": [2]}), ["b"]).columns.tolist()
    ['b']
    """
    if type(table).__module__.partition(".")[0] == "pyarrow":
        return pandas_of(table if names is None else table.select(list(names)))
    frame = None if isinstance(table, np.ndarray) or is_sparse(table) else frame_of(table)
    if frame is None:
        return table
    result = table if names is None else frame.select(list(names)).to_native()
    if not frame.implementation.is_pandas():
        return result
    texts = [name for name in result.columns if _has_na(result[name].dtype)]
    objects = {name: result[name].astype(object) for name in texts}
    return result.assign(**{name: values.where(values.notna(), np.nan) for name, values in objects.items()})


def _has_na(dtype: object) -> bool:
    """Return whether a type of pandas is that of texts whose missing values are NA."""
    return str(dtype).startswith("string") and type(getattr(dtype, "na_value", None)).__name__ == "NAType"


def as_trained(table: object, schema: Schema) -> Any:
    """Return a table whose columns of labels are pandas' categories.

    LightGBM and XGBoost learn labels from such columns, and take neither texts nor the categories of other libraries
    for them. Which number stands for which label is left to them, as it is to be checked. Tables that have these
    columns already are returned as they are, like those of other models.
    """
    labelled = {index: column for index, column in enumerate(schema.columns) if isinstance(column, LabelColumn)}
    frame = None if isinstance(table, np.ndarray) or is_sparse(table) or not labelled else frame_of(table)
    if frame is None or not find_spec("pandas"):
        return table
    import pandas as pd

    names = column_names(frame.columns, schema)
    native = frame.to_native()
    if frame.implementation.is_pandas():
        if all(isinstance(native[names[index]].dtype, pd.CategoricalDtype) for index in labelled):
            return native
        others = {name: native[name] for name in names}
    else:
        plain = [name for index, name in enumerate(names) if index not in labelled]
        others = {name: numbers_of(str(name), frame_values(frame, name)) for name in plain}
    made = {}
    for index, name in enumerate(names):
        column = labelled.get(index)
        if column is None:
            made[name] = others[name]
            continue
        values = dictionary_of(frame_values(frame, name))
        known = {label: label for label in column.labels}  # 5.0 is called 5, if the model does
        labels = [known.get(label, label) for label in values.labels]
        made[name] = pd.Categorical.from_codes(np.maximum(values.positions, -1), categories=labels)
    return pd.DataFrame(made, index=native.index if frame.implementation.is_pandas() else None)
