"""All questions, by name."""

from __future__ import annotations

from collections.abc import Callable

from fuzz import (
    questions_curves,
    questions_figures,
    questions_order,
    questions_overview,
    questions_rows,
    questions_sklearn,
    questions_sources,
)
from fuzz.session import Session

__all__ = ["QUESTIONS"]

QUESTIONS: dict[str, Callable[[Session], None]] = {
    name: getattr(module, name)
    for module in (
        questions_curves,
        questions_rows,
        questions_overview,
        questions_sources,
        questions_sklearn,
        questions_figures,
        questions_order,
    )
    for name in module.__all__
}
