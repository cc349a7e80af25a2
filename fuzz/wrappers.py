"""Wrappers of scikit-learn around small models: voting, stacking, calibration, searches, transformed targets, RFE."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import calibration, compose, ensemble, feature_selection, linear_model, model_selection, preprocessing

from fuzz.columns import Takes, draw_column
from fuzz.estimators import KINDS, raw_of, small_estimator, tolerance_of
from fuzz.models import Fitted, LibraryRefusedError, Maker, Training, two_dimensional
from fuzz.models_sklearn import draw_target
from fuzz.streams import pick

__all__ = ["MAKERS"]

FOLDS = 2
CLASSIFY = {
    "voting": lambda members: ensemble.VotingClassifier(members, voting="soft"),
    "voting_weights": lambda members: ensemble.VotingClassifier(members, voting="soft", weights=[3, 1][: len(members)]),
    "stacking": lambda members: ensemble.StackingClassifier(members, linear_model.LogisticRegression(), cv=FOLDS),
    "sigmoid": lambda members: calibration.CalibratedClassifierCV(members[0][1], method="sigmoid", cv=FOLDS),
    "isotonic": lambda members: calibration.CalibratedClassifierCV(members[0][1], method="isotonic", cv=FOLDS),
    "temperature": lambda members: calibration.CalibratedClassifierCV(members[0][1], method="temperature", cv=FOLDS),
    "not_ensemble": lambda members: calibration.CalibratedClassifierCV(members[0][1], cv=FOLDS, ensemble=False),
    "search": lambda members: model_selection.GridSearchCV(members[0][1], {"max_depth": [1, 3]}, cv=FOLDS),
    "threshold": lambda members: model_selection.FixedThresholdClassifier(members[0][1], threshold=0.3),
}
REGRESS = {
    "voting": lambda members: ensemble.VotingRegressor(members),
    "voting_weights": lambda members: ensemble.VotingRegressor(members, weights=[3, 1][: len(members)]),
    "stacking": lambda members: ensemble.StackingRegressor(members, linear_model.LinearRegression(), cv=FOLDS),
    "search": lambda members: model_selection.RandomizedSearchCV(
        members[0][1], {"max_depth": [1, 2, 3]}, n_iter=2, cv=FOLDS, random_state=0
    ),
    "transformed": lambda members: compose.TransformedTargetRegressor(
        members[0][1], func=np.arcsinh, inverse_func=np.sinh
    ),
    "standardized": lambda members: compose.TransformedTargetRegressor(
        members[0][1], transformer=preprocessing.StandardScaler()
    ),
    "rfe": lambda members: feature_selection.RFE(members[0][1], n_features_to_select=1),
}
ONLY_WHOLE = {"voting", "voting_weights", "stacking", "sigmoid", "isotonic", "temperature", "not_ensemble"}


def _takes(case: dict) -> Takes:
    return Takes(missing="boosting" not in case["model"]["options"]["members"])


def _draw(rng: np.random.Generator, case: dict, n_columns: int) -> None:
    case["target"] = draw_target(rng, {"number": 3, "binary": 4, "multiclass": 1.5})
    classify = case["target"]["task"] != "number"
    kinds = dict(CLASSIFY if classify else REGRESS)
    if case["target"]["task"] == "multiclass":
        del kinds["threshold"]
    kind = pick(rng, kinds)
    usable = [name for name in KINDS if kind != "rfe" or name not in ("hist",)]
    members = [pick(rng, usable) for _ in range(2 if kind.startswith(("voting", "stacking")) else 1)]
    if "xgboost" in members:
        case["target"]["labels"] = "whole"
    case["model"] = {
        "maker": "wrapper",
        "kind": kind,
        "options": {"members": members, "n_trees": int(rng.integers(1, 5)), "depth": pick(rng, [1, 3])},
    }
    case["columns"] = [draw_column(rng, _takes(case)) for _ in range(n_columns)]


def _fit(training: Training) -> Fitted:
    case, target, options = training.case, training.target, training.options
    classify = target.labels is not None
    members = [
        (f"m{k}", small_estimator(kind, options, classify=classify)) for k, kind in enumerate(options["members"])
    ]
    if case["model"]["kind"] == "temperature" and not _are_codes(target.labels):
        message = "temperature scaling takes labels that are numbers for positions, and reads memory anywhere"
        raise LibraryRefusedError(message)
    made: Callable[[Any], Any] = (CLASSIFY if classify else REGRESS)[case["model"]["kind"]]
    try:
        model = made(members).fit(training.frame, target.values)
    except (ValueError, TypeError) as error:
        raise LibraryRefusedError(str(error)) from error
    predict = (lambda frame: model.predict_proba(frame)) if classify else (lambda f: two_dimensional(model.predict(f)))
    return Fitted(
        f"wrapper {type(model).__name__}",
        model,
        _raw(model, case["model"]["kind"]),
        _takes(case),
        {"probability": predict, "prediction": predict} if classify else {"prediction": predict},
        tuple(np.asarray(model.classes_).tolist()) if classify else None,
        tolerance=max(tolerance_of(kind) for kind in options["members"]),
        pipeline=case["model"]["kind"] == "rfe",
    )


def _are_codes(labels: tuple[Any, ...] | None) -> bool:
    """Return whether the labels are texts, which are given codes, or codes already: 0, 1, 2..."""
    return labels is None or isinstance(labels[0], str) or labels == tuple(range(len(labels)))


def _raw(model: Any, kind: str) -> Any:
    """Return the raw score of a wrapper around one model; None if there are several, which have none."""
    if kind in ONLY_WHOLE:
        return None
    if kind == "rfe":
        return lambda frame: raw_of(model.estimator_, model.transform(frame))
    inside = next(name for name in ("best_estimator_", "regressor_", "estimator_") if hasattr(model, name))
    return lambda frame: raw_of(getattr(model, inside), frame)


MAKERS = {"wrapper": Maker(_draw, _fit, _takes)}
