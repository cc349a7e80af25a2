"""Glasswood shows what a decision-tree ensemble has learned."""

import logging

from glasswood import errors, metrics
from glasswood._compare import compare
from glasswood._explainer import Explainer
from glasswood._summarize import summarize
from glasswood.counting._background import Background
from glasswood.models._ensemble import TreeEnsemble
from glasswood.models._read_model import read_model
from glasswood.models._read_trees import read_trees
from glasswood.questions.ale import Ale, Ales, AleSurface
from glasswood.questions.curves import Curve, Curves, Observations, Points, Surface
from glasswood.questions.drift import Comparison, Measures, Violations
from glasswood.questions.importance import Importance, PermutationImportance
from glasswood.questions.interactions import HStatistics, PurifiedEffects, Strengths
from glasswood.questions.rating_tables import RatingTable
from glasswood.questions.rows import Attributions, Ice, Interactions, SourceValues
from glasswood.questions.shapes import Certificate, Monotonicity, RowMonotonicity, Spikes
from glasswood.results import Grouped, Report

__all__ = [
    "Ale",
    "AleSurface",
    "Ales",
    "Attributions",
    "Background",
    "Certificate",
    "Comparison",
    "Curve",
    "Curves",
    "Explainer",
    "Grouped",
    "HStatistics",
    "Ice",
    "Importance",
    "Interactions",
    "Measures",
    "Monotonicity",
    "Observations",
    "PermutationImportance",
    "Points",
    "PurifiedEffects",
    "RatingTable",
    "Report",
    "RowMonotonicity",
    "SourceValues",
    "Spikes",
    "Strengths",
    "Surface",
    "TreeEnsemble",
    "Violations",
    "compare",
    "errors",
    "metrics",
    "read_model",
    "read_trees",
    "summarize",
]

__version__ = "0.1.0"

logging.getLogger("glasswood").addHandler(logging.NullHandler())  # nothing is shown unless the user asks for it


def __dir__() -> list[str]:
    return __all__
