"""Columns as a data frame of the user's own library, and what fits in memory."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from typing import Any, Literal

from glasswood.errors import MissingExtraError
from glasswood.parallel._memory import check_memory

__all__ = ["check_memory", "to_frame"]

FRAME_LIBRARIES: tuple[Literal["pandas", "polars", "pyarrow"], ...] = ("pandas", "polars", "pyarrow")


def to_frame(columns: Mapping[str, Any]) -> Any:
    """Return columns as a data frame: pandas, Polars or PyArrow, whichever is loaded or can be imported first."""
    import narwhals as nw

    loaded = [name for name in FRAME_LIBRARIES if name in sys.modules]
    for name in (*loaded, *FRAME_LIBRARIES):
        try:
            importlib.import_module(name)
        except ImportError:
            continue
        return nw.from_dict(dict(columns), backend=name).to_native()
    raise MissingExtraError.of_frames("to_frame")
