"""Reads treelite models, and cuML's through ``as_treelite()`` (untested: it needs a GPU), by their field accessors.

A node compares in the type of the model's thresholds (XGBoost float32, others float64) with the operator it names; a
category goes to the side of the node's list iff it is in the list. What counts as right is treelite's own inference
(GTIL): bit for bit, but for the last bit in float32 models whose base score is not a float32 number.

Read the original model instead if there is one. A treelite model no longer knows that scikit-learn's forests round the
table to float32, that LightGBM took zero as missing, which iteration was XGBoost's best, the ``missing`` value, the
names of columns and classes, pandas' categories, and what to do with categories that were not in training.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import UnsupportedModelError
from glasswood.models._ensemble import CategorySets, Link, Score, Tree, TreeEnsemble, stack
from glasswood.models.readers._rounding import cut_at_most, cut_below
from glasswood.tables._columns import CodeColumn, Column, NumberColumn
from glasswood.tables._tables import Schema, encode
from glasswood.text._printable import how_many

if TYPE_CHECKING:
    from treelite import Model

__all__ = ["raw_score", "read"]

NUMBER_NODE, CATEGORY_NODE = 1, 2
BELOW, AT_MOST, ABOVE, AT_LEAST = 2, 3, 4, 5  # the operators; 1 is "equal"
NODE_FIELDS = ("node_type", "cleft", "cright", "split_index", "default_left", "threshold", "cmp")
LEAF_FIELDS = ("leaf_value", "leaf_vector", "leaf_vector_begin", "leaf_vector_end")
CATEGORY_FIELDS = ("category_list", "category_list_begin", "category_list_end", "category_list_right_child")
MANY_FEATURES = 2**16  # which a model may claim, whatever its size
MANY_BITS = 2**26  # of category sets
BINARY, MULTICLASS = 0, 2  # of the task types
COVERS = ("sum_hess", "data_count")  # the first that a model has: the weight of the rows, or their number

# What the raw score of each postprocessor is, and the link from it to what GTIL gives by default.
POSTPROCESSORS: dict[str, tuple[str, Link]] = {
    "identity": ("value", "identity"),
    "identity_multiclass": ("probability", "identity"),
    "sigmoid": ("log-odds", "logistic"),
    "multiclass_ova": ("log-odds", "logistic"),
    "softmax": ("softmax margin", "softmax"),
    "exponential": ("log of the mean", "exp"),
    "exponential_standard_ratio": ("mean depth", "unknown"),
}

Fields = dict[str, NDArray[Any]]


def read(model: object) -> TreeEnsemble:
    """Return a treelite model as arrays."""
    source = f"{type(model).__module__.partition('.')[0]} {type(model).__name__}"
    opened = _treelite_model(model)
    outputs = _Outputs.of(opened)
    trees = [_fields(opened, k) for k in range(opened.num_tree)]
    columns = _columns(trees, opened)
    covers = _covers(trees)
    sets = CategorySets()
    parts = (
        _tree(tree, columns, sets)._replace(**_values(tree, k, outputs), cover=covers[k])
        for k, tree in enumerate(trees)
    )
    # In a sparse matrix, an absent entry is missing.
    schema = Schema(columns, named=False, absent_is_missing=True)
    return TreeEnsemble(**stack(parts, sets), schema=schema, score=_score(opened, outputs), source=source)


def raw_score(model: object, table: object) -> NDArray[np.floating[Any]]:
    """Return the raw score that GTIL gives, the outputs that exist side by side."""
    import treelite

    opened = _treelite_model(model)
    columns = tuple(NumberColumn(f"x{j}") for j in range(opened.num_feature))
    numbers = encode(table, Schema(columns, named=False, absent_is_missing=True), range(len(columns)))
    with np.errstate(over="ignore"):  # numbers beyond float32 become infinite, as in the cuts
        scores = treelite.gtil.predict(opened, np.column_stack(list(numbers.values())), pred_margin=True)
    return np.asarray(scores[:, _Outputs.of(opened).exists])


def _treelite_model(model: object) -> Model:
    if hasattr(model, "get_tree_accessor"):
        return model
    if hasattr(model, "as_treelite"):
        return model.as_treelite()
    message = (
        f"{type(model).__module__}.{type(model).__qualname__} is not a tree ensemble that treelite knows; pass a "
        "treelite.Model, or a fitted forest of cuML"
    )
    raise UnsupportedModelError(message)


def _fields(model: Model, tree: int) -> Fields:
    """Return the fields of one tree: copies, because treelite's own arrays do not keep the model's memory alive."""
    accessor = model.get_tree_accessor(tree)
    names = NODE_FIELDS + LEAF_FIELDS + CATEGORY_FIELDS + COVERS + tuple(f"{name}_present" for name in COVERS)
    result = {name: _field(accessor, name) for name in names}
    n_nodes = result[NODE_FIELDS[0]].size
    if any(result[name].size > n_nodes for name in names if name.startswith(COVERS)):
        message = f"the treelite model is damaged: tree {tree} has more covers than its {how_many(n_nodes, 'node')}"
        raise UnsupportedModelError(message)
    return {name: field.copy() for name, field in result.items()}


def _field(accessor: Any, name: str) -> Any:
    """Return a field of a tree or of the header."""
    try:
        return accessor.get_field(name)
    except Exception as error:  # treelite has errors of its own for types that it does not know
        message = f"the treelite model is damaged: its field {name!r} cannot be read ({error})"
        raise UnsupportedModelError(message) from error


def _covers(trees: list[Fields]) -> list[NDArray[Any] | None]:
    """Return the covers of each tree's nodes, of the first kind that all nodes have; a lone leaf needs none."""
    for name in COVERS:
        if all(tree["cleft"].size in (1, tree[f"{name}_present"].sum()) for tree in trees):
            return [tree[name] if tree[name].size else np.zeros(1) for tree in trees]
    return [None] * len(trees)


