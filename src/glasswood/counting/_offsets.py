"""OffsetRows: the rows that were counted with an offset, so that counts tell which base their scores start from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from glasswood.counting._background import Background
from glasswood.counting._plan import CountPlan
from glasswood.counting._statistic import Batch, Tally, Vector

__all__ = ["OffsetRows", "OffsetSpec", "has_offset"]

PREFIX = "offset "  # of the name of the vector


@dataclass(frozen=True)
class OffsetSpec:
    """The rows with an offset, as they are asked for.

    Parameters
    ----------
    name : str
        The offset in words.
    """

    name: str

    @property
    def key(self) -> str:
        """The name of the vector."""
        return f"{PREFIX}{self.name}"

    def statistic(self, plan: CountPlan) -> OffsetRows:  # noqa: ARG002 (it is the same for all models)
        """Return the statistic of a model."""
        return OffsetRows(self.key)


class OffsetRows:
    """The weight of the rows with an offset: all rows of a background have one, or none.

    Parameters
    ----------
    name : str
        The name of the vector.
    """

    max_rows = 2**20

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """The weight, one number."""
        return (Vector(self._name, 1),)

    def add(self, tallies: Sequence[Tally], batch: Batch) -> None:
        """Add rows to the tallies of their groups."""
        for tally, rows in zip(tallies, batch.groups, strict=True):
            tally.vectors[self._name][0] += batch.weights(rows).sum()

    def finish(self, tally: Tally) -> None:
        """Do nothing: the number is final at any time."""


def has_offset(background: Background) -> bool:
    """Return whether rows were counted with an offset."""
    return any(name.startswith(PREFIX) for name in background.vectors)
