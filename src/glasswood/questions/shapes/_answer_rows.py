"""Rows whose own curves go against a direction: results made of counts, and the worst row of a table in memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._statistic import StatisticSpec
from glasswood.errors import BackgroundError
from glasswood.parallel._lazy import Deferred
from glasswood.questions.shapes._result_rows import RowMonotonicity, WorstRow
from glasswood.questions.shapes._statistic import Counted, FallsSpec, RowFalls
from glasswood.study._summary_plan import SummaryPlan
from glasswood.study._view import View

__all__ = ["rows_against"]


NO_ROWS = (
    "this needs the rows themselves, and looks at each row in all cells of each feature. Pass a table, files or a "
    "frame as the background; a Background has it if it was made with summarize(..., answers=['row_monotonicity'])"
)

SIDES = {"increasing": 0, "decreasing": 1}  # falls break the first, rises the second


def rows_against(view: View, features: Sequence[int], directions: NDArray[np.str_]) -> RowMonotonicity:
    """Return how many rows go against the direction of each feature and output: (n_features, n_outputs)."""
    study, chosen = view.study, view.chosen
    spec = falls_spec(view)
    background = study.summed(spec, NO_ROWS, view.refusal)
    if background.total <= 0:
        raise BackgroundError(NO_ROWS)
    rows = RowFalls(study.ensemble, spec)
    counted = Counted.of(rows, background.vectors[spec.key])
    turned = chosen.total is not None
    shape = (len(features), len(chosen.labels))
    moves = np.zeros((2, *shape))
    bounds = np.full((*shape, 2), np.nan)
    cuts: list[NDArray[np.float64]] = []
    steps: list[NDArray[np.float64]] = []
    for i, feature in enumerate(features):
        if feature not in counted:  # the model does not use it
            cuts.append(np.empty(0))
            steps.append(np.empty((0, shape[1])))
            continue
        own = counted[feature]
        first = rows.first[feature]
        cuts.append(rows.plan.cells.cuts_of(feature)[first : first + rows.n_steps[feature]])
        of_steps = np.empty((rows.n_steps[feature], shape[1]))
        for k, column in enumerate(chosen.columns):
            # Of the other class of a binary model, falls are rises.
            moves[:, i, k] = own.weight[::-1, column] if turned else own.weight[:, column]
            side = SIDES[str(directions[i, k])] ^ turned
            bounds[i, k] = own.largest[side, :, column]
            of_steps[:, k] = own.steps[side, column]
        steps.append(of_steps * background.unit)
    moves *= background.unit
    return RowMonotonicity(
        names=tuple(study.ensemble.feature_names[f] for f in features),
        directions=directions,
        falling=moves[0],
        rising=moves[1],
        bounds=bounds,
        cuts=tuple(cuts),
        steps=tuple(steps),
        total=background.total * background.unit,
        outputs=chosen.labels,
        units=view.units,
        find_worst=Deferred(lambda: _worst(view, spec, features, directions)) if study.over.in_memory else None,
    )


def falls_spec(view: View) -> FallsSpec:
    """Return the falls of rows on a scale, as they are asked for."""
    over = view.study.over
    spec = FallsSpec.of_model(view.ensemble, view.scale, over.columns)
    return spec if over.counted is None else spec.known_in(over.counted)


def _worst(
    view: View, spec: FallsSpec, features: Sequence[int], directions: NDArray[np.str_]
) -> dict[tuple[str, int], WorstRow]:
    """Return the row that goes furthest against each direction, by feature and output."""
    study, chosen = view.study, view.chosen
    used = [f for f in features if study.uses(f)]
    if not used:
        return {}
    falls = RowFalls(study.ensemble, spec, used)
    own, weight, row_values = study.own_rows(falls.plan), study.over.weights, study.over.row_values
    best: dict[tuple[int, int], float] = {}
    result: dict[tuple[str, int], WorstRow] = {}
    places = {f: i for i, f in enumerate(features)}
    for start in range(0, own.n_rows, falls.n_held):
        end = min(own.n_rows, start + falls.n_held)
        for feature, curve in falls.curves(own.cells(start, end), row_values.take(slice(start, end))).items():
            for k in range(len(chosen.labels)):
                against = 1.0 if directions[places[feature], k] == "increasing" else -1.0
                levels = chosen.levels(np.moveaxis(curve, 1, -1))[..., k]
                own_falls = falls.falls(against * levels[:, None])
                size = np.where(own_falls.breaks[0], own_falls.size[0], 0.0)
                size = size if weight is None else np.where(weight[start:end] > 0, size, 0.0)
                row = int(size.argmax())
                if size[row] > best.get((feature, k), 0.0):
                    best[feature, k] = float(size[row])
                    cells = int(own_falls.low[0, row]), int(own_falls.high[0, row])
                    name = study.ensemble.feature_names[feature]
                    result[name, k] = WorstRow(
                        row=start + row,
                        values=_values(falls, feature, cells),
                        responses=(float(levels[cells[0], row]), float(levels[cells[1], row])),
                    )
    return result


def _values(falls: RowFalls, feature: int, cells: tuple[int, int]) -> tuple[float, float]:
    """Return the upper ends of two cells of an axis."""
    ends = np.append(falls.plan.cells.cuts_of(feature), np.inf)[falls.first[feature] :]
    return float(ends[cells[0]]), float(ends[cells[1]])


def specs_of_summary(summary: SummaryPlan) -> list[StatisticSpec]:
    """Return the falls of rows that a Background is to have."""
    return [FallsSpec.of_model(summary.model.ensemble, summary.scale, summary.columns)]