class _Outputs(NamedTuple):
    """The targets and their classes: `exists` marks the existing pairs, the rest those that each tree adds to."""

    exists: NDArray[np.bool_]
    leaf_size: int
    target: NDArray[np.int32]
    label: NDArray[np.int32]

    @classmethod
    def of(cls, model: Model) -> _Outputs:
        field = partial(_field, model.get_header_accessor())
        n_classes = field("num_class").copy()
        target, label = field("target_id").copy(), field("class_id").copy()
        if (
            n_classes.min(initial=1) < 1
            or n_classes.size * int(n_classes.max(initial=0)) != field("base_scores").size
            or {target.size, label.size} != {model.num_tree}
            or min(target.min(initial=-1), label.min(initial=-1)) < -1
        ):
            message = "the treelite model does not have one base score for each output, or one output for each tree"
            raise UnsupportedModelError(message)
        exists = np.arange(n_classes.max()) < n_classes[:, None]
        leaf_size = int(field("leaf_vector_shape").prod())
        return cls(exists, leaf_size, target, label)

    def of_tree(self, tree: int) -> NDArray[np.bool_]:
        """Return the pairs that a tree adds to; -1 stands for all targets, or all classes."""
        adds = np.zeros_like(self.exists)
        target, label = (slice(None) if k < 0 else k for k in (self.target[tree], self.label[tree]))
        adds[target, label] = True
        return adds


def _values(tree: Fields, number: int, outputs: _Outputs) -> dict[str, Any]:
    """Return the values of a tree's nodes, and the output they are for (-1: all)."""
    size, adds = outputs.leaf_size, outputs.of_tree(number)
    at = np.flatnonzero(tree["cleft"] < 0)
    begin, end = (tree[f"leaf_vector_{name}"][at].astype(np.intp) for name in ("begin", "end"))
    scalar = size == 1 and not tree["leaf_vector"].size
    if adds.sum() != size or not (scalar or np.all(end - begin == size)):
        message = f"tree {number} of the treelite model has leaves whose size does not match its outputs"
        raise UnsupportedModelError(message)
    value = np.zeros((tree["cleft"].size, size))
    value[at] = tree["leaf_value"][at, None] if scalar else tree["leaf_vector"][begin[:, None] + np.arange(size)]
    if size == 1:
        return {"value": value, "output": int(np.flatnonzero(adds[outputs.exists])[0])}
    everywhere = np.zeros((len(value), *adds.shape))
    everywhere[:, adds] = value
    return {"value": everywhere[:, outputs.exists], "output": -1}


