"""ResponseSums: for every feature and cell, the sum over rows of the response with the feature in that cell.

Sums, and those of squares, are whole numbers: each response is rounded to a multiple of a unit that follows from the
model alone. So they depend neither on the order of the rows nor on who adds them up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._background import Background
from glasswood.counting._plan import CountPlan, make_plan
from glasswood.counting._statistic import Batch, Tally, Vector
from glasswood.counting._wide import LIMBS, digits_of, limbs_of, numbers_of, weighted_sums
from glasswood.effects._responses import TOO_LARGE, AnyQuestions, Asked, Responses, Unit
from glasswood.effects._row_cells import CellsOfColumns
from glasswood.errors import BackgroundError, TooLargeError
from glasswood.kernels._read_only import read_only
from glasswood.models._ensemble import Link, TreeEnsemble
from glasswood.models._scale import Scale
from glasswood.parallel._interrupts import proceed
from glasswood.parallel._once import once, once_here

__all__ = ["ResponseMoments", "ResponseSums", "WantedResponses", "asked_of", "name_of", "unit_of"]

MOST_ROWS = 2**13  # at a time
MOST_ANSWERS = 2**22  # of a function of Python's that are held at a time
DIGITS = 52  # binary digits of a response behind the unit of the kernel
FRACTION = 40  # binary digits behind the point of a response of Python's own functions
LARGEST = 2.0**30  # such a response
WITH_OFFSET = " with offset "
NOISE = 4  # units of a square: what rounding can make of no spread


@dataclass(frozen=True, eq=False)
class WantedResponses:
    """The response sums of a scale, as they are asked for.

    Parameters
    ----------
    scale : Scale
    key : str
        The name of the vector, see `name_of`.
    offset : bool, default False
        Whether rows have an offset.
    """

    scale: Scale
    key: str
    offset: bool = False

    @classmethod
    def of_model(cls, ensemble: TreeEnsemble, scale: Scale, offset: str = "") -> WantedResponses:
        """Return those of a model, for rows without an offset, or with one that is described in words."""
        key = name_of(ensemble, scale)
        if not offset or scale.is_score:
            return cls(scale, key)
        units, _, digest = key.rpartition(" ")
        return cls(scale, f"{units}{WITH_OFFSET}{offset} {digest}", offset=True)

    def known_in(self, background: Background) -> WantedResponses:
        """Return those that a background has: with an offset, if rows were counted with one."""
        units, _, digest = self.key.rpartition(" ")
        held = [
            name
            for name in background.vectors
            if name.startswith(units + WITH_OFFSET) and name.rpartition(" ")[2] == digest
        ]
        return replace(self, key=held[0], offset=True) if held and self.key not in background.vectors else self

    def of(self, plan: CountPlan) -> ResponseSums:
        """Return the statistic of a model."""
        return ResponseSums(plan.ensemble, self.scale, self.key, offset=self.offset)


class ResponseSums:
    """Sums of responses, and of their squares: of the rows as they are, and with each feature in each of its cells.

    Parameters
    ----------
    ensemble : TreeEnsemble
    scale : Scale
    name : str
        The name of the vector.
    offset : bool, default False
        Whether rows have an offset.
    """

    def __init__(self, ensemble: TreeEnsemble, scale: Scale, name: str, *, offset: bool = False) -> None:
        self._plan = make_plan(ensemble, 1, {})
        self._scale, self._name, self._offset = scale, name, offset
        self._unit = unit_of(self._plan, scale.link)

    most_rows = MOST_ROWS

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """The sums, and those of squares, as wide numbers."""
        return (Vector(self._name, int(np.prod(self._shape)), "wide sum"),)

    @property
    def _shape(self) -> tuple[int, ...]:
        return (self._questions.n_questions, self._scale.outputs.n_columns, 2, LIMBS)

    @once_here
    def _responses(self) -> Responses:
        return Responses(self._plan, self._scale.link, self._scale.inverse, offset=self._offset)

    @once_here
    def _questions(self) -> AnyQuestions:
        return self._responses.questions(asked_of(self._plan))

    @once_here
    def _cells(self) -> CellsOfColumns:
        return CellsOfColumns(self._plan)

    def add(self, tallies: Sequence[Tally], batch: Batch) -> None:
        """Add rows to the tallies of their groups."""
        proceed()
        cells = self._cells.of(batch.held, batch.n_rows)
        for tally, first, last in zip(tallies, batch.bounds[:-1].tolist(), batch.bounds[1:].tolist(), strict=True):
            sums = tally.vectors[self._name].reshape(self._shape)
            here = np.ascontiguousarray(cells[:, first:last])
            weight = batch.weight[first:last]
            offset = batch.values["offset"][first:last] if self._offset else None
            if self._scale.inverse is None:
                self._responses.add_whole(here, self._questions, weight, self._unit, sums, offset)
            else:
                self._add_of_python(here, weight, sums, offset)

    def _add_of_python(
        self,
        cells: NDArray[np.int32],
        weight: NDArray[np.int64],
        sums: NDArray[np.int64],
        offset: NDArray[np.float64] | None,
    ) -> None:
        """Add the responses of a function of Python's, in multiples of 2**-40."""
        n_rows = cells.shape[1]
        digits = digits_of(weight if weight.size else np.ones(n_rows, dtype=np.int64))
        step = max(1, MOST_ANSWERS // int(np.prod(self._shape[:2])))
        for first in range(0, n_rows, step):
            here = slice(first, first + step)
            own = None if offset is None else offset[here]
            values = self._responses.write_cells(np.ascontiguousarray(cells[:, here]), self._questions, own)
            if not (np.abs(values) <= LARGEST).all():
                raise TooLargeError(TOO_LARGE)
            values = np.ldexp(np.rint(np.ldexp(values, FRACTION)), -FRACTION)  # whose last digits depend on the machine
            for place, power in enumerate((values, values**2)):
                whole = np.floor(power)
                rest = np.rint(np.ldexp(power - whole, FRACTION))
                found = (weighted_sums(whole, digits[:, here]) << FRACTION) + weighted_sums(rest, digits[:, here])
                sums[:, :, place] += limbs_of(found.ravel()).reshape(*sums.shape[:2], LIMBS)

    def finish(self, tally: Tally) -> None:
        """Carry: equal sums have equal limbs."""
        tally.vectors[self._name] = limbs_of(numbers_of(tally.vectors[self._name]))


def asked_of(plan: CountPlan) -> list[Asked]:
    """Return the questions: each feature that the model uses in each of its cells, and at last no change."""
    cells = plan.cells.n_cells
    asked: list[Asked] = [
        (int(plan.player_of[f]), np.array([f]), np.arange(cells[f])[None]) for f in plan.ensemble.used_features
    ]
    return [*asked, (-1, np.empty(0, dtype=np.intp), np.empty((0, 1), dtype=np.int64))]


def name_of(ensemble: TreeEnsemble, scale: Scale) -> str:
    """Return the name of the vector: the units, and a hash of what responses depend on beside the counts."""
    score, digest = ensemble.score, blake2b(digest_size=8)
    for array in (ensemble.value, np.asarray(score.base), np.asarray([score.factor, score.link_scale])):
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(f"{scale.link} {scale.outputs.n_columns}".encode())
    if scale.inverse is not None:
        digest.update(_probed(ensemble, scale.inverse))
    return f"{scale.units} {digest.hexdigest()}"


def _probed(ensemble: TreeEnsemble, inverse: Callable[[Any], Any]) -> bytes:
    """Return what identifies a function of scores: a few of its values, to nine digits."""
    value = ensemble.value if ensemble.value.size else np.zeros((1, ensemble.n_outputs))
    low, high = value.min(axis=0), value.max(axis=0)
    base = ensemble.score.constant
    scores = base + np.linspace(-2.0, 2.0, 33)[:, None] * np.broadcast_to(high - low, base.shape)
    with np.errstate(all="ignore"):
        found = np.asarray(inverse(scores), dtype=np.float64)
    return " ".join(f"{number:.9e}" for number in found.ravel().tolist()).encode()


def unit_of(plan: CountPlan, link: Link) -> Unit:
    """Return the unit of the sums, which follows from the model alone."""
    if link in ("logistic", "softmax"):
        return Unit(0.5, large=False)
    ensemble, score = plan.ensemble, plan.ensemble.score
    n_leaves = np.bincount(plan.leaf_tree, minlength=ensemble.n_trees)
    if link == "identity":  # no score is larger than that
        largest = np.zeros((ensemble.n_trees, ensemble.value.shape[1]))
        np.maximum.at(largest, plan.leaf_tree, np.abs(ensemble.value))
        bound = float(np.abs(score.constant).max(initial=0.0)) + abs(score.factor) * float(largest.sum(axis=0).max())
        return Unit(_power(-(np.ceil(np.log2(max(bound, 1e-300))) + 2)), large=False)
    # The logarithm of a typical prediction: with the mean leaf of each tree.
    means = [np.bincount(plan.leaf_tree, weights=values) / n_leaves for values in ensemble.value.T]
    typical = float(np.max(score.constant)) + score.factor * max(float(mean.sum()) for mean in means)
    return Unit(_power(-np.round(typical * score.link_scale / np.log(2.0))), large=True)


def _power(exponent: float) -> float:
    """Return a power of two whose square is a number, too."""
    return float(2.0 ** np.clip(exponent, -400, 400))


class ResponseMoments:
    """Means and spreads of responses: of the rows as they are, and with each feature in each of its cells.

    Parameters
    ----------
    ensemble : TreeEnsemble
    scale : Scale
    limbs : ndarray of int64
        The sums.
    total : int
        The sum of the rows' weights in the same unit.
    """

    def __init__(self, ensemble: TreeEnsemble, scale: Scale, limbs: NDArray[np.int64], total: int) -> None:
        plan = make_plan(ensemble, 1, {})
        self._used, self._n_cells = ensemble.used_features.tolist(), plan.cells.n_cells
        n_questions = 1 + sum(int(self._n_cells[feature]) for feature in self._used)
        if limbs.size != n_questions * scale.outputs.n_columns * 2 * LIMBS:
            message = "the background is for a different model or different groups; run summarize with this model"
            raise BackgroundError(message)
        self._numbers, self._total = numbers_of(limbs).reshape(-1, scale.outputs.n_columns, 2), total
        self._digits = DIGITS if scale.inverse is None else FRACTION
        self._factor = unit_of(plan, scale.link).factor if scale.inverse is None else 1.0

    @once
    def _means(self) -> NDArray[np.float64]:
        numbers = self._numbers[:, :, 0]
        means = np.array([number / self._total for number in numbers.ravel()]).reshape(numbers.shape)
        return means * (2.0**-self._digits / self._factor)

    @once
    def _spreads(self) -> NDArray[np.float64]:
        first, second = self._numbers[:, :, 0], self._numbers[:, :, 1]
        numerators = ((second * self._total) << self._digits) - first**2
        whole = self._total**2 << self._digits
        squares = np.array([number / whole for number in numerators.ravel()]).reshape(first.shape)  # in units
        return np.sqrt(np.where(squares < NOISE, 0.0, squares) * 2.0**-self._digits) / self._factor

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean of the rows as they are, for each output."""
        found: NDArray[np.float64] = self._means[-1]
        return found

    @property
    def deviation(self) -> NDArray[np.float64]:
        """The standard deviation of the rows as they are, for each output."""
        found: NDArray[np.float64] = self._spreads[-1]
        return found

    @once
    def curves(self) -> dict[int, NDArray[np.float64]]:
        """The means with each feature in each of its cells, (n_cells, n_outputs) each."""
        return self._by_feature(self._means)

    @once
    def spreads(self) -> dict[int, NDArray[np.float64]]:
        """The standard deviations over rows with each feature in each of its cells."""
        return self._by_feature(self._spreads)

    def _by_feature(self, lines: NDArray[np.float64]) -> dict[int, NDArray[np.float64]]:
        ends = np.cumsum([self._n_cells[feature] for feature in self._used])
        found = dict(zip(self._used, np.split(lines[:-1], ends[:-1].astype(int)), strict=True)) if self._used else {}
        for feature, n_cells in enumerate(self._n_cells.tolist()):
            if feature not in found:
                found[feature] = np.repeat(lines[-1:], n_cells, axis=0)
        return {feature: read_only(found[feature]) for feature in sorted(found)}
