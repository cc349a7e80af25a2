"""What a class predicts is what it predicts: predictions of the user's own classes are compared, or refused."""

import sys
import types

import catboost
import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import glasswood as gw
from glasswood.errors import ModelMismatchError, UnsupportedModelError

X, Y = load_diabetes(return_X_y=True, as_frame=True)
B, T = load_breast_cancer(return_X_y=True, as_frame=True)
FOREST = RandomForestRegressor(5, max_depth=4, random_state=0)


def capped(base, limit=None):
    """Return a subclass whose predictions have a cap, which shows in one row only; without a limit, in none."""

    class Capped(base):
        def predict(self, X):
            found = super().predict(X)
            return found if limit is None else np.minimum(found, np.unique(found)[-2] if limit == "top" else limit)

    return Capped


def corrected(base):
    """Return a subclass that undoes the sampling of the training set."""

    class PriorCorrected(base):
        def predict_proba(self, X):
            p = super().predict_proba(X)[:, 1]
            q = 0.1 * p / (0.1 * p + 1 - p)
            return np.column_stack([1 - q, q])

    return PriorCorrected


REGRESSORS = {
    "sklearn": (HistGradientBoostingRegressor, {"max_iter": 5}),
    "forest": (RandomForestRegressor, {"n_estimators": 5, "max_depth": 4, "random_state": 0}),
    "xgboost": (xgboost.XGBRegressor, {"n_estimators": 5, "max_depth": 3, "n_jobs": 1}),
    "lightgbm": (lightgbm.LGBMRegressor, {"n_estimators": 5, "verbose": -1, "n_jobs": 1}),
    "catboost": (catboost.CatBoostRegressor, {"iterations": 5, "verbose": False, "thread_count": 1}),
}


@pytest.mark.parametrize("library", REGRESSORS)
def test_a_regressor_with_a_cap(library):
    base, settings = REGRESSORS[library]
    model = capped(base, "top")(**settings).fit(X, Y + 50 * (Y.max() == Y))
    for response in (None, "raw", "prediction"):
        with pytest.raises(ModelMismatchError, match="Capped"):
            gw.Explainer(model, X, response=response)
    same = capped(base)(**settings).fit(X, Y)
    ex = gw.Explainer(same, X, response="prediction")
    np.testing.assert_allclose(
        ex.partial_dependence("bmi")([0.05])[0], same.predict(X.assign(bmi=0.05)).mean(), rtol=1e-6
    )
    assert "compared, not proven" in ex._repr_html_()
    assert repr(ex).endswith("score: value; predictions compared, not proven)")


CLASSIFIERS = {
    "sklearn": (HistGradientBoostingClassifier, {"max_iter": 5}),
    "xgboost": (xgboost.XGBClassifier, {"n_estimators": 5, "max_depth": 3, "n_jobs": 1}),
    "lightgbm": (lightgbm.LGBMClassifier, {"n_estimators": 5, "verbose": -1, "n_jobs": 1}),
    "catboost": (catboost.CatBoostClassifier, {"iterations": 5, "verbose": False, "thread_count": 1}),
}


@pytest.mark.parametrize("library", CLASSIFIERS)
def test_a_classifier_with_its_own_probabilities(library):
    base, settings = CLASSIFIERS[library]
    model = corrected(base)(**settings).fit(B, T)
    for response in ("probability", "prediction"):
        with pytest.raises(ModelMismatchError, match=r"PriorCorrected\.predict_proba does not predict"):
            gw.Explainer(model, B, response=response)
    raw = gw.Explainer(model, B)  # the sum over trees is what it is
    own = gw.Explainer(base(**settings).fit(B, T), B)
    expected = own.partial_dependence("mean area", response="raw").heights
    np.testing.assert_array_equal(raw.partial_dependence("mean area").heights, expected)
    assert gw.read_model(model, B).score.link == "unknown"  # nothing is claimed about probabilities


class LogPipeline(Pipeline):
    """Predicts on the scale before the logarithm."""

    def predict(self, X):
        return np.expm1(super().predict(X))


class LogSearch(GridSearchCV):
    """Predicts on the scale before the logarithm."""

    def predict(self, X):
        return np.expm1(super().predict(X))


class FlooredTarget(TransformedTargetRegressor):
    """Predictions have a floor."""

    def predict(self, X, **params):
        found = super().predict(X, **params)
        return np.maximum(found, np.unique(found)[1])


def wrapped():
    steps = [("scale", StandardScaler()), ("model", FOREST)]
    target = FlooredTarget(FOREST, func=np.log1p, inverse_func=np.expm1)
    voting = VotingRegressor([("one", FOREST), ("two", capped(HistGradientBoostingRegressor, 150)(max_iter=5))])
    return {
        "pipeline": LogPipeline(steps).fit(X, np.log1p(Y)),
        "pipeline within": Pipeline([("a", StandardScaler()), ("b", LogPipeline(clone(LogPipeline(steps)).steps))]).fit(
            X, np.log1p(Y)
        ),
        "search": LogSearch(FOREST, {"max_depth": [2]}, cv=2).fit(X, np.log1p(Y)),
        "target": target.fit(X, Y),
        "member": voting.fit(X, Y),
    }


