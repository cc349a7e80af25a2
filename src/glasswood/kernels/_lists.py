"""Counting with lists of rows: for trees of thousands of leaves, where few rows are left at a node, and for weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.kernels._bits import load_double, load_single
from glasswood.kernels._compile import kernel, part

__all__ = ["BLOCK", "count_with_lists", "rank_rows", "subset_sums"]

BLOCK = 8192  # rows, at most
ROW_BITS = np.uint32(13)  # of an item; the others hold its set
ROW_MASK = np.uint32(BLOCK - 1)
MISSING = 2**31 - 1


@kernel
def count_with_lists(
    n_rows: int,
    ranks: NDArray[np.int32],
    trees: tuple[Any, ...],
    following: NDArray[np.int32],
    weight: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None:
    """Add to `counts` the number (or weight) of rows that break the conditions of exactly the players S of each leaf.

    Parameters
    ----------
    n_rows : int
        Of a block: at most `BLOCK`.
    ranks : ndarray of shape (n_columns, BLOCK), int32
        As `rank_rows` writes them.
    trees : root, left, right, slot, column, rank, category_set, missing_left, unseen_left, words, leaf_offset, depth
        `rank` is the place of a node's cut among the cuts of its column.
    following : ndarray of shape (n_players, n_sets), int32
        The number of a set with a player added, or of the set itself if it has the player; -1 if it may not grow. At
        most 2**19 sets, so that a row and a set fit in 32 bits.
    weight : ndarray of int64
        The weight of each row, or empty: every row counts 1.
    counts : ndarray of int64
        Added to; `subset_sums` turns them into G.

    Notes
    -----
    An item is a row and the set of players whose conditions it has broken so far, in one word. At a node it goes to the
    child where it belongs, and to the other one with the node's player added to the set, if the set may grow or has the
    player already. Values are replaced by their rank among the cuts before, so that a node compares small integers.
    About 3.5 nanoseconds per item and node.
    """
    root, depth = trees[0], trees[11]
    items = np.empty(4 * BLOCK, dtype=np.uint32)
    levels = np.empty((depth + 2, 3), dtype=np.int64)
    for tree in range(root.size):
        items = _walk(root[tree], n_rows, ranks, trees, following, weight, counts, levels, items)


@kernel
def rank_rows(
    columns: tuple[Any, ...],
    n_rows: int,
    cuts: tuple[Any, ...],
    weight: NDArray[np.int64],
    ranks: NDArray[np.int32],
    cells: NDArray[np.int64],
) -> None:
    """Write the number of cuts below each value, the code of a category, `MISSING` for NaN; add up rows per cell.

    Parameters
    ----------
    columns : address, stride, is_single
        As for `count_with_bitsets`.
    n_rows : int
        Of a block: at most `BLOCK`.
    cuts : values, first, n_codes, place, n_cells
        The sorted cuts of each column, from ``first[c]`` on; its number of categories, 0 for numbers; where its cells
        start in the vector of cells, and how many there are.
    weight : ndarray of int64
        The weight of each row, or empty: every row counts 1.
    ranks : ndarray of shape (n_columns, BLOCK), int32
        Written.
    cells : ndarray of int64
        Added to: the number (or weight) of rows in each cell.
    """
    address, stride, is_single = columns
    values, first, n_codes, place, n_cells = cuts
    for column in range(address.size):
        for row in range(n_rows):
            at = address[column] + row * stride[column]
            x = load_single(at) if is_single[column] else load_double(at)
            if x != x:
                rank, cell = np.int64(MISSING), n_cells[column] - 1
            elif n_codes[column] > 0:
                rank = np.int64(x)
                cell = rank if rank >= 0 else n_codes[column]
            else:
                low, high = first[column], first[column] + n_cells[column] - 2
                while low < high:
                    middle = (low + high) >> 1
                    if values[middle] < x:
                        low = middle + 1
                    else:
                        high = middle
                rank = low - first[column]
                cell = rank
            ranks[column, row] = rank
            cells[place[column] + cell] += weight[row] if weight.size else 1


@part
def _walk(
    root: int,
    n_rows: int,
    ranks: NDArray[np.int32],
    trees: tuple[Any, ...],
    following: NDArray[np.int32],
    weight: NDArray[np.int64],
    counts: NDArray[np.int64],
    levels: NDArray[np.int64],
    items: NDArray[np.uint32],
) -> NDArray[np.uint32]:
    """Send all rows of a block through one tree; return the stack of items, which may have grown."""
    _, left, right, slot, column, rank, category_set, missing_left, unseen_left, words, leaf_offset, _ = trees
    for row in range(n_rows):
        items[row] = row
    levels[0, 0], levels[0, 1], levels[0, 2] = root, 0, n_rows  # node, first and last item
    level = 0
    while level >= 0:
        node, first, last = levels[level, 0], np.uint64(levels[level, 1]), np.uint64(levels[level, 2])
        level -= 1
        if node < 0:
            offset = np.uint64(leaf_offset[~node])
            for at in range(first, last):
                state = np.uint64(items[at] >> ROW_BITS)
                counts[offset + state] += weight[items[at] & ROW_MASK] if weight.size else 1
            continue
        if 2 * last - first > items.size:
            larger = np.empty(2 * (items.size + last), dtype=np.uint32)
            for at in range(last):
                larger[at] = items[at]
            items = larger
        ranks_here, next_state = ranks[column[node]], following[slot[node]]
        # The items of the right child take the place of those that have been read; the left ones follow behind.
        to_right, to_left = first, last
        by_set = category_set[node]
        # Adding one turns the largest int32, which stands for missing, into the smallest.
        turn = np.int32(1) if missing_left[node] else np.int32(0)
        bound = np.int32(rank[node] + turn)
        for at in range(first, last):
            item = items[at]
            row = item & ROW_MASK
            other = next_state[item >> ROW_BITS]
            if by_set < 0:
                goes_left = np.int32(ranks_here[row] + turn) <= bound
            else:
                code = np.int64(ranks_here[row])
                if code == MISSING:
                    goes_left = missing_left[node]
                elif code < 0:
                    goes_left = unseen_left[node]
                else:
                    goes_left = (words[by_set + (code >> 6)] >> np.uint64(code & 63)) & np.uint64(1) != 0
            may_break = other >= 0
            broken = row | (np.uint32(other) << ROW_BITS)
            items[to_left] = item if goes_left else broken
            to_left += np.uint64(goes_left | may_break)
            items[to_right] = broken if goes_left else item
            to_right += np.uint64((not goes_left) | may_break)
        if to_right > first:
            level += 1
            levels[level, 0], levels[level, 1], levels[level, 2] = right[node], first, to_right
        if to_left > last:
            level += 1
            levels[level, 0], levels[level, 1], levels[level, 2] = left[node], last, to_left
    return items


@kernel
def subset_sums(
    leaf_offset: NDArray[np.int64], n_players: NDArray[np.int32], subsets: tuple[Any, ...], counts: NDArray[np.int64]
) -> None:
    """Turn the rows that break exactly the players S into those that break no others than S: sums over subsets.

    `subsets` are the tables size and minus, see `glasswood._plan.Subsets`.
    """
    size, minus = subsets
    for leaf in range(n_players.size):
        offset, used = leaf_offset[leaf], n_players[leaf]
        for s in range(used):
            for i in range(size[used]):
                if minus[s, i] >= 0:
                    counts[offset + i] += counts[offset + minus[s, i]]
