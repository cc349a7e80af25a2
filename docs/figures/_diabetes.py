"""The model of most figures: 60 trees about 442 patients."""

from __future__ import annotations

from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw


def explainer() -> gw.Explainer:
    """Return an Explainer of the model that the pages fit."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    return gw.Explainer(HistGradientBoostingRegressor(max_iter=60, random_state=0).fit(X, y), X)
