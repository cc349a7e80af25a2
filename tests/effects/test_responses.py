"""Curves, surfaces, points and ICE on the scale of the response, against the model on modified rows."""

from __future__ import annotations

import catboost as cb
import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.inspection import partial_dependence

import glasswood as gw
from glasswood.errors import BackgroundError, TableError, TooLargeError, UnsupportedModelError
from glasswood.questions.rows._panel_ice import panel_of_ice
from helpers.brute import Case, Proof, replace_columns
from zoo.cases import CASES

LINKED = ("logistic", "softmax", "exp")


def link(score, raw):
    """The response of raw scores, (n_rows, n_outputs)."""
    z = raw * score.link_scale
    if score.link == "logistic":
        return 1 / (1 + np.exp(-z))
    if score.link == "exp":
        return np.exp(z)
    powers = np.exp(z - z.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True) if score.link == "softmax" else raw


class Linked(Case):
    """A case whose scores are responses."""

    def all_scores(self, rows):
        return link(self.score, super().all_scores(rows))


def linked(case):
    """The case on the scale of its response, and an explainer of it; None if the link changes nothing."""
    score = gw.read_model(case.model, case.rows).score
    if score.link not in LINKED:
        return None
    case = Linked(**vars(case))
    case.score = score
    return case, gw.Explainer(case.model, case.rows, response="prediction")


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
@pytest.mark.filterwarnings("ignore:invalid value encountered in (add|subtract|multiply|reduce):RuntimeWarning")
@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_model(name):
    found = linked(CASES[name]())
    if found is None:
        return  # the raw scale is the scale of the response, which the closed forms are tested on
    case, ex = found
    proof = Proof(case, seed=0, explainer=ex, within=1e-5 if ex.ensemble.score.dtype == "float32" else 1e-12)
    proof.curves()
    proof.surfaces()
    proof.points()
    proof.outputs()
    ice_is_right(proof)


def ice_is_right(proof):
    """Compare the curves of all rows with the model's own."""
    n_rows = len(proof.case.rows)
    for f, tried in list(proof.tries.items())[:2]:
        brute = proof.case.scores(replace_columns(proof.case.rows, {f: tried.values}))
        brute = brute.reshape(len(tried), n_rows, -1).transpose(1, 0, 2)
        name = proof.e.feature_names[f]
        ice = proof.ex.ice(f)
        np.testing.assert_allclose(ice.heights[:, tried.cells], brute, rtol=0, atol=proof.within)
        ice = proof.ex.ice(f, at={name: tried.values})
        np.testing.assert_allclose(ice.heights, brute, rtol=0, atol=proof.within)


@pytest.mark.parametrize("name", sorted(CASES)[::9])
@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
@pytest.mark.filterwarnings("ignore:invalid value encountered in (add|subtract|multiply|reduce):RuntimeWarning")
def test_ice_on_the_raw_scale(name):
    proof = Proof(CASES[name](), seed=1)
    ice_is_right(proof)
    for f in list(proof.tries)[:1]:
        curve = proof.ex.partial_dependence(f)
        np.testing.assert_allclose(proof.ex.ice(f).heights.mean(axis=0), curve.heights, rtol=0, atol=proof.within)


# --------------------------------------------------------------------------------- the libraries' own probabilities


def table(n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(300, 5)), columns=list("abcde"))
    X["e"] = rng.integers(0, 4, size=300).astype(float)
    score = X["a"] * X["b"] + np.abs(X["c"]) + 0.5 * X["e"] + 0.3 * rng.normal(size=300)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


