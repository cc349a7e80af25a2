"""TreeEnsemble: its predictions are its definition, and malformed trees are refused."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_regression
from sklearn.ensemble import RandomForestRegressor

import glasswood as gw
from glasswood.errors import UnsupportedModelError
from glasswood.models import _ensemble
from glasswood.models._ensemble import BLOCK, CategorySets, Score, Tree, TreeEnsemble, stack
from glasswood.tables._columns import CodeColumn
from glasswood.tables._tables import Schema
from helpers import oracle
from helpers.strategies import ensembles, tables
from helpers.stumps import stump


@given(ensembles(), st.integers(0, 40), st.integers(0, 2**32 - 1))
def test_predict_is_the_definition(ensemble, n_rows, seed):
    table = tables(ensemble, n_rows, seed)
    predicted = ensemble.predict(table)
    expected = oracle.predict(ensemble, table)
    assert predicted.dtype == expected.dtype
    np.testing.assert_array_equal(predicted, expected)


def test_a_stump_at_its_cut():
    above = np.nextafter(0.5, 1.0)
    table = np.array([[0.5], [above], [np.nan], [np.inf], [-np.inf]])
    np.testing.assert_array_equal(stump().predict(table), [-1.0, 1.0, -1.0, 1.0, -1.0])


def test_many_blocks_of_rows():
    x = np.random.default_rng(0).random((3 * BLOCK + 5, 1))
    np.testing.assert_array_equal(stump().predict(x), np.where(x[:, 0] <= 0.5, -1.0, 1.0))


def test_it_is_frozen_all_the_way_down():
    ensemble = stump()
    with pytest.raises(FrozenInstanceError):
        ensemble.cut = np.zeros(1)
    for array in (ensemble.cut, ensemble.value, ensemble.score.base):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7.0


def test_equal_category_sets_are_stored_once():
    sets = CategorySets()
    wide = np.arange(130) % 3 == 0
    assert [sets.add(wide), sets.add(~wide), sets.add(wide)] == [0, 3, 0]
    assert sets.words.size == 6


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"left": np.array([-2], dtype=np.int32)}, "some node or leaf is not the child of exactly one node"),
        (
            {"root": np.zeros(2, np.int32), "tree_output": np.zeros(2, np.int32)},
            "some node or leaf is not the child of exactly one node",
        ),
        ({"left": np.array([-9], dtype=np.int32)}, "some node or leaf is not the child of exactly one node"),
        ({"feature": np.array([3], dtype=np.int32)}, "features 3 to 3 for 1 column"),
        ({"value": np.array([[np.nan], [1.0]])}, "some leaf value is not finite"),
        ({"cut": np.array([np.nan])}, "some cut is NaN"),
        ({"value": np.ones((2, 2))}, "leaves have 2 values for 1 output"),
        ({"tree_output": np.array([4], dtype=np.int32)}, "a tree adds to output 4 of 1"),
        ({"tree_output": np.array([-2], dtype=np.int32)}, "a tree adds to output -2 of 1"),
        ({"tree_output": np.array([0, 0], dtype=np.int32)}, "2 outputs for 1 tree"),
        ({"cut": np.zeros(2)}, "the arrays of nodes differ in length"),
        ({"root": np.empty(0, dtype=np.int32), "tree_output": np.empty(0, dtype=np.int32)}, "there are no trees"),
        ({"cover": np.array([np.inf]), "leaf_cover": np.ones(2)}, "some cover is not finite"),
        ({"category_set": np.array([0], dtype=np.int32)}, "a category split on a column of numbers"),
        ({"schema": Schema((CodeColumn("x", 3),))}, "a cut on a column of categories"),
        (
            {"schema": Schema((CodeColumn("x", 3),)), "category_set": np.array([0], dtype=np.int32)},
            "a category set is cut short",
        ),
    ],
)
def test_malformed_trees_are_refused(changes, says):
    with pytest.raises(UnsupportedModelError, match=f"by hand is not well formed: {says}"):
        stump(**changes)


def chain(left, right, n_leaves, root=0):
    """Return an ensemble of one tree with the given children of inner nodes."""
    n = len(left)
    made = stump()
    score = replace(made.score, labels=("prediction",))
    return TreeEnsemble(
        root=np.array([root], dtype=np.int32),
        tree_output=np.zeros(1, dtype=np.int32),
        feature=np.zeros(n, dtype=np.int32),
        cut=np.arange(n, dtype=np.float64),
        left=np.array(left, dtype=np.int32),
        right=np.array(right, dtype=np.int32),
        missing_left=np.zeros(n, dtype=bool),
        category_set=np.full(n, -1, dtype=np.int32),
        unseen_left=np.zeros(n, dtype=bool),
        words=made.words,
        value=np.arange(n_leaves, dtype=np.float64)[:, None],
        cover=None,
        leaf_cover=None,
        schema=made.schema,
        score=score,
        source="by hand",
    )


def test_cycles_that_no_root_reaches_are_refused():
    says = "some node or leaf is not the child of exactly one node, or is below no root"
    for left, right in (([-1, 1], [-2, -3]), ([-1, 2, 1], [-2, -3, -4]), ([2, 1, -1], [-2, -3, -4])):
        with pytest.raises(UnsupportedModelError, match=says):
            chain(left, right, len(left) + 1)


def test_parents_may_come_after_their_children():
    ensemble = chain([-1, 0, -2], [-3, 2, -4], 4, root=1)
    np.testing.assert_array_equal(ensemble.predict(np.array([[0.0], [0.5], [1.5], [2.5]])), [0.0, 2.0, 1.0, 3.0])
    n = 100_000  # a path from the last node to the first
    path = chain([-1, *range(n - 1)], [-k - 2 for k in range(n)], n + 1, root=n - 1)
    assert path.n_leaves == n + 1


def with_nodes(**changes):
    """Return the arrays of two trees, the second with some fields changed."""
    leaf = {name: np.zeros(3) for name in ("feature", "cut", "missing_left", "value")}
    tree = Tree(**leaf, left=np.array([1, -1, -1]), right=np.array([2, -1, -1]), cover=np.ones(3))
    return stack([tree, tree._replace(**changes)])


@pytest.mark.parametrize(
    "changes",
    [
        {"feature": np.zeros(2)},
        {"right": np.array([2, -1])},
        {"value": np.zeros((3, 400))},
        {"value": np.zeros(2)},
        {"cover": None},
        {"cover": np.ones(2)},
        {"left": np.array([2**40, -1, -1])},
        {"left": np.array([3, -1, -1])},
        {"right": np.array([3, -1, -1])},
        {"right": np.array([-1, -1, -1])},
        {"feature": np.array([2**32, 0, 0])},
        {"feature": np.array([-1, 0, 0])},
        {"left": np.empty(0, dtype=np.int64)},
    ],
)
def test_broken_trees_are_refused_before_they_are_taken_apart(changes):
    with pytest.raises(UnsupportedModelError, match="tree 1 of the model is broken"):
        with_nodes(**changes)


def test_covers_in_some_trees_only_are_refused():
    leaf = Tree(*(np.zeros(1) - (name == "left") for name in Tree._fields[:6]))
    with pytest.raises(UnsupportedModelError, match="tree 1 of the model is broken"):
        stack([leaf, leaf._replace(cover=np.ones(1))])


@pytest.mark.parametrize("wrong", [{"scale": np.inf}, {"divisor": 0.0}, {"link_scale": np.nan}, {"base": [np.inf]}])
def test_scores_that_are_no_numbers_are_refused(wrong):
    with pytest.raises(UnsupportedModelError, match="not finite, or divides by"):
        Score(**({"base": np.zeros(1), "labels": ("a",), "units": "value"} | wrong))


def test_no_trees_and_wrong_names_are_refused():
    with pytest.raises(UnsupportedModelError, match="no trees"):
        stack([])
    with pytest.raises(UnsupportedModelError, match="2 output labels for 1 base scores"):
        Score(base=np.zeros(1), labels=("a", "b"), units="value")


def test_repr_says_what_it_is():
    assert repr(stump()) == "TreeEnsemble(by hand: 1 tree, 2 leaves, 1 feature, 1 output, score: value)"


def test_large_forests_are_taken_apart_by_threads(monkeypatch):
    X, y = make_regression(300, 5, random_state=0)
    model = RandomForestRegressor(20, random_state=0).fit(X, y)
    one_by_one = gw.read_model(model)
    monkeypatch.setattr(_ensemble, "MANY_NODES", 0)
    together = gw.read_model(model)
    for name in ("root", "feature", "cut", "left", "right", "missing_left", "value", "cover", "leaf_cover"):
        np.testing.assert_array_equal(getattr(together, name), getattr(one_by_one, name))


def test_a_wrong_number_of_leaves_is_refused():
    leaf = Tree(*(np.zeros(1) - (name == "left") for name in Tree._fields[:6]), n_leaves=0)
    with pytest.raises(UnsupportedModelError, match="number of leaves is wrong"):
        stack([leaf])


def test_covers_that_do_not_fit_are_refused():
    with pytest.raises(UnsupportedModelError, match="3 and 2 covers for 1 nodes and 2 leaves"):
        stump(cover=np.ones(3), leaf_cover=np.ones(2))
