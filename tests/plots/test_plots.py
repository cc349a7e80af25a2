"""Figures: what they show, to the number; that both libraries draw every kind; that no name does harm."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace
from typing import get_args

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostRegressor
from matplotlib.figure import Figure
from sklearn.datasets import make_regression
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.tree import DecisionTreeRegressor

import glasswood as gw
from glasswood.effects._pairs import KnownPair
from glasswood.parallel._lazy import Deferred
from glasswood.plots._axes import histogram, hollow, hollow_pairs, in_view, whole_numbers
from glasswood.plots._draw import BACKENDS, draw, page_of
from glasswood.plots._spec import (
    DRAWN_IN,
    Band,
    Bars,
    Cells,
    Line,
    Matrix,
    Network,
    Panel,
    Scale,
    Sheet,
    Steps,
    Waterfall,
)
from glasswood.plots._steps import cells_beside_axis, common_heights, height_range
from glasswood.plots.plotly._builder import cell_texts
from glasswood.questions.curves._panel_points import panel_of_points
from glasswood.questions.curves._result import Curve
from glasswood.questions.curves._result_points import Points
from glasswood.questions.curves._result_surface import Surface
from glasswood.questions.rows._result import Attributions
from glasswood.questions.rows._result_ice import Ice
from glasswood.questions.rows._result_shown import ShownRows
from glasswood.results import Axis, JointRows
from glasswood.results.panels._layout import edges_of, view_of
from glasswood.text._plain import number, percent, plain, several, shorten
from helpers import panels as make

NASTY = [
    "<script>alert(1)</script>",
    "<a href='javascript:alert(1)'>click</a>",
    "$\\frac{1}{0$ and _under_ ^{",
    "%{x} {y} %s {0}",
    "=cmd|' /C calc'!A0",
    "\u05e9\u05dc\u05d5\u05dd \u202e abc \u202c",
    "🌲 emoji 🪵",
    "a" * 500,
    "line\nbreak\ttab\x00nul\u2028sep",
    "_begins with an underscore",
    "",
    " ",
    "&amp; &lt;b&gt;",
]


def column(name, categories=None):
    return SimpleNamespace(name=name, categories=categories, n_codes=len(categories) if categories else 0)


def curve(heights, *, name="x", cuts=(), categories=None, rows=(), outputs=("prediction",), units="value"):
    """Return a curve; heights end with that of missing values, and before that of unseen categories."""
    heights = np.asarray(heights, dtype=float)
    heights = heights[:, None] if heights.ndim == 1 else heights
    axis = Axis(column(name, categories), np.asarray(cuts, dtype=float), np.asarray(rows))
    return Curve(axis=axis, heights=heights, mean=heights.mean(axis=0), outputs=tuple(outputs), units=units)


# ------------------------------------------------------------------------------------------------ texts


def test_names_keep_both_ends_when_they_are_shortened():
    assert shorten("abcdefghij", 7) == "abc…hij"
    assert shorten("abc", 7) == "abc"
    assert len(shorten("x" * 1000, 28)) == 28


def test_names_that_look_alike_are_distinct():
    assert several(["a" * 50 + "1" + "b" * 50, "a" * 50 + "2" + "b" * 50], 11) == ["aaaaa…bbbbb", "aaa…bbb (2)"]
    assert several(["", "x"]) == ["(empty)", "x"]


def test_control_characters_are_gone():
    assert plain("a\nb\x00c\u202ed\u2028e") == "a b cd e"


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (0, "0"),
        (1234567, "1,234,567"),
        (0.123456, "0.1235"),
        (-2.5, "\u22122.5"),
        (1e-9, "1e\u221209"),
        (1e20, "1e+20"),
        (float("nan"), "missing"),
        (float("-inf"), "\u2212∞"),
        (100, "100"),
    ],
)
def test_numbers_are_for_people(x, text):
    assert number(x) == text


def test_only_nothing_is_zero_and_only_all_is_a_hundred():
    shares = [0, 1e-9, 0.001, 0.0049, 0.06, 0.5, 0.9969, 0.9999, 1]
    reported = ["0 %", "< 0.1 %", "0.1 %", "0.5 %", "6.0 %", "50 %", "99.7 %", "> 99.9 %", "100 %"]
    assert [percent(share) for share in shares] == reported


# ------------------------------------------------------------------------------------------------ axes


def test_edges_go_on_a_little_beyond_the_cuts():
    assert edges_of(np.array([0.5])).tolist() == [-0.5, 0.5, 1.5]
    assert edges_of(np.array([0.5, 1.5, 2.5])).tolist() == [-0.5, 0.5, 1.5, 2.5, 3.5]


@pytest.mark.parametrize(
    "cuts",
    [
        [1, 2, 3, 4, 1e308],
        [-1e308, 1, 2, 3, 1e308],
        [-np.inf, 1, 2, 3, np.inf],
        [-np.inf],
        [0, 1e308],
        [-1.7e308, 1.7e308],
        [5e-324, 1e-323],
        [np.finfo(float).max],
    ],
    ids=str,
)
def test_edges_and_views_are_finite_numbers_for_any_cuts(cuts):
    with np.errstate(all="raise", under="ignore"):
        cuts = np.array(cuts, dtype=float)
        edges = edges_of(cuts)
        low, high = view_of(edges, np.empty(0))
    assert edges.size == cuts.size + 2
    assert np.isfinite(edges).all()
    assert (edges[1:] >= edges[:-1]).all()
    assert np.isfinite(high - low)
    assert high > low


@pytest.mark.parametrize(
    "values",
    [[-1.7e308, 0, 1.7e308], [-np.finfo(float).max, np.finfo(float).max], [0, 5e-324], [1, 2, 3, 1.7e308]],
    ids=str,
)
@pytest.mark.parametrize("backend", ["matplotlib", "plotly"])
def test_points_of_any_size_are_drawn(values, backend):
    X = np.random.default_rng(0).normal(size=(50, 2))
    ex = gw.Explainer(DecisionTreeRegressor(max_depth=2).fit(X, X[:, 0]), X)
    with np.errstate(all="raise", under="ignore"):
        panel = panel_of_points(ex.partial_dependence(0, at={"x0": values}))
    low, high = panel.x.view
    assert np.isfinite(panel.x.edges).all()
    assert np.isfinite(high - low)
    assert high > low
    assert ex.partial_dependence(0, at={"x0": values}).plot(backend=backend) is not None


@pytest.mark.parametrize("backend", ["matplotlib", "plotly"])
def test_categories_that_no_tree_asks_for_are_drawn(backend):
    # CatBoost keeps none of their labels.
    X = pd.DataFrame({"kind": list("aabbc") * 4, "size": np.arange(20.0)})
    model = CatBoostRegressor(iterations=2, depth=1, cat_features=["kind"], verbose=0, allow_writing_files=False)
    ex = gw.Explainer(model.fit(X, X["size"] > 10), X)
    assert ex.partial_dependence("kind").axis.categories == ()
    assert ex.partial_dependence("kind").panel().x.labels == ("any value",)
    assert ex.partial_dependence("kind").plot(backend=backend) is not None
    assert ex.partial_dependence("kind", "size").plot(backend=backend) is not None


def test_a_cut_far_out_does_not_squash_the_rest():
    edges = edges_of(np.array([1.0, 2, 3, 4, 1e308]))
    assert view_of(edges, np.empty(0)) == pytest.approx((0.0, 4.3))
    assert edges[-1] >= 1e308


def test_a_long_tail_of_few_rows_is_not_shown_at_first():
    cuts = np.concatenate([np.linspace(0, 10, 21), np.geomspace(20, 1e6, 20)])
    rows = np.concatenate([np.full(22, 100.0), np.full(20, 0.1)])
    low, high = view_of(edges_of(cuts), rows)
    assert low < 0
    assert 10 < high < 100


def test_a_feature_of_a_single_value_shows_its_cuts_all_the_same():
    cuts = np.arange(20) + 0.5
    low, high = view_of(edges_of(cuts), np.array([1000.0] + [0.0] * 20))
    assert low <= cuts[0]
    assert high >= cuts[9]


def test_rows_beyond_the_outermost_cuts_are_shown_if_they_are_many():
    X = pd.DataFrame({"a": np.random.default_rng(0).normal(size=1000)})
    model = DecisionTreeRegressor(max_leaf_nodes=3).fit(X, (X["a"] > 0) + 2.0 * (X["a"] > 0.02))
    low, high = gw.Explainer(model, X).partial_dependence("a").panel().x.view
    assert low == pytest.approx(X["a"].min())
    assert high == pytest.approx(X["a"].max())


def test_the_data_is_spread_evenly_over_uneven_cells():
    scale = Scale("x", (0.0, 1.0, 10.0), view=(0.0, 10.0))
    bins, dense = histogram(scale, (0.5, 0.5), n_bins=10)
    assert bins.tolist() == list(np.linspace(0, 10, 11)) or bins.tolist() == [0, 1, 10]
    assert dense[0] == 1.0
    assert dense[-1] == pytest.approx(1 / 9)


def test_a_narrow_cell_without_rows_is_hollow_only_if_there_are_none_near():
    wide = Scale("x", (0.0, 1.0, 2.0, 3.0), view=(0.0, 3.0))
    assert hollow(wide, (0.5, 0.0, 0.5)).tolist() == [False, True, False]
    narrow = Scale("x", tuple(np.linspace(0, 1, 601).tolist()), view=(0.0, 1.0))
    support = np.zeros(600)
    support[::3] = 1
    support[300:400] = 0
    found = hollow(narrow, tuple(support))
    assert not found[:300].any()
    assert found[300:400].all()
    pairs = hollow_pairs(wide, wide, ((1.0, 0.0, 1.0),) * 3)
    assert pairs.tolist() == [[False, True, False]] * 3


def test_cells_in_view_are_cut_off_where_it_ends():
    here, edges = in_view(Scale("x", (0.0, 1.0, 2.0, 3.0, 100.0), view=(0.5, 4.0)))
    assert here == slice(0, 4)
    assert edges.tolist() == [0.5, 1.0, 2.0, 3.0, 4.0]


def test_whole_numbers_are_known_by_their_cuts():
    assert whole_numbers(Scale("x", (-0.5, 0.5, 1.5), view=(-0.5, 1.5)))
    assert not whole_numbers(Scale("x", (0.0, 0.3, 1.5), view=(0.0, 1.5)))


# ------------------------------------------------------------------------------------------------ curves


def test_a_curve_of_numbers_to_the_number():
    panel = make.panel_of_curve(curve([1, 2, 3, 9], cuts=[0.5, 1.5], rows=[5, 0, 3, 2]))
    assert panel.x.edges == (-0.5, 0.5, 1.5, 2.5)
    assert panel.lines == (Line("prediction", (1.0, 2.0, 3.0), 9.0),)
    assert panel.support == (0.5, 0.0, 0.3)
    assert panel.missing_share == 0.2
    assert panel.mean == 3.75
    assert panel.y_label == "average prediction"
    assert cells_beside_axis(panel) == [("missing", "missing\n20 %")]
    assert height_range(panel) == (1.0, 9.0)


def test_what_no_row_has_is_not_beside_the_axis():
    panel = make.panel_of_curve(curve([1, 2, 9], cuts=[0.5], rows=[5, 5, 0]))
    assert panel.lines[0].missing is None
    assert height_range(panel) == (1.0, 4.0)
    without_data = make.panel_of_curve(curve([1, 2, 9], cuts=[0.5]))
    assert without_data.lines[0].missing == 9.0
    assert without_data.support == ()


def test_a_constant_feature_is_one_cell():
    panel = make.panel_of_curve(curve([4, 4], rows=[10, 0]))
    assert panel.x.labels == ("any value",)
    assert panel.lines[0].heights == (4.0,)


def test_categories_in_the_order_asked_for():
    one = curve([1, 3, 2, 0, 7], categories=("a", "b", "c"), rows=[1, 2, 5, 0, 2])
    assert make.panel_of_curve(one).x.labels == ("a", "b", "c")
    by_height = make.panel_of_curve(one, sort="height")
    assert by_height.x.labels == ("b", "c", "a")
    assert by_height.lines[0].heights == (3.0, 2.0, 1.0)
    assert by_height.support == (0.2, 0.5, 0.1)
    assert make.panel_of_curve(one, sort="rows").x.labels == ("c", "b", "a")
    assert make.panel_of_curve(one).lines[0].missing == 7.0
    assert make.panel_of_curve(one).lines[0].unseen is None
    with pytest.raises(ValueError, match="sort must be one of"):
        make.panel_of_curve(one, sort="alphabet")


def test_of_thousands_of_categories_the_most_frequent_are_shown():
    n = 3000
    rows = np.concatenate([np.ones(n), [0, 0]])
    rows[[7, 2999]] = 1000
    panel = make.panel_of_curve(curve(np.arange(n + 2.0), categories=tuple(range(n)), rows=rows))
    assert panel.x.n_cells == 30
    assert {"7", "2999"} <= set(panel.x.labels)
    assert panel.note == "the most frequent 30 of 3,000 categories (41 % of rows)"


def test_outputs_of_classifiers():
    probability = np.array([[0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
    both = curve(probability, cuts=[0.5], outputs=("no", "yes"), units="probability")
    panel = make.panel_of_curve(both)
    assert [line.heights for line in panel.lines] == [(0.2, 0.6), (0.8, 0.4)]
    assert make.panel_of_curve(both, 0).lines[0].heights == (0.2, 0.6)
    assert make.panel_of_curve(both, 1).y_label == "average probability of yes"
    names = [f"class {k}" for k in range(30)]
    many = curve(np.outer([0, 1, 0], np.arange(30)), cuts=[0.5], outputs=names, units="log-odds")
    panel = make.panel_of_curve(many)
    assert [line.name for line in panel.lines] == names[-8:]
    assert panel.note == "8 of 30 outputs: those that vary most"
    assert panel.mean is None


def test_ice_as_percentiles_and_a_few_rows():
    axis = Axis(column("x"), np.array([0.5]), np.array([3, 1, 0]))
    heights = np.arange(101.0)[:, None, None] + np.array([0.0, 10.0, 5.0])[None, :, None]
    ice = Ice(name="x", axis=axis, columns={}, heights=heights, outputs=("y",), units="value")
    panel = make.panel_of_ice(ice, n_lines=4)
    assert panel.lines[0].heights == (50.0, 60.0)
    assert [(band.low, band.high) for band in panel.bands] == [((5, 15), (95, 105)), ((25, 35), (75, 85))]
    assert [row[0] for row in panel.faint] == [12, 37, 63, 88]


def test_points_along_an_axis_and_with_labels():
    points = Points(
        name="x", columns={"x": [3.0, 1.0, 2.0]}, heights=np.array([[30.0], [10], [20]]), outputs=("y",), units="value"
    )
    panel = make.panel_of_points(points)
    assert panel.x.edges == (0.5, 1.5, 2.5, 3.5)
    assert panel.lines[0].heights == (10.0, 20.0, 30.0)
    hot = Points(
        name="city",
        columns={"rome": [1, 0, 0], "oslo": [0, 1, 0]},
        heights=np.array([[1.0], [2], [3]]),
        outputs=("y",),
        units="value",
    )
    assert make.panel_of_points(hot).x.labels == ("rome", "oslo", "(none)")
    pair = Points(
        name="a x b", columns={"a": [1.5, 2], "b": ["u", "v"]}, heights=np.zeros((2, 1)), outputs=("y",), units="value"
    )
    assert make.steps_of_points(pair).x.labels == ("a=1.5, b=u", "a=2, b=v")
    assert make.panel_of_points(pair).y.labels == ("u", "v")


def points_of(columns, heights, rows=()):
    heights = np.asarray(heights, dtype=float)[:, None]
    found = {"mean": heights.mean(axis=0), "find_rows": Deferred.of(np.asarray(rows, dtype=float))}
    return Points(name="p", columns=columns, heights=heights, outputs=("y",), units="value", **found)


def test_points_have_the_data_the_average_and_sorted_labels():
    panel = make.panel_of_points(points_of({"x": ["b", None, "a"]}, [1, 2, 6], [1, 1, 2]))
    assert panel.x.labels == ("a", "b", "missing")
    assert panel.lines[0].heights == (6.0, 1.0, 2.0)
    assert panel.support == (0.5, 0.25, 0.25)
    assert panel.mean == 3.0
    numbers = make.panel_of_points(
        points_of({"x": [0.0, 1.0, 2.0, np.nan, 1e6]}, [1, 2, 6, 7, 8], [300, 300, 300, 99, 1])
    )
    assert numbers.support == (0.3, 0.3, 0.3, 0.001)
    assert numbers.missing_share == 0.099
    assert numbers.lines[0].missing == 7.0
    assert numbers.x.view[1] < 10
    assert (
        numbers.note
        == "steps are drawn midway between points; 0.1 % of rows are beyond this part of the axis (to 1,000,000)"
    )


def test_points_of_two_features_are_a_surface_or_dots():
    grid = {"a": ["v", "u", "u"], "b": [2.0, 1.0, 2.0]}
    panel = make.panel_of_points(points_of(grid, [1, 2, 3], [2, 1, 1]))
    assert panel.x.labels == ("u", "v")
    assert panel.y.edges == (0.5, 1.5, 2.5)
    np.testing.assert_equal(panel.heights, [[2, np.nan], [3, 1]])
    assert panel.density == ((0.25, 0.0), (0.25, 0.5))
    rng = np.random.default_rng(0)
    scattered = {"a": rng.normal(size=50).tolist(), "b": rng.normal(size=50).tolist()}
    dots = make.panel_of_points(points_of(scattered, np.arange(50)))
    assert (dots.x, dots.y) == (tuple(scattered["a"]), tuple(scattered["b"]))
    assert dots.colours == tuple(range(50))
    assert dots.colour_label == "average prediction of y"
    for backend in ("matplotlib", "plotly"):
        assert draw(Sheet((panel, dots)), backend) is not None


# ------------------------------------------------------------------------------------------------ other panels


def surface_of(shape=(3, 2), **options):
    first = curve(np.arange(shape[0] + 1.0), name="a", cuts=np.arange(shape[0] - 1) + 0.5, **options)
    second = curve(np.arange(shape[1] + 1.0) * 10, name="b", cuts=np.arange(shape[1] - 1) + 0.5, **options)
    interaction = np.zeros((shape[0] + 1, shape[1] + 1, 1))
    interaction[0, 1] = 5
    return Surface(first=first, second=second, pair=KnownPair(interaction))


def rows_in(density):
    x, y = np.indices(density.shape).reshape(2, -1)
    return JointRows.of(x, y, density.ravel())


def test_a_surface_has_a_line_per_cell_of_the_second_feature():
    surface = surface_of()
    panel = make.panel_of_surface(surface, rows=rows_in(np.arange(6).reshape(3, 2) / 15))
    assert np.array(panel.heights).shape == (2, 3)
    assert panel.heights[1][0] == surface.values[0, 1]
    assert panel.density == ((0, 2 / 15, 4 / 15), (1 / 15, 3 / 15, 5 / 15))
    alone = make.panel_of_surface(surface, interaction=True)
    assert alone.heights == ((0, 0, 0), (5, 0, 0))
    assert alone.diverging
    assert alone.z_label == "interaction (prediction)"


def test_a_surface_of_very_many_cells_is_averaged_over_narrow_ones():
    n = 2000
    surface = surface_of((n, 2))
    panel = make.panel_of_surface(surface, rows=rows_in(np.full((n, 2), 0.5 / n)))
    assert 200 < panel.x.n_cells <= 300
    assert np.array(panel.heights).shape == (2, panel.x.n_cells) == np.array(panel.density).shape
    assert np.sum(panel.density) == pytest.approx(1.0)
    middle = np.array(panel.x.edges[1:-2]) + np.diff(panel.x.edges[1:-1]) / 2
    expected = surface.first.mean + middle - surface.first.mean
    rise = np.array(panel.heights[0][1:-1])
    assert np.ptp(rise - expected) < n / 250
    assert panel.note == f"drawn at {panel.x.n_cells} x 2 of 2,000 x 2 cells"


def test_the_share_of_rows_in_pairs_of_cells():
    surface = surface_of()
    rows = JointRows.of(np.array([0, 0, 2, 3]), np.array([1, 1, 0, 0]))
    shares = rows.shares((surface.first.axis, surface.second.axis))
    assert shares.tolist() == [[0, 0.5], [0, 0], [0.25, 0]]


def test_importance_as_bars():
    heights = np.array([[3.0], [2], [1]])
    of = {"kind": "main", "n_rows": 9, "sampled": False}
    importance = SimpleNamespace(names=("a", "b", "c"), heights=heights, outputs=("yes",), units="log-odds", **of)
    panel = make.panel_of_importance(importance, top=2)
    assert panel.labels == ("a", "b")
    assert panel.values == ((3.0, 2.0),)
    assert panel.note == "the first 2 of 3 features"
    assert panel.x_label == "standard deviation of the curve (log-odds of yes)"
    importance.kind, importance.sampled = "total", True
    panel = make.panel_of_importance(importance)
    assert (panel.title, panel.note) == ("Importance", "from a sample of 9 rows")
    assert panel.x_label == "root mean squared change if redrawn (log-odds of yes)"


@pytest.mark.parametrize("backend", ["matplotlib", "plotly"])
def test_bars_with_bands_and_below_zero(backend):
    X, y = make_regression(60, 3, noise=5.0, random_state=0)
    model = HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=3).fit(X, y)
    found = gw.Explainer(model, X, target=-y, folds=5).permutation_importance()
    assert found.values.min() < 0 < found.reach.max()  # the model predicts the opposite
    figure = found.plot(backend=backend)
    if backend == "matplotlib":
        low, high = figure.axes[0].get_xlim()
        assert low < (found.values - found.reach).min()
        assert high > (found.values + found.reach).max()
    else:
        assert figure.data[0].error_x.array == pytest.approx(found.reach)


def strengths_of(pairs, heights):
    heights = np.array(heights, dtype=float)
    return SimpleNamespace(pairs=pairs, heights=heights, outputs=("y",), units="value", caveat="")


def test_strengths_as_a_square_and_as_a_network():
    strengths = strengths_of([("a", "b"), ("b", "c"), ("c", "d")], [[4], [2], [1]])
    panel = make.panel_of_strengths(strengths, top=3)
    assert panel.labels == ("a", "b", "c")
    np.testing.assert_equal(panel.values, [[np.nan, 4, np.nan], [4, np.nan, 2], [np.nan, 2, np.nan]])
    network = make.panel_of_strengths(strengths, kind="network")
    assert network.links == ((0, 1, 1.0), (1, 2, 0.5), (2, 3, 0.25))
    assert network.sizes == pytest.approx((4 / 6, 1.0, 3 / 6, 1 / 6))
    with pytest.raises(ValueError, match="kind must be"):
        make.panel_of_strengths(strengths, kind="pie")


def attributions(values, data=None):
    values = np.asarray(values, dtype=float)
    return Attributions(
        name="Shapley values",
        heights=values[..., None],
        mean=np.array([10.0]),
        names=tuple("abcd"[: values.shape[1]]),
        outputs=("y",),
        units="value",
        columns=ShownRows.of(data),
    )


def test_a_waterfall_adds_up():
    panel = make.panel_of_row(attributions([[1, -5, 0, 2, -0.5]]), 0, top=1)
    assert panel.title == "Row 0 of 1"
    assert panel.labels == ("b", "3 others together")
    assert panel.rest
    assert panel.note == "3 smaller ones: net +2.5, each at most 2"
    assert panel.values == (-5.0, 2.5)
    assert panel.start == ("average", 10.0)
    assert panel.end == ("this row", 7.5)
    reported = make.panel_of_row(attributions([[1, -5]], np.array([[0.5, "x"]], dtype=object)))
    assert reported.labels == ("b = x", "a = 0.5")
    pairs = make.panel_of_row(attributions([[[1, 0.5], [0.5, 2]]]))
    assert dict(zip(pairs.labels, pairs.values, strict=True)) == {"a": 1, "b": 2, "a x b": 1}
    with pytest.raises(gw.errors.TableError, match="there is no row 7"):
        make.panel_of_row(attributions([[1, 2]]), 7)


def test_the_others_of_a_waterfall_are_not_the_largest_part_if_more_parts_help():
    values = np.concatenate([[5.0], np.full(15, 1.0), np.full(20, 0.01)])
    names = tuple(f"f{i}" for i in range(values.size))
    result = replace(attributions([[1.0, 2.0]]), heights=values[None, :, None], names=names)
    panel = make.panel_of_row(result, 0)
    assert len(panel.values) == 12 + 1  # ten would leave 5.2 together, twelve leave 4.2
    assert abs(panel.values[-1]) < 5
    assert make.panel_of_row(result, 0, top=3).values[-1] < 5


def test_parts_of_interactions_tell_the_values_of_the_row(explained):
    ex, X = explained
    rows = X[:3].assign(b=[0.0, 1.0, 2.0])
    labels = ex.interaction_values(rows).panel(1, top=5).labels
    assert any(label.startswith("b = 1") for label in labels)
    assert all(" = " in label for label in labels[:-1])
    kept = pickle.loads(pickle.dumps(ex.interaction_values(rows)))
    assert kept.panel(1, top=5).labels == labels


def test_values_of_all_rows_as_bars_a_swarm_and_a_scatter():
    data = np.array([[0.0, "u"], [1.0, "v"], [None, "u"], [3.0, "w"]], dtype=object)
    result = attributions([[1, -5], [2, 5], [-3, 5], [0, -5]], data)
    bars = make.panel_of_attributions(result, 0, None, kind="bar")
    assert (bars.labels, bars.values) == (("b", "a"), ((5.0, 1.5),))
    swarm = make.panel_of_attributions(result, 0, None, kind="beeswarm")
    assert swarm.y_labels == ("b", "a")
    assert swarm.x == (-5, 5, 5, -5, 1, 2, -3, 0)
    np.testing.assert_equal(swarm.colours, [np.nan] * 4 + [0, 0.5, np.nan, 1])
    assert max(abs(y - round(y)) for y in swarm.y) < 0.5
    assert swarm.note == "grey: categories and missing values"
    scatter = make.panel_of_attributions(result, 0, None, kind="scatter", feature="a", color="b")
    assert (scatter.x, scatter.y) == ((0, 1, 3), (1, 2, 0))
    assert scatter.colours == (0, 1, 2)
    assert scatter.note == "not shown: 1 row where it is missing"
    over_categories = make.panel_of_attributions(result, 0, None, kind="scatter")
    assert over_categories.x_labels == ("u", "v", "w")
    for panel in (bars, swarm, scatter, over_categories):
        for backend in ("matplotlib", "plotly"):
            assert draw(Sheet((panel,)), backend) is not None
    with pytest.raises(ValueError, match="kind must be one of"):
        make.panel_of_attributions(result, 0, None, kind="pie")
    with pytest.raises(gw.errors.TableError, match="there is no feature 'z'"):
        make.panel_of_attributions(result, 0, None, kind="scatter", feature="z")


def test_a_swarm_of_many_rows_is_a_sample():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(5000, 2))
    swarm = make.panel_of_attributions(attributions(values, values), 0, None, kind="beeswarm")
    assert len(swarm.x) == 4000
    assert swarm.note == "2,000 of 5,000 rows"


def test_centred_ice_begins_at_zero():
    axis = Axis(column("x"), np.array([0.5]), np.array([3, 1, 0]))
    heights = np.arange(5.0)[:, None, None] * np.array([1.0, 3.0, 2.0])[None, :, None]
    ice = Ice(name="x", axis=axis, columns={}, heights=heights, outputs=("y",), units="value")
    panel = make.panel_of_ice(ice, centered=True)
    assert panel.lines[0].heights == (0.0, 4.0)
    assert panel.lines[0].missing is None
    assert all(row[0] == 0 for row in panel.faint)
    assert panel.y_label == "change of prediction of y"
    assert panel.note == "each row from its value at: up to 0.5"


def test_axes_of_logarithms_and_of_quantiles():
    one = curve([1, 2, 3, 4, 9], cuts=[1, 10, 100], rows=[1, 1, 2, 4, 0])
    log = make.panel_of_curve(one, xscale="log")
    assert log.x.edges[1:-1] != (1, 10, 100)
    positive = curve([1, 2, 3, 9], cuts=[10, 100], rows=[1, 1, 2, 0])
    axis = replace(positive.axis, find_extent=Deferred.of(SimpleNamespace(least=1.0, greatest=1000.0, whole=False)))
    log = make.panel_of_curve(replace(positive, axis=axis), xscale="log")
    assert log.x.edges == pytest.approx((0, 1, 2, 3))
    assert log.x.ticks == ((0.0, "1"), (1.0, "10"), (2.0, "100"), (3.0, "1,000"))
    assert cell_texts(log.x)[1] == "x (log scale): above 10, up to 100"
    quantile = make.panel_of_curve(replace(positive, axis=axis), xscale="quantile")
    assert quantile.x.edges == (0.0, 0.25, 0.5, 1.0)
    assert quantile.x.ticks == ((0.0, "1"), (0.25, "10"), (0.5, "100"), (1.0, "1,000"))
    for backend in ("matplotlib", "plotly"):
        assert draw(Sheet((log, quantile)), backend) is not None
    with pytest.raises(ValueError, match="xscale must be one of"):
        make.panel_of_curve(one, xscale="cubic")
    with pytest.raises(ValueError, match="needs rows of data"):
        make.panel_of_curve(curve([1, 2, 9], cuts=[0.5]), xscale="quantile")


def test_texts_of_narrow_cells_that_are_drawn_together_tell_their_own_cuts():
    panel = make.panel_of_surface(surface_of((2000, 2)))
    assert panel.x.n_cells < 300
    assert len(cell_texts(panel.x)) == panel.x.n_cells
    assert cell_texts(panel.x)[-1].startswith(f"a: above {panel.x.edges[-2]:,.7g}")


def test_a_comparison_has_a_line_and_a_distribution_per_group():
    curves = {
        "old": curve([1, 2, 9], cuts=[0.5], rows=[1, 3, 0]),
        "new": curve([2, 2, 9], cuts=[0.5], rows=[2, 1, 1]),
    }
    comparison = SimpleNamespace(curves=lambda _: curves)
    panel = make.panel_of_comparison(comparison, "x")
    assert [line.name for line in panel.lines] == ["old", "new"]
    assert [line.support for line in panel.lines] == [(0.25, 0.75), (0.5, 0.25)]
    assert [line.missing for line in panel.lines] == [None, 9.0]
    assert panel.support == (0.375, 0.5)


def test_pages():
    assert page_of(range(5), 0) == ([0, 1, 2, 3, 4], "")
    shown, note = page_of(range(30), 2)
    assert list(shown) == [24, 25, 26, 27, 28, 29]
    assert note == "25 to 30 of 30 features; page=1 for others"
    assert page_of(range(30), 1)[1] == "13 to 24 of 30 features; page=0 and page=2 for others"
    with pytest.raises(ValueError, match="there is no page 3"):
        page_of(range(30), 3)


# ------------------------------------------------------------------------------------------------ drawing


def every_panel(names):
    """Return panels of all kinds with given names, at least 13 of them."""
    n = len(names)
    edges = tuple(float(i) for i in range(n + 1))
    share = tuple([0.0] + [1 / (n - 1)] * (n - 1))
    heights = tuple(float(i % 5) for i in range(n))
    numbers = Scale(names[0], edges, view=(edges[0], edges[-1]))
    labels = Scale(names[1], labels=tuple(names))
    lines = tuple(Line(name, heights, 1.0, 2.0) for name in names[:8])
    grouped = tuple(Line(name, heights, 1.0, None, share) for name in names[:3])
    square = tuple(tuple(float("nan") if i == j else float(i + j) for j in range(n)) for i in range(n))
    band = Band(names[2], tuple(h - 1 for h in heights), tuple(h + 1 for h in heights))
    common = {"support": share, "missing_share": 0.1, "unseen_share": 0.2, "note": names[0]}
    spreads = tuple(replace(band, line=k, missing=(0.0, 2.0), unseen=(1.0, 3.0)) for k in range(len(lines)))
    for scale in (numbers, labels):
        yield Steps(names[0], scale, names[3], lines, **common)
        yield Steps(names[0], scale, names[3], lines, bands=spreads, **common)
        yield Steps(names[0], scale, names[3], lines[:1], mean=1.5, bands=spreads[:1], **common)
        yield Steps(names[0], scale, names[3], lines[:1], mean=1.5, **common)
        yield Steps(names[0], scale, names[3], grouped, support=share)
        yield Steps(names[0], scale, names[3], lines[:1], bands=(band, band), faint=(heights, heights))
        yield Steps(names[0], scale, names[3], (Line("", (float("nan"),) * n),))
        yield Cells(names[0], scale, labels, names[1], (heights,) * n, (share,) * n, x_support=share, y_support=share)
        yield Cells(names[0], numbers, scale, names[1], ((0.0,) * n,) * n, diverging=True)
    yield Bars(names[0], names[1], tuple(names), (heights,), note=names[2])
    yield Bars(names[0], names[1], tuple(names), (heights,) * 8, tuple(names[:8]))
    yield Bars(names[0], names[1], (), ((),))
    yield Matrix(names[0], names[1], tuple(names), square)
    yield Matrix(names[0], names[1], tuple(names[:1]), ((float("nan"),),))
    links = tuple((i, i + 1, 1 / (i + 1)) for i in range(n - 1))
    yield Network(names[0], tuple(names), share, links, names[1], names[2])
    yield Network(names[0], (), (), ())
    yield Waterfall(names[0], names[1], ("average", 1.0), ("this row", 2.0), tuple(names), heights)
    yield Waterfall(names[0], names[1], ("average", 1.0), ("this row", 1.0), (), ())


PLAIN_NAMES = [f"name {i}" for i in range(13)]
KINDS = [f"{i}-{type(panel).__name__}" for i, panel in enumerate(every_panel(PLAIN_NAMES))]


@pytest.mark.parametrize("number_of_panel", range(len(KINDS)), ids=KINDS)
@pytest.mark.parametrize("names", [PLAIN_NAMES, NASTY], ids=["plain", "nasty"])
def test_both_libraries_draw_every_panel_without_a_warning(names, number_of_panel):
    panel = list(every_panel(names))[number_of_panel]
    before = dict(mpl.rcParams)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = draw(Sheet((panel,), title=names[4], notes=(names[5],)))
        assert figure._repr_png_()[:4] == b"\x89PNG"
        text = draw(Sheet((panel,), title=names[4], notes=(names[5],)), "plotly").to_json()
    assert dict(mpl.rcParams) == before
    assert "<script" not in text
    assert "\\u003cscript" not in text
    assert "<a " not in text
    assert "\\u003ca " not in text


def test_names_in_texts_of_matplotlib_are_no_formulas():
    panel = Bars("t", NASTY[2], tuple(NASTY), (tuple(range(len(NASTY))),))
    ax = draw(Sheet((panel,))).axes[0]
    assert ax.xaxis.label.get_text() == NASTY[2]
    assert not ax.xaxis.label.get_parse_math()
    assert all(not tick.get_parse_math() for tick in ax.get_yticklabels())


def test_lines_whose_names_begin_with_an_underscore_are_in_the_legend():
    panel = Steps("t", Scale("x", (0.0, 1.0), view=(0.0, 1.0)), "y", (Line("_a", (1.0,)), Line("_b", (2.0,))))
    figure = draw(Sheet((panel,)))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["_a", "_b"]


def test_steps_are_drawn_where_the_cuts_are_and_pale_without_rows():
    panel = make.panel_of_curve(curve([1, 2, 3, 9], cuts=[0.5, 1.5], rows=[5, 0, 5, 0]))
    ax = draw(Sheet((panel,))).axes[0]
    x, y = ax.lines[-1].get_data()
    assert list(x) == [-0.5, 0.5, 0.5, 1.5, 1.5, 2.5]
    np.testing.assert_equal(y, [1, 1, np.nan, np.nan, 3, 3])
    assert ax.get_xlim() == (-0.5, 2.5)
    assert ax.get_xlabel() == "x"
    figure = draw(Sheet((panel,)), "plotly")
    line = next(trace for trace in figure.data if trace.type == "scatter" and trace.line.width == 2)
    assert list(line.x) == [-0.5, 0.5, 0.5, 1.5, 1.5, 2.5]
    assert list(line.y) == [1, 1, None, None, 3, 3]
    hover = next(trace for trace in figure.data if trace.hovertext is not None and trace.type == "scatter")
    assert hover.hovertext[1] == "x: above 0.5, up to 1.5<br>2<br>0 % of rows"


def test_surfaces_are_drawn_as_exact_cells():
    surface = surface_of()
    mesh = draw(Sheet((make.panel_of_surface(surface),))).axes[0].collections[0]
    assert mesh.get_coordinates()[0, :, 0].tolist() == [-0.5, 0.5, 1.5, 2.5]
    assert mesh.get_array().tolist() == surface.values.T.tolist()


def test_plotly_has_no_two_panels_in_one_place_and_room_for_labels():
    names = [f"a category whose name is long {i}" for i in range(12)]
    labels = make.panel_of_curve(curve(np.arange(14.0), categories=tuple(names), rows=[1] * 13 + [2]))
    numbers = make.panel_of_curve(curve([1, 2, 3], cuts=[0.5], rows=[1, 1, 1]))
    figure = draw(Sheet((labels, numbers, labels, numbers, labels), 3), "plotly")
    domains = [axis.domain for axis in figure.select_xaxes()]
    mains = [axis for axis in figure.select_yaxes() if axis.visible is not False]
    boxes = {tuple(axis.domain) for axis in mains}
    assert len(boxes) == 4  # two lines; panels of numbers have the data below
    assert all(0 <= low < high <= 1 for low, high in domains)
    assert len(set(mains[0].ticktext)) == 14
    gap = 6.0 * max(map(len, mains[0].ticktext)) / figure.layout.width
    strips = sorted(axis.domain[0] for axis in figure.select_xaxes() if axis.visible is False)
    assert strips[0] >= gap
    assert figure.layout.barmode == "overlay"


def test_plotly_draws_the_bars_of_groups_and_of_ice_at_their_categories():
    categories = ("x", "y")
    curves = {name: curve([1, 2, 0, 0], categories=categories, rows=[3, 1, 0, 0]) for name in ("old", "new")}
    panel = make.panel_of_comparison(SimpleNamespace(curves=lambda _: curves), "x")
    bars = [trace for trace in draw(Sheet((panel,)), "plotly").data if trace.type == "bar"]
    assert [list(bar.y) for bar in bars] == [pytest.approx([-0.2, 0.8]), pytest.approx([0.2, 1.2])]
    axis = Axis(column("x", categories), np.empty(0), np.array([3, 1, 0, 0]))
    heights = np.arange(20.0)[:, None, None] + np.zeros((1, 4, 1))
    ice = Ice(name="x", axis=axis, columns={}, heights=heights, outputs=("y",), units="value")
    bars = [trace for trace in draw(Sheet((make.panel_of_ice(ice),)), "plotly").data if trace.type == "bar"]
    assert [list(bar.y) for bar in bars] == [[0, 1]] * 3


def test_heights_of_probabilities_begin_near_the_lowest():
    panel = make.panel_of_curve(curve([0.02, 0.3, 0.1], cuts=[0.5], rows=[1, 1, 0], units="probability"))
    figure = draw(Sheet((panel,)), "plotly")
    assert 0 < figure.layout.yaxis.range[0] < 0.02
    ax = draw(Sheet((panel,))).axes[0]
    assert min(ax.get_yticks()) > 0


def test_squares_and_surfaces_of_categories_have_numbers():
    strengths = strengths_of([("a", "b"), ("b", "c")], [[4], [2.25]])
    heatmap = draw(Sheet((make.panel_of_strengths(strengths),)), "plotly").data[0]
    assert [list(line) for line in heatmap.text] == [["4", ""], ["", "2.2"]]
    labels = Scale("x", labels=("u", "v"))
    cells = Cells("t", labels, labels, "z", ((1.0, 2.0), (3.0, 4.0)))
    assert list(draw(Sheet((cells,)), "plotly").data[0].text[1]) == ["3", "4"]
    assert [text.get_text() for text in draw(Sheet((cells,))).axes[0].texts] == ["1", "2", "3", "4"]


def test_rows_of_a_cell_without_a_known_end_are_drawn_pale():
    open_ended = make.panel_of_curve(curve([1, 2, 3, 9], cuts=[0.5, 1.5], rows=[5, 1, 4, 0]))
    bars = next(trace for trace in draw(Sheet((open_ended,)), "plotly").data if trace.type == "bar")
    assert bars.marker.color[0] == bars.marker.color[2] == "rgba(128,128,128,0.2)" != bars.marker.color[1]
    solid, pale = (patch.get_data().values for patch in draw(Sheet((open_ended,))).axes[0].patches[:2])
    assert (solid > 0).tolist() == [False, True, False]
    assert (pale > 0).tolist() == [True, False, True]


def test_rows_beyond_the_axis_are_reported():
    cuts = np.concatenate([np.linspace(0, 10, 21), np.geomspace(20, 1e6, 20)])
    rows = np.concatenate([np.full(22, 100.0), np.full(20, 0.1), [0]])
    assert make.panel_of_curve(curve(np.arange(43.0), cuts=cuts, rows=rows)).note.startswith(
        "< 0.1 % of rows are beyond"
    )


def test_panels_of_like_spans_are_equally_high():
    one = make.panel_of_curve(curve([1, 2, 2], cuts=[0.5], rows=[1, 1, 0]))
    other = make.panel_of_curve(curve([1, 9, 2], cuts=[0.5], rows=[1, 1, 0]))
    sheet = Sheet((one, other), 2, shared_y=True)
    assert common_heights(sheet) == [None, (1.0, 9.0)]  # the first one would look flat
    axes = draw(sheet).axes
    assert axes[0].get_ylim() != axes[1].get_ylim()
    assert [ax.get_title(loc="left") for ax in axes] == ["on its own scale", ""]
    assert "on its own scale" in [note.text for note in draw(sheet, "plotly").layout.annotations]
    half = make.panel_of_curve(curve([1, 5, 2], cuts=[0.5], rows=[1, 1, 0]))
    flat = make.panel_of_curve(curve([1, 1, 1], cuts=[0.5], rows=[1, 1, 0]))
    sheet = Sheet((half, other, flat), 2, shared_y=True)
    assert common_heights(sheet) == [(1.0, 9.0)] * 3
    assert len({ax.get_ylim() for ax in draw(sheet).axes}) == 1
    assert common_heights(replace(sheet, shared_y=False)) == [None] * 3


def test_every_kind_of_panel_is_drawn_by_both_libraries():
    assert set(DRAWN_IN) == set(get_args(Panel))
    for library in BACKENDS:
        for kind, name in DRAWN_IN.items():
            assert kind in import_module(f"glasswood.plots.{library}.{name}").DRAWERS


def test_axes_of_the_users_are_drawn_on():
    figure = Figure()
    axes = figure.subplots(1, 2)
    panel = make.panel_of_curve(curve([1, 2, 9], cuts=[0.5]))
    assert draw(Sheet((panel,)), ax=axes[0]) is axes[0]
    assert axes[0].lines
    assert not axes[1].lines
    with pytest.raises(ValueError, match="as many axes"):
        draw(Sheet((panel,)), ax=axes)
    with pytest.raises(ValueError, match="ax= is only supported by matplotlib"):
        draw(Sheet((panel,)), "plotly", axes[0])
    with pytest.raises(ValueError, match="backend must be one of"):
        draw(Sheet((panel,)), "gnuplot")


def test_dark_styles_are_respected():
    panel = make.panel_of_curve(curve([1, 2, 9], cuts=[0.5], rows=[1, 1, 0]))
    with mpl.rc_context({"axes.facecolor": "black", "text.color": "white", "figure.facecolor": "black"}):
        figure = draw(Sheet((panel,)))
    assert mpl.colors.to_hex(figure.get_facecolor()) == "#000000"


# ------------------------------------------------------------------------------------------------ from models


@pytest.fixture(scope="module")
def explained():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"a": rng.normal(size=300), "b": rng.integers(0, 3, 300).astype(float), "$c_<b>": rng.normal(size=300)}
    )
    X.loc[::7, "a"] = np.nan
    X["cat"] = pd.Categorical(rng.choice(["x", "y", "z"], 300))
    y = X["a"].fillna(0) * X["b"] + X["cat"].cat.codes
    model = HistGradientBoostingRegressor(max_iter=10, categorical_features="from_dtype").fit(X, y)
    return gw.Explainer(model, X), X


@pytest.mark.parametrize("backend", ["matplotlib", "plotly"])
def test_every_result_has_a_figure(explained, backend):
    ex, X = explained
    results = {
        "curve": ex.partial_dependence("a"),
        "categories": ex.partial_dependence("cat"),
        "surface": ex.partial_dependence("a", "b"),
        "ice": ex.ice("a"),
        "points": ex.partial_dependence("a", "b", "cat", at=X[["a", "b", "cat"]][:5]),
        "importance": ex.importance(),
        "strengths": ex.interaction_strengths(),
        "interactions": ex.interaction_values(X[:3]),
        "attributions": ex.shap_values(X[:3]),
        "comparison": gw.compare({"1": gw.Explainer(ex.ensemble, X[:150]), "2": gw.Explainer(ex.ensemble, X[150:])}),
    }
    for name, result in results.items():
        assert result.plot(backend=backend) is not None, name
    assert ex.plot(backend=backend) is not None
    assert ex.plot(["a", ("a", "cat")], backend=backend) is not None


def test_without_rows_the_curves_that_span_most_come_first():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 3)), columns=["little", "much", "none"])
    model = HistGradientBoostingRegressor(max_iter=20, max_leaf_nodes=6).fit(X, X["much"] + 0.2 * X["little"])
    figure = gw.Explainer(model).plot()
    assert [ax.get_xlabel() for ax in figure.axes][:2] == ["much", "little"]


def test_a_page_has_the_most_important_features_first(explained):
    ex, _ = explained
    labels = {ax.get_xlabel() for ax in ex.plot().axes} | {ax.get_ylabel() for ax in ex.plot().axes}
    assert {"a", "b", "$c_<b>", "cat"} <= labels
    first = ex.importance().names[0]
    ax = ex.plot().axes[0]
    assert first in (ax.get_xlabel(), ax.get_ylabel())


def test_pairs_of_cells_without_rows_are_known(explained):
    ex, X = explained
    surface = ex.partial_dependence("a", "b")
    density = surface.density
    known = X.dropna()
    x, y = surface.first.axis.cell_of(known["a"]), surface.second.axis.cell_of(known["b"])
    assert density.sum() == pytest.approx(len(known) / len(X))
    assert (density[x, y] > 0).all()


def test_several_classes_are_drawn_over_each_other():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 2))
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, rng.integers(0, 3, 100))
    ex = gw.Explainer(model, X)
    panel = ex.partial_dependence(0).panel()
    assert [line.name for line in panel.lines] == ["0", "1", "2"]
    assert panel.y_label == "average probability"
    with pytest.raises(gw.errors.TableError, match="a surface shows one output"):
        ex.partial_dependence(0, 1).plot()
    assert ex.partial_dependence(0, 1).plot(output="2") is not None


# ------------------------------------------------------------------------------------------------ weights


@pytest.fixture(scope="module")
def weighted():
    """A model, its rows, one of 40 categories, and weights of these."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=400), "kind": pd.Categorical([f"k{i:02}" for i in np.arange(400) % 40])})
    X.loc[::20, "a"] = np.nan
    model = HistGradientBoostingRegressor(max_iter=5, categorical_features="from_dtype")
    return model.fit(X, X["a"].fillna(0.0) + np.arange(400) % 40), X, rng.uniform(0.5, 2, 400)


