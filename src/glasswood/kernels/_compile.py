"""How kernels are compiled: once per machine if there is a folder for Numba's cache, else once per process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit
from numba.extending import intrinsic

__all__ = ["instruction", "kernel", "part"]

F = TypeVar("F", bound=Callable[..., Any])


def instruction(function: Callable[..., Any]) -> Any:
    """Let kernels call a function that writes machine instructions itself, with one argument less: the types."""
    return intrinsic(function)


def kernel(function: F) -> F:
    """Compile a function that runs without the GIL and is kept on disk."""
    return _compile(function, no_cfunc_wrapper=True)


def part(function: F) -> F:
    """Compile a function that only kernels call: what Python or C would need to call it is left out."""
    return _compile(function, no_cfunc_wrapper=True, no_cpython_wrapper=True)


def _compile(function: F, **options: bool) -> F:
    try:
        return cast(F, njit(nogil=True, cache=True, **options)(function))
    except RuntimeError:  # "no locator available": a read-only install without a home directory
        return cast(F, njit(nogil=True, **options)(function))
