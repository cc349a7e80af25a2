"""Sums of counts are exact, pure, and know what they are made of; workers add them up, each part once."""

from __future__ import annotations

import datetime
import threading
import time
from contextlib import contextmanager
from functools import reduce
from itertools import permutations
from types import SimpleNamespace
from weakref import WeakSet

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasswood.counting._job import partition_digest
from glasswood.counting._partial import WHOLE, Partial, add_packed, ledger_of
from glasswood.counting._statistic import Tally
from glasswood.engines import _reduction as _tree
from glasswood.engines._pass import bundles, verify, waves
from glasswood.engines._reduction import FAN_IN, PER_CORE, sum_on_workers
from glasswood.errors import BackgroundError, TableError
from glasswood.parallel._threads import sum_over
from glasswood.tables import _parquet as _arrow
from glasswood.tables._files import pack_arrays, unpack_arrays


def tally_of(counts, cells, n_rows=0, total=0):
    return Tally({"counts": counts, "cells": cells}, {"counts": "sum", "cells": "sum"}, n_rows, total)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
KINDS = {
    "texts": texts,
    "whole numbers": st.integers(-(2**63), 2**63 - 1),
    "large numbers": st.integers(0, 2**64 - 1),
    "nanoseconds": st.integers(-(2**62), 2**62).map(pd.Timestamp),
    "nanoseconds of a zone": st.integers(0, 2**62).map(lambda n: pd.Timestamp(n, tz="Asia/Tokyo")),
    "numbers": st.floats(allow_nan=False),
    "flags": st.booleans(),
    "days": st.dates(),
    "instants": st.datetimes(),
    "instants of a zone": st.datetimes(timezones=st.just(datetime.UTC)),
    "bytes": st.binary(max_size=4),
    "times": st.times(),
}
kinds = st.sampled_from(sorted(KINDS))
columns = kinds.map(lambda kind: st.none() | KINDS[kind])


@st.composite
def lists_of_keys(draw):
    """Keys as groups have them: all alike, single values or tuples, with None among them; or the whole."""
    shape = draw(st.integers(0, 4))
    if shape == 0:
        return [WHOLE]
    parts = [draw(columns) for _ in range(max(1, shape - 1))]
    keys = parts[0] if shape == 1 else st.tuples(*parts)
    return draw(st.lists(keys, unique=True, max_size=5))


def numbers(size, seed):
    values = np.random.default_rng(seed).integers(0, 2**62, size)
    values.flags.writeable = False  # as they come out of shared memory
    return values


@st.composite
def several_partials(draw, max_=4):
    """Partials of one job, each with some of the groups."""
    keys = draw(lists_of_keys())
    n_counts, n_cells = draw(st.integers(0, 9)), draw(st.integers(0, 5))
    partials = []
    for number in range(draw(st.integers(1, max_))):
        tallies, rows = {}, {}
        for key in keys:
            if key == WHOLE or draw(st.booleans()):
                rows[key] = draw(st.integers(0, 1000))
                for plane in draw(st.lists(st.integers(-6, 6), unique=True, max_size=3)):
                    seed = draw(st.integers(0, 2**32))
                    counts, cells = numbers(n_counts, seed) // 8, numbers(n_cells, seed) // 8
                    tallies[key, plane] = tally_of(counts, cells, seed % 1000, seed)
        digests = [partition_digest(f"{number} {k}") for k in range(draw(st.integers(0, 3)))]
        partials.append(Partial(tallies, rows, len(digests), ledger_of(digests)))
    return partials


def contents(partial):
    """What a partial says, comparable."""
    tallies = {
        key: (tally.vectors["counts"].tolist(), tally.vectors["cells"].tolist(), tally.n_rows, tally.total)
        for key, tally in partial.tallies.items()
    }
    return tallies, partial.rows, partial.n_fragments, partial.ledger


def unpacked(packed):
    return Partial.unpack(packed)[0]


@given(several_partials())
def test_sums_are_exact_and_do_not_touch_what_is_added(partials):
    before = [contents(partial) for partial in partials]
    whole = contents(Partial.sum(partials))
    assert [contents(partial) for partial in partials] == before
    for key, (counts, cells, n_rows, total) in whole[0].items():
        background_with = [partial.tallies[key] for partial in partials if key in partial.tallies]
        assert counts == [
            sum(column) for column in zip(*(tally.vectors["counts"].tolist() for tally in background_with), strict=True)
        ]
        assert cells == [
            sum(column) for column in zip(*(tally.vectors["cells"].tolist() for tally in background_with), strict=True)
        ]
        assert (n_rows, total) == (sum(t.n_rows for t in background_with), sum(t.total for t in background_with))
    known = set().union(*(partial.tallies for partial in partials))
    highest = {key: max(plane for other, plane in known if other == key) for key, _ in known}
    assert whole[0].keys() == {(key, plane) for key, plane in known if plane > highest[key] - 4}
    n_rows = {key: [partial.rows.get(key, 0) for partial in partials] for partial in partials for key in partial.rows}
    assert whole[1] == {key: sum(found) for key, found in n_rows.items()}
    assert whole[2:] == (sum(p.n_fragments for p in partials), sum(p.ledger for p in partials) % 2**128)


