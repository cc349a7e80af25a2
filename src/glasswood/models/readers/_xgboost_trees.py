"""The trees of an XGBoost model, from its document to the arrays of a TreeEnsemble, all trees at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import UnsupportedModelError
from glasswood.models._ensemble import CategorySets, int32
from glasswood.models.readers._json import number_array
from glasswood.models.readers._rounding import cut_below
from glasswood.tables._columns import Column
from glasswood.text._printable import how_many

__all__ = ["Part", "Trees", "check_keys", "count_bits", "count_codes", "numbers_of", "read_trees", "whole_number"]

Part = dict[str, Any]
"""An object of the document. Arrays are lists if it was text, NumPy arrays if it was binary."""

PER_NODE = {"left_children", "right_children", "split_indices", "split_conditions", "split_type", "default_left"}
COVER = {"sum_hessian"}  # not there if leaves hold vectors, before 3.2
KNOWN = PER_NODE | COVER | {"id", "tree_param", "leaf_weights", "base_weights"}
KNOWN |= {"categories", "categories_nodes", "categories_segments", "categories_sizes"}
PER_NODE_NOT_READ = {"loss_changes", "parents"}
KNOWN |= PER_NODE_NOT_READ
MAX_CODES = 2**24  # larger numbers are not categories for XGBoost

# The kinds of numbers that become a type.
KINDS: dict[Any, str] = {np.int64: "iu", np.float32: "iuf", np.bool_: "biu", np.uint8: "iu"}


class Trees(NamedTuple):
    """The trees in use.

    `outputs` has the output that each tree adds to. `weights` has the factor of each tree in a DART model. With
    `base`, XGBoost takes the value of a leaf from its sum with the base of the tree's output, in float32.
    """

    parts: Sequence[Part]
    outputs: NDArray[np.int64]
    weights: NDArray[np.float32] | None = None
    base: NDArray[np.float32] | None = None


def check_keys(part: Part, known: set[str], name: str) -> None:
    """Refuse a part with keys that are not known and not empty: they may change predictions."""
    unknown = [key for key in part.keys() - known if not _is_empty(part[key])]
    if unknown:
        message = (
            f"the {name} has parts that this version of Glasswood does not know: {', '.join(sorted(unknown))}. It was "
            "saved by a newer XGBoost, or is not an XGBoost model; please report it."
        )
        raise UnsupportedModelError(message)


def _is_empty(value: object) -> bool:
    return value is None or (hasattr(value, "__len__") and len(value) == 0)


def whole_number(value: object) -> int:
    """Return a whole number, which documents have as a number or as text."""
    if type(value) is int or (isinstance(value, str) and re.fullmatch(r"-?\d{1,18}", value, flags=re.ASCII)):
        return int(value)
    message = f"{str(value)[:50]!r} where a whole number was expected"
    raise UnsupportedModelError(message)


def numbers_of(values: object, name: str, dtype: type[Any]) -> NDArray[Any]:
    """Return a list of numbers as an array, if they are of a kind that becomes the type without loss."""
    return _all_numbers([values], name, dtype)


def _all_numbers(lists: Iterable[Any], name: str, dtype: type[Any]) -> NDArray[Any]:
    """Return several lists of numbers as one array."""
    arrays = [number_array(values, name) for values in lists]
    kinds = {array.dtype: array.dtype.kind in KINDS[dtype] and array.dtype != np.uint64 for array in arrays}
    if not all(kinds.values()):
        arrays = [array for array in arrays if array.size]  # an empty list has any type
        if not all(kinds[array.dtype] for array in arrays):
            message = f"{name} does not hold the expected numbers; the model is damaged"
            raise UnsupportedModelError(message)
    array = np.concatenate(arrays) if arrays else np.empty(0, dtype)
    limits = {np.bool_: (0, 1), np.uint8: (-128, 255)}.get(dtype)
    if limits and array.size and not (array.min() >= limits[0] and array.max() <= limits[1]):
        message = f"{name} holds numbers beyond {limits[1]}; the model is damaged"
        raise UnsupportedModelError(message)
    with np.errstate(over="ignore"):  # what is too large is infinite, for XGBoost, too
        return array.astype(dtype)


def count_codes(parts: Sequence[Part], n_features: int) -> NDArray[np.int64]:
    """Return, for each feature, one more than the largest category that some node sends right."""
    n_codes = np.zeros(n_features, dtype=np.int64)
    for part in parts:
        for node, categories in _sets_of(part):
            feature = part["split_indices"][node]
            if not 0 <= feature < n_features:
                message = f"a tree splits on feature {feature} of {n_features}"
                raise UnsupportedModelError(message)
            n_codes[feature] = max(n_codes[feature], categories.max() + 1)
    return n_codes


def count_bits(parts: Sequence[Part]) -> int:
    """Return the number of bits of all category sets: one per category of the feature, for each node."""
    size: dict[int, int] = {}
    n_nodes: dict[int, int] = {}
    for part in parts:
        for node, categories in _sets_of(part):
            feature = int(part["split_indices"][node])
            size[feature] = max(size.get(feature, 0), int(categories.max()) + 1)
            n_nodes[feature] = n_nodes.get(feature, 0) + 1
    return sum(size[feature] * n for feature, n in n_nodes.items())


def _sets_of(part: Part) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield each node of a tree that splits by category, with the categories that it sends right."""
    if not len(part["categories_nodes"]):
        return
    categories = numbers_of(part["categories"], "categories", np.int64)
    names = ("categories_nodes", "categories_segments", "categories_sizes")
    for node, start, size in zip(*(numbers_of(part[name], name, np.int64) for name in names), strict=True):
        known = categories[max(start, 0) : max(start, 0) + max(size, 0)]
        if start < 0 or size < 1 or known.size != size or known.min() < 0 or known.max() >= MAX_CODES or node < 0:
            message = f"the categories of node {node} are damaged"
            raise UnsupportedModelError(message)
        if part["left_children"][node] >= 0:  # pruning keeps the sets of nodes that it turns into leaves
            yield int(node), known


