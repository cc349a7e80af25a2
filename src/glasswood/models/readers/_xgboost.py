"""Reads XGBoost's boosters, scikit-learn wrappers and .json and .ubj model files, all as one document.

XGBoost rounds the table to float32 and goes left iff ``x < cut``; categories in a node's set go right, all others
left. Leaf values are added in float32, from the base margin on. Covers are sums of hessians.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import MissingExtraError, TableError, UnsupportedModelError
from glasswood.models._ensemble import Link, Score, TreeEnsemble
from glasswood.models._outputs import labels_of
from glasswood.models.readers._json import number_array, parse_json
from glasswood.models.readers._promises import promises_of
from glasswood.models.readers._rounding import float32_interval
from glasswood.models.readers._ubjson import decode
from glasswood.models.readers._xgboost_trees import (
    Part,
    Trees,
    check_keys,
    count_bits,
    count_codes,
    numbers_of,
    read_trees,
    whole_number,
)
from glasswood.tables._columns import CodeColumn, Column, LabelColumn, NumberColumn
from glasswood.tables._tables import Schema
from glasswood.text._printable import how_many

__all__ = ["load_file", "raw_score", "read", "read_file"]

# What the raw score of each objective is, and the link from it to what predict gives. The base score is stored on the
# scale of predict for the logistic and the exp link, and otherwise as a margin.
OBJECTIVES: dict[str, tuple[str, Link]] = {
    **dict.fromkeys(("reg:squarederror", "reg:linear", "reg:squaredlogerror"), ("value", "identity")),
    **dict.fromkeys(("reg:pseudohubererror", "reg:absoluteerror", "reg:quantileerror"), ("value", "identity")),
    **dict.fromkeys(("reg:logistic", "binary:logistic"), ("log-odds", "logistic")),
    "binary:logitraw": ("log-odds", "identity"),
    "binary:hinge": ("margin", "unknown"),  # predict gives the class
    **dict.fromkeys(("multi:softprob", "multi:softmax"), ("softmax margin", "softmax")),
    **dict.fromkeys(("count:poisson", "reg:gamma", "reg:tweedie"), ("log of the mean", "exp")),
    "survival:cox": ("log of the hazard ratio", "exp"),
    "survival:aft": ("log of the survival time", "exp"),
    **dict.fromkeys(("rank:pairwise", "rank:ndcg", "rank:map"), ("ranking score", "identity")),
}

DOCUMENT_KEYS = {"learner", "version"}
LEARNER_KEYS = {"feature_names", "feature_types", "gradient_booster", "learner_model_param", "objective", "attributes"}
BOOSTER_KEYS = {"name", "model", "gbtree", "weight_drop"}
FOREST_KEYS = {"trees", "tree_info", "iteration_indptr", "gbtree_model_param", "cats", "weight_drop"}
NUMBER = r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?"
MANY_FEATURES = 2**16  # which a file may claim, whatever its size
MANY_BITS = 2**26  # of category sets
Rounds = Literal["all", "best", "undecided"]


def read(model: object) -> TreeEnsemble:
    """Return a fitted Booster or scikit-learn wrapper as arrays.

    A Booster is read with all its rounds, a wrapper up to the best one after early stopping: what each predicts with.
    """
    booster = _booster(model)
    try:
        raw = bytes(booster.save_raw("ubj"))
    except ValueError as error:  # XGBoostError
        message = f"XGBoost cannot save this {type(model).__name__}; train it first"
        raise UnsupportedModelError(message) from error
    document = decode(raw)
    source = f"xgboost {type(model).__name__}"
    wrapper = None if booster is model else model
    ensemble = _read_document(document, source, "all" if wrapper is None else "best", wrapper)
    promised = promises_of(_constraints(booster), ensemble.feature_names, ensemble.n_outputs)
    return replace(ensemble, promised=promised)


def _constraints(booster: Any) -> object:
    """Return the monotone constraints of training, which a Booster keeps until it is saved in a file."""
    config = json.loads(booster.save_config())["learner"]["gradient_booster"]
    return config.get("gbtree", config).get("tree_train_param", {}).get("monotone_constraints")


def raw_score(model: Any, table: Any) -> NDArray[np.floating[Any]]:
    """Return the margin that XGBoost gives: from `predict` of the wrapper, or of the Booster."""
    booster = _booster(model)
    named = booster.feature_names is not None
    dtypes = [*table.dtypes] if hasattr(table, "iloc") else [getattr(table, "dtype", None)]
    if any(isinstance(dtype, np.dtype) and not (dtype.isnative and dtype.itemsize <= 8) for dtype in dtypes):
        message = "XGBoost misreads numbers in foreign byte order or of more than 64 bits; pass table.astype(float)"
        raise TableError(message)
    if booster is not model:
        if hasattr(table, "iloc") and all(isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in dtypes):
            table = table.to_numpy()  # XGBoost looks at every column of a frame, whatever the number of rows
        # XGBoost's own method: a class of the user's may predict in its own way.
        bases: list[Any] = [base for base in type(model).__mro__ if base.__module__.startswith("xgboost.")]
        own = next(base for base in reversed(bases) if "predict" in vars(base))
        return np.asarray(own.predict(model, table, output_margin=True, validate_features=named))
    from xgboost import DMatrix

    plain = isinstance(table, np.ndarray) or hasattr(table, "tocsr")  # tables without names and types of their own
    features = {"feature_names": model.feature_names, "feature_types": model.feature_types} if plain else {}
    rows = DMatrix(table, enable_categorical=True, **features)
    return np.asarray(model.predict(rows, output_margin=True, validate_features=named))


def read_file(path: Path) -> TreeEnsemble:
    """Return a .json or .ubj model file as arrays, without XGBoost."""
    document = _document(path)
    _check_claims(document, path.stat().st_size)
    return _read_document(document, "xgboost model file", "undecided")


def _document(path: Path) -> Part:
    data = path.read_bytes()
    is_text = data[:4096].lstrip()[1:].lstrip()[:1] in (b'"', b"}")
    document: Part = parse_json(data, repr(path.name)) if is_text else decode(data)
    return document


def _check_claims(document: Part, size: int) -> None:
    """Refuse a file of `size` bytes that claims more features or categories than it can have been trained with."""
    n_features = whole_number(document["learner"]["learner_model_param"]["num_feature"])
    if n_features > max(MANY_FEATURES, size // 4):
        message = (
            f"the file claims {n_features:,} features, in {size:,} bytes. If it is not damaged, load it with XGBoost "
            "and pass the Booster"
        )
        raise UnsupportedModelError(message)
    n_bits = count_bits(_forest(document["learner"]["gradient_booster"])[0]["trees"])
    if n_bits > MANY_BITS + 64 * size:
        message = (
            f"the sets of categories of the file would take {n_bits / 8e6:,.0f} MB. Number the categories from 0, "
            "or load the file with XGBoost and pass the Booster"
        )
        raise UnsupportedModelError(message)


def load_file(path: Path) -> Any:
    """Return a .json or .ubj model file as a Booster."""
    try:
        from xgboost import Booster, __version__
    except ImportError as error:
        raise MissingExtraError.of("xgboost", extra="xgboost", what=f"checking {path.name!r}") from error
    _check_installed(path, __version__)
    # As bytes, so that XGBoost detects the format by the content, not by the name.
    return Booster(model_file=bytearray(path.read_bytes()))


def _check_installed(path: Path, installed: str) -> None:
    """Refuse a file with a list of base scores, which XGBoost up to 3.0 passes over without a word."""
    if tuple(map(int, installed.split(".")[:2])) >= (3, 1):
        return
    document = _document(path)
    if tuple(document["version"]) >= (3, 1):
        written = ".".join(map(str, document["version"]))
        message = (
            f"{path.name!r} was written by XGBoost {written}, but {installed} is installed, which misreads such files; "
            "install XGBoost 3.1 or newer"
        )
        raise UnsupportedModelError(message)


def _booster(model: Any) -> Any:
    names = {parent.__name__ for parent in type(model).__mro__}
    if "Booster" in names:
        return model
    if "XGBModel" not in names or "DaskScikitLearnBase" in names:
        message = (
            f"xgboost {type(model).__name__} is not supported, only Booster and the scikit-learn wrappers. "
            "If it is a Dask or Spark model, pass model.get_booster()."
        )
        raise UnsupportedModelError(message)
    if not model.__sklearn_is_fitted__():
        message = f"this {type(model).__name__} is not fitted; call fit first"
        raise UnsupportedModelError(message)
    return model.get_booster()


class _Model(NamedTuple):
    """The parts of a model's document, and the scikit-learn wrapper that it comes from, if it does."""

    learner: Part
    forest: Part
    version: tuple[int, ...]
    wrapper: object


