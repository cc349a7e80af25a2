"""Monotonicity and Spikes: the shapes of curves, and what sampling them would miss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import TableError
from glasswood.kernels._read_only import ReadOnly
from glasswood.results._basis import with_basis
from glasswood.results._frames import Tabular
from glasswood.text._html import table_html
from glasswood.text._printable import how_many, printable

__all__ = ["Monotonicity", "Spike", "Spikes"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Monotonicity(ReadOnly, Tabular):
    """Whether curves are monotonic at full resolution, and how strongly they violate monotonicity.

    All steps of the model are checked. Missing values are ignored because they have no place on the axis; so are cells
    that only hold infinity or numbers beyond the range of float32 (3.4e38), where CatBoost puts a border between
    missing values and numbers.

    `to_frame` returns one row per feature (and output).

    Parameters
    ----------
    names : tuple of str
        The features.
    directions : ndarray of shape (n_features, n_outputs), str
        "increasing", "decreasing", "constant" or "neither".
    mains : ndarray of shape (n_features, n_outputs), str
        "increasing" or "decreasing": whether the steps up or the steps down have the larger sum.
    against : ndarray of shape (n_features, n_outputs)
        The largest step against the main direction, as a positive number; 0 if there is none.
    at : ndarray of shape (n_features, n_outputs)
        The cut of that step; NaN if there is none.
    shares : ndarray of shape (n_features, n_outputs)
        The share of background rows that lie between a step against the main direction and the point where the curve
        has recovered; NaN without a background.
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
    >>> found = gw.Explainer(model, X).monotonicity("bmi", "s5")
    >>> found
    Monotonicity(2 features: 1 increasing, 1 neither)
    >>> found["bmi"]
    'increasing'
    >>> found.to_frame().columns.tolist()
    ['feature', 'direction', 'main', 'against', 'at', 'share']
    """

    names: tuple[str, ...]
    directions: NDArray[np.str_]
    mains: NDArray[np.str_]
    against: NDArray[np.float64]
    at: NDArray[np.float64]
    shares: NDArray[np.float64]
    outputs: tuple[Any, ...]
    units: str

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, feature: str) -> Any:
        """Return the direction of one feature; a list with one per output if there are several."""
        if feature not in self.names:
            raise TableError.no_feature(feature, self.names)
        result = self.directions[self.names.index(feature)].tolist()
        return result[0] if len(self.outputs) == 1 else result

    def __repr__(self) -> str:
        kinds, counts = np.unique(self.directions, return_counts=True)
        result = ", ".join(f"{count} {kind}" for kind, count in zip(kinds, counts, strict=True))
        outputs = f" x {len(self.outputs)} outputs" if len(self.outputs) > 1 else ""
        return f"Monotonicity({how_many(len(self), 'feature')}{outputs}{': ' if result else ''}{result})"

    def _repr_html_(self) -> str:
        return table_html(f"Monotonicity ({self.units})", self._columns())

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"feature": [name for name in self.names for _ in self.outputs]}
        if len(self.outputs) > 1:
            columns["output"] = list(self.outputs) * len(self.names)
        return columns | {
            "direction": self.directions.ravel().tolist(),
            "main": self.mains.ravel().tolist(),
            "against": self.against.ravel(),
            "at": self.at.ravel(),
            "share": self.shares.ravel(),
        }


@dataclass(frozen=True, slots=True)
class Spike:
    """A stretch of a curve that lies between two sample points and leaves the range of both.

    Parameters
    ----------
    feature, output : str
    above, to : float
        The stretch: values above `above`, up to and including `to`.
    height : float
        The curve's height at the spike's tip.
    by : float
        The distance from that height to the nearer sample point: positive upwards, negative downwards.
    share : float
        The absolute value of `by` as a share of the whole curve's range.
    rows : float
        The number (or weight) of background rows in the stretch; NaN without a background.

    Examples
    --------
    See `Spikes`.
    """

    feature: str
    output: str
    above: float
    to: float
    height: float
    by: float
    share: float
    rows: float


CAVEATS = {
    "counts": "sample points (of some features from the first to the last cut)",
    "covers": "sample points from the first to the last cut",
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Spikes(Tabular):
    """Narrow spikes, often effects of a single value, that a curve sampled at evenly spaced values would miss.

    `to_frame` returns one row per spike.

    Parameters
    ----------
    entries : tuple of Spike
        The spikes, the largest (in units of the score) first.
    names : tuple of str
        The features that were checked.
    points : int
        The number of sample points, from the smallest to the largest value in the background.
    basis : {"rows", "counts", "covers"}
        "rows": the smallest and largest values of all features are known. With "counts" (a Background, a stream that
        can be read only once, a cluster's frame) those of some features are infinite or missing, or were lost when
        Backgrounds were subtracted; with "covers" (no background) there are none. Then the points range from the first
        to the last cut, `caveat` says so, and frames have a column `basis`.
    outputs : tuple
        The labels of the outputs.
    units : str

    Examples
    --------
    >>> import numpy as np, pandas as pd, glasswood as gw
    >>> from sklearn.ensemble import GradientBoostingRegressor
    >>> salary = np.random.default_rng(0).integers(10_000, 200_000, size=2000).astype(float)
    >>> salary[:300] = 60_000  # the default value of a form
    >>> X = pd.DataFrame({"salary": salary})
    >>> model = GradientBoostingRegressor(n_estimators=20).fit(X, salary == 60_000)
    >>> spikes = gw.Explainer(model, X).spikes("salary")
    >>> spikes
    Spikes(1 in 1 feature that 100 sample points would miss: salary from ... to ... by ...)
    >>> spikes[0].above < 60_000 <= spikes[0].to
    True
    >>> spikes.to_frame().columns.tolist()
    ['feature', 'above', 'to', 'height', 'by', 'share', 'rows']
    """

    entries: tuple[Spike, ...]
    names: tuple[str, ...]
    points: int
    basis: str
    outputs: tuple[Any, ...]
    units: str

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Spike]:
        return iter(self.entries)

    def __getitem__(self, number: int) -> Spike:
        return self.entries[number]

    def __repr__(self) -> str:
        features = how_many(len(self.names), "feature")
        first = ""
        if self.entries:
            spike = self.entries[0]
            first = f": {printable(spike.feature)} from {spike.above:.6g} to {spike.to:.6g} by {spike.by:.4g}"
        more = ", ..." if len(self) > 1 else ""
        return f"Spikes({len(self)} in {features} that {self._sampled} would miss{first}{more})"

    def _repr_html_(self) -> str:
        return table_html(f"Spikes that {self._sampled} would miss ({self.units})", self._columns())

    @property
    def caveat(self) -> str:
        """A limitation of the numbers; empty if the smallest and largest values of the rows were known."""
        return CAVEATS.get(self.basis, "")

    @property
    def _sampled(self) -> str:
        return f"{self.points} {self.caveat or 'sample points'}"

    def top(self, n: int = 10) -> Spikes:
        """Return the n largest spikes."""
        return Spikes(
            entries=self.entries[: max(0, n)],
            names=self.names,
            points=self.points,
            basis=self.basis,
            outputs=self.outputs,
            units=self.units,
        )

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"feature": [spike.feature for spike in self.entries]}
        if len(self.outputs) > 1:
            columns["output"] = [spike.output for spike in self.entries]
        for field in ("above", "to", "height", "by", "share", "rows"):
            columns[field] = np.array([getattr(spike, field) for spike in self.entries], dtype=np.float64)
        return with_basis(columns, self.basis)
