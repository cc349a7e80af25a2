"""Trees given as arrays: the same predictions and curves as those of a library that has a reader."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import glasswood as gw
from helpers.adversarial import FINITE_OR_MISSING, hostile_array

STUMP = {"feature": [0, -1, -1], "cut": [1.5, 0, 0], "left": [1, -1, -1], "right": [2, -1, -1], "value": [9, 1, 2]}


def arrays_of(estimator, value):
    tree = estimator.tree_
    return {
        "feature": tree.feature,
        "cut": tree.threshold,
        "left": tree.children_left,
        "right": tree.children_right,
        "value": value(tree.value),
        "missing_left": tree.missing_go_to_left,
        "cover": tree.weighted_n_node_samples,
    }


def test_a_forest_of_numbers():
    X, y = load_diabetes(return_X_y=True)
    model = RandomForestRegressor(n_estimators=10, random_state=0).fit(X, y)
    trees = [arrays_of(tree, lambda value: value[:, 0, 0]) for tree in model]
    ensemble = gw.read_trees(trees, [f"x{k}" for k in range(10)], divisor=10, comparison="float32 <=")
    read = gw.read_model(model)
    hostile = hostile_array(X, read, odd=FINITE_OR_MISSING)
    assert (ensemble.predict(hostile) == model.predict(hostile)).all()
    one, other = gw.Explainer(ensemble, X), gw.Explainer(model, X)
    assert (one.partial_dependence(2).values == other.partial_dependence(2).values).all()
    one, other = gw.Explainer(ensemble), gw.Explainer(read)  # path-dependent
    assert (one.partial_dependence(2).values == other.partial_dependence(2).values).all()


def test_a_forest_of_classes():
    X, y = load_iris(return_X_y=True)
    model = RandomForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    trees = [arrays_of(tree, lambda value: value[:, 0]) for tree in model]
    ensemble = gw.read_trees(trees, list("abcd"), labels=[0, 1, 2], divisor=10, comparison="float32 <=")
    np.testing.assert_allclose(ensemble.predict(X), model.predict_proba(X), rtol=0, atol=1e-15)


def test_links_bases_and_outputs():
    rows = {"a": [1.0, 2.0]}
    yes = gw.read_trees([STUMP], ["a"], base=0.5, link="logistic", labels=["no", "yes"])
    assert yes.predict(rows).tolist() == [1.5, 2.5]
    found = gw.Explainer(yes, rows).partial_dependence("a", response="probability")([1.0])
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-1.5)))
    both = gw.read_trees(
        [STUMP | {"output": 0}, STUMP | {"output": 1}], ["a"], base=[0, 10], labels=["u", "v"], link="softmax"
    )
    assert both.predict(rows).tolist() == [[1, 11], [2, 12]]


FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(cut=st.floats(allow_nan=False, allow_infinity=False, min_value=-1e38, max_value=1e38), x=FLOATS)
@pytest.mark.parametrize("comparison", ["<=", "<", "float32 <=", "float32 <"])
def test_comparisons(comparison, cut, x):
    tree = STUMP | {"cut": [cut, 0, 0]}
    tries = np.array([x, cut, *(np.nextafter([x, cut], np.inf)), *(np.nextafter([x, cut], -np.inf))])
    with np.errstate(all="ignore"):
        values = tries.astype(np.float32).astype(np.float64) if comparison.startswith("float32") else tries
    left = values <= cut if comparison.endswith("=") else values < cut
    found = gw.read_trees([tree], ["a"], comparison=comparison).predict(tries[:, None])
    assert (found == np.where(left, 1.0, 2.0)).all()


def test_missing_values_go_right_by_default():
    rows = np.array([[np.nan]])
    assert gw.read_trees([STUMP], ["a"]).predict(rows).tolist() == [2]
    assert gw.read_trees([STUMP | {"missing_left": [True, False, False]}], ["a"]).predict(rows).tolist() == [1]


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"left": [1, -1]}, "tree 0 of the model is broken"),
        ({"left": [0, -1, -1]}, "not the child of exactly one node"),
        ({"left": [1.0, -1.0, -1.0]}, "'left' of tree 0 must be a list or an array of whole numbers"),
        ({"feature": [1, -1, -1]}, "features 1 to 1 for 1 column"),
        ({"value": [0, np.inf, 1]}, "some leaf value is not finite"),
        ({"cut": [np.nan, 0, 0]}, "some cut is NaN"),
        ({"threshold": [1, 2, 3]}, "tree 0 has 'threshold', which is not among feature, cut"),
    ],
)
def test_refusals(changed, says):
    with pytest.raises(gw.errors.UnsupportedModelError, match=says):
        gw.read_trees([STUMP | changed], ["a"])


def test_more_refusals():
    with pytest.raises(gw.errors.UnsupportedModelError, match="tree 0 has no 'value'"):
        gw.read_trees([{name: part for name, part in STUMP.items() if name != "value"}], ["a"])
    with pytest.raises(gw.errors.UnsupportedModelError, match="say which it adds to with 'output'"):
        gw.read_trees([STUMP], ["a"], labels=["u", "v", "w"])
    with pytest.raises(gw.errors.UnsupportedModelError, match="no trees"):
        gw.read_trees([], ["a"])
    with pytest.raises(gw.errors.ArgumentError, match="comparison must be one of"):
        gw.read_trees([STUMP], ["a"], comparison=">")
    with pytest.raises(gw.errors.ArgumentError, match="link must be one of"):
        gw.read_trees([STUMP], ["a"], link="probit")
