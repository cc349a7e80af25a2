"""Models of lightgbm of every kind, each with the table that it was trained on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd

from helpers.adversarial import ODD, hostile_array, hostile_frame

ZERO = float(np.float32(1e-35))
BORDERS = (ZERO, -ZERO, *(np.nextafter(sign * ZERO, side) for sign in (1, -1) for side in (-np.inf, np.inf)))
CODES = (-0.5, -0.999, -1.0, -3.0, 0.7, 2.999, 63.5, 64.0, 90.0, 1e4, 2.0**31 - 1, 2.0**31, 2.0**32 + 1, 1e19)
EVERYTHING = (*ODD, *BORDERS, *CODES)

PARAMETERS = {"verbose": -1, "num_threads": 1, "num_leaves": 8, "min_data_in_leaf": 5, "seed": 1}
CATEGORY = {"cat_smooth": 1, "min_data_per_group": 2, "max_cat_threshold": 64, "cat_l2": 0}
TREES = 10


def numbers(n=300, *, missing=False, zeros=False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    y = X[:, 0] * 2 + np.sin(3 * X[:, 1]) + X[:, 2] * (X[:, 3] > 0)
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    if zeros:
        X[rng.random(X.shape) < 0.4] = 0.0
        y = y + (X[:, 0] == 0)
    return X, y


def codes(n=400, levels=90):
    """Two columns of category codes among three of numbers; a few codes are missing or negative."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 5))
    X[:, 1] = rng.integers(0, 4, n)
    X[:, 3] = rng.integers(0, levels, n)
    y = X[:, 0] + 3.0 * np.isin(X[:, 1], [0, 2]) + np.sin(X[:, 3] * 1.7) * 2
    X[::20, 3] = np.nan
    X[7::40, 3] = -1.0
    return X, y


def frame(n=400):
    """Columns of numbers, of strings, of integers as categories, and of whole numbers as such."""
    rng = np.random.default_rng(2)
    city = rng.choice(["Aachen", "Bonn", "Celle", "Dessau", "Emden"], n)
    store = rng.choice(np.arange(100, 300, 3), n)
    table = pd.DataFrame({"size": rng.normal(size=n), "city": city, "store": store, "rooms": rng.integers(1, 30, n)})
    y = table["size"] + 2.0 * np.isin(city, ["Bonn", "Emden"]) + store % 7 + 0.1 * table["rooms"]
    table = table.astype({"city": "category", "store": "category"})
    table.loc[::11, "city"] = None
    table.loc[::13, "size"] = np.nan
    return table, y.to_numpy()


def train(X, y, n_trees=TREES, dataset=None, init_model=None, **parameters):
    data = lgb.Dataset(X, y, **dataset or {})
    return lgb.train(PARAMETERS | parameters, data, n_trees, init_model=init_model)


def plain(*, missing=False, zeros=False, **parameters):
    X, y = numbers(missing=missing, zeros=zeros)
    return train(X, y, **parameters), X


def positive(**parameters):
    X, y = numbers()
    return train(X, np.exp(y / 4), **parameters), X


def share(**parameters):
    X, y = numbers()
    return train(X, 1 / (1 + np.exp(-y)), **parameters), X


def binary(**parameters):
    X, y = numbers(missing=True)
    return train(X, (y > 0.5).astype(int), objective="binary", **parameters), X


def three_classes(**parameters):
    X, y = numbers()
    return train(X, np.digitize(y, [-1, 1]), num_class=3, **parameters), X


def ranking(**parameters):
    X, y = numbers()
    return train(X, np.digitize(y, [-1, 1]), dataset={"group": [30] * 10}, **parameters), X


def absent_class():
    X, y = numbers()
    # No row is of class 3, so that class gets trees of one leaf.
    return train(X, np.digitize(y, [-1, 1]), num_class=4, objective="multiclass"), X


def custom_objective():
    X, y = numbers()
    return train(X, y, objective=lambda score, data: (score - data.get_label(), np.ones_like(score))), X


def custom_classes():
    X, y = numbers()
    label = np.digitize(y, [-1, 1])

    def gradient(score, data):
        return score - np.eye(3)[label], np.ones_like(score)

    return train(X, label, objective=gradient, num_class=3), X


