"""Study: a model and what to average over. It counts when a question needs it, once, and knows everybody's names."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._background import Background
from glasswood.counting._column_ends import extents_of
from glasswood.counting._plan import MAX_COUNTS, CountPlan, make_plan
from glasswood.counting._players import Players
from glasswood.counting._statistic import StatisticSpec
from glasswood.effects._closed_forms import Effects, path_dependent
from glasswood.effects._interactions import Lookups
from glasswood.effects._many_sets import ManySets, interactions_of
from glasswood.effects._response_sums import ResponseMoments, ResponsesSpec
from glasswood.effects._row_cells import Rows
from glasswood.effects._set_blocks import PlayerSets
from glasswood.effects._target_sums import TargetMoments, TargetsSpec, find_targets
from glasswood.errors import BackgroundError, TooLargeError
from glasswood.kernels import _core
from glasswood.kernels._read_only import read_only
from glasswood.models._opened import Opened
from glasswood.models._scale import Scale, predicted_response, scale_of
from glasswood.models._user_columns import UserColumns
from glasswood.parallel._lazy import Cache, Deferred, Lock, cached_property
from glasswood.parallel._lru_cache import LRUCache
from glasswood.parallel._memory import memory_left
from glasswood.study._averages import NO_ROWS, Average, OverCounts
from glasswood.study._large_models import count_in_parts
from glasswood.study._names import player_of
from glasswood.tables._columns import Extent, extent_of
from glasswood.tables._folds import Division, fold_of_positions
from glasswood.tables._given import given_table
from glasswood.tables._points import take
from glasswood.tables._row_columns import names_of_groups, places_of_groups, refuse_size_of_groups, sorted_groups
from glasswood.tables._seal import Seal
from glasswood.tables._sources import InMemory
from glasswood.tables._tables import OpenColumns

__all__ = ["Study"]

T = TypeVar("T")

BYTES_PER_COUNT = 64  # as whole numbers, in threads, and as the numbers that tables are made of; half of what is left
MAX_KEPT = 2**26  # bytes
SAMPLED = 2**62  # where rows are numbered from for samples: other numbers than those that folds are made by


class Study:
    """A model and its background.

    Any number of threads may ask one study: what it keeps is computed once, by one of them (see
    `glasswood.parallel._lazy`), and does not depend on the order of the questions.

    Parameters
    ----------
    model : Opened
        The model, whose schema knows the labels of the rows.
    players : Players
        The groups of its features.
    over : Average
        What answers are averages over.
    originals : UserColumns or None
        The user's columns, if there are transformers before the model.
    response : str, optional
        The scale of most questions: what it needs is counted along with the rest, as some sources are read once only.
    shared : Cache, optional
        What it has in common with studies of other rows: plans, and what is counted by them.
    """

    def __init__(
        self,
        model: Opened,
        players: Players,
        over: Average,
        originals: UserColumns | None,
        response: str | None = None,
        shared: Cache | None = None,
    ) -> None:
        self.model, self.ensemble, self.over, self.originals = model, model.ensemble, over, originals
        self._players, self.groups, self.original_groups = players, players.groups, players.of_user
        self.shared = Cache() if shared is None else shared
        self._lock = Lock()  # of the cache and the mappings below
        self._cache = Cache(self._lock)
        self.kept = LRUCache(MAX_KEPT)  # tables that wait for more rows
        self._counted: dict[int, Background] = {}
        self._effects: dict[int, Effects] = {}
        self._moments: dict[str, dict[frozenset[int] | None, ResponseMoments]] = {}  # by response, then features
        asked = scale_of(model, response or predicted_response(model))
        self._targets = TargetsSpec.of_model(model, over.columns) if over.columns.target is not None else None
        along: list[StatisticSpec] = [] if asked.additive else [self.responses_spec(asked)]
        along += [] if self._targets is None else [self._targets]
        self._along = tuple(along) if over.once_only else ()

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of a key, which is made when it is first asked for."""
        return self._cache.cached(key, make)

    @property
    def combined(self) -> bool:
        """Whether several models are combined, without a common sum over trees."""
        return self.model.combination is not None

    def scale(self, response: str | None = None) -> Scale:
        """Return a scale on which questions can be answered; by default the sum over trees, if there is one."""
        return self.cached(("scale", response), lambda: self._find_scale(response))

    def _find_scale(self, response: str | None) -> Scale:
        result = scale_of(self.model, response)
        if not result.additive and not self._can_sum(result):
            raise BackgroundError(self.over.no_sums.format(response=result.response))
        return result

    def responses_spec(self, scale: Scale) -> ResponsesSpec:
        """Return the sums over rows that answers on a scale come from."""
        return self.cached(("responses spec", scale.response), lambda: self._find_responses_spec(scale))

    def _find_responses_spec(self, scale: Scale) -> ResponsesSpec:
        spec, counted = ResponsesSpec.of_model(self.ensemble, scale, self.over.columns), self.over.counted
        return spec if counted is None else spec.known_in(counted)

    def _can_sum(self, scale: Scale) -> bool:
        """Return whether there are sums over rows of responses on a scale, or can be."""
        if self.over.can_count:
            return True
        key, counted = self.responses_spec(scale).key, self.over.counted
        return (counted is not None and key in counted.vectors) or any(key == spec.key for spec in self._along)

    def moments(self, scale: Scale, features: Iterable[int] | None = None) -> ResponseMoments:
        """Return the means and spreads of responses on a scale, after a pass over the rows if need be.

        They are those of at least some features, by default of all. In memory, the first features that are asked for
        are computed alone, and all of them when others follow. The numbers are the same.
        """
        asked = None if features is None else frozenset(features) & self._used
        with self._lock:
            known = self._moments.setdefault(scale.response, {})
            for own, result in known.items():
                if own is None or (asked is not None and asked <= own):
                    return result
            if any(known) or asked == self._used or not self.over.in_memory:
                asked = None
            known[asked] = self._find_moments(scale, asked)
            return known[asked]

    def _find_moments(self, scale: Scale, features: frozenset[int] | None) -> ResponseMoments:
        spec = self.responses_spec(scale)
        if not self._can_sum(scale):
            raise BackgroundError(self.over.no_sums.format(response=scale.response))
        spec = spec if features is None else spec.of_features(features)
        background = self.background_with(spec)
        return ResponseMoments(self.ensemble, spec, background.vectors[spec.key], background.total)

    def sample(self, n_parts: int) -> Study:
        """Return a study of about one of so many parts of the rows of a table in memory, chosen by their numbers."""
        return self.cached(("sample", n_parts), lambda: self._find_sample(n_parts))

    def _find_sample(self, n_parts: int) -> Study:
        part = fold_of_positions(SAMPLED, self.over.n_rows, n_parts)
        return self.on_some_rows(np.flatnonzero(part == 0))

    @property
    def targets_spec(self) -> StatisticSpec | None:
        """What was observed, as it is asked for; None if that is only known from counts."""
        return self._targets

    @cached_property
    def has_targets(self) -> bool:
        """Whether it is known, or can be, what was observed."""
        counted = self.over.counted
        return self._targets is not None or (counted is not None and find_targets(self.model, counted) is not None)

    @cached_property
    def targets(self) -> TargetMoments:
        """What was observed and predicted, after a pass over the rows if need be; only if there are any."""
        with self._lock:
            return self._find_targets()

    def _find_targets(self) -> TargetMoments:
        result = next(filter(None, (find_targets(self.model, background) for background in self._known_counts)), None)
        if result is None and self._targets is not None:
            result = find_targets(self.model, self._sum_along(self._targets))
        if result is None:
            raise BackgroundError(NO_ROWS)
        return result

    @property
    def has_folds(self) -> bool:
        """Whether rows are counted in folds, so that answers have errors."""
        return self.division is not None

    @property
    def division(self) -> Division | None:
        """How rows are divided into folds; None if they are not."""
        counted = self.over.counted
        return self.over.columns.division if counted is None else counted.folds

    def over_counts(self, background: Background) -> Study:
        """Return a study of the same model and other counts."""
        over = OverCounts(background, None)
        return Study(self.model, self._players, over, None, shared=self.shared)

    def counted_in_folds(self, spec: StatisticSpec | None, order: int) -> Background:
        """Return counts of the rows in folds, of at least an order, and what else is wanted (of order 1)."""
        if self.in_parts:
            message = "the model has too many counts for folds; explain fewer trees, or a sample of the rows"
            raise TooLargeError(message)
        with self._lock:
            order, keys = self.plan(order).order, set() if spec is None else {spec.key}
            for result in (*(self._counted[known] for known in sorted(self._counted)), self.over.counted):
                fits = result is not None and result.folds is not None and result.order >= order
                if result is not None and fits and keys <= result.vectors.keys():
                    return result
            if spec is not None:
                return self._sum_along(spec)
            counted = self.over.count(self.plan(order), self._along, in_folds=True)
            if counted is None:
                raise BackgroundError(NO_ROWS)
            _refuse_order(counted, order)
            self._counted[counted.order] = counted
            return counted

    def one_pass(self, spec: StatisticSpec) -> Background:
        """Return sums over rows, after a pass over the rows; nothing of them is kept."""
        result = self.over.count(self.plan(1), (spec,))
        if result is None or result.total <= 0:
            raise BackgroundError(NO_ROWS)
        return result

    def summed(self, spec: StatisticSpec, remedy: str, error: type[BackgroundError] = BackgroundError) -> Background:
        """Return a background that has a statistic, after a pass over the rows if need be; or refuse, with a remedy."""
        with self._lock:
            known = any(spec.key in counts.vectors for counts in self._known_counts)
            if not known and not self.over.can_count:
                raise error(remedy)
            return self.background_with(spec)

    @property
    def _known_counts(self) -> list[Background]:
        """The counts so far."""
        return [result for result in (*self._counted.values(), self.over.counted) if result is not None]

    def background_with(self, spec: StatisticSpec) -> Background:
        """Return counts that have a statistic of some rows: known ones, or those of one more pass.

        To be called where an answer is made that `cached` keeps: it holds the study's lock.
        """
        result = next((one for one in self._known_counts if spec.key in one.vectors), None)
        result = self._sum_along(spec) if result is None else result
        if result.total <= 0:
            raise BackgroundError(NO_ROWS)
        return result

    def _sum_along(self, spec: StatisticSpec) -> Background:
        """Return sums over rows, and the counts of the same pass, unless these are too many."""
        names = self.ensemble.feature_names
        plan = make_plan(self.ensemble, 1, {"all columns (together)": names}) if self.in_parts else self.plan(1)
        result = self.over.count(plan, {spec.key: spec, **{one.key: one for one in self._along}}.values())
        if result is None:  # there are no rows
            raise BackgroundError(NO_ROWS)
        if plan is self.plan(1):
            self._counted[result.order] = result
        return result

    @cached_property
    def default_response(self) -> str:
        """The scale of answers by default: the response that the link gives, or the score without sums of it."""
        result = predicted_response(self.model)
        has_score = result != "raw" and not self.combined
        return "raw" if has_score and not self._can_sum(scale_of(self.model, result)) else result

    def in_groups(self, by: Any) -> tuple[tuple[str, ...], dict[Hashable, Study]]:
        """Return the columns that define groups of the rows (none for a label per row), and a study of each group."""
        if not self.over.in_memory:
            message = (
                "by= needs the rows as a table in memory; for other sources, count the groups in one pass with "
                "summarize(model, rows, by=...), and make an Explainer of each Background"
            )
            raise BackgroundError(message)
        table = self.user_table
        keys, places = places_of_groups(table, by)
        refuse_size_of_groups(places, self.over.n_rows)
        self.check_unchanged()
        rows = {key: np.flatnonzero(places == place) for place, key in enumerate(keys)}
        studies = {key: self._study_of_rows(own) for key, own in sorted_groups(rows).items() if own.size}
        return names_of_groups(table, by), studies

    @property
    def user_table(self) -> Any:
        """The user's own table in memory, before a pipeline; None if there is none."""
        return self.over.given if self.originals is None else self.originals.table

    def plan(self, order: int) -> CountPlan:
        """Return the plan of sets of up to so many players."""
        return self.shared.cached(("plan", order), lambda: self._make_plan(order))

    def _make_plan(self, order: int) -> CountPlan:
        if order == 1:
            return make_plan(self.ensemble, order, self.groups)
        base = self.plan(1)
        fits = min(order, base.max_players)  # larger sets than those of the longest path add no counts
        base.refuse_uncountable(fits, max_counts=self.max_counts)
        return base.of_order(fits) if fits > 1 else base

    def counted(self, order: int) -> Background | None:
        """Return counts of at least this order, counting if need be; None for path-dependent answers."""
        with self._lock:
            order = self.plan(order).order  # no path may have so many players
            result = _smallest(self._counted, order) or self.over.count(self.plan(order), self._along)
            if result is not None:
                self._counted[result.order] = result
            return result

    def effects(self, order: int) -> Effects:
        """Return effects of at least this order, counting if need be."""
        self.plan(1).refuse_derived()
        with self._lock:
            order = self.plan(order).order  # no path may have so many players
            result = _smallest(self._effects, order)
            if result is None:
                result = self._find_effects(order)
                self._effects[result.plan.order] = result
            return result

    def _find_effects(self, order: int) -> Effects:
        background = self.counted(order)
        if background is None:
            return path_dependent(self.plan(order))
        _refuse_order(background, order)
        if background.total <= 0:
            raise BackgroundError(NO_ROWS)
        return Effects(self.plan(background.order), background.counts, background.total)

    def refuse_order(self, order: int) -> None:
        """Refuse counts that are at hand already, if they are of sets of too few players for a question."""
        counted = self.over.counted
        if counted is not None:
            _refuse_order(counted, self.plan(order).order)

    def pair_effects(self, a: int, b: int) -> Effects:
        """Return effects from which the interaction of two features can be found.

        If the pairs of all features have too many counts, those of this one are counted, with all other features as one
        player.
        """
        self.plan(1).refuse_derived()
        plan = self.plan_of_pair(a, b)
        if plan is None:
            return self.effects(2)
        result = self.over.count(plan)
        return path_dependent(plan) if result is None else Effects(plan, result.counts, result.total)

    @property
    def counts_all_pairs(self) -> bool:
        """Whether the pairs of all features are counted together."""
        return not self.over.in_memory or self.plan(1).countable(2)

    def plan_of_pair(self, a: int, b: int) -> CountPlan | None:
        """Return a plan of the counts of two features alone; None if the pairs of all features can be counted."""
        if self.counts_all_pairs:
            return None
        others = [name for f, name in enumerate(self.ensemble.feature_names) if f not in (a, b)]
        return make_plan(self.ensemble, 2, {" and ".join(others[:2]) + " (and others)": others})

    @property
    def in_parts(self) -> bool:
        """Whether the counts are too many to keep, so that curves are made part by part of the model."""
        return self.over.in_memory and self.plan(1).n_counts > MAX_COUNTS

    @cached_property
    def raw_curves(self) -> dict[int, NDArray[np.float64]]:
        """The height of every cell of every feature that is a player of its own, as sums over trees."""
        curves = self._folded[0] if self.in_parts else self.effects(1).curves()
        return {feature: read_only(heights) for feature, heights in curves.items()}

    @cached_property
    def _folded(self) -> tuple[dict[int, NDArray[np.float64]], NDArray[np.float64], NDArray[Any]]:
        """Curves, mean and rows per cell of a model whose counts are too many to keep: folded part by part of it."""
        return count_in_parts(self.plan(1), self.over, MAX_COUNTS)

    @property
    def raw_mean(self) -> NDArray[np.float64]:
        """The average sum over trees, for each output."""
        return self._folded[1] if self.in_parts else self.effects(1).mean

    @property
    def n_rows(self) -> int:
        """The number of the background's rows."""
        counted = None if self.over.in_memory else self.counted(1)
        return self.over.n_rows if counted is None else counted.n_rows

    def columns(self, features: Iterable[int]) -> OpenColumns:
        """Return some columns of the table in memory."""
        return self.over.open(self.ensemble.schema, features)

    def check_unchanged(self) -> None:
        """Refuse a table in memory that has changed since it was first read."""
        if self.over.in_memory:
            self.columns(self.ensemble.used_features)

    def own_rows(self, plan: CountPlan | None = None) -> Rows:
        """Return the rows of the table in memory as cells."""
        return Rows(plan or self.plan(1), self.columns(self.ensemble.used_features), self.over.source)

    def rows(self, table: Any) -> Rows:
        """Return rows of the user's as cells. Results that are computed later refuse rows that have changed."""
        given = given_table(table)
        seal = Seal("the rows have changed since the question", "ask again, or ask about a copy of the rows")
        source = InMemory(given, given if self.originals is None else self.originals.transform(given), seal)
        e = self.ensemble
        return Rows(self.plan(1), source.open(e.schema, e.used_features), source)

    def on_some_rows(self, rows: NDArray[np.intp], *, in_folds: bool = True) -> Study:
        """Return a study of the same model and some rows of its table, in folds as before or without."""
        self.check_unchanged()
        return self._study_of_rows(rows, in_folds=in_folds)

    def _study_of_rows(self, rows: NDArray[np.intp], *, in_folds: bool = True) -> Study:
        over, originals = self.over.some(self.ensemble.schema, rows, in_folds=in_folds), self.originals
        if originals is not None:
            originals = replace(originals, table=take(originals.table, rows.tolist()))
        return Study(self.model, self._players, over, originals, shared=self.shared)

    def rows_per_cell(self, feature: int) -> NDArray[Any]:
        """Return the number (or weight) of background rows in each cell of a feature; empty if there are none."""
        if not self.uses(feature):
            return np.empty(0)  # its column is not looked at
        rows = self._rows_per_cell
        return rows if not rows.size else rows[slice(*self.plan(1).cells.offset[feature : feature + 2])]

    @property
    def all_rows(self) -> NDArray[Any] | None:
        """The number (or weight) of all background rows, one entry; None if there are none."""
        if self.in_parts:
            return np.array([self.over.n_rows if self.over.weights is None else self.over.weights.sum()])
        background = self.counted(1)
        if background is None:
            return None
        return np.array([background.total if background.unit == 1 else background.weight])

    @cached_property
    def _rows_per_cell(self) -> NDArray[Any]:
        """The same for all features, concatenated."""
        if self.in_parts:
            return self._folded[2]
        background = self.counted(1)
        if background is None:
            return np.empty(0)
        return background.cells if background.unit == 1 else background.cells * background.unit

    def extent(self, feature: int) -> Extent | None:
        """Return the ends of a feature's values; None if they are unknown, for categories and for unused features."""
        column = self.ensemble.schema.columns[feature]
        if column.n_codes or not self.uses(feature):
            return None
        if not self.over.in_memory:
            return self._counted_extents.get(feature)
        return self.cached(("extent", feature), lambda: self._find_extent(feature))

    def _find_extent(self, feature: int) -> Extent | None:
        values, weight = self.columns([feature]).column(feature), self.over.weights
        return extent_of(values if weight is None else values[weight > 0])

    @cached_property
    def _counted_extents(self) -> dict[int, Extent | None]:
        """The ends of features that came along with the counts, as far as they are known."""
        background = self.counted(1)
        return {} if background is None else extents_of(self.plan(1), background)

    def uses(self, feature: int) -> bool:
        """Return whether some node splits on a feature."""
        return feature in self._used

    @cached_property
    def _used(self) -> frozenset[int]:
        return frozenset(self.ensemble.used_features.tolist())

    @cached_property
    def pairs(self) -> NDArray[np.bool_]:
        """Which pairs of features share a path, the smaller number first."""
        plan = self.plan(1)
        if not plan.groups:  # features are players, in the same order
            return plan.player_pairs
        result = np.zeros((self.ensemble.n_features,) * 2, dtype=bool)
        _core.pairs_on_paths(plan.core_boxes, result)
        return result

    def shares_path(self, a: int, b: int) -> bool:
        """Return whether two features are on one path of some tree."""
        return bool(self.pairs[min(a, b), max(a, b)])

    def interactions(self, order: int, selected: NDArray[np.bool_], outputs: list[int]) -> Lookups | ManySets:
        """Return the interaction values of sets of up to `order` selected players, for rows that are not known yet."""
        self.plan(1).refuse_derived()
        key = (Lookups, order, selected.tobytes(), tuple(outputs))
        player_sets = PlayerSets(self.plan(order), order, selected)
        find_effects = Deferred(lambda: self.effects(order))
        return self.kept.get(key, lambda: interactions_of(player_sets, find_effects, outputs))

    @property
    def max_counts(self) -> int:
        """The number of counts of large sets for which there is room, where rows are counted in this process."""
        if not (self.over.in_memory or self.over.counted is None):
            return MAX_COUNTS
        return max(MAX_COUNTS, memory_left() // BYTES_PER_COUNT)

    def player(self, feature: str | int) -> str:
        """Return the name of a player, given by its name or the number of its column."""
        return player_of(feature, self.plan(1))


def _refuse_order(background: Background, order: int) -> None:
    """Refuse counts of sets of too few players."""
    if background.order < order:
        message = f"this needs a background of order {order}, but it has order {background.order}; "
        message += f"make one with summarize(model, rows, order={order}), or order=None for all orders"
        raise BackgroundError(message)


def _smallest(known: dict[int, T], order: int) -> T | None:
    """Return the entry with the smallest order that is at least this one."""
    return next((known[k] for k in sorted(known) if k >= order), None)
