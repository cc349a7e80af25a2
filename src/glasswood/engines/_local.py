"""Rows that are counted by the threads of this process: tables in memory, fragments of files, and streams of tables."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._background import Background, background_of
from glasswood.counting._counter import Counter
from glasswood.counting._folds import background_of_folds
from glasswood.counting._job import COUNTS_REMEDY, Job, SomeRows, Sums, add_fragment, add_groups, new_tally
from glasswood.counting._partial import WHOLE, Partial
from glasswood.counting._plan import CountPlan
from glasswood.counting._statistic import StatisticSpec, Tally
from glasswood.counting._weights import ColumnWeights, column_of, weights_of_groups, weights_of_rows
from glasswood.engines import _checkpoint
from glasswood.engines._checkpoint import Checkpoint
from glasswood.parallel._memory import check_memory, threads_that_fit
from glasswood.parallel._progress import bar
from glasswood.parallel._threads import n_threads, sum_over, sum_over_batches
from glasswood.tables._parquet import Fragment
from glasswood.tables._row_columns import places_of_groups, refuse_size_of_groups, row_weights, sorted_groups
from glasswood.tables._row_values import NO_VALUES, RowValues
from glasswood.tables._sources import InMemory, Stream
from glasswood.tables._tables import OpenColumns, ReadableColumns, open_columns

__all__ = ["count", "count_files", "count_groups", "count_stream", "count_table"]

BLOCK = 8192  # of which the kernels' own blocks are parts
BATCH = 8 * BLOCK
FEW_LEAVES = 64  # of a tree, for which bitsets are always the better way
FEW_GROUPS, MAX_HELD = 64, 2**24  # groups that are counted in the order of the rows, and the counts of all threads
ROWS_PER_LEAF = 3  # of a tree, from which on they are: a bitset takes as long for one row as for 4,096


def count(  # noqa: PLR0913 (one call has all settings of a pass)
    plan: CountPlan,
    table: object,
    sample_weight: object = None,
    *,
    threads: int | None = None,
    lists_only: bool | None = None,
    further: Sequence[StatisticSpec] = (),
    values: RowValues = NO_VALUES,
) -> Background:
    """Return the counts of a plan over all rows of a table; with lists only if that is said, or if rows are few."""
    columns = open_columns(table, plan.ensemble.schema, plan.ensemble.used_features)
    return _count(plan, columns, sample_weight, threads, lists_only=lists_only, further=further, values=values)


def _count(  # noqa: PLR0913 (one call has all settings of a pass)
    plan: CountPlan,
    columns: ReadableColumns,
    sample_weight: object,
    threads: int | None = None,
    *,
    lists_only: bool | None = None,
    further: Sequence[StatisticSpec] = (),
    values: RowValues = NO_VALUES,
) -> Background:
    """Do the same, given the columns that the plan's trees use."""
    if lists_only is None:
        leaves, trees = plan.ensemble.n_leaves, plan.ensemble.n_trees
        lists_only = leaves >= FEW_LEAVES * trees and columns.n_rows * trees < ROWS_PER_LEAF * leaves
    weights, unit = weights_of_rows(sample_weight, columns.n_rows)
    counter = Counter(plan, further, lists_only=lists_only)
    planes = {plane: _count_rows(counter, columns, weight, threads, values) for plane, weight in weights}
    return background_of(counter, planes, columns.n_rows, unit, column_of(sample_weight))


def _count_rows(
    counter: Counter,
    columns: ReadableColumns,
    weight: NDArray[np.int64] | None,
    threads: int | None,
    values: RowValues,
) -> Tally:
    rows = None if weight is None or weight.all() else np.flatnonzero(weight)
    n_rows = columns.n_rows if rows is None else rows.size

    def add(tally: Tally, first: int, last: int) -> None:
        some = slice(first, last) if rows is None else rows[first:last]
        with columns.read(some, counter.digested) as (encoded, digests):
            own = None if weight is None else weight[some]
            counter.add(tally, encoded, last - first, own, digests, values.take(some))

    batch = min(batch_size(n_rows), counter.max_rows)
    tallies = sum_over_batches(n_rows, batch, counter.start, add, threads or threads_for(counter))
    for other in tallies[1:]:
        tallies[0] += other
    return tallies[0]


