"""Reads LightGBM's boosters, scikit-learn wrappers and text model files, all through the model text.

A node goes left iff ``x <= threshold`` in float64, once numbers of at most 1e-35 in size have become 0; categories in
a node's set go left, all others right. Covers are the training rows that reached a node (``internal_count``,
``leaf_count``), as in LightGBM's own ``pred_contrib`` and in shap.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import MissingExtraError, TableError, UnsupportedModelError
from glasswood.models._ensemble import CategorySets, Link, Score, TreeEnsemble, int32
from glasswood.models._outputs import labels_of
from glasswood.models.readers._lightgbm_text import Fields, Text, check_not_read, decode, numbers, split, whole
from glasswood.models.readers._promises import promises_of
from glasswood.tables._columns import CodeColumn, Column, LabelColumn, NumberColumn
from glasswood.tables._given import pandas_of
from glasswood.tables._tables import Schema
from glasswood.text._printable import how_many

__all__ = ["load_file", "raw_score", "read", "read_file"]

ZERO = float(np.float32(1e-35))  # LightGBM's kZeroThreshold: what is not larger in size counts as 0
MANY_CODES = 2**20  # which a text may mention, whatever its size
MANY_BITS = 2**26  # of category sets
NO_MISSING, ZERO_MISSING, NAN_MISSING = 0, 1, 2  # bits 2 and 3 of a node's decision_type

# What the raw score of each objective is, and the link from it to what predict gives.
OBJECTIVES: dict[str, tuple[str, Link]] = {
    **dict.fromkeys(("regression", "regression_l1", "huber", "fair", "quantile", "mape"), ("value", "identity")),
    **dict.fromkeys(("poisson", "gamma", "tweedie"), ("log of the mean", "exp")),
    **dict.fromkeys(("binary", "multiclassova", "cross_entropy"), ("log-odds", "logistic")),
    **dict.fromkeys(("lambdarank", "rank_xendcg"), ("ranking score", "identity")),
    "multiclass": ("softmax margin", "softmax"),
    "cross_entropy_lambda": ("score", "unknown"),  # predict gives log(1 + exp(score))
    "custom": ("score", "identity"),  # no objective in the text: predict returns the raw score
}


def read(model: object) -> TreeEnsemble:
    """Return a fitted Booster, LGBMRegressor, LGBMClassifier or LGBMRanker as arrays.

    Only the iterations that predict uses by default are read: up to the best one after early stopping.
    """
    booster = _booster(model)
    labels = labels_of(getattr(model, "classes_", ()))
    if len(labels) == 1:  # which LightGBM numbers 0, the class that has no score
        message = f"this {type(model).__name__} was trained with one class, {labels[0]!r}; there is nothing to explain"
        raise UnsupportedModelError(message)
    ensemble = _read_text(booster.model_to_string(), f"lightgbm {type(model).__name__}", labels)
    return replace(ensemble, schema=replace(ensemble.schema, rounds_objects=booster is model))


def raw_score(model: Any, table: Any) -> NDArray[np.floating[Any]]:
    """Return the raw score that LightGBM gives; the average over iterations for random forests, as in predict."""
    booster = _booster(model)
    if type(table).__module__.startswith("pyarrow."):
        table = pandas_of(table)  # LightGBM itself takes no dictionaries of Arrow's
    if not booster.pandas_categorical and any(str(dtype) == "category" for dtype in getattr(table, "dtypes", ())):
        message = (
            "the model was trained without pandas' categories; LightGBM would take the codes of those in this table "
            "for their values. Pass numbers, as in training"
        )
        raise TableError(message)
    # LightGBM's own method: a class of the user's may predict in its own way.
    bases: list[Any] = [base for base in type(model).__mro__ if base.__module__.startswith("lightgbm.")]
    own = next(base for base in reversed(bases) if "predict" in vars(base))
    scores = np.asarray(own.predict(model, table, raw_score=True), dtype=np.float64)
    if "\naverage_output\n" in booster.model_to_string(num_iteration=1).partition("\nTree=")[0]:
        scores /= booster.best_iteration if booster.best_iteration > 0 else booster.current_iteration()
    return scores


def read_file(path: Path) -> TreeEnsemble:
    """Return a text model file as arrays, without LightGBM."""
    return _read_text(decode(path.read_bytes()), "lightgbm file", ())


def load_file(path: Path) -> Any:
    """Return a text model file as a Booster."""
    try:
        import lightgbm
    except ImportError as error:
        raise MissingExtraError.of("lightgbm", extra="lightgbm", what=f"checking {path.name!r}") from error
    return lightgbm.Booster(model_file=path)


def _booster(model: Any) -> Any:
    """Return the Booster of any supported model."""
    parents = {parent.__name__ for parent in type(model).__mro__}
    name = type(model).__name__
    if "Booster" in parents:
        return model
    if "LGBMModel" not in parents or "_DaskLGBMModel" in parents:
        message = (
            f"lightgbm {name} is not supported. Supported are Booster, LGBMRegressor, LGBMClassifier, LGBMRanker. Pass "
            "one of the boosters of a CVBooster, and model.to_local() of a Dask model."
        )
        raise UnsupportedModelError(message)
    if model.get_params().get("pred_early_stop"):
        message = f"this {name} has pred_early_stop=True and leaves out trees for some rows. Pass model.booster_"
        raise UnsupportedModelError(message)
    booster = getattr(model, "booster_", None)  # LightGBM's not-fitted error is an AttributeError
    if booster is None:
        message = f"this {name} is not fitted; call fit first"
        raise UnsupportedModelError(message)
    return booster


class _Nodes(NamedTuple):
    """The inner nodes of all trees; `category_flags` has the codes that go left, by node number."""

    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    categorical: NDArray[np.bool_]
    default_left: NDArray[np.bool_]
    missing_type: NDArray[np.int64]
    category_flags: dict[int, NDArray[np.bool_]]


def _read_text(text: str, source: str, labels: tuple[Any, ...]) -> TreeEnsemble:
    try:
        parts = split(text)
        nodes = _nodes(parts.trees)
        columns = _columns(parts, nodes)
        score = _score(parts.header, len(parts.trees), labels)
        _check_claims(nodes, columns, len(text))
        check_not_read(parts.trees)
        arrays = _tree_arrays(parts.trees) | _node_arrays(nodes, columns)
    except (LookupError, ValueError, ArithmeticError) as error:
        message = f"the LightGBM model text is damaged: {str(error)[:200]}; save the model again"
        raise UnsupportedModelError(message) from error
    names = [column.name for column in columns]
    automatic = names == [f"Column_{j}" for j in range(len(names))]
    schema = Schema(columns, named=not automatic, underscored=True, rounds_integers=True, rounds_objects=True)
    tree_output = np.arange(len(parts.trees), dtype=np.int32) % score.n_outputs
    promised = promises_of(parts.header.get("monotone_constraints"), names, score.n_outputs)
    return TreeEnsemble(**arrays, tree_output=tree_output, schema=schema, score=score, source=source, promised=promised)


def _check_claims(nodes: _Nodes, columns: tuple[Column, ...], size: int) -> None:
    """Refuse a text of `size` characters that mentions codes so large that sets of them would take far more memory."""
    n_codes = np.array([column.n_codes for column in columns])
    n_bits = int(n_codes[nodes.feature].sum())
    if n_codes.max(initial=0) > MANY_CODES + size or n_bits > MANY_BITS + 64 * size:
        message = (
            f"feature {columns[int(n_codes.argmax())].name!r} has categories with codes up to {n_codes.max() - 1:,}; "
            "number the categories from 0"
        )
        raise UnsupportedModelError(message)


def _sizes(trees: list[Fields]) -> NDArray[np.int64]:
    """Return the number of leaves of each tree."""
    n_leaves = numbers(trees, "num_leaves", int, np.ones(len(trees), dtype=np.int64))
    if n_leaves.min() < 1:
        message = f"a tree of {how_many(n_leaves.min(), 'leaf', 'leaves')}"
        raise ValueError(message)
    return n_leaves


def _tree_arrays(trees: list[Fields]) -> dict[str, Any]:
    """Return the shape of all trees, their leaf values and their covers."""
    n_leaves = _sizes(trees)
    n_nodes = n_leaves - 1
    first_leaf, first_node = np.cumsum(n_leaves) - n_leaves, np.cumsum(n_nodes) - n_nodes
    left, right, cover = (numbers(trees, key, int, n_nodes) for key in ("left_child", "right_child", "internal_count"))
    nodes, leaves = np.repeat(n_nodes, n_nodes), np.repeat(n_leaves, n_nodes)
    if not all(np.all((-leaves <= child) & (child < nodes)) for child in (left, right)):
        message = "a child that is none of its tree's nodes and leaves"
        raise ValueError(message)
    # Some versions write no count for a tree of one leaf, and none is needed there.
    counted = [{"leaf_count": tree.get("leaf_count") or "0"} for tree in trees]
    # Leaf ~c of a tree is leaf ~c + first_leaf of all, and ~(~c + first_leaf) is c - first_leaf.
    node_shift, leaf_shift = np.repeat(first_node, n_nodes), np.repeat(first_leaf, n_nodes)
    return {
        "root": np.where(n_nodes > 0, first_node, ~first_leaf).astype(np.int32),
        "left": int32(np.where(left >= 0, left + node_shift, left - leaf_shift), "left_child"),
        "right": int32(np.where(right >= 0, right + node_shift, right - leaf_shift), "right_child"),
        "value": numbers(trees, "leaf_value", float, n_leaves).reshape(-1, 1),
        "cover": cover.astype(np.float64),
        "leaf_cover": numbers(counted, "leaf_count", int, n_leaves).astype(np.float64),
    }


def _nodes(trees: list[Fields]) -> _Nodes:
    n_nodes = _sizes(trees) - 1
    decision = numbers(trees, "decision_type", int, n_nodes)
    threshold = numbers(trees, "threshold", float, n_nodes)
    missing_type = decision >> 2
    if np.any((missing_type > NAN_MISSING) | (missing_type < 0)):
        message = f"the LightGBM model has splits of the unknown decision_type {decision.max()}; please report it"
        raise UnsupportedModelError(message)
    categorical = (decision & 1).astype(bool)
    tree_of = np.repeat(np.arange(len(trees)), n_nodes)
    n_sets = numbers(trees, "num_cat", int, np.ones(len(trees), dtype=np.int64))
    sets = {t: _category_sets(trees[t]) for t in {*tree_of[categorical].tolist(), *np.flatnonzero(n_sets).tolist()}}
    return _Nodes(
        feature=numbers(trees, "split_feature", int, n_nodes),
        threshold=threshold,
        categorical=categorical,
        default_left=(decision & 2).astype(bool),
        missing_type=missing_type,
        # The threshold of a category split is the number of its set within the tree.
        category_flags={
            k: _set_number(sets[tree_of[k]], float(threshold[k])) for k in np.flatnonzero(categorical).tolist()
        },
    )


def _set_number(sets: list[NDArray[np.bool_]], number: float) -> NDArray[np.bool_]:
    if number not in range(len(sets)):
        message = f"a split by category set {number:g} of {len(sets)}"
        raise ValueError(message)
    return sets[int(number)]


def _category_sets(tree: Fields) -> list[NDArray[np.bool_]]:
    """Return each category set of a tree as one flag per code."""
    n_sets = np.array([whole(tree["num_cat"]) + 1])
    bounds = numbers([tree], "cat_boundaries", int, n_sets).tolist()
    if bounds[0] != 0 or any(start > stop for start, stop in pairwise(bounds)):
        message = "cat_boundaries do not ascend from 0"
        raise ValueError(message)
    words = numbers([tree], "cat_threshold", int, np.array(bounds[-1:]))
    if words.size and not 0 <= words.min() <= words.max() < 2**32:
        message = "cat_threshold is not made of words of 32 bits"
        raise ValueError(message)
    flags = np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little").astype(bool)
    return [flags[32 * start : 32 * stop] for start, stop in pairwise(bounds)]


def _columns(parts: Text, nodes: _Nodes) -> tuple[Column, ...]:
    names, infos = (parts.header[key].split(" ") for key in ("feature_names", "feature_infos"))
    n_features = whole(parts.header["max_feature_idx"]) + 1
    if not len(names) == len(infos) == n_features:
        described = f"{how_many(len(names), 'name')} and {how_many(len(infos), 'description')}"
        message = f"{how_many(n_features, 'feature')}, but {described}"
        raise ValueError(message)
    if nodes.feature.size and not 0 <= nodes.feature.min() <= nodes.feature.max() < n_features:
        message = f"a split on feature {nodes.feature.max()} of {n_features}"
        raise ValueError(message)
    coded = _coded_features(parts.parameters, infos) | set(nodes.feature[nodes.categorical].tolist())
    labels = _match_labels(parts.pandas_categories, infos, coded)
    cut = set(nodes.feature[~nodes.categorical].tolist())
    zero = set(nodes.feature[~nodes.categorical & (nodes.missing_type == ZERO_MISSING)].tolist())
    n_codes = _count_codes(infos, nodes)
    columns: list[Column] = []
    for j, name in enumerate(names):
        if j in labels:
            columns.append(LabelColumn(name, labels[j]))
        elif j in coded and j not in cut:
            columns.append(CodeColumn(name, n_codes[j], toward_zero=True))
        else:
            columns.append(NumberColumn(name, (-ZERO, ZERO) if j in zero else None))
    return tuple(columns)


def _coded_features(parameters: str, infos: list[str]) -> set[int]:
    """Return the features that LightGBM takes as categories: those described by codes, or listed in the parameters."""
    listed = re.search(r"^\[categorical_feature: ([\d,]+)\]$", parameters, flags=re.MULTILINE)
    described = {j for j, info in enumerate(infos) if info != "none" and not info.startswith("[")}
    return described | ({int(j) for j in listed[1].split(",")} if listed else set())


def _described(info: str) -> NDArray[np.float64]:
    """Return the numbers in a feature's description: the codes ``-1:2:0``, the range ``[0:8]``, or nothing."""
    return np.array([] if info == "none" else info.strip("[]").split(":"), dtype=np.float64)


