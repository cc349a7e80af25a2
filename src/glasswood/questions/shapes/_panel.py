"""Panels of monotonicity: rows against a direction, and how far a score can move."""

from __future__ import annotations

import numpy as np

from glasswood.plots._spec import Bars
from glasswood.questions.shapes._result_certificate import Certificate
from glasswood.questions.shapes._result_rows import RowMonotonicity
from glasswood.results._drawable import drawn
from glasswood.results.panels._outputs import scale_label
from glasswood.results.panels._rankings import Ranked, first_of, joined, ranked_bars
from glasswood.text._plain import plain

__all__ = ["panel_of_certificate", "panel_of_row_monotonicity"]


@drawn(RowMonotonicity)
def panel_of_row_monotonicity(result: RowMonotonicity, output: int | None = None, *, top: int = 20) -> Bars:
    """Return the panel of a `RowMonotonicity`: the share of rows that go against the direction of each feature."""
    order = np.argsort(-np.asarray(result.shares).max(axis=1, initial=0.0), kind="stable")
    ranked = Ranked(np.asarray(result.shares)[order], [result.names[i] for i in order], result.outputs, result.units)
    return ranked_bars(ranked, output, top, "Rows that go against the direction of a feature", "share of the rows")


@drawn(Certificate)
def panel_of_certificate(result: Certificate, output: int | None = None, *, top: int = 20) -> Bars:
    """Return the panel of a `Certificate`: how far the score can fall and rise at most along each feature."""
    bounds = np.stack([result.falls, result.rises])
    heights = bounds.max(axis=2) if output is None else bounds[:, :, output]
    order, some = first_of(np.argsort(-heights.max(axis=0), kind="stable"), top)
    shown = range(len(result.outputs)) if output is None else [output]
    units = scale_label(result.units, result.outputs, list(shown), average=False)
    broken = {one.feature for one in result.broken}
    return Bars(
        title="How far the score can move along each feature",
        x_label=f"at most ({units})",
        labels=tuple(f"{plain(result.names[i])}{' (broken promise)' * (result.names[i] in broken)}" for i in order),
        values=tuple(tuple(side[order].tolist()) for side in heights),
        series=("falls", "rises"),
        note=joined(some, result.caveat, "no bar: proven for every row"),
    )
