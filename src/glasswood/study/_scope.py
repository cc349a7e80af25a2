"""Scope: a study on one scale and over one set of rows, and who answers questions about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from glasswood.errors import ArgumentError, TableError
from glasswood.models._outputs import Chosen
from glasswood.models._scale import Scale
from glasswood.parallel._once import once
from glasswood.results import Curve, Curves, Lazy, Pairs, Points, Surface
from glasswood.study._ale import AleAnswers
from glasswood.study._answers import Answers
from glasswood.study._grids import GridSpec, PointsOnGrid, Sampled
from glasswood.study._on_scale import OnScale
from glasswood.study._overview import Overview
from glasswood.study._pairs_on_grid import PairsOnGrid
from glasswood.study._request import Request
from glasswood.study._study import Study

__all__ = ["Scope"]


@dataclass(frozen=True, eq=False)
class Scope:
    """A study on one scale, and who answers questions about it.

    Parameters
    ----------
    study : Study
    scale : Scale
    """

    study: Study
    scale: Scale

    @once
    def values(self) -> OnScale:
        """Curves, means and responses of rows."""
        return OnScale(self.study, self.scale)

    @once
    def answers(self) -> Answers:
        """Results about some features, or about rows."""
        return Answers(self.values)

    @once
    def local(self) -> AleAnswers:
        """Accumulated local effects."""
        return AleAnswers(self.values, self.answers)

    @once
    def overview(self) -> Overview:
        """Results about the whole model."""
        return Overview(self.values, self.answers)

    def choose(self, output: object, output_index: int | None) -> Chosen:
        """Return the outputs that are asked for."""
        return self.scale.outputs.choose(output, output_index)

    def players(self, features: Sequence[Any]) -> list[str]:
        """Return the names of some distinct features (or groups), at least one."""
        found = [self.study.player(feature) for feature in features]
        if not found:
            message = "at least one feature is required"
            raise TableError(message)
        if len(set(found)) != len(found):
            message = f"the same feature is asked for twice: {tuple(features)!r}"
            raise TableError(message)
        return found

    def dependence(self, features: Sequence[Any], request: Request, chosen: Chosen) -> Any:
        """Return the partial dependence of some features: their curve, their surface, or points."""
        players = self.players(features)
        found = self._dependence(players, request, chosen)
        if not request.centered:
            return found
        if isinstance(found, Surface):
            message = (
                "centered= is for curves; what a surface adds to its two curves is surface.interaction, and the mean "
                "prediction is surface.first.mean"
            )
            raise ArgumentError(message)
        return found.centered(request.centered)

    def dependences(self, listed: list[Any] | None, request: Request, chosen: Chosen) -> Curves:
        """Return the partial dependence of each entry of a list, or of all features: a mapping."""
        if listed is None and request.plain:
            return self.curves(chosen)
        own, found = request.of_each(), {}
        items = listed
        if items is None:
            items = (None if own.grid is None else own.grid.features(self.study)) or list(self.study.plan(1).players)
        for item in items:
            names = tuple(self.players(item if isinstance(item, tuple) else (item,)))
            if len(names) > 1 and request.at is not None:
                message = f"at= in a list is for single features; ask for {names!r} alone, or pass grid="
                raise ArgumentError(message)
            found[names if isinstance(item, tuple) else names[0]] = self.dependence(names, own, chosen)
        return Curves(found)

    def points_on_grid(self, spec: GridSpec, players: Sequence[str]) -> PointsOnGrid:
        """Return all combinations of the values of some players."""
        return PointsOnGrid.of({player: spec.values(self.study, player) for player in players})

    def pairs_on_grid(self, spec: GridSpec, chosen: Chosen) -> Curves:
        """Return the joint partial dependence of all pairs of features on a grid, computed when looked up."""
        study = self.study
        names = spec.features(study) or [name for name in study.plan(1).players if name not in study.groups]
        for name in names[:1] if isinstance(spec, Sampled) else names:  # finds early what is wrong
            spec.values(study, name)
        points = PairsOnGrid(self.answers, self.values, spec, names, chosen)
        return Curves(Lazy(Pairs(names), points))

    def _dependence(self, players: list[str], request: Request, chosen: Chosen) -> Curve | Surface | Points:
        if request.grid is not None:
            points = self.points_on_grid(request.grid, players)
            return self.answers.points(players, points.columns, chosen, points.shape)
        at = request.at
        grouped = any(player in self.study.groups for player in players)
        if at is not None or grouped or len(players) > 2:
            return self.answers.points(players, at, chosen)
        numbers = [self.study.ensemble.feature_names.index(player) for player in players]
        if len(numbers) == 1:
            return self.answers.curve(numbers[0], chosen)
        return self.answers.surface(numbers[0], numbers[1], chosen)

    def curves(self, chosen: Chosen) -> Curves:
        """Return the curve of every feature, and the points of a pipeline's columns that have no curve."""
        study = self.study
        if study.originals is not None:
            return Curves(Lazy(tuple(study.original_groups), partial(self._curve_or_points, chosen)))
        own, names = set(study.plan(1).players), study.ensemble.feature_names
        # The column of a group of one has a curve, too, but it is asked for by the name of the group.
        return Curves({names[f]: self.answers.curve(f, chosen) for f in self.values.curves if names[f] in own})

    def _curve_or_points(self, chosen: Chosen, player: str) -> Curve | Points:
        if player in self.study.groups:
            return self.answers.points_of(chosen, player)
        return self.answers.curve(self.study.ensemble.feature_names.index(player), chosen)

    def ranked(self) -> list[str]:
        """Return the names of all features that the model uses, the most important first; of one, if it uses none.

        Groups of columns are ranked by the raw score: other responses would need each row at the values of all others.
        """
        study = self.study
        if study.groups and not self.scale.is_score and not study.combined:
            return Scope(study, study.scale("raw")).ranked()
        chosen = self.scale.outputs.choose()
        names = list(self.overview.importance(chosen).names) if study.over.has_rows else self.overview.by_span()
        plan, used = study.plan(1), study.ensemble.used_features
        players = {plan.players[player] for player in plan.player_of[used]}
        return [name for name in names if name in players] or names[:1]