def _read_document(document: Part, source: str, rounds: Rounds, wrapper: object = None) -> TreeEnsemble:
    check_keys(document, DOCUMENT_KEYS, "model")
    learner = document["learner"]
    check_keys(learner, LEARNER_KEYS, "learner")
    forest, weights = _forest(learner["gradient_booster"])
    _check_forest(forest)
    version = tuple(numbers_of(document["version"], "version", np.int64).tolist())
    if weights is not None and learner["gradient_booster"]["name"] == "gbtree" and version < (3, 3):
        message = f"a gbtree of XGBoost {version} has no weights of trees (weight_drop), but this one does"
        raise UnsupportedModelError(message)
    model = _Model(learner, forest, version, wrapper)
    n_used = _n_trees_used(model, rounds)
    # XGBoost numbers trees by their id, wherever they stand.
    parts = sorted(forest["trees"], key=lambda part: whole_number(part["id"]))[:n_used]
    score = _score(model)
    schema = _schema(model, count_codes(parts, whole_number(learner["learner_model_param"]["num_feature"])))
    # Up to 3.2, in-place prediction, which wrappers use, takes the leaf values of DART from their sums with the base.
    through_base = weights is not None and wrapper is not None and model.version < (3, 3)
    base = score.base.astype(np.float32) if through_base else None
    trees = Trees(parts, numbers_of(forest["tree_info"], "tree_info", np.int64)[:n_used], weights, base)
    arrays = read_trees(trees, score.n_outputs, schema.columns)
    return TreeEnsemble(**arrays, schema=schema, score=score, source=source)


