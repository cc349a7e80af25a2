"""Reads scikit-learn's trees, forests, bags of trees and both kinds of gradient boosting.

Trees and forests round the table to float32 and go left iff ``x <= threshold``; HistGradientBoosting compares in
float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import UnsupportedModelError
from glasswood.models._ensemble import CategorySets, Score, Tree, TreeEnsemble, stack
from glasswood.models._outputs import labels_of
from glasswood.models.readers._promises import promises_of
from glasswood.models.readers._rounding import cut_at_most
from glasswood.tables._columns import Column, LabelColumn, NumberColumn, is_missing
from glasswood.tables._given import pandas_of
from glasswood.tables._tables import Schema

__all__ = ["mean_depth", "raw_score", "read"]

TREES = ("DecisionTreeRegressor", "DecisionTreeClassifier")
FORESTS = ("ForestRegressor", "ForestClassifier")
BAGS = ("BaggingRegressor", "BaggingClassifier")
GRADIENT = ("GradientBoostingRegressor", "GradientBoostingClassifier")
HISTOGRAM = ("BaseHistGradientBoosting",)
ISOLATION = ("IsolationForest",)

# Every part of a tree that is understood; a tree with others, of a later release, is refused.
TREE_PARTS = {"max_depth", "node_count", "nodes", "values"}
NODE_PARTS = {"left_child", "right_child", "feature", "threshold", "impurity", "n_node_samples"}
NODE_PARTS |= {"weighted_n_node_samples", "missing_go_to_left"}
HISTOGRAM_PARTS = {"value", "count", "feature_idx", "num_threshold", "missing_go_to_left", "left", "right", "gain"}
HISTOGRAM_PARTS |= {"depth", "is_leaf", "bin_threshold", "is_categorical", "bitset_idx"}


def read(model: object) -> TreeEnsemble:
    """Return a fitted scikit-learn model as arrays."""
    parents = [parent.__name__ for parent in type(model).__mro__]
    for names, reader in (
        (ISOLATION, _read_isolation),
        (TREES, _read_tree),
        (FORESTS, _read_forest),
        (BAGS, _read_bag),
        (GRADIENT, _read_gradient),
        (HISTOGRAM, _read_histogram),
    ):
        if any(name in parents for name in names):
            _check_fitted(model)
            return _with_promises(reader(model), model)
    message = (
        f"sklearn {type(model).__name__} is not supported. Supported are decision trees, random forests, extra trees, "
        "bagging of trees, gradient boosting, histogram gradient boosting and isolation forests. "
        + _ADVICE.get(type(model).__name__, _trees_or_none(model))
    )
    raise UnsupportedModelError(message)


def _with_promises(ensemble: TreeEnsemble, model: Any) -> TreeEnsemble:
    """Return a model with the constraints that its parameters tell; those of two probabilities are of the second."""
    given = getattr(model, "monotonic_cst", None)
    promised = promises_of(given, ensemble.feature_names, ensemble.n_outputs)
    if promised is not None and ensemble.score.binary and ensemble.n_outputs == 2:
        promised = promised * np.array([-1, 1], dtype=np.int8)
    return ensemble if promised is None else replace(ensemble, promised=promised)


_ADVICE = {
    "AdaBoostRegressor": "Its prediction is a weighted median of trees, which is not a sum over trees.",
    "AdaBoostClassifier": "Its score is a sum of votes; explain its estimators_ one by one.",
    "Pipeline": "Pass its last step, model[-1], with the transformed table, model[:-1].transform(X).",
    "GridSearchCV": "Pass its best_estimator_.",
    "RandomizedSearchCV": "Pass its best_estimator_.",
}


def _trees_or_none(model: object) -> str:
    if hasattr(model, "estimators_"):
        return "Pass the fitted trees in its estimators_ one by one."
    return "Glasswood explains sums of trees only; for other models see sklearn.inspection, or the package shap."


def raw_score(model: Any, table: Any) -> NDArray[np.floating[Any]]:
    """Return the raw score that scikit-learn gives: probabilities, decision values, predictions, or mean depth."""
    if type(table).__module__.startswith("pyarrow"):
        table = pandas_of(table)  # scikit-learn itself reads a null in a column of categories as the last category
    name = {parent.__name__ for parent in type(model).__mro__}
    if "IsolationForest" in name:
        return mean_depth(model.score_samples(table), model)
    if "BaseHistGradientBoosting" in name:
        scores = model._raw_predict(table, n_threads=1)  # its threads cost more than a hundred rows
        return np.asarray(scores[:, 0] if scores.shape[1] == 1 else scores)
    if "GradientBoostingClassifier" in name:
        return np.asarray(model.decision_function(table))
    if hasattr(model, "classes_"):
        probabilities = model.predict_proba(table)
        return np.hstack(probabilities) if isinstance(probabilities, list) else np.asarray(probabilities)
    return np.asarray(model.predict(table))


def mean_depth(samples: Any, forest: Any) -> NDArray[np.floating[Any]]:
    """Return the mean depth of rows, given what `score_samples` of an isolation forest returns."""
    from sklearn.ensemble._iforest import _average_path_length

    return np.asarray(-np.log2(-samples) * _average_path_length([forest._max_samples]))


def _check_fitted(model: object) -> None:
    if not any(hasattr(model, name) for name in ("tree_", "estimators_", "_predictors")):
        message = f"this {type(model).__name__} is not fitted; call fit first"
        raise UnsupportedModelError(message)


def _schema(model: Any) -> Schema:
    named = hasattr(model, "feature_names_in_")
    texts = map(str, model.feature_names_in_) if named else (f"x{j}" for j in range(model.n_features_in_))
    return Schema(tuple(NumberColumn(text) for text in texts), named=named)


def _source(model: object) -> str:
    return f"sklearn {type(model).__name__}"


def _tree(
    tree: Any, feature_of: NDArray[np.intp] | None = None, value: NDArray[np.floating[Any]] | None = None
) -> Tree:
    """Return one `tree_`; `feature_of` translates its features where the tree saw only some of them."""
    left = tree.children_left
    _check_tree(tree)
    feature = tree.feature
    if feature_of is not None:
        feature = feature_of[_in_range(np.where(left < 0, 0, feature), len(feature_of))]
    missing = getattr(tree, "missing_go_to_left", None)
    return Tree(
        feature=feature,
        cut=tree.threshold,
        left=left,
        right=tree.children_right,
        missing_left=np.zeros(left.size, dtype=bool) if missing is None else missing,
        value=_leaf_values(tree) if value is None else value,
        cover=tree.weighted_n_node_samples,
        round_cut=cut_at_most,
        n_leaves=(left.size + 1) // 2,  # every inner node has two children
    )


def _check_tree(tree: Any) -> None:
    """Raise if a tree has parts that are not understood, as splits on categories are in releases to come."""
    state = tree.__getstate__()
    _check_parts(set(state) - TREE_PARTS | set(state["nodes"].dtype.names) - NODE_PARTS)
    if np.isneginf(tree.threshold).any():
        message = (
            "a tree has a split at minus infinity, which stands for a split on categories; these are not supported yet"
        )
        raise UnsupportedModelError(message)


def _check_parts(unknown: set[str]) -> None:
    if unknown:
        message = (
            f"the trees of this scikit-learn have parts that Glasswood does not know: {', '.join(sorted(unknown))}; "
            "install a later Glasswood, or the scikit-learn that it was made for, and fit again"
        )
        raise UnsupportedModelError(message)


def _in_range(numbers: NDArray[np.integer[Any]], end: int | NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    """Return features or children, if none of them is beyond its tree or table."""
    if numbers.size and not (numbers.min() >= 0 and np.all(numbers < end)):
        message = "a tree of the model is broken: a feature or a child is out of range; fit the model again"
        raise UnsupportedModelError(message)
    return numbers


def _leaf_values(tree: Any) -> NDArray[np.float64]:
    """Return the values of all nodes, the (target, class) pairs that exist side by side."""
    value: NDArray[np.float64] = tree.value
    if value.shape[2] == 1:
        return value[:, :, 0]
    if value.shape[1] == 1:
        return value[:, 0, :]
    # Targets with fewer classes than others are padded with zeros.
    return np.concatenate([value[:, target, :count] for target, count in enumerate(tree.n_classes)], axis=1)


def _labels(model: object) -> tuple[Any, ...]:
    """Return the labels of the outputs of a tree or forest: classes, numbers of targets, or "prediction"."""
    n_targets = getattr(model, "n_outputs_", 1)
    if not hasattr(model, "classes_"):
        return ("prediction",) if n_targets == 1 else tuple(range(n_targets))
    if n_targets == 1:
        return labels_of(model.classes_)
    return tuple(f"y{k}={label}" for k, labels in enumerate(model.classes_) for label in labels)


def _averaged(model: object, trees: Iterator[Tree], n_trees: int) -> TreeEnsemble:
    labels = _labels(model)
    classes, several = hasattr(model, "classes_"), getattr(model, "n_outputs_", 1) > 1
    score = Score(
        base=np.zeros(len(labels)),
        labels=labels,
        units="probability" if classes else "value",
        divisor=float(n_trees),
        binary=classes and len(labels) == 2 and getattr(model, "n_outputs_", 1) == 1,
        target_classes=tuple(map(labels_of, getattr(model, "classes_", ()))) if several and classes else (),
    )
    return TreeEnsemble(**stack(trees), schema=_schema(model), score=score, source=_source(model))


def _read_tree(model: Any) -> TreeEnsemble:
    return _averaged(model, iter([_tree(model.tree_)]), 1)


def _read_forest(model: Any) -> TreeEnsemble:
    return _averaged(model, (_tree(e.tree_) for e in model.estimators_), len(model.estimators_))


def _read_bag(model: Any) -> TreeEnsemble:
    """Return a bag of single trees; each may have seen some of the features and some of the classes."""
    for estimator in model.estimators_:
        if not any(parent.__name__ in TREES for parent in type(estimator).__mro__):
            message = (
                f"{type(model).__name__} of {type(estimator).__name__} is not supported, only bags of decision trees. "
                "Pass its estimators_ one by one."
            )
            raise UnsupportedModelError(message)
    n_classes = model.n_classes_ if hasattr(model, "classes_") else None

    def trees() -> Iterator[Tree]:
        for estimator, features in zip(model.estimators_, model.estimators_features_, strict=True):
            value = _leaf_values(estimator.tree_)
            if n_classes is not None and value.shape[1] != n_classes:
                seen = np.zeros((len(value), n_classes))
                seen[:, estimator.classes_.astype(np.intp)] = value
                value = seen
            yield _tree(estimator.tree_, np.asarray(features), value)

    return _averaged(model, trees(), len(model.estimators_))


def _read_isolation(model: Any) -> TreeEnsemble:
    """Return an isolation forest; the raw score is the mean depth at which a row is isolated."""

    def trees() -> Iterator[Tree]:
        # What scikit-learn keeps, and scores with: the depth of each node, and the mean depth below it.
        depths = zip(model._decision_path_lengths, model._average_path_length_per_tree, strict=True)
        members = zip(model.estimators_, model.estimators_features_, depths, strict=True)
        sampled = model._max_features != model.n_features_in_  # otherwise scikit-learn looks at no list of features
        for estimator, features, (depth, below) in members:
            yield _tree(estimator.tree_, np.asarray(features) if sampled else None, depth + below - 1.0)

    score = Score(
        base=np.zeros(1), labels=("depth",), units="mean depth", link="unknown", divisor=float(len(model.estimators_))
    )
    return TreeEnsemble(**stack(trees()), schema=_schema(model), score=score, source=_source(model))


def _read_gradient(model: Any) -> TreeEnsemble:
    """Return a GradientBoosting model: a constant, then one tree per stage and output."""
    init = model.init_
    if isinstance(init, str):
        base = np.zeros(model.estimators_.shape[1])
    elif type(init).__name__ in ("DummyClassifier", "DummyRegressor"):
        base = model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32)).ravel()
    else:
        message = (
            f"{type(model).__name__} with init={type(init).__name__}: the first prediction depends on the row, and is "
            "not a sum over trees. Fit with init=None or init='zero'."
        )
        raise UnsupportedModelError(message)
    trees = (
        _tree(estimator.tree_, value=model.learning_rate * estimator.tree_.value[:, 0, 0])._replace(output=k)
        for stage in model.estimators_
        for k, estimator in enumerate(stage)
    )
    score = _boosted_score(model, base)
    if getattr(model, "loss", None) == "exponential":
        score = replace(score, link_scale=2.0, units=f"{score.units} / 2")
    return TreeEnsemble(**stack(trees), schema=_schema(model), score=score, source=_source(model))


def _boosted_score(model: object, base: NDArray[np.float64]) -> Score:
    if not hasattr(model, "classes_"):
        if getattr(model, "loss", None) in ("poisson", "gamma"):
            return Score(base=base, labels=("prediction",), units="log of the mean", link="exp")
        return Score(base=base, labels=("prediction",), units="value")
    labels = labels_of(model.classes_)
    if len(labels) == 1:
        message = f"this {type(model).__name__} was trained with one class, {labels[0]!r}; there is nothing to explain"
        raise UnsupportedModelError(message)
    if base.size == 1:
        return Score(base=base, labels=labels, units="log-odds", link="logistic", binary=True)
    return Score(base=base, labels=labels, units="softmax margin", link="softmax")


def _read_histogram(model: Any) -> TreeEnsemble:
    """Return a HistGradientBoosting model, with its categories in the user's own values."""
    base = np.asarray(model._baseline_prediction, dtype=np.float64).ravel()
    columns, original = _histogram_columns(model)
    predictors = [predictor for iteration in model._predictors for predictor in iteration]
    sets = CategorySets()
    first = np.cumsum([0, *(len(predictor.nodes) for predictor in predictors)])
    arrays = stack([_histogram_trees(predictors, first[:-1], columns, original, sets)], sets)
    # They were taken apart as if they were one tree; these are the roots.
    inner = ~np.concatenate([predictor.nodes["is_leaf"] for predictor in predictors]).astype(bool)
    at, before = first[:-1], np.cumsum(inner) - inner
    arrays["root"] = np.where(inner[at], before[at], ~(at - before[at])).astype(np.int32)
    arrays["tree_output"] = np.arange(len(predictors), dtype=np.int32) % base.size
    schema = replace(_schema(model), columns=columns)
    return TreeEnsemble(**arrays, schema=schema, score=_boosted_score(model, base), source=_source(model))


