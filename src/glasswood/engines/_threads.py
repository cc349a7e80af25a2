"""Threads of this process."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from glasswood.engines._progress import shown

__all__ = ["for_each", "in_order", "n_threads", "sum_over", "sum_over_batches"]

T = TypeVar("T")
Item = TypeVar("Item")


def n_threads() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def sum_over(
    items: Iterable[Item], start: Callable[[], T], add: Callable[[T, Item], None], threads: int | None = None
) -> list[T]:
    """Return one sum per thread: each starts from ``start()`` and adds the next item until none is left.

    Which thread takes which item is left to chance; sums of integers do not depend on it. Items are drawn by one thread
    at a time, so they may be read from a file. If one fails, all stop.
    """
    workers = max(1, threads or n_threads())
    waiting, turn, stopped = iter(items), threading.Lock(), threading.Event()

    def draw() -> Iterator[Item]:
        while not stopped.is_set():
            with turn:
                try:
                    item = next(waiting)
                except StopIteration:
                    return
            yield item

    def work(_: int) -> T:
        total = start()
        try:
            for item in draw():
                add(total, item)
        except BaseException:
            stopped.set()
            raise
        return total

    if workers == 1:
        return [work(0)]
    with ThreadPoolExecutor(workers) as pool:
        try:
            return list(pool.map(work, range(workers)))
        finally:
            stopped.set()  # an interrupted pass must not go on in the background


def sum_over_batches(
    n_rows: int, batch: int, start: Callable[[], T], add: Callable[[T, int, int], None], threads: int | None = None
) -> list[T]:
    """Return one sum per thread, as `sum_over`, of batches of rows: ``add(sum, first, last)`` adds one of them."""
    starts = range(0, n_rows, batch)
    workers = max(1, min(threads or n_threads(), len(starts)))
    return sum_over(starts, start, lambda total, first: add(total, first, min(n_rows, first + batch)), workers)


def in_order(n: int, work: Callable[[int], T]) -> Iterator[T]:
    """Yield ``work(0)``, ``work(1)``, ... in this order, worked on in threads, a few of them ahead of the reader."""
    workers = min(n_threads(), n)
    if workers <= 1:
        yield from map(work, range(n))
        return
    with ThreadPoolExecutor(workers) as pool:
        ahead = deque(pool.submit(work, index) for index in range(min(n, 2 * workers)))
        following = len(ahead)
        try:
            while ahead:
                result = ahead.popleft().result()
                if following < n:
                    ahead.append(pool.submit(work, following))
                    following += 1
                yield result
        finally:
            for future in ahead:
                future.cancel()


def for_each(n: int, work: Callable[[int], None], what: str) -> None:
    """Call ``work(0)``, ``work(1)``, ... in threads, with a progress bar if it takes long."""
    for _ in shown(in_order(n, work), n, what):
        pass
