"""Results whose lines are ranked: their columns, and how they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ranking", "by_output", "colon_of", "root_of_squares", "totals"]


def root_of_squares(heights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return one number per line: the root of the sum of squares over outputs."""
    total: NDArray[np.float64] = np.sqrt((heights**2).sum(axis=1))
    return total


def by_output(heights: NDArray[np.float64], outputs: tuple[Any, ...]) -> dict[str, NDArray[np.float64]]:
    """Return one column per output."""
    if len(outputs) == 1:
        return {"value": heights[:, 0]}
    return {f"value_{name}": heights[:, k] for k, name in enumerate(outputs)}


class Ranking(Protocol):
    """What has a height per feature and output."""

    @property
    def heights(self) -> Any: ...
    @property
    def names(self) -> Sequence[str]: ...
    @property
    def outputs(self) -> tuple[Any, ...]: ...


class Totalled(Protocol):
    """What is ranked by a total of its outputs."""

    @property
    def outputs(self) -> tuple[Any, ...]: ...
    @property
    def total(self) -> Any: ...


def totals(result: Totalled) -> dict[str, NDArray[np.float64]]:
    """Return the column by which lines are ranked if there are several outputs."""
    return {} if len(result.outputs) == 1 else {"total": result.total}


def colon_of(result: Totalled) -> str:
    """Return the separator between units and values, which are totals if there are several outputs."""
    return ": " if len(result.outputs) == 1 else ", total: "
