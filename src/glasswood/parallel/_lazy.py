"""Values that are computed lazily and only once, whichever thread asks first: `cached_property`, `Deferred`.

`cached_unpickled` is for values that cannot be pickled; `Cache` keeps values by key, `Recent` the last few of them.

An Explainer may be used by any number of threads. Two rules make this safe. Cached values are pure functions of
immutable data, so it does not matter which thread computes them, or when. And the computing thread holds a lock, one
per value, so locks are nested only as values depend on each other. These dependencies have no cycles, so there are no
deadlocks; and no pool thread that helps to compute a value asks for that value.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Any, ClassVar, Generic, TypeVar, overload

from glasswood.errors import BackgroundError
from glasswood.parallel._threads import thread_limit, threads_limited_to

__all__ = ["Cache", "Deferred", "Lock", "Recent", "cached_property", "cached_unpickled"]

T = TypeVar("T")
S = TypeVar("S")


class Lock:
    """A re-entrant lock of an object that can be pickled and copied: the copy has a lock of its own, not held.

    So has a fork of the process: the threads that hold locks here are not there, and could never release them.
    """

    _all: ClassVar[weakref.WeakSet[Lock]] = weakref.WeakSet()

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._all.add(self)

    @classmethod
    def renew_all(cls) -> None:
        """Let go of all locks, in a process that has no thread but this one."""
        for lock in list(cls._all):
            lock._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type[Lock], tuple[()]]:
        return Lock, ()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=Lock.renew_all)


class cached_property(Generic[T]):
    """A property that is computed when it is first read, and kept.

    As `functools.cached_property`, but always computed by one thread only, while others that need it wait. (Python 3.11
    locks out the threads of all other objects too, later versions none.)

    Parameters
    ----------
    compute : callable
        The method.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__
        self.__module__ = compute.__module__

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> cached_property[T]: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...

    def __get__(self, instance: object | None, owner: type | None = None) -> cached_property[T] | T:
        return self if instance is None else self._get(instance)

    def _get(self, instance: object) -> T:
        kept = instance.__dict__  # where Python looks first, as soon as the value is there
        lock = kept.setdefault(f"(lock of {self._name})", Lock())
        with lock:
            if self._name not in kept:
                kept[self._name] = self._compute(instance)
            kept.pop(f"(lock of {self._name})", None)
        result: T = kept[self._name]
        return result


class _Here:
    """Something that is kept until it is pickled or copied in depth: the copy is empty."""

    value: object = None

    def __reduce__(self) -> tuple[type[_Here], tuple[()]]:
        return _Here, ()


class cached_unpickled(cached_property[T]):
    """A `cached_property` of the compiled core's objects, which cannot be pickled: a copy computes its own."""

    def _get(self, instance: object) -> T:
        kept = instance.__dict__
        here = kept.setdefault(f"({self._name})", _Here())
        if here.value is None:
            with kept.setdefault(f"(lock of {self._name})", Lock()):
                if here.value is None:
                    here.value = self._compute(instance)
        result: T = here.value
        return result


class Recent(Generic[T]):
    """The last few values by key, each computed by one thread only; that which was not used for longest is dropped.

    Parameters
    ----------
    max_ : int
        How many values are kept.
    """

    def __init__(self, max_: int) -> None:
        self._max, self._lock = max_, Lock()
        self._kept: dict[Any, Deferred[T]] = {}

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the value of a key, which is computed if it is not there; not kept if that fails."""
        with self._lock:
            result = self._kept.pop(key, None) or Deferred(compute)
            self._kept[key] = result  # the latest is last
            if len(self._kept) > self._max:
                del self._kept[next(iter(self._kept))]
        return result()

    def clear(self) -> None:
        """Forget all values."""
        with self._lock:
            self._kept.clear()


class Cache:
    """Values by key, each computed when it is first asked for, and kept.

    All keys have one lock: with a lock each, two threads might read a stream that can be read only once.

    Parameters
    ----------
    lock : Lock, optional
        A lock that is shared with other values.
    """

    def __init__(self, lock: Lock | None = None) -> None:
        self._lock = Lock() if lock is None else lock
        self._kept: dict[Hashable, Any] = {}
        self._latest: dict[str, Recent[Any]] = {}

    def cached(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the value of a key."""
        with self._lock:
            if key not in self._kept:
                self._kept[key] = compute()
            result: T = self._kept[key]
            return result

    def latest(self, what: str, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the value of a key, of which only that of the last key is kept."""
        with self._lock:
            recent = self._latest.setdefault(what, Recent(1))
        result: T = recent.get(key, compute)
        return result


class Deferred(Generic[T]):
    """A function without arguments that computes its value when it is first called, and keeps it.

    It is computed before it is pickled or copied, so that a result can be kept without what it was computed from. What
    may take long is not: a copy raises an error instead. The limit of threads is that of the call in which it is made.

    Parameters
    ----------
    compute : callable
    lost : str, optional
        What the error of a copy says, if the value is not to be computed for copies.
    """

    def __init__(self, compute: Callable[[], T], lost: str = "") -> None:
        self._compute, self._lost, self._limit = compute, lost, thread_limit()

    @classmethod
    def of(cls, value: T) -> Deferred[T]:
        """Return one that is computed already."""
        return cls(lambda: value)

    @classmethod
    def gone(cls, lost: str) -> Deferred[T]:
        """Return one that cannot be computed any more."""

        def refuse() -> T:
            raise BackgroundError(lost)

        return cls(refuse, lost)

    def map(self, turn: Callable[[T], S]) -> Deferred[S]:
        """Return a function of the value, which is as lost for copies."""
        return Deferred(lambda: turn(self()), self._lost)

    @cached_property
    def _value(self) -> T:
        with threads_limited_to(self._limit):
            value = self._compute()
        del self._compute  # with all that it holds
        return value

    def __call__(self) -> T:
        """Return the value."""
        return self._value

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        if self._lost and "_value" not in self.__dict__:
            return Deferred.gone, (self._lost,)
        return Deferred.of, (self(),)
