"""The drop-in for scikit-learn's PartialDependenceDisplay: its figures with only the import changed, and what is new.

Every example is drawn twice, by us from exact values and by scikit-learn from brute force, and compared artist by
artist.
"""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn import inspection
from sklearn.datasets import load_diabetes, load_iris, make_hastie_10_2
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from glasswood.sklearn import PartialDependenceDisplay, partial_dependence
from helpers.versions import needs

mpl.use("Agg")

GRIDS = ("axes_", "lines_", "contours_", "bars_", "heatmaps_", "deciles_vlines_", "deciles_hlines_")


@pytest.fixture(autouse=True)
def pyplot():
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return GradientBoostingRegressor(n_estimators=8, random_state=1).fit(X[:50], y[:50]), X[:50]


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    return GradientBoostingClassifier(n_estimators=5, random_state=1).fit(X, names), X


@pytest.fixture(scope="module")
def houses():
    """A classifier of numbers and two categories, and its table."""
    rng = np.random.default_rng(0)
    n = 80
    X = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "town": pd.Categorical(rng.choice(["a", "b", "c"], size=n)),
            "kind": pd.Categorical(rng.choice(["flat", "house"], size=n)),
            "age": rng.normal(size=n),
        }
    )
    y = X["size"] * (X["town"] == "b") + (X["kind"] == "flat") + X["age"] * (X["town"] == "c") > 0.3
    return HistGradientBoostingClassifier(max_iter=8, min_samples_leaf=5, random_state=0).fit(X, y), X


def both(model, X, features, **options):
    """The display of scikit-learn's brute force and ours, which are found to look alike."""
    options = {"grid_resolution": 10, "random_state": 0, **options}
    theirs = inspection.PartialDependenceDisplay.from_estimator(model, X, features, method="brute", **options)
    ours = PartialDependenceDisplay.from_estimator(model, X, features, **options)
    look_alike(ours, theirs)
    return ours


