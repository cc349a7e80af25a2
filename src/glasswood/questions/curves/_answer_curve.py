"""The curve of a feature, with what is known beside it: spread, observations, folds, both scales of a log link."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from glasswood.parallel._lazy import Deferred
from glasswood.questions.curves._answer_observed import observations
from glasswood.questions.curves._result import LOST_RELATIVITY, LOST_SPREAD, Curve
from glasswood.results import Folds
from glasswood.results._folds import LOST_ERROR
from glasswood.study._view import View

__all__ = ["curve_of", "heights_of"]


T = TypeVar("T")


def curve_of(view: View, feature: int) -> Curve:
    """Return the curve of a feature."""
    study = view.study
    heights = heights_of(view, feature)  # first: the axis needs the rows counted for it
    return Curve(
        axis=view.axis(feature),
        heights=heights,
        mean=view.level,
        outputs=view.labels,
        units=view.units,
        find_spread=Deferred(lambda: view.spread(feature), LOST_SPREAD),
        find_observations=Deferred(lambda: observations(view, feature)) if study.has_targets else None,
        find_folds=Deferred(lambda: _folds(view, feature)) if view.has_folds else None,
        of_log_link=_on_both_scales(view, lambda own: Deferred(lambda: heights_of(own(), feature), LOST_RELATIVITY)),
        folds_of_log_link=_on_both_scales(view, lambda own: Deferred(lambda: _folds(own(), feature), LOST_ERROR))
        if view.has_folds
        else {},
    )


def heights_of(view: View, feature: int) -> NDArray[np.float64]:
    """Return the heights of the curve of a feature, for the outputs that are asked for."""
    return view.levels(view.curve(feature))


def _folds(view: View, feature: int) -> Folds:
    return view.folds_of(lambda left: heights_of(left, feature), mean=True)


def _on_both_scales(view: View, make: Callable[[Callable[[], View]], T]) -> dict[str, T]:
    """Return something of the curve of a model with a log link on both scales; nothing for other models."""
    study = view.study
    if view.ensemble.score.link != "exp" or study.combined or study.model.inverse is not None:
        return {}  # where relativities say nothing about the model
    return {"raw": make(lambda: view.on("raw")), "response": make(lambda: view.on("prediction"))}
