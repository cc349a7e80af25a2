"""One table in every form in which rows may come on one machine, for `test_sources`, and small models for streams.

`WAYS[name](table, folder)` returns the rows of an Arrow table as something that `summarize` takes; `folder` is where
files may go.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from weakref import finalize

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from numpy.typing import NDArray
from pyarrow import csv, dataset, feather, parquet
from sklearn.ensemble import HistGradientBoostingRegressor

ROWS = 3000
GROUP = 250  # rows of a row group


def numbers(
    n_rows: int = ROWS, n_columns: int = 4, seed: int = 0, names: list[str] | None = None
) -> tuple[Any, NDArray[np.float64]]:
    """A pandas frame of float64 with missing values, and a target."""
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(n_rows, n_columns))
    y = values[:, 0] + np.where(values[:, 1] > 0, values[:, 2 % n_columns], 0)
    values[generator.random(values.shape) < 0.05] = np.nan
    return pd.DataFrame(values, columns=names or [f"x{place}" for place in range(n_columns)]), y


def boosted(frame: Any, y: Any, **settings: Any) -> Any:
    """A small boosted model."""
    return HistGradientBoostingRegressor(max_iter=8, random_state=0, **settings).fit(frame, y)


def write(table: Any, folder: Path, n_files: int = 3, group: int = GROUP, **settings: Any) -> list[Path]:
    """Write a table to several Parquet files, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    bounds = np.linspace(0, table.num_rows, n_files + 1).astype(int)
    paths = [folder / f"part-{number}.parquet" for number in range(n_files)]
    for path, first, last in zip(paths, bounds[:-1], bounds[1:], strict=True):
        parquet.write_table(table.slice(first, last - first), path, row_group_size=group, **settings)
    return paths


class OnlyStreams:
    """Something that nobody knows, which streams Arrow data."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.held.__arrow_c_stream__(requested_schema)


def parquet_file(table: Any, folder: Path) -> Path:
    return write(table, folder / "one", 1)[0]


def parquet_folder(table: Any, folder: Path) -> str:
    return str(write(table, folder / "several")[0].parent)


def parquet_pattern(table: Any, folder: Path) -> str:
    write(table, folder / "pattern")
    return str(folder / "pattern" / "part-*.parquet")


def parquet_list(table: Any, folder: Path) -> list[Path]:
    return write(table, folder / "list")


def parquet_dataset(table: Any, folder: Path) -> Any:
    return dataset.dataset(parquet_folder(table, folder), format="parquet")


def arrow_files(table: Any, folder: Path) -> Any:
    feather.write_feather(table, folder / "table.arrow", chunksize=GROUP)
    return dataset.dataset(folder / "table.arrow", format="ipc")


def filtered_dataset(table: Any, folder: Path) -> Any:
    """Twice the rows, and a filter that keeps one half."""
    both = pa.concat_tables([t.append_column("kept", pa.repeat(k, t.num_rows)) for t, k in ((table, 1), (table, 0))])
    return dataset.dataset(parquet_folder(both, folder)).filter(dataset.field("kept") == 1)


def reader(table: Any, folder: Path) -> Any:
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=GROUP))


def duckdb_relation(table: Any, folder: Path) -> Any:
    path = str(parquet_file(table, folder)).replace("'", "''")
    return duckdb.sql(f"SELECT * FROM '{path}'")


def delta(table: Any, folder: Path) -> Any:
    write_deltalake(str(folder / "delta"), table.slice(0, GROUP))
    write_deltalake(str(folder / "delta"), table.slice(GROUP), mode="append")
    return DeltaTable(str(folder / "delta"))


def iceberg(table: Any, folder: Path) -> Any:
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog("local", uri=f"sqlite:///{folder / 'catalog.db'}", warehouse=folder.as_uri())
    catalog.create_namespace("here")
    made = catalog.create_table("here.rows", schema=table.schema)
    made.append(table.slice(0, GROUP))
    made.append(table.slice(GROUP))
    finalize(made, catalog.engine.dispose)
    return made


def cut(table: Any) -> list[Any]:
    return [table.slice(first, GROUP) for first in range(0, table.num_rows, GROUP)]


WAYS = {
    "pandas": lambda table, folder: table.to_pandas(),
    "polars": lambda table, folder: pl.from_arrow(table),
    "arrow": lambda table, folder: table,
    "record batch": lambda table, folder: table.combine_chunks().to_batches()[0],
    "file": parquet_file,
    "folder": parquet_folder,
    "pattern": parquet_pattern,
    "list of paths": parquet_list,
    "dataset of parquet": parquet_dataset,
    "dataset of arrow files": arrow_files,
    "dataset in memory": lambda table, folder: dataset.dataset(table),
    "filtered dataset": filtered_dataset,
    "reader": reader,
    "duckdb": duckdb_relation,
    "lazy polars": lambda table, folder: pl.scan_parquet(parquet_file(table, folder)),
    "lazy polars in memory": lambda table, folder: pl.DataFrame(table).lazy(),
    "narwhals of pandas": lambda table, folder: nw.from_native(table.to_pandas()),
    "narwhals of arrow": lambda table, folder: nw.from_native(table),
    "lazy narwhals of polars": lambda table, folder: nw.from_native(pl.DataFrame(table)).lazy(),
    "lazy narwhals of duckdb": lambda table, folder: nw.from_native(duckdb_relation(table, folder)),
    "stream of arrow": lambda table, folder: OnlyStreams(table),
    "stream of polars": lambda table, folder: OnlyStreams(pl.from_arrow(table)),
    "iterator of pandas": lambda table, folder: (part.to_pandas() for part in cut(table)),
    "iterator of polars": lambda table, folder: (pl.from_arrow(part) for part in cut(table)),
    "iterator of arrow": lambda table, folder: iter(cut(table)),
    "iterator of record batches": lambda table, folder: iter(table.to_batches(max_chunksize=GROUP)),
    "delta": delta,
    "iceberg": iceberg,
}


def csv_dataset(table: Any, folder: Path) -> Any:
    csv.write_csv(table, folder / "table.csv")
    return dataset.dataset(folder / "table.csv", format="csv")
