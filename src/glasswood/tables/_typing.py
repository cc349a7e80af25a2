"""Tables in memory, for type checkers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

__all__ = ["Table"]

Table: TypeAlias = "pd.DataFrame | pl.DataFrame | pa.Table | NDArray[Any] | Mapping[str, Any] | Sequence[Sequence[Any]]"
