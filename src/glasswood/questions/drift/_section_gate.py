"""The gate: measures of a comparison against a reference, with their limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from glasswood.errors import ArgumentError
from glasswood.questions.drift._result import Comparison
from glasswood.questions.drift._result_gate import Measured, Measures
from glasswood.questions.drift._result_rules import MEASURES
from glasswood.report._common import EACH, Item, Section, column, section
from glasswood.report._panels import rounded
from glasswood.report._subject import Subject
from glasswood.text._arguments import brief
from glasswood.text._plain import number, plain
from glasswood.text._printable import how_many

__all__ = ["findings_of_gate", "gate_section", "measures_in"]

MODEL = "(model)"  # in place of a feature
MAX_LINES = 2000
FEW = 12


def measures_in(gate: object, subject: Subject) -> Measures | None:
    """Return the measures of a comparison; refuse what is none, and comparisons of other features."""
    if gate is None:
        return None
    if not isinstance(gate, Comparison) or gate.measures is None:
        given = "a Comparison that was not judged" if isinstance(gate, Comparison) else brief(gate)
        message = f"gate= is a Comparison with limits: compare(explainers, reference=..., limits=...), not {given}"
        raise ArgumentError(message)
    unknown = [feature for feature in gate.features if feature not in subject.names]
    if unknown:
        message = f"gate= is a comparison of another model: {unknown[0]!r} is no feature of this one"
        raise ArgumentError(message)
    return gate.measures


def gate_section(measures: Measures) -> Section:
    """Return the section on measures and limits, what is beyond its limit first."""
    n_broken, values = len(measures.violations), how_many(len(measures), "value")
    text = f"{n_broken or 'None'} of {values} beyond the limits. The reference is {plain(measures.reference)}."
    allowed = measures.allowance and f"{measures.allowance[0].upper()}{measures.allowance[1:]}."
    caveat = measures.caveat and f"{measures.caveat}."
    judged = dict.fromkeys(one.measure for one in measures)
    explained = "; ".join(f"{name}: {MEASURES[name].text}" for name in judged)
    listed = sorted(measures, key=lambda one: not one.broken)
    cut = f"The first {MAX_LINES:,} of {len(listed):,} lines are listed." if len(listed) > MAX_LINES else ""
    about = f"Measures: {explained}." if explained else ""
    return section(
        "gate", "Gate", text, allowed, caveat, about, cut, table=_table(listed[:MAX_LINES]), tools=len(listed) > FEW
    )


def _table(listed: list[Measured]) -> dict[str, Any]:
    """Return the table of values; columns that are empty are left out."""
    columns: list[tuple[dict[str, str], list[Any]]] = [
        (column("Feature", "name"), [MODEL if one.feature is None else one.feature for one in listed]),
        (column("Rows", "text"), [one.name for one in listed]),
        (column("Measure", "text"), [one.measure for one in listed]),
        (column("Output", "text"), [None if one.output is None else plain(one.output) for one in listed]),
        (column("Value"), [rounded(one.value) for one in listed]),
        (column("Standard error"), [rounded(one.error) for one in listed]),
        (column("By chance"), [rounded(one.chance) for one in listed]),
        (column("Not allowed", "text"), [one.rule for one in listed]),
        (column("Limit", "text"), ["exceeded" if one.broken else "kept" for one in listed]),
    ]
    shown = [(head, values) for head, values in columns if any(value is not None for value in values)]
    rows = [list(row) for row in zip(*(values for _, values in shown), strict=True)]
    return {"caption": "Measures and limits", "columns": [head for head, _ in shown], "rows": rows}


def findings_of_gate(subject: Subject, measures: Measures) -> Iterator[Item]:
    """Yield measures of the gate that are beyond their limits."""
    for one in list(measures.violations)[:EACH]:
        of = "" if one.output is None else f" of {plain(one.output)}"
        text = f"{plain(one.name)}: {one.measure}{of} {number(one.value)}, not allowed: {plain(one.rule)}."
        yield subject.item("Limit exceeded", [] if one.feature is None else [one.feature], text)
    more = len(measures.violations) - EACH
    if more > 0:
        yield subject.item("Limit exceeded", [], f"{how_many(more, 'more value')} beyond the limits: see Gate.")
