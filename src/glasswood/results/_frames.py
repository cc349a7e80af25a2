"""Columns as a data frame of the user's own library, and what fits in memory."""

from __future__ import annotations

import importlib
import math
import os
import sys
from collections.abc import Mapping
from typing import Any, Literal

from glasswood.errors import MissingExtraError, TooLargeError

__all__ = ["check_memory", "to_frame"]

FRAME_LIBRARIES: tuple[Literal["pandas", "polars", "pyarrow"], ...] = ("pandas", "polars", "pyarrow")


def to_frame(columns: Mapping[str, Any]) -> Any:
    """Return columns as a data frame of the first of pandas, Polars and PyArrow that is loaded, or can be."""
    import narwhals as nw

    loaded = [name for name in FRAME_LIBRARIES if name in sys.modules]
    for name in (*loaded, *FRAME_LIBRARIES):
        try:
            importlib.import_module(name)
        except ImportError:
            continue
        return nw.from_dict(dict(columns), backend=name).to_native()
    message = "a data frame needs one of pandas, polars or pyarrow; install one of them"
    raise MissingExtraError(message)


def check_memory(shape: tuple[int, ...]) -> None:
    """Refuse arrays that would take more than half of this machine's memory."""
    needed = 8 * math.prod(shape)
    if needed > _memory() // 2:
        what = " x ".join(f"{n:,}" for n in shape)
        message = (
            f"{what} values are {needed / 1e9:,.1f} GB, more than half of this machine's memory. Ask for fewer rows or "
            "one output; what interaction_values and evaluate return also has blocks(), to_parquet(), mean_abs() and "
            "top_per_row(), which need little memory"
        )
        raise TooLargeError(message)


def _memory() -> int:
    """Return the bytes of this machine's memory, or a terabyte where that cannot be told."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows
        return 10**12
