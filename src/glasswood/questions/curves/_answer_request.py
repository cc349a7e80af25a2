"""Request: where partial dependence is evaluated, and how it is centred, as users ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from glasswood.errors import ArgumentError, TableError
from glasswood.questions.curves._answer_grids import GridSpec, ValuesByFeature, grid_spec
from glasswood.text._arguments import Centering, checked_centering

__all__ = ["EVERYWHERE", "Request"]


@dataclass(frozen=True, slots=True)
class Request:
    """Where partial dependence is evaluated, and how it is centred.

    Parameters
    ----------
    at : table or None
        Points: a table of the features' columns.
    grid : GridSpec or None
        Values of which all combinations are points.
    centered : bool or "mean", default False
    """

    at: object = None
    grid: GridSpec | None = None
    centered: Centering = False

    @classmethod
    def of(cls, at: object, grid: object, centered: object) -> Request:
        """Return the request of a user's arguments, after checking them."""
        if grid is not None and at is not None:
            message = "pass at= (points) or grid= (values of each feature), not both"
            raise ArgumentError(message)
        return cls(at, None if grid is None else grid_spec(grid), checked_centering(centered))

    @property
    def plain(self) -> bool:
        """Whether curves are asked for as they are."""
        return self.at is None and self.grid is None and not self.centered

    def of_each(self) -> Request:
        """Return the request for each of several features: points are values of each feature."""
        if self.at is None:
            return self
        if not isinstance(self.at, Mapping):
            message = (
                'at= maps each of several features to its values, {"age": [20, 40], "bmi": [25]}, and each is '
                "evaluated alone; to evaluate features together at the rows of a table, name the features too, as "
                "separate arguments"
            )
            raise TableError(message)
        return replace(self, at=None, grid=ValuesByFeature(self.at, "at"))


EVERYWHERE = Request()
