"""A table of many kinds of columns, and what a model is to learn from it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from helpers.pipelines import N_ROWS


@pytest.fixture(scope="module")
def frame():
    """Numbers, integers, truths, texts, categories, missing values, an empty and a constant column."""
    rng = np.random.default_rng(0)
    number = rng.normal(size=N_ROWS)
    return pd.DataFrame(
        {
            "number": number,
            "gap": np.where(rng.random(N_ROWS) < 0.2, np.nan, rng.normal(size=N_ROWS)),
            "count": rng.integers(0, 9, N_ROWS),
            "truth": rng.random(N_ROWS) < 0.4,
            "text": rng.choice(["a", "b", "c", "d"], N_ROWS, p=[0.4, 0.3, 0.25, 0.05]),
            "city": pd.Categorical(rng.choice(["x", "y", "z"], N_ROWS)),
            "empty": np.full(N_ROWS, np.nan),
            "same": np.full(N_ROWS, 3.0),
        }
    )


@pytest.fixture(scope="module")
def target(frame):
    noise = np.random.default_rng(1).normal(0, 0.1, N_ROWS)
    return frame["number"] + frame["count"] + 2 * (frame["text"] == "b") + frame["gap"].fillna(1) + noise
