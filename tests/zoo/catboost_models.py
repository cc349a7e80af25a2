"""Models of catboost of every kind, each with the table that it was trained on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

catboost = pytest.importorskip("catboost")

SMALL = {"iterations": 10, "depth": 4, "learning_rate": 0.3, "random_seed": 1}
SMALL |= {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
CATEGORIES = ["city", "store", "wing"]
SINGLE = {"cat_features": CATEGORIES, "max_ctr_complexity": 1}
CTR = SINGLE | {"one_hot_max_size": 1}

# What to try in each column of categories: known ones, and ones that no training row has.
TRIES = {
    "city": [f"city {k}" for k in range(15)] + ["", "é", "City 1", "city 1 "],
    "store": [*range(-3, 40), 10**12],
    "wing": ["east", "west", "south"],
}


def numbers(n=300, *, missing=False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    y = X[:, 0] * 2 + np.sin(3 * X[:, 1]) + X[:, 2] * (X[:, 3] > 0)
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
        y = y + np.isnan(X[:, 0])
    return X, y


def homes(n=400):
    """Numbers, some missing, between columns of categories: texts, integers, and two values."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "city": [f"city {k}" for k in rng.integers(0, 12, n)],
            "age": rng.normal(size=n).round(1),
            "store": rng.integers(0, 24, n),
            "wing": rng.choice(["east", "west"], n),
        }
    )
    city, east = table["city"].str[5:].astype(int), table["wing"] == "east"
    y = table["size"] + np.sin(city) * 2 + table["store"] % 5 / 2 + east * table["age"]
    table.loc[rng.random(n) < 0.1, "age"] = np.nan
    return table, y.to_numpy()


def classes(y):
    return np.digitize(y, np.quantile(y, [0.4, 0.7]))


def raw(model, rows):
    if isinstance(model, catboost.CatBoostRanker):  # whose predict has no other type
        return model.predict(rows)
    return model.predict(rows, prediction_type="RawFormulaVal")


def plain(loss="RMSE", target=lambda y: y, *, missing=False, **parameters):
    """A model of numbers in a plain array."""
    X, y = numbers(missing=missing)
    return catboost.CatBoost(SMALL | {"loss_function": loss} | parameters).fit(X, target(y)), X


def classifier(target, **parameters):
    X, y = numbers()
    return catboost.CatBoostClassifier(**SMALL | parameters).fit(X, target(y)), X


def mixed(loss="RMSE", target=lambda y: y, **parameters):
    """A model of numbers and categories in a frame."""
    table, y = homes()
    return catboost.CatBoost(SMALL | CTR | {"loss_function": loss} | parameters).fit(table, target(y)), table


def ranker(loss):
    X, y = numbers()
    model = catboost.CatBoostRanker(**SMALL, loss_function=loss)
    return model.fit(X, classes(y), group_id=np.repeat(np.arange(30), 10)), X


def weighted():
    X, y = numbers()
    return catboost.CatBoostRegressor(**SMALL).fit(X, y, sample_weight=np.linspace(0.1, 3, len(y))), X


def with_ignored_columns():
    X, y = numbers()
    X = np.column_stack([np.ones(len(X)), X, np.arange(len(X))])
    return catboost.CatBoostRegressor(**SMALL, ignored_features=[1, 6]).fit(X, y), X


def stopped_early():
    X, y = numbers()
    model = catboost.CatBoostRegressor(**SMALL | {"iterations": 200, "learning_rate": 0.7}, early_stopping_rounds=5)
    model.fit(X[:200], y[:200], eval_set=(X[200:], y[200:]))
    assert model.tree_count_ < 200
    return model, X


def rescaled():
    model, X = plain()
    model.set_scale_and_bias(2.5, 0.7)
    return model, X


def summed():
    (first, X), (second, _) = plain(), plain(random_seed=7)
    second.set_scale_and_bias(-0.3, 11.0)
    return catboost.sum_models([first, second], weights=[0.3, 0.9]), X


def summed_with_categories(policy):
    """Two models with different counts in tables of the same name."""
    table, y = homes()
    models = [catboost.CatBoost(SMALL | CTR).fit(table[part], y[part]) for part in (slice(250), slice(150, None))]
    return catboost.sum_models(models, ctr_merge_policy=policy), table


def counted_on_all_rows():
    """Counters that know categories of the rows for evaluation, which no other table knows."""
    table, y = homes()
    other = table.assign(city=table["city"].replace("city 3", "city 13"))
    model = catboost.CatBoostRegressor(**SMALL | CTR, counter_calc_method="Full", simple_ctr=["Counter", "Borders"])
    return model.fit(table, y, eval_set=(other, y), use_best_model=False), table


def with_many_values():
    """More one-hot values than fit into one byte."""
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"size": rng.normal(size=1500), "store": rng.integers(0, 40, 1500), "city": "", "wing": ""})
    number = rng.integers(0, 400, 1500)
    table = table.assign(city=[f"city {k}" for k in number], wing="east")
    parameters = SMALL | SINGLE | {"one_hot_max_size": 500, "iterations": 60}
    return catboost.CatBoostRegressor(**parameters).fit(table, number % 7 * 3.0 + table["store"] % 3), table


def forged(change, tmp_path, **parameters):
    """A model of CatBoost whose JSON form was changed: what only a GPU trains, or what is rare."""
    model, table = mixed(**parameters)
    model.save_model(str(tmp_path / "model.json"), format="json")
    (tmp_path / "model.json").write_text(change((tmp_path / "model.json").read_text()))
    return catboost.CatBoost().load_model(str(tmp_path / "model.json"), format="json"), table


