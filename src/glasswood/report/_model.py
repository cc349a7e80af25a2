"""The sections on the model and the rows: facts, parameters and a table of the columns."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.errors import GlasswoodError
from glasswood.report._common import FEW, Section, column, section, share_of_missing
from glasswood.report._panels import rounded
from glasswood.report._subject import Subject
from glasswood.tables._columns import Column, Dictionary, extent_of
from glasswood.tables._tables import Schema, open_columns
from glasswood.text._plain import percent
from glasswood.text._printable import how_many

__all__ = ["data_section", "missing_shares", "model_section"]


def _text_of_longest_path(plan: CountPlan) -> str:
    splits, derived = how_many(plan.depth, "split"), plan.ensemble.derived
    if derived is not None:
        return f"{splits}, also on {how_many(derived.n_columns, 'statistic')} of combinations of features"
    return f"{splits}, {how_many(plan.max_players, 'different feature')}"


def model_section(subject: Subject, version: str) -> Section:
    """Return the section about the model."""
    study, e = subject.study, subject.study.ensemble
    library, _, kind = e.source.partition(" ")
    plan = study.plan(1)
    facts = [
        ("Library and class", f"{library} {kind}".strip()),
        *(
            [("Pipeline", ", then ".join(study.model.facts.steps) or study.model.facts.kind)]
            if subject.pipeline
            else []
        ),
        ("Trees", f"{e.n_trees:,}"),
        ("Leaves", f"{e.n_leaves:,} (up to {_max_leaves(subject):,} in a tree)"),
        ("Longest path", _text_of_longest_path(plan)),
        ("Features", f"{len(plan.players):,}, of which {len(subject.used):,} are used"),
        ("Outputs", _outputs(subject.view.scale.outputs.labels)),
        ("Scale of the curves", _scale(subject)),
        ("Averaged over", _rows_text(subject)),
        ("Fingerprint of the splits", plan.fingerprint),
        ("Fingerprint of splits and leaf values", _fingerprint(subject)),
        ("Glasswood", version),
        ("Made", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
    ]
    parameters = study.model.facts.parameters
    text = (
        "Saved backgrounds contain the fingerprint of the splits. Two models with the same fingerprint of splits and "
        "leaf values have the same trees and the same raw scores."
    )
    known = "Parameters are listed as the model reports them; those that are None are left out."
    unknown = "The model's parameters are not known: it was given as a file or as trees, or does not report them."
    table = {
        "caption": "Parameters",
        "columns": [column("Parameter", "text"), column("Value", "text")],
        "rows": [list(item) for item in parameters.items()],
    }
    more = {"table": table} if parameters else {}
    return section(
        "model", "The model", text, known if parameters else unknown, facts=[list(fact) for fact in facts], **more
    )


def _max_leaves(subject: Subject) -> int:
    return int(np.bincount(subject.study.plan(1).leaf_tree).max(initial=0))


def _outputs(labels: tuple[Any, ...]) -> str:
    shown = ", ".join(map(str, labels[:8])) + (", ..." if len(labels) > 8 else "")
    return f"{len(labels):,}: {shown}" if len(labels) > 1 else shown


def _scale(subject: Subject) -> str:
    units = "that of the predictions" if subject.view.units == "value" else subject.view.units
    return units if subject.view.scale.is_score else f"{units} (rows are averaged on this scale)"


def _rows_text(subject: Subject) -> str:
    if subject.rows == "none":
        return "the model's covers of training (path-dependent), no rows"
    return subject.rows_text if subject.rows == "table" else f"{subject.rows_text} (as counts)"


def _fingerprint(subject: Subject) -> str:
    """Return a hash of everything that raw scores depend on."""
    e = subject.study.ensemble
    digest = hashlib.blake2b(subject.study.plan(1).fingerprint.encode(), digest_size=16)
    for array in (e.value, e.tree_output, e.score.base, np.array([e.score.scale, e.score.divisor])):
        digest.update(np.ascontiguousarray(array).tobytes() + b"|")
    return digest.hexdigest()


# ------------------------------------------------------------------------------------------------ the rows


COLUMNS_OF_DATA = [
    column("Feature", "name"),
    column("Kind", "text"),
    column("Minimum", "edge"),
    column("Maximum", "edge"),
    column("Missing", "share"),
    column("Used", "text"),
]


def data_section(subject: Subject) -> Section:
    """Return the section about the columns: kind, minimum, maximum and share of missing values."""
    title = "The rows"
    if subject.rows == "none":
        text = "No rows were given. Curves are averages over the covers stored in the model during training."
        return section("rows", title, text)
    lines = _described(subject)
    known = [line[4] for line in lines if line[4] is not None]
    text = f"{_rows_text(subject)}, {how_many(len(lines), 'input column')}"
    if subject.pipeline:
        text += " of the pipeline"
    missing = "no missing values"
    if any(known):
        missing = f"missing values in {sum(share > 0 for share in known):,} of them, up to {percent(max(known))}"
    notes = [
        f"{text}; {missing}{'' if len(known) == len(lines) else ' (in the columns that were examined)'}.",
        "Shares are of the rows' weight." if subject.weighted else "",
        _about_counts(subject) if subject.rows == "counts" else "",
    ]
    table = {"caption": "Columns", "columns": COLUMNS_OF_DATA, "rows": lines}
    return section("rows", title, " ".join(filter(None, notes)), table=table, short="Rows", tools=len(lines) > FEW)


def missing_shares(subject: Subject) -> dict[str, Any]:
    """Return the share of rows in which each column is missing, as far as it is known."""
    return {} if subject.rows == "none" else {line[0]: line[4] for line in _described(subject)}


def _described(subject: Subject) -> list[list[Any]]:
    """Return a line for each column."""
    describe = _described_table if subject.rows == "table" else _described_counts
    return subject.cached("described rows", lambda: describe(subject))


def _about_counts(subject: Subject) -> str:
    """Return what is missing in a table of columns made from counts."""
    why = "Only counts are available, so minimum and maximum are not known"
    if subject.study.over.basis == "rows":  # which curves and this table are not made of
        why = "The table is made from counts, so minimum and maximum are not known"
    return f"{why}, and unused columns were not examined."


def _described_counts(subject: Subject) -> list[list[Any]]:
    """Return a line for each feature, as far as counts allow."""
    lines = []
    for name in subject.names:
        axis = subject.view.axis(subject.single[name]) if name in subject.single else None
        kind = "group" if axis is None else "numbers" if axis.categories is None else "categories"
        lines.append([name, kind, None, None, share_of_missing(axis), _used(subject, name)])
    return lines


def _used(subject: Subject, name: str) -> str:
    return "yes" if name in subject.used else "no"


def _described_table(subject: Subject) -> list[list[Any]]:
    """Return a line for each column of the user's table, before any pipeline."""
    study = subject.study
    study.check_unchanged()
    if study.originals is None:
        table, schema = study.over.table, study.ensemble.schema
        used = {study.ensemble.feature_names[f] for f in study.ensemble.used_features.tolist()}
    else:
        table, names = study.originals.table, study.originals.names
        schema = Schema(tuple(Column(name) for name in names), named=study.originals.own_names is not None)
        used = {name for player in subject.used for name in study.original_groups[player]}
    listed = [column.name for column in schema.columns]
    place = {name: k for k, name in enumerate(subject.names)}
    order = sorted(range(len(listed)), key=lambda k: place.get(listed[k], len(place)))
    return [
        [listed[k], *_described_column(subject, table, schema, k), "yes" if listed[k] in used else "no"] for k in order
    ]