def _histogram_columns(model: Any) -> tuple[tuple[Column, ...], NDArray[np.intp]]:
    """Return the columns in the user's order, and the user's number of each of the model's internal columns."""
    plain = _schema(model).columns
    categorical = model.is_categorical_
    if categorical is None:
        return plain, np.arange(len(plain))
    # Inside the model, columns of categories come first.
    original = np.concatenate([np.flatnonzero(categorical), np.flatnonzero(~categorical)])
    columns = list(plain)
    encoder = _category_encoder(model._preprocessor, categorical)
    for j, categories in zip(np.flatnonzero(categorical), encoder.categories_, strict=True):
        labels = tuple(label for label in categories.tolist() if not is_missing(label))
        columns[j] = LabelColumn(plain[j].name, labels)
    return tuple(columns), original


def _category_encoder(preprocessor: Any, categorical: NDArray[np.bool_]) -> Any:
    """Return the encoder of the columns of categories if the other columns are appended unchanged."""
    (first, encoder, coded), (second, _, others) = preprocessor.transformers_[:2]
    if (
        (first, second) != ("encoder", "numerical")
        or not np.array_equal(coded, categorical)
        or not np.array_equal(others, ~categorical)
    ):
        message = "the model's own encoder takes other columns than those that are its categories; the model is damaged"
        raise UnsupportedModelError(message)
    return encoder


