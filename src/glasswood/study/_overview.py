"""Overview: results about the whole model: its strongest features and pairs, and the shapes of its curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._many_sets import ManySets
from glasswood.effects._set_blocks import PlayerSets
from glasswood.effects._statistics import (
    Moments,
    Trend,
    independent_moments,
    missed,
    pair_moments,
    pair_strengths,
    point_moments,
    standard_deviation,
    streamed_moments,
    trend,
)
from glasswood.errors import ArgumentError, BackgroundError, TableError, TooLargeError
from glasswood.models._outputs import Chosen
from glasswood.parallel._once import Deferred
from glasswood.parallel._threads import in_order
from glasswood.results import (
    LARGEST,
    Certificate,
    Curve,
    Folds,
    HStatistics,
    IfAsked,
    Importance,
    JointRows,
    Monotonicity,
    PurifiedEffects,
    RatingTable,
    RowMonotonicity,
    Spike,
    Spikes,
    Strengths,
)
from glasswood.study._answers import Answers
from glasswood.study._certificate import certificate
from glasswood.study._errors import Errors
from glasswood.study._group_values import group_values
from glasswood.study._h_statistics import h_statistics
from glasswood.study._losses import groups_of
from glasswood.study._on_scale import OnScale
from glasswood.study._pair_rows import MOST_SENT, CountedRows, JointlyCounted, PairRows, RowsAgain, RowsInMemory
from glasswood.study._purified import purified
from glasswood.study._rating_table import rating_table
from glasswood.study._row_falls import row_monotonicity
from glasswood.study._rows_again import finite_ends
from glasswood.study._total import TotalImportance, strongest_first
from glasswood.text._arguments import whole_number

__all__ = ["Overview"]

# Seconds, about: of a pair and its surface, of a row in it, of a cell, of a box; of a value that is looked up.
PER_PAIR, PER_ROW, PER_CELL, PER_BOX = 3e-4, 3e-9, 15e-9, 1e-9
PER_LOOKUP = 12e-9
MANY_LEAVES = 2**17
MOST_CELLS_OF_PAIR = 2**25  # that are held at a time, and as many of rows
FEW_CELLS = 2**22  # of all pairs: then surfaces are made, whatever the rows, so that all sources have the same bits
MOST_REPLIES = 2**40  # of trees to rows: about half an hour
PER_REPLY = 2e-9  # seconds
MOST_CELLS = 2**36  # of all pairs: about a quarter of an hour
MAX_PAIRS_ON_PATHS = 2**26  # pairs of players on paths of leaves, whose values are found row by row


class Overview:
    """Create results about the whole model from the numbers of a study.

    Parameters
    ----------
    values : OnScale
    answers : Answers
        Of the same study, on the same scale.
    """

    def __init__(self, values: OnScale, answers: Answers) -> None:
        self._values, self._study, self._scale = values, values.study, values.scale
        self._answers = answers
        self.ensemble = values.study.ensemble

    def importance(self, chosen: Chosen, kind: str | None = None, *, all_rows: bool = False) -> Importance:
        """Return the importance of every player: total by default, main if there is nothing to find that from."""
        if kind not in (None, "total", "main"):
            message = f'kind must be "total" or "main", not {kind!r}'
            raise ArgumentError(message)
        total = TotalImportance(self._values)
        if kind == "total" or (kind is None and total.is_default):
            return total.result(chosen, all_rows=all_rows)
        return self._main_importance(chosen)

    def _main_importance(self, chosen: Chosen) -> Importance:
        """Return the standard deviation of every player's curve over the rows."""
        study, plan = self._study, self._study.plan(1)
        if not study.over.has_rows:
            message = (
                "importance needs rows over which the score varies, but there are none: pass them to Explainer as the "
                "background, or ask for interaction_values(rows, max_order=1).mean_square()"
            )
            raise BackgroundError(message)
        heights = np.zeros((len(plan.players), self._scale.outputs.n_columns))
        for feature, curve in self._values.curves.items():
            rows = study.rows_per_cell(feature)
            if rows.size:
                heights[plan.player_of[feature]] = standard_deviation(curve, rows)
        several = groups_of(study)
        if several.size:
            heights[several] = self._importance_of_groups(several)
        heights = heights[:, chosen.columns]  # the same for both classes of one score
        order = strongest_first(heights)
        names = tuple(plan.players[player] for player in order)
        errors = self._answers.errors
        return Importance(
            names=names,
            heights=heights[order],
            outputs=chosen.labels,
            units=self._scale.units,
            kind="main",
            n_rows=study.n_rows,
            find_folds=None
            if errors is None
            else Deferred(lambda: self._folds_of_importance(errors, chosen, names, groups=several.size > 0)),
        )

    @staticmethod
    def _folds_of_importance(errors: Errors, chosen: Chosen, names: Sequence[str], *, groups: bool) -> Folds:
        """Return the importance of features without each fold of the rows; groups need the rows themselves."""
        heights, shares = [], []
        for share, values in errors.each("the importance of groups") if groups else errors.left_out:
            found = Overview(values, Answers(values)).importance(chosen, "main")
            heights.append(found.heights[[found.names.index(name) for name in names]])
            shares.append(share)
        return Folds(np.stack(heights), np.array(shares))

    def by_span(self) -> list[str]:
        """Return the names of features that have a curve, ordered by its range; used if there are no rows."""
        curves = [self._answers.curve(feature, self._scale.outputs.choose()) for feature in self._values.curves]
        spans = np.array([np.ptp(curve.heights[curve.axis.ordinary], axis=0) for curve in curves])
        return [curves[k].name for k in strongest_first(spans.reshape(len(curves), -1))]

    def _importance_of_groups(self, players: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the same for players of several columns, which have no curve, computed from the rows."""
        study, plan = self._study, self._study.plan(1)
        if not study.over.in_memory:
            message = (
                f"the importance of the group {plan.players[players[0]]!r} needs the rows themselves, not only counts; "
                "pass a table as the background, or leave the group out"
            )
            raise BackgroundError(message)
        weight, rows = study.over.weights, study.own_rows()
        if not self._scale.additive:
            return np.array([self._deviation_of_responses(int(player), weight) for player in players])
        wanted = np.zeros(len(plan.players), dtype=bool)
        wanted[players] = True
        plan.refuse_uncountable(1)
        source = study.interactions(1, wanted, list(range(self._scale.outputs.n_columns))).of_rows(rows)
        mean, square = streamed_moments(source, weight, self._scale.outputs.n_columns)[:2]
        deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
        heights = np.zeros((len(plan.players), self._scale.outputs.n_columns))
        for number, members in enumerate(source.sets):
            if members:
                heights[members[0]] = deviation[number]
        return heights[players]

    def _deviation_of_responses(self, player: int, weight: NDArray[np.float64] | None) -> Any:
        """Return the standard deviation of the mean response with a group at each row's values."""
        raw = "" if self._scale.is_score else 'ask for response="raw", or '
        own = group_values(self._study, player, f"{raw}pass fewer rows")
        if not own.features.size:
            return np.zeros(self._scale.outputs.n_columns)
        count = np.bincount(own.place, weights=weight, minlength=own.cells.shape[1])
        return standard_deviation(self._values.responses_at(own.features, own.cells), count)

    def strengths(self, rows: Any, chosen: Chosen) -> Strengths:
        """Return how strongly pairs of players interact, which is the same for both classes of one score."""
        outputs = chosen.columns
        study, plan = self._study, self._study.plan(1)
        if study.ensemble.derived is None or not self._scale.is_score:
            self._answers.only_raw("interaction_strengths")
        if rows is None and not study.over.has_rows:
            message = "pass rows=, the table of rows over which the strength of interactions is computed"
            raise BackgroundError(message)
        self._refuse_uncountable_pairs()
        over = self._pair_rows(rows)
        pairs: list[Any] = []
        moments = np.zeros((4, 0, len(outputs)))
        if study.ensemble.derived is not None:
            pairs, moments = self._moments_of_responses(over, outputs)
        elif plan.most_players >= 2:  # otherwise no path has a pair
            rows_only = (
                not self._by_points(over) and not study.over.once_only and not self._by_cells(over, len(outputs))
            )
            if rows_only:  # what is too large is refused before counting
                _refuse_many_pairs(PlayerSets(plan, 2, np.ones(len(plan.players), dtype=bool)).n_pairs)
            study.effects(2)  # the largest order first: some sources can be counted once only
            find = self._moments_of_cells if self._by_cells(over, len(outputs)) else self._moments_of_rows
            pairs, moments = (self._moments_of_points if self._by_points(over) else find)(over, outputs)
        scale = max((float(np.abs(curve).max(initial=0.0)) for curve in self._values.curves.values()), default=0.0)
        found = pair_strengths(moments, scale)
        order, errors = strongest_first(found.strength), self._answers.errors
        listed = [(plan.players[pairs[k][0]], plan.players[pairs[k][1]]) for k in order]
        return Strengths(
            pairs=listed,
            heights=found.strength[order],
            h=found.h[order],
            numerator=found.variance[order],
            denominator=found.joint[order],
            basis=over.basis,
            outputs=chosen.labels,
            units=self._scale.units,
            names=plan.players,
            find_folds=None
            if errors is None
            else IfAsked(lambda: self._folds_of_strengths(errors, chosen, listed, own=rows is None)),
        )

    @staticmethod
    def _folds_of_strengths(
        errors: Errors, chosen: Chosen, pairs: Sequence[tuple[str, str]], *, own: bool
    ) -> dict[str, Folds]:
        """Return the strengths of pairs and their H without each fold of the background's rows."""
        if not own:
            message = "interaction strengths over rows= have no error: only the rows of the background are in folds"
            raise BackgroundError(message)
        heights, h, shares = [], [], []
        for share, values in errors.each("interaction strengths"):
            found = Overview(values, Answers(values)).strengths(None, chosen)
            place = {pair: number for number, pair in enumerate(found.pairs)}
            order = [place[pair] for pair in pairs]
            heights.append(found.heights[order])
            h.append(found.h[order])
            shares.append(share)
        return {"value": Folds(np.stack(heights), np.array(shares)), "h": Folds(np.stack(h), np.array(shares))}

    def h_statistics(self, sets: Sequence[Sequence[str]], chosen: Chosen, *, pairs: bool = True) -> HStatistics:
        """Return H of each player, of the whole and of some sets, and what mains and pairs leave over."""
        return h_statistics(self._values, chosen, sets, pairs=pairs)

    def purified(self, pairs: Sequence[Sequence[str]], chosen: Chosen) -> PurifiedEffects:
        """Return main effects and the interactions of some pairs, purified over the rows."""
        return purified(self._values, self._answers, self._pair_rows(None), pairs, chosen)

    def _pair_rows(self, rows: Any) -> PairRows:
        """Return the rows over which interactions are averaged: those given, or those of the background."""
        study = self._study
        if rows is not None:
            return RowsInMemory(study, study.rows(rows), None)
        if study.over.in_memory:
            return RowsInMemory(study, study.own_rows(), study.over.weights)
        if study.over.basis == "rows":
            return RowsAgain(study)
        return JointlyCounted(study) if study.over.can_count and self._few_cells() else CountedRows(study)

    def _few_cells(self) -> bool:
        """Return whether pairs are of single features, with few enough cells for workers to send a table of each."""
        plan = self._study.plan(1)
        if np.bincount(plan.player_of).max(initial=0) > 1:
            return False
        a, b = np.nonzero(self._study.pairs)
        of_pairs = plan.cells.n_cells[a].astype(np.float64) * plan.cells.n_cells[b]
        return bool(of_pairs.max(initial=0.0) <= MOST_SENT)

    def _refuse_uncountable_pairs(self) -> None:
        """Raise an error if the counts of pairs do not fit in memory."""
        plan = self._study.plan(1)
        if not plan.countable(2):
            message = (
                f"the pairs on the paths of this model need {plan.n_sets(2):,} counts, too many; ask for "
                "interaction_values(rows, max_order=2, features=...) of some features"
            )
            raise TooLargeError(message)

    def _by_cells(self, over: PairRows, n_outputs: int) -> bool:
        """Return whether to make the surface of each pair, rather than to look up the values of each row."""
        study, plan = self._study, self._study.plan(1)
        if np.bincount(plan.player_of).max(initial=0) > 1:
            return False
        a, b = np.nonzero(study.pairs)
        of_pairs = plan.cells.n_cells[a].astype(np.float64) * plan.cells.n_cells[b]
        n_cells = float(of_pairs.sum())
        if over.basis == "counts":
            self._refuse_many_cells(n_cells * n_outputs)
        few = n_cells * self._scale.outputs.n_columns <= FEW_CELLS
        if few or over.basis == "counts" or isinstance(over, JointlyCounted):
            return True
        if plan.cells.n_cells.max(initial=0) > 2**16 or of_pairs.max(initial=0.0) * n_outputs > MOST_CELLS_OF_PAIR:
            return False
        n_rows = over.n_rows
        by_cells = a.size * (PER_PAIR + n_rows * PER_ROW + int(plan.n_players.sum()) * PER_BOX)
        by_cells += n_cells * self._scale.outputs.n_columns * PER_CELL
        return bool(by_cells < a.size * n_rows * n_outputs * PER_LOOKUP)

    def _by_points(self, over: PairRows) -> bool:
        """Return whether to evaluate the surface of each pair where rows are: of very many leaves, and rows in memory.

        Looking up the values of a row takes time proportional to the number of leaves.
        """
        study, plan = self._study, self._study.plan(1)
        single = np.bincount(plan.player_of).max(initial=0) == 1
        return single and isinstance(over, RowsInMemory) and study.ensemble.n_leaves > MANY_LEAVES

    def _moments_of_points(
        self, over: PairRows, outputs: list[int]
    ) -> tuple[list[tuple[int, int]], NDArray[np.float64]]:
        """Return the pairs of players, and their moments over rows, from the surface of each pair at all rows."""
        study, plan = self._study, self._study.plan(1)
        effects, curves = study.effects(2), self._values.curves
        found = list(zip(*(side.tolist() for side in np.nonzero(study.pairs)), strict=True))
        block, weight = next(over.blocks(1))
        cells = dict(zip(study.ensemble.used_features.tolist(), block.cells(0, block.n_rows), strict=True))

        def moments(number: int) -> NDArray[np.float64]:
            a, b = found[number]
            rows = JointRows.of(cells[a], cells[b], weight)
            alone = effects.pair(a, b, outputs).at_many(rows.x.astype(np.int64), rows.y.astype(np.int64))
            both = (curves[a][:, outputs], curves[b][:, outputs])
            return point_moments(alone, both, (rows.x, rows.y), rows.rows)

        with in_order(len(found), moments, "interactions") as parts:
            listed = list(parts)
        players = [(int(plan.player_of[a]), int(plan.player_of[b])) for a, b in found]
        return players, np.array(listed).reshape(len(found), 4, len(outputs)).transpose(1, 0, 2)

    def _moments_of_responses(
        self, over: PairRows, outputs: list[int]
    ) -> tuple[list[tuple[int, int]], NDArray[np.float64]]:
        """Return the same for models whose leaves are not counted: all rows are asked for each pair of values."""
        study, plan = self._study, self._study.plan(1)
        if not isinstance(over, RowsInMemory) or np.bincount(plan.player_of).max(initial=0) > 1:
            message = (
                "interaction strengths of a model with statistics of combinations of columns (CTRs) need a table in "
                "memory, and no groups of columns; pass such a table as the background"
            )
            raise BackgroundError(message)
        curves, mean = self._values.curves, self._values.mean
        found = list(zip(*(side.tolist() for side in np.nonzero(study.pairs)), strict=True))
        block, weight = next(over.blocks(1))
        cells = dict(zip(study.ensemble.used_features.tolist(), block.cells(0, block.n_rows), strict=True))
        rows = {(a, b): JointRows.of(cells[a], cells[b], weight) for a, b in found}
        n_replies = sum(own.x.size for own in rows.values()) * float(study.over.n_rows) * study.ensemble.n_trees
        if n_replies > MOST_REPLIES:
            message = (
                f"interactions of this model, which has statistics of combinations (CTRs), would take about "
                f"{n_replies * PER_REPLY / 60:,.0f} minutes; make an Explainer of a sample of the rows, or ask for the "
                "surface of single pairs: partial_dependence(a, b)"
            )
            raise TooLargeError(message)
        listed = []
        for (a, b), own in rows.items():
            x, y = own.x.astype(np.int64), own.y.astype(np.int64)
            joint = self._values.responses_at(np.array([a, b]), np.stack([x, y]))
            alone = (joint - curves[a][x] - curves[b][y] + mean)[:, outputs]
            both = (curves[a][:, outputs], curves[b][:, outputs])
            listed.append(point_moments(np.ascontiguousarray(alone), both, (own.x, own.y), own.rows))
        return found, np.array(listed).reshape(len(found), 4, len(outputs)).transpose(1, 0, 2)

    @staticmethod
    def _refuse_many_cells(n_cells: float) -> None:
        """Raise an error if all pairs of cells would take too long."""
        if n_cells > MOST_CELLS:
            message = (
                f"with counts alone, interactions are computed for all pairs of cells; this model has {n_cells:,.0f}, "
                f"which would take about {n_cells * PER_CELL / 60:,.0f} minutes. Pass rows=, a table of rows (a sample "
                "is enough), or ask for the surface of single pairs: partial_dependence(a, b).plot()"
            )
            raise TooLargeError(message)

    def _moments_of_cells(
        self, over: PairRows, outputs: list[int]
    ) -> tuple[list[tuple[int, int]], NDArray[np.float64]]:
        """Return the pairs of players, and their moments over rows, from the surface of each pair."""
        study, plan = self._study, self._study.plan(1)
        effects, curves = study.effects(2), self._values.curves
        found = list(zip(*(side.tolist() for side in np.nonzero(study.pairs)), strict=True))
        listed: list[NDArray[np.float64]] = []
        for pairs, joint in over.joint(found):

            def moments(number: int, pairs: Any = pairs, joint: Any = joint) -> NDArray[np.float64]:
                a, b = pairs[number]
                both = (curves[a][:, outputs], curves[b][:, outputs])
                pair = effects.pair(a, b, outputs)
                if np.prod(pair.shape) <= MOST_CELLS_OF_PAIR:
                    return pair_moments(pair.all(), both, joint(number))
                of_rows = study.rows_per_cell
                return independent_moments(pair, both, (of_rows(a), of_rows(b)))

            with in_order(len(pairs), moments, "interactions") as parts:
                listed += parts
        players = [(int(plan.player_of[a]), int(plan.player_of[b])) for a, b in found]
        return players, np.array(listed).reshape(len(found), 4, len(outputs)).transpose(1, 0, 2)

    def _moments_of_rows(self, over: PairRows, outputs: list[int]) -> tuple[list[tuple[int, ...]], NDArray[np.float64]]:
        """Return the same from the values of each row."""
        study, plan = self._study, self._study.plan(1)
        wanted = np.ones(len(plan.players), dtype=bool)
        source = study.interactions(2, wanted, outputs)
        if isinstance(source, ManySets):
            _refuse_many_pairs(MAX_PAIRS_ON_PATHS + 1)
        moments = Moments(source.sets, len(outputs))
        for rows, weight in over.blocks(moments.batch):
            moments.add(source.of_rows(rows), weight)
        kept = [number for number, members in enumerate(source.sets) if len(members) == 2]
        return [source.sets[number] for number in kept], moments.means[:, kept]

    def _numbers(self, features: list[str], what: str) -> list[int]:
        """Return the features of some players, or of all, that are numbers on an axis of their own."""
        study, columns = self._study, self.ensemble.schema.columns
        names = self.ensemble.feature_names
        for player in features:
            if player in study.groups or columns[names.index(player)].n_codes:
                kind = "a column of a pipeline or a group" if player in study.groups else "a column of categories"
                message = f"{what} needs a column of numbers, but {player!r} is {kind}"
                raise TableError(message)
        if features:
            return [names.index(player) for player in features]
        grouped = {name for group in study.groups.values() for name in group}
        return [f for f, column in enumerate(columns) if not column.n_codes and names[f] not in grouped]

    def monotonicity(self, players: list[str], chosen: Chosen) -> Monotonicity:
        """Return which curves are monotonic."""
        features = self._numbers(players, "monotonicity")
        curves = [self._answers.curve(f, chosen) for f in features]
        trends = [_trend(curve) for curve in curves]
        shape = (len(features), len(chosen.labels))
        cuts = [np.append(curve.cuts, np.nan)[found.cut] for curve, found in zip(curves, trends, strict=True)]
        return Monotonicity(
            names=tuple(curve.name for curve in curves),
            directions=np.array([found.direction for found in trends], dtype=np.str_).reshape(shape),
            mains=np.array([found.main for found in trends], dtype=np.str_).reshape(shape),
            against=np.array([found.against for found in trends]).reshape(shape),
            at=np.array(cuts).reshape(shape),
            shares=np.array([found.share for found in trends]).reshape(shape),
            outputs=chosen.labels,
            units=self._scale.units,
        )

    def rating_table(self, pairs: int | Sequence[tuple[str, str]], chosen: Chosen) -> RatingTable:
        """Return the model as mains and pairs: some pairs, or so many of the strongest."""
        if not isinstance(pairs, int):
            return rating_table(self._values, self._answers, chosen, pairs, len(pairs))
        known = self._study.over.can_count and len(chosen.labels) == 1 and not self._study.groups and pairs > 0
        listed = self.strengths(None, chosen) if known else ()
        return rating_table(self._values, self._answers, chosen, listed, pairs)

    def row_monotonicity(self, players: list[str], chosen: Chosen) -> RowMonotonicity:
        """Return how many rows go against the direction that the model declares, or that curves have."""
        features = self._numbers(players, "monotonicity")
        found = self.monotonicity(players, chosen)
        promised = self.ensemble.promised
        told = np.zeros(found.mains.shape, dtype=np.int8)
        if promised is not None and promised.shape[1] == chosen.n_columns:
            told += promised[features][:, chosen.columns]
            told = -told if chosen.total is not None else told
        directions = np.select([told > 0, told < 0], ["increasing", "decreasing"], found.mains)
        return row_monotonicity(self._values, features, directions, chosen)

    def certificate(self, players: list[str], chosen: Chosen) -> Certificate:
        """Return what the trees alone prove about monotonicity."""
        return certificate(self._study, self._numbers(players, "a certificate"), chosen)

    def spikes(self, players: list[str], points: int, chosen: Chosen) -> Spikes:
        """Return the spikes that curves sampled at some points would miss."""
        points = whole_number(points, "points is the number of sample points", 2)
        features = self._numbers(players, "a spike")
        curves = {feature: self._answers.curve(feature, chosen) for feature in features}
        curves = {feature: curve for feature, curve in curves.items() if curve.cuts.size > 1}
        found: list[Spike] = []
        ranges, basis = self._ranges(curves)
        for feature, ends in ranges.items():
            curve = curves[feature]
            sampled = np.searchsorted(curve.cuts, np.linspace(*ends, points))
            for output in range(len(chosen.labels)):
                found += _spikes(curve, output, sampled)
        names = self.ensemble.feature_names
        return Spikes(
            found=tuple(sorted(found, key=lambda spike: -abs(spike.by))),
            names=tuple(names[f] for f in features),
            points=points,
            basis=basis,
            outputs=chosen.labels,
            units=self._scale.units,
        )

    def _ranges(self, curves: Mapping[int, Curve]) -> tuple[dict[int, tuple[float, float]], str]:
        """Return the smallest and the largest finite number of features in the rows, or of their cuts if unknown.

        And the basis: "rows" if all of them are of the rows.
        """
        extents = {feature: self._study.extent(feature) for feature in curves}
        known = {f: extent[:2] for f, extent in extents.items() if extent is not None and np.isfinite(extent[:2]).all()}
        others = [feature for feature in curves if feature not in known]
        if self._study.over.basis == "rows":
            known |= finite_ends(self._study, others)
        else:
            cuts = {feature: curves[feature].cuts[np.abs(curves[feature].cuts) < LARGEST] for feature in others}
            known |= {f: (float(own[0]), float(own[-1])) if own.size else (0.0, 0.0) for f, own in cuts.items()}
        basis = self._study.over.basis if others or not curves else "rows"
        return {feature: known[feature] for feature in curves}, basis


def _refuse_many_pairs(n_pairs: int) -> None:
    """Refuse pairs of players whose tables do not fit in memory together."""
    if n_pairs > MAX_PAIRS_ON_PATHS:
        message = (
            "the pairs of features on the paths of this model are too many to compare row by row; at most "
            f"{MAX_PAIRS_ON_PATHS:,} are handled. Ask for interaction_values(rows, max_order=2).top()"
        )
        raise TooLargeError(message)


def _trend(curve: Curve) -> Trend:
    """Return the trend of a curve of numbers."""
    cells, rows = curve.axis.ordinary, curve.axis.rows
    beside = [rows.sum() - rows[cells].sum()] if rows.size else []
    found = trend(curve.heights[cells], np.append(rows[cells], beside))
    return found._replace(cut=np.where(found.cut < 0, -1, found.cut + cells.start))


def _spikes(curve: Curve, output: int, sampled: NDArray[np.int64]) -> list[Spike]:
    """Return the spikes of a curve of numbers, given the cells of the sample points."""
    cells = curve.axis.ordinary
    heights, rows = curve.heights[cells, output], curve.rows[cells]
    ends = np.concatenate([[-np.inf], curve.cuts, [np.inf]])[cells.start :]
    sampled = np.clip(sampled - cells.start, 0, len(heights) - 1)
    return [
        Spike(
            feature=curve.name,
            output=curve.outputs[output],
            above=float(ends[found.first]),
            to=float(ends[found.last]),
            height=found.height,
            by=found.by,
            share=abs(found.by) / float(np.ptp(heights)),
            rows=float(rows[found.first : found.last].sum()) if rows.size else np.nan,
        )
        for found in missed(heights, sampled)
    ]
