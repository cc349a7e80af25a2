"""Without rows, curves follow the covers of the model: splits on features that are not fixed average by cover."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.inspection import partial_dependence
from sklearn.tree import DecisionTreeRegressor
from threadpoolctl import threadpool_limits

import glasswood as gw
from helpers import oracle
from helpers.brute import Case, answered, tries
from helpers.strategies import ensembles
from helpers.versions import has, needs
from zoo import catboost_models, lightgbm_models, sklearn_models, xgboost_models
from zoo.covers import MODELS, WITHOUT, scikit_learn, with_covers

FEW = {"n_estimators": 8, "random_state": 0}
BOOST = {"max_iter": 8, "random_state": 0}


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    with threadpool_limits(1):  # for few rows, the threads of scikit-learn only wait for each other
        yield


# ------------------------------------------------------------------------------------------------------- definition


def walk(e, child, fixed):
    """The value below a child of a node, or a root: fixed features choose a side, others are averaged by cover."""
    if child < 0:
        return e.value[~child]
    sides = (int(e.left[child]), int(e.right[child]))
    feature = int(e.feature[child])
    if feature in fixed:
        return walk(e, sides[0 if oracle.goes_left(e, child, fixed[feature]) else 1], fixed)
    if e.cover[child] == 0:  # no training row comes here, so there is nothing to average by
        return 0.0
    shares = [(e.cover[side] if side >= 0 else e.leaf_cover[~side]) / e.cover[child] for side in sides]
    return sum(share * walk(e, side, fixed) for share, side in zip(shares, sides, strict=True))


def by_definition(e, points):
    """The score at each point: the values of all trees, added up as `Score` says."""
    score, columns = e.score, e.schema.columns
    encoded = {f: columns[f].encode(np.array(values)).tolist() for f, values in points.items()}
    result = np.zeros((len(next(iter(encoded.values()))), e.n_outputs))
    for k, scores in enumerate(result):
        for tree, output in enumerate(e.tree_output):
            value = walk(e, int(e.root[tree]), {f: values[k] for f, values in encoded.items()})
            scores[slice(None) if output < 0 else slice(output, output + 1)] += value
    if score.base_first:
        return answered(e, (result + score.base) * score.scale / score.divisor)
    return answered(e, result * score.scale / score.divisor + score.base)


def follows_the_definition(e, case, seed):
    """Compare curves, a surface and points with the definition."""
    rng, ex = np.random.default_rng(seed), gw.Explainer(e)
    within = 1e-12 * (np.abs(e.value).sum() + np.abs(e.score.base).max())
    features = rng.permutation(e.used_features.tolist())[:3].tolist()
    tried = {f: tries(case, e, f, rng, max_=12).values for f in features}
    for f in features:
        close(ex.partial_dependence(f)(tried[f]), by_definition(e, {f: tried[f]}), within)
    points = {f: [values[k] for k in rng.integers(len(values), size=10)] for f, values in tried.items()}
    if len(features) > 1:
        a, b = features[:2]
        close(ex.partial_dependence(a, b)(points[a], points[b]), by_definition(e, {a: points[a], b: points[b]}), within)
    if features:
        at = {e.feature_names[f]: values for f, values in points.items()}
        close(ex.partial_dependence(*features, at=at).heights, by_definition(e, points), within)


def close(actual, expected, within):
    np.testing.assert_allclose(np.reshape(actual, expected.shape), expected, rtol=0, atol=within)


pytestmark = [
    # The argument of LightGBM that all its versions know is on its way out.
    pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated"),
    # scikit-learn bins infinities by computing with them.
    pytest.mark.filterwarnings("ignore:invalid value encountered in (add|subtract|multiply|reduce):RuntimeWarning"),
]


@pytest.mark.parametrize("name", MODELS)
def test_every_model_with_covers(name):
    if name.startswith("xgboost: categories") and xgboost_models.VERSION < (3, 1):
        pytest.skip("before 3.1, models do not keep the labels of categories")
    model, table = MODELS[name]()
    e = with_covers(gw.read_model(model))
    rows = table.iloc[:50] if isinstance(table, pd.DataFrame) else table[:50]
    follows_the_definition(e, Case(model, rows, None), seed=0)
    # Leaves that no training row has reached, which CatBoost has, are worth nothing. LightGBM 4.5 counts no rows in
    # trees without splits.
    alone = ~e.root[e.root < 0]
    assert not e.value[np.setdiff1d(np.flatnonzero(e.leaf_cover == 0), alone)].any()
    # What enters a node leaves it, so that the shares of all leaves of a tree are one.
    for node in range(e.n_nodes):
        below = sum(e.cover[side] if side >= 0 else e.leaf_cover[~side] for side in (e.left[node], e.right[node]))
        assert below == pytest.approx(e.cover[node], rel=1e-6)


@given(ensembles(max_trees=3, max_depth=4), st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_invented_ensembles(ensemble, seed):
    follows_the_definition(ensemble, Case(ensemble, None, None, infinite=True), seed)


@given(ensembles(max_trees=3, max_depth=4), st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_groups(ensemble, seed):
    rng, names = np.random.default_rng(seed), ensemble.feature_names
    members = rng.permutation(len(names))[: rng.integers(1, len(names) + 1)].tolist()
    ex = gw.Explainer(ensemble, groups={"group": [names[f] for f in members]})
    tried = {f: tries(Case(ensemble, None, None), ensemble, f, rng).values for f in members}
    points = {f: [values[k] for k in rng.integers(len(values), size=8)] for f, values in tried.items()}
    found = ex.partial_dependence("group", at={names[f]: values for f, values in points.items()})
    close(found.heights, by_definition(ensemble, points), 1e-12 * (np.abs(ensemble.value).sum() + 10))


# ------------------------------------------------------------------------------------------ scikit-learn's recursion

# name: the model, and the constant that scikit-learn leaves out
RECURSIVE = {
    "tree": (DecisionTreeRegressor(max_depth=6), lambda model: 0.0),
    "tree, missing values": (DecisionTreeRegressor(max_depth=6), lambda model: 0.0),
    "forest": (RandomForestRegressor(**FEW), lambda model: 0.0),
    "boosting": (GradientBoostingRegressor(**FEW), lambda model: model.init_.constant_.item()),
    "boosting, weights": (GradientBoostingRegressor(subsample=0.5, **FEW), lambda model: model.init_.constant_.item()),
    # The documentation of scikit-learn says that this one has its constant (peers.md, C.3).
    "histogram": (HistGradientBoostingRegressor(**BOOST), lambda model: model._baseline_prediction.item()),
}


WITH_VALUES = needs("scikit-learn", (1, 7))  # partial_dependence takes custom_values


@WITH_VALUES
@pytest.mark.parametrize("name", RECURSIVE)
def test_regressors_agree_with_the_recursion_of_scikit_learn(name):
    model, constant = RECURSIVE[name]
    X, y = sklearn_models.data(n=200, missing=name.endswith("missing values"))
    weight = np.random.default_rng(0).random(len(X)) if name.endswith("weights") else None
    agrees(clone(model).fit(X, y, sample_weight=weight), X, constant)


@WITH_VALUES
@pytest.mark.parametrize("classes", [2, 3])
def test_classifiers_agree_with_the_recursion_of_scikit_learn(classes):
    X, y = sklearn_models.data("classification", classes=classes, n=200)
    boosting = GradientBoostingClassifier(**FEW).fit(X, y)
    agrees(boosting, X, lambda model: model._raw_predict_init(X[:1].astype(np.float32))[0])
    agrees(HistGradientBoostingClassifier(**BOOST).fit(X, y), X, lambda model: model._baseline_prediction[0])


def agrees(model, X, constant):
    """Compare with scikit-learn on its grids: the same, but for the constant that it leaves out."""
    ex = gw.Explainer(model)
    within = 1e-10 * np.ptp(ex.ensemble.predict(X))
    values = {f: np.quantile(X[~np.isnan(X[:, f]), f], np.linspace(0, 1, 12)) for f in range(X.shape[1])}
    for features in ([0], [1], [2], [3], [4], [0, 1], [4, 2]):
        grid = {f: values[f] for f in features}
        theirs = partial_dependence(model, X, features, method="recursion", custom_values=grid)
        ours = ex.partial_dependence(*features)(*np.meshgrid(*theirs["grid_values"], indexing="ij"))
        ours = np.moveaxis(ours - constant(model), -1, 0) if ours.ndim > len(features) else ours[None] - constant(model)
        np.testing.assert_allclose(ours, theirs["average"], rtol=0, atol=within)


# ------------------------------------------------------------------------- the mean that Shapley values start from


def of_xgboost(model, table):
    import xgboost as xgb

    if isinstance(model, xgb.Booster):
        booster, rounds, missing = model, (0, 0), np.nan
    else:
        booster, missing = model.get_booster(), model.missing
        rounds = (0, model.best_iteration + 1) if getattr(model, "early_stopping_rounds", None) else (0, 0)
    known = {} if isinstance(table, pd.DataFrame) else {"feature_types": booster.feature_types}
    known |= {} if isinstance(table, pd.DataFrame) else {"feature_names": booster.feature_names}
    rows = xgb.DMatrix(table[:1], missing=missing, enable_categorical=True, **known)
    return booster.predict(rows, pred_contribs=True, iteration_range=rounds)[0, ..., -1]


def of_lightgbm(model, table):
    found = model.predict(table[:1], pred_contrib=True).reshape(-1, table.shape[1] + 1)[:, -1]
    booster = getattr(model, "booster_", model)
    # Contributions of a random forest are sums, as its raw scores are.
    return found / (booster.current_iteration() if "\naverage_output\n" in booster.model_to_string() else 1)


def of_catboost(model, table):
    from catboost import Pool

    pool = Pool(table[:1], cat_features=model.get_cat_feature_indices())
    return model.get_feature_importance(pool, type="ShapValues")[0, ..., -1]


CONTRIBUTIONS = {"xgboost": of_xgboost, "lightgbm": of_lightgbm, "catboost": of_catboost}


@pytest.mark.parametrize(
    "name", [name for name in MODELS if name.partition(":")[0] in CONTRIBUTIONS and not name.endswith(WITHOUT)]
)
def test_the_mean_is_the_one_of_the_contributions_of_the_library(name):
    if name.startswith("xgboost: categories") and xgboost_models.VERSION < (3, 1):
        pytest.skip("before 3.1, models do not keep the labels of categories")
    if name.endswith(", lossguide") and not has("catboost", (1, 2, 8)):
        pytest.skip("before 1.2.8, contributions to trees of missing values do not add up")
    model, table = MODELS[name]()
    ex = gw.Explainer(model)
    theirs = np.ravel(CONTRIBUTIONS[name.partition(":")[0]](model, table))
    scale = max(np.abs(ex.ensemble.value).max(), np.abs(theirs).max())
    within = scale * (1e-5 if ex.ensemble.score.dtype == "float32" else 1e-10)
    np.testing.assert_allclose(ex.partial_dependence(0).mean, theirs, rtol=0, atol=within)


SHAP = [
    *("tree, regression", "tree, 3 classes", "forest, regression", "forest, 4 classes", "forest, missing values"),
    *("extra trees, regression", "boosting, regression", "boosting, binary", "boosting, early stopping"),
    *("histogram, regression", "histogram, missing values", "histogram, poisson", "histogram, 3 classes"),
]


@pytest.mark.parametrize("name", SHAP)
def test_the_mean_is_the_expected_value_of_shap(name):
    shap = pytest.importorskip("shap", reason="shap is not among the libraries of the tests")
    model, _ = scikit_learn(name)
    explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
    mean = gw.Explainer(model).partial_dependence(0).mean
    np.testing.assert_allclose(
        mean, np.ravel(explainer.expected_value), rtol=0, atol=1e-10 * np.abs(mean).max() + 1e-12
    )


# Covers are numbers of training rows here, and every tree has seen all of them.
COUNTED = [
    *("sklearn: tree, regression", "sklearn: boosting, 3 classes", "sklearn: histogram, missing values"),
    *("sklearn: categories", "lightgbm: regression, missing values", "lightgbm: multiclass"),
    *("lightgbm: pandas categories", "catboost: regression", "catboost: missing values, right"),
    *(
        "catboost: depthwise, several targets",
        "catboost: lossguide",
        "catboost: one-hot",
        "catboost: one-hot, depthwise",
    ),
]


@pytest.mark.parametrize("name", COUNTED)
def test_the_mean_is_the_mean_over_the_training_rows(name):
    model, table = MODELS[name]()
    raw = {"sklearn": sklearn_models.raw, "lightgbm": lightgbm_models.raw, "catboost": catboost_models.raw}
    scores = raw[name.partition(":")[0]](model, table).reshape(len(table), -1)
    mean = gw.Explainer(model).partial_dependence(0).mean
    np.testing.assert_allclose(mean, scores.mean(axis=0), rtol=0, atol=1e-10 * np.ptp(scores))


# ---------------------------------------------------------------------------------------------------------- results


def test_results_know_no_rows():
    X, y = sklearn_models.data()
    ex = gw.Explainer(RandomForestClassifier(**FEW).fit(X, y > 0))
    curve = ex.partial_dependence("x2", output="True")
    assert curve.rows.size == 0
    assert list(curve.to_frame().columns) == ["x2_above", "x2_to", "value"]
    assert len(ex.joint_partial_dependence()) == 10
    with pytest.raises(gw.errors.TableError, match="pass at="):
        ex.partial_dependence("x0", "x1", "x2")


def test_it_is_another_answer_than_that_of_the_rows():
    # Half of the training rows with x1 = 1 have x0 = 0, but three quarters of all rows.
    X = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    model = DecisionTreeRegressor().fit(X, [0.0, 0.0, 5.0, 1.0])
    assert gw.Explainer(model).partial_dependence("x1").values.tolist() == [0.0, 5 / 2 + 1 / 2]
    assert gw.Explainer(model, X).partial_dependence("x1").values.tolist() == [0.0, 5 * 3 / 4 + 1 / 4]
