"""Models of XGBoost: trees, DART, forests, classes, targets, categories; as estimators, boosters and files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xgboost

from fuzz.columns import Takes, draw_column, is_category
from fuzz.models import Fitted, LibraryRefusedError, Maker, Training, two_dimensional
from fuzz.models_sklearn import draw_target
from fuzz.streams import chance, pick

__all__ = ["MAKERS"]

OBJECTIVES = {
    "number": ["reg:squarederror", "reg:absoluteerror", "reg:quantileerror", "reg:pseudohubererror"],
    "positive": ["count:poisson", "reg:gamma", "reg:tweedie", "reg:squaredlogerror"],
    "share": ["reg:logistic"],
    "binary": ["binary:logistic", "binary:logistic", "binary:logistic", "binary:logitraw", "binary:hinge"],
    "multiclass": ["multi:softprob"],
    "several": ["reg:squarederror"],
    "ranking": ["rank:pairwise", "rank:ndcg"],
}
LOGARITHMIC = ("count:poisson", "reg:gamma", "reg:tweedie")


def _takes(_: dict) -> Takes:
    return Takes(categories="pandas", unseen=False)


def _draw(rng: np.random.Generator, case: dict, n_columns: int) -> None:
    takes = _takes(case) if chance(rng, 0.5) else Takes(codes=chance(rng, 0.5))
    case["columns"] = [draw_column(rng, takes) for _ in range(n_columns)]
    coded = any(column["kind"] == "codes" for column in case["columns"])
    categories = coded or any(is_category(column) for column in case["columns"])
    tasks = {"number": 4, "positive": 1.5, "share": 0.5, "binary": 3, "multiclass": 2, "several": 1, "ranking": 0.6}
    case["target"] = draw_target(rng, tasks) | {"labels": "whole"}
    task = case["target"]["task"]
    case["model"] = {"maker": "xgboost", "kind": "trees", "fit_on": "frame"}
    if coded or (not categories and chance(rng, 0.2)):
        case["model"]["fit_on"] = "array"
    case["model"]["given_as"] = pick(rng, ["estimator", "booster", "json", "ubj"], [7, 1.5, 1, 1])
    options: dict = {
        "objective": pick(rng, OBJECTIVES[task]),
        "n_estimators": int(rng.integers(1, 10)),
        "max_depth": pick(rng, [1, 2, 3, 6]),
        "tree_method": pick(rng, ["hist", "approx"] if categories else ["hist", "approx", "exact"]),
        "learning_rate": pick(rng, [0.1, 0.5, 1.0]),
        "reg_lambda": pick(rng, [0.0, 1.0]),
        "min_child_weight": pick(rng, [0.0, 1.0]),
        "random_state": 0,
    }
    _further(rng, options, task, categories=categories)
    if options["objective"] == "reg:quantileerror":
        options["quantile_alpha"] = pick(rng, [[0.5], [0.1, 0.5, 0.9]])
    if not categories and chance(rng, 0.1):
        case["model"]["missing"] = pick(rng, [0.0, -999.0, 3.25, 1.0])
    case["model"]["options"] = options


def _further(rng: np.random.Generator, options: dict, task: str, *, categories: bool) -> None:
    if options["tree_method"] != "exact":
        options["max_bin"] = pick(rng, [2, 8, 256])
        options |= {"max_cat_to_onehot": pick(rng, [1, 4, 10])} if categories else {}
    if options["tree_method"] == "hist" and chance(rng, 0.25):
        options |= {"grow_policy": "lossguide", "max_depth": 0, "max_leaves": int(rng.integers(2, 12))}
    adaptive = options["objective"] in ("reg:absoluteerror", "reg:quantileerror")
    if adaptive:
        options["tree_method"] = "hist"
    elif chance(rng, 0.2):
        options |= {"booster": "dart", "rate_drop": 0.3}
    if chance(rng, 0.2):
        options |= {"num_parallel_tree": int(rng.integers(2, 4)), "subsample": 0.7}
    if chance(rng, 0.2):
        options["colsample_bytree"] = 0.6
    if task in ("number", "positive", "binary") and not adaptive and chance(rng, 0.3):
        options["base_score"] = pick(rng, [0.3, 0.5, 0.9])
    if task in ("multiclass", "several") and options["tree_method"] == "hist" and not categories and chance(rng, 0.4):
        options["multi_strategy"] = "multi_output_tree"
        options.pop("booster", None)
        options.pop("rate_drop", None)


def _fit(training: Training) -> Fitted:
    case, target, options = training.case, training.target, training.options
    missing = case["model"].get("missing", np.nan)
    made = {"ranking": xgboost.XGBRanker}.get(target.task)
    made = made or (xgboost.XGBRegressor if target.labels is None else xgboost.XGBClassifier)
    codes = ["c" if column["kind"] == "codes" else "q" for column in case["columns"]]
    categories = "c" in codes or any(is_category(column) for column in case["columns"])
    types = {"feature_types": codes} if "c" in codes else {}
    model = made(**options, **types, enable_categorical=categories, n_jobs=1, missing=missing)
    further: dict = {} if training.weight is None or target.task == "ranking" else {"sample_weight": training.weight}
    if target.task == "ranking":
        further["qid"] = np.sort(np.arange(len(training.frame)) % 3)
    try:
        model.fit(training.table, target.values, **further)
    except (xgboost.core.XGBoostError, ValueError) as error:
        raise LibraryRefusedError(str(error)) from error
    array = case["model"]["fit_on"] == "array"

    def given(frame):
        return frame.to_numpy(float) if array else frame

    binary = target.task == "binary"
    raw = lambda frame: two_dimensional(model.predict(given(frame), output_margin=True), binary=binary)  # noqa: E731

    def margined(frame, margin):
        # Without a DMatrix, DART models of XGBoost 3 add the margin once for each tree.
        table = {"missing": missing, "enable_categorical": categories, **types}
        matrix = xgboost.DMatrix(given(frame), base_margin=margin[:, 0] if margin.shape[1] == 1 else margin, **table)
        return two_dimensional(model.get_booster().predict(matrix, output_margin=True))

    return Fitted(
        f"xgboost {type(model).__name__}",
        _as_given(model, case),
        raw,
        _takes(case),
        _responses(model, options, given) if case["model"]["given_as"] == "estimator" else {},
        tuple(range(len(target.labels))) if target.labels is not None else None,
        tolerance=2e-5,
        contributions=_contributions(model, given) if target.task in ("number", "binary") else None,
        margined=margined,
    )


def _as_given(model, case: dict):
    """Return what the Explainer is given: the estimator, its booster, or a file."""
    given_as = case["model"]["given_as"]
    if given_as == "estimator" or "missing" in case["model"]:
        return model
    if given_as == "booster":
        return model.get_booster()
    path = Path(case["folder"]) / f"model.{given_as}"
    model.get_booster().save_model(path)
    return str(path)


def _responses(model, options: dict, given) -> dict:
    objective = options["objective"]
    if objective in ("binary:logistic", "multi:softprob"):
        return {"probability": lambda frame: model.predict_proba(given(frame))}
    if objective.startswith("binary:") or objective == "reg:squaredlogerror":
        return {}
    return {"prediction": lambda frame: two_dimensional(model.predict(given(frame)))}


def _contributions(model, given):
    def contributions(frame):
        matrix = xgboost.DMatrix(given(frame), enable_categorical=True, missing=model.missing)
        return model.get_booster().predict(matrix, pred_contribs=True)

    return contributions


MAKERS = {"xgboost": Maker(_draw, _fit, _takes)}