# Section 3.2 and 3.3 of model-semantics.md, other readers: the bias of a regression and the flat index of a column are
# ignored (all of these), missing values (nan Max), categories, one-hot values and trees of other shapes are wrong or an
# error, and a row on a border goes the wrong way (the hostile rows of all of these).
NUMBERS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "regression": lambda: plain(boost_from_average=True),
    "absolute error": lambda: plain("MAE"),
    "quantile": lambda: plain("Quantile:alpha=0.3"),
    "several quantiles": lambda: plain("MultiQuantile:alpha=0.1,0.5,0.9"),
    "Poisson": lambda: plain("Poisson", lambda y: np.abs(y).round()),
    "Tweedie": lambda: plain("Tweedie:variance_power=1.5", np.abs),
    "log-cosh": lambda: plain("LogCosh"),
    "Huber": lambda: plain("Huber:delta=1"),
    "regression with uncertainty": lambda: plain("RMSEWithUncertainty"),
    "several targets": lambda: plain("MultiRMSE", lambda y: np.column_stack([y, -y, y**2])),
    "two classes": lambda: classifier(lambda y: y > 0),
    "cross-entropy": lambda: plain("CrossEntropy", lambda y: 1 / (1 + np.exp(-y))),
    "focal": lambda: plain("Focal:focal_alpha=0.2;focal_gamma=2", lambda y: (y > 0).astype(int)),
    "three classes": lambda: classifier(classes),
    "three classes, one against all": lambda: classifier(classes, loss_function="MultiClassOneVsAll"),
    "several labels": lambda: classifier(lambda y: np.column_stack([y > 0, y < 1]) * 1, loss_function="MultiLogloss"),
    "YetiRank": lambda: ranker("YetiRank"),
    "query regression": lambda: ranker("QueryRMSE"),
    "query softmax": lambda: ranker("QuerySoftMax"),
    "missing values, left": lambda: plain(missing=True, nan_mode="Min"),
    "missing values, right": lambda: plain(missing=True, nan_mode="Max"),
    "missing values, right, lossguide": lambda: plain(missing=True, nan_mode="Max", grow_policy="Lossguide"),
    "depthwise": lambda: plain(grow_policy="Depthwise"),
    "lossguide": lambda: plain(grow_policy="Lossguide", max_leaves=20, depth=9),
    "lossguide, three classes": lambda: plain("MultiClass", classes, grow_policy="Lossguide"),
    "depthwise, several targets": lambda: plain("MultiRMSE", lambda y: np.c_[y, -y], grow_policy="Depthwise"),
    "depthwise, all leaves are roots": lambda: plain(grow_policy="Depthwise", min_data_in_leaf=1000),
    "deeper than a byte": lambda: plain(depth=10),
    "more borders than a byte": lambda: plain(border_count=1000, iterations=60),
    "uneven number of trees": lambda: plain(iterations=7),
    "ordered boosting": lambda: plain(boosting_type="Ordered"),
    "no average to start from": lambda: plain(boost_from_average=False),
    "model shrinkage": lambda: plain(model_shrink_rate=0.3),
    "Langevin": lambda: plain(langevin=True, model_shrink_mode="Decreasing", model_shrink_rate=0.2),
    "sample weights": weighted,
    "ignored and constant columns": with_ignored_columns,
    "early stopping": stopped_early,
    "scale and bias": rescaled,
    "sum of models": summed,
}  # fmt: skip

FIRST_OF_FOUR = "Borders:TargetBorderCount=4:Prior=0/1:Prior=1/1"
SHIFTED = ["Borders:Prior=-0.5/1:Prior=2/1", "Counter:Prior=-1/1:Prior=0.3/1"]
FRAMES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "one-hot": lambda: mixed(one_hot_max_size=50),
    "one-hot, depthwise": lambda: mixed(one_hot_max_size=50, grow_policy="Depthwise"),
    "one-hot, lossguide, three classes": lambda: mixed(
        "MultiClass", classes, one_hot_max_size=50, grow_policy="Lossguide"
    ),
    "one-hot, more values than a byte": with_many_values,
    "one-hot and CTR": lambda: mixed(one_hot_max_size=2, iterations=30),
    "CTR, as by default": mixed,
    "CTR of borders": lambda: mixed(simple_ctr="Borders"),
    "CTR of four borders": lambda: mixed(simple_ctr=FIRST_OF_FOUR, iterations=30),
    "CTR of buckets": lambda: mixed(simple_ctr="Buckets:TargetBorderCount=4", iterations=30),
    "CTR of mean targets": lambda: mixed(simple_ctr="BinarizedTargetMeanValue:TargetBorderCount=5"),
    "CTR of counts": lambda: mixed(simple_ctr="Counter:CtrBorderCount=5"),
    "CTR, shifted priors": lambda: mixed(simple_ctr=SHIFTED, iterations=30),
    "CTR, two classes": lambda: mixed("Logloss", lambda y: (y > 1).astype(int)),
    "CTR, three classes": lambda: mixed("MultiClass", classes),
    "CTR of buckets, three classes": lambda: mixed("MultiClass", classes, simple_ctr="Buckets"),
    "CTR, depthwise": lambda: mixed(grow_policy="Depthwise", nan_mode="Max"),
    "CTR, lossguide": lambda: mixed(grow_policy="Lossguide", simple_ctr=["Borders", "Counter"]),
    "CTR, ordered boosting": lambda: mixed(boosting_type="Ordered"),
    "CTR, few kept categories": lambda: mixed(ctr_leaf_count_limit=3),
    "CTR, own settings of a column": lambda: mixed(per_feature_ctr=["3:Buckets:Prior=0.5/1"]),
    "CTR, counts of all rows": counted_on_all_rows,
    "sum of CTR models, average": lambda: summed_with_categories("IntersectingCountersAverage"),
    "sum of CTR models, largest": lambda: summed_with_categories("LeaveMostDiversifiedTable"),
}