@pytest.fixture(params=["table", "counts", "file"])
def weighted_explainer(weighted, request, tmp_path):
    model, X, weight = weighted
    if request.param == "counts":
        return gw.Explainer(model, gw.summarize(model, X, sample_weight=weight))
    if request.param == "file":
        X.assign(w=weight).to_parquet(tmp_path / "rows.parquet")
        return gw.Explainer(model, str(tmp_path / "rows.parquet"), sample_weight="w")
    return gw.Explainer(model, X, sample_weight=weight)


def test_curves_of_weighted_rows_say_so(weighted_explainer):
    panel = make.panel_of_curve(weighted_explainer.partial_dependence("a"))
    assert panel.y_label == "weighted average prediction"
    panel = make.panel_of_curve(weighted_explainer.partial_dependence("kind"))
    assert panel.note.startswith("the most frequent 30 of 40 categories (")
    assert panel.note.endswith(" % of the weight)")
    figure = weighted_explainer.partial_dependence("kind").plot(backend="plotly")
    reported = [text for trace in figure.data for text in trace.hovertext or ()]
    assert any(text.endswith(" % of the weight") for text in reported)
    assert not any("of rows" in text for text in reported)


def test_every_figure_of_weighted_rows_says_so(weighted):
    model, X, weight = weighted
    ex = gw.Explainer(model, X, sample_weight=weight)
    surface = ex.partial_dependence("a", "kind")
    assert make.panel_of_surface(surface).z_label == "weighted average prediction"
    assert make.panel_of_surface(surface, interaction=True).z_label == "interaction (prediction)"
    assert "% of the weight, where a is missing" in make.panel_of_surface(surface).note
    points = ex.partial_dependence("a", at=[[-1.0], [0.0], [1.0]])
    assert make.panel_of_points(points).y_label == "weighted average prediction"
    ice = make.panel_of_ice(ex.ice("a"))
    assert [line.name for line in ice.lines] == ["weighted average"]
    assert [band.name for band in ice.bands] == [
        "5th to 95th percentile by weight",
        "25th to 75th percentile by weight",
    ]
    both = gw.compare({"all": ex, "half": gw.Explainer(model, X[::2], sample_weight=weight[::2])})
    assert make.panel_of_comparison(both, "a").y_label == "weighted average prediction"


