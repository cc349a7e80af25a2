"""Metrics over cubes: values of feature sets that summarize a game.

A cube is a small game: its value is 1 if all features of `s_plus` take part and none of `s_minus` does, and 0
otherwise. Every game of a tree ensemble is a weighted sum of cubes, so a linear metric only has to be defined on a
single cube.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import comb, factorial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError

__all__ = [
    "BanzhafInteractions",
    "BanzhafValues",
    "CenteredPartialDependence",
    "ChainingInteractions",
    "CubeMetric",
    "ExternalInteractions",
    "FaithfulBanzhaf",
    "FaithfulShapley",
    "InteractionIndex",
    "KAdditiveShapley",
    "KShapleyInteractions",
    "PartialDependenceInteractions",
    "ShapleyInteractions",
    "ShapleyTaylor",
    "ShapleyValues",
]


class HasCalcMetric(Protocol):
    """What `Explainer.evaluate` takes: any object with this method, such as a metric of the woodelf package."""

    def calc_metric(self, s_plus: set[Any], s_minus: set[Any]) -> Mapping[Any, float]:
        """Return the values of a cube's features, or of sets of its features; see `CubeMetric`."""


class CubeMetric:
    """Base class of linear metrics over games; subclasses implement `calc_metric`.

    The values of a set may depend on how many features there are in s_plus and s_minus, and on how many of each are in
    the set, and on nothing else: names are arbitrary. Features outside a cube have no value (null players).

    A metric of the model, and not of the way in which its trees are split, also has to add up. A cube is the sum of two
    larger ones, in which one more feature is in s_plus and in s_minus. The values of a set without this feature are the
    sum of its values in the two; those of a set with this feature cancel out. All metrics of this module do, and so
    does every average of joint effects (see `InteractionIndex`). It is not checked.

    Inheriting from this class is optional: `Explainer.evaluate` takes any object that has the method.

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
    X. Some indices are no averages, because some weights are negative (`FaithfulShapley`, `KShapleyInteractions`);
    their values on cubes have the same form.

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
        """Return the mean of ``t^a (1 - t)^b`` for sets of size `order`."""
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
        max_ = n_features if self.max_order is None else min(self.max_order, n_features)
        return range(self.min_order, max_ + 1)

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
    """The Shapley interaction index (SII): t is uniform between 0 and 1.

    See M. Grabisch and M. Roubens, "An axiomatic approach to the concept of interaction among players in cooperative
    games", International Journal of Game Theory 28, 1999. For pairs, `Explainer.shap_interaction_values` splits it
    between the two sides of the diagonal, as in shap.

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
        """Return Gauss-Legendre points and weights; see `InteractionIndex`."""
        points, weights = _gauss_legendre(degree // 2 + 1)
        return points.copy(), weights.copy()


@lru_cache(64)
def _gauss_legendre(n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return n points between 0 and 1, and weights."""
    points, weights = np.polynomial.legendre.leggauss(n)
    return (points + 1) / 2, weights / 2


class ShapleyValues(ShapleyInteractions):
    """The Shapley value of each feature (L. S. Shapley, "A value for n-person games", 1953).

    Examples
    --------
    >>> import glasswood as gw
    >>> gw.metrics.ShapleyValues().calc_metric({"a"}, {"b"})
    {('a',): 0.5, ('b',): -0.5}
    """

    def __init__(self) -> None:
        super().__init__(1)


class BanzhafInteractions(InteractionIndex):
    """The Banzhaf interaction index (BII): every other feature takes part with probability one half.

    See M. Grabisch and M. Roubens, "An axiomatic approach to the concept of interaction among players in cooperative
    games", International Journal of Game Theory 28, 1999.

    Examples
    --------
    >>> import glasswood as gw
    >>> gw.metrics.BanzhafInteractions(max_order=2, min_order=2)
    BanzhafInteractions(max_order=2, min_order=2)
    """

    def __init__(self, max_order: int | None = 2, min_order: int = 1) -> None:
        super().__init__(max_order, min_order)

    def moment(self, order: int, a: int, b: int) -> float:  # noqa: ARG002
        """Return the mean of ``t^a (1 - t)^b``; see `InteractionIndex`."""
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
    """The Banzhaf value of each feature (J. F. Banzhaf, "Weighted voting doesn't work", 1965).

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

    This is the Moebius transform of the game, or its Harsanyi dividends (J. C. Harsanyi, "A simplified bargaining model
    for the n-person cooperative game", International Economic Review 4, 1963), and the internal interaction index.
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
        """Return the mean of ``t^a (1 - t)^b``; see `InteractionIndex`."""
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


class ExternalInteractions(InteractionIndex):
    """The external interaction index of each set, or co-Moebius transform: all other features take part.

    The value of a feature is the change of the score if it joins all other features. The index is the counterpart of
    `PartialDependenceInteractions`, the internal one. See M. Grabisch, "Set Functions, Games and Capacities in Decision
    Making", Springer, 2016, sections 2.11 and 2.12.

    Examples
    --------
    >>> import glasswood as gw
    >>> gw.metrics.ExternalInteractions(max_order=2).moment(1, 3, 0)
    1.0
    """

    def __init__(self, max_order: int | None = None, min_order: int = 1) -> None:
        super().__init__(max_order, min_order)

    def moment(self, order: int, a: int, b: int) -> float:  # noqa: ARG002
        """Return the mean of ``t^a (1 - t)^b``; see `InteractionIndex`."""
        return float(b == 0)


class ChainingInteractions(InteractionIndex):
    """The chaining interaction index: the density of t is ``s t^(s-1)`` for sets of s features.

    The features take part one after the other, in random order; the value of a set is its mean joint effect at the
    moment when its last feature comes (J.-L. Marichal and M. Roubens, "The chaining interaction index among players in
    cooperative games", in: Advances in Decision Analysis, Springer, 1999). For single features it is the Shapley value.

    Examples
    --------
    >>> import glasswood as gw
    >>> gw.metrics.ChainingInteractions().moment(2, 1, 0)
    0.6666666666666666
    """

    def __init__(self, max_order: int | None = 2, min_order: int = 1) -> None:
        super().__init__(max_order, min_order)

    def moment(self, order: int, a: int, b: int) -> float:
        """Return the mean of ``t^a (1 - t)^b``; see `InteractionIndex`."""
        return order * factorial(order - 1 + a) * factorial(b) / factorial(order + a + b)


class ShapleyTaylor(InteractionIndex):
    """The Shapley-Taylor index of a given order: sets of this size share the part not explained by smaller sets.

    The values of all sets add up to the score minus the mean. See M. Sundararajan, K. Dhamdhere and A. Agarwal, "The
    Shapley Taylor interaction index", ICML 2020.

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


class _SharedIndex(InteractionIndex):
    """Base class of indices of a given order k that say what sets get of the joint effects of larger ones.

    A game of unanimity is worth 1 if certain features all take part. Every game is a sum of these, weighted with its
    PDIVs, so what a set gets of them defines the index on every cube.
    """

    def __init__(self, order: int = 2) -> None:
        super().__init__(order, 1)

    @staticmethod
    def _share(k: int, order: int, n_others: int) -> Fraction:
        """Return what a set of `order` features gets of the game of unanimity of these and some others."""
        raise NotImplementedError

    def moment(self, order: int, a: int, b: int) -> float:
        """Return what takes the place of the mean of ``t^a (1 - t)^b``; see `InteractionIndex`.

        Examples
        --------
        >>> import glasswood as gw
        >>> gw.metrics.FaithfulShapley(order=2).moment(2, 1, 0)
        0.5
        """
        return float(_moment(self._share, self.max_order or order, order, a, b))


@lru_cache(2**16)
def _moment(share: Callable[[int, int, int], Fraction], k: int, order: int, a: int, b: int) -> Fraction:
    """Return the moment of an index, by its differences: ``t^a (1-t)^b = t^a (1-t)^(b-1) - t^(a+1) (1-t)^(b-1)``."""
    if b == 0:
        return share(k, order, a)
    return _moment(share, k, order, a, b - 1) - _moment(share, k, order, a + 1, b - 1)


class FaithfulShapley(_SharedIndex):
    """The faithful Shapley interaction index (FSII) of a given order.

    The values are the coefficients of the polynomial of this order that fits the game best, with the weights of
    Shapley's kernel, and exactly for no features and for all. They add up to the score minus the mean. Values of sets
    of the largest size contain what larger sets do together, and smaller ones correct for it. See C.-P. Tsai, C.-K. Yeh
    and P. Ravikumar, "Faith-Shap: the faithful Shapley interaction index", Journal of Machine Learning Research 24,
    2023.

    Examples
    --------
    >>> import glasswood as gw
    >>> gw.metrics.FaithfulShapley(order=2).calc_metric({"a"}, {"b"})
    {('a',): 1.0, ('a', 'b'): -1.0}
    """

    @staticmethod
    def _share(k: int, order: int, n_others: int) -> Fraction:
        size = order + n_others
        if size <= k:
            return Fraction(n_others == 0)
        part = Fraction(comb(size - 1, k), comb(size + k - 1, k + order))
        return Fraction((-1) ** (k - order) * order, k + order) * comb(k, order) * part


class FaithfulBanzhaf(_SharedIndex):
    """The faithful Banzhaf interaction index (FBII) of a given order.

    The values are the coefficients of the polynomial of this order that fits the game best, with the same weight for
    all sets of features. The constant of the polynomial, which may differ from the mean, is not among them. See C.-P.
    Tsai, C.-K. Yeh and P. Ravikumar, "Faith-Shap: the faithful Shapley interaction index", Journal of Machine Learning
    Research 24, 2023; and P. L. Hammer and R. Holzman, "Approximations of pseudo-Boolean functions", Zeitschrift fuer
    Operations Research 36, 1992.

    Examples
    --------
    >>> import glasswood as gw
    >>> gw.metrics.FaithfulBanzhaf(order=1).calc_metric({"a"}, {"b"})
    {('a',): 0.5, ('b',): -0.5}
    """

    @staticmethod
    def _share(k: int, order: int, n_others: int) -> Fraction:
        if order + n_others <= k:
            return Fraction(n_others == 0)
        return Fraction((-1) ** (k - order) * comb(n_others - 1, k - order), 2**n_others)


class KShapleyInteractions(_SharedIndex):
    """The k-Shapley interactions (k-SII) of a given order, or n-Shapley values.

    The index of Grabisch and Roubens, of which each set passes a part on to its subsets, so that the values add up to
    the score minus the mean. With order 2 they are the values of `Explainer.shap_interaction_values`, with the two
    halves of each pair added up. See S. Bordt and U. von Luxburg, "From Shapley values to generalized additive models
    and back", AISTATS 2023.

    Examples
    --------
    >>> import glasswood as gw
    >>> gw.metrics.KShapleyInteractions(order=2).calc_metric({"a"}, {"b"})
    {('a',): 1.0, ('a', 'b'): -1.0}
    """

    @staticmethod
    def _share(k: int, order: int, n_others: int) -> Fraction:
        numbers = _bernoulli(k)
        return sum(
            (comb(n_others, i) * numbers[i] / (n_others - i + 1) for i in range(min(n_others, k - order) + 1)),
            Fraction(0),
        )


class KAdditiveShapley(_SharedIndex):
    """The k-additive Shapley interactions (kADD-SHAP) of a given order.

    The index of Grabisch and Roubens (`ShapleyInteractions`) of the polynomial of this order that `FaithfulShapley`
    fits to the game. See G. D. Pelegrina, L. T. Duarte and M. Grabisch, "A k-additive Choquet integral-based approach
    to approximate the SHAP values for local interpretability in machine learning", Artificial Intelligence 325, 2023.

    Examples
    --------
    >>> import glasswood as gw
    >>> gw.metrics.KAdditiveShapley(order=2).calc_metric({"a"}, {"b"})
    {('a',): 0.5, ('b',): -0.5, ('a', 'b'): -1.0}
    """

    @staticmethod
    def _share(k: int, order: int, n_others: int) -> Fraction:
        fitted = FaithfulShapley._share
        return sum(
            (
                comb(n_others, i) * fitted(k, order + i, n_others - i) / (i + 1)
                for i in range(min(n_others, k - order) + 1)
            ),
            Fraction(0),
        )


@lru_cache(64)
def _bernoulli(n: int) -> tuple[Fraction, ...]:
    """Return the numbers of Bernoulli up to the nth; the first one is -1/2."""
    result = [Fraction(1)]
    for i in range(1, n + 1):
        result.append(-sum((comb(i + 1, j) * result[j] for j in range(i)), Fraction(0)) / (i + 1))
    return tuple(result)


NULL_PLAYERS = (
    "The leaf behind a cube does not depend on any other feature, so these are null players: their value has to be 0. "
    "Partial dependence, for example, gives them the mean; take the mean away, as CenteredPartialDependence does"
)

# What shapiq calls the indices.
ABBREVIATIONS: dict[type, str] = {
    BanzhafInteractions: "BII",
    BanzhafValues: "BV",
    CenteredPartialDependence: "Moebius",
    ChainingInteractions: "CHII",
    ExternalInteractions: "Co-Moebius",
    FaithfulBanzhaf: "FBII",
    FaithfulShapley: "FSII",
    KAdditiveShapley: "kADD-SHAP",
    KShapleyInteractions: "k-SII",
    PartialDependenceInteractions: "Moebius",
    ShapleyInteractions: "SII",
    ShapleyTaylor: "STII",
    ShapleyValues: "SV",
}


def members_of(key: Hashable, cube: int) -> int:
    """Return the features of a metric's key, which are numbers, as a bit mask.

    Raises an `ArgumentError` for anything that is not a feature of the cube, which is also a bit mask.
    """
    members: Iterable[Any] = key if isinstance(key, tuple | frozenset) else (key,)
    mask = 0
    for member in members:
        strange = isinstance(member, bool) or not isinstance(member, int) or member < 0 or not cube >> member & 1
        if strange or mask >> member & 1:
            message = f"a metric must return features of its cube, or tuples of distinct ones, not {key!r}"
            raise ArgumentError(f"{message}. {NULL_PLAYERS}" if strange else message)
        mask |= 1 << member
    return mask
