"""Glasswood shows what a decision-tree ensemble has learned."""

import logging
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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


# Where public names are, which are imported when they are first used: importing Glasswood alone takes no time.
_HOMES = {
    "_compare": ("compare",),
    "_explainer": ("Explainer",),
    "_summarize": ("summarize",),
    "counting._background": ("Background",),
    "models._ensemble": ("TreeEnsemble",),
    "models._read_model": ("read_model",),
    "models._read_trees": ("read_trees",),
    "questions.ale": (
        "Ale",
        "Ales",
        "AleSurface",
    ),
    "questions.curves": (
        "Curve",
        "Curves",
        "Observations",
        "Points",
        "Surface",
    ),
    "questions.drift": (
        "Comparison",
        "Measures",
        "Violations",
    ),
    "questions.importance": (
        "Importance",
        "PermutationImportance",
    ),
    "questions.interactions": (
        "HStatistics",
        "PurifiedEffects",
        "Strengths",
    ),
    "questions.rating_tables": ("RatingTable",),
    "questions.rows": (
        "Attributions",
        "Ice",
        "Interactions",
        "SourceValues",
    ),
    "questions.shapes": (
        "Certificate",
        "Monotonicity",
        "RowMonotonicity",
        "Spikes",
    ),
    "results": (
        "Grouped",
        "Report",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:

    def __getattr__(name):
        if name in ("errors", "metrics"):
            return import_module(f"{__name__}.{name}")
        if name not in _HOME_OF:
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        globals()[name] = value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
        return value
