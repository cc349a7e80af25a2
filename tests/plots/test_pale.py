"""Cells with fewer than five claims are drawn pale, in all figures of what was observed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

import glasswood as gw
from glasswood.report._panels import merged_steps, steps_json
from glasswood.results.panels._display import fitted

N = 600


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.uniform(size=N), "b": rng.normal(size=N)})
    X["kind"] = pd.Categorical(rng.choice(["x", "y", "rare"], N, p=[0.5, 0.48, 0.02]))
    X.loc[rng.choice(N, 12, replace=False), "b"] = np.nan
    e = rng.uniform(0.2, 1, N)
    y = rng.poisson(e * np.where(X["a"] < 0.5, 1.5, 0.1)).astype(float)
    settings = {"loss": "poisson", "max_iter": 10, "categorical_features": "from_dtype"}
    model = HistGradientBoostingRegressor(**settings).fit(X, y / e, sample_weight=e)
    return model, X.assign(y=y, e=e)


def explained(case, **asked):
    model, frame = case
    return gw.Explainer(model, frame, response="prediction", **({"target": "y", "exposure": "e"} | asked))


def claims(panel, line, values, y):
    """The claims of each step of a line, given the values of a numeric feature."""
    heights = np.array(panel.lines[line].heights)
    starts = np.flatnonzero(np.append(True, np.diff(heights) != 0))
    pool = np.searchsorted(starts, np.searchsorted(panel.x.cuts, values), side="right") - 1
    return np.repeat(np.bincount(pool, y, starts.size), np.diff(np.append(starts, heights.size)))


def test_pools_with_few_claims_are_pale(case):
    _, frame = case
    panel = explained(case).partial_dependence("a").panel(observed=True)
    few = claims(panel, 1, frame["a"], frame["y"]) < 5
    assert 0 < few.sum() < few.size
    assert panel.lines[1].pale == tuple(few.tolist())
    assert panel.lines[0].pale == panel.lines[2].pale == ()  # of the curve and of predictions, rows say enough
    assert "pale: the target sums to less than 5" in panel.note


def test_categories_and_missing_values(case):
    _, frame = case
    panel = explained(case).partial_dependence("kind").panel(observed=True)
    sums = frame.groupby("kind", observed=True)["y"].sum()
    assert (
        dict(zip(panel.x.labels, panel.lines[1].pale, strict=True))
        == (sums < 5).to_dict()
        == {
            "rare": True,
            "x": False,
            "y": False,
        }
    )
    gone = frame["b"].isna()
    for y in (frame["y"].where(~gone, 0.0), frame["y"].where(~gone, 1.0)):
        line = explained(case, target=y).partial_dependence("b").panel(observed=True).lines[1]
        assert line.pale_beside == (("missing",) if y[gone].sum() < 5 else ())


def test_only_counts_are_pale(case):
    model, frame = case

    def panel(**asked):
        return explained(case, **asked).partial_dependence("a").panel(observed=True)

    assert panel(target=frame["y"]).lines[1].pale  # a log link, without exposure
    assert panel(sample_weight=np.full(N, 2)).lines[1].pale
    amounts = panel(target=frame["y"] * 1.01)
    assert amounts.lines[1].pale == ()
    assert "pale" not in amounts.note
    assert panel(target=1000 * frame["y"] + 5).lines[1].pale == ()  # enough of them
    features = ["a", "b"]
    values = HistGradientBoostingRegressor(max_iter=5).fit(frame[features], frame["y"])
    found = gw.Explainer(values, frame, target="y").partial_dependence("a")
    assert found.observations.counts is None
    classes = HistGradientBoostingClassifier(max_iter=5).fit(frame[features], frame["y"] > 0)
    explainer = gw.Explainer(classes, frame, target=frame["y"] > 0, response="probability")
    assert explainer.partial_dependence("a").panel(observed=True).lines[1].pale == ()
    counted = gw.summarize(model, frame, target="y", exposure="e", response="prediction")
    again = gw.Explainer(model, counted, response="prediction").partial_dependence("a").panel(observed=True)
    assert again.lines[1].pale == panel().lines[1].pale


def test_counts_are_the_sums_of_the_target(case):
    _, frame = case
    found = explained(case).partial_dependence("kind").observations
    sums = frame.groupby("kind", observed=True)["y"].sum()
    assert dict(zip(found.axis.categories, found.counts[:3, 0].tolist(), strict=True)) == sums.to_dict()


@pytest.mark.parametrize("feature", ["a", "kind", "b"])
def test_figures_are_pale(case, feature):
    curve = explained(case).partial_dependence(feature)
    pale = curve.panel(observed=True).lines[1]
    expected = bool(pale.pale or pale.pale_beside)
    drawn = curve.plot(observed=True)
    assert any(line.get_alpha() == 0.35 and len(line.get_xdata()) for line in drawn.axes[0].lines) == expected
    traces = curve.plot(observed=True, backend="plotly").to_dict()["data"]
    marks = [trace.get("marker", {}).get("opacity") for trace in traces]
    seen = [trace.get("opacity") for trace in traces] + [x for own in marks for x in np.ravel([own]).tolist()]
    assert (0.35 in seen) == expected


def test_groups_are_pale(case):
    grouped = explained(case).partial_dependence("a", by="kind")
    panel = grouped._drawers(observed=True)[0]()
    by_name = {line.name: line for line in panel.lines}
    rare = by_name["kind = rare: observed"]
    assert any(rare.pale)
    assert rare.pale == tuple(np.isfinite(rare.heights).tolist())  # where there are rows
    assert by_name["kind = rare: predicted"].pale == ()


def test_steps_that_are_drawn_together(case):
    panel = explained(case).partial_dependence("a").panel(observed=True, fit=False)
    for few in (fitted(panel, 20), merged_steps(panel, 20)):
        line = few.lines[1]
        assert len(line.pale) == len(line.heights) < len(panel.lines[1].heights)
        assert any(line.pale)
        assert steps_json(few, 1.0)["lines"][1]["pale"] == [int(pale) for pale in line.pale]
    assert "pale" not in steps_json(panel, 1.0)["lines"][0]
