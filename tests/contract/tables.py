"""The rows of the contract, in every form that a user may pass them in."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

FOLDER = Path(__file__).parent
HALF = 20  # rows of the first part of a stream, and of the first of two backgrounds

# The columns that models are fitted on. Numbers are exact in float32, so that all forms hold the same values.
NUMBERS = ("age", "income", "rooms", "height")
HOLES = ("age", "income", "rooms", "debt")  # `debt` has missing values
MIXED = ("age", "income", "debt", "city")  # `city` is a category
CATEGORIES = ("age", "income", "rooms", "city")  # without missing values

FLOATS = ("age", "income", "rooms", "height", "debt", "weight", "share", "price", "visits")
CITIES = ("Bern", "Graz", "Linz", "Riga")


@cache
def column(name):
    """Return one column of rows.csv: numbers as float64, with NaN where they are missing; texts as a list."""
    with (FOLDER / "rows.csv").open(encoding="utf-8", newline="") as file:
        values = [line[name] for line in csv.DictReader(file)]
    return np.array([float(value or "nan") for value in values]) if name in FLOATS else values


def frame(names, rows=slice(None)):
    """Return some columns as a pandas frame; cities are categories."""
    values = {name: column(name)[rows] for name in names}
    if "city" in values:
        values["city"] = pd.Categorical(values["city"], categories=CITIES)
    return pd.DataFrame(values)


def _array(names, **how):
    values = [column(name) if name in FLOATS else [CITIES.index(city) for city in column(name)] for name in names]
    return np.array(np.column_stack(values), **how)


def _polars(names):
    cities = {"city": pl.Series(column("city"), dtype=pl.Categorical)} if "city" in names else {}
    return pl.DataFrame({name: cities.get(name, column(name)) for name in names})


def _arrow(names):
    table = pa.table({name: column(name) for name in names})
    if "city" in names:
        table = table.set_column(names.index("city"), "city", table["city"].combine_chunks().dictionary_encode())
    return table


def _parquet(names, folder):
    path = folder / f"{'-'.join(names)}.parquet"
    frame(names).to_parquet(path, row_group_size=16)
    return str(path)


def _polars_lazy(names):
    return _polars(names).lazy()


# One line per form: name, and a function of the columns' names and of a folder for files.
FORMS = {
    "pandas": lambda names, folder: frame(names),
    "numpy C float64": lambda names, folder: _array(names, order="C"),
    "numpy Fortran float64": lambda names, folder: _array(names, order="F"),
    "numpy C float32": lambda names, folder: _array(names, dtype=np.float32, order="C"),
    "numpy Fortran float32": lambda names, folder: _array(names, dtype=np.float32, order="F"),
    "pandas with texts": lambda names, folder: frame(names).astype({"city": str} if "city" in names else {}),
    "pandas, columns in another order": lambda names, folder: frame(names[::-1]),
    "polars": lambda names, folder: _polars(names),
    "pyarrow": lambda names, folder: _arrow(names),
    "polars lazy": lambda names, folder: _polars_lazy(names),
    "parquet": _parquet,
    "iterator": lambda names, folder: iter([frame(names, slice(HALF)), frame(names, slice(HALF, None))]),
    "record batches": lambda names, folder: _arrow(names).to_reader(max_chunksize=17),
}
ROW_FORMS = tuple(FORMS)[:9]  # those that hold rows to be explained
