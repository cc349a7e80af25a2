"""Job: what is counted, and how the tables of one source become counts. Workers get it as bytes, once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._counter import Counter
from glasswood.counting._partial import WHOLE, Partial, add_packed, kept, ledger_of
from glasswood.counting._plan import MAX_COUNTS, CountPlan
from glasswood.counting._reading import Reading
from glasswood.counting._shipped import Dumps, Shipped
from glasswood.counting._statistic import Columns, StatisticSpec, Tally
from glasswood.counting._weights import SMALLEST, lowest_planes, refuse_large_sum, split
from glasswood.errors import TooLargeError
from glasswood.models._ensemble import TreeEnsemble
from glasswood.models._user_columns import UserColumns
from glasswood.parallel._interrupts import check_cancelled
from glasswood.parallel._lazy import cached_property
from glasswood.parallel._memory import check_memory
from glasswood.parallel._threads import threads_limited_to
from glasswood.tables._parquet import Fragment, can_join, file_errors, join, n_bytes, read_whole
from glasswood.tables._row_columns import group_rows, row_weights
from glasswood.tables._row_values import NO_COLUMNS, NO_VALUES, RowColumns, RowValues
from glasswood.tables._tables import OpenColumns, n_rows

__all__ = [
    "COUNTS_REMEDY",
    "Job",
    "ShippedJob",
    "SomeRows",
    "Sums",
    "add_fragment",
    "add_groups",
    "count_fragments",
    "count_tables",
    "new_tally",
    "partition_digest",
]

BATCH = 65536  # rows encoded at a time
SLICE = 2**19  # counts that are added up together: four megabytes
COUNTS_REMEDY = "Count with a lower order, or fewer trees, or give the process more memory"
MANY_ROWS, MANY_BYTES = 2**21, 2**28  # sorted by group at a time: small groups cost more than their rows


@dataclass(frozen=True, eq=False)
class Job:
    """What is counted of a source's tables.

    Parameters
    ----------
    ensemble : TreeEnsemble
    order : int
    groups : mapping from str to tuples of str
        The players that are several columns.
    names : mapping from int to names, or None
        The table's name of each column that the model uses; None for tables without names.
    by : tuple of names
        The columns that define groups of rows; no groups if it is empty.
    weight : name or None
        The column of weights.
    further : tuple of StatisticSpec
        Statistics beside the counts.
    before : UserColumns or None
        Transformers that make some of the model's columns; then `names` has the columns that they take.
    values : RowColumns
        What else is read of the rows.
    """

    ensemble: TreeEnsemble
    order: int
    groups: Mapping[str, Sequence[str]]
    names: Mapping[int, Any] | None
    by: tuple[Any, ...] = ()
    weight: object = None
    further: tuple[StatisticSpec, ...] = ()
    before: UserColumns | None = None
    values: RowColumns = NO_COLUMNS

    @cached_property
    def reading(self) -> Reading:
        """How tables become columns of the model."""
        return Reading(self.ensemble.schema, self.ensemble.used_features.tolist(), self.names, self.before)

    @cached_property
    def plan(self) -> CountPlan:
        """The plan of the counts."""
        return CountPlan(self.ensemble, self.order, self.groups)

    @cached_property
    def counter(self) -> Counter:
        """What counts rows."""
        return Counter(self.plan, self.further)

    @property
    def grouped(self) -> bool:
        """Whether rows are counted in groups: by columns, or in folds, or both."""
        return bool(self.by) or self.values.folds > 0

    def groups_of(self, table: object, fold: NDArray[np.intp] | None) -> tuple[list[Any], NDArray[np.intp]]:
        """Return the groups that rows fall into, and each row's place in their list; the fold is last in a key."""
        keys, places = group_rows(table, self.by) if self.by else ([WHOLE], np.zeros(n_rows(table), dtype=np.intp))
        if fold is None:
            return keys, places
        folds = range(self.values.folds)
        keyed = [(*(key if isinstance(key, tuple) else (key,)), number) for key in keys for number in folds]
        return keyed, places * len(folds) + fold

    def group_of(self, key: Any) -> Any:
        """Return the group of a key, without its fold."""
        if not self.values.folds:
            return key
        return WHOLE if not self.by else key[0] if len(self.by) == 1 else key[:-1]

    @property
    def columns(self) -> list[Any]:
        """The names of all columns that the job needs, each once."""
        names = [*self.reading.columns, *self.by, *(() if self.weight is None else (self.weight,)), *self.values.names]
        return list(dict.fromkeys(names))

    @cached_property
    def key(self) -> str:
        """A hash of everything that the counts depend on, the data excepted."""
        parts = (self.plan.fingerprint, self.order, self.names, self.ensemble.schema, self.by, self.weight)
        further = [spec.key for spec in self.further]
        return blake2b(repr((*parts, *further, self.values.whole_key)).encode(), digest_size=16).hexdigest()

    def ship(self, dumps: Dumps | None = None) -> ShippedJob:
        """Return the job as bytes, made by an engine's own way to pickle: that can send functions of a notebook."""
        before = None if self.before is None else replace(self.before, table=None)
        what = (self.ensemble, self.order, dict(self.groups), self.names, self.by, self.weight)
        shipped: ShippedJob = ShippedJob.of((*what, self.further, before, self.values), dumps)
        return shipped


