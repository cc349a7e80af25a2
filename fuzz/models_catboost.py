"""Models of CatBoost: symmetric, depthwise and lossguide trees, one-hot and CTR categories, combinations; and files."""

from __future__ import annotations

from pathlib import Path

import catboost
import numpy as np

from fuzz.columns import Takes, draw_column, is_category
from fuzz.models import Fitted, LibraryRefusedError, Maker, Training, two_dimensional
from fuzz.models_sklearn import draw_target
from fuzz.streams import chance, pick

__all__ = ["MAKERS"]

LOSSES = {
    "number": ["RMSE", "MAE", "Quantile:alpha=0.7", "Huber:delta=1.0", "Expectile:alpha=0.3", "LogCosh", "MAPE"],
    "positive": ["Poisson", "Tweedie:variance_power=1.5"],
    "binary": ["Logloss", "CrossEntropy"],
    "multiclass": ["MultiClass", "MultiClassOneVsAll"],
    "several": ["MultiRMSE"],
}
VECTORS = ("RMSEWithUncertainty", "MultiQuantile:alpha=0.1,0.9")
FIXED = {"verbose": 0, "thread_count": 1, "allow_writing_files": False, "random_seed": 0}


def _takes(_: dict) -> Takes:
    return Takes(categories="object", missing_categories=False)


def _draw(rng: np.random.Generator, case: dict, n_columns: int) -> None:
    takes = _takes(case) if chance(rng, 0.7) else Takes()
    case["columns"] = [draw_column(rng, takes) for _ in range(n_columns)]
    case["target"] = draw_target(rng, {"number": 4, "positive": 1, "binary": 3, "multiclass": 2, "several": 1})
    task = case["target"]["task"]
    loss = pick(rng, LOSSES[task])
    if task == "number" and chance(rng, 0.15):
        loss = pick(rng, VECTORS)
    if loss == "CrossEntropy":
        case["target"]["labels"] = "whole"
    grown = pick(rng, ["SymmetricTree", "Depthwise", "Lossguide"])
    if task in ("multiclass", "several") or loss in VECTORS:
        grown = "SymmetricTree"
    case["model"] = {"maker": "catboost", "kind": grown, "fit_on": "frame"}
    if not any(is_category(column) for column in case["columns"]) and chance(rng, 0.2):
        case["model"]["fit_on"] = "array"
    case["model"]["given_as"] = pick(rng, ["estimator", "cbm", "json"], [7, 1, 1])
    case["model"]["options"] = {
        "loss_function": loss,
        "iterations": int(rng.integers(1, 10)),
        "depth": int(rng.integers(1, 6)),
        "learning_rate": pick(rng, [0.1, 0.7]),
        "border_count": pick(rng, [1, 4, 32, 254]),
        "grow_policy": grown,
        "nan_mode": pick(rng, ["Min", "Max"]),
        "one_hot_max_size": pick(rng, [2, 5, 20]),
        "max_ctr_complexity": pick(rng, [1, 2, 4], [1, 2, 3]),
        "model_size_reg": pick(rng, [0, 0.5], [3, 1]),
        **({} if grown == "SymmetricTree" else {"min_data_in_leaf": 1}),
        **({"bootstrap_type": "No"} if chance(rng, 0.3) else {}),
        **({"auto_class_weights": "Balanced"} if task == "binary" and loss == "Logloss" and chance(rng, 0.3) else {}),
    }


def _fit(training: Training) -> Fitted:
    case, target, options = training.case, training.target, training.options
    labels = [name for name, column in zip(training.frame, case["columns"], strict=True) if is_category(column)]
    made = catboost.CatBoostRegressor if target.labels is None else catboost.CatBoostClassifier
    model = made(**options, **FIXED)
    try:
        weight = None if target.task == "several" else training.weight
        model.fit(training.table, target.values, cat_features=labels or None, sample_weight=weight)
    except catboost.CatBoostError as error:
        raise LibraryRefusedError(str(error)) from error
    array = case["model"]["fit_on"] == "array"

    def given(frame):
        return frame.to_numpy(float) if array else frame

    def raw(frame):
        found = catboost.CatBoost.predict(model, given(frame), prediction_type="RawFormulaVal")
        return two_dimensional(found, binary=target.task == "binary")

    return Fitted(
        f"catboost {case['model']['kind']}",
        _as_given(model, case, training),
        raw,
        _takes(case),
        _responses(model, options["loss_function"], given) if case["model"]["given_as"] == "estimator" else {},
        tuple(np.asarray(model.classes_).tolist()) if target.labels is not None else None,
    )


def _as_given(model, case: dict, training: Training):
    """Return what the Explainer is given: the estimator, or a file."""
    given_as = case["model"]["given_as"]
    if given_as == "estimator":
        return model
    path = Path(case["folder"]) / f"model.{given_as}"
    labels = [name for name, column in zip(training.frame, case["columns"], strict=True) if is_category(column)]
    pool = catboost.Pool(training.table, training.target.values, cat_features=labels or None)
    model.save_model(str(path), format=given_as, **({"pool": pool} if given_as == "json" else {}))
    return str(path)


def _responses(model, loss: str, given) -> dict:
    if loss in VECTORS:
        return {}
    if isinstance(model, catboost.CatBoostClassifier):
        return {"probability": lambda frame: model.predict_proba(given(frame))}
    return {"prediction": lambda frame: two_dimensional(model.predict(given(frame)))}


MAKERS = {"catboost": Maker(_draw, _fit, _takes)}
