"""Values of rows: Shapley values, interaction values, metrics, ICE."""

from glasswood.questions.rows._answer import attributions, interaction_values, metric_values, refuse_no_metric
from glasswood.questions.rows._answer_ice import ice
from glasswood.questions.rows._answer_sources import explained_rows
from glasswood.questions.rows._result import Attributions
from glasswood.questions.rows._result_ice import Ice
from glasswood.questions.rows._result_sets import Interactions
from glasswood.questions.rows._result_sources import SourceValues

__all__ = [
    "Attributions",
    "Ice",
    "Interactions",
    "SourceValues",
    "attributions",
    "explained_rows",
    "ice",
    "interaction_values",
    "metric_values",
    "refuse_no_metric",
]
