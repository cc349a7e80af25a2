"""Cuts as people read them, and where the values of a column end."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.ensemble import HistGradientBoostingRegressor

import glasswood as gw
from glasswood.models.readers._rounding import cut_at_most, cut_below
from glasswood.plots._cuts import ShownCut, cell_text, shown_cut, shown_cuts
from glasswood.results.panels._layout import closed_edges, edges_of, layout_of
from glasswood.tables._columns import Extent, extent_of

ZERO = float(np.float32(1e-35))


def below(x):
    return float(cut_below(np.array([x], dtype=np.float32))[0])


def at_most(x):
    return float(cut_at_most(np.array([x], dtype=np.float64))[0])


@pytest.mark.parametrize(
    ("cut", "shown"),
    [
        (below(4), ShownCut(4.0, strict=True)),  # what XGBoost's "x < 4" is for float64
        (at_most(3.5), ShownCut(3.5)),  # what a forest's "x <= 3.5" is
        (below(0.1), ShownCut(0.1, strict=True)),
        (below(-4), ShownCut(-4.0, strict=True)),
        (below(0), ShownCut(0.0, strict=True)),
        (at_most(0), ShownCut(0.0)),
        (at_most(123456.789), ShownCut(123456.78)),  # the float32 below it
        (0.1 + 0.2, ShownCut(0.3)),
        (3.5000000000000004, ShownCut(3.5)),
        (ZERO, ShownCut(0.0)),  # how LightGBM writes 0
        (-float(np.nextafter(ZERO, 1)), ShownCut(0.0, strict=True)),
        (1 / 3, ShownCut(1 / 3)),
        (1234567.875, ShownCut(1234567.875)),
        (1e-35, ShownCut(1e-35)),
        (np.inf, ShownCut(np.inf)),
        (-np.inf, ShownCut(-np.inf)),
    ],
)
def test_a_cut_is_shown_as_the_shortest_number_that_tells_its_sides_apart(cut, shown):
    assert shown_cut(cut) == shown


def test_what_is_shown_is_true_for_every_number_of_the_models_type():
    rng = np.random.default_rng(0)
    for scale in (1e-20, 1e-3, 1.0, 1e5, 1e20):
        x = np.sort((rng.normal(size=500) * scale).astype(np.float32))
        for cuts in (cut_below(x), cut_at_most(x), cut_at_most(np.round(x.astype(np.float64), 3))):
            for cut, shown in zip(cuts.tolist(), shown_cuts(cuts.tolist()), strict=True):
                near = np.float32(cut)
                for value in (near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))):
                    left = value < np.float32(shown.number) if shown.strict else value <= np.float32(shown.number)
                    assert left == (float(value) <= cut), (cut, shown, value)


def test_cuts_that_would_look_the_same_are_shown_as_they_are():
    cuts = [3.5, 3.5000000000000004, 9.0]
    assert shown_cuts(cuts) == [ShownCut(3.5), ShownCut(3.5000000000000004), ShownCut(9.0)]


def test_cells_in_words():
    strict = [ShownCut(4.0, strict=True), ShownCut(5.5, strict=True)]
    assert [cell_text(strict, k) for k in range(3)] == ["below 4", "from 4, below 5.5", "from 5.5"]
    closed = [ShownCut(-1.5), ShownCut(1600000000.5)]
    assert [cell_text(closed, k) for k in range(3)] == [
        "up to \u22121.5",
        "above \u22121.5, up to 1,600,000,000.5",
        "above 1,600,000,000.5",
    ]
    assert [cell_text(strict, k, whole=True) for k in range(3)] == ["up to 3", "4 to 5", "from 6"]
    assert [cell_text([ShownCut(0.5), ShownCut(1.5)], k, whole=True) for k in range(3)] == ["up to 0", "1", "from 2"]
    assert cell_text([], 0) == cell_text([], 0, whole=True) == "any value"


# ------------------------------------------------------------------------------------------------ ends of columns


@pytest.mark.parametrize(
    ("values", "extent"),
    [
        ([3.0, np.nan, -1.0], Extent(-1.0, 3.0, whole=True)),
        ([0.5, 2.0], Extent(0.5, 2.0, whole=False)),
        ([*range(1001), 0.5], Extent(0.0, 1000.0, whole=False)),
        ([np.inf, 1.0], Extent(1.0, np.inf, whole=False)),
        ([np.nan], None),
        ([], None),
    ],
)
def test_the_extent_of_numbers(values, extent):
    assert extent_of(np.array(values, dtype=np.float64)) == extent


def test_curves_know_where_the_data_ends():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(17, 91, 500), "rate": rng.uniform(0.01, 0.93, 500), "idle": 1.0})
    X.loc[0, "age"], X.loc[1, "rate"] = 101, np.nan
    model = HistGradientBoostingRegressor(max_iter=5).fit(X, X["age"] + X["rate"].fillna(0))
    explainer = gw.Explainer(model, X)
    assert explainer.partial_dependence("age").ends == (X["age"].min(), 101)
    assert explainer.partial_dependence("rate").ends == (X["rate"].min(), X["rate"].max())
    assert explainer.partial_dependence("age").axis.whole
    assert not explainer.partial_dependence("rate").axis.whole
    assert explainer.partial_dependence("idle").ends is None
    weighted = gw.Explainer(model, X, sample_weight=(X["age"] < 60).astype(float))
    assert weighted.partial_dependence("age").ends[1] == 59
    counts = gw.summarize(model, X)
    assert gw.Explainer(model, counts).partial_dependence("age").ends == (X["age"].min(), 101)
    assert gw.Explainer(model, counts).partial_dependence("idle").ends is None
    rest = counts - gw.summarize(model, X[:10])  # whose rows with the least and the greatest value are not known
    assert gw.Explainer(model, rest).partial_dependence("age").ends is None
    assert gw.Explainer(model).partial_dependence("age").ends is None
    halves = gw.compare({"young": gw.Explainer(model, X[X["age"] < 50]), "old": gw.Explainer(model, X[X["age"] >= 50])})
    assert halves.curves("age")["old"].ends == (X["age"].min(), 101)


def test_open_cells_are_drawn_to_the_ends_of_the_data():
    cuts = np.array([10.0, 20.0, 30.0])
    drawn = edges_of(cuts)
    edges, open_ends = closed_edges(cuts, drawn, (2.5, 99.0), whole=False)
    assert edges.tolist() == [2.5, 10, 20, 30, 99]
    assert open_ends == (False, False)
    edges, open_ends = closed_edges(cuts, drawn, None, whole=False)
    assert edges.tolist() == drawn.tolist()
    assert open_ends == (True, True)
    edges, open_ends = closed_edges(cuts, drawn, (12.0, 25.0), whole=False)  # no value beyond the outermost cuts
    assert edges.tolist() == drawn.tolist()
    assert open_ends == (True, True)
    assert closed_edges(cuts, drawn, (2.5, 30.0), whole=False)[1] == (False, True)  # 30 is not above the last cut
    edges, open_ends = closed_edges(cuts, drawn, (10.0, np.inf), whole=False)  # one value in the first cell
    assert edges[0] < 10
    assert open_ends == (False, True)


def test_whole_numbers_are_drawn_midway():
    edges, open_ends = closed_edges(np.array([below(1)]), edges_of(np.array([below(1)])), (0.0, 1.0), whole=True)
    assert edges.tolist() == [-0.5, 0.5, 1.5]
    assert open_ends == (False, False)
    X = pd.DataFrame({"flag": [0, 1, 0, 1], "x": [0.5, 1.5, 2.5, 3.5]})
    model = xgb.XGBRegressor(n_estimators=3, min_child_weight=0).fit(X, [0.0, 1.0, 0.0, 1.0])
    curve = gw.Explainer(model, X).partial_dependence("flag")
    assert curve.cuts[0] == pytest.approx(1)
    scale = layout_of(curve.axis, curve.heights[:, 0]).scale
    assert scale.edges == (-0.5, 0.5, 1.5)
    assert scale.cuts == tuple(curve.cuts)
    assert scale.whole
