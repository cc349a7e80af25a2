"""The cells at both ends of an axis: one that no value can lie in is not there, and one that holds infinity is."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

import glasswood as gw
from helpers.stumps import stump


@pytest.fixture(scope="module")
def rows():
    """Two columns, of which one is missing in a third of the rows, and a target that rises, but is 0 there."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 2))
    y = 10 + np.floor(X[:, 0] * 4) + X[:, 1]
    X[rng.random(400) < 0.3, 0] = np.nan
    y[np.isnan(X[:, 0])] = 0
    return X, y


MODELS = [
    DecisionTreeRegressor(max_depth=3),
    RandomForestRegressor(20, max_depth=4, random_state=0),
    HistGradientBoostingRegressor(max_iter=20, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("weighted", [False, True])
def test_nothing_lies_above_infinity(model, weighted, rows):
    X, y = rows
    model.fit(X, y)
    assert np.isinf(gw.read_model(model).cut).any()  # a split "all numbers left, missing right"
    weight = np.arange(len(X)) % 3 + 1.0 if weighted else None
    ex = gw.Explainer(model, X, sample_weight=weight)
    curve = ex.partial_dependence(0)
    assert np.isfinite(curve.cuts).all()
    assert len(curve.values) == len(curve.rows) == curve.cuts.size + 1
    weights = np.ones(len(X)) if weight is None else weight
    missing = np.isnan(X[:, 0])
    np.testing.assert_array_equal(curve.axis.rows[-1], weights[missing].sum())
    np.testing.assert_array_equal(curve.rows, np.bincount(curve.axis.cell_of(X[~missing, 0]), weights[~missing]))
    assert "inf" not in curve.to_frame()["x0_above"].astype(str)[1:].tolist()

    def brute(x):
        changed = X.copy()
        changed[:, 0] = x
        return np.average(model.predict(changed), weights=weight)

    for x in (*curve.cuts, *(curve.cuts + 1e-6), -1e6, 1e6, np.nan):
        assert curve(x) == pytest.approx(brute(x), abs=1e-10)
    assert curve(np.inf) == curve.values[-1]
    # All ways to explain rows that there are see the same cells.
    some = np.vstack([X[:30], [[np.nan, 0.5], [1e9, 0.5]]])
    score = model.predict(some)
    for found in (ex.shap_values(some), ex.interaction_values(some), gw.Explainer(model).shap_values(some)):
        base = getattr(found, "base_values", 0.0)
        np.testing.assert_allclose(np.asarray(found.values).sum(axis=1) + base, score, atol=1e-10)
    missing = np.c_[np.full(len(some), np.nan), some[:, 1]]
    np.testing.assert_allclose(ex.ice(0, rows=some).missing, model.predict(missing), atol=1e-10)
    surface = ex.partial_dependence(0, 1)
    assert surface.shape[0] == curve.cuts.size + 1


@pytest.mark.parametrize("model", MODELS[:2], ids=lambda model: type(model).__name__)
def test_missing_values_are_no_step_of_a_curve_that_rises(model, rows):
    X, y = rows
    found = gw.Explainer(model.fit(X[:, :1], np.floor(y)), X[:, :1]).monotonicity()
    assert found["x0"] == "increasing"
    assert np.isnan(found.at[0, 0])
    assert found.against[0, 0] == 0


def test_cells_that_hold_infinity_alone_are_there():
    # x <= -infinity is true of one value, and x > the largest number of one.
    lowest = gw.Explainer(stump(cut=np.array([-np.inf])), np.array([[0.0], [-np.inf]])).partial_dependence(0)
    assert lowest.cuts.tolist() == [-np.inf]
    assert lowest([-np.inf, -1e308, 0.0]).tolist() == [-1.0, 1.0, 1.0]
    assert lowest.rows.tolist() == [1, 1]
    largest = np.finfo(np.float64).max
    highest = gw.Explainer(stump(cut=np.array([largest])), np.array([[0.0], [np.inf]])).partial_dependence(0)
    assert highest.cuts.tolist() == [largest]
    assert highest([largest, np.inf]).tolist() == [-1.0, 1.0]
    assert highest.rows.tolist() == [1, 1]


def test_a_split_of_missing_values_alone():
    ex = gw.Explainer(
        stump(cut=np.array([np.inf]), missing_left=np.array([False])), np.array([[0.0], [np.nan], [np.inf]])
    )
    curve = ex.partial_dependence(0)
    assert curve.cuts.size == 0
    assert curve.values.tolist() == [-1.0]
    assert curve.missing == 1.0
    assert curve.axis.rows.tolist() == [2, 1]
    assert ex.monotonicity()["x"] == "constant"
    assert ex.shap_values(np.array([[np.nan], [1.0]])).values.ravel() == pytest.approx([4 / 3, -2 / 3])


@pytest.mark.parametrize("mode", ["Min", "Max"])
def test_where_catboost_tells_missing_values_from_numbers_there_is_no_step(mode, rows):
    catboost = pytest.importorskip("catboost")
    X, y = rows
    X = X[:, :1]
    settings = {"nan_mode": mode, "monotone_constraints": [1], "allow_writing_files": False}
    model = catboost.CatBoostRegressor(iterations=20, depth=3, verbose=0, **settings)
    model.fit(X, y if mode == "Min" else np.where(y > 0, y, 20.0))
    ex = gw.Explainer(model, X)
    curve = ex.partial_dependence(0)
    end = 0 if mode == "Min" else -1
    assert abs(curve.cuts[end]) > 3.4e38  # the border between missing values and numbers
    assert curve.values[end] == pytest.approx(curve.missing)
    assert curve(-np.inf if mode == "Min" else np.inf) == pytest.approx(curve.missing)
    named = ex.ensemble.feature_names[0]
    assert ex.monotonicity()[named] == "increasing"
    ordinary = np.delete(curve.values, end)
    assert f"from {ordinary.min():.6g} to {ordinary.max():.6g}" in repr(curve)
    assert len(gw.Explainer(model, gw.summarize(model, X)).spikes()) == 0
