"""Cuts for float64 values that do what a comparison in float32 does."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from glasswood.models.readers._rounding import cut_at_most, cut_below, float32_interval

singles = st.floats(width=32, allow_nan=False)
doubles = st.floats(allow_nan=False)


def near(number):
    """The number and float64 values around it: on both sides of the border between two float32 numbers."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        single = np.float32(number)
        beside = [np.nextafter(single, np.float32(side)) for side in (-np.inf, np.inf)]
        points = np.array([number, single, *beside], dtype=np.float64)
        points = np.concatenate([points, *(points[0] + (p - points[0]) / 2 for p in points[:, None])])
        points = points[~np.isnan(points)]
        return np.concatenate([points, np.nextafter(points, -np.inf), np.nextafter(points, np.inf)])


def to_float32(x):
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(x, dtype=np.float64).astype(np.float32)


@given(doubles, doubles)
def test_cut_at_most_of_float64_cuts(cut, x):
    for value in (*near(cut), x):
        assert (value <= cut_at_most(np.array([cut]))[0]) == (to_float32(value).astype(np.float64) <= cut)


@given(singles, doubles)
def test_cut_at_most_of_float32_cuts(cut, x):
    for value in (*near(cut), x):
        assert (value <= cut_at_most(np.array([cut], dtype=np.float32))[0]) == (to_float32(value) <= np.float32(cut))


@given(singles, doubles)
def test_cut_below(cut, x):
    for value in (*near(cut), x):
        assert (value <= cut_below(np.array([cut], dtype=np.float32))[0]) == (to_float32(value) < np.float32(cut))


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_float32_interval(number):
    low, high = float32_interval(number)
    for value in near(number):
        assert (low <= value <= high) == (to_float32(value) == np.float32(number))
