"""Models of xgboost of every kind, each with the table that it was trained on."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

from helpers.adversarial import FINITE_OR_MISSING, ODD, beside, hostile_array, hostile_frame
from helpers.versions import needs

VERSION = tuple(int(number) for number in xgb.__version__.split(".")[:2])
SMALL = {"n_estimators": 8, "max_depth": 4, "n_jobs": 1, "random_state": 0}
WITH_LABELS = needs("xgboost", (3, 1))  # models keep the labels of their categories
MAX_ODD = 3000  # hostile rows with one odd value
# Codes that are no category, or only become one when they are rounded to float32.
CODES = (np.nan, -1.0, -0.5, -0.0, -1e-50, 0.4, 1.9999999999, 2.0, 2.5, 70.0, 1e6, 2.0**24, 1e37)


def numbers(n=300, *, missing=False, seed=0):
    """Five columns with ties, whole numbers and, if asked, missing values; and a target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[:, 0] = np.round(X[:, 0], 1)
    X[:, 1] = np.round(2 * X[:, 1])
    y = X[:, 0] * X[:, 1] + 2 * X[:, 2] + (X[:, 3] > 0.3) * X[:, 4]
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    return X, y


def target(kind, y):
    """Turn numbers into a target that an objective takes."""
    kinds = {
        "value": y,
        "class": (y > 0.5).astype(int),
        "three classes": np.digitize(y, [-1.0, 1.0]),
        "share": 1 / (1 + np.exp(-y)),
        "count": np.abs(y).round(),
        "positive": np.abs(y) + 0.1,
        "two targets": np.column_stack([y, -3 * np.abs(y)]),
        "labels": np.column_stack([y > 0, y > 1, y < -1]).astype(int),
    }
    return kinds[kind]


def wrapper(kind, model, *, missing=True):
    X, y = numbers(missing=missing)
    return model.fit(X, target(kind, y)), X


def booster(kind, rounds=8, *, data=None, **parameters):
    X, y = numbers(missing=True)
    rows = xgb.DMatrix(X, target(kind, y), **data or {})
    return xgb.train({"max_depth": 4, "nthread": 1, "seed": 0} | parameters, rows, rounds), X


def survival(**parameters):
    X, y = numbers(missing=True)
    rows = xgb.DMatrix(X, label_lower_bound=np.exp(y), label_upper_bound=np.exp(y) + (y > 0))
    return xgb.train({"objective": "survival:aft", "max_depth": 3, "nthread": 1} | parameters, rows, 8), X


