"""Columns as a data frame of the user's own library, results that turn into one, and what fits in memory."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast, get_args, overload

from glasswood._types import Frame, FrameLibrary
from glasswood.errors import ArgumentError, MissingExtraError
from glasswood.parallel._memory import check_memory

if TYPE_CHECKING:
    from glasswood._types import ArrowTable, PandasFrame, PolarsFrame

__all__ = ["Tabular", "TabularWithError", "check_memory", "stacked", "to_frame"]


FRAME_LIBRARIES: tuple[FrameLibrary, ...] = get_args(FrameLibrary)


def to_frame(columns: Mapping[str, Any], library: FrameLibrary | None = None) -> Frame:
    """Return columns as a data frame of a library; by default of the first that is loaded, or can be imported."""
    import narwhals as nw

    if library is not None and library not in FRAME_LIBRARIES:
        message = f"library is one of {', '.join(map(repr, FRAME_LIBRARIES))}, not {library!r}"
        raise ArgumentError(message)
    loaded = [name for name in FRAME_LIBRARIES if name in sys.modules]
    for name in (*loaded, *FRAME_LIBRARIES) if library is None else (library,):
        try:
            importlib.import_module(name)
        except ImportError:
            continue
        return cast("Frame", nw.from_dict(dict(columns), backend=name).to_native())
    if library is not None:
        message = f"to_frame({library!r}) requires {library}; install it, or leave out library="
        raise MissingExtraError(message)
    raise MissingExtraError.of_frames("to_frame")


class Tabular:
    """A result that turns into a data frame."""

    __slots__ = ()

    @overload
    def to_frame(self, library: Literal["pandas"]) -> PandasFrame: ...
    @overload
    def to_frame(self, library: Literal["polars"]) -> PolarsFrame: ...
    @overload
    def to_frame(self, library: Literal["pyarrow"]) -> ArrowTable: ...
    @overload
    def to_frame(self, library: FrameLibrary | None = None) -> Frame: ...

    def to_frame(self, library: FrameLibrary | None = None) -> Frame:
        """Return the result as a data frame; the class says what its rows are.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame. By default the first of these that is loaded, or else can be imported.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table

        Examples
        --------
        >>> ex.importance().to_frame().columns.tolist()
        ['feature', 'value', 'kind']
        >>> ex.importance().to_frame("polars").columns
        ['feature', 'value', 'kind']
        """
        return self._frame(library)

    def _frame(self, library: FrameLibrary | None) -> Frame:
        return to_frame(self._columns(), library)

    def _columns(self) -> Mapping[str, Any]:
        raise NotImplementedError


class TabularWithError:
    """A result that turns into a data frame, with standard errors if these are asked for."""

    __slots__ = ()

    @overload
    def to_frame(self, library: Literal["pandas"], *, error: bool = False) -> PandasFrame: ...
    @overload
    def to_frame(self, library: Literal["polars"], *, error: bool = False) -> PolarsFrame: ...
    @overload
    def to_frame(self, library: Literal["pyarrow"], *, error: bool = False) -> ArrowTable: ...
    @overload
    def to_frame(self, library: FrameLibrary | None = None, *, error: bool = False) -> Frame: ...

    def to_frame(self, library: FrameLibrary | None = None, *, error: bool = False) -> Frame:
        """Return the result as a data frame; the class says what its rows are.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame. By default the first of these that is loaded, or else can be imported.
        error : bool, default False
            Whether to add columns of standard errors; the Explainer must have been made with `folds`.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table

        Examples
        --------
        >>> ex.interaction_strengths().to_frame().columns.tolist()
        ['first', 'second', 'value', 'h']
        """
        columns = self._columns()
        return to_frame({**columns, **self._error_columns()} if error else columns, library)

    def _columns(self) -> Mapping[str, Any]:
        raise NotImplementedError

    def _error_columns(self) -> Mapping[str, Any]:
        raise NotImplementedError


def stacked(frames: Sequence[Frame], names: Sequence[str], keys: Sequence[tuple[Hashable, ...]]) -> Frame:
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
    return cast("Frame", nw.concat(parts, how="vertical").to_native())


def _of_one_type(labels: list[Any]) -> list[Any]:
    """Return labels unchanged if they have one type; otherwise as strings."""
    return labels if len({type(label) for label in labels}) == 1 and labels[0] is not None else list(map(str, labels))
