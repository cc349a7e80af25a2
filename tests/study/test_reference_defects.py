"""What other tools get wrong about partial dependence is right here: one test per defect.

The numbers are those of peers.md: section E lists defects of woodelf_explainer 0.4.8, the reference implementation, and
section C.3 behaviours of scikit-learn 1.9.1.
"""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost as xgb
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.inspection import partial_dependence
from sklearn.tree import DecisionTreeRegressor
from threadpoolctl import threadpool_limits

import glasswood as gw
from helpers.brute import Case, Proof, tries
from zoo import catboost_models, lightgbm_models, sklearn_models, xgboost_models

FEW = {"n_estimators": 8, "random_state": 0}
BOOST = {"max_iter": 8, "random_state": 0}


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    with threadpool_limits(1):  # for few rows, the threads of scikit-learn only wait for each other
        yield


def prove_curves(model, rows, raw):
    """Compare every cell of every feature with the average of the library's own scores; return the explainer."""
    proof = Proof(Case(model, rows, raw, missing=False), seed=0)
    proof.tries = {f: tries(proof.case, proof.e, f, proof.rng, max_=1000) for f in proof.e.used_features}
    proof.curves()
    return proof.ex


# -------------------------------------------------------------------------------------------- the reference, section E


@pytest.mark.parametrize("model", [HistGradientBoostingClassifier(**BOOST), GradientBoostingClassifier(**FEW)])
def test_e1_the_level_of_a_classifier_is_that_of_its_score(model):
    # E.1: the mean of predicted labels is added to a curve of log-odds (0.659 instead of 0.226).
    X, y = sklearn_models.data("classification")
    model.fit(X, y)
    curve = prove_curves(model, X[:60], sklearn_models.raw).partial_dependence("x0")
    assert curve.mean == pytest.approx(model.decision_function(X[:60]).mean(), rel=1e-10)
    assert curve.units == "log-odds"


def test_e2_a_forest_of_two_classes_explains_the_class_that_is_asked_for():
    # E.2: class 0 is explained by default, and the mean label is added (the sum with scikit-learn's is always 1.077).
    X, y = sklearn_models.data("classification")
    y = np.array(["no", "yes"])[y]
    model = RandomForestClassifier(**FEW).fit(X, y)
    ex = prove_curves(model, X[:60], sklearn_models.raw)
    curve = ex.partial_dependence("x0")
    assert curve.outputs == ("yes",)
    np.testing.assert_allclose(curve.values + ex.partial_dependence("x0", output="no").values, 1.0, rtol=1e-12)
    theirs = partial_dependence(model, X[:60], [0], method="brute", grid_resolution=10)
    np.testing.assert_allclose(
        ex.partial_dependence("x0", output="yes")(theirs["grid_values"][0]), theirs["average"][0]
    )


@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=1, max_bins=20),  # left if x <= cut
        xgb.XGBRegressor(n_estimators=3, n_jobs=1),  # left if x < cut
        lgb.LGBMRegressor(n_estimators=3, min_child_samples=1, n_jobs=1, verbose=-1),
    ],
    ids=["sklearn", "xgboost", "lightgbm"],
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # LightGBM makes up names
def test_e3_there_is_one_more_value_than_cuts(model):
    # E.3: of 9 intervals 8 come back, and the last one, the largest here, is not among them.
    X = np.arange(40.0)[:, None] // 5
    model.fit(X, np.where(X[:, 0] == 7, 100.0, X[:, 0]))
    curve = gw.Explainer(model, X).partial_dependence(0)
    assert len(curve.values) == len(curve.cuts) + 1
    # With one feature, the curve is the model itself.
    at = [*curve.cuts, np.nextafter(curve.cuts[-1], np.inf)]
    np.testing.assert_allclose(curve.values, model.predict(np.array(at)[:, None]), rtol=1e-6)
    assert curve.values.argmax() == len(curve.cuts)
    assert curve(1e9) == curve.values[-1]
    assert curve(-1e9) == curve.values[0]


