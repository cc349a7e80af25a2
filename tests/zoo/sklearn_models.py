"""Models of sklearn of every kind, each with the table that it was trained on."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor

from helpers.adversarial import FINITE, FINITE_OR_MISSING, ODD


def data(task="regression", *, targets=1, classes=2, missing=False, n=300, seed=0):
    """A small table of 5 columns with ties, an integer column and, if asked, missing values."""
    rng = np.random.default_rng(seed)
    if task == "regression":
        X, y = make_regression(n, 5, n_targets=targets, noise=5.0, random_state=seed)
    else:
        X, y = make_classification(n, 5, n_informative=4, n_redundant=0, n_classes=classes, random_state=seed)
        if targets > 1:
            y = np.column_stack([y, rng.integers(classes + 1, size=n)])
    X[:, 0] = np.round(X[:, 0], 1)
    X[:, 1] = np.round(2 * X[:, 1])
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    return X, y


def raw(model, X):
    """The library's own raw score."""
    if isinstance(model, HistGradientBoostingRegressor):
        return model._raw_predict(X).ravel()
    if isinstance(model, GradientBoostingClassifier | HistGradientBoostingClassifier):
        return model.decision_function(X)
    if hasattr(model, "predict_proba"):
        probabilities = model.predict_proba(X)
        return np.hstack(probabilities) if isinstance(probabilities, list) else probabilities
    return model.predict(X)


R, C = "regression", "classification"
SMALL = {"n_estimators": 12, "random_state": 0}
BOOST = {"max_iter": 15, "random_state": 0}
STOP = {"early_stopping": True, "n_iter_no_change": 2, "max_iter": 200, "learning_rate": 0.5, "random_state": 0}

