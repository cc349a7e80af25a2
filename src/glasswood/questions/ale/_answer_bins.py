"""The bins of accumulated local effects: those that are asked for, and what is counted in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._column_ends import EndsSpec, extents_of
from glasswood.counting._plan import CountPlan, make_plan
from glasswood.counting._statistic import StatisticSpec
from glasswood.effects._joint_counts import JointCounts, JointSpec
from glasswood.effects._response_sums import ResponsesSpec, refuse_offset
from glasswood.engines._pass import Pass
from glasswood.errors import ArgumentError, BackgroundError, TableError, UnsupportedModelError
from glasswood.questions.ale._arithmetic import LocalEffects, similarity_order
from glasswood.questions.ale._statistic_bins import Bins, bin_jobs
from glasswood.questions.ale._statistic_counts import AleNumbers, AleSpec, find_bins
from glasswood.questions.ale._statistic_edges import AskedBins, asked_bins, bins_of, feature_of
from glasswood.questions.ale._statistic_pairs import PairNumbers, PairSpec
from glasswood.questions.ale._statistic_responses import AleResponsesSpec, ResponseEffects
from glasswood.study._study import Study
from glasswood.study._summary_plan import SummaryPlan
from glasswood.study._view import View
from glasswood.tables._tables import frame_of

__all__ = [
    "PlannedAle",
    "effects_of_pair",
    "effects_spec",
    "features_with_effects",
    "local_effects",
    "order_of",
    "plan_ale",
    "specs_of_summary",
]


MAX_JOINT = 2**22  # pairs of a category and a cell, which workers of a cluster send

N_OF_PAIRS = 10  # bins of each of two features

NO_ROWS = "accumulated local effects are averages over rows; pass rows to Explainer as the background"

NO_COUNTS = "the Background has no local effects; make it with summarize(model, rows, answers=['ale'])"

OTHER_EDGES = (
    "the Background has local effects with other edges; leave out bins=, or make a Background with "
    "summarize(model, rows, answers={'ale': {'bins': {feature: edges}}})"
)

ONCE = (
    "this stream can be read only once, so that the edges of bins must be known before: make a Background with "
    "summarize(model, rows, answers={'ale': {'bins': {feature: edges}}})"
)


class PlannedAle(NamedTuple):
    """Whose local effects are asked for: one feature, several, or a pair; their bins, and the order of levels."""

    features: list[int]
    bins: Bins
    order: Any = None
    several: bool = False
    is_pair: bool = False


def plan_ale(study: Study, features: Sequence[Any], bins: object = None, order: object = None) -> PlannedAle:
    """Return what is asked for: no features stand for all, a list for several. The bins are those of all rows."""
    if not features:
        result = features_with_effects(study)
        return PlannedAle(result, _bins(study, result, bins), order, several=True)
    if len(features) == 1 and isinstance(features[0], list):
        numbers = [_number_of(study, feature) for feature in features[0]]
        return PlannedAle(numbers, _bins(study, numbers, bins), order, several=True)
    numbers = [_number_of(study, feature) for feature in features]
    if len(numbers) == 1:
        return PlannedAle(numbers, _bins(study, numbers, bins), order)
    if len(numbers) == 2 and numbers[0] != numbers[1] and order is None:
        return PlannedAle(numbers, _bins_of_pair(study, (numbers[0], numbers[1]), bins), is_pair=True)
    message = "ale takes one feature, two different ones (without order=), or a list of features"
    raise ArgumentError(message)


def _number_of(study: Study, feature: Any) -> int:
    """Return the number of a feature that is a player of its own and that the model uses."""
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


def features_with_effects(study: Study) -> list[int]:
    """Return all features that have local effects."""
    single = set(study.plan(1).players) - set(study.groups)
    names = study.ensemble.feature_names
    return [f for f in study.ensemble.used_features.tolist() if names[f] in single]


def _single_plan(study: Study) -> CountPlan:
    """Return the plan of order 1 whose features are players of their own."""
    return study.shared.cached("single plan", lambda: make_plan(study.ensemble, 1, {}))


def _bins(study: Study, features: Sequence[int], bins: object) -> Bins:
    """Return the bins that some features are asked about with: those that are counted, or new ones.

    Parameters
    ----------
    study : Study
    features : sequence of int
    bins : None, int, array of edges (of a single feature), or mapping from features to these
    """
    counted = study.over.counted
    known = None if counted is None else find_bins(counted)
    if not study.over.has_rows:
        raise BackgroundError(NO_ROWS)
    if bins is None and known is not None and set(features) <= set(known.features):
        return known
    if not study.over.can_count and known is None:
        raise BackgroundError(NO_COUNTS if counted is not None else ONCE)
    result = bins_of(_single_plan(study), _asked(study, features, bins), study.rows_per_cell, study.extent)
    if known is None:
        return result
    if not all(_same(result, known, feature) for feature in features):
        raise BackgroundError(OTHER_EDGES)
    return known


def _asked(study: Study, features: Sequence[int], bins: object) -> AskedBins:
    plan = _single_plan(study)
    if bins is None or isinstance(bins, int | np.integer | dict) or len(features) != 1:
        return asked_bins(plan, bins, lambda name: _number_of(study, name))
    return asked_bins(plan, {features[0]: bins}, int, only=True)


def _bins_of_pair(study: Study, features: tuple[int, int], bins: object) -> Bins:
    """Return the bins of two features of numbers."""
    plan = _single_plan(study)
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
    number_of, default = (lambda name: _number_of(study, name)), N_OF_PAIRS
    asked = asked_bins(plan, default if bins is None else bins, number_of, default=default)
    own = AskedBins(None, {f: some for f in features if (some := asked.of(f)) is not None})
    result = bins_of(plan, own, study.rows_per_cell, study.extent)
    for name, feature in zip(names, features, strict=True):
        if result.edges[feature].size < 2:
            message = f"{name!r} has fewer than two different values in these rows, so there is no pair of bins"
            raise TableError(message)
    return result


def _same(one: Bins, other: Bins, feature: int) -> bool:
    """Return whether a feature has the same bins."""
    if feature in one.levels:
        return feature in other.levels and np.array_equal(one.levels[feature], other.levels[feature])
    return feature in other.edges and np.array_equal(one.edges[feature], other.edges[feature])


# -------------------------------------------------------------------------------------------------- what is counted


def effects_spec(view: View, bins: Bins) -> AleSpec | AleResponsesSpec:
    """Return the local effects on a scale, as they are asked for."""
    view.study.plan(1).refuse_derived()
    if view.scale.additive:
        return AleSpec(bins)
    view.refuse_offset("an accumulated local effect")
    return AleResponsesSpec.of_model(view.ensemble, view.scale, bins)


def local_effects(view: View, bins: Bins) -> LocalEffects | ResponseEffects:
    """Return the local effects of all features that have bins, after a pass over the rows if need be."""
    study, asked = view.study, effects_spec(view, bins)

    def count() -> LocalEffects | ResponseEffects:
        if isinstance(asked, AleResponsesSpec):
            no_sums = study.over.no_sums.format(response=view.scale.response)
            remedy = no_sums.replace("rows, response", "rows, answers=['ale'], response")
            counted = study.summed(asked, remedy, view.refusal)
            return ResponseEffects(study.ensemble, asked, counted)
        counted, plan = study.summed(asked, NO_COUNTS), _single_plan(study)
        jobs = study.shared.latest("jobs of bins", asked.key, lambda: bin_jobs(plan, bins))
        return LocalEffects(AleNumbers(plan, asked, jobs, counted), counted.cells)

    return study.cached(("local effects", asked.key), count)


def effects_of_pair(study: Study, features: tuple[int, int], bins: Bins) -> PairNumbers:
    """Return the local effects of two features, after a pass over the rows if need be."""
    asked = PairSpec(features, bins)

    def count() -> PairNumbers:
        return PairNumbers(study.ensemble, asked, study.summed(asked, NO_COUNTS))

    return study.cached(("local effects of a pair", asked.key), count)


# ----------------------------------------------------------------------------------------------- the order of levels


def order_of(study: Study, feature: int, bins: Bins, rows: NDArray[np.int64]) -> tuple[list[int], str]:
    """Return the levels of a feature of categories that have rows, in an order, and what that follows."""
    levels = np.flatnonzero(rows[:-1] > 0)
    if _is_ordered(study, feature):
        return levels.tolist(), "of the categories"
    result = study.cached(("order", feature, bins.digest), lambda: _by_similarity(study, feature, bins, levels))
    return (levels.tolist(), "of the model") if result is None else (result.tolist(), "of similarity")


def _is_ordered(study: Study, feature: int) -> bool:
    """Return whether the user's table says that the categories of a feature have an order."""
    frame, schema = frame_of(study.user_table), study.ensemble.schema
    if frame is None:
        return False
    columns, name = frame.columns, study.ensemble.feature_names[feature]
    if name not in columns and not schema.named and feature < len(columns):
        name = columns[feature]  # columns are found by their positions
    dtype = getattr(frame[name].to_native(), "dtype", None) if name in columns else None
    return bool(getattr(dtype, "ordered", False))


