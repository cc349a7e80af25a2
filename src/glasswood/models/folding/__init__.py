"""Folding a pipeline into its trees: nodes that compare transformed values become nodes that compare the user's own."""

from glasswood.models.folding._fold import Folded, fold

__all__ = ["Folded", "fold"]
