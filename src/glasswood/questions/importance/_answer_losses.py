"""Mean losses of a study: of the rows as they are, and with each player redrawn from all rows.

Total importance is that of the squared change of the score, permutation importance that of a loss of the target.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import make_plan
from glasswood.counting._weights import fixed_point
from glasswood.counting._wide import numbers_of
from glasswood.effects._row_cells import Rows
from glasswood.effects._row_sums import asked_of, quotients, unchanged
from glasswood.errors import BackgroundError
from glasswood.models._scale import Scale
from glasswood.parallel._threads import in_order
from glasswood.questions.importance._statistic import LossMoments, LossSpec, RowLosses
from glasswood.questions.importance._statistic_losses import Loss
from glasswood.study._averages import NO_ROWS
from glasswood.study._folds import study_folds
from glasswood.study._group_values import group_values, groups_of
from glasswood.study._study import SAMPLED, Study
from glasswood.tables._folds import fold_of_positions
from glasswood.tables._row_values import NO_VALUES, RowValues

__all__ = ["MeanLosses", "has_losses", "loss_spec", "mean_losses", "refuse_total", "too_many_leaves", "without_folds"]


MAX_NUMBERS = 2**32  # leaf values and responses of rows: what is more is sampled, unless all rows are asked for

MIN_ROWS = 256  # of a sample

OF_PYTHON = 16  # how many times as long a response takes that Python computes

IN_CACHE, BEYOND_CACHE = 2**16, 4  # leaf values of a row, and how many times as long more of them take

BATCH = 2**12  # rows


@dataclass(frozen=True, eq=False)
class MeanLosses:
    """Mean losses, (n_players, n_sums), and of how many rows.

    Parameters
    ----------
    base : ndarray of shape (n_sums,)
        That of the rows as they are.
    redrawn : ndarray of shape (n_players, n_sums)
        That with each player redrawn from all rows.
    increase : ndarray of shape (n_players, n_sums)
        How much larger that is.
    n_rows : int
    study : Study
        The study of these rows.
    sampled : bool
        Whether these are a sample.
    """

    base: NDArray[np.float64]
    redrawn: NDArray[np.float64]
    increase: NDArray[np.float64]
    n_rows: int
    study: Study
    sampled: bool


def loss_spec(study: Study, scale: Scale, loss: Loss) -> LossSpec:
    """Return the sums of a loss of responses on a scale, as they are asked for."""
    spec, counted = LossSpec.of_model(study.ensemble, scale, loss, study.over.columns), study.over.counted
    if counted is not None:
        return spec.known_in(counted)
    # Two functions may have one name, as when a cell of a notebook is changed. The sums that are kept hold theirs.
    return spec if loss.function is None else replace(spec, key=f"{spec.key} {id(loss.function)}")


def has_losses(study: Study, spec: LossSpec) -> bool:
    """Return whether loss sums are at hand in counts that were made before."""
    return study.over.counted is not None and spec.key in study.over.counted.vectors


def _moments(study: Study, spec: LossSpec) -> LossMoments:
    """Return mean losses, after a pass over the rows if need be."""

    def make() -> LossMoments:
        background = study.background_with(spec)
        limbs = background.vectors[spec.key]
        return LossMoments(study.ensemble, spec, limbs, background.cells, background.total)

    return study.cached(("losses", spec.key), make)


def refuse_total(study: Study, spec: LossSpec, *, asked: bool) -> str:
    """Return why there is no total importance; nothing, if there is. Clusters count again only if they are asked to."""
    over = study.over
    if not over.has_rows:
        return "total importance needs rows; pass them to Explainer as the background"
    if groups_of(study).size and not over.in_memory:
        player = study.plan(1).players[int(groups_of(study)[0])]
        return (
            f"the total importance of the group {player!r} needs the rows themselves, not only counts; pass a table as "
            "the background, or leave the group out"
        )
    if over.basis == "rows" or has_losses(study, spec) or (asked and over.can_count):
        return ""
    return (
        "total importance needs the rows, or sums of changes of the score, and there are none of both here; make a "
        "Background with summarize(model, rows, answers=['importance']), or ask for kind='main'"
    )


def mean_losses(study: Study, spec: LossSpec, *, all_rows: bool = False) -> MeanLosses:
    """Return the mean losses of a study; of a sample of its rows if there are very many, unless all are asked for."""
    n_parts = 1 if all_rows or has_losses(study, spec) else _number_of_samples(study, spec)
    if n_parts > 1 and study.over.in_memory:
        study = study.sample(n_parts)
    if n_parts > 1 and not study.over.in_memory:
        moments, n_rows = _losses_of_source(study, spec, n_parts)
    else:
        moments, n_rows = _moments(study, spec), study.n_rows
    plan, groups = study.plan(1), groups_of(study)
    first = np.array([np.flatnonzero(plan.player_of == player)[0] for player in range(len(plan.players))])
    redrawn, increase = moments.redrawn[first], moments.increase[first]
    for player in groups.tolist():
        redrawn[player], increase[player] = _losses_of_group(study, spec, player)
    return MeanLosses(moments.base, redrawn, increase, n_rows, study, n_parts > 1)


def without_folds(study: Study, spec: LossSpec) -> Iterator[tuple[float, MeanLosses]]:
    """Yield the share of each fold, and the mean losses of all other rows."""
    folds = study_folds(study)
    if folds is None:
        return
    if not groups_of(study).size:
        for share, left in folds.without(spec):
            yield share, mean_losses(left, spec)
        return
    folds.refuse_without_table("the importance of groups")
    for share, left in folds.without_rows():
        yield share, mean_losses(left, spec, all_rows=True)


def _number_of_samples(study: Study, spec: LossSpec) -> int:
    """Return of how many parts of the rows one is enough: samples are of tables, or of rows that can be read again."""
    over = study.over
    if not over.in_memory and (over.basis != "rows" or not spec.loss.is_change or spec.offset):
        return 1
    n_rows, numbers = study.n_rows, _numbers_of_row(study, spec)
    if groups_of(study).size:
        numbers += min(n_rows, int(MAX_NUMBERS**0.5)) * groups_of(study).size  # as many values as rows, at most
    return max(1, min(-(-n_rows * numbers // MAX_NUMBERS), n_rows // MIN_ROWS))


def too_many_leaves(study: Study, spec: LossSpec) -> bool:
    """Return whether a model is so large that a sample takes long, too."""
    return MIN_ROWS * _numbers_of_row(study, spec) > 2 * MAX_NUMBERS


def _numbers_of_row(study: Study, spec: LossSpec) -> int:
    """Return about how many numbers a row takes: a response in each cell, and the leaf values that they add up."""
    ensemble, loss = study.ensemble, spec.loss
    leaves = 2 * ensemble.n_leaves * int(ensemble.value.shape[1])
    cells = int(study.plan(1).cells.n_cells[ensemble.used_features].sum()) * spec.scale.outputs.n_columns
    of_python = loss.function is not None or spec.scale.inverse is not None
    return cells * (OF_PYTHON if of_python else 1) + leaves * (BEYOND_CACHE if leaves > IN_CACHE else 1)


def _losses_of_source(study: Study, spec: LossSpec, n_parts: int) -> tuple[LossMoments, int]:
    """Return the mean losses of a sample of the rows of a source, and its size."""
    plan = make_plan(study.ensemble, 1, {})
    used, first = plan.ensemble.used_features, 0
    cells, weights = [np.empty((used.size, 0), dtype=np.int32)], [np.empty(0)]
    for part in study.over.parts(plan.ensemble.schema, used):
        rows = np.flatnonzero(fold_of_positions(SAMPLED + first, part.columns.n_rows, n_parts) == 0)
        first += part.columns.n_rows
        if rows.size:
            cells.append(Rows(plan, part.columns).cells_at(rows))
            weights += [] if part.weight is None else [part.weight[rows]]
    held = np.concatenate(cells, axis=1)
    weight = fixed_point(np.concatenate(weights), held.shape[1])[0] if len(weights) > 1 else None
    total = held.shape[1] if weight is None else int(weight.sum())
    if total <= 0:
        raise BackgroundError(NO_ROWS)
    per_cell = np.zeros(plan.cells.n_cells.sum(), dtype=np.int64)
    for feature, line in zip(used.tolist(), held, strict=True):
        np.add.at(per_cell, plan.cells.offset[feature] + line, 1 if weight is None else weight)
    losses = RowLosses(plan, spec, asked_of(plan))
    sums = _summed(losses, held, weight, NO_VALUES)
    return LossMoments(study.ensemble, spec, sums.ravel(), per_cell, total), held.shape[1]


def _summed(
    losses: RowLosses, cells: NDArray[np.int32], weight: NDArray[np.int64] | None, values: RowValues
) -> NDArray[np.int64]:
    """Return the loss sums of rows, given their cells."""
    sums, n_rows = losses.start(), cells.shape[1]

    def work(number: int) -> NDArray[np.int64]:
        here = slice(number * BATCH, min(n_rows, (number + 1) * BATCH))
        own, result = np.empty(0, dtype=np.int64) if weight is None else weight[here], losses.start()
        losses.add(np.ascontiguousarray(cells[:, here]), own, values.take(here), result)
        return result

    with in_order(-(-n_rows // BATCH), work, "importance") as parts:
        for result in parts:
            sums += result
    return sums


def _losses_of_group(study: Study, spec: LossSpec, player: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean loss with the columns of a group redrawn together, and its increase: from the rows in memory."""
    plan, over, rows = study.plan(1), study.over, study.own_rows()
    own = group_values(study, player, "or pass fewer rows")
    weight = fixed_point(over.weights, rows.n_rows)[0]
    counts = np.ones(rows.n_rows, dtype=np.int64) if weight is None else weight
    shares: NDArray[np.int64] = np.zeros(own.cells.shape[1], dtype=np.int64)
    np.add.at(shares, own.place, counts)
    losses = RowLosses(plan, spec, [(player, own.features, own.cells), unchanged()])
    sums = numbers_of(_summed(losses, rows.cells(0, rows.n_rows), weight, over.row_values)).reshape(-1, losses.n_sums)
    total = int(counts.sum())
    product = (shares.astype(object)[:, None] * sums[:-1]).sum(axis=0)
    return (
        quotients(product, total**2, losses.unit),
        quotients(product - sums[-1] * total, total**2, losses.unit),
    )
