"""Read-only arrays: writing to an array of a result raises NumPy's error instead of changing later results."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["ReadOnly", "read_only"]

Scalar = TypeVar("Scalar", bound=np.generic)


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return a read-only view of an array; the array itself is unchanged."""
    view = array.view()
    view.flags.writeable = False
    return view


class ReadOnly:
    """A dataclass whose arrays are read-only, also after it was copied or pickled."""

    def __post_init__(self) -> None:
        self._close()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._close()

    def _close(self) -> None:
        for name, value in self.__dict__.items():
            if isinstance(value, np.ndarray):
                self.__dict__[name] = read_only(value)
