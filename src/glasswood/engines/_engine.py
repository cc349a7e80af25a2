"""Engine: what each cluster's file offers, and which of them is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol, cast

from glasswood.counting._job import ShippedJob
from glasswood.counting._partial import Partial
from glasswood.errors import MissingExtraError, TableError
from glasswood.tables._parquet import Fragment

__all__ = ["Engine", "engine_of", "load_engine"]

ENGINES = {"distributed": "dask", "pyspark": "spark", "ray": "ray"}  # by the package of what the user holds


class Engine(Protocol):
    """What the file of a cluster offers, as functions. `session` is what the user holds of it, or None.

    A job goes to the workers as bytes, and partial sums come back. Whether all parts were counted, and each once, is
    checked by the caller: an engine may run a task any number of times.
    """

    def look(self, frame: Any, session: Any) -> tuple[list[Any], Any]:
        """Return the names of the columns of the engine's own frame, and its first rows as a table."""

    def count_frame(self, shipped: ShippedJob, frame: Any, session: Any) -> tuple[Partial, int]:
        """Return the counts of the engine's own frame, and how many parts it has, which are numbered from 0."""

    def count_files(self, shipped: ShippedJob, bundles: Sequence[Sequence[Fragment]], session: Any) -> Partial:
        """Return the counts of bundles of fragments of files, which workers read themselves."""


def engine_of(engine: Any) -> tuple[str, Any]:
    """Return the name of an engine, and what the user holds of it."""
    if isinstance(engine, str):
        if engine not in ("auto", "threads", *ENGINES.values()):
            message = (
                f'engine must be "auto", "threads", "dask", "spark", "ray", a Client or a SparkSession, not {engine!r}'
            )
            raise TableError(message)
        return engine, None
    package = type(engine).__module__.partition(".")[0]
    if package not in ENGINES:
        message = f"engine must be a name, a Dask Client or a SparkSession, not {type(engine).__name__}"
        raise TableError(message)
    return ENGINES[package], engine


def load_engine(name: str) -> Engine:
    """Return the file of an engine, which imports its library."""
    try:
        return cast(Engine, import_module(f"glasswood.engines._{name}"))
    except ImportError as error:
        raise MissingExtraError.of(error.name or name, extra=name, what=f"engine={name!r}") from error
