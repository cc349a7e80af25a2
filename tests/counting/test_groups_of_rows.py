"""Rows of many groups, counted in one pass, give each group the counts of its rows alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor, RandomForestRegressor

import glasswood as gw
from glasswood.counting import _leaf_counts as _counts
from glasswood.counting._counter import Counter
from glasswood.counting._plan import make_plan
from glasswood.tables._tables import open_columns
from helpers.strategies import ensembles, tables

seeds = st.integers(0, 2**32 - 1)
SIZES = (0, 1, 2, 3, 62, 63, 64, 65, 127, 128, 129, 511, 512, 513, 4095, 4096, 4097)


def encoded(ensemble, table, layout):
    """The columns of a table, of one type or another, one behind the other or not."""
    columns = open_columns(table, ensemble.schema, ensemble.used_features).encode(0, len(table))
    held = {}
    for number, (feature, values) in enumerate(columns.items()):
        dtype = np.float32 if layout == "single" or (layout == "mixed" and number % 2) else np.float64
        wide = np.full((len(table), 3), np.nan, dtype=dtype)
        with np.errstate(over="ignore"):
            wide[:, 1] = values
        held[feature] = wide[:, 1] if layout in ("strided", "mixed") else wide[:, 1].copy()
    return held


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert one.vectors.keys() == other.vectors.keys()
        for name, part in one.vectors.items():
            np.testing.assert_array_equal(part, other.vectors[name])
        assert (one.n_rows, one.total) == (other.n_rows, other.total)


def check(counter, columns, bounds, weight=None):
    """Compare with `add`, group by group, on tallies that hold something already."""
    first = {feature: values[: bounds[-1]][:70] for feature, values in columns.items()}
    n_first = min(70, int(bounds[-1]))
    found, expected = ([counter.start() for _ in bounds[1:]] for _ in range(2))
    for tally in (*found[::2], *expected[::2]):
        counter.add(tally, first, n_first, None if weight is None else weight[:n_first])
    counter.add_groups(found, columns, np.array(bounds), weight)
    for tally, start, end in zip(expected, bounds[:-1], bounds[1:], strict=True):
        rows = {feature: values[start:end] for feature, values in columns.items()}
        counter.add(tally, rows, int(end - start), None if weight is None else weight[start:end])
    assert_same(found, expected)
    assert_same(map(counter.finish, found), map(counter.finish, expected))


@given(
    ensembles(),
    st.lists(st.sampled_from(SIZES), min_size=1, max_size=8),
    seeds,
    st.integers(1, 3),
    st.sampled_from(["single", "double", "strided", "mixed"]),
    st.integers(0, 70),
)
@settings(max_examples=30, deadline=None)
def test_groups_of_any_size(ensemble, sizes, seed, order, layout, skipped):
    bounds = np.concatenate([[0], np.cumsum(sizes)]) + skipped
    table = tables(ensemble, int(bounds[-1]), seed)
    check(Counter(make_plan(ensemble, order, None), lists_only=False), encoded(ensemble, table, layout), bounds)


@given(ensembles(), st.integers(1, 9000), st.integers(1, 600), seeds, st.integers(1, 2))
@settings(max_examples=20, deadline=None)
def test_many_groups_to_a_block(ensemble, n_rows, n_groups, seed, order):
    rng = np.random.default_rng(seed)
    bounds = np.sort(np.concatenate([[0, n_rows], rng.integers(0, n_rows, size=n_groups - 1, endpoint=True)]))
    columns = encoded(ensemble, tables(ensemble, n_rows, seed), "double")
    check(Counter(make_plan(ensemble, order, None), lists_only=False), columns, bounds)


@given(ensembles(), st.lists(st.integers(0, 40), min_size=1, max_size=8), seeds)
@settings(deadline=None)
def test_groups_with_weights(ensemble, sizes, seed):
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    weight = np.random.default_rng(seed).integers(0, 5, size=bounds[-1])
    columns = encoded(ensemble, tables(ensemble, int(bounds[-1]), seed), "double")
    check(Counter(make_plan(ensemble, 2, None), lists_only=True), columns, bounds, weight)


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 6)).round(2)
    X[:, 5] = rng.integers(0, 9, size=20_000)
    y = X[:, 0] * X[:, 1] + X.sum(axis=1) + (X[:, 5] == 3)
    X[rng.random(X.shape) < 0.1] = np.nan
    boosted = HistGradientBoostingRegressor(max_iter=8, random_state=0, categorical_features=[5]).fit(X, y)
    filled = np.nan_to_num(X)
    large = ExtraTreesRegressor(2, random_state=0, min_samples_leaf=3).fit(filled[:8000], y[:8000])
    assert max(tree.get_n_leaves() for tree in large.estimators_) > _counts.LARGE_TREE
    forest = RandomForestRegressor(5, max_depth=6, random_state=0).fit(filled[:8000], y[:8000])
    models = {"boosted": boosted, "large": large, "forest": forest}
    return X, {name: gw.read_model(model) for name, model in models.items()}


ROWS_OF_GROUPS = {
    "one": [20_000],
    "thousands": [1000] * 20,
    "one large and many small": [9000] + [3] * 1000 + [200],
    "single rows": [1] * 1200,
    "up to the edge of a block": [4096, 4096, 0, 64, 4032, 1, 127],
    "one row across": [4095, 2, 4095],
    "none": [0, 0],
}


@pytest.mark.parametrize("sizes", ROWS_OF_GROUPS)
@pytest.mark.parametrize("model", ["boosted", "forest", "large"])
def test_models(case, model, sizes):
    X, models = case
    bounds = np.concatenate([[0], np.cumsum(ROWS_OF_GROUPS[sizes])])
    if model != "boosted" and sizes in ("one large and many small", "single rows"):
        bounds = bounds[-200:]
    X = np.nan_to_num(X) if model != "boosted" else X
    counter = Counter(make_plan(models[model], 1, None), lists_only=False)
    check(counter, encoded(models[model], X, "double"), bounds)


def test_several_chunks_of_trees(case, monkeypatch):
    monkeypatch.setattr(_counts, "MAX_CONDITIONS", 40)
    X, models = case
    counter = Counter(make_plan(models["boosted"], 2, None), lists_only=False)
    assert len(_counts.LeafCounts(counter.plan).chunks) > 3
    check(counter, encoded(models["boosted"], X, "single"), [0, 700, 700, 9000, 9001, 20_000])


def test_one_counter_in_several_threads(case):
    X, models = case
    counter = Counter(make_plan(models["boosted"], 1, None), lists_only=False)
    columns = encoded(models["boosted"], X, "double")
    bounds = np.arange(0, 20_001, 400)

    def count(_):
        tallies = [counter.start() for _ in bounds[1:]]
        counter.add_groups(tallies, columns, bounds)
        return tallies

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(count, range(8)))
    for tallies in found:
        assert_same(tallies, found[0])


def test_no_tally_needs_no_row(case):
    X, models = case
    counter = Counter(make_plan(models["boosted"], 1, None), lists_only=False)
    counter.add_groups([], encoded(models["boosted"], X, "double"), np.array([0]))


def test_tallies_that_cannot_be_written_to_are_refused(case):
    X, models = case
    counter = Counter(make_plan(models["boosted"], 1, None), lists_only=False)
    columns = encoded(models["boosted"], X, "double")
    for spoil in (lambda counts: counts.astype(np.int32), lambda counts: np.repeat(counts, 2)[::2], np.asarray):
        tally = counter.start()
        tally.vectors["counts"] = spoil(tally.vectors["counts"])
        tally.vectors["counts"].flags.writeable = spoil is not np.asarray
        with pytest.raises(ValueError, match="writable int64 arrays in C order"):
            counter.add_groups([tally], columns, np.array([0, 10]))
