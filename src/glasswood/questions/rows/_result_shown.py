"""The values of rows as users know them, listed lazily, for all rows or for a few."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ShownRows"]


class ShownRows:
    """The values of rows: an array with one column per feature, or None if a feature has several columns.

    All values are listed before pickling or copying, so that a result can be kept without its rows.

    Parameters
    ----------
    find : callable
        Maps the numbers of rows (None: all rows) to their values.
    """

    def __init__(self, find: Callable[[NDArray[np.intp] | None], NDArray[Any] | None]) -> None:
        self._find = find

    @classmethod
    def of(cls, values: NDArray[Any] | None) -> ShownRows:
        """Return an instance for values that are already listed."""
        return cls(lambda rows: values if rows is None or values is None else values[rows])

    def __call__(self) -> NDArray[Any] | None:
        """Return the values of all rows."""
        return self._find(None)

    def of_rows(self, rows: NDArray[np.intp]) -> NDArray[Any] | None:
        """Return the values of the given rows."""
        return self._find(rows)

    def __reduce__(self) -> tuple[Any, tuple[Any]]:
        return ShownRows.of, (self(),)
