"""Importance of features: total, main, and by permutation."""

from glasswood.questions.importance._answer import (
    importance,
    loss_specs_of_summary,
    permutation_importance,
    ranked,
    total_specs_of_summary,
)
from glasswood.questions.importance._result import Importance
from glasswood.questions.importance._result_permutation import PermutationImportance

__all__ = ["COUNTED", "Importance", "PermutationImportance", "importance", "permutation_importance", "ranked"]

# What a Background can have for these questions.
COUNTED = {"importance": total_specs_of_summary, "permutation_importance": loss_specs_of_summary}
