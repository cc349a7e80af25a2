"""Counting with bitsets: a block of rows at a time, 64 rows to a word. For trees of up to about a thousand leaves.

The rows of a block may belong to several groups, each with counts of its own: rows are sorted by group, so a group is a
run of bits, and only the counting behind a branch knows of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.kernels._bits import (
    BYTES,
    PLACE,
    ROWS,
    WORDS,
    add_to,
    bits_of,
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
    load_integer,
    load_short,
    load_single,
    load_word,
    need_soon,
    running_counts,
)
from glasswood.kernels._compile import hold, kernel, part

__all__ = ["count_categories", "count_with_bitsets"]

MANY_RUNS = 512  # of a block; beyond that, most counts of runs are 0, and the others are found by their bits
Address = int | np.int64
NO_FLIP, FLIP = np.uint64(0), ~np.uint64(0)


@kernel
def count_with_bitsets(
    columns: tuple[Any, ...],
    bounds: NDArray[np.int64],
    conditions: tuple[Any, ...],
    trees: tuple[Any, ...],
    subsets: tuple[Any, ...],
    noted: tuple[Any, ...],
    homes: tuple[Any, ...],
) -> None:
    """Add the numbers G_l(S) of the rows of each group to its counts.

    G_l(S) is the number of rows that meet every condition on the path of leaf l, except perhaps those on players in S.

    Parameters
    ----------
    columns : address, stride, is_single
        The encoded columns of the rows: where they start, the bytes from row to row, float32 or float64.
    bounds : ndarray of int64
        Where the rows of each group start, and at the end of the last one. No group is empty.
    conditions : first, cut, cut_single, category_set, missing_left, unseen_left, words
        The distinct conditions of the trees, those on column c from ``first[c]`` to ``first[c + 1]``; `cut_single` is
        the largest float32 that is at most the cut.
    trees : root, left, right, slot, condition, leaf_offset, depth
        `slot` is the place of a node's player among the players of its path, `leaf_offset` that of a leaf's counts.
    subsets : size, rest, has
        Tables of the player sets, see `glasswood._plan.Subsets`.
    noted : condition, place
        Conditions whose number of rows is added to the cells, and to which cell.
    homes : counts, cells
        The addresses of the counts and of the cells of each group, int64. Added to.

    Notes
    -----
    Each distinct condition is evaluated once per block. Then the trees are walked with one bitset per player set: those
    whose set has the condition's player pass on unchanged (no work), the others lose the rows that break it. Empty
    bitsets are dropped, and subtrees without any. Costs, per block of 4,096 rows, about 0.3 microseconds per condition
    and 10 nanoseconds per node and set; with several groups in a block, 3 nanoseconds more per leaf, set and group.
    """
    root, left, right, slot, condition, leaf_offset, depth = trees
    size, rest, has = subsets
    masks = np.empty((conditions[1].size + 1, WORDS), dtype=np.uint64)
    full = np.empty(WORDS, dtype=np.uint64)
    scratch = np.empty(((depth + 1) * size[-1], WORDS), dtype=np.uint64)
    where = np.zeros((depth + 1, size[-1]), dtype=np.int64)
    block = np.empty(ROWS)
    runs, run_of = np.empty((ROWS, 2), dtype=np.uint64), np.empty((WORDS, 64), dtype=np.uint16)
    running = np.empty((2, WORDS), dtype=np.int64)
    group = 0
    for start in range(bounds[0], bounds[-1], ROWS):
        n_here = min(ROWS, bounds[-1] - start)
        for word in range(WORDS):
            n_bits = min(64, max(0, n_here - 64 * word))
            full[PLACE[word]] = ~np.uint64(0) if n_bits == 64 else (np.uint64(1) << np.uint64(n_bits)) - np.uint64(1)
        n_runs = _find_runs(bounds[group:], start, n_here, runs, run_of)
        everyone, first_mask = np.int64(full.ctypes.data), np.int64(masks.ctypes.data)
        split = (n_runs, runs.ctypes.data, run_of.ctypes.data, running.ctypes.data)
        counts, cells = np.int64(homes[0].ctypes.data + 8 * group), np.int64(homes[1].ctypes.data + 8 * group)
        _evaluate(columns, start, n_here, conditions, block, masks)
        for index in range(noted[0].size):
            mask, offset = first_mask + noted[0][index] * BYTES, 8 * noted[1][index]
            if n_runs == 1:
                add_to(load_integer(cells) + offset, count_keep(everyone, mask))
            else:
                _add(everyone, mask, NO_FLIP, split, cells, offset)
        where[0, 0] = everyone
        for tree in range(root.size):
            if root[tree] < 0:
                _add(everyone, everyone, NO_FLIP, split, counts, 8 * leaf_offset[~root[tree]])
            else:
                nodes = (left, right, slot, condition, leaf_offset)
                _walk(root[tree], nodes, first_mask, scratch.ctypes.data, where, (size, rest, has), (split, counts))
        group += n_runs if bounds[group + n_runs] == start + n_here else n_runs - 1
    hold((masks, full, scratch, runs, run_of, running))


@part
def _find_runs(
    bounds: NDArray[np.int64], start: int, n_rows: int, runs: NDArray[np.uint64], run_of: NDArray[np.uint16]
) -> int:
    """Write the runs of bits that are the groups of a block: the word in which each ends, and the bits up to there.

    Return their number. If they are many, write the run of every row, too.
    """
    n_runs, first = 0, 0
    while first < n_rows:
        last = min(n_rows, bounds[n_runs + 1] - start)
        runs[n_runs, 0] = 8 * PLACE[(last - 1) >> 6]
        runs[n_runs, 1] = ~np.uint64(0) >> np.uint64(63 - ((last - 1) & 63))
        n_runs, first = n_runs + 1, last
    if n_runs > MANY_RUNS:
        run = 0
        for row in range(n_rows):
            run += start + row == bounds[run + 1]
            run_of[PLACE[row >> 6], row & 63] = run
    return n_runs


@part
def _add(rows: Address, mask: Address, flip: np.uint64, split: tuple[Any, ...], homes: Address, offset: int) -> None:
    """Add the number of bits in ``rows & (mask ^ flip)`` of each run to the number at ``home[run] + offset``."""
    n_runs, runs, run_of, running = split
    if n_runs > MANY_RUNS:
        for word in range(0, BYTES, 8):
            bits = load_word(rows + word) & (load_word(mask + word) ^ flip)
            while bits != 0:
                first = bits_of(~bits & (bits - np.uint64(1)))
                run = load_short(run_of + 16 * word + 2 * first)
                mine = bits
                if load_integer(runs + 16 * run) == word:
                    mine &= load_word(runs + 16 * run + 8)
                add_to(load_integer(homes + 8 * run) + offset, bits_of(mine))
                bits ^= mine
        return
    running_counts(running, rows, mask, flip)
    before = 0
    for run in range(n_runs):
        word = running + load_integer(runs + 16 * run)
        up_to = load_integer(word + BYTES) + bits_of(load_word(word) & load_word(runs + 16 * run + 8))
        home = load_integer(homes + 8 * run) + offset
        need_soon(home + 128)
        add_to(home, up_to - before)
        before = up_to


@kernel
def count_categories(
    columns: tuple[Any, ...], bounds: NDArray[np.int64], cells: tuple[Any, ...], homes: NDArray[np.int64]
) -> None:
    """Add the number of rows per category, of the rows of each group, to its cells.

    Parameters
    ----------
    columns, bounds
        As for `count_with_bitsets`.
    cells : n_codes, n_cells, place
        The number of categories and of cells of each column, and where its cells start.
    homes : ndarray of int64
        The addresses of the cells of each group. Added to.
    """
    address, stride, is_single = columns
    n_codes, n_cells, place = cells
    for column in range(address.size):
        for group in range(bounds.size - 1):
            home = homes[group] + 8 * place[column]
            for row in range(bounds[group], bounds[group + 1]):
                at = address[column] + row * stride[column]
                x = load_single(at) if is_single[column] else load_double(at)
                cell = np.int64(x) if x >= 0 else n_codes[column]
                add_to(home + 8 * (cell if x == x else n_cells[column] - 1), 1)


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
                    compare_or_missing_single(at + word * 256, cut_single[index], out + PLACE[word] * 8)
            elif single:
                for word in range(WORDS):
                    compare_single(at + word * 256, cut_single[index], out + PLACE[word] * 8)
            elif missing_left[index]:
                for word in range(WORDS):
                    compare_or_missing(at + word * 512, cut[index], out + PLACE[word] * 8)
            else:
                for word in range(WORDS):
                    compare(at + word * 512, cut[index], out + PLACE[word] * 8)


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
        mask[PLACE[word]] = bits


@part
def _walk(
    root: int,
    nodes: tuple[Any, ...],
    masks: Address,
    scratch: Address,
    where: NDArray[np.int64],
    subsets: tuple[Any, ...],
    groups: tuple[Any, ...],
) -> None:
    """Walk one tree. ``where[level, i]`` is the address of the bitset of player set i, or 0 if it is empty.

    One function, although a long one: passing arrays to another costs more than what would be done there.
    """
    left, right, slot, condition, leaf_offset = nodes
    size, rest, has = subsets
    split, homes = groups
    home = load_integer(homes)
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
            at = 8 * leaf_offset[~child]
            if split[0] > 1:
                for i in range(size[used + new]):
                    rows = where[level, i if i < size[used] else rest[i]]
                    if rows != 0:
                        free = i >= size[used] or (not new and has[s, i])
                        tested, flip = (rows, NO_FLIP) if free else (mask, NO_FLIP if side == 0 else FLIP)
                        _add(rows, tested, flip, split, homes, at + 8 * i)
                continue
            at += home
            for i in range(size[used]):
                rows = where[level, i]
                if rows != 0:
                    if not new and has[s, i]:
                        add_to(at + 8 * i, count(rows))
                    elif side == 0:
                        add_to(at + 8 * i, count_keep(rows, mask))
                    else:
                        add_to(at + 8 * i, count_drop(rows, mask))
            if new:
                for i in range(size[used], size[used + 1]):
                    rows = where[level, rest[i]]
                    if rows != 0:
                        add_to(at + 8 * i, count(rows))
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