def _count_codes(infos: list[str], nodes: _Nodes) -> dict[int, int]:
    """Return 1 + the largest code of each feature of categories, in its description or in its nodes' sets."""
    coded = ((j, info) for j, info in enumerate(infos) if not info.startswith("["))
    count = {j: 1 + int(_described(info).max(initial=0)) for j, info in coded}
    for node, flags in nodes.category_flags.items():
        j = int(nodes.feature[node])
        count[j] = max(count.get(j, 1), 1 + int(np.flatnonzero(flags).max(initial=0)))
    return count


def _are_codes(numbers: NDArray[np.float64]) -> bool:
    """Return whether numbers may be the codes of categories, of which -1 is a missing one."""
    return bool((np.isfinite(numbers) & (np.floor(numbers) == numbers) & (numbers >= -1)).all())


def _match_labels(categories: list[list[Any]], infos: list[str], coded: set[int]) -> dict[int, tuple[Any, ...]]:
    """Return the labels of each column that was of pandas' category type.

    The text lists the labels in the order of those columns, but not which columns they are. LightGBM's default is
    tried first: all features of categories were such columns, and others (ordered ones) are compared by their codes.
    Otherwise features of categories may be plain integers. The labels must fit in one way only.
    """
    if not categories:
        return {}
    described = [_described(info) for info in infos]
    whole = np.array([_are_codes(numbers) for numbers in described])
    largest = np.array([numbers.max(initial=-1) for numbers in described])
    fits = whole & (largest < np.array([[len(labels)] for labels in categories]))
    for required in (coded, set[int]()):
        ways = _count_matches(fits, required)
        if ways[0][0] == 1:
            matched: dict[int, tuple[Any, ...]] = {}
            for j in range(len(infos)):
                k = len(matched)
                if k < len(categories) and fits[k, j] and ways[k + 1][j + 1]:
                    matched[j] = tuple(categories[k])
            return matched
    message = (
        f"the LightGBM model was trained on {how_many(len(categories), 'pandas column')} of category type, and does "
        "not say which ones. Train with categorical_feature='auto' and without ordered categories, or on the codes, "
        "frame[column].cat.codes."
    )
    raise UnsupportedModelError(message)


