"""TargetSums: for every feature and cell, the sums of what was observed and of what was predicted for its rows.

Per output there are four sums over the rows of a cell, with weights w: of the target y, of the prediction m, and of
y^2/e and m^2/e; and one of the exposure e. Each number of a row is rounded to a multiple of 2**-40, a unit that does
not depend on the data, so that sums have the same bits whatever the order of the rows and whoever adds them up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._background import Background
from glasswood.counting._plan import CountPlan, make_plan
from glasswood.counting._statistic import Batch, Tally, Vector
from glasswood.counting._wide import LIMBS, numbers_of
from glasswood.effects._responses import AnyQuestions
from glasswood.effects._row_sums import RowSums, factor_of_targets, name_of, unchanged
from glasswood.errors import ArgumentError, BackgroundError, TooLargeError
from glasswood.kernels import _core
from glasswood.kernels._read_only import read_only
from glasswood.models._ensemble import TreeEnsemble
from glasswood.models._opened import Opened
from glasswood.models._scale import Scale, scale_of
from glasswood.parallel._interrupts import check_cancelled
from glasswood.parallel._lazy import cached_property, cached_unpickled
from glasswood.tables._row_values import RowColumns, RowValues

__all__ = [
    "PREFIX",
    "Ratios",
    "TargetMoments",
    "TargetSums",
    "TargetsSpec",
    "find_targets",
    "scale_of_targets",
    "target_columns",
]

PREFIX = "target "  # of the names of vectors
MAX_ROWS = 2**14  # at a time
FRACTION = 40  # binary digits behind the unit
LARGEST, LARGEST_WEIGHTED = 2.0**60, 2.0**92  # numbers, or these times their weights: sums fit if one of both is less
TOO_LARGE = "a target, a prediction or its square is too large for exact sums; divide the target by a power of ten"
NOISE = 48  # binary digits of a square: what is smaller may come from rounding
N_PER_OUTPUT = 4  # sums: of the target, the prediction, and the squares of both


def target_columns(columns: RowColumns, model: Opened, sample_weight: object) -> RowColumns:
    """Return what is read of rows as a model needs it: its classes, or the number of its outputs."""
    if not columns.observes:
        return columns
    if columns.target is None and (columns.exposure is not None or columns.prediction is not None):
        message = "exposure= and prediction= go with target=; pass target=, too"
        raise ArgumentError(message)
    scale = scale_of_targets(model, own=columns.prediction is None and columns.target is not None)
    classes, targets = scale.classes, scale.score.target_classes
    if columns.exposure is not None and (classes is not None or targets):
        message = "exposure= is for targets that are totals, such as numbers of claims; weigh classes by sample_weight="
        raise ArgumentError(message)
    if columns.exposure is not None and columns.offset is not None and scale.link in ("logistic", "softmax"):
        message = (
            f"exposure= and offset= together are for predictions that are totals of rows; those of this model "
            f"({scale.units}) are not"
        )
        raise ArgumentError(message)
    if columns.exposure is not None and _same(columns.exposure, sample_weight):
        message = (
            "sample_weight= and exposure= are the same, so that exposure would count twice; pass it as exposure= only, "
            "or as sample_weight= only, with the rate as target"
        )
        raise ArgumentError(message)
    return columns.of_model(classes, scale.outputs.n_columns, 0.0 if scale.link == "exp" else -np.inf, targets)


def _same(one: object, other: object) -> bool:
    """Return whether both are one name or one array."""
    return one is other or (isinstance(one, str) and isinstance(other, str) and one == other)


def scale_of_targets(model: Opened, *, own: bool) -> Scale:
    """Return the scale of `predict` and `predict_proba`, which need not be known if predictions are given."""
    unknown = model.combination is None and model.ensemble.score.link == "unknown"
    return scale_of(model, "raw" if unknown and not own else "prediction")


@dataclass(frozen=True, eq=False)
class TargetsSpec:
    """The target sums of a scale, as they are asked for.

    Parameters
    ----------
    scale : Scale
        That of predictions.
    key : str
        The name of the vector: what was read of the rows, and a hash of what predictions depend on.
    offset : bool, default False
        Whether rows have an offset: predictions are then those of the row, and not per unit of exposure.
    """

    scale: Scale
    key: str
    offset: bool = False

    @classmethod
    def of_model(cls, model: Opened, columns: RowColumns) -> TargetsSpec:
        """Return those of a model, given what is read of the rows."""
        own = columns.prediction is None
        scale = scale_of_targets(model, own=own)
        key = f"{columns.key} {_digest(model.ensemble, scale, own=own)}"
        return cls(scale, key, columns.offset is not None)

    def statistic(self, plan: CountPlan) -> TargetSums:
        """Return the statistic of a model."""
        return TargetSums(plan.ensemble, self.scale, self.key, offset=self.offset)


def _digest(ensemble: TreeEnsemble, scale: Scale, *, own: bool) -> str:
    """Return a hash of the model if its own predictions are added up, and of its outputs in any case."""
    key = f"{scale.outputs.labels!r} {scale.outputs.n_columns} {name_of(ensemble, scale) if own else ''}"
    factor = factor_of_targets(make_plan(ensemble, 1, {}), scale)
    key += "" if factor == 1.0 else f" {factor}"
    return blake2b(key.encode(), digest_size=8).hexdigest()


class TargetSums(RowSums):
    """Sums of targets and predictions over the rows of each cell of each feature, and over all rows.

    Parameters
    ----------
    ensemble : TreeEnsemble
    scale : Scale
        That of predictions.
    name : str
        The name of the vector.
    offset : bool, default False
        Whether rows have an offset.
    """

    max_rows = MAX_ROWS

    def __init__(self, ensemble: TreeEnsemble, scale: Scale, name: str, *, offset: bool = False) -> None:
        super().__init__(make_plan(ensemble, 1, {}), scale.link, scale.inverse)
        self._scale, self._name, self._offset = scale, name, offset
        self._factor = factor_of_targets(self.plan, scale)
        n_cells = self.plan.cells.n_cells[ensemble.used_features]
        self._first = np.cumsum(n_cells) - n_cells  # the first cell of each feature
        self._shape = (int(n_cells.sum()) + 1, 1 + N_PER_OUTPUT * scale.outputs.n_columns, LIMBS)

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """The sums of each cell, and at last those of all rows, as wide numbers."""
        return (Vector(self._name, int(np.prod(self._shape)), "wide sum"),)

    @cached_unpickled
    def _questions(self) -> AnyQuestions:
        return self.responses.questions([unchanged()])

    def add(self, tallies: Sequence[Tally], batch: Batch) -> None:
        """Add rows to the tallies of their groups."""
        check_cancelled()
        cells = self.cells_of(batch)
        terms = self._terms(batch.values, cells)
        if not _fit(terms, batch.weight):
            raise TooLargeError(TOO_LARGE)
        for tally, rows in zip(tallies, batch.groups, strict=True):
            sums = tally.vectors[self._name].reshape(self._shape)
            _core.add_targets(cells, self._first, rows.start, rows.stop, terms, batch.weight, sums)

    def _terms(self, values: RowValues, cells: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return what each row adds: its exposure, and for each output y, m, y^2/e, m^2/e, with y and m in units."""
        target = values["target"] * self._factor
        n_rows = len(target)
        exposure = values["exposure"] if "exposure" in values else np.ones((n_rows, 1))
        if "prediction" in values:
            predicted = values["prediction"]
        else:
            offset = values["offset"] if self._offset else None
            predicted = self.responses.write_cells(cells, self._questions, offset)[0].T
        predicted = predicted if self._offset else predicted * exposure  # without an offset, the model predicts rates
        predicted = predicted * self._factor
        terms = np.empty((n_rows, self._shape[1]))
        terms[:, :1] = exposure
        for place, part in enumerate((target, predicted, target**2 / exposure, predicted**2 / exposure)):
            terms[:, 1 + place :: N_PER_OUTPUT] = part
        return terms


