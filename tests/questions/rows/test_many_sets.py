"""Interactions block by block of the sets: the same bits as at once, whatever fits in memory."""

from __future__ import annotations

import re
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import glasswood as gw
from glasswood.counting import _plan
from glasswood.effects import _interactions, _many_sets
from glasswood.effects._set_blocks import PlayerSets
from glasswood.errors import TooLargeError
from glasswood.kernels import _core
from glasswood.study import _study

N_ROWS = 400


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(N_ROWS, 7)).round(2), columns=list("abcdefg"))
    X.loc[rng.random(N_ROWS) < 0.1, "b"] = np.nan
    X["city"] = pd.Categorical(rng.choice(list("uvwxyz"), N_ROWS))
    return X


@pytest.fixture(scope="module")
def target(table: pd.DataFrame) -> pd.Series:
    filled = table.drop(columns="city").fillna(0)
    return filled.sum(axis=1) + filled["a"] * filled["b"] * filled["c"] + table["city"].isin(["x", "z"]) * filled["d"]


def deep(table: pd.DataFrame, target: pd.Series) -> HistGradientBoostingRegressor:
    """Deep trees without any regularization, as in the paper."""
    options = {"max_depth": 6, "max_leaf_nodes": None, "min_samples_leaf": 1, "random_state": 0}
    return HistGradientBoostingRegressor(max_iter=6, **options).fit(table.drop(columns="city"), target)


def explainers(table: pd.DataFrame, target: pd.Series) -> dict[str, tuple[gw.Explainer, Any]]:
    """An Explainer of each kind, and rows to explain."""
    weight = np.random.default_rng(1).integers(0, 4, N_ROWS) / 2
    numbers = table.drop(columns="city")
    with_city = lgb.LGBMRegressor(n_estimators=6, num_leaves=40, min_child_samples=1, verbose=-1).fit(table, target)
    classes = RandomForestClassifier(5, max_depth=6, random_state=0).fit(
        numbers.fillna(0), np.digitize(target, [-2, 2])
    )
    encoder = OrdinalEncoder().set_output(transform="pandas")
    pipeline = make_pipeline(encoder, HistGradientBoostingRegressor(max_iter=5, max_depth=5, min_samples_leaf=1))
    before = table[["city"]].assign(a=target.round())
    pipeline.fit(before, target)
    model = deep(table, target)
    return {
        "missing values": (gw.Explainer(model, numbers), numbers),
        "weights": (gw.Explainer(model, numbers, sample_weight=weight), numbers),
        "covers": (gw.Explainer(model), numbers),
        "groups": (gw.Explainer(model, numbers, groups={"ab": ["a", "b"]}), numbers),
        "categories": (gw.Explainer(with_city, table), table),
        "classes": (gw.Explainer(classes, numbers.fillna(0)), numbers.fillna(0)),
        "pipeline": (gw.Explainer(pipeline, before), before),
    }


KINDS = ["missing values", "weights", "covers", "groups", "categories", "classes", "pipeline"]


@pytest.fixture(scope="module")
def opened(table: pd.DataFrame, target: pd.Series) -> dict[str, tuple[gw.Explainer, Any]]:
    return explainers(table, target)


@pytest.fixture(autouse=True)
def _nothing_kept(opened):
    """Let each question make its own tables."""
    for ex, _ in opened.values():
        ex._study.kept = type(ex._study.kept)(0)


def in_blocks(patch: pytest.MonkeyPatch, n_entries: int) -> None:
    """Let the tables of a block have about so many entries."""
    patch.setattr(_many_sets, "MAX_ENTRIES", n_entries)
    patch.setattr(_many_sets, "MIN_ENTRIES", n_entries)


