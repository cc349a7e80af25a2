"""Losses: what is lost if something else is observed than what the model predicts, by name or as a user's function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError, TableError
from glasswood.models._scale import Scale
from glasswood.text._arguments import brief

__all__ = ["CHANGE", "MIN_SHARE", "Loss", "loss_of"]


Floats = NDArray[np.float64]


OF_CLASSES = ("log_loss", "brier")

OF_NUMBERS = ("squared_error", "absolute_error", "quantile", "poisson", "gamma")

MIN_SHARE = 2.0**-52  # of a class: what is less counts as this, as scikit-learn has it

AUC = (
    "AUC is no mean of a loss over rows, so it has no exact permutation importance; ask for loss='log_loss' or "
    "loss='brier'"
)


@dataclass(frozen=True)
class Loss:
    """A loss of what was observed and what is predicted.

    Parameters
    ----------
    name : str
        One of the built-in losses, or the name of the user's function. "change" is the squared change of the response
        of a row, which needs nothing observed.
    level : float
        Of the quantile.
    function : callable, optional
        The user's own: of arrays of what was observed and predicted, (n,) or (n, n_outputs), a loss for each row.
    """

    name: str
    level: float = 0.0
    function: Callable[[Any, Any], Any] | None = None

    @property
    def is_change(self) -> bool:
        """Whether this is the change of the response, which needs nothing observed; also of a copy on a worker."""
        return self.name == "change" and self.function is None

    @property
    def text(self) -> str:
        """The loss as users ask for it."""
        if self.name == "quantile":
            return f"quantile:{self.level!r}"
        return self.name if self.function is None else f"{self.name}()"

    def refuse_targets(self, target: Floats) -> None:
        """Refuse what this loss is not defined for."""
        if self.name == "gamma" and not (target > 0).all():
            message = 'loss="gamma" is for targets above 0, but some are not; drop these rows, or ask for another loss'
            raise TableError(message)
        if self.name == "poisson" and not (target >= 0).all():
            message = 'loss="poisson" is for targets of at least 0, but some are negative; ask for another loss'
            raise TableError(message)

    def of_rows(self, target: Floats, predicted: Floats) -> Floats:
        """Return the losses of rows, given (n, n_outputs) of both, on the scale of the response."""
        if self.function is not None:
            return self._of_function(self.function, target, predicted)
        with np.errstate(all="ignore"):
            return np.asarray(_FORMULAS[self.name](self.level, target, predicted))

    def _of_function(self, function: Callable[[Any, Any], Any], target: Floats, predicted: Floats) -> Floats:
        given = (target, predicted) if target.shape[1] > 1 else (target[:, 0], predicted[:, 0])
        result = np.asarray(function(*(part.copy() for part in given)), dtype=np.float64)
        if result.shape != (len(target),):
            message = (
                f"the loss {self.name!r} must return one number per row, an array of shape ({len(target)},), but "
                f"returned one of shape {result.shape}"
            )
            raise ArgumentError(message)
        if not np.isfinite(result).all():
            message = f"the loss {self.name!r} returned numbers that are missing or infinite; let it return finite ones"
            raise ArgumentError(message)
        return result


CHANGE = Loss("change")


def _log_loss(_: float, target: Floats, share: Floats) -> Floats:
    single = target.shape[1] == 1
    result = np.where(target > 0, share, 1.0 - share)[:, 0] if single else (target * share).sum(axis=1)
    return np.asarray(-np.log(np.maximum(result, MIN_SHARE)))


def _poisson(_: float, target: Floats, mean: Floats) -> Floats:
    logs = target * np.log(np.where(target > 0, target, 1.0)) - target * np.log(mean)
    return np.asarray((2.0 * (logs - target + mean)).sum(axis=1))


def _gamma(_: float, target: Floats, mean: Floats) -> Floats:
    return np.asarray((2.0 * (target / mean - 1.0 - np.log(target) + np.log(mean))).sum(axis=1))


def _quantile(level: float, target: Floats, predicted: Floats) -> Floats:
    rest = target - predicted
    return np.asarray(np.maximum(level * rest, (level - 1.0) * rest).sum(axis=1))


_FORMULAS: dict[str, Callable[[float, Floats, Floats], Floats]] = {
    "squared_error": lambda _, y, p: ((y - p) ** 2).sum(axis=1),
    "brier": lambda _, y, p: ((y - p) ** 2).sum(axis=1),
    "absolute_error": lambda _, y, p: np.abs(y - p).sum(axis=1),
    "quantile": _quantile,
    "log_loss": _log_loss,
    "poisson": _poisson,
    "gamma": _gamma,
}


def has_classes(scale: Scale) -> bool:
    """Return whether predictions on a scale are probabilities of classes."""
    return scale.classes is not None


def loss_of(given: object, scale: Scale) -> Loss:
    """Return the loss that a user asks for, of predictions on a scale; by default that of the task."""
    if callable(given):
        return _of_function(given)
    if scale.score.target_classes:
        message = (
            f"the model predicts classes of {len(scale.score.target_classes):,} targets, each of which has a loss of "
            "its own; pass loss=, a function of (y, prediction), arrays of shape (n_rows, n_outputs)"
        )
        raise ArgumentError(message)
    if has_classes(scale) and scale.units != "probability":
        message = (
            f"the model predicts classes, but no probabilities (its score is: {scale.units}), so it has no log loss; "
            "pass loss=, a function of (y, prediction)"
        )
        raise ArgumentError(message)
    if given is None:
        return Loss(_default(scale))
    if not isinstance(given, str):
        message = f"loss= is the name of a loss or a function of (y, prediction), not {brief(given)}"
        raise ArgumentError(message)
    name, _, level = given.partition(":")
    known = OF_CLASSES if has_classes(scale) else OF_NUMBERS
    if name in ("roc_auc", "auc"):
        raise ArgumentError(AUC)
    if name not in known:
        what = "classes" if has_classes(scale) else "numbers"
        options = ", ".join("quantile:0.9" if one == "quantile" else one for one in known)
        message = f"there is no loss {given!r} of {what}; pass one of {options}, or a function of (y, prediction)"
        raise ArgumentError(message)
    if name == "quantile":
        return Loss(name, _level(given, level))
    if level:
        message = f"loss {name!r} takes no number, but {given!r} has one"
        raise ArgumentError(message)
    return Loss(name)


def _default(scale: Scale) -> str:
    if has_classes(scale):
        return "log_loss"
    if scale.link == "exp" and scale.score.units == "log of the mean" and scale.inverse is None:
        return "poisson"
    if scale.units in ("value", "probability") and scale.link == "identity":
        return "squared_error"
    message = f"the model has no usual loss (its score is: {scale.score.units}); name one in loss="
    raise ArgumentError(message)


def _of_function(given: Any) -> Loss:
    name = getattr(given, "__name__", "")
    if not name.isidentifier():
        message = (
            "a loss of your own needs a name, by which its sums are known: define it with def, or set its __name__"
        )
        raise ArgumentError(message)
    return Loss(name, function=given)


def _level(given: str, level: str) -> float:
    try:
        result = float(level)
    except ValueError:
        result = np.nan
    if not 0.0 < result < 1.0:
        message = f"the quantile follows a colon, as in loss='quantile:0.9', a number between 0 and 1, not {given!r}"
        raise ArgumentError(message)
    return result