def test_figures_of_rows_without_weights_say_nothing_of_weights(weighted):
    model, X, _ = weighted
    ex = gw.Explainer(model, X)
    assert make.panel_of_curve(ex.partial_dependence("kind")).note.endswith(" % of rows)")
    assert make.panel_of_surface(ex.partial_dependence("a", "kind")).z_label == "average prediction"
    ice = make.panel_of_ice(ex.ice("a", rows=X))
    assert [line.name for line in ice.lines] == ["average"]
    assert [band.name for band in ice.bands] == ["5th to 95th percentile", "25th to 75th percentile"]


# ------------------------------------------------------------------------------------------------ long labels


LONG = "a rather long name of a class, of forty letters"


@pytest.fixture(scope="module")
def classes():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
    y = np.array([LONG, "two", "three"])[np.digitize(X["a"] * X["b"] + X["c"], [-0.5, 0.5])]
    model = HistGradientBoostingClassifier(max_iter=5).fit(X, y)
    return gw.Explainer(model, X, sample_weight=np.linspace(1, 2, 300)), X


FIGURES = {
    "curve": lambda ex, X, **options: ex.partial_dependence("a").plot(output=LONG, **options),
    "surface": lambda ex, X, **options: ex.partial_dependence("a", "b").plot(output=LONG, **options),
    "page": lambda ex, X, **options: ex.plot(output=LONG, **options),
    "strengths": lambda ex, X, **options: ex.interaction_strengths().plot(**options),
    "scatter": lambda ex, X, **options: ex.shap_values(X).plot(kind="scatter", output=LONG, **options),
}