def _forest(booster: Part) -> tuple[Part, NDArray[np.float32] | None]:
    """Return the trees of a gradient booster, and the weight of each tree if it was trained with DART."""
    name = booster["name"]
    if name not in ("gbtree", "dart"):
        advice = "A linear model needs no trees: read its coefficients." if name == "gblinear" else "Please report it."
        message = f"XGBoost's booster {name!r} is not supported, only gbtree and dart. {advice}"
        raise UnsupportedModelError(message)
    check_keys(booster, BOOSTER_KEYS, "gradient_booster")
    forest: Part = booster.get("gbtree", booster)["model"]  # up to 3.2, a DART model wraps a gbtree
    check_keys(forest, FOREST_KEYS, "gradient_booster's model")
    # Up to 3.3 the weights stand beside the trees' model, from 3.4 on in it. The name is gbtree from 3.3 on.
    weights = [
        numbers_of(part["weight_drop"], "weight_drop", np.float32)
        for part in (booster, forest)
        if len(part.get("weight_drop", ()))
    ]
    if len(weights) > 1:
        message = "the model has weights of trees (weight_drop) in two places"
        raise UnsupportedModelError(message)
    if any(weight.size != len(forest["trees"]) for weight in weights) or (name == "dart" and not weights):
        message = (
            f"a DART model of {how_many(len(forest['trees']), 'tree')} without the weights (weight_drop) of all of them"
        )
        raise UnsupportedModelError(message)
    return forest, weights[0] if weights else None


def _check_forest(forest: Part) -> None:
    """Raise an error if a model states different numbers of trees in different places."""
    n_trees = len(forest["trees"])
    if not n_trees:
        message = "the model has no trees; train it first"
        raise UnsupportedModelError(message)
    declared = [whole_number(forest["gbtree_model_param"].get("num_trees", n_trees)), len(forest["tree_info"])]
    ends = numbers_of(forest.get("iteration_indptr", [0, n_trees]), "iteration_indptr", np.int64)
    ids = sorted(whole_number(part["id"]) for part in forest["trees"])
    whole = ids == list(range(n_trees)) and ends[0] == 0 and ends[-1] == n_trees and not np.any(np.diff(ends) < 0)
    if declared != [n_trees, n_trees] or not whole:
        message = (
            f"the model has {how_many(n_trees, 'tree')}, but its header does not agree; it is damaged: save it again"
        )
        raise UnsupportedModelError(message)


