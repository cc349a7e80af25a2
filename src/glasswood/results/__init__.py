"""Results, with the names, labels and units that users know."""

from glasswood.results._axis import LARGEST, Axis, FloatOrArray, of_outputs, squeezed
from glasswood.results._basis import BASES
from glasswood.results._collections import Grouped, Lazy
from glasswood.results._folds import LOST_ERROR, LOST_MEAN, NO_FOLDS, Folds
from glasswood.results._frames import check_memory, to_frame
from glasswood.results._joint_rows import JointRows
from glasswood.results._report import Report
from glasswood.text._html import table_html
from glasswood.text._plain import text_of

__all__ = [
    "BASES",
    "LARGEST",
    "LOST_ERROR",
    "LOST_MEAN",
    "NO_FOLDS",
    "Axis",
    "FloatOrArray",
    "Folds",
    "Grouped",
    "JointRows",
    "Lazy",
    "Report",
    "check_memory",
    "of_outputs",
    "squeezed",
    "table_html",
    "text_of",
    "to_frame",
]