class ShippedJob(Shipped):
    """A job as bytes, for another process, which unpacks it once and keeps what it needs for counting."""

    named_later = True  # counts of a part can be made before its name is known

    def open(self) -> Job:
        """Return the job."""
        job: Job = self.made(lambda parts: Job(*parts))
        return job

    @property
    def n_slices(self) -> int:
        """The number of slices that sums are added up in."""
        return max(1, -(-sum(vector.size for vector in self.open().counter.vectors) // SLICE))

    def of_bundle(self, bundle: Sequence[Fragment]) -> bytes:
        """Return the counts of some fragments: a pure function, that any worker may call any number of times."""
        return count_fragments(self, bundle)

    def of_tables(self, tables: Iterable[Any], name: str) -> bytes:
        """Return the counts of the tables of one partition of an engine's own frame, known by a name."""
        return count_tables(self, tables, name)

    @staticmethod
    def add(*parts: bytes) -> bytes:
        """Return the sum of counts."""
        return add_packed(*parts)

    def cut(self, packed: bytes, n: int) -> list[bytes]:
        """Return counts in n slices."""
        return [packed] if n == 1 else [part.pack() for part in Partial.unpack(packed)[0].slices(n)]

    def join(self, slices: Sequence[bytes]) -> bytes:
        """Return the counts that have these slices, in order."""
        if len(slices) == 1:
            return slices[0]
        parts = [Partial.unpack(part)[0] for part in slices]
        return (Partial.join(parts) if parts else Partial()).pack()


class Sums:
    """The counts of the tables so far. Each thread has its own.

    Parameters
    ----------
    job : Job
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.tallies: dict[tuple[Any, int], Tally] = {}  # by group and plane
        self.rows: dict[Any, int] = {}  # by group
        self.digests: list[bytes] = []
        self.since = monotonic()  # when it began
        self._lowest: dict[Any, int] = {}  # plane of weights that counts, by group
        self._waiting: list[Any] = []  # tables whose rows are sorted by group together
        self._folds: list[NDArray[np.intp]] = []  # of their rows, by their numbers
        self._n_waiting = self._bytes_waiting = 0  # of their rows, so that no table is measured again

    def add(self, table: object, first: int = 0) -> int:
        """Count the rows of a table, at once or with those of the next ones, and return their number.

        `first` is the number of its first row in the source, where that is needed.
        """
        if not self.job.grouped:
            weight = self._weights(table)
            self._add_whole(self._open(table), weight, self._values(table, weight))
            return n_rows(table)
        self._open(table).encode(0, 1)  # errors are to name the right file
        if self._waiting and not can_join(self._waiting[0], table):
            self.flush()
        self._waiting.append(table)
        self._n_waiting, self._bytes_waiting = self._n_waiting + n_rows(table), self._bytes_waiting + n_bytes(table)
        if self.job.values.by_position:
            self._folds.append(self.job.values.folds_of(table, n_rows(table), first))
        if self._n_waiting >= MANY_ROWS or self._bytes_waiting >= MANY_BYTES:
            self.flush()
        return n_rows(table)

    def flush(self) -> None:
        """Count the tables that wait."""
        if not self._waiting:
            return
        waiting, self._waiting, self._n_waiting, self._bytes_waiting = self._waiting, [], 0, 0
        folds, self._folds = self._folds, []
        table = join(waiting)
        whole = np.concatenate(folds) if folds else None
        if self.job.values.folds and whole is None:  # by a column, which is read once for all of these tables
            whole = self.job.values.folds_of(table, n_rows(table))
        keys, places = self.job.groups_of(table, whole)
        order = _sorted(places, len(keys))
        weight = self._weights(table)
        sizes = np.bincount(places, minlength=len(keys))
        some = np.flatnonzero(sizes)
        ends = np.cumsum(sizes[some])
        values = self._values(table, weight).take(order)
        weight = None if weight is None else weight[order]
        self._add_sorted([keys[group] for group in some], ends, self._move(waiting, order), weight, values)

    def _move(self, tables: Sequence[Any], order: NDArray[np.intp]) -> dict[int, NDArray[Any]]:
        """Return the encoded columns of tables that are below each other, in another order of the rows.

        Values are read in order and written to their places: groups are few, so that costs a third of the opposite.
        """
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        ends = np.cumsum([n_rows(table) for table in tables])
        opened = [self._open(table) for table in tables]
        moved: dict[int, NDArray[Any]] = {}
        for index in opened[0].values:
            parts = [part.column(index) for part in opened]
            out = np.empty(order.size, dtype=np.result_type(*parts))
            for values, end in zip(parts, ends, strict=True):
                out[place[end - values.size : end]] = values
            moved[index] = out
        return moved

    def _open(self, table: object) -> OpenColumns:
        return self.job.reading.open(table)

    def note(self, digest: bytes) -> None:
        """Note that a fragment is counted, all of it."""
        self.digests.append(digest)

    def partial(self) -> Partial:
        """Return what was counted, and begin anew."""
        self.flush()
        partial = Partial(kept(self.tallies), self.rows, len(self.digests), ledger_of(self.digests))
        self.tallies, self.rows, self._lowest = {}, {}, {}
        self.digests, self.since = [], monotonic()
        return partial

    def _add_whole(self, columns: OpenColumns, weight: NDArray[Any] | None, values: RowValues) -> None:
        """Count rows that are one group."""
        self.rows.setdefault(WHOLE, 0)  # for a table of no rows
        batch = min(BATCH, self.job.counter.max_rows)
        for first in range(0, columns.n_rows, batch):
            last = min(first + batch, columns.n_rows)
            part = None if weight is None else weight[first:last]
            known = values.take(slice(first, last))
            self._add_sorted([WHOLE], np.array([last - first]), columns.encode(first, last), part, known)

    def _add_sorted(
        self,
        keys: Sequence[Any],
        ends: NDArray[np.int64],
        columns: Columns,
        weight: NDArray[Any] | None,
        values: RowValues,
    ) -> None:
        """Count rows that are sorted by group, given the groups' keys and where each ends."""
        sizes = np.diff(ends, prepend=0)
        for key, size in zip(keys, sizes.tolist(), strict=True):
            self.rows[key] = self.rows.get(key, 0) + size
        if weight is None or not keys:  # of a table of no rows
            self._add_plane(0, keys, ends, columns, None, values)
            return
        lowest = np.repeat(self._lowest_planes(keys, ends, weight), sizes)
        for plane, digits in split(weight, lowest):
            rows = np.flatnonzero(digits)
            held, known = columns, values
            if rows.size < digits.size:
                held, known = {index: part[rows] for index, part in columns.items()}, values.take(rows)
            self._add_plane(plane, keys, np.searchsorted(rows, ends), held, digits[rows], known)

    def _lowest_planes(self, keys: Sequence[Any], ends: NDArray[np.int64], weight: NDArray[Any]) -> NDArray[np.int64]:
        """Return the lowest plane of weights that counts for each group, given all of its weights so far."""
        lowest = lowest_planes(np.maximum.reduceat(weight, np.append(0, ends[:-1])))
        for group, key in enumerate(keys):
            lowest[group] = self._lowest[key] = max(int(lowest[group]), self._lowest.get(key, SMALLEST))
        return lowest

    def _add_plane(
        self,
        plane: int,
        keys: Sequence[Any],
        ends: NDArray[np.int64],
        columns: Columns,
        digits: NDArray[np.int64] | None,
        values: RowValues,
    ) -> None:
        """Count rows that are sorted by group, with their digits in one plane."""
        sizes = np.diff(ends, prepend=0)
        some = np.flatnonzero(sizes)
        tallies = [self._tally(keys[group], plane) for group in some.tolist()]
        count_sorted(
            self.job.counter,
            tallies,
            ends[some],
            lambda first, last: {index: column[first:last] for index, column in columns.items()},
            digits,
            values,
        )
        for tally in tallies:
            refuse_large_sum({plane: tally}, self.job.weight)

    def _tally(self, key: object, plane: int) -> Tally:
        if (key, plane) not in self.tallies:
            self.tallies[key, plane] = new_tally(self.job.counter, len(self.tallies))
        return self.tallies[key, plane]

    def _weights(self, table: object) -> NDArray[Any] | None:
        return None if self.job.weight is None else row_weights(table, self.job.weight)

    def _values(self, table: object, weight: NDArray[Any] | None) -> RowValues:
        return self.job.values.read(table, n_rows(table), weight)


def new_tally(counter: Counter, n_before: int) -> Tally:
    """Return an empty tally for one more group of rows."""
    n_counts = sum(vector.size for vector in counter.vectors)
    if n_before and (n_before + 1) * n_counts > MAX_COUNTS:
        message = (
            f"this needs more than {n_before:,} sums of {n_counts:,} counts each, which is more than fits "
            f"({8 * MAX_COUNTS / 1e9:.0f} GB). There is one for each group of rows and each fold, or up to four if "
            "weights are not whole numbers: pass coarser groups in by= or fewer folds, summarize some at a time, or "
            "round the weights"
        )
        raise TooLargeError(message)
    check_memory((n_counts,), remedy=COUNTS_REMEDY)
    return counter.start()


class SomeRows(NamedTuple):
    """Some rows of a table, each one's place in a list of groups; weights and values of all rows of the table."""

    rows: NDArray[np.intp]
    places: NDArray[np.intp]
    weight: NDArray[np.int64] | None
    values: RowValues = NO_VALUES


def add_groups(counter: Counter, tallies: Sequence[Tally], columns: OpenColumns, some: SomeRows) -> None:
    """Count some rows of several groups, given the groups' tallies."""
    rows = some.rows[_sorted(some.places, len(tallies))]
    ends = np.cumsum(np.bincount(some.places, minlength=len(tallies)))
    weight = None if some.weight is None else some.weight[rows]
    values = some.values.take(rows)
    count_sorted(counter, tallies, ends, lambda first, last: columns.take(rows[first:last]), weight, values)


def count_sorted(
    counter: Counter,
    tallies: Sequence[Tally],
    ends: NDArray[np.int64],
    columns: Callable[[int, int], Columns],
    weight: NDArray[np.int64] | None,
    values: RowValues,
) -> None:
    """Count rows that are sorted by group, given where each group ends and the encoded columns of any of the rows."""
    n_rows = int(ends[-1]) if ends.size else 0  # of an empty table
    batch = min(BATCH, counter.max_rows)
    for first in range(0, n_rows, batch):
        last = min(first + batch, n_rows)
        low, high = (int(np.searchsorted(ends, row, side="right")) for row in (first, last - 1))
        bounds = np.concatenate([[first], ends[low:high], [last]]) - first
        part = None if weight is None else weight[first:last]
        known = values.take(slice(first, last))
        counter.add_groups(tallies[low : high + 1], columns(first, last), bounds, part, values=known)


def _sorted(places: NDArray[np.intp], n_places: int) -> NDArray[np.intp]:
    """Return the rows sorted by place, in their old order within each."""
    small = places.astype(np.uint16) if n_places <= 2**16 else places  # which NumPy sorts by counting
    return np.argsort(small, kind="stable")


def count_fragments(shipped: ShippedJob, fragments: Sequence[Fragment]) -> bytes:
    """Return the packed partial of some fragments: a pure function, that any worker may call any number of times."""
    with threads_limited_to(1):  # the engine runs as many tasks as it has cores
        sums = Sums(shipped.open())
        for fragment in fragments:
            check_cancelled()  # raises if nobody waits for it any more
            add_fragment(sums, fragment)
        return sums.partial().pack()


def add_fragment(sums: Sums, fragment: Fragment) -> int:
    """Count a fragment, all of it, and return its number of rows."""
    counted = 0
    with file_errors(fragment.path):
        for table in read_whole(fragment, sums.job.columns):
            check_cancelled()
            counted += sums.add(table, (fragment.first_row or 0) + counted)
    sums.note(fragment.digest)
    return counted


def count_tables(shipped: ShippedJob, tables: Iterable[Any], name: str) -> bytes:
    """Return the packed partial of the tables of one partition of an engine's own frame, known by a name."""
    with threads_limited_to(1):
        sums = Sums(shipped.open())
        for table in tables:
            check_cancelled()
            sums.add(table)
        sums.note(partition_digest(name))
        return sums.partial().pack()


def partition_digest(name: str) -> bytes:
    """Return the digest of a partition that is known by a name."""
    return blake2b(name.encode(), digest_size=16).digest()
