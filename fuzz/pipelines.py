"""Pipelines of scikit-learn with every transformer that keeps columns apart, and a small model at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import impute, preprocessing
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectKBest, SelectPercentile, VarianceThreshold, f_classif, f_regression
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline

from fuzz.columns import Takes, draw_column
from fuzz.estimators import KINDS, raw_of, small_estimator, tolerance_of
from fuzz.models import Fitted, LibraryRefusedError, Maker, Training, two_dimensional
from fuzz.models_sklearn import draw_target
from fuzz.streams import chance, pick

__all__ = ["MAKERS"]


def _shifted(table: Any) -> Any:
    """Return each value on its own, changed."""
    return table * 2 + 1


NUMBERS: dict[str, Callable[[], Any]] = {
    "passthrough": lambda: "passthrough",
    "standard": preprocessing.StandardScaler,
    "minmax": preprocessing.MinMaxScaler,
    "maxabs": preprocessing.MaxAbsScaler,
    "robust": preprocessing.RobustScaler,
    "quantile": lambda: preprocessing.QuantileTransformer(n_quantiles=5),
    "power": lambda: make_pipeline(impute.SimpleImputer(), preprocessing.PowerTransformer()),
    "impute": lambda: impute.SimpleImputer(strategy="median"),
    "indicator": lambda: make_pipeline(impute.SimpleImputer(add_indicator=True), preprocessing.MinMaxScaler()),
    "constant": lambda: impute.SimpleImputer(strategy="constant", fill_value=-1.0, keep_empty_features=True),
    "bins": lambda: make_pipeline(
        impute.SimpleImputer(), preprocessing.KBinsDiscretizer(3, encode="ordinal", strategy="uniform")
    ),
    "bins_one_hot": lambda: make_pipeline(
        impute.SimpleImputer(), preprocessing.KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform")
    ),
    "splines": lambda: make_pipeline(impute.SimpleImputer(), preprocessing.SplineTransformer(n_knots=3)),
    "binarizer": lambda: make_pipeline(impute.SimpleImputer(), preprocessing.Binarizer()),
    "union": lambda: FeatureUnion(
        [
            ("scaled", preprocessing.StandardScaler()),
            ("missing", impute.MissingIndicator(features="all")),
            ("cut", make_pipeline(impute.SimpleImputer(), preprocessing.Binarizer())),
        ]
    ),
    "function": lambda: preprocessing.FunctionTransformer(_shifted),
    "ufunc": lambda: preprocessing.FunctionTransformer(np.arctan, feature_names_out="one-to-one"),
}
TEXTS: dict[str, Callable[[], Any]] = {
    "one_hot": lambda: preprocessing.OneHotEncoder(handle_unknown="ignore"),
    "one_hot_dense": lambda: preprocessing.OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    "one_hot_drop": lambda: preprocessing.OneHotEncoder(drop="first", sparse_output=False),
    "one_hot_rare": lambda: preprocessing.OneHotEncoder(
        handle_unknown="infrequent_if_exist", min_frequency=0.2, sparse_output=False
    ),
    "ordinal": lambda: preprocessing.OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
    "ordinal_missing": lambda: preprocessing.OrdinalEncoder(encoded_missing_value=-2),
    "target": lambda: preprocessing.TargetEncoder(cv=2),
    "filled": lambda: make_pipeline(
        impute.SimpleImputer(strategy="most_frequent"), preprocessing.OneHotEncoder(sparse_output=False)
    ),
}
WITHOUT_MISSING = {"one_hot_drop", "target"}


def _takes(case: dict) -> Takes:
    return Takes(missing=case["model"]["kind"] not in ("boosting",), unseen=False)


def _draw(rng: np.random.Generator, case: dict, n_columns: int) -> None:
    case["target"] = draw_target(rng, {"number": 4, "binary": 3, "multiclass": 1})
    kind = pick(rng, KINDS)
    if kind == "xgboost":
        case["target"]["labels"] = "whole"
    case["model"] = {
        "maker": "pipeline",
        "kind": kind,
        "numbers": pick(rng, NUMBERS),
        "texts": pick(rng, TEXTS),
        "flags": pick(rng, ["passthrough", "ordinal", "one_hot_dense"]),
        "select": pick(rng, ["", "variance", "best", "percentile"], [6, 1, 1, 1]),
        "output": pick(rng, ["default", "pandas"], [3, 1]),
        "columns": pick(rng, ["names", "positions"], [3, 1]),
        "options": {"n_trees": int(rng.integers(1, 6)), "depth": pick(rng, [1, 3, None])},
    }
    takes = Takes(missing=kind != "boosting" or case["model"]["numbers"] in ("impute", "indicator", "constant", "bins"))
    case["columns"] = []
    for _ in range(n_columns):
        column = draw_column(rng, takes)
        column["kind"] = pick(rng, ["float", "integer", "binary", "text", "hostile", "constant"], [4, 3, 2, 4, 1, 0.5])
        if column["kind"] == "text" and case["model"]["texts"] in WITHOUT_MISSING:
            column.pop("missing", None)
        if column["kind"] == "text" and chance(rng, 0.3):
            column["ordered"] = True  # a column of categories, not of texts
        case["columns"].append(column)


def transformers_of(case: dict, frame: Any) -> ColumnTransformer:
    """Return the transformers of a case's columns."""
    model, columns = case["model"], list(zip(frame, case["columns"], strict=True))
    roles = {
        "numbers": [name for name, column in columns if column["kind"] != "text" and frame[name].dtype != bool],
        "texts": [name for name, column in columns if column["kind"] == "text"],
        "flags": [name for name, column in columns if frame[name].dtype == bool],
    }
    made = []
    for role, names in roles.items():
        if names:
            transformer = (NUMBERS if role == "numbers" else NUMBERS | TEXTS)[model[role]]()
            chosen = names if model["columns"] == "names" else [list(frame).index(name) for name in names]
            made.append((role, transformer, chosen))
    return ColumnTransformer(made, sparse_threshold=0)


def _fit(training: Training) -> Fitted:
    case, target = training.case, training.target
    classify = target.labels is not None
    steps: list[tuple[str, Any]] = [("columns", transformers_of(case, training.frame))]
    test = f_classif if classify else f_regression
    select = {
        "variance": VarianceThreshold,
        "best": lambda: make_pipeline(impute.SimpleImputer(), SelectKBest(test, k=1)),
        "percentile": lambda: make_pipeline(impute.SimpleImputer(), SelectPercentile(test, percentile=60)),
    }
    if case["model"]["select"]:
        steps.append(("select", select[case["model"]["select"]]()))
    final = small_estimator(case["model"]["kind"], training.options, classify=classify)
    pipeline = Pipeline([*steps, ("model", final)])
    if case["model"]["output"] == "pandas":
        pipeline.set_output(transform="pandas")
    try:
        pipeline.fit(training.frame, target.values)
    except (ValueError, TypeError) as error:  # a transformer that does not fit these columns
        raise LibraryRefusedError(str(error)) from error
    predict = pipeline.predict_proba if classify else pipeline.predict
    return Fitted(
        f"pipeline {type(final).__name__}",
        pipeline,
        lambda frame: raw_of(pipeline[-1], pipeline[:-1].transform(frame)),
        _takes(case),
        dict.fromkeys(
            ("probability", "prediction") if classify else ("prediction",),
            lambda frame: two_dimensional(predict(frame)),
        ),
        tuple(np.asarray(pipeline.classes_).tolist()) if classify else None,
        tolerance=tolerance_of(case["model"]["kind"]),
        pipeline=True,
    )


MAKERS = {"pipeline": Maker(_draw, _fit, _takes)}
