"""Edges of bins: as the user gives them, or chosen among the model's cuts by the rows per cell of a former count."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from glasswood.counting._plan import CountPlan
from glasswood.errors import ArgumentError, TableError
from glasswood.questions.ale._statistic_bins import MAX_LEVELS, Bins
from glasswood.tables._columns import Extent
from glasswood.text._arguments import whole_number

__all__ = ["N_BINS", "AskedBins", "asked_bins", "bins_of", "feature_of"]


N_BINS = 20

LARGEST = 3.4e38  # numbers that float32 holds are smaller: CatBoost puts a border there

MAX_BINS = 10_000

NEAR = 1e-9  # of the range: edges that are no closer are chosen


@dataclass(frozen=True, eq=False)
class AskedBins:
    """The bins that are asked for.

    Parameters
    ----------
    default : int or None
        The number of bins of features of numbers; None if only those of `by_feature` are wanted.
    by_feature : mapping from int to int or ndarray of float64
        Their number, or their edges, for some features.
    """

    default: int | None = N_BINS
    by_feature: Mapping[int, int | NDArray[np.float64]] = field(default_factory=dict)

    def of(self, feature: int) -> int | NDArray[np.float64] | None:
        """Return the number of bins of a feature, or its edges; None if none are wanted."""
        return self.by_feature.get(feature, self.default)

    def features(self, plan: CountPlan) -> list[int]:
        """Return the features that have bins: those that the model uses, as far as they are wanted."""
        return [f for f in plan.ensemble.used_features.tolist() if self.of(f) is not None]

    def need_rows(self, plan: CountPlan) -> list[str]:
        """Return the names of the features whose bins follow from rows per cell, which must be counted before."""
        names, cells = plan.ensemble.feature_names, plan.cells
        return [
            names[f]
            for f in self.features(plan)
            if (cells.n_codes[f] > MAX_LEVELS if cells.n_codes[f] else isinstance(self.of(f), int))
        ]


def asked_bins(
    plan: CountPlan, bins: object, number_of: Callable[[Any], int], *, only: bool = False, default: int = N_BINS
) -> AskedBins:
    """Return the bins that are asked for.

    Parameters
    ----------
    plan : CountPlan
    bins : None, True, int, or mapping from features to ints, edges or True
    number_of : callable
        The number of a feature, given as users name it.
    only : bool, default False
        Whether a mapping tells all features that are wanted.
    default : int, default 20
        The number of bins of features that a mapping does not tell.
    """
    if bins is None or bins is True:
        return AskedBins()
    if not isinstance(bins, Mapping):
        if isinstance(bins, bool) or np.ndim(cast(ArrayLike, bins)) != 0:
            message = "edges belong to one feature; pass bins={feature: edges}, or a number of bins for all features"
            raise ArgumentError(message)
        return AskedBins(_number(bins))
    result = {}
    for name, own in bins.items():
        feature = number_of(name)
        result[feature] = _bins_of_feature(plan, feature, own)
    return AskedBins(None if only else default, result)


def feature_of(plan: CountPlan, feature: Any) -> int:
    """Return the number of a feature, given by its name or number."""
    names = plan.ensemble.feature_names
    if isinstance(feature, int | np.integer) and -len(names) <= feature < len(names):
        return int(feature) % len(names)
    result = plan.ensemble.schema.number_of(feature) if isinstance(feature, str) else None
    if result is None:
        raise TableError.no_feature(feature, names)
    return result


def _number(bins: Any) -> int:
    result = whole_number(bins, "bins is the number of bins, or an array of their edges")
    if result > MAX_BINS:
        message = f"at most {MAX_BINS:,} bins are handled, not {result:,}"
        raise ArgumentError(message)
    return result


def _bins_of_feature(plan: CountPlan, feature: int, bins: Any) -> int | NDArray[np.float64]:
    """Return the number of bins of a feature, or its edges, after checking them."""
    name = plan.ensemble.feature_names[feature]
    if bins is None or bins is True:
        return N_BINS
    if np.ndim(bins) == 0:
        return _number(bins)
    if plan.cells.n_codes[feature]:
        message = f"{name!r} has categories, and no edges; leave out bins=, or pass True for it in a mapping"
        raise ArgumentError(message)
    try:
        edges = np.array(bins, dtype=np.float64)
    except (TypeError, ValueError) as error:
        message = f"the edges of {name!r} must be numbers, not {bins!r}"
        raise ArgumentError(message) from error
    if edges.ndim != 1 or edges.size < 2 or not np.isfinite(edges).all() or not (np.diff(edges) > 0).all():
        message = f"the edges of {name!r} must be at least two finite numbers that increase, as for numpy.histogram"
        raise ArgumentError(message)
    if edges.size > MAX_BINS:
        message = f"at most {MAX_BINS:,} bins are handled, not {edges.size - 1:,}"
        raise ArgumentError(message)
    edges = edges + 0.0  # no negative zeros
    encoded = np.asarray(plan.ensemble.schema.columns[feature].of_any_type().encode(edges), dtype=np.float64)
    if not np.array_equal(encoded, edges):
        changed = edges[~(encoded == edges)][0]
        message = f"the edge {changed:g} of {name!r} is not a number for the model, which takes it for a missing value"
        raise TableError(message)
    return edges


def bins_of(
    plan: CountPlan,
    asked: AskedBins,
    rows: Callable[[int], NDArray[Any]],
    extent: Callable[[int], Extent | None],
) -> Bins:
    """Return the bins of all features that are wanted.

    Parameters
    ----------
    plan : CountPlan
    asked : AskedBins
    rows : callable
        The rows per cell of a feature; only called where bins follow from these.
    extent : callable
        The ends of the values of a feature of numbers.
    """
    edges, levels = {}, {}
    for feature in asked.features(plan):
        bins, n_codes = asked.of(feature), int(plan.cells.n_codes[feature])
        if n_codes:
            levels[feature] = np.arange(n_codes) if n_codes <= MAX_LEVELS else _frequent(rows(feature)[:n_codes])
        elif isinstance(bins, np.ndarray):
            edges[feature] = bins
        elif bins is not None:
            edges[feature] = _quantiles(plan.cells.cuts_of(feature), rows(feature)[:-1], extent(feature), bins)
    return Bins(edges, levels)


def _frequent(rows: NDArray[Any]) -> NDArray[np.int64]:
    """Return the codes of the most frequent categories, in order: all others share a bin."""
    return np.sort(np.argsort(-rows, kind="stable")[: MAX_LEVELS - 1])


def _quantiles(
    cuts: NDArray[np.float64], rows: NDArray[Any], extent: Extent | None, n_bins: int
) -> NDArray[np.float64]:
    """Return the ends of the values, and between them the cuts at which the rows reach the quantiles.

    Where several quantiles are at one cut, there are fewer bins. Without values there are no edges.
    """
    total = float(rows.sum())
    if total <= 0:
        return np.empty(0)
    up_to = np.cumsum(rows, dtype=np.float64)[:-1] / total  # at most each cut
    at = np.searchsorted(up_to, np.arange(1, n_bins) / n_bins)
    inner = cuts[np.unique(at[at < cuts.size])]
    ends = (-np.inf, np.inf) if extent is None else (extent.least, extent.greatest)
    inner = inner[(np.abs(inner) < LARGEST) & (inner > ends[0]) & (inner < ends[1])]
    result = np.array([ends[0], *inner.tolist(), ends[1]]) + 0.0
    result = np.unique(result[np.isfinite(result)])
    # LightGBM's cut next to 0 parts nothing from the least value, if that is 0.
    half = result / 2  # whose differences are finite
    near = np.diff(half) <= NEAR * (half[-1] - half[0]) if result.size > 2 else np.empty(0, dtype=bool)
    return np.delete(result, np.minimum(np.flatnonzero(near) + 1, result.size - 2)) if near.any() else result
