"""Tables of tests, of which CI runs a part: `pytest -m slow` runs the rest."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import pytest


def every_other(*axes: Iterable[Any], first: int = 0) -> list[Any]:
    """Return all combinations for `pytest.mark.parametrize`; every second one, like on a chessboard, is slow.

    `first` is 0 or 1: the colour of the combinations that CI runs.
    """
    return [
        pytest.param(*(value for _, value in places), marks=[] if _colour(places) == first else pytest.mark.slow)
        for places in itertools.product(*(list(enumerate(axis)) for axis in axes))
    ]


def _colour(places: Iterable[tuple[int, Any]]) -> int:
    return sum(place for place, _ in places) % 2