def weighted():
    X, y = numbers()
    return train(X, y, dataset={"weight": np.random.default_rng(3).uniform(0.1, 5, len(y))}), X


def with_init_score():
    X, y = numbers()
    return train(X, y, dataset={"init_score": np.full(len(y), 5.0)}), X


def stopped_early(*, wrapped):
    X, y = numbers(600)
    y = y + np.random.default_rng(4).normal(size=len(y)) * 3
    stop = lgb.early_stopping(5, verbose=False)
    if wrapped:
        model = lgb.LGBMRegressor(n_estimators=200, n_jobs=1, learning_rate=0.3, verbose=-1)
        model.fit(X[:400], y[:400], eval_set=[(X[400:], y[400:])], callbacks=[stop])
    else:
        data = lgb.Dataset(X[:400], y[:400])
        valid = lgb.Dataset(X[400:], y[400:], reference=data)
        # Of a booster that is still in training, all trees are there, and predict uses the best ones.
        model = lgb.train(
            PARAMETERS | {"learning_rate": 0.3}, data, 200, [valid], callbacks=[stop], keep_training_booster=True
        )
    assert 0 < (model.best_iteration_ if wrapped else model.best_iteration) < 100
    return model, X


def continued(first=None, then=None, *, missing=False, missing_then=False, zeros=False):
    X, y = numbers(missing=missing, zeros=zeros)
    model = train(X, y, **first or {})
    X, y = numbers(missing=missing_then, zeros=zeros)
    return train(X, y, init_model=model, **then or {}), X


def wrapper(kind, label=None, *, named=False, **parameters):
    X, y = numbers()
    table = pd.DataFrame(X, columns=list("abcde")) if named else X
    model = kind(n_estimators=TREES, num_leaves=8, n_jobs=1, verbose=-1, **parameters)
    grouping = {"group": [30] * 10} if kind is lgb.LGBMRanker else {}
    return model.fit(table, y if label is None else label(y), **grouping), table


def coded(levels=90, **parameters):
    X, y = codes(levels=levels)
    return train(X, y, dataset={"categorical_feature": [1, 3]}, **CATEGORY | parameters), X


def labelled(**parameters):
    table, y = frame()
    return train(table, y, **CATEGORY | parameters), table


def ordered(**parameters):
    table, y = frame()
    table["city"] = table["city"].cat.as_ordered()
    return train(table, y, **CATEGORY | parameters), table


def labels_and_codes():
    table, y = frame()
    table["store"] = table["store"].astype(int)
    return train(table, y, dataset={"categorical_feature": ["city", "store"]}, **CATEGORY), table


def labels_as_numbers():
    table, y = frame()
    return train(table, y, dataset={"categorical_feature": ["city"]}, **CATEGORY), table


RF = {"boosting": "rf", "bagging_fraction": 0.6, "bagging_freq": 1}
SPLIT = (-1, 1)

