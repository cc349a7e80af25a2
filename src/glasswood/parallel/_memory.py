"""What fits in this machine's memory."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path

from glasswood.errors import TooLargeError

__all__ = ["check_memory"]

MUCH = 2**28  # bytes; the available memory is only checked above this size

REMEDY = (
    "Ask for fewer rows or one output; what interaction_values and evaluate return also has blocks(), to_parquet(), "
    "mean_abs() and top_per_row(), which need little memory"
)


def check_memory(shape: tuple[int, ...], n_arrays: int = 1, remedy: str = REMEDY) -> None:
    """Refuse arrays of float64 that would take more than half of this machine's memory, or more than is left of it."""
    needed = 8 * math.prod(shape) * n_arrays
    what = ""
    if needed > _memory() // 2:
        what = "half of this machine's memory"
    elif needed > MUCH and needed > _left():
        what = "the remaining memory of this machine"
    if what:
        size = " x ".join(f"{n:,}" for n in shape)
        message = f"{size} values take {needed / 1e9:,.1f} GB, more than {what}. {remedy}"
        raise TooLargeError(message)


def _memory() -> int:
    """Return the bytes of memory that this process may use, or a terabyte where that cannot be told."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows
        return 10**12
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):  # of a container
        with suppress(OSError, ValueError):
            memory = min(memory, int(Path(path).read_text()))
    return memory


def _left() -> int:
    """Return the bytes of memory that no process uses, or a terabyte where that cannot be told."""
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        return 1024 * int(next(line.split()[1] for line in lines if line.startswith("MemAvailable:")))
    return 10**12
