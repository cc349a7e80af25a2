"""What tests of attributions share."""

from __future__ import annotations

from typing import Any

import pytest

METHODS = ["shap_values", "banzhaf_values", "shap_interaction_values"]


def shap_or_skip() -> Any:
    """Return shap, or skip the test."""
    return pytest.importorskip("shap", reason="shap is not among the libraries of the tests")