def _n_trees_used(model: _Model, rounds: Rounds) -> int:
    """Return how many trees the model predicts with."""
    best = model.learner.get("attributes", {}).get("best_iteration")
    if best is None or rounds == "all":
        return len(model.forest["trees"])
    ends = _ends_of_rounds(model.forest)
    best = whole_number(best)
    if rounds == "undecided" and best + 1 != len(ends):
        message = (
            f"this file's training was stopped early: its best round is number {best + 1}, but not its last. A "
            "Booster predicts with all rounds, XGBRegressor and XGBClassifier with those up to the best one. Load the "
            "file with the one that you use, and pass that object."
        )
        raise UnsupportedModelError(message)
    if not 0 <= best < len(ends):
        message = f"early stopping chose round {best + 1}, but the model has {how_many(len(ends), 'round')}"
        raise UnsupportedModelError(message)
    return int(ends[best])


def _ends_of_rounds(forest: Part) -> Sequence[int]:
    """Return how many trees there are after each round."""
    if "iteration_indptr" in forest:
        return [int(end) for end in forest["iteration_indptr"]][1:]
    # Before 2.0, all rounds have the same size. Training always stores a best round: without early stopping, the last.
    per_round = whole_number(forest["gbtree_model_param"]["num_parallel_tree"]) * (max(forest["tree_info"]) + 1)
    return range(per_round, len(forest["trees"]) + 1, per_round)


def _score(model: _Model) -> Score:
    param = model.learner["learner_model_param"]
    objective = model.learner["objective"]["name"]
    if objective not in OBJECTIVES:
        message = (
            f"XGBoost's objective {objective!r} is not supported: how it turns the base score into a margin is "
            f"unknown. Supported are {', '.join(OBJECTIVES)}."
        )
        raise UnsupportedModelError(message)
    units, link = OBJECTIVES[objective]
    n_classes, n_targets = whole_number(param["num_class"]), whole_number(param.get("num_target", 1))
    n_outputs = max(n_classes, n_targets, 1)
    n_values = max(whole_number(part["tree_param"]["size_leaf_vector"]) for part in model.forest["trees"])
    if n_outputs > len(model.forest["trees"]) and n_outputs != n_values:
        message = f"the model claims {n_outputs:,} outputs, but it has {how_many(len(model.forest['trees']), 'tree')}"
        raise UnsupportedModelError(message)
    base = _base_margin(param["base_score"], link, n_outputs)
    if objective == "reg:quantileerror" and n_outputs > 1 and model.version >= (3, 4):
        link = "unknown"  # predict sorts the quantiles of each row
    if callable(getattr(model.wrapper, "objective", None)):
        units = "margin"  # XGBoost keeps the name of a built-in objective in its place
    classes = getattr(model.wrapper, "classes_", None)
    if n_classes > 1 or (n_outputs == 1 and (classes is not None or objective.startswith("binary:"))):
        known = () if classes is None else labels_of(classes)
        # XGBoost itself numbers the classes, from 0.
        labels = known if len(known) == max(n_classes, 2) else tuple(range(max(n_classes, 2)))
    else:
        labels = ("prediction",) if n_outputs == 1 else tuple(range(n_outputs))
    binary = len(labels) == 2 and (n_classes > 1 or n_outputs == 1)
    return Score(
        base=base,
        labels=labels,
        units=units,
        link=link,
        dtype="float32",
        binary=binary,
        margin="replaces base",
        target_classes=((0, 1),) * n_targets if n_targets > 1 and objective.startswith("binary:") else (),
    )


