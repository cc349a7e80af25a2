"""FallCounts: how many rows have a curve of their own that falls, or rises, along a feature; how far, and where.

For a row i and a feature j of numbers, with s_i(c) its response if j is in cell c, missing left out,

    fall_i = max over cells c < c' of s_i(c) - s_i(c')      and      rise_i = max over cells c < c' of s_i(c') - s_i(c).

Everything is a weight of rows, a whole number: of those that fall at all, of those with a step down at each cut, and of
those with a fall of each size. So it adds up, subtracts and divides into groups. The largest of some falls is not a
sum: it is known from sizes to 9 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._background import Background
from glasswood.counting._octaves import SIZES, bins_of, ends_of
from glasswood.counting._plan import CountPlan, make_plan
from glasswood.counting._statistic import Batch, Tally, Vector
from glasswood.effects._axes import axes_of
from glasswood.effects._responses import AnyQuestions, Asked, Responses
from glasswood.effects._row_sums import RowSums, factor_of, name_of, unit_of
from glasswood.errors import BackgroundError, TooLargeError
from glasswood.models._ensemble import TreeEnsemble
from glasswood.models._scale import Scale
from glasswood.parallel._interrupts import check_cancelled
from glasswood.parallel._lazy import cached_unpickled
from glasswood.tables._row_values import NO_COLUMNS, NO_VALUES, RowColumns, RowValues

__all__ = ["Counted", "FallCounts", "Falls", "FallsSpec", "RowFalls"]


PREFIX = "falls of rows: "  # of the names of vectors


MAX_VALUES = 2**21  # of rows that are held at a time

MAX_COUNTS = 2**26  # of a vector

NOISE = 1e-12  # of the size of responses: smaller falls are those of rounding


@dataclass(frozen=True, eq=False)
class FallsSpec:
    """The falls of rows on a scale, as they are asked for.

    Parameters
    ----------
    scale : Scale
    key : str
        The name of the vector.
    offset, exposure : bool, default False
        Whether rows have an offset, and an exposure beside it: falls are then those of rates.
    """

    scale: Scale
    key: str
    offset: bool = False
    exposure: bool = False

    @classmethod
    def of_model(cls, ensemble: TreeEnsemble, scale: Scale, columns: RowColumns = NO_COLUMNS) -> FallsSpec:
        """Return those of a model, given what is read of the rows."""
        offset = columns.offset is not None and not scale.is_score
        words = f"{columns.offset_description} " if offset else ""
        exposure = offset and columns.exposure is not None
        return cls(scale, f"{PREFIX}{words}{name_of(ensemble, scale)}", offset, exposure)

    def known_in(self, background: Background) -> FallsSpec:
        """Return those that a background has: with an offset, if rows were counted with one."""
        name = self.key.removeprefix(PREFIX)
        held = [own for own in background.vectors if own.startswith(f"{PREFIX}offset ") and own.endswith(f" {name}")]
        if not held or self.key in background.vectors:
            return self
        return replace(self, key=held[0], offset=True, exposure=", exposure " in held[0])

    def statistic(self, plan: CountPlan) -> FallCounts:
        """Return the statistic of a model."""
        return FallCounts(plan.ensemble, self)


class Falls(NamedTuple):
    """How some rows move along a feature, each (n_outputs, n_rows), and the steps: (n_cells - 1, n_outputs, n_rows).

    `low` and `high` are the two cells between which the largest fall is, numbered on the axis.
    """

    size: NDArray[np.float64]
    breaks: NDArray[np.bool_]
    steps: NDArray[np.bool_]
    low: NDArray[np.intp]
    high: NDArray[np.intp]


class RowFalls:
    """Finds falls of rows on a scale.

    Parameters
    ----------
    ensemble : TreeEnsemble
    spec : FallsSpec
    features : sequence of int, optional
        Features of numbers that the model uses; all by default.
    """

    def __init__(self, ensemble: TreeEnsemble, spec: FallsSpec, features: Sequence[int] | None = None) -> None:
        self.plan, self._spec = make_plan(ensemble, 1, {}), spec
        numbers = [f for f in ensemble.used_features.tolist() if not self.plan.cells.n_codes[f]]
        self.features: list[int] = numbers if features is None else list(features)
        self.n_outputs = spec.scale.outputs.n_columns
        axes = axes_of(self.plan)
        self.first = {f: int(axes.first[f]) for f in self.features}
        self.n_steps = {f: int(axes.last[f] - axes.first[f]) for f in self.features}
        link = spec.scale.link
        self.unit = 1.0 / factor_of(self.plan, spec.scale)
        largest = 1.0 / unit_of(self.plan, "identity").factor  # of raw scores, and up to eight times that
        self._of_all = NOISE * largest if link == "identity" and spec.scale.inverse is None else 0.0
        self._of_row = 0.0 if self._of_all else NOISE * max(1.0, largest * abs(ensemble.score.link_scale))

    @cached_unpickled
    def _responses(self) -> Responses:
        scale = self._spec.scale
        return Responses(self.plan, scale.link, scale.inverse)

    @cached_unpickled
    def questions(self) -> AnyQuestions:
        """Every feature in each of its cells."""
        n_cells = self.plan.cells.n_cells
        asked: list[Asked] = [
            (int(self.plan.player_of[f]), np.array([f]), np.arange(n_cells[f])[None]) for f in self.features
        ]
        return self._responses.questions(asked)

    @property
    def n_held(self) -> int:
        """The number of rows whose responses are held at a time."""
        return max(1, MAX_VALUES // max(1, self.questions.n_questions * self.n_outputs))

    def curves(self, cells: NDArray[np.int32], values: RowValues = NO_VALUES) -> dict[int, NDArray[np.float64]]:
        """Return the curve of each row along each feature: (n_cells of the axis, n_outputs, n_rows)."""
        offset = values["offset"] if self._spec.offset else None
        answers = self._responses.write_cells(np.ascontiguousarray(cells), self.questions, offset)
        answers = answers / values["exposure"][:, 0] if self._spec.exposure else answers
        result = {}
        for k, f in enumerate(self.features):
            start = int(self.questions.first[k]) + self.first[f]
            result[f] = answers[start : start + self.n_steps[f] + 1]
        return result

    def falls(self, curve: NDArray[np.float64]) -> Falls:
        """Return how far curves fall; of curves times -1, how far they rise."""
        before = np.maximum.accumulate(curve, axis=0)
        depth = before - curve
        high = depth.argmax(axis=0)
        size = np.take_along_axis(depth, high[None], axis=0)[0]
        peak = np.take_along_axis(before, high[None], axis=0)
        noise = self._of_all + self._of_row * np.abs(curve).max(axis=0)
        return Falls(size, size > noise, curve[:-1] - curve[1:] > noise, (curve == peak).argmax(axis=0), high)


class FallCounts(RowSums):
    """Weights of rows that fall, or rise, along each feature of numbers that the model uses.

    Of each feature: (2, n_outputs, 1 + n_steps + SIZES), for falls and for rises; the weight of all that do, of those
    with such a step at each cut, and of those with each size of the largest fall or rise.

    Parameters
    ----------
    ensemble : TreeEnsemble
    spec : FallsSpec
    """

    def __init__(self, ensemble: TreeEnsemble, spec: FallsSpec) -> None:
        self._rows, self._spec = RowFalls(ensemble, spec), spec
        super().__init__(self._rows.plan)
        self._size = sum(size_of(self._rows, f) for f in self._rows.features)
        if self._size > MAX_COUNTS:
            message = (
                f"the falls of rows of this model need {self._size:,} counts, at most {MAX_COUNTS:,} are kept; it has "
                "too many outputs or features"
            )
            raise TooLargeError(message)

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """The weights."""
        return (Vector(self._spec.key, self._size),)

    def add(self, tallies: Sequence[Tally], batch: Batch) -> None:
        """Add rows to the tallies of their groups."""
        if not self._rows.features:
            return
        cells = self.cells_of(batch)
        for tally, rows in zip(tallies, batch.groups, strict=True):
            counts = divided(self._rows, tally.vectors[self._spec.key])
            for first in range(rows.start, rows.stop, self._rows.n_held):
                check_cancelled()
                here = slice(first, min(rows.stop, first + self._rows.n_held))
                curves = self._rows.curves(cells[:, here], batch.values.take(here))
                weight = batch.weight[here] if batch.weight.size else None
                for feature, curve in curves.items():
                    self._count(counts[feature], curve, weight)

    def _count(self, counts: NDArray[np.int64], curve: NDArray[np.float64], weight: NDArray[np.int64] | None) -> None:
        """Add rows to the counts of a feature."""
        n_steps = len(curve) - 1
        for side, own in enumerate((curve, -curve)):
            falls = self._rows.falls(own)
            if not falls.breaks.any():
                continue
            counts[side, :, 0] += _weight(falls.breaks, weight)
            counts[side, :, 1 : 1 + n_steps] += _weight(falls.steps, weight).T
            output, row = np.nonzero(falls.breaks)
            place = 1 + n_steps + bins_of(falls.size[output, row] / self._rows.unit)
            np.add.at(counts[side], (output, place), 1 if weight is None else weight[row])


def _weight(flags: NDArray[np.bool_], weight: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Return the weight of the rows, the last axis, whose flags are set."""
    result: NDArray[np.int64] = np.count_nonzero(flags, axis=-1) if weight is None else flags @ weight
    return result