def _count_matches(fits: NDArray[np.bool_], required: set[int]) -> list[list[int]]:
    """Return in [k][j] in how many ways the label lists from k on go, in order, to the features from j on.

    A list may go to a feature it fits; every required feature must get one.
    """
    n_lists, n_features = fits.shape
    ways = [[0] * (n_features + 1) for _ in range(n_lists + 1)]
    ways[n_lists][n_features] = 1
    for j in reversed(range(n_features)):
        for k in range(n_lists + 1):
            ways[k][j] = 0 if j in required else ways[k][j + 1]
            if k < n_lists and fits[k, j]:
                ways[k][j] += ways[k + 1][j + 1]
    return ways


def _node_arrays(nodes: _Nodes, columns: tuple[Column, ...]) -> dict[str, Any]:
    """Return the nodes in the canonical form of `TreeEnsemble`."""
    zero_left = nodes.threshold >= 0
    # Without a missing type, NaN is compared as 0. Missing categories go right.
    missing_left = ~nodes.categorical & np.where(nodes.missing_type == NO_MISSING, zero_left, nodes.default_left)
    _check_missing(nodes, columns, zero_left)
    # Numbers that count as 0 go where 0 goes, so a cut between them moves to the border of their interval.
    cut = np.where(zero_left & (nodes.threshold < ZERO), ZERO, nodes.threshold)
    cut = np.where(~zero_left & (cut >= -ZERO), np.nextafter(-ZERO, -np.inf), cut)
    sets = CategorySets()
    category_set = np.full(cut.size, -1, dtype=np.int32)
    n_codes = np.array([column.n_codes for column in columns])[nodes.feature]
    for node in np.flatnonzero(n_codes).tolist():
        left = np.zeros(n_codes[node], dtype=bool)
        if nodes.categorical[node]:
            flags = nodes.category_flags[node][: left.size]
            left[: flags.size] = flags
        else:  # the codes of an ordered pandas column are compared as numbers
            left[:] = np.arange(left.size) <= cut[node]
            if nodes.missing_type[node] == ZERO_MISSING:
                left[0] = nodes.default_left[node]
        category_set[node] = sets.add(left)
    return {
        "feature": int32(nodes.feature, "split_feature"),
        "cut": cut,
        "missing_left": missing_left,
        "category_set": category_set,
        "unseen_left": missing_left & (n_codes > 0),  # a label that is not in pandas' categories becomes NaN
        "words": sets.words,
    }


