"""Writing Parquet files, column by column and part by part. The only file that imports Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any

from glasswood.errors import MissingExtraError

__all__ = ["write_parquet"]


def write_parquet(
    path: str | PathLike[str], parts: Iterator[Mapping[str, Any]], labels: Mapping[str, list[str]]
) -> None:
    """Write parts of a table, each a mapping from column names to arrays, to one file.

    Columns that are named in `labels` hold positions in the list of their labels, and are written as dictionaries.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        message = "writing Parquet needs PyArrow; install glasswood[parquet]"
        raise MissingExtraError(message) from error
    dictionaries = {name: pa.array(texts, type=pa.string()) for name, texts in labels.items()}
    writer = None
    try:
        for part in parts:
            arrays = {
                name: pa.DictionaryArray.from_arrays(pa.array(values), dictionaries[name])
                if name in dictionaries
                else pa.array(values)
                for name, values in part.items()
            }
            batch = pa.table(arrays)
            if writer is None:
                writer = parquet.ParquetWriter(path, batch.schema)
            writer.write_table(batch)
    finally:
        if writer is not None:
            writer.close()
