"""Metrics leaf by leaf: tables of what a leaf is worth to a row, and the same without tables for long paths."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.kernels._bits import bits_of
from glasswood.kernels._compile import hold, kernel, part
from glasswood.kernels._vectors import LANES, add_entries, collect_bits

__all__ = ["add_leaf_tables", "add_long_paths", "add_shared_paths", "fill_leaf_tables"]

ONE = np.uint64(1)


@kernel
def fill_leaf_tables(
    span: tuple[int, int],
    leaves: tuple[Any, ...],
    templates: tuple[Any, ...],
    counts: tuple[Any, ...],
    table: NDArray[np.float64],
) -> None:
    """Write what some leaves are worth to a row that meets the players q, for each set of a metric.

    Parameters
    ----------
    span : first, last
        The leaves.
    leaves : n_players, value, table_first, partner, partner_bit
        `table_first` is where a leaf's tables start: one for each of its values and each set, indexed by q; or -1.
        `partner` is a leaf whose worth is added to a leaf's own, or -1: one that a row meets with the same players,
        but for the one in `partner_bit`, which it meets if and only if it does not meet it for the leaf itself.
    templates : n_sets, entry_first, target, broken, entry_value
        The templates of paths with u players: those entries from ``entry_first[u]`` on; see `glasswood._templates`.
    counts : leaf_offset, exact
        The number of background rows that break exactly the players z of each leaf.
    table : ndarray of float64
        Written.
    """
    n_players, value, table_first, partner, partner_bit = leaves
    n_sets, entry_first, target, broken, entry_value = templates
    leaf_offset, exact = counts
    most = 1
    for leaf in range(span[0], span[1]):
        most = max(most, n_sets[n_players[leaf]] << n_players[leaf])
    unit = np.empty(most)
    for leaf in range(span[0], span[1]):
        used, first = n_players[leaf], table_first[leaf]
        if first < 0:
            continue
        size = n_sets[used] << used
        for i in range(size * value.shape[1]):
            table[first + i] = 0.0
        member, flip = np.int64(leaf), 0
        while member >= 0:
            for i in range(size):
                unit[i] = 0.0
            for entry in range(entry_first[used], entry_first[used + 1]):
                unit[target[entry]] += exact[leaf_offset[member] + broken[entry]] * entry_value[entry]
            for k in range(value.shape[1]):
                for i in range(size):
                    table[first + k * size + i] += unit[i ^ flip] * value[member, k]
            member, flip = (np.int64(partner[leaf]), partner_bit[leaf]) if member == leaf else (np.int64(-1), 0)


@kernel
def add_leaf_tables(
    states: NDArray[np.uint16],
    chunks: tuple[Any, ...],
    leaves: tuple[Any, ...],
    groups: tuple[Any, ...],
    table: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Add what every leaf is worth to a block of rows.

    Parameters
    ----------
    states : ndarray of shape (n_seats, width), uint16
        The width is a multiple of LANES.
    chunks : chunk_first, leaf_order, seat_first, state_first, words
        As `make_chunks` returns them.
    leaves : n_players, slot_first, slot_seat, table_first, output, n_values
        The seat of each slot of a leaf, from ``slot_first[leaf]`` on; where its tables start; its first output.
    groups : n_sets, set_first, leaf_set, output_place, n_outputs
        The numbers of the sets of each leaf, from ``set_first[leaf]`` on; the place of each output in `out`, or -1.
    table : ndarray of float64
        With 64 more entries than there are.
    out : ndarray of shape (n_sets x n_outputs, width)
        Added to.
    """
    chunk_first, leaf_order, seat_first, state_first, words = chunks
    n_players, slot_first, slot_seat, table_first, output, n_values = leaves
    n_sets, set_first, leaf_set, output_place, n_outputs = groups
    width = states.shape[1]
    most = 1
    for chunk in range(chunk_first.size - 1):
        most = max(most, seat_first[chunk + 1] - seat_first[chunk])
    suits = np.empty((most, width), dtype=np.uint64)
    met, line, one = np.empty(width, dtype=np.uint16), np.empty(1, dtype=np.int64), np.ones(1, dtype=np.int64)
    line[0] = met.ctypes.data
    lines = np.empty(16, dtype=np.int64)
    at_suits, at_met, at_lines = suits.ctypes.data, met.ctypes.data, lines.ctypes.data
    at_line, at_one, at_table, at_out = line.ctypes.data, one.ctypes.data, table.ctypes.data, out.ctypes.data
    for chunk in range(chunk_first.size - 1):
        first_seat = seat_first[chunk]
        for seat in range(first_seat, seat_first[chunk + 1]):
            for r in range(width):
                suits[seat - first_seat, r] = words[state_first[seat] + states[seat, r]]
        for place in range(chunk_first[chunk], chunk_first[chunk + 1]):
            leaf = leaf_order[place]
            if table_first[leaf] < 0:
                continue  # its partner's tables are for both
            used, bit = n_players[leaf], place - chunk_first[chunk]
            for slot in range(used):
                lines[slot] = at_suits + (slot_seat[slot_first[leaf] + slot] - first_seat) * width * 8
            for r in range(0, width, LANES):
                collect_bits(at_lines, used, bit, r, at_met)
            for k in range(n_values):
                column = output_place[output[leaf] + k]
                if column < 0:
                    continue
                for x in range(n_sets[used]):
                    here = at_table + (table_first[leaf] + ((k * n_sets[used] + x) << used)) * 8
                    line_out = at_out + (leaf_set[set_first[leaf] + x] * n_outputs + column) * width * 8
                    add_entries(line_out, width, here, 1 << used, at_line, at_one, 1)
    hold((suits, met, line, one, lines))


