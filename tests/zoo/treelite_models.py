"""Models of treelite of every kind, each with the table that it was trained on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lightgbm as lgb
import numpy as np
import treelite
import xgboost as xgb
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from threadpoolctl import threadpool_limits

from helpers.adversarial import ODD

# What lies between the codes, and beyond them.
CODES = (-0.5, -1.0, 0.7, 2.9, 63.5, 64.0, 90.0, 1e4, 2.0**24, 2.0**31, 2.0**32 + 1, 1e19)
EVERYTHING = (*ODD, *CODES)


def numbers(*, missing=False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = X[:, 0] * 2 + np.sin(3 * X[:, 1]) + X[:, 2] * (X[:, 3] > 0)
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    return X, y


def codes():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    X[:, 1] = rng.integers(0, 80, len(X))
    X[:, 2] = rng.integers(0, 4, len(X))
    y = X[:, 0] + 2 * np.sin(X[:, 1]) + np.isin(X[:, 2], [0, 3])
    X[::20, 1] = np.nan
    return X, y


def three(y):
    return np.digitize(y, [-1, 1])


def xgboost(label=None, *, categorical=False, **parameters):
    X, y = codes() if categorical else numbers(missing=True)
    kinds = {"feature_types": ["q", "c", "c"], "enable_categorical": True} if categorical else {}
    data = xgb.DMatrix(X, y if label is None else label(y), **kinds)
    booster = xgb.train({"max_depth": 4, "nthread": 1} | parameters, data, 8)
    return treelite.frontend.from_xgboost(booster), X


def lightgbm(label=None, *, categorical=False, **parameters):
    X, y = codes() if categorical else numbers(missing=True)
    data = lgb.Dataset(X, y if label is None else label(y), categorical_feature=[1, 2] if categorical else "auto")
    settings = {"verbose": -1, "num_threads": 1, "num_leaves": 8, "min_data_in_leaf": 5}
    booster = lgb.train(settings | {"cat_smooth": 1, "min_data_per_group": 2} | parameters, data, 8)
    return treelite.frontend.from_lightgbm(booster), X


def sklearn(model, label=None, *, categorical=False, missing=False):
    X, y = codes() if categorical else numbers(missing=missing)
    with threadpool_limits(1):
        model.fit(X, y if label is None else label(y))
    return treelite.sklearn.import_model(model), X


def absent_class():
    # No row is of class 3, so that class gets trees of one leaf.
    return lightgbm(three, objective="multiclass", num_class=4)


RF = {"boosting": "rf", "bagging_fraction": 0.6, "bagging_freq": 1}
FOREST = {"n_estimators": 6, "max_leaf_nodes": 20, "random_state": 0}
HISTOGRAM = {"max_iter": 6, "max_leaf_nodes": 8, "min_samples_leaf": 5}

CONFIGURATIONS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "XGBoost": xgboost,
    "XGBoost, logistic": lambda: xgboost(lambda y: y > 0, objective="binary:logistic", base_score=0.3),
    "XGBoost, poisson": lambda: xgboost(np.exp, objective="count:poisson"),
    "XGBoost, 3 classes": lambda: xgboost(three, objective="multi:softprob", num_class=3),
    "XGBoost, 2 targets": lambda: xgboost(lambda y: np.c_[y, -y]),
    "XGBoost, leaf vectors": lambda: xgboost(lambda y: np.c_[y, -y, 2 * y], multi_strategy="multi_output_tree"),
    "XGBoost, dart": lambda: xgboost(booster="dart", rate_drop=0.5),
    "XGBoost, codes": lambda: xgboost(categorical=True, max_cat_to_onehot=1),
    "XGBoost, codes one-hot": lambda: xgboost(categorical=True, max_cat_to_onehot=100),
    "LightGBM": lightgbm,
    "LightGBM, codes": lambda: lightgbm(categorical=True),
    "LightGBM, random forest": lambda: lightgbm(**RF),
    "LightGBM, random forest, 3 classes": lambda: lightgbm(three, objective="multiclass", num_class=3, **RF),
    "LightGBM, multiclassova": lambda: lightgbm(three, objective="multiclassova", num_class=3, sigmoid=0.5),
    "LightGBM, one class absent": absent_class,
    "RandomForestRegressor": lambda: sklearn(RandomForestRegressor(**FOREST), missing=True),
    "RandomForestRegressor, 2 targets": lambda: sklearn(RandomForestRegressor(**FOREST), lambda y: np.c_[y, -y]),
    "RandomForestClassifier": lambda: sklearn(RandomForestClassifier(**FOREST), three),
    "RandomForestClassifier, 2 targets": lambda: sklearn(
        RandomForestClassifier(**FOREST), lambda y: np.c_[three(y), y > 0]
    ),
    "ExtraTreesRegressor": lambda: sklearn(ExtraTreesRegressor(**FOREST)),
    "GradientBoostingRegressor": lambda: sklearn(GradientBoostingRegressor(n_estimators=6)),
    "GradientBoostingClassifier": lambda: sklearn(GradientBoostingClassifier(n_estimators=6), three),
    "HistGradientBoostingRegressor": lambda: sklearn(HistGradientBoostingRegressor(**HISTOGRAM), missing=True),
    "HistGradientBoostingClassifier": lambda: sklearn(HistGradientBoostingClassifier(**HISTOGRAM), three),
    "IsolationForest": lambda: sklearn(IsolationForest(n_estimators=6, max_features=0.6, random_state=0)),
}


def raw(model, rows):
    """GTIL's raw score; it has the shape (rows, targets, classes), with zeros for classes that a target lacks."""
    with np.errstate(over="ignore"):  # 1e37 is no float32
        scores = treelite.gtil.predict(model, rows, pred_margin=True)
    n_classes = model.get_header_accessor().get_field("num_class")
    outputs = np.concatenate([scores[:, target, :count] for target, count in enumerate(n_classes)], axis=1)
    return outputs[:, 0] if outputs.shape[1] == 1 else outputs
