"""Counting with bitsets: a block of rows at a time, 64 rows to a word. For trees of up to about a thousand leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.kernels._bits import (
    BYTES,
    ROWS,
    WORDS,
    compare,
    compare_or_missing,
    compare_or_missing_single,
    compare_single,
    count,
    count_drop,
    count_keep,
    drop,
    keep,
    load_double,
    load_single,
)
from glasswood.kernels._compile import kernel, part

__all__ = ["count_with_bitsets"]


@kernel
def count_with_bitsets(
    columns: tuple[Any, ...],
    n_rows: int,
    conditions: tuple[Any, ...],
    trees: tuple[Any, ...],
    subsets: tuple[Any, ...],
    counts: NDArray[np.int64],
    met: NDArray[np.int64],
) -> None:
    """Add the numbers G_l(S) of some rows to `counts`.

    G_l(S) is the number of rows that meet every condition on the path of leaf l, except perhaps those on players in S.

    Parameters
    ----------
    columns : address, stride, is_single
        The encoded columns of the rows: where they start, the bytes from row to row, float32 or float64.
    n_rows : int
    conditions : first, cut, cut_single, category_set, missing_left, unseen_left, words
        The distinct conditions of the trees, those on column c from ``first[c]`` to ``first[c + 1]``; `cut_single` is
        the largest float32 that is at most the cut.
    trees : root, left, right, slot, condition, leaf_offset, depth
        `slot` is the place of a node's player among the players of its path, `leaf_offset` that of a leaf's counts.
    subsets : size, rest, has
        Tables of the player sets, see `glasswood._plan.Subsets`.
    counts : ndarray of int64
        Added to.
    met : ndarray of int64, one per condition
        Added to: the number of rows that meet each condition.

    Notes
    -----
    Each distinct condition is evaluated once per block. Then the trees are walked with one bitset per player set: those
    whose set has the condition's player pass on unchanged (no work), the others lose the rows that break it. Empty
    bitsets are dropped, and subtrees without any. Costs, per block of 4,096 rows, about 0.3 microseconds per condition
    and 10 nanoseconds per node and set.
    """
    root, left, right, slot, condition, leaf_offset, depth = trees
    size, rest, has = subsets
    masks = np.empty((met.size + 1, WORDS), dtype=np.uint64)
    full = np.empty(WORDS, dtype=np.uint64)
    scratch = np.empty(((depth + 1) * size[-1], WORDS), dtype=np.uint64)
    where = np.zeros((depth + 1, size[-1]), dtype=np.int64)
    block = np.empty(ROWS)
    for start in range(0, n_rows, ROWS):
        n_here = min(ROWS, n_rows - start)
        for word in range(WORDS):
            n_bits = min(64, max(0, n_here - 64 * word))
            full[word] = ~np.uint64(0) if n_bits == 64 else (np.uint64(1) << np.uint64(n_bits)) - np.uint64(1)
        _evaluate(columns, start, n_here, conditions, block, masks)
        for index in range(met.size):
            met[index] += count_keep(masks.ctypes.data + index * BYTES, full.ctypes.data)
        where[0, 0] = full.ctypes.data
        for tree in range(root.size):
            if root[tree] < 0:
                counts[leaf_offset[~root[tree]]] += n_here
            else:
                nodes = (left, right, slot, condition, leaf_offset)
                _walk(root[tree], nodes, masks.ctypes.data, scratch.ctypes.data, where, (size, rest, has), counts)


@part
def _evaluate(
    columns: tuple[Any, ...],
    start: int,
    n_rows: int,
    conditions: tuple[Any, ...],
    block: NDArray[np.float64],
    masks: NDArray[np.uint64],
) -> None:
    """Write the rows that meet each condition, for the block of rows from `start` on."""
    address, stride, is_single = columns
    first, cut, cut_single, category_set, missing_left, unseen_left, words = conditions
    for column in range(first.size - 1):
        at = address[column] + start * stride[column]
        single = is_single[column]
        if n_rows < ROWS or stride[column] != (4 if single else 8):
            # Not contiguous, or shorter than a block: copied as doubles, with NaN beyond the end.
            for row in range(n_rows):
                place = at + row * stride[column]
                block[row] = load_single(place) if single else load_double(place)
            for row in range(n_rows, ROWS):
                block[row] = np.nan
            at, single = block.ctypes.data, False
        for index in range(first[column], first[column + 1]):
            out = masks.ctypes.data + index * BYTES
            if category_set[index] >= 0:
                sides = (missing_left[index], unseen_left[index])
                _match(at, single, words, category_set[index], sides, masks[index])
            elif single and missing_left[index]:
                for word in range(WORDS):
                    compare_or_missing_single(at + word * 256, cut_single[index], out + word * 8)
            elif single:
                for word in range(WORDS):
                    compare_single(at + word * 256, cut_single[index], out + word * 8)
            elif missing_left[index]:
                for word in range(WORDS):
                    compare_or_missing(at + word * 512, cut[index], out + word * 8)
            else:
                for word in range(WORDS):
                    compare(at + word * 512, cut[index], out + word * 8)


@part
def _match(
    at: int,
    is_single: bool,  # noqa: FBT001
    words: NDArray[np.uint64],
    category_set: int,
    sides: tuple[Any, ...],
    mask: NDArray[np.uint64],
) -> None:
    """Write which rows of a block have a category of the set that starts at word `category_set`."""
    missing_left, unseen_left = sides
    for word in range(WORDS):
        bits = np.uint64(0)
        for bit in range(64):
            row = word * 64 + bit
            x = load_single(at + row * 4) if is_single else load_double(at + row * 8)
            if x != x:
                goes_left = missing_left
            elif x < 0:
                goes_left = unseen_left
            else:
                code = np.int64(x)
                goes_left = bool((words[category_set + (code >> 6)] >> np.uint64(code & 63)) & np.uint64(1))
            bits |= np.uint64(goes_left) << np.uint64(bit)
        mask[word] = bits


@part
def _walk(
    root: int,
    nodes: tuple[Any, ...],
    masks: int,
    scratch: int,
    where: NDArray[np.int64],
    subsets: tuple[Any, ...],
    counts: NDArray[np.int64],
) -> None:
    """Walk one tree. ``where[level, i]`` is the address of the bitset of player set i, or 0 if it is empty.

    One function, although a long one: passing arrays to another costs more than what would be done there.
    """
    left, right, slot, condition, leaf_offset = nodes
    size, rest, has = subsets
    node_at = np.empty((where.shape[0], 3), dtype=np.int64)  # node, number of players before it, next side
    level = 0
    node_at[0, 0], node_at[0, 1], node_at[0, 2] = root, 0, 0
    while level >= 0:
        node, used, side = node_at[level, 0], node_at[level, 1], node_at[level, 2]
        if side == 2:
            level -= 1
            continue
        node_at[level, 2] = side + 1
        mask = masks + np.int64(condition[node]) * BYTES
        s = slot[node]
        new = s == used
        child = left[node] if side == 0 else right[node]
        if child < 0:
            # Count behind the branch, without writing the bitsets.
            at = leaf_offset[~child]
            for i in range(size[used]):
                rows = where[level, i]
                if rows != 0:
                    if not new and has[s, i]:
                        counts[at + i] += count(rows)
                    elif side == 0:
                        counts[at + i] += count_keep(rows, mask)
                    else:
                        counts[at + i] += count_drop(rows, mask)
            if new:
                for i in range(size[used], size[used + 1]):
                    rows = where[level, rest[i]]
                    if rows != 0:
                        counts[at + i] += count(rows)
            continue
        out = scratch + np.int64(level + 1) * size[-1] * BYTES
        alive = False
        for i in range(size[used]):
            rows = where[level, i]
            if rows != 0:
                if new or not has[s, i]:
                    at = out + i * BYTES
                    some = keep(at, rows, mask) if side == 0 else drop(at, rows, mask)
                    rows = at if some != 0 else np.int64(0)
                alive = alive or rows != 0
            where[level + 1, i] = rows
        if new:  # the sets with a new player are free of its condition, so they are the parent's without it
            for i in range(size[used], size[used + 1]):
                rows = where[level, rest[i]]
                where[level + 1, i] = rows
                alive = alive or rows != 0
        if alive:
            level += 1
            node_at[level, 0], node_at[level, 1], node_at[level, 2] = child, used + new, 0
