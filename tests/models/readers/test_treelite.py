"""Treelite models are read as treelite's own inference (GTIL) takes them, bit for bit."""

from __future__ import annotations

import dataclasses
import gc
from collections.abc import Callable
from functools import partial
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import treelite
import xgboost as xgb
from sklearn.ensemble import (
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from threadpoolctl import threadpool_limits
from treelite.model_builder import Metadata, ModelBuilder, PostProcessorFunc, TreeAnnotation

import glasswood as gw
from glasswood.errors import ModelMismatchError, TableError, UnsupportedModelError
from glasswood.models.readers._dispatch import check
from helpers.adversarial import hostile_array
from zoo.treelite_models import (
    CONFIGURATIONS,
    EVERYTHING,
    FOREST,
    HISTOGRAM,
    absent_class,
    codes,
    lightgbm,
    numbers,
    raw,
    xgboost,
)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_bit_for_bit(prove, name):
    model, X = CONFIGURATIONS[name]()
    hostile = partial(hostile_array, X, odd=EVERYTHING, max_=4000)
    prove(model, raw, hostile, rows=X)


def build(
    trees, *, type="float64", classes=(1,), target=None, label=None, base=0.0, postprocessor="identity", **metadata
):
    """Build a treelite model by hand, of trees that are lists of nodes: a test is a dict, a leaf is its value."""
    zeros = [0] * len(trees)
    metadata = {"average_tree_output": False, "task_type": "kRegressor", "leaf_vector_shape": (1, 1)} | metadata
    builder = ModelBuilder(
        threshold_type=type,
        leaf_output_type=type,
        metadata=Metadata(num_feature=2, num_target=len(classes), num_class=[*classes], **metadata),
        tree_annotation=TreeAnnotation(len(trees), target or zeros, label or zeros),
        postprocessor=PostProcessorFunc(postprocessor),
        base_scores=[base] * (len(classes) * max(classes)),
    )
    for tree in trees:
        builder.start_tree()
        for key, node in enumerate(tree):
            builder.start_node(key)
            if isinstance(node, dict):
                test = builder.categorical_test if "category_list" in node else builder.numerical_test
                test(**{"feature_id": 0, "default_left": False, "left_child_key": 1, "right_child_key": 2} | node)
            else:
                builder.leaf(node)
            builder.end_node()
        builder.end_tree()
    return builder.commit()


def stump(opname="<", threshold=0.1, leaves=(1.0, 2.0), **node):
    return [{"opname": opname, "threshold": threshold} | node, *leaves]


@pytest.mark.parametrize("type", ["float32", "float64"])
@pytest.mark.parametrize("default_left", [False, True])
def test_operators(prove, type, default_left):
    cuts = (0.1, 0.0, -1e-40, 1e-310, np.inf)
    tests = [(opname, cut) for opname in ("<", "<=", ">", ">=") for cut in cuts] + [(">", -np.inf), ("<=", -np.inf)]
    trees = [
        stump(opname, cut, (0.0, 2.0**k), default_left=default_left, feature_id=k % 2)
        for k, (opname, cut) in enumerate(tests)
    ]
    prove(build(trees, type=type), raw, lambda e: hostile_array(np.zeros((9, 2)), e, odd=EVERYTHING))


@pytest.mark.parametrize("type", ["float32", "float64"])
@pytest.mark.parametrize("default_left", [False, True])
@pytest.mark.parametrize("right", [False, True])
def test_category_lists(prove, type, default_left, right):
    node = {"default_left": default_left, "category_list_right_child": right}
    trees = [[node | {"category_list": listed}, 0.0, 2.0**k] for k, listed in enumerate(([0, 3, 70], [2], [0, 1]))]
    model = build(trees, type=type)
    prove(model, raw, lambda e: hostile_array(np.zeros((9, 2)), e, odd=EVERYTHING))


LEAVES = {
    "vectors of one number": {"trees": [stump(leaves=([1.0], [2.0]))]},
    "all classes": {"leaf_vector_shape": (1, 3), "classes": (3,), "label": [-1, -1], "target": [0, 0]},
    "all targets": {"leaf_vector_shape": (3, 1), "classes": (1, 1, 1), "label": [0, 0], "target": [-1, -1]},
    "all classes of a target": {"leaf_vector_shape": (1, 3), "classes": (3, 2), "label": [-1, -1], "target": [0, 1]},
    "one class of all targets": {
        "leaf_vector_shape": (3, 1),
        "classes": (2, 2, 2),
        "label": [1, 0],
        "target": [-1, -1],
    },
    "one class of a target": {
        "trees": [stump(), stump(leaves=(4.0, 8.0))],
        "classes": (3, 2),
        "label": [2, 0],
        "target": [0, 1],
    },
}


@pytest.mark.parametrize("name", LEAVES)
def test_leaves(prove, name):
    trees = [
        stump(leaves=([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])),
        stump(threshold=1.0, leaves=([7.0, 8.0, 9.0], [0.0] * 3)),
    ]
    model = build(**{"trees": trees, "base": 0.5} | LEAVES[name])
    prove(model, raw, lambda e: hostile_array(np.zeros((9, 2)), e))


LINKS = {
    "identity": lambda score: score,
    "exp": np.exp,
    "logistic": lambda score: 1 / (1 + np.exp(-score)),
    "softmax": lambda score: np.exp(score) / np.exp(score).sum(axis=1, keepdims=True),
}
SCORES = {
    "XGBoost": ("value", "identity", ("prediction",)),
    "XGBoost, logistic": ("log-odds", "logistic", (0, 1)),
    "XGBoost, poisson": ("log of the mean", "exp", ("prediction",)),
    "XGBoost, 3 classes": ("softmax margin", "softmax", (0, 1, 2)),
    "XGBoost, 2 targets": ("value", "identity", (0, 1)),
    "LightGBM, multiclassova": ("log-odds / 0.5", "logistic", (0, 1, 2)),
    "RandomForestClassifier": ("probability", "identity", (0, 1, 2)),
    "IsolationForest": ("mean depth", "unknown", ("prediction",)),
}


@pytest.mark.parametrize("name", SCORES)
def test_link_leads_to_predict(name):
    model, X = CONFIGURATIONS[name]()
    ensemble = gw.read_model(model)
    score = ensemble.score
    assert (score.units, score.link, score.labels) == SCORES[name]
    if score.link != "unknown":
        ours = LINKS[score.link](score.link_scale * ensemble.predict(X))
        np.testing.assert_allclose(ours, treelite.gtil.predict(model, X).reshape(ours.shape), rtol=1e-5)


def test_names_of_several_targets():
    ensemble = gw.read_model(CONFIGURATIONS["RandomForestClassifier, 2 targets"]()[0])
    assert ensemble.score.labels == ("y0=0", "y0=1", "y0=2", "y1=0", "y1=1")


def test_classes_without_average_are_no_probabilities():
    model = build([stump()] * 2, classes=(2,), label=[0, 1], task_type="kMultiClf", postprocessor="identity_multiclass")
    assert gw.read_model(model).score.units == "score"


def test_covers():
    X, y = numbers()
    forest = RandomForestRegressor(**FOREST).fit(X, y)
    model = treelite.sklearn.import_model(forest)
    ensemble = gw.read_model(model)
    assert ensemble.cover is not None
    weights = np.concatenate([e.tree_.weighted_n_node_samples[e.tree_.children_left < 0] for e in forest.estimators_])
    np.testing.assert_array_equal(np.sort(ensemble.leaf_cover), np.sort(weights))
    stumps = gw.read_model(absent_class()[0])
    np.testing.assert_array_equal(stumps.cover[stumps.root[0::4]], 300)
    assert gw.read_model(build([stump()])).cover is None


def test_arrays_outlive_the_model():
    # Treelite's accessors give views that do not keep the model alive (model-semantics 1.3).
    model, X = xgboost()
    expected = raw(model, X)
    ensemble = gw.read_model(model)
    del model
    gc.collect()
    _ = [lightgbm() for _ in range(3)]
    np.testing.assert_array_equal(ensemble.predict(X), expected)


def test_absent_entries_of_sparse_matrices_are_missing():
    X, _ = numbers()
    X[X < 0] = 0.0
    model, _ = xgboost()
    table = scipy.sparse.csr_matrix(X)
    ensemble = gw.read_model(model, table)
    np.testing.assert_array_equal(ensemble.predict(table), raw(model, table))
    assert (ensemble.predict(table) != ensemble.predict(X)).any()


def test_frames_are_read_by_position():
    model, X = lightgbm()
    for frame in (pd.DataFrame(X), pl.DataFrame(X), pl.DataFrame(X).to_arrow()):
        np.testing.assert_array_equal(gw.read_model(model, frame).predict(frame), raw(model, X))
    with pytest.raises(TableError, match="4 columns"):
        gw.read_model(model, X[:, :4])


def test_tampered_ensemble_is_refused():
    for name in ("LightGBM", "XGBoost"):
        model, X = CONFIGURATIONS[name]()
        ensemble = gw.read_model(model, X)
        cut, value = ensemble.cut.copy(), ensemble.value.copy()
        cut[ensemble.root[0]] += 0.5
        value[ensemble.leaf_cover.argmax()] += 1e-3
        for tampered in (dataclasses.replace(ensemble, cut=cut), dataclasses.replace(ensemble, value=value)):
            with pytest.raises(ModelMismatchError, match="treelite Model"):
                check(tampered, model, X)


def forgotten_zero():
    X, y = numbers()
    X[::3, 0] = 0.0
    booster = lgb.train({"verbose": -1, "num_threads": 1, "zero_as_missing": True}, lgb.Dataset(X, y), 8)
    return treelite.frontend.from_lightgbm(booster), X, booster.predict(X, raw_score=True)


def forgotten_float32():
    X, y = numbers()
    forest = RandomForestRegressor(**FOREST).fit(X, y)
    cuts = np.concatenate([e.tree_.threshold[e.tree_.feature == 0] for e in forest.estimators_])
    X[:, 0] = np.resize(np.nextafter(cuts, np.inf), len(X))  # some of these are below the cut in float32
    return treelite.sklearn.import_model(forest), X, forest.predict(X)


def forgotten_best_iteration():
    X, y = numbers()
    y = y + np.random.default_rng(2).normal(size=len(y)) * 3
    model = xgb.XGBRegressor(n_estimators=60, early_stopping_rounds=3, learning_rate=0.5, n_jobs=1)
    model.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])], verbose=False)
    return treelite.frontend.from_xgboost(model.get_booster()), X, model.predict(X)


