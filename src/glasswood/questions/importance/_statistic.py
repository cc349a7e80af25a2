"""LossSums: for every feature and cell, the sum over rows of a loss, with the feature in that cell.

With weights w, W = sum of w, and W_jc that of the rows whose feature j is in cell c,

    LS_j(c) = sum_i w_i L(y_i, response of row i with j in c)    and    LS_0 = sum_i w_i L(y_i, response of row i),

so sum_c W_jc LS_j(c) / W^2 is the mean loss if the feature is redrawn from all rows: over all permutations of its
column. Both factors are sums over rows, so this adds up, subtracts and divides into groups and folds. Each loss is
rounded to a multiple of a unit that follows from the model and the loss alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._background import Background
from glasswood.counting._plan import CountPlan, make_plan
from glasswood.counting._statistic import Batch, Tally, Vector
from glasswood.counting._wide import LIMBS, digits_of, limbs_of, numbers_of, weighted_sums
from glasswood.effects._responses import AnyQuestions, Asked, KernelLoss, Responses
from glasswood.effects._row_sums import RowSums, asked_of, factor_of, less_log, name_of, quotients, unit_of
from glasswood.errors import ArgumentError, BackgroundError, TooLargeError
from glasswood.models._ensemble import TreeEnsemble
from glasswood.models._scale import Scale
from glasswood.parallel._interrupts import check_cancelled
from glasswood.parallel._lazy import cached_property, cached_unpickled
from glasswood.questions.importance._statistic_losses import MIN_SHARE, Loss
from glasswood.tables._row_values import RowColumns, RowValues

__all__ = [
    "LossMoments",
    "LossSpec",
    "LossSums",
    "RowLosses",
    "refuse_exposure",
]


MIN_ROWS, MAX_ROWS = 64, 2**13  # at a time

MAX_NUMBERS = 2**25  # leaf values of rows at a time

MAX_ANSWERS = 2**22  # of a function of Python's that are held at a time

FRACTION = 40  # binary digits behind the unit of a loss that Python computes

FRACTION_OF_USERS = 56  # and behind the point of a user's own, which may be small throughout

DIGITS = 52  # and of one that the kernel does, times its scale

LARGEST = 2.0**50

TOO_LARGE = (
    "a loss is not a number, or too large for exact sums: predictions are too far from the target, or, for "
    "loss='poisson' and loss='gamma', not positive; divide the target by a constant and fit the model again, or ask "
    "for another loss"
)

TOO_LARGE_CHANGE = (
    "a prediction changes by so much that sums of squares would not be exact; divide the target by a constant and fit "
    "the model again, or ask for response='raw'"
)

CODES = {"change": 0, "squared_error": 1, "brier": 1, "absolute_error": 2, "quantile": 3}

LOGIT, LOG, POISSON, GAMMA, POISSON_OF_LOG, GAMMA_OF_LOG = 4, 5, 6, 7, 8, 9

SQUARES = ("change", "squared_error", "brier")


@dataclass(frozen=True, eq=False)
class LossSpec:
    """The loss sums of a scale, as they are asked for.

    Parameters
    ----------
    loss : Loss
    scale : Scale
        That of the predictions.
    key : str
        The name of the vector.
    offset, exposure : bool, default False
        Whether rows have an offset; and an exposure beside it, if the loss is a change: that of the rate.
    """

    loss: Loss
    scale: Scale
    key: str
    offset: bool = False
    exposure: bool = False

    @classmethod
    def of_model(cls, ensemble: TreeEnsemble, scale: Scale, loss: Loss, columns: RowColumns) -> LossSpec:
        """Return those of a model, given what is read of the rows."""
        offset = columns.offset is not None and not (loss.is_change and scale.is_score)
        exposure = offset and loss.is_change and columns.exposure is not None
        roles = [*([] if loss.is_change else ["target"]), *(["offset"] if offset else [])]
        roles += ["exposure"] if exposure else []
        read = ", ".join(columns.description(role) for role in roles) or "all rows"
        return cls(loss, scale, f"{prefix_of(loss)}{read} {digest_of(ensemble, scale)}", offset, exposure)

    def known_in(self, background: Background) -> LossSpec:
        """Return those that a background has, whatever the names of the columns that were read."""
        digest = self.key.rpartition(" ")[2]
        names = (name for name in background.vectors if name.startswith(prefix_of(self.loss)))
        held = next((name for name in names if name.rpartition(" ")[2] == digest), None)
        return self if held is None or self.key in background.vectors else replace(self, key=held)

    def statistic(self, plan: CountPlan) -> LossSums:
        """Return the statistic of a model."""
        return LossSums(plan.ensemble, self)


def refuse_exposure(columns: RowColumns) -> None:
    """Refuse losses of totals that the model predicts rates of."""
    if columns.exposure is not None and columns.offset is None:
        message = (
            "losses are not defined for exposure= without offset=, as the model then predicts rates of totals; pass "
            "the rate as target= and the exposure as sample_weight="
        )
        raise ArgumentError(message)


def prefix_of(loss: Loss) -> str:
    """Return how the names of the vectors of a loss begin."""
    return f"loss {loss.text}: " if loss.function is None else f"loss {loss.text}, {FRACTION_OF_USERS} digits: "


def digest_of(ensemble: TreeEnsemble, scale: Scale) -> str:
    """Return a hash of what predictions depend on."""
    key = f"{scale.outputs.labels!r} {name_of(ensemble, scale)}"
    return blake2b(key.encode(), digest_size=8).hexdigest()


class RowLosses:
    """Adds losses of rows for questions about players.

    Parameters
    ----------
    plan : CountPlan
    spec : LossSpec
    asked : sequence of Asked
        The questions; the last one is that of no change.
    """

    def __init__(self, plan: CountPlan, spec: LossSpec, asked: Sequence[Asked]) -> None:
        self.plan, self._spec, self._loss, self._scale = plan, spec, spec.loss, spec.scale
        self._asked = asked
        self.n_sums = spec.scale.outputs.n_columns if spec.loss.is_change else 1

    @property
    def in_kernel(self) -> bool:
        """Whether the kernel knows the loss and what it is a loss of."""
        return self._loss.function is None and self._scale.inverse is None

    @cached_unpickled
    def _responses(self) -> Responses:
        result = Responses(self.plan, self._scale.link, self._scale.inverse)
        before = self.in_kernel and self._kernel.code in (LOGIT, POISSON_OF_LOG, GAMMA_OF_LOG)
        return result.before_link if before else result

    @cached_unpickled
    def questions(self) -> AnyQuestions:
        """The questions."""
        return self._responses.questions(self._asked)

    @cached_unpickled
    def _kernel(self) -> KernelLoss:
        """The loss as the kernel takes it."""
        name, link, unit = self._loss.name, self._scale.link, unit_of(self.plan, self._scale.link)
        if name in CODES:
            return KernelLoss(CODES[name], self._loss.level, unit.factor, unit.large or name != "change")
        if name == "log_loss":
            single = link == "logistic" and self._scale.outputs.n_columns == 1
            return KernelLoss(LOGIT if single else LOG, MIN_SHARE if link == "identity" else 0.0, 1.0, large=True)
        of_log = link == "exp"
        codes = {"poisson": (POISSON, POISSON_OF_LOG), "gamma": (GAMMA, GAMMA_OF_LOG)}
        return KernelLoss(codes[name][of_log], 0.0, 1.0, large=True)

    @cached_unpickled
    def unit(self) -> float:
        """The unit of the sums, a power of two; times what several outputs are divided by."""
        power = 2 if self._loss.name in SQUARES else 1
        if not self.in_kernel:
            return 2.0**-self._fraction / self._factor**power / self._divisor
        return 2.0**-DIGITS / self._kernel.scale**power / self._divisor

    @property
    def _fraction(self) -> int:
        """The binary digits behind the unit of a loss that Python computes."""
        return FRACTION if self._loss.function is None else FRACTION_OF_USERS

    @cached_unpickled
    def _factor(self) -> float:
        """What responses and targets are multiplied by before Python computes a loss that grows with them."""
        grows = self._loss.function is None and self._loss.name in (*SQUARES, "absolute_error", "quantile", "poisson")
        return factor_of(self.plan, self._scale) if grows and not self.in_kernel else 1.0

    @property
    def _divisor(self) -> float:
        """What the sum over outputs is divided by: several targets count equally, two classes as one."""
        outputs = self._scale.outputs
        if self._loss.function is not None or self._loss.name in ("change", "log_loss"):
            return 1.0
        two_classes = self._loss.name == "brier" and outputs.n_columns == 2
        return float(2 if two_classes else 1 if self._loss.name == "brier" else outputs.n_columns)

    def add(
        self, cells: NDArray[np.int32], weight: NDArray[np.int64], values: RowValues, sums: NDArray[np.int64]
    ) -> None:
        """Add rows to sums, (n_questions, n_sums, LIMBS), given their cells, weights (if any) and values."""
        target = None if self._loss.is_change else values["target"]
        if target is not None:
            self._loss.refuse_targets(target if not weight.size else target[weight > 0])
        offset = values["offset"] if self._spec.offset else None
        exposure = values["exposure"][:, 0] if self._spec.exposure else None
        if self.in_kernel:
            if exposure is not None and offset is not None:  # behind a log link, which exposures are for
                offset, exposure = less_log(offset, 1.0, exposure, self.plan.ensemble), None
            fits = self._responses.add_losses(cells, self.questions, weight, self._kernel, target, sums, offset)
        else:
            fits = self._add_of_python(cells, weight, target, (offset, exposure), sums)
        if not fits:
            raise TooLargeError(TOO_LARGE_CHANGE if self._loss.is_change else TOO_LARGE)

    def _add_of_python(
        self,
        cells: NDArray[np.int32],
        weight: NDArray[np.int64],
        target: NDArray[np.float64] | None,
        further: tuple[NDArray[np.float64] | None, NDArray[np.float64] | None],
        sums: NDArray[np.int64],
    ) -> bool:
        n_rows, (offset, exposure) = cells.shape[1], further
        digits = digits_of(weight if weight.size else np.ones(n_rows, dtype=np.int64))
        step = max(1, MAX_ANSWERS // (self.questions.n_questions * self._scale.outputs.n_columns))
        for first in range(0, n_rows, step):
            here = slice(first, first + step)
            own = None if offset is None else offset[here]
            values = self._responses.write_cells(np.ascontiguousarray(cells[:, here]), self.questions, own)
            values = self._factor * (values if exposure is None else values / exposure[here])
            if target is None:
                losses = (values - values[-1:]) ** 2
            else:
                losses = np.stack([self._loss.of_rows(self._factor * target[here], line.T)[None] for line in values])
            if not (np.abs(losses) <= LARGEST).all():
                return False
            whole = np.floor(losses)
            rest = np.rint(np.ldexp(losses - whole, self._fraction))
            numbers = (weighted_sums(whole, digits[:, here]) << self._fraction) + weighted_sums(rest, digits[:, here])
            sums += limbs_of(numbers.ravel()).reshape(sums.shape)
        return True

    def start(self) -> NDArray[np.int64]:
        """Return the sums of no rows."""
        return np.zeros((self.questions.n_questions, self.n_sums, LIMBS), dtype=np.int64)


class LossSums(RowSums):
    """Sums of losses: with each feature in each of its cells, and at last of the rows as they are.

    Parameters
    ----------
    ensemble : TreeEnsemble
    spec : LossSpec
    """

    def __init__(self, ensemble: TreeEnsemble, spec: LossSpec) -> None:
        plan = make_plan(ensemble, 1, {})
        super().__init__(plan, spec.scale.link, spec.scale.inverse)
        self._name, self._losses = spec.key, RowLosses(plan, spec, asked_of(plan))
        self._size = (1 + int(plan.cells.n_cells[ensemble.used_features].sum())) * self._losses.n_sums * LIMBS

        self.max_rows = min(MAX_ROWS, max(MIN_ROWS, MAX_NUMBERS // max(1, ensemble.value.size)))

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """The sums, as wide numbers."""
        return (Vector(self._name, self._size, "wide sum"),)

    def add(self, tallies: Sequence[Tally], batch: Batch) -> None:
        """Add rows to the tallies of their groups."""
        check_cancelled()
        cells = self.cells_of(batch)
        for tally, rows in zip(tallies, batch.groups, strict=True):
            sums = tally.vectors[self._name].reshape(-1, self._losses.n_sums, LIMBS)
            self._losses.add(np.ascontiguousarray(cells[:, rows]), batch.weight[rows], batch.values.take(rows), sums)


class LossMoments:
    """Mean losses, of the rows as they are and with each feature redrawn from all rows.

    Parameters
    ----------
    ensemble : TreeEnsemble
    spec : LossSpec
    limbs : ndarray of int64
        The sums.
    cells : ndarray of int64
        The weight of the rows in each cell of each feature, as a `Background` has it.
    total : int
        The sum of the rows' weights in the same unit.
    """

    def __init__(
        self, ensemble: TreeEnsemble, spec: LossSpec, limbs: NDArray[np.int64], cells: NDArray[np.int64], total: int
    ) -> None:
        plan = make_plan(ensemble, 1, {})
        self._losses = RowLosses(plan, spec, asked_of(plan))
        n_questions = 1 + int(plan.cells.n_cells[ensemble.used_features].sum())
        if limbs.size != n_questions * self._losses.n_sums * LIMBS:
            message = "the background is for a different model or different groups; run summarize with this model"
            raise BackgroundError(message)
        self._numbers = numbers_of(limbs).reshape(n_questions, -1)
        self._rows, self._total, self._ensemble, self._cells = cells, total, ensemble, plan.cells

    @property
    def base(self) -> NDArray[np.float64]:
        """The mean loss of the rows as they are."""
        return quotients(self._numbers[-1], self._total, self._losses.unit)

    @cached_property
    def redrawn(self) -> NDArray[np.float64]:
        """The mean loss with each feature redrawn from all rows: (n_features, n_sums)."""
        return np.array([quotients(one, self._total**2, self._losses.unit) for one in self._products])

    @cached_property
    def increase(self) -> NDArray[np.float64]:
        """How much larger that is than the mean loss of the rows as they are: (n_features, n_sums)."""
        base, unit = self._numbers[-1] * self._total, self._losses.unit
        return np.array([quotients(one - base, self._total**2, unit) for one in self._products])

    @cached_property
    def _products(self) -> list[NDArray[np.object_]]:
        """The sums over cells of the rows in them times the loss sums, as Python's own integers, of each feature."""
        result, first = [self._numbers[-1] * self._total] * self._ensemble.n_features, 0
        for feature in self._ensemble.used_features.tolist():
            rows = self._rows[slice(*self._cells.offset[feature : feature + 2])].astype(object)
            result[feature] = (rows[:, None] * self._numbers[first : first + rows.size]).sum(axis=0)
            first += rows.size
        return result
