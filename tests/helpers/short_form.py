"""Large tables of tests, of which the gate runs a part that is chosen by risk: `pytest -m slow` runs the rest."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def all_pairs(*axes: Iterable[Any]) -> list[Any]:
    """Return all combinations for `pytest.mark.parametrize`; those that a covering array does not need are slow.

    The array has every pair of settings of two axes in at least one combination, so that the gate finds whatever two
    settings cause together. Tables of one or two axes have nothing to leave out: parametrize them as usual.
    """
    settings = [list(axis) for axis in axes]
    kept = set(covering_array([len(axis) for axis in settings]))
    return [
        pytest.param(
            *(axis[place] for axis, place in zip(settings, places, strict=True)),
            marks=[] if places in kept else pytest.mark.slow,
        )
        for places in itertools.product(*(range(len(axis)) for axis in settings))
    ]


def covering_array(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Return combinations of places such that each pair of places on two axes is in one of them.

    Greedy: the next combination is the first one of those with the most pairs that are still to be covered.
    """
    combinations = list(itertools.product(*(range(size) for size in sizes)))
    pairs_of = {places: set(itertools.combinations(enumerate(places), 2)) for places in combinations}
    left = set().union(*pairs_of.values())
    chosen = []
    while left:
        best = max(combinations, key=lambda places: len(pairs_of[places] & left))
        chosen.append(best)
        left -= pairs_of[best]
    return chosen