QUIET = {"n_estimators": 10, "random_state": 0}
CLASSIFIERS = {
    "HGB": HistGradientBoostingClassifier(max_iter=10, random_state=0),
    "GradientBoosting": GradientBoostingClassifier(**QUIET),
    "XGBoost": xgb.XGBClassifier(**QUIET, n_jobs=1),
    "LightGBM": lgb.LGBMClassifier(**QUIET, n_jobs=1, verbose=-1),
    "CatBoost": cb.CatBoostClassifier(iterations=10, depth=4, verbose=0, thread_count=1, allow_writing_files=False),
    "forest": RandomForestClassifier(**QUIET),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_scikit_learn_brute_force_on_probabilities(name, n_classes):
    X, y = table(n_classes)
    model = CLASSIFIERS[name].__class__(**CLASSIFIERS[name].get_params()).fit(X, y)
    ex = gw.Explainer(model, X, response="probability")
    assert ex.partial_dependence("a").units == "probability"
    for features in (["a"], ["e"], ["a", "c"]):
        brute = partial_dependence(
            model, X, features, kind="both", method="brute", response_method="predict_proba", grid_resolution=7
        )
        grid = np.stack([g.ravel() for g in np.meshgrid(*brute["grid_values"], indexing="ij")])
        at = pd.DataFrame(dict(zip(features, grid, strict=True)))
        within = 1e-6 if name == "XGBoost" else 1e-12
        points = ex.partial_dependence(*features, at=at)
        # scikit-learn and binary boosting: the positive class alone; forests: all of them
        n_shown = brute["average"].shape[0]
        average = brute["average"].reshape(n_shown, -1).T
        np.testing.assert_allclose(points.heights[:, -n_shown:], average, rtol=0, atol=within)
        ice = ex.ice(*features, at=at)
        individual = brute["individual"].reshape(n_shown, len(X), -1).transpose(1, 2, 0)
        np.testing.assert_allclose(ice.heights[..., -n_shown:], individual, rtol=0, atol=within)


@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingRegressor(loss="poisson", max_iter=10),
        HistGradientBoostingRegressor(loss="gamma", max_iter=10),
        lgb.LGBMRegressor(objective="tweedie", **QUIET, n_jobs=1, verbose=-1),
        xgb.XGBRegressor(objective="count:poisson", **QUIET, n_jobs=1),
    ],
    ids=["poisson", "gamma", "LightGBM tweedie", "XGBoost poisson"],
)
def test_exponential_links(model):
    X, y = table()
    model.fit(X, y + 1.0)
    ex = gw.Explainer(model, X, response="prediction")
    assert ex.partial_dependence("a").units == "prediction"
    for x in X["a"][:5]:
        brute = np.mean(model.predict(X.assign(a=x)), dtype=np.float64)
        np.testing.assert_allclose(ex.partial_dependence("a")(x), brute, rtol=1e-6)
    with pytest.raises(UnsupportedModelError, match='use response="prediction"'):
        gw.Explainer(model, X, response="probability")


# ---------------------------------------------------------------------------------------------- weights, sizes, rows


@settings(max_examples=20)
@given(n_rows=st.integers(1, 70), seed=st.integers(0, 99))
def test_weights_and_few_rows(n_rows, seed):
    X, y = table(seed=seed)
    model = GradientBoostingClassifier(n_estimators=4, random_state=0).fit(X, y)
    rng = np.random.default_rng(seed)
    rows, weight = X[:n_rows], rng.random(n_rows) + 0.01
    ex = gw.Explainer(model, rows, sample_weight=weight, response="probability")
    x = rows["b"].iloc[0]
    brute = np.average(model.predict_proba(rows.assign(b=x))[:, 1], weights=weight)
    np.testing.assert_allclose(ex.partial_dependence("b")(x), brute, rtol=0, atol=1e-12)
    curve = ex.partial_dependence("b")
    if curve.cuts.size:  # columns that the model does not use are not looked at
        np.testing.assert_allclose(curve.rows.sum(), weight.sum(), rtol=1e-9)
    point = rows[["a", "b"]][:1]
    brute = np.average(model.predict_proba(rows.assign(**point.iloc[0]))[:, 1], weights=weight)
    surface = ex.partial_dependence("a", "b")
    np.testing.assert_allclose(surface(*point.iloc[0]), brute, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ex.partial_dependence("a", "b", at=point).values, brute, rtol=0, atol=1e-12)


def test_results_do_not_depend_on_the_number_of_threads(monkeypatch):
    X, y = table(3)
    X = pd.concat([X] * 30, ignore_index=True)  # several batches
    model = HistGradientBoostingClassifier(max_iter=5).fit(X[:300], y)
    curves = []
    for n in (1, 2, 5):
        monkeypatch.setattr("glasswood.parallel._threads.n_threads", lambda n=n: n)
        curves.append(gw.Explainer(model, X, response="probability").partial_dependence("a").heights)
    assert (curves[0] == curves[1]).all()
    assert (curves[0] == curves[2]).all()


def test_groups_and_categories():
    cases = {name: linked(CASES[name]()) for name in ("sklearn: categories, binary", "sklearn: categories, 3 classes")}
    for case, ex in cases.values():
        names = list(ex.ensemble.feature_names)[:2]
        grouped = gw.Explainer(case.model, case.rows, groups={"both": names}, response="probability")
        points = grouped.partial_dependence("both")
        at = pd.DataFrame({name: pd.Series(points.columns[name], dtype=case.rows[name].dtype) for name in names})
        np.testing.assert_allclose(points.heights, ex.partial_dependence(*names, at=at).heights, rtol=0, atol=1e-12)
        assert list(grouped.partial_dependence()) == list(ex.ensemble.feature_names)[2:]