def look_alike(ours, theirs):
    """Compare two displays artist by artist."""
    for name in ("features", "feature_names", "target_idx", "kind", "subsample", "is_categorical"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert ours.deciles.keys() == theirs.deciles.keys()
    for number, deciles in theirs.deciles.items():
        np.testing.assert_array_equal(ours.deciles[number], deciles)
    for own, other in zip(ours.pd_results, theirs.pd_results, strict=True):
        for grid, expected in zip(own.grid_values, other.grid_values, strict=True):
            np.testing.assert_array_equal(grid, expected)
        for key in set(other) & {"average", "individual"}:
            np.testing.assert_allclose(own[key], other[key], rtol=0, atol=1e-8)
    assert (ours.bounding_ax_ is None) == (theirs.bounding_ax_ is None)
    for name in GRIDS:
        own, other = getattr(ours, name), getattr(theirs, name)
        assert own.shape == other.shape, name
        for first, second in zip(own.ravel(), other.ravel(), strict=True):
            assert type(first) is type(second)
            COMPARE.get(name, lambda *_: None)(first, second) if first is not None else None


def same_lines(own, other):
    close(own.get_ydata(), other.get_ydata())
    assert list(own.get_xdata()) == list(other.get_xdata())
    for what in ("color", "linestyle", "linewidth", "alpha", "label"):
        assert mpl.artist.getp(own, what) == mpl.artist.getp(other, what)


def same_axes(own, other):
    for what in ("xlabel", "ylabel"):
        assert mpl.artist.getp(own, what) == mpl.artist.getp(other, what)
    close(own.get_xlim(), other.get_xlim())
    close(own.get_ylim(), other.get_ylim())
    legends = [
        None if axes.get_legend() is None else [text.get_text() for text in axes.get_legend().get_texts()]
        for axes in (own, other)
    ]
    assert legends[0] == legends[1]
    assert len(own.get_lines()) == len(other.get_lines())


def same_contours(own, other):
    close(own.levels, other.levels)
    assert own.get_cmap().name == other.get_cmap().name


def close(own, other):
    np.testing.assert_allclose(own, other, rtol=0, atol=1e-8)


COMPARE = {
    "axes_": same_axes,
    "lines_": same_lines,
    "contours_": same_contours,
    "bars_": lambda own, other: close(own.get_height(), other.get_height()),
    "heatmaps_": lambda own, other: close(own.get_array(), other.get_array()),
    "deciles_vlines_": lambda own, other: close(own.get_segments(), other.get_segments()),
    "deciles_hlines_": lambda own, other: close(own.get_segments(), other.get_segments()),
}


# ------------------------------------------------------------ the examples of scikit-learn's guide and gallery


def test_guide_one_way_and_two_way():
    X, y = make_hastie_10_2(n_samples=300, random_state=0)
    model = GradientBoostingClassifier(n_estimators=5, learning_rate=1.0, max_depth=1, random_state=0).fit(X, y)
    display = both(model, X, [0, 1, (0, 1)])
    assert display.axes_.shape == (1, 3)
    assert display.pd_results[2].average.shape == (1, 10, 10)


@pytest.mark.parametrize("kind", ["individual", "both"])
@pytest.mark.parametrize("centered", [False, True])
def test_guide_individual_curves(kind, centered):
    X, y = make_hastie_10_2(n_samples=60, random_state=0)
    model = GradientBoostingClassifier(n_estimators=5, learning_rate=1.0, max_depth=2, random_state=0).fit(X, y)
    display = both(model, X, [0, 1], kind=kind, centered=centered, subsample=20)
    assert display.lines_.shape == (1, 2, 20 + (kind == "both"))
    assert all(line.get_ydata()[0] == 0 for line in display.lines_.ravel()) == centered


@pytest.mark.parametrize("target", ["setosa", "virginica"])
def test_guide_classes(iris, target):
    model, X = iris
    display = both(model, X, [3, 2, (3, 2)], target=target)
    assert display.target_idx == ["setosa", "versicolor", "virginica"].index(target)
    found = partial_dependence(model, X, [3], grid_resolution=10)
    np.testing.assert_array_equal(display.pd_results[0].average, found.average)


def test_gallery_one_figure_for_two_models(pyplot, diabetes):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    tree, boosted = DecisionTreeRegressor(max_depth=4).fit(X, y), GradientBoostingRegressor(n_estimators=5).fit(X, y)
    fig, ax = pyplot.subplots(figsize=(12, 6))
    first = PartialDependenceDisplay.from_estimator(tree, X, ["age", "bmi"], ax=ax, line_kw={"label": "Tree"})
    second = PartialDependenceDisplay.from_estimator(
        boosted, X, ["age", "bmi"], ax=first.axes_, line_kw={"label": "Boosted", "color": "red"}
    )
    assert (first.axes_ == second.axes_).all()
    assert first.figure_ is fig
    assert [line.get_label() for line in first.axes_[0, 0].get_lines()] == ["Tree", "Boosted"]
    _, (left, right) = pyplot.subplots(1, 2)
    first.plot(ax=[left, right], line_kw={"label": "Tree"})
    second.plot(ax=[left, right], line_kw={"label": "Boosted", "c": "red"})
    assert left.get_xlabel() == "age"
    assert second.lines_[0].get_color() == "red"
    assert len(left.get_legend().get_texts()) == 2


@needs("scikit-learn", (1, 7))
def test_gallery_custom_values(diabetes):
    model, X = diabetes
    grids = {2: np.linspace(*np.quantile(X["bmi"], [0.2, 0.8]), 7), 0: np.array([-0.05, 0.0, 0.05, 0.1])}
    display = both(model, X, ["bmi", "age", ("bmi", "age")], custom_values=grids)
    assert [result.average.shape[1:] for result in display.pd_results] == [(7,), (4,), (7, 4)]


@pytest.mark.parametrize("categorical", [["town", "kind"], [1, 2], [False, True, True, False]])
def test_gallery_categories(houses, categorical):
    model, X = houses
    display = both(model, X, ["size", "town", ("town", "kind")], categorical_features=categorical)
    assert display.bars_[0, 1] is not None
    assert display.heatmaps_[0, 2] is not None
    assert display.deciles.keys() == {0}


def test_gallery_bike_sharing(shared):
    """The longest example: what moves the number of bikes hired in an hour. Whole numbers are floats there, too."""
    table = pd.read_parquet(shared / "data" / "bike_sharing_hour.parquet")[:2000]
    X = table[["temp", "hum", "windspeed", "hr"]].astype(float)
    X = X.assign(season=table["season"].astype(str), weather=table["weathersit"].astype(str))
    X = X.astype({"season": "category", "weather": "category"})
    model = HistGradientBoostingRegressor(max_iter=15, max_leaf_nodes=8, random_state=0).fit(X, table["cnt"])
    categories = {"categorical_features": ["season", "weather"]}
    both(model, X, ["temp", "hum", "season", "weather", "hr"], n_cols=2, **categories)
    both(model, X, ["temp", "hum"], kind="both", centered=True, subsample=50)
    both(model, X, ["temp", ("temp", "hum")], grid_resolution=6)
    both(model, X, [("season", "weather")], **categories)
    pair = partial_dependence(model, X, ("temp", "hum"), grid_resolution=10)
    assert np.meshgrid(*pair.grid_values)[0].T.shape == pair.average[0].shape  # as the surface in 3-D draws it


# ------------------------------------------------------------------------- what scikit-learn's tests show, for trees


@pytest.mark.parametrize("kind", ["average", "individual", "both"])
@pytest.mark.parametrize("subsample", [None, 20, 0.5])
def test_kinds(diabetes, kind, subsample):
    model, X = diabetes
    n_curves = {None: 50, 20: 20, 0.5: 25}[subsample]
    display = both(model, X, [0, 1, 2], kind=kind, subsample=subsample, feature_names=list(X))
    shape = {"average": (), "individual": (n_curves,), "both": (n_curves + 1,)}[kind]
    assert display.lines_.shape == (1, 3, *shape)


def test_a_list_of_kinds(diabetes):
    model, X = diabetes
    display = both(model, X, [0, 2, (1, 2)], kind=["both", "both", "average"], n_cols=2)
    assert display.axes_.shape == (2, 2)
    display.kind = ["average"]
    with pytest.raises(ValueError, match="as many elements"):
        display.plot()


@pytest.mark.parametrize("names", [list, np.array, pd.Series, pd.Index])
@pytest.mark.parametrize("table", [lambda X: X, np.asarray, lambda X: X.to_numpy().tolist()])
def test_features_by_name(diabetes, names, table):
    X = diabetes[1]
    model = GradientBoostingRegressor(n_estimators=3).fit(X.to_numpy(), X["bmi"])
    display = PartialDependenceDisplay.from_estimator(
        model, table(X), [("age", "bmi"), "bmi"], feature_names=names(list(X)), n_cols=1, line_kw={"alpha": 0.8}
    )
    assert display.features == [(0, 2), (2,)]
    assert display.axes_.shape == (2, 1)
    assert display.axes_[1, 0].get_xlabel() == "bmi"
    assert (display.axes_[0, 0].get_xlabel(), display.axes_[0, 0].get_ylabel()) == ("age", "bmi")
    assert display.lines_[1, 0].get_alpha() == 0.8
    assert display.lines_[0, 0] is None
    assert display.contours_[1, 0] is None


def test_axes(pyplot, diabetes):
    model, X = diabetes
    draw = PartialDependenceDisplay.from_estimator
    _, axes = pyplot.subplots(1, 2)
    axes[0].set_ylabel("mine")
    display = draw(model, X, ["age", ("age", "bmi")], ax=list(axes))
    assert display.bounding_ax_ is None
    assert display.axes_.shape == (2,)
    assert axes[0].get_ylabel() == "mine"
    for ax in (list(axes), tuple(axes), axes):
        with pytest.raises(ValueError, match="Expected ax to have 1 axes, got 2"):
            draw(model, X, ["age"], ax=ax)
    _, ax = pyplot.subplots()
    first = draw(model, X, ["age", "bmi"], ax=ax)
    with pytest.raises(ValueError, match="already used in another plot"):
        draw(model, X, ["age", "bmi"], ax=ax)
    draw(GradientBoostingRegressor(n_estimators=3).fit(X.to_numpy(), X["age"]), X.to_numpy(), [0, 2], ax=first.axes_)
    assert [axes.get_xlabel() for axes in first.axes_.ravel()] == ["age", "bmi"]  # those of the first
    line = LinearRegression().fit(X, X["age"])
    with pytest.warns(UserWarning, match="brute force"):
        draw(line, X, ["age", "bmi"], ax=first.axes_)
    assert [line.get_drawstyle() for line in first.axes_[0, 0].get_lines()] == ["steps-mid", "steps-mid", "default"]


@pytest.mark.parametrize(
    "options",
    [
        {"line_kw": {"color": "r"}, "pd_line_kw": {"color": "g"}, "ice_lines_kw": {"color": "b"}},
        {"pd_line_kw": {"color": "g"}, "ice_lines_kw": {"linestyle": "-."}},
        {"line_kw": {"c": "r", "ls": "-."}, "pd_line_kw": {"ls": "--"}},
        {"line_kw": {"label": "xxx"}},
    ],
)
def test_styles(diabetes, options):
    both(*diabetes, [0, 2], kind="both", **options)
    both(*diabetes, [0, (0, 2)], contour_kw={"cmap": "jet"}, **options)


@pytest.mark.parametrize("centered", [False, True])
def test_limits(diabetes, centered):
    for features, kind in [([0, 1], "average"), ([0, 1], "both"), ([(0, 1)], "average")]:
        display = both(*diabetes, features, kind=kind)
        for result in display.pd_results:
            for key in set(result) & {"average", "individual"}:
                result[key][...] = 1.0
                result[key][(0,) * (result[key].ndim - (len(features) == 1))] = -1.0
        theirs = inspection.PartialDependenceDisplay(
            display.pd_results,
            features=display.features,
            feature_names=display.feature_names,
            target_idx=0,
            deciles=display.deciles,
            kind=kind,
            random_state=0,
            is_categorical=display.is_categorical,
        )
        look_alike(display.plot(centered=centered), theirs.plot(centered=centered))
        look_alike(display.plot(pdp_lim={1: (0, 5), 2: (0, 5)}), theirs.plot(pdp_lim={1: (0, 5), 2: (0, 5)}))


ERRORS = [
    ({"features": ["foobar"]}, "Feature 'foobar' not in feature_names"),
    ({"features": [(1, 2, 3)]}, "Each entry in features must be"),
    ({"features": [1, {}]}, "Each entry in features must be"),
    ({"features": [()]}, "Each entry in features must be"),
    ({"features": [4.5]}, "Each entry in features must be"),
    ({"features": [123]}, "features must be"),
    ({"features": [0], "feature_names": ["a", "b", "a", "c"]}, "should not contain duplicates"),
    ({"features": [1, 2], "kind": ["both"]}, "`kind` is provided as a list of strings, it should contain"),
    ({"features": [1], "kind": "mean"}, "kind"),
    ({"features": [1, (1, 2)], "kind": "both"}, "ICE plot cannot be rendered for 2-way"),
    ({"features": [1, (1, 2)], "kind": ["both", "individual"]}, "ICE plot cannot be rendered for 2-way"),
    ({"features": [1], "subsample": -1}, "subsample=-1 should be positive"),
    ({"features": [1], "subsample": 1.2}, r"subsample=1.2 should be in the \(0, 1\) range"),
    ({"features": [1], "categorical_features": [1.0, 2.0]}, "Expected `categorical_features` to be"),
    ({"features": [1], "categorical_features": [True]}, "categorical_features"),
    ({"features": [1], "categorical_features": [1], "grid_resolution": 2}, "resolution of the computed grid"),
    ({"features": [1], "target": None}, "target must be specified for multi-class"),
    ({"features": [1], "target": "rose"}, "target not in est.classes_, got rose"),
]


@pytest.mark.parametrize(("options", "words"), ERRORS)
def test_errors(iris, options, words):
    for draw in (PartialDependenceDisplay.from_estimator, inspection.PartialDependenceDisplay.from_estimator):
        with pytest.raises(ValueError, match=words):
            draw(*iris, **{"target": "setosa", **options})


def test_subclasses(diabetes):
    class Mine(PartialDependenceDisplay):
        pass

    assert isinstance(Mine.from_estimator(*diabetes, [0]), Mine)


# ------------------------------------------------------------------- what is different, as docs/guide/sklearn.md says


def test_steps_are_drawn_as_steps(diabetes):
    draw = PartialDependenceDisplay.from_estimator
    display = draw(*diabetes, [0, 2], kind="both")
    assert {line.get_drawstyle() for line in display.lines_.ravel()} == {"steps-mid"}
    for options in ({"line_kw": {"drawstyle": "default"}}, {"line_kw": {"ds": "default"}}):
        assert draw(*diabetes, [0], **options).lines_[0, 0].get_drawstyle() == "default"
    mixed = draw(*diabetes, [0], kind="both", pd_line_kw={"drawstyle": "default"})
    assert [mixed.lines_[0, 0, k].get_drawstyle() for k in (0, -1)] == ["steps-mid", "default"]
    own = PartialDependenceDisplay(
        [partial_dependence(*diabetes, [0])],
        features=[(0,)],
        feature_names=list(diabetes[1]),
        target_idx=0,
        deciles={},
    )
    assert own.plot().lines_[0, 0].get_drawstyle() == "steps-mid"


@pytest.mark.parametrize("centered", [False, True])
def test_pairs_of_a_number_and_a_category(houses, centered):
    model, X = houses
    draw = PartialDependenceDisplay.from_estimator
    with pytest.raises(ValueError, match="pairs of continuous and categorical"):
        inspection.PartialDependenceDisplay.from_estimator(model, X, [("size", "town")], categorical_features=["town"])
    for pair in [("size", "town"), ("town", "size")]:
        display = draw(model, X, [pair, "age"], categorical_features=["town"], centered=centered, grid_resolution=9)
        values = display.pd_results[0].average[0]
        curves = values.T if pair[0] == "size" else values
        panel = display.axes_[0, 0]
        assert panel.get_xlabel() == "size"
        assert [text.get_text() for text in panel.get_legend().get_texts()] == ["a", "b", "c"]
        assert display.lines_[0, 0] is panel.get_lines()[0]
        for curve, line in zip(curves, panel.get_lines(), strict=True):
            np.testing.assert_allclose(line.get_ydata(), curve - curve[0] * centered, rtol=0, atol=1e-12)
            assert line.get_drawstyle() == "steps-mid"
            low, high = panel.get_ylim()
            assert low < line.get_ydata().min() <= line.get_ydata().max() < high
        assert display.features[0] == tuple(X.columns.get_loc(name) for name in pair)
        assert panel.get_ylim() == display.axes_[0, 1].get_ylim()


def test_individual_curves_of_categories(houses):
    model, X = houses
    with pytest.raises(ValueError, match="not possible to display individual"):
        inspection.PartialDependenceDisplay.from_estimator(
            model, X, ["town"], categorical_features=["town"], kind="both"
        )
    draw = PartialDependenceDisplay.from_estimator
    display = draw(model, X, ["town", "size"], categorical_features=["town"], kind="both", subsample=7)
    assert display.lines_.shape == (1, 2, 8)
    assert list(display.lines_[0, 0, 0].get_xdata()) == ["a", "b", "c"]
    np.testing.assert_array_equal(display.lines_[0, 0, 7].get_ydata(), display.pd_results[0].average[0])
    assert display.is_categorical == [(True,), (False,)]


def test_columns_of_categories_need_no_naming(houses):
    display = PartialDependenceDisplay.from_estimator(*houses, ["town", ("town", "kind"), ("age", "town")])
    assert display.is_categorical == [(True,), (True, True), (False, True)]
    assert display.bars_[0, 0] is not None


def test_deciles_of_the_vertical_axis_are_at_their_values(diabetes):
    model, X = diabetes
    display = PartialDependenceDisplay.from_estimator(model, X, [("age", "bmi")])
    lines, axes = display.deciles_hlines_[0, 0], display.axes_[0, 0]
    shown = axes.transData.inverted().transform(lines.get_transform().transform(lines.get_segments()[4]))
    np.testing.assert_allclose(shown[:, 1], np.median(X["bmi"]), rtol=0, atol=1e-3)
    np.testing.assert_allclose(shown[0, 0], axes.get_xlim()[0])
