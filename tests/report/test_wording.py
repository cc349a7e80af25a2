"""Words that follow from numbers: each on both sides of its threshold, and the same in all sections of a report."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestRegressor

import glasswood as gw
from glasswood.questions.importance import _answer_losses as _losses
from glasswood.report._wording import is_spike, n_inside, sample_note, shape_word, text_of_grids, text_of_reversals


def sections_of(explainer):
    data = json.loads(re.findall(r'id="data">(.*?)</script>', explainer.report().html, re.DOTALL)[0])
    return {part["id"]: part for part in data["sections"]}


@pytest.mark.parametrize(
    ("direction", "against", "share", "word"),
    [
        ("increasing", 0.0, 0.0, "increasing"),
        ("constant", 0.0, 0.0, "constant"),
        ("neither", 0.5, 0.05, "nearly decreasing"),
        ("neither", 0.51, 0.05, "not monotone"),
        ("neither", 0.5, 0.051, "not monotone"),
        ("neither", 0.5, np.nan, "nearly decreasing"),  # without rows, steps decide
    ],
)
def test_shapes(direction, against, share, word):
    assert shape_word(direction, "decreasing", against, 10.0, share) == word


def test_reversals():
    reported = text_of_reversals("increasing", 0.25, 3.5, 0.02, weighted=False)
    assert (
        reported
        == "increasing, except for small reversals; the largest is 0.25, at 3.5, and 2.0 % of rows are affected."
    )
    assert text_of_reversals("increasing", 0.25, 3.5, 0.02, weighted=True).endswith("2.0 % of the weight is affected.")
    assert text_of_reversals("increasing", 0.25, 3.5, np.nan, weighted=False).endswith("at 3.5.")


def test_spikes_have_few_rows():
    assert is_spike(49.0, 1000.0)
    assert not is_spike(50.0, 1000.0)
    assert is_spike(np.nan, 0.0)  # it is not known how many


def test_grids():
    assert n_inside(1.0, 2.0, np.array([1.0, 1.5, 2.0, 2.1])) == 2
    values = np.linspace(0.0, 100.0, 1001)
    missed = text_of_grids(100, "rows", 96.0, 97.0, values)
    assert missed == (
        "A grid of 100 evenly spaced values between the smallest and the largest value misses it, and so does one "
        "between the 5th and the 95th percentile."
    )
    assert text_of_grids(100, "rows", 94.5, 95.0, values).endswith("the 95th percentile has 1 point there.")
    assert text_of_grids(100, "rows", 50.0, 60.0, values).endswith("the 95th percentile has 11 points there.")
    assert text_of_grids(100, "covers", 1.0, 2.0, None).endswith("between the first and the last cut misses it.")
    assert "ends that are known" in text_of_grids(100, "counts", 1.0, 2.0, None)


def test_samples():
    assert sample_note(428, sampled=True) == " (from a sample of 428 rows)"
    assert sample_note(428, sampled=False) == ""


def test_a_stretch_with_many_rows_is_no_spike():
    """A few far values make a grid between the ends coarse; one between percentiles shows the curve."""
    generator = np.random.default_rng(0)
    x = generator.uniform(0.0, 1.0, 2000)
    x[:4] = 500.0, 600.0, 800.0, 1000.0
    X = pd.DataFrame({"x": x})
    wide, narrow = (np.abs(x - 0.5) < width for width in (0.06, 0.01))
    for high, tag in ((wide, "Missed by a grid"), (narrow, "Spike")):
        ex = gw.Explainer(GradientBoostingClassifier(n_estimators=9, random_state=0).fit(X, high), X)
        sections = sections_of(ex)
        (reported,) = [
            one["text"] for one in sections["summary"]["list"] if one["tag"] in ("Spike", "Missed by a grid")
        ]
        assert tag in [one["tag"] for one in sections["summary"]["list"]]
        spike = ex.spikes("x")[0]
        low, high_end = np.quantile(x, [0.05, 0.95])
        points = n_inside(spike.above, spike.to, np.linspace(low, high_end, 100))
        assert f"percentile has {points} point" in reported
        assert sections["features"]["table"]["rows"][0][6] == (1 if tag == "Spike" else 0)


def test_sampled_importance_says_so_wherever_it_stands(monkeypatch):
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(2000, 2)), columns=["a", "b"])
    ex = gw.Explainer(RandomForestRegressor(5, max_leaf_nodes=40, random_state=0).fit(X, X.a * X.b), X)
    whole = ex.report().html
    monkeypatch.setattr(_losses, "MAX_NUMBERS", 2**18)
    sampled = gw.Explainer(RandomForestRegressor(5, max_leaf_nodes=40, random_state=0).fit(X, X.a * X.b), X)
    n_rows = sampled.importance().n_rows
    assert n_rows < 2000
    sections = sections_of(sampled)
    note = f"from a sample of {n_rows:,} rows"
    headlines = [one["text"] for one in sections["summary"]["list"] if one["tag"] == "Most important"]
    assert headlines
    assert all(note in text for text in headlines)
    assert note in " ".join(sections["features"]["text"])
    assert note in sections["features"]["table"]["columns"][1]["name"]
    assert all(note in figure["sub"] for figure in sections["features"]["figures"])
    assert f"{n_rows:,} sampled rows" in repr(sampled.importance())
    for html in (whole, sampled.report().html):
        assert "nothing is sampled" not in html
    assert "from a sample" not in whole


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({}, "rows"),
        ({"sample_weight": np.arange(1.0, 301.0)}, "weight"),
        ({"exposure": np.linspace(0.1, 1.0, 300)}, "exposure"),
    ],
)
def test_what_steps_are_drawn_together_by(given, what):
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(300, 2)), columns=["a", "b"])
    model = HistGradientBoostingRegressor(max_iter=5).fit(X, X.a)
    text = " ".join(sections_of(gw.Explainer(model, X, target=X.a, **given))["features"]["text"])
    assert f"until they have a twentieth of the {what} (of the rest" in text
