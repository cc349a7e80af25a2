"""ResponseSums: for every feature and cell, the sum over rows of the response with the feature in that cell.

Sums, and those of squares, are whole numbers: each response is rounded to a multiple of a unit that follows from the
model alone. So they depend neither on the order of the rows nor on who adds them up.

With offsets and exposures, a response m is that of a row's exposure e, and answers are about the rate m/e, weighted by
w e: the sums are then those of w m, of w m^2/e, and of w e.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._background import Background
from glasswood.counting._plan import CountPlan, make_plan
from glasswood.counting._statistic import Batch, Tally, Vector
from glasswood.counting._wide import LIMBS, digits_of, limbs_of, numbers_of, weighted_sums
from glasswood.effects._responses import TOO_LARGE, AnyQuestions
from glasswood.effects._row_sums import FRACTION, RowSums, asked_of, factor_of, less_log, name_of, unit_of
from glasswood.errors import BackgroundError, ScaleError, TooLargeError
from glasswood.kernels._read_only import read_only
from glasswood.models._ensemble import TreeEnsemble
from glasswood.models._scale import Scale
from glasswood.parallel._interrupts import check_cancelled
from glasswood.parallel._lazy import cached_property, cached_unpickled
from glasswood.tables._row_values import NO_COLUMNS, RowColumns

__all__ = ["ResponseMoments", "ResponseSums", "ResponsesSpec", "refuse_offset"]


MAX_ANSWERS = 2**22  # of a function of Python's that are held at a time

DIGITS = 52  # binary digits of a response behind the unit of the kernel

LARGEST = 2.0**30  # such a response

WITH_OFFSET, PER_UNIT = " given ", " per unit given "

NOISE = 4  # units of a square: what rounding can make of no spread

NOISE_OF_EXP = 44  # binary digits of a square: what is smaller may come from the rounding of exponentials


@dataclass(frozen=True, eq=False)
class ResponsesSpec:
    """The response sums of a scale, as they are asked for.

    Parameters
    ----------
    scale : Scale
    key : str
        The name of the vector, see `name_of`.
    offset, exposure : bool, default False
        Whether rows have an offset, and an exposure beside it.
    features : tuple of int, optional
        The features that are asked for, in their order: by default all that the model uses.
    """

    scale: Scale
    key: str
    offset: bool = False
    exposure: bool = False
    features: tuple[int, ...] | None = None

    @classmethod
    def of_model(cls, ensemble: TreeEnsemble, scale: Scale, columns: RowColumns = NO_COLUMNS) -> ResponsesSpec:
        """Return those of a model, given what is read of the rows."""
        key = name_of(ensemble, scale)
        if columns.offset is None or scale.is_score:
            return cls(scale, key)
        units, _, digest = key.rpartition(" ")
        words = f"{WITH_OFFSET if columns.exposure is None else PER_UNIT}{columns.offset_description}"
        return cls(scale, f"{units}{words} {digest}", offset=True, exposure=columns.exposure is not None)

    def known_in(self, background: Background) -> ResponsesSpec:
        """Return those that a background has: with an offset, if rows were counted with one."""
        units, _, digest = self.key.rpartition(" ")
        if self.key in background.vectors:
            return self
        for name in background.vectors:
            for words in (WITH_OFFSET, PER_UNIT):
                if name.startswith(units + words) and name.rpartition(" ")[2] == digest:
                    return replace(self, key=name, offset=True, exposure=words == PER_UNIT)
        return self

    def of_features(self, features: Iterable[int]) -> ResponsesSpec:
        """Return the same for some features that the model uses. They are not kept in a file."""
        listed = tuple(sorted(features))
        return replace(self, key=f"{self.key} of {listed}", features=listed)

    def statistic(self, plan: CountPlan) -> ResponseSums:
        """Return the statistic of a model."""
        return ResponseSums(plan.ensemble, self)


class ResponseSums(RowSums):
    """Sums of responses, and of their squares: of the rows as they are, and with each feature in each of its cells.

    Parameters
    ----------
    ensemble : TreeEnsemble
    spec : ResponsesSpec
    """

    def __init__(self, ensemble: TreeEnsemble, spec: ResponsesSpec) -> None:
        scale = spec.scale
        super().__init__(make_plan(ensemble, 1, {}), scale.link, scale.inverse)
        self._spec, self._scale, self._name = spec, spec.scale, spec.key
        self._unit, self._factor = unit_of(self.plan, spec.scale.link), factor_of(self.plan, spec.scale)

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """The sums, and those of squares, as wide numbers; with exposures, theirs is the last one."""
        size = int(np.prod(self._shape)) + (LIMBS if self._spec.exposure else 0)
        return (Vector(self._name, size, "wide sum"),)

    @property
    def _shape(self) -> tuple[int, ...]:
        return (self._questions.n_questions, self._scale.outputs.n_columns, 2, LIMBS)

    @cached_unpickled
    def _questions(self) -> AnyQuestions:
        return self.responses.questions(asked_of(self.plan, self._spec.features))

    def add(self, tallies: Sequence[Tally], batch: Batch) -> None:
        """Add rows to the tallies of their groups."""
        check_cancelled()
        cells = self.cells_of(batch)
        for tally, rows in zip(tallies, batch.groups, strict=True):
            vector = tally.vectors[self._name]
            sums = vector[: int(np.prod(self._shape))].reshape(self._shape)
            here = np.ascontiguousarray(cells[:, rows])
            weight = batch.weight[rows]
            offset = batch.values["offset"][rows] if self._spec.offset else None
            exposure = batch.values["exposure"][rows, 0] if self._spec.exposure else None
            if exposure is not None:
                digits = digits_of(batch.weights(rows))
                vector[-LIMBS:] += _limbs_of_sums(exposure, digits)
            if self._scale.inverse is not None:
                self._add_of_python(here, weight, sums, offset, exposure)
            elif exposure is None or offset is None:
                self.responses.add_whole(here, self._questions, weight, self._unit, sums, offset)
            else:
                self._add_per_unit(here, weight, sums, offset, exposure)

    def _add_per_unit(
        self,
        cells: NDArray[np.int32],
        weight: NDArray[np.int64],
        sums: NDArray[np.int64],
        offset: NDArray[np.float64],
        exposure: NDArray[np.float64],
    ) -> None:
        """Add responses m, and m^2/e in place of their squares. The link is exp: m/sqrt(e) has another offset."""
        for place, share in enumerate((0.0, 0.5)):
            own_sums = np.zeros_like(sums)
            own = less_log(offset, share, exposure, self.plan.ensemble)
            self.responses.add_whole(cells, self._questions, weight, self._unit, own_sums, own)
            sums[:, :, place] += own_sums[:, :, place]

    def _add_of_python(
        self,
        cells: NDArray[np.int32],
        weight: NDArray[np.int64],
        sums: NDArray[np.int64],
        offset: NDArray[np.float64] | None,
        exposure: NDArray[np.float64] | None,
    ) -> None:
        """Add the responses of a function of Python's, in multiples of 2**-40 of their unit."""
        n_rows = cells.shape[1]
        digits = digits_of(weight if weight.size else np.ones(n_rows, dtype=np.int64))
        step = max(1, MAX_ANSWERS // int(np.prod(self._shape[:2])))
        for first in range(0, n_rows, step):
            here = slice(first, first + step)
            own = None if offset is None else offset[here]
            values = self._factor * self.responses.write_cells(
                np.ascontiguousarray(cells[:, here]), self._questions, own
            )
            if not (np.abs(values) <= LARGEST).all():
                raise TooLargeError(TOO_LARGE)
            values = np.ldexp(np.rint(np.ldexp(values, FRACTION)), -FRACTION)  # whose last digits depend on the machine
            squares = values**2 if exposure is None else values**2 / exposure[here]
            for place, power in enumerate((values, squares)):
                sums[:, :, place] += _limbs_of_sums(power, digits[:, here]).reshape(*sums.shape[:2], LIMBS)


def _limbs_of_sums(numbers: NDArray[np.float64], digits: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the weighted sums of numbers over the last axis, each rounded to a multiple of 2**-40, as limbs."""
    whole = np.floor(numbers)
    rest = np.rint(np.ldexp(numbers - whole, FRACTION))
    result = (weighted_sums(whole, digits) << FRACTION) + weighted_sums(rest, digits)
    return limbs_of(np.atleast_1d(result).ravel())


def refuse_offset(what: str, spec: ResponsesSpec) -> None:
    """Refuse what is not known for rows with an offset."""
    if spec.offset:
        message = (
            f"{what} on this scale is not available with offset=; curves and importance are, and everything on the "
            'raw scale (response="raw"), which does not contain the offset'
        )
        raise ScaleError(message)


class ResponseMoments:
    """Means and spreads of responses: of the rows as they are, and with each feature in each of its cells.

    Parameters
    ----------
    ensemble : TreeEnsemble
    spec : ResponsesSpec
        What the sums are of. With exposures, answers are means of rates, weighted by exposure.
    limbs : ndarray of int64
        The sums.
    total : int
        The sum of the rows' weights in the same unit.
    """

    def __init__(self, ensemble: TreeEnsemble, spec: ResponsesSpec, limbs: NDArray[np.int64], total: int) -> None:
        plan, scale, per_unit = make_plan(ensemble, 1, {}), spec.scale, spec.exposure
        self._exposure = int(numbers_of(limbs[-LIMBS:])[0]) if per_unit else total << FRACTION  # in units of 2**-40
        self._rounded = total if per_unit else 0  # twice what rounding can make of it
        limbs = limbs[:-LIMBS] if per_unit else limbs
        used, self._n_cells = ensemble.used_features.tolist(), plan.cells.n_cells
        self._unused = set(range(ensemble.n_features)).difference(used)
        self._used = used if spec.features is None else list(spec.features)
        n_questions = 1 + sum(int(self._n_cells[feature]) for feature in self._used)
        if limbs.size != n_questions * scale.outputs.n_columns * 2 * LIMBS:
            message = "the background is for a different model or different groups; run summarize with this model"
            raise BackgroundError(message)
        self._numbers = numbers_of(limbs).reshape(-1, scale.outputs.n_columns, 2)
        self._digits = DIGITS if scale.inverse is None else FRACTION
        self._factor = factor_of(plan, scale)

    @cached_property
    def _means(self) -> NDArray[np.float64]:
        numbers = self._numbers[:, :, 0]
        means = np.array([(number << FRACTION) / self._exposure for number in numbers.ravel()]).reshape(numbers.shape)
        return means * (2.0**-self._digits / self._factor)

    @cached_property
    def _spreads(self) -> NDArray[np.float64]:
        first, second = self._numbers[:, :, 0] << FRACTION, self._numbers[:, :, 1]
        numerators = ((second * self._exposure) << (self._digits + FRACTION)) - first**2
        if self._rounded:
            noise = ((second * self._rounded) << (self._digits + FRACTION - 1)) + (first**2 >> NOISE_OF_EXP)
            numerators = np.where(numerators > noise, numerators, 0)
        whole = self._exposure**2 << self._digits
        squares = np.array([number / whole for number in numerators.ravel()]).reshape(first.shape)  # in units
        return np.sqrt(np.where(squares < NOISE, 0.0, squares) * 2.0**-self._digits) / self._factor

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean of the rows as they are, for each output."""
        result: NDArray[np.float64] = self._means[-1]
        return result

    @property
    def deviation(self) -> NDArray[np.float64]:
        """The standard deviation of the rows as they are, for each output."""
        result: NDArray[np.float64] = self._spreads[-1]
        return result

    @cached_property
    def curves(self) -> dict[int, NDArray[np.float64]]:
        """The means with each feature that is asked for, or not used, in each of its cells, (n_cells, n_outputs)."""
        return self._by_feature(self._means)

    @cached_property
    def spreads(self) -> dict[int, NDArray[np.float64]]:
        """The standard deviations over rows with each feature in each of its cells."""
        return self._by_feature(self._spreads)

    def _by_feature(self, lines: NDArray[np.float64]) -> dict[int, NDArray[np.float64]]:
        ends = np.cumsum([self._n_cells[feature] for feature in self._used])
        result = dict(zip(self._used, np.split(lines[:-1], ends[:-1].astype(int)), strict=True)) if self._used else {}
        for feature in self._unused:
            result[feature] = np.repeat(lines[-1:], self._n_cells[feature], axis=0)
        return {feature: read_only(result[feature]) for feature in sorted(result)}