@given(several_partials(max_=3))
def test_the_order_of_addition_does_not_matter(partials):
    whole = contents(Partial.sum(partials))
    for order in permutations(partials):
        assert contents(Partial.sum(order)) == whole
        assert contents(reduce(lambda one, two: Partial.sum([one, two]), order, Partial())) == whole
        assert contents(unpacked(add_packed(*(partial.pack() for partial in order)))) == whole


@given(several_partials(max_=1), st.dictionaries(st.just("note"), st.binary(max_size=20)))
def test_packing_keeps_everything(partials, notes):
    (partial,) = partials
    again, kept = Partial.unpack(partial.pack(**notes))
    assert contents(again) == contents(partial)
    assert kept == notes
    assert partial.pack(**notes) == partial.pack(**notes)


@given(several_partials(), st.integers(1, 7))
def test_slices_are_added_up_apart_and_joined(partials, n):
    before = [contents(partial) for partial in partials]
    cut = [[unpacked(part.pack()) for part in partial.slices(n)] for partial in partials]
    sums = [Partial.sum(parts) for parts in zip(*cut, strict=True)]
    assert contents(Partial.join(sums)) == contents(Partial.sum(partials))
    assert [contents(partial) for partial in partials] == before


def test_slices_of_different_rows_are_not_joined():
    one, two = (Partial({(WHOLE, 0): tally_of(np.arange(4), np.arange(2), n, n)}, {WHOLE: n}, 1, n) for n in (5, 6))
    with pytest.raises(BackgroundError, match="different rows"):
        Partial.join([next(one.slices(2)), list(two.slices(2))[1]])


@given(several_partials(max_=1), st.integers(0, 2**32), st.integers(1, 255))
@settings(max_examples=50)
def test_damaged_bytes_are_refused(partials, place, change):
    packed = bytearray(partials[0].pack())
    packed[place % len(packed)] ^= change
    with pytest.raises(BackgroundError, match="damaged"):
        Partial.unpack(bytes(packed))
    with pytest.raises(BackgroundError, match="damaged"):
        Partial.unpack(bytes(packed[: place % len(packed)]))


@pytest.mark.parametrize("plane", [10**9, -(10**9), 37, -40, 0.5, "0", None])
def test_planes_that_no_weight_has_are_refused(plane):
    packed = Partial({(WHOLE, 7): tally_of(np.arange(2), np.arange(2), 1, 1)}, {WHOLE: 1}).pack()
    facts, arrays = unpack_arrays("glasswood counts 4", packed)
    assert facts["planes"] == [[0, 7]]
    forged = pack_arrays("glasswood counts 4", facts | {"planes": [[0, plane]]}, arrays)
    with pytest.raises(BackgroundError, match="no float64 has digits in plane"):
        Partial.unpack(forged)


@pytest.mark.parametrize("sizes", [[], [[2, 2]] * 2, [[2, 2]] + [[0, 0]] * 500_000])
def test_more_or_fewer_sizes_than_groups_are_refused_at_once(sizes):
    packed = Partial({(WHOLE, 0): tally_of(np.arange(2), np.arange(2), 1, 1)}, {WHOLE: 1}).pack()
    facts, arrays = unpack_arrays("glasswood counts 4", packed)
    with pytest.raises(BackgroundError, match="number of groups differs from the header"):
        Partial.unpack(pack_arrays("glasswood counts 4", facts | {"sizes": sizes}, arrays))


def test_bytes_of_something_else_are_refused():
    for packed in (b"", b"short", b"\0" * 1000, _arrow.pack_keys([[1]]), pack_arrays("glasswood counts 4", {}, {})):
        with pytest.raises(BackgroundError, match="damaged"):
            Partial.unpack(packed)


def test_keys_of_several_types_are_refused():
    tally = tally_of(np.arange(2), np.arange(2), 1, 1)
    with pytest.raises(TableError, match="have one type"):
        Partial({(1, 0): tally, ("a", 0): tally}, {1: 1, "a": 1}).pack()


def test_the_ledger_tells_what_was_counted_twice_or_not_at_all():
    digests = [partition_digest(str(number)) for number in range(10)]
    parts = [Partial({}, {}, 1, ledger_of([digest])) for digest in digests]
    verify(Partial.sum(parts[::-1]), digests)
    verify(Partial(), [])
    for wrong in (parts[1:], [*parts, parts[3]], [*parts[1:], parts[3]], [], parts * 2):
        with pytest.raises(BackgroundError, match="the ledger shows"):
            verify(Partial.sum(wrong), digests)