def read_trees(trees: Trees, n_outputs: int, columns: Sequence[Column]) -> dict[str, Any]:
    """Return the arrays of a `TreeEnsemble`."""
    parts = trees.parts
    sizes = _sizes(trees)
    roots = np.cumsum(sizes) - sizes
    tree = np.repeat(np.arange(len(parts)), sizes)
    feature = _joined(parts, "split_indices", np.int64)
    left, right = _children(parts, roots[tree], sizes[tree])
    used = np.zeros(tree.size, dtype=bool)  # pruned nodes stay in the arrays, as leaves without a parent
    used[roots] = used[left[left >= 0]] = used[right[left >= 0]] = True
    inner, leaf = np.flatnonzero(used & (left >= 0)), np.flatnonzero(used & (left < 0))
    number = np.empty(tree.size, dtype=np.int32)
    number[inner], number[leaf] = np.arange(inner.size), ~np.arange(leaf.size)
    has_cover = all(part.keys() >= COVER for part in parts)
    cover = _joined(parts, "sum_hessian", np.float32).astype(np.float64) if has_cover else None
    sets = CategorySets()
    category_set = _category_sets(parts, roots, feature, columns, sets)[inner]
    value, outputs = _leaf_values(trees, leaf, tree[leaf], n_outputs)
    cut = _joined(parts, "split_conditions", np.float32)[inner]
    return {
        "root": number[roots],
        "tree_output": outputs,
        "feature": int32(feature[inner], "split_indices"),
        "cut": np.where(category_set < 0, cut_below(cut), 0.0),
        "left": number[left[inner]],
        "right": number[right[inner]],
        "missing_left": _joined(parts, "default_left", np.bool_)[inner],
        "category_set": category_set,
        "unseen_left": category_set >= 0,  # a category in no set goes left
        "words": sets.words,
        "value": value,
        "cover": None if cover is None else cover[inner],
        "leaf_cover": None if cover is None else cover[leaf],
    }


def _sizes(trees: Trees) -> NDArray[np.int64]:
    """Return the number of nodes of each tree, if its arrays agree on it."""
    if len(trees.outputs) != len(trees.parts):
        message = f"the model has {how_many(len(trees.parts), 'tree')}, but names the outputs of {len(trees.outputs)}"
        raise UnsupportedModelError(message)
    for part in trees.parts:
        check_keys(part, KNOWN, "tree")
        lengths = {len(part[name]) for name in PER_NODE | (part.keys() & (COVER | PER_NODE_NOT_READ))}
        lengths.add(whole_number(part["tree_param"].get("num_nodes", len(part["left_children"]))))
        if len(lengths) != 1 or lengths == {0}:
            message = f"tree {part['id']} is broken: its arrays differ in length, or are empty"
            raise UnsupportedModelError(message)
    return np.array([len(part["left_children"]) for part in trees.parts], dtype=np.int64)


