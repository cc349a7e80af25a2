"""Importance in the report: the order of features, columns of the table, and the most important ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from glasswood.errors import GlasswoodError
from glasswood.questions.importance._answer import importance, permutation_importance
from glasswood.questions.importance._result_permutation import text_of_loss
from glasswood.report._common import EACH, ColumnOfFeatures, Item, Placed, Section, column, in_brackets
from glasswood.report._panels import rounded
from glasswood.report._subject import Subject
from glasswood.report._wording import sample_note
from glasswood.text._plain import number, percent

__all__ = ["columns", "findings", "ranking", "subtitle"]


def _importance(subject: Subject) -> tuple[Any, str]:
    """Return the importance of all players, the strongest first; None, and why there is none."""
    return subject.cached("importance", lambda: _find_importance(subject))


def _find_importance(subject: Subject) -> tuple[Any, str]:
    try:
        return importance(subject.view), ""
    except GlasswoodError:
        if subject.rows == "none":
            return None, "it is computed over rows, and there are none"
        return None, "that of a group of columns needs the rows themselves, and only counts of them are available"


def _permutation(subject: Subject) -> Any:
    """Return the permutation importance of all players; None if there is no target, or it has no loss.

    Files are not read again for it.
    """
    return subject.cached("permutation importance", lambda: _find_permutation(subject))


def _find_permutation(subject: Subject) -> Any:
    over = subject.study.over
    if not subject.study.has_targets or not (over.in_memory or over.counted is not None):
        return None
    try:
        return permutation_importance(subject.view)
    except GlasswoodError:  # no usual loss, exposures without offsets, or a Background without its sums
        return None


def ranking(subject: Subject) -> Sequence[str]:
    """Return the names of all players, the most important first; none if there is no importance."""
    result, _ = _importance(subject)
    return () if result is None else tuple(result.names)


def subtitle(subject: Subject, name: str) -> str:
    """Return what is said below the figure of a feature."""
    result, value = _importance(subject)[0], _totals(subject).get(name)
    sample = "" if result is None else sample_note(result.n_rows, sampled=result.sampled)
    return "" if value is None else f"importance {value:.4g}{subject.units}{sample}"


def _totals(subject: Subject) -> dict[str, Any]:
    result, _ = _importance(subject)
    return {} if result is None else dict(zip(result.names, map(rounded, result.total.tolist()), strict=True))


def columns(subject: Subject) -> Iterator[ColumnOfFeatures]:
    """Yield the importance of each feature, and its permutation importance if what was observed is known."""
    result, why_not = _importance(subject)
    units = subject.units if result is None else in_brackets(result.units)
    sample = "" if result is None else sample_note(result.n_rows, sampled=result.sampled)
    about = f"Importance is not available: {why_not}." if result is None else _about(subject, result, sample)
    yield ColumnOfFeatures(10, column(f"Importance{units}{sample}", "bar"), _totals(subject), about=about)
    permuted = _permutation(subject)
    if permuted is not None:
        values = {name: rounded(permuted[name]) for name in subject.names}
        loss = text_of_loss(permuted.loss)
        text = (
            f"Permutation importance is how much the mean {loss}, which is {number(permuted.base)}, increases if "
            "the feature is permuted, on average over all permutations"
            f"{sample_note(permuted.n_rows, sampled=permuted.sampled)}."
        )
        yield ColumnOfFeatures(70, column("Permutation importance"), values, text=text)


def _about(subject: Subject, result: Any, sample: str) -> str:
    over = " (with several outputs, the root of the sum of squares)" if subject.several else ""
    if result.kind == "total":
        return (
            f"Importance is the root of the mean squared change of the {subject.noun} if the feature is redrawn from "
            f"the rows{over}{sample}. It includes what a feature does together with others. Figures are sorted by it."
        )
    return (
        f"Importance is the standard deviation of a feature's own curve over the rows{over}. Figures are sorted by it, "
        "so a feature that acts only together with others appears late here, and early under Interactions."
    )


def findings(subject: Subject, made: Mapping[str, Section]) -> Iterator[Placed]:  # noqa: ARG001 (as of all families)
    """Yield the most important features."""
    yield from (Placed(30, item) for item in _strongest(subject))


def _strongest(subject: Subject) -> Iterator[Item]:
    result, _ = _importance(subject)
    if result is None:
        return
    square, units = result.total**2, in_brackets(result.units)
    for name, value, part in zip(result.names[:EACH], result.total, square, strict=False):
        if value > 0:
            share = percent(float(part / square.sum()))
            sample = sample_note(result.n_rows, sampled=result.sampled)
            text = (
                f"if it is redrawn from the rows, the root mean squared change is {number(value)}{units}{sample}, "
                f"{share} of the sum of squares of all features."
                if result.kind == "total"
                else f"its curve has a standard deviation of {number(value)}{units}, and {share} of the sum of all "
                "curves' variances."
            )
            yield subject.item("Most important", [name], text)