def _check_missing(nodes: _Nodes, columns: tuple[Column, ...], zero_left: NDArray[np.bool_]) -> None:
    """Raise if two nodes read one feature in ways that no single column has, after training was continued otherwise."""
    numbers = np.array([isinstance(column, NumberColumn) for column in columns])[nodes.feature]
    zero_missing = np.isin(nodes.feature, nodes.feature[~nodes.categorical & (nodes.missing_type == ZERO_MISSING)])
    apart = (nodes.missing_type == NAN_MISSING) & (nodes.default_left != zero_left)
    for wrong, what in (
        (numbers & nodes.categorical, "as categories in some trees and as numbers in others"),
        (numbers & zero_missing & apart, "with zero as missing in some trees and not in others"),
    ):
        if wrong.any():
            message = (
                f"the LightGBM model reads feature {columns[nodes.feature[wrong][0]].name!r} {what}, because training "
                "was continued with other settings. Continue with the same settings."
            )
            raise UnsupportedModelError(message)


def _score(header: dict[str, str], n_trees: int, classes: tuple[Any, ...]) -> Score:
    n_outputs, n_classes = whole(header["num_tree_per_iteration"]), whole(header["num_class"])
    if n_outputs < 1 or n_outputs != n_classes:
        message = f"{how_many(n_outputs, 'tree')} per iteration for {how_many(n_classes, 'class', 'classes')}"
        raise ValueError(message)
    if n_trees % n_outputs:
        message = f"{how_many(n_trees, 'tree')} with {n_outputs} per iteration"
        raise ValueError(message)
    objective, *details = header.get("objective", "custom").split(" ")
    units, link = OBJECTIVES.get(objective, ("score", "unknown"))
    if "sqrt" in details:
        units, link = "signed root of the value", "unknown"
    sigmoid = next((float(text.partition(":")[2]) for text in details if text.startswith("sigmoid:")), 1.0)
    labels = _labels(objective, n_outputs, classes)
    return Score(
        base=np.zeros(n_outputs),
        labels=labels,
        units=units if sigmoid == 1 else f"{units} / {sigmoid:g}",
        link=link,
        link_scale=sigmoid,
        divisor=float(n_trees // n_outputs) if "average_output" in header else 1.0,
        binary=len(labels) == 2 and (n_outputs == 1 or objective in ("multiclass", "multiclassova")),
    )


def _labels(objective: str, n_outputs: int, classes: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the classes, as the wrapper knows them or by number; both for a single output of two classes."""
    if n_outputs > 1:
        return classes if len(classes) == n_outputs else tuple(range(n_outputs))
    if len(classes) == 2:
        return classes
    return (0, 1) if objective == "binary" else ("prediction",)
