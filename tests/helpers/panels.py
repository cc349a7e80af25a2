"""The functions that make panels of all families, by their names."""

from __future__ import annotations

from glasswood.questions.ale._panel import panel_of_ale, panel_of_ale_surface
from glasswood.questions.curves._panel import panel_of_curve, panel_of_curves
from glasswood.questions.curves._panel_points import panel_of_points, steps_of_points
from glasswood.questions.curves._panel_surface import panel_of_surface, panels_of_surface
from glasswood.questions.drift._panel import panel_of_comparison
from glasswood.questions.drift._panel_gate import panel_of_measures
from glasswood.questions.importance._panel import panel_of_importance, panel_of_permutation
from glasswood.questions.interactions._panel import panel_of_h_statistics, panel_of_strengths
from glasswood.questions.rating_tables._panel import panel_of_rating_table
from glasswood.questions.rows._panel import panel_of_attributions
from glasswood.questions.rows._panel_ice import panel_of_ice
from glasswood.questions.rows._panel_waterfall import panel_of_row, panel_of_sets
from glasswood.questions.shapes._panel import panel_of_certificate, panel_of_row_monotonicity

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
