"""Glasswood shows what a decision-tree ensemble has learned."""

from glasswood import errors, metrics
from glasswood._compare import compare
from glasswood._explainer import Explainer
from glasswood._summarize import summarize
from glasswood.counting._background import Background
from glasswood.models._ensemble import TreeEnsemble
from glasswood.models._read_model import read_model
from glasswood.models._read_trees import read_trees
from glasswood.results import (
    Ale,
    Ales,
    AleSurface,
    Attributions,
    Certificate,
    Comparison,
    Curve,
    Curves,
    Grouped,
    HStatistics,
    Ice,
    Importance,
    Interactions,
    Measures,
    Monotonicity,
    Observations,
    PermutationImportance,
    Points,
    PurifiedEffects,
    RatingTable,
    Report,
    RowMonotonicity,
    SourceValues,
    Spikes,
    Strengths,
    Surface,
    Violations,
)

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


def __dir__() -> list[str]:
    return __all__
