"""HStatistics: how much of the score's variance interactions make, of each feature and of the whole model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError, BackgroundError, TableError
from glasswood.parallel._lazy import Deferred
from glasswood.results._axis import squeezed
from glasswood.results._drawable import DrawnAsBars
from glasswood.results._folds import NO_FOLDS, Folds
from glasswood.results._frames import Tabular
from glasswood.text._html import table_html
from glasswood.text._printable import how_many, printable

__all__ = ["HStatistics"]


Floats = NDArray[np.float64]

Lines = dict[str, Floats]


def _share(of: str, by: str) -> Callable[[Lines], Floats]:
    """Return a function from variances to the share that one has of another; 0 of none."""

    def share(lines: Lines) -> Floats:
        part, whole = np.broadcast_arrays(lines[of], lines[by])
        result: Floats = np.divide(part, whole, out=np.where(part > 0, np.nan, 0.0), where=whole > 0)
        return result

    return share


MAINS, PAIRS = _share("without mains", "score"), _share("without pairs", "score")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class HStatistics(DrawnAsBars, Tabular):
    """Friedman and Popescu's H of each feature and of the whole model, and what curves and pairs leave over.

    With ``F`` the score of a row, ``F_j`` the partial dependence of feature j, ``F_-j`` that of all other features and
    ``F_jkl`` that of a triple, each at the row's own values and centred, and ``<v>`` the mean of squares over the rows
    with their weights [1]_::

        H_j   = sqrt(<F - F_j - F_-j> / <F>)
        H     = sqrt(<F - sum_j F_j> / <F>)
        H_jkl = sqrt(<F_jkl - F_jk - F_jl - F_kl + F_j + F_k + F_l> / <F_jkl>)

    All rows are used, none is sampled. Numerators and denominators are kept, since a large H of a small denominator
    means little. With dependent features, H can exceed 1: the sum of the parts then varies more than the whole. For the
    same reason, these numbers are not shares that add up, and they are not Sobol indices. H of pairs is `Strengths.h`.

    `to_frame` returns one row per feature: H, numerator and denominator of each output.

    Parameters
    ----------
    names : tuple of str
        The features (and groups), the one that interacts most first. Several outputs are ranked by their sum.
    variances : dict from str to ndarray
        The variances over rows from which everything follows: "score", "without mains", "without pairs" (n_outputs,);
        "numerator" (n_features, n_outputs); "of sets" and "joint effects" (n_sets, n_outputs).
    sets : tuple of tuples of str
        The sets that were asked for.
    with_pairs : bool
        Whether pairs were looked at.
    outputs : tuple
        The labels of the outputs.
    units : str

    References
    ----------
    .. [1] J. H. Friedman, B. E. Popescu: Predictive learning via rule ensembles. Annals of Applied Statistics 2(3),
       916-954, 2008.

    Examples
    --------
    >>> found = ex.h_statistics(("bmi", "bp", "s5"))
    >>> found
    HStatistics(10 features, left by mains ..., by pairs ...; ... 0..., ...)
    >>> found["bmi"]
    0...
    >>> found.to_frame().columns.tolist()
    ['feature', 'h', 'numerator', 'denominator']
    >>> found.set_h.shape
    (1,)
    """

    names: tuple[str, ...]
    variances: Lines
    sets: tuple[tuple[str, ...], ...]
    with_pairs: bool
    outputs: tuple[Any, ...]
    units: str
    find_folds: Deferred[dict[str, Folds]] | None = None

    @property
    def h(self) -> Floats:
        """H of each feature; with a last axis of outputs if there are several."""
        return squeezed(self.heights)

    @property
    def heights(self) -> Floats:
        """H of each feature: (n_features, n_outputs)."""
        result: Floats = np.sqrt(_share("numerator", "score")(self.variances))
        return result

    @property
    def numerator(self) -> Floats:
        """The variance of what a feature and all others leave over, in squared units of the score.

        One for each feature; with a last axis of outputs if there are several.
        """
        return squeezed(self.variances["numerator"])

    @property
    def denominator(self) -> float | Floats:
        """The variance of the score over the rows; one for each output if there are several."""
        return self._of_outputs(self.variances["score"])

    @property
    def beyond_main_effects(self) -> float | Floats:
        """What is left of the score's variance after all curves are subtracted: the square of the total H.

        0 for an additive model. Above 1, an additive summary misleads: features are dependent.
        """
        return self._of_outputs(MAINS(self.variances))

    @property
    def beyond_pairs(self) -> float | Floats:
        """What is left after all interactions of pairs are subtracted, too.

        0 if no path of a tree has more than two features.
        """
        if not self.with_pairs:
            message = "pairs were not asked for; ask for h_statistics() without pairs=False"
            raise ArgumentError(message)
        return self._of_outputs(PAIRS(self.variances))

    @property
    def set_h(self) -> Floats:
        """H of each of `sets`; with a last axis of outputs if there are several."""
        return squeezed(np.sqrt(_share("of sets", "joint effects")(self.variances)))

    def _of_outputs(self, heights: Floats) -> float | Floats:
        if len(self.outputs) > 1:
            return heights
        return squeezed(heights) if heights.ndim > 1 else float(heights[0])

    @property
    def error(self) -> dict[str, Any]:
        """The standard errors of `h`, `beyond_main_effects`, `beyond_pairs` and `set_h`, by name.

        The Explainer must have been made with ``folds=``, see `Curve.error`. Only the mean over rows leaves out a fold;
        the parts are those of all rows, which is an approximation.
        """
        if self.find_folds is None:
            raise BackgroundError(NO_FOLDS)
        folds = self.find_folds()
        shares = next(iter(folds.values())).shares
        left = [{name: own.heights[k] for name, own in folds.items()} for k in range(shares.size)]
        asked: dict[str, Callable[[Lines], Floats]] = {
            "h": lambda lines: np.sqrt(_share("numerator", "score")(lines)),
            "beyond_main_effects": MAINS,
            "beyond_pairs": PAIRS,
            "set_h": lambda lines: np.sqrt(_share("of sets", "joint effects")(lines)),
        }
        if not self.with_pairs:
            del asked["beyond_pairs"]
        result = {name: Folds(np.stack([function(own) for own in left]), shares) for name, function in asked.items()}
        return {name: self._of_outputs(own.error(asked[name](self.variances))) for name, own in result.items()}

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, feature: str) -> Any:
        """Return H of one feature; one per output if there are several."""
        if feature not in self.names:
            raise TableError.no_feature(feature, self.names)
        result = self.h[self.names.index(feature)]
        return float(result) if len(self.outputs) == 1 else result

    def __repr__(self) -> str:
        of = self.heights.max(axis=1, initial=0.0)
        shown = [f"{printable(name)} {value:.3g}" for name, value in zip(self.names[:3], of[:3], strict=True)]
        more = ", ..." if len(self) > 3 else ""
        several = f" x {len(self.outputs)} outputs" if len(self.outputs) > 1 else ""
        left = f"left by mains {MAINS(self.variances).max(initial=0.0):.3g}"
        left += f", by pairs {PAIRS(self.variances).max(initial=0.0):.3g}" if self.with_pairs else ""
        return f"HStatistics({how_many(len(self), 'feature')}{several}, {left}; {', '.join(shown)}{more})"

    def _repr_html_(self) -> str:
        left = f"left by mains {MAINS(self.variances).max(initial=0.0):.3g}"
        return table_html(f"H of each feature; {left} of the score's variance", self._columns())

    def _columns(self) -> dict[str, Any]:
        result: dict[str, Any] = {"feature": list(self.names)}
        parts = {
            "h": self.heights,
            "numerator": self.variances["numerator"],
            "denominator": np.broadcast_to(self.variances["score"], self.heights.shape),
        }
        for what, part in parts.items():
            names = [what] if len(self.outputs) == 1 else [f"{what}_{output}" for output in self.outputs]
            result |= {name: np.array(part[:, k]) for k, name in enumerate(names)}
        return result
