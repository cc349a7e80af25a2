"""Models of scikit-learn: trees, forests, boosting, isolation, bags; histogram boosting."""

from __future__ import annotations

import numpy as np
from sklearn import ensemble, tree

from fuzz.columns import Takes, draw_column, is_category
from fuzz.models import Fitted, Maker, Training, two_dimensional
from fuzz.streams import chance, pick
from fuzz.targets import LABEL_STYLES

__all__ = ["MAKERS", "draw_target"]

TREES = {
    "tree": (tree.DecisionTreeRegressor, tree.DecisionTreeClassifier),
    "extra_tree": (tree.ExtraTreeRegressor, tree.ExtraTreeClassifier),
    "forest": (ensemble.RandomForestRegressor, ensemble.RandomForestClassifier),
    "extra_forest": (ensemble.ExtraTreesRegressor, ensemble.ExtraTreesClassifier),
    "boosting": (ensemble.GradientBoostingRegressor, ensemble.GradientBoostingClassifier),
    "bag": (ensemble.BaggingRegressor, ensemble.BaggingClassifier),
    "isolation": (ensemble.IsolationForest, None),
}


def draw_target(rng: np.random.Generator, tasks: dict[str, float]) -> dict:
    """Return what a target is like, given how often each task is drawn."""
    target: dict = {"task": pick(rng, tasks, list(tasks.values()))}
    if target["task"] in ("binary", "multiclass"):
        target["labels"] = pick(
            rng, [s for s, known in LABEL_STYLES.items() if target["task"] == "binary" or len(known) > 2]
        )
    if target["task"] == "multiclass":
        target["n_classes"] = int(rng.integers(3, 5))
    if target["task"] == "several":
        target["n_targets"] = int(rng.integers(2, 4))
    if target["task"] == "number" and chance(rng, 0.15):
        target["scale"] = float(pick(rng, [1e-12, 1e-3, 1e6, 1e15]))
    if target["task"] == "number" and chance(rng, 0.1):
        target["level"] = float(pick(rng, [1e6, -1e9]))
    return target


# ------------------------------------------------------------------------------------------------- trees and forests


def _takes_tree(case: dict) -> Takes:
    return Takes(missing=case["model"]["kind"] not in ("boosting", "bag", "isolation"))


def _draw_tree(rng: np.random.Generator, case: dict, n_columns: int) -> None:
    kind = pick(rng, TREES, [3, 1, 3, 2, 3, 1.5, 1.5])
    case["model"] = {"maker": "sklearn_tree", "kind": kind, "fit_on": pick(rng, ["frame", "frame", "array"])}
    case["columns"] = [draw_column(rng, _takes_tree(case)) for _ in range(n_columns)]
    tasks = {"number": 4, "binary": 3, "multiclass": 2}
    tasks |= {"several": 1} if kind in ("tree", "forest", "extra_forest", "extra_tree") else {}
    case["target"] = draw_target(rng, {"number": 1} if kind == "isolation" else tasks)
    options: dict = {"max_depth": pick(rng, [None, 1, 2, 3, 5]), "random_state": int(rng.integers(10**6))}
    if chance(rng, 0.3):
        options["max_leaf_nodes"] = int(rng.integers(2, 12))
    if chance(rng, 0.3):
        options["min_samples_leaf"] = int(rng.integers(1, 6))
    if kind not in ("tree", "extra_tree"):
        options["n_estimators"] = int(rng.integers(1, 9))
    case["model"]["options"] = FURTHER.get(kind, lambda _, options, __: options)(rng, options, case)


def _further_tree(rng: np.random.Generator, options: dict, case: dict) -> dict:
    whole = not any(column.get("missing") or column["kind"] == "empty" for column in case["columns"])
    if case["target"]["task"] in ("number", "binary") and whole and chance(rng, 0.2):
        options["monotonic_cst"] = [int(sign) for sign in rng.integers(-1, 2, size=len(case["columns"]))]
    elif case["target"]["task"] == "number" and chance(rng, 0.3):
        options["criterion"] = pick(rng, ["absolute_error", "friedman_mse"])
    if case["target"]["task"] == "binary" and chance(rng, 0.3):
        options["class_weight"] = "balanced"
    return options


def _further_forest(rng: np.random.Generator, options: dict, _: dict) -> dict:
    return options | ({"bootstrap": False} if chance(rng, 0.3) else {})


def _further_boosting(rng: np.random.Generator, options: dict, case: dict) -> dict:
    options["max_depth"] = options["max_depth"] or 4
    if case["target"]["task"] == "number":
        options["loss"] = pick(rng, ["squared_error", "absolute_error", "huber", "quantile"])
    elif case["target"]["task"] == "binary" and chance(rng, 0.3):
        options["loss"] = "exponential"
    if chance(rng, 0.3):
        options["init"] = "zero"
    if chance(rng, 0.3):
        options["subsample"] = 0.7
    return options


def _further_bag(rng: np.random.Generator, options: dict, _: dict) -> dict:
    options = {name: options[name] for name in ("max_depth", "n_estimators", "random_state")}
    options["max_features"] = pick(rng, [1.0, 0.6])
    return options | ({"bootstrap_features": True} if chance(rng, 0.3) else {})


def _further_isolation(rng: np.random.Generator, options: dict, _: dict) -> dict:
    options = {name: options[name] for name in ("n_estimators", "random_state")}
    return options | {"max_features": pick(rng, [1.0, 0.6]), "max_samples": int(rng.integers(2, 30))}


FURTHER = {
    "tree": _further_tree,
    "forest": _further_forest,
    "boosting": _further_boosting,
    "bag": _further_bag,
    "isolation": _further_isolation,
}


