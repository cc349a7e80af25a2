"""Accumulated local effects."""

from glasswood.questions.ale._answer import ale
from glasswood.questions.ale._answer_bins import plan_ale
from glasswood.questions.ale._result import Ale
from glasswood.questions.ale._result_collections import Ales
from glasswood.questions.ale._result_pair import AleSurface
from glasswood.questions.ale._statistic_counts import WantedAle
from glasswood.questions.ale._statistic_edges import asked_bins, bins_of, feature_of
from glasswood.questions.ale._statistic_responses import WantedAleResponses

__all__ = [
    "Ale",
    "AleSurface",
    "Ales",
    "WantedAle",
    "WantedAleResponses",
    "ale",
    "asked_bins",
    "bins_of",
    "feature_of",
    "plan_ale",
]
