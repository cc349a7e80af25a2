"""Shipped: objects as bytes for the workers of a cluster, which unpack them once per process, if their versions fit."""

from __future__ import annotations

import pickle
import platform
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np

from glasswood.errors import UnsupportedModelError, WorkerVersionError
from glasswood.parallel._lazy import Recent

__all__ = ["Dumps", "Shipped"]

Dumps = Callable[[Any], bytes]


def versions() -> dict[str, str]:
    """Return the versions that what is packed depends on."""
    glasswood: Any = sys.modules["glasswood"]
    return {"glasswood": glasswood.__version__, "Python": platform.python_version(), "NumPy": np.__version__}


def _packed(parts: object, dumps: Dumps | None) -> bytes:
    """Return objects as bytes, made by an engine's own way to pickle: that can send functions of a notebook."""
    try:
        return pickle.dumps(parts, protocol=5) if dumps is None else dumps(parts)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        message = f"the model has a function that cannot be sent to workers ({error}); define it in a module"
        raise UnsupportedModelError(message) from error


@dataclass(frozen=True)
class Shipped(ABC):
    """Objects as bytes, for another process, which unpacks them once.

    Subclasses say what is made of them. What that needs, such as tables for counting, is made once per process too, as
    long as it is kept with the object (see `glasswood.parallel._lazy`).

    Parameters
    ----------
    key : str
        A digest of the bytes.
    packed : bytes
    versions : dict
        Those of the process that packed them.
    """

    key: str
    packed: bytes
    versions: dict[str, str] = field(default_factory=versions)

    @classmethod
    def of(cls, parts: object, dumps: Dumps | None = None) -> Any:
        """Pack objects."""
        packed = _packed(parts, dumps)
        return cls(blake2b(packed, digest_size=16).hexdigest(), packed)

    def made(self, make: Callable[[Any], Any]) -> Any:
        """Return what is made of the objects, by the first task of this process that asks."""
        return _made.get((type(self), self.key), lambda: make(self._unpacked()))

    @abstractmethod
    def open(self) -> Any:
        """Return the job, which is unpacked once in each process."""

    @property
    def columns(self) -> list[Any]:
        """The names of all columns that are read."""
        columns: list[Any] = self.open().columns
        return columns

    def _unpacked(self) -> Any:
        """Return the objects, after a check of what they could fail with."""
        own, theirs = versions(), self.versions
        self._compare("glasswood", own["glasswood"], theirs["glasswood"])
        if b"cloudpickle" in self.packed:  # functions as code, which one minor version of Python runs
            self._compare("Python", _minor(own["Python"]), _minor(theirs["Python"]))
        try:
            return pickle.loads(self.packed)
        except Exception as error:
            if isinstance(error, ImportError) and own == theirs:
                message = (
                    f"a worker cannot import what the model needs ({error}); install the libraries of the pipeline's "
                    "steps on all workers, in the same versions"
                )
                raise UnsupportedModelError(message) from error
            both = ", ".join(f"{name} {theirs[name]} and {own[name]}" for name in own)
            message = (
                f"a worker cannot open what the driver sent ({type(error).__name__}: {error}). Versions of driver and "
                f"worker: {both}. Install the same versions, and the libraries of the pipeline's steps, on all workers"
            )
            raise WorkerVersionError(message) from error

    @staticmethod
    def _compare(name: str, own: str, theirs: str) -> None:
        if own != theirs:
            message = (
                f"the driver has {name} {theirs} and a worker has {name} {own}; results are only exact if all have the "
                f"same version: install {name} {theirs} on all workers, or {own} on the driver, and start them again"
            )
            raise WorkerVersionError(message)


def _minor(version: str) -> str:
    """Return a version without its last part."""
    return ".".join(version.split(".")[:2])


_made: Recent[Any] = Recent(4)  # a few: a worker may serve several passes at a time