@pytest.mark.parametrize("kind", FIGURES)
def test_no_long_label_leaves_a_figure_of_matplotlib(classes, kind):
    figure = FIGURES[kind](*classes)
    figure.canvas.draw()
    whole = figure.bbox
    labels = [label for ax in figure.axes for label in (ax.xaxis.label, ax.yaxis.label) if label.get_text()]
    assert labels
    for label in labels:
        box = label.get_window_extent()
        assert whole.x0 - 1 <= box.x0 <= box.x1 <= whole.x1 + 1, label.get_text()
        assert whole.y0 - 1 <= box.y0 <= box.y1 <= whole.y1 + 1, label.get_text()


def test_long_titles_of_plotly_are_on_two_lines(classes):
    figure = FIGURES["page"](*classes, backend="plotly")
    title = figure.layout.yaxis.title
    first, second = title.text.split("<br>")
    assert first.startswith("weighted average probability")
    assert max(len(first), len(second)) * 12 * 0.55 < 220
    assert title.font.size == 12


# ------------------------------------------------------------------------------------------------ points


def points_at(values, rows=None):
    rows = np.ones(len(values)) if rows is None else rows
    heights = np.arange(len(values), dtype=float)[:, None]
    find_rows = Deferred.of(np.asarray(rows))
    return Points(name="x", columns={"x": values}, heights=heights, outputs=(0,), units="value", find_rows=find_rows)


