"""Counts are what they are defined to be, and do not depend on how the rows are cut, ordered or held."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor

import glasswood as gw
from glasswood.counting import _leaf_counts as _counts
from glasswood.counting._plan import make_plan
from glasswood.counting._subsets import Subsets
from glasswood.counting._weights import fixed_point
from glasswood.engines import _local as _counting
from glasswood.engines._local import count
from glasswood.errors import TableError
from helpers import oracle
from helpers.strategies import ensembles, tables

seeds = st.integers(0, 2**32 - 1)


@given(st.integers(1, 4), st.integers(0, 7))
def test_subsets_are_the_masks_in_order(order, n_players):
    masks = [mask for mask in range(2**n_players) if mask.bit_count() <= order]
    number = {mask: place for place, mask in enumerate(masks)}
    tables = Subsets.up_to(order, n_players)
    assert tables.size.tolist() == [sum(mask < 2**u for mask in masks) for u in range(n_players + 1)]
    for place, mask in enumerate(masks):
        assert masks[tables.rest[place]] == mask & ~(1 << max(0, mask.bit_length() - 1))
        for player in range(n_players):
            bit = 1 << player
            assert tables.has[player, place] == bool(mask & bit)
            assert tables.plus[player, place] == (-1 if mask & bit else number.get(mask | bit, -1))
            assert tables.minus[player, place] == (number[mask & ~bit] if mask & bit else -1)


def plan_of(ensemble, order, *, grouped):
    names = ensemble.feature_names
    return make_plan(ensemble, order, {"both": names[:2]} if grouped and len(names) > 1 else None)


@pytest.mark.parametrize("lists_only", [False, True])
@given(ensembles(), st.integers(1, 40), seeds, st.integers(1, 3), st.booleans())
def test_counts_are_the_definition(lists_only, ensemble, n_rows, seed, order, grouped):
    table = tables(ensemble, n_rows, seed)
    plan = plan_of(ensemble, order, grouped=grouped)
    background = count(plan, table, lists_only=lists_only)
    np.testing.assert_array_equal(background.counts, oracle.counts(plan, table, np.ones(n_rows, dtype=int)))
    check_cells(plan, background, table, np.ones(n_rows, dtype=int))


@pytest.mark.parametrize("lists_only", [False, True])
@given(ensembles(), st.integers(1, 40), seeds, st.integers(1, 2))
def test_integer_weights_are_exact(lists_only, ensemble, n_rows, seed, order):
    table = tables(ensemble, n_rows, seed)
    weight = np.random.default_rng(seed).integers(0, 4, size=n_rows)
    plan = plan_of(ensemble, order, grouped=False)
    background = count(plan, table, weight, lists_only=lists_only)
    np.testing.assert_array_equal(background.counts, oracle.counts(plan, table, weight))
    np.testing.assert_array_equal(background.counts, count(plan, np.repeat(table, weight, axis=0)).counts)
    check_cells(plan, background, table, weight)


def check_cells(plan, background, table, weight):
    cells, columns = plan.cells, plan.ensemble.schema.columns
    for j in plan.ensemble.used_features:
        place = cells.locate(int(j), columns[j].encode(table[:, j]))
        expected = np.bincount(place, weights=weight, minlength=cells.n_cells[j])
        np.testing.assert_array_equal(background.cells[cells.offset[j] : cells.offset[j + 1]], expected)


@given(ensembles(), st.integers(2, 60), seeds)
def test_counts_add_up_over_any_split_in_any_order(ensemble, n_rows, seed):
    rng = np.random.default_rng(seed)
    table = tables(ensemble, n_rows, seed)
    plan = plan_of(ensemble, 2, grouped=False)
    whole = count(plan, table)
    parts = np.array_split(rng.permutation(n_rows), int(rng.integers(1, 5)))
    sums = sum((count(plan, table[rows]) for rows in parts[1:]), start=count(plan, table[parts[0]]))
    assert sums == whole
    assert whole - count(plan, table[parts[0]]) + count(plan, table[parts[0]]) == whole


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 6)).round(2)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0] * X[:, 1]) + np.nan_to_num(X).sum(axis=1)
    small = HistGradientBoostingRegressor(max_iter=8, random_state=0).fit(X, y)
    large = ExtraTreesRegressor(2, random_state=0, min_samples_leaf=3).fit(X[:8000], y[:8000])
    assert max(tree.get_n_leaves() for tree in large.estimators_) > _counts.LARGE_TREE
    return X, {"small trees": gw.read_model(small), "large trees": gw.read_model(large)}


@pytest.mark.parametrize("name", ["small trees", "large trees"])
def test_batches_and_threads_change_nothing(case, name, monkeypatch):
    X, models = case
    plan = make_plan(models[name], 2, None)
    whole = count(plan, X, threads=1)
    for batch in (1, 1000, 4096, 8192, 50_000):
        if batch == 1:
            expected, rows = count(plan, X[:70], threads=1), X[:70]
        else:
            expected, rows = whole, X
        monkeypatch.setattr(_counting, "batch_size", lambda n_rows, batch=batch: batch)
        for threads in (1, 2, 5):
            assert count(plan, rows, threads=threads) == expected


@pytest.mark.parametrize("name", ["small trees", "large trees"])
def test_how_the_table_is_held_changes_nothing(case, name):
    X, models = case
    X = X.astype(np.float32).astype(np.float64)[:9000]
    plan = make_plan(models[name], 1, None)
    whole = count(plan, X)
    assert whole == count(plan, X[::-1])
    names = [f"x{j}" for j in range(6)]
    padded = np.zeros((9000, 13))
    padded[:, ::2][:, :6] = X
    held = {
        "float32": X.astype(np.float32),
        "columns": np.asfortranarray(X),
        "float32 columns": np.asfortranarray(X.astype(np.float32)),
        "every second column": padded[:, ::2][:, :6],
        "every second row": np.repeat(X, 2, axis=0)[::2],
        "read only": np.frombuffer(X.tobytes()).reshape(X.shape),
        "pandas": pd.DataFrame(X, columns=names),
        "pandas float32": pd.DataFrame(X.astype(np.float32), columns=names),
        "polars": pl.DataFrame(X, schema=names),
        "arrow": pa.table(dict(zip(names, X.T, strict=True))),
    }
    for name, table in held.items():
        assert count(plan, table) == whole, name


@pytest.mark.parametrize("lists_only", [False, True])
@pytest.mark.parametrize("batch", [8192, 50_000])
def test_weights_of_more_rows_than_a_block(case, batch, lists_only, monkeypatch):
    X, models = case
    plan = make_plan(models["small trees"], 1, None)
    weight = np.random.default_rng(0).integers(0, 3, size=len(X))
    repeated = count(plan, np.repeat(X, weight, axis=0))
    monkeypatch.setattr(_counting, "batch_size", lambda n_rows: batch)
    weighted = count(plan, X, weight, lists_only=lists_only)
    np.testing.assert_array_equal(weighted.counts, repeated.counts)
    np.testing.assert_array_equal(weighted.cells, repeated.cells)


def test_bitsets_and_lists_agree(case):
    X, models = case
    for model in models.values():
        for order in (1, 2):
            plan = make_plan(model, order, None)
            assert count(plan, X) == count(plan, X, lists_only=True)


def test_many_chunks_of_conditions(case, monkeypatch):
    X, models = case
    plan = make_plan(models["small trees"], 1, None)
    whole = count(plan, X)
    monkeypatch.setattr(_counts, "MAX_CONDITIONS", 10)
    assert len(_counts.LeafCounts(plan).chunks) > 3
    assert count(plan, X) == whole


@settings(max_examples=50)
@given(st.lists(st.floats(0, 1e6, allow_subnormal=False), min_size=1, max_size=50), seeds)
def test_float_weights_are_sums_to_a_trillionth(weights, seed):
    weight = np.array(weights)
    whole, unit = fixed_point(weight, weight.size)
    chosen = np.random.default_rng(seed).random(weight.size) < 0.5
    assert abs(whole[chosen].sum() * unit - weight[chosen].sum()) <= 1e-12 * weight.sum()
    assert whole.sum() < 2**63 - 1


@pytest.mark.parametrize(
    ("weight", "says"),
    [([1.0], "shape"), ([1.0, -1.0], "negative"), ([1.0, np.nan], "finite"), ([1.0, np.inf], "finite")],
)
def test_wrong_weights_are_refused(weight, says):
    with pytest.raises(TableError, match=says):
        fixed_point(weight, 2)
