"""Drift: groups of rows and models side by side, and the gate."""

from glasswood.questions.drift._answer import compare_views
from glasswood.questions.drift._answer_gate import measures_of
from glasswood.questions.drift._result import Comparison
from glasswood.questions.drift._result_gate import Measures, Violations
from glasswood.questions.drift._result_rules import rules_of

__all__ = ["Comparison", "Measures", "Violations", "compare_views", "measures_of", "rules_of"]
