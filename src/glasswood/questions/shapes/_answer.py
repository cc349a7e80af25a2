"""The shapes of curves: whether they are monotonic, and spikes that sampled curves would miss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import TableError
from glasswood.questions.curves import Curve, curve_of
from glasswood.questions.shapes._answer_rows import rows_against
from glasswood.questions.shapes._arithmetic import Trend, missed, trend
from glasswood.questions.shapes._result import Monotonicity, Spike, Spikes
from glasswood.questions.shapes._result_rows import RowMonotonicity
from glasswood.results import LARGEST
from glasswood.study._second_pass import finite_ends
from glasswood.study._view import View
from glasswood.text._arguments import whole_number

__all__ = ["monotonicity", "numbers_of", "row_monotonicity", "spikes"]


def numbers_of(view: View, features: Sequence[Any], what: str) -> list[int]:
    """Return some features, or all, that are numbers on an axis of their own; others are refused if they are named."""
    study, columns, names = view.study, view.ensemble.schema.columns, view.ensemble.feature_names
    players = view.players(features) if features else []
    for player in players:
        if player in study.groups or columns[names.index(player)].n_codes:
            kind = "a column of a pipeline or a group" if player in study.groups else "a column of categories"
            message = f"{what} needs a column of numbers, but {player!r} is {kind}"
            raise TableError(message)
    if players:
        return [names.index(player) for player in players]
    grouped = {name for group in study.groups.values() for name in group}
    return [f for f, column in enumerate(columns) if not column.n_codes and names[f] not in grouped]


def monotonicity(view: View, features: Sequence[Any] = ()) -> Monotonicity:
    """Return which curves are monotonic."""
    numbers = numbers_of(view, features, "monotonicity")
    curves = [curve_of(view, f) for f in numbers]
    trends = [_trend(own) for own in curves]
    shape = (len(numbers), len(view.labels))
    cuts = [np.append(own.cuts, np.nan)[result.cut] for own, result in zip(curves, trends, strict=True)]
    return Monotonicity(
        names=tuple(own.name for own in curves),
        directions=np.array([result.direction for result in trends], dtype=np.str_).reshape(shape),
        mains=np.array([result.main for result in trends], dtype=np.str_).reshape(shape),
        against=np.array([result.against for result in trends]).reshape(shape),
        at=np.array(cuts).reshape(shape),
        shares=np.array([result.share for result in trends]).reshape(shape),
        outputs=view.labels,
        units=view.units,
    )


def row_monotonicity(view: View, features: Sequence[Any] = ()) -> RowMonotonicity:
    """Return how many rows go against the direction that the model declares, or that curves have."""
    numbers = numbers_of(view, features, "monotonicity")
    of_curves, promised, chosen = monotonicity(view, features), view.ensemble.promised, view.chosen
    declared = np.zeros(of_curves.mains.shape, dtype=np.int8)
    if promised is not None and promised.shape[1] == chosen.n_columns:
        declared += promised[numbers][:, chosen.columns]
        declared = -declared if chosen.total is not None else declared
    directions = np.select([declared > 0, declared < 0], ["increasing", "decreasing"], of_curves.mains)
    return rows_against(view, numbers, directions)


def spikes(view: View, features: Sequence[Any] = (), points: int = 100) -> Spikes:
    """Return the spikes that curves sampled at some points would miss."""
    points = whole_number(points, "points is the number of sample points", 2)
    numbers = numbers_of(view, features, "a spike")
    curves = {feature: curve_of(view, feature) for feature in numbers}
    curves = {feature: own for feature, own in curves.items() if own.cuts.size > 1}
    result: list[Spike] = []
    ranges, basis = _ranges(view, curves)
    for feature, ends in ranges.items():
        own = curves[feature]
        sampled = np.searchsorted(own.cuts, np.linspace(*ends, points))
        for output in range(len(view.labels)):
            result += _spikes(own, output, sampled)
    names = view.ensemble.feature_names
    return Spikes(
        entries=tuple(sorted(result, key=lambda spike: -abs(spike.by))),
        names=tuple(names[f] for f in numbers),
        points=points,
        basis=basis,
        outputs=view.labels,
        units=view.units,
    )


def _ranges(view: View, curves: Mapping[int, Curve]) -> tuple[dict[int, tuple[float, float]], str]:
    """Return the smallest and the largest finite number of features in the rows, or of their cuts if unknown.

    And the basis: "rows" if all of them are of the rows.
    """
    study = view.study
    extents = {feature: study.extent(feature) for feature in curves}
    known = {f: extent[:2] for f, extent in extents.items() if extent is not None and np.isfinite(extent[:2]).all()}
    others = [feature for feature in curves if feature not in known]
    if study.over.basis == "rows":
        known |= finite_ends(study, others)
    else:
        cuts = {feature: curves[feature].cuts[np.abs(curves[feature].cuts) < LARGEST] for feature in others}
        known |= {f: (float(own[0]), float(own[-1])) if own.size else (0.0, 0.0) for f, own in cuts.items()}
    basis = study.over.basis if others or not curves else "rows"
    return {feature: known[feature] for feature in curves}, basis


def _trend(own: Curve) -> Trend:
    """Return the trend of a curve of numbers."""
    cells, rows = own.axis.ordinary, own.axis.rows
    beside = [rows.sum() - rows[cells].sum()] if rows.size else []
    result = trend(own.heights[cells], np.append(rows[cells], beside))
    return result._replace(cut=np.where(result.cut < 0, -1, result.cut + cells.start))


def _spikes(own: Curve, output: int, sampled: NDArray[np.int64]) -> list[Spike]:
    """Return the spikes of a curve of numbers, given the cells of the sample points."""
    cells = own.axis.ordinary
    heights, rows = own.heights[cells, output], own.rows[cells]
    ends = np.concatenate([[-np.inf], own.cuts, [np.inf]])[cells.start :]
    sampled = np.clip(sampled - cells.start, 0, len(heights) - 1)
    return [
        Spike(
            feature=own.name,
            output=own.outputs[output],
            above=float(ends[result.first]),
            to=float(ends[result.last]),
            height=result.height,
            by=result.by,
            share=abs(result.by) / float(np.ptp(heights)),
            rows=float(rows[result.first : result.last].sum()) if rows.size else np.nan,
        )
        for result in missed(heights, sampled)
    ]
