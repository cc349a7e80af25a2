"""Importance of features: total, main, and by permutation."""