def _base_margin(text: str, link: Link, n_outputs: int) -> NDArray[np.float64]:
    """Return the margin of each output without trees, from a base score such as "5E-1" or "[5E-1,2E-1]"."""
    if not re.fullmatch(rf"{NUMBER}|\[{NUMBER}(,{NUMBER})*\]", text, flags=re.ASCII):
        message = f"the base score {text[:50]!r} is neither a number nor a list of numbers"
        raise UnsupportedModelError(message)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        margin = np.array([float(number) for number in text.strip("[]").split(",")], dtype=np.float32)
        if link == "logistic":
            margin = -_log(np.float32(1) / margin - np.float32(1))
        elif link == "exp":
            margin = _log(margin)
    if margin.size not in (1, n_outputs) or not np.isfinite(margin).all():
        message = f"the base score {text[:50]!r} gives no finite margin for each of {how_many(n_outputs, 'output')}"
        raise UnsupportedModelError(message)
    return np.broadcast_to(margin, n_outputs).astype(np.float64)


def _log(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the float32 nearest to each logarithm, which is what C's logf gives but for rare last bits."""
    return np.log(numbers.astype(np.float64)).astype(np.float32)


def _schema(model: _Model, n_codes: NDArray[np.int64]) -> Schema:
    names = [str(name) for name in model.learner.get("feature_names", ())]
    types = list(model.learner.get("feature_types", ())) or ["float"] * n_codes.size
    encoders = model.forest.get("cats", {}).get("enc", ()) or [{}] * n_codes.size
    labels = [_labels(encoder, model.version) for encoder in encoders]
    texts = names or [f"f{j}" for j in range(n_codes.size)]
    if not len(texts) == len(types) == len(labels) == n_codes.size:
        message = (
            f"{len(texts)} names, {len(types)} types and {len(labels)} encoders for {how_many(n_codes.size, 'feature')}"
        )
        raise UnsupportedModelError(message)
    with np.errstate(over="ignore"):  # XGBoost compares in float32
        missing = float(np.float32(getattr(model.wrapper, "missing", math.nan)))
    columns = tuple(
        _column(text, kind, int(size), label, missing)
        for text, kind, size, label in zip(texts, types, n_codes, labels, strict=True)
    )
    return Schema(columns, named=bool(names), absent_is_missing=True)


def _column(name: str, kind: str, n_codes: int, labels: tuple[Any, ...] | None, missing: float) -> Column:
    missing_between = None if math.isnan(missing) else float32_interval(missing)
    if labels is None and (kind == "c" or n_codes):
        return CodeColumn(name, max(n_codes, 1), missing_between=missing_between)
    if labels is None:
        return NumberColumn(name, missing_between)
    if n_codes > len(labels):
        known = how_many(len(labels), "category", "categories")
        message = f"column {name!r} has {known}, but a split mentions number {n_codes - 1}"
        raise UnsupportedModelError(message)
    if missing in range(len(labels)):
        message = (
            f"missing={missing:g} hides category {labels[int(missing)]!r} of column {name!r}: XGBoost compares it with "
            "the numbers that stand for categories, too. Fit with missing=np.nan."
        )
        raise UnsupportedModelError(message)
    return LabelColumn(name, labels, refuse_unseen=True)


def _labels(encoder: Part, version: tuple[int, ...]) -> tuple[Any, ...] | None:
    """Return the labels of one column's categories in the order of their codes; None if the model keeps none."""
    if "offsets" not in encoder:
        values = number_array(encoder.get("values", ()), "the labels of categories")
        return tuple(values.tolist()) if values.size else None
    text = numbers_of(encoder["values"], "values", np.uint8).tobytes()
    if not text.isascii() and version < (3, 4):
        message = (
            "a category's label is not ASCII. XGBoost before 3.4 cuts such labels in the wrong places when it keeps "
            "them (dmlc/xgboost#12371), so they are unknown. Rename the categories, and fit again."
        )
        raise UnsupportedModelError(message)
    ends = numbers_of(encoder["offsets"], "offsets", np.int64)
    if np.any(np.diff(ends) < 0) or ends.min(initial=0) < 0 or ends.max(initial=0) > len(text):
        message = "the labels of a column of categories are damaged; save the model again"
        raise UnsupportedModelError(message)
    labels = tuple(text[start:end].decode(errors="replace") for start, end in pairwise(ends.tolist()))
    return labels or None
