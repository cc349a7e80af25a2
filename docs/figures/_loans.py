"""Made loans: the form fills in an income of 60,000, and people who leave it as it is default more often."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier


def loans(n_rows: int = 20_000) -> tuple[HistGradientBoostingClassifier, pd.DataFrame]:
    """Return a model of default, and its rows."""
    X, default = _made(n_rows)
    return HistGradientBoostingClassifier(max_iter=60, random_state=0).fit(X, default), X


def defaults(n_rows: int = 20_000) -> NDArray[np.bool_]:
    """Return which of these rows default."""
    return _made(n_rows)[1]


def _made(n_rows: int) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
    draw = np.random.default_rng(0)
    income = draw.lognormal(10.9, 0.5, n_rows).round(-2)
    lazy = draw.random(n_rows) < 0.04
    income[lazy] = 60_000
    X = pd.DataFrame({"income": income, "age": draw.integers(18, 80, n_rows), "amount": draw.lognormal(9, 0.7, n_rows)})
    odds = -1.5 - (income - 60_000) / 40_000 + 1.8 * lazy + 0.3 * np.log(X["amount"] / 8_000)
    return X, np.asarray(draw.random(n_rows) < 1 / (1 + np.exp(-odds)))
