"""Purified effects: what interactions of pairs owe to one of their features is moved to its curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._pairs import KnownPair
from glasswood.errors import ArgumentError, BackgroundError, TableError
from glasswood.parallel._lazy import Deferred
from glasswood.questions.curves import Curve, Curves, Surface, curve_of, surface_of
from glasswood.questions.interactions._answer import pair_rows
from glasswood.questions.interactions._arithmetic_purify import purify
from glasswood.questions.interactions._result_purified import PurifiedEffects
from glasswood.results import JointRows, check_memory
from glasswood.study._view import View

__all__ = ["purified_effects"]


MAX_CELLS = 2**20  # of a pair


def purified_effects(view: View, pairs: Sequence[Sequence[Any]]) -> PurifiedEffects:
    """Return the curves of all features and the interactions of some pairs, purified over the rows."""
    named = [view.players(pair) for pair in pairs]
    study, names, n_outputs, over = view.study, view.ensemble.feature_names, len(view.labels), pair_rows(view.study)
    features = [_features_of(view, pair) for pair in named]
    if len({frozenset(pair) for pair in features}) < len(features):
        message = "the same pair is asked for twice"
        raise ArgumentError(message)
    if over.basis != "rows":
        message = (
            "purified effects depend on how rows fall on pairs of cells, which counts of single features do not tell; "
            "pass a table, files or a frame as the background"
        )
        raise BackgroundError(message)
    curves = {f: curve_of(view, f) for f in view.curves}
    heights = {f: own.heights - own.mean for f, own in curves.items()}
    constant = next(iter(curves.values())).mean.copy() if curves else np.zeros(n_outputs)
    parts: dict[tuple[int, int], tuple[NDArray[np.float64], JointRows | None]] = {}
    used = [pair for pair in features if all(map(study.uses, pair))]
    for some, joint in over.joint(used):
        for number, (a, b) in enumerate(some):
            rows = np.asarray(joint(number), dtype=np.float64)
            check_memory((*rows.shape, n_outputs), 4)
            pure = purify(_interaction(surface_of(view, a, b)), rows)
            heights[a], heights[b] = heights[a] + pure.first, heights[b] + pure.second
            parts[a, b] = (pure.interaction, _rows_of(rows))
    parts |= {pair: (_interaction(surface_of(view, *pair)), None) for pair in features if pair not in parts}
    for f, own in heights.items():
        rows = study.rows_per_cell(f)
        mean = rows @ own / rows.sum() if rows.size else np.zeros(own.shape[1])
        heights[f], constant = own - mean, constant + mean
    mains = {f: _main(own, heights[f]) for f, own in curves.items()}
    surfaces = {
        (names[a], names[b]): Surface(
            first=mains[a],
            second=mains[b],
            pair=KnownPair(interaction),
            find_rows=Deferred.of(rows),
        )
        for (a, b), (interaction, rows) in parts.items()
    }
    return PurifiedEffects(
        constant=constant,
        curves=Curves({names[f]: own for f, own in mains.items()}),
        surfaces=surfaces,
        outputs=view.labels,
        units=view.units,
    )


def _features_of(view: View, pair: Sequence[str]) -> tuple[int, int]:
    """Return two features, given by their names."""
    study = view.study
    if len(pair) != 2:
        message = f"a pair is two features, not {tuple(pair)!r}"
        raise ArgumentError(message)
    grouped = [name for name in pair if name in study.groups]
    if grouped:
        message = f"purified effects are those of single columns, and {grouped[0]!r} is a group of columns"
        raise TableError(message)
    a, b = (study.ensemble.feature_names.index(name) for name in pair)
    n_cells = study.plan(1).cells.n_cells
    if int(n_cells[a]) * int(n_cells[b]) > MAX_CELLS:
        message = (
            f"{pair[0]!r} and {pair[1]!r} have {int(n_cells[a]) * int(n_cells[b]):,} pairs of cells; at most "
            f"{MAX_CELLS:,} are purified"
        )
        raise ArgumentError(message)
    return a, b


def _rows_of(rows: NDArray[np.float64]) -> JointRows:
    a, b = (side.astype(np.int32) for side in np.nonzero(rows))
    return JointRows(a, b, rows[a, b])


def _interaction(joint: Surface) -> NDArray[np.float64]:
    shape = (joint.first.axis.n_cells, joint.second.axis.n_cells, len(joint.first.outputs))
    return np.zeros(shape) if joint.raw_interaction is None else joint.raw_interaction


def _main(own: Curve, heights: NDArray[np.float64]) -> Curve:
    """Return a curve of other heights, without what is known about the old ones."""
    return Curve(axis=own.axis, heights=heights, mean=np.zeros_like(own.mean), outputs=own.outputs, units=own.units)
