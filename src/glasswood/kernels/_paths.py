"""What the paths of an ensemble say without data: the players of each leaf, its box, its share of the training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.kernels._compile import kernel

__all__ = ["cover_shares", "number_players", "player_shares", "trace_boxes"]


@kernel
def number_players(
    root: NDArray[np.int32],
    children: tuple[Any, ...],
    player: NDArray[np.int32],
    slots: tuple[Any, ...],
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
    slots : slot, is_new
        Written: 0 for the first player met on the path, 1 for the second, and so on; whether no node above has it.
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
    slot, is_new = slots
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
            slot[node], is_new[node] = s, s == used
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
    parents: tuple[Any, ...], nodes: tuple[Any, ...], features: tuple[Any, ...], first: Any, boxes: tuple[Any, ...]
) -> None:
    """Write, for every leaf and every feature of its path, the values of the feature that lead to the leaf.

    Parameters
    ----------
    parents : node_parent, leaf_parent, node_side, leaf_side
        The node above a node or leaf, or -1; and whether it is the left child.
    nodes : feature, slot, rank, category_set, missing_left, unseen_left, words
        `slot` is the place of a node's player on its path, `rank` that of its cut among the cuts of its feature.
    features : last_cell, n_words
        The number of cuts of each feature, and the number of words of its category sets (0 for numbers).
    first : ndarray of shape (n_leaves + 1,), int64
        Where the boxes of each leaf start.
    boxes : feature, slot, low, high, missing, unseen, sets
        Written. Numbers: the cells from `low` to `high`. Categories: the set that starts at word `low` of `sets`.
    """
    node_parent, leaf_parent, node_side, leaf_side = parents
    feature, slot, rank, category_set, missing_left, unseen_left, words = nodes
    last_cell, n_words = features
    feature_out, slot_out, low, high, missing, unseen, sets = boxes
    n_sets = 0
    for leaf in range(leaf_parent.size):
        node, to_left = leaf_parent[leaf], leaf_side[leaf]
        end = first[leaf]
        while node >= 0:
            f = feature[node]
            box = first[leaf]
            while box < end and feature_out[box] != f:
                box += 1
            if box == end:
                end += 1
                feature_out[box], slot_out[box] = f, slot[node]
                low[box], high[box], missing[box], unseen[box] = 0, last_cell[f], True, True
                if n_words[f] > 0:
                    low[box] = n_sets
                    for _ in range(n_words[f]):
                        sets[n_sets] = ~np.uint64(0)
                        n_sets += 1
            missing[box] = missing[box] and missing_left[node] == to_left
            if n_words[f] > 0:
                unseen[box] = unseen[box] and unseen_left[node] == to_left
                for word in range(n_words[f]):
                    bits = words[category_set[node] + word]
                    sets[low[box] + word] &= bits if to_left else ~bits
            elif to_left:
                high[box] = min(high[box], rank[node])
            else:
                low[box] = max(low[box], rank[node] + 1)
            node, to_left = node_parent[node], node_side[node]


@kernel
def player_shares(
    parents: tuple[Any, ...], covers: tuple[Any, ...], slots: tuple[Any, ...], shares: NDArray[np.float64]
) -> None:
    """Write the share of the training weight that gets past each player of each leaf's path.

    It is the product, over the nodes of the path that are the player's, of the covers of child and node.

    Parameters
    ----------
    parents : node_parent, leaf_parent, node_side, leaf_side
        As for `trace_boxes`.
    covers : node cover, leaf cover
    slots : slot, slot_first
        The slot of each node, and where the slots of each leaf start.
    shares : ndarray of float64
        Written, one per slot of each leaf.
    """
    node_parent, leaf_parent = parents[0], parents[1]
    cover, leaf_cover = covers
    slot, slot_first = slots
    for i in range(shares.size):
        shares[i] = 1.0
    for leaf in range(leaf_parent.size):
        node, below = leaf_parent[leaf], leaf_cover[leaf]
        while node >= 0:
            shares[slot_first[leaf] + slot[node]] *= below / cover[node] if cover[node] > 0 else 0.0
            node, below = node_parent[node], cover[node]


@kernel
def cover_shares(
    slot_first: NDArray[np.int64], shares: NDArray[np.float64], subsets: tuple[Any, ...], out: tuple[Any, ...]
) -> None:
    """Write the share of the training weight that path-dependent methods give to each leaf and player set.

    It is the product of the shares of the players that are not in the set.

    Parameters
    ----------
    slot_first, shares
        As `player_shares` writes them.
    subsets : size, has
    out : leaf_offset, products
        `products` is written at the places that `leaf_offset` gives.
    """
    size, has = subsets
    leaf_offset, products = out
    for leaf in range(slot_first.size - 1):
        first = slot_first[leaf]
        used = slot_first[leaf + 1] - first
        for i in range(size[used]):
            product = 1.0
            for player in range(used):
                if not has[player, i]:
                    product *= shares[first + player]
            products[leaf_offset[leaf] + i] = product
