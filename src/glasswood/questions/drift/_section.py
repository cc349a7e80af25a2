"""Drift in the report: groups of rows side by side, and the measures of a comparison with their limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from glasswood.questions.drift._result_gate import Measures
from glasswood.questions.drift._section_gate import findings_of_gate, gate_section, measures_in
from glasswood.questions.drift._section_groups import Groups, findings_of_groups, groups_of, groups_section
from glasswood.report._common import Placed, Section
from glasswood.report._subject import Subject

__all__ = ["findings", "prepare", "sections"]


def _measures(subject: Subject) -> Measures | None:
    return subject.cached("measures", lambda: measures_in(subject.settings.gate, subject))


def _groups(subject: Subject) -> Groups | None:
    by = subject.settings.by
    return subject.cached("groups", lambda: None if by is None else groups_of(subject, by))


def prepare(subject: Subject) -> None:
    """Refuse a comparison or groups that are none of this model's, before the work begins."""
    _measures(subject)
    _groups(subject)


def sections(subject: Subject) -> Iterator[Placed]:
    """Yield the section on groups of rows and that on measures, if they are asked for."""
    groups, measures = _groups(subject), _measures(subject)
    if groups is not None:
        yield Placed(100, groups_section(subject, groups))
    if measures is not None:
        yield Placed(110, gate_section(measures))


def findings(subject: Subject, made: Mapping[str, Section]) -> Iterator[Placed]:
    """Yield what is beyond its limit, the range of the averages of groups, and curves that differ most."""
    measures = _measures(subject)
    if measures is not None:
        yield from (Placed(20, item) for item in findings_of_gate(subject, measures))
    if "groups" in made:
        yield from (Placed(100, item) for item in findings_of_groups(subject, made["groups"]))