# name: the model, the odd values that its library takes, and the keywords of `data`
CONFIGURATIONS = {
    "tree, regression": (DecisionTreeRegressor(), FINITE_OR_MISSING, {"task": R}),
    "tree, 3 targets": (DecisionTreeRegressor(max_depth=5), FINITE_OR_MISSING, {"task": R, "targets": 3}),
    "tree, 3 classes": (DecisionTreeClassifier(max_depth=6), FINITE_OR_MISSING, {"task": C, "classes": 3}),
    "tree, 2 targets of 2 and 3 classes": (DecisionTreeClassifier(), FINITE_OR_MISSING, {"task": C, "targets": 2}),
    "tree, missing values": (DecisionTreeRegressor(), FINITE_OR_MISSING, {"task": R, "missing": True}),
    "tree, poisson": (DecisionTreeRegressor(criterion="poisson"), FINITE_OR_MISSING, {"task": "count"}),
    "tree, one leaf": (DecisionTreeRegressor(min_samples_leaf=300), FINITE_OR_MISSING, {"task": R}),
    "extra tree, regression": (ExtraTreeRegressor(random_state=0), FINITE_OR_MISSING, {"task": R}),
    "extra tree, 3 classes": (ExtraTreeClassifier(random_state=0), FINITE_OR_MISSING, {"task": C, "classes": 3}),
    "forest, regression": (RandomForestRegressor(**SMALL), FINITE_OR_MISSING, {"task": R}),
    "forest, 2 targets": (RandomForestRegressor(**SMALL), FINITE_OR_MISSING, {"task": R, "targets": 2}),
    "forest, binary": (RandomForestClassifier(**SMALL), FINITE_OR_MISSING, {"task": C}),
    "forest, 4 classes": (RandomForestClassifier(**SMALL), FINITE_OR_MISSING, {"task": C, "classes": 4}),
    "forest, 2 targets of 2 and 3 classes": (
        RandomForestClassifier(**SMALL),
        FINITE_OR_MISSING,
        {"task": C, "targets": 2},
    ),
    "forest, missing values": (RandomForestRegressor(**SMALL), FINITE_OR_MISSING, {"task": R, "missing": True}),
    "forest, balanced classes": (
        RandomForestClassifier(class_weight="balanced_subsample", **SMALL),
        FINITE_OR_MISSING,
        {"task": C, "classes": 3},
    ),
    "extra trees, regression": (ExtraTreesRegressor(**SMALL), FINITE_OR_MISSING, {"task": R}),
    "extra trees, missing values": (ExtraTreesClassifier(**SMALL), FINITE_OR_MISSING, {"task": C, "missing": True}),
    "boosting, regression": (GradientBoostingRegressor(**SMALL), FINITE, {"task": R}),
    "boosting, huber": (GradientBoostingRegressor(loss="huber", **SMALL), FINITE, {"task": R}),
    "boosting, quantile": (GradientBoostingRegressor(loss="quantile", alpha=0.9, **SMALL), FINITE, {"task": R}),
    "boosting, init zero": (GradientBoostingRegressor(init="zero", **SMALL), FINITE, {"task": R}),
    "boosting, early stopping": (
        # treelite passes n_estimators instead of n_estimators_ here, and the process dies (model-semantics 1.2, 3.3).
        GradientBoostingRegressor(n_estimators=300, learning_rate=0.5, n_iter_no_change=2, random_state=0),
        FINITE,
        {"task": R},
    ),
    "boosting, binary": (GradientBoostingClassifier(**SMALL), FINITE, {"task": C}),
    "boosting, 3 classes": (GradientBoostingClassifier(**SMALL), FINITE, {"task": C, "classes": 3}),
    "boosting, exponential": (GradientBoostingClassifier(loss="exponential", **SMALL), FINITE, {"task": C}),
    "boosting, binary, init zero": (GradientBoostingClassifier(init="zero", **SMALL), FINITE, {"task": C}),
    "boosting, subsample and leaves": (
        GradientBoostingRegressor(subsample=0.5, max_leaf_nodes=7, max_depth=None, **SMALL),
        FINITE,
        {"task": R},
    ),
    "histogram, regression": (HistGradientBoostingRegressor(**BOOST), ODD, {"task": R}),
    "histogram, missing values": (HistGradientBoostingRegressor(**BOOST), ODD, {"task": R, "missing": True}),
    "histogram, early stopping": (HistGradientBoostingRegressor(**STOP), ODD, {"task": R}),
    "histogram, poisson": (HistGradientBoostingRegressor(loss="poisson", **BOOST), ODD, {"task": "count"}),
    "histogram, gamma": (HistGradientBoostingRegressor(loss="gamma", **BOOST), ODD, {"task": "positive"}),
    "histogram, quantile": (
        HistGradientBoostingRegressor(loss="quantile", quantile=0.3, **BOOST),
        ODD,
        {"task": R},
    ),
    "histogram, monotone": (HistGradientBoostingRegressor(monotonic_cst=[1, 0, -1, 0, 0], **BOOST), ODD, {"task": R}),
    "histogram, constrained interactions": (
        HistGradientBoostingRegressor(interaction_cst="no_interactions", **BOOST),
        ODD,
        {"task": R},
    ),
    "histogram, binary": (HistGradientBoostingClassifier(**BOOST), ODD, {"task": C}),
    "histogram, 3 classes": (HistGradientBoostingClassifier(**BOOST), ODD, {"task": C, "classes": 3}),
    "histogram, infinite values": (HistGradientBoostingRegressor(**BOOST), ODD, {"task": "infinite"}),
    "bag, regression": (BaggingRegressor(DecisionTreeRegressor(max_depth=4), **SMALL), FINITE_OR_MISSING, {"task": R}),
    "bag, some features": (
        BaggingRegressor(DecisionTreeRegressor(max_depth=4), max_features=0.6, **SMALL),
        FINITE_OR_MISSING,
        {"task": R},
    ),
    "bag, binary": (BaggingClassifier(**SMALL), FINITE_OR_MISSING, {"task": C}),
    "bag, 3 classes": (BaggingClassifier(max_samples=0.5, **SMALL), FINITE_OR_MISSING, {"task": C, "classes": 3}),
    "bag, extra trees": (BaggingRegressor(ExtraTreeRegressor(), **SMALL), FINITE_OR_MISSING, {"task": R}),
}


def table(task, **keywords):
    """The training table of a configuration."""
    if task in (R, C):
        return data(task, **keywords)
    X, y = data(R, **keywords)
    if task == "infinite":
        X[::7, 0], X[::11, 2] = np.inf, -np.inf
        return X, y
    return X, np.round(np.abs(y) / 20) + (task == "positive")


def category_frame(*, numbers=False, n=400, seed=0):
    """A frame with two numbers and two columns of categories, some of them missing."""
    rng = np.random.default_rng(seed)
    town = rng.integers(12, size=n)
    kind = rng.integers(3, size=n)
    frame = pd.DataFrame({"size": rng.normal(size=n), "town": town, "age": rng.normal(size=n), "kind": kind})
    y = frame["size"] + (town % 5) * 2.0 - np.where(kind == 1, 3.0, 0.0) * frame["age"]
    if not numbers:
        frame["town"] = pd.Categorical([None if t == 3 else f"town {t}" for t in town])
        frame["kind"] = pd.Categorical(np.array(["x", "y", "z"])[kind])
    return frame, y.to_numpy()
