"""Interrupts: how work in threads ends soon after Ctrl-C.

Python interrupts the main thread only, and only between two of its own steps, never within a kernel. So long work is
cut into parts of a fraction of a second, and threads ask between two parts whether anybody still waits for the result.
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
    """Return who waits for what this thread does; nobody, if it was not started by a pool."""
    found: tuple[Waiter, ...] = getattr(_of_thread, "waiters", ())
    return found


@contextmanager
def wanted_by(*waiters: Waiter) -> Iterator[None]:
    """Give a block whose work this thread does for others."""
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
