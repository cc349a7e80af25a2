"""The drop-in for scikit-learn's partial_dependence: its tests, and every difference in docs/guide/sklearn.md."""

from __future__ import annotations

import inspect

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn import inspection
from sklearn.cluster import KMeans
from sklearn.datasets import load_diabetes, load_iris, make_classification, make_regression
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import glasswood as gw
from glasswood.sklearn import PartialDependenceDisplay, partial_dependence
from helpers.versions import has, needs

mpl.use("Agg")

FEW = {"n_estimators": 4, "random_state": 0}
REGRESSORS = [
    GradientBoostingRegressor(**FEW),
    HistGradientBoostingRegressor(max_iter=4, random_state=0),
    HistGradientBoostingRegressor(max_iter=4, loss="poisson", random_state=0),
    RandomForestRegressor(max_depth=5, **FEW),
    DecisionTreeRegressor(max_depth=4, random_state=0),
]
CLASSIFIERS = [
    GradientBoostingClassifier(**FEW),
    HistGradientBoostingClassifier(max_iter=4, random_state=0),
    RandomForestClassifier(max_depth=5, **FEW),
    ExtraTreesClassifier(max_depth=5, **FEW),
    DecisionTreeClassifier(max_depth=4, random_state=0),
]


@pytest.fixture(autouse=True)
def pyplot():
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


@pytest.fixture(scope="module")
def diabetes():
    """scikit-learn's examples in small: a model, its table of 60 rows."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return GradientBoostingRegressor(n_estimators=8, random_state=1).fit(X[:60], y[:60]), X[:60]


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X, y


@pytest.fixture(scope="module")
def mixed():
    """A classifier and a regressor of numbers, missing ones, texts, integers and booleans; and their table."""
    rng = np.random.default_rng(0)
    n = 120
    X = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "town": pd.Categorical(rng.choice(["a", "b", "c"], size=n)),
            "rooms": rng.integers(1, 300, size=n),
            "new": rng.random(n) < 0.5,
            "age": rng.normal(size=n),
        }
    )
    y = 2 * np.nan_to_num(X["size"]) * (X["town"] == "b") + X["rooms"] / 100 + X["new"] + X["age"]
    fit = {"max_iter": 8, "min_samples_leaf": 5, "random_state": 0}
    high = np.where(y > y.median(), "high", "low")
    return HistGradientBoostingClassifier(**fit).fit(X, high), HistGradientBoostingRegressor(**fit).fit(X, y), X


def same(ours, theirs, within=1e-8):
    """All arrays of scikit-learn's result are in ours."""
    for own, other in zip(ours.grid_values, theirs.grid_values, strict=True):
        np.testing.assert_array_equal(own, other)
    for key in set(theirs) & {"average", "individual"}:
        assert ours[key].shape == theirs[key].shape
        np.testing.assert_allclose(ours[key], theirs[key], rtol=0, atol=within)


def compare(model, X, features, **options):
    """Compare with scikit-learn's brute force; return our result."""
    ours = partial_dependence(model, X, features, **options)
    same(ours, inspection.partial_dependence(model, X, features, method="brute", **options))
    return ours


def by_hand(model, X, columns, predict):
    """The definition: the mean prediction with some columns of a frame replaced by values."""
    return np.mean(predict(X.assign(**{name: pd.Series([value] * len(X)) for name, value in columns.items()})), axis=0)


# ------------------------------------------------------------------------------------------- signatures and arrays


@needs("scikit-learn", (1, 7))
def test_signatures_are_those_of_scikit_learn():
    def shown(function):
        return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]

    theirs = inspection.PartialDependenceDisplay
    assert shown(partial_dependence) == shown(inspection.partial_dependence)
    for name in ("__init__", "from_estimator", "plot"):
        assert shown(getattr(PartialDependenceDisplay, name)) == shown(getattr(theirs, name))
    assert issubclass(PartialDependenceDisplay, theirs)


