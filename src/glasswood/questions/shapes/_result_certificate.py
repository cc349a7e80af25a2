"""Certificate: what the trees alone prove about monotonicity, and constraints that a model declares but breaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import TableError
from glasswood.results._drawable import DrawnAsBars
from glasswood.results._frames import Tabular
from glasswood.text._html import table_html
from glasswood.text._printable import how_many, printable

__all__ = ["BrokenPromise", "Certificate"]


WORDS = {1: "increasing", -1: "decreasing", 0: ""}


@dataclass(frozen=True, slots=True)
class BrokenPromise(Tabular):
    """A row that shows that the model breaks a monotone constraint that it declares.

    The row is made of the values that the model's leaves accept; it need not be in any data. Scores are those of the
    model's own library, in every bit.

    `to_frame` returns two rows that the model can predict: with the feature at the first, and at the second of
    `values`.

    Parameters
    ----------
    feature : str
    output : label
    declared : {"increasing", "decreasing"}
        What the model says.
    values : (float, float)
        Two values of the feature, the smaller one first.
    scores : (float, float)
        The raw scores of the row with the feature at each of them.
    row : dict from str to value
        The values of all features; that of `feature` is the first of `values`.

    Examples
    --------
    See `Certificate`.
    """

    feature: str
    output: Any
    declared: str
    values: tuple[float, float]
    scores: tuple[float, float]
    row: Mapping[str, Any]

    @property
    def by(self) -> float:
        """How far the score moves against the constraint, as a positive number."""
        return abs(self.scores[1] - self.scores[0])

    @property
    def text(self) -> str:
        """The promise and what breaks it, in words."""
        moves = "falls" if self.declared == "increasing" else "rises"
        return (
            f"declared {self.declared}, but the score {moves} by {self.by:.4g} if {printable(self.feature)} goes from "
            f"{self.values[0]:.6g} to {self.values[1]:.6g}"
        )

    def _columns(self) -> dict[str, Any]:
        return {name: [v, self.values[1] if name == self.feature else v] for name, v in self.row.items()}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Certificate(DrawnAsBars, Tabular):
    """What the trees alone prove about monotonicity, without any data, for every row that there can be.

    Two leaves l and r of a tree are joined along feature j if a change of j alone leads from one to the other: their
    boxes share a value of every other feature, where "missing" and "unknown category" are values. With l at the smaller
    values of j, and v the values of leaves on the scale of the score::

        fall_j = sum over trees of max(0, largest v_l - v_r of all pairs of joined leaves)
        rise_j = sum over trees of max(0, largest v_r - v_l of all pairs of joined leaves)

    If ``fall_j`` is 0, every tree is increasing in j, and so is their sum, also as the model's own library adds it up:
    rounding keeps order. Otherwise it is a bound: no row falls by more. That is no proof of the contrary, because other
    trees may make up for the fall of one. A missing value of j itself is not on its axis, and is not covered.

    The raw score is meant. Logistic and exponential links keep order, so that a proof holds for probabilities of two
    classes and for means, too; probabilities of three or more classes have no such proof.

    `to_frame` returns one row per feature (and output).

    Parameters
    ----------
    names : tuple of str
        The features. Columns of categories and groups have no direction.
    falls, rises : ndarray of shape (n_features, n_outputs)
        How far the score can fall or rise at most, if the feature rises.
    promised : ndarray of shape (n_features, n_outputs), int8
        Constraints that the model declares: 1, -1, or 0 for none. XGBoost, LightGBM, CatBoost and scikit-learn models
        say so; files of XGBoost do not. Behind a pipeline they are not known.
    broken : tuple of BrokenPromise
        Constraints that the model declares and does not keep, each shown by a row. The search may miss some.
    exact : bool
        Whether pairs of leaves were compared in all trees. In trees of thousands of leaves, each split is bounded by
        the largest and smallest values below it, so that a proof may be missed.
    outputs : tuple
        The labels of the outputs.
    units : str

    Examples
    --------
    >>> import glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> kept = HistGradientBoostingRegressor(max_iter=20, monotonic_cst={"bmi": 1}).fit(X, y)
    >>> found = gw.Explainer(kept).certificate()
    >>> found
    Certificate(10 features: 1 increasing, 9 not proven; 1 declared, all proven)
    >>> found["bmi"]
    'increasing'
    >>> found.to_frame().columns.tolist()
    ['feature', 'proven', 'declared', 'verdict', 'fall', 'rise']

    Leaves of the absolute error are set again after a tree has grown, which breaks the constraint:

    >>> lost = HistGradientBoostingRegressor(loss="absolute_error", max_iter=20, monotonic_cst={"bmi": 1}).fit(X, y)
    >>> found = gw.Explainer(lost).certificate("bmi")
    >>> found
    Certificate(1 feature: 1 not proven; 1 declared, 1 broken: bmi declared increasing, but the score falls by ...)
    >>> before, after = lost.predict(found.broken[0].to_frame())
    >>> bool(before > after)
    True
    """

    names: tuple[str, ...]
    falls: NDArray[np.float64]
    rises: NDArray[np.float64]
    promised: NDArray[np.int8]
    broken: tuple[BrokenPromise, ...]
    exact: bool
    outputs: tuple[Any, ...]
    units: str

    @property
    def proven(self) -> NDArray[np.str_]:
        """What is proven of each feature and output: "increasing", "decreasing", "constant" or "" for nothing."""
        up, down = self.falls == 0, self.rises == 0
        return np.select([up & down, up, down], ["constant", "increasing", "decreasing"], "")

    @property
    def verdicts(self) -> NDArray[np.str_]:
        """What became of each declared constraint: "proven", "broken" or "open"; "" where none is declared."""
        kept = np.where(self.promised > 0, self.falls == 0, self.rises == 0)
        result = np.select([self.promised == 0, kept], ["", "proven"], "open").astype("<U6")
        for one in self.broken:
            result[self.names.index(one.feature), self.outputs.index(one.output)] = "broken"
        return result

    @property
    def heights(self) -> NDArray[np.float64]:
        """The bound of falls and of rises, the larger one of all outputs: (n_features, 2)."""
        return np.stack([self.falls.max(axis=1, initial=0.0), self.rises.max(axis=1, initial=0.0)], axis=1)

    @property
    def caveat(self) -> str:
        """A limitation of the bounds; empty if pairs of leaves were compared in all trees."""
        return "" if self.exact else "large trees are bounded by their splits: proofs may be missed"

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, feature: str) -> Any:
        """Return what is proven of one feature, "" for nothing; a list with one per output if there are several."""
        if feature not in self.names:
            raise TableError.no_feature(feature, self.names)
        result = self.proven[self.names.index(feature)].tolist()
        return result[0] if len(self.outputs) == 1 else result

    def __repr__(self) -> str:
        outputs = f" x {len(self.outputs)} outputs" if len(self.outputs) > 1 else ""
        proven = _counted(self.proven, {"increasing": "", "decreasing": "", "constant": "", "": "not proven"})
        promises = f"; {self._declared}" if self.promised.any() else ""
        caveat = f"; {self.caveat}" if self.caveat else ""
        return (
            f"Certificate({how_many(len(self), 'feature')}{outputs}{': ' if proven else ''}{proven}{promises}{caveat})"
        )

    @property
    def _declared(self) -> str:
        n_declared = int(np.count_nonzero(self.promised))
        verdicts = self.verdicts
        if (verdicts == "proven").sum() == n_declared:
            return f"{n_declared:,} declared, all proven"
        result = _counted(verdicts[verdicts != ""], {"broken": "", "proven": "", "open": "neither proven nor broken"})
        first = f": {printable(self.broken[0].feature)} {self.broken[0].text}" if self.broken else ""
        return f"{n_declared:,} declared, {result}{first}"

    def _repr_html_(self) -> str:
        return table_html(f"Certificate of monotonicity ({self.units})", self._columns())

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"feature": [name for name in self.names for _ in self.outputs]}
        if len(self.outputs) > 1:
            columns["output"] = list(self.outputs) * len(self.names)
        return columns | {
            "proven": self.proven.ravel().tolist(),
            "declared": [WORDS[sign] for sign in self.promised.ravel().tolist()],
            "verdict": self.verdicts.ravel().tolist(),
            "fall": self.falls.ravel(),
            "rise": self.rises.ravel(),
        }


def _counted(kinds: NDArray[np.str_], words: Mapping[str, str]) -> str:
    """Return how many there are of each kind, in the order of the words for them."""
    counts = {kind: int((kinds == kind).sum()) for kind in words}
    return ", ".join(f"{n:,} {words[kind] or kind}" for kind, n in counts.items() if n)
