"""Responses of rows: the output of the model for each row with a player set to other values, on any scale; and sums.

The link of a sum over trees is not a sum over trees, so this needs the rows one by one. The questions are the same for
all rows: a list for each player, each a value (or cell) of the player.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.counting._wide import digits_of
from glasswood.effects._chunks import Chunks
from glasswood.effects._derived_replies import DerivedQuestions, DerivedReplies
from glasswood.effects._row_cells import CellBlock, Rows
from glasswood.errors import TooLargeError
from glasswood.kernels import _core
from glasswood.models._ensemble import Link
from glasswood.parallel._interrupts import check_cancelled
from glasswood.parallel._threads import in_order

__all__ = ["AnyQuestions", "Asked", "KernelLoss", "Responses", "Unit", "all_responses", "batch_of", "sum_responses"]

MAX_STATES = 2**15
MAX_STATES_HELD = 2**23  # of seats at questions
REPLIES_IN_CACHE = 2**21  # doubles
STATES_IN_CACHE = 2**20
STATES_TOGETHER = 2**12  # whose replies are held while questions about them are asked, about
MAX_WIDTH = 128
BATCH = 4096  # rows that a thread takes at a time
AT_A_TIME = 4096  # scores that a function of Python's gets
MAX_HELD = 2**23  # answers of single rows that a thread holds at a time
MAX_ANSWERS = 2**22  # that are held at a time, if a function of Python's has to see them
Asked = tuple[int, NDArray[np.intp], NDArray[np.int64]]
"""A player, its features, and the cell of each feature for each question. With player -1, rows are unchanged."""

Cells = Rows | CellBlock

TOO_LARGE = (
    "a prediction is not a number, or so large that sums of predictions would not be exact; divide the target by a "
    'constant and fit the model again, or ask for response="raw"'
)
LINKS: dict[Link, int] = {"identity": 0, "logistic": 1, "softmax": 2, "exp": 3}


class Unit(NamedTuple):
    """The unit of whole sums of responses: 2**-52 / factor; squares have 2**-52 / factor**2.

    `factor` is a power of two, so that nothing is rounded twice. Responses times the factor are at most 1/2 in size, or
    at most 2**25 if they are `large`.
    """

    factor: float
    large: bool


class KernelLoss(NamedTuple):
    """A loss as the kernel takes it, see `src/core/losses.h`: sums are in units of 2**-52 / scale, or / scale**2.

    Losses times the scale (or its square) are at most 1/2, or at most 2**50 if they are `large`.
    """

    code: int
    level: float
    scale: float
    large: bool


@dataclass(frozen=True, eq=False, slots=True)
class Questions:
    """What is asked of each row: values of players, one after the other.

    Parameters
    ----------
    first : ndarray of shape (n_players + 1,)
        Where the questions of each player start, and at the end their number.
    parts : list of QuestionsOfSeats
        Questions of one player or of several, one after the other.
    """

    first: NDArray[np.int64]
    parts: list[QuestionsOfSeats]

    @property
    def n_questions(self) -> int:
        """The number of all questions."""
        return int(self.first[-1])

    @property
    def seats(self) -> NDArray[np.int64]:
        """All seats that are asked."""
        return np.unique(np.concatenate([part.seats for part in self.parts])) if self.parts else np.empty(0, np.int64)


class QuestionsOfSeats(NamedTuple):
    """Questions whose replies are held at a time.

    Parameters
    ----------
    first, last : int
        Their numbers.
    seats : ndarray of int64
    n_states : int
        The number of states of all of these seats.
    held : _core.Questions
        States are numbered through, in the order of the seats.
    """

    first: int
    last: int
    seats: NDArray[np.int64]
    n_states: int
    held: _core.Questions


class _OfPlayer(NamedTuple):
    """The questions of a player: its seats and their first states, and what changes before which question."""

    n_questions: int
    seats: NDArray[np.int64]
    state: NDArray[np.int64]
    question: NDArray[np.int64]
    new: NDArray[np.int64]
    old: NDArray[np.int64]
    change_seat: NDArray[np.int64]


AnyQuestions = Questions | DerivedQuestions


@dataclass(frozen=True, eq=False, slots=True)
class _Destination:
    """Where responses of rows are written or added, see `glasswood.kernels._core.ask`; empty arrays are not used."""

    weight: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    sums: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0, 0, 0)))
    digits: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    factor: float = 1.0
    large: bool = False
    whole: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 0, 0, 0), dtype=np.int64))
    out: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0, 0)))


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
        self.chunks = Chunks.of(plan, 1, MAX_STATES)
        score, derived = plan.ensemble.score, plan.ensemble.derived
        self._derived = None if derived is None else DerivedReplies(plan, derived, self.chunks)
        scale = 1.0 if link == "identity" else score.link_scale
        self._score = (LINKS[link], score.factor * scale, score.constant * scale)
        self._factor = score.factor  # of offsets, which are added to sums of leaf values

    def questions(self, asked: Iterable[Asked]) -> AnyQuestions:
        """Return questions about players."""
        if self._derived is not None:
            return self._derived.questions(asked)
        place = {int(f): number for number, f in enumerate(self.plan.ensemble.used_features)}
        by_player = np.argsort(self.chunks.seat_player, kind="stable")
        bounds = np.searchsorted(self.chunks.seat_player[by_player], np.arange(len(self.plan.players) + 1))
        parts, together, n_states, first = list[QuestionsOfSeats](), list[_OfPlayer](), 0, [0]
        for player, features, points in asked:
            cells = np.zeros((len(place), points.shape[1]), dtype=np.int32)
            for feature, line in zip(features.tolist(), points, strict=True):
                if feature in place:
                    cells[place[feature]] = line
            seats = by_player[bounds[player] : bounds[player + 1]] if player >= 0 else np.zeros(0, dtype=np.int64)
            own = int(self._states_of(seats).sum())
            if together and n_states + own > max(STATES_TOGETHER, self.chunks.n_chunks):
                parts.append(self._asked_together(together, parts[-1].last if parts else 0))
                together, n_states = [], 0
            n_states += own
            together.append(_OfPlayer(cells.shape[1], seats, *self._changes(seats, cells)))
            first.append(first[-1] + cells.shape[1])
        if together:
            parts.append(self._asked_together(together, parts[-1].last if parts else 0))
        return Questions(np.array(first), parts)

    def _states_of(self, seats: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of states of each of some seats."""
        first: NDArray[np.int64] = self.chunks.state_first
        return first[seats + 1] - first[seats]

    def _asked_together(self, players: Sequence[_OfPlayer], first: int) -> QuestionsOfSeats:
        """Return the questions of some players, which begin with a number."""
        seats = np.unique(np.concatenate([own.seats for own in players]))
        n_states = self._states_of(seats)
        shift = np.cumsum(n_states) - n_states - self.chunks.state_first[seats]

        def numbered(states: Sequence[NDArray[np.int64]], of: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
            result: NDArray[np.int64] = np.concatenate(states) + shift[np.searchsorted(seats, np.concatenate(of))]
            return result

        n_questions = [own.n_questions for own in players]
        n_changes = [np.bincount(own.question, minlength=own.n_questions) for own in players]
        change_seat = [own.change_seat for own in players]
        held = _core.Questions(
            seat_first=_ends([own.seats.size for own in players]),
            seat=np.concatenate([own.seats for own in players]),
            state=numbered([own.state for own in players], [own.seats for own in players]),
            question_first=_ends(n_questions),
            change_first=_ends(np.concatenate(n_changes)),
            new_state=numbered([own.new for own in players], change_seat),
            old_state=numbered([own.old for own in players], change_seat),
            change_seat=np.concatenate(change_seat),
        )
        return QuestionsOfSeats(first, first + sum(n_questions), seats, int(n_states.sum()), held)

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
        n_seats = max(1, MAX_STATES_HELD // max(1, cells.shape[1]))
        for at in range(0, seats.size, n_seats):
            check_cancelled()
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
        changes = self.chunks.changes_along(seats, n_cells)
        if changes is None:
            return None
        question, new, old, place = changes
        base = self.chunks.state_first[seats]
        return base, question, new + base[place], old + base[place], seats[place]

    def sums_and_squares(
        self, rows: Cells, span: tuple[int, int], questions: AnyQuestions, weight: NDArray[np.float64]
    ) -> Any:
        """Return the sums of responses and of their squares, (2, n_questions, n_outputs), over the rows of a span."""
        sums = np.zeros((questions.n_questions, self.plan.ensemble.n_outputs, 2, 8))
        self._ask(rows.cells(*span), questions, _Destination(weight=weight, sums=sums))
        return sums.sum(axis=3).transpose(2, 0, 1)

    def add_whole(
        self,
        cells: NDArray[np.int32],
        questions: AnyQuestions,
        digits: NDArray[np.int64],
        unit: Unit,
        sums: NDArray[np.int64],
        offset: NDArray[np.float64] | None = None,
    ) -> None:
        """Add the responses of rows, and their squares, to sums of wide whole numbers.

        Parameters
        ----------
        cells : ndarray of shape (n_features, n_rows), int32
        questions : Questions
        digits : ndarray of shape (n_rows,), int64
            The rows' weights; empty for rows without weights.
        unit : Unit
        sums : ndarray of shape (n_questions, n_outputs, 2, LIMBS), int64
        offset : ndarray of shape (n_rows, n_outputs), optional
        """
        self._ask(
            cells, questions, _Destination(whole=sums, digits=digits, factor=unit.factor, large=unit.large), offset
        )

    def write(self, rows: Cells, span: tuple[int, int], questions: AnyQuestions) -> NDArray[np.float64]:
        """Return the responses of the rows of a span: (n_questions, n_outputs, n_rows)."""
        return self.write_cells(rows.cells(*span), questions)

    def write_cells(
        self, cells: NDArray[np.int32], questions: AnyQuestions, offset: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return the responses of rows, given their cells: (n_questions, n_outputs, n_rows)."""
        n_rows = cells.shape[1]
        out = np.empty((questions.n_questions, self.plan.ensemble.n_outputs, n_rows))
        self._ask(cells, questions, _Destination(out=out), offset)
        if self.inverse is None:
            return out
        scores = out.transpose(0, 2, 1).reshape(-1, out.shape[1])  # outputs last
        return _turned(self.inverse, scores).reshape(out.shape[0], n_rows, -1).transpose(0, 2, 1)

    @property
    def before_link(self) -> Responses:
        """The same without the link: what it takes."""
        result = copy(self)
        result._score = (LINKS["identity"], *self._score[1:])
        return result

    def add_losses(  # noqa: PLR0913 (rows, what is asked of them, and where it is added)
        self,
        cells: NDArray[np.int32],
        questions: AnyQuestions,
        digits: NDArray[np.int64],
        loss: KernelLoss,
        target: NDArray[np.float64] | None,
        sums: NDArray[np.int64],
        offset: NDArray[np.float64] | None = None,
    ) -> bool:
        """Add losses of rows to sums of wide whole numbers, and return whether all of them fit.

        Parameters
        ----------
        cells : ndarray of shape (n_features, n_rows), int32
        questions : Questions
        digits : ndarray of shape (n_rows,), int64
            The rows' weights; empty for rows without weights.
        loss : KernelLoss
        target : ndarray of shape (n_rows, n_outputs), or None if the loss needs none
        sums : ndarray of shape (n_questions, n_sums, LIMBS), int64
        offset : ndarray of shape (n_rows, n_outputs), optional
        """
        weighted = digits.size > 0
        places = np.full((1, cells.shape[1]), -1) if not weighted else digits_of(digits)
        fits, block, own, own_places = True, (-1, -1), np.empty((0, 0)), places
        for rows, (first, end), asked in self._blocks(cells, questions, offset):
            if rows != block:
                block, width = rows, asked["reply"].shape[2]
                own = _padded(np.empty((0, 0)) if target is None else target[slice(*rows)].T, width)
                own_places = _padded(places[:, slice(*rows)], width)
            fits &= _core.add_losses(
                **asked,
                loss=loss.code,
                level=loss.level,
                scale=loss.scale,
                target=own,
                digits=own_places,
                weighted=weighted,
                large=loss.large,
                sums=sums[first:end],
            )
        return fits

    def _ask(
        self,
        cells: NDArray[np.int32],
        questions: AnyQuestions,
        into: _Destination,
        offset: NDArray[np.float64] | None = None,
    ) -> None:
        n_rows, out = cells.shape[1], into.out
        weighted = into.digits.size > 0
        weight = np.ones(n_rows) if not into.weight.size else into.weight
        digits = np.full((1, n_rows), -1) if not weighted else digits_of(into.digits)
        block, own_weight, own_digits = (-1, -1), np.empty(0), digits
        for rows, (first, end), asked in self._blocks(cells, questions, offset):
            width = asked["reply"].shape[2]
            row, last = rows
            if rows != block:
                block, own_weight = rows, _padded(weight[None, row:last], width)[0]
                own_digits = _padded(digits[:, row:last], width)
            answers = np.empty((end - first, out.shape[1], width) if out.size else (0, 0, 0))
            fits = _core.ask(
                **asked,
                weight=own_weight,
                sums=into.sums[first:end],
                digits=own_digits,
                weighted=weighted,
                large=into.large,
                whole_factor=into.factor,
                whole=into.whole[first:end],
                out=answers,
            )
            if not fits:
                raise TooLargeError(TOO_LARGE)
            if out.size:
                out[first:end, :, row:last] = answers[:, :, : last - row]

    def _blocks(
        self, cells: NDArray[np.int32], questions: AnyQuestions, offset: NDArray[np.float64] | None
    ) -> Iterator[tuple[tuple[int, int], tuple[int, int], dict[str, Any]]]:
        """Yield blocks of rows and of questions, from first to last, and what kernels that ask take of them."""
        added = np.empty((0, 0)) if offset is None else np.ascontiguousarray(offset.T) / self._factor
        score = dict(zip(("link", "factor", "constant"), self._score, strict=True))
        if self._derived is not None and isinstance(questions, DerivedQuestions):
            blocks = self._derived.blocks(cells, questions)
        else:
            blocks = self._replies(cells, cast("Questions", questions))
        block, own_offset = (-1, -1), added
        for rows, which, asked in blocks:
            if rows != block:
                block, own_offset = rows, _padded(added[:, slice(*rows)], asked["reply"].shape[2])
            yield rows, which, asked | {"output": self.chunks.output, "offset": own_offset, **score}

    def _replies(
        self, cells: NDArray[np.int32], questions: Questions
    ) -> Iterator[tuple[tuple[int, int], tuple[int, int], dict[str, Any]]]:
        """Yield blocks of rows, and for each of them parts of the questions and the replies of chunks to these."""
        chunks, value = self.chunks, self.plan.ensemble.value
        n_rows, n_values, seats = cells.shape[1], value.shape[1], questions.seats
        n_states = max((part.n_states for part in questions.parts), default=0)
        width = max(8, REPLIES_IN_CACHE // max(1, n_states * n_values, seats.size) // 8 * 8)
        width = min(MAX_WIDTH, width, max(8, -(-n_rows // 8) * 8))
        block = width * max(1, STATES_IN_CACHE // max(1, chunks.n_seats) // width)
        states = np.zeros((chunks.n_seats, block), dtype=np.uint16)
        reply = np.empty((n_states, n_values, width))
        own = np.empty((chunks.n_chunks, n_values, width))
        others = np.empty((seats.size, width), dtype=np.uint64)
        line = np.full(chunks.n_seats, -1)
        line[seats] = np.arange(seats.size)
        for row in range(0, n_rows, width):
            check_cancelled()
            if row % block == 0:
                chunks.write_states(cells, (row, min(n_rows, row + block)), states)
            _core.write_others(states, row % block, chunks.leaves, value, line, others, own)
            for part in questions.parts:
                replies = reply[: part.n_states]
                _core.write_replies(others, line, chunks.leaves, value, part.seats, replies)
                taken = {"reply": replies, "own": own, "seat_chunk": chunks.seat_chunk, "questions": part.held}
                yield (row, min(n_rows, row + width)), (part.first, part.last), taken


def _ends(sizes: Any) -> NDArray[np.int64]:
    """Return where each of some parts starts, given their sizes, and at last where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def _padded(lines: NDArray[Any], width: int) -> NDArray[Any]:
    """Return lines with zeros behind them; none, if there are none."""
    result = np.zeros((len(lines), width if lines.size else 0), dtype=lines.dtype)
    result[:, : lines.shape[1]] = lines
    return result


def _turned(function: Callable[[Any], Any], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a function of scores, (n, n_outputs).

    It gets as many at a time, always: linear algebra may round differently for other numbers of rows.
    """
    n = max(1, -(-len(scores) // AT_A_TIME)) * AT_A_TIME
    padded = np.zeros((n, scores.shape[1]))
    padded[: len(scores)], padded[len(scores) :] = scores, scores[-1:]
    parts = [
        np.asarray(function(padded[at : at + AT_A_TIME]), dtype=np.float64).reshape(AT_A_TIME, -1)
        for at in range(0, n, AT_A_TIME)
    ]
    return np.concatenate(parts)[: len(scores)]


def batch_of(responses: Responses, questions: AnyQuestions) -> int:
    """Return how many rows are added up at a time."""
    return BATCH if responses.inverse is None else max(1, min(BATCH, MAX_ANSWERS // questions.n_questions))


def sum_responses(
    responses: Responses, questions: AnyQuestions, rows: Cells, weight: NDArray[np.float64] | None, total: Any = 0.0
) -> Any:
    """Return a total plus the weighted sum over rows of the responses to questions: (n_questions, n_outputs).

    Rows are added batch by batch, so that blocks of whole batches have the same total as all rows at once.
    """
    batch = batch_of(responses, questions)

    def work(index: int) -> NDArray[np.float64]:
        span = (index * batch, min(rows.n_rows, (index + 1) * batch))
        here = np.ones(span[1] - span[0]) if weight is None else weight[span[0] : span[1]]
        if responses.inverse is None:
            sums: NDArray[np.float64] = responses.sums_and_squares(rows, span, questions, here)[0]
        else:
            sums = responses.write(rows, span, questions) @ here
        return sums

    with in_order(-(-rows.n_rows // batch), work, "responses") as parts:
        for sums in parts:
            total = total + sums
    return total


def all_responses(responses: Responses, asked: Asked, rows: Cells) -> NDArray[np.float64]:
    """Return the response of every row to a player's questions: (n_rows, n_questions, n_outputs)."""
    questions = responses.questions([asked])
    batch = min(BATCH, max(MAX_WIDTH, MAX_HELD // max(1, questions.n_questions)))

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
