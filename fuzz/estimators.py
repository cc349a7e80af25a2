"""Small models for the ends of pipelines and the members of wrappers, and their raw scores."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np
import xgboost
from sklearn import ensemble, tree

from fuzz.models import two_dimensional

__all__ = ["KINDS", "raw_of", "small_estimator", "tolerance_of"]

KINDS = {
    "hist": (ensemble.HistGradientBoostingRegressor, ensemble.HistGradientBoostingClassifier),
    "forest": (ensemble.RandomForestRegressor, ensemble.RandomForestClassifier),
    "extra_forest": (ensemble.ExtraTreesRegressor, ensemble.ExtraTreesClassifier),
    "tree": (tree.DecisionTreeRegressor, tree.DecisionTreeClassifier),
    "boosting": (ensemble.GradientBoostingRegressor, ensemble.GradientBoostingClassifier),
    "lightgbm": (lightgbm.LGBMRegressor, lightgbm.LGBMClassifier),
    "xgboost": (xgboost.XGBRegressor, xgboost.XGBClassifier),
}


def small_estimator(kind: str, options: dict, *, classify: bool) -> Any:
    """Return a small model that is not fitted yet."""
    n_trees, depth = options.get("n_trees", 4), options.get("depth", 3)
    if kind == "hist":
        further: dict = {"max_iter": n_trees, "min_samples_leaf": 2, "early_stopping": False}
    elif kind == "tree":
        further = {"random_state": 0}
    elif kind == "lightgbm":
        further = {"n_estimators": n_trees, "min_child_samples": 2, "verbosity": -1, "n_jobs": 1}
    else:
        further = {"n_estimators": n_trees, "random_state": 0}
    return KINDS[kind][classify](max_depth=depth, **further)


def raw_of(model: Any, table: Any) -> np.ndarray:
    """Return the raw score of a fitted small model."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        if isinstance(model, ensemble.HistGradientBoostingRegressor) and model.loss in ("poisson", "gamma"):
            return np.log(two_dimensional(model.predict(table)))
        return two_dimensional(model.predict(table))
    binary = len(classes) == 2
    if isinstance(model, lightgbm.LGBMClassifier):
        return two_dimensional(model.predict(table, raw_score=True), binary=binary)
    if isinstance(model, xgboost.XGBClassifier):
        return two_dimensional(model.predict(table, output_margin=True), binary=binary)
    if hasattr(model, "decision_function"):
        return two_dimensional(model.decision_function(table), binary=binary)
    return two_dimensional(model.predict_proba(table))


def tolerance_of(kind: str) -> float:
    """Return how far equal scores may be apart, as a share of their size."""
    return 2e-5 if kind == "xgboost" else 1e-9
