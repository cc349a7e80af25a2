"""Trees cut into chunks of leaves, and rows as states: what a row does to all leaves of a chunk, player by player."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.kernels._compile import kernel, part

__all__ = ["make_chunks", "order_leaves", "write_states"]

ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
MOST_LEAVES = 64  # of a chunk: the bits of a word


@kernel
def order_leaves(
    root: NDArray[np.int32],
    children: tuple[Any, ...],
    order: NDArray[np.int32],
    ranges: NDArray[np.int64],
) -> None:
    """Write the leaves from left to right, and where in this order the leaves below each node begin and end."""
    left, right = children
    stack = np.empty(64, dtype=np.int64)
    n_found = 0
    for tree in range(root.size):
        top = 0
        stack[0] = root[tree]
        while top >= 0:
            node = stack[top]
            top -= 1
            if node < 0:
                order[n_found] = ~node
                n_found += 1
            elif node >= left.size:  # all leaves below it have been found
                ranges[node - left.size, 1] = n_found
            else:
                ranges[node, 0] = n_found
                if top + 4 >= stack.size:
                    larger = np.empty(2 * stack.size, dtype=np.int64)
                    for i in range(top + 1):
                        larger[i] = stack[i]
                    stack = larger
                stack[top + 1], stack[top + 2], stack[top + 3] = node + left.size, right[node], left[node]
                top += 3


@kernel
def make_chunks(
    trees: tuple[Any, ...],
    leaves: tuple[Any, ...],
    boxes: tuple[Any, ...],
    features: tuple[Any, ...],
    most_states: int,
    order: int,
) -> tuple[Any, ...]:
    """Cut trees into chunks: the largest subtrees whose rows have few enough states.

    Parameters
    ----------
    trees : root, left, right
    leaves : order, ranges
        As `order_leaves` writes them.
    boxes : first, feature, slot, low, high, missing, unseen, sets
        As `trace_boxes` writes them.
    features : player, n_cells, n_codes
    most_states : int
        How many combinations of states any `order` players of a leaf may have; a chunk of one leaf may have more.
    order : int

    Returns
    -------
    chunk_first, seat_first, seat_player, axis_first, axis_feature, axis_table, axis_kind, state_first, table, words
        Leaves of chunk c: those from ``chunk_first[c]`` on in `order`. A seat is a player in a chunk, with the axes
        (features) from ``axis_first`` on and the states from ``state_first`` on; bit i of a state's word tells whether
        such a row meets the conditions of the i-th leaf of the chunk on the player. `table` tells the class of a row on
        an axis, from ``axis_table[axis]`` on; `axis_kind` is the number of cuts, or -1 for categories. Cuts: the class
        of missing values, the number of classes, and the cells that are the last below each cut. Categories: the number
        of classes, and the class of each cell. Behind that, unless it is the first axis of its seat: the new state, for
        each state so far and each class.
    """
    root, left, right = trees
    leaf_order, ranges = leaves
    first = boxes[0]
    n_leaves, n_boxes, n_features = leaf_order.size, first[-1], features[0].size
    chunk_first, seat_first = np.empty(n_leaves + 1, dtype=np.int64), np.zeros(n_leaves + 1, dtype=np.int64)
    seat_player = np.empty(n_boxes, dtype=np.int32)
    axis_first, state_first = np.zeros(n_boxes + 1, dtype=np.int64), np.zeros(n_boxes + 1, dtype=np.int64)
    axis_feature, axis_table = np.empty(n_boxes, dtype=np.int32), np.empty(n_boxes, dtype=np.int64)
    axis_kind = np.empty(n_boxes, dtype=np.int32)
    table, words = np.empty(4 * n_boxes + 64, dtype=np.int32), np.empty(4 * n_boxes + 64, dtype=np.uint64)
    seats = (seat_first, seat_player, axis_first, state_first)
    axes = (axis_feature, axis_table, axis_kind)
    place = np.full(n_features, -1, dtype=np.int32)  # of a feature among the axes of the chunk
    seat_of = np.full(n_features, -1, dtype=np.int32)  # of a feature
    stack = np.empty(64, dtype=np.int64)
    n_chunks, n_done, at_table = 0, 0, 0
    for tree in range(root.size):
        top = 0
        stack[0] = root[tree]
        while top >= 0:
            node = stack[top]
            top -= 1
            one, two = (n_done, n_done + 1) if node < 0 else (ranges[node, 0], ranges[node, 1])
            fits = two - one <= MOST_LEAVES
            if fits:
                chunk = leaf_order[one:two]
                counts = (n_chunks, at_table, most_states if two - one > 1 else 1 << 62)
                fits, at_new, table, words = _trace_chunk(
                    chunk, boxes, features, seats, axes, (place, seat_of), counts, table, words
                )
                fits = fits and (
                    two - one == 1
                    or _few_states(chunk, boxes, seat_of, state_first, seat_first[n_chunks], (most_states, order))
                )
            if fits:
                chunk_first[n_chunks] = one
                n_chunks += 1
                n_done = two
                at_table = at_new
                continue
            if top + 3 >= stack.size:
                larger = np.empty(2 * stack.size, dtype=np.int64)
                for i in range(top + 1):
                    larger[i] = stack[i]
                stack = larger
            stack[top + 1], stack[top + 2] = right[node], left[node]
            top += 2
    chunk_first[n_chunks] = n_leaves
    n_seats = seat_first[n_chunks]
    n_axes = axis_first[n_seats]
    return (
        chunk_first[: n_chunks + 1].copy(),
        seat_first[: n_chunks + 1].copy(),
        seat_player[:n_seats].copy(),
        axis_first[: n_seats + 1].copy(),
        axis_feature[:n_axes].copy(),
        axis_table[:n_axes].copy(),
        axis_kind[:n_axes].copy(),
        state_first[: n_seats + 1].copy(),
        table[:at_table].copy(),
        words[: state_first[n_seats]].copy(),
    )


@part
def _few_states(
    chunk: NDArray[np.int32],
    boxes: tuple[Any, ...],
    seat_of: NDArray[np.int32],
    state_first: NDArray[np.int64],
    first_seat: int,
    limits: tuple[int, int],
) -> bool:
    """Return whether the `order` players with the most states, of every leaf, have at most so many combinations."""
    most_states, order = limits
    first, feature = boxes[0], boxes[1]
    found = np.empty(64, dtype=np.int64)
    seats = np.empty(64, dtype=np.int64)
    for leaf in chunk:
        n_found = 0
        for box in range(first[leaf], first[leaf + 1]):
            seat = first_seat + seat_of[feature[box]]
            known = False
            for i in range(n_found):
                known = known or seats[i] == seat
            if known:
                continue
            if n_found == 64:
                return False
            n_states = state_first[seat + 1] - state_first[seat]
            i = n_found  # the numbers of states are kept in decreasing order
            while i > 0 and found[i - 1] < n_states:
                found[i], seats[i] = found[i - 1], seats[i - 1]
                i -= 1
            found[i], seats[i] = n_states, seat
            n_found += 1
        product = 1
        for i in range(min(order, n_found)):
            product *= found[i]
            if product > most_states:
                return False
    return True


@part
def _larger(array: NDArray[Any], n: int, needed: int) -> NDArray[Any]:
    """Return an array with room for what is needed, and its first n entries."""
    if needed <= array.size:
        return array
    larger = np.empty(2 * needed, array.dtype)
    for i in range(n):
        larger[i] = array[i]
    return larger


@part
def _trace_chunk(
    chunk: NDArray[np.int32],
    boxes: tuple[Any, ...],
    features: tuple[Any, ...],
    seats: tuple[Any, ...],
    axes: tuple[Any, ...],
    marks: tuple[Any, ...],
    counts: tuple[int, int, int],
    table: NDArray[np.int32],
    words: NDArray[np.uint64],
) -> tuple[Any, ...]:
    """Write seats, axes, states of one chunk of leaves; return whether it worked, and the arrays, which may grow."""
    first, feature, _, low, high, missing, unseen, sets = boxes
    player, n_cells, n_codes = features
    seat_first, seat_player, axis_first, state_first = seats
    axis_feature, axis_table, axis_kind = axes
    place, seat_of = marks
    number, at, most_states = counts
    # The features of the chunk, in the order of players, and the boxes of each.
    n_boxes = 0
    for leaf in chunk:
        n_boxes += first[leaf + 1] - first[leaf]
    found = np.empty(n_boxes, dtype=np.int32)
    n_found = 0
    for leaf in chunk:
        for box in range(first[leaf], first[leaf + 1]):
            f = feature[box]
            if place[f] < 0:
                place[f] = 0
                i = n_found
                while i > 0 and (player[found[i - 1]], found[i - 1]) > (player[f], f):
                    found[i] = found[i - 1]
                    i -= 1
                found[i] = f
                n_found += 1
    start = np.zeros(n_found + 2, dtype=np.int64)
    for i in range(n_found):
        place[found[i]] = i
    for leaf in chunk:
        for box in range(first[leaf], first[leaf + 1]):
            start[place[feature[box]] + 2] += 1
    for i in range(n_found):
        start[i + 2] += start[i + 1]
    box_of, bit_of = np.empty(n_boxes, dtype=np.int64), np.empty(n_boxes, dtype=np.uint64)
    for bit in range(chunk.size):
        for box in range(first[chunk[bit]], first[chunk[bit] + 1]):
            i = place[feature[box]] + 1
            box_of[start[i]], bit_of[start[i]] = box, np.uint64(1) << np.uint64(bit)
            start[i] += 1
    for i in range(n_found):
        place[found[i]] = -1
    seat = seat_first[number] - 1
    axis = axis_first[seat + 1] - 1
    last_player = -1
    at_words = state_first[seat + 1]
    fits = True
    for i in range(n_found):
        f = found[i]
        members = box_of[start[i] : start[i + 1]]
        bits = bit_of[start[i] : start[i + 1]]
        axis += 1
        axis_feature[axis], axis_table[axis] = f, at
        n_before = 0  # states of the seat so far
        if player[f] == last_player:
            n_before = at_words - state_first[seat]
        else:
            seat += 1
            last_player = player[f]
            seat_player[seat] = last_player
            axis_first[seat] = axis
            state_first[seat] = at_words
        seat_of[f] = seat - seat_first[number]
        # The classes of cells on this axis; their words are written behind those of the seat's states.
        n_classes = 0
        if n_codes[f] > 0:
            table = _larger(table, at, at + 1 + n_cells[f])
            axis_kind[axis] = -1
            for cell in range(n_cells[f]):
                word = ALL
                for k in range(members.size):
                    box = members[k]
                    if cell == n_cells[f] - 1:
                        inside = missing[box]
                    elif cell == n_codes[f]:
                        inside = unseen[box]
                    else:
                        inside = (sets[low[box] + (cell >> 6)] >> np.uint64(cell & 63)) & np.uint64(1) != 0
                    if not inside:
                        word &= ~bits[k]
                c = 0
                while c < n_classes and words[at_words + c] != word:
                    c += 1
                if c == n_classes:
                    words = _larger(words, at_words + n_classes, at_words + n_classes + 1)
                    words[at_words + c] = word
                    n_classes += 1
                    if n_classes > most_states:
                        fits = False
                        break
                table[at + 1 + cell] = c
            table[at] = n_classes
            at += 1 + n_cells[f]
        else:
            table = _larger(table, at, at + 2 + 2 * members.size)
            cuts = at + 2
            n_cuts = 0
            for k in range(members.size):
                for side in range(2):
                    cut = np.int64(high[members[k]]) if side else np.int64(low[members[k]]) - 1
                    if cut < 0 or cut >= n_cells[f] - 2:
                        continue
                    c = n_cuts
                    while c > 0 and table[cuts + c - 1] > cut:
                        c -= 1
                    if c > 0 and table[cuts + c - 1] == cut:
                        continue
                    for m in range(n_cuts, c, -1):
                        table[cuts + m] = table[cuts + m - 1]
                    table[cuts + c] = cut
                    n_cuts += 1
            words = _larger(words, at_words, at_words + n_cuts + 2)
            for c in range(n_cuts + 1):
                cell = 0 if c == 0 else table[cuts + c - 1] + 1
                word = ALL
                for k in range(members.size):
                    if cell < low[members[k]] or cell > high[members[k]]:
                        word &= ~bits[k]
                words[at_words + c] = word
            word = ALL
            for k in range(members.size):
                if not missing[members[k]]:
                    word &= ~bits[k]
            c = 0
            while c <= n_cuts and words[at_words + c] != word:
                c += 1
            words[at_words + c] = word
            n_classes = max(n_cuts + 1, c + 1)
            table[at], table[at + 1] = c, n_classes
            axis_kind[axis] = n_cuts
            at += 2 + n_cuts
        if n_before > 0:
            # From a state so far and a class to a new state: their words, one and the other.
            n_pairs = n_before * n_classes
            fits = fits and n_pairs <= most_states
            if fits:
                table = _larger(table, at, at + n_pairs)
                base = state_first[seat]
                new = np.empty(n_pairs, dtype=np.uint64)
                n_new = 0
                for s in range(n_before):
                    for c in range(n_classes):
                        word = words[base + s] & words[at_words + c]
                        k = 0
                        while k < n_new and new[k] != word:
                            k += 1
                        new[k] = word
                        n_new = max(n_new, k + 1)
                        table[at + s * n_classes + c] = k
                words = _larger(words, at_words + n_classes, base + n_new)
                for k in range(n_new):
                    words[base + k] = new[k]
                at += n_pairs
                at_words = base + n_new
        else:
            at_words += n_classes
        if not fits:
            break
        axis_first[seat + 1], state_first[seat + 1] = axis + 1, at_words
    seat_first[number + 1] = seat + 1
    return fits, at, table, words


@kernel
def write_states(
    cells: NDArray[np.int32],
    rows: tuple[int, int],
    seats: tuple[Any, ...],
    wanted: NDArray[np.int64],
    states: NDArray[np.uint16],
) -> None:
    """Write the states of some seats, for a block of rows.

    Parameters
    ----------
    cells : ndarray of shape (n_features, n_rows), int32
    rows : first, last
    seats : axis_first, axis_place, axis_missing, axis_table, axis_kind, table
        `axis_place` is the line of an axis in `cells`, `axis_missing` the cell of missing values; the others as
        `make_chunks` returns them.
    wanted : ndarray of int64
        The seats to write.
    states : ndarray of shape (wanted.size, at least n_rows of the block), uint16
        Written.
    """
    axis_first, axis_place, axis_missing, axis_table, axis_kind, table = seats
    n_rows = rows[1] - rows[0]
    classes = np.empty(n_rows, dtype=np.uint16)
    for i in range(wanted.size):
        seat, out = wanted[i], states[i]
        for axis in range(axis_first[seat], axis_first[seat + 1]):
            here = cells[axis_place[axis], rows[0] : rows[1]]
            at, n_cuts = axis_table[axis], axis_kind[axis]
            if n_cuts < 0:
                n_classes = table[at]
                for r in range(n_rows):
                    classes[r] = table[at + 1 + here[r]]
                behind = at + 1 + axis_missing[axis] + 1
            else:
                gap, n_classes = np.uint16(table[at]), table[at + 1]
                for r in range(n_rows):
                    classes[r] = 0
                for k in range(n_cuts):
                    cut = table[at + 2 + k]
                    for r in range(n_rows):
                        classes[r] += np.uint16(here[r] > cut)
                absent = axis_missing[axis]
                for r in range(n_rows):
                    classes[r] = gap if here[r] == absent else classes[r]
                behind = at + 2 + n_cuts
            if axis == axis_first[seat]:
                for r in range(n_rows):
                    out[r] = classes[r]
            else:
                for r in range(n_rows):
                    out[r] = table[behind + np.int64(out[r]) * n_classes + classes[r]]