def forgotten_unseen_categories():
    X, y = codes()
    X = np.nan_to_num(X)  # treelite's importer stumbles over a missing category
    model = HistGradientBoostingRegressor(**HISTOGRAM, categorical_features=[1, 2])
    with threadpool_limits(1):
        model.fit(X, y)
        X[:, 1:] = 200.0
        return treelite.sklearn.import_model(model), X, model.predict(X)


@pytest.mark.parametrize(
    "make", [forgotten_zero, forgotten_float32, forgotten_best_iteration, forgotten_unseen_categories]
)
def test_what_treelite_has_forgotten(make):
    # model-semantics 1.2: the model is read as GTIL takes it, and that is not what the original predicts.
    model, X, original = make()
    ours = gw.read_model(model, X).predict(X)
    np.testing.assert_array_equal(ours, raw(model, X))
    assert np.abs(ours - original).max() > 1e-3


def test_models_of_cuml():
    # A stand-in: cuML itself needs a GPU.
    model, X = lightgbm()
    forest = type("RandomForestRegressor", (), {"as_treelite": lambda self: model, "__module__": "cuml.ensemble"})()
    ensemble = gw.read_model(forest, X)
    assert ensemble.source == "cuml RandomForestRegressor"
    np.testing.assert_array_equal(ensemble.predict(X), raw(model, X))


