"""Errors: the answers of a study without each fold of its rows, from which standard errors follow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from glasswood.models._outputs import Chosen
from glasswood.parallel._once import once
from glasswood.results import Folds, SurfaceFolds, check_memory
from glasswood.study._folds import StudyFolds
from glasswood.study._on_scale import OnScale
from glasswood.study._study import Study

__all__ = ["Errors"]

REMEDY = "Ask for points: partial_dependence(a, b, at=a table of points).error"


class Errors:
    """The answers of a study on a scale without each fold of its rows.

    Parameters
    ----------
    values : OnScale
        The study and the scale.
    folds : StudyFolds
        The same study without each fold.
    """

    def __init__(self, values: OnScale, folds: StudyFolds) -> None:
        self._values, self._study, self._scale, self._folds = values, values.study, values.scale, folds

    @once
    def left_out(self) -> list[tuple[float, OnScale]]:
        """Curves, means and what follows from them, without each fold; and its share."""
        wanted = None if self._scale.additive else self._study.wanted_of(self._scale)
        return self._on_scale(self._folds.without(wanted))

    def _on_scale(self, left: Iterable[tuple[float, Study]]) -> list[tuple[float, OnScale]]:
        return [(share, OnScale(study, self._scale)) for share, study in left]

    @property
    def shares(self) -> NDArray[np.float64]:
        """The share of the weight that each fold has."""
        return np.array([share for share, _ in self.left_out])

    def of_order(self, order: int) -> list[OnScale]:
        """Return sums over trees of sets of so many players, without each fold."""
        return [values for _, values in self._on_scale(self._folds.without(order=order))]

    def each(self, what: str) -> Iterator[tuple[float, OnScale]]:
        """Yield the study without each fold: its rows, if they are a table in memory, or else counts of pairs."""
        if self._study.over.only_counts and self._study.over.basis == "counts":
            yield from self._on_scale(self._folds.without(order=2))
            return
        self._folds.refuse_without_table(what)
        for share, study in self._folds.without_rows():
            yield share, OnScale(study, self._scale)

    def curve(self, feature: int, chosen: Chosen) -> Folds:
        """Return the curve of a feature."""
        heights = np.stack([chosen.levels(values.curves[feature]) for _, values in self.left_out])
        return Folds(heights, self.shares, self.means(chosen))

    def means(self, chosen: Chosen) -> NDArray[np.float64]:
        """Return the mean prediction without each fold: (n_folds, n_outputs)."""
        return np.stack([chosen.levels(values.mean) for _, values in self.left_out])

    def observations(self, feature: int, chosen: Chosen) -> dict[str, Folds]:
        """Return what was observed and predicted in the cells of a feature."""
        left = self._folds.without(self._study.wanted_targets)
        shares = np.array([share for share, _ in left])
        found = [study.targets.of_feature(feature) for _, study in left]
        return {
            "observed": Folds(np.stack([chosen.levels(part.observed) for part in found]), shares),
            "predicted": Folds(np.stack([chosen.levels(part.predicted) for part in found]), shares),
            "exposure": Folds(np.stack([part.exposure for part in found]), shares),
        }

    def surface(self, a: int, b: int, chosen: Chosen) -> SurfaceFolds:
        """Return the surface of two features."""
        n_a, n_b = (int(n) for n in self._study.plan(1).cells.n_cells[[a, b]])
        check_memory((self._folds.division.number, n_a, n_b, len(chosen.labels)), 4, REMEDY)
        interaction = None
        if not self._scale.additive:
            interaction = self._interaction_of_responses(a, b, chosen)
        elif self._study.shares_path(a, b):
            turned = chosen.total is not None
            effects = [own for _, own in self._folds.pair_effects(a, b)]
            interaction = np.stack([own.pair(a, b, chosen.columns, turned=turned).all() for own in effects])
        left = [values for _, values in self.left_out]
        return SurfaceFolds(
            first=np.stack([chosen.levels(values.curves[a]) for values in left]),
            second=np.stack([chosen.levels(values.curves[b]) for values in left]),
            mean=self.means(chosen),
            interaction=interaction,
            shares=self.shares,
        )

    def _interaction_of_responses(self, a: int, b: int, chosen: Chosen) -> NDArray[np.float64]:
        n_a, n_b = (int(n) for n in self._study.plan(1).cells.n_cells[[a, b]])
        cells = np.stack([np.repeat(np.arange(n_a), n_b), np.tile(np.arange(n_b), n_a)])
        found = []
        responses = self.responses_at("a surface on this scale", np.array([a, b]), cells)
        for joint, (_, values) in zip(responses, self.left_out, strict=True):
            alone = joint - values.curves[a][cells[0]] - values.curves[b][cells[1]] + values.mean
            found.append(chosen.changes(alone).reshape(n_a, n_b, -1))
        return np.stack(found)

    def responses_at(self, what: str, features: NDArray[np.intp], cells: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return mean responses with some features in given cells, without each fold: (n_folds, n_points, n_outputs).

        Each row is asked twice: for the mean over all rows, and for that over its fold.
        """
        self._folds.refuse_without_table(what)
        whole = self._values.responses_at(features, cells)
        parts = [
            (whole - share * OnScale(study, self._scale).responses_at(features, cells)) / (1.0 - share)
            for share, study in self._folds.of_rows()
        ]
        return np.stack(parts)
