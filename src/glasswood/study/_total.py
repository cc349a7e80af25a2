"""Total and permutation importance: results made of mean losses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._loss_sums import WantedLoss, refuse_exposure
from glasswood.effects._losses import CHANGE, loss_of
from glasswood.effects._target_sums import scale_of_targets
from glasswood.errors import BackgroundError
from glasswood.models._outputs import Chosen
from glasswood.parallel._once import Deferred
from glasswood.results import Folds, Importance, PermutationImportance
from glasswood.study._losses import MeanLosses, groups_of, mean_losses, refuse_total, too_many_leaves, without_folds
from glasswood.study._on_scale import OnScale
from glasswood.study._study import Study

__all__ = ["TotalImportance", "permutation_importance", "strongest_first"]


class TotalImportance:
    """The root mean squared change of the response of a row, if a player is redrawn from all rows.

    Parameters
    ----------
    values : OnScale
        The study and the scale.
    """

    def __init__(self, values: OnScale) -> None:
        self._study, self._scale = values.study, values.scale
        self._wanted = values.study.wanted_loss(values.scale, CHANGE)

    @property
    def is_default(self) -> bool:
        """Whether it can be found from what is at hand, and in a reasonable time."""
        known = self._study.has_losses(self._wanted)
        return not refuse_total(self._study, self._wanted, asked=False) and (
            known or not too_many_leaves(self._study, self._wanted)
        )

    def result(self, chosen: Chosen, *, all_rows: bool) -> Importance:
        """Return the result."""
        why_not = refuse_total(self._study, self._wanted, asked=True)
        if why_not:
            raise BackgroundError(why_not)
        found = mean_losses(self._study, self._wanted, all_rows=all_rows)
        heights = self._heights(found, chosen)
        order = strongest_first(heights)
        return Importance(
            names=tuple(self._study.plan(1).players[player] for player in order),
            heights=heights[order],
            outputs=chosen.labels,
            units=self._scale.units,
            kind="total",
            n_rows=found.n_rows,
            sampled=found.sampled,
            find_folds=Deferred(lambda: self._folds(found, chosen, order)) if self._study.has_folds else None,
        )

    def _heights(self, found: MeanLosses, chosen: Chosen) -> NDArray[np.float64]:
        """Return the importance of each player, the same for both classes of one score."""
        return np.sqrt(np.maximum(found.redrawn, 0.0))[:, chosen.columns]

    def _folds(self, found: MeanLosses, chosen: Chosen, order: NDArray[np.intp]) -> Folds:
        return _folds(found, self._wanted, lambda left: self._heights(left, chosen)[order])


def _folds(found: MeanLosses, wanted: WantedLoss, answer: Callable[[MeanLosses], NDArray[np.float64]]) -> Folds:
    """Return an answer without each fold of the rows."""
    if found.sampled and not found.study.over.in_memory:
        message = "a sample of a source is not in folds; ask for all_rows=True, or pass a table as the background"
        raise BackgroundError(message)
    left = list(without_folds(found.study, wanted))
    return Folds(np.stack([answer(part) for _, part in left]), np.array([share for share, _ in left]))


def permutation_importance(study: Study, loss: object, *, all_rows: bool = False) -> PermutationImportance:
    """Return how much a loss increases if each player is permuted, on average over all permutations."""
    refuse_exposure(study.over.columns)
    scale = scale_of_targets(study.model, own=True)
    asked = loss_of(loss, scale)
    wanted = study.wanted_loss(scale, asked)
    _refuse_unknown(study, wanted)
    found = mean_losses(study, wanted, all_rows=all_rows)
    order = np.argsort(-found.increase[:, 0], kind="stable")
    return PermutationImportance(
        names=tuple(study.plan(1).players[player] for player in order),
        values=found.increase[order, 0],
        base=float(found.base[0]),
        loss=asked.text,
        n_rows=found.n_rows,
        sampled=found.sampled,
        find_folds=Deferred(lambda: _folds(found, wanted, lambda left: left.increase[order, :1]))
        if study.has_folds
        else None,
    )


def _refuse_unknown(study: Study, wanted: WantedLoss) -> None:
    """Refuse losses of what is not known."""
    over, groups = study.over, groups_of(study)
    if groups.size and not over.in_memory:
        message = (
            f"the permutation importance of the group {study.plan(1).players[int(groups[0])]!r} needs the rows "
            "themselves, not only counts; pass a table as the background, or leave the group out"
        )
        raise BackgroundError(message)
    if study.has_losses(wanted):
        return
    name = wanted.loss.text
    if over.counted is not None or (over.has_rows and not over.can_count):
        message = (
            f"permutation importance needs sums of the loss {name!r}, which this Background or stream does not have; "
            f"make a Background with summarize(model, rows, target=..., loss={name!r})"
        )
        raise BackgroundError(message)
    if over.columns.target is None:
        message = (
            "permutation importance compares predictions with what was observed: make the Explainer with rows and "
            f"target=, or a Background with summarize(model, rows, target=..., loss={name!r})"
        )
        raise BackgroundError(message)


def strongest_first(heights: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the order of lines of heights, (n, n_outputs), by their sum of squares; equal ones stay as they are."""
    return np.argsort(-(heights**2).sum(axis=1), kind="stable")
