"""Differences of Backgrounds whose subtrahend was no part of the rows: refused when they are explained."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw
from glasswood.errors import BackgroundError


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(120, 2)), columns=["a", "b"])
    return X, HistGradientBoostingRegressor(max_iter=5).fit(X, X.a * X.b)


@pytest.mark.parametrize("weighted", [False, True])
def test_what_was_no_part_is_refused(rows, weighted):
    X, model = rows
    weight = np.random.default_rng(1).uniform(0.1, 3.0, len(X)) if weighted else None

    def count(part):
        return gw.summarize(model, X[part], sample_weight=None if weight is None else weight[part], order=2)

    first, second, third = slice(0, 60), slice(60, 100), slice(100, 120)
    wrong = count(first) - count(second)
    for ask in (
        lambda: gw.Explainer(model, wrong),
        lambda: gw.Explainer(model, count(second) - count(first)),  # fewer rows than none
        lambda: gw.Explainer(model, count(first)).report(by={"one": count(first), "two": wrong}),
    ):
        with pytest.raises(BackgroundError, match="no part of those that they were subtracted from"):
            ask()
    again = gw.Explainer(model, wrong + count(second)).partial_dependence("a")  # what is missing was added
    np.testing.assert_allclose(
        again.values, gw.Explainer(model, count(first)).partial_dependence("a").values, rtol=1e-12
    )
    rest = count(slice(0, 120)) - count(third) - count(second)
    found = gw.Explainer(model, rest).partial_dependence("a").values
    np.testing.assert_allclose(found, gw.Explainer(model, count(first)).partial_dependence("a").values, rtol=1e-9)


def test_a_negative_count_of_a_leaf_is_enough(rows):
    """Rows with the same values in each column, but not in the same rows: no cell of a feature is negative."""
    _, model = rows
    X = pd.DataFrame({"a": [-1.0, 1.0, -1.0, 1.0], "b": [-1.0, 1.0, 1.0, -1.0]})
    one, other = gw.summarize(model, X[:2]), gw.summarize(model, X[2:])
    found = one - other
    assert (found.cells >= 0).all()
    assert (found.counts < 0).any()
    with pytest.raises(BackgroundError, match="negative number of rows"):
        gw.Explainer(model, found)
