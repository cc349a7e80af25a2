"""Importance of features: total, main, and by permutation."""

from glasswood.questions.importance._answer import importance, permutation_importance, ranked
from glasswood.questions.importance._result import Importance
from glasswood.questions.importance._result_permutation import PermutationImportance
from glasswood.questions.importance._statistic import wanted_losses

__all__ = ["Importance", "PermutationImportance", "importance", "permutation_importance", "ranked", "wanted_losses"]
