"""Interactions in the report: the strongest pairs, their surfaces, and what pairs leave over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from glasswood.errors import GlasswoodError
from glasswood.parallel._threads import in_order
from glasswood.questions.curves import surface_of_names
from glasswood.questions.curves._panel_surface import panels_of_surface
from glasswood.questions.curves._section import curves_of
from glasswood.questions.interactions._answer import interaction_strengths
from glasswood.questions.interactions._answer_h import h_statistics
from glasswood.questions.interactions._result import Strengths
from glasswood.report._common import EACH, Placed, Section, column, figure, in_brackets, section
from glasswood.report._panels import anchors, cells_json, merged_cells, rounded
from glasswood.report._subject import Subject
from glasswood.study._view import view_of
from glasswood.text._plain import number, percent

__all__ = ["findings", "prepare", "sections"]

MAX_CELLS = 60  # of a surface, along each axis
MAX_ASKED = 2**28  # values of single rows: a few seconds
MAX_PAIRS = 300  # in the table of interactions
ALL_IN_PAIRS = (
    "No path of any tree has more than two features: the raw score is the sum of all curves and of these pairs, and "
    "can be written as a rating table."
)
ABOUT_PAIRS = (
    "The effect of two features together, beyond the sum of their two curves. Strength is its root mean square over "
    "the rows. H compares it with the whole effect of the pair: it is the square root of the ratio of their variances. "
    "An H of 0 means no interaction; if the features depend on each other, H can exceed 1. Pairs that share no path of "
    "any tree do not interact and are not listed."
)


def prepare(subject: Subject) -> None:
    """Count pairs of features if they will be needed; these counts include single features."""
    study, plan = subject.study, subject.study.plan(1)
    if subject.view.scale.additive and study.over.counted is None and study.over.has_rows and plan.countable(2):
        study.effects(2)


def sections(subject: Subject) -> Iterator[Placed]:
    """Yield the section on interactions."""
    yield Placed(60, _interactions(subject))


def _interactions(subject: Subject) -> Section:
    """Return the interacting pairs and the surfaces of the strongest, on the scale of the raw score."""
    name, title, n_surfaces = "interactions", "Interactions", subject.settings.n_interactions
    raw = subject.raw
    if raw is None:
        why = "the model combines several models, which have no common score that is a sum over trees"
        return section(name, title, f"Not examined: {why}.")
    try:
        strengths = interaction_strengths(raw)
    except GlasswoodError as error:
        return section(name, title, f"Not examined: {_why_no_pairs(subject, error)}.")
    if not len(strengths):
        text = (
            "No two features share a path, so there are no interactions: the raw score is a sum of curves of single "
            "features."
        )
        return section(name, title, text)
    top = strengths.top(MAX_PAIRS)
    figures = list(_surfaces(subject, top, n_surfaces))
    number_of = {tuple(figure["names"]): k for k, figure in enumerate(figures)}
    h = top.h[np.arange(len(top)), top.heights.argmax(axis=1)]
    rows = [
        [a, b, rounded(strength), rounded(share)]
        for (a, b), strength, share in zip(top.pairs, top.total.tolist(), h.tolist(), strict=True)
    ]
    columns = [
        column("First", "name"),
        column("Second", "name"),
        column(f"Strength{in_brackets(top.units)}", "bar"),
        column("H"),
    ]
    table = {
        "caption": "Interactions of pairs",
        "columns": columns,
        "rows": rows,
        "sort": 2,
        "figures": [number_of.get(tuple(pair)) for pair in top.pairs],
    }
    notes = " ".join(_notes_on_pairs(subject, strengths, figures, n_surfaces))
    whole = ALL_IN_PAIRS if subject.study.plan(1).max_players == 2 else ""
    parts = {"figures": figures, "tools": True, "linked": True, "page": 6}
    return section(name, title, ABOUT_PAIRS, whole, notes, table=table, **parts)


def _why_no_pairs(subject: Subject, error: GlasswoodError) -> str:
    """Return why interaction strengths are not available."""
    if subject.rows == "none":
        return "the strength of interactions is computed over rows, and there are none"
    background = subject.study.over.counted
    if background is not None and subject.rows == "counts" and background.order < 2:
        return "only single features were counted; summarize(model, rows, order=2) counts pairs as well"
    if subject.study.groups and subject.study.over.basis == "counts":
        return "interactions of groups of columns need the rows themselves, and only counts of them are available"
    return str(error).rstrip(".")


def _notes_on_pairs(
    subject: Subject, strengths: Strengths, figures: list[dict[str, Any]], n_surfaces: int
) -> Iterator[str]:
    """Yield further notes on the table and its figures."""
    if not subject.view.scale.is_score:
        yield (
            f"This section is about the raw score ({strengths.units}), which is a sum over trees; the curves above are "
            f"on the scale of the {subject.noun}."
        )
    if strengths.basis != "rows":
        yield "Only counts were available, so the two features of a pair are assumed to be independent."
    yield from _left_over(subject)
    if len(strengths) > MAX_PAIRS:
        yield f"These are the {MAX_PAIRS:,} strongest of {len(strengths):,} pairs."
    if subject.several:
        yield (
            "Strength is the root of the sum of squares over the outputs; H and the surfaces are of the output in "
            "which the pair is strongest."
        )
    if any(panel["panel"]["rows"] for figure in figures for panel in figure["panels"]):
        yield "Hatched cells have no rows."
    if subject.study.groups and n_surfaces > 0:
        yield f"There are no surfaces for {subject.what_has_no_order}."


def _left_over(subject: Subject) -> Iterator[str]:
    """Yield what curves and pairs leave of the score's variance, unless that would take long or needs other rows."""
    raw, study = subject.raw, subject.study
    n_asked = study.n_rows * float(study.plan(1).cells.n_cells.sum()) if study.over.can_count else np.inf
    if raw is None or n_asked * study.ensemble.n_outputs > MAX_ASKED:
        return
    try:
        statistics = h_statistics(raw)
    except GlasswoodError:
        return
    shares = [np.ravel(part) for part in (statistics.beyond_main_effects, statistics.beyond_pairs)]
    output = int(shares[0].argmax())
    mains, pairs = (percent(round(float(share[output]), 9)) for share in shares)  # 0 but for rounding
    of = f" (of output {statistics.outputs[output]}, where it is most)" if subject.several else ""
    yield f"After all curves are subtracted, {mains} of the score's variance is left{of}; after all pairs, {pairs}."
    if shares[0][output] > 1:
        yield "More than 100 % means that features depend on each other, and that a sum of curves is a poor picture."


