"""LRUCache: a cache of costly values with a limit in bytes, which evicts the least recently used first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, Protocol, TypeVar

from glasswood.parallel._lazy import Lock

__all__ = ["LRUCache"]


class _Sized(Protocol):
    @property
    def n_bytes(self) -> int:
        """The memory that it takes."""


T = TypeVar("T", bound=_Sized)


class _Entry(Generic[T]):
    """A value, when it has been made, and the lock of the thread that makes it."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.value: T | None = None


class LRUCache:
    """Values by key, made when they are first asked for.

    Any number of threads may ask: each value is made by one of them, while those who need the same one wait. A copy,
    also one in another process, starts empty.

    Parameters
    ----------
    max_bytes : int
        The maximum size of the cache. A larger value is computed anew for every question.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._entries: OrderedDict[Hashable, _Entry[Any]] = OrderedDict()

    def __reduce__(self) -> tuple[type[LRUCache], tuple[int]]:
        return LRUCache, (self._max_bytes,)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of a key. `make` makes it; values of equal keys must be equal."""
        with self._lock:
            entry: _Entry[T] = self._entries.setdefault(key, _Entry())
            self._entries.move_to_end(key)
        with entry.lock:
            result: T | None = entry.value
            if result is None:
                result = make()
                self._keep(key, entry, result)
        return result

    @property
    def n_bytes(self) -> int:
        """The memory of the cached values."""
        with self._lock:
            return sum(entry.value.n_bytes for entry in self._entries.values() if entry.value is not None)

    def _keep(self, key: Hashable, entry: _Entry[T], value: T) -> None:
        """Keep a value, and let go of those not asked for the longest, until they take few enough bytes."""
        with self._lock:
            if value.n_bytes > self._max_bytes:
                if self._entries.get(key) is entry:
                    del self._entries[key]
                return
            entry.value = value
            n_bytes = self.n_bytes
            for other, old in list(self._entries.items()):
                if n_bytes <= self._max_bytes:
                    return
                if old.value is not None:
                    n_bytes -= old.value.n_bytes
                    del self._entries[other]
