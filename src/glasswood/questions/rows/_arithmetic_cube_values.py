"""What a metric says of cubes: the values of sets by numbers of features, whoever wrote the metric."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from math import comb, isfinite
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.errors import ArgumentError, TooLargeError
from glasswood.metrics import HasCalcMetric, InteractionIndex, members_of
from glasswood.parallel._interrupts import check_cancelled
from glasswood.text._printable import how_many

__all__ = ["MAX_SLOTS", "CubeValues", "n_sets", "values_on_cubes"]


MAX_SLOTS = 63  # players of a path: the bits of a mask

MAX_PLACES = 2**27  # of sets on paths: their numbers alone take a gigabyte

MAX_ASKING = 900  # seconds that a metric may take to tell its values

TELLING = 0.05  # seconds of a level that tell how long the others take

SAME = 1e-9  # of the larger value: what formulas may differ by that are the same but for rounding


Nodes = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, eq=False, slots=True)
class CubeValues:
    """The values of a metric on all cubes of some number of players.

    The value of a set only depends on the numbers of players of a cube that must take part and that must not, and on
    how many of each the set has. The players of a cube are those of a path.

    Parameters
    ----------
    orders : range
        The sizes of the sets.
    table : ndarray of shape (n_kinds, most + 1, most + 1)
        A kind is a size and how many of the set must not take part, see `kind`. The other axes are the numbers of
        players outside the set that must take part, and that must not.
    nodes : tuple of ndarray, or None
        For paths without a background, points and weights of quadrature if the metric has them: where those of a number
        of players start, all points, and all weights.
    """

    orders: range
    table: NDArray[np.float64]
    nodes: Nodes | None = None

    @staticmethod
    def kind(size: int, outside: Any) -> Any:
        """Return the line of the table for sets of some size of which so many players must not take part."""
        return size * (size + 1) // 2 + outside

    @property
    def cache_key(self) -> tuple[Any, ...]:
        """What the values of rows depend on."""
        nodes = () if self.nodes is None else tuple(array.tobytes() for array in self.nodes)
        return self.orders.start, self.orders.stop, self.table.shape, self.table.tobytes(), *nodes

    def of_empty_cube(self) -> float:
        """Return the value of the empty set on the cube without players."""
        return float(self.table[0, 0, 0]) if 0 in self.orders else 0.0

    def for_players(self, max_: int) -> NDArray[np.float64]:
        """Return the table with room for this many players."""
        missing = max(0, max_ + 1 - self.table.shape[1])
        return np.pad(self.table, ((0, 0), (0, missing), (0, missing)))


def values_on_cubes(metric: HasCalcMetric, plan: CountPlan, *, shared: bool) -> CubeValues:
    """Return the values of a metric on the cubes that paths of a plan make; refuse what is too large.

    `shared` is whether there is no background, so that nodes are of use.
    """
    max_ = plan.max_players
    if max_ > MAX_SLOTS:
        message = f"a path of the model has {max_} features; at most {MAX_SLOTS} are handled"
        raise TooLargeError(message)
    if isinstance(metric, InteractionIndex):
        orders = metric.orders(max_)
        _refuse_places(plan, orders)
        nodes = _nodes(metric, max_, 0 in orders) if shared else None
        return CubeValues(orders, _values_of_index(metric, orders, max_), nodes)
    return _values_by_asking(metric, plan)


def n_sets(orders: range, n_players: int) -> int:
    """Return how many sets of these sizes so many players have."""
    return sum(comb(n_players, size) for size in orders)


def _values_of_index(metric: InteractionIndex, orders: range, max_: int) -> NDArray[np.float64]:
    table = np.zeros((CubeValues.kind(orders.stop, 0), max_ + 1, max_ + 1))
    for size in orders:
        for a in range(max_ + 1 - size):
            for b in range(max_ + 1 - size - a):
                moment = metric.moment(size, a, b)
                for outside in range(size + 1):
                    table[CubeValues.kind(size, outside), a, b] = -moment if outside % 2 else moment
    return table


def _nodes(metric: InteractionIndex, max_: int, degree_more: int) -> Nodes | None:
    """Return the points and weights for paths of up to `max_` players, if there are any."""
    points: list[NDArray[np.float64]] = []
    weights: list[NDArray[np.float64]] = []
    for used in range(max_ + 1):
        nodes = metric.nodes(max(0, used - 1 + degree_more))
        if nodes is None:
            return None
        points.append(nodes[0])
        weights.append(nodes[1])
    first = np.concatenate([[0], np.cumsum([p.size for p in points])])
    return first, np.concatenate(points), np.concatenate(weights)


def _refuse_places(plan: CountPlan, orders: range) -> None:
    """Refuse more sets on paths than can be numbered."""
    n_places = sum(n * n_sets(orders, used) for used, n in enumerate(plan.n_paths))
    if n_places > MAX_PLACES:
        sizes = f"of {orders.start} to {orders.stop - 1} features" if len(orders) > 1 else f"of {orders.start} features"
        message = (
            f"{how_many(plan.ensemble.n_leaves, 'leaf', 'leaves')} with up to {how_many(plan.max_players, 'feature')} "
            f"on their paths have {n_places:,} sets {sizes}; up to {MAX_PLACES:,} are handled. Use a metric of "
            "smaller sets (max_order), or interaction_values with max_order"
        )
        raise TooLargeError(message)


# ------------------------------------------------------------------------------------------- metrics that users write

Found = dict[tuple[int, int], float]  # values by the size of sets and how many of them must not take part


def _values_by_asking(metric: HasCalcMetric, plan: CountPlan) -> CubeValues:
    """Ask a metric for the values of one cube for each number of players that must take part and that must not.

    Small cubes come first: they tell which sizes sets have, and how long the large ones will take.
    """
    max_ = plan.max_players
    by_sizes: dict[tuple[int, int], Found] = {}
    sizes: set[int] = set()
    seconds = 0.0
    for n in range(max_ + 1):
        _refuse_growth(plan, sizes, n, seconds)
        start = perf_counter()
        for n_minus in range(n + 1):
            check_cancelled()
            values = _answer(metric, n - n_minus, n_minus)
            by_sizes[n - n_minus, n_minus] = values
            sizes |= {size for size, _ in values}
        seconds = perf_counter() - start
    orders = range(min(sizes, default=1), max(sizes, default=0) + 1)
    table = np.zeros((CubeValues.kind(orders.stop, 0), max_ + 1, max_ + 1))
    for (n_plus, n_minus), values in by_sizes.items():
        for (size, outside), value in values.items():
            table[CubeValues.kind(size, outside), n_plus - size + outside, n_minus - outside] = value
    return CubeValues(orders, table)


def _expected(sizes: set[int], n_asked: int, max_: int) -> range:
    """Return the sizes that sets will have: those of the cubes so far, or any if the largest cubes were sets, too."""
    largest = max(sizes, default=0)
    return range(min(sizes, default=1), (max_ if largest == n_asked and n_asked > 2 else largest) + 1)


def _refuse_growth(plan: CountPlan, sizes: set[int], n: int, seconds: float) -> None:
    """Refuse a metric of too many sets, or one that takes too long, given the seconds of cubes of n - 1 players."""
    max_ = plan.max_players
    orders = _expected(sizes, n - 1, max_)
    if n > min(6, max_):
        _refuse_places(plan, orders)
    if seconds < TELLING:
        return
    per_set = seconds / (n * max(1, n_sets(orders, n - 1)))
    left = sum((k + 1) * max(1, n_sets(orders, k)) for k in range(n, max_ + 1)) * per_set
    if left > MAX_ASKING:
        message = (
            f"a path of the model has {max_} features, and asking this metric for the values of its cubes would take "
            f"about {left / 3600:,.1f} h: the {n} cubes of {n - 1} features took {seconds:.2g} s, and a cube of {max_} "
            f"has {n_sets(orders, max_):,} sets. Use a metric of smaller sets, or a faster one"
        )
        raise TooLargeError(message)


def _answer(metric: HasCalcMetric, n_plus: int, n_minus: int) -> Found:
    """Return the values of a metric on a cube, which must be the same for all sets that have as many of each side."""
    # Names mean nothing, so they are shuffled: a metric that goes by them is found out.
    names = np.random.default_rng((n_plus, n_minus)).permutation(n_plus + n_minus).tolist()
    plus, minus = names[:n_plus], names[n_plus:]
    cube, outside = (1 << len(names)) - 1, sum(1 << name for name in minus)
    answers = list(_checked(metric.calc_metric(set(plus), set(minus)), cube))
    by_kind: dict[tuple[int, int], list[float]] = {}
    for mask, value in answers:
        by_kind.setdefault((mask.bit_count(), (mask & outside).bit_count()), []).append(value)
    apart = SAME * max((abs(value) for _, value in answers), default=0.0)
    for (size, n_out), values in by_kind.items():
        if len(values) < comb(n_plus, size - n_out) * comb(n_minus, n_out):
            values.append(0.0)
        if max(values) - min(values) > apart:
            message = (
                "a metric must give the same value to all sets that have the same numbers of features of s_plus and of "
                f"s_minus, because names are arbitrary. On a cube of {n_plus} and {n_minus} features, this one gives "
                f"{min(values):.6g} and {max(values):.6g} to sets of {size - n_out} and {n_out} of them"
            )
            raise ArgumentError(message)
    return {kind: values[0] for kind, values in by_kind.items()}


def _checked(values: object, cube: int) -> Iterator[tuple[int, float]]:
    """Yield the sets that a metric returned for a cube, as bit masks, and their values if they are not zero."""
    if not isinstance(values, Mapping):
        message = f"calc_metric must return a mapping from features or sets of them to numbers, not {values!r}"
        raise ArgumentError(message)
    masks: set[int] = set()
    for key, value in values.items():
        mask = members_of(key, cube)
        if mask in masks:
            message = f"the metric returned the set {key!r} twice for one cube; sets have no order"
            raise ArgumentError(message)
        masks.add(mask)
        number = _number(key, value)
        if number != 0:
            yield mask, number


def _number(key: Hashable, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not isfinite(number):
        message = f"calc_metric must return finite numbers, but the value of {key!r} is {value!r}"
        raise ArgumentError(message)
    return number