@pytest.mark.parametrize("model", REGRESSORS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("kind", ["average", "individual", "both"])
def test_regressors(model, kind):
    X, y = make_regression(n_samples=50, n_features=6, random_state=0)
    model.fit(X, np.abs(y))
    for features in ([1], [1, 2], [4, 0, 2]):
        found = compare(model, X, features, kind=kind, grid_resolution=4)
        assert list(found) == ["grid_values", *(["average", "individual"] if kind == "both" else [kind])]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classifiers_give_probabilities_for_every_kind(model, n_classes):
    X, y = make_classification(n_samples=60, n_classes=n_classes, n_clusters_per_class=1, random_state=0)
    model.fit(X, y)
    n_outputs = 1 if n_classes == 2 else n_classes
    for kind in ("average", "individual", "both"):
        compare(model, X, [1], kind=kind, grid_resolution=6)
        found = compare(model, X, [1, 2], kind=kind, grid_resolution=4, response_method="predict_proba")
    assert found.average.shape == (n_outputs, 4, 4)
    assert found.individual.shape == (n_outputs, 60, 4, 4)
    if hasattr(model, "decision_function"):
        compare(model, X, [1], kind="both", grid_resolution=6, response_method="decision_function")
    else:
        for function in (partial_dependence, inspection.partial_dependence):
            with pytest.raises(AttributeError, match="decision_function"):
                function(model, X, [1], response_method="decision_function")


def test_several_targets():
    X, y = make_regression(n_samples=50, n_features=4, n_targets=2, random_state=0)
    model = RandomForestRegressor(**FEW).fit(X, y)
    assert compare(model, X, [1], kind="both", grid_resolution=5).average.shape == (2, 5)
    for target in (0, 1):
        display = PartialDependenceDisplay.from_estimator(model, X, [0], target=target)
        assert display.target_idx == target
        np.testing.assert_array_equal(display.lines_[0, 0].get_ydata(), display.pd_results[0].average[target])
    for target, words in [(None, "target must be specified"), (-1, "target must be in"), (2, "target must be in")]:
        with pytest.raises(ValueError, match=words):
            PartialDependenceDisplay.from_estimator(model, X, [0], target=target)


def test_weights(iris):
    X, y = iris
    weight = np.arange(len(X)) % 4
    for model in (GradientBoostingClassifier(**FEW).fit(X, y), RandomForestRegressor(**FEW).fit(X, y)):
        weighted = compare(model, X, [2], sample_weight=weight, kind="both")
        plain = compare(model, X, [2], kind="both")
        assert np.abs(weighted.average - plain.average).max() > 0.001
        np.testing.assert_array_equal(weighted.individual, plain.individual)
        doubled = partial_dependence(model, X, [2], sample_weight=2 * np.ones(len(X)))
        np.testing.assert_allclose(doubled.average, plain.average, rtol=0, atol=1e-12)
        only = (np.arange(len(X)) == 3).astype(float)
        one = partial_dependence(model, X, [2, 3], sample_weight=only, kind="both", grid_resolution=5)
        np.testing.assert_allclose(one.average, one.individual[:, 3], rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match=r"sample_weight\.shape =="):
        partial_dependence(model, X, [2], sample_weight=weight[1:])
    with pytest.raises(ValueError, match="sample_weight is None"):
        partial_dependence(model, X, [2], sample_weight=weight, method="recursion")


# --------------------------------------------------------------------------------------------- features and grids


@pytest.mark.parametrize(
    ("features", "custom", "shape"),
    [
        (0, None, (3, 10)),
        (0, {0: [1.0, 2.0, 3.0]}, (3, 3)),
        ("petal width (cm)", None, (3, 10)),
        ("petal width (cm)", {"petal width (cm)": np.array([1.0, 2.0])}, (3, 2)),
        ([0, 2], {2: [7, 8, 9, 10]}, (3, 10, 4)),
        ((0, 2), None, (3, 10, 10)),
        ([(0, 2)], None, (3, 10, 10)),
        (["sepal length (cm)", "petal width (cm)"], {"petal width (cm)": [1, 2, 3, 10]}, (3, 10, 4)),
        ([True, False, True, False], None, (3, 10, 10)),
        ([0, 1, 3], {1: [1.0]}, (3, 10, 1, 10)),
    ],
)
@needs("scikit-learn", (1, 7))
def test_features_and_custom_values(iris, features, custom, shape):
    X, y = iris
    model = GradientBoostingClassifier(**FEW).fit(X, y)
    assert compare(model, X, features, custom_values=custom, grid_resolution=10).average.shape == shape


def test_grids_are_those_of_scikit_learn(diabetes):
    model, X = diabetes
    for options in ({"percentiles": (0, 1)}, {"percentiles": (0.3, 0.4), "grid_resolution": 7}, {"grid_resolution": 2}):
        compare(model, X, ["bmi"], **options)
        compare(model, X, ["sex", "age"], **options)
    compare(model, X, ["sex"], grid_resolution=2)
    compare(model, X, ["bmi"], categorical_features=["bmi"], grid_resolution=5)
    compare(model, X, [2], categorical_features=[name == "bmi" for name in X], grid_resolution=5)


@pytest.mark.parametrize("as_table", [np.asarray, lambda X: X.to_numpy().tolist(), lambda X: X])
def test_tables_that_scikit_learn_takes(diabetes, as_table):
    X = diabetes[1]
    model = GradientBoostingRegressor(**FEW).fit(X.to_numpy(), X["bmi"])
    same(partial_dependence(model, as_table(X), [2]), partial_dependence(model, X.to_numpy(), [2]))


ERRORS = [
    (KMeans(2, n_init=1), {}, "must be a fitted regressor or classifier"),
    (REGRESSORS[0], {"response_method": "predict_proba"}, "ignored for regressors"),
    (CLASSIFIERS[0], {"response_method": "predict"}, "response_method"),
    (CLASSIFIERS[0], {"response_method": "predict_proba", "method": "recursion"}, "must be 'decision_function'"),
    (REGRESSORS[0], {"method": "recursion", "kind": "both"}, "'recursion' method only applies when"),
    (REGRESSORS[0], {"kind": "all"}, "kind"),
    (REGRESSORS[0], {"method": "exact"}, "method"),
    (REGRESSORS[0], {"custom_values": {0: np.ones((3, 3))}}, "not a one-dimensional array"),
    (REGRESSORS[0], {"features": [-1]}, "all features must be in"),
    (REGRESSORS[0], {"features": [10_000]}, "all features must be in"),
    (REGRESSORS[0], {"features": ["random"]}, "random|strings"),
    (REGRESSORS[0], {"features": [True, False]}, "mask|boolean|features"),
    (REGRESSORS[0], {"features": []}, "."),
    (REGRESSORS[0], {"percentiles": (0, 0.0001), "grid_resolution": 2}, "percentiles are too close"),
    (REGRESSORS[0], {"percentiles": (1, 2, 3)}, "'percentiles' must be a sequence of 2 elements"),
    (REGRESSORS[0], {"percentiles": (-1, 0.95)}, r"'percentiles' values must be in \[0, 1\]"),
    (REGRESSORS[0], {"percentiles": (0.9, 0.1)}, "must be strictly less than"),
    (REGRESSORS[0], {"grid_resolution": 1}, "'grid_resolution' must be strictly greater than 1"),
    (REGRESSORS[0], {"categorical_features": []}, "categorical_features"),
    (REGRESSORS[0], {"categorical_features": [1.0]}, "Expected `categorical_features` to be"),
    (REGRESSORS[0], {"categorical_features": [True]}, "categorical_features"),
    (REGRESSORS[0], {"feature_names": ["a"] * 20}, "feature_names should not contain duplicates"),
]


@pytest.mark.parametrize(("model", "options", "words"), ERRORS)
def test_errors_are_those_of_scikit_learn(model, options, words):
    if "custom_values" in options and not has("scikit-learn", (1, 7)):
        pytest.skip("scikit-learn before 1.7 has no custom_values")
    X, y = make_classification(n_samples=40, random_state=0)
    X = np.where(np.arange(40)[:, None] < 38, np.sort(X, axis=0)[0], X) if "percentiles are" in words else X
    options = {"features": [0], **options}
    for function in (partial_dependence, inspection.partial_dependence):
        with pytest.raises(ValueError, match=words):
            function(model.fit(X, y), X, **options)


def test_more_errors(iris):
    X, y = iris
    for model in (GradientBoostingClassifier(), RandomForestRegressor()):
        with pytest.raises(NotFittedError):
            partial_dependence(model, X, [0])
    with pytest.raises(ValueError, match="Multiclass-multioutput"):
        partial_dependence(RandomForestClassifier(**FEW).fit(X, np.c_[y, y]), X, [0])
    model = RandomForestRegressor(**FEW).fit(X, y)
    with pytest.raises(ValueError, match="shape"):
        partial_dependence(model, X["petal width (cm)"], [0])
    with pytest.raises(ValueError, match="2 names, but X has 4 columns"):
        partial_dependence(model, X, [0], feature_names=["a", "b"])
    with pytest.raises(ValueError, match="only missing values"):
        partial_dependence(HistGradientBoostingRegressor(max_iter=2).fit(X, y), X.assign(**{X.columns[0]: np.nan}), [0])


# -------------------------------------------------------- the differences to scikit-learn, as in docs/guide/sklearn.md


def test_one_scale_for_every_kind_and_wrapper(iris):
    X, y = iris
    model = HistGradientBoostingClassifier(max_iter=4).fit(X, y > 0)
    average = partial_dependence(model, X, [2], grid_resolution=9).average
    assert ((average > 0) & (average < 1)).all()
    np.testing.assert_array_equal(average, partial_dependence(model, X, [2], kind="both", grid_resolution=9).average)
    assert (
        inspection.partial_dependence(model, X, [2], grid_resolution=9).average.min() < 0
    )  # log-odds, but probabilities for "both"
    compare(model, X, [2], response_method="predict_proba", grid_resolution=9)
    with pytest.raises(ValueError, match="'recursion' method"):
        inspection.partial_dependence(model, X, [2], response_method="predict_proba", grid_resolution=9)
    search = GridSearchCV(HistGradientBoostingClassifier(max_iter=4), {"max_depth": [None]}, cv=2).fit(X, y > 0)
    found = partial_dependence(search, X, [2], grid_resolution=9).average
    np.testing.assert_allclose(found, average, rtol=0, atol=1e-12)


def test_the_level_is_true_and_the_rows_are_those_given():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = HistGradientBoostingRegressor(max_iter=4).fit(X, y)
    assert abs(compare(model, X, ["bmi"], grid_resolution=9).average.mean() - y.mean()) < 20
    assert inspection.partial_dependence(model, X, ["bmi"]).average.mean() < 100  # without the baseline
    compare(model, X[: len(X) // 2], ["bmi"], grid_resolution=9)  # the average is over these, not those of training
    same(
        partial_dependence(model, X, ["bmi"], method="recursion"),
        inspection.partial_dependence(model, X, ["bmi"], method="recursion"),
    )


def test_models_trained_with_weights():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = HistGradientBoostingRegressor(max_iter=4).fit(X, y, sample_weight=np.arange(len(X)))
    with pytest.raises(NotImplementedError):
        inspection.partial_dependence(model, X, ["bmi"])
    compare(model, X, ["bmi"], grid_resolution=9)


def test_categories_are_exact(mixed):
    classifier, regressor, X = mixed
    towns = ["a", "b", "c"]
    with pytest.raises(ValueError, match="could not convert"):
        inspection.partial_dependence(regressor, X, ["town"])
    for categorical in (None, ["town"]):
        found = partial_dependence(regressor, X, ["town"], categorical_features=categorical)
        assert found.grid_values[0].tolist() == towns
        expected = [by_hand(regressor, X, {"town": t}, lambda rows: regressor.predict(_typed(rows))) for t in towns]
        np.testing.assert_allclose(found.average[0], expected, rtol=0, atol=1e-12)
    found = partial_dependence(classifier, X, ["town"])
    expected = [by_hand(classifier, X, {"town": t}, lambda rows: classifier.predict_proba(_typed(rows))) for t in towns]
    np.testing.assert_allclose(found.average[0], np.array(expected)[:, 1], rtol=0, atol=1e-12)


def _typed(rows):
    return rows.assign(town=pd.Categorical(rows["town"], categories=["a", "b", "c"]))


def test_codes_of_categories_are_exact():
    rng = np.random.default_rng(0)
    X = np.c_[rng.integers(0, 4, 200), rng.normal(size=200)].astype(float)
    model = HistGradientBoostingRegressor(max_iter=5, categorical_features=[0]).fit(X, (X[:, 0] - 1.5) ** 2 + X[:, 1])
    found = compare(model, X, [0])
    assert np.abs(found.average - inspection.partial_dependence(model, X, [0], method="recursion").average).max() > 0.1


def test_missing_values_have_a_place_of_their_own(mixed):
    _, model, X = mixed
    assert np.isnan(
        inspection.partial_dependence(model, X, ["size"], method="brute", grid_resolution=9).grid_values
    ).all()
    found = partial_dependence(model, X, ["size"], kind="both", grid_resolution=9)
    assert np.isfinite(found.grid_values[0]).all()
    assert found.average.shape == (1, 9)
    missing = model.predict(X.assign(size=np.nan))
    np.testing.assert_allclose(found.missing[0].average, [missing.mean()], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.missing[0].individual, [missing], rtol=0, atol=1e-12)
    asked = partial_dependence(model, X, ["size"], custom_values={"size": [0.0, np.nan]})
    np.testing.assert_allclose(asked.average[:, 1], found.missing[0].average, rtol=0, atol=1e-12)
    pair = partial_dependence(model, X, ["town", "size"], kind="both", grid_resolution=9)
    assert pair.missing[0] is None
    assert pair.missing[1].average.shape == (1, 3)
    assert pair.missing[1].individual.shape == (1, len(X), 3)
    expected = by_hand(model, X, {"town": "b", "size": np.nan}, lambda rows: model.predict(_typed(rows)))
    np.testing.assert_allclose(pair.missing[1].average[0, 1], expected, rtol=0, atol=1e-12)
    assert "missing" not in partial_dependence(model, X, ["age"])
    display = PartialDependenceDisplay.from_estimator(model, X, ["size"])
    assert np.isfinite(display.deciles[0]).all()
    texts = X.assign(town=X["town"].astype(object).where(X["age"] > -1, None))
    found = partial_dependence(model, texts, ["town"])
    assert found.grid_values[0].tolist() == ["a", "b", "c"]
    assert found.missing[0].average.shape == (1,)
    with pytest.raises(ValueError, match="mixed data types"):
        inspection.partial_dependence(model, texts, ["town"], categorical_features=["town"])


def test_integers_and_booleans(mixed):
    _, model, X = mixed
    if has("scikit-learn", (1, 7)):  # older ones round what they put in
        with pytest.raises(ValueError, match="integer data"):
            inspection.partial_dependence(model, X, ["rooms"])
    found = partial_dependence(model, X, ["rooms"], grid_resolution=12)
    assert found.grid_values[0].dtype == X["rooms"].dtype
    assert found.grid_values[0].size <= 12
    expected = [by_hand(model, X, {"rooms": value}, model.predict) for value in found.grid_values[0]]
    np.testing.assert_allclose(found.average[0], expected, rtol=0, atol=1e-12)
    assert partial_dependence(model, X, ["rooms"], grid_resolution=1000).grid_values[0].size == X["rooms"].nunique()
    assert partial_dependence(model, X, ["new"], grid_resolution=2).grid_values[0].tolist() == [False, True]


def test_other_tables(mixed):
    _, model, X = mixed
    expected = partial_dependence(model, X, ["size", "town"], kind="both", grid_resolution=5)
    for table in (pl.from_pandas(X), pa.Table.from_pandas(X)):
        same(partial_dependence(model, table, ["size", "town"], kind="both", grid_resolution=5), expected)
        display = PartialDependenceDisplay.from_estimator(model, table, ["age", "town"])
        assert display.feature_names == list(X)
    if has("scikit-learn", (1, 7)):
        with pytest.raises(AttributeError):
            inspection.partial_dependence(model, pl.from_pandas(X), ["age"])
    rows = X[["rooms", "age"]].to_numpy()
    forest = RandomForestRegressor(**FEW).fit(rows, X["age"])
    same(partial_dependence(forest, sparse.csr_matrix(rows), [1]), partial_dependence(forest, rows, [1]))
    with pytest.raises(ValueError, match="array element"):
        inspection.partial_dependence(forest, sparse.csr_matrix(rows), [1])


def test_two_rows(iris):
    X, y = iris
    model = HistGradientBoostingClassifier(max_iter=4).fit(X, y > 0)
    two = X.iloc[[0, 100]].reset_index(drop=True)
    found = partial_dependence(model, two, [2], kind="both")
    expected = [model.predict_proba(two.assign(**{X.columns[2]: value}))[:, 1] for value in found.grid_values[0]]
    np.testing.assert_allclose(found.individual[0].T, expected, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="reshape"):
        inspection.partial_dependence(model, two, [2], kind="both")


def test_custom_values_are_passed_on_if_they_are_given(diabetes, monkeypatch):
    model, X = diabetes
    asked = []
    monkeypatch.setattr(inspection, "partial_dependence", lambda *_, **given: asked.append(given))
    partial_dependence(model, X, ["bmi"], method="brute")
    partial_dependence(model, X, ["bmi"], method="brute", custom_values={"bmi": [0.1]})
    assert ["custom_values" in given for given in asked] == [False, True]


def test_custom_values_by_name_or_number(diabetes):
    model, X = diabetes
    values = [-0.05, 0.1]
    for key in ("bmi", 2):
        assert partial_dependence(model, X, ["bmi"], custom_values={key: values}).average.shape == (1, 2)
        display = PartialDependenceDisplay.from_estimator(model, X, ["bmi"], custom_values={key: values})
        assert display.pd_results[0].average.shape == (1, 2)
    if has("scikit-learn", (1, 7)):
        theirs = inspection.PartialDependenceDisplay.from_estimator(model, X, ["bmi"], custom_values={"bmi": values})
        assert theirs.pd_results[0].average.shape[1] > 2  # not looked at
    named = partial_dependence(model, X.to_numpy(), ["bmi"], feature_names=list(X), custom_values={"bmi": values})
    assert named.average.shape == (1, 2)
    with pytest.raises(ValueError, match="only supported for dataframes"):
        inspection.partial_dependence(model, X.to_numpy(), ["bmi"], feature_names=list(X))


@pytest.mark.parametrize("library", ["xgboost", "catboost"])
def test_raw_scores_of_other_libraries(library, iris):
    X, y = iris
    module = pytest.importorskip(library)
    if library == "xgboost":
        model, raw, within = module.XGBClassifier(n_estimators=3), {"output_margin": True}, 2e-6  # they add in float32
    else:
        model = module.CatBoostClassifier(iterations=3, depth=3, verbose=0, allow_writing_files=False)
        raw, within = {"prediction_type": "RawFormulaVal"}, 1e-8
    model.fit(X, y)
    same(partial_dependence(model, X, [2]), inspection.partial_dependence(model, X, [2]), within)
    found = partial_dependence(model, X, [2], response_method="decision_function")
    margins = model.predict(X.assign(**{X.columns[2]: found.grid_values[0][5]}), **raw)
    np.testing.assert_allclose(found.average[:, 5], margins.mean(axis=0), rtol=0, atol=10 * within)
    with pytest.raises(AttributeError, match="decision_function"):
        inspection.partial_dependence(model, X, [2], response_method="decision_function")


# ----------------------------------------------------------------------------------------- what is left to scikit-learn


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(),
        LogisticRegression(max_iter=1000),
        GradientBoostingClassifier(init=LogisticRegression(max_iter=1000), **FEW),
    ],
    ids=lambda model: type(model).__name__,
)
def test_other_estimators_are_left_to_scikit_learn(model, iris):
    X, y = iris
    model.fit(X, y)
    target = {} if isinstance(model, LinearRegression) else {"target": 2}
    with pytest.warns(UserWarning, match=f"{type(model).__name__} is left to scikit-learn's brute force.*: ") as caught:
        found = partial_dependence(model, X, [2], kind="both", grid_resolution=5)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    same(found, inspection.partial_dependence(model, X, [2], kind="both", grid_resolution=5), 0)
    with pytest.warns(UserWarning, match="brute force") as caught:
        display = PartialDependenceDisplay.from_estimator(model, X, [0, 1, (2, 3)], grid_resolution=5, **target)
    assert len(caught) == 1
    assert isinstance(display, PartialDependenceDisplay)
    assert display.lines_[0, 0].get_drawstyle() == "default"
    assert display.plot().lines_[0, 0].get_drawstyle() == "default"


def test_brute_and_recursion_are_scikit_learns(diabetes):
    model, X = diabetes
    for method in ("brute", "recursion"):
        found = partial_dependence(model, X, ["bmi"], method=method)
        same(found, inspection.partial_dependence(model, X, ["bmi"], method=method), 0)
        display = PartialDependenceDisplay.from_estimator(model, X, ["bmi"], method=method)
        np.testing.assert_array_equal(display.pd_results[0].average, found.average)
        assert display.lines_[0, 0].get_drawstyle() == "default"


def test_pipelines_in_their_own_columns(iris):
    X, y = iris
    for table, feature in ((X, "petal width (cm)"), (X.to_numpy(), 3)):
        model = make_pipeline(StandardScaler(), GradientBoostingClassifier(**FEW)).fit(table, y)
        compare(model, table, [feature], kind="both", grid_resolution=5)
        compare(model, table, [0, feature] if feature == 3 else [X.columns[0], feature], grid_resolution=5)
    mixing = make_pipeline(PCA(2), GradientBoostingClassifier(**FEW)).fit(X, y)
    with pytest.warns(UserWarning, match=r"brute force.*PCA"):
        compare(mixing, X, [2], grid_resolution=4)


def test_importing_glasswood_does_not_import_it():
    assert "sklearn" not in gw.__all__


def test_rows_that_are_not_in_memory_are_refused(tmp_path):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = DecisionTreeRegressor(max_depth=2).fit(X, y)
    X.to_parquet(tmp_path / "rows.parquet")
    for rows in (tmp_path / "rows.parquet", pl.scan_parquet(tmp_path / "rows.parquet"), iter([X])):
        for ask in (partial_dependence, PartialDependenceDisplay.from_estimator):
            with pytest.raises(gw.errors.TableError, match=r"a table in memory.*glasswood\.Explainer"):
                ask(model, rows, ["bmi"])