def _joined(parts: Sequence[Part], name: str, dtype: type[np.generic]) -> NDArray[Any]:
    """Return an array of all trees, concatenated."""
    return _all_numbers([part[name] for part in parts], name, dtype)


def _children(
    parts: Sequence[Part], root: NDArray[np.int64], size: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each node's children, numbered through all trees, and -1 at leaves."""
    left, right = (_joined(parts, name, np.int64) for name in ("left_children", "right_children"))
    inner = left >= 0
    if not all(np.all((child > 0) & (child < size) | ~inner) for child in (left, right)):
        message = "a tree is broken: a child is not one of its nodes"
        raise UnsupportedModelError(message)
    return np.where(inner, left + root, -1), np.where(inner, right + root, -1)


def _leaf_values(
    trees: Trees, leaf: NDArray[np.intp], tree: NDArray[np.int64], n_outputs: int
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return the value of each leaf, given its node and tree, and the output that each tree adds to."""
    sizes = {max(whole_number(part["tree_param"]["size_leaf_vector"]), 1) for part in trees.parts}  # 0 before 2.0
    if sizes == {1}:
        value, outputs = _joined(trees.parts, "split_conditions", np.float32)[leaf, None], trees.outputs
    elif sizes == {n_outputs}:
        value = np.concatenate([_vectors(part, n_outputs) for part in trees.parts])[leaf]
        outputs = np.full(len(trees.parts), -1)
    else:
        message = f"leaves have {sorted(sizes)} values, for {how_many(n_outputs, 'output')}"
        raise UnsupportedModelError(message)
    if outputs.size and not -1 <= outputs.min() <= outputs.max() < n_outputs:
        message = f"a tree adds to output {outputs.max()} of {n_outputs}"
        raise UnsupportedModelError(message)
    if trees.base is not None:
        base = trees.base[outputs[tree], None]
        value = (base + value) - base
    if trees.weights is not None:
        value = value * trees.weights[tree, None]
    return value.astype(np.float64), int32(outputs, "tree_info")


def _vectors(part: Part, size: int) -> NDArray[np.float32]:
    """Return one vector for each node, of which those of leaves count."""
    left, right = (numbers_of(part[name], name, np.int64) for name in ("left_children", "right_children"))
    if len(part.get("leaf_weights", ())):
        # From 3.2 on, the right child of a leaf is its place in here.
        vectors = numbers_of(part["leaf_weights"], "leaf_weights", np.float32).reshape(-1, size)
        place = np.where(left < 0, right, 0)
        if place.min() < 0 or np.unique(place[left < 0]).size != np.sum(left < 0):
            message = f"two leaves of tree {part['id']} have the same vector of values, or one has none"
            raise UnsupportedModelError(message)
        return vectors[place]
    weights = numbers_of(part["base_weights"], "base_weights", np.float32)
    if weights.size != left.size * size:
        message = f"tree {part['id']} has {size} values in a leaf, but neither leaf_weights nor base_weights for them"
        raise UnsupportedModelError(message)
    return weights.reshape(-1, size)


def _category_sets(
    parts: Sequence[Part],
    roots: NDArray[np.int64],
    feature: NDArray[np.int64],
    columns: Sequence[Column],
    sets: CategorySets,
) -> NDArray[np.int32]:
    """Return the place of each node's category set, and -1 at nodes with a cut."""
    place = np.full(feature.size, -1, dtype=np.int32)
    counts = [len(part["categories_nodes"]) for part in parts]
    nodes = _joined(parts, "categories_nodes", np.int64) + np.repeat(roots, counts)
    if not np.array_equal(nodes, np.flatnonzero(_joined(parts, "split_type", np.bool_))):
        message = "some nodes split by category, but have no category set"
        raise UnsupportedModelError(message)
    for part, root in zip(parts, roots, strict=True):
        for node, categories in _sets_of(part):
            left = np.ones(columns[feature[root + node]].n_codes, dtype=bool)
            left[categories] = False
            place[root + node] = sets.add(left)
    return place
