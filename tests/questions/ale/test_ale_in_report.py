"""The report's warning about features whose partial dependence differs from their accumulated local effect."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest

import glasswood as gw
from glasswood.questions.ale import _section
from glasswood.report import report_of
from helpers.reports import subject_of


@pytest.fixture(scope="module")
def product():
    """A model of a product of two dependent features, and a third one."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=3000)
    X = pd.DataFrame({"a": a, "b": 0.5 * a + 0.87 * rng.normal(size=3000), "c": rng.normal(size=3000)})
    return X, lgb.LGBMRegressor(n_estimators=60, num_leaves=15, verbose=-1).fit(X, X.a * X.b + X.c)


def test_features_beyond_the_limit_are_named_and_drawn(product):
    X, model = product
    ex = gw.Explainer(model, X, folds=10)
    subject = subject_of(ex)
    gaps = {name: ale.gap for name, ale in ex.ale().items()}
    beyond = [name for name, ale in ex.ale().items() if ale.gap > 0.1 and ale.gap > 2 * ale.gap_error]
    assert {"a", "b"} >= set(beyond)
    assert beyond
    apart = _section.ale_gaps_of(subject)
    assert sorted(apart) == sorted(beyond)
    assert [one.gap for one in apart.values()] == sorted((gaps[name] for name in beyond), reverse=True)
    assert all("differ by" in found.made["text"] for found in _section.findings(subject, {}))
    curve = ex.partial_dependence(beyond[0])
    panel = _section.overlay(subject, curve, curve.panel())
    ale = ex.ale(beyond[0])
    assert [line.name for line in panel.lines] == ["partial dependence", "ALE"]
    middle = (curve.cuts[3] + curve.cuts[4]) / 2
    level = curve.rows @ curve.values / curve.rows.sum()
    assert panel.lines[1].heights[4] == pytest.approx(float(ale(middle)) + level)
    assert "Unlikely rows" in report_of(subject).html
    plain = ex.partial_dependence("c")
    assert _section.overlay(subject, plain, plain.panel()) == plain.panel()


def test_no_warning_where_nothing_is_known(product):
    X, model = product
    additive = lgb.LGBMRegressor(n_estimators=20, num_leaves=2, verbose=-1).fit(X, X.a + X.b)
    assert not _section.ale_gaps_of(subject_of(gw.Explainer(additive, X)))
    assert not _section.ale_gaps_of(subject_of(gw.Explainer(model, gw.summarize(model, X))))
    assert not _section.ale_gaps_of(subject_of(gw.Explainer(model)))
    counted = gw.summarize(model, X, answers=["ale"], response="raw")
    both = (subject_of(gw.Explainer(model, rows)) for rows in (counted, X))
    one, other = map(_section.ale_gaps_of, both)
    assert list(one) == list(other)