CONFIGURATIONS: dict[str, Callable[[], tuple[Any, Any]]] = {
    # NaN where training had none: 100 % of rows wrong in shap's loaded trees (model-semantics 3.2)
    "regression": plain,
    "regression, missing values": lambda: plain(missing=True),
    "regression, many zeros": lambda: plain(zeros=True, min_data_in_leaf=2),
    "use_missing=false": lambda: plain(missing=True, use_missing=False),
    # dmlc/treelite#376, and 12 % and 58 % of rows wrong in shap's and woodelf's trees (3.2, 3.3)
    "zero_as_missing": lambda: plain(zeros=True, missing=True, zero_as_missing=True),
    "zero_as_missing, no zeros": lambda: plain(zero_as_missing=True),
    "weights": weighted,
    "init_score": with_init_score,
    "dart": lambda: plain(boosting="dart", drop_rate=0.5, skip_drop=0.0),
    "goss": lambda: plain(data_sample_strategy="goss", learning_rate=0.5),
    "random forest": lambda: plain(**RF),
    "random forest, binary": lambda: binary(**RF),
    "random forest, multiclass": lambda: three_classes(objective="multiclass", **RF),
    "extra trees": lambda: plain(extra_trees=True),
    "monotone constraints": lambda: plain(
        monotone_constraints=[1, 0, -1, 0, 0], monotone_constraints_method="advanced"
    ),
    "bagging, feature fraction": lambda: plain(bagging_fraction=0.5, bagging_freq=1, feature_fraction=0.6),
    "leaf-wise to 60 leaves": lambda: plain(num_leaves=60, min_data_in_leaf=1),
    "no split possible": lambda: plain(min_data_in_leaf=1000),
    "l1": lambda: plain(objective="regression_l1"),
    "huber": lambda: plain(objective="huber"),
    "fair": lambda: plain(objective="fair"),
    "quantile": lambda: plain(objective="quantile", alpha=0.8),
    "mape": lambda: plain(objective="mape"),
    "reg_sqrt": lambda: plain(reg_sqrt=True),
    "poisson": lambda: positive(objective="poisson"),
    "gamma": lambda: positive(objective="gamma"),
    "tweedie": lambda: positive(objective="tweedie", tweedie_variance_power=1.3),
    "cross_entropy": lambda: share(objective="cross_entropy"),
    "cross_entropy_lambda": lambda: share(objective="cross_entropy_lambda"),
    "binary": binary,
    "binary, sigmoid=1.7": lambda: binary(sigmoid=1.7),
    "binary, is_unbalance": lambda: binary(is_unbalance=True),
    "multiclass": lambda: three_classes(objective="multiclass"),
    "multiclassova": lambda: three_classes(objective="multiclassova", sigmoid=0.6),
    "multiclass, one class absent": absent_class,
    "lambdarank": lambda: ranking(objective="lambdarank"),
    "rank_xendcg": lambda: ranking(objective="rank_xendcg"),
    "custom objective": custom_objective,
    "custom objective, 3 classes": custom_classes,
    "early stopping, booster": lambda: stopped_early(wrapped=False),
    "early stopping, wrapper": lambda: stopped_early(wrapped=True),
    "continued training": continued,
    "continued, None then NaN": lambda: continued(missing_then=True),
    "continued, Zero then None": lambda: continued({"zero_as_missing": True}, {"use_missing": False}, zeros=True),
    "LGBMRegressor": lambda: wrapper(lgb.LGBMRegressor, named=True),
    "LGBMClassifier, 2 classes": lambda: wrapper(lgb.LGBMClassifier, lambda y: np.where(y > 0, "yes", "no")),
    "LGBMClassifier, 3 classes": lambda: wrapper(
        lgb.LGBMClassifier, lambda y: np.array([*"abc"])[np.digitize(y, SPLIT)]
    ),
    "LGBMRanker": lambda: wrapper(lgb.LGBMRanker, lambda y: np.digitize(y, SPLIT)),
    # 3 % and 61 % of rows wrong in shap's loaded trees, shap#5132 (3.2); -0.5 differs in treelite (1.2)
    "codes, one-hot": lambda: coded(levels=4, max_cat_to_onehot=10),
    "codes, 90 levels": coded,
    "codes, zero_as_missing": lambda: coded(zero_as_missing=True),
    "codes, 1000 levels": lambda: coded(levels=1000),
    "pandas categories": labelled,
    "pandas categories, one-hot": lambda: labelled(max_cat_to_onehot=100),
    "pandas ordered categories": ordered,
    "pandas ordered, zero_as_missing": lambda: ordered(zero_as_missing=True),
    "pandas categories and codes": labels_and_codes,
}


def raw(model, rows):
    """LightGBM's own raw score; predict() of a random forest averages over iterations, raw_score=True does not."""
    scores = model.predict(rows, raw_score=True)
    booster = getattr(model, "booster_", model)
    if "\naverage_output\n" in booster.model_to_string():
        return scores / booster.current_iteration()
    return scores


def hostile(table):
    if isinstance(table, pd.DataFrame):
        labels = {name: [*table[name].cat.categories, None] for name in table.select_dtypes("category")}
        return lambda ensemble: hostile_frame(table, ensemble, odd=EVERYTHING, categories=labels, max_=4000)
    return lambda ensemble: hostile_array(table, ensemble, odd=EVERYTHING, max_=4000)
