"""The compiled core, for the best instruction level that this processor can run.

``GLASSWOOD_CPU`` (v2, v3, v4 or avx512) asks for another level. All levels return the same bits.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

try:
    from glasswood.kernels._cpu import levels
except ModuleNotFoundError as error:
    message = "the core of Glasswood is not compiled here; in a checkout, run: python tools/build.py"
    raise ImportError(message) from error

__all__ = ["LEVEL"]


def _is_compiled(level: str) -> bool:
    return find_spec(f"glasswood.kernels._core_{level}") is not None


def _chosen_level(known: list[str], asked: str, is_compiled: Callable[[str], bool] = _is_compiled) -> str:
    """Return the level that is asked for, or the best one that was compiled; a build can leave some out."""
    if not known:
        message = "Glasswood needs a processor with x86-64-v2 (SSE4.2 and POPCNT), as nearly all since 2011 are"
        raise ImportError(message)
    if asked and asked not in known:
        message = f"GLASSWOOD_CPU is {asked!r}, but this processor can run {', '.join(known)} only"
        raise ImportError(message)
    for level in [asked] if asked else known:
        if is_compiled(level):
            return level
    message = f"the core was not compiled for {asked or ', '.join(known)}; install again without GLASSWOOD_LEVELS"
    raise ImportError(message)


LEVEL = _chosen_level(levels(), os.environ.get("GLASSWOOD_CPU", ""))
_module = import_module(f"glasswood.kernels._core_{LEVEL}")
__all__ += [name for name in dir(_module) if not name.startswith("_")]
globals().update({name: getattr(_module, name) for name in __all__[1:]})