@pytest.mark.parametrize(
    "model", [DecisionTreeRegressor(), RandomForestRegressor(**FEW), HistGradientBoostingRegressor(min_samples_leaf=1)]
)
def test_e4_a_cut_at_zero_is_a_cut(model):
    # E.4: zeros that pad the cuts are trimmed, and a cut at zero with them: the grid comes back empty.
    X = np.tile([[-1.0], [1.0]], (20, 1))
    curve = gw.Explainer(model.fit(X, X[:, 0] * 3), X).partial_dependence(0)
    # Trees that round numbers to float32 send those up to half of the smallest one left, too.
    beyond = 5e-324 if isinstance(model, HistGradientBoostingRegressor) else 1e-45
    assert len(curve.cuts) == 1
    assert 0.0 <= curve.cuts[0] < beyond
    np.testing.assert_allclose(curve.values, [-3.0, 3.0], rtol=1e-3)
    assert curve([-0.0, 0.0, beyond]).tolist() == curve.values[[0, 0, 1]].tolist()


@pytest.mark.parametrize("background", [True, False], ids=["rows", "path-dependent"])
def test_e5_a_feature_without_splits_is_flat_at_the_mean(background):
    # E.5: it is plotted at 0 instead of the mean, about 100.
    X, y = sklearn_models.data()
    X[:, 3] = 1.0
    model = HistGradientBoostingRegressor(**BOOST).fit(X, y + 100)
    curve = gw.Explainer(model, X if background else None).partial_dependence("x3")
    assert curve.cuts.size == 0
    np.testing.assert_allclose(curve.values, [model.predict(X).mean()], rtol=1e-12)
    assert curve.missing == curve.values[0]
    surface = gw.Explainer(model, X).partial_dependence("x0", "x3")
    assert surface.additive
    np.testing.assert_allclose(surface.values[:, 0], surface.first.values, rtol=1e-12)


CATEGORIES = {
    "lightgbm": (lightgbm_models.labelled, lightgbm_models.raw),
    "lightgbm, codes": (lightgbm_models.coded, lightgbm_models.raw),
    "xgboost": (lambda: xgboost_models.categories("city", "store"), xgboost_models.margin),
    "xgboost, codes": (xgboost_models.codes, xgboost_models.margin),
    "catboost": (catboost_models.mixed, catboost_models.raw),
    "sklearn": (lambda: histogram_of_categories(), sklearn_models.raw),
}


def histogram_of_categories():
    frame, y = sklearn_models.category_frame()
    return HistGradientBoostingRegressor(**BOOST).fit(frame, y), frame


@pytest.mark.parametrize("name", CATEGORIES)
def test_e6_splits_by_category_are_read(name):
    # E.6: LightGBM, scikit-learn and XGBoost models with such splits raise.
    if name == "xgboost" and xgboost_models.VERSION < (3, 1):
        pytest.skip("before 3.1, models do not keep the labels of categories")
    make, raw = CATEGORIES[name]
    model, table = make()
    ensemble = prove_curves(model, table[:60], raw).ensemble
    assert (ensemble.category_set >= 0).any()


def test_e7_what_users_of_scikit_learn_expect(capfd):
    # E.7: no choice of features, classes, weights and values; plain arrays need names; it prints.
    X, y = sklearn_models.data("classification", classes=3)
    model = RandomForestClassifier(**FEW).fit(X, y)
    weight = np.arange(len(X))
    ex = gw.Explainer(model, X, sample_weight=weight)
    values = [-0.7, 0.0, 3.1]
    found = ex.partial_dependence(2, output=1)(values)
    expected = [np.average(model.predict_proba(with_value(X, 2, value))[:, 1], weights=weight) for value in values]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    ex.joint_partial_dependence()["x0", "x1"].to_frame()
    assert capfd.readouterr() == ("", "")


def with_value(X, column, value):
    X = X.copy()
    X[:, column] = value
    return X


# --------------------------------------------------------------------------------------- scikit-learn, section C.3


def test_c3_one_scale():
    # C.3, first row: log-odds or probability, depending on an option that asks for something else.
    X, y = sklearn_models.data("classification")
    model = HistGradientBoostingClassifier(**BOOST).fit(X, y)
    for background in (X, None, gw.summarize(model, X)):
        curve = gw.Explainer(model, background, response="raw").partial_dependence(0)
        assert curve.units == "log-odds"
        assert curve.mean == pytest.approx(model.decision_function(X).mean())


