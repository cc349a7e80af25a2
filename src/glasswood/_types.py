"""Types of other libraries, for type checkers: tables in, frames and figures out. Nothing is imported when it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, TypeVar

from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from dask.dataframe import DataFrame as DaskFrame
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MatplotlibFigure
    from plotly.graph_objects import Figure as PlotlyFigure
    from pyspark.sql import DataFrame as SparkFrame
    from ray.data import Dataset as RayDataset
    from shap import Explanation
    from shapiq import InteractionValues

    PandasFrame: TypeAlias = pd.DataFrame
    PolarsFrame: TypeAlias = pl.DataFrame
    ArrowTable: TypeAlias = pa.Table

__all__ = [
    "A",
    "AnyFigure",
    "ArrowTable",
    "DaskFrame",
    "Explanation",
    "FigureOptions",
    "Files",
    "Frame",
    "FrameLibrary",
    "InteractionValues",
    "MatplotlibFigure",
    "PandasFrame",
    "PlotlyFigure",
    "PolarsFrame",
    "RayDataset",
    "SparkFrame",
    "Table",
]

# ------------------------------------------------------------------------------------------------------ rows come in

Table: TypeAlias = "PandasFrame | PolarsFrame | ArrowTable | NDArray[Any] | Mapping[str, Any] | Sequence[list[float]]"

Files: TypeAlias = str | PathLike[str] | Sequence[str] | Sequence[PathLike[str]]

# --------------------------------------------------------------------------------------------------- results go out

FrameLibrary: TypeAlias = Literal["pandas", "polars", "pyarrow"]

Frame: TypeAlias = "PandasFrame | PolarsFrame | ArrowTable"

A = TypeVar("A", bound="Axes | Sequence[Axes] | NDArray[Any]")

AnyFigure: TypeAlias = "MatplotlibFigure | PlotlyFigure | Axes | Sequence[Axes] | NDArray[Any]"


class FigureOptions(TypedDict, total=False):
    """The options that all figures have."""

    title: str | None
    figsize: tuple[float, float] | None