def size_of(rows: RowFalls, feature: int) -> int:
    """Return how many counts a feature has."""
    return 2 * rows.n_outputs * (1 + rows.n_steps[feature] + SIZES)


def divided(rows: RowFalls, vector: NDArray[np.int64]) -> dict[int, NDArray[np.int64]]:
    """Return the counts of each feature, as views: (2, n_outputs, 1 + n_steps + SIZES)."""
    result, start = {}, 0
    for feature in rows.features:
        end = start + size_of(rows, feature)
        result[feature] = vector[start:end].reshape(2, rows.n_outputs, -1)
        start = end
    return result


class Counted(NamedTuple):
    """The counts of one feature: of falls, and of rises.

    Parameters
    ----------
    weight : ndarray of shape (2, n_outputs)
        Of the rows that fall or rise.
    steps : ndarray of shape (2, n_outputs, n_steps)
        Of the rows with a step down or up at each cut of the axis.
    largest : ndarray of shape (2, 2, n_outputs)
        What the largest fall or rise is not less than, and less than; NaN if there is none.
    """

    weight: NDArray[np.int64]
    steps: NDArray[np.int64]
    largest: NDArray[np.float64]

    @classmethod
    def of(cls, rows: RowFalls, vector: NDArray[np.int64]) -> dict[int, Counted]:
        """Return those of all features, given the vector."""
        if vector.size != sum(size_of(rows, f) for f in rows.features):
            message = "the background is for a different model or different groups; run summarize with this model"
            raise BackgroundError(message)
        return {feature: cls._of_feature(rows, own) for feature, own in divided(rows, vector).items()}

    @classmethod
    def _of_feature(cls, rows: RowFalls, counts: NDArray[np.int64]) -> Counted:
        n_steps = counts.shape[2] - 1 - SIZES
        sizes = counts[:, :, 1 + n_steps :] > 0
        last = SIZES - 1 - sizes[:, :, ::-1].argmax(axis=2)
        ends = np.array([ends_of(number) for number in range(SIZES)]) * rows.unit
        none = ~sizes.any(axis=2)
        largest = np.stack([np.where(none, np.nan, ends[last, end]) for end in (0, 1)], axis=1)
        return cls(counts[:, :, 0], counts[:, :, 1 : 1 + n_steps], largest)
