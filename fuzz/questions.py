"""All questions, by name."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

from fuzz import (
    questions_ale,
    questions_clusters,
    questions_curves,
    questions_figures,
    questions_observed,
    questions_offsets,
    questions_order,
    questions_overview,
    questions_own,
    questions_proofs,
    questions_rows,
    questions_sklearn,
    questions_sources,
    questions_wrong,
)
from fuzz.session import Session

__all__ = ["CLUSTERS", "QUESTIONS", "question"]

Question = Callable[[Session], None]

MODULES = (
    questions_curves,
    questions_rows,
    questions_overview,
    questions_sources,
    questions_sklearn,
    questions_figures,
    questions_order,
    questions_wrong,
    questions_observed,
    questions_ale,
    questions_proofs,
    questions_offsets,
    questions_own,
)
QUESTIONS: dict[str, Question] = {
    asked.__name__: asked for asked in chain.from_iterable(module.QUESTIONS for module in MODULES)
}
CLUSTERS: dict[str, Question] = {asked.__name__: asked for asked in questions_clusters.QUESTIONS}


def question(name: str) -> Question | None:
    """Return a question by its name; None if there is none, because the case is of another time."""
    return (QUESTIONS | CLUSTERS).get(name)