def threads_for(counter: Counter) -> int:
    """Return how many threads can have sums of their own; fewer if memory is short. Refuse sums that do not fit."""
    n_counts = sum(vector.size for vector in counter.vectors)
    check_memory((n_counts,), remedy=COUNTS_REMEDY)
    return threads_that_fit(n_counts)


def count_groups(  # noqa: PLR0913 (one call has all settings of a pass)
    plan: CountPlan,
    table: object,
    sample_weight: object,
    keys: Sequence[Any],
    places: NDArray[np.intp],
    further: Sequence[StatisticSpec] = (),
    values: RowValues = NO_VALUES,
) -> dict[Any, Background]:
    """Return the counts of a plan over groups of rows, given each row's place in the list of the groups' keys."""
    e = plan.ensemble
    columns = table if isinstance(table, OpenColumns) else open_columns(table, e.schema, e.used_features)
    refuse_size_of_groups(places, columns.n_rows)
    weights, units = weights_of_groups(sample_weight, places, len(keys))
    n_rows = np.bincount(places, minlength=len(keys)).tolist()
    division = values.division if values.fold is not None else None
    n_folds = 1 if division is None else division.number
    places = places if values.fold is None else places * n_folds + values.fold
    counter = Counter(plan, further)
    planes: list[dict[int, Tally]] = [{} for _ in range(len(keys) * n_folds)]
    n_tallies = 0
    for plane, weight in weights:
        rows = np.arange(columns.n_rows) if weight is None else np.flatnonzero(weight)
        sizes = np.bincount(places[rows], minlength=len(planes))
        tallies = []
        for group in np.flatnonzero(sizes).tolist():
            tallies.append(new_tally(counter, n_tallies))
            planes[group][plane] = tallies[-1]
            n_tallies += 1
        number = np.cumsum(sizes > 0) - 1  # of a group among those that have rows here
        _count_rows_of_groups(counter, tallies, columns, SomeRows(rows, number[places[rows]], weight, values))

    def background(group: int) -> Background:
        own, settings = planes[group * n_folds : (group + 1) * n_folds], (n_rows[group], float(units[group]))
        if division is None:
            return background_of(counter, own[0], *settings, column_of(sample_weight))
        return background_of_folds(counter, dict(enumerate(own)), division, *settings, column_of(sample_weight))

    return {key: background(group) for group, key in enumerate(keys) if n_rows[group] or key == WHOLE}


def _count_rows_of_groups(counter: Counter, tallies: Sequence[Tally], columns: OpenColumns, some: SomeRows) -> None:
    """Count rows of several groups. Each thread takes groups with about the same total number of rows.

    Few groups are counted in the order of the rows instead, by threads with tallies of their own: rows of a group that
    are far apart cost twice as much to bring together.
    """
    n_counts = sum(vector.size for vector in counter.vectors)
    if len(tallies) <= FEW_GROUPS and n_threads() * len(tallies) * n_counts <= MAX_HELD:
        _count_in_order(counter, tallies, columns, some)
        return
    ends = np.cumsum(np.bincount(some.places, minlength=len(tallies)))
    shares = some.rows.size * np.arange(1, n_threads()) // n_threads()
    limits = np.unique(np.concatenate([[0], np.searchsorted(ends, shares) + 1, [len(tallies)]]))

    def add(_: None, part: int) -> None:
        chosen = np.flatnonzero((some.places >= limits[part]) & (some.places < limits[part + 1]))
        add_groups(counter, tallies, columns, some._replace(rows=some.rows[chosen], places=some.places[chosen]))

    sum_over(range(limits.size - 1), lambda: None, add)


