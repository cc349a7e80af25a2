"""Cancelling: work in threads ends soon after Ctrl-C.

Python only interrupts the main thread, and only between two of its own steps, never within a kernel. Therefore, long
work is divided into parts of a fraction of a second, and threads check between two parts whether the result is still
needed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

__all__ = ["Cancellation", "Cancelled", "RemoteCancellation", "cancellable_by", "cancellations", "check_cancelled"]

PATIENCE = 1.0  # seconds between two questions to a driver

_of_thread = threading.local()


class Cancelled(BaseException):
    """The result of what this thread does is no longer needed."""


class Cancellation:
    """Cancels the work of threads when `requested` is set. It has no lock, which Ctrl-C might leave locked."""

    def __init__(self) -> None:
        self.requested = False


class RemoteCancellation:
    """Cancels the work of a task on a worker. The driver is asked now and then whether it still needs the result.

    Parameters
    ----------
    is_requested : callable
        Returns whether the work is to be cancelled.
    """

    def __init__(self, is_requested: Callable[[], bool]) -> None:
        self._requested, self._is_requested, self._asked = False, is_requested, 0.0

    @property
    def requested(self) -> bool:
        """Whether the work is to be cancelled, as of at most a second ago."""
        if not self._requested and monotonic() - self._asked > PATIENCE:
            self._requested, self._asked = self._is_requested(), monotonic()
        return self._requested


def cancellations() -> tuple[Cancellation | RemoteCancellation, ...]:
    """Return what can cancel the work of this thread; empty if it was not started by a pool."""
    result: tuple[Cancellation | RemoteCancellation, ...] = getattr(_of_thread, "cancellations", ())
    return result


@contextmanager
def cancellable_by(*cancellations: Cancellation | RemoteCancellation) -> Iterator[None]:
    """Let others cancel what this thread does in a block."""
    _of_thread.cancellations = cancellations
    try:
        yield
    finally:
        del _of_thread.cancellations


def check_cancelled() -> None:
    """Raise `Cancelled` if the work of this thread was cancelled. Called between two parts of long work."""
    for cancellation in cancellations():
        if cancellation.requested:
            raise Cancelled
