"""Interrupts: work in threads ends soon after Ctrl-C.

Python only interrupts the main thread, and only between two of its own steps, never within a kernel. Therefore, long
work is divided into parts of a fraction of a second, and threads check between two parts whether the result is still
needed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Abandoned", "Waiter", "proceed", "waiters", "wanted_by"]

_of_thread = threading.local()


class Abandoned(BaseException):
    """Nobody waits any longer for what this thread does."""


class Waiter:
    """Somebody who waits for what threads do, until `gone` is set; without a lock, which Ctrl-C might leave locked."""

    def __init__(self) -> None:
        self.gone = False


def waiters() -> tuple[Waiter, ...]:
    """Return those who wait for the work of this thread; empty if it was not started by a pool."""
    found: tuple[Waiter, ...] = getattr(_of_thread, "waiters", ())
    return found


@contextmanager
def wanted_by(*waiters: Waiter) -> Iterator[None]:
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
