"""Rows one by one: what the score of a row would be if one player took other values, and sums of that over rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.kernels._compile import hold, kernel
from glasswood.kernels._vectors import add_difference, exponentiate, pick, scale, squash, weigh

__all__ = ["ask", "write_replies"]

ONE = np.uint64(1)
IDENTITY, LOGISTIC, SOFTMAX, EXP = 0, 1, 2, 3


@kernel
def write_replies(
    states: NDArray[np.uint16],
    row: int,
    chunks: tuple[Any, ...],
    value: NDArray[np.float64],
    asked: NDArray[np.bool_],
    reply: NDArray[np.float64],
    own: NDArray[np.float64],
) -> None:
    """Write what each chunk adds to the score of each row: as the row is, and with one player in any other state.

    Parameters
    ----------
    states : ndarray of shape (n_seats, ...), uint16
    row : int
        The first of the rows in `states`.
    chunks : chunk_first, leaf_order, seat_first, state_first, words
        As `make_chunks` returns them.
    value : ndarray of shape (n_leaves, n_values)
    asked : ndarray of shape (n_seats,), bool
        Which seats' replies are wanted.
    reply : ndarray of shape (n_states, n_values, n_rows)
        Written: the value of the leaf that the row reaches if the state's player is in that state and all others are
        as they are; 0 if the leaf is in another chunk.
    own : ndarray of shape (n_chunks, n_values, n_rows)
        Written.

    Notes
    -----
    A state's word tells which leaves suit it, so the leaf is the one bit that is left of the words of all players. A
    few nanoseconds per state and row.
    """
    chunk_first, leaf_order, seat_first, state_first, words = chunks
    n_rows, n_values = reply.shape[2], value.shape[1]
    most = 0
    for chunk in range(chunk_first.size - 1):
        most = max(most, seat_first[chunk + 1] - seat_first[chunk])
    suits, rest = np.empty((most, n_rows), dtype=np.uint64), np.empty((most + 1, n_rows), dtype=np.uint64)
    before, others = np.empty(n_rows, dtype=np.uint64), np.empty(n_rows, dtype=np.uint64)
    values = np.empty((n_values, 64))
    at_values, at_others, at_rest = values.ctypes.data, others.ctypes.data, rest.ctypes.data
    at_reply, at_own = reply.ctypes.data, own.ctypes.data
    for chunk in range(chunk_first.size - 1):
        first, n_leaves = chunk_first[chunk], chunk_first[chunk + 1] - chunk_first[chunk]
        first_seat, n_seats = seat_first[chunk], seat_first[chunk + 1] - seat_first[chunk]
        for k in range(n_values):
            for i in range(64):
                values[k, i] = value[leaf_order[first + i], k] if i < n_leaves else 0.0
        all_leaves = ~np.uint64(0) if n_leaves == 64 else (ONE << np.uint64(n_leaves)) - ONE
        for r in range(n_rows):
            rest[n_seats, r] = before[r] = all_leaves
        for i in range(n_seats - 1, -1, -1):
            base = state_first[first_seat + i]
            for r in range(n_rows):
                suits[i, r] = words[base + states[first_seat + i, row + r]]
                rest[i, r] = rest[i + 1, r] & suits[i, r]
        for k in range(n_values):
            pick(at_rest, all_leaves, at_values + k * 512, n_rows, at_own + (chunk * n_values + k) * n_rows * 8)
        for i in range(n_seats):
            for r in range(n_rows):
                others[r] = before[r] & rest[i + 1, r]
                before[r] &= suits[i, r]
            if not asked[first_seat + i]:
                continue
            for state in range(state_first[first_seat + i], state_first[first_seat + i + 1]):
                for k in range(n_values):
                    place = at_reply + (state * n_values + k) * n_rows * 8
                    pick(at_others, words[state], at_values + k * 512, n_rows, place)
    hold((values, others, rest))


@kernel
def ask(
    replies: tuple[Any, ...],
    chunks: tuple[Any, ...],
    questions: tuple[Any, ...],
    score: tuple[Any, ...],
    weight: NDArray[np.float64],
    sums: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Ask each player's questions: what the response of each row is, if the player takes a value; sum up the answers.

    Parameters
    ----------
    replies : reply, own
        As `write_replies` writes them.
    chunks : seat_chunk, output
        The chunk of each seat, and the first output of each chunk.
    questions : seat_first, seats, state, question_first, change_first, new, old, change_seat
        Player p has the seats from ``seat_first[p]`` on, which are in `state` for its first question. Its questions are
        those from ``question_first[p]`` on; before question v, the seats of the changes from ``change_first[v]`` on go
        from the state `old` to `new`.
    score : link, factor, constant
        The response is the link of ``factor * sum of leaf values + constant``.
    weight : ndarray of shape (n_rows,), float64
        Of each row; a multiple of 8 of them.
    sums : ndarray of shape (n_questions, n_outputs, 2, 8)
        Added to, unless it is empty: the weighted sums of responses and of their squares, in eight parts.
    out : ndarray of shape (n_questions, n_outputs, n_rows)
        Written, unless it is empty: the response of each row.
    """
    reply, own = replies
    seat_chunk, output = chunks
    seat_first, seats, state, question_first, change_first, new, old, change_seat = questions
    link, factor, constant = score
    n_values, n_rows, n_outputs = reply.shape[1], reply.shape[2], constant.size
    total, now, y = np.zeros((n_outputs, n_rows)), np.empty((n_outputs, n_rows)), np.empty((n_outputs, n_rows))
    for chunk in range(own.shape[0]):
        for k in range(n_values):
            for r in range(n_rows):
                total[output[chunk] + k, r] += own[chunk, k, r]
    at_now, at_y, at_weight, at_sums = now.ctypes.data, y.ctypes.data, weight.ctypes.data, sums.ctypes.data
    at_reply, at_own, line = reply.ctypes.data, own.ctypes.data, n_rows * 8
    for player in range(seat_first.size - 1):
        for o in range(n_outputs):
            for r in range(n_rows):
                now[o, r] = total[o, r]
        for i in range(seat_first[player], seat_first[player + 1]):
            chunk = seat_chunk[seats[i]]
            for k in range(n_values):
                place = at_now + (output[chunk] + k) * line
                mine, its = at_reply + (state[i] * n_values + k) * line, at_own + (chunk * n_values + k) * line
                add_difference(place, mine, its, n_rows)
        for question in range(question_first[player], question_first[player + 1]):
            for change in range(change_first[question], change_first[question + 1]):
                first = output[seat_chunk[change_seat[change]]]
                for k in range(n_values):
                    one, two = (new[change] * n_values + k) * line, (old[change] * n_values + k) * line
                    add_difference(at_now + (first + k) * line, at_reply + one, at_reply + two, n_rows)
            for o in range(n_outputs):
                z, response = at_now + o * line, at_y + o * line
                if link == LOGISTIC:
                    squash(z, n_rows, factor, constant[o], response)
                elif link == EXP:
                    exponentiate(z, n_rows, factor, constant[o], response)
                else:
                    scale(z, n_rows, factor, constant[o], response)
            if link == SOFTMAX:
                for r in range(n_rows):
                    high = y[0, r]
                    for o in range(1, n_outputs):
                        high = max(high, y[o, r])
                    for o in range(n_outputs):
                        y[o, r] -= high
                exponentiate(at_y, y.size, 1.0, 0.0, at_y)
                for r in range(n_rows):
                    whole = 0.0
                    for o in range(n_outputs):
                        whole += y[o, r]
                    for o in range(n_outputs):
                        y[o, r] /= whole
            for o in range(n_outputs):
                if sums.size:
                    weigh(at_y + o * line, at_weight, n_rows, at_sums + (question * n_outputs + o) * 128)
                if out.size:
                    for r in range(n_rows):
                        out[question, o, r] = y[o, r]
    hold((now, y))
