"""Importance of features: total, main, and by permutation."""

from glasswood.questions.importance._answer import (
    importance,
    permutation_importance,
    ranked,
    wanted_loss_of_target,
    wanted_total,
)
from glasswood.questions.importance._result import Importance
from glasswood.questions.importance._result_permutation import PermutationImportance

__all__ = ["COUNTED", "Importance", "PermutationImportance", "importance", "permutation_importance", "ranked"]

# What a Background can have for these questions.
COUNTED = {"importance": wanted_total, "permutation_importance": wanted_loss_of_target}
