"""Results, with the names, labels and units that users know."""

from glasswood.results._axis import LARGEST, Axis, squeezed
from glasswood.results._basis import BASES
from glasswood.results._collections import Grouped, Lazy
from glasswood.results._folds import NO_FOLDS, Folds, IfAsked, MeanIfAsked
from glasswood.results._frames import check_memory, to_frame
from glasswood.results._joint_rows import JointRows
from glasswood.results._report import Report
from glasswood.text._html import table_html
from glasswood.text._plain import text_of

__all__ = [
    "BASES",
    "LARGEST",
    "NO_FOLDS",
    "Axis",
    "Folds",
    "Grouped",
    "IfAsked",
    "JointRows",
    "Lazy",
    "MeanIfAsked",
    "Report",
    "check_memory",
    "squeezed",
    "table_html",
    "text_of",
    "to_frame",
]
