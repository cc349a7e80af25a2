"""Contenders in a process of their own, which is ended if it takes too long or too much memory."""

from __future__ import annotations

import contextlib
import gc
import io
import multiprocessing
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from measure import GIGABYTE, memory

__all__ = ["Child", "Facts", "Limits", "Outcome"]

INTERVAL = 0.05  # seconds between two looks at a child
START = 1800  # seconds for loading the table and the model


class Facts(dict[str, float]):
    """Numbers that a contender reports beside its time."""


@dataclass(frozen=True)
class Limits:
    """The most seconds and bytes that a lap may take."""

    seconds: float
    bytes: float


@dataclass
class Outcome:
    """One lap: its time, the peak memory of the process, how much of it is beyond model and rows, and facts."""

    seconds: float = float("nan")
    peak: int = 0
    beyond: int = 0
    error: str = ""
    facts: Facts = field(default_factory=Facts)


class Make(Protocol):
    """A function of a module, which returns the contenders by name."""

    def __call__(self, *args: Any) -> dict[str, Callable[[], Any]]: ...


def _lap(contender: Callable[[], Any]) -> Outcome:
    """Return one lap, in the child."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # Linux: forget the peak so far
    before, outcome = memory("VmRSS"), Outcome()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        start = time.perf_counter()
        try:
            result = contender()
            outcome.seconds = time.perf_counter() - start
        except Exception as error:  # noqa: BLE001 (a peer may fail in any way; the table says how)
            outcome.error = f"{type(error).__name__}: {error}".splitlines()[0][:300]
        else:
            outcome.facts = result if isinstance(result, Facts) else Facts()
    outcome.peak = memory("VmHWM")
    outcome.beyond = outcome.peak - before
    return outcome


def _serve(pipe: Connection, make: Make, args: tuple[Any, ...]) -> None:
    """Time what is asked for, in the child, until None is asked for."""
    contenders = make(*args)
    pipe.send(sorted(contenders))
    while (name := pipe.recv()) is not None:
        pipe.send(_lap(contenders[name]))


class Child:
    """A process with contenders. If one of them had to be ended, the next one starts in a new process.

    Parameters
    ----------
    make : function of a module
        Returns the contenders by name.
    *args
        What `make` takes.
    """

    def __init__(self, make: Make, *args: Any) -> None:
        self._make, self._args = make, args
        self._process: Any = None
        self._pipe: Connection | None = None

    def ask(self, name: str, limits: Limits) -> Outcome:
        """Return a lap of a contender."""
        try:
            pipe = self._pipe or self._start()
            pipe.send(name)
            return self._wait(pipe, limits)
        except (EOFError, OSError) as error:
            self.close(now=True)
            return Outcome(error=f"its process ended ({type(error).__name__})")

    def close(self, *, now: bool = False) -> None:
        """End the process: when it is ready, or at once."""
        if self._process is not None and self._pipe is not None:
            with contextlib.suppress(OSError):
                if not now:
                    self._pipe.send(None)
            self._process.join(0 if now else 10)
            if self._process.is_alive():
                self._process.kill()
                self._process.join()
            self._pipe.close()
        self._process = self._pipe = None

    def _start(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._make, self._args), daemon=True)
        self._process.start()
        theirs.close()
        if not self._pipe.poll(START):
            raise EOFError
        self._pipe.recv()
        return self._pipe

    def _wait(self, pipe: Connection, limits: Limits) -> Outcome:
        start = time.perf_counter()
        while not pipe.poll(INTERVAL):
            stopped = ""
            if time.perf_counter() - start > limits.seconds:
                stopped = f"stopped after {limits.seconds:.0f} s"
            elif (held := self._held()) > limits.bytes:
                stopped = f"stopped at {held / GIGABYTE:.1f} GB of memory"
            if stopped:
                self.close(now=True)
                return Outcome(error=stopped)
        outcome = pipe.recv()
        assert isinstance(outcome, Outcome)  # noqa: S101 (of the same program)
        return outcome

    def _held(self) -> int:
        with contextlib.suppress(OSError, IndexError):
            status = Path(f"/proc/{self._process.pid}/status").read_text()
            return int(status.split("VmRSS:")[1].split()[0]) * 1024
        return 0
