"""Which sums are lost if only one of two Backgrounds has them: those of responses, and no others."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw
from glasswood.counting._background import OF_FOLDS, _is_of_responses
from glasswood.questions import FAMILIES

ANSWERS = ["ale", "importance", "permutation_importance", "row_monotonicity"]
SETTINGS = {
    "every answer": {"target": "y", "answers": ANSWERS, "folds": 3},
    "with an offset": {"target": "y", "answers": ANSWERS[1:], "offset": "offset"},
    "per unit of exposure": {
        "target": "y",
        "answers": ["importance", "row_monotonicity"],
        "offset": "offset",
        "exposure": "exposure",
    },
}


def test_these_are_all_answers():
    """A new one belongs in `ANSWERS`, and the beginning of the names of its sums in `OF_QUESTIONS`."""
    families = [import_module(f"glasswood.questions.{family}") for family in FAMILIES]
    assert {name for family in families for name in getattr(family, "COUNTED", ())} == set(ANSWERS)


@pytest.mark.parametrize("setting", SETTINGS)
def test_nothing_but_sums_of_responses_may_be_lost(setting):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    rows = X.assign(y=rng.poisson(np.exp(X["a"])), offset=X["b"] / 9, exposure=rng.uniform(0.5, 1.0, 200))
    model = HistGradientBoostingRegressor(loss="poisson", max_iter=4).fit(X, rows["y"] + 0.1)
    background = gw.summarize(model, rows, **SETTINGS[setting])
    lost = {name.removeprefix(OF_FOLDS) for name in background.vectors if _is_of_responses(name)}
    assert [name.partition(" ")[0] for name in lost] == ["prediction"], lost