def _surfaces(subject: Subject, strengths: Strengths, n_surfaces: int) -> Iterator[dict[str, Any]]:
    """Yield the surfaces of the strongest pairs of single features, with and without the sum of the curves."""
    chosen = [
        (pair, int(heights.argmax()))
        for pair, heights in zip(strengths.pairs, strengths.heights, strict=True)
        if pair[0] in curves_of(subject) and pair[1] in curves_of(subject)
    ][: max(0, n_surfaces)]
    ids = anchors("pair", [f"{a} x {b}" for (a, b), _ in chosen])

    def panels(number: int) -> list[Any]:
        pair, output = chosen[number]
        view = view_of(subject.study, "raw", strengths.outputs[output] if subject.several else None)
        return panels_of_surface(surface_of_names(view, pair), alone=(True, False))

    with in_order(len(chosen), panels, "surfaces") as drawn:
        for anchor, (pair, _), panel in zip(ids, chosen, drawn, strict=True):
            shown = [cells_json(one, subject.total) for one in merged_cells(panel, MAX_CELLS)]
            yield figure(anchor, list(pair), [("Interaction alone", shown[0]), ("Together", shown[1])])


def findings(subject: Subject, made: Mapping[str, Section]) -> Iterator[Placed]:
    """Yield the strongest interactions."""
    scale = "" if subject.view.scale.is_score else f" (of the raw score, {subject.study.ensemble.score.units})"
    table = made["interactions"].get("table", {"rows": []})
    for a, b, strength, h in table["rows"][:EACH]:
        text = f"strength {number(strength)}{scale}, H {number(h)}."
        yield Placed(40, subject.item("Interaction", [a, b], text, linked=False))