def _columns(trees: list[Fields], model: Model) -> tuple[Column, ...]:
    """Return numeric columns, and codes for the features of category nodes, up to the largest in the nodes' lists."""
    n_bytes = sum(field.nbytes for tree in trees for field in tree.values())
    if model.num_feature > max(MANY_FEATURES, n_bytes):
        message = f"the treelite model claims {model.num_feature:,} features, which do not fit its few nodes"
        raise UnsupportedModelError(message)
    for number, tree in enumerate(trees):
        _check_nodes(tree, number, model.num_feature)
    columns: list[Column] = [NumberColumn(f"x{j}") for j in range(model.num_feature)]
    size, apart, numbers = np.zeros((3, len(columns)), dtype=np.int64)
    for tree in trees:
        numbers[tree["split_index"][tree["node_type"] == NUMBER_NODE]] = 1
        for node in np.flatnonzero(tree["node_type"] == CATEGORY_NODE):
            j = tree["split_index"][node]
            size[j] = max(size[j], 1 + int(_category_list(tree, node).max(initial=0)))
            apart[j] |= tree["default_left"][node] != tree["category_list_right_child"][node]
    n_bits = sum(int(size[tree["split_index"][tree["node_type"] == CATEGORY_NODE]].sum()) for tree in trees)
    if n_bits > MANY_BITS + 64 * n_bytes:
        message = (
            f"the treelite model has categories with numbers up to {size.max() - 1:,}, sets of which would take "
            f"{n_bits / 8e6:,.0f} MB. Number the categories from 0"
        )
        raise UnsupportedModelError(message)
    for j in np.flatnonzero(size):
        if numbers[j]:
            message = f"the treelite model compares feature {j} as a number in some nodes and as a category in others"
            raise UnsupportedModelError(message)
        single = model.input_type == "float32" or bool(apart[j])
        columns[j] = _code_column(columns[j].name, int(size[j]), single=single)
    return tuple(columns)


def _check_nodes(tree: Fields, number: int, n_features: int) -> None:
    """Refuse a tree whose fields point to where nothing is."""
    inner = tree["cleft"] >= 0
    fits = {tree[name].size for name in NODE_FIELDS} == {inner.size} and tree["cleft"].min(initial=-1) == -1
    feature = tree["split_index"][inner] if fits else np.empty(0)
    fits = fits and bool(np.isin(tree["node_type"][inner], (NUMBER_NODE, CATEGORY_NODE)).all())
    fits = fits and bool(np.all((feature >= 0) & (feature < n_features)))
    for name in ("category_list", "leaf_vector"):
        begin, end = tree[f"{name}_begin"], tree[f"{name}_end"]
        fits = fits and bool(np.all((begin <= end) & (end <= tree[name].size)))
    if not fits:
        message = f"tree {number} of the treelite model is broken: its fields do not fit each other, or the features"
        raise UnsupportedModelError(message)


def _code_column(name: str, size: int, *, single: bool) -> CodeColumn:
    """Return a column of codes, for which negative fractions are not codes.

    Float32 models round to float32 first. Float64 models do not: if missing and unlisted categories go the same way
    in all nodes, negative fractions can count as missing; otherwise 1.9999999999 counts as 2, unlike in GTIL.
    """
    if single:
        return CodeColumn(name, size)
    return CodeColumn(name, size, toward_zero=True, missing_between=(np.nextafter(-1.0, 0.0), np.nextafter(0.0, -1.0)))


def _category_list(tree: Fields, node: np.intp) -> NDArray[np.uint32]:
    start, stop = (int(tree[f"category_list_{name}"][node]) for name in ("begin", "end"))
    return tree["category_list"][start:stop]


