"""Interrupts: work in threads ends soon after Ctrl-C.

Python only interrupts the main thread, and only between two of its own steps, never within a kernel. Therefore, long
work is divided into parts of a fraction of a second, and threads check between two parts whether the result is still
needed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

__all__ = ["Abandoned", "DistantWaiter", "Waiter", "cancelled_by", "proceed", "waiters"]

PATIENCE = 1.0  # seconds between two questions to a driver

_of_thread = threading.local()


class Abandoned(BaseException):
    """Nobody waits any longer for what this thread does."""


class Waiter:
    """Somebody who waits for what threads do, until `gone` is set; without a lock, which Ctrl-C might leave locked."""

    def __init__(self) -> None:
        self.gone = False


class DistantWaiter:
    """A driver that waits for what a task does on a worker; it is asked now and then whether it still does.

    Parameters
    ----------
    is_gone : callable
        Returns whether nobody waits any longer.
    """

    def __init__(self, is_gone: Callable[[], bool]) -> None:
        self._gone, self._is_gone, self._asked = False, is_gone, 0.0

    @property
    def gone(self) -> bool:
        """Whether nobody waits any longer, as of at most a second ago."""
        if not self._gone and monotonic() - self._asked > PATIENCE:
            self._gone, self._asked = self._is_gone(), monotonic()
        return self._gone


def waiters() -> tuple[Waiter | DistantWaiter, ...]:
    """Return those who wait for the work of this thread; empty if it was not started by a pool."""
    found: tuple[Waiter | DistantWaiter, ...] = getattr(_of_thread, "waiters", ())
    return found


@contextmanager
def cancelled_by(*waiters: Waiter | DistantWaiter) -> Iterator[None]:
    """Declare that this thread does the work of a block for others."""
    _of_thread.waiters = waiters
    try:
        yield
    finally:
        del _of_thread.waiters


def proceed() -> None:
    """Raise `Abandoned` if one who waited for what this thread does is gone. Called between two parts of long work."""
    for waiter in waiters():
        if waiter.gone:
            raise Abandoned
