"""What the library of each file format makes of a file: the raw scores of some rows, or an error of its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["PACKAGES", "SCORES", "TIMES", "TRUSTED", "catboost_contradicts_itself"]

TIMES = 5  # that a library is asked again, where it may read memory that is not its own

# What skops asks about for the seeds.
TRUSTED = [
    "functools.partial",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.tree._tree.Tree",
    "sklearn.utils.validation.check_array",
]


def _xgboost(path: Path, rows: Any) -> Any:
    from xgboost import Booster, DMatrix

    booster = Booster(model_file=bytearray(path.read_bytes()))
    plain = isinstance(rows, np.ndarray)
    features = {"feature_names": booster.feature_names, "feature_types": booster.feature_types} if plain else {}
    matrix = DMatrix(rows, enable_categorical=True, nthread=1, **features)
    return booster.predict(matrix, output_margin=True, validate_features=booster.feature_names is not None)


def _lightgbm(path: Path, rows: Any) -> Any:
    from lightgbm import Booster

    booster = Booster(model_file=path)
    names = booster.feature_name()
    if sorted(getattr(rows, "columns", ())) == sorted(names):
        rows = rows[names]  # LightGBM goes by position, but a file tells the names of its columns
    scores = booster.predict(rows, raw_score=True, num_threads=1)
    header = path.read_bytes().partition(b"\nTree=")[0]
    averaged = re.search(rb"^average_output(=|\r?$)", header, flags=re.MULTILINE)
    return scores / booster.current_iteration() if averaged else scores


def _catboost(path: Path, rows: Any) -> Any:
    from catboost import CatBoost

    binary = path.read_bytes()[:4] == b"CBM1"
    model = CatBoost().load_model(str(path), format="cbm" if binary else "json")
    raw = np.asarray(model.predict(rows, prediction_type="RawFormulaVal", thread_count=1))
    return raw if raw.ndim == 1 else raw[:, ~np.isneginf(raw).all(axis=0)]


def catboost_contradicts_itself(path: Path, rows: Any) -> bool:
    """Return whether CatBoost predicts one thing with a file, and another with it again, or with its JSON form.

    CatBoost does not check that the numbers in a .cbm file point to what is there: of a damaged one, it may read memory
    that is not its own.
    """
    from catboost import CatBoost

    form, scores = path.with_suffix(".form"), []
    for _ in range(TIMES):
        scores.append(_catboost(path, rows))
        CatBoost().load_model(str(path), format="cbm").save_model(str(form), format="json")
        scores.append(_catboost(form, rows))
    return not all(np.array_equal(scores[0], others, equal_nan=True) for others in scores)


def _sklearn(path: Path, rows: Any) -> Any:
    import skops.io

    model = skops.io.load(path, trusted=TRUSTED)
    if hasattr(model, "score_samples"):  # an isolation forest: the mean depth
        size = model._max_samples
        average = 2.0 * (np.log(size - 1.0) + np.euler_gamma) - 2.0 * (size - 1.0) / size
        return -np.log2(-model.score_samples(rows)) * average
    if hasattr(model, "decision_function"):
        return model.decision_function(rows)
    return model.predict_proba(rows) if hasattr(model, "predict_proba") else model.predict(rows)


def _treelite(path: Path, rows: Any) -> Any:
    import treelite

    model = treelite.Model.deserialize(path)
    kind = np.float32 if model.input_type == "float32" else np.float64
    with np.errstate(over="ignore"):
        scores = treelite.gtil.predict(model, np.asarray(rows, dtype=kind), pred_margin=True, nthread=1)
    n_classes = model.get_header_accessor().get_field("num_class").copy()
    return scores[:, np.arange(n_classes.max()) < n_classes[:, None]]


SCORES: dict[str, Callable[[Path, Any], Any]] = {
    "xgboost-json": _xgboost,
    "xgboost-ubj": _xgboost,
    "lightgbm": _lightgbm,
    "catboost-json": _catboost,
    "catboost-cbm": _catboost,
    "skops": _sklearn,
    "treelite": _treelite,
}

# What is imported before mutants are tried, so that not every process does.
PACKAGES = {
    **dict.fromkeys(("xgboost-json", "xgboost-ubj"), ("xgboost", "pandas")),
    "lightgbm": ("lightgbm", "pandas"),
    **dict.fromkeys(("catboost-json", "catboost-cbm"), ("catboost", "pandas")),
    "skops": ("skops.io", "sklearn.ensemble", "pandas"),
    "treelite": ("treelite",),
}
