"""Threads of this process. All of them end with the call that started them, even if it is interrupted.

How many there are is a limit that belongs to the context of a call (`threads_limited_to`), so that no function has to
hand it on: an Explainer sets it for its questions, and a pool shares it among its threads.

`concurrent.futures` is not used: its locks are written in Python, and a Ctrl-C at the wrong moment leaves one of them
locked, which results in a deadlock. Here the waiting thread only uses queues written in C, and threads are started by a
thread that Ctrl-C never reaches.
"""

from __future__ import annotations

import math
import os
from _thread import start_new_thread
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import lru_cache
from operator import index
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import Generic, SupportsIndex, TypeVar, cast

from glasswood.errors import ArgumentError
from glasswood.parallel._interrupts import Cancellation, cancellable_by, cancellations, check_cancelled
from glasswood.parallel._limits import core_quota
from glasswood.parallel._progress import shown

__all__ = [
    "check_jobs",
    "for_each",
    "in_order",
    "n_threads",
    "run_interruptible",
    "sum_over",
    "sum_over_batches",
    "thread_limit",
    "threads_limited_to",
    "threads_of",
]

T = TypeVar("T")
Item = TypeVar("Item")

HEARTBEAT = 0.2  # seconds after which a waiting thread wakes up; some systems deliver Ctrl-C only then
VARIABLE = "GLASSWOOD_NUM_THREADS"
RECENT = 10  # seconds for which the number of cores is kept: a container can be given more while it runs

_limit: ContextVar[int | None] = ContextVar("limit of threads", default=None)


def n_threads() -> int:
    """Return the number of threads that work may use here: the limit of this call, or the default of this process."""
    limit = _limit.get()
    return _default() if limit is None else limit


def thread_limit() -> int | None:
    """Return the limit of this call, for work that is done later; None if it has none."""
    return _limit.get()


@contextmanager
def threads_limited_to(limit: int | None) -> Iterator[None]:
    """Limit the threads that work within a block may use; None leaves the limit as it is."""
    if limit is None:
        yield
        return
    token = _limit.set(limit)
    try:
        yield
    finally:
        _limit.reset(token)


def check_jobs(n_jobs: object) -> int | None:
    """Return a number of threads as scikit-learn means it: n, or all cores (-1), all but one (-2), ...; or None."""
    if n_jobs is None:
        return None
    try:
        result = 0 if isinstance(n_jobs, bool) else index(cast(SupportsIndex, n_jobs))
    except TypeError:
        result = 0
    if result == 0:
        message = f"n_jobs is a number of threads, -1 for all cores, or None for the default, not {n_jobs!r}"
        raise ArgumentError(message)
    return result


def threads_of(n_jobs: int | None) -> int | None:
    """Return the number of threads that is meant, on this machine; None for the default."""
    return n_jobs if n_jobs is None or n_jobs > 0 else max(1, _cores() + 1 + n_jobs)


def _default() -> int:
    """Return the number of threads unless something else is said: that of the environment, or one per core."""
    given = os.environ.get(VARIABLE, "").strip()
    if not given:
        return _cores()
    if not given.isdecimal() or int(given) == 0:
        message = f"the environment variable {VARIABLE} must be a number of threads, at least 1, not {given!r}"
        raise ArgumentError(message)
    return int(given)


