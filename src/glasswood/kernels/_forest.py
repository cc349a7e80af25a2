"""Trees as arrays: taking a library's trees apart, checking that they are trees, and sending rows through them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.kernels._compile import kernel, part

__all__ = ["add_leaf_values", "is_forest", "take_apart"]

MOST_FEATURES = 2**31


@part
def _goes_left(x: float, split: tuple[Any, ...], words: NDArray[np.uint64]) -> bool:
    """Return whether a value takes the left branch: the canonical node of `TreeEnsemble`."""
    cut, missing_left, category_set, unseen_left = split
    if x != x:
        return bool(missing_left)
    if category_set < 0:
        return bool(x <= cut)
    if x < 0:
        return bool(unseen_left)
    code = int(x)
    return bool((words[category_set + (code >> 6)] >> np.uint64(code & 63)) & np.uint64(1))


@kernel
def add_leaf_values(
    rows: NDArray[np.float64],
    trees: tuple[Any, ...],
    nodes: tuple[Any, ...],
    words: NDArray[np.uint64],
    value: NDArray[Any],
    scores: NDArray[Any],
) -> None:
    """Add the value of the leaf that each row reaches in each tree to `scores`, tree by tree.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns), float64, C order
        The encoded table; the nodes' `feature` numbers these columns.
    trees : root, tree_output
        As in `TreeEnsemble`.
    nodes : feature, cut, left, right, missing_left, category_set, unseen_left
        As in `TreeEnsemble`.
    words : ndarray of uint64
        The category sets.
    value : ndarray of shape (n_leaves, n_values)
        Of the dtype of `scores`, so that every addition is done in the library's own precision.
    scores : ndarray of shape (n_rows, n_outputs)
        Written: the sums so far.

    Notes
    -----
    Costs n_rows x n_trees x depth steps. Trees are the outer loop, so that a tree stays in the cache.
    """
    root, tree_output = trees
    feature, cut, left, right, missing_left, category_set, unseen_left = nodes
    for tree in range(root.size):
        output = tree_output[tree]
        for row in range(rows.shape[0]):
            node = root[tree]
            while node >= 0:
                split = (cut[node], missing_left[node], category_set[node], unseen_left[node])
                goes_left = _goes_left(rows[row, feature[node]], split, words)
                node = left[node] if goes_left else right[node]
            leaf = ~node
            if output >= 0:
                scores[row, output] += value[leaf, 0]
            else:
                for k in range(scores.shape[1]):
                    scores[row, k] += value[leaf, k]


@kernel
def take_apart(
    tree: tuple[Any, ...], numbers: tuple[int, int, int], nodes: tuple[Any, ...], leaves: tuple[Any, ...]
) -> bool:
    """Write the inner nodes of a tree one behind the other, and likewise its leaves.

    Parameters
    ----------
    tree : feature, cut, left, right, missing_left, value, cover
        One entry per node of the tree, leaves included; `left` is negative at leaves. Any layout. `cover` may be empty.
    numbers : first_node, first_leaf, n_inner
        The numbers of the tree's first inner node and first leaf, and how many inner nodes there are.
    nodes : feature, cut, left, right, missing_left, cover
        Written: one entry per inner node, of all trees. A child is a node, or ``~leaf``.
    leaves : value, cover
        Written: one entry per leaf, of all trees.

    Returns
    -------
    bool
        False if the tree has another number of inner nodes, a child that is none of its nodes, or a feature that no
        table can have.

    Notes
    -----
    Two passes over the tree. A library keeps a node's fields side by side, so each node is fetched from memory twice,
    and not once per field.
    """
    feature, cut, left, right, missing_left, value, cover = tree
    feature_out, cut_out, left_out, right_out, missing_left_out, cover_out = nodes
    leaf_value_out, leaf_cover_out = leaves
    number = np.empty(left.size, dtype=np.int32)
    first_node, first_leaf, n_inner = numbers
    node, leaf = first_node, first_leaf
    for place in range(left.size):
        if left[place] >= 0:
            number[place] = node
            node += 1
        else:
            number[place] = ~leaf
            leaf += 1
    if node != first_node + n_inner:
        return False
    node, leaf = first_node, first_leaf
    for place in range(left.size):
        if left[place] >= 0:
            if max(left[place], right[place]) >= left.size or right[place] < 0:
                return False
            if not 0 <= feature[place] < MOST_FEATURES:
                return False
            feature_out[node] = feature[place]
            cut_out[node] = cut[place]
            left_out[node] = number[left[place]]
            right_out[node] = number[right[place]]
            missing_left_out[node] = missing_left[place] != 0
            if cover.size:
                cover_out[node] = cover[place]
            node += 1
        else:
            for k in range(value.shape[1]):
                leaf_value_out[leaf, k] = value[place, k]
            if cover.size:
                leaf_cover_out[leaf] = cover[place]
            leaf += 1
    return True


@kernel
def is_forest(root: NDArray[np.int32], left: NDArray[np.int32], right: NDArray[np.int32], n_leaves: int) -> bool:
    """Return whether every inner node and leaf is a root or the child of one node only, and below some root.

    Notes
    -----
    What has one parent only is below a root, or in a cycle. There is no cycle if all children come after their parents,
    as in nearly all libraries; otherwise the trees are walked.
    """
    node_found = np.zeros(left.size, dtype=np.bool_)
    leaf_found = np.zeros(n_leaves, dtype=np.bool_)
    for children in (root, left, right):
        for child in children:
            if child >= left.size or ~child >= n_leaves:
                return False
            found = node_found if child >= 0 else leaf_found
            place = child if child >= 0 else ~child
            if found[place]:
                return False
            found[place] = True
    for found in (node_found, leaf_found):
        for one in found:
            if not one:
                return False
    for node in range(left.size):
        if 0 <= left[node] <= node or 0 <= right[node] <= node:
            return bool(_n_reached(root, left, right) == left.size)
    return True


@part
def _n_reached(root: NDArray[np.int32], left: NDArray[np.int32], right: NDArray[np.int32]) -> int:
    """Return the number of inner nodes below the roots, if no node has two parents."""
    waiting = np.empty(root.size + left.size, dtype=np.int32)
    n_waiting = n_reached = 0
    for node in root:
        waiting[n_waiting] = node
        n_waiting += 1
    while n_waiting > 0:
        n_waiting -= 1
        node = waiting[n_waiting]
        if node >= 0:
            n_reached += 1
            waiting[n_waiting] = left[node]
            waiting[n_waiting + 1] = right[node]
            n_waiting += 2
    return n_reached
