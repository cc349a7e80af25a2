"""Engine: what each cluster's file offers, and which of them is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, NamedTuple, Protocol, cast

from glasswood.errors import MissingExtraError, TableError

__all__ = ["ENGINES", "Engine", "ShippedWork", "engine_of", "load_engine"]


class Known(NamedTuple):
    """How an engine is recognized: the package of what users hold of it, and what that is called, if it has a name."""

    package: str
    session: str = ""


# All engines but the threads of this process, by name, which is also that of their file and of their extra.
ENGINES = {
    "dask": Known("distributed", "Dask Client"),
    "spark": Known("pyspark", "SparkSession"),
    "ray": Known("ray"),
}


class ShippedWork(Protocol):
    """A job as workers get it: rows to count, or rows to explain. All functions but `open` are about bytes."""

    named_later: bool
    """Whether a part can be worked on before its name is known."""

    def open(self) -> Any:
        """Return the job, which is unpacked once in each process."""

    @property
    def columns(self) -> list[Any]:
        """The names of all columns that are read."""

    @property
    def n_slices(self) -> int:
        """The number of slices that results are added up in."""

    def of_bundle(self, bundle: Any) -> bytes:
        """Return the result of a bundle of files, which any worker may compute any number of times."""

    def of_tables(self, tables: Iterable[Any], name: str) -> bytes:
        """Return the result of the tables of one part of a frame."""

    @staticmethod
    def add(*parts: bytes) -> bytes:
        """Return the sum of results."""

    def cut(self, packed: bytes, n: int, /) -> list[bytes]:
        """Return a result in n slices."""

    def join(self, slices: Sequence[bytes]) -> bytes:
        """Return the result that has these slices, in order."""


class Engine(Protocol):
    """What the file of a cluster offers, as functions. `session` is what the user holds of it, or None.

    A job goes to the workers as bytes, and results come back that add up. Whether all parts were worked on, and each
    once, is checked by the caller: an engine may run a task any number of times.
    """

    def dumps(self, parts: object) -> bytes:
        """Return objects as bytes that workers unpickle, functions of a notebook included."""

    def names_and_head(self, frame: object, session: object) -> tuple[list[Any], Any]:
        """Return the names of the columns of the engine's own frame, and its first rows as a table."""

    def run_frame(self, shipped: ShippedWork, frame: object, session: object) -> tuple[bytes, int]:
        """Return the result of the engine's own frame, and how many parts it has, which are numbered from 0."""

    def run_files(self, shipped: ShippedWork, bundles: Sequence[Any], session: object) -> bytes:
        """Return the result of bundles of files, which workers read themselves."""

    def map_frame(self, shipped: Any, frame: object) -> Any:
        """Return a frame of the engine with the answers of a RowJob about each row of a frame, computed lazily."""


def engine_of(engine: object) -> tuple[str, Any]:
    """Return the name of an engine, and what the user holds of it."""
    if isinstance(engine, str):
        if engine in ("auto", "threads", *ENGINES):
            return engine, None
    else:
        package = type(engine).__module__.partition(".")[0]
        for name, known in ENGINES.items():
            if known.package == package:
                return name, engine
    names = [f'"{name}"' for name in ("auto", "threads", *ENGINES)]
    sessions = [f"a {known.session}" for known in ENGINES.values() if known.session]
    shown = repr(engine) if isinstance(engine, str) else type(engine).__name__
    message = f"engine must be {', '.join([*names, *sessions[:-1]])} or {sessions[-1]}, not {shown}"
    raise TableError(message)


def load_engine(name: str) -> Engine:
    """Return the file of an engine, which imports its library."""
    try:
        return cast(Engine, import_module(f"glasswood.engines._{name}"))
    except ImportError as error:
        raise MissingExtraError.of(error.name or name, extra=name, what=f"engine={name!r}") from error
