"""Metrics over cubes: values of feature sets that summarize a game.

A cube is a small game: its value is 1 if all features of `s_plus` take part and none of `s_minus` does, and 0
otherwise. Every game of a tree ensemble is a weighted sum of cubes, so a linear metric only has to be defined on a
single cube.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from itertools import combinations
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError

__all__ = [
    "BanzhafInteractions",
    "BanzhafValues",
    "CenteredPartialDependence",
    "CubeMetric",
    "InteractionIndex",
    "PartialDependenceInteractions",
    "ShapleyInteractions",
    "ShapleyTaylor",
    "ShapleyValues",
]


class CubeMetric:
    """Base class of linear metrics over games; subclasses implement `calc_metric`.

    Examples
    --------
    The change of the score if a feature takes part alone:

    >>> import glasswood as gw
    >>> class Alone(gw.metrics.CubeMetric):
    ...     def calc_metric(self, s_plus, s_minus):
    ...         if len(s_plus) == 1:
    ...             return {feature: 1 for feature in s_plus}
    ...         return {} if s_plus else {feature: -1 for feature in s_minus}
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> ex = gw.Explainer(HistGradientBoostingRegressor(max_iter=20, max_depth=3).fit(X, y), X)
    >>> curve = ex.partial_dependence("bmi")
    >>> bool(abs(ex.evaluate(Alone(), X)["bmi"] - (curve(X["bmi"]) - curve.mean)).max() < 1e-9)
    True
    """

    def calc_metric(self, s_plus: set[Any], s_minus: set[Any]) -> Mapping[Hashable, float]:
        """Return the values of a cube's features, or of sets of its features.

        Parameters
        ----------
        s_plus, s_minus : set
            Two disjoint sets of features. The names of the features are arbitrary: the same cube may stand for many
            places in the model.

        Returns
        -------
        mapping from features, or tuples or frozensets of features, to numbers
            Anything left out is 0.

        Examples
        --------
        >>> import glasswood as gw
        >>> gw.metrics.ShapleyValues().calc_metric({"a"}, {"b"})
        {('a',): 0.5, ('b',): -0.5}
        """
        raise NotImplementedError


class InteractionIndex(CubeMetric):
    """Base class of metrics in which the value of a set only depends on the number of features.

    The value of a set X is its joint effect, averaged over the participation of the other features: each of them takes
    part with probability t, whose distribution defines the metric. The value of X in a cube that contains X is
    ``(-1)^|X in s_minus| * E[t^a (1 - t)^b]``, where a and b are the numbers of features of s_plus and s_minus outside
    X.

    Parameters
    ----------
    max_order, min_order : int
        The largest and smallest size of the sets.

    Examples
    --------
    >>> import glasswood as gw
    >>> gw.metrics.BanzhafInteractions().moment(2, 1, 1)
    0.25
    """

    def __init__(self, max_order: int | None, min_order: int) -> None:
        if min_order < 1 or (max_order is not None and max_order < min_order):
            message = f"min_order must be at least 1, and max_order at least min_order; got {min_order} and {max_order}"
            raise ArgumentError(message)
        self.max_order = max_order
        self.min_order = min_order

    def moment(self, order: int, a: int, b: int) -> float:
        """Return the mean of ``t^a (1 - t)^b`` for sets of size `order`.

        Examples
        --------
        See `InteractionIndex`.
        """
        raise NotImplementedError

    def nodes(self, degree: int) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:  # noqa: ARG002
        """Return quadrature points of t and weights, exact for polynomials up to a degree; None if there are none.

        All points are between 0 and 1. They make a metric available for paths of any length.

        Examples
        --------
        >>> import glasswood as gw
        >>> points, weights = gw.metrics.ShapleyValues().nodes(3)
        >>> float(points @ weights)
        0.5
        """
        return None

    def orders(self, n_features: int) -> range:
        """Return the sizes of the sets if there are `n_features` features.

        Examples
        --------
        >>> import glasswood as gw
        >>> gw.metrics.ShapleyInteractions(max_order=2).orders(6)
        range(1, 3)
        """
        most = n_features if self.max_order is None else min(self.max_order, n_features)
        return range(self.min_order, most + 1)

    def calc_metric(self, s_plus: set[Any], s_minus: set[Any]) -> Mapping[Hashable, float]:
        """Return the value of every set; see `CubeMetric.calc_metric`.

        Examples
        --------
        >>> import glasswood as gw
        >>> gw.metrics.PartialDependenceInteractions().calc_metric({"a"}, {"b"})
        {('a',): 1.0, ('a', 'b'): -1.0}
        """
        features = [*s_plus, *s_minus]
        values: dict[Hashable, float] = {}
        for order in self.orders(len(features)):
            for members in combinations(features, order):
                n_minus = sum(feature in s_minus for feature in members)
                value = self.moment(order, len(s_plus) - (order - n_minus), len(s_minus) - n_minus)
                if value:
                    values[members] = value * (-1) ** n_minus
        return values

    def __repr__(self) -> str:
        return f"{type(self).__name__}(max_order={self.max_order}, min_order={self.min_order})"


class ShapleyInteractions(InteractionIndex):
    """The Shapley interaction index of Grabisch and Roubens: t is uniform between 0 and 1.

    For pairs, `Explainer.shap_interaction_values` splits it between the two sides of the diagonal, as in shap.

    Examples
    --------
    >>> import glasswood as gw
    >>> gw.metrics.ShapleyInteractions(max_order=3)
    ShapleyInteractions(max_order=3, min_order=1)
    """

    def __init__(self, max_order: int | None = 2, min_order: int = 1) -> None:
        super().__init__(max_order, min_order)

    def moment(self, order: int, a: int, b: int) -> float:  # noqa: ARG002
        """Return the mean of ``t^a (1 - t)^b``; see `InteractionIndex`.

        Examples
        --------
        >>> import glasswood as gw
        >>> gw.metrics.ShapleyInteractions().moment(2, 1, 0)
        0.5
        """
        return factorial(a) * factorial(b) / factorial(a + b + 1)

    def nodes(self, degree: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return Gauss-Legendre points and weights; see `InteractionIndex`.

        Examples
        --------
        See `InteractionIndex.nodes`.
        """
        points, weights = np.polynomial.legendre.leggauss(degree // 2 + 1)
        return (points + 1) / 2, weights / 2


class ShapleyValues(ShapleyInteractions):
    """The Shapley value of each feature.

    Examples
    --------
    >>> import glasswood as gw
    >>> gw.metrics.ShapleyValues().calc_metric({"a"}, {"b"})
    {('a',): 0.5, ('b',): -0.5}
    """

    def __init__(self) -> None:
        super().__init__(1)


class BanzhafInteractions(InteractionIndex):
    """The Banzhaf interaction index: every other feature takes part with probability one half.

    Examples
    --------
    >>> import glasswood as gw
    >>> gw.metrics.BanzhafInteractions(max_order=2, min_order=2)
    BanzhafInteractions(max_order=2, min_order=2)
    """

    def __init__(self, max_order: int | None = 2, min_order: int = 1) -> None:
        super().__init__(max_order, min_order)

    def moment(self, order: int, a: int, b: int) -> float:  # noqa: ARG002
        """Return the mean of ``t^a (1 - t)^b``; see `InteractionIndex`.

        Examples
        --------
        See `InteractionIndex`.
        """
        return 0.5 ** (a + b)

    def nodes(self, degree: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # noqa: ARG002
        """Return the single point one half; see `InteractionIndex`.

        Examples
        --------
        >>> import glasswood as gw
        >>> gw.metrics.BanzhafValues().nodes(7)
        (array([0.5]), array([1.]))
        """
        return np.array([0.5]), np.array([1.0])


class BanzhafValues(BanzhafInteractions):
    """The Banzhaf value of each feature.

    Examples
    --------
    >>> import glasswood as gw
    >>> gw.metrics.BanzhafValues().calc_metric({"a"}, {"b"})
    {('a',): 0.5, ('b',): -0.5}
    """

    def __init__(self) -> None:
        super().__init__(1)


class PartialDependenceInteractions(InteractionIndex):
    """The partial dependence interaction value (PDIV) of each set: no other feature takes part.

    `Explainer.interaction_values` returns the same values faster, with the mean as the value of the empty set.

    Examples
    --------
    >>> import glasswood as gw
    >>> gw.metrics.PartialDependenceInteractions(max_order=2).moment(1, 0, 3)
    1.0
    """

    def __init__(self, max_order: int | None = None, min_order: int = 1) -> None:
        super().__init__(max_order, min_order)

    def moment(self, order: int, a: int, b: int) -> float:  # noqa: ARG002
        """Return the mean of ``t^a (1 - t)^b``; see `InteractionIndex`.

        Examples
        --------
        See `PartialDependenceInteractions`.
        """
        return float(a == 0)


class CenteredPartialDependence(PartialDependenceInteractions):
    """The centered partial dependence value (CPDV) of each feature: its partial dependence minus the mean.

    Examples
    --------
    >>> import glasswood as gw
    >>> gw.metrics.CenteredPartialDependence().calc_metric({"a"}, {"b"})
    {('a',): 1.0}
    """

    def __init__(self) -> None:
        super().__init__(1)


class ShapleyTaylor(InteractionIndex):
    """The Shapley-Taylor index of a given order: sets of this size share the part not explained by smaller sets.

    The values of all sets add up to the score minus the mean.

    Examples
    --------
    >>> import glasswood as gw
    >>> gw.metrics.ShapleyTaylor(order=2)
    ShapleyTaylor(max_order=2, min_order=1)
    """

    def __init__(self, order: int = 2) -> None:
        super().__init__(order, 1)

    def moment(self, order: int, a: int, b: int) -> float:
        """Return the mean of ``t^a (1 - t)^b``; see `InteractionIndex`.

        Examples
        --------
        >>> import glasswood as gw
        >>> gw.metrics.ShapleyTaylor(order=2).moment(2, 0, 0)
        1.0
        """
        if order < (self.max_order or 0):
            return float(a == 0)
        return order * factorial(a) * factorial(b + order - 1) / factorial(a + b + order)


def members_of(key: Hashable, cube: int) -> int:
    """Return the features of a metric's key, which are numbers, as a bit mask.

    Raises an `ArgumentError` for anything that is not a feature of the cube, which is also a bit mask.
    """
    members: Iterable[Any] = key if isinstance(key, tuple | frozenset) else (key,)
    mask = 0
    for member in members:
        if not isinstance(member, int) or member < 0 or not cube >> member & 1 or mask >> member & 1:
            message = f"a metric must return features of its cube, or tuples of distinct ones, not {key!r}"
            raise ArgumentError(message)
        mask |= 1 << member
    return mask
