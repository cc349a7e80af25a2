"""What other processes are asked to do; a module, so that they find it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import glasswood as gw

NAMES = [f"x{k}" for k in range(6)]
X = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 6)), columns=NAMES)
Y = X["x0"] * X["x1"] + X["x2"]


def answer(ex: gw.Explainer) -> NDArray[Any]:
    """A curve, a surface and some Shapley values as one array."""
    curve, surface = ex.partial_dependence("x0"), ex.partial_dependence("x1", "x2")
    return np.concatenate([curve.values, surface.values.ravel(), ex.shap_values(X[:5]).values.ravel()])


def answer_of(model: Any, table: Any) -> NDArray[Any]:
    """The same, of a new Explainer."""
    return answer(gw.Explainer(model, table))
