"""Runs what type checkers have checked, and compares the types that results really have."""

from __future__ import annotations

import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor

import glasswood as gw
from helpers import typed_uses as uses

RANDOM = np.random.default_rng(0)
X = pd.DataFrame({"a": RANDOM.normal(size=60), "b": RANDOM.normal(size=60), "c": np.arange(60) % 2})


@pytest.fixture(scope="module")
def ex():
    model = RandomForestRegressor(4, max_depth=3, random_state=0).fit(X, X["a"] * X["b"] + X["c"])
    return gw.Explainer(model, X)


def checked(monkeypatch):
    """Let assert_type compare the class of a value with what the checkers say of it."""
    seen = []

    def compare(value, expected):
        seen.append(expected)
        kinds = (
            getattr(expected, "__args__", None) if type(expected).__name__ in ("UnionType", "Union") else (expected,)
        )
        origins = tuple(getattr(kind, "__origin__", kind) for kind in kinds)
        assert isinstance(expected, str) or isinstance(value, origins), (expected, type(value))
        return value

    monkeypatch.setattr(uses, "assert_type", compare)
    return seen


def test_results_have_the_types_that_checkers_know(ex, monkeypatch, tmp_path):
    seen = checked(monkeypatch)
    X.to_parquet(tmp_path / "rows.parquet")
    uses.curves(ex)
    uses.values(ex, X, tmp_path / "rows.parquet")
    uses.others(ex)
    uses.backgrounds(RandomForestRegressor(2, max_depth=2).fit(X.to_numpy(), X["a"]), X.to_numpy())
    assert len(seen) > 25


def test_frames_are_of_the_library_that_is_asked_for(ex):
    one, two, three = uses.frames(ex)
    assert [type(frame).__module__.partition(".")[0] for frame in (one, two, three)] == ["pandas", "polars", "pyarrow"]
    with pytest.raises(gw.errors.ArgumentError, match="library is one of 'pandas', 'polars', 'pyarrow', not 'dask'"):
        ex.importance().to_frame("dask")


def test_a_library_of_frames_that_is_missing_is_named(ex, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(gw.errors.MissingExtraError, match=r"to_frame\('polars'\) requires polars; install it"):
        ex.importance().to_frame("polars")


def test_figures_are_of_the_backend_that_is_asked_for(ex):
    figure, ax = plt.subplots()
    one, two, three, four = uses.figures(ex, ax)
    assert isinstance(one, type(four))
    assert type(two).__module__.startswith("plotly")
    assert three is ax
    plt.close(figure)