# ------------------------------------------------------------------------------------------------- threads


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_take_each_item_once(threads):
    drawn = threading.Lock()

    def items():
        for item in range(1000):
            assert drawn.acquire(blocking=False)  # a generator runs in one thread at a time
            drawn.release()
            yield item

    sums = sum_over(items(), list, list.append, threads)
    assert len(sums) == threads
    assert sorted(item for taken in sums for item in taken) == list(range(1000))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_all_threads_stop_when_one_fails(threads):
    done = []

    def add(_, item):
        if item == 7:
            message = "the seventh"
            raise BackgroundError(message)
        time.sleep(0.001)
        done.append(item)

    with pytest.raises(BackgroundError, match="the seventh"):
        sum_over(range(100_000), list, add, threads)
    assert len(done) < 1000


def test_a_source_that_fails_passes_its_error_on():
    def items():
        yield from range(5)
        message = "no more"
        raise OSError(message)

    for threads in (1, 3):
        with pytest.raises(OSError, match="no more"):
            sum_over(items(), list, list.append, threads)


# ------------------------------------------------------------------------------------------------- workers


class Workers:
    """An executor in this process: what is started is done when somebody waits for it, in an order of chance."""

    def __init__(self, seed=0, fail_at=None):
        self.generator = np.random.default_rng(seed)
        self.fail_at = fail_at
        self.started, self.max_, self.fan_in = [], 0, []
        self.running = 0

    def start(self, work):
        self.running += 1
        self.max_ = max(self.max_, self.running)
        return [work]  # a handle; lists are equal when their contents are, but not the same

    def count(self, task):
        self.started.append(task)

        def work():
            if task == self.fail_at:
                message = f"task {task}"
                raise BackgroundError(message)
            digest = partition_digest(str(task))
            tally = tally_of(numbers(3, task) >> 10, numbers(2, task) >> 10, task, task)
            return Partial({(WHOLE, 0): tally}, {WHOLE: task}, 1, ledger_of([digest])).pack()

        return self.start(work)

    def add(self, handles):
        self.fan_in.append(len(handles))
        assert all(isinstance(handle[0], bytes) for handle in handles)  # these are done
        parts = [handle[0] for handle in handles]
        return self.start(lambda: add_packed(*parts))

    def wait(self, running):
        chosen = running[self.generator.integers(len(running))]
        chosen[0] = chosen[0]()
        self.running -= 1
        return chosen


@pytest.mark.parametrize("n_cores", [1, 4])
@pytest.mark.parametrize("n_tasks", [1, 2, 7, 8, 9, 64, 65, 100])
def test_workers_count_each_task_once(n_tasks, n_cores):
    workers = Workers(n_tasks)
    handle = sum_on_workers(range(1, n_tasks + 1), n_cores, workers.count, workers.add, workers.wait)
    found = unpacked(handle[0])
    verify(found, [partition_digest(str(task)) for task in range(1, n_tasks + 1)])
    assert found.n_rows == n_tasks * (n_tasks + 1) // 2
    assert sorted(workers.started) == list(range(1, n_tasks + 1))
    assert workers.running == 0
    assert workers.max_ <= PER_CORE * n_cores
    assert all(2 <= size <= FAN_IN for size in workers.fan_in)
    assert len(workers.fan_in) <= -(-(n_tasks - 1) // (FAN_IN - 1)) + 1


def test_a_task_that_fails_ends_the_work():
    workers = Workers(fail_at=20)
    with pytest.raises(BackgroundError, match="task 20"):
        sum_on_workers(range(1, 101), 2, workers.count, workers.add, workers.wait)
    assert len(workers.started) < 60


@pytest.mark.parametrize("n_tasks", [1, 30])
def test_the_bar_of_workers_ends_at_the_number_of_tasks(n_tasks, monkeypatch):
    moved = []

    @contextmanager
    def watched(total, what, unit):
        assert total == n_tasks
        yield SimpleNamespace(add=moved.append)

    monkeypatch.setattr(_tree, "bar", watched)
    workers = Workers()
    sum_on_workers(range(1, n_tasks + 1), 2, workers.count, workers.add, workers.wait)
    assert sum(moved) == n_tasks


@given(st.lists(st.none() | st.integers(0, 100), max_size=50), st.integers(1, 100))
def test_bundles_hold_each_fragment_once_and_are_not_too_large(sizes, max_):
    fragments = [SimpleNamespace(n_rows=size) for size in sizes]
    found = bundles(fragments, max_)
    assert [fragment for bundle in found for fragment in bundle] == fragments
    assert all(found)
    for bundle in found:
        assert len(bundle) == 1 or sum(max_ if f.n_rows is None else f.n_rows for f in bundle) <= max_
    assert [fragment for wave in waves(fragments) for fragment in wave] == fragments


def test_partials_that_are_added_up_are_not_kept():
    """Engines keep a partial for as long as somebody holds its handle."""

    class Handle(list):  # which may be referred to weakly
        pass

    class Watched(Workers):
        def start(self, work):
            handle = Handle(super().start(work))
            alive.add(handle)
            max_.append(len(alive))
            return handle

    Handle.__hash__ = object.__hash__
    alive, max_ = WeakSet(), []
    workers = Watched()
    sum_on_workers(range(1, 501), 2, workers.count, workers.add, workers.wait)
    assert max(max_) <= 2 * PER_CORE * 2 + 2 * FAN_IN
