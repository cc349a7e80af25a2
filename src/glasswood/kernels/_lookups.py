"""Interactions as lookups: one small table per chunk of leaves and player set, indexed by the states of its players."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.kernels._compile import hold, kernel, part
from glasswood.kernels._vectors import add_entries, sum_moments

__all__ = ["fill_tables", "find_terms", "look_up", "subset_differences"]


@kernel
def subset_differences(
    leaf_offset: NDArray[np.int64], n_players: NDArray[np.int32], subsets: tuple[Any, ...], counts: NDArray[np.float64]
) -> None:
    """Turn the rows that break no others than S, for each leaf, into those that break exactly S.

    `subsets` are the tables size and minus, see `glasswood._plan.Subsets`. Undoes `subset_sums`.
    """
    size, minus = subsets
    for leaf in range(n_players.size):
        offset, used = leaf_offset[leaf], n_players[leaf]
        for s in range(used):
            for i in range(size[used] - 1, -1, -1):
                if minus[s, i] >= 0:
                    counts[offset + i] -= counts[offset + minus[s, i]]


@part
def _sort_players(
    leaf: int, boxes: tuple[Any, ...], player: NDArray[np.int32], wanted: NDArray[np.bool_], out: NDArray[np.int64]
) -> int:
    """Write the wanted players of a leaf in increasing order, each with its slot; return their number."""
    first, feature, slot = boxes
    n = 0
    for box in range(first[leaf], first[leaf + 1]):
        p = player[feature[box]]
        known = not wanted[p]
        for i in range(n):
            known = known or out[i, 0] == p
        if known:
            continue
        i = n
        while i > 0 and out[i - 1, 0] > p:
            out[i, 0], out[i, 1] = out[i - 1, 0], out[i - 1, 1]
            i -= 1
        out[i, 0], out[i, 1] = p, slot[box]
        n += 1
    return n


@kernel
def find_terms(
    chunks: tuple[Any, ...],
    boxes: tuple[Any, ...],
    players: tuple[Any, ...],
    subsets: tuple[Any, ...],
    n_pairs: int,
) -> tuple[Any, ...]:
    """Find the player sets of every chunk, and number the distinct ones.

    Parameters
    ----------
    chunks : chunk_first, leaf_order, seat_first, seat_player, state_first
        As `make_chunks` returns them.
    boxes : first, feature, slot
    players : player, wanted
        The player of each feature, and which players are wanted.
    subsets : size, rest
        Of the sets that are wanted of any path.
    n_pairs : int
        At least the number of (leaf, set).

    Returns
    -------
    term_set, term_rest, term_seat, term_size, term_first, pair_term, pair_first, set_rest, set_last, set_size
        A term is a set in a chunk: its number, the term of the set without its last player, the seat of the last
        player, and the number of combinations of states. ``term_first[c]`` is the first term of chunk c, the empty set.
        `pair_term` are the terms of the sets of each leaf, in the order of leaves, from `pair_first` on. Sets: the set
        without its last player, the last player, the number of players; set 0 is empty.
    """
    chunk_first, leaf_order, seat_first, seat_player, state_first = chunks
    player, wanted = players
    size, rest = subsets
    n_chunks, n_leaves = chunk_first.size - 1, leaf_order.size
    term_set, term_rest = np.empty(n_pairs, dtype=np.int32), np.empty(n_pairs, dtype=np.int32)
    term_seat, term_size = np.empty(n_pairs, dtype=np.int32), np.empty(n_pairs, dtype=np.int64)
    pair_term = np.empty(n_pairs, dtype=np.int32)
    pair_first, term_first = np.zeros(n_leaves + 1, dtype=np.int64), np.zeros(n_chunks + 1, dtype=np.int64)
    set_rest, set_last = np.zeros(1024, dtype=np.int32), np.zeros(1024, dtype=np.int32)
    set_size, seen_in = np.zeros(1024, dtype=np.int32), np.zeros(1024, dtype=np.int32)
    term_of = np.zeros(1024, dtype=np.int32)
    key_set = np.full(4096, -1, dtype=np.int32)  # open addressing: the set of a (set without its last player, player)
    last = np.zeros(rest.size, dtype=np.int64)
    for position in range(size.size - 1):
        for i in range(size[position], size[position + 1]):
            last[i] = position
    ids = np.zeros(rest.size, dtype=np.int64)
    path = np.empty((size.size + 1, 2), dtype=np.int64)
    seat_of = np.zeros(wanted.size, dtype=np.int64)
    n_sets, n_terms, n_done = 1, 0, 0
    for chunk in range(n_chunks):
        term_first[chunk] = n_terms
        for seat in range(seat_first[chunk], seat_first[chunk + 1]):
            seat_of[seat_player[seat]] = seat
        seen_in[0], term_of[0] = chunk + 1, n_terms
        term_set[n_terms], term_rest[n_terms], term_seat[n_terms], term_size[n_terms] = 0, -1, -1, 1
        n_terms += 1
        for place in range(chunk_first[chunk], chunk_first[chunk + 1]):
            used = _sort_players(leaf_order[place], boxes, player, wanted, path)
            pair_first[place] = n_done
            for i in range(size[used]):
                if i == 0:
                    pair_term[n_done] = term_of[0]
                    n_done += 1
                    continue
                before, p = ids[rest[i]], path[last[i], 0]
                mask = key_set.size - 1
                spot = ((before * 0x9E3779B1 + p) * 0x85EBCA6B >> 15) & mask
                found = key_set[spot]
                while found >= 0 and (set_rest[found] != before or set_last[found] != p):
                    spot = (spot + 1) & mask
                    found = key_set[spot]
                if found < 0:
                    found = n_sets
                    n_sets += 1
                    if n_sets > set_rest.size:
                        set_rest, set_last = _doubled(set_rest), _doubled(set_last)
                        set_size, seen_in, term_of = _doubled(set_size), _doubled(seen_in), _doubled(term_of)
                    set_rest[found], set_last[found], set_size[found] = before, p, set_size[before] + 1
                    seen_in[found] = 0
                    key_set[spot] = found
                    if 2 * n_sets > key_set.size:
                        key_set = np.full(2 * key_set.size, -1, dtype=np.int32)
                        mask = key_set.size - 1
                        for s in range(1, n_sets):
                            spot = ((np.int64(set_rest[s]) * 0x9E3779B1 + set_last[s]) * 0x85EBCA6B >> 15) & mask
                            while key_set[spot] >= 0:
                                spot = (spot + 1) & mask
                            key_set[spot] = s
                ids[i] = found
                if seen_in[found] != chunk + 1:
                    seen_in[found], term_of[found] = chunk + 1, n_terms
                    seat, without = seat_of[p], term_of[before]
                    term_set[n_terms], term_rest[n_terms], term_seat[n_terms] = found, without, seat
                    term_size[n_terms] = term_size[without] * (state_first[seat + 1] - state_first[seat])
                    n_terms += 1
                pair_term[n_done] = term_of[found]
                n_done += 1
    term_first[n_chunks], pair_first[n_leaves] = n_terms, n_done
    return (
        term_set[:n_terms].copy(),
        term_rest[:n_terms].copy(),
        term_seat[:n_terms].copy(),
        term_size[:n_terms].copy(),
        term_first,
        pair_term[:n_done].copy(),
        pair_first,
        set_rest[:n_sets].copy(),
        set_last[:n_sets].copy(),
        set_size[:n_sets].copy(),
    )


@part
def _doubled(array: NDArray[np.int32]) -> NDArray[np.int32]:
    larger = np.zeros(2 * array.size, dtype=np.int32)
    for i in range(array.size):
        larger[i] = array[i]
    return larger


@kernel
def fill_tables(
    span: tuple[int, int],
    chunks: tuple[Any, ...],
    boxes: tuple[Any, ...],
    players: tuple[Any, ...],
    subsets: tuple[Any, ...],
    terms: tuple[Any, ...],
    leaves: tuple[Any, ...],
    table: NDArray[np.float64],
) -> None:
    """Add the leaves of some chunks to the tables of their terms.

    A row that meets the players Q of leaf l adds ``w_l (-1)^|X - Q| N_l(X and Q)`` to the interaction of the set X,
    where N_l(Z) is the number of background rows that break exactly Z.

    Parameters
    ----------
    span : first, last
        The chunks.
    chunks, boxes, players
        As for `find_terms`; `chunks` has one more, words.
    subsets : size, rest, plus
        Size and rest of the sets that are wanted, plus of the sets that were counted.
    terms : term_rest, term_seat, pair_term, pair_first, table_first
        Where the table of each term starts; it has one part per value of a leaf.
    leaves : value, leaf_offset, exact
        `exact` is N, from `leaf_offset` on.
    table : ndarray of float64
        Added to.
    """
    chunk_first, leaf_order, _, _, state_first, words = chunks
    player, wanted = players
    size, rest, plus = subsets
    term_rest, term_seat, pair_term, pair_first, table_first = terms
    value, leaf_offset, exact = leaves
    n_players = size.size
    last = np.zeros(rest.size, dtype=np.int64)
    for position in range(n_players - 1):
        for i in range(size[position], size[position + 1]):
            last[i] = position
    path = np.empty((n_players + 1, 2), dtype=np.int64)
    positions, seats = np.empty(n_players + 1, dtype=np.int64), np.empty(n_players + 1, dtype=np.int64)
    index, signed = np.zeros(1, dtype=np.int64), np.zeros(1)
    masks, more = np.zeros(64, dtype=np.int64), np.zeros(64, dtype=np.int64)
    for chunk in range(span[0], span[1]):
        for place in range(chunk_first[chunk], chunk_first[chunk + 1]):
            leaf = leaf_order[place]
            bit = np.uint64(place - chunk_first[chunk])
            used = _sort_players(leaf, boxes, player, wanted, path)
            offset = leaf_offset[leaf]
            for i in range(1, size[used]):
                k, j = 0, i
                while j > 0:  # the positions of the set, the last one first
                    positions[k] = last[j]
                    k += 1
                    j = rest[j]
                term = pair_term[pair_first[place] + i]
                at = term
                for m in range(k):
                    seats[k - 1 - m] = term_seat[at]
                    at = term_rest[at]
                n_subsets = 1 << k
                if n_subsets > index.size:
                    index, signed = np.zeros(n_subsets, dtype=np.int64), np.zeros(n_subsets)
                sign = 1.0 if k % 2 == 0 else -1.0
                signed[0] = sign * exact[offset]
                for m in range(k):
                    s = path[positions[k - 1 - m], 1]
                    for b in range(1 << m):
                        index[b | (1 << m)] = plus[s, index[b]]
                for b in range(1, n_subsets):
                    n_met, c = 0, b
                    while c:
                        n_met += 1
                        c &= c - 1
                    signed[b] = (sign if n_met % 2 == 0 else -sign) * exact[offset + index[b]]
                # The players of the set that a combination of states meets, for all seats but the last.
                n_prefix = 1
                masks[0] = 0
                for m in range(k - 1):
                    first_word = state_first[seats[m]]
                    n_states = state_first[seats[m] + 1] - first_word
                    if n_prefix * n_states > more.size:
                        more = np.zeros(2 * n_prefix * n_states, dtype=np.int64)
                    for e in range(n_prefix):
                        for s in range(n_states):
                            met = np.int64((words[first_word + s] >> bit) & np.uint64(1))
                            more[e * n_states + s] = masks[e] | (met << m)
                    n_prefix *= n_states
                    masks, more = more, masks
                first_word = state_first[seats[k - 1]]
                n_states = state_first[seats[k - 1] + 1] - first_word
                top = 1 << (k - 1)
                for v in range(value.shape[1]):
                    out = table_first[term] + v * n_prefix * n_states
                    w = value[leaf, v]
                    for e in range(n_prefix):
                        broken, kept = w * signed[masks[e]], w * signed[masks[e] | top]
                        for s in range(n_states):
                            met = (words[first_word + s] >> bit) & np.uint64(1)
                            table[out + e * n_states + s] += kept if met else broken


@kernel
def look_up(
    states: NDArray[np.uint16],
    groups: tuple[Any, ...],
    terms: tuple[Any, ...],
    table: NDArray[np.float64],
    span: tuple[int, int],
    out: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> None:
    """Write the interaction values of a block of rows, or add their absolute values and squares.

    Parameters
    ----------
    states : ndarray of shape (n_seats, at least n_rows of the block, a multiple of LANES), uint16
    groups : group_order, group_first, entry_term, entry_table
        The terms of each (set, output), and where their tables are; and an order in which neighbours share chunks.
    terms : term_rest, term_seat, n_states
    table : ndarray of float64
        With 64 more entries than there are.
    span : first, last
        The columns of `out` that are the rows of the block.
    out : ndarray of shape (n_groups, n_rows)
        Written, unless it is empty.
    sums : ndarray of shape (2, n_groups)
        Added to, unless it is empty.
    """
    group_order, group_first, entry_term, entry_table = groups
    term_rest, term_seat, n_states = terms
    first, n_rows = span[0], span[1] - span[0]
    total, parts = np.empty(states.shape[1]), np.empty((2, 8))
    lines, factors = np.empty(64, dtype=np.int64), np.empty(64, dtype=np.int64)
    # Asking for an address counts references, which threads would wait for.
    at_total, at_lines, at_factors = total.ctypes.data, lines.ctypes.data, factors.ctypes.data
    at_parts = parts.ctypes.data
    at_states, at_table, width = states.ctypes.data, table.ctypes.data, states.shape[1] * 2
    for group in group_order:
        for r in range(total.size):
            total[r] = 0.0
        for entry in range(group_first[group], group_first[group + 1]):
            term = entry_term[entry]
            seat = term_seat[term]
            n_lines, factor = 0, 1
            while seat >= 0:
                lines[n_lines], factors[n_lines] = at_states + seat * width, factor
                n_lines += 1
                factor *= n_states[seat]
                term = term_rest[term]
                seat = term_seat[term]
            place = at_table + entry_table[entry] * 8
            add_entries(at_total, total.size, place, factor, at_lines, at_factors, n_lines)
        if out.size:
            for r in range(n_rows):
                out[group, first + r] = total[r]
        if sums.size:
            for r in range(n_rows, total.size):
                total[r] = 0.0
            sum_moments(at_total, total.size, at_parts)
            for m in range(2):
                for k in range(8):
                    sums[m, group] += parts[m, k]
    hold((total, parts, lines, factors))
