"""Statistics and margins on numbers small enough to be computed by hand: each constant has a case on either side."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from glasswood.effects._statistics import standard_deviation
from glasswood.models.readers._dispatch import _compare
from glasswood.questions.drift._arithmetic import apart, stability_index
from glasswood.questions.interactions._arithmetic import pair_strengths
from glasswood.questions.shapes._arithmetic import missed, trend
from glasswood.results._ranking import root_of_squares


def test_the_stability_index_merges_numbers_into_ten_bins():
    even, within_bins = np.ones(40), np.tile([2.0, 2, 0, 0], 10)
    assert stability_index(np.array([[*even, 0], [*within_bins, 0]]), ordered=True) == pytest.approx(0, abs=1e-12)
    across = np.repeat([2.0, 0], 20)
    assert stability_index(np.array([[*even, 0], [*across, 0]]), ordered=True) > 1


def test_the_stability_index_takes_no_share_below_a_ten_thousandth():
    rows = np.array([[50.0, 50, 0], [50, 49, 1]])
    expected = 0.01 * np.log(0.5 / 0.49) + (0.01 - 1e-4) * np.log(0.01 / 1e-4)
    assert stability_index(rows, ordered=False) == pytest.approx(expected)


def test_the_stability_index_of_several_groups_is_the_largest_of_all_pairs():
    rows = np.array([[50.0, 50], [60, 40], [80, 20]])
    expected = 0.3 * (np.log(0.8 / 0.5) - np.log(0.2 / 0.5))
    assert stability_index(rows, ordered=False) == pytest.approx(expected)


@pytest.mark.parametrize("sign", [1, -1], ids=["up", "down"])
@pytest.mark.parametrize(("by", "reported"), [(0.07, True), (0.04, False)])
def test_a_spike_of_a_twentieth_of_the_range_is_reported(sign, by, reported):
    found = missed(sign * np.array([0.0, by, 0.0, 1.0]), np.array([0, 2, 3]))
    assert [spike.by for spike in found] == ([pytest.approx(sign * by)] if reported else [])


@pytest.mark.parametrize(("back", "direction"), [(1e-6, "neither"), (1e-12, "increasing")])
def test_a_step_back_of_a_millionth_of_the_range_is_one(back, direction):
    assert trend(np.array([[0.0], [0.5], [0.5 - back], [1.0]]), np.empty(0)).direction == [direction]


def test_rows_are_affected_until_a_curve_has_made_up_for_its_step_back():
    found = trend(np.array([[0.0], [2], [1], [1.5], [3]]), np.array([1, 1, 1, 1, 1, 0]))
    assert found.share == pytest.approx(2 / 5)
    assert found.cut == [1]
    assert found.against == [1]


def test_spread_is_around_the_mean_over_rows():
    assert standard_deviation(np.array([[0.0], [1]]), np.array([3, 1])) == pytest.approx(np.sqrt(3 / 16))


def test_the_total_of_outputs_is_the_root_of_the_sum_of_squares():
    assert root_of_squares(np.array([[3.0, 4]])) == pytest.approx(5)


def test_curves_that_differ_by_a_constant_do_not_differ():
    heights = np.array([[[0.0], [1], [2]], [[5.0], [6], [7]]])
    mean, largest = apart(heights, np.ones((2, 3)))
    assert (mean.item(), largest.item()) == (0, 0)


def test_cells_without_rows_do_not_count_for_a_difference():
    heights = np.array([[[0.0], [1], [100]], [[0.0], [1], [2]]])
    mean, largest = apart(heights, np.array([[1.0, 1, 0], [1, 1, 0]]))
    assert (mean.item(), largest.item()) == (0, 0)


def test_h_is_the_root_of_the_ratio_of_variances():
    found = pair_strengths(np.array([0, 0.25, 0, 1.0]).reshape(4, 1, 1), 1.0)
    strength, h = found.strength, found.h
    assert (strength.item(), h.item()) == (0.5, 0.5)


@pytest.mark.parametrize(
    ("dtype", "off", "passed"),
    [
        ("float64", 0.9e-10, True),
        ("float64", 2e-10, False),
        ("float32", 0.9e-5, True),
        ("float32", 2e-5, False),
        ("float64", np.nan, False),
    ],
)
def test_the_margin_of_the_self_check(dtype, off, passed):
    ensemble = SimpleNamespace(score=SimpleNamespace(dtype=dtype))
    theirs = np.array([0.5, -0.25])
    assert _compare(ensemble, theirs + np.array([off, 0]), theirs).passed == passed
    assert (
        _compare(ensemble, 1000 * (theirs + np.array([off / 2, 0])), 1000 * theirs).passed == passed
    )  # relative to the size