@part
def _write_met(
    place: int,
    chunk: int,
    states: NDArray[np.uint16],
    chunks: tuple[Any, ...],
    leaves: tuple[Any, ...],
    met: NDArray[np.uint64],
) -> None:
    """Write the players of a leaf whose conditions each row meets; `states` are those of the chunk's seats."""
    chunk_first, leaf_order, seat_first, state_first, words = chunks
    n_players, slot_first, slot_seat = leaves
    leaf, bit = leaf_order[place], np.uint64(place - chunk_first[chunk])
    for r in range(met.size):
        met[r] = 0
    for slot in range(n_players[leaf]):
        seat, shift = slot_seat[slot_first[leaf] + slot], np.uint64(slot)
        suits, line = words[state_first[seat] :], states[seat - seat_first[chunk]]
        for r in range(met.size):
            met[r] |= ((suits[line[r]] >> bit) & ONE) << shift


@part
def _distinct(
    masks: NDArray[np.uint64], number: NDArray[np.int64], spots: NDArray[np.int64], found: NDArray[np.uint64]
) -> int:
    """Write the number of each row's mask among the distinct ones; `spots` is all -1, before and after."""
    n_found = 0
    mask = spots.size - 1
    for r in range(masks.size):
        x = masks[r]
        spot = np.int64((x * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & mask
        while spots[spot] >= 0 and found[spots[spot]] != x:
            spot = (spot + 1) & mask
        if spots[spot] < 0:
            spots[spot] = n_found
            found[n_found] = x
            n_found += 1
        number[r] = spots[spot]
    for i in range(n_found):
        spot = np.int64((found[i] * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & mask
        while spots[spot] >= 0:
            spots[spot] = -1
            spot = (spot + 1) & mask
    return n_found


@kernel
def add_long_paths(
    chunk: int,
    states: tuple[Any, ...],
    weight: NDArray[np.float64],
    chunks: tuple[Any, ...],
    leaves: tuple[Any, ...],
    sets: tuple[Any, ...],
    moments: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Add the leaves of a chunk to an index of rows, with background rows at hand, for paths of any length.

    Parameters
    ----------
    chunk : int
    states : of the rows, of the background rows
        (n_seats of the chunk, n_rows), uint16.
    weight : ndarray of float64
        Of each background row.
    chunks : chunk_first, leaf_order, seat_first, state_first, words
    leaves : n_players, slot_first, slot_seat, value, output
    sets : mask_first, mask, size, set_first, leaf_set, output_place
        The sets of paths with u players, as masks, from ``mask_first[u]`` on, and their sizes; the others as for
        `add_leaf_tables`.
    moments : ndarray of shape (n_orders, n, n)
        ``moments[size, a, b]``, see `glasswood.metrics.InteractionIndex`.
    out : ndarray of shape (n_sets, n_outputs, n_rows)
        Added to.

    Notes
    -----
    Rows that meet the same players of a leaf are dealt with once, and so are background rows. Costs, per leaf, the
    number of distinct ones of both kinds, and more for those pairs that make a cube.
    """
    states_here, states_there = states
    chunk_first, leaf_order = chunks[0], chunks[1]
    n_players, slot_first, slot_seat, value, output = leaves
    mask_first, mask, size, set_first, leaf_set, output_place = sets
    n_rows, n_there = states_here.shape[1], states_there.shape[1]
    n_spots = 64
    while n_spots < 2 * max(n_rows, n_there):
        n_spots *= 2
    spots = np.full(n_spots, -1, dtype=np.int64)
    met, number, found = np.empty(n_rows, np.uint64), np.empty(n_rows, np.int64), np.empty(n_rows, np.uint64)
    met_there, number_there = np.empty(n_there, np.uint64), np.empty(n_there, np.int64)
    found_there, count = np.empty(n_there, np.uint64), np.empty(n_there)
    breaks = np.empty((64, n_there // 64 + 1), np.uint64)  # bits: which patterns break a player
    for place in range(chunk_first[chunk], chunk_first[chunk + 1]):
        leaf = leaf_order[place]
        used = n_players[leaf]
        everyone = (ONE << np.uint64(used)) - ONE
        paths = (n_players, slot_first, slot_seat)
        _write_met(place, chunk, states_here, chunks, paths, met)
        _write_met(place, chunk, states_there, chunks, paths, met_there)
        n_found = _distinct(met, number, spots, found)
        n_patterns = _distinct(met_there, number_there, spots, found_there)
        for i in range(n_patterns):
            count[i] = 0.0
        for r in range(n_there):
            count[number_there[r]] += weight[r]
        n_words = -(-n_patterns // 64)
        for slot in range(used):
            for word in range(n_words):
                bits = np.uint64(0)
                for j in range(64 * word, min(64 * word + 64, n_patterns)):
                    broken = ((found_there[j] >> np.uint64(slot)) & ONE) ^ ONE
                    bits |= broken << np.uint64(j - 64 * word)
                breaks[slot, word] = bits
        first_mask, n_masks = mask_first[used], mask_first[used + 1] - mask_first[used]
        worth = np.zeros((n_found, n_masks))
        n_single = used if n_masks > 0 and size[first_mask] == 1 else 0  # sets of one player come first, in order
        for i in range(n_found):
            q = found[i]
            absent = everyone & ~q
            n_minus = bits_of(absent)
            below = 0.0  # what all players that the row breaks lose
            for word in range(n_words):
                # Where row and background both break a player, no mixture of them meets the leaf: there is no cube.
                cubes = ~np.uint64(0)
                for slot in range(used):
                    if (absent >> np.uint64(slot)) & ONE:
                        cubes &= ~breaks[slot, word]
                while cubes:
                    lowest = cubes & (~cubes + ONE)
                    cubes ^= lowest
                    j = 64 * word + bits_of(lowest - ONE)
                    if j >= n_patterns:
                        break
                    n_plus = used - bits_of(found_there[j])
                    if n_single > 0:
                        if n_minus > 0:
                            below += count[j] * moments[1, n_plus, n_minus - 1]
                        plus = everyone & ~found_there[j]
                        gain = count[j] * moments[1, n_plus - 1, n_minus] if plus else 0.0
                        while plus:
                            lowest = plus & (~plus + ONE)
                            plus ^= lowest
                            worth[i, bits_of(lowest - ONE)] += gain
                    free = q & found_there[j]  # not in the cube
                    for x in range(n_single, n_masks):
                        members = mask[first_mask + x]
                        if members & free:
                            continue
                        outside = bits_of(members & absent)
                        inside = size[first_mask + x] - outside
                        moment = count[j] * moments[size[first_mask + x], n_plus - inside, n_minus - outside]
                        worth[i, x] += moment if outside % 2 == 0 else -moment
            for x in range(n_single):
                if (absent >> np.uint64(x)) & ONE:
                    worth[i, x] -= below
        for k in range(value.shape[1]):
            column = output_place[output[leaf] + k]
            if column < 0:
                continue
            for x in range(n_masks):
                line = out[leaf_set[set_first[leaf] + x], column]
                for r in range(n_rows):
                    line[r] += value[leaf, k] * worth[number[r], x]


@kernel
def add_shared_paths(
    chunk: int,
    states: NDArray[np.uint16],
    shares: NDArray[np.float64],
    chunks: tuple[Any, ...],
    leaves: tuple[Any, ...],
    sets: tuple[Any, ...],
    nodes: tuple[Any, ...],
    out: NDArray[np.float64],
) -> None:
    """Add the leaves of a chunk to a path-dependent index of rows, for paths of any length.

    Each player i that does not take part meets its conditions with a share r_i of the training weight, so an index is
    ``w * sum over t of weight(t) * prod_X (q_i - r_i) * prod_others (q_i t + r_i (1 - t))``: points of t that are exact
    for polynomials take the place of sums over subsets, and no term cancels another.

    Parameters
    ----------
    chunk, states, chunks, leaves, sets, out
        As for `add_long_paths`.
    shares : ndarray of float64
        The share of each slot of each leaf, from ``slot_first[leaf]`` on.
    nodes : node_first, point, weight
        The points for paths with u players, from ``node_first[u]`` on.
    """
    chunk_first, leaf_order = chunks[0], chunks[1]
    n_players, slot_first, slot_seat, value, output = leaves
    mask_first, mask, _, set_first, leaf_set, output_place = sets
    node_first, point, weight = nodes
    n_rows = states.shape[1]
    n_spots = 64
    while n_spots < 2 * n_rows:
        n_spots *= 2
    spots = np.full(n_spots, -1, dtype=np.int64)
    met, number, found = np.empty(n_rows, np.uint64), np.empty(n_rows, np.int64), np.empty(n_rows, np.uint64)
    for place in range(chunk_first[chunk], chunk_first[chunk + 1]):
        leaf = leaf_order[place]
        used, first = n_players[leaf], slot_first[leaf]
        _write_met(place, chunk, states, chunks, (n_players, slot_first, slot_seat), met)
        n_found = _distinct(met, number, spots, found)
        first_mask, n_masks = mask_first[used], mask_first[used + 1] - mask_first[used]
        first_node, n_nodes = node_first[used], node_first[used + 1] - node_first[used]
        worth = np.zeros((n_found, n_masks))
        factor = np.empty((used, n_nodes))
        product = np.empty(n_nodes)
        for i in range(n_found):
            q = found[i]
            hopeless = False
            for node in range(n_nodes):
                product[node] = weight[first_node + node]
            for slot in range(used):
                meets, r = (q >> np.uint64(slot)) & ONE, shares[first + slot]
                hopeless = hopeless or (meets == 0 and r == 0)
                for node in range(n_nodes):
                    t = point[first_node + node]
                    factor[slot, node] = (t if meets else 0.0) + r * (1.0 - t)
                    product[node] *= factor[slot, node]
            if hopeless:
                continue  # neither the row nor the training rows get past this player, with or without the others
            for x in range(n_masks):
                members = mask[first_mask + x]
                total = 0.0
                for node in range(n_nodes):
                    others = product[node]
                    for slot in range(used):
                        if (members >> np.uint64(slot)) & ONE:
                            others /= factor[slot, node]
                    total += others
                for slot in range(used):
                    if (members >> np.uint64(slot)) & ONE:
                        total *= (1.0 if (q >> np.uint64(slot)) & ONE else 0.0) - shares[first + slot]
                worth[i, x] = total
        for k in range(value.shape[1]):
            column = output_place[output[leaf] + k]
            if column < 0:
                continue
            for x in range(n_masks):
                line = out[leaf_set[set_first[leaf] + x], column]
                for r in range(n_rows):
                    line[r] += value[leaf, k] * worth[number[r], x]
