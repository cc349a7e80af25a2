"""The report: an explainer's answers as one HTML file for those who must sign off a model.

`_subject` holds what the sections share, `_model`, `_checks`, `_sections`, `_groups`, `_gate` and `_findings` make the
sections, `_panels` makes figures small enough, and `_page` puts all of it into the files of ``glasswood/page``. It
knows views, not Explainers, so that `Explainer` may offer it as a method.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import NamedTuple

from glasswood.report._checks import checks_section
from glasswood.report._findings import findings_section
from glasswood.report._gate import gate_section, measures_in
from glasswood.report._groups import groups_of, groups_section
from glasswood.report._model import data_section, model_section
from glasswood.report._page import page_of
from glasswood.report._panels import rounded
from glasswood.report._sections import (
    features_section,
    interactions_section,
    missing_section,
    shapes_section,
    spikes_section,
)
from glasswood.report._subject import Section, Subject, column, section
from glasswood.results import Report
from glasswood.text._printable import how_many

__all__ = ["Settings", "Subject", "report_of"]

ORDER = [
    "summary",
    "notes",
    "model",
    "rows",
    "checks",
    "features",
    "interactions",
    "monotonicity",
    "missing",
    "spikes",
    "groups",
    "gate",
    "unused",
    "signature",
]
FOOTER = "This page is a single file; it loads nothing and sends nothing."


class Settings(NamedTuple):
    """What the user may choose; see `Explainer.report`."""

    title: str | None = None
    by: object = None
    n_interactions: int = 10
    notes: str | Sequence[str] = ()
    gate: object = None


def report_of(subject: Subject, settings: Settings) -> Report:
    """Return the report of an explainer."""
    title = subject.study.ensemble.source if settings.title is None else str(settings.title)
    title = title.encode("utf-8", "replace").decode("utf-8")  # half characters are legal in Python only
    made = {part["id"]: part for part in _sections(subject, settings)}
    data = {
        "title": title,
        "lead": _lead(subject),
        "footer": f"Made by Glasswood {version('glasswood')}. {FOOTER}",
        "weighted": subject.weighted,
        "total": rounded(subject.total, 9),
        "sections": [made[name] for name in ORDER if name in made],
    }
    return Report(title, page_of(title, data))


def _sections(subject: Subject, settings: Settings) -> list[Section]:
    measures = measures_in(settings.gate, subject)  # first, because it may be refused
    groups = None if settings.by is None else groups_of(subject, settings.by)
    subject.count_pairs()
    shapes, directions = shapes_section(subject)
    spikes, n_spikes, found = spikes_section(subject)
    data = data_section(subject)
    missing = {line[0]: line[4] for line in data["table"]["rows"]} if "table" in data else {}
    made = [
        data,
        features_section(subject, directions, n_spikes, missing),
        interactions_section(subject, settings.n_interactions),
        shapes,
        missing_section(subject),
        spikes,
    ]
    if groups is not None:
        made.append(groups_section(subject, groups))
    if measures is not None:
        made.append(gate_section(measures))
    made += [*_unused_section(subject), model_section(subject, version("glasswood")), checks_section(subject)]
    made += [*_notes_section(settings.notes), _signature_section()]
    made.append(findings_section(subject, found, {part["id"]: part for part in made}, measures))
    return made


def _lead(subject: Subject) -> str:
    e = subject.study.ensemble
    over = "the covers of training (no rows)"
    if subject.rows != "none":
        over = f"{'the counts of ' if subject.rows == 'counts' else ''}{subject.rows_text}"
    model = f"{e.source}{' behind a pipeline' if subject.pipeline else ''}"
    used = how_many(len(subject.used), "feature")
    size = f"{how_many(e.n_trees, 'tree')}, {how_many(e.n_leaves, 'leaf', 'leaves')}, {used} used"
    return f"{model}: {size}, averaged over {over}."


def _unused_section(subject: Subject) -> list[Section]:
    unused = [name for name in subject.names if name not in subject.used]
    if not unused:
        return []
    table = {"caption": "Unused features", "columns": [column("Feature", "name")], "rows": [[name] for name in unused]}
    text = "No split of the model uses these features: their values have no effect on any prediction."
    return [section("unused", "Unused features", text, short="Unused", table=table, tools=len(unused) > 12)]


def _notes_section(notes: str | Sequence[str]) -> list[Section]:
    """Return what the user has to say, a paragraph each."""
    texts = [text for note in ([notes] if isinstance(notes, str) else notes) for text in str(note).split("\n\n")]
    texts = [text.strip() for text in texts if text.strip()]
    return [section("notes", "Notes", said=texts)] if texts else []


def _signature_section() -> Section:
    """Return a place to sign, on paper."""
    text = "To be filled in by the reviewers of the model."
    lines = ["Reviewed by", "Role", "Date", "Decision", "Conditions and remarks", "Signature"]
    return section("signature", "Sign-off", text, lines=lines)
