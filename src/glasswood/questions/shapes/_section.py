"""Shapes of curves in the report: monotonicity, spikes, and what is nearly monotone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from glasswood.plots._cuts import cell_text, shown_cut, shown_cuts
from glasswood.questions.curves._section import curves_of, numbers_of
from glasswood.questions.shapes._answer import monotonicity, spikes
from glasswood.questions.shapes._result import Monotonicity, Spike, Spikes
from glasswood.questions.shapes._section_promises import about_promises, findings_of_promises, tables_of_promises
from glasswood.report._common import EACH, FEW, ColumnOfFeatures, Item, Placed, Section, column, cut_off, section
from glasswood.report._panels import rounded
from glasswood.report._subject import Subject
from glasswood.report._wording import is_spike, shape_word, text_of_grids, text_of_reversals
from glasswood.text._plain import number, percent
from glasswood.text._printable import how_many

__all__ = ["columns", "findings", "sections"]


def _monotonicity(subject: Subject) -> Monotonicity:
    """Return which curves are monotonic; only if there are curves of numbers."""
    return subject.cached("monotonicity", lambda: monotonicity(subject.view, numbers_of(subject)))


def _missed(subject: Subject) -> Spikes | None:
    """Return all stretches of curves that a grid misses; None if there are no curves of numbers."""
    return subject.cached("spikes", lambda: spikes(subject.view, numbers_of(subject)) if numbers_of(subject) else None)


def columns(subject: Subject) -> Iterator[ColumnOfFeatures]:
    """Yield the shape of each curve in a word, and the number of its spikes."""
    results, words = curves_of(subject), _words(subject)
    shapes = {name: words.get(name, _kind(results.get(name))) for name in subject.names if name in subject.used}
    shapes |= {name: "not used" for name in subject.names if name not in subject.used}
    text = f"Shape and spikes are not examined for {subject.what_has_no_order}." if subject.study.groups else ""
    yield ColumnOfFeatures(40, column("Shape", "text"), shapes, text=text)
    count = {name: 0 for name in subject.names if name in words}
    for spike in _missed(subject) or ():
        count[spike.feature] = count.get(spike.feature, 0) + is_spike(spike.rows, subject.total)
    yield ColumnOfFeatures(60, column("Spikes", "count"), count)


def _kind(result: object) -> str:
    return "categories" if getattr(result, "categories", None) is not None else "not examined"


def sections(subject: Subject) -> Iterator[Placed]:
    """Yield the sections on monotonicity and on spikes."""
    yield Placed(70, _section_of_shapes(subject))
    yield Placed(90, _section_of_spikes(subject))


# ------------------------------------------------------------------------------------------------- monotonicity


def _shapes_of(subject: Subject, result: Monotonicity, i: int) -> list[str]:
    """Return the shape of the curve of a feature in a word or two, for each output."""
    curve = curves_of(subject)[result.names[i]]
    spans = np.ptp(curve.heights[curve.axis.ordinary], axis=0)
    lines = zip(result.directions[i], result.mains[i], result.against[i], spans, result.shares[i], strict=True)
    return [shape_word(str(a), str(b), float(c), float(d), float(e)) for a, b, c, d, e in lines]


def _words(subject: Subject) -> dict[str, str]:
    """Return the shape of the curve of each feature of numbers in a word."""
    return subject.cached("words for shapes", lambda: _find_words(subject))


def _find_words(subject: Subject) -> dict[str, str]:
    if not numbers_of(subject):
        return {}
    result = _monotonicity(subject)
    shapes = [_shapes_of(subject, result, i) for i in range(len(result.names))]
    return {
        name: kinds[0] if len(set(kinds)) == 1 else "differs by output"
        for name, kinds in zip(result.names, shapes, strict=True)
    }


def _section_of_shapes(subject: Subject) -> Section:
    """Return the section on monotonicity."""
    if not numbers_of(subject):
        text = f"Not examined: {_why_no_numbers(subject)}."
        return section("monotonicity", "Monotonicity", text)
    shapes_of = _monotonicity(subject)
    shapes = [_shapes_of(subject, shapes_of, i) for i in range(len(shapes_of.names))]
    rows: list[list[Any]] = []
    rank = {name: k for k, name in enumerate(subject.names)}
    for i in sorted(range(len(shapes_of.names)), key=lambda i: rank[shapes_of.names[i]]):
        for k, output in enumerate(shapes_of.outputs):
            of = [shapes_of.names[i], str(output)] if subject.several else [shapes_of.names[i]]
            kinds = [shapes[i][k], str(shapes_of.mains[i, k])]
            at = rounded(shown_cut(float(shapes_of.at[i, k])).number, 9)
            numbers = [rounded(float(shapes_of.against[i, k]), 9), at, rounded(float(shapes_of.shares[i, k]), 9)]
            rows.append([*of, *kinds, *numbers])
    columns = [
        column("Direction", "text"),
        column("Main direction", "text"),
        column(f"Largest step against it{subject.units}"),
        column("At", "edge"),
        column("Weight affected" if subject.weighted else "Rows affected", "share"),
    ]
    table = subject.table_of_features("Monotonicity", columns, rows)
    more = tables_of_promises(subject)
    parts: dict[str, Any] = {"table": table, "tools": len(rows) > FEW} | ({"more": more} if more else {})
    about = (_about_shapes(subject), cut_off(rows), about_promises(subject))
    return section("monotonicity", "Monotonicity", *about, **parts)


def _about_shapes(subject: Subject) -> str:
    affected = ", and the share of rows between such a step and the point where the curve has recovered from it"
    return (
        "Whether each curve is increasing or decreasing throughout, checked at every step of the model. If it is "
        "not, the table shows the largest step against its main direction, where that step is"
        f"{affected if subject.rows != 'none' else ''}. This holds for averages; single rows may differ."
        f"{_left_out(subject)}"
    )


def _left_out(subject: Subject) -> str:
    """Return a sentence about used features without an order, if any."""
    left = [name for name in subject.used if name not in set(numbers_of(subject))]
    if not left:
        return ""
    what = "categories or groups" if subject.study.groups else "categories"
    return f" {len(left):,} used {'features are' if len(left) > 1 else 'feature is'} not examined: {what}."


def _why_no_numbers(subject: Subject) -> str:
    """Return why there are no numeric curves to examine."""
    if not subject.used:
        return "the model has no splits"
    if subject.study.groups:
        return "all used features are categories or groups of columns"
    return "all used features are categories"


# ------------------------------------------------------------------------------------------------------- spikes


def _section_of_spikes(subject: Subject) -> Section:
    """Return the section on spikes."""
    missed = _missed(subject)
    if missed is None:
        return section("spikes", "Spikes", f"Not examined: {_why_no_numbers(subject)}.")
    result = list(missed)
    wide = len(result) - sum(is_spike(spike.rows, subject.total) for spike in result)
    between = "the first and the last cut" if missed.basis == "covers" else "the minimum and the maximum"
    if missed.basis == "counts":
        between += " (or the first and the last cut, where these are infinite or not known)"
    text = (
        f"Parts of a curve that would not show if it were sampled at {missed.points} evenly spaced values between "
        f"{between}: between two sample points, the exact curve leaves the range of both by more than 5 % of its whole "
        f"range. The cause may be a special value, such as a default, a limit or a code.{_left_out(subject)}"
        f"{_about_wide(wide)}"
    )
    if not result:
        return section("spikes", "Spikes", text, "None were found.")
    rows = []
    for spike in result:
        of = [spike.feature, str(spike.output)] if subject.several else [spike.feature]
        ends = [rounded(shown_cut(x).number, 9) for x in (spike.above, spike.to)]
        heights = [rounded(x) for x in (spike.height, spike.by, spike.share)]
        rows.append([*of, *ends, *heights, rounded(spike.rows, 9)])
    columns = [
        column("From", "edge"),
        column("To", "edge"),
        column(f"Height{subject.units}"),
        column("Distance from neighbours"),
        column("Share of the range", "share"),
        column("Weight") if subject.weighted else column("Rows", "count"),
    ]
    table = subject.table_of_features(f"What {missed.points} evenly spaced values would miss", columns, rows)
    return section("spikes", "Spikes", text, cut_off(rows), table=table, tools=len(rows) > FEW)


def _about_wide(n: int) -> str:
    """Return a sentence about the parts of curves that have many rows."""
    if not n:
        return ""
    what = "One of them has" if n == 1 else f"{n:,} of them have"
    return f" {what} a twentieth of the rows or more, and {'is' if n == 1 else 'are'} not counted as spikes."


# ----------------------------------------------------------------------------------------------------- findings


def findings(subject: Subject, made: Mapping[str, Section]) -> Iterator[Placed]:  # noqa: ARG001 (as of all families)
    """Yield promises that are not kept, spikes, and features that are nearly monotone."""
    yield from (Placed(0, item) for item in findings_of_promises(subject))
    yield from (Placed(60, item) for item in _spikes(subject))
    yield from (Placed(70, item) for item in _nearly_monotone(subject))


def _spikes(subject: Subject) -> Iterator[Item]:
    missed = _missed(subject)
    if missed is None:
        return
    seen: set[str] = set()
    basis, points = missed.basis, missed.points
    for spike in missed:
        if spike.feature in seen or len(seen) == EACH:
            continue
        seen.add(spike.feature)
        rows = "" if np.isnan(spike.rows) else f", where there {_rows_there(subject, spike.rows)}"
        ends = shown_cuts([spike.above, spike.to])
        where = cell_text(ends, 1, whole=curves_of(subject)[spike.feature].axis.whole)
        text = (
            f"{'up' if spike.by > 0 else 'down'} by {number(abs(spike.by))} ({percent(spike.share)} of its range) for "
            f"values {where}{rows}. {_grids(subject, spike, basis, points)}"
        )
        tag = "Spike" if is_spike(spike.rows, subject.total) else "Missed by a grid"
        yield subject.item(tag, [spike.feature], text)


def _grids(subject: Subject, spike: Spike, basis: str, points: int) -> str:
    """Return which grids would show a stretch of a curve: one between percentiles needs the rows."""
    study, values = subject.study, None
    if study.over.in_memory:
        feature = study.ensemble.feature_names.index(spike.feature)
        values, weight = np.asarray(study.columns([feature]).column(feature), dtype=np.float64), study.over.weights
        values = values if weight is None else values[weight > 0]
    return text_of_grids(points, basis, spike.above, spike.to, values)


def _rows_there(subject: Subject, rows: float) -> str:
    if subject.weighted:
        return f"is a weight of {rows:,.6g}"
    return f"{'is' if rows == 1 else 'are'} {how_many(round(rows), 'row')}"


def _nearly_monotone(subject: Subject) -> Iterator[Item]:
    """Yield features that are monotonic with small exceptions, where a constraint may have been intended."""
    if not numbers_of(subject):
        return
    curves = _monotonicity(subject)
    n_findings = 0
    for name in subject.names:
        if name not in curves.names or n_findings == EACH:
            continue
        i = curves.names.index(name)
        k = int(curves.against[i].argmax())
        if _shapes_of(subject, curves, i)[k].startswith("nearly"):
            n_findings += 1
            against, share = float(curves.against[i, k]), float(curves.shares[i, k])
            at = shown_cut(float(curves.at[i, k])).number
            text = text_of_reversals(str(curves.mains[i, k]), against, at, share, weighted=subject.weighted)
            yield subject.item("Nearly monotone", [name], text)
