"""The cells of a feature, shared by curves, surfaces and ICE, and heights over cells as columns of a frame."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from glasswood.effects._axes import LARGEST
from glasswood.kernels._read_only import ReadOnly
from glasswood.parallel._lazy import Deferred
from glasswood.tables._columns import Column, Extent, Numbers, cells_of, index_labels, is_missing
from glasswood.text._printable import unlike

__all__ = ["LARGEST", "Axis", "FloatOrArray", "columns_of", "of_outputs", "spread", "squeezed"]

FloatOrArray: TypeAlias = np.float64 | NDArray[np.float64]


UNKNOWN: Deferred[Extent | None] = Deferred.of(None)


@dataclass(frozen=True, eq=False)
class Axis(ReadOnly):
    """The cells of one feature.

    Parameters
    ----------
    column : Column
    cuts : ndarray of shape (K,)
        The model's cuts; cell k holds the values above cut k - 1 and up to cut k. Empty for categories.
    rows : ndarray of shape (n_cells,)
        The number (or weight) of background rows in each cell, missing ones last; empty without a background.
    find_extent : Deferred
        Finds the `Extent` of the feature's values lazily; None if it is unknown.
    weighted : bool
        Whether `rows` are weights.
    unread : ndarray of shape (1,), optional
        The number (or weight) of all rows, if the feature is a number that the model does not use: its column is not
        read, so that `rows` is empty.
    """

    column: Column
    cuts: NDArray[np.float64]
    rows: NDArray[Any]
    find_extent: Deferred[Extent | None] = UNKNOWN
    weighted: bool = False
    unread: NDArray[Any] | None = None

    @property
    def ends(self) -> tuple[float, float] | None:
        """The smallest and largest value in the background; None if unknown and for categories."""
        extent = self.find_extent()
        return None if extent is None else (extent.least, extent.greatest)

    @property
    def whole(self) -> bool:
        """Whether all values in the background are known to be whole numbers."""
        extent = self.find_extent()
        return extent is not None and extent.whole

    @property
    def name(self) -> str:
        """The name of the feature."""
        return self.column.name

    @property
    def categories(self) -> tuple[Any, ...] | None:
        """The labels of the categories; None for numeric features."""
        return self.column.categories

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels of the categories, then names for unseen and for missing ones, which no category has."""
        known = self.categories or ()
        return (*known, *(unlike(name, known) for name in ("(unseen)", "(missing)")))

    @property
    def n_main(self) -> int:
        """The number of cells, excluding those for unseen categories and missing values."""
        return self.column.n_codes or self.cuts.size + 1

    @property
    def ordinary(self) -> slice:
        """The main cells, excluding those that only hold numbers beyond the range of float32.

        To separate missing values from numbers, CatBoost puts a border at the end of that range. The cell beyond it
        applies to infinity and missing values only and is not part of the curve proper.
        """
        if self.categories is not None:
            return slice(0, self.n_main)
        return slice(int((self.cuts <= -LARGEST).sum()), int((self.cuts < LARGEST).sum()) + 1)

    @property
    def n_cells(self) -> int:
        """The number of all cells."""
        return self.n_main + (2 if self.column.n_codes else 1)

    def locate(self, encoded: NDArray[np.floating[Any]]) -> NDArray[np.int64]:
        """Return the cell of each encoded value."""
        return cells_of(encoded, self.cuts, self.column.n_codes)

    def cell_of(self, x: ArrayLike) -> NDArray[np.int64]:
        """Return the cell of each value."""
        values: Numbers = np.asarray(x)
        if self.categories is not None and values.dtype.kind in "OUS":
            values = np.asarray(x, dtype=object)  # NumPy alone would turn a NaN among strings into the string "nan"
            return self.locate(self.column.encode(index_labels(values.ravel().tolist()))).reshape(values.shape)
        if values.dtype.kind == "O":  # pandas' missing values are not numbers for NumPy
            numbers = [np.nan if is_missing(value) else value for value in values.ravel().tolist()]
            return self.locate(self.column.encode(np.array(numbers, dtype=object))).reshape(values.shape)
        return self.locate(self.column.encode(values.ravel())).reshape(values.shape)

    def describe(self) -> dict[str, list[Any]]:
        """Return the columns of a frame that identify each cell."""
        if self.categories is not None:
            return {self.name: list(self.labels)}
        return {
            f"{self.name}_above": [-np.inf, *self.cuts.tolist(), np.nan],
            f"{self.name}_to": [*self.cuts.tolist(), np.inf, np.nan],
        }


def of_outputs(heights: NDArray[np.float64]) -> FloatOrArray:
    """Return a height for each output, or a number if there is only one."""
    return np.float64(heights[0]) if heights.shape[-1] == 1 else heights


def squeezed(heights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return heights without the last axis if there is only one output."""
    return heights[..., 0] if heights.shape[-1] == 1 else heights


def columns_of(
    axes: list[Axis], heights: NDArray[np.float64], outputs: tuple[Any, ...], rows: NDArray[Any] | None
) -> dict[str, Any]:
    """Return heights as the columns of a tidy frame."""
    shape = heights.shape
    columns: dict[str, Any] = {}
    for k, axis in enumerate(axes):
        for name, labels in axis.describe().items():
            columns[name] = spread(labels, shape, k)
    if len(outputs) > 1:
        columns["output"] = spread(list(outputs), shape, len(shape) - 1)
    columns["value"] = heights.ravel()
    if rows is not None and rows.size:
        columns["rows"] = np.repeat(rows, heights[0].size)
    return columns


def spread(labels: list[Any], shape: tuple[int, ...], axis: int) -> Any:
    """Return the label of every element of an array, given the labels along one axis; numbers as an array."""
    many, times = math.prod(shape[axis + 1 :]), math.prod(shape[:axis])
    if all(isinstance(label, float) for label in labels):
        return np.tile(np.repeat(np.array(labels, dtype=np.float64), many), times)
    return [label for label in labels for _ in range(many)] * times
