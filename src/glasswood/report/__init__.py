"""The report: an explainer's answers as one HTML file for those who must sign off a model.

What it says of curves, importance and so on is in the families of questions, `glasswood/questions/*/_section.py`; here
is what it says of the model, the rows and the checks, and how a page is made. `_subject` holds what sections share,
`_panels` makes figures small enough, and `_page` puts all of it into the files of ``page``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import version

from glasswood.report._checks import checks_section
from glasswood.report._common import Placed, Section, column, section
from glasswood.report._model import data_section, model_section
from glasswood.report._page import page_of
from glasswood.report._panels import rounded
from glasswood.report._settings import Settings
from glasswood.report._subject import Subject
from glasswood.report._summary import summary_section
from glasswood.results import Report
from glasswood.text._printable import how_many

__all__ = ["Settings", "Subject", "report_of", "sections_of"]

FOOTER = "This page is a single file; it loads nothing and sends nothing."


def report_of(subject: Subject) -> Report:
    """Return the report of an explainer."""
    title = subject.settings.title
    title = subject.study.ensemble.source if title is None else str(title)
    title = title.encode("utf-8", "replace").decode("utf-8")  # half characters are legal in Python only
    made = sections_of(subject)
    data = {
        "title": title,
        "lead": _lead(subject),
        "footer": f"Made by Glasswood {version('glasswood')}. {FOOTER}",
        "weighted": subject.weighted,
        "total": rounded(subject.total, 9),
        "sections": made,
    }
    return Report(title, page_of(title, data))


def sections_of(subject: Subject) -> list[Section]:
    """Return the sections of a report, in their order."""
    for prepare in subject.functions("prepare"):
        prepare(subject)
    placed = [*_own_sections(subject)]
    for sections in subject.functions("sections"):
        placed += sections(subject)
    listed = sorted(placed, key=lambda one: one.place)
    made = {one.made["id"]: one.made for one in listed}
    return [summary_section(subject, made), *made.values()]


def _own_sections(subject: Subject) -> Iterator[Placed]:
    """Yield the sections that are not about a question."""
    yield from _notes_section(subject.settings.notes)
    yield Placed(20, model_section(subject, version("glasswood")))
    yield Placed(30, data_section(subject))
    yield Placed(40, checks_section(subject))
    yield from _unused_section(subject)
    yield _signature_section()


def _lead(subject: Subject) -> str:
    e = subject.study.ensemble
    over = "the covers of training (no rows)"
    if subject.rows != "none":
        over = f"{'the counts of ' if subject.rows == 'counts' else ''}{subject.rows_text}"
    model = f"{e.source}{' behind a pipeline' if subject.pipeline else ''}"
    used = how_many(len(subject.used), "feature")
    size = f"{how_many(e.n_trees, 'tree')}, {how_many(e.n_leaves, 'leaf', 'leaves')}, {used} used"
    return f"{model}: {size}, averaged over {over}."


def _unused_section(subject: Subject) -> Iterator[Placed]:
    unused = [name for name in subject.names if name not in subject.used]
    if not unused:
        return
    table = {"caption": "Unused features", "columns": [column("Feature", "name")], "rows": [[name] for name in unused]}
    text = "No split of the model uses these features: their values have no effect on any prediction."
    tools = len(unused) > 12
    yield Placed(120, section("unused", "Unused features", text, short="Unused", table=table, tools=tools))


def _notes_section(notes: str | Sequence[str]) -> Iterator[Placed]:
    """Yield what the user has to say, a paragraph each."""
    texts = [text for note in ([notes] if isinstance(notes, str) else notes) for text in str(note).split("\n\n")]
    texts = [text.strip() for text in texts if text.strip()]
    if texts:
        yield Placed(10, section("notes", "Notes", said=texts))


def _signature_section() -> Placed:
    """Return a place to sign, on paper."""
    text = "To be filled in by the reviewers of the model."
    lines = ["Reviewed by", "Role", "Date", "Decision", "Conditions and remarks", "Signature"]
    return Placed(130, section("signature", "Sign-off", text, lines=lines))
