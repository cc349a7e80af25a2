"""Threads of this process, over a table in memory."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import TypeVar

from glasswood.engines._progress import shown

__all__ = ["for_each", "in_order", "n_threads", "sum_over_batches"]

T = TypeVar("T")


def n_threads() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def sum_over_batches(
    n_rows: int, batch: int, start: Callable[[], T], add: Callable[[T, int, int], None], threads: int | None = None
) -> list[T]:
    """Return one sum per thread: each starts from ``start()`` and takes the next batch until none is left.

    ``add(sum, first, last)`` adds the rows from first to last. Which thread takes which batch is left to chance; sums
    of integers do not depend on it.
    """
    n_batches = -(-n_rows // batch)
    workers = max(1, min(threads or n_threads(), n_batches))
    turn = count()  # the next batch; drawing from it is atomic

    def work(_: int) -> T:
        total = start()
        while (index := next(turn)) < n_batches:
            add(total, index * batch, min(n_rows, (index + 1) * batch))
        return total

    if workers == 1:
        return [work(0)]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, range(workers)))


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