@pytest.mark.parametrize("name", wrapped())
def test_wrappers_with_their_own_predictions(name):
    model = wrapped()[name]
    with pytest.raises((ModelMismatchError, UnsupportedModelError)):
        gw.Explainer(model, X, response="prediction")
    with pytest.raises((ModelMismatchError, UnsupportedModelError)):
        gw.Explainer(model, iter([X]), response="prediction")
    if name != "target":  # whose raw score is that of the model within
        with pytest.raises((ModelMismatchError, UnsupportedModelError)):
            gw.read_model(model, X)


def test_a_target_transformer_keeps_its_raw_score():
    model = wrapped()["target"]
    ex = gw.Explainer(model, X)
    np.testing.assert_allclose(
        ex.partial_dependence("bmi")([0.05])[0], model.regressor_.predict(X.assign(bmi=0.05)).mean(), rtol=1e-9
    )


def test_rows_that_are_not_in_memory_are_not_compared(tmp_path):
    model = capped(HistGradientBoostingRegressor)(max_iter=5).fit(X, Y)
    X.to_parquet(tmp_path / "rows.parquet")
    for rows in (tmp_path / "rows.parquet", None, gw.summarize(gw.read_model(model, X), X)):
        with pytest.raises(UnsupportedModelError, match=r"Capped defines its own predict"):
            gw.Explainer(model, rows)
    with pytest.raises(UnsupportedModelError, match="compared on all rows of a table in memory"):
        gw.summarize(model, tmp_path / "rows.parquet")
    trees = gw.Explainer(gw.read_model(model, X), tmp_path / "rows.parquet")
    expected = gw.Explainer(model, X).partial_dependence("bmi").heights
    np.testing.assert_array_equal(trees.partial_dependence("bmi").heights, expected)


class Depths(IsolationForest):
    """Scores have a floor."""

    def score_samples(self, X):
        found = super().score_samples(X)
        return np.maximum(found, np.unique(found)[1])


class Decided(GradientBoostingClassifier):
    """Decision values have a floor."""

    def decision_function(self, X):
        found = super().decision_function(X)
        return np.maximum(found, np.unique(found)[1])


def test_raw_scores_of_ones_own():
    depths, decided = Depths(n_estimators=10, random_state=0).fit(X), Decided(n_estimators=5).fit(B, T)
    with pytest.raises(UnsupportedModelError, match="Depths defines its own score_samples"):
        gw.read_model(depths)
    for ask in (lambda: gw.Explainer(depths, X), lambda: gw.Explainer(decided, B)):
        with pytest.raises(ModelMismatchError, match="predicts in its own way"):
            ask()


def test_methods_of_one_object():
    model = HistGradientBoostingRegressor(max_iter=5).fit(X, Y)
    model.predict = lambda rows: HistGradientBoostingRegressor.predict(model, rows) * 2
    with pytest.raises(ModelMismatchError, match=r"HistGradientBoostingRegressor\.predict does not predict"):
        gw.Explainer(model, X)


class Quantiles(RandomForestRegressor):
    """Several numbers per row."""

    def predict(self, X):
        return np.repeat(super().predict(X)[:, None], 3, axis=1)


def test_predictions_of_another_shape():
    with pytest.raises(ModelMismatchError, match=r"returns predictions of shape \(442, 3\)"):
        gw.Explainer(Quantiles(5, max_depth=3).fit(X, Y), X)


def test_forests_of_scikit_learn_intelex(monkeypatch):
    module = types.ModuleType("sklearnex.ensemble")
    monkeypatch.setitem(sys.modules, "sklearnex.ensemble", module)
    patched = type("RandomForestRegressor", (RandomForestRegressor,), {"__module__": "sklearnex.ensemble"})
    model = patched(3, max_depth=3).fit(X, Y)
    for rows in (X, None):
        with pytest.raises(UnsupportedModelError, match="scikit-learn-intelex"):
            gw.Explainer(model, rows)


def test_rows_beside_other_columns():
    rows = pd.DataFrame({"a": np.arange(40.0), "k": pd.Categorical(list("xyzw") * 10), "g": ["u", "v"] * 20})
    target = rows["a"] * (rows["k"] == "x")
    model = capped(lightgbm.LGBMRegressor)(n_estimators=3, min_child_samples=2, verbose=-1).fit(
        rows[["a", "k"]], target
    )
    ex = gw.Explainer(model, rows.assign(w=1.0), sample_weight="w")
    assert len(ex.partial_dependence("a", by="g")) == 2


class WithIntervals(HistGradientBoostingRegressor):
    """A further method, which takes the place of none."""

    def predict_interval(self, X):
        return self.predict(X) - 1, self.predict(X) + 1


class Tripled(HistGradientBoostingClassifier):
    """A method that predictions are made of."""

    def _raw_predict(self, X, n_threads=None):
        return 3 * super()._raw_predict(X, n_threads)


def test_methods_that_take_the_place_of_none_and_of_inner_ones():
    more = WithIntervals(max_iter=5).fit(X, Y)
    assert repr(gw.Explainer(more, iter([X]))).endswith("score: value)")
    tripled = Tripled(max_iter=5).fit(B, T)
    for rows in (B, None):
        with pytest.raises((ModelMismatchError, UnsupportedModelError), match=r"_raw_predict|own way"):
            gw.Explainer(tripled, rows)
