"""What users get: values, calls, frames and reprs."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_regression
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

import glasswood as gw
from glasswood.results import _frames
from glasswood.study import _study


@pytest.fixture(scope="module")
def mixed():
    """A model of a number with missing values, a category and an integer; and its table."""
    rng = np.random.default_rng(0)
    n = 500
    frame = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "town": pd.Categorical(rng.choice(["a", "b", "c"], size=n)),
            "rooms": rng.integers(1, 6, size=n),
            "unused": np.ones(n),
        }
    )
    y = np.nan_to_num(frame["size"]) * (frame["town"] == "b") + frame["rooms"]
    return HistGradientBoostingRegressor(max_iter=20, random_state=0).fit(frame, y), frame


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT], ids=str)
def test_every_missing_value_can_be_asked(mixed, missing):
    model, frame = mixed
    curve, categories = (gw.Explainer(model, frame).partial_dependence(name) for name in ("size", "town"))
    assert curve(missing) == curve(np.nan) == curve.missing
    np.testing.assert_array_equal(curve([missing, 1.0]), curve([np.nan, 1.0]))
    np.testing.assert_array_equal(categories([missing, "a"]), categories([None, "a"]))
    surface = gw.Explainer(model, frame).partial_dependence("size", "town")
    np.testing.assert_array_equal(surface([missing, 1.0], ["a", missing]), surface([np.nan, 1.0], ["a", None]))


def test_a_curve_of_numbers(mixed):
    model, frame = mixed
    curve = gw.Explainer(model, frame).partial_dependence("size")
    assert curve.values.shape == (curve.cuts.size + 1,)
    assert curve.rows.sum() + frame["size"].isna().sum() == len(frame)
    below, above = curve.cuts[0], np.nextafter(curve.cuts[0], np.inf)
    np.testing.assert_array_equal(curve([below, above, np.nan]), [curve.values[0], curve.values[1], curve.missing])
    np.testing.assert_array_equal(curve(-np.inf), curve.values[0])
    np.testing.assert_array_equal(curve([[np.inf]]), [[curve.values[-1]]])
    assert curve.unseen is None
    assert curve.categories is None
    assert repr(curve).startswith(f"Curve(size: {curve.cuts.size} cuts, value from ")


def test_a_curve_of_categories(mixed):
    model, frame = mixed
    curve = gw.Explainer(model, frame).partial_dependence("town")
    assert curve.categories == ("a", "b", "c")
    assert curve.cuts.size == 0
    np.testing.assert_array_equal(curve.rows, frame["town"].value_counts(sort=False))
    np.testing.assert_array_equal(curve(["c", "a"]), curve.values[[2, 0]])
    np.testing.assert_array_equal(curve(np.array(["nowhere", None], dtype=object)), [curve.unseen, curve.missing])
    table = curve.to_frame()
    assert table["town"].tolist() == ["a", "b", "c", "(unseen)", "(missing)"]
    np.testing.assert_array_equal(table["value"], curve.heights[:, 0])


def test_an_unused_feature_is_flat_at_the_mean(mixed):
    model, frame = mixed
    curve = gw.Explainer(model, frame).partial_dependence("unused")
    np.testing.assert_allclose(curve.values, [model.predict(frame).mean()])


def test_frames(mixed):
    model, frame = mixed
    ex = gw.Explainer(model, frame)
    curve = ex.partial_dependence("rooms")
    table = curve.to_frame()
    assert table.columns.tolist() == ["rooms_above", "rooms_to", "value", "rows"]
    assert len(table) == curve.cuts.size + 2
    assert table["rows"].sum() == len(frame)
    surface = ex.partial_dependence("size", "town")
    table = surface.to_frame()
    assert table.columns.tolist() == ["size_above", "size_to", "town", "value"]
    assert len(table) == surface.heights.size
    points = ex.partial_dependence("size", "town", "rooms", at=frame[:7])
    assert points.to_frame().columns.tolist() == ["size", "town", "rooms", "value"]
    assert repr(points) == "Points(size x town x rooms: 7 points, value)"


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_come_from_any_library(mixed, monkeypatch, library):
    model, frame = mixed
    curve = gw.Explainer(model, frame).partial_dependence("rooms")
    monkeypatch.setattr(_frames, "FRAME_LIBRARIES", (library,))
    assert type(curve.to_frame()).__module__.startswith(library)
    monkeypatch.setattr(_frames, "FRAME_LIBRARIES", ("no_such_library",))
    with pytest.raises(gw.errors.MissingExtraError, match="pandas, polars or pyarrow"):
        curve.to_frame()


def test_a_surface(mixed):
    model, frame = mixed
    ex = gw.Explainer(model, frame)
    surface = ex.partial_dependence("size", "town")
    assert surface.names == ("size", "town")
    assert surface.shape == surface.values.shape == surface.interaction.shape
    assert not surface.additive
    a, b = surface.first, surface.second
    np.testing.assert_allclose(surface.values, a.values[:, None] + b.values - a.mean + surface.interaction)
    np.testing.assert_allclose(surface(a.cuts[:, None], ["a", "b"]), surface.values[:-1, :2])
    np.testing.assert_array_equal(surface(np.nan, "b"), surface.heights[-1, 1, 0])
    other = ex.partial_dependence("town", "size")
    np.testing.assert_allclose(other.values, surface.values.T)
    assert repr(surface).startswith("Surface(size x town: ")


def test_pairs_that_share_no_path_are_additive():
    X, y = make_regression(300, 4, random_state=0)
    model = HistGradientBoostingRegressor(max_iter=10, interaction_cst=[[0, 1], [2, 3]]).fit(X, y)
    ex = gw.Explainer(model, X)
    surface = ex.partial_dependence(0, 2)
    assert surface.additive
    assert ", additive" in repr(surface)
    assert not surface.interaction.any()
    brute = [[model.predict(set_to(X, {0: x, 2: z})).mean() for z in (-1.0, 1.0)] for x in (-1.0, 1.0)]
    np.testing.assert_allclose(surface([[-1.0], [1.0]], [-1.0, 1.0]), brute)
    joint = ex.joint_partial_dependence()
    assert len(joint) == 6
    assert next(iter(joint)) == ("x0", "x1")
    assert joint["x0", "x2"].additive
    assert not joint["x0", "x1"].additive
    assert repr(joint) == "Curves(x0 x x1, x0 x x2, x0 x x3, x1 x x2, x1 x x3, x2 x x3)"
    names = list(joint)
    assert len(names) == len(set(names)) == 6
    assert all(pair in joint for pair in names)
    for absent in (names[0][::-1], (names[0][0],) * 2, names[0][0], (names[0][0], "none"), 3):
        assert absent not in joint
    with pytest.raises(KeyError):
        joint["x0", "x9"]


def test_many_pairs_are_not_listed():
    # Found by fuzzing: the 12 million pairs of 5,000 columns took gigabytes before the first surface.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 5000))
    ex = gw.Explainer(DecisionTreeRegressor(max_depth=2).fit(X, X[:, 7]), X)
    tracemalloc.start()
    joint = ex.joint_partial_dependence()
    assert len(joint) == 5000 * 4999 // 2
    assert joint["x7", "x9"].shape[1] == 1
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6


def set_to(X, values):
    X = X.copy()
    for column, value in values.items():
        X[:, column] = value
    return X


def test_several_outputs():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = RandomForestClassifier(20, random_state=0).fit(X, y)
    ex = gw.Explainer(model, X)
    curve = ex.partial_dependence("petal width (cm)")
    assert curve.values.shape == (curve.cuts.size + 1, 3)
    np.testing.assert_allclose(curve.values.sum(axis=1), 1.0)
    one = ex.partial_dependence("petal width (cm)", output="2")
    np.testing.assert_array_equal(one.values, curve.values[:, 2])
    np.testing.assert_array_equal(ex.partial_dependence("petal width (cm)", output=ex.outputs[-1]).values, one.values)
    assert "3 outputs" in repr(curve)
    assert set(curve.to_frame()["output"]) == {0, 1, 2}
    surface = ex.partial_dependence("petal width (cm)", "petal length (cm)")
    assert surface.values.shape == (*surface.shape, 3)
    points = ex.partial_dependence(0, 1, 2, at=X.iloc[:4, :3])
    assert points.values.shape == (4, 3)
    assert points.to_frame().columns[-1] == "value_2"
    grids = ex.joint_partial_dependence(grid={name: X[name][:5] for name in X}, output=0).grid_values
    assert grids["petal length (cm)", "petal width (cm)"].shape == (5, 5)
    with pytest.raises(gw.errors.TableError, match="no output 'setosa'"):
        ex.partial_dependence(0, output="setosa")


def test_counts_that_do_not_fit_are_folded(monkeypatch):
    X, y = make_regression(400, 5, random_state=0)
    model = RandomForestRegressor(7, random_state=0).fit(X, y)
    whole = gw.Explainer(model, X).partial_dependence()
    monkeypatch.setattr(_study, "MAX_COUNTS", 4000)
    weight = np.full(len(X), 2.0)
    for folded in (gw.Explainer(model, X), gw.Explainer(model, X, sample_weight=weight)):
        curves = folded.partial_dependence()
        assert not folded._study._effects
        for name, curve in whole.items():
            np.testing.assert_allclose(curves[name].values, curve.values, rtol=1e-12)
            np.testing.assert_allclose(curves[name].mean, curve.mean)
        scale = 1 if folded._study.over.weight is None else 2
        np.testing.assert_array_equal(curves["x0"].rows, scale * whole["x0"].rows)


def test_rows_of_weighted_backgrounds_are_weights(mixed):
    model, frame = mixed
    weight = np.random.default_rng(0).random(len(frame))
    curve = gw.Explainer(model, frame, sample_weight=weight).partial_dependence("town")
    expected = [weight[frame["town"] == town].sum() for town in "abc"]
    np.testing.assert_allclose(curve.rows, expected, rtol=1e-12)


def test_categories_that_only_the_table_can_name():
    # CatBoost keeps hashes of categories, no texts
    catboost = pytest.importorskip("catboost")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"town": rng.choice(["north", "south", "east"], size=200), "x": rng.normal(size=200)})
    y = frame["x"] + (frame["town"] == "south")
    model = catboost.CatBoostRegressor(iterations=10, cat_features=["town"], verbose=0, allow_writing_files=False)
    model.fit(frame, y)
    curve = gw.Explainer(model, frame).partial_dependence("town")
    assert set(curve.categories) == {"north", "south", "east"}
    for town in curve.categories:
        expected = model.predict(frame.assign(town=town)).mean()
        np.testing.assert_allclose(curve([town]), [expected])


def test_weights_need_rows(mixed):
    model, frame = mixed
    for background in (None, gw.summarize(model, frame)):
        with pytest.raises(gw.errors.TableError, match="sample_weight belongs to a table of rows"):
            gw.Explainer(model, background, sample_weight=np.ones(len(frame)))
    with pytest.raises(gw.errors.TableError, match="sample_weight has shape"):
        gw.Explainer(model, frame, sample_weight=np.ones(3))


def test_grids_that_do_not_fit_are_refused(mixed):
    model, frame = mixed
    ex = gw.Explainer(model, frame, groups={"home": ["size", "rooms"], "town": ["town"]})
    with pytest.raises(gw.errors.ArgumentError, match="an empty mapping"):
        ex.joint_partial_dependence(grid={})
    with pytest.raises(gw.errors.TableError, match="name the features too"):
        ex.partial_dependence(at=frame)
    assert ex.partial_dependence("town").categories == ("a", "b", "c")
    assert ex.partial_dependence("unused").rows.tolist() == [500]  # its column is not read


def test_names_that_lightgbm_has_changed():
    lightgbm = pytest.importorskip("lightgbm")
    X, y = make_regression(200, 2, random_state=0)
    frame = pd.DataFrame(X, columns=["living space", "rooms"])
    model = lightgbm.LGBMRegressor(n_estimators=5, verbose=-1).fit(frame, y)
    ex = gw.Explainer(model, frame)
    points = ex.partial_dependence("living space", "rooms", at=frame[:3])
    surface = ex.partial_dependence("living space", "rooms")
    np.testing.assert_allclose(points.values, surface(frame["living space"][:3], frame["rooms"][:3]))
