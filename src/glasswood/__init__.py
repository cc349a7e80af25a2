"""Glasswood shows what a decision-tree ensemble has learned."""

from glasswood import errors, metrics
from glasswood._background import Background
from glasswood._ensemble import TreeEnsemble
from glasswood._explainer import Explainer
from glasswood._results import Curve, Points, Surface
from glasswood._row_results import Attributions, Interactions
from glasswood._summarize import summarize
from glasswood.readers import read_model

__all__ = [
    "Attributions",
    "Background",
    "Curve",
    "Explainer",
    "Interactions",
    "Points",
    "Surface",
    "TreeEnsemble",
    "errors",
    "metrics",
    "read_model",
    "summarize",
]

__version__ = "0.1.0.dev0"


def __dir__() -> list[str]:
    return __all__
