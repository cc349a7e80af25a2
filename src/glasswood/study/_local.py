"""StudyLocal: the local effects of a study. Bins are chosen, rows counted in them once, and kept by the bins' hash."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._ale_counts import AleNumbers, WantedAle, find_bins
from glasswood.counting._ale_pairs import PairNumbers, WantedPair
from glasswood.counting._bins import Bins, Jobs, bin_jobs
from glasswood.counting._edges import AskedBins, asked_bins, bins_of
from glasswood.counting._plan import CountPlan, make_plan
from glasswood.effects._ale_responses import ResponseEffects, WantedAleResponses
from glasswood.effects._joint_counts import JointCounts, WantedJoint
from glasswood.effects._local_effects import LocalEffects, similarity_order
from glasswood.errors import ArgumentError, BackgroundError, TableError, UnsupportedModelError
from glasswood.models._scale import Scale
from glasswood.parallel._once import Lock, once

if TYPE_CHECKING:
    from glasswood.study._study import Study

__all__ = ["StudyLocal"]

MOST_JOINT = 2**22  # pairs of a category and a cell, which workers of a cluster send
N_OF_PAIRS = 10  # bins of each of two features
NO_ROWS = "accumulated local effects are averages over rows; pass rows to Explainer as the background"
NO_COUNTS = (
    "the Background has no local effects; make it with summarize(model, rows, ale=True), or with ale={feature: edges}"
)
OTHER_EDGES = (
    "the Background has local effects with other edges; leave out bins=, or make a Background with "
    "summarize(model, rows, ale={feature: edges})"
)
ONCE = (
    "this stream can be read only once, so that the edges of bins must be known before: make a Background with "
    "summarize(model, rows, ale={feature: edges})"
)


class AskedFeatures(NamedTuple):
    """Whose local effects are asked for: of one feature, of several, or of a pair."""

    features: list[int]
    several: bool = False
    pair: tuple[int, int] | None = None


class _Shared:
    """What local effects of the same model have in common: the plan of single features, and what is counted."""

    def __init__(self, study: Study) -> None:
        self._ensemble = study.ensemble
        self._lock = Lock()
        self._jobs: dict[str, Jobs] = {}

    @once
    def plan(self) -> CountPlan:
        """The plan of order 1 whose features are players of their own."""
        return make_plan(self._ensemble, 1, {})

    def jobs(self, wanted: WantedAle) -> Jobs:
        """Return what is counted, for the last bins that were asked for."""
        with self._lock:
            if wanted.key not in self._jobs:
                self._jobs = {wanted.key: bin_jobs(self.plan, wanted.bins)}
            return self._jobs[wanted.key]


class StudyLocal:
    """The local effects of a study.

    Parameters
    ----------
    study : Study
    """

    def __init__(self, study: Study) -> None:
        self._study = study
        self._lock = Lock()
        self._shared = _Shared(study)
        self._effects: dict[str, LocalEffects | ResponseEffects] = {}
        self._pairs: dict[str, PairNumbers] = {}
        self._orders: dict[tuple[int, str], NDArray[np.intp] | None] = {}

    def take(self, other: StudyLocal) -> StudyLocal:
        """Share with the local effects of other rows what does not depend on rows."""
        self._shared = other._shared
        return self

    @property
    def _plan(self) -> CountPlan:
        return self._shared.plan

    def number_of(self, feature: Any) -> int:
        """Return the number of a feature that is a player of its own and that the model uses."""
        study = self._study
        player = study.player(feature)
        if player in study.groups or player not in study.ensemble.feature_names:
            message = (
                f"{player!r} is a group of columns, which have no common order; accumulated local effects exist for "
                "single columns of numbers or categories"
            )
            raise TableError(message)
        number = study.ensemble.feature_names.index(player)
        if not study.uses(number):
            message = f"the model does not split on {player!r}, so its accumulated local effect is 0 everywhere"
            raise TableError(message)
        return number

    def asked(self, features: Sequence[Any], order: object) -> AskedFeatures:
        """Return whose local effects are asked for: none stand for all, and a list for several."""
        if not features:
            return AskedFeatures(self.features, several=True)
        if len(features) == 1 and isinstance(features[0], list):
            return AskedFeatures([self.number_of(feature) for feature in features[0]], several=True)
        numbers = [self.number_of(feature) for feature in features]
        if len(numbers) == 1:
            return AskedFeatures(numbers)
        if len(numbers) == 2 and numbers[0] != numbers[1] and order is None:
            return AskedFeatures(numbers, pair=(numbers[0], numbers[1]))
        message = "ale takes one feature, two different ones (without order=), or a list of features"
        raise ArgumentError(message)

    @property
    def features(self) -> list[int]:
        """All features that have local effects."""
        study, plan = self._study, self._study.plan(1)
        single = set(plan.players) - set(study.groups)
        names = study.ensemble.feature_names
        return [f for f in study.ensemble.used_features.tolist() if names[f] in single]

    def bins(self, features: Sequence[int], bins: object) -> Bins:
        """Return the bins that some features are asked about with: those that are counted, or new ones.

        Parameters
        ----------
        features : sequence of int
        bins : None, int, array of edges (of a single feature), or mapping from features to these
        """
        study = self._study
        counted = study.over.counted
        known = None if counted is None else find_bins(counted)
        if not study.over.has_rows:
            raise BackgroundError(NO_ROWS)
        if bins is None and known is not None and set(features) <= set(known.features):
            return known
        if not study.over.can_count and known is None:
            raise BackgroundError(NO_COUNTS if counted is not None else ONCE)
        plan = self._plan
        asked = self._asked(features, bins)
        found = bins_of(plan, asked, study.rows_per_cell, study.extent)
        if known is None:
            return found
        if not all(_same(found, known, feature) for feature in features):
            raise BackgroundError(OTHER_EDGES)
        return known

    def _asked(self, features: Sequence[int], bins: object) -> AskedBins:
        plan = self._plan
        if bins is None or isinstance(bins, int | np.integer | dict) or len(features) != 1:
            return asked_bins(plan, bins, self.number_of)
        return asked_bins(plan, {features[0]: bins}, int, only=True)

    def pair_bins(self, features: tuple[int, int], bins: object) -> Bins:
        """Return the bins of two features of numbers."""
        study, plan = self._study, self._plan
        names = [study.ensemble.feature_names[feature] for feature in features]
        for name, feature in zip(names, features, strict=True):
            if plan.cells.n_codes[feature]:
                message = f"{name!r} has categories; accumulated local effects of pairs exist for two numbers"
                raise UnsupportedModelError(message)
        if not study.over.has_rows:
            raise BackgroundError(NO_ROWS)
        if not study.over.can_count:
            message = (
                "accumulated local effects of pairs are counted when they are asked for, which needs rows that can be "
                "read again; pass a table, files or a frame to Explainer as the background"
            )
            raise BackgroundError(message)
        asked = asked_bins(plan, N_OF_PAIRS if bins is None else bins, self.number_of, default=N_OF_PAIRS)
        wanted = AskedBins(None, {f: own for f in features if (own := asked.of(f)) is not None})
        found = bins_of(plan, wanted, study.rows_per_cell, study.extent)
        for name, feature in zip(names, features, strict=True):
            if found.edges[feature].size < 2:
                message = f"{name!r} has fewer than two different values in these rows, so there is no pair of bins"
                raise TableError(message)
        return found

    def pair(self, features: tuple[int, int], bins: Bins) -> PairNumbers:
        """Return the local effects of two features, after a pass over the rows if need be."""
        wanted = WantedPair(features, bins)
        with self._lock:
            if wanted.key not in self._pairs:
                counted = self._study.summed(wanted, NO_COUNTS)
                self._pairs[wanted.key] = PairNumbers(self._study.ensemble, wanted, counted)
            return self._pairs[wanted.key]

    def wanted(self, bins: Bins, scale: Scale) -> WantedAle | WantedAleResponses:
        """Return the local effects on a scale, as they are asked for."""
        self._study.plan(1).refuse_derived()
        if scale.additive:
            return WantedAle(bins)
        self._study.refuse_offset("an accumulated local effect", scale)
        return WantedAleResponses.of_model(self._study.ensemble, scale, bins)

    def effects(self, bins: Bins, scale: Scale) -> LocalEffects | ResponseEffects:
        """Return the local effects of all features that have bins, after a pass over the rows if need be."""
        wanted = self.wanted(bins, scale)
        with self._lock:
            if wanted.key not in self._effects:
                no_sums = self._study.over.no_sums.format(response=scale.response).replace(
                    "rows, response", "rows, ale=True, response"
                )
                counted = self._study.summed(wanted, NO_COUNTS if scale.additive else no_sums)
                if isinstance(wanted, WantedAle):
                    numbers = AleNumbers(self._plan, wanted, self._shared.jobs(wanted), counted)
                    self._effects[wanted.key] = LocalEffects(numbers, counted.cells)
                else:
                    self._effects[wanted.key] = ResponseEffects(self._study.ensemble, wanted, counted)
            return self._effects[wanted.key]

    def order(self, feature: int, bins: Bins, rows: NDArray[np.int64]) -> tuple[list[int], str]:
        """Return the levels of a feature of categories that have rows, in an order, and what that follows."""
        levels = np.flatnonzero(rows[:-1] > 0)
        if self._is_ordered(feature):
            return levels.tolist(), "of the categories"
        with self._lock:
            key = (feature, bins.digest)
            if key not in self._orders:
                self._orders[key] = self._by_similarity(feature, bins, levels)
            found = self._orders[key]
        return (levels.tolist(), "of the model") if found is None else (found.tolist(), "of similarity")

    def _is_ordered(self, feature: int) -> bool:
        """Return whether the user's table says that the categories of a feature have an order."""
        table, name = self._study.user_table, self._study.ensemble.feature_names[feature]
        try:
            return bool(table[name].dtype.ordered)
        except (AttributeError, KeyError, IndexError, TypeError, ValueError):
            return False

    def _by_similarity(self, feature: int, bins: Bins, levels: NDArray[np.intp]) -> NDArray[np.intp] | None:
        """Return levels in an order in which neighbours are alike; None if the rows cannot be counted once more."""
        study, cells, used = self._study, self._plan.cells, self._plan.ensemble.used_features
        if levels.size < 3:
            return levels
        others = [f for f in used.tolist() if f != feature]
        n_joint = int(cells.n_cells[feature]) * int(cells.n_cells[others].sum())
        if not study.over.can_count or n_joint > MOST_JOINT or not others:
            return None
        wanted = WantedJoint(tuple((feature, f) for f in others))
        found = study.one_pass(wanted).vectors[wanted.key]
        n_levels = bins.n_bins(self._plan, feature) - 1  # without missing values
        level = np.append(bins.bin_of_code(feature, int(cells.n_codes[feature])), [n_levels - 1, n_levels])
        joint = []
        for table in JointCounts(self._plan, wanted).tables_of(found):
            of_levels = np.zeros((n_levels + 1, table.shape[1]))
            np.add.at(of_levels, level, table)
            joint.append(of_levels[levels])
        return levels[similarity_order(joint, (cells.n_codes[others] > 0).tolist())]


def _same(one: Bins, other: Bins, feature: int) -> bool:
    """Return whether a feature has the same bins."""
    if feature in one.levels:
        return feature in other.levels and np.array_equal(one.levels[feature], other.levels[feature])
    return feature in other.edges and np.array_equal(one.edges[feature], other.edges[feature])