@pytest.mark.parametrize("background", [True, False], ids=["rows", "path-dependent"])
def test_c3_the_level_is_true(background):
    # C.3, third row: the constant of HistGradientBoosting is left out (-0.914 instead of 49.126).
    X, y = sklearn_models.data()
    model = HistGradientBoostingRegressor(**BOOST).fit(X, y + 50)
    curve = gw.Explainer(model, X if background else None).partial_dependence(0)
    assert curve.mean == pytest.approx(model.predict(X).mean())
    assert curve.values.min() < curve.mean < curve.values.max()


def test_c3_categories_of_histograms():
    # C.3, rows 4 and 5: recursion takes codes of categories for numbers, and refuses a frame with categories.
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"kind": pd.Categorical(rng.choice([*"abcd"], 400)), "size": rng.normal(size=400)})
    y = frame["kind"].map({"a": 3.0, "b": -1.0, "c": 5.0, "d": 0.0}).astype(float) + 0.1 * frame["size"]
    model = HistGradientBoostingRegressor(max_iter=60).fit(frame, y)
    for curve in (gw.Explainer(model, rows).partial_dependence("kind") for rows in (frame, None)):
        assert curve.categories == ("a", "b", "c", "d")
        np.testing.assert_allclose(curve.values, [3.0, -1.0, 5.0, 0.0], atol=0.2)
    assert prove_curves(model, frame[:60], sklearn_models.raw).partial_dependence("kind").rows.sum() == 60


def test_c3_missing_values_are_a_point_of_their_own():
    # C.3, row 6: a grid of NaN only, or NaN as its last value.
    X, y = sklearn_models.data(missing=True)
    model = HistGradientBoostingRegressor(**BOOST).fit(X, y)
    curve = gw.Explainer(model, X).partial_dependence(0)
    assert np.isfinite(curve.cuts).all()
    assert np.isfinite(curve.values).all()
    assert curve.missing == pytest.approx(model.predict(with_value(X, 0, np.nan)).mean())
    assert curve(np.nan) == curve.missing
    assert curve.rows.sum() == np.count_nonzero(~np.isnan(X[:, 0]))
    assert curve.axis.rows[-1] == np.count_nonzero(np.isnan(X[:, 0]))


def test_c3_integers():
    # C.3, row 7: ValueError for a column of integers.
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"rooms": rng.integers(1, 9, 300), "size": rng.normal(size=300)})
    model = RandomForestRegressor(**FEW).fit(frame, frame["rooms"] + frame["size"])
    curve = gw.Explainer(model, frame).partial_dependence("rooms")
    expected = [model.predict(frame.assign(rooms=rooms)).mean() for rooms in range(1, 9)]
    np.testing.assert_allclose(curve(range(1, 9)), expected, rtol=1e-12)
    np.testing.assert_array_equal(curve(np.arange(1, 9)), curve(np.arange(1, 9, dtype=np.float32)))


def test_c3_a_number_with_a_category():
    # C.3, row 8: the display refuses such a pair.
    frame, y = sklearn_models.category_frame()
    model = HistGradientBoostingRegressor(**BOOST).fit(frame, y)
    surface = gw.Explainer(model, frame).partial_dependence("age", "kind")
    assert surface.shape == (len(surface.cuts[0]) + 1, 3)
    changed = frame.assign(age=0.3, kind=pd.Categorical(["y"] * len(frame), categories=[*"xyz"]))
    assert surface(0.3, "y") == pytest.approx(model.predict(changed).mean())


def test_c3_polars():
    # C.3, row 10: AttributeError for Polars.
    frame, y = sklearn_models.category_frame()
    model = HistGradientBoostingRegressor(**BOOST).fit(frame, y)
    ours, theirs = (gw.Explainer(model, rows).partial_dependence("town") for rows in (pl.from_pandas(frame), frame))
    np.testing.assert_array_equal(ours.heights, theirs.heights)


def test_c3_two_rows_of_two_classes():
    # C.3, last row: ValueError, because two rows look like two classes.
    X, y = sklearn_models.data("classification")
    model = RandomForestClassifier(**FEW).fit(X, y)
    curve = gw.Explainer(model, X[:2]).partial_dependence(0)
    np.testing.assert_allclose(curve(0.4), model.predict_proba(with_value(X[:2], 0, 0.4)).mean(axis=0), rtol=1e-12)
