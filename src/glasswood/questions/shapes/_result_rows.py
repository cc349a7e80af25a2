"""RowMonotonicity: how many rows have a curve of their own that goes against a direction, how far, and where."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood._types import Frame
from glasswood.errors import BackgroundError, TableError
from glasswood.models._outputs import position_of
from glasswood.parallel._lazy import Deferred
from glasswood.results._drawable import DrawnAsBars
from glasswood.results._frames import Tabular, to_frame
from glasswood.text._html import table_html
from glasswood.text._printable import how_many, printable

__all__ = ["RowMonotonicity", "WorstRow"]


NO_WORST = "the worst row is known for a table in memory only; pass one to Explainer as the background"


@dataclass(frozen=True, slots=True)
class WorstRow:
    """The row whose own curve goes furthest against the direction of a feature.

    Parameters
    ----------
    row : int
        Its number in the table.
    values : (float, float)
        Two values of the feature, the smaller one first. The last cell of a feature has no end; then it is infinite.
    responses : (float, float)
        What the model answers for the row at each of them, on the scale of the result.

    Examples
    --------
    See `RowMonotonicity`.
    """

    row: int
    values: tuple[float, float]
    responses: tuple[float, float]

    @property
    def by(self) -> float:
        """How far it goes against the direction, as a positive number."""
        return abs(self.responses[1] - self.responses[0])


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RowMonotonicity(DrawnAsBars, Tabular):
    """How many rows have a curve of their own (ICE) that goes against a direction, how far, and where.

    With ``s_i(c)`` the response of row i if the feature is in cell c of its axis, missing left out, the row breaks
    "increasing" if::

        fall_i = max over cells c < c' of s_i(c) - s_i(c')

    is larger than rounding can explain (1e-12 of the size of responses). All rows and all cells are looked at. Numbers
    of rows are sums of their weights, if they have any.

    `to_frame` returns one row per feature (and output).

    Parameters
    ----------
    names : tuple of str
        The features of numbers.
    directions : ndarray of shape (n_features, n_outputs), str
        The direction that rows are judged by: the one that the model declares; otherwise the main direction of the
        curve.
    falling, rising : ndarray of shape (n_features, n_outputs)
        The number (or weight) of rows whose own curve falls, or rises, anywhere.
    bounds : ndarray of shape (n_features, n_outputs, 2)
        What the largest move against the direction is not less than, and is less than: it is known to 9 %, because only
        sums over rows are kept. NaN if there is none.
    cuts : tuple of ndarrays of shape (n_cuts,)
        The cuts of each feature.
    steps : tuple of ndarrays of shape (n_cuts, n_outputs)
        The number (or weight) of rows with a step against the direction at each cut.
    total : float
        The number (or weight) of all rows.
    outputs : tuple
        The labels of the outputs.
    units : str

    Examples
    --------
    >>> import glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = HistGradientBoostingRegressor(max_iter=20, monotonic_cst={"bmi": 1}).fit(X, y)
    >>> found = gw.Explainer(model, X).row_monotonicity("bmi", "s5")
    >>> found
    RowMonotonicity(2 features, 442 rows: against its direction go ... of s5, 0 of bmi)
    >>> found["bmi"]
    0.0
    >>> found.worst("s5")
    WorstRow(row=..., values=(...), responses=(...))
    >>> found.to_frame().columns.tolist()
    ['feature', 'direction', 'rows', 'share', 'at_least', 'below', 'at', 'rows_at']
    >>> found.where("s5").columns.tolist()
    ['cut', 'rows', 'share']
    """

    names: tuple[str, ...]
    directions: NDArray[np.str_]
    falling: NDArray[np.float64]
    rising: NDArray[np.float64]
    bounds: NDArray[np.float64]
    cuts: tuple[NDArray[np.float64], ...]
    steps: tuple[NDArray[np.float64], ...]
    total: float
    outputs: tuple[Any, ...]
    units: str
    find_worst: Deferred[Mapping[tuple[str, int], WorstRow]] | None = None

    @property
    def heights(self) -> NDArray[np.float64]:
        """The number (or weight) of rows that go against the direction: (n_features, n_outputs)."""
        return np.where(self.directions == "increasing", self.falling, self.rising)

    @property
    def shares(self) -> NDArray[np.float64]:
        """The share of the rows that go against the direction: (n_features, n_outputs)."""
        return self.heights / self.total

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, feature: str) -> Any:
        """Return the share of rows that go against the direction of a feature; one per output if there are several."""
        result = self.shares[self._place(feature)]
        return float(result[0]) if len(self.outputs) == 1 else result

    def _place(self, feature: str) -> int:
        if feature not in self.names:
            raise TableError.no_feature(feature, self.names)
        return self.names.index(feature)

    def worst(self, feature: str, *, output: Hashable = None) -> WorstRow | None:
        """Return the row that goes furthest against the direction of a feature; None if there is none.

        This looks at all rows of a table in memory once more.
        """
        self._place(feature)
        if self.find_worst is None:
            raise BackgroundError(NO_WORST)
        position = position_of(self.outputs, output)
        if position is None and len(self.outputs) > 1:
            message = f"the worst row is that of one output; pass output=, one of {list(self.outputs[:20])!r}"
            raise TableError(message)
        return self.find_worst().get((feature, position or 0))

    def where(self, feature: str) -> Frame:
        """Return a frame of all cuts of a feature: how many rows have a step against the direction there."""
        place = self._place(feature)
        cuts, steps = self.cuts[place], self.steps[place]
        columns: dict[str, Any] = {"cut": np.repeat(cuts, len(self.outputs))}
        if len(self.outputs) > 1:
            columns["output"] = list(self.outputs) * len(cuts)
        return to_frame(columns | {"rows": steps.ravel(), "share": steps.ravel() / self.total})

    def __repr__(self) -> str:
        several = f" x {len(self.outputs)} outputs" if len(self.outputs) > 1 else ""
        of = self.heights.max(axis=1, initial=0.0)
        order = np.argsort(-of, kind="stable")
        shown = ", ".join(f"{of[i]:,.6g} of {printable(self.names[i])}" for i in order[:3])
        more = ", ..." if len(self) > 3 else ""
        violations = f": against its direction go {shown}{more}" if shown else ""
        return f"RowMonotonicity({how_many(len(self), 'feature')}{several}, {self.total:,.6g} rows{violations})"

    def _repr_html_(self) -> str:
        return table_html(f"Rows that are not monotonic ({self.units})", self._columns())

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"feature": [name for name in self.names for _ in self.outputs]}
        if len(self.outputs) > 1:
            columns["output"] = list(self.outputs) * len(self.names)
        max_, at = np.zeros(self.falling.shape), np.full(self.falling.shape, np.nan)
        for i, (cuts, steps) in enumerate(zip(self.cuts, self.steps, strict=True)):
            if len(cuts):
                max_[i] = steps.max(axis=0)
                at[i] = np.where(max_[i] > 0, cuts[steps.argmax(axis=0)], np.nan)
        return columns | {
            "direction": self.directions.ravel().tolist(),
            "rows": self.heights.ravel(),
            "share": self.shares.ravel(),
            "at_least": self.bounds[:, :, 0].ravel(),
            "below": self.bounds[:, :, 1].ravel(),
            "at": at.ravel(),
            "rows_at": max_.ravel(),
        }
