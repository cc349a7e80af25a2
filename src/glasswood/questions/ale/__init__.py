"""Accumulated local effects."""

from glasswood.questions.ale._answer import ale
from glasswood.questions.ale._answer_bins import plan_ale, specs_of_summary
from glasswood.questions.ale._result import Ale
from glasswood.questions.ale._result_collections import Ales
from glasswood.questions.ale._result_pair import AleSurface

__all__ = ["COUNTED", "Ale", "AleSurface", "Ales", "ale", "plan_ale"]

# What a Background can have for these questions.
COUNTED = {"ale": specs_of_summary}
