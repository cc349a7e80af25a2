"""What the paths of an ensemble say without data: the players of each leaf, its box, its share of the training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.kernels._compile import kernel

__all__ = ["cover_shares", "number_players", "trace_boxes"]


@kernel
def number_players(
    root: NDArray[np.int32],
    children: tuple[Any, ...],
    player: NDArray[np.int32],
    slot: NDArray[np.int32],
    n_players: NDArray[np.int32],
    tree_of: tuple[Any, ...],
) -> int:
    """Write the place of each node's player among those of its path, and the number of players of each leaf.

    Parameters
    ----------
    root : ndarray of shape (n_trees,)
    children : left, right
    player : ndarray of shape (n_nodes,), int32
        The player of each node.
    slot : ndarray of shape (n_nodes,), int32
        Written: 0 for the first player met on the path, 1 for the second, and so on.
    n_players : ndarray of shape (n_leaves,), int32
        Written.
    tree_of : node_tree, leaf_tree
        Written: the tree of each node and of each leaf.

    Returns
    -------
    int
        The number of nodes on the longest path.
    """
    left, right = children
    node_tree, leaf_tree = tree_of
    stack = np.empty((64, 3), dtype=np.int64)  # node, players so far, depth
    path = np.empty(64, dtype=np.int64)
    longest = 0
    for tree in range(root.size):
        top = 0
        stack[0, 0], stack[0, 1], stack[0, 2] = root[tree], 0, 0
        while top >= 0:
            node, used, depth = stack[top, 0], stack[top, 1], stack[top, 2]
            longest = max(longest, depth)
            if node < 0:
                n_players[~node] = used
                leaf_tree[~node] = tree
                top -= 1
                continue
            if depth + 2 >= path.size:  # the stack and the path are never longer than the path to the node, plus one
                larger_stack = np.empty((2 * path.size, 3), dtype=np.int64)
                larger_path = np.empty(2 * path.size, dtype=np.int64)
                for i in range(path.size):
                    larger_path[i] = path[i]
                    for k in range(3):
                        larger_stack[i, k] = stack[i, k]
                stack, path = larger_stack, larger_path
            s = 0
            while s < used and path[s] != player[node]:
                s += 1
            slot[node] = s
            node_tree[node] = tree
            path[s] = player[node]
            used = max(used, s + 1)
            # The left child is dealt with first; it writes to places of the path that the right one has no use for.
            stack[top, 0], stack[top, 1], stack[top, 2] = right[node], used, depth + 1
            top += 1
            stack[top, 0], stack[top, 1], stack[top, 2] = left[node], used, depth + 1
    return longest


@kernel
def trace_boxes(
    trees: tuple[Any, ...], nodes: tuple[Any, ...], features: tuple[Any, ...], first: Any, boxes: tuple[Any, ...]
) -> NDArray[np.uint64]:
    """Write, for every leaf and every feature of its path, the values of the feature that lead to the leaf.

    Parameters
    ----------
    trees : root, left, right, depth
    nodes : feature, place, slot, rank, category_set, missing_left, unseen_left, words
        `place` numbers the features of a path as they are met, `slot` its players; `rank` is the place of the node's
        cut among the cuts of its feature.
    features : last_cell, n_words
        The number of cuts of each feature, and the number of words of its category sets (0 for numbers).
    first : ndarray of shape (n_leaves + 1,), int64
        Where the boxes of each leaf start.
    boxes : feature, slot, low, high, missing, unseen
        Written. Numbers: the cells from `low` to `high`. Categories: the set that starts at word `low` of the result.

    Returns
    -------
    ndarray of uint64
        The category sets of the boxes.
    """
    root, left, right, depth = trees
    feature, place, slot, rank, category_set, missing_left, unseen_left, words = nodes
    last_cell, n_words = features
    feature_out, slot_out, low_out, high_out, missing_out, unseen_out = boxes
    width = 1
    for f in range(n_words.size):
        width = max(width, n_words[f])
    # What is allowed at each place of the path; what was, before a level narrowed it; where the walk stands.
    box, box_before = np.empty((depth + 1, 4), dtype=np.int64), np.empty((depth + 1, 4), dtype=np.int64)
    allowed, allowed_before = (
        np.empty((depth + 1, width), dtype=np.uint64),
        np.empty((depth + 1, width), dtype=np.uint64),
    )
    path = np.empty((depth + 1, 2), dtype=np.int64)  # feature and slot of each place
    walk = np.empty((depth + 1, 3), dtype=np.int64)  # node, number of places before it, next side
    sets, n_sets = np.empty(1024, dtype=np.uint64), 0
    for tree in range(root.size):
        level = 0 if root[tree] >= 0 else -1
        walk[0, 0], walk[0, 1], walk[0, 2] = root[tree], 0, 0
        while level >= 0:
            node, used, side = walk[level, 0], walk[level, 1], walk[level, 2]
            here, n_here = place[node], n_words[feature[node]]
            if side == 0:
                if here == used:
                    path[here, 0], path[here, 1] = feature[node], slot[node]
                    box[here, 0], box[here, 1], box[here, 2], box[here, 3] = 0, last_cell[feature[node]], 1, 1
                    for word in range(n_here):
                        allowed[here, word] = ~np.uint64(0)
                for k in range(4):
                    box_before[level, k] = box[here, k]
                for word in range(n_here):
                    allowed_before[level, word] = allowed[here, word]
            else:
                for k in range(4):
                    box[here, k] = box_before[level, k]
                for word in range(n_here):
                    allowed[here, word] = allowed_before[level, word]
            if side == 2:
                level -= 1
                continue
            walk[level, 2] = side + 1
            box[here, 2] &= missing_left[node] == (side == 0)
            if n_here > 0:
                box[here, 3] &= unseen_left[node] == (side == 0)
                for word in range(n_here):
                    bits = words[category_set[node] + word]
                    allowed[here, word] &= bits if side == 0 else ~bits
            elif side == 0:
                box[here, 1] = min(box[here, 1], rank[node])
            else:
                box[here, 0] = max(box[here, 0], rank[node] + 1)
            child = left[node] if side == 0 else right[node]
            n_places = max(used, here + 1)
            if child >= 0:
                level += 1
                walk[level, 0], walk[level, 1], walk[level, 2] = child, n_places, 0
                continue
            if n_sets + n_places * width > sets.size:
                larger = np.empty(2 * sets.size + n_places * width, dtype=np.uint64)
                for k in range(n_sets):
                    larger[k] = sets[k]
                sets = larger
            for k in range(n_places):
                at = first[~child] + k
                feature_out[at], slot_out[at] = path[k, 0], path[k, 1]
                low_out[at], high_out[at] = box[k, 0], box[k, 1]
                missing_out[at], unseen_out[at] = box[k, 2] != 0, box[k, 3] != 0
                if n_words[path[k, 0]] > 0:
                    low_out[at] = n_sets
                    for word in range(n_words[path[k, 0]]):
                        sets[n_sets] = allowed[k, word]
                        n_sets += 1
    return sets[:n_sets]


@kernel
def cover_shares(
    trees: tuple[Any, ...], covers: tuple[Any, ...], slot: Any, subsets: tuple[Any, ...], out: tuple[Any, ...]
) -> None:
    """Write the share of the training weight that path-dependent methods give to each leaf and player set.

    It is the product, over the nodes of the path whose player is not in the set, of the covers of child and node.

    Parameters
    ----------
    trees : root, left, right, depth
    covers : node cover, leaf cover
    slot : ndarray of shape (n_nodes,)
    subsets : size, has
    out : leaf_offset, shares
        `shares` is written at the places that `leaf_offset` gives.
    """
    root, left, right, depth = trees
    cover, leaf_cover = covers
    size, has = subsets
    leaf_offset, shares = out
    share = np.empty(depth + 1)
    saved = np.empty(depth + 1)
    level_at = np.empty((depth + 1, 3), dtype=np.int64)  # node, number of players before it, next side
    for tree in range(root.size):
        if root[tree] < 0:
            shares[leaf_offset[~root[tree]]] = 1.0
            continue
        level = 0
        level_at[0, 0], level_at[0, 1], level_at[0, 2] = root[tree], 0, 0
        while level >= 0:
            node, used, side = level_at[level]
            s = slot[node]
            if side == 0:
                saved[level] = 1.0 if s == used else share[s]
            if side == 2:
                share[s] = saved[level]
                level -= 1
                continue
            level_at[level, 2] = side + 1
            child = left[node] if side == 0 else right[node]
            below = cover[child] if child >= 0 else leaf_cover[~child]
            share[s] = saved[level] * (below / cover[node] if cover[node] > 0 else 0.0)
            n_players = max(used, s + 1)
            if child >= 0:
                level += 1
                level_at[level, 0], level_at[level, 1], level_at[level, 2] = child, n_players, 0
            else:
                for i in range(size[n_players]):
                    product = 1.0
                    for player in range(n_players):
                        if not has[player, i]:
                            product *= share[player]
                    shares[leaf_offset[~child] + i] = product
