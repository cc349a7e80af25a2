"""One model of every kind that keeps covers, with the table that it was trained on."""

from __future__ import annotations

from functools import partial

import pytest
from sklearn.base import clone
from sklearn.ensemble import (
    HistGradientBoostingRegressor,
)

from zoo import catboost_models, lightgbm_models, sklearn_models, treelite_models, xgboost_models
from zoo.store import fitted, stored

BOOST = {"max_iter": 8, "random_state": 0}


def scikit_learn(name):
    model, _, keywords = sklearn_models.CONFIGURATIONS[name]
    X, y = sklearn_models.table(**keywords)
    return fitted(clone(model), X, y), X


def categories():
    X, y = sklearn_models.category_frame()
    return fitted(HistGradientBoostingRegressor(**BOOST), X, y), X


OTHERS = {
    "xgboost": xgboost_models.CONFIGURATIONS,
    "lightgbm": lightgbm_models.CONFIGURATIONS,
    "catboost": catboost_models.NUMBERS
    | {name: catboost_models.FRAMES[name] for name in ("one-hot", "one-hot, depthwise")},
    "treelite": treelite_models.CONFIGURATIONS,
}
MODELS = {f"sklearn: {name}": partial(scikit_learn, name) for name in sklearn_models.CONFIGURATIONS}
MODELS["sklearn: categories"] = categories
for prefix, makes in OTHERS.items():
    named = {f"{prefix}: {name}": make for name, make in makes.items()}
    MODELS |= {name: partial(stored, name, make) for name, make in named.items()}


def with_covers(ensemble):
    """Return an ensemble, unless an old version of its library keeps no covers of it."""
    if ensemble.leaf_cover is None:
        pytest.skip("this version of the library keeps no covers of these trees")
    return ensemble


# Vector leaves: XGBoost 3.2 has no contributions. CatBoost 1.2.10 has none for other scales than 1, and of two outputs
# that are mean and variance only the first. For some trees that are not symmetric its contributions do not add up to
# its scores, and a script ended without a message at trees without splits.
WITHOUT = (
    "vector leaves",
    "scale and bias",
    "with uncertainty",
    ": lossguide",
    "one-hot, depthwise",
    "leaves are roots",
)
