"""Accumulated local effects (ALE) in the report: features whose partial dependence rests on unlikely rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from glasswood.errors import GlasswoodError
from glasswood.plots._spec import Line, Steps
from glasswood.questions.ale._answer import ale
from glasswood.questions.ale._answer_bins import plan_ale
from glasswood.questions.ale._result import Ale
from glasswood.questions.ale._result_collections import Ales
from glasswood.questions.curves import Curve
from glasswood.report._common import EACH, Item, Placed, Section
from glasswood.report._subject import Subject
from glasswood.study._view import View
from glasswood.text._plain import number

__all__ = ["ale_gaps_of", "findings", "overlay"]

LIMIT, ERRORS = 0.1, 2.0  # standard deviations of the score; standard errors of the gap
MEANING = (
    "The feature interacts with others that it depends on, so its curve averages over combinations of values that rows "
    "do not have; the ALE only compares similar rows."
)


@dataclass(frozen=True, eq=False)
class AleGap:
    """A feature whose two curves differ, and by how many standard deviations of the score."""

    ale: Ale
    gap: float
    error: float | None


def ale_gaps_of(subject: Subject) -> Mapping[str, AleGap]:
    """Return the features whose partial dependence differs from their accumulated local effect."""
    return subject.cached("apart", lambda: _find_ale_gaps(subject))


def _find_ale_gaps(subject: Subject) -> Mapping[str, AleGap]:
    raw = subject.raw
    return {} if raw is None or subject.rows == "none" or subject.study.in_parts else _beyond_limit(raw)


def _beyond_limit(raw: View) -> dict[str, AleGap]:
    """Return the features whose curves differ beyond the limit, the largest gap first; none if that is not known.

    Gaps are those of the raw score, and the largest of all outputs.
    """
    try:
        judged = {name: _judged(own) for name, own in cast(Ales, ale(raw, plan_ale(raw.study, ()))).items()}
    except GlasswoodError:  # a Background that has no local effects, or too many counts
        return {}
    beyond = {
        name: one
        for name, one in judged.items()
        if one.gap > LIMIT and (one.error is None or one.gap > ERRORS * one.error)
    }
    return dict(sorted(beyond.items(), key=lambda item: -item[1].gap))


def _judged(own: Ale) -> AleGap:
    gaps = np.atleast_1d(own.gap)
    k = int(np.nanargmax(gaps)) if not np.isnan(gaps).all() else 0
    error = float(np.atleast_1d(own.gap_error)[k]) if gaps[k] > LIMIT and own.find_left_out is not None else None
    return AleGap(own, float(np.nan_to_num(gaps[k])), error)


def findings(subject: Subject, made: Mapping[str, Section]) -> Iterator[Placed]:  # noqa: ARG001 (as of all families)
    """Yield features, and sentences about the difference of their curves."""
    yield from (Placed(50, item) for item in _unlikely_rows(subject))


def _unlikely_rows(subject: Subject) -> Iterator[Item]:
    """Yield a finding for each of the features that differ most."""
    for k, (name, one) in enumerate(list(ale_gaps_of(subject).items())[:EACH]):
        error = "" if one.error is None else f" (standard error {number(one.error)})"
        text = (
            f"partial dependence and accumulated local effect (ALE) differ by {number(one.gap)}{error} sd of the score"
        )
        yield subject.item("Unlikely rows", [name], f"{text}. {MEANING}" if k == 0 else f"{text}.")


def overlay(subject: Subject, curve: Curve, panel: Steps) -> Steps:
    """Return the panel of a curve of numbers with the ALE beside it, if both differ and are on one scale."""
    one = ale_gaps_of(subject).get(curve.name)
    if one is None or len(curve.outputs) > 1 or not panel.x.edges or not subject.view.scale.additive:
        return panel
    line = Line("ALE", tuple(_heights_in_cells(one.ale, curve, len(panel.lines[0].heights))))
    first = replace(panel.lines[0], name="partial dependence")
    lines = (first, *panel.lines[1:], line)  # behind what was observed and predicted
    return replace(panel, lines=lines, note="; ".join(filter(None, (panel.note, "ALE around the average"))))


def _heights_in_cells(ale: Ale, curve: Curve, n_cells: int) -> list[float]:
    """Return the heights of an ALE in the middle of the ordinary cells of a curve, around the curve's average."""
    cuts = curve.cuts[curve.axis.ordinary.start : curve.axis.ordinary.stop - 1]
    if not ale.edges.size or cuts.size + 1 != n_cells:
        return [float("nan")] * n_cells
    low, high = min(ale.edges[0], cuts.min(initial=np.inf)), max(ale.edges[-1], cuts.max(initial=-np.inf))
    ends = np.concatenate([[low], cuts, [high]])
    middle: Any = ale(ends[:-1] / 2 + ends[1:] / 2)
    return [float(height) for height in np.asarray(middle) + _level(curve)]


def _level(curve: Curve) -> float:
    """Return the average of a curve over the rows that have a number."""
    rows = curve.rows.astype(np.float64)
    return float(rows @ curve.heights[: curve.axis.n_main, 0] / rows.sum()) if rows.sum() > 0 else float(curve.mean[0])
