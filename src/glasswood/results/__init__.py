"""Results, with the names, labels and units that users know."""

from glasswood.results._ale import OTHERS, UNSEEN, Ale, AleLeftOut, AlePart
from glasswood.results._ale_surface import AleSurface
from glasswood.results._ales import Ales
from glasswood.results._attributions import Attributions
from glasswood.results._axis import LARGEST, Axis, squeezed
from glasswood.results._basis import BASES
from glasswood.results._certificate import BrokenPromise, Certificate
from glasswood.results._collections import Curves, Grouped, Lazy, Pairs
from glasswood.results._comparison import Comparison
from glasswood.results._curves import Curve, told_in_cells
from glasswood.results._folds import NO_FOLDS, Folds, IfAsked, MeanIfAsked, SurfaceFolds
from glasswood.results._frames import check_memory, to_frame
from glasswood.results._gate import Measured, Measures, Violations
from glasswood.results._h_statistics import HStatistics
from glasswood.results._ice import Ice
from glasswood.results._importance import Importance, Strengths
from glasswood.results._interactions import Interactions
from glasswood.results._joint_rows import JointRows
from glasswood.results._observations import Observations
from glasswood.results._permutation import PermutationImportance
from glasswood.results._points import Points
from glasswood.results._purified import PurifiedEffects
from glasswood.results._rating_table import LeftByTable, RatingTable
from glasswood.results._report import Report
from glasswood.results._row_monotonicity import RowMonotonicity, WorstRow
from glasswood.results._rules import MEASURES, Rule, default_rules, parse_rule, rules_by_value, rules_in_file, rules_of
from glasswood.results._shapes import Monotonicity, Spike, Spikes
from glasswood.results._shown import ShownRows
from glasswood.results._source_values import SourceValues
from glasswood.results._spread import OtherScale, Spread
from glasswood.results._surfaces import REMEDY, Surface
from glasswood.text._html import table_html
from glasswood.text._plain import text_of

__all__ = [
    "BASES",
    "LARGEST",
    "MEASURES",
    "NO_FOLDS",
    "OTHERS",
    "REMEDY",
    "UNSEEN",
    "Ale",
    "AleLeftOut",
    "AlePart",
    "AleSurface",
    "Ales",
    "Attributions",
    "Axis",
    "BrokenPromise",
    "Certificate",
    "Comparison",
    "Curve",
    "Curves",
    "Folds",
    "Grouped",
    "HStatistics",
    "Ice",
    "IfAsked",
    "Importance",
    "Interactions",
    "JointRows",
    "Lazy",
    "LeftByTable",
    "MeanIfAsked",
    "Measured",
    "Measures",
    "Monotonicity",
    "Observations",
    "OtherScale",
    "Pairs",
    "PermutationImportance",
    "Points",
    "PurifiedEffects",
    "RatingTable",
    "Report",
    "RowMonotonicity",
    "Rule",
    "ShownRows",
    "SourceValues",
    "Spike",
    "Spikes",
    "Spread",
    "Strengths",
    "Surface",
    "SurfaceFolds",
    "Violations",
    "WorstRow",
    "check_memory",
    "default_rules",
    "parse_rule",
    "rules_by_value",
    "rules_in_file",
    "rules_of",
    "squeezed",
    "table_html",
    "text_of",
    "to_frame",
    "told_in_cells",
]
