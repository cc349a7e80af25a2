"""What a report says and draws where partial dependence and accumulated local effects (ALE) differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from glasswood.plots._spec import Line, Steps
from glasswood.report._subject import Subject
from glasswood.results import Ale, Curve
from glasswood.text._plain import number

__all__ = ["beside_curve", "items_apart"]

EACH = 3  # findings
MEANING = (
    "The feature interacts with others that it depends on, so its curve averages over combinations of values that rows "
    "do not have; the ALE only compares similar rows."
)


def items_apart(subject: Subject) -> Iterator[tuple[str, str]]:
    """Yield features and sentences about the difference of their curves."""
    for k, (name, one) in enumerate(list(subject.apart.items())[:EACH]):
        error = "" if one.error is None else f" (standard error {number(one.error)})"
        text = (
            f"partial dependence and accumulated local effect (ALE) differ by {number(one.gap)}{error} sd of the score"
        )
        yield name, f"{text}. {MEANING}" if k == 0 else f"{text}."


def beside_curve(subject: Subject, curve: Curve, panel: Steps) -> Steps:
    """Return the panel of a curve of numbers with the ALE beside it, if both differ and are on one scale."""
    one = subject.apart.get(curve.name)
    if one is None or len(curve.outputs) > 1 or not panel.x.edges or not subject.view.scale.additive:
        return panel
    line = Line("ALE", tuple(_in_cells(one.ale, curve, len(panel.lines[0].heights))))
    first = replace(panel.lines[0], name="partial dependence")
    lines = (first, *panel.lines[1:], line)  # behind what was observed and predicted
    return replace(panel, lines=lines, note="; ".join(filter(None, (panel.note, "ALE around the average"))))


def _in_cells(ale: Ale, curve: Curve, n_cells: int) -> list[float]:
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
