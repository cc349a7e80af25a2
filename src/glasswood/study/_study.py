"""Study: a model and what to average over. Rows are counted lazily, and only once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._background import Background
from glasswood.counting._plan import MOST_COUNTS, CountPlan, make_plan
from glasswood.counting._players import players_of
from glasswood.counting._weights import fixed_point
from glasswood.effects._closed_forms import Effects, path_dependent
from glasswood.effects._cubes import refuse_long_paths
from glasswood.effects._interactions import Lookups, check_pairs
from glasswood.effects._kept import Kept
from glasswood.effects._leaf_sets import most_sets
from glasswood.effects._leaf_tables import LeafTables, TabledRows, seconds_for_tables, templates_of
from glasswood.effects._long_paths import LongPaths, refuse_hours, seconds_for_paths
from glasswood.effects._responses import Responses, all_responses, check_response, link_of, mean_responses
from glasswood.effects._row_cells import Rows
from glasswood.effects._walks import Ground, WalkedRows, Walks, can_walk, seconds_for_walks
from glasswood.engines._local import count
from glasswood.engines._pass import Pass, RowsPart
from glasswood.errors import BackgroundError, TableError, UnsupportedModelError
from glasswood.kernels import _core
from glasswood.kernels._read_only import read_only
from glasswood.metrics import CubeMetric, InteractionIndex
from glasswood.models._combinations import Combination, linked
from glasswood.models._opened import open_model
from glasswood.models._outputs import Outputs
from glasswood.parallel._memory import check_memory
from glasswood.parallel._once import Deferred, Lock, once
from glasswood.study._in_parts import count_in_parts
from glasswood.tables._columns import Extent, extent_of
from glasswood.tables._given import given_table
from glasswood.tables._points import take
from glasswood.tables._row_columns import names_in, names_of_groups, places_of_groups, row_weights, sorted_groups
from glasswood.tables._sources import open_source
from glasswood.tables._tables import n_rows, open_columns, take_rows, with_labels
from glasswood.text._arguments import refuse_no_name
from glasswood.text._printable import how_many

__all__ = ["Study"]

T = TypeVar("T")

RESPONSES = {"logistic": "probability", "softmax": "probability", "exp": "mean"}  # what links give

WORTH_A_THOUGHT = 0.3  # seconds
SAMPLED_ROWS = 128  # of the background, to find out what rows cost
MOST_KEPT = 2**26  # bytes of tables that wait for more rows


def _rows_of(background: Any) -> tuple[Pass | None, Any]:
    """Return where rows come from that are not in memory, if so, and a table: the first of these rows, or all."""
    if background is None or isinstance(background, Background):
        return None, None
    opened = open_source(background)
    if opened is None:
        return None, given_table(background)
    source = Pass(opened)
    return source, source.head


def _weight_of(weight: Any, table: Any) -> Any:
    """Return the weights in a column of a table in memory that is named; all else as it is."""
    return row_weights(table, weight) if isinstance(weight, str) and table is not None else weight


class Study:
    """A model and its background.

    Any number of threads may ask one study: what it keeps is computed once, by one of them (see
    `glasswood.parallel._once`), and does not depend on the order of the questions.

    Parameters
    ----------
    model, background, groups, weight, response
        As for `Explainer`.
    """

    def __init__(
        self,
        model: Any,
        background: Any,
        groups: Mapping[str, Sequence[str]] | None,
        weight: Any,
        response: str | None,
    ) -> None:
        self.source, given = _rows_of(background)
        opened = open_model(model, given, names_in(None, weight), whole=self.source is None)
        self.facts, self.proof, self.inverse = opened.facts, opened.proof, opened.inverse
        self.combined = opened.combination is not None  # several models, without a common score of their trees
        self.originals = None if opened.columns is None else opened.columns.snapshot()
        self.table = opened.table if self.source is None else None
        self.background = background if isinstance(background, Background) else None
        players = players_of(opened, groups, None if self.background is None else self.background.groups)
        self.ensemble, self.groups, self.original_groups = players.ensemble, players.groups, players.of_user
        self._learn_labels(weight)
        self.weight = _weight_of(weight, None if self.source is not None else given)
        self._combination = opened.combination
        self._set_scale(response or ("raw" if opened.combination is None else opened.combination.response))
        self._lock = Lock()  # of the mappings below
        self._plans: dict[int, CountPlan] = {}
        self._counted: dict[int, Background] = {}
        self._effects: dict[int, Effects] = {}
        self._extents: dict[int, Extent | None] = {}
        self._tables = Kept(MOST_KEPT)
        self._check()

    def _set_scale(self, response: str) -> None:
        """Set what depends on the scale of the answers."""
        combination, score = self._combination, self.ensemble.score
        self.response = response
        self.link = "identity" if self.combined else link_of(score, response)
        self._further = None if response == "raw" else self.inverse
        self.additive = self.link == "identity" and self._further is None
        self.outputs = self._outputs(combination)
        self.units = score.units if self.additive else RESPONSES.get(self.link, "value")
        if combination is not None:
            self._check_combination(combination, response)
            self.units = combination.units

    def on_scale(self, response: str) -> Study:
        """Return a study of the same model and rows on another scale; what is counted is shared."""
        if response == self.response:
            return self
        found = copy(self)
        for name in ("curves", "_response_curves", "_single_responses"):
            vars(found).pop(name, None)
        found._set_scale(response)
        found._check()
        return found

    @property
    def scale_of_figures(self) -> str:
        """The scale on which figures are drawn by default: probabilities of classifiers, if the rows are at hand."""
        links = self.ensemble.score.link in ("logistic", "softmax") and self.ensemble.score.units != "probability"
        return "probability" if links and self.table is not None and not self.combined else self.response

    def in_groups(self, by: Any) -> tuple[tuple[str, ...], dict[Hashable, Study]]:
        """Return the columns that define groups of the rows (none for a label per row), and a study of each group."""
        table = self.table if self.originals is None else self.originals.table
        if table is None:
            message = (
                "by= needs the rows as a table in memory; for other sources, count the groups in one pass with "
                "summarize(model, rows, by=...), and make an Explainer of each Background"
            )
            raise BackgroundError(message)
        keys, places = places_of_groups(table, by)
        rows = {key: np.flatnonzero(places == place) for place, key in enumerate(keys)}
        studies = {key: self.on_some_rows(own) for key, own in sorted_groups(rows).items() if own.size}
        return names_of_groups(table, by), studies

    def _learn_labels(self, weight: Any) -> None:
        """Learn the labels of categories that only the rows know."""
        schema = self.ensemble.schema
        if self.source is not None:
            schema = self.source.with_labels(schema, weight)
        elif self.table is not None:
            schema = with_labels(self.table, schema)
        if schema is not self.ensemble.schema:
            self.ensemble = replace(self.ensemble, schema=schema)

    @property
    def only_counts(self) -> bool:
        """Whether there are counts of rows (or will be), and the rows themselves are not at hand."""
        return self.table is None and (self.background is not None or self.source is not None)

    @property
    def basis(self) -> str:
        """What is at hand for questions about the rows themselves, see `glasswood.results.BASES`.

        "rows" (in memory, or in a source that can be read again), "counts" of them, or "covers" of training.
        """
        if self.table is not None or (self.source is not None and self.source.can_read_again):
            return "rows"
        return "counts" if self.only_counts else "covers"

    @property
    def has_rows(self) -> bool:
        """Whether there are rows to average over, or counts of them; path-dependent answers do without."""
        return self.table is not None or self.source is not None or self.background is not None

    @property
    def average(self) -> str:
        """What the answers are averages over, in words."""
        if self.table is not None:
            return how_many(n_rows(self.table), "row")
        if self.source is not None:
            return "rows that are read when needed"
        if self.background is not None:
            return f"counts of {how_many(self.background.n_rows, 'row')}, order {self.background.order}"
        return "the covers of training (path-dependent)"

    @staticmethod
    def _check_combination(combination: Combination, response: str) -> None:
        """Refuse scales on which a combination of models is nothing."""
        check_response(response)
        if response == "raw":
            message = (
                f"a {combination.ensemble.source} has no score that is a sum over trees; ask for "
                f'response="{combination.response}"'
            )
            raise UnsupportedModelError(message)
        if response == "probability" and combination.units != "probability":
            message = 'the model does not predict probabilities; use response="prediction"'
            raise UnsupportedModelError(message)

    def _check(self) -> None:
        """Raise errors early that would occur later."""
        if self.weight is not None and self.source is None:
            if self.table is None:
                message = "sample_weight belongs to a table of rows; a Background was summarized with its own weights"
                raise TableError(message)
            fixed_point(self.weight, n_rows(self.table))
        if self.background is not None:
            plan = self.plan(self.background.order)
            fits = self.background.fingerprint == plan.fingerprint and self.background.counts.size == plan.n_counts
            if not fits or self.background.cells.size != plan.cells.n_cells.sum():
                message = "the background is for a different model or different groups; run summarize with this model"
                raise BackgroundError(message)
        elif self.table is None and self.source is None and self.ensemble.cover is None:
            message = (
                f"the model read from {self.ensemble.source} has no covers, so there are no path-dependent "
                "answers; pass the rows to average over as the second argument"
            )
            raise UnsupportedModelError(message)
        if not self.additive and self.table is None:
            message = (
                "this response is computed row by row, so it needs the table of rows as the second argument; with "
                'counts or covers, only response="raw" is available'
            )
            raise BackgroundError(message)
        self.plan(1)  # refuses groups that do not fit

    def plan(self, order: int) -> CountPlan:
        """Return the plan of sets of up to `order` players."""
        with self._lock:
            if order not in self._plans and order == 1:
                self._plans[order] = make_plan(self.ensemble, order, self.groups)
            elif order not in self._plans:
                base = self.plan(1)
                fits = min(order, base.most_players)  # larger sets than those of the longest path add no counts
                base.refuse_uncountable(fits)
                self._plans[order] = base.of_order(fits) if fits > 1 else base
            return self._plans[order]

    def counted(self, order: int) -> Background | None:
        """Return counts of at least this order, counting if necessary; None for path-dependent results."""
        with self._lock:
            order = self.plan(order).order  # no path may have so many players
            found = _smallest(self._counted, order)
            if found is None and self.table is not None:
                found = count(self.plan(order), self.table, self.weight)
            elif found is None and self.source is not None:
                found = self.source.count(self.plan(order), self.weight)
            elif found is None:
                found = self.background
            if found is not None:
                self._counted[found.order] = found
            return found

    def effects(self, order: int) -> Effects:
        """Return effects of at least this order, counting if necessary."""
        with self._lock:
            order = self.plan(order).order  # no path may have so many players
            found = _smallest(self._effects, order)
            if found is None:
                found = self._find_effects(order)
                self._effects[found.plan.order] = found
            return found

    def _find_effects(self, order: int) -> Effects:
        background = self.counted(order)
        if background is None:
            return path_dependent(self.plan(order))
        if background.order < order:
            message = f"this needs a background of order {order}, but it has order {background.order}; "
            message += f"make one with summarize(model, rows, order={order}), or order=None for all orders"
            raise BackgroundError(message)
        if background.total <= 0:
            message = "the background has no rows, or only rows of weight 0; there is nothing to average over"
            raise BackgroundError(message)
        return Effects(self.plan(background.order), background.counts, background.total)

    def pair_effects(self, a: int, b: int) -> Effects:
        """Return effects from which the interaction of two features can be found.

        If the pairs of all features have too many counts, those of this one are counted, with all other features as one
        player.
        """
        if self.table is None or self.plan(1).countable(2):
            return self.effects(2)
        others = [name for f, name in enumerate(self.ensemble.feature_names) if f not in (a, b)]
        plan = make_plan(self.ensemble, 2, {" and ".join(others[:2]) + " (and others)": others})
        found = count(plan, self.table, self.weight)
        return Effects(plan, found.counts, found.total)

    @property
    def in_parts(self) -> bool:
        """Whether there are too many counts to keep, so that curves are computed for parts of the model."""
        return self.table is not None and self.plan(1).n_counts > MOST_COUNTS

    @once
    def curves(self) -> dict[int, NDArray[np.float64]]:
        """The height of every cell of every feature that is a player of its own."""
        if not self.additive:
            return self._response_curves[0]
        curves = self._folded[0] if self.in_parts else self.effects(1).curves()
        return {feature: read_only(heights) for feature, heights in curves.items()}

    @once
    def _folded(self) -> tuple[dict[int, NDArray[np.float64]], NDArray[np.float64], NDArray[Any]]:
        """Curves, mean and rows per cell of a model whose counts are too many to keep: folded part by part of it."""
        return count_in_parts(self.plan(1), self.table, self.weight, MOST_COUNTS)

    @property
    def mean(self) -> NDArray[np.float64]:
        """The average score, for each output; or the average response."""
        if not self.additive:
            return self._response_curves[1]
        return self._folded[1] if self.in_parts else self.effects(1).mean

    @once
    def _response_curves(self) -> tuple[dict[int, NDArray[np.float64]], NDArray[np.float64]]:
        """The curves of all features that are players of their own, and the mean, on the scale of the response."""
        plan = self.plan(1)
        single = np.flatnonzero(np.bincount(plan.player_of)[plan.player_of] == 1)
        responses = self._single_responses
        number = responses.plan.player_of
        asked = [(int(number[f]), np.array([f]), np.arange(plan.cells.n_cells[f])[None]) for f in single]
        asked.append((-1, np.empty(0, dtype=np.intp), np.empty((0, 1), dtype=np.int64)))
        heights = mean_responses(responses, asked, Rows(plan, self.table), self.shares)
        return dict(zip(single.tolist(), heights[:-1], strict=True)), heights[-1][0]

    def parts(self, features: Iterable[int]) -> Iterator[RowsPart]:
        """Yield some columns of all rows and the weights, part by part in the order of the rows: a table is one part.

        Only if `basis` is "rows", and after they were counted.
        """
        schema = self.ensemble.schema
        if self.source is None:
            yield RowsPart(open_columns(self.table, schema, features), self.weights)
            return
        n_read = 0
        for part in self.source.parts(schema, features, self.weight):
            n_read += part.columns.n_rows
            yield part
        self._check_read_again(n_read)

    def each_part(self, features: Iterable[int], work: Callable[[RowsPart], T]) -> Iterator[T]:
        """Yield what `work` makes of each of these parts, in their order, by threads where that is possible."""
        if self.source is None:
            yield from map(work, self.parts(features))
            return

        def with_size(part: RowsPart) -> tuple[int, T]:
            return part.columns.n_rows, work(part)

        n_read = 0
        for size, found in self.source.each(self.ensemble.schema, features, self.weight, with_size):
            n_read += size
            yield found
        self._check_read_again(n_read)

    def _check_read_again(self, n_read: int) -> None:
        """Raise an error if a source has changed since it was counted."""
        counted = self.counted(1)
        if counted is not None and counted.n_rows != n_read:
            message = (
                f"the source has {how_many(n_read, 'row')} now, but had {counted.n_rows:,} when it was counted; it "
                "must not change while an Explainer uses it. Make a new Explainer"
            )
            raise TableError(message)

    @property
    def n_rows(self) -> int:
        """The number of the background's rows."""
        counted = self.counted(1) if self.table is None else None
        return n_rows(self.table) if counted is None else counted.n_rows

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """The weights of the rows of the table; None if there are none."""
        return None if self.table is None or self.weight is None else np.asarray(self.weight, dtype=np.float64)

    @once
    def shares(self) -> NDArray[np.float64]:
        """The weights of the rows of the table, which sum to 1."""
        weight = np.ones(n_rows(self.table)) if self.weight is None else np.asarray(self.weight, dtype=np.float64)
        if weight.sum() <= 0:
            message = "the background has no rows, or only rows of weight 0; there is nothing to average over"
            raise BackgroundError(message)
        shares: NDArray[np.float64] = weight / weight.sum()
        return shares

    def rows(self, table: Any) -> Rows:
        """Return rows of the user's as cells."""
        table = given_table(table)
        return Rows(self.plan(1), table if self.originals is None else self.originals.transform(table))

    def responses_at(self, features: NDArray[np.intp], cells: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the mean response with some features in given cells, (n_features, n_points): (n_points, n_outputs)."""
        responses, player = self._responses_of(features)
        asked = [(player, features, cells)]
        return mean_responses(responses, asked, Rows(responses.plan, self.table), self.shares)[0]

    def scored_anew(self, columns: Mapping[int, NDArray[np.floating[Any]]]) -> NDArray[np.float64]:
        """Return the response of each row of the table, with some columns replaced: (n_rows, n_outputs).

        This uses neither counts nor cells; everything else is checked against it.
        """
        opened = open_columns(self.table, self.ensemble.schema, self.ensemble.used_features)
        encoded = opened.encode(0, opened.n_rows) | dict(columns)
        scores = self.ensemble.scores_of(encoded, opened.n_rows).astype(np.float64)
        found = scores if self.link == "identity" else linked(self.ensemble.score, scores)
        return found if self._further is None else np.asarray(self._further(found)).reshape(len(found), -1)

    def on_some_rows(self, rows: NDArray[np.intp]) -> Study:
        """Return a study of the same model and some rows of its table."""
        found = copy(self)
        for name in ("curves", "_folded", "_response_curves", "_rows_per_cell", "shares", "_visits"):
            vars(found).pop(name, None)
        found.table = take_rows(self.table, self.ensemble.schema, rows)
        if self.originals is not None:
            found.originals = replace(self.originals, table=take(self.originals.table, rows.tolist()))
        found.weight = None if self.weight is None else np.asarray(self.weight)[rows]
        found._lock, found._plans = Lock(), dict(self._plans)
        found._counted, found._effects, found._extents = {}, {}, {}
        found._tables = Kept(MOST_KEPT)
        return found

    def ice(self, features: NDArray[np.intp], cells: NDArray[np.int64], rows: Any) -> NDArray[np.float64]:
        """Return the response of each row with some features in given cells: (n_rows, n_points, n_outputs).

        None stands for the rows of the background.
        """
        responses, player = self._responses_of(features)
        table = Rows(responses.plan, self.table) if rows is None else self.rows(rows)
        return all_responses(responses, (player, features, cells), table)

    def _responses_of(self, features: NDArray[np.intp]) -> tuple[Responses, int]:
        """Return the responses of a game in which some features are one player, and its number."""
        if features.size == 1:
            return self._single_responses, int(self._single_responses.plan.player_of[features[0]])
        names = [self.ensemble.feature_names[f] for f in features]
        plan = make_plan(self.ensemble, 1, {" x ".join(names) + " (asked)": names})
        return Responses(plan, self.link, self._further), 0

    @once
    def _single_responses(self) -> Responses:
        """The responses of a game in which every feature is a player of its own."""
        return Responses(make_plan(self.ensemble, 1, {}), self.link, self._further)

    def rows_per_cell(self, feature: int) -> NDArray[Any]:
        """Return the number (or weight) of background rows in each cell of a feature; empty if there are none."""
        if not self.uses(feature):
            return np.empty(0)  # its column is not looked at
        rows = self._rows_per_cell
        return rows if not rows.size else rows[slice(*self.plan(1).cells.offset[feature : feature + 2])]

    @once
    def _rows_per_cell(self) -> NDArray[Any]:
        """The same for all features, one behind the other."""
        if self.in_parts:
            return self._folded[2]
        background = self.counted(1)
        if background is None:
            return np.empty(0)
        return background.cells if background.unit == 1 else background.cells * background.unit

    def extent(self, feature: int) -> Extent | None:
        """Return the ends of a feature's values in the table; None for categories, unused features, and without one."""
        column = self.ensemble.schema.columns[feature]
        if self.table is None or column.n_codes or not self.uses(feature):
            return None
        with self._lock:
            if feature not in self._extents:
                values = open_columns(self.table, self.ensemble.schema, [feature]).column(feature)
                self._extents[feature] = extent_of(values if self.weight is None else values[self.shares > 0])
            return self._extents[feature]

    def uses(self, feature: int) -> bool:
        """Return whether some node splits on a feature."""
        return feature in self._used

    @once
    def _used(self) -> frozenset[int]:
        return frozenset(self.ensemble.used_features.tolist())

    @once
    def pairs(self) -> NDArray[np.bool_]:
        """Which pairs of features share a path, the smaller number first."""
        plan = self.plan(1)
        if not plan.groups:  # features are players, in the same order
            return plan.player_pairs
        found = np.zeros((self.ensemble.n_features,) * 2, dtype=bool)
        _core.pairs_on_paths(plan.core_boxes, found)
        return found

    def shares_path(self, a: int, b: int) -> bool:
        """Return whether two features are on one path of some tree."""
        return bool(self.pairs[min(a, b), max(a, b)])

    def evaluate(self, metric: CubeMetric, rows: Any, outputs: list[int]) -> TabledRows | LongPaths | WalkedRows:
        """Return the values of a metric: from tables of leaves, path by path, or by walking, whichever costs least.

        Which of them does not depend on the tables that happen to be kept, since they may differ in the last digit.
        """
        plan = self.plan(1)
        most = plan.most_players
        if not isinstance(metric, InteractionIndex):
            refuse_long_paths(most)
            plan.refuse_uncountable(most)
            return self._by_tables(metric, rows, outputs)
        by_tables = seconds_for_tables(metric, plan) if plan.countable(most) else float("inf")
        only_counts = self.only_counts or (self.table is None and metric.nodes(0) is None)
        if by_tables < WORTH_A_THOUGHT or (only_counts and by_tables < float("inf")):
            return self._by_tables(metric, rows, outputs)
        given = given_table(rows)
        n_given, n_background = n_rows(given), 0 if self.table is None else n_rows(self.table)
        by_paths, by_walks = seconds_for_paths(plan, n_given, n_background), float("inf")
        if self.table is not None and can_walk(plan, metric, len(outputs)):
            by_walks = seconds_for_walks(self._visits, n_given, n_background, metric, len(outputs))
        if by_tables < float("inf"):
            by_tables = seconds_for_tables(metric, plan, n_given)
        if by_tables < min(by_paths, by_walks):
            return self._by_tables(metric, given, outputs)
        refuse_hours(plan, n_given, n_background, min(by_paths, by_walks))
        check_memory((n_given, most_sets(plan, metric), len(outputs)))
        return (self._by_walks if by_walks < by_paths else self._by_paths)(metric, given, outputs)

    @once
    def _visits(self) -> float:
        """The approximate number of nodes and leaves visited by a pair of rows, from a sample of rows."""
        plan, n = self.plan(1), self.shares.size  # which refuses a background without rows
        chosen = np.unique(np.linspace(0, n - 1, min(n, SAMPLED_ROWS)).astype(np.intp))
        return Ground(plan, Rows(plan, self.table).cells_at(chosen), np.ones(chosen.size)).visits_of_a_pair()

    @property
    def _ground(self) -> Ground:
        """The trees and the rows of the table, made ready to walk."""
        plan, shares = self.plan(1), self.shares
        return self._tables.get(Ground, lambda: Ground(plan, Rows(plan, self.table).cells(0, shares.size), shares))

    def _by_walks(self, metric: InteractionIndex, rows: Any, outputs: list[int]) -> WalkedRows:
        opened = self.rows(rows)  # first: what is wrong with them is found before anything is computed
        return WalkedRows(Walks(self._ground, metric, outputs), opened)

    def _by_tables(self, metric: CubeMetric, rows: Any, outputs: list[int]) -> TabledRows:
        opened = self.rows(rows)  # first: what is wrong with them is found before anything is counted

        def make() -> LeafTables:
            plan = self.plan(1)
            templates = templates_of(metric, plan)  # first: tables that are too large are refused before any counting
            return LeafTables(self.effects(plan.most_players), metric, outputs, templates)

        ours = type(metric).__module__ == InteractionIndex.__module__
        if not isinstance(metric, InteractionIndex) or not ours or vars(metric).keys() != {"min_order", "max_order"}:
            return TabledRows(make(), opened)  # a user's metric may depend on anything
        key = (type(metric), metric.min_order, metric.max_order, tuple(outputs))
        return TabledRows(self._tables.get(key, make), opened)

    def lookups(self, order: int, wanted: NDArray[np.bool_], outputs: list[int]) -> Lookups:
        """Return the interaction values of sets of up to `order` wanted players, for rows that are not known yet."""
        check_pairs(self.plan(1), order, wanted)  # before anything is counted
        key = (Lookups, order, wanted.tobytes(), tuple(outputs))
        plan, find_effects = self.plan(order), Deferred(lambda: self.effects(order))
        return self._tables.get(key, lambda: Lookups(plan, find_effects, order, wanted, outputs))

    def _by_paths(self, metric: InteractionIndex, rows: Any, outputs: list[int]) -> LongPaths:
        plan = self.plan(1)
        if self.only_counts:
            message = (
                f"a path of the model has {plan.most_players} features, too many for tables of all their sets; pass "
                "the rows themselves as the background, or nothing for path-dependent values"
            )
            raise BackgroundError(message)
        if self.table is None:
            return LongPaths(plan, metric, self.rows(rows), outputs, None, np.empty(0))
        return LongPaths(plan, metric, self.rows(rows), outputs, Rows(plan, self.table), self.shares)

    def _outputs(self, combination: Combination | None) -> Outputs:
        """Return the outputs of the model on the scale of the results."""
        score = self.ensemble.score
        if combination is None:
            return Outputs(score.labels, score.n_outputs, score.binary, 0.0 if self.additive else 1.0)
        binary = combination.units == "probability" and len(combination.labels) == 2
        return Outputs(combination.labels, 1 if binary else len(combination.labels), binary, 1.0)

    def player(self, feature: str | int) -> str:
        """Return the name of a player, given by its name or the number of its column."""
        names = self.ensemble.feature_names
        refuse_no_name(feature)
        number = isinstance(feature, int | np.integer) and -len(names) <= feature < len(names)
        name = names[int(feature)] if number else feature
        players = self.plan(1).players
        if self.ensemble.schema.underscored and isinstance(name, str) and name not in players:
            name = name.replace(" ", "_")
        if name in players:
            return str(name)
        hint = ""
        if name in names:
            group = players[self.plan(1).player_of[names.index(str(name))]]
            hint = f"it belongs to the group {group!r}, which is treated as one feature"
        raise TableError.no_feature(feature, players, hint=hint)


def _smallest(known: dict[int, T], order: int) -> T | None:
    """Return the entry with the smallest order that is at least this one."""
    return next((known[k] for k in sorted(known) if k >= order), None)
