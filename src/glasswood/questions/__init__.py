"""Families of questions: each is a folder, and all that a report or a command needs of it is found by its name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glasswood.counting._statistic import StatisticSpec
    from glasswood.study._summary_plan import SummaryPlan

__all__ = ["FAMILIES", "parts", "specs_of"]

# The order is that of the guide, and of docs/questions.md.
FAMILIES = ("curves", "ale", "importance", "interactions", "rows", "shapes", "rating_tables", "drift")


def parts(role: str) -> tuple[ModuleType, ...]:
    """Return the files of a role, such as "_section", of all families that have one."""
    names = [f"{__name__}.{family}.{role}" for family in FAMILIES]
    return tuple(import_module(name) for name in names if find_spec(name) is not None)


def specs_of(summary: SummaryPlan, asked: Mapping[str, object]) -> list[StatisticSpec]:
    """Return what a Background is to have for some questions, by their names in `COUNTED` of a family.

    A question that is not asked for is None.
    """
    families = [import_module(f"{__name__}.{family}") for family in FAMILIES]
    counted = {name: find for family in families for name, find in getattr(family, "COUNTED", {}).items()}
    result = [
        counted[name](summary, option) for name, option in asked.items() if option is not None and option is not False
    ]
    return [spec for several in result for spec in several]
