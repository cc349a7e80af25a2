"""AleResponses: sums over the rows of each bin of what a response changes by within the bin; for ALE on other scales.

The link of a sum over trees is not a sum over trees, so this needs the rows one by one. Changes are rounded to
multiples of a unit that follows from the model alone, so that sums have the same bits whoever adds them up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._background import Background
from glasswood.counting._plan import CountPlan, make_plan
from glasswood.counting._statistic import Batch, Tally, Vector
from glasswood.counting._wide import LIMBS, numbers_of
from glasswood.effects._responses import TOO_LARGE, AnyQuestions, Asked
from glasswood.effects._row_sums import RowSums, factor_of, name_of
from glasswood.errors import BackgroundError, TooLargeError, UnsupportedModelError
from glasswood.kernels import _core
from glasswood.models._ensemble import TreeEnsemble
from glasswood.models._scale import Scale
from glasswood.parallel._interrupts import check_cancelled
from glasswood.parallel._lazy import cached_property, cached_unpickled
from glasswood.questions.ale._statistic_bins import BinFinder, Bins, add_rows
from glasswood.questions.ale._statistic_counts import EDGES

__all__ = ["AleResponses", "AleResponsesSpec", "ResponseEffects"]


MAX_ROWS = 2**12  # at a time

MAX_ANSWERS = 2**23  # of rows to questions that are held at a time

FRACTION = 40  # binary digits of a change behind its unit

LARGEST = 2.0**60  # changes in units, so that sums fit

ROWS = "rows of "  # the beginning of the name of the vector of rows per bin


@dataclass(frozen=True, eq=False)
class AleResponsesSpec:
    """The local effects on a response, as they are asked for.

    Parameters
    ----------
    bins : Bins
    scale : Scale
    key : str
        The name of the vector.
    """

    bins: Bins
    scale: Scale
    key: str

    @classmethod
    def of_model(cls, ensemble: TreeEnsemble, scale: Scale, bins: Bins) -> AleResponsesSpec:
        """Return those of a model. Features of more than 256 categories have none."""
        n_codes = [column.n_codes for column in ensemble.schema.columns]
        bins = Bins(bins.edges, {f: own for f, own in bins.levels.items() if own.size == n_codes[f]})
        digest = blake2b(f"{name_of(ensemble, scale)} {bins.digest}".encode(), digest_size=8).hexdigest()
        return cls(bins, scale, f"local effects on the {scale.units} {digest}")

    def statistic(self, plan: CountPlan) -> AleResponses:
        """Return the statistic of a model."""
        return AleResponses(plan.ensemble, self)


class Part(NamedTuple):
    """Where the sums of a feature are: as many lines as it has bins, and one, of `width` numbers for each output.

    Numbers: one number per bin. Categories: one per cell, the rows of the bin being moved to it. `missing` are the sums
    over rows with a missing number, moved to each cell.
    """

    feature: int
    start: int
    lines: int
    width: int
    missing: int  # where those start
    n_cells: int
    end: int


def _layout(plan: CountPlan, bins: Bins, n_outputs: int) -> list[Part]:
    """Return where the sums of all features are."""
    result, at = [], 0
    for feature in bins.features:
        by_level = feature in bins.levels
        n_cells = int(plan.cells.n_cells[feature])
        lines, width = bins.n_bins(plan, feature) + 1, n_cells if by_level else 1
        missing = at + lines * width * n_outputs * LIMBS
        end = missing if by_level else missing + 2 * n_cells * n_outputs * LIMBS
        result.append(Part(feature, at, lines, width, missing, n_cells, end))
        at = end
    return result


class AleResponses(RowSums):
    """Sums of changes of responses over the rows of each bin, and the rows per bin.

    Parameters
    ----------
    ensemble : TreeEnsemble
    spec : AleResponsesSpec
    """

    max_rows = MAX_ROWS

    def __init__(self, ensemble: TreeEnsemble, spec: AleResponsesSpec) -> None:
        super().__init__(make_plan(ensemble, 1, {}), spec.scale.link, spec.scale.inverse)
        self._bins, self._scale, self._name = spec.bins, spec.scale, spec.key
        self._n_outputs = spec.scale.outputs.n_columns
        self._layout = _layout(self.plan, spec.bins, self._n_outputs)
        self._of_rows = BinFinder(self.plan, spec.bins)
        self._place = {int(f): place for place, f in enumerate(ensemble.used_features)}
        self._factor = factor_of(self.plan, spec.scale)

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """The sums as wide numbers, the rows per bin, and the bins."""
        size = self._layout[-1].end if self._layout else 0
        return (
            Vector(self._name, size, "wide sum"),
            Vector(ROWS + self._name, int(self._of_rows.first[-1])),
            Vector(EDGES + self._name, self._bins.packed().size, "same"),
        )

    def _question(self, feature: int, cells: NDArray[np.int64]) -> Asked:
        return int(self.plan.player_of[feature]), np.array([feature]), cells[None]

    @cached_unpickled
    def _questions(self) -> list[tuple[list[Part], AnyQuestions]]:
        """The questions of a few features at a time: at all edges of a number, and in all cells of a category."""
        result: list[tuple[list[Part], AnyQuestions]] = []
        some: list[tuple[Part, NDArray[np.int64]]] = []
        max_ = max(1, MAX_ANSWERS // (MAX_ROWS * self._n_outputs))
        for part in self._layout:
            edges = self._bins.edges.get(part.feature)
            cells = np.arange(part.n_cells) if edges is None else self.plan.cells.locate(part.feature, edges)
            if some and sum(own.size for _, own in some) + cells.size > max_:
                result.append(self._together(some))
                some = []
            if cells.size:
                some.append((part, cells))
        return [*result, self._together(some)] if some else result

    def _together(self, some: list[tuple[Part, NDArray[np.int64]]]) -> tuple[list[Part], AnyQuestions]:
        asked = [self._question(part.feature, cells) for part, cells in some]
        return [part for part, _ in some], self.responses.questions(asked)

    def add(self, tallies: Sequence[Tally], batch: Batch) -> None:
        """Add rows to the tallies of their groups."""
        cells = self.cells_of(batch)
        bins = self._of_rows.of(batch.held, batch.n_rows)
        spans = list(zip(batch.bounds[:-1].tolist(), batch.bounds[1:].tolist(), strict=True))
        for tally, (first, last) in zip(tallies, spans, strict=True):
            for feature in self._bins.features:
                line = bins[self._place[feature], first:last]
                add_rows(tally.vectors[ROWS + self._name], line, batch.weight[first:last])
        for first in range(0, batch.n_rows, MAX_ROWS):
            here = slice(first, min(batch.n_rows, first + MAX_ROWS))
            for parts, questions in self._questions:
                check_cancelled()
                answers = self.responses.write_cells(np.ascontiguousarray(cells[:, here]), questions)
                for part, own in zip(parts, np.split(answers, questions.first[1:-1]), strict=True):
                    place = self._place[part.feature]
                    local = bins[place, here] - np.int32(self._of_rows.first[place])
                    terms = self._terms(part, local, own)
                    weight = batch.weight[here]
                    for tally, (one, two) in zip(tallies, spans, strict=True):
                        span = (max(0, one - first), min(local.size, two - first))
                        if span[0] < span[1]:
                            shape = (part.lines, part.width * self._n_outputs, LIMBS)
                            sums = tally.vectors[self._name][part.start : part.missing].reshape(shape)
                            self._add_terms(local[None], span, terms, weight, sums)
        self._add_missing(tallies, batch, spans, cells, bins)

    def _terms(self, part: Part, local: NDArray[np.int32], answers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what rows add to the sums of their bins, given their answers, (n_questions, n_outputs, n_rows)."""
        if part.feature in self._bins.levels:
            return answers.transpose(2, 0, 1).reshape(local.size, -1)
        low = np.minimum(local, max(0, len(answers) - 2))[None, None]  # missing ones do not count
        high = np.minimum(low + 1, len(answers) - 1)
        shape = (1, *answers.shape[1:])
        ends = [np.take_along_axis(answers, np.broadcast_to(at, shape), axis=0)[0] for at in (high, low)]
        change: NDArray[np.float64] = (ends[0] - ends[1]).T
        return change

    def _add_terms(
        self,
        lines: NDArray[np.int32],
        span: tuple[int, int],
        terms: NDArray[np.float64],
        weight: NDArray[np.int64],
        sums: NDArray[np.int64],
    ) -> None:
        scaled = np.ascontiguousarray(terms * self._factor)
        if not np.abs(scaled).max(initial=0.0) < LARGEST:
            raise TooLargeError(TOO_LARGE)
        _core.add_targets(lines, np.zeros(1, dtype=np.int64), *span, scaled, weight, sums)

    def _add_missing(
        self,
        tallies: Sequence[Tally],
        batch: Batch,
        spans: list[tuple[int, int]],
        cells: NDArray[np.int32],
        bins: NDArray[np.int32],
    ) -> None:
        """Add the responses of rows with a missing number, moved to each cell of it."""
        for part in self._layout:
            if part.feature in self._bins.levels:
                continue
            place = self._place[part.feature]
            gone = np.flatnonzero(bins[place] == self._of_rows.first[place + 1] - 1)
            for rows in _blocks_of_rows(gone, max(1, MAX_ANSWERS // (part.n_cells * self._n_outputs))):
                check_cancelled()
                questions = self.responses.questions([self._question(part.feature, np.arange(part.n_cells))])
                answers = self.responses.write_cells(np.ascontiguousarray(cells[:, rows]), questions)
                terms = answers.transpose(2, 0, 1).reshape(rows.size, -1)
                weight = batch.weight[rows] if batch.weight.size else batch.weight
                for tally, (first, last) in zip(tallies, spans, strict=True):
                    span = tuple(np.searchsorted(rows, (first, last)).tolist())
                    if span[0] < span[1]:
                        sums = tally.vectors[self._name][part.missing : part.end].reshape(2, -1, LIMBS)
                        line = np.zeros((1, rows.size), dtype=np.int32)
                        self._add_terms(line, (span[0], span[1]), terms, weight, sums)

    def finish(self, tally: Tally) -> None:
        """Carry: equal sums have equal limbs. Note the bins."""
        super().finish(tally)
        tally.vectors[EDGES + self._name] = self._bins.packed()


def _blocks_of_rows(rows: NDArray[np.intp], max_: int) -> Iterator[NDArray[np.intp]]:
    for first in range(0, rows.size, max_):
        yield rows[first : first + max_]


class ResponseEffects:
    """The local effects of features on a response; the same methods as `LocalEffects`.

    Parameters
    ----------
    ensemble : TreeEnsemble
    spec : AleResponsesSpec
    background : Background
        One that has the sums.
    """

    def __init__(self, ensemble: TreeEnsemble, spec: AleResponsesSpec, background: Background) -> None:
        self.plan, self._bins = make_plan(ensemble, 1, {}), spec.bins
        self._n_outputs = spec.scale.outputs.n_columns
        self._layout = {part.feature: part for part in _layout(self.plan, spec.bins, self._n_outputs)}
        self._limbs, self._rows = background.vectors[spec.key], background.vector(ROWS + spec.key)
        self._of_rows = BinFinder(self.plan, spec.bins)
        if self._limbs.size != max((part.end for part in self._layout.values()), default=0):
            message = "the background is for a different model or different groups; run summarize with this model"
            raise BackgroundError(message)
        self._cells, self.unit = background.cells, background.unit
        self._size = 2.0**-FRACTION / factor_of(self.plan, spec.scale)

    def rows(self, feature: int) -> NDArray[np.int64]:
        """Return the rows (in units of weight) in each bin of a feature, those of missing values last."""
        if feature not in self._layout:
            message = (
                f"{self.plan.ensemble.feature_names[feature]!r} has more than 256 categories, whose local effects "
                'exist on the raw scale only; ask for response="raw", or for other features'
            )
            raise UnsupportedModelError(message)
        place = int(np.searchsorted(self.plan.ensemble.used_features, feature))
        return self._rows[self._of_rows.first[place] : self._of_rows.first[place + 1]]

    @cached_property
    def _numbers(self) -> NDArray[np.object_]:
        return numbers_of(self._limbs)

    def _sums(self, first: int, last: int) -> NDArray[np.float64]:
        return self._numbers[first // LIMBS : last // LIMBS].astype(np.float64) * self._size

    def sums(self, feature: int) -> NDArray[np.float64]:
        """Return the sum over the rows of each bin of what the response changes by: (n_bins, n_outputs)."""
        part = self._layout[feature]
        return self._sums(part.start, part.missing).reshape(part.lines, -1)[:-2]

    def moved(self, feature: int) -> NDArray[np.float64]:
        """Return the mean response of the rows of each level if they are moved to each level."""
        part, rows = self._layout[feature], self.rows(feature)[:-1].astype(np.float64)
        result = self._sums(part.start, part.missing).reshape(part.lines, part.n_cells, -1)[: rows.size, :-1]
        return result / np.where(rows > 0, rows, 1.0)[:, None, None]

    def contrast(self, feature: int) -> NDArray[np.float64]:
        """Return the mean, over rows with a missing value, of the response minus that with a value of other rows."""
        part, offset = self._layout[feature], self.plan.cells.offset
        present = self._cells[offset[feature] : offset[feature + 1] - 1].astype(np.float64)
        gone = float(self.rows(feature)[-1])
        if gone <= 0 or present.sum() <= 0:
            return np.full(self._n_outputs, np.nan)
        if feature in self._bins.levels:
            lines = self._sums(part.start, part.missing).reshape(part.lines, part.n_cells, -1)[-2]
        else:
            lines = self._sums(part.missing, part.end).reshape(2, part.n_cells, -1)[0]
        result: NDArray[np.float64] = (lines[-1] - present @ lines[:-1] / present.sum()) / gone
        return result
