"""What a curve can tell as long as it knows its rows: the spread of rows around it, its heights on other scales."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import BackgroundError
from glasswood.parallel._once import Deferred

__all__ = ["OtherScale", "Spread"]


class Spread(Deferred[NDArray[np.float64]]):
    """The spread of the rows' own curves in every cell, (n_cells, n_outputs), which is computed when it is asked for.

    Unlike other deferred values, it is not computed for a copy or pickle: that may take a pass over all rows.
    """

    @classmethod
    def unknown(cls) -> Spread:
        """Return one that cannot be computed any more."""

        def refuse() -> NDArray[np.float64]:
            message = (
                "this curve was copied or pickled before its spread was computed, and no longer knows its rows; call "
                "std() before that"
            )
            raise BackgroundError(message)

        return cls(refuse)

    def map(self, turn: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Spread:
        """Return the spread in other cells."""
        return Spread(lambda: turn(self()))

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return (Spread.of, (self(),)) if "_value" in self.__dict__ else (Spread.unknown, ())


class OtherScale(Spread):
    """The heights of a curve on another scale. They are not computed for a copy or pickle, either."""

    @classmethod
    def unknown(cls) -> OtherScale:
        """Return one that cannot be computed any more."""

        def refuse() -> NDArray[np.float64]:
            message = "this curve was copied or pickled, and no longer knows its rows; call relativity() before that"
            raise BackgroundError(message)

        return cls(refuse)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return (OtherScale.of, (self(),)) if "_value" in self.__dict__ else (OtherScale.unknown, ())
