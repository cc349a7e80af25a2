"""Partial dependence: curves, surfaces and points, and what was observed beside them."""

from glasswood.questions.curves._answer import joint_partial_dependence, partial_dependence, points_on_grid
from glasswood.questions.curves._answer_curve import curve_of
from glasswood.questions.curves._answer_grids import grid_spec
from glasswood.questions.curves._answer_observed import actual_expected, actual_expected_without_folds
from glasswood.questions.curves._answer_request import EVERYWHERE, Request
from glasswood.questions.curves._answer_surface import surface_of, surface_of_names
from glasswood.questions.curves._result import Curve, columns_in_cells
from glasswood.questions.curves._result_collections import Curves
from glasswood.questions.curves._result_observed import Observations
from glasswood.questions.curves._result_points import Points
from glasswood.questions.curves._result_surface import Surface

__all__ = [
    "EVERYWHERE",
    "Curve",
    "Curves",
    "Observations",
    "Points",
    "Request",
    "Surface",
    "actual_expected",
    "actual_expected_without_folds",
    "columns_in_cells",
    "curve_of",
    "grid_spec",
    "joint_partial_dependence",
    "partial_dependence",
    "points_on_grid",
    "surface_of",
    "surface_of_names",
]
