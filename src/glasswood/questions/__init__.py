"""Families of questions: each is a folder, and all that a report or a command needs of it is found by its name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from types import ModuleType
from typing import TYPE_CHECKING

from glasswood.errors import ArgumentError
from glasswood.text._arguments import brief

if TYPE_CHECKING:
    from glasswood.counting._statistic import StatisticSpec
    from glasswood.study._summary_plan import SummaryPlan

__all__ = ["COUNTS", "FAMILIES", "parts", "specs_of"]

COUNTS = "counts"  # what `summarize` is asked for if nothing else is to be found beside the counts

# The order is that of the guide, and of docs/questions.md.
FAMILIES = ("curves", "ale", "importance", "interactions", "rows", "shapes", "rating_tables", "drift")


def parts(role: str) -> tuple[ModuleType, ...]:
    """Return the files of a role, such as "_section", of all families that have one."""
    names = [f"{__name__}.{family}.{role}" for family in FAMILIES]
    return tuple(import_module(name) for name in names if find_spec(name) is not None)


def specs_of(summary: SummaryPlan, answers: object) -> list[StatisticSpec]:
    """Return what a Background is to have for some questions: their names in `COUNTED` of a family, or with options."""
    counted: dict[str, Callable[..., list[StatisticSpec]]] = {}
    for family in FAMILIES:
        counted |= getattr(import_module(f"{__name__}.{family}"), "COUNTED", {})
    if isinstance(answers, str) or not isinstance(answers, Collection):
        message = f"answers= is a list of questions, or a mapping to their options, not {brief(answers)}"
        raise ArgumentError(message)
    result: list[StatisticSpec] = []
    counted[COUNTS] = lambda _: []
    for name, options in answers.items() if isinstance(answers, Mapping) else ((name, {}) for name in answers):
        if not isinstance(name, str) or name not in counted:
            message = f"answers= has {brief(name)}, but it takes questions that need sums: {_listed(counted)}"
            raise ArgumentError(message)
        known = [*signature(counted[name]).parameters][1:]
        if not isinstance(options, Mapping) or not options.keys() <= {*known}:
            takes = f"a mapping with {_listed(known)}" if known else "an empty mapping, as it has no options"
            message = f"answers= has {brief(options)} for {name!r}, which takes {takes}"
            raise ArgumentError(message)
        result += counted[name](summary, **options)
    return result


def _listed(names: Collection[str]) -> str:
    return ", ".join(map(repr, names))
