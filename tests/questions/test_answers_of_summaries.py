"""summarize(answers=): questions that need sums over the rows, by their names and with their options."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw
from glasswood.cli._app import app
from glasswood.errors import ArgumentError

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(120, 3)), columns=list("abc"))
Y = X["a"] * X["b"] + X["c"]
MODEL = HistGradientBoostingRegressor(max_iter=6).fit(X, Y)


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ("ale", "a list of questions, or a mapping"),
        (4, "a list of questions, or a mapping"),
        (["curves"], "questions that need sums: 'ale', 'importance', 'permutation_importance', 'row_monotonicity'"),
        ([["ale"]], "questions that need sums"),
        ({"importance": {"bins": 4}}, "'importance', which takes an empty mapping"),
        ({"ale": {"edges": 4}}, "'ale', which takes a mapping with 'bins'"),
        ({"ale": 4}, "has 4 for 'ale', which takes a mapping with 'bins'"),
        (["permutation_importance"], "pass target=, too"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(answers, says):
    with pytest.raises(ArgumentError, match=says):
        gw.summarize(MODEL, X, answers=answers)


def test_names_and_options_are_those_of_questions():
    answers = {"importance": {}, "permutation_importance": {}, "row_monotonicity": {}, "ale": {"bins": 5}}
    everything = gw.Explainer(MODEL, gw.summarize(MODEL, X, target=Y, answers=answers))
    alone = gw.Explainer(MODEL, X, target=Y)
    for name, options in answers.items():
        found, expected = (getattr(ex, name)(**options).to_frame() for ex in (everything, alone))
        pd.testing.assert_frame_equal(found, expected)
    assert gw.summarize(MODEL, X, answers=["ale"]) == gw.summarize(MODEL, X, answers={"ale": {}})
    assert gw.summarize(MODEL, X, answers=()) == gw.summarize(MODEL, X)


@pytest.mark.parametrize(
    ("answer", "says"), [("ale:40", "options are NAME=VALUE, such as ale:40="), ("curves", "questions that need sums")]
)
def test_the_command_line_refuses_the_same(answer, says, tmp_path):
    X.to_parquet(tmp_path / "rows.parquet")
    saved = tmp_path / "model.txt"
    lgb.LGBMRegressor(n_estimators=3, verbose=-1, n_jobs=1).fit(X, Y).booster_.save_model(saved)
    arguments = ["summarize", str(saved), str(tmp_path / "rows.parquet"), "--answer", answer]
    done = CliRunner().invoke(app, [*arguments, "-o", str(tmp_path / "rows.gw")])
    assert done.exit_code != 0
    assert says in f"{done.output} {done.exception}"