def _by_similarity(study: Study, feature: int, bins: Bins, levels: NDArray[np.intp]) -> NDArray[np.intp] | None:
    """Return levels in an order in which neighbours are alike; None if the rows cannot be counted once more."""
    plan = _single_plan(study)
    cells, used = plan.cells, plan.ensemble.used_features
    if levels.size < 3:
        return levels
    others = [f for f in used.tolist() if f != feature]
    n_joint = int(cells.n_cells[feature]) * int(cells.n_cells[others].sum())
    if not study.over.can_count or n_joint > MAX_JOINT or not others:
        return None
    asked = JointSpec(tuple((feature, f) for f in others))
    counts = study.one_pass(asked).vectors[asked.key]
    n_levels = bins.n_bins(plan, feature) - 1  # without missing values
    level = np.append(bins.bin_of_code(feature, int(cells.n_codes[feature])), [n_levels - 1, n_levels])
    joint = []
    for table in JointCounts(plan, asked).tables_of(counts):
        of_levels = np.zeros((n_levels + 1, table.shape[1]))
        np.add.at(of_levels, level, table)
        joint.append(of_levels[levels])
    return levels[similarity_order(joint, (cells.n_codes[others] > 0).tolist())]


def specs_of_summary(summary: SummaryPlan, bins: object = None) -> list[StatisticSpec]:
    """Return the local effects that a Background is to have: as many bins as asked for, or those of given edges."""
    summary.plan.refuse_derived()
    effects = _spec_of_summary(summary.plan, summary.rows, summary.sample_weight, bins)
    if summary.scale.additive:
        return [effects]
    ensemble, scale = summary.model.ensemble, summary.scale
    refuse_offset("an accumulated local effect", ResponsesSpec.of_model(ensemble, scale, summary.columns))
    return [effects, AleResponsesSpec.of_model(ensemble, scale, effects.bins)]


def _spec_of_summary(plan: CountPlan, rows: Pass, sample_weight: object, bins: object) -> AleSpec:
    """Return the local effects that are asked for, after a first pass over the rows if their edges are not given."""
    single = make_plan(plan.ensemble, 1, {})
    asked = asked_bins(single, bins, lambda name: feature_of(single, name), only=isinstance(bins, Mapping))
    names = asked.need_rows(single)
    if names and not rows.can_count_again:
        message = (
            f"this stream can be read only once, so that the edges of {names[0]!r} must be given, as in "
            "answers={'ale': {'bins': {feature: edges}}}; a column of more than 256 categories cannot be among them"
        )
        raise BackgroundError(message)
    if not names:
        return AleSpec(bins_of(single, asked, lambda _: np.empty(0), lambda _: None))
    counted = rows.count(single, sample_weight, further=(EndsSpec(),))
    cells, extents = counted.cells, extents_of(single, counted)
    offset = single.cells.offset
    return AleSpec(bins_of(single, asked, lambda f: cells[offset[f] : offset[f + 1]], extents.get))