def _tree(tree: Fields, columns: tuple[Column, ...], sets: CategorySets) -> Tree:
    """Return the nodes of one tree in the form of `Tree`, still without values."""
    kind, operator = tree["node_type"], tree["cmp"]
    if np.any((kind == NUMBER_NODE) & ~np.isin(operator, (BELOW, AT_MOST, ABOVE, AT_LEAST))):
        message = (
            "the treelite model has a node that tests whether a number equals another; only <, <=, > and >= are read"
        )
        raise UnsupportedModelError(message)
    # "x > t" is "x <= t" with its children, and its default, exchanged.
    swap = (kind == NUMBER_NODE) & np.isin(operator, (ABOVE, AT_LEAST))
    listed_right = tree["category_list_right_child"].astype(bool)
    category_set = np.full(kind.size, -1, dtype=np.int32)
    for node in np.flatnonzero(kind == CATEGORY_NODE):
        left = np.full(columns[tree["split_index"][node]].n_codes, listed_right[node])
        left[_category_list(tree, node)] = not listed_right[node]
        category_set[node] = sets.add(left)
    return Tree(
        feature=tree["split_index"],
        cut=_cuts(tree["threshold"], np.isin(operator, (BELOW, AT_LEAST))),
        left=np.where(swap, tree["cright"], tree["cleft"]),
        right=np.where(swap, tree["cleft"], tree["cright"]),
        missing_left=tree["default_left"].astype(bool) != swap,
        value=tree["leaf_value"],
        category_set=category_set,
        unseen_left=listed_right,
    )


def _cuts(threshold: NDArray[np.floating[Any]], below: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the cuts for float64 values; NaN for "below minus infinity", which no cut can say and the core refuses."""
    if threshold.dtype == np.float32:
        return np.where(below, cut_below(threshold), cut_at_most(threshold))
    before = np.where(np.isneginf(threshold), np.nan, np.nextafter(threshold, -np.inf))
    return np.where(below, before, threshold)


def _score(model: Model, outputs: _Outputs) -> Score:
    """Return how GTIL adds up: in the type of the leaves, tree by tree, then the average, then the base scores.

    It adds the base scores in float64 to the sums of float32 models, and `Score` in float32: the last bit of scores may
    differ if the base score is not a float32 number (a logarithm that treelite took of XGBoost's).
    """
    field = partial(_field, model.get_header_accessor())
    average, task = bool(field("average_tree_output")[0]), int(field("task_type")[0])
    n_trees = np.sum([outputs.of_tree(k) for k in range(model.num_tree)], axis=0)[outputs.exists]
    if average and np.any(n_trees != n_trees[0]):
        message = f"the treelite model averages different numbers of trees for its outputs: {n_trees.tolist()}"
        raise UnsupportedModelError(message)
    units, link = POSTPROCESSORS.get(str(field("postprocessor")), ("score", "unknown"))
    if units == "probability" and not average:
        units = "score"
    alpha = float(field("sigmoid_alpha")[0]) if link == "logistic" else 1.0
    labels = _labels(outputs.exists, binary=task == BINARY)
    return Score(
        base=field("base_scores").copy().reshape(outputs.exists.shape)[outputs.exists],
        labels=labels,
        units=units if alpha == 1 else f"{units} / {alpha:g}",
        link=link,
        link_scale=alpha,
        divisor=float(n_trees[0]) if average else 1.0,
        base_first=False,
        dtype=model.output_type,
        binary=len(labels) == 2 and len(outputs.exists) == 1 and task in (BINARY, MULTICLASS),
        margin="unknown",
        target_classes=_target_classes(outputs.exists) if task in (BINARY, MULTICLASS) else (),
    )


def _target_classes(exists: NDArray[np.bool_]) -> tuple[tuple[Any, ...], ...]:
    """Return the classes of each of several targets: two if it has one output, that of the second."""
    n_classes = exists.sum(axis=1).tolist()
    if len(n_classes) == 1:
        return ()
    return tuple((0, 1) if max(n_classes) == 1 else tuple(range(n)) for n in n_classes)


def _labels(exists: NDArray[np.bool_], *, binary: bool) -> tuple[Any, ...]:
    if exists.shape == (1, 1):
        return (0, 1) if binary else ("prediction",)
    n_classes = exists.sum(axis=1).tolist()
    if len(exists) == 1 or max(n_classes) == 1:
        return tuple(range(sum(n_classes)))
    return tuple(f"y{target}={k}" for target, n in enumerate(n_classes) for k in range(n))