CATEGORY = {"category_list": [1], "category_list_right_child": False}
TWO_LEAVES = {"label": [0, 0, 1], "classes": (2,), "task_type": "kMultiClf"}

REFUSALS: dict[str, tuple[Callable[[], Any], str]] = {
    "equal": (lambda: build([stump("==")]), "equals another"),
    "below minus infinity": (lambda: build([stump("<", -np.inf)]), "NaN"),
    "below minus infinity in float32": (lambda: build([stump("<", -np.inf)], type="float32"), "NaN"),
    "number and category": (lambda: build([stump(), [CATEGORY, 1.0, 2.0]]), "feature 0 as a number"),
    "one number for all classes": (
        lambda: build([stump()], classes=(3,), label=[-1]),
        "tree 0 .* does not match its outputs",
    ),
    "unequal averages": (lambda: build([stump()] * 3, average_tree_output=True, **TWO_LEAVES), r"\[2, 1\]"),
    "not a model": (lambda: PostProcessorFunc("identity"), "not a tree ensemble that treelite knows"),
    "no trees": (lambda: build([]), "no trees"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusal(name):
    make, words = REFUSALS[name]
    with pytest.raises(UnsupportedModelError, match=words):
        gw.read_model(make())


def damaged(name, field):
    """A model whose trees have another field than they should: what treelite makes of some damaged files."""
    model = build([stump()])

    class Accessor:
        def __init__(self, accessor):
            self.accessor = accessor

        def get_field(self, selected):
            return field() if selected == name else self.accessor.get_field(selected)

    class Damaged(type(model)):
        def __init__(self):
            pass

        def __del__(self):
            """Free nothing: the memory belongs to `model`."""

        def __getattribute__(self, attribute):
            if attribute in ("get_tree_accessor", "get_header_accessor"):
                return lambda *which: Accessor(getattr(model, attribute)(*which))
            return getattr(model, attribute)

    return Damaged()


def unknown_type():
    message = "Unrecognized format string: =b"
    raise RuntimeError(message)


@pytest.mark.parametrize("name", ["threshold", "num_class"])
def test_a_field_that_treelite_cannot_read_is_refused(name):
    with pytest.raises(UnsupportedModelError, match=f"damaged: its field '{name}' cannot be read .Unrecognized"):
        gw.read_model(damaged(name, unknown_type))


def test_more_covers_than_nodes_are_refused_before_they_are_copied():
    with pytest.raises(UnsupportedModelError, match="tree 0 has more covers than its 3 nodes"):
        gw.read_model(damaged("sum_hess", lambda: np.zeros(1000)))
