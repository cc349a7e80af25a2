"""RowSums: what statistics of rows in cells have in common, and the units of their sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.counting._statistic import Batch, Tally, Vector
from glasswood.counting._wide import LIMBS, digits_of, limbs_of, numbers_of, weighted_sums
from glasswood.effects._responses import Asked, Responses, Unit
from glasswood.effects._row_cells import CellsOfColumns
from glasswood.models._ensemble import Link, TreeEnsemble
from glasswood.models._scale import Scale
from glasswood.parallel._lazy import cached_unpickled

__all__ = [
    "BITS",
    "FRACTION",
    "HALF",
    "TOO_LARGE",
    "asked_of",
    "factor_of",
    "factor_of_targets",
    "less_log",
    "name_of",
    "quotients",
    "unchanged",
    "unit_of",
    "unit_of_left",
]


MAX_ROWS = 2**13  # at a time

HALF = 40  # binary digits that are added up at a time


BITS = 2 * HALF  # of a value behind the unit


ROOM = 16.0  # how many times the largest score a value may be


TOO_LARGE = (
    "the parts of a score are so much larger than the score itself that their sums would not be exact; ask about fewer "
    "trees, or for interaction_values of some rows"
)


def unit_of_left(plan: CountPlan) -> float:
    """Return what values are multiplied with, a power of two that follows from the model alone."""
    return unit_of(plan, "identity").factor / ROOM


def quotients(numbers: NDArray[np.object_], by: int, unit: float) -> NDArray[np.float64]:
    """Return quotients of Python's own integers, rounded once, times a unit."""
    return np.array([number / by for number in numbers]) * unit


def unchanged() -> Asked:
    """Return the question of no change."""
    return (-1, np.empty(0, dtype=np.intp), np.empty((0, 1), dtype=np.int64))


FRACTION = 40  # binary digits behind the unit of a response of Python's own functions

SMALL = 2.0**-4  # responses that are all smaller than this have a smaller unit than 1


def less_log(
    offset: NDArray[np.float64], share: float, exposure: NDArray[np.float64], ensemble: TreeEnsemble
) -> NDArray[np.float64]:
    """Return the offset with which a response behind a log link is divided by a power of the exposure."""
    return offset - (share / ensemble.score.link_scale) * np.log(exposure)[:, None]


def asked_of(plan: CountPlan, features: Iterable[int] | None = None) -> list[Asked]:
    """Return the questions: some features, by default all that are used, in each of their cells, and then no change."""
    cells = plan.cells.n_cells
    own = plan.ensemble.used_features.tolist() if features is None else features
    asked: list[Asked] = [(int(plan.player_of[f]), np.array([f]), np.arange(cells[f])[None]) for f in own]
    return [*asked, unchanged()]


def name_of(ensemble: TreeEnsemble, scale: Scale) -> str:
    """Return the name of the vector: the units, and a hash of what responses depend on beside the counts."""
    score, digest = ensemble.score, blake2b(digest_size=8)
    for array in (ensemble.value, np.asarray(score.base), np.asarray([score.factor, score.link_scale])):
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(f"{scale.link} {scale.outputs.n_columns}".encode())
    if scale.inverse is not None:
        probed = _probed(ensemble, scale.inverse)
        digest.update(probed.encode())
        factor = _factor_of_values(probed)
        digest.update(b"" if factor == 1.0 else f" {factor}".encode())
    return f"{scale.units} {digest.hexdigest()}"


def _probed(ensemble: TreeEnsemble, inverse: Callable[[Any], Any]) -> str:
    """Return what identifies a function of scores: a few of its values, to nine digits."""
    value = ensemble.value if ensemble.value.size else np.zeros((1, ensemble.n_outputs))
    low, high = value.min(axis=0), value.max(axis=0)
    base = ensemble.score.constant
    scores = base + np.linspace(-2.0, 2.0, 33)[:, None] * np.broadcast_to(high - low, base.shape)
    with np.errstate(all="ignore"):
        result = np.asarray(inverse(scores), dtype=np.float64)
    return " ".join(f"{number:.9e}" for number in result.ravel().tolist())


def factor_of(plan: CountPlan, scale: Scale) -> float:
    """Return what responses are multiplied by before they are rounded, a power of two of the model alone."""
    if scale.inverse is None:
        return unit_of(plan, scale.link).factor
    return _factor_of_values(_probed(plan.ensemble, scale.inverse))


def factor_of_targets(plan: CountPlan, scale: Scale) -> float:
    """Return what targets and predictions are multiplied by before they are rounded: 1 unless these are very small."""
    factor = factor_of(plan, scale) if scale.link in ("identity", "exp") else 1.0
    return factor if factor * SMALL > 1.0 else 1.0


def _factor_of_values(probed: str) -> float:
    """Return what responses of a function are multiplied by, given a few of its values: 1 unless all are very small."""
    values = [abs(float(number)) for number in probed.split()]
    largest = max(filter(math.isfinite, values), default=0.0)
    return _power(-np.ceil(np.log2(largest))) if 0.0 < largest < SMALL else 1.0


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


class RowSums:
    """A statistic whose rows add something that depends on their cells.

    Parameters
    ----------
    plan : CountPlan
    link : Link, default "identity"
        Of the responses that are added up.
    inverse : callable, optional
        A function of Python's in place of the link.
    """

    max_rows = MAX_ROWS

    def __init__(self, plan: CountPlan, link: Link = "identity", inverse: Callable[[Any], Any] | None = None) -> None:
        self.plan, self._link, self._inverse = plan, link, inverse

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """The vectors that it adds to."""
        raise NotImplementedError

    @cached_unpickled
    def responses(self) -> Responses:
        """What answers questions about rows."""
        return Responses(self.plan, self._link, self._inverse)

    @cached_unpickled
    def _cells(self) -> CellsOfColumns:
        return CellsOfColumns(self.plan)

    def cells_of(self, batch: Batch) -> NDArray[np.int32]:
        """Return the cells of rows, a line per feature that the model uses."""
        return self._cells.of(batch.held, batch.n_rows)

    def finish(self, tally: Tally) -> None:
        """Carry: equal sums have equal limbs."""
        for vector in self.vectors:
            if vector.combine == "wide sum":
                tally.vectors[vector.name] = limbs_of(numbers_of(tally.vectors[vector.name]))


def add_powers(sums: NDArray[np.int64], values: NDArray[np.float64], weight: NDArray[np.int64]) -> None:
    """Add values below 1, (..., n_rows), and their squares to sums, (..., 2, LIMBS), in units of 2**-80."""
    digits = digits_of(weight)
    for place, power in enumerate((values, values**2)):
        high = np.floor(np.ldexp(power, HALF))
        low = np.rint(np.ldexp(np.ldexp(power, HALF) - high, HALF))
        numbers = (weighted_sums(high, digits) << HALF) + weighted_sums(low, digits)
        sums[..., place, :] += limbs_of(numbers.ravel()).reshape(*values.shape[:-1], LIMBS)
