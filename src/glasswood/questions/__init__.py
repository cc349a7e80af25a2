"""Families of questions: each is a folder, and all that a report or a command needs of it is found by its name."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

__all__ = ["FAMILIES", "parts"]

# The order is that of the guide, and of docs/questions.md.
FAMILIES = ("curves", "ale", "importance", "interactions", "rows", "shapes", "rating_tables", "drift")


def parts(role: str) -> tuple[ModuleType, ...]:
    """Return the files of a role, such as "_section", of all families that have one."""
    names = [f"{__name__}.{family}.{role}" for family in FAMILIES]
    return tuple(import_module(name) for name in names if find_spec(name) is not None)
