"""The report: an explainer's answers as one HTML file for those who must sign off a model.

`_subject` holds what the sections share, `_checks`, `_sections`, `_drift` and `_findings` make the sections, `_panels`
makes figures small enough, and `_page` puts all of it into the files of ``glasswood/page``. It knows explainers by
what they answer only, so that `Explainer` may offer it as a method.
"""

from __future__ import annotations

from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

from glasswood._files import write_whole
from glasswood._report._checks import checks_section, model_section
from glasswood._report._drift import drift_section
from glasswood._report._findings import findings_section
from glasswood._report._page import page_of
from glasswood._report._panels import rounded
from glasswood._report._sections import (
    features_section,
    interactions_section,
    missing_section,
    shapes_section,
    spikes_section,
)
from glasswood._report._subject import Section, Subject, column, section

__all__ = ["Subject", "report_html", "write_report"]

ORDER = ["summary", "model", "checks", "features", "interactions", "monotonicity", "missing", "spikes", "drift"]
FOOTER = "This page is one file: it loads nothing and sends nothing."


def write_report(subject: Subject, path: str | PathLike[str], title: str | None, by: Any, n_interactions: int) -> Path:
    """Write the report of an explainer to a file, and return its path."""
    target = Path(path)
    write_whole(target, report_html(subject, title, by, n_interactions).encode())
    return target


def report_html(subject: Subject, title: str | None = None, by: Any = None, n_interactions: int = 10) -> str:
    """Return the report of an explainer as HTML."""
    title = subject.study.ensemble.source if title is None else str(title)
    made = {part["id"]: part for part in _sections(subject, by, n_interactions)}
    data = {
        "title": title,
        "lead": _lead(subject),
        "footer": f"Made by Glasswood {version('glasswood')}. {FOOTER}",
        "weighted": subject.weighted,
        "total": rounded(subject.total, 9),
        "sections": [made[name] for name in (*ORDER, "unused") if name in made],
    }
    return page_of(title, data)


def _sections(subject: Subject, by: Any, n_interactions: int) -> list[Section]:
    shapes, directions = shapes_section(subject)
    spikes, n_spikes, found = spikes_section(subject)
    made = [
        features_section(subject, directions, n_spikes),
        interactions_section(subject, n_interactions),
        shapes,
        missing_section(subject),
        spikes,
    ]
    if by is not None:
        made.append(drift_section(subject, by))
    made += [*_unused_section(subject), model_section(subject, version("glasswood")), checks_section(subject)]
    made.append(findings_section(subject, found, {part["id"]: part for part in made}))
    return made


def _lead(subject: Subject) -> str:
    e = subject.study.ensemble
    rows = (
        f", averaged over {subject.total:,.9g} {'of weight' if subject.weighted else 'rows'}" if subject.total else ""
    )
    return f"{e.source}: {e.n_trees:,} trees, {e.n_leaves:,} leaves, {len(subject.used):,} features used{rows}."


def _unused_section(subject: Subject) -> list[Section]:
    unused = [name for name in subject.names if name not in subject.used]
    if not unused:
        return []
    table = {"caption": "Unused features", "columns": [column("Feature", "name")], "rows": [[name] for name in unused]}
    text = "No split of the model looks at these: their values do not matter for any prediction."
    return [section("unused", "Unused features", text, short="Unused", table=table, tools=len(unused) > 12)]