def _histogram_trees(
    predictors: list[Any],
    first: NDArray[np.int64],
    columns: tuple[Column, ...],
    original: NDArray[np.intp],
    sets: CategorySets,
) -> Tree:
    """Return all trees concatenated as one, to avoid a call for each small tree."""
    for predictor in predictors[:1]:
        _check_parts(set(predictor.nodes.dtype.names) - HISTOGRAM_PARTS)
    nodes = np.concatenate([predictor.nodes for predictor in predictors])
    start = np.repeat(first, np.diff(np.append(first, len(nodes))))
    leaf = nodes["is_leaf"].astype(bool)
    size = np.repeat(np.diff(np.append(first, len(nodes))), np.diff(np.append(first, len(nodes))))
    for side in ("left", "right"):
        _in_range(np.where(leaf, 0, nodes[side]), size)
    feature = original[_in_range(np.where(leaf, 0, nodes["feature_idx"]), len(original))]
    missing_left = nodes["missing_go_to_left"].astype(bool)
    category_set = np.full(len(nodes), -1, dtype=np.int32)
    for node in np.flatnonzero(nodes["is_categorical"].astype(bool) & ~leaf):
        predictor = predictors[np.searchsorted(first, node, side="right") - 1]
        bits = predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]]
        left = np.unpackbits(bits.astype("<u4").view(np.uint8), bitorder="little").astype(bool)
        category_set[node] = sets.add(left[: columns[feature[node]].n_codes])
    return Tree(
        feature=feature,
        cut=nodes["num_threshold"],
        left=np.where(leaf, -1, start + nodes["left"]),
        right=start + nodes["right"],
        missing_left=missing_left,
        value=nodes["value"],
        cover=nodes["count"],
        category_set=category_set,
        unseen_left=missing_left,  # an unknown category goes where missing values go
    )
