"""Progress bars, for passes that turn out to be long."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

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


def shown(items: Iterable[T], total: int, what: str | None) -> Generator[T, None, None]:
    """Yield the items, with a progress bar on standard error after a few seconds, unless `what` is None."""
    if total < 2 or what is None:
        yield from items
        return
    from tqdm import tqdm

    yield from tqdm(items, total=total, desc=what, delay=PATIENCE, leave=False, disable=_hidden.get())


class _Drawn(Protocol):
    def update(self, n: int) -> object: ...


class Bar:
    """A progress bar that several threads may move."""

    def __init__(self, drawn: _Drawn) -> None:
        self._drawn = drawn
        self._lock = threading.Lock()

    def add(self, n: int) -> None:
        """Note that so much more is done."""
        with self._lock:
            self._drawn.update(n)


@contextmanager
def bar(total: int | None, what: str, unit: str) -> Iterator[Bar]:
    """Give a progress bar with speed and time left, shown once the work has taken a few seconds."""
    from tqdm import tqdm

    settings = {"total": total, "desc": what, "unit": f" {unit}", "unit_scale": True, "leave": False}
    with tqdm(**settings, delay=PATIENCE, disable=_hidden.get()) as drawn:
        yield Bar(drawn)
