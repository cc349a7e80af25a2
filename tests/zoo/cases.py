"""One case of every kind of model: the model, a small background, and its raw scores."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
)

from helpers.brute import Case
from helpers.strategies import tables
from zoo import catboost_models, lightgbm_models, sklearn_models, treelite_models, xgboost_models
from zoo.store import fitted, stored

FEW = {"n_estimators": 8, "random_state": 0}
BOOST = {"max_iter": 8, "random_state": 0}
N_ROWS = 40


def some_rows(table, *, missing):
    """A small background: rows of the training table, with a tenth of the numbers missing if the library allows it."""
    rng = np.random.default_rng(1)
    chosen = rng.choice(len(table), size=N_ROWS, replace=False)
    if isinstance(table, pd.DataFrame):
        rows = table.iloc[chosen].reset_index(drop=True)
        numbers = rows.select_dtypes("float") if missing else []
        return rows.assign(**{name: rows[name].mask(rng.random(N_ROWS) < 0.1) for name in numbers})
    rows = table[chosen]
    if missing and rows.dtype == np.float64:
        rows[rng.random(rows.shape) < 0.1] = np.nan
    return rows


def fit(model, X, y):
    return fitted(clone(model), X, y)


def scikit_learn(name):
    model, odd, keywords = sklearn_models.CONFIGURATIONS[name]
    X, y = sklearn_models.table(**keywords)
    takes = {"missing": bool(np.isnan(odd).any()), "infinite": bool(np.isinf(odd).any())}
    return Case(fit(model, X, y), some_rows(X, missing=takes["missing"]), sklearn_models.raw, **takes)


def categories(model, bins=()):
    X, y = sklearn_models.category_frame()
    y = np.digitize(y, np.quantile(y, bins)) if bins else y
    return Case(fit(model, X, y), some_rows(X, missing=True), sklearn_models.raw, infinite=True)


def categories_in_an_array(*, texts):
    frame, y = sklearn_models.category_frame(numbers=not texts)
    X = frame.astype(object).to_numpy() if texts else frame.to_numpy() - [0, 4, 0, 0]
    if texts:
        X[:, 1] = np.where(frame["town"].isna(), "none", X[:, 1])
    model = HistGradientBoostingRegressor(categorical_features=[1, 3], **BOOST)
    return Case(fit(model, X, y), some_rows(X, missing=True), sklearn_models.raw)


def isolation(**parameters):
    def depth(model, rows):
        n = model._max_samples
        return -np.log2(-model.score_samples(rows)) * (2 * (np.log(n - 1) + np.euler_gamma) - 2 * (n - 1) / n)

    X, _ = sklearn_models.data(missing=True)
    return Case(fit(IsolationForest(**FEW, **parameters), X, None), some_rows(X, missing=True), depth)


def library(name, make, raw):
    if name.startswith("xgboost: categories") and xgboost_models.VERSION < (3, 1):
        pytest.skip("before 3.1, models do not keep the labels of categories")
    model, table = stored(name, make)
    return Case(model, some_rows(table, missing=True), raw)


CASES = {f"sklearn: {name}": partial(scikit_learn, name) for name in sklearn_models.CONFIGURATIONS} | {
    "sklearn: categories": partial(categories, HistGradientBoostingRegressor(**BOOST)),
    "sklearn: categories, binary": partial(categories, HistGradientBoostingClassifier(**BOOST), (0.5,)),
    "sklearn: categories, 3 classes": partial(categories, HistGradientBoostingClassifier(**BOOST), (0.3, 0.7)),
    "sklearn: categories, numbers in an array": partial(categories_in_an_array, texts=False),
    "sklearn: categories, texts in an array": partial(categories_in_an_array, texts=True),
    "sklearn: isolation forest": isolation,
    "sklearn: isolation forest, some features": partial(isolation, max_features=0.5),
}
for prefix, configurations, raw in (
    ("xgboost", xgboost_models.CONFIGURATIONS, xgboost_models.margin),
    ("lightgbm", lightgbm_models.CONFIGURATIONS, lightgbm_models.raw),
    ("catboost", catboost_models.NUMBERS | catboost_models.FRAMES, catboost_models.raw),
    ("treelite", treelite_models.CONFIGURATIONS, treelite_models.raw),
):
    named = {f"{prefix}: {name}": make for name, make in configurations.items()}
    CASES |= {name: partial(library, name, make, raw) for name, make in named.items()}


def invented(ensemble, n_rows, seed):
    """A case of an invented ensemble; its predictions are proved elsewhere, and here added in float64."""
    ensemble = replace(ensemble, score=replace(ensemble.score, dtype="float64"))
    return Case(ensemble, tables(ensemble, n_rows, seed), lambda model, rows: model.predict(rows), infinite=True)


def sample(shared, name, n_rows):
    return pd.read_parquet(shared / "data" / f"{name}.parquet").sample(n_rows, random_state=0).reset_index(drop=True)
