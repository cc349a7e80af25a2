"""Names that the examples in docstrings share, so that each does not fit a model of its own."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _shared_names(request: pytest.FixtureRequest, doctest_namespace: dict[str, Any]) -> None:
    """Give an example `gw`, the diabetes data `X` and `y`, and `ex`, an Explainer of a model of them."""
    if isinstance(request.node, pytest.DoctestItem):
        import glasswood as gw

        model, X, y = _diabetes()
        doctest_namespace |= {"gw": gw, "X": X, "y": y, "ex": gw.Explainer(model, X)}


@cache
def _diabetes() -> tuple[Any, Any, Any]:
    from sklearn.datasets import load_diabetes
    from sklearn.ensemble import HistGradientBoostingRegressor

    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return HistGradientBoostingRegressor(max_iter=20).fit(X, y), X, y
