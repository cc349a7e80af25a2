"""The spread of rows around curves in figures: bands of one standard deviation, by `std=True`."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import glasswood as gw
from glasswood.errors import BackgroundError
from glasswood.plots._draw import draw
from glasswood.plots._spec import Band, Line, Scale, Sheet, Steps
from glasswood.plots._steps import height_range, names_in_legend
from glasswood.plots._style import LINES
from glasswood.results.panels._display import fitted
from helpers import panels as make

SPREAD = "± 1 standard deviation of rows"
BACKENDS = ["matplotlib", "plotly"]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    kinds = rng.choice(["red", "green", "blue"], 300, p=[0.5, 0.3, 0.2])  # the model's order is another
    X = pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300), "kind": pd.Categorical(kinds)})
    X.loc[::10, "a"] = np.nan
    X.loc[::15, "kind"] = np.nan
    return X


@pytest.fixture(scope="module")
def classes(rows):
    score = rows["a"].fillna(1.0) * rows["b"] + 1.5 * (rows["kind"] == "red") - (rows["kind"] == "green")
    return np.digitize(score, [-0.5, 0.5])


def fit(rows, target):
    return HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype").fit(rows, target)


@pytest.fixture(scope="module")
def two(rows, classes):
    return gw.Explainer(fit(rows, classes > 0), rows, response="probability")


@pytest.fixture(scope="module")
def three(rows, classes):
    return gw.Explainer(fit(rows, classes), rows, response="probability")


# ------------------------------------------------------------------------------------------------ panels


def test_a_band_is_one_standard_deviation_of_ice_curves(two, rows):
    curve = two.partial_dependence("a")
    (band,) = curve.panel(std=True).bands
    off = two.ice("a", rows=rows).values.std(axis=0)
    np.testing.assert_allclose(band.low, curve.values - off, rtol=0, atol=1e-9)
    np.testing.assert_allclose(band.high, curve.values + off, rtol=0, atol=1e-9)
    np.testing.assert_allclose(band.missing, curve.missing + curve.std([np.nan]) * [-1, 1], rtol=0, atol=1e-12)
    assert (band.name, band.line, band.unseen) == (SPREAD, 0, None)
    assert curve.panel().bands == ()


def test_the_legend_tells_the_average_from_the_spread(two, three):
    assert names_in_legend(two.partial_dependence("a").panel(std=True)) == ["average of rows", SPREAD]
    assert names_in_legend(three.partial_dependence("a").panel(std=True)) == ["0", "1", "2", SPREAD]


def test_heights_include_bands(two):
    curve = two.partial_dependence("a")
    band = curve.panel(std=True).bands[0]
    low, high = height_range(curve.panel(std=True))
    assert low == min(*band.low, *band.missing)
    assert high == max(*band.high, *band.missing)


@pytest.mark.parametrize("sort", ["model", "height", "rows"])
def test_bands_of_categories_are_in_the_order_of_their_marks(three, sort):
    curve = three.partial_dependence("kind")
    panel = curve.panel(std=True, sort=sort)
    assert (panel.x.labels == curve.categories) == (sort == "model")
    for k, (line, band) in enumerate(zip(panel.lines, panel.bands, strict=True)):
        off = curve.std(list(panel.x.labels))[:, k]
        np.testing.assert_array_equal(np.asarray(line.heights) - off, band.low)
        np.testing.assert_array_equal(np.asarray(line.heights) + off, band.high)
        assert band.line == k
        assert band.missing == pytest.approx(line.missing + curve.std([None])[0, k] * np.array([-1, 1]))


def test_one_of_several_outputs(three):
    curve = three.partial_dependence("a")
    (band,) = curve.panel(2, std=True).bands
    np.testing.assert_array_equal(band.high, curve.values[:, 2] + curve.std()[:, 2])
    assert band.line == 0


def test_unseen_categories_have_a_spread(two):
    curve = two.partial_dependence("kind")
    panel = replace(curve, axis=replace(curve.axis, rows=np.empty(0))).panel(std=True)
    (band,) = panel.bands
    assert panel.lines[0].unseen is not None
    assert band.unseen == pytest.approx(curve.unseen + curve.find_spread()[-2, 0] * np.array([-1, 1]))


def test_centering_keeps_the_spread(two):
    curve = two.partial_dependence("a")
    (band,), (centered,) = curve.panel(std=True).bands, curve.centered().panel(std=True).bands
    np.testing.assert_allclose(np.subtract(centered.high, centered.low), np.subtract(band.high, band.low), atol=1e-12)
    np.testing.assert_allclose(np.subtract(band.low, centered.low), curve.values[0], atol=1e-12)


def test_each_explainer_and_group_has_its_own_band(rows, classes):
    model = fit(rows, classes > 0)
    halves = {"first": rows[:150], "second": rows[150:]}
    apart = {name: gw.Explainer(model, half, response="probability") for name, half in halves.items()}
    compared = gw.compare(apart)
    by = ["first"] * 150 + ["second"] * 150
    groups = gw.Explainer(model, rows, response="probability").partial_dependence("a", by=by)
    for panel in (compared.panel("a", std=True), make.panel_of_curves(groups, std=True)):
        assert names_in_legend(panel) == ["first", "second", SPREAD]
        for k, (name, ex) in enumerate(apart.items()):
            curve, band = ex.partial_dependence("a"), panel.bands[k]
            assert (panel.lines[k].name, band.line) == (name, k)
            np.testing.assert_allclose(band.low, curve.values - curve.std(), rtol=0, atol=1e-12)
            np.testing.assert_allclose(band.high, curve.values + curve.std(), rtol=0, atol=1e-12)


def test_weighted_rows_say_so(rows, classes):
    weight = np.arange(300) % 3 + 1.0
    ex = gw.Explainer(fit(rows, classes > 0), rows, sample_weight=weight)
    assert names_in_legend(ex.partial_dependence("b").panel(std=True)) == [
        "weighted average of rows",
        f"{SPREAD} by weight",
    ]


def test_bands_contain_what_is_merged():
    rng = np.random.default_rng(0)
    n = 5000
    heights, off = rng.normal(size=n).cumsum(), rng.random(n)
    edges = tuple(float(k) for k in range(n + 1))
    band = Band("b", tuple(heights - off), tuple(heights + off), line=0, missing=(1.0, 2.0))
    panel = Steps("x", Scale("x", edges, view=(0.0, float(n))), "y", (Line("0", tuple(heights)),), bands=(band,))
    found = fitted(panel)
    drawn, line = found.bands[0], found.lines[0]
    assert len(drawn.low) == found.x.n_cells < n
    assert (drawn.line, drawn.missing) == (0, (1.0, 2.0))
    assert all(low <= height <= high for low, height, high in zip(drawn.low, line.heights, drawn.high, strict=True))
    cells = np.searchsorted(found.x.edges, np.arange(n), side="right") - 1
    assert (np.array(drawn.low)[cells] <= heights - off).all()
    assert (np.array(drawn.high)[cells] >= heights + off).all()
    assert (min(drawn.low), max(drawn.high)) == ((heights - off).min(), (heights + off).max())


def test_a_copy_that_lost_its_rows_says_so(rows, classes):
    curve = pickle.loads(pickle.dumps(gw.Explainer(fit(rows, classes > 0), rows).partial_dependence("a")))
    with pytest.raises(BackgroundError, match="before its spread was computed"):
        curve.plot(std=True)


# ------------------------------------------------------------------------------------------------ figures


@pytest.mark.parametrize("feature", ["a", "kind"])
def test_bands_have_the_colours_of_their_lines(three, feature):
    panel = three.partial_dependence(feature).panel(std=True)
    figure = draw(Sheet((panel,)))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["0", "1", "2", SPREAD]
    figure = draw(Sheet((panel,)), "plotly")
    bands = [trace for trace in figure.data if trace.name == SPREAD and trace.x[0] is not None]
    colours = {(trace.fillcolor or trace.line.color).rpartition(",")[0] for trace in bands}
    expected = {f"rgba({int(c[1:3], 16)},{int(c[3:5], 16)},{int(c[5:], 16)}" for c in LINES[:3]}
    assert colours == expected
    assert sum(bool(trace.showlegend) for trace in figure.data if trace.name == SPREAD) == 1


def test_hovering_tells_the_ends_of_the_band(two):
    band = two.partial_dependence("kind").panel(std=True).bands[0]
    figure = two.partial_dependence("kind").plot(std=True, backend="plotly")
    reported = [text for trace in figure.data for text in trace.hovertext or ()]
    assert len(reported) == 4
    assert all(text.endswith(f": {SPREAD}") for text in reported)
    assert f"<br>{band.low[0]:.4f}".rstrip("0") in reported[0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_surfaces_and_points_are_drawn_without_a_spread(two, rows, classes, backend):
    assert two.plot(["a", ("a", "b"), "kind"], std=True, backend=backend) is not None
    assert two.partial_dependence(["a", "b"], grid=5).plot(std=True, backend=backend) is not None
    numbers = rows[["a", "b"]]
    pipeline = make_pipeline(StandardScaler(), HistGradientBoostingRegressor(max_iter=3)).fit(numbers, classes)
    assert gw.Explainer(pipeline, numbers).plot(std=True, backend=backend) is not None


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_legend_for_all_panels_that_have_one(two, backend):
    figure = two.plot(["a", ("a", "b"), "kind"], std=True, backend=backend)
    if backend == "matplotlib":
        assert [text.get_text() for text in figure.legends[0].get_texts()] == ["average of rows", SPREAD]
        assert all(ax.get_legend() is None for ax in figure.axes)
    else:
        assert [trace.name for trace in figure.data if trace.showlegend] == [SPREAD, "average of rows"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_figure_of_curves_takes_std(three, two, rows, backend):
    assert three.plot(std=True, backend=backend) is not None
    assert three.partial_dependence(["a", "kind"]).plot(std=True, backend=backend) is not None
    assert two.plot("a", by="kind", std=True, backend=backend) is not None
    assert two.partial_dependence(["a", "b"], by="kind").plot(std=True, backend=backend) is not None


def test_counts_alone_have_no_spread(rows, classes):
    model = fit(rows, classes > 0)
    ex = gw.Explainer(model, gw.summarize(model, rows, answers=["counts"]))
    with pytest.raises(BackgroundError, match="response="):
        ex.plot("a", std=True)
    ex = gw.Explainer(model, gw.summarize(model, rows, response="probability"), response="probability")
    expected = gw.Explainer(model, rows, response="probability").partial_dependence("a").panel(std=True).bands
    assert ex.partial_dependence("a").panel(std=True).bands == expected
