"""Monotone constraints that the model declares: whether they are proven or broken, and rows that break them."""

from __future__ import annotations

import math
from typing import Any

from glasswood.report._panels import rounded
from glasswood.report._subject import Subject, column, in_brackets
from glasswood.results import BrokenPromise, Certificate
from glasswood.text._plain import plain

__all__ = ["about_promises", "tables_of_promises"]

MOST_ROWS = 10  # that break a promise, in the report
VERDICTS = {
    "proven": "proven for every row",
    "broken": "broken",
    "open": "not proven, and no row was found that breaks it",
}


def about_promises(subject: Subject) -> str:
    """Return what the tables below show; empty if the model declares nothing."""
    found = subject.certificate
    if found is None:
        return ""
    broken = (
        " The rows that break one were found from the trees; they need not be among the data." if found.broken else ""
    )
    return (
        "The model says that it was trained with monotone constraints. Whether it keeps them is proven from its trees "
        "alone, without data: for every row that there can be, on the scale of the raw score. Missing values of the "
        f"feature itself are not covered.{broken}"
    )


def tables_of_promises(subject: Subject) -> list[dict[str, Any]]:
    """Return the constraints that the model declares, and the rows that break them."""
    found = subject.certificate
    if found is None:
        return []
    tables = [_of_promises(found)]
    if found.broken:
        tables.append(_of_rows(found.broken[:MOST_ROWS]))
    return tables


def _of_promises(found: Certificate) -> dict[str, Any]:
    lines = []
    for i, name in enumerate(found.names):
        for k, output in enumerate(found.outputs):
            if found.promised[i, k]:
                up = found.promised[i, k] > 0
                bound = rounded(float((found.falls if up else found.rises)[i, k]))
                of = [plain(output)] if len(found.outputs) > 1 else []
                verdict = VERDICTS[str(found.verdicts[i, k])]
                lines.append([name, *of, "increasing" if up else "decreasing", verdict, bound])
    outputs = [column("Output", "text")] if len(found.outputs) > 1 else []
    most = f"Moves against it by at most{in_brackets(found.units)}"
    heads = [column("Feature", "name"), *outputs, column("Declared", "text"), column("Verdict", "text"), column(most)]
    return {"caption": "Declared monotone constraints", "columns": heads, "rows": lines}


def _of_rows(broken: tuple[BrokenPromise, ...]) -> dict[str, Any]:
    """Return the two scores of each row that breaks a constraint, and the values of its other features."""
    lines = []
    for one in broken:
        others = ", ".join(f"{plain(name)} = {_told(value)}" for name, value in one.row.items() if name != one.feature)
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


def _told(value: Any) -> str:
    missing = value is None or (isinstance(value, float) and math.isnan(value))
    return "missing" if missing else f"{value:.6g}" if isinstance(value, float) else plain(value)