def test_hovering_over_a_point_tells_its_value():
    figure = points_at([0.25, 1.0, 40.0]).plot(backend="plotly")
    reported = [text for trace in figure.data for text in trace.hovertext or ()]
    assert [text.partition("<br>")[0] for text in reported] == ["x: 0.25", "x: 1", "x: 40"]


def test_ice_of_points_says_which_value_rows_are_compared_with():
    heights = np.array([[[0.0], [1.0], [2.0]], [[1.0], [3.0], [5.0]]])
    ice = Ice(name="x", axis=None, columns={"x": [17.0, 30.0, 80.0]}, heights=heights, outputs=(0,), units="value")
    assert make.panel_of_ice(ice, centered=True).note.endswith("each row from its value at: 17")


@pytest.mark.parametrize("whole", [False, True])
def test_a_log_scale_shows_no_negative_numbers_if_there_are_none(whole):
    values = [0, 114, 401, 2000, 99999] if whole else [0.0, 114.5, 401.0, 2000.0, 99999.0]
    scale = make.panel_of_points(points_at(values), xscale="log").x
    assert scale.edges[0] == 0.0
    assert scale.ticks[0] == (0.0, "0")
    scale = make.panel_of_points(points_at([-5.0, 3.0, 400.0]), xscale="log").x
    assert scale.edges[0] < 0
