"""The values of rows as users know them, listed when they are asked for: those of all rows, or of a few."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ShownRows"]


class ShownRows:
    """Lists the values of rows: an array of one column per feature, or None where a feature has several columns.

    All of them are listed before it is pickled or copied, so that a result can be kept without its rows.

    Parameters
    ----------
    find : callable
        From the numbers of some rows (None: of all) to their values.
    """

    def __init__(self, find: Callable[[NDArray[np.intp] | None], Any]) -> None:
        self._find = find

    @classmethod
    def of(cls, values: Any) -> ShownRows:
        """Return one of values that are listed already."""
        return cls(lambda rows: values if rows is None or values is None else values[rows])

    def __call__(self) -> Any:
        """Return the values of all rows."""
        return self._find(None)

    def of_rows(self, rows: NDArray[np.intp]) -> Any:
        """Return the values of some rows."""
        return self._find(rows)

    def __reduce__(self) -> tuple[Any, tuple[Any]]:
        return ShownRows.of, (self(),)
