"""How kernels are compiled: once per machine and user, wherever there is a folder to keep the result in."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import config, njit, types
from numba.extending import intrinsic

from glasswood.kernels._cache import keep_apart

__all__ = ["hold", "instruction", "kernel", "part"]

F = TypeVar("F", bound=Callable[..., Any])


def instruction(function: Callable[..., Any]) -> Any:
    """Let kernels call a function that writes machine instructions itself, with one argument less: the types."""
    return intrinsic(function)


@instruction
def hold(typing: Any, arrays: Any) -> Any:  # noqa: ARG001
    """Let a tuple of arrays live until here: Numba frees an array after its last mention, whoever has its address.

    The last statement of every kernel that takes the addresses of arrays of its own.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return context.get_dummy_value()

    return types.void(arrays), codegen


def kernel(function: F) -> F:
    """Compile a function that runs without the GIL and is kept on disk."""
    return _compile(function, no_cfunc_wrapper=True)


def part(function: F) -> F:
    """Compile a function that only kernels call: what Python or C would need to call it is left out."""
    return _compile(function, no_cfunc_wrapper=True, no_cpython_wrapper=True)


def _compile(function: F, **options: bool) -> F:
    try:
        return _kept(function, **options)
    except RuntimeError:  # "no locator available": a read-only install without a home directory, as on executors
        pass
    try:
        with _own_folder():
            return _kept(function, **options)
    except (RuntimeError, OSError):
        return cast(F, njit(nogil=True, **options)(function))


def _kept(function: F, **options: bool) -> F:
    compiled = njit(nogil=True, cache=True, **options)(function)
    keep_apart(compiled)
    return cast(F, compiled)


@contextmanager
def _own_folder() -> Iterator[None]:
    """Tell Numba of a folder of our own among temporary files.

    What Numba keeps is loaded as code, so the folder must be ours and closed to others.
    """
    user = os.getuid() if hasattr(os, "getuid") else 0
    path = Path(tempfile.gettempdir()) / f"glasswood-{user}"
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if path.is_symlink() or (os.name != "nt" and (found.st_uid != user or found.st_mode & 0o077)):
        message = f"{path} belongs to somebody else"
        raise OSError(message)
    before = config.CACHE_DIR
    config.CACHE_DIR = str(path)
    try:
        yield
    finally:
        config.CACHE_DIR = before
