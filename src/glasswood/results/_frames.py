"""Columns as a data frame of the user's own library, and what fits in memory."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal

from glasswood.errors import MissingExtraError
from glasswood.parallel._memory import check_memory

__all__ = ["check_memory", "stacked", "to_frame"]

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


def stacked(frames: Sequence[Any], names: Sequence[str], keys: Sequence[tuple[Hashable, ...]]) -> Any:
    """Return concatenated data frames, each with its key in the first columns, which have the given names."""
    import narwhals as nw

    opened = [nw.from_native(frame, eager_only=True) for frame in frames]
    taken = {name for frame in opened for name in frame.columns}
    free = [f"{name} (group)" if name in taken else name for name in names]
    columns = [_of_one_type([key[place] for key in keys]) for place in range(len(names))]
    parts = []
    for k, frame in enumerate(opened):
        own = [nw.lit(column[k]).alias(name) for name, column in zip(free, columns, strict=True)]
        parts.append(frame.select(*own, nw.all()))
    return nw.concat(parts, how="vertical").to_native()


def _of_one_type(labels: list[Any]) -> list[Any]:
    """Return labels unchanged if they have one type; otherwise as strings."""
    return labels if len({type(label) for label in labels}) == 1 and labels[0] is not None else list(map(str, labels))