@pytest.mark.parametrize("n_entries", [50, 4000])
@pytest.mark.parametrize("kind", KINDS)
def test_the_bits_do_not_depend_on_blocks(opened, monkeypatch, kind, n_entries):
    ex, rows = opened[kind]
    whole = ex.interaction_values(rows)
    expected = whole.values
    in_blocks(monkeypatch, n_entries)
    for threads in "12":
        monkeypatch.setenv("GLASSWOOD_NUM_THREADS", threads)
        found = ex.interaction_values(rows)
        assert isinstance(found.source, _many_sets.ManySets) or n_entries > 50
        assert found.subsets == whole.subsets
        np.testing.assert_array_equal(found.values, expected)
        for mean in ("mean_abs", "mean_square", "signed_mean"):
            np.testing.assert_array_equal(getattr(found, mean)(), getattr(whole, mean)())
    if len(whole.outputs) == 1:
        for ours, theirs in zip(found.top_per_row(4), whole.top_per_row(4), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    together = np.full_like(expected, np.nan)
    for numbers, block in found.blocks_of_sets():
        together[:, numbers] = block
    np.testing.assert_array_equal(together, expected)
    np.testing.assert_array_equal(np.concatenate([block for _, block in found.blocks(150)]), expected)
    assert found.top(5).equals(whole.top(5))


def test_sets_are_numbered(opened, monkeypatch):
    ex, rows = opened["missing values"]
    sets = list(ex.interaction_values(rows).source.sets)
    in_blocks(monkeypatch, 300)
    found = ex.interaction_values(rows).source.sets
    assert len(found.blocks) > 5
    assert [found[number] for number in range(len(found))] == sets == list(found)
    assert found[-1] == sets[-1]
    assert found[3:7] == sets[3:7]
    assert found.sizes.tolist() == list(map(len, sets))
    with pytest.raises(IndexError):
        found[len(sets)]


@pytest.mark.parametrize("kind", ["missing values", "weights"])
def test_blocks_follow_the_definition(opened, table, target, monkeypatch, kind):
    """Sets of every order, the largest included, are the inclusion-exclusion of mean predictions."""
    ex, rows = opened[kind]
    in_blocks(monkeypatch, 500)
    model, few = deep(table, target), rows.head(3)
    found = ex.interaction_values(few)
    weight = np.random.default_rng(1).integers(0, 4, N_ROWS) / 2 if kind == "weights" else np.ones(N_ROWS)
    means = {}
    for members in {small for names in found.subsets[-3:] for small in powerset(names)}:
        for row in range(3):
            changed = rows.copy()
            for name in members:
                changed[name] = few[name].iloc[row]
            means[members, row] = np.average(model.predict(changed), weights=weight)
    for names in found.subsets[-3:]:
        for row in range(3):
            parts = [(-1) ** (len(names) - len(small)) * means[small, row] for small in powerset(names)]
            np.testing.assert_allclose(found[names][row], sum(parts), rtol=0, atol=1e-12)


def powerset(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """All subsets, each in the order of the names."""
    sets: list[tuple[str, ...]] = [()]
    for name in names:
        sets += [(*members, name) for members in sets]
    return sets


@pytest.mark.parametrize("kind", ["missing values", "classes"])
@pytest.mark.parametrize("kilobytes", [4, 8])
def test_the_order_that_is_named_works(opened, monkeypatch, kind, kilobytes):
    ex, rows = opened[kind]
    monkeypatch.setattr(_many_sets, "memory_left", lambda: 1000 * kilobytes)
    in_blocks(monkeypatch, 5000)
    with pytest.raises(TooLargeError, match="means take") as refused:
        ex.interaction_values(rows)
    order = int(re.search(r"max_order=(\d+)", str(refused.value))[1])
    assert len(ex.interaction_values(rows, max_order=order).top(3)) == 3


def test_no_order_fits(opened, monkeypatch):
    ex, rows = opened["missing values"]
    monkeypatch.setattr(_many_sets, "memory_left", lambda: 10)
    with pytest.raises(TooLargeError, match="ask for fewer features"):
        ex.interaction_values(rows)


def test_the_order_of_too_many_counts(opened, monkeypatch):
    """The order that is named fits in both respects: counts, and means of sets."""
    ex, rows = opened["missing values"]
    n_counts = ex._study.plan(1).n_sets(4)
    monkeypatch.setattr(_study, "memory_left", lambda: 0)
    for module in (_study, _plan):
        monkeypatch.setattr(module, "MAX_COUNTS", n_counts)
    monkeypatch.setattr(_many_sets, "memory_left", lambda: 6000)
    with pytest.raises(TooLargeError, match=r"need .* counts") as refused:
        ex.interaction_values(rows)
    order = int(re.search(r"max_order=(\d+)", str(refused.value))[1])
    assert order < 4
    assert len(ex.interaction_values(rows, max_order=order).top(3)) == 3


def test_values_of_too_many_rows_name_an_order(opened, monkeypatch):
    ex, rows = opened["missing values"]
    found = ex.interaction_values(rows)
    n_sets = np.cumsum(np.bincount(list(map(len, found.subsets))))
    allowed = 8 * N_ROWS * int(n_sets[3])
    monkeypatch.setattr("glasswood.parallel._memory._memory", lambda: 2 * allowed)
    monkeypatch.setattr("glasswood.parallel._memory.MUCH", 0)
    with pytest.raises(TooLargeError, match="max_order=3"):
        _ = found.values
    assert ex.interaction_values(rows, max_order=3).values.shape == (N_ROWS, n_sets[3])


def test_a_bound_on_the_number_of_sets(opened):
    for ex, rows in opened.values():
        plan = ex._study.plan(1)
        for order in range(1, plan.max_players + 1):
            sets = PlayerSets(plan, order, np.ones(len(plan.players), dtype=bool))
            assert len(ex.interaction_values(rows, max_order=order)) <= sets.max_sets(order)


def test_means_are_summed_in_steps_of_their_own(opened, monkeypatch):
    """How many rows are looked up at a time does not matter: sums are those of steps that depend on the model only."""
    ex, rows = opened["missing values"]
    many = pd.concat([rows] * 6, ignore_index=True)
    monkeypatch.setattr(_interactions, "STATES_IN_CACHE", 64)  # steps of 64 rows
    found = []
    for width in (64, 192, 1024):
        monkeypatch.setattr(_interactions, "MAX_WIDTH", width)
        found.append(ex.interaction_values(many)._means)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    monkeypatch.setattr(_interactions, "STATES_IN_CACHE", 2**22)
    assert not np.array_equal(found[0], ex.interaction_values(many)._means)


def test_tables_of_more_entries_than_16_bits_can_number():
    n_seats = 17
    states = np.zeros((n_seats, 32), dtype=np.uint16)
    states[:, :3] = np.random.default_rng(0).integers(0, 2, (n_seats, 3))
    table = np.arange(2.0**n_seats + 64)
    terms = np.arange(-1, n_seats, dtype=np.int32)
    lookups = _core.Lookups(
        group_order=np.zeros(1, dtype=np.int64),
        group_first=np.array([0, 1]),
        entry_term=np.array([n_seats], dtype=np.int32),
        entry_table=np.zeros(1, dtype=np.int64),
        rest=terms,
        seat=terms,
        state_first=np.arange(0, 2 * n_seats + 1, 2),
        table=table,
    )
    out = np.empty((1, 3))
    _core.look_up(states, 3, 32, lookups, 0, out, np.empty((3, 0)))
    places = states[::-1, :3].astype(np.int64).T @ (1 << np.arange(n_seats))  # the last seat has the smallest factor
    np.testing.assert_array_equal(out[0], places)
