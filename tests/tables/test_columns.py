"""How values of the user's table become the numbers that nodes compare."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from glasswood.errors import TableError
from glasswood.tables._columns import (
    UNSEEN,
    CodeColumn,
    Dictionary,
    LabelColumn,
    NumberColumn,
    dictionary_of,
    is_missing,
)

NAN = np.nan


def test_floats_pass_without_a_copy():
    for dtype in (np.float32, np.float64):
        values = np.arange(3, dtype=dtype)
        assert NumberColumn("a").encode(values) is values


@pytest.mark.parametrize("dtype", [np.int64, np.int32, object])
def test_other_numbers_become_float64(dtype):
    encoded = NumberColumn("a").encode(np.array([1, 0], dtype=dtype))
    assert encoded.dtype == np.float64
    np.testing.assert_array_equal(encoded, [1.0, 0.0])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16])
def test_small_numbers_become_float32_which_holds_them_all(dtype):
    every = np.arange(np.iinfo(dtype).min, np.iinfo(dtype).max + 1).astype(dtype)
    encoded = NumberColumn("a").encode(every)
    assert encoded.dtype == np.float32
    assert (encoded.astype(np.int64) == every).all()
    assert NumberColumn("a").encode(np.array([True, False])).dtype == np.float32


def test_numbers_that_mean_missing():
    column = NumberColumn("a", missing_between=(-1.0, 0.5))
    np.testing.assert_array_equal(column.encode(np.array([-1.0, 0.5, 0.6, NAN])), [NAN, NAN, 0.6, NAN])


def test_categories_that_are_numbers_count_as_numbers():
    values = Dictionary([10, 20], np.array([1, -1, 0]))
    np.testing.assert_array_equal(NumberColumn("a").encode(values), [20.0, NAN, 10.0])


@pytest.mark.parametrize("values", [Dictionary(["x"], np.array([0])), np.array(["x"], dtype=object)])
def test_text_in_a_column_of_numbers_is_refused(values):
    with pytest.raises(TableError, match=r"column 'a' must hold numbers.*'x'"):
        NumberColumn("a").encode(values)


@pytest.mark.parametrize(
    "values",
    [
        Dictionary(["b", "z", "a"], np.array([0, 1, 2, -1])),
        np.array(["b", "z", "a", None], dtype=object),
    ],
)
def test_labels_become_codes(values):
    np.testing.assert_array_equal(LabelColumn("c", ("a", "b")).encode(values), [1.0, UNSEEN, 0.0, NAN])


def test_numbers_as_labels():
    column = LabelColumn("c", (-3, 5))
    np.testing.assert_array_equal(column.encode(np.array([5.0, -3.0, 4.0, NAN])), [1.0, 0.0, UNSEEN, NAN])
    np.testing.assert_array_equal(column.encode(np.array([5, 4])), [1.0, UNSEEN])


def test_unseen_labels_are_refused_where_the_library_refuses_them():
    column = LabelColumn("c", ("a", "b"), refuse_unseen=True)
    with pytest.raises(TableError, match=r"'c' holds categories .* not trained with: .'z'."):
        column.encode(Dictionary(["a", "z"], np.array([0, 1])))
    np.testing.assert_array_equal(column.encode(np.array(["a", NAN], dtype=object)), [0.0, NAN])


@pytest.mark.parametrize(("toward_zero", "half_below"), [(True, 0.0), (False, UNSEEN)])
def test_codes(toward_zero, half_below):
    column = CodeColumn("c", 3, toward_zero=toward_zero)
    values = np.array([0.0, 1.9, 2.0, 3.0, -1.0, -0.5, -0.0, NAN, 2.0**40, np.inf])
    expected = [0, 1, 2, UNSEEN, UNSEEN, half_below, 0, NAN, UNSEEN, UNSEEN]
    np.testing.assert_array_equal(column.encode(values), expected)
    assert column.categories == (0, 1, 2)


def test_codes_do_not_change_the_users_array():
    values = np.array([0.5, 7.0])
    CodeColumn("c", 3).encode(values)
    np.testing.assert_array_equal(values, [0.5, 7.0])


@pytest.mark.parametrize("value", [None, NAN, np.float32("nan"), pd.NA, pd.NaT])
def test_missing_values(value):
    assert is_missing(value)


@pytest.mark.parametrize("value", [0, "", "nan", False, np.inf])
def test_not_missing_values(value):
    assert not is_missing(value)


def test_empty_columns():
    assert dictionary_of(np.empty(0)).labels == []
    assert LabelColumn("c", ("a",)).encode(np.empty(0)).shape == (0,)
    assert NumberColumn("a").encode(np.empty(0, dtype=int)).shape == (0,)
