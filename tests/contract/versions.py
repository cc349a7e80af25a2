"""Golden values that need newer libraries than the oldest supported ones, which wrote the files in models/."""

from __future__ import annotations

import pytest

from helpers.versions import has

# What each kind or topic needs, by how its name starts.
NEEDED = {
    "xgboost": ("xgboost", (3, 1)),  # older ones forget the base score of newer files, and the labels of categories
    "command_line": ("xgboost", (3, 1)),
    "treelite": ("treelite", (4, 6)),  # older ones cannot read newer files of XGBoost
    "tables of catboost": ("catboost", (1, 2, 8)),  # older ones take no frames of Polars
    "sklearn_function": ("scikit-learn", (1, 7)),  # older ones have no custom_values
}


def skip_if_too_old(name):
    """Skip a test if a library of this environment is too old for the golden values of a kind or topic."""
    for start, (library, least) in NEEDED.items():
        if name.startswith(start) and not has(library, least):
            pytest.skip(f"the golden values of {name} need {library} {'.'.join(map(str, least))}")
