"""The surface of two features: their curves, and what the pair adds to them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._pairs import Pair
from glasswood.parallel._lazy import Deferred
from glasswood.questions.curves._answer_curve import curve_of, heights_of
from glasswood.questions.curves._answer_response_pair import ResponsePair
from glasswood.questions.curves._result_surface import Surface, SurfaceFolds
from glasswood.results import JointRows, check_memory
from glasswood.results._folds import LOST_ERROR
from glasswood.study._folds import study_folds
from glasswood.study._study import Study
from glasswood.study._view import View

__all__ = ["refuse_surfaces", "surface_of", "surface_of_names"]


REMEDY = "Ask for points: partial_dependence(a, b, at=a table of points).error"


def surface_of(view: View, a: int, b: int) -> Surface:
    """Return the surface of two features."""
    study = view.study
    pair: Pair | None = None
    if study.over.once_only and view.scale.additive:
        study.effects(2)  # the largest order first: some sources can be counted once only
    if not view.scale.additive:
        refuse_surfaces(view)
        view.expect([a, b])
        pair = ResponsePair(view, (a, b))
    elif study.shares_path(a, b):
        pair = study.pair_effects(a, b).pair(a, b, view.chosen.columns, turned=view.chosen.total is not None)
    return Surface(
        first=curve_of(view, a),
        second=curve_of(view, b),
        pair=pair,
        find_rows=Deferred(lambda: _joint_rows(study, a, b)),
        find_folds=Deferred(lambda: _folds(view, a, b), LOST_ERROR) if view.has_folds else None,
    )


def refuse_surfaces(view: View) -> None:
    """Refuse surfaces on a scale on which they need the rows themselves, and no offset."""
    if not view.scale.additive:
        view.refuse_offset("a surface")
        view.refuse_without_rows("a surface")


def surface_of_names(view: View, names: tuple[str, str]) -> Surface:
    """Return the surface of two features, given by their names."""
    known = view.ensemble.feature_names
    return surface_of(view, known.index(names[0]), known.index(names[1]))


def _joint_rows(study: Study, a: int, b: int) -> JointRows | None:
    """Return how the background's rows fall on pairs of cells of two features; None without a table."""
    if not study.over.in_memory:
        return None
    cells, columns = study.plan(1).cells, study.columns([a, b])
    encoded = columns.encode(0, columns.n_rows)
    return JointRows.of(cells.locate(a, encoded[a]), cells.locate(b, encoded[b]), study.over.weights)


def _folds(view: View, a: int, b: int) -> SurfaceFolds:
    """Return the surface without each fold of the rows."""
    study, folds, left = view.study, study_folds(view.study), view.left_out
    n_a, n_b = (int(n) for n in study.plan(1).cells.n_cells[[a, b]])
    check_memory((len(left), n_a, n_b, len(view.labels)), 4, REMEDY)
    interaction = None
    if not view.scale.additive:
        interaction = _interaction_of_responses(view, a, b)
    elif folds is not None and study.shares_path(a, b):
        columns, turned = view.chosen.columns, view.chosen.total is not None
        effects = [own for _, own in folds.pair_effects(a, b)]
        interaction = np.stack([own.pair(a, b, columns, turned=turned).all() for own in effects])
    return SurfaceFolds(
        first=np.stack([heights_of(part, a) for _, part in left]),
        second=np.stack([heights_of(part, b) for _, part in left]),
        mean=np.stack([part.level for _, part in left]),
        interaction=interaction,
        shares=np.array([share for share, _ in left]),
    )


def _interaction_of_responses(view: View, a: int, b: int) -> NDArray[np.float64]:
    n_a, n_b = (int(n) for n in view.study.plan(1).cells.n_cells[[a, b]])
    cells = np.stack([np.repeat(np.arange(n_a), n_b), np.tile(np.arange(n_b), n_a)])
    result = []
    responses = view.responses_without_folds("a surface on this scale", np.array([a, b]), cells)
    for joint, (_, part) in zip(responses, view.left_out, strict=True):
        alone = joint - part.curves[a][cells[0]] - part.curves[b][cells[1]] + part.mean
        result.append(view.changes(alone).reshape(n_a, n_b, -1))
    return np.stack(result)
