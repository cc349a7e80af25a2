"""Tables in memory, counted by the threads of this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood._background import Background
from glasswood._counts import Counter, Tally
from glasswood._effects import Effects
from glasswood._job import SomeRows, add_groups, new_tally
from glasswood._plan import CountPlan
from glasswood._printable import how_many
from glasswood._tables import OpenColumns, open_columns
from glasswood._weights import column_of, in_one_unit, refuse_large_sum, weights_of_groups, weights_of_rows
from glasswood.engines._threads import n_threads, sum_over, sum_over_batches
from glasswood.errors import TableError

__all__ = ["background_of", "count", "count_groups", "count_in_parts"]

BLOCK = 8192  # of which the kernels' own blocks are parts
BATCH = 8 * BLOCK
FEW_LEAVES = 64  # of a tree, for which bitsets are always the better way
ROWS_PER_LEAF = 3  # of a tree, from which on they are: a bitset takes as long for one row as for 4,096


def count(
    plan: CountPlan,
    table: Any,
    sample_weight: Any = None,
    *,
    threads: int | None = None,
    lists_only: bool | None = None,
) -> Background:
    """Return the counts of a plan over all rows of a table; with lists only if that is said, or if rows are few."""
    columns = open_columns(table, plan.ensemble.schema, plan.ensemble.used_features)
    if lists_only is None:
        leaves, trees = plan.ensemble.n_leaves, plan.ensemble.n_trees
        lists_only = leaves >= FEW_LEAVES * trees and columns.n_rows * trees < ROWS_PER_LEAF * leaves
    weights, unit = weights_of_rows(sample_weight, columns.n_rows)
    counter = Counter(plan, lists_only=lists_only)
    planes = {plane: _count_rows(counter, columns, weight, threads) for plane, weight in weights}
    return background_of(counter, planes, columns.n_rows, unit, column_of(sample_weight))


def _count_rows(counter: Counter, columns: OpenColumns, weight: NDArray[np.int64] | None, threads: int | None) -> Tally:
    rows = None if weight is None or weight.all() else np.flatnonzero(weight)
    n_rows = columns.n_rows if rows is None else rows.size

    def add(tally: Tally, first: int, last: int) -> None:
        some = slice(first, last) if rows is None else rows[first:last]
        counter.add(tally, columns.take(some), last - first, None if weight is None else weight[some])

    batch = min(batch_size(n_rows), counter.most_rows)
    tallies = sum_over_batches(n_rows, batch, counter.start, add, threads)
    for other in tallies[1:]:
        tallies[0] += other
    return tallies[0]


def count_groups(
    plan: CountPlan, table: Any, sample_weight: Any, keys: Sequence[Any], places: NDArray[np.intp]
) -> dict[Any, Background]:
    """Return the counts of a plan over groups of rows, given each row's place in the list of the groups' keys."""
    columns = open_columns(table, plan.ensemble.schema, plan.ensemble.used_features)
    if places.shape != (columns.n_rows,):
        message = f"by= has the shape {places.shape}, but the table has {how_many(columns.n_rows, 'row')}"
        raise TableError(message)
    weights, units = weights_of_groups(sample_weight, places, len(keys))
    counter = Counter(plan)
    planes: list[dict[int, Tally]] = [{} for _ in keys]
    n_tallies = 0
    for plane, weight in weights:
        rows = np.arange(columns.n_rows) if weight is None else np.flatnonzero(weight)
        sizes = np.bincount(places[rows], minlength=len(keys))
        tallies = []
        for group in np.flatnonzero(sizes).tolist():
            tallies.append(new_tally(counter, n_tallies))
            planes[group][plane] = tallies[-1]
            n_tallies += 1
        number = np.cumsum(sizes > 0) - 1  # of a group among those that have rows here
        _count_rows_of_groups(counter, tallies, columns, SomeRows(rows, number[places[rows]], weight))
    n_rows = np.bincount(places, minlength=len(keys)).tolist()
    return {
        key: background_of(counter, planes[group], n_rows[group], float(units[group]), column_of(sample_weight))
        for group, key in enumerate(keys)
        if n_rows[group]
    }


def _count_rows_of_groups(counter: Counter, tallies: Sequence[Tally], columns: OpenColumns, some: SomeRows) -> None:
    """Count rows of several groups. Each thread takes some of the groups, with about as many rows."""
    ends = np.cumsum(np.bincount(some.places, minlength=len(tallies)))
    wanted = some.rows.size * np.arange(1, n_threads()) // n_threads()
    limits = np.unique(np.concatenate([[0], np.searchsorted(ends, wanted) + 1, [len(tallies)]]))

    def add(_: None, part: int) -> None:
        chosen = np.flatnonzero((some.places >= limits[part]) & (some.places < limits[part + 1]))
        add_groups(counter, tallies, columns, SomeRows(some.rows[chosen], some.places[chosen], some.weight))

    sum_over(range(limits.size - 1), lambda: None, add)


def background_of(
    counter: Counter, planes: Mapping[int, Tally], n_rows: int, unit: float = 1.0, weight: Any = None
) -> Background:
    """Return the background of a group of rows, after the last of them.

    Parameters
    ----------
    counter : Counter
    planes : mapping from int to Tally
        The sums by plane of the weights. They are written to.
    n_rows : int
    unit : float, default 1
        What all sums are multiples of.
    weight : name, optional
        The column of weights.
    """
    plan = counter.plan
    refuse_large_sum(planes, weight)
    tally, own_unit = in_one_unit(planes) if planes else (counter.start(), 1.0)
    tally.n_rows = n_rows
    tally = counter.finish(tally)
    return Background(
        order=plan.order,
        n_rows=tally.n_rows,
        total=tally.total,
        unit=unit * own_unit,
        counts=tally.counts,
        cells=tally.cells,
        fingerprint=plan.fingerprint,
        groups={name: tuple(columns) for name, columns in plan.groups.items()},
    )


def batch_size(n_rows: int) -> int:
    """Return how many rows are counted at a time: whole blocks, and enough batches that no thread waits long."""
    share = n_rows // (4 * n_threads())
    return min(BATCH, max(BLOCK, share // BLOCK * BLOCK))


def count_in_parts(
    plan: CountPlan, table: Any, sample_weight: Any, most: int
) -> tuple[dict[int, NDArray[np.float64]], NDArray[np.float64], NDArray[Any]]:
    """Return the curves, the mean and the rows per cell of a plan with more counts than fit in memory.

    The trees are counted in parts of at most `most` counts; each part is folded into the curves and forgotten.
    """
    e = plan.ensemble
    per_tree = np.bincount(plan.leaf_tree, weights=plan.subsets.size[plan.n_players], minlength=e.n_trees)
    base = e.score.constant
    mean, cells = base.copy(), np.zeros(int(plan.cells.n_cells.sum()))
    curves: dict[int, NDArray[np.float64]] = {}
    first = 0
    while first < e.n_trees:
        last = first + max(1, int(np.searchsorted(np.cumsum(per_tree[first:]), most, side="right")))
        part = plan.part(first, last)
        background = count(part, table, sample_weight, lists_only=True)
        effects = Effects(part, background.counts, background.total)
        mean += effects.mean - base
        for feature, heights in effects.curves().items():
            curves[feature] = curves.get(feature, base) + (heights - base)
        cells = np.maximum(cells, background.cells * background.unit)
        first = last
    return curves, mean, cells