def test_ice_of_other_rows_and_its_summaries():
    X, y = table()
    model = HistGradientBoostingClassifier(max_iter=10).fit(X, y)
    ice = gw.Explainer(model).ice("a", rows=X[:7])  # needs no background
    assert ice.units == "log-odds"
    assert ice.values.shape == (7, len(ice.cuts) + 1)
    np.testing.assert_array_equal(ice.mean, ice.values.mean(axis=0))
    np.testing.assert_allclose(ice.std(), ice.values.std(axis=0))
    np.testing.assert_allclose(ice.quantile(0.5), np.median(ice.values, axis=0))
    assert ice.missing.shape == (7,)
    frame = ice.to_frame()
    assert frame.columns.tolist() == ["row", "a_above", "a_to", "value"]
    assert len(frame) == ice.heights.size
    assert repr(ice).startswith("Ice(a: 7 rows x ")
    y = np.digitize(X["a"] + X["b"], [-0.5, 0.5])
    several = gw.Explainer(RandomForestClassifier(3).fit(X, y), X).ice("a", at=X[["a"]][:3])
    assert several.values.shape == (300, 3, 3)
    assert several.missing is None
    assert several.cuts is None
    assert several.to_frame().columns.tolist() == ["row", "a", "output", "value"]
    assert gw.Explainer(RandomForestClassifier(3).fit(X, y)).ice("a", rows=X[:2]).missing.shape == (2, 3)


@pytest.mark.parametrize("response", ["raw", "probability"])
def test_ice_of_the_background_has_its_weights(response):
    X, y = table()
    model = HistGradientBoostingClassifier(max_iter=10).fit(X, y)
    repeats = np.arange(len(X)) % 4
    weighted = gw.Explainer(model, X, sample_weight=repeats / 8, response=response)
    repeated = gw.Explainer(model, X.loc[X.index.repeat(repeats)], response=response).ice("a")
    ice = weighted.ice("a")
    np.testing.assert_allclose(ice.mean, weighted.partial_dependence("a").values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ice.mean, repeated.mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ice.std(), repeated.std(), rtol=0, atol=1e-12)
    inverted = np.quantile(repeated.values, [0.0, 0.1, 0.5, 1.0], axis=0, method="inverted_cdf")
    np.testing.assert_allclose(ice.quantile([0.0, 0.1, 0.5, 1.0]), inverted, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(ice.quantile(0.5), ice.quantile([0.5])[0])
    np.testing.assert_allclose(8 * ice.axis.rows, repeated.axis.rows)
    panel = panel_of_ice(ice)
    np.testing.assert_allclose(panel.lines[0].heights, ice.mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(panel.bands[0].low, ice.quantile(0.05), rtol=0, atol=1e-12)
    assert weighted.ice("a", rows=X[:9]).weight is None
    np.testing.assert_array_equal(weighted.ice("a", rows=X[:9]).mean, weighted.ice("a", rows=X[:9]).values.mean(axis=0))


# --------------------------------------------------------------------------------------------------------- refusals


def test_refusals():
    X, y = table()
    model = HistGradientBoostingClassifier(max_iter=3).fit(X, y)
    with pytest.raises(BackgroundError, match="it needs rows; pass them to Explainer"):
        gw.Explainer(model, response="probability")
    with pytest.raises(BackgroundError, match=r'no sums of this response .* summarize\(.*response="probability"'):
        gw.Explainer(model, gw.summarize(model, X, answers=["counts"]), response="probability")
    with pytest.raises(ValueError, match='"probability" or "prediction", not'):
        gw.Explainer(model, X, response="odds")
    ex = gw.Explainer(model, X, response="probability")
    for ask in (ex.shap_values, ex.interaction_values, ex.banzhaf_values, ex.shap_interaction_values):
        with pytest.raises(UnsupportedModelError, match="of the raw score"):
            ask(X, response="probability")
    with pytest.raises(UnsupportedModelError, match="of the raw score"):
        ex.evaluate(gw.metrics.ShapleyValues(), X, response="probability")
    with pytest.raises(TableError, match="at least one feature is required"):
        ex.ice()
    with pytest.raises(TableError, match="asked for twice"):
        ex.ice("a", "a", at=X[["a"]])
    with pytest.raises(TableError, match="pass rows="):
        gw.Explainer(model).ice("a")
    with pytest.raises(BackgroundError, match="nothing to average over"):
        gw.Explainer(model, X, response="probability", sample_weight=np.zeros(len(X))).partial_dependence("a")


def test_ice_that_does_not_fit_is_refused(monkeypatch):
    X, y = table()
    ex = gw.Explainer(GradientBoostingRegressor(n_estimators=3).fit(X, y), X)
    monkeypatch.setattr("glasswood.parallel._memory._memory", lambda: 1000)
    with pytest.raises(TooLargeError, match="300 x"):
        ex.ice("a")
