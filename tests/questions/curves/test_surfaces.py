"""Surfaces of very many cells: computed where they are asked for, drawn, or refused with a sentence that helps."""

from __future__ import annotations

import pickle
import tracemalloc
from copy import deepcopy
from time import perf_counter

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

import glasswood as gw
from glasswood.effects._pairs import KnownPair
from glasswood.errors import TooLargeError
from glasswood.kernels import _core
from glasswood.results.panels._display import Blocks
from zoo.store import fitted


def rows_of(n, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    X["kind"] = pd.Categorical(rng.choice(["u", "v", "w", "x"], n))
    X.loc[rng.random(n) < 0.1, "b"] = np.nan
    return X, X["a"] * (X["b"].fillna(1) > 0) + X["c"] * (X["kind"] == "v") + 0.3 * X["d"]


@pytest.fixture
def nothing_kept(monkeypatch):
    """Let every surface be too large to be computed as a whole."""
    monkeypatch.setattr("glasswood.effects._pairs.MAX_KEPT", 0)
    monkeypatch.setattr("glasswood.questions.curves._answer_response_pair.MAX_RESPONSES", 0)


def explainers():
    X, y = rows_of(400)
    numbers = X[list("abcd")].fillna(0.5)
    three = pd.cut(y, 3, labels=False)
    yield gw.Explainer(fitted(RandomForestRegressor(8, random_state=0), numbers, y), numbers), ("a", "b")
    yield gw.Explainer(fitted(RandomForestClassifier(8, random_state=0), numbers, three), numbers), ("b", "c")
    forest = fitted(ExtraTreesRegressor(8, random_state=0), numbers, y)
    yield gw.Explainer(forest), ("c", "a")
    yield gw.Explainer(forest, gw.summarize(forest, numbers, order=2)), ("a", "d")
    yield gw.Explainer(forest, numbers, sample_weight=np.arange(400.0)), ("a", "d")
    mixed = fitted(HistGradientBoostingRegressor(max_iter=15, categorical_features="from_dtype"), X, y)
    yield gw.Explainer(mixed, X), ("kind", "c")
    yield gw.Explainer(mixed, X, groups={"cd": ["c", "d"]}), ("a", "b")
    classes = fitted(HistGradientBoostingClassifier(max_iter=8, categorical_features="from_dtype"), X, three)
    yield gw.Explainer(classes, X, response="raw"), ("b", "kind")


def test_a_height_has_the_same_bits_wherever_it_is_asked_for(nothing_kept):
    rng = np.random.default_rng(1)
    for ex, names in explainers():
        for output in (None, ex.outputs[0]):
            surface = ex.partial_dependence(*names, output=output)
            n_x, n_y, n_outputs = surface.pair.shape
            dense = surface.pair.all()
            assert dense.shape == (n_x, n_y, n_outputs)
            assert dense.any()
            x, y = rng.integers(0, n_x, 300), rng.integers(0, n_y, 300)
            np.testing.assert_array_equal(surface.pair.at(x, y), dense[x, y])
            some = rng.permutation(n_x)[:7], rng.permutation(n_y)[:5]
            np.testing.assert_array_equal(surface.pair.grid(*some), dense[np.ix_(*some)])
            np.testing.assert_array_equal(surface.raw_interaction, dense)
            scale = np.abs(dense).max()
            np.testing.assert_allclose(surface.pair.at_many(x, y), dense[x, y], rtol=0, atol=1e-12 * scale)
            assert surface.pair.at(x[:0], y[:0]).shape == (0, n_outputs)


def test_the_other_class_of_one_score_has_the_other_sign(nothing_kept):
    X, y = rows_of(300)
    model = fitted(HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype"), X, y > 0)
    for response in ("raw", "probability"):
        ex = gw.Explainer(model, X, response=response)
        one, other = (ex.partial_dependence("a", "b", output=ex.outputs[k]).pair for k in (0, 1))
        np.testing.assert_array_equal(one.all(), -other.all())
        np.testing.assert_array_equal(one.at(np.array([3]), np.array([2])), -other.at(np.array([3]), np.array([2])))


def test_means_over_blocks_are_those_of_all_cells():
    rng = np.random.default_rng(2)
    for ex, names in explainers():
        pair = ex.partial_dependence(*names).pair
        want, places = pair.all(), []
        for axis, n in enumerate(pair.shape[:2]):
            cells = np.flatnonzero(rng.random(n - 1) < 0.8)  # missing values, and some cells, are in no block
            starts = np.unique(np.append(0, rng.integers(0, cells.size, max(2, n // 4))))
            blocks = Blocks(cells, starts, rng.random(cells.size), None)
            places.append(blocks.places(n)[0])
            parts = zip(np.split(cells, starts[1:]), np.split(blocks.weights, starts[1:]), strict=True)
            means = [np.average(want.take(own, axis), axis=axis, weights=weight) for own, weight in parts]
            want = np.stack(means, axis=axis)
        for found in (pair.means(*places), KnownPair(pair.all()).means(*places)):
            np.testing.assert_allclose(found, want, atol=1e-11 * np.abs(want).max())


@pytest.mark.parametrize("forest", [RandomForestRegressor, ExtraTreesRegressor, RandomForestClassifier])
def test_a_deep_forest_is_what_its_own_predictions_say(forest):
    X, y = rows_of(1500)
    X = X[list("abcd")].fillna(0.5)
    model = fitted(
        forest(12, random_state=0), X, pd.qcut(y, 3, labels=False) if forest is RandomForestClassifier else y
    )
    background = X[:60]
    surface = gw.Explainer(model, background).partial_dependence("a", "c")
    rng = np.random.default_rng(3)
    points = rng.normal(size=(1000, 2))
    modified = background.loc[background.index.repeat(1000)].copy()
    modified["a"], modified["c"] = np.tile(points[:, 0], 60), np.tile(points[:, 1], 60)
    predict = model.predict_proba if forest is RandomForestClassifier else model.predict
    want = predict(modified).reshape(60, 1000, -1).mean(axis=0)
    np.testing.assert_allclose(surface(points[:, 0], points[:, 1]).reshape(want.shape), want, rtol=1e-10, atol=1e-12)


def test_responses_at_points_are_those_of_all_cells(monkeypatch):
    X, y = rows_of(200)
    model = fitted(HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype"), X, y > 0)
    ex = gw.Explainer(model, X, response="probability")
    surface = ex.partial_dependence("a", "kind")
    assert not surface.pair.is_known
    assert "units" in surface._repr_html_()  # which computes nothing
    assert not surface.pair.is_known
    values = surface.values
    assert surface.pair.is_known
    monkeypatch.setattr("glasswood.questions.curves._answer_response_pair.MAX_RESPONSES", 0)
    lazily = ex.partial_dependence("a", "kind")
    x, kinds = np.linspace(-2, 2, 9), ["u", "v", "w", "x"]
    np.testing.assert_allclose(lazily(x[:, None], kinds), surface(x[:, None], kinds), rtol=1e-12)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(lazily)).values, values)
    assert lazily.plot(kind="surface") is not None


def test_a_sweep_refuses_what_does_not_fit():
    X, y = rows_of(200)
    ex = gw.Explainer(fitted(RandomForestRegressor(3, random_state=0), X[["a", "c"]], y), X[["a", "c"]])
    pair = ex.partial_dependence("a", "c").pair
    (n_x, n_y, _), none = pair.shape, np.empty(0, dtype=np.int64)
    with pytest.raises(ValueError, match="no such cells"):
        _core.Sweep(pair._leaves, 1, n_x + 1, n_y, none, none)
    with pytest.raises(ValueError, match="more outputs"):
        _core.Sweep(pair._leaves, 0, n_x, n_y, none, none)
    with pytest.raises(ValueError, match="rank_a has 0 entries"):
        _core.Sweep(pair._leaves, 1, 1, 1, none, np.zeros(n_y + 1, dtype=np.int64))
    with pytest.raises(ValueError, match="rank_b"):
        _core.Sweep(pair._leaves, 1, 1, 1, np.zeros(n_x + 1, dtype=np.int64), np.arange(n_y + 1))
    sweep = _core.Sweep(pair._leaves, 1, n_x, n_y, none, none)
    sweep.write_grid(np.array([3]), np.array([0, 1]), 1.0, np.empty((1, 2, 1)))
    for rows, columns, shape in (
        ([2], [0], (1, 1, 1)),  # gone
        ([n_x], [0], (1, 1, 1)),
        ([5, 4], [0], (2, 1, 1)),
        ([4], [n_y], (1, 1, 1)),
        ([4], [1, 0], (1, 2, 1)),
        ([4], [0], (2, 1, 1)),
        ([4], [0], (1, 1, 2)),
    ):
        with pytest.raises(ValueError, match=r"entries|order"):
            sweep.write_grid(np.array(rows), np.array(columns), 1.0, np.empty(shape))
        if len(rows) == len(columns) == 1:
            with pytest.raises(ValueError, match=r"entries|order"):
                sweep.write_points(np.array(rows), np.array(columns), 1.0, np.empty((shape[0], shape[2])))
    with pytest.raises(ValueError, match="order"):
        sweep.write_points(np.array([4, 4]), np.array([1, 0]), 1.0, np.empty((2, 1)))
    for places in ((0.0, 2.5), (0.5, 0.2)):
        place = np.linspace(*places, n_x + 1)
        with pytest.raises(ValueError, match="axis of blocks"):
            _core.add_blocks(pair._leaves, place, np.linspace(0, 1, n_y + 1), np.zeros((3, 2, 1)))


# ------------------------------------------------------------------------------------------------ many cells


@pytest.fixture(scope="module")
def deep():
    """A forest of 10^8 pairs of cells, each of 8 bytes."""
    X, y = rows_of(2500)
    X = X[list("abcd")].fillna(0.5)
    return gw.Explainer(fitted(ExtraTreesRegressor(16, random_state=0), X, y), X)


def test_very_many_cells_take_little_memory(deep):
    surface = deep.partial_dependence("a", "c")
    assert surface.shape[0] * surface.shape[1] > 5e7
    tracemalloc.start()
    repr(surface), surface._repr_html_()
    assert tracemalloc.get_traced_memory()[1] < 2**20
    grid = surface(np.linspace(-2, 2, 50)[:, None], np.linspace(-2, 2, 50))
    figure = surface.plot()
    copied = pickle.loads(pickle.dumps(surface))
    assert tracemalloc.get_traced_memory()[1] < 2**26
    tracemalloc.stop()
    assert grid.shape == (50, 50)
    np.testing.assert_array_equal(copied(0.3, np.array([0.1, 0.2])), surface(0.3, np.array([0.1, 0.2])))
    np.testing.assert_array_equal(deepcopy(surface)(0.3, 0.1), surface(0.3, 0.1))
    notes = figure.axes[0].get_title(loc="left").replace("\n", " ")
    a, b = surface.shape
    assert notes.startswith("drawn at ")
    assert f"of {a:,} x {b:,} cells" in notes


def test_what_does_not_fit_is_refused_in_a_moment(deep, monkeypatch):
    surface = deep.partial_dependence("a", "c")
    monkeypatch.setattr("glasswood.parallel._memory._memory", lambda: 2**26)
    for ask in (
        lambda: surface.values,
        lambda: surface.heights,
        lambda: surface.interaction,
        lambda: surface.density,
        surface.to_frame,
    ):
        start = perf_counter()
        with pytest.raises(TooLargeError, match=r"at=a table of points\) and surface\(x, y\)"):
            ask()
        assert perf_counter() - start < 1
    assert np.isfinite(surface(0.1, 0.2))
    with pytest.raises(TooLargeError, match="fewer points"):
        surface(np.zeros(10**7), 0.0)


def test_all_cells_are_computed_once():
    X, y = rows_of(300)
    surface = gw.Explainer(fitted(HistGradientBoostingRegressor(max_iter=5), X[list("abcd")], y), X).partial_dependence(
        0, 1
    )
    for name in ("heights", "raw_interaction", "density"):
        found = getattr(surface, name)
        assert found is getattr(surface, name)
        assert not found.flags.writeable


def test_pairs_of_too_many_counts_are_counted_one_by_one(monkeypatch):
    X, y = rows_of(300)
    X = X[list("abcd")].fillna(0.5)
    model = fitted(RandomForestRegressor(5, random_state=0), X, y)
    weight = np.arange(300) % 3
    want = gw.Explainer(model, X, sample_weight=weight).partial_dependence("a", "c").heights
    ex = gw.Explainer(model, X, sample_weight=weight)
    monkeypatch.setattr("glasswood.counting._plan.MAX_COUNTS", ex._study.plan(1).n_sets(2) - 1)
    np.testing.assert_array_equal(ex.partial_dependence("a", "c").heights, want)
    with pytest.raises(TooLargeError, match="of some features"):
        ex.interaction_strengths()


def test_additive_pairs_need_no_counts_of_pairs():
    X, y = rows_of(300)
    X = X[["a", "c"]]
    model = fitted(HistGradientBoostingRegressor(max_iter=5, interaction_cst="no_interactions"), X, y)
    ex = gw.Explainer(model, gw.summarize(model, X, order=1))
    surface = ex.partial_dependence("a", "c")
    assert surface.additive
    assert surface.values.shape == surface.shape


# ------------------------------------------------------------------------------------------------ figures


def test_the_mean_of_drawn_cells_is_the_mean_of_the_surface(deep):
    """Blocks have the weight of their rows, so the mean over rows of both features taken apart stays as it is."""
    from glasswood.questions.curves._panel_surface import panel_of_surface

    surface = deep.partial_dependence("a", "c")
    panel = panel_of_surface(surface)
    assert panel.exact == surface.shape
    assert max(panel.x.n_cells, panel.y.n_cells) <= 300
    assert np.sum(panel.density) == pytest.approx(1.0)
    heights = np.array(panel.heights).T
    drawn = np.array(panel.x_support) @ heights @ np.array(panel.y_support)
    x, y = (np.asarray(curve.axis.rows) / np.sum(curve.axis.rows) for curve in (surface.first, surface.second))
    exact = sum(
        x[k] * float(y @ (surface.first.heights[k, 0] + surface.second.heights[:, 0] - surface.first.mean[0]))
        for k in np.flatnonzero(x)
    )
    places = [np.concatenate([[0.0], np.cumsum(share)]).clip(0, 1) for share in (x, y)]
    exact += float(surface.pair.means(*places)[0, 0, 0])
    assert drawn == pytest.approx(exact, rel=1e-4)
