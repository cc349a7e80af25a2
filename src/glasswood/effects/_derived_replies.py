"""DerivedReplies: what trees that split on derived columns say of rows, if some columns of the table change.

The derived columns that are made of these change as well, differently from row to row, and a chunk of a tree has no
table of states in which to look its reply up. So chunks that a question concerns reply anew: of the leaves that suit a
row's other columns and the new values, the new ranks of the row leave one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.effects._chunks import Chunks
from glasswood.kernels import _core
from glasswood.models._derived import MAX_RANKS, CellsOfDerived, Derived
from glasswood.parallel._interrupts import check_cancelled
from glasswood.parallel._lazy import cached_property, cached_unpickled

__all__ = ["DerivedQuestions", "DerivedReplies"]

WIDTH = 64  # rows at a time
REPLIES_IN_CACHE = 2**19  # doubles
STATES_IN_CACHE = 2**22
MAX_STATES_HELD = 2**22  # of seats at questions
MAX_LEAVES = 64  # of a chunk


class Span(NamedTuple):
    """Some questions in a row, all about the same columns, and what kernels need to answer them."""

    first: int
    last: int
    seat_chunk: NDArray[np.int64]
    held: _core.Questions
    changes: _core.Changes
    n_lines: int


@dataclass(frozen=True, eq=False, slots=True)
class DerivedQuestions:
    """What is asked of each row, as in `glasswood.effects._responses.Questions`.

    Parameters
    ----------
    first : ndarray of int64
        Where the questions of each player start, and at the end their number.
    spans : list of Span
    """

    first: NDArray[np.int64]
    spans: list[Span]

    @property
    def n_questions(self) -> int:
        """The number of all questions."""
        return int(self.first[-1])


class Concerned(NamedTuple):
    """Which parts of a model are concerned if some columns of the table change; see `src/core/derived.h`."""

    moved_part: NDArray[np.int64]  # parts that change
    key: NDArray[np.int64]
    kept_part_first: NDArray[np.int64]
    kept_part: NDArray[np.int64]
    chunk: NDArray[np.int64]
    direct: NDArray[np.int64]  # seats of the columns themselves
    kept_seat_first: NDArray[np.int64]
    kept_seat: NDArray[np.int64]
    seat_first: NDArray[np.int64]
    seat: NDArray[np.int64]
    column: NDArray[np.int64]


class DerivedReplies:
    """Replies of the chunks of a model with derived columns.

    Parameters
    ----------
    plan : CountPlan
    chunks : Chunks
    """

    def __init__(self, plan: CountPlan, derived: Derived, chunks: Chunks) -> None:
        self._plan, self._derived, self._chunks = plan, derived, chunks

    @cached_unpickled
    def _derived_columns(self) -> CellsOfDerived:
        """The derived columns as functions of the cells of the plan."""
        cells, used = self._plan.cells, self._plan.ensemble.used_features
        return CellsOfDerived(self._derived, used, {f: cells.cuts_of(f) for f in used.tolist()})

    def with_ranks(self, cells: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the cells of rows, one line per column of the table that is used, and lines of derived ones behind."""
        return np.concatenate([cells, self._derived_columns.ranks(cells)])

    @cached_property
    def _values(self) -> NDArray[np.float64]:
        """The values of the leaves of each chunk, (n_chunks, n_values, 65), zeros behind them."""
        chunks, value = self._chunks, self._plan.ensemble.value
        sizes = np.diff(chunks.chunk_first)
        chunk = np.repeat(np.arange(chunks.n_chunks), sizes)
        place = np.arange(chunk.size) - chunks.chunk_first[chunk]
        result = np.zeros((chunks.n_chunks, value.shape[1], MAX_LEAVES + 1))
        result[chunk, :, place] = value[chunks.leaf_order]
        return result

    @cached_property
    def _words_of_ranks(self) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Where the words of each seat of a derived column start, -1 for others, and the leaves that suit each rank."""
        chunks, n = self._chunks, self._plan.ensemble.n_features
        n_lines = self._plan.ensemble.used_features.size
        seats = np.flatnonzero(chunks.seat_player >= n)
        first = np.full(chunks.n_seats, -1, dtype=np.int64)
        first[seats] = np.arange(seats.size) * MAX_RANKS
        n_cells = self._plan.column_cells.n_cells
        rank = np.minimum(np.arange(MAX_RANKS, dtype=np.int32), (n_cells[n:] - 2)[:, None])
        cells = np.concatenate([np.zeros((n_lines, MAX_RANKS), dtype=np.int32), rank.astype(np.int32)])
        states = chunks.states_of(seats, np.ascontiguousarray(cells))
        return first, chunks.words[chunks.state_first[seats][:, None] + states].ravel()

    def _concerned(self, features: NDArray[np.intp]) -> Concerned:
        """Return what is concerned if some columns of the table change."""
        derived, chunks, n = self._derived, self._chunks, self._plan.ensemble.n_features
        moves = np.isin(derived.part_column, features)
        has_key = np.zeros(derived.n_keys, dtype=bool)
        has_key[derived.part_key[moves]] = True
        key = np.flatnonzero(has_key)
        kept_part = np.flatnonzero(~moves & has_key[derived.part_key])
        player = chunks.seat_player
        column = np.maximum(player - n, 0)
        direct = np.isin(player, features)
        through = (player >= n) & has_key[derived.key_of[column]]
        is_concerned = np.zeros(chunks.n_chunks, dtype=bool)
        is_concerned[chunks.seat_chunk[direct | through]] = True
        kept = np.flatnonzero(~direct & ~through & is_concerned[chunks.seat_chunk])
        chunk, seat = np.flatnonzero(is_concerned), np.flatnonzero(through)
        return Concerned(
            moved_part=np.flatnonzero(moves),
            key=key,
            kept_part_first=_bounds(np.searchsorted(key, derived.part_key[kept_part]), key.size),
            kept_part=kept_part,
            chunk=chunk,
            direct=np.flatnonzero(direct),
            kept_seat_first=_bounds(np.searchsorted(chunk, chunks.seat_chunk[kept]), chunk.size),
            kept_seat=kept,
            seat_first=_bounds(np.searchsorted(chunk, chunks.seat_chunk[seat]), chunk.size),
            seat=seat,
            column=column[seat].astype(np.int64),
        )

    def questions(self, asked: Iterable[tuple[int, NDArray[np.intp], NDArray[np.int64]]]) -> DerivedQuestions:
        """Return questions about players."""
        first: list[int] = [0]
        spans: list[Span] = []
        used = self._plan.ensemble.used_features
        for _, features, points in asked:
            known = np.isin(features, used)
            spans += self._spans(features[known], points[known], first[-1])
            first.append(first[-1] + points.shape[1])
        return DerivedQuestions(np.array(first), spans)

    def _spans(self, features: NDArray[np.intp], points: NDArray[np.int64], first: int) -> Iterator[Span]:
        """Yield questions about some columns in spans of few enough replies."""
        concerned = self._concerned(features)
        n_points = points.shape[1]
        block = max(1, MAX_STATES_HELD // (1 + concerned.chunk.size + concerned.direct.size + concerned.key.size))
        max_lines = REPLIES_IN_CACHE // (WIDTH * self._plan.ensemble.value.shape[1])
        for at in range(0, n_points, block):
            check_cancelled()
            here = points[:, at : at + block]
            moved = self._moved(concerned, features, here)
            word, changes = self._at_points(concerned, features, here, moved)
            starts = [0]
            n_lines = concerned.chunk.size
            for question, more in enumerate(changes.sum(axis=0).tolist()):
                if question and n_lines + more > max_lines:
                    starts.append(question)
                    n_lines = concerned.chunk.size
                elif question:
                    n_lines += more
            for start, end in zip(starts, [*starts[1:], here.shape[1]], strict=True):
                which = slice(start, end)
                yield self._span(concerned, word[:, which], changes[:, which], moved[which], first + at + start)

    def _moved(self, concerned: Concerned, features: NDArray[np.intp], points: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the sum of the parts of each concerned key that change, at each point: (n_points, n_keys)."""
        derived = self._derived
        moved = np.zeros((concerned.key.size, points.shape[1]), dtype=np.uint64)
        place = {int(f): number for number, f in enumerate(features)}
        for part in concerned.moved_part.tolist():
            key = int(np.searchsorted(concerned.key, derived.part_key[part]))
            moved[key] += self._derived_columns.values_at(part, points[place[int(derived.part_column[part])]])
        return np.ascontiguousarray(moved.T)

    def _at_points(
        self, concerned: Concerned, features: NDArray[np.intp], points: NDArray[np.int64], moved: NDArray[np.uint64]
    ) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """Return the leaves of each chunk that suit the new values, and which chunks reply anew, at each point."""
        chunks, derived, e = self._chunks, self._derived, self._plan.ensemble
        cells = np.zeros((e.used_features.size + derived.n_columns, points.shape[1]), dtype=np.int32)
        cells[np.searchsorted(e.used_features, features)] = points
        word = np.full((concerned.chunk.size, points.shape[1]), ~np.uint64(0))
        changes = np.zeros(word.shape, dtype=bool)
        for feature in features.tolist():  # each has at most one seat in a chunk
            seats = concerned.direct[chunks.seat_player[concerned.direct] == feature]
            states = chunks.states_of(seats, cells)
            chunk = np.searchsorted(concerned.chunk, chunks.seat_chunk[seats])
            word[chunk] &= chunks.words[chunks.state_first[seats][:, None] + states]
            changes[chunk, 1:] |= states[:, 1:] != states[:, :-1]
        key_changes = (moved[1:] != moved[:-1]).T
        seat_chunk = np.searchsorted(concerned.chunk, chunks.seat_chunk[concerned.seat])
        seat_key = np.searchsorted(concerned.key, derived.key_of[concerned.column])
        pairs = np.unique(np.stack([seat_chunk, seat_key]), axis=1)
        np.logical_or.at(changes[:, 1:], pairs[0], key_changes[pairs[1]])
        changes[:, :1] = True
        return word, changes

    def _span(
        self,
        concerned: Concerned,
        word: NDArray[np.uint64],
        changes: NDArray[np.bool_],
        moved: NDArray[np.uint64],
        first: int,
    ) -> Span:
        """Return some questions, for which all chunks that are concerned reply once, and then if something changes."""
        n_chunks, n_questions = word.shape
        replies = changes.copy()
        replies[:, :1] = True
        question, chunk = map(np.ascontiguousarray, np.nonzero(replies.T))
        line_first = _bounds(question, n_questions)
        by_chunk = np.lexsort((question, chunk))
        before = np.empty(chunk.size, dtype=np.int64)  # the line of the chunk's reply before
        before[by_chunk[1:]] = by_chunk[:-1]
        after_first = np.arange(n_chunks, chunk.size)
        change_first = np.maximum(line_first - n_chunks, 0)
        held = _core.Questions(
            seat_first=np.array([0, n_chunks]),
            seat=np.arange(n_chunks),
            state=np.arange(n_chunks),
            question_first=np.array([0, n_questions]),
            change_first=change_first,
            new_state=after_first,
            old_state=before[after_first],
            change_seat=chunk[after_first],
        )
        made = _core.Changes(
            self._chunks.leaves,
            self._derived_columns.held,
            key=concerned.key,
            kept_part_first=concerned.kept_part_first,
            kept_part=concerned.kept_part,
            moved=np.ascontiguousarray(moved),
            chunk=concerned.chunk,
            kept_seat_first=concerned.kept_seat_first,
            kept_seat=concerned.kept_seat,
            seat_first=concerned.seat_first,
            seat=concerned.seat,
            column=concerned.column,
            line_first=line_first,
            line_chunk=chunk,
            line_word=word[chunk, question],
        )
        return Span(first, first + n_questions, concerned.chunk, held, made, chunk.size)

    def blocks(
        self, cells: NDArray[np.int32], questions: DerivedQuestions
    ) -> Iterator[tuple[tuple[int, int], tuple[int, int], dict[str, Any]]]:
        """Yield blocks of rows and of questions, from first to last, and what kernels that ask take of them."""
        chunks, value = self._chunks, self._plan.ensemble.value
        cells = self.with_ranks(cells)
        n_rows, n_values = cells.shape[1], value.shape[1]
        block = WIDTH * max(1, STATES_IN_CACHE // max(1, chunks.n_seats) // WIDTH)
        states = np.zeros((chunks.n_seats, block), dtype=np.uint16)
        own = np.empty((chunks.n_chunks, n_values, WIDTH))
        none_asked, no_others = np.full(chunks.n_seats, -1), np.empty((0, WIDTH), dtype=np.uint64)
        held = np.empty((max((span.n_lines for span in questions.spans), default=0), n_values, WIDTH))
        for row in range(0, n_rows, WIDTH):
            if row % block == 0:
                chunks.write_states(cells, (row, min(n_rows, row + block)), states)
            _core.write_others(states, row % block, chunks.leaves, value, none_asked, no_others, own)
            for span in questions.spans:
                check_cancelled()
                reply = held[: span.n_lines]
                _core.write_changed_replies(
                    cells,
                    row,
                    states,
                    row % block,
                    chunks.leaves,
                    self._derived_columns.held,
                    span.changes,
                    *self._words_of_ranks,
                    self._values,
                    reply,
                )
                asked = {"reply": reply, "own": own, "seat_chunk": span.seat_chunk, "questions": span.held}
                yield (row, min(n_rows, row + WIDTH)), (span.first, span.last), asked


def _bounds(numbers: NDArray[np.integer[Any]], n: int) -> NDArray[np.int64]:
    """Return where each of n numbers starts in a sorted list of them, and at the end its length."""
    return np.searchsorted(numbers, np.arange(n + 1)).astype(np.int64)
