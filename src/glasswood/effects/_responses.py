"""Responses of rows: the output of the model for each row with a player set to other values, on any scale; and sums.

The link of a sum over trees is not a sum over trees, so this needs the rows one by one. The questions are the same for
all rows: a list for each player, each a value (or cell) of the player.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.effects._chunks import Chunks
from glasswood.effects._row_cells import Rows
from glasswood.kernels import _core
from glasswood.models._ensemble import Link
from glasswood.parallel._interrupts import proceed
from glasswood.parallel._threads import in_order

__all__ = ["Questions", "Responses", "all_responses", "mean_responses"]

MOST_STATES = 2**15
MOST_STATES_HELD = 2**23  # of seats at questions
REPLIES_IN_CACHE = 2**19  # doubles
STATES_IN_CACHE = 2**22
MOST_WIDTH = 64
BATCH = 4096  # rows that a thread takes at a time
MOST_HELD = 2**23  # answers of single rows that a thread holds at a time
MOST_ANSWERS = 2**22  # that are held at a time, if a function of Python's has to see them
Asked = tuple[int, NDArray[np.intp], NDArray[np.int64]]
"""A player, its features, and the cell of each feature for each question. With player -1, rows are unchanged."""

LINKS: dict[Link, int] = {"identity": 0, "logistic": 1, "softmax": 2, "exp": 3}


@dataclass(frozen=True, eq=False, slots=True)
class Questions:
    """What is asked of each row: values of players, one after the other.

    Parameters
    ----------
    first : ndarray of shape (n_players + 1,)
        Where the questions of each player start, and at the end their number.
    seats : ndarray of int64
        The seats of all players.
    held : _core.Questions
    """

    first: NDArray[np.int64]
    seats: NDArray[np.int64]
    held: _core.Questions

    @property
    def n_questions(self) -> int:
        """The number of all questions."""
        return int(self.first[-1])


class Responses:
    """The responses of rows to questions.

    Parameters
    ----------
    plan : CountPlan
    link : {"identity", "logistic", "softmax", "exp"}
        From the score to the response.
    inverse : callable, optional
        A further function of arrays, whose last axis are the outputs: the inverse of a transformed target, or what
        several models make of their scores.
    """

    def __init__(self, plan: CountPlan, link: Link, inverse: Callable[[Any], Any] | None = None) -> None:
        self.plan = plan
        self.inverse = inverse
        self.chunks = Chunks.of(plan, 1, MOST_STATES)
        score = plan.ensemble.score
        scale = 1.0 if link == "identity" else score.link_scale
        self._score = (LINKS[link], score.factor * scale, score.constant * scale)

    def questions(self, asked: Iterable[Asked]) -> Questions:
        """Return questions about players."""
        place = {int(f): number for number, f in enumerate(self.plan.ensemble.used_features)}
        by_player = np.argsort(self.chunks.seat_player, kind="stable")
        bounds = np.searchsorted(self.chunks.seat_player[by_player], np.arange(len(self.plan.players) + 1))
        lists: list[list[NDArray[Any]]] = [[] for _ in range(5)]
        seat_first, question_first, change_counts = [0], [0], [np.zeros(0, dtype=np.int64)]
        for player, features, points in asked:
            cells = np.zeros((len(place), points.shape[1]), dtype=np.int32)
            for feature, line in zip(features.tolist(), points, strict=True):
                if feature in place:
                    cells[place[feature]] = line
            seats = by_player[bounds[player] : bounds[player + 1]] if player >= 0 else np.zeros(0, dtype=np.int64)
            state, question, new, old, seat = self._changes(seats, cells)
            for found, part in zip(lists, (seats, state, new, old, seat), strict=True):
                found.append(part.astype(np.int64))
            change_counts.append(np.bincount(question, minlength=cells.shape[1]))
            seat_first.append(seat_first[-1] + seats.size)
            question_first.append(question_first[-1] + cells.shape[1])
        seats, state, new, old, change_seat = (np.concatenate(found) for found in lists)
        change_first = np.concatenate([[0], np.cumsum(np.concatenate(change_counts), dtype=np.int64)])
        first = np.array(question_first)
        held = _core.Questions(np.array(seat_first), seats, state, first, change_first, new, old, change_seat)
        return Questions(first, seats, held)

    def _changes(self, seats: NDArray[np.int64], cells: NDArray[np.int32]) -> tuple[NDArray[np.int64], ...]:
        """Return the first state of some seats, and which of them change from one question to the next.

        Of each change: the question, the state from then on, the state before, and the seat; in the order of questions,
        then of seats. States of all seats at all questions would be many, so seats are processed in blocks.
        """
        along = self._along(seats, cells)
        if along is not None:
            return along
        parts: list[tuple[NDArray[np.int64], ...]] = []
        first = np.empty(seats.size, dtype=np.int64)
        n_seats = max(1, MOST_STATES_HELD // max(1, cells.shape[1]))
        for at in range(0, seats.size, n_seats):
            proceed()
            some = seats[at : at + n_seats]
            states, base = self.chunks.states_of(some, cells), self.chunks.state_first[some]
            first[at : at + n_seats] = states[:, 0] + base
            seat, question = np.nonzero(states[:, 1:] != states[:, :-1])
            states_of = (states[seat, question + 1] + base[seat], states[seat, question] + base[seat])
            parts.append((question + 1, *states_of, some[seat]))
        if not parts:
            return (first, *(np.empty(0, dtype=np.int64) for _ in range(4)))
        question, new, old, seat = (np.concatenate(part) for part in zip(*parts, strict=True))
        order = np.argsort(question, kind="stable")
        return first, question[order], new[order], old[order], seat[order]

    def _along(self, seats: NDArray[np.int64], cells: NDArray[np.int32]) -> tuple[NDArray[np.int64], ...] | None:
        """Return the same if questions are all cells of one feature of numbers, in their order: else None."""
        asked = np.flatnonzero(cells.any(axis=1))
        n_cells = cells.shape[1]
        if asked.size != 1 or not seats.size or not np.array_equal(cells[asked[0]], np.arange(n_cells)):
            return None
        feature = int(self.plan.ensemble.used_features[asked[0]])
        if n_cells != self.plan.cells.n_cells[feature]:
            return None
        found = self.chunks.changes_along(seats, n_cells)
        if found is None:
            return None
        question, new, old, place = found
        base = self.chunks.state_first[seats]
        return base, question, new + base[place], old + base[place], seats[place]

    def add(self, rows: Rows, span: tuple[int, int], questions: Questions, weight: NDArray[np.float64]) -> Any:
        """Return the sums of responses and of their squares, (2, n_questions, n_outputs), over the rows of a span."""
        sums = np.zeros((questions.n_questions, self.plan.ensemble.n_outputs, 2, 8))
        self._ask(rows.cells(*span), questions, weight, sums, np.empty((0, 0, 0)))
        return sums.sum(axis=3).transpose(2, 0, 1)

    def write(self, rows: Rows, span: tuple[int, int], questions: Questions) -> NDArray[np.float64]:
        """Return the responses of the rows of a span: (n_questions, n_outputs, n_rows)."""
        n_rows = span[1] - span[0]
        out = np.empty((questions.n_questions, self.plan.ensemble.n_outputs, n_rows))
        self._ask(rows.cells(*span), questions, np.ones(n_rows), np.empty((0, 0, 0, 0)), out)
        if self.inverse is None:
            return out
        turned = np.asarray(self.inverse(out.transpose(0, 2, 1)), dtype=np.float64)  # outputs last
        return turned.reshape(out.shape[0], n_rows, -1).transpose(0, 2, 1)

    def _ask(
        self,
        cells: NDArray[np.int32],
        questions: Questions,
        weight: NDArray[np.float64],
        sums: NDArray[np.float64],
        out: NDArray[np.float64],
    ) -> None:
        chunks, value = self.chunks, self.plan.ensemble.value
        n_states, n_rows = int(chunks.state_first[-1]), cells.shape[1]
        width = min(MOST_WIDTH, max(8, REPLIES_IN_CACHE // max(1, n_states * value.shape[1]) // 8 * 8))
        block = width * max(1, STATES_IN_CACHE // max(1, chunks.n_seats) // width)
        states = np.zeros((chunks.n_seats, block), dtype=np.uint16)
        reply = np.empty((n_states, value.shape[1], width))
        own = np.empty((chunks.n_chunks, value.shape[1], width))
        answers = np.empty((*out.shape[:2], width if out.size else 0))
        here = np.empty(width)
        asked = np.zeros(chunks.n_seats, dtype=bool)
        asked[questions.seats] = True
        for row in range(0, n_rows, width):
            proceed()
            last = min(n_rows, row + width)
            if row % block == 0:
                chunks.write_states(cells, (row, min(n_rows, row + block)), states)
            _core.write_replies(states, row % block, chunks.leaves, value, asked, reply, own)
            here[:] = 0
            here[: last - row] = weight[row:last]
            _core.ask(reply, own, chunks.seat_chunk, chunks.output, questions.held, *self._score, here, sums, answers)
            if out.size:
                out[:, :, row:last] = answers[:, :, : last - row]


def mean_responses(
    responses: Responses, asked: list[Asked], rows: Rows, weight: NDArray[np.float64]
) -> list[NDArray[np.float64]]:
    """Return the weighted mean of the responses to each player's questions: (n_questions, n_outputs) each."""
    questions = responses.questions(asked)
    batch = BATCH if responses.inverse is None else max(1, MOST_ANSWERS // questions.n_questions)

    def work(index: int) -> NDArray[np.float64]:
        span = (index * batch, min(rows.n_rows, (index + 1) * batch))
        here = weight[span[0] : span[1]]
        if responses.inverse is None:
            sums: NDArray[np.float64] = responses.add(rows, span, questions, here)[0]
        else:
            sums = responses.write(rows, span, questions) @ here
        return sums

    n_batches = -(-rows.n_rows // batch)
    total = np.zeros(())
    with in_order(n_batches, work, "responses") as parts:
        for sums in parts:
            total = total + sums
    return np.split(total, questions.first[1:-1])


def all_responses(responses: Responses, asked: Asked, rows: Rows) -> NDArray[np.float64]:
    """Return the response of every row to a player's questions: (n_rows, n_questions, n_outputs)."""
    questions = responses.questions([asked])
    batch = min(BATCH, max(MOST_WIDTH, MOST_HELD // max(1, questions.n_questions)))

    def work(index: int) -> NDArray[np.float64]:
        return responses.write(rows, (index * batch, min(rows.n_rows, (index + 1) * batch)), questions)

    n_batches = max(1, -(-rows.n_rows // batch))
    out = np.empty((questions.n_questions, 0, rows.n_rows))
    with in_order(n_batches, work, "responses") as parts:
        for index, part in enumerate(parts):
            if index == 0:  # now the number of outputs is known
                out = np.empty((*part.shape[:2], rows.n_rows))
            out[:, :, index * batch : index * batch + part.shape[2]] = part
    return out.transpose(2, 0, 1)
