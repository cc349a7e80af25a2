"""Progress bars, for passes that turn out to be long.

A bar is made when it is first shown. tqdm has one lock for all bars, which is shared with forked processes: a process
that is forked while another thread holds it would wait forever, and so would everybody else.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

__all__ = ["Bar", "bar", "hidden", "shown"]

T = TypeVar("T")

PATIENCE = 5.0  # seconds before anything is shown

_hidden: ContextVar[bool] = ContextVar("hidden", default=False)


@contextmanager
def hidden(*, unless: bool) -> Iterator[None]:
    """Hide progress bars within a block, for example if the command line is not run in a terminal."""
    token = _hidden.set(not unless)
    try:
        yield
    finally:
        _hidden.reset(token)


class Bar:
    """A progress bar that several threads may move, and that is shown once the work has taken a few seconds.

    Parameters
    ----------
    **settings
        Those of tqdm.
    """

    def __init__(self, **settings: Any) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._started, self._done = time.time(), 0
        self._drawn: Any = None
        self._hidden = _hidden.get()

    def add(self, n: int) -> None:
        """Note that so much more is done."""
        if self._hidden:
            return
        with self._lock:
            self._done += n
            if self._drawn is not None:
                self._drawn.update(n)
            elif time.time() - self._started >= PATIENCE:
                self._draw()

    def _draw(self) -> None:
        from tqdm import tqdm

        self._drawn = tqdm(leave=False, **self._settings)
        self._drawn.start_t = self._drawn.last_print_t = self._started  # speed and time left are those of all the work
        self._drawn.update(self._done)

    def close(self) -> None:
        """Remove what is shown."""
        if self._drawn is not None:
            self._drawn.close()


def shown(items: Iterable[T], total: int, what: str | None) -> Generator[T, None, None]:
    """Yield the items, with a progress bar on standard error after a few seconds, unless `what` is None."""
    if total < 2 or what is None:
        yield from items
        return
    drawn = Bar(total=total, desc=what)
    try:
        for item in items:
            yield item
            drawn.add(1)
    finally:
        drawn.close()


@contextmanager
def bar(total: int | None, what: str, unit: str) -> Iterator[Bar]:
    """Give a progress bar with speed and time left, shown once the work has taken a few seconds."""
    drawn = Bar(total=total, desc=what, unit=f" {unit}", unit_scale=True)
    try:
        yield drawn
    finally:
        drawn.close()