def _fit_tree(training: Training) -> Fitted:
    case, target = training.case, training.target
    kind, options = case["model"]["kind"], dict(training.options)
    if kind == "isolation":
        return _fit_isolation(training, options)
    classify = target.labels is not None
    if kind == "bag":
        options["estimator"] = TREES["tree"][classify](max_depth=options.pop("max_depth"))
    model = TREES[kind][classify](**options)
    model.fit(training.table, target.values, **({} if kind == "bag" else {"sample_weight": training.weight}))

    def given(frame):
        return frame if case["model"]["fit_on"] == "frame" else frame.to_numpy(float)

    if not classify:
        raw = lambda frame: two_dimensional(model.predict(given(frame)))  # noqa: E731
        responses = {"prediction": raw}
    elif kind == "boosting":
        raw = lambda frame: two_dimensional(model.decision_function(given(frame)), binary=True)  # noqa: E731
        responses = dict.fromkeys(("probability", "prediction"), lambda frame: model.predict_proba(given(frame)))
    else:
        raw = lambda frame: model.predict_proba(given(frame))  # noqa: E731
        responses = dict.fromkeys(("probability", "prediction"), raw)
    return Fitted(
        f"sklearn {type(model).__name__}",
        model,
        raw,
        _takes_tree(case),
        responses,
        tuple(model.classes_.tolist()) if classify else None,
    )


def _fit_isolation(training: Training, options: dict) -> Fitted:
    from sklearn.ensemble._iforest import _average_path_length

    options["max_samples"] = max(1, min(len(training.frame), options["max_samples"]))
    model = ensemble.IsolationForest(**options).fit(training.table)
    array = training.case["model"]["fit_on"] == "array"

    def depth(frame):
        scores = -model.score_samples(frame.to_numpy(float) if array else frame)
        return two_dimensional(-np.log2(scores) * _average_path_length(np.array([model._max_samples])))

    return Fitted("sklearn IsolationForest", model, depth, _takes_tree(training.case), tolerance=1e-7)


# ------------------------------------------------------------------------------------------------ histogram boosting


def _takes_hist(_: dict) -> Takes:
    return Takes(infinite=True, categories="pandas")


def _draw_hist(rng: np.random.Generator, case: dict, n_columns: int) -> None:
    takes = _takes_hist(case) if chance(rng, 0.6) else Takes(infinite=True, codes=chance(rng, 0.5))
    case["columns"] = [draw_column(rng, takes) for _ in range(n_columns)]
    categories = any(is_category(column) for column in case["columns"])
    case["model"] = {"maker": "sklearn_hist", "kind": "hist", "fit_on": "frame"}
    if not categories and chance(rng, 0.3):
        case["model"]["fit_on"] = "array"
    case["target"] = draw_target(rng, {"number": 3, "positive": 1.5, "binary": 3, "multiclass": 2})
    options: dict = {
        "max_iter": int(rng.integers(1, 12)),
        "max_leaf_nodes": pick(rng, [None, 2, 5, 31]),
        "max_depth": pick(rng, [None, 1, 3]),
        "min_samples_leaf": int(rng.integers(1, 8)),
        "max_bins": 255 if categories else pick(rng, [255, 2, 5, 20]),
        "learning_rate": pick(rng, [0.1, 0.7]),
        "early_stopping": False,
    }
    task = case["target"]["task"]
    if task == "positive":
        options["loss"] = pick(rng, ["poisson", "gamma"])
    if task == "number" and chance(rng, 0.4):
        options["loss"] = pick(rng, ["absolute_error", "quantile"])
        options |= {"quantile": 0.7} if options["loss"] == "quantile" else {}
    coded = any(column["kind"] == "codes" for column in case["columns"])
    if coded:
        options["max_bins"] = 255
    if task != "multiclass" and not categories and not coded and chance(rng, 0.2):
        options["monotonic_cst"] = [int(sign) for sign in rng.integers(-1, 2, size=n_columns)]
    if n_columns > 1 and chance(rng, 0.15):
        options["interaction_cst"] = pick(rng, ["pairwise", "no_interactions"])
    case["model"]["options"] = options


def _fit_hist(training: Training) -> Fitted:
    target = training.target
    classify = target.labels is not None
    made = ensemble.HistGradientBoostingClassifier if classify else ensemble.HistGradientBoostingRegressor
    codes = [column["kind"] == "codes" for column in training.case["columns"]]
    model = made(**training.options, **({"categorical_features": codes} if any(codes) else {}))
    model.fit(training.table, target.values, sample_weight=training.weight)
    array = training.case["model"]["fit_on"] == "array"

    def given(frame):
        return frame.to_numpy(float) if array else frame

    if classify:
        raw = lambda frame: two_dimensional(model.decision_function(given(frame)), binary=True)  # noqa: E731
        responses = dict.fromkeys(("probability", "prediction"), lambda frame: model.predict_proba(given(frame)))
    else:
        logarithm = model.loss in ("poisson", "gamma")
        predict = lambda frame: two_dimensional(model.predict(given(frame)))  # noqa: E731
        raw = (lambda frame: np.log(predict(frame))) if logarithm else predict
        responses = {"prediction": predict}
    return Fitted(
        f"sklearn {type(model).__name__}",
        model,
        raw,
        _takes_hist(training.case),
        responses,
        tuple(model.classes_.tolist()) if classify else None,
    )


MAKERS = {
    "sklearn_tree": Maker(_draw_tree, _fit_tree, _takes_tree),
    "sklearn_hist": Maker(_draw_hist, _fit_hist, _takes_hist),
}
