"""Figures of results: results in, panels of `glasswood.plots` out.

Any object with the attributes of a result can be passed.
"""

from glasswood.results.panels._ale import panel_of_ale, panel_of_ale_surface
from glasswood.results.panels._attributions import panel_of_attributions
from glasswood.results.panels._curves import panel_of_comparison, panel_of_curve, panel_of_curves, panel_of_ice
from glasswood.results.panels._points import panel_of_points, steps_of_points
from glasswood.results.panels._rankings import (
    panel_of_certificate,
    panel_of_h_statistics,
    panel_of_importance,
    panel_of_permutation,
    panel_of_rating_table,
    panel_of_row_monotonicity,
    panel_of_strengths,
)
from glasswood.results.panels._series import panel_of_measures
from glasswood.results.panels._surfaces import panel_of_surface, panels_of_surface
from glasswood.results.panels._waterfall import panel_of_row, panel_of_sets

__all__ = [
    "panel_of_ale",
    "panel_of_ale_surface",
    "panel_of_attributions",
    "panel_of_certificate",
    "panel_of_comparison",
    "panel_of_curve",
    "panel_of_curves",
    "panel_of_h_statistics",
    "panel_of_ice",
    "panel_of_importance",
    "panel_of_measures",
    "panel_of_permutation",
    "panel_of_points",
    "panel_of_rating_table",
    "panel_of_row",
    "panel_of_row_monotonicity",
    "panel_of_sets",
    "panel_of_strengths",
    "panel_of_surface",
    "panels_of_surface",
    "steps_of_points",
]
