"""Interactions: strengths of pairs, H, purified effects."""

from glasswood.questions.interactions._answer import interaction_strengths
from glasswood.questions.interactions._answer_h import h_statistics
from glasswood.questions.interactions._answer_purified import purified_effects
from glasswood.questions.interactions._result import Strengths
from glasswood.questions.interactions._result_h import HStatistics
from glasswood.questions.interactions._result_purified import PurifiedEffects

__all__ = ["HStatistics", "PurifiedEffects", "Strengths", "h_statistics", "interaction_strengths", "purified_effects"]