def _fit(terms: NDArray[np.float64], weight: NDArray[np.int64]) -> bool:
    """Return whether sums of rows fit: neither a number nor its product with the weight is too large, or not both."""
    largest = np.abs(terms).max(initial=0.0)
    return bool(largest < LARGEST or largest * float(weight.max(initial=1)) < LARGEST_WEIGHTED)


class Weights(NamedTuple):
    """The weights of the rows, in whole units: in each cell of each feature, of all rows, and the unit."""

    cells: NDArray[np.int64]
    total: int
    unit: float


class TargetMoments:
    """What was observed and what was predicted, for every cell of every feature and for all rows.

    Parameters
    ----------
    ensemble : TreeEnsemble
    scale : Scale
        That of predictions.
    limbs : ndarray of int64
        The sums.
    weights : Weights
        The weights of the rows.
    exposed, offset : bool, default False
        Whether rows have an exposure, and an offset.
    """

    def __init__(
        self,
        ensemble: TreeEnsemble,
        scale: Scale,
        limbs: NDArray[np.int64],
        weights: Weights,
        *,
        exposed: bool = False,
        offset: bool = False,
    ) -> None:
        plan, used = make_plan(ensemble, 1, {}), ensemble.used_features
        of_plan = plan.cells
        cells = of_plan.n_cells
        n_cells, n_terms = int(cells[used].sum()) + 1, 1 + N_PER_OUTPUT * scale.outputs.n_columns
        if limbs.size != n_cells * n_terms * LIMBS:
            message = "the background is for a different model or different groups; run summarize with this model"
            raise BackgroundError(message)
        self._numbers, self._factor = numbers_of(limbs).reshape(n_cells, n_terms), factor_of_targets(plan, scale)
        self._weights, self.scale, self.exposed, self.offset = weights, scale, exposed, offset
        last = np.cumsum(cells[used])
        self._place = dict(zip(used.tolist(), zip(last - cells[used], last, strict=True), strict=True))
        self._n_cells, self._n_codes = cells, ensemble.n_codes
        held = [weights.cells[slice(*of_plan.offset[f : f + 2])] for f in used.tolist()]
        self._rows = np.concatenate([*held, [weights.total]]).astype(object)

    def of_feature(self, feature: int) -> Ratios:
        """Return those of the cells of a feature.

        The column of a feature that the model does not use is not read: its only cell of numbers has all rows, missing
        ones included, and it is unknown which rows are in which category.
        """
        if feature in self._place:
            return self._ratios(*self._place[feature])
        unknown = self._unknown(int(self._n_cells[feature]))
        return unknown if self._n_codes[feature] else unknown.with_first(self.whole)

    @cached_property
    def whole(self) -> Ratios:
        """Those of all rows: one line."""
        return self._ratios(len(self._numbers) - 1, len(self._numbers))

    @cached_property
    def of_counts(self) -> bool:
        """Whether the target is a count, such as a number of claims.

        That is so if there is an exposure or a log link, and if all sums are whole numbers, since they are exact.
        """
        whole = max(1, int(2.0**FRACTION / self._weights.unit))
        return (self.exposed or self.scale.link == "exp") and not (self._numbers[:, 1::N_PER_OUTPUT] % whole).any()

    def _unknown(self, n_cells: int) -> Ratios:
        lines = np.full((n_cells, (self._numbers.shape[1] - 1) // N_PER_OUTPUT), np.nan)
        return Ratios(np.full(n_cells, np.nan), lines, lines, lines, lines)

    def _ratios(self, first: int, last: int) -> Ratios:
        """Return ratios of sums, each rounded once."""
        numbers = self._numbers[first:last]
        exposure = numbers[:, :1]
        target, predicted, square, _ = (numbers[:, 1 + place :: N_PER_OUTPUT] for place in range(N_PER_OUTPUT))
        known = np.broadcast_to(exposure > 0, target.shape)
        size = np.where(exposure > 0, exposure, 1)
        rest = square * size - target**2
        # Each term of a row is rounded by half a unit, so that a sum may be off by half the weight of its rows.
        rounded = self._rows[first:last, None] * (size + square + 2 * abs(target) + self._rows[first:last, None]) >> 1
        rest = np.where((rest > square * size >> NOISE) & (rest > rounded), rest, 0)
        spread = np.sqrt(_divided(rest, size**2, known))
        unit = 2.0**-FRACTION * self._weights.unit
        return Ratios(
            read_only(exposure.ravel().astype(np.float64) * unit),
            read_only(_divided(target, size, known) / self._factor),
            read_only(_divided(predicted, size, known) / self._factor),
            read_only(spread / self._factor),
            read_only(target.astype(np.float64) * (unit / self._factor)),
        )


@dataclass(frozen=True, eq=False)
class Ratios:
    """Ratios of sums over the rows of cells: NaN where there is no exposure.

    Parameters
    ----------
    exposure : ndarray of shape (n_cells,)
    observed, predicted, spread : ndarray of shape (n_cells, n_outputs)
    total : ndarray of shape (n_cells, n_outputs)
        The sum of the target.
    """

    exposure: NDArray[np.float64]
    observed: NDArray[np.float64]
    predicted: NDArray[np.float64]
    spread: NDArray[np.float64]
    total: NDArray[np.float64]

    def with_first(self, whole: Ratios) -> Ratios:
        """Return the same with those of all rows, one line, in place of the first line."""
        pairs = ((getattr(whole, part.name), getattr(self, part.name)) for part in fields(self))
        return Ratios(*(np.concatenate([one, lines[1:]]) for one, lines in pairs))


def _divided(numbers: NDArray[np.object_], size: NDArray[np.object_], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return quotients of Python's own integers, rounded once."""
    size = np.broadcast_to(size, numbers.shape)
    parts = zip(numbers.ravel(), size.ravel(), known.ravel(), strict=True)
    return np.array([number / by if there else np.nan for number, by, there in parts]).reshape(numbers.shape)


def find_targets(model: Opened, background: Background) -> TargetMoments | None:
    """Return the target sums of a model in a background; None if there are none."""
    for name, limbs in background.vectors.items():
        if name.startswith(PREFIX):
            own = ", prediction " not in name
            scale = scale_of_targets(model, own=own)
            if name.rpartition(" ")[2] == _digest(model.ensemble, scale, own=own):
                weights = Weights(background.cells, background.total, background.unit)
                flags = {"exposed": ", exposure " in name, "offset": ", offset " in name}
                return TargetMoments(model.ensemble, scale, limbs, weights, **flags)
    return None
