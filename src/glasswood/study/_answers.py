"""Answers: the numbers of a study as results. This is the first place where names, labels and units appear."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._pairs import Pair
from glasswood.effects._row_cells import Rows
from glasswood.effects._row_questions import arrange
from glasswood.effects._set_values import PartOfSets, SetValues
from glasswood.effects._target_sums import TargetMoments
from glasswood.errors import TableError, TooLargeError, UnsupportedModelError
from glasswood.metrics import ABBREVIATIONS, HasCalcMetric, InteractionIndex, PartialDependenceInteractions
from glasswood.models._outputs import Chosen
from glasswood.models._user_columns import UserColumns
from glasswood.parallel._once import Deferred, once
from glasswood.results import (
    Attributions,
    Axis,
    Curve,
    Folds,
    Ice,
    IfAsked,
    Interactions,
    JointRows,
    MeanIfAsked,
    Observations,
    OtherScale,
    Points,
    ShownRows,
    SourceValues,
    Spread,
    Surface,
    check_memory,
    squeezed,
)
from glasswood.study._errors import Errors
from glasswood.study._on_scale import OnScale
from glasswood.study._response_pair import ResponsePair
from glasswood.study._source_values import (
    SourceRows,
    attributions_of_source,
    ice_of_source,
    interactions_of_source,
)
from glasswood.tables._columns import Extent, extent_of
from glasswood.tables._given import given_table
from glasswood.tables._points import columns_of, rows_at, shown_values, take
from glasswood.tables._tables import Schema, distinct_rows, n_rows, open_columns
from glasswood.text._printable import how_many

__all__ = ["Answers", "Located", "Negated"]

MOST_VISITS = 2**30  # of leaves by points: about a second
PER_VISIT, MOST_HOURS = 1e-9, 4  # seconds of one; of all
MOST_VISITS_OF_GRIDS = 16  # times more pairs of points on grids take that long


@dataclass(frozen=True, slots=True)
class Negated:
    """Values of sets with the opposite sign: those of the other class of a binary model of one score.

    Parameters
    ----------
    source : SetValues
        The values of the class that has a score.
    """

    source: SetValues

    @property
    def sets(self) -> Sequence[tuple[int, ...]]:
        """The players of each set."""
        return self.source.sets

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.source.n_rows

    def write(self, span: tuple[int, int], out: NDArray[np.float64], at: int) -> None:
        """Write the values of some rows to the columns of `out`, from `at` on."""
        self.source.write(span, out, at)
        part = out[:, at : at + span[1] - span[0]]
        np.subtract(0.0, part, out=part)

    def moments(self, span: tuple[int, int]) -> NDArray[np.float64]:
        """Return the sums of absolute values, squares and values over some rows."""
        sizes, squares, sums = self.source.moments(span)
        return np.stack([sizes, squares, 0.0 - sums])

    def parts(self) -> Iterator[PartOfSets]:
        """Yield the numbers of some sets, and their values."""
        for numbers, part in self.source.parts():
            yield numbers, Negated(part)

    def pieces(self, max_sets: int) -> Iterator[tuple[NDArray[np.intp], SetValues]]:
        """Yield the numbers of some sets, at most so many at a time, and their values."""
        for numbers, piece in self.source.pieces(max_sets):
            yield numbers, Negated(piece)


class Located(NamedTuple):
    """Points: the features of some players, the cell of each at each point, and the values as they are shown."""

    features: NDArray[np.intp]
    cells: NDArray[np.int64]
    shown: dict[str, Any]


class Answers:
    """Create results from the numbers of a study.

    Parameters
    ----------
    values : OnScale
    """

    def __init__(self, values: OnScale) -> None:
        self._values, self._study, self._scale = values, values.study, values.scale
        self.ensemble = values.study.ensemble

    def only_raw(self, what: str) -> None:
        """Raise an error if the response is not a sum over trees."""
        if not self._scale.is_score:
            message = f'{what}: only the raw score is a sum over trees; make an Explainer with response="raw"'
            raise UnsupportedModelError(message)
        self._study.plan(1).refuse_derived()

    def axis(self, feature: int) -> Axis:
        """Return the cells of a feature, with the rows of the background in them."""
        study = self._study
        extent: Deferred[Extent | None] = Deferred(lambda: study.extent(feature))
        found = self._axis(feature, study.rows_per_cell(feature), extent, weighted=study.over.weighted)
        unread = not study.uses(feature) and not found.column.n_codes
        return replace(found, unread=study.all_rows) if unread else found

    def _axis(
        self, feature: int, rows: NDArray[Any], extent: Deferred[Extent | None], *, weighted: bool = False
    ) -> Axis:
        column = self.ensemble.schema.columns[feature]
        cuts = np.empty(0) if column.n_codes else self._study.plan(1).cells.cuts_of(feature).copy()
        return Axis(column, cuts, rows, extent, weighted)

    def _axis_of_rows(self, feature: int, rows: Rows | None) -> Axis:
        """Return the cells of a feature, with some rows in them; None for those of the background."""
        study, cells = self._study, self._study.plan(1).cells
        if not study.uses(feature):
            return self._axis(feature, np.empty(0), Deferred.of(None))
        if rows is None and not study.over.in_memory:
            return self.axis(feature)
        columns = study.columns([feature]) if rows is None else rows.open([feature])
        values, weight = columns.column(feature), study.over.weights if rows is None else None
        found = np.bincount(cells.locate(feature, values), weights=weight, minlength=int(cells.n_cells[feature]))
        numbers = not cells.n_codes[feature]
        extent = extent_of(values if weight is None else values[weight > 0]) if numbers else None
        return self._axis(feature, found, Deferred.of(extent), weighted=weight is not None)

    def curve(self, feature: int, chosen: Chosen) -> Curve:
        """Return the curve of a feature."""
        errors = self.errors
        heights = chosen.levels(self._values.curves[feature])  # first: the axis needs the rows counted for it
        return Curve(
            axis=self.axis(feature),
            heights=heights,
            mean=chosen.levels(self._values.mean),
            outputs=chosen.labels,
            units=self._scale.units,
            find_spread=Spread(lambda: self._values.spread(feature)[:, chosen.columns]),  # equal for both classes
            find_observations=Deferred(lambda: self._observations(feature, chosen))
            if self._study.has_targets
            else None,
            find_folds=None if errors is None else Deferred(lambda: errors.curve(feature, chosen)),
            of_log_link=self._of_log_link(feature, chosen),
            folds_of_log_link=self._folds_of_log_link(feature, chosen),
        )

    @property
    def _has_log_link(self) -> bool:
        """Whether relativities say something about the model."""
        study = self._study
        return self.ensemble.score.link == "exp" and not study.combined and study.model.inverse is None

    def _on(self, response: str) -> OnScale:
        """Return the values of the study on a scale."""
        scale = self._study.scale(response)
        return self._values if scale.same_as(self._scale) else OnScale(self._study, scale)

    def _of_log_link(self, feature: int, chosen: Chosen) -> dict[str, OtherScale]:
        """Return the curve of a model with a log link on both scales; none for other models."""
        if not self._has_log_link:
            return {}

        def heights(response: str) -> OtherScale:
            return OtherScale(lambda: chosen.levels(self._on(response).curves[feature]))

        return {"raw": heights("raw"), "response": heights("prediction")}

    def _folds_of_log_link(self, feature: int, chosen: Chosen) -> dict[str, IfAsked[Folds]]:
        """Return the same without each fold of the rows; none if these are not in folds."""
        folds = self._study.folds
        if not self._has_log_link or folds is None:
            return {}

        def heights(response: str) -> IfAsked[Folds]:
            return IfAsked(lambda: Errors(self._on(response), folds).curve(feature, chosen))

        return {"raw": heights("raw"), "response": heights("prediction")}

    @once
    def errors(self) -> Errors | None:
        """The same answers without each fold of the rows; None if these are not in folds."""
        folds = self._study.folds
        return None if folds is None else Errors(self._values, folds)

    def _observations(self, feature: int, chosen: Chosen) -> Observations:
        """Return what was observed and predicted in the cells of a feature."""
        targets = self._study.targets
        found, whole = targets.of_feature(feature), targets.whole
        chosen = _of_probabilities(chosen)
        return Observations(
            axis=self.axis(feature),
            exposure=found.exposure,
            observed=chosen.levels(found.observed),
            predicted=chosen.levels(found.predicted),
            spread=found.spread[:, chosen.columns],  # equal for both classes
            mean_observed=chosen.levels(whole.observed)[0],
            mean_predicted=chosen.levels(whole.predicted)[0],
            outputs=chosen.labels,
            units=targets.scale.units,
            comparable=self._scale.same_as(targets.scale) and not (targets.offset and self._scale.is_score),
            folds={} if self.errors is None else self.errors.observations(feature, chosen),
            counts=chosen.levels(found.total) if targets.of_counts else None,
        )

    def actual_expected(self, chosen: Chosen) -> NDArray[np.float64]:
        """Return what was observed divided by what was predicted, over all rows, for each output; NaN if that is 0."""
        return _ratio(self._study.targets, chosen)

    def actual_expected_without_folds(self, chosen: Chosen) -> list[tuple[float, NDArray[np.float64]]]:
        """Return the same without each fold of the rows, and the share of the fold."""
        folds = self._study.folds
        left = [] if folds is None else folds.without(self._study.wanted_targets)
        return [(share, _ratio(study.targets, chosen)) for share, study in left]

    def surface(self, a: int, b: int, chosen: Chosen) -> Surface:
        """Return the surface of two features."""
        study, errors = self._study, self.errors
        pair: Pair | None = None
        if study.over.once_only and self._scale.additive:
            study.effects(2)  # the largest order first: some sources can be counted once only
        if not self._scale.additive:
            study.refuse_offset("a surface", self._scale)
            self._values.refuse_without_rows("a surface")
            pair = ResponsePair(self._values, (a, b), chosen)
        elif study.shares_path(a, b):
            pair = study.pair_effects(a, b).pair(a, b, chosen.columns, turned=chosen.total is not None)
        return Surface(
            first=self.curve(a, chosen),
            second=self.curve(b, chosen),
            pair=pair,
            find_rows=Deferred(lambda: self._joint_rows(a, b)),
            find_folds=None if errors is None else IfAsked(lambda: errors.surface(a, b, chosen)),
        )

    def surface_of(self, chosen: Chosen, names: tuple[str, str]) -> Surface:
        """Return the surface of two features, given by their names."""
        known = self.ensemble.feature_names
        return self.surface(known.index(names[0]), known.index(names[1]), chosen)

    def points_of(self, chosen: Chosen, name: str) -> Points:
        """Return the partial dependence of a player at its distinct values."""
        return self.points([name], None, chosen)

    def _joint_rows(self, a: int, b: int) -> JointRows | None:
        """Return how the background's rows fall on pairs of cells of two features; None without a table."""
        study, cells = self._study, self._study.plan(1).cells
        if not study.over.in_memory:
            return None
        columns = study.columns([a, b])
        encoded = columns.encode(0, columns.n_rows)
        return JointRows.of(cells.locate(a, encoded[a]), cells.locate(b, encoded[b]), study.over.weights)

    def grids(self, grids: Mapping[str, Any], chosen: Chosen) -> dict[tuple[str, str], NDArray[np.float64]]:
        """Return the joint partial dependence of all pairs of the given features on a grid."""
        study, names, n_features = self._study, self.ensemble.feature_names, self.ensemble.n_features
        features = [names.index(name) for name in grids]
        cells = np.zeros((n_features, np.size(next(iter(grids.values())))), dtype=np.int64)
        for f, values in zip(features, grids.values(), strict=True):
            cells[f] = self.axis(f).cell_of(values).ravel()
        effects, interactions = study.effects(2), self._interactions_on_grids(features, cells)
        heights = {f: self._values.curves[f][cells[f]] for f in features}
        result = {}
        for a, b in combinations(features, 2):
            surface = heights[a][:, None] + heights[b][None] - effects.mean
            if (min(a, b), max(a, b)) in interactions:
                found = interactions[min(a, b), max(a, b)]
                surface = surface + (found if a < b else found.transpose(1, 0, 2))
            result[names[a], names[b]] = squeezed(chosen.levels(surface))
        return result

    def _interactions_on_grids(
        self, features: list[int], cells: NDArray[np.int64]
    ) -> dict[tuple[int, int], NDArray[np.float64]]:
        """Return the interactions of the given features that share a path, at some cells of each."""
        study, n_points = self._study, cells.shape[1]
        effects, e = study.effects(2), study.ensemble
        wanted = [(a, b) for a, b in combinations(sorted(features), 2) if study.shares_path(a, b)]
        shape = (max(1, len(features) * (len(features) - 1) // 2), n_points, n_points, e.n_outputs)
        check_memory(shape, 3, "Ask for fewer features or points at a time")
        if e.n_leaves * (n_points * effects.plan.most_players) ** 2 > MOST_VISITS * MOST_VISITS_OF_GRIDS:
            return {(a, b): effects.pair(a, b).grid(cells[a], cells[b]) for a, b in wanted}
        pair_number = np.full((e.n_features, e.n_features), -1, dtype=np.int32)
        for number, pair in enumerate(wanted):
            pair_number[pair] = number
        return dict(zip(wanted, effects.interactions_on_grids(cells, pair_number, len(wanted)), strict=True))

    def interaction_values(
        self, rows: object, max_order: int | None, features: Sequence[Any] | None, chosen: Chosen
    ) -> Interactions | SourceValues:
        """Return the interaction values of rows, of sets of some features or of all."""
        study, plan = self._study, self._study.plan(1)
        order = plan.most_players if max_order is None else min(max_order, plan.most_players)
        wanted = np.full(len(plan.players), features is None)
        for feature in () if features is None else features:
            wanted[plan.players.index(study.player(feature))] = True
        order = min(order, max(1, int(wanted.sum())))
        study.refuse_uncountable_sets(order, wanted, len(chosen.columns))
        if isinstance(rows, SourceRows):
            values = study.interactions(order, wanted, chosen.columns)
            return interactions_of_source(study, rows, "interaction values", values, chosen, self._scale)
        opened = study.rows(rows)  # first: what is wrong with them is found before anything is counted
        found = study.interactions(order, wanted, chosen.columns).of_rows(opened)
        return self.interactions(found, chosen, opened, PartialDependenceInteractions())

    def interactions(self, source: SetValues, chosen: Chosen, rows: Rows, metric: HasCalcMetric) -> Interactions:
        """Return values of sets for rows, made of the scores that are chosen."""
        return Interactions(
            source=source if chosen.total is None else Negated(source),
            players=self._study.plan(1).players,
            outputs=chosen.labels,
            units=self._scale.units,
            find_mean=Deferred(lambda: chosen.levels(self._values.mean)),
            index=ABBREVIATIONS.get(type(metric), ""),
            order=metric.max_order if isinstance(metric, InteractionIndex) else None,
            columns=ShownRows(lambda numbers: self._shown(rows, numbers)),
        )

    def metric(self, metric: HasCalcMetric, rows: object, chosen: Chosen) -> Interactions | SourceValues:
        """Return the values of a metric for rows."""
        study = self._study
        if isinstance(rows, SourceRows):
            values = study.for_any_rows(metric, rows.n_rows, chosen.columns)
            return interactions_of_source(study, rows, _name_of(metric), values, chosen, self._scale)
        opened = study.rows(rows)
        return self.interactions(study.evaluate(metric, opened, chosen.columns), chosen, opened, metric)

    def attributions(
        self, name: str, metric: InteractionIndex, rows: object, chosen: Chosen
    ) -> Attributions | SourceValues:
        """Return a metric of features, or of pairs of them."""
        self.only_raw(name)
        if isinstance(rows, SourceRows):
            mean = chosen.levels(self._values.mean)
            return attributions_of_source(self._study, rows, name, metric, chosen, self._scale, mean)
        rows = given_table(rows)
        n_players, n_outputs = len(self._study.plan(1).players), len(chosen.labels)
        shape = (n_rows(rows), *(n_players,) * (metric.max_order or 1), n_outputs)
        check_memory(shape)  # before anything is computed
        opened = self._study.rows(rows)
        found = self.interactions(self._study.evaluate(metric, opened, chosen.columns), chosen, opened, metric)
        values = found.values.reshape(found.n_rows, len(found), n_outputs)
        return Attributions(
            name=name,
            heights=arrange(values, found.source.sets, shape),
            mean=chosen.levels(self._values.mean),
            names=found.players,
            outputs=found.outputs,
            units=found.units,
            columns=found.columns,
        )

    def _shown(self, rows: Rows, numbers: NDArray[np.intp] | None) -> NDArray[Any] | None:
        """Return the values of some rows as an array, one column per player; None if a player has several columns."""
        rows.check()
        if self._study.originals is not None:
            return self._shown_before(self._study.originals, rows.given, numbers)
        groups = [self._study.groups.get(player, (player,)) for player in self._study.plan(1).players]
        if any(len(group) != 1 for group in groups):
            return None
        features = [self.ensemble.feature_names.index(name) for (name,) in groups]
        columns = open_columns(rows.given, self.ensemble.schema, features)
        values = [np.array(columns.listed(f, numbers)) for f in features]
        return np.column_stack([v.astype(object) if v.dtype.kind in "US" else v for v in values])

    def _shown_before(
        self, originals: UserColumns, rows: object, numbers: NDArray[np.intp] | None
    ) -> NDArray[Any] | None:
        """Return the same as `_shown` for players that are columns of a pipeline."""
        columns = [self._study.original_groups[player] for player in self._study.plan(1).players]
        if any(len(group) != 1 for group in columns):
            return None
        names = [name for (name,) in columns]
        table = rows if numbers is None else take(rows, numbers.tolist())
        listed = columns_of(table, names, [originals.names.index(name) for name in names])
        return np.array([shown_values(values) for values in listed.values()], dtype=object).T

    def points(self, players: list[str], at: object, chosen: Chosen, shape: tuple[int, ...] | None = None) -> Points:
        """Return the partial dependence of players at points; `shape` is that of the grid that the points are on."""
        if self._scale.additive and self._study.over.in_memory:
            self._study.plan(len(players))  # refuses sets of too many players before anything is computed
        located, n_players = self.located(players, at), len(players)

        def heights(values: OnScale) -> NDArray[np.float64]:
            return Answers(values)._heights_at(located.features, located.cells, n_players)

        return self.points_of_located(players, located, shape, chosen, heights)

    def points_of_located(
        self,
        players: list[str],
        located: Located,
        shape: tuple[int, ...] | None,
        chosen: Chosen,
        heights: Callable[[OnScale], NDArray[np.float64]],
    ) -> Points:
        """Return points, given how their heights are computed."""
        errors, shown = self.errors, located.shown
        found = heights(self._values)  # first: some sources can be counted once only
        return Points(
            name=" x ".join(players),
            columns=shown,
            heights=chosen.levels(found),
            outputs=chosen.labels,
            units=self._scale.units,
            mean=chosen.levels(self._values.mean),
            find_rows=Deferred(lambda: self._rows_at(shown)),
            weighted=self._study.over.weighted,
            find_folds=None
            if errors is None
            else IfAsked(lambda: self._folds_of_points(errors, len(players), located, chosen, heights)),
            grid=None if shape is None else _values_of_axes(shown, shape),
        )

    def _folds_of_points(
        self,
        errors: Errors,
        n_players: int,
        located: Located,
        chosen: Chosen,
        heights: Callable[[OnScale], NDArray[np.float64]],
    ) -> Folds:
        """Return the partial dependence at points without each fold of the rows."""
        features, cells = located.features, located.cells
        found: Any
        if self._scale.additive:
            found = [heights(values) for values in errors.of_order(n_players)]
        elif features.size == 1 and features[0] in self._values.curves:
            found = [values.curves[int(features[0])][cells[0]] for _, values in errors.left_out]
        else:
            found = errors.responses_at("several features on this scale", features, cells)
        return Folds(np.stack([chosen.levels(part) for part in found]), errors.shares, errors.means(chosen))

    def _heights_at(self, features: NDArray[np.intp], cells: NDArray[np.int64], n_players: int) -> NDArray[np.float64]:
        """Return the partial dependence of features at points: (n_points, n_outputs).

        For many points of large models, values are looked up in a curve or surface instead of visiting all leaves for
        each point.
        """
        study, n_points = self._study, cells.shape[1]
        check_memory((n_points, study.ensemble.n_outputs), 8, "Ask for fewer points at a time")
        has_offset = not self._scale.additive and study.wanted_of(self._scale).offset  # which sums over rows have
        if not self._scale.additive and features.size == 1 and (has_offset or not study.over.in_memory):
            known: NDArray[np.float64] = self._values.curves[int(features[0])][cells[0]]
            return known
        if not self._scale.additive:
            return self._values.responses_at(features, cells)
        visits = n_points * study.ensemble.n_leaves
        leaf_by_leaf = n_players != features.size or n_players > 2 or visits < MOST_VISITS
        if leaf_by_leaf and visits * PER_VISIT > MOST_HOURS * 3600:
            message = (
                f"{how_many(n_points, 'point')} and {how_many(study.ensemble.n_leaves, 'leaf', 'leaves')} would take "
                f"about {visits * PER_VISIT / 3600:,.0f} h. Ask for fewer points, or for one or two features"
            )
            raise TooLargeError(message)
        effects = study.effects(n_players)  # the largest order first: some sources can be counted once only
        if leaf_by_leaf:
            return effects.at(cells, features)
        heights: NDArray[np.float64] = self._values.curves[int(features[0])][cells[0]]
        if n_players == 1:
            return heights
        a, b = features.tolist()
        heights = heights + self._values.curves[b][cells[1]] - self._values.mean
        return heights + effects.pair(a, b).at(cells[0], cells[1]) if study.shares_path(a, b) else heights

    def _rows_at(self, points: Mapping[str, Any], rows: Rows | None = None) -> NDArray[Any]:
        """Return how many rows (by weight, if of the background) are at each point; empty if some are at none."""
        study, originals = self._study, self._study.originals
        weight = study.over.weight if rows is None else None
        if originals is not None:
            names = list(points)
            table = originals.table if rows is None else rows.given
            listed = columns_of(table, names, [originals.names.index(name) for name in names])
            return rows_at(points, {name: shown_values(values) for name, values in listed.items()}, weight)
        numbers = [self.ensemble.feature_names.index(name) for name in points]
        if rows is None and not study.over.in_memory:
            return np.empty(0)
        columns = study.columns(numbers) if rows is None else rows.open(numbers)
        return rows_at(points, {name: columns.listed(f) for name, f in zip(points, numbers, strict=True)}, weight)

    def located(self, players: list[str], at: object) -> Located:
        """Return the cells of some players at points.

        `at` is a table of the points; None for the distinct rows of the background.
        """
        schema, plan = self.ensemble.schema, self._study.plan(1)
        if self._study.originals is not None:
            return self._located_before(self._study.originals, players, at)
        names = [name for player in players for name in self._study.groups.get(player, (player,))]
        features = np.array([self.ensemble.feature_names.index(name) for name in names], dtype=np.intp)
        part = Schema(tuple(schema.columns[f].of_any_type() for f in features), underscored=schema.underscored)
        if at is None:
            if not self._study.over.in_memory:
                message = f"pass at=, a table of the columns {[column.name for column in part.columns]!r}"
                raise TableError(message)
            at = distinct_rows(self._study.columns(features), features)
        columns = open_columns(at if isinstance(at, Mapping) else given_table(at), part, range(features.size))
        encoded = columns.encode(0, columns.n_rows)
        cells = np.array([plan.cells.locate(int(f), encoded[i]) for i, f in enumerate(features)])
        shown = {part.columns[i].name: columns.listed(i) for i in range(features.size)}
        return Located(features, cells.reshape(features.size, -1), shown)

    def _located_before(self, originals: UserColumns, players: list[str], at: object) -> Located:
        """Return the same as `located` for players that are columns of a pipeline, through its transformers."""
        study, plan = self._study, self._study.plan(1)
        columns = [column for player in players for column in study.original_groups[player]]
        rows, shown = originals.points(columns, at)
        names = [name for player in players for name in study.groups.get(player, (player,))]
        features = np.array([self.ensemble.feature_names.index(name) for name in names], dtype=np.intp)
        opened = open_columns(rows, self.ensemble.schema, features)
        encoded = opened.encode(0, opened.n_rows)
        cells = np.zeros((features.size, opened.n_rows), dtype=np.int64)
        for i, f in enumerate(features):
            cells[i] = plan.cells.locate(int(f), encoded[int(f)])
        return Located(features, cells, shown)

    def ice(self, players: list[str], rows: object, at: object, chosen: Chosen) -> Ice | SourceValues:
        """Return the responses of rows with some players at other values."""
        if rows is None and self._study.over.basis != "rows":
            message = (
                "pass rows=, the table of rows whose curves you want; counts and covers do not contain single rows"
            )
            raise TableError(message)
        source = rows if isinstance(rows, SourceRows) else None
        opened = None if rows is None or source is not None else self._study.rows(rows)
        axis: Axis | None = None
        shown: dict[str, Any] = {}
        if at is None and len(players) == 1 and players[0] not in self._study.groups:
            feature = self.ensemble.feature_names.index(players[0])
            axis, features = self._axis_of_rows(feature, opened), np.array([feature])
            cells = np.arange(self._study.plan(1).cells.n_cells[feature])[None]
        else:
            features, cells, shown = self.located(players, at)
        if source is not None:
            self._study.refuse_offset("ICE", self._scale)
            asked = (features, cells)
            return ice_of_source(self._study, source, " x ".join(players), asked, chosen, self._scale)
        size = self._study.n_rows if opened is None else opened.n_rows, cells.shape[1]
        if 0 in size:
            found = f"{how_many(size[0], 'row')} and {how_many(size[1], 'point')}"
            message = f"ice needs at least one row and one point, but got {found}"
            raise TableError(message)
        remedy = "Ask for fewer rows, one output, or some points: ice(..., at=a table of the feature's values)"
        check_memory((*size, chosen.n_columns), remedy=remedy)
        heights, shares = self._values.ice(features, cells, opened)
        return Ice(
            name=" x ".join(players),
            axis=axis,
            columns=shown,
            heights=chosen.levels(heights),
            outputs=chosen.labels,
            units=self._scale.units,
            weight=shares,
            find_rows=Deferred(lambda: self._rows_at(shown, opened) if shown else np.empty(0)),
            find_mean=MeanIfAsked(lambda: chosen.levels(self._values.mean)),
        )


def _values_of_axes(columns: Mapping[str, Any], shape: tuple[int, ...]) -> dict[str, list[Any]]:
    """Return the values along each axis of a grid, given the columns of all of its points."""
    steps = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    sizes = zip(columns.items(), shape, steps, strict=True)
    return {name: list(values)[: size * step : step] for (name, values), size, step in sizes}


def _name_of(metric: HasCalcMetric) -> str:
    """Return what a metric is called: what it says of itself, or its class."""
    own = type(metric).__repr__ is not object.__repr__
    return repr(metric) if own else type(metric).__name__


def _of_probabilities(chosen: Chosen) -> Chosen:
    """Return outputs that are chosen of a raw score as those of what was observed, which are shares of classes."""
    return replace(chosen, total=None if chosen.total is None else 1.0)


def _ratio(targets: TargetMoments, chosen: Chosen) -> NDArray[np.float64]:
    """Return what was observed over what was predicted; NaN if nothing was."""
    outputs, whole = _of_probabilities(chosen), targets.whole
    observed, predicted = (outputs.levels(part)[0] for part in (whole.observed, whole.predicted))
    ratio: NDArray[np.float64] = np.divide(
        observed, predicted, out=np.full_like(observed, np.nan), where=predicted != 0
    )
    return ratio
