"""Tables of every kind: NumPy layouts and types, pandas, Polars, PyArrow, mappings, sparse matrices.

Each kind says how a pandas frame of float64 numbers and categories becomes such a table. Some kinds hold fewer values;
these first make the frame coarser, so that brute force sees what Glasswood sees.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

__all__ = ["KINDS", "Kind", "kinds_for"]

Frame = pd.DataFrame


@dataclass(frozen=True)
class Kind:
    """A kind of table.

    Parameters
    ----------
    make : callable
        From a frame to the table.
    coarsen : callable
        From a frame to the one that the table can hold.
    numbers : bool
        Whether it holds numbers only.
    named : bool
        Whether its columns have names.
    plain : bool
        Whether scikit-learn's transformers take it like a pandas frame.
    """

    make: Callable[[Frame], Any]
    coarsen: Callable[[Frame], Frame] = lambda frame: frame
    numbers: bool = False
    named: bool = True
    plain: bool = False


def kinds_for(*, categories: bool, natural: bool) -> list[str]:
    """Return the kinds that hold some columns: with categories, or natural columns for a pipeline."""
    if natural:
        return [name for name, kind in KINDS.items() if kind.plain]
    return [name for name, kind in KINDS.items() if not (categories and kind.numbers)]


def _on_numbers(change: Callable[[pd.Series], Any]) -> Callable[[Frame], Frame]:
    """Return a function that changes the columns of numbers, and leaves the others."""

    def changed(frame: Frame) -> Frame:
        return frame.assign(**{name: change(frame[name]) for name in frame if frame[name].dtype.kind in "fiub"})

    return changed


def _on_labels(change: Callable[[pd.Series], Any]) -> Callable[[Frame], Frame]:
    """Return a function that changes the columns of categories, and leaves the others."""

    def changed(frame: Frame) -> Frame:
        labels = [name for name in frame if isinstance(frame[name].dtype, pd.CategoricalDtype)]
        return frame.assign(**{name: change(frame[name]) for name in labels})

    return changed


# ---------------------------------------------------------------------------------------------------------- coarser


def _rounded_to(dtype: type, largest: float) -> Callable[[Frame], Frame]:
    def rounded(values: pd.Series) -> pd.Series:
        with np.errstate(over="ignore", under="ignore"):
            kept = values.to_numpy(float).copy()
            finite = np.isfinite(kept)
            kept[finite] = np.clip(kept[finite], -largest, largest).astype(dtype)
        return pd.Series(kept, index=values.index)

    return _on_numbers(rounded)


def _whole(smallest: int, largest: int) -> Callable[[Frame], Frame]:
    def whole(values: pd.Series) -> pd.Series:
        return values.fillna(0.0).clip(smallest, largest).round()

    return _on_numbers(whole)


# ------------------------------------------------------------------------------------------------------------ NumPy


def _array(frame: Frame) -> np.ndarray:
    return frame.to_numpy(float)


def _strided(frame: Frame) -> np.ndarray:
    wide = np.full((2 * len(frame), 2 * frame.shape[1]), 7.5)
    wide[::2, ::2] = frame
    return wide[::2, ::2]


def _backwards(frame: Frame) -> np.ndarray:
    return np.ascontiguousarray(_array(frame)[::-1, ::-1])[::-1, ::-1]


def _readonly(frame: Frame) -> np.ndarray:
    array = _array(frame).copy()
    array.setflags(write=False)
    return array


# ----------------------------------------------------------------------------------------------------------- pandas


def _typed(frame: Frame) -> Frame:
    """Return a frame in which whole numbers are integers, and zeros and ones flags."""

    def typed(values: pd.Series) -> pd.Series:
        if values.isin([0.0, 1.0]).all() and not np.signbit(values).any():
            return values.astype(bool)
        whole = np.isfinite(values).all() and (values == values.round()).all() and (values.abs() < 2**40).all()
        return values.astype(np.int64) if whole and len(values) else values

    return _on_numbers(typed)(frame)


def _extra(frame: Frame) -> Frame:
    """Return a frame with its columns in another order, one that the model does not know, and an odd index."""
    changed = frame[frame.columns[::-1]].copy()
    changed.insert(0, "not in the model", ["text"] * len(frame))
    return changed.set_index(pd.Index([7] * len(frame)))


def _recoded(values: pd.Series) -> pd.Series:
    """Return categories with their labels in another order, and one that is not used."""
    labels = list(values.cat.categories)[::-1]
    spare = "spare" if all(isinstance(label, str) for label in labels) else 12345
    return values.cat.set_categories([*labels, spare], ordered=False)


def _plain(values: pd.Series) -> pd.Series:
    """Return categories as the labels themselves, without a category type."""
    return values.astype(object).where(values.notna(), None)


def _polars(frame: Frame, labels: str, *, nulls: bool = True) -> Any:
    import polars as pl

    columns = []
    for name in frame:
        values = frame[name]
        if values.dtype.kind in "fiub":
            columns.append(pl.Series(str(name), values.to_numpy(), nan_to_null=nulls))
            continue
        texts = [None if pd.isna(value) else value for value in values.tolist()]
        column = pl.Series(str(name), texts)
        if isinstance(values.dtype, pd.CategoricalDtype) and column.dtype == pl.String and labels != "plain":
            known = [label for label in values.cat.categories if isinstance(label, str)]
            column = column.cast(pl.Enum(known) if labels == "enum" else pl.Categorical)
        columns.append(column)
    return pl.DataFrame(columns)


def _arrow(frame: Frame, *, chunks: int = 1) -> Any:
    import pyarrow as pa

    table = pa.Table.from_pandas(frame, preserve_index=False)
    if chunks == 1:
        return table
    bounds = np.linspace(0, len(frame), chunks + 1).astype(int)
    return pa.concat_tables(table.slice(a, b - a) for a, b in pairwise(bounds))


def _mapping(frame: Frame) -> dict[str, Any]:
    return {
        str(name): frame[name].to_numpy(float) if frame[name].dtype.kind in "fiub" else _plain(frame[name]).to_numpy()
        for name in frame
    }


def _sparse(layout: str) -> Callable[[Frame], Any]:
    def sparse(frame: Frame) -> Any:
        import scipy.sparse

        return getattr(scipy.sparse, layout)(_array(frame))

    return sparse


SINGLE = float(np.finfo(np.float32).max)
KINDS: dict[str, Kind] = {
    "pandas": Kind(lambda frame: frame, plain=True),
    "pandas_extra": Kind(_extra, plain=True),
    "pandas_typed": Kind(_typed),
    "pandas_nullable": Kind(lambda frame: frame.convert_dtypes()),
    "pandas_arrow": Kind(lambda frame: frame.convert_dtypes(dtype_backend="pyarrow")),
    "pandas_object": Kind(_on_numbers(lambda values: values.astype(object).where(values.notna(), None))),
    "pandas_float32": Kind(_on_numbers(lambda values: values.astype(np.float32)), _rounded_to(np.float32, SINGLE)),
    "pandas_sparse": Kind(_on_numbers(lambda values: values.astype(pd.SparseDtype(float, 0.0)))),
    "pandas_recoded": Kind(_on_labels(_recoded)),
    "pandas_labels": Kind(_on_labels(_plain)),
    "array": Kind(_array, numbers=True, named=False),
    "array_fortran": Kind(lambda frame: np.asfortranarray(_array(frame)), numbers=True, named=False),
    "array_strided": Kind(_strided, numbers=True, named=False),
    "array_backwards": Kind(_backwards, numbers=True, named=False),
    "array_readonly": Kind(_readonly, numbers=True, named=False),
    "array_big_endian": Kind(lambda frame: _array(frame).astype(">f8"), numbers=True, named=False),
    "array_object": Kind(lambda frame: _array(frame).astype(object), numbers=True, named=False),
    "array_float32": Kind(
        lambda frame: _array(frame).astype(np.float32), _rounded_to(np.float32, SINGLE), numbers=True, named=False
    ),
    "array_float16": Kind(
        lambda frame: _array(frame).astype(np.float16), _rounded_to(np.float16, 6e4), numbers=True, named=False
    ),
    "array_int64": Kind(
        lambda frame: _array(frame).astype(np.int64), _whole(-(2**20), 2**20), numbers=True, named=False
    ),
    "array_int8": Kind(lambda frame: _array(frame).astype(np.int8), _whole(-128, 127), numbers=True, named=False),
    "array_uint8": Kind(lambda frame: _array(frame).astype(np.uint8), _whole(0, 255), numbers=True, named=False),
    "array_bool": Kind(lambda frame: _array(frame).astype(bool), _whole(0, 1), numbers=True, named=False),
    "polars": Kind(lambda frame: _polars(frame, "categorical")),
    "polars_nan": Kind(lambda frame: _polars(frame, "categorical", nulls=False)),
    "polars_enum": Kind(lambda frame: _polars(frame, "enum")),
    "polars_plain": Kind(lambda frame: _polars(frame, "plain")),
    "arrow": Kind(_arrow),
    "arrow_chunks": Kind(lambda frame: _arrow(frame, chunks=3)),
    "arrow_plain": Kind(lambda frame: _arrow(_on_labels(_plain)(frame))),
    "mapping": Kind(_mapping),
    "csr_matrix": Kind(_sparse("csr_matrix"), numbers=True, named=False),
    "csc_array": Kind(_sparse("csc_array"), numbers=True, named=False),
}