def _count_in_order(counter: Counter, tallies: Sequence[Tally], columns: OpenColumns, some: SomeRows) -> None:
    """Count rows of a few groups, batch by batch in their order, each sorted by group."""

    def add(own: list[Tally], first: int, last: int) -> None:
        part = some._replace(rows=some.rows[first:last], places=some.places[first:last])
        add_groups(counter, own, columns, part)

    def start() -> list[Tally]:
        return [counter.start() for _ in tallies]

    for totals in sum_over_batches(some.rows.size, BATCH, start, add):
        for tally, more in zip(tallies, totals, strict=True):
            tally += more


def batch_size(n_rows: int) -> int:
    """Return the number of rows of a batch: whole blocks, and enough batches to keep all threads busy."""
    share = n_rows // (4 * n_threads())
    return min(BATCH, max(BLOCK, share // BLOCK * BLOCK))


def count_table(  # noqa: PLR0913 (one call has all settings of a pass)
    plan: CountPlan,
    source: InMemory,
    sample_weight: object,
    by: object,
    *,
    lists_only: bool | None = None,
    further: Sequence[StatisticSpec] = (),
    values: RowValues = NO_VALUES,
) -> Any:
    """Return the counts of a plan over all rows of a table in memory, or over groups of them."""
    if isinstance(sample_weight, str):
        sample_weight = ColumnWeights(row_weights(source.given, sample_weight), sample_weight)
    schema, features = plan.ensemble.schema, plan.ensemble.used_features
    if by is None and values.fold is None:
        columns = source.open_in_parts(schema, features)
        return _count(plan, columns, sample_weight, lists_only=lists_only, further=further, values=values)
    columns = source.open(schema, features)
    if by is None:
        groups: tuple[list[Any], NDArray[np.intp]] = [WHOLE], np.zeros(columns.n_rows, dtype=np.intp)
        result = count_groups(plan, columns, sample_weight, *groups, further, values)
        return result[WHOLE]
    groups = places_of_groups(source.given, by)
    return sorted_groups(count_groups(plan, columns, sample_weight, *groups, further, values))


def count_files(job: Job, fragments: list[Fragment], checkpoint: Checkpoint | None, threads: int | None) -> Partial:
    """Return the counts of fragments. Each thread reads and counts its own, so that both overlap.

    Memory holds one batch of rows per thread, and their compressed columns.
    """
    sizes = [fragment.n_rows for fragment in fragments]
    total = None if None in sizes else sum(size or 0 for size in sizes)
    with bar(total, "counting", "rows") as progress:

        def add(sums: Sums, fragment: Fragment) -> None:
            progress.add(add_fragment(sums, fragment))
            if checkpoint is not None and monotonic() - sums.since > _checkpoint.INTERVAL:
                hand_over(sums, checkpoint)

        workers = max(1, min(threads or threads_for(job.counter), len(fragments)))
        sums = sum_over(fragments, lambda: Sums(job), add, workers)
    if checkpoint is None:
        return Partial.sum(part.partial() for part in sums)
    for part in sums:
        hand_over(part, checkpoint)
    return checkpoint.partial


def hand_over(sums: Sums, checkpoint: Checkpoint) -> None:
    """Give what a thread has counted to the checkpoint; the thread begins anew."""
    digests = sums.digests
    if digests:
        checkpoint.add(sums.partial(), digests)


def count_stream(job: Job, stream: Stream, threads: int | None) -> Partial:
    """Return the counts of a stream: tables are drawn by one thread at a time, and counted by all."""
    workers = threads or threads_for(job.counter)
    with bar(None, "counting", "rows") as progress:
        # A model without splits needs no column, but a table of none has no rows.
        tables = stream.tables(job.columns or (stream.names or [])[:1])
        sums = sum_over(tables, lambda: Sums(job), lambda part, table: progress.add(part.add(table)), workers)
    return Partial.sum(part.partial() for part in sums)