def _cores() -> int:
    """Return the number of cores that this process may keep busy."""
    return _cores_at(int(monotonic() // RECENT))


@lru_cache(maxsize=1)
def _cores_at(_: int) -> int:
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = core_quota()
    return allowed if quota is None else max(1, min(allowed, math.ceil(quota)))


class _Pool(Generic[T]):
    """Threads that work on what is numbered, and give back the results in any order.

    Parameters
    ----------
    workers : int
    work : callable
        Does what has a number.
    limit : int
        How many threads may work, these and those that they start.
    """

    def __init__(self, workers: int, work: Callable[[int], T], limit: int) -> None:
        self._work, self._share = work, max(1, limit // workers)
        self._cancellation = Cancellation()
        self._cancellations = (*cancellations(), self._cancellation)
        self._asked: SimpleQueue[int | None] = SimpleQueue()
        self._done: SimpleQueue[tuple[int, T] | BaseException] = SimpleQueue()
        names = [f"glasswood-{number}" for number in range(workers)]
        # Daemons, so that a process does not wait for idle threads at exit.
        self._threads = [
            Thread(target=copy_context().run, args=(self._serve,), name=name, daemon=True) for name in names
        ]
        self._launched: SimpleQueue[None] = SimpleQueue()

    def start(self) -> None:
        """Start the threads."""
        start_new_thread(self._launch, ())

    def _launch(self) -> None:
        try:
            for thread in self._threads:
                thread.start()
        except BaseException as error:  # noqa: BLE001 (it is raised where results are awaited)
            self._done.put(error)
        finally:
            self._launched.put(None)

    def _serve(self) -> None:
        with cancellable_by(*self._cancellations), threads_limited_to(self._share):
            while (number := self._asked.get()) is not None:
                try:
                    check_cancelled()
                    self._done.put((number, self._work(number)))
                except BaseException as error:  # noqa: BLE001 (it is raised where results are awaited)
                    self._done.put(error)

    def ask(self, number: int) -> None:
        """Let one of the threads do what has this number."""
        self._asked.put(number)

    def result(self) -> tuple[int, T]:
        """Return the next result that is there, and its number; raise the error if there was one."""
        result = _next(self._done)
        if isinstance(result, BaseException):
            raise result
        return result

    def leave(self) -> None:
        """Drop what has not begun, let the rest end at its next part, and wait for that."""
        self._cancellation.requested = True
        for _ in self._threads:
            self._asked.put(None)
        self._launched.get()
        for thread in self._threads:
            if thread.ident is not None:  # it may not have been possible to start it
                thread.join()


@contextmanager
def _pool(workers: int, work: Callable[[int], T], limit: int) -> Iterator[_Pool[T]]:
    """Give a pool whose threads have ended when the block is left."""
    pool = _Pool(workers, work, limit)
    pool.start()
    try:
        yield pool
    finally:
        pool.leave()


def run_interruptible(work: Callable[[], T]) -> T:
    """Return ``work()``, computed in a thread so that Ctrl-C is noticed: for long kernels that cannot be divided.

    After Ctrl-C the thread continues to the end of the kernel, and its result is discarded.
    """
    done: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            done.put((work(), None))
        except BaseException as error:  # noqa: BLE001 (it is raised where the result is awaited)
            done.put((None, error))

    def launch() -> None:
        try:
            thread.start()
        except RuntimeError as error:  # there are too many threads
            done.put((None, error))

    # The end of a process waits for the end of the kernel.
    thread = Thread(target=copy_context().run, args=(run,), name="glasswood", daemon=False)
    start_new_thread(launch, ())
    result, error = _next(done)
    if error is not None:
        raise error
    thread.join()
    return cast(T, result)


def _next(queue: SimpleQueue[T]) -> T:
    """Return what comes next from a queue."""
    while True:
        with suppress(Empty):
            return queue.get(timeout=HEARTBEAT)


def sum_over(
    items: Iterable[Item], start: Callable[[], T], add: Callable[[T, Item], None], threads: int | None = None
) -> list[T]:
    """Return one sum per thread: each starts from ``start()`` and adds the next item until none is left.

    Which thread takes which item is left to chance; sums of integers do not depend on it. Items are drawn by one thread
    at a time, so they may be read from a file. If one fails, all stop.
    """
    limit = n_threads()
    workers = max(1, threads or limit)
    waiting, turn, failed = iter(items), Lock(), list[bool]()

    def draw() -> Iterator[Item]:
        while not failed:
            with turn:
                try:
                    item = next(waiting)
                except StopIteration:
                    return
            yield item
            check_cancelled()

    def work(_: int) -> T:
        total = start()
        try:
            for item in draw():
                add(total, item)
        except BaseException:
            failed.append(True)
            raise
        return total

    if workers == 1:
        return [work(0)]
    with _pool(workers, work, limit) as pool:
        for number in range(workers):
            pool.ask(number)
        return [pool.result()[1] for _ in range(workers)]


def sum_over_batches(
    n_rows: int, batch: int, start: Callable[[], T], add: Callable[[T, int, int], None], threads: int | None = None
) -> list[T]:
    """Return one sum per thread, as `sum_over`, of batches of rows: ``add(sum, first, last)`` adds one of them."""
    starts = range(0, n_rows, batch)
    workers = max(1, min(threads or n_threads(), len(starts)))
    return sum_over(starts, start, lambda total, first: add(total, first, min(n_rows, first + batch)), workers)


@contextmanager
def in_order(
    n: int, work: Callable[[int], T], what: str | None = None, limit: int | None = None
) -> Iterator[Iterable[T]]:
    """Give ``work(0)``, ``work(1)``, ... in this order, worked on in threads, a few of them ahead of the reader.

    With a progress bar, if `label` says what is done and that takes long. The limit of threads is that of this call if
    none is given.
    """
    max_ = limit or n_threads()
    workers = min(max_, n)
    if workers <= 1:

        def alone(index: int) -> T:
            with threads_limited_to(limit):
                return work(index)

        with closing(shown(map(alone, range(n)), n, what)) as results:
            yield results
        return
    with _pool(workers, work, max_) as pool, closing(shown(_sorted(pool, n, 2 * workers), n, what)) as results:
        yield results


def _sorted(pool: _Pool[T], n: int, ahead: int) -> Iterator[T]:
    """Yield the results of a pool in order, with a limited number computed ahead of the reader."""
    for number in range(min(n, ahead)):
        pool.ask(number)
    early: dict[int, T] = {}
    for following in range(n):
        while following not in early:
            number, value = pool.result()
            early[number] = value
        if following + ahead < n:
            pool.ask(following + ahead)
        yield early.pop(following)


def for_each(n: int, work: Callable[[int], None], what: str | None, limit: int | None = None) -> None:
    """Call ``work(0)``, ``work(1)``, ... in threads, with a progress bar if it takes long; the limit as `in_order`."""
    with in_order(n, work, what, limit) as done:
        for _ in done:
            pass
