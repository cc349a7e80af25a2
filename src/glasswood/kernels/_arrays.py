"""Arrays as the compiled core takes them."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["aligned"]

Scalar = TypeVar("Scalar", bound=np.generic)


def aligned(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return an array with entries at places that are multiples of their size, apart by multiples of it; or a copy."""
    fits = array.flags.aligned and not any(stride % array.itemsize for stride in array.strides)
    return array if fits else array.copy()