def ranker(model):
    X, y = numbers()
    return model.fit(X, np.digitize(y, [-1, 0, 1]), qid=np.arange(300) // 20), X


def stopped(model, kind="value"):
    """A wrapper that stopped early, after the best round."""
    X, y = numbers(600)
    y = target(kind, y + np.random.default_rng(1).normal(size=600) * 2) if kind == "value" else target(kind, y)
    model.set_params(n_estimators=200, learning_rate=0.8, early_stopping_rounds=4, max_depth=3, n_jobs=1)
    model.fit(X[:300], y[:300], eval_set=[(X[300:], y[300:])], verbose=False)
    assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    return model, X


def marked(missing):
    """Numbers in which one value stands for missing, and floats beside it do not."""
    X, y = numbers()
    X[np.random.default_rng(1).random(X.shape) < 0.2] = missing
    return xgb.XGBRegressor(**SMALL, missing=missing).fit(X, y), X


def codes(levels=70, **parameters):
    """Category codes in a plain array: two columns, one of few and one of many levels."""
    X, y = numbers(500)
    rng = np.random.default_rng(1)
    X[:, 1], X[:, 3] = rng.integers(4, size=500), rng.integers(levels, size=500)
    y = y + rng.normal(size=4)[X[:, 1].astype(int)] * 3 + rng.normal(size=levels)[X[:, 3].astype(int)] * 3
    X[::17, 3] = np.nan
    kinds = ["float", "c", "float", "c", "float"]
    model = xgb.XGBRegressor(**SMALL, enable_categorical=True, feature_types=kinds, **parameters)
    return model.fit(X, y), X


def frame(n=400):
    """Columns of numbers, whole numbers and truth values, and categories that are strings and integers."""
    rng = np.random.default_rng(2)
    city = rng.choice(["Aachen", "Bonn", "Celle", "Dessau", "Emden"], n)
    store = rng.choice(np.arange(300, 100, -3), n)
    table = pd.DataFrame({"size": rng.normal(size=n), "city": pd.Categorical(city, categories=sorted(set(city))[::-1])})
    table = table.assign(store=pd.Categorical(store), rooms=rng.integers(1, 30, n), new=rng.random(n) < 0.5)
    y = table["size"] + 2.0 * np.isin(city, ["Bonn", "Emden"]) + store % 7 + 0.1 * table["rooms"] + table["new"]
    table.loc[::11, "city"] = None
    table.loc[::13, "size"] = np.nan
    return table, y.to_numpy()


def categories(*columns, **parameters):
    table, y = frame()
    table = table[[*columns, "size", "rooms", "new"]]
    return xgb.XGBRegressor(**SMALL, enable_categorical=True, **parameters).fit(table, y), table


def booster_of_categories():
    table, y = frame()
    rows = xgb.DMatrix(table, y, enable_categorical=True)
    return xgb.train({"max_depth": 4, "nthread": 1}, rows, 8), table


def pruned_codes():
    """Pruning turns nodes that split by category into leaves, and leaves their sets in the model."""
    model, X = codes()
    kinds = {"feature_types": model.feature_types, "enable_categorical": True}
    rows = xgb.DMatrix(X, numbers(500)[1], **kinds)
    parameters = {"process_type": "update", "updater": "prune", "gamma": 20, "nthread": 1, "verbosity": 0}
    pruned = xgb.train(parameters, rows, 8, xgb_model=model.get_booster())
    assert any(int(tree["tree_param"]["num_deleted"]) for tree in document(pruned)["trees"])
    return pruned, X


def pruned():
    model, X = booster("value", tree_method="exact", gamma=2.0, max_depth=6)
    assert any(int(tree["tree_param"]["num_deleted"]) for tree in document(model)["trees"])
    return model, X


def scaled(factor):
    X, y = numbers()
    X = X * factor
    return xgb.XGBRegressor(**SMALL, tree_method="exact").fit(X, y), X


def squared(y, prediction):
    return prediction - y, np.ones_like(y)


def own_objective():
    X, y = numbers(missing=True)
    rows = xgb.DMatrix(X, y)
    parameters = {"max_depth": 3, "nthread": 1, "base_score": 0.25}
    return xgb.train(parameters, rows, 8, obj=lambda score, rows: squared(rows.get_label(), score)), X


def continued():
    first, X = booster("class", objective="binary:logistic")
    rows = xgb.DMatrix(X, target("class", numbers()[1]))
    return xgb.train({"objective": "binary:logistic", "max_depth": 2, "nthread": 1}, rows, 4, xgb_model=first), X


def margined():
    """Trained on top of other scores, which are no part of the model."""
    return booster("value", data={"base_margin": np.linspace(-1, 1, 300)})


def named():
    X, y = numbers(missing=True)
    rows = xgb.DMatrix(X, y, feature_names=["b", "a", "c", "e", "d"])
    return xgb.train({"max_depth": 4, "nthread": 1}, rows, 8), X


def document(model):
    """The part of a model's document with the trees."""
    return json.loads(model.save_raw("json"))["learner"]["gradient_booster"]["model"]


R, C, VECTOR = xgb.XGBRegressor, xgb.XGBClassifier, {"multi_strategy": "multi_output_tree"}
DART = {"booster": "dart", "rate_drop": 0.5}

# name: a function that returns a model and its training table
CONFIGURATIONS = {
    "regression": lambda: wrapper("value", R(**SMALL), missing=False),  # 3.2: values just above a cut, shap#1617
    "regression, missing values": lambda: wrapper("value", R(**SMALL)),
    "regression, base score 2.5": lambda: wrapper("value", R(**SMALL, base_score=2.5)),
    "regression, no split": lambda: wrapper("value", R(**SMALL, gamma=1e9)),
    "regression, approx": lambda: wrapper("value", R(**SMALL, tree_method="approx")),
    "regression, leaf by leaf": lambda: wrapper("value", R(**SMALL, grow_policy="lossguide", max_leaves=9)),
    "regression, monotone": lambda: wrapper("value", R(**SMALL, monotone_constraints=(1, 0, 1, 0, 0))),
    "regression, numbers below 1e-38": lambda: scaled(1e-39),
    "regression, numbers above 1e37": lambda: scaled(1e37),
    "regression, own objective": lambda: wrapper("value", R(**SMALL, objective=squared)),
    "random forest regression": lambda: wrapper("value", xgb.XGBRFRegressor(**SMALL)),
    "random forest, 3 classes": lambda: wrapper("three classes", xgb.XGBRFClassifier(**SMALL)),
    "binary": lambda: wrapper("class", C(**SMALL)),
    "binary, base score 0.2": lambda: wrapper("class", C(**SMALL, base_score=0.2)),
    "3 classes": lambda: wrapper("three classes", C(**SMALL)),  # 3.2: one base score per class
    "3 classes, softmax": lambda: wrapper("three classes", C(**SMALL, objective="multi:softmax")),
    "3 classes, vector leaves": lambda: wrapper("three classes", C(**SMALL, **VECTOR)),
    "3 classes, 3 trees at a time": lambda: wrapper("three classes", C(**SMALL, num_parallel_tree=3, subsample=0.7)),
    "3 labels": lambda: wrapper("labels", C(**SMALL)),
    "2 targets": lambda: wrapper("two targets", R(**SMALL)),  # 3.3: xgb multi-target
    "2 targets, vector leaves": lambda: wrapper("two targets", R(**SMALL, **VECTOR)),
    "ranker": lambda: ranker(xgb.XGBRanker(**SMALL)),
    "stopped early": lambda: stopped(R()),  # 1.2, 3.3: only the rounds up to the best one
    "stopped early, 3 classes": lambda: stopped(C(), "three classes"),
    "stopped early, booster": lambda: (stopped(R())[0].get_booster(), numbers()[0]),  # all rounds
    "dart": lambda: wrapper("value", R(**SMALL, **DART, base_score=1.3)),  # 3.2: weights of trees
    "dart, 3 classes": lambda: wrapper("three classes", C(**SMALL, **DART)),
    "dart, booster": lambda: booster("value", **DART, base_score=1.3),
    "dart, booster, counts": lambda: booster("count", **DART, objective="count:poisson", normalize_type="forest"),
    "booster, squared error": lambda: booster("value"),
    "booster, squared log error": lambda: booster("positive", objective="reg:squaredlogerror"),
    "booster, pseudo-Huber": lambda: booster("value", objective="reg:pseudohubererror"),
    "booster, absolute error": lambda: booster("value", objective="reg:absoluteerror"),
    "booster, quantile": lambda: booster("value", objective="reg:quantileerror", quantile_alpha=0.9),
    "booster, 3 quantiles": lambda: booster("value", objective="reg:quantileerror", quantile_alpha=[0.1, 0.5, 0.9]),
    "booster, shares": lambda: booster("share", objective="reg:logistic"),
    "booster, binary": lambda: booster("class", objective="binary:logistic", base_score=0.3),
    "booster, binary, raw": lambda: booster("class", objective="binary:logitraw", base_score=0.3),
    "booster, hinge": lambda: booster("class", objective="binary:hinge"),
    "booster, counts": lambda: booster("count", objective="count:poisson"),
    "booster, gamma": lambda: booster("positive", objective="reg:gamma"),
    "booster, tweedie": lambda: booster("count", objective="reg:tweedie"),
    "booster, Cox": lambda: booster("positive", objective="survival:cox"),
    "booster, survival times": survival,
    "booster, pairwise": lambda: booster("class", objective="rank:pairwise", data={"qid": np.arange(300) // 20}),
    "booster, NDCG": lambda: booster("class", objective="rank:ndcg", data={"qid": np.arange(300) // 20}),
    "booster, MAP": lambda: booster("class", objective="rank:map", data={"qid": np.arange(300) // 20}),
    "booster, 3 classes": lambda: booster("three classes", objective="multi:softprob", num_class=3),
    "booster, 2 targets, 2 trees at a time": lambda: booster("two targets", num_parallel_tree=2, subsample=0.5),
    "booster, own objective": own_objective,
    "booster, on top of other scores": margined,
    "booster, pruned": pruned,
    "booster, slice": lambda: (booster("value")[0][2:6], numbers(missing=True)[0]),
    "booster, continued": continued,
    "booster, names": named,
    "0 is missing": lambda: marked(0.0),
    "0.1 is missing": lambda: marked(0.1),
    "-999 is missing": lambda: marked(-999.0),
    "infinity is missing": lambda: marked(np.inf),
    "minus infinity is missing": lambda: marked(-np.inf),
    "codes": codes,
    "codes, one at a time": lambda: codes(max_cat_to_onehot=1000),
    "codes, 300 levels": lambda: codes(300, max_cat_to_onehot=1),
    "codes, 2 is missing": lambda: codes(missing=2.0),
    "codes, pruned": pruned_codes,
    "categories, strings": lambda: categories("city"),  # 1.2: DataFrame with any category column; 3.2: shap#2662
    "categories, integers": lambda: categories("store"),
    "categories, both": lambda: categories("city", "store"),
    "categories, one at a time": lambda: categories("city", "store", max_cat_to_onehot=1000),
    "categories, sets": lambda: categories("city", "store", max_cat_to_onehot=1),
    "categories, -5 is missing": lambda: categories("city", missing=-5.0),
    "categories, booster": booster_of_categories,
}


def margin(model, rows):
    """XGBoost's own raw score, as the user would ask for it."""
    if not isinstance(model, xgb.Booster):
        return model.predict(rows, output_margin=True)
    if isinstance(rows, np.ndarray):
        rows = xgb.DMatrix(rows, feature_names=model.feature_names, feature_types=model.feature_types)
    else:
        rows = xgb.DMatrix(rows, enable_categorical=True)
    return model.predict(rows, output_margin=True)


def hostile(model, table):
    """A function that makes hostile rows. A DMatrix takes no infinities; in-place prediction does."""
    odd = FINITE_OR_MISSING if isinstance(model, xgb.Booster) else ODD
    if isinstance(table, pd.DataFrame):
        known = {name: [*table[name].cat.categories, None] for name in ("city", "store") if name in table}
        return lambda ensemble: hostile_frame(table, ensemble, odd=odd, categories=known, max_=MAX_ODD)
    odd = [*odd, *CODES] if getattr(model, "feature_types", None) else odd
    missing = getattr(model, "missing", np.nan)
    odd = odd if np.isnan(missing) else [*odd, *beside([missing]), missing]
    return lambda ensemble: hostile_array(table, ensemble, odd=odd, max_=MAX_ODD)


REAL = [
    "IEEE-CIS_xgboost_model",
    # XGBoost before 3.1 takes their list of base scores for 0.
    pytest.param("IEEE-CIS_xgboost_model_depth_16", marks=needs("xgboost", (3, 1))),
    pytest.param("IEEE-CIS_xgboost_model_depth_22", marks=needs("xgboost", (3, 1))),
]
