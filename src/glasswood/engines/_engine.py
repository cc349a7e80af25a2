"""Engine: what each cluster's file offers, and which of them is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple, Protocol, cast

from glasswood.counting._job import ShippedJob
from glasswood.counting._partial import Partial
from glasswood.errors import MissingExtraError, TableError
from glasswood.tables._parquet import Fragment

__all__ = ["ENGINES", "Engine", "engine_of", "load_engine"]


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


class Engine(Protocol):
    """What the file of a cluster offers, as functions. `session` is what the user holds of it, or None.

    A job goes to the workers as bytes, and partial sums come back. Whether all parts were counted, and each once, is
    checked by the caller: an engine may run a task any number of times.
    """

    def dumps(self, parts: object) -> bytes:
        """Return objects as bytes that workers unpickle, functions of a notebook included."""

    def look(self, frame: object, session: object) -> tuple[list[Any], Any]:
        """Return the names of the columns of the engine's own frame, and its first rows as a table."""

    def count_frame(self, shipped: ShippedJob, frame: object, session: object) -> tuple[Partial, int]:
        """Return the counts of the engine's own frame, and how many parts it has, which are numbered from 0."""

    def count_files(self, shipped: ShippedJob, bundles: Sequence[Sequence[Fragment]], session: object) -> Partial:
        """Return the counts of bundles of fragments of files, which workers read themselves."""


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
    found = repr(engine) if isinstance(engine, str) else type(engine).__name__
    message = f"engine must be {', '.join([*names, *sessions[:-1]])} or {sessions[-1]}, not {found}"
    raise TableError(message)


def load_engine(name: str) -> Engine:
    """Return the file of an engine, which imports its library."""
    try:
        return cast(Engine, import_module(f"glasswood.engines._{name}"))
    except ImportError as error:
        raise MissingExtraError.of(error.name or name, extra=name, what=f"engine={name!r}") from error
