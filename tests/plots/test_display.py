"""Figures that fit a screen: what is drawn of very many steps and cells."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor, RandomForestClassifier

import glasswood as gw
from glasswood.effects._chunks import Chunks
from glasswood.plots._spec import Band, Line, Scale, Steps
from glasswood.results.panels._display import MAX_CELLS, MAX_STEPS, blocks_of, fitted
from glasswood.results.panels._layout import Layout
from helpers import panels as make


def panel_of(edges, heights, view=None, **more):
    scale = Scale("x", tuple(edges), view=view or (edges[0], edges[-1]), cuts=tuple(edges[1:-1]))
    return Steps("x", scale, "y", tuple(Line(str(k), tuple(line)) for k, line in enumerate(heights)), **more)


def runs_of(panel, exact):
    """Return the exact cells of each drawn step."""
    starts = np.searchsorted(exact.x.edges, panel.x.edges)
    return [slice(a, b) for a, b in pairwise(starts)]


@given(st.integers(2001, 20000), st.integers(0, 2**32 - 1), st.sampled_from(["even", "uneven", "clumps"]))
def test_no_visible_step_is_lost(n, seed, kind):
    rng = np.random.default_rng(seed)
    widths = {
        "even": np.ones(n),
        "uneven": rng.random(n) ** 8 + 1e-9,
        "clumps": np.where(rng.random(n) < 0.03, 1, 1e-6),
    }
    edges = np.concatenate([[0.0], np.cumsum(widths[kind])])
    heights = rng.normal(size=(2, n)).cumsum(axis=1)
    support = rng.random(n)
    bands = (Band("b", tuple(heights[0] - 1), tuple(heights[0] + 1)),)
    exact = panel_of(edges.tolist(), heights.tolist(), support=tuple(support), bands=bands, faint=(tuple(heights[1]),))
    found = fitted(exact)
    assert found.x.n_cells <= MAX_STEPS
    assert found.note == (f"drawn at {found.x.n_cells:,} of {n:,} steps: simplified for display; extremes are kept")
    assert np.isclose(sum(found.support), support.sum())
    assert set(found.x.edges) <= set(exact.x.edges)
    assert set(found.x.cuts) <= set(exact.x.cuts)
    for line, drawn in zip(heights, found.lines, strict=True):
        assert (min(drawn.heights), max(drawn.heights)) == (line.min(), line.max())
    # Where a step is drawn wider than a column of the figure, it is one step, and has its own height. Elsewhere
    # the two steps of a column are the lowest and the highest of it.
    runs, column = runs_of(found, exact), (edges[-1] - edges[0]) / 500
    for k, run in enumerate(runs):
        if run.stop - run.start == 1:
            near = heights[0][max(run.start - 1, 0) : run.stop + 1]
            assert found.lines[0].heights[k] in near
        else:
            assert edges[run.stop - 1] - edges[run.start] < column
    wide = np.flatnonzero(np.diff(edges) > column)
    starts = {run.start: k for k, run in enumerate(runs) if run.stop - run.start == 1}
    for cell in wide:
        assert found.lines[0].heights[starts[cell]] == heights[0][cell]
        assert found.faint[0][starts[cell]] == heights[1][cell]
        assert found.bands[0].low[starts[cell]] == heights[0][cell] - 1


def test_a_spike_of_one_cell_is_drawn():
    heights = np.zeros((1, 50_000))
    heights[0, 23_456] = 7
    found = fitted(panel_of(np.arange(50_001.0).tolist(), heights.tolist()))
    drawn = np.array(found.lines[0].heights)
    assert drawn.max() == 7
    assert (drawn == 7).sum() == 1
    at = int(drawn.argmax())
    assert abs((found.x.edges[at] + found.x.edges[at + 1]) / 2 - 23_456) < 100


def test_few_steps_and_categories_stay_as_they_are():
    few = panel_of(np.arange(1001.0).tolist(), [list(range(1000))])
    assert fitted(few) is few
    labels = Steps("x", Scale("x", labels=tuple(map(str, range(3000)))), "y", (Line("0", tuple(range(3000))),))
    assert fitted(labels) is labels


def test_cells_beyond_the_view_are_drawn_apart():
    edges = np.concatenate([np.linspace(-1000, 0, 2000, endpoint=False), np.linspace(0, 1, 3001)])
    layout = Layout(Scale("x", tuple(edges), view=(0.0, 1.0), cuts=tuple(edges[1:-1])), np.arange(edges.size - 1))
    blocks = blocks_of(layout)
    assert blocks.n <= MAX_CELLS
    assert 0.0 in blocks.scale.edges
    assert sum(edge < 0 for edge in blocks.scale.edges) > 10


# ------------------------------------------------------------------------------------------------ of results


@pytest.fixture(scope="module")
def deep():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(1500, 3)), columns=list("abc"))
    return ExtraTreesRegressor(20, random_state=0).fit(X, X["a"] * X["b"] + X["c"]), X


def test_results_of_very_many_steps_are_drawn(deep):
    model, X = deep
    ex = gw.Explainer(model, X)
    curve, ice = ex.partial_dependence("a"), ex.ice("a", rows=X[:200])
    assert len(curve.values) > 5 * MAX_STEPS
    compared = gw.compare({"first": gw.Explainer(model, X[:700]), "second": gw.Explainer(model, X[700:])})
    for panel in (
        make.panel_of_curve(curve),
        make.panel_of_curve(curve, xscale="quantile"),
        make.panel_of_ice(ice),
        make.panel_of_ice(ice, centered=True),
        make.panel_of_comparison(compared, "a"),
    ):
        assert panel.x.n_cells <= MAX_STEPS
        assert "drawn at " in panel.note
        for line in panel.lines:
            assert len(line.heights) == panel.x.n_cells
    exact = make.panel_of_curve(curve, fit=False)
    assert exact.x.n_cells == len(curve.values)
    for backend in ("matplotlib", "plotly"):
        assert curve.plot(backend=backend) is not None
        assert ice.plot(backend=backend) is not None
        assert ex.partial_dependence("a", "b").plot(backend=backend) is not None


def test_the_report_of_a_deep_forest_is_small_and_says_what_it_draws(deep, tmp_path):
    model, X = deep
    page = gw.Explainer(model, X).report().html
    assert len(page) < 3e6
    shape = gw.Explainer(model, X).partial_dependence("a", "b").shape
    assert re.search(rf"{shape[0]:,} x {shape[1]:,} cells drawn as \d+ x \d+: means of neighbouring", page)
    assert re.search(r"drawn at [\d,]+ of [\d,]+ steps", page)
    assert "nowhere further" not in page
    assert "are simplified for display; extremes are kept" in page


# ------------------------------------------------------------------------------------------------ other ways


def test_strengths_at_points_are_those_of_rows(monkeypatch):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    y = X["a"] * X["b"] + X["c"] * (X["d"] > 0)
    weight = rng.random(300)
    for model in (
        RandomForestClassifier(5, random_state=0).fit(X, pd.cut(y, 3, labels=False)),
        HistGradientBoostingRegressor(max_iter=10).fit(X, y),
    ):
        for options in ({}, {"sample_weight": weight}):
            want = gw.Explainer(model, X, **options).interaction_strengths()
            with monkeypatch.context() as patch:
                patch.setattr("glasswood.questions.interactions._answer.MANY_LEAVES", 0)
                found = gw.Explainer(model, X, **options).interaction_strengths()
                of_rows = gw.Explainer(model, X[:50]).interaction_strengths(X[50:])
            assert found.pairs == want.pairs
            np.testing.assert_allclose(found.heights, want.heights, rtol=1e-9)
            np.testing.assert_allclose(found.h, want.h, rtol=1e-9)
            plain = gw.Explainer(model, X[:50]).interaction_strengths(X[50:])
            np.testing.assert_allclose(of_rows.heights, plain.heights, rtol=1e-9)


def test_strengths_of_counts_are_the_same_block_by_block(monkeypatch):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    model = RandomForestClassifier(5, random_state=0).fit(X, pd.cut(X["a"] * X["b"] + X["c"], 3, labels=False))
    background = gw.summarize(model, X, order=2)
    want = gw.Explainer(model, background).interaction_strengths()
    monkeypatch.setattr("glasswood.questions.interactions._answer.MAX_CELLS_OF_PAIR", 0)
    found = gw.Explainer(model, background).interaction_strengths()
    assert found.pairs == want.pairs
    np.testing.assert_allclose(found.heights, want.heights, rtol=1e-9)
    np.testing.assert_allclose(found.h, want.h, rtol=1e-6)
    monkeypatch.setattr("glasswood.questions.interactions._answer.MAX_CELLS", 1000)
    with pytest.raises(gw.errors.TooLargeError, match=r"Pass rows=, a table of rows"):
        gw.Explainer(model, background).interaction_strengths()


def test_points_and_grids_of_large_models_are_those_of_small_ones(monkeypatch):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    model = RandomForestClassifier(5, random_state=0).fit(X, pd.cut(X["a"] * X["b"] + X["c"], 3, labels=False))
    ex = gw.Explainer(model, X)
    grids = {name: np.linspace(-1, 1, 4) for name in X}
    asked = [("a",), ("a", "b"), ("c", "a"), ("a", "b", "c")]
    want = [ex.partial_dependence(*names, at=X[list(names)]).values for names in asked]
    on_grids = ex.joint_partial_dependence(grid=grids).grid_values
    monkeypatch.setattr("glasswood.questions.curves._answer_points.MAX_VISITS", 0)
    for names, values in zip(asked, want, strict=True):
        np.testing.assert_allclose(ex.partial_dependence(*names, at=X[list(names)]).values, values, atol=1e-12)
    for pair, values in ex.joint_partial_dependence(grid=grids).grid_values.items():
        np.testing.assert_allclose(values, on_grids[pair], atol=1e-12)


def test_states_that_change_along_an_axis_are_read_from_its_cuts(monkeypatch):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    X.loc[::7, "b"] = np.nan
    models = (
        RandomForestClassifier(5, random_state=0).fit(X, pd.cut(X["a"] + X["c"], 3, labels=False)),
        HistGradientBoostingRegressor(max_iter=10).fit(X, X["a"] + X["c"] * X["b"].fillna(1)),
    )
    for model in models:
        fast = {name: gw.Explainer(model, X).ice(name, rows=X[:20]).heights for name in X}
        with monkeypatch.context() as patch:
            patch.setattr(Chunks, "changes_along", lambda *_: None)
            for name, heights in fast.items():
                np.testing.assert_array_equal(gw.Explainer(model, X).ice(name, rows=X[:20]).heights, heights)
            patch.setattr("glasswood.effects._responses.MAX_STATES_HELD", 1)
            np.testing.assert_array_equal(gw.Explainer(model, X).ice("b", rows=X[:20]).heights, fast["b"])


def test_ice_is_the_same_whatever_is_held_at_a_time(monkeypatch):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    model = RandomForestClassifier(5, random_state=0).fit(X, pd.cut(X["a"] + X["c"], 3, labels=False))
    want = gw.Explainer(model, X).ice("a").heights
    monkeypatch.setattr("glasswood.effects._responses.MAX_HELD", 1)
    np.testing.assert_array_equal(gw.Explainer(model, X).ice("a").heights, want)
    frame = gw.Explainer(model, X[:3]).ice("a", output=1, at=X[["a"]][:2]).to_frame()
    assert frame["row"].tolist() == [0, 0, 1, 1, 2, 2]
    monkeypatch.setattr("glasswood.parallel._memory._memory", lambda: 2**10)
    with pytest.raises(gw.errors.TooLargeError, match="Ask for fewer rows, one output, or some points"):
        gw.Explainer(model, X).ice("a")
