"""One way in for models: what Explainer takes, summarize, read_model and the command line take, or refuse truly."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import glasswood as gw
from glasswood.errors import BackgroundError, TableError, UnsupportedModelError

MEMBERS = [
    ("boost", HistGradientBoostingRegressor(max_iter=5, random_state=0)),
    ("forest", RandomForestRegressor(4, max_depth=4, random_state=0)),
]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    X["city"] = rng.choice(["x", "y", "z"], 200)
    X["unused"] = rng.normal(size=200)
    X["weight"] = rng.integers(0, 4, 200)
    X["sex"] = rng.choice(["f", "m"], 200)
    return X, X["a"] * X["b"] + X["c"] + (X["city"] == "x") + 5


COLUMNS = ["a", "b", "c", "city", "unused"]


def encoded(model):
    columns = make_column_transformer(
        (StandardScaler(), ["a", "b", "c"]), (OneHotEncoder(sparse_output=False), ["city"]), ("drop", ["unused"])
    )
    return make_pipeline(columns, model)


@pytest.fixture(scope="module")
def pipeline(rows):
    X, y = rows
    return encoded(HistGradientBoostingRegressor(max_iter=10, max_leaf_nodes=6, random_state=0)).fit(X[COLUMNS], y)


def averages(model, X, name, values, weight=None, predict="predict"):
    """Return the mean prediction with a column at some values: brute force."""
    found = [np.asarray(getattr(model, predict)(X.assign(**{name: value}))) for value in values]
    return np.array([np.average(part if part.ndim == 1 else part[:, 1], weights=weight) for part in found])


# ----------------------------------------------------------------------------------------- a pipeline that is counted


def test_counts_of_a_pipeline_answer_as_its_rows_do(pipeline, rows, tmp_path):
    X = rows[0][COLUMNS]
    background = gw.summarize(pipeline, X, order=None)
    background.save(tmp_path / "rows.gw")
    by_rows, by_counts = gw.Explainer(pipeline, X), gw.Explainer(pipeline, gw.Background.load(tmp_path / "rows.gw"))
    few = X[:20]
    np.testing.assert_array_equal(by_counts.shap_values(few).values, by_rows.shap_values(few).values)
    np.testing.assert_array_equal(by_counts.interaction_values(few).values, by_rows.interaction_values(few).values)
    points = by_counts.partial_dependence("city", at=few[["city"]])
    assert points.columns == {"city": few["city"].tolist()}
    np.testing.assert_array_equal(
        points.heights, by_rows.partial_dependence("city", at={"city": few["city"].tolist()}).heights
    )
    np.testing.assert_allclose(points.heights[:, 0], averages(pipeline, X, "city", few["city"]), rtol=1e-12)
    np.testing.assert_array_equal(
        by_counts.partial_dependence("city").heights, by_rows.partial_dependence("city").heights
    )


def test_counts_of_a_column_that_is_not_folded(rows, tmp_path):
    X, y = rows[0][COLUMNS], rows[1]
    steps = make_column_transformer((FunctionTransformer(np.cos), ["a"]), ("passthrough", ["b", "c"]))
    pipeline = make_pipeline(steps, HistGradientBoostingRegressor(max_iter=5)).fit(X, np.cos(X["a"]) + y / 9)
    background = gw.summarize(pipeline, X)
    background.save(tmp_path / "rows.gw")
    by_rows, by_counts = gw.Explainer(pipeline, X), gw.Explainer(pipeline, gw.Background.load(tmp_path / "rows.gw"))
    few = X[:20]
    points = by_counts.partial_dependence("a", at=few)  # rows with all columns
    assert points.columns == {"a": few["a"].tolist()}
    np.testing.assert_array_equal(points.heights, by_rows.partial_dependence("a", at=few[["a"]]).heights)
    np.testing.assert_allclose(points.heights[:, 0], averages(pipeline, X, "a", few["a"]), rtol=1e-12)
    np.testing.assert_array_equal(by_counts.partial_dependence("b").heights, by_rows.partial_dependence("b").heights)
    for ask in (lambda: by_counts.partial_dependence("a", at=few[["a"]]), lambda: by_counts.partial_dependence("a")):
        with pytest.raises(TableError, match="in at= rows with all columns of the pipeline"):
            ask()


def test_counts_of_a_pipeline_with_weights_and_groups_of_rows(pipeline, rows):
    X = rows[0]  # with columns that are not the pipeline's
    found = gw.summarize(pipeline, X, by="sex", sample_weight="weight")
    assert list(found) == ["f", "m"]
    few = X[:5]
    for sex, background in found.items():
        own = X[X["sex"] == sex]
        assert background.n_rows == len(own)
        assert background.weight == own["weight"].sum()
        heights = gw.Explainer(pipeline, background).partial_dependence("a", at=few).heights[:, 0]
        np.testing.assert_allclose(heights, averages(pipeline, own, "a", few["a"], own["weight"]), rtol=1e-12)


def test_counts_of_a_pipeline_with_groups_of_columns(pipeline, rows):
    X = rows[0][COLUMNS]
    groups = {"both": ["a", "city", "unused"]}
    background = gw.summarize(pipeline, X, order=None, groups=groups)
    selected = gw.Explainer(pipeline, X, groups=groups).shap_values(X[:9])
    for ex in (gw.Explainer(pipeline, background), gw.Explainer(pipeline, background, groups=groups)):
        found = ex.shap_values(X[:9])
        assert found.names == selected.names == ("both", "b", "c")
        np.testing.assert_array_equal(found.values, selected.values)
    for other in ({}, {"both": ["a", "b"]}):
        with pytest.raises(BackgroundError, match="different groups"):
            gw.Explainer(pipeline, background, groups=other)


def test_a_pipeline_counts_files(pipeline, rows, tmp_path):
    X, path = rows[0][COLUMNS], tmp_path / "rows.parquet"
    X.to_parquet(path)
    assert gw.summarize(pipeline, path) == gw.summarize(pipeline, X)
    np.testing.assert_array_equal(
        gw.Explainer(pipeline, path).partial_dependence("city").heights,
        gw.Explainer(pipeline, X).partial_dependence("city").heights,
    )


# ---------------------------------------------------------------------------------------------------- read_model


def test_the_trees_of_a_pipeline_split_on_the_columns_before_it(pipeline, rows):
    X = rows[0][COLUMNS]
    for found in (gw.read_model(pipeline), gw.read_model(pipeline, X)):
        assert found.feature_names == tuple(COLUMNS)
        np.testing.assert_array_equal(found.predict(X), pipeline.predict(X))


def test_other_wrappers_are_read_and_counted(rows):
    X, y = rows[0][["a", "b"]], rows[1]
    search = GridSearchCV(HistGradientBoostingRegressor(max_iter=3), {"max_depth": [2]}, cv=2).fit(X, y)
    np.testing.assert_array_equal(gw.read_model(search, X).predict(X), search.predict(X))
    logarithm = TransformedTargetRegressor(search.best_estimator_, func=np.log, inverse_func=np.exp)
    logarithm.fit(X, y - y.min() + 1)
    background = gw.summarize(logarithm, X)  # of the score before the inverse
    curve = gw.Explainer(logarithm, background).partial_dependence("a")
    np.testing.assert_array_equal(curve.heights, gw.Explainer(logarithm, X).partial_dependence("a").heights)


def test_combinations_have_no_trees_of_their_own(rows):
    X, y = rows[0][["a", "b", "c"]], rows[1]
    vote = VotingRegressor(MEMBERS).fit(X, y)
    for model in (vote, make_pipeline(StandardScaler(), vote).fit(X, y)):
        for ask in (gw.read_model, lambda one: gw.read_model(one, X)):
            with pytest.raises(UnsupportedModelError, match=r"no score that is a sum.* response=.prediction"):
                ask(model)


# --------------------------------------------------------------------------------- pipelines and combinations at once


@pytest.mark.parametrize(
    "model",
    [VotingRegressor(MEMBERS, weights=[1, 2]), StackingRegressor(MEMBERS, LinearRegression(), cv=2)],
    ids=["voting", "stacking"],
)
def test_combinations_inside_pipelines(model, rows):
    X, y = rows[0][COLUMNS], rows[1]
    inside = encoded(model).fit(X, y)
    target = TransformedTargetRegressor(encoded(model), func=np.log, inverse_func=np.exp).fit(X, y - y.min() + 1)
    for whole in (inside, target):
        ex = gw.Explainer(whole, X, response="prediction")
        for name, values in (("a", [-1.0, 0.2]), ("city", ["x", "z"])):
            found = ex.partial_dependence(name, at={name: values}).heights[:, 0]
            np.testing.assert_allclose(found, averages(whole, X, name, values), rtol=1e-9)
        same = pickle.loads(pickle.dumps(ex))
        np.testing.assert_array_equal(same.partial_dependence("b").heights, ex.partial_dependence("b").heights)
        with pytest.raises(UnsupportedModelError, match="no score that is a sum over trees"):
            gw.Explainer(whole, X, response="raw")


def test_combinations_of_classifiers_inside_wrappers(rows):
    X, y = rows[0][["a", "b", "c"]], rows[1] > 5
    trees = [("one", HistGradientBoostingClassifier(max_iter=4)), ("two", GradientBoostingClassifier(n_estimators=4))]
    for model in (
        make_pipeline(StandardScaler(), VotingClassifier(trees, voting="soft")),
        make_pipeline(StandardScaler(), CalibratedClassifierCV(trees[0][1], cv=2)),
        GridSearchCV(VotingClassifier(trees, voting="soft"), {"weights": [[1, 2]]}, cv=2),
    ):
        model.fit(X, y)
        ex = pickle.loads(pickle.dumps(gw.Explainer(model, X, response="probability")))
        found = ex.partial_dependence("a", at={"a": [-0.5, 0.7]}).heights[:, 0]
        np.testing.assert_allclose(found, averages(model, X, "a", [-0.5, 0.7], predict="predict_proba"), rtol=1e-9)


def test_pipelines_inside_combinations_are_refused(rows):
    X, y = rows[0][["a", "b"]], rows[1]
    member = make_pipeline(StandardScaler(), GradientBoostingRegressor(n_estimators=3))
    vote = VotingRegressor([("a", member), MEMBERS[1]]).fit(X, y)
    for model in (vote, make_pipeline(StandardScaler(), vote).fit(X, y)):
        with pytest.raises(UnsupportedModelError, match="a Pipeline with transformers of its own; put"):
            gw.Explainer(model, X, response="prediction")


def test_combinations_by_other_packages_are_refused(rows):
    class Votes(VotingRegressor):
        def predict(self, X):
            return super().predict(X) + 1

    X, y = rows[0][["a", "b"]], rows[1]
    with pytest.raises(UnsupportedModelError, match="a Votes combines several models in its own way"):
        gw.Explainer(Votes(MEMBERS).fit(X, y), X, response="prediction")


# ------------------------------------------------------------------------------------------------ models fitted again


class Unfinished:
    """A transformer that cannot be copied."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return X

    def __deepcopy__(self, memo):
        message = "no copies"
        raise RuntimeError(message)


def test_what_cannot_be_copied_is_refused(rows):
    X, y = rows[0][["a"]], rows[1]
    model = make_pipeline(Unfinished(), GradientBoostingRegressor(n_estimators=2)).fit(X, y)
    with pytest.raises(UnsupportedModelError, match=r"cannot be copied .RuntimeError: no copies"):
        gw.Explainer(model, X)
