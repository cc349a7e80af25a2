"""scikit-learn's models are read so that every score is the same in every bit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import glasswood as gw
from glasswood.models.readers import _sklearn
from helpers.adversarial import FINITE, ODD, hostile_array, hostile_frame
from zoo.sklearn_models import (
    BOOST,
    CONFIGURATIONS,
    SMALL,
    STOP,
    C,
    R,
    category_frame,
    data,
    raw,
    table,
)


# scikit-learn sums columns to look for NaN, and numbers near the end of float32's range overflow that sum.
@pytest.mark.filterwarnings("ignore:invalid value encountered in reduce:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:overflow encountered in reduce:RuntimeWarning")
# It also bins infinities by computing with them.
@pytest.mark.filterwarnings("ignore:invalid value encountered in (add|subtract|multiply):RuntimeWarning")
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_reproduces_scikit_learn_bit_for_bit(name, prove):
    model, odd, keywords = CONFIGURATIONS[name]
    X, y = table(**keywords)
    model = clone(model).fit(X, y)
    ensemble = prove(model, raw, lambda ensemble: hostile_array(X, ensemble, odd=odd))
    assert gw.read_model(model, X).n_leaves == ensemble.n_leaves


@pytest.mark.filterwarnings("ignore:invalid value encountered in reduce:RuntimeWarning")
@pytest.mark.parametrize("name", ["all", "half of the features", "missing values"])
def test_isolation_forest_gives_the_mean_depth(name, prove):
    X, _ = data(missing=name == "missing values")
    model = IsolationForest(n_estimators=20, max_features=0.5 if name.startswith("half") else 1.0, random_state=0).fit(
        X
    )

    def depth(model, rows):
        # score = -2 ** -(mean depth / c), so the depth is known to the rounding of the power
        return -np.log2(-model.score_samples(rows)) * c(model._max_samples)

    def c(n):
        return 2.0 * (np.log(n - 1.0) + np.euler_gamma) - 2.0 * (n - 1.0) / n

    ensemble = prove(model, depth, lambda ensemble: hostile_array(X, ensemble, odd=FINITE), within=1e-12)
    assert ensemble.score.units == "mean depth"
    gw.read_model(model, X)


def hostile_categories(frame):
    """Every known category, categories never met, and missing ones."""
    towns = [*frame["town"].cat.categories, "nowhere", "", None]
    kinds = [*frame["kind"].cat.categories, "w", None]
    types = {"town": pd.CategoricalDtype(towns[:-1]), "kind": pd.CategoricalDtype(kinds[:-1])}
    return frame.astype(types), {"town": towns, "kind": kinds}


@pytest.mark.parametrize("name", ["regression", "binary", "3 classes", "early stopping"])
def test_categories_from_dtype(name, prove):
    # shap gets 97 % of such rows wrong, treelite refuses (model-semantics 1.2, 3.2); unseen ones go the missing way
    frame, y = category_frame()
    if name == "regression":
        model = HistGradientBoostingRegressor(**BOOST)
    elif name == "early stopping":
        model = HistGradientBoostingRegressor(**STOP)
    else:
        model = HistGradientBoostingClassifier(**BOOST)
        y = np.digitize(y, np.quantile(y, [0.5] if name == "binary" else [0.3, 0.7]))
    model.fit(frame, y)
    wide, categories = hostile_categories(frame)
    ensemble = prove(model, raw, lambda e: hostile_frame(wide, e, odd=ODD, categories=categories))
    assert ensemble.schema.columns[1].categories == tuple(frame["town"].cat.categories)
    gw.read_model(model, frame)


def test_categories_of_numbers_in_an_array(prove):
    # treelite reads negative categories as uint32 and sends unseen ones right (model-semantics 1.2)
    frame, y = category_frame(numbers=True)
    X = frame.to_numpy()
    X[:, 1] -= 4  # negative categories
    model = HistGradientBoostingRegressor(categorical_features=[1, 3], **BOOST).fit(X, y)

    def hostile(ensemble):
        rows = np.repeat(X[:50], 20, axis=0)
        rng = np.random.default_rng(0)
        rows[:, 1] = rng.choice([*range(-6, 12), np.nan, 0.5, 300.0], size=len(rows))
        rows[:, 3] = rng.choice([0, 1, 2, 3, -1, np.nan], size=len(rows))
        return np.vstack([X, rows])

    prove(model, raw, hostile)


def test_categories_of_strings_in_an_object_array(prove):
    frame, y = category_frame()
    X = frame.astype(object).to_numpy()
    X[:, 1] = np.where(frame["town"].isna(), "none", X[:, 1])
    model = HistGradientBoostingRegressor(categorical_features=[1, 3], **BOOST).fit(X, y)
    prove(model, raw, lambda ensemble: X)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_frames_of_every_library_give_the_same_scores(kind):
    frame, y = category_frame()
    model = HistGradientBoostingRegressor(**BOOST).fit(frame, y)
    ensemble = gw.read_model(model)
    if kind == "polars":
        import polars as pl

        table = pl.from_pandas(frame)
    elif kind == "pyarrow":
        import pyarrow as pa

        table = pa.Table.from_pandas(frame)
    else:
        table = frame[["kind", "age", "size", "town"]]  # columns are found by name
    np.testing.assert_array_equal(ensemble.predict(table), model.predict(frame))


def test_bagged_trees_that_saw_only_some_classes(prove):
    X, y = data(C, classes=3)
    with config_context(enable_metadata_routing=True):  # then bags index rows instead of weighting them
        model = BaggingClassifier(max_samples=4, **SMALL).fit(X, y)
        assert min(len(estimator.classes_) for estimator in model.estimators_) < 3
        prove(model, raw, lambda ensemble: hostile_array(X, ensemble))


def test_names_units_and_links():
    X, y = data(C, classes=3)
    y = np.array(["low", "mid", "top"])[y]
    forest = gw.read_model(RandomForestClassifier(**SMALL).fit(X, y))
    assert forest.score.labels == ("low", "mid", "top")
    assert (forest.score.units, forest.score.link) == ("probability", "identity")
    boosted = gw.read_model(HistGradientBoostingClassifier(**BOOST).fit(X, y))
    assert (boosted.score.labels, boosted.score.link) == (("low", "mid", "top"), "softmax")
    binary = gw.read_model(GradientBoostingClassifier(loss="exponential", **SMALL).fit(X, y == "top"))
    # shap starts the exponential loss at a wrong base and treelite at a wrong link (model-semantics 1.2, 3.2)
    assert (binary.score.labels, binary.score.link, binary.score.link_scale) == ((False, True), "logistic", 2.0)
    counts = gw.read_model(HistGradientBoostingRegressor(loss="poisson", **BOOST).fit(X, np.arange(len(X)) % 4))
    assert (counts.score.units, counts.score.link) == ("log of the mean", "exp")
    targets = gw.read_model(RandomForestClassifier(**SMALL).fit(X, np.column_stack([y, y == "top"])))
    assert targets.score.labels == ("y0=low", "y0=mid", "y0=top", "y1=False", "y1=True")


def test_covers_are_the_training_weights():
    X, y = data()
    model = ExtraTreesRegressor(**SMALL).fit(X, y, sample_weight=np.full(len(X), 0.5))
    ensemble = gw.read_model(model)
    np.testing.assert_allclose(ensemble.cover[ensemble.root], 0.5 * len(X))
    np.testing.assert_allclose(ensemble.leaf_cover.sum(), 0.5 * len(X) * ensemble.n_trees)


def test_subclasses_are_read():
    class MyForest(RandomForestRegressor):
        pass

    X, y = data()
    model = MyForest(**SMALL).fit(X, y)
    np.testing.assert_array_equal(gw.read_model(model, X).predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (AdaBoostRegressor(n_estimators=3), "weighted median"),
        (AdaBoostClassifier(n_estimators=3), "votes"),
        (LinearRegression(), "not supported"),
        (BaggingRegressor(LinearRegression()), "only bags of decision trees"),
        (BaggingClassifier(LogisticRegression()), "only bags of decision trees"),
        (GradientBoostingRegressor(init=LinearRegression(), n_estimators=3), "init=LinearRegression"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_what_cannot_be_read_is_refused_with_advice(model, says):
    X, y = data(C) if hasattr(model, "predict_proba") else data()
    with pytest.raises(gw.errors.UnsupportedModelError, match=says):
        gw.read_model(model.fit(X, y))


def test_a_classifier_of_one_class_is_refused_with_a_true_sentence():
    X, _ = data()
    model = HistGradientBoostingClassifier(max_iter=2).fit(X, ["only"] * len(X))
    with pytest.raises(gw.errors.UnsupportedModelError, match="was trained with one class, 'only'"):
        gw.read_model(model)


@pytest.mark.parametrize("model", [RandomForestRegressor(), HistGradientBoostingRegressor(), DecisionTreeClassifier()])
def test_unfitted_models_are_refused(model):
    with pytest.raises(gw.errors.UnsupportedModelError, match="not fitted"):
        gw.read_model(model)


def test_sparse_tables_count_absent_entries_as_zero():
    import scipy.sparse

    X, y = data()
    X[np.abs(X) < 0.5] = 0.0
    model = RandomForestRegressor(**SMALL).fit(X, y)
    for rows in (scipy.sparse.csr_matrix(X), scipy.sparse.coo_array(X)):
        np.testing.assert_array_equal(gw.read_model(model).predict(rows), model.predict(rows))


# ---------------------------------------------------------------------------------------------- releases to come


class Later:
    """A tree of a release to come: the same, but for some parts."""

    def __init__(self, tree, **parts):
        self.tree, self.parts = tree, parts

    def __getattr__(self, name):
        return self.parts.get(name) if name in self.parts else getattr(self.tree, name)

    def __getstate__(self):
        return self.parts.get("state", self.tree.__getstate__())


def test_unknown_parts_of_trees_are_refused():
    X, y = data(R)
    model = RandomForestRegressor(**SMALL).fit(X, y)
    tree = model.estimators_[0].tree_
    state = tree.__getstate__()
    nodes = state["nodes"]
    wider = np.zeros(
        nodes.size, dtype=[*((name, nodes.dtype[name]) for name in nodes.dtype.names), ("left_cats", "u8")]
    )
    threshold = np.where(tree.children_left >= 0, -np.inf, tree.threshold)
    for later, says in (
        (Later(tree, state=state | {"_n_categories": 3}), "parts that Glasswood does not know: _n_categories"),
        (Later(tree, state=state | {"nodes": wider}), "parts that Glasswood does not know: left_cats"),
        (Later(tree, threshold=threshold), "a split at minus infinity, which stands for a split on categories"),
    ):
        with pytest.raises(gw.errors.UnsupportedModelError, match=says):
            _sklearn._tree(later)
    boosted = HistGradientBoostingRegressor(**BOOST).fit(X, y)
    for predictor in (predictor for iteration in boosted._predictors for predictor in iteration):
        own = predictor.nodes
        more = np.zeros(own.size, dtype=[*((name, own.dtype[name]) for name in own.dtype.names), ("oblique", "f8")])
        for name in own.dtype.names:
            more[name] = own[name]
        predictor.nodes = more
    with pytest.raises(gw.errors.UnsupportedModelError, match="parts that Glasswood does not know: oblique"):
        gw.read_model(boosted)


class Halved(RandomForestRegressor):
    """A forest of somebody's, which predicts something else."""

    def predict(self, X):
        return super().predict(X) / 2


class Renamed(RandomForestRegressor):
    """A forest of somebody's, which predicts as its parent does."""


def test_classes_of_others_that_predict_in_their_own_way():
    X, y = data(R)
    renamed, halved = Renamed(**SMALL).fit(X, y), Halved(**SMALL).fit(X, y)
    np.testing.assert_array_equal(gw.read_model(renamed).predict(X), renamed.predict(X))
    for ask in (lambda: gw.read_model(halved), lambda: gw.Explainer(halved)):
        with pytest.raises(gw.errors.UnsupportedModelError, match="Halved defines its own predict"):
            ask()
    for ask in (lambda: gw.read_model(halved, X), lambda: gw.Explainer(halved, X)):
        with pytest.raises(gw.errors.ModelMismatchError):
            ask()