def _described_column(subject: Subject, table: object, schema: Schema, index: int) -> list[Any]:
    """Return the kind of a column, its minimum and maximum, and the share of missing values."""
    try:
        opened = open_columns(table, schema, [index])
        values = opened.values[index]
        if isinstance(values, Dictionary):
            n = np.unique(values.positions[values.positions >= 0]).size
            return [how_many(n, "category", "categories"), None, None, _share(subject, values.positions < 0)]
        numbers = np.asarray(values, dtype=np.float64) if subject.study.originals is not None else opened.column(index)
    except (GlasswoodError, TypeError, ValueError):
        return ["not examined", None, None, None]
    if schema.columns[index].n_codes:
        n_codes = schema.columns[index].n_codes
        return [how_many(n_codes, "category", "categories"), None, None, _share(subject, np.isnan(numbers))]
    extent = extent_of(numbers)
    ends = [None, None] if extent is None else [rounded(extent.least, 9), rounded(extent.greatest, 9)]
    kind = "only missing values" if extent is None else "whole numbers" if extent.whole else "numbers"
    return [kind, *ends, _share(subject, np.isnan(numbers))]


def _share(subject: Subject, missing: NDArray[np.bool_]) -> float | int | None:
    return rounded(float(np.average(missing, weights=subject.study.over.weights)))
