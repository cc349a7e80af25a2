"""Monotone constraints in the report: whether they are proven or broken, and rows that break them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from glasswood.questions.curves._section import numbers_of
from glasswood.questions.shapes._answer import row_monotonicity
from glasswood.questions.shapes._answer_certificate import certificate
from glasswood.questions.shapes._result_certificate import BrokenPromise, Certificate
from glasswood.questions.shapes._result_rows import RowMonotonicity
from glasswood.report._common import Item, column, in_brackets
from glasswood.report._panels import rounded
from glasswood.report._subject import Subject
from glasswood.text._plain import number, plain

__all__ = ["about_promises", "findings_of_promises", "tables_of_promises"]

MAX_ROWS = 10  # that break a promise, in the report
VERDICTS = {
    "proven": "proven for every row",
    "broken": "broken",
    "open": "not proven, and no row was found that breaks it",
}


def _certificate(subject: Subject) -> Certificate | None:
    """Return what the trees prove, on the raw scale; None if the model declares no monotone constraints."""
    return subject.cached("certificate", lambda: _find_certificate(subject))


def _find_certificate(subject: Subject) -> Certificate | None:
    e, numbers = subject.study.ensemble, numbers_of(subject)
    if e.promised is None or e.derived is not None or subject.raw is None or not numbers:
        return None
    return certificate(subject.raw, numbers)


def _rows_against(subject: Subject) -> RowMonotonicity | None:
    """Return the rows that break promises which are not kept, on the raw scale; None if there are none, or no table."""
    return subject.cached("rows against", lambda: _find_rows_against(subject))


def _find_rows_against(subject: Subject) -> RowMonotonicity | None:
    result, raw = _certificate(subject), subject.raw
    if result is None or raw is None or not result.broken or not subject.study.over.in_memory:
        return None
    return row_monotonicity(raw, list(dict.fromkeys(one.feature for one in result.broken)))


def about_promises(subject: Subject) -> str:
    """Return what the tables below show; empty if the model declares nothing."""
    result = _certificate(subject)
    if result is None:
        return ""
    broken = (
        " The rows that break one were found from the trees; they need not be among the data." if result.broken else ""
    )
    return (
        "The model says that it was trained with monotone constraints. Whether it keeps them is proven from its trees "
        "alone, without data: for every row that there can be, on the scale of the raw score. Missing values of the "
        f"feature itself are not covered.{broken}"
    )


def tables_of_promises(subject: Subject) -> list[dict[str, Any]]:
    """Return the constraints that the model declares, and the rows that break them."""
    result = _certificate(subject)
    if result is None:
        return []
    tables = [_findings_of_promises(result)]
    if result.broken:
        tables.append(_scores_of_rows(result.broken[:MAX_ROWS]))
    return tables


def _findings_of_promises(result: Certificate) -> dict[str, Any]:
    lines = []
    for i, name in enumerate(result.names):
        for k, output in enumerate(result.outputs):
            if result.promised[i, k]:
                up = result.promised[i, k] > 0
                bound = rounded(float((result.falls if up else result.rises)[i, k]))
                of = [plain(output)] if len(result.outputs) > 1 else []
                verdict = VERDICTS[str(result.verdicts[i, k])]
                lines.append([name, *of, "increasing" if up else "decreasing", verdict, bound])
    outputs = [column("Output", "text")] if len(result.outputs) > 1 else []
    max_ = f"Moves against it by at most{in_brackets(result.units)}"
    heads = [column("Feature", "name"), *outputs, column("Declared", "text"), column("Verdict", "text"), column(max_)]
    return {"caption": "Declared monotone constraints", "columns": heads, "rows": lines}


def _scores_of_rows(broken: tuple[BrokenPromise, ...]) -> dict[str, Any]:
    """Return the two scores of each row that breaks a constraint, and the values of its other features."""
    lines = []
    for one in broken:
        others = ", ".join(
            f"{plain(name)} = {_text_of(value)}" for name, value in one.row.items() if name != one.feature
        )
        ends = [rounded(value) for pair in zip(one.values, one.scores, strict=True) for value in pair]
        lines.append([one.feature, *ends, others])
    heads = [
        column("Feature", "name"),
        column("At"),
        column("Score there"),
        column("And at"),
        column("Score there"),
        column("All other features", "text"),
    ]
    return {"caption": "Rows that break a promise", "columns": heads, "rows": lines}


def _text_of(value: Any) -> str:
    missing = value is None or (isinstance(value, float) and math.isnan(value))
    return "missing" if missing else f"{value:.6g}" if isinstance(value, float) else plain(value)


def findings_of_promises(subject: Subject) -> Iterator[Item]:
    """Yield monotone constraints that the model declares and breaks, and those that are not proven."""
    result = _certificate(subject)
    if result is None:
        return
    for one in result.broken:
        of = f" (of {plain(one.output)})" if len(result.outputs) > 1 else ""
        moves = "falls" if one.declared == "increasing" else "rises"
        text = (
            f"the model declares that it is {one.declared}, but it is not: the score{of} {moves} by {number(one.by)}"
            f"{in_brackets(result.units)} if the value goes from {number(one.values[0])} to {number(one.values[1])} in "
            f"a row that was found from the trees{_rows_that_break(subject, one)}. See Monotonicity."
        )
        yield subject.item("Promise broken", [one.feature], text, state="bad")
    for i, k in zip(*np.nonzero(result.verdicts == "open"), strict=True):
        bound = (result.falls if result.promised[i, k] > 0 else result.rises)[i, k]
        word = "increasing" if result.promised[i, k] > 0 else "decreasing"
        text = (
            f"the model declares that it is {word}. This is not proven from the trees, but no row was found that "
            f"breaks it; none moves against it by more than {number(bound)}."
        )
        yield subject.item("Promise not proven", [result.names[i]], text)


def _rows_that_break(subject: Subject, one: BrokenPromise) -> str:
    """Return how many rows break a promise, if they are at hand."""
    against = _rows_against(subject)
    if against is None or one.feature not in against.names:
        return ""
    k = against.outputs.index(one.output) if one.output in against.outputs else 0
    count = against.heights[against.names.index(one.feature), k]
    weight = f"a weight of {count:,.6g}" if subject.weighted else f"{round(count):,}"
    return f"; {weight} of {subject.rows_text} break it, too" if count else ""
