"""Counting tasks for tests of faults: slow ones, ones that fail or die once, and wrong ones.

Each function here returns another, made of the real one. That is sent to workers by value, so a test may put it in the
place of the real one on the driver.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

from helpers.clusters import leave_trace


def slow(real: Callable[..., Any], folder: Path, seconds: float, slowest: int | None = None) -> Callable[..., Any]:
    """Count, but leave a trace first, and some time to be killed in; one task takes 60 times as long, as if it hung."""
    place = str(folder)

    def count(shipped: Any, part: Any, *more: Any) -> Any:
        number = number_of(part, *more)
        leave_trace(place, number)
        found = real(shipped, part, *more)
        time.sleep(60 * seconds if number == slowest else seconds)
        return found

    return count


def once(real: Callable[..., Any], mark: Path, then: Callable[[], None]) -> Callable[..., Any]:
    """Do the work, all of it; whoever is the first to be done then fails, or dies."""
    place = str(mark)

    def work(*arguments: Any) -> Any:
        found = real(*arguments)
        try:
            Path(place).touch(exist_ok=False)
        except FileExistsError:
            return found
        then()
        raise AssertionError

    return work


def add_in_place(real: Callable[..., bytes], folder: Path) -> Callable[..., bytes]:
    """Add all others into the first, which is the same for everybody: here a file, elsewhere an array in memory."""
    place = str(folder)

    def work(add: Callable[..., bytes], *parts: bytes) -> bytes:
        first = Path(place, blake2b(parts[0], digest_size=8).hexdigest())
        before = first.read_bytes() if first.exists() else parts[0]
        first.write_bytes(real(add, before, *parts[1:]))
        return first.read_bytes()

    return work


def fail() -> None:
    message = "failed once, on purpose"
    raise OSError(message)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def number_of(part: Any, *more: Any) -> int:
    """The number of a task: of its partition, or of the file of its first fragment."""
    return int(more[0]) if more else int(re.findall(r"(\d+)\.parquet", getattr(part[0], "path", part[0].name))[0])


def lasting(real: Callable[..., Any], folder: Path, seconds: float) -> Callable[..., Any]:
    """Count, but take long before that, and touch a file of this process all the while, as long as it is wanted."""
    place = str(folder)

    def count(shipped: Any, part: Any, *more: Any) -> Any:
        from glasswood.parallel._interrupts import check_cancelled

        end = time.monotonic() + seconds
        while time.monotonic() < end:
            check_cancelled()
            Path(place, str(os.getpid())).touch()
            time.sleep(0.05)
        return real(shipped, part, *more)

    return count
