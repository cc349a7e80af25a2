"""Models of LightGBM: boosted trees, DART, random forests, categories, zero as missing; also as boosters and files."""

from __future__ import annotations

from pathlib import Path

import lightgbm
import numpy as np

from fuzz.columns import Takes, draw_column, is_category
from fuzz.models import Fitted, LibraryRefusedError, Maker, Training, two_dimensional
from fuzz.models_sklearn import draw_target
from fuzz.streams import chance, pick

__all__ = ["MAKERS"]

OBJECTIVES = {
    "number": ["regression", "regression_l1", "huber", "fair", "quantile", "mape"],
    "positive": ["poisson", "gamma", "tweedie"],
    "share": ["cross_entropy"],
    "binary": ["binary"],
    "multiclass": ["multiclass", "multiclassova"],
    "ranking": ["lambdarank"],
}
FIXED = {
    "min_data_in_bin": 1,
    "min_child_weight": 0.0,
    "cat_smooth": 1.0,
    "cat_l2": 1.0,
    "deterministic": True,
    "force_row_wise": True,
    "verbosity": -1,
    "n_jobs": 1,
    "random_state": 0,
}


def _takes(_: dict) -> Takes:
    return Takes(infinite=True, categories="pandas")


def _draw(rng: np.random.Generator, case: dict, n_columns: int) -> None:
    takes = _takes(case) if chance(rng, 0.5) else Takes(infinite=True, codes=chance(rng, 0.5))
    case["columns"] = [draw_column(rng, takes) for _ in range(n_columns)]
    categories = any(is_category(column) for column in case["columns"])
    tasks = {"number": 4, "positive": 1.5, "share": 0.5, "binary": 3, "multiclass": 2, "ranking": 0.6}
    case["target"] = draw_target(rng, tasks)
    task = case["target"]["task"]
    case["model"] = {"maker": "lightgbm", "kind": "trees", "fit_on": "frame"}
    if not categories and chance(rng, 0.2):
        case["model"]["fit_on"] = "array"
    case["model"]["given_as"] = pick(rng, ["estimator", "booster", "txt"], [7, 1.5, 1.5])
    options: dict = {
        "objective": pick(rng, OBJECTIVES[task]),
        "n_estimators": int(rng.integers(1, 12)),
        "num_leaves": pick(rng, [2, 4, 8, 31]),
        "max_depth": pick(rng, [-1, 1, 3]),
        "min_child_samples": pick(rng, [1, 2, 5]),
        "learning_rate": pick(rng, [0.1, 0.5]),
        "max_bin": pick(rng, [2, 4, 16, 255]),
    }
    if categories:
        options |= {"min_data_per_group": pick(rng, [1, 5]), "max_cat_to_onehot": pick(rng, [1, 4, 10])}
    for option, value, probability in (
        ("zero_as_missing", True, 0.15),
        ("use_missing", False, 0.15),
        ("extra_trees", True, 0.15),
        ("colsample_bytree", 0.6, 0.2),
        ("boost_from_average", False, 0.15),
    ):
        options |= {option: value} if chance(rng, probability) else {}
    options |= {"boosting_type": "dart"} if chance(rng, 0.15) else {}
    if "boosting_type" not in options and chance(rng, 0.15):
        options |= {"boosting_type": "rf", "subsample": 0.7, "subsample_freq": 1}
    options |= {"sigmoid": 2.0} if task == "binary" and chance(rng, 0.2) else {}
    categories = categories or any(column["kind"] == "codes" for column in case["columns"])
    if options["objective"] in ("regression", "binary") and not categories and chance(rng, 0.2):
        options["monotone_constraints"] = [int(sign) for sign in rng.integers(-1, 2, size=n_columns)]
        options["monotone_constraints_method"] = pick(rng, ["basic", "intermediate", "advanced"])
    case["model"]["options"] = options


def _fit(training: Training) -> Fitted:
    case, target, options = training.case, training.target, training.options
    made = {"ranking": lightgbm.LGBMRanker}.get(target.task)
    made = made or (lightgbm.LGBMRegressor if target.labels is None else lightgbm.LGBMClassifier)
    further = {"group": [len(training.frame)]} if target.task == "ranking" else {"sample_weight": training.weight}
    model = made(**options, **FIXED)
    try:
        codes = [k for k, column in enumerate(case["columns"]) if column["kind"] == "codes"]
        model.fit(training.table, target.values, **further, **({"categorical_feature": codes} if codes else {}))
    except (lightgbm.basic.LightGBMError, ValueError) as error:
        raise LibraryRefusedError(str(error)) from error
    array = case["model"]["fit_on"] == "array"
    average = options.get("boosting_type") == "rf"

    def given(frame):
        return frame.to_numpy(float) if array else frame

    def raw(frame):
        scores = two_dimensional(model.predict(given(frame), raw_score=True), binary=target.task == "binary")
        return scores / model.booster_.current_iteration() if average else scores

    return Fitted(
        f"lightgbm {type(model).__name__}",
        _as_given(model, case),
        raw,
        _takes(case),
        _responses(model, target.labels is not None, given) if case["model"]["given_as"] == "estimator" else {},
        _labels(model, case) if target.labels is not None else None,
        contributions=_contributions(model, given) if _can_contribute(target.task, options) else None,
    )


def _labels(model, case: dict) -> tuple:
    """Return the classes; a booster and a file do not know their labels."""
    labels = tuple(model.classes_.tolist())
    return labels if case["model"]["given_as"] == "estimator" else tuple(range(len(labels)))


def _as_given(model, case: dict):
    """Return what the Explainer is given: the estimator, its booster, or a file."""
    if case["model"]["given_as"] == "estimator":
        return model
    if case["model"]["given_as"] == "booster":
        return model.booster_
    path = Path(case["folder"]) / "model.txt"
    model.booster_.save_model(path)
    return str(path)


def _responses(model, classify: bool, given) -> dict:  # noqa: FBT001
    if classify:
        return {"probability": lambda frame: model.predict_proba(given(frame))}
    return {"prediction": lambda frame: two_dimensional(model.predict(given(frame)))}


def _can_contribute(task: str, options: dict) -> bool:
    # With zeros as missing values, LightGBM's contributions do not add up to its own scores.
    return task in ("number", "binary") and not {"zero_as_missing", "boosting_type"} & set(options)


def _contributions(model, given):
    return lambda frame: np.asarray(model.predict(given(frame), pred_contrib=True))


MAKERS = {"lightgbm": Maker(_draw, _fit, _takes)}
