"""What fits in the memory of this process: that of the machine, or what its container may use of it."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path

from glasswood.errors import TooLargeError
from glasswood.parallel._limits import Memory, memory_limit
from glasswood.parallel._threads import n_threads

__all__ = ["check_memory", "memory_left", "memory_that_fits", "threads_that_fit"]

LITTLE = 2**22  # bytes, which every container has
MUCH = 2**28  # bytes; the available memory is only checked above this size

REMEDY = (
    "Ask for fewer rows or one output; what interaction_values and evaluate return also has blocks(), to_parquet(), "
    "mean_abs() and top_per_row(), which need little memory"
)


def check_memory(shape: tuple[int, ...], n_arrays: int = 1, remedy: str = REMEDY) -> None:
    """Refuse arrays of float64 that would take more than half of the memory of this process, or more than is left."""
    needed = 8 * math.prod(shape) * n_arrays
    memory, allowed = _memory(), memory_limit() if needed > LITTLE else None
    owner = "this machine"
    if allowed is not None and allowed.limit < memory:
        memory, owner = allowed.limit, "this container"
    what = ""
    if needed > memory // 2:
        what = f"half of {owner}'s memory"
    elif needed > MUCH and needed > _available(allowed):
        what = f"the remaining memory of {owner}"
    if what:
        size = " x ".join(f"{n:,}" for n in shape)
        message = f"{size} values take {needed / 1e9:,.1f} GB, more than {what}. {remedy}"
        raise TooLargeError(message)


def threads_that_fit(n_values: int) -> int:
    """Return how many threads may add up so many numbers each: fewer than usual if memory is short."""
    needed, max_ = 8 * n_values, n_threads()
    if needed * max_ <= MUCH:
        return max_
    return max(1, min(max_, _available(memory_limit()) // (2 * needed)))


def memory_that_fits() -> int:
    """Return the largest number of bytes that `check_memory` does not refuse."""
    allowed = memory_limit()
    memory = _memory() if allowed is None else min(_memory(), allowed.limit)
    return min(memory // 2, max(MUCH, _available(allowed)))


def memory_left() -> int:
    """Return the bytes of memory that this process can still get."""
    return _available(memory_limit())


def _memory() -> int:
    """Return the bytes of memory of this machine, or a terabyte where that is unknown."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows
        return 10**12


def _available(allowed: Memory | None) -> int:
    """Return the bytes of memory that this process can still get, or a terabyte where that is unknown."""
    max_ = 10**12 if allowed is None else allowed.left
    with suppress(OSError, ValueError, IndexError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        return min(max_, 1024 * int(next(line.split()[1] for line in lines if line.startswith("MemAvailable:"))))
    return max_
