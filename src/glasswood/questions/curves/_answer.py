"""Partial dependence as it is asked for: of one feature, of two, of any number at points, of a list, of all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from glasswood.errors import ArgumentError
from glasswood.questions.curves._answer_curve import curve_of
from glasswood.questions.curves._answer_grids import GridSpec, PointsOnGrid, Sampled
from glasswood.questions.curves._answer_pairs import PairsOnGrid
from glasswood.questions.curves._answer_points import points_at
from glasswood.questions.curves._answer_request import Request
from glasswood.questions.curves._answer_surface import refuse_surfaces, surface_of, surface_of_names
from glasswood.questions.curves._result import Curve
from glasswood.questions.curves._result_collections import Curves, Pairs
from glasswood.questions.curves._result_points import Points
from glasswood.questions.curves._result_surface import Surface
from glasswood.results import Lazy
from glasswood.study._view import View

__all__ = ["curves", "joint_partial_dependence", "partial_dependence", "points_on_grid"]


def partial_dependence(
    view: View, features: Sequence[Any], request: Request
) -> Curve | Surface | Points | Curves[Curve | Surface | Points]:
    """Return the partial dependence of some features, of each entry of a list, or of each of all."""
    if not features or (len(features) == 1 and isinstance(features[0], list)):
        return _for_each_feature(view, features[0] if features else None, request)
    return _for_features(view, features, request)


def _for_each_feature(view: View, listed: list[Any] | None, request: Request) -> Curves[Curve | Surface | Points]:
    """Return the partial dependence of each entry of a list, or of all features: a mapping."""
    if listed is None and request.plain:
        return curves(view)
    own, asked = request.of_each(), dict[Any, tuple[str, ...]]()
    items = listed
    if items is None:
        items = (None if own.grid is None else own.grid.features(view.study)) or list(view.study.plan(1).players)
    for item in items:
        names = tuple(view.players(item if isinstance(item, tuple) else (item,)))
        if len(names) > 1 and request.at is not None:
            message = f"at= in a list is for single features; ask for {names!r} alone, or pass grid="
            raise ArgumentError(message)
        asked[names if isinstance(item, tuple) else names[0]] = names
        if len(names) > 1:
            refuse_surfaces(view)  # before rows are counted, which some sources allow once only
    if own.grid is None:
        single = {name for names in asked.values() if len(names) <= 2 for name in names} - view.study.groups.keys()
        view.expect(map(view.ensemble.feature_names.index, single))
    return Curves({key: _for_features(view, names, own) for key, names in asked.items()})


def _for_features(view: View, features: Sequence[Any], request: Request) -> Curve | Surface | Points:
    """Return the partial dependence of some features: their curve, their surface, or points."""
    result = _evaluated(view, view.players(features), request)
    if not request.centered:
        return result
    if isinstance(result, Surface):
        message = (
            "centered= is for curves; what a surface adds to its two curves is surface.interaction, and the mean "
            "prediction is surface.first.mean"
        )
        raise ArgumentError(message)
    return result.centered(request.centered)


def _evaluated(view: View, players: list[str], request: Request) -> Curve | Surface | Points:
    if request.grid is not None:
        given = points_on_grid(view, request.grid, players)
        return points_at(view, players, given.columns, given.shape)
    at = request.at
    grouped = any(player in view.study.groups for player in players)
    if at is not None or grouped or len(players) > 2:
        return points_at(view, players, at)
    numbers = [view.ensemble.feature_names.index(player) for player in players]
    return curve_of(view, numbers[0]) if len(numbers) == 1 else surface_of(view, numbers[0], numbers[1])


def curves(view: View) -> Curves[Curve | Points]:
    """Return the curve of every feature, and the points of a pipeline's columns that have no curve."""
    study = view.study
    if study.originals is not None:
        return Curves(Lazy(tuple(study.original_groups), partial(_curve_or_points, view)))
    own, names = set(study.plan(1).players), study.ensemble.feature_names
    # The column of a group of one has a curve, too, but it is asked for by the name of the group.
    return Curves({names[f]: curve_of(view, f) for f in view.curves if names[f] in own})


def _curve_or_points(view: View, player: str) -> Curve | Points:
    if player in view.study.groups:
        return points_at(view, [player], None)
    return curve_of(view, view.ensemble.feature_names.index(player))


def points_on_grid(view: View, spec: GridSpec, players: Sequence[str]) -> PointsOnGrid:
    """Return all combinations of the values of some players."""
    return PointsOnGrid.of({player: spec.values(view.study, player) for player in players})


def joint_partial_dependence(view: View, spec: GridSpec | None) -> Curves[Surface | Points]:
    """Return the joint partial dependence of all pairs of features, on a grid if one is given, computed lazily."""
    study = view.study
    if view.scale.additive:
        study.refuse_order(2)
    refuse_surfaces(view)
    single = [name for name in study.plan(1).players if name not in study.groups]
    if spec is None:
        return Curves(Lazy(Pairs(single), partial(surface_of_names, view)))
    names = spec.features(study) or single
    for name in names[:1] if isinstance(spec, Sampled) else names:  # finds early what is wrong
        spec.values(study, name)
    on_grid = PairsOnGrid(view, spec, names)
    return Curves(Lazy(Pairs(names), on_grid), Lazy(Pairs(names), on_grid.values_of))
