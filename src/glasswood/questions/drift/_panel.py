"""The panel of a comparison: a line per group of rows, or per model."""

from __future__ import annotations

from glasswood.plots._spec import Steps
from glasswood.questions.curves._panel import panel_of_curves
from glasswood.questions.drift._result import Comparison
from glasswood.results._drawable import drawn

__all__ = ["panel_of_comparison"]


@drawn(Comparison)
def panel_of_comparison(
    comparison: Comparison,
    feature: str,
    output: int | None = None,
    *,
    sort: str | None = None,
    xscale: str = "linear",
    fit: bool = True,
    std: bool = False,
    observed: bool = False,
) -> Steps:
    """Return the panel of one feature in a `Comparison`: a line per group of rows, or per model."""
    curves = comparison.curves(feature)
    return panel_of_curves(curves, output, sort=sort, xscale=xscale, fit=fit, std=std, observed=observed)
