"""Counting on many workers: tasks are submitted in waves, and their partials are added on the workers, down to one."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TypeVar

from glasswood import errors
from glasswood.parallel._progress import bar

__all__ = ["FAN_IN", "own_errors", "sum_on_workers"]

FAN_IN = 8  # partials that one task adds up
PER_CORE = 3  # tasks that wait or run, per core: enough that none is idle, few enough that partials do not pile up

log = logging.getLogger(__name__)
STEPS = 10  # messages about the progress of a pass

Task = TypeVar("Task")
Future = TypeVar("Future")


def sum_on_workers(
    tasks: Sequence[Task],
    n_cores: int,
    count: Callable[[Task], Future],
    add: Callable[[list[Future]], Future],
    wait: Callable[[list[Future]], Future],
) -> Future:
    """Return a handle of the sum of all tasks.

    Parameters
    ----------
    tasks : sequence, not empty
    n_cores : int
    count : callable
        Starts a task on a worker and returns a handle of the partial.
    add : callable
        Starts adding partials on a worker.
    wait : callable
        Waits until one of several partials is ready and returns its handle; raises the error if there was one.
    """
    waiting, running, done, sums = iter(tasks), list[Future](), list[Future](), list[Future]()
    counting, n_done, began = 0, 0, monotonic()
    log.info("%d tasks on %d cores, at most %d at a time", len(tasks), n_cores, PER_CORE * n_cores)
    with bar(len(tasks), "counting", "parts") as progress:
        while True:
            if len(done) >= FAN_IN or (counting == len(tasks) and len(running) == 0 and len(done) > 1):
                sums.append(add(done[:FAN_IN]))
                running.append(sums[-1])
                done = done[FAN_IN:]
            while len(running) < PER_CORE * n_cores and (task := next(waiting, None)) is not None:
                running.append(count(task))
                counting += 1
            if not running:
                return done[0]
            finished = wait(running)
            running = [future for future in running if future is not finished]
            done.append(finished)
            adding = [future for future in sums if future is not finished]  # a handle that is kept keeps its partial
            if len(adding) == len(sums):
                progress.add(1)
                n_done += 1
                log.debug("task %d of %d is done", n_done, len(tasks))
                if n_done * STEPS // len(tasks) > (n_done - 1) * STEPS // len(tasks):
                    log.info("%d of %d tasks are done after %.1f s", n_done, len(tasks), monotonic() - began)
            sums = adding


@contextmanager
def own_errors(*kinds: type[BaseException]) -> Iterator[None]:
    """Re-raise our own errors with their type if an engine only passes on the text of a worker's error."""
    try:
        yield
    except kinds as error:
        # The last one: its causes come before it.
        named = re.findall(r"glasswood\.errors\.(\w+): (.*)", str(error))
        kind = getattr(errors, named[-1][0], None) if named else None
        if kind is None:
            raise
        raise kind(named[-1][1]) from error
