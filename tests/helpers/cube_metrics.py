"""Metrics of cubes as a user would write them: the formulas of the paper, and Shapley values."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain, combinations
from math import factorial
from typing import Any, TypeVar

import glasswood as gw

T = TypeVar("T")


def all_subsets(players: Collection[T]) -> Iterator[tuple[T, ...]]:
    return chain.from_iterable(combinations(players, size) for size in range(len(players) + 1))


class CPDVMetric(gw.metrics.CubeMetric):
    """The paper's formula for centered partial dependence of a cube."""

    def calc_metric(self, s_plus: set[Any], s_minus: set[Any]) -> dict[Any, float]:
        if len(s_plus) == 1:
            return dict.fromkeys(s_plus, 1)
        if len(s_plus) == 0:
            return dict.fromkeys(s_minus, -1)
        return {}


class PDIVMetric(gw.metrics.CubeMetric):
    """The paper's formula for partial dependence interaction values of a cube."""

    def calc_metric(self, s_plus: set[Any], s_minus: set[Any]) -> dict[Any, float]:
        return {(*s_plus, *more): (-1) ** len(more) for more in all_subsets(s_minus)}


class ShapleyMetric(gw.metrics.CubeMetric):
    """The Shapley values of a cube, whose players of one kind are all alike."""

    def calc_metric(self, s_plus: set[Any], s_minus: set[Any]) -> dict[Any, float]:
        p, m = len(s_plus), len(s_minus)
        with_it = factorial(p - 1) * factorial(m) / factorial(p + m) if p else 0.0
        without = factorial(p) * factorial(m - 1) / factorial(p + m) if m else 0.0
        return dict.fromkeys(s_plus, with_it) | dict.fromkeys(s_minus, -without)
