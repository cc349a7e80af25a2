"""What was observed beside what was predicted: in the cells of a feature, and over all rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._target_sums import TargetMoments
from glasswood.models._outputs import OutputSelection
from glasswood.questions.curves._result_observed import Observations
from glasswood.results import Folds
from glasswood.study._view import View

__all__ = ["actual_expected", "actual_expected_without_folds", "observations"]


Floats = NDArray[np.float64]


def observations(view: View, feature: int) -> Observations:
    """Return what was observed and predicted in the cells of a feature."""
    targets, chosen = view.study.targets, _of_probabilities(view.chosen)
    result, whole = targets.of_feature(feature), targets.whole
    return Observations(
        axis=view.axis(feature),
        exposure=result.exposure,
        observed=chosen.levels(result.observed),
        predicted=chosen.levels(result.predicted),
        spread=result.spread[:, chosen.columns],  # equal for both classes
        mean_observed=chosen.levels(whole.observed)[0],
        mean_predicted=chosen.levels(whole.predicted)[0],
        outputs=chosen.labels,
        units=targets.scale.units,
        comparable=view.scale.same_as(targets.scale) and not (targets.offset and view.scale.is_score),
        folds=_folds(view, feature, chosen) if view.has_folds else {},
        counts=chosen.levels(result.total) if targets.of_counts else None,
    )


def _folds(view: View, feature: int, chosen: OutputSelection) -> dict[str, Folds]:
    """Return the same without each fold of the rows."""
    left = view.without_folds(view.study.targets_spec)
    shares = np.array([share for share, _ in left])
    result = [part.study.targets.of_feature(feature) for _, part in left]
    return {
        "observed": Folds(np.stack([chosen.levels(part.observed) for part in result]), shares),
        "predicted": Folds(np.stack([chosen.levels(part.predicted) for part in result]), shares),
        "exposure": Folds(np.stack([part.exposure for part in result]), shares),
    }


def actual_expected(view: View) -> Floats:
    """Return what was observed divided by what was predicted, over all rows, for each output; NaN if that is 0."""
    return _ratio(view.study.targets, view.chosen)


def actual_expected_without_folds(view: View) -> list[tuple[float, Floats]]:
    """Return the same without each fold of the rows, and the share of the fold."""
    left = view.without_folds(view.study.targets_spec)
    return [(share, actual_expected(part)) for share, part in left]


def _of_probabilities(chosen: OutputSelection) -> OutputSelection:
    """Return outputs that are chosen of a raw score as those of what was observed, which are shares of classes."""
    return replace(chosen, total=None if chosen.total is None else 1.0)


def _ratio(targets: TargetMoments, chosen: OutputSelection) -> Floats:
    """Return what was observed over what was predicted; NaN if nothing was."""
    outputs, whole = _of_probabilities(chosen), targets.whole
    observed, predicted = (outputs.levels(part)[0] for part in (whole.observed, whole.predicted))
    ratio: Floats = np.divide(observed, predicted, out=np.full_like(observed, np.nan), where=predicted != 0)
    return ratio
