"""The tables and fitted models of the paper's benchmark. Models are kept in a folder, since fitting them takes long."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import sklearn
from data import california, ieee, kddcup, rows_for
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

__all__ = ["MAX_ROWS", "Spec", "fitted", "model_path", "table"]

Table = tuple[pd.DataFrame, pd.Series]
ROWS = {"ieee": 472_432, "normal": 200_000}
QUICK_ROWS = {"kdd": 1_000, "ieee": 300, "normal": 400}
MAX_ROWS = int(os.environ.get("PAPER_ROWS", "0"))  # of the large tables, to try things out; 0 for all


@dataclass(frozen=True)
class Spec:
    """A table and a model of it.

    Parameters
    ----------
    data : {"kdd", "ieee", "normal", "diabetes", "cancer", "housing"}
    depth : int
        The largest depth of the trees.
    limited : bool
        Whether trees have at most 31 leaves of at least 20 rows, as they have by default.
    real : bool
        The real XGBoost model of IEEE-CIS instead of a fitted one.
    quick : bool
        A small table and few trees.
    """

    data: str
    depth: int = 6
    limited: bool = True
    real: bool = False
    quick: bool = False


def normal(n_rows: int) -> Table:
    """Return 60 columns of normal numbers, and a target of products of two to four columns, of sums, and of noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 60))
    y = X @ np.linspace(1, 0, 60) + 3 * np.sin(X[:, 0] * X[:, 1]) + 2 * X[:, 2] * X[:, 3] + X[:, 4] * X[:, 5] * X[:, 6]
    y += 2 * np.prod(np.sign(X[:, 7:11]), axis=1) + rng.normal(size=n_rows)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(60)]), pd.Series(y)


def ieee_table(n_rows: int) -> Table:
    """Return made rows for the real model of IEEE-CIS; the target is its score, products of pairs, and noise."""
    model = ieee("IEEE-CIS_xgboost_model")
    X = rows_for(model, n_rows, np.float32)
    score = model.predict(X, output_margin=True).astype(np.float64)
    rng, pairs = np.random.default_rng(1), np.zeros(n_rows)
    for first, second in rng.permutation(X.shape[1])[:80].reshape(40, 2).tolist():
        pairs += _sign(X.iloc[:, first]) * _sign(X.iloc[:, second])
    y = score + score.std() * (0.5 * pairs / max(pairs.std(), 1e-9) + 0.25 * rng.normal(size=n_rows))
    return X, pd.Series(y)


def _sign(column: pd.Series) -> Any:
    """Return 1 above the median, -1 at and below it, and 0 for missing values."""
    values = column.to_numpy()
    return np.where(np.isnan(values), 0, np.where(values > np.nanmedian(values), 1, -1))


def _part(load: Callable[[], Table], n_rows: int | None) -> Table:
    """Return 80 % of the rows, at random, or some of them."""
    X, y = load()
    chosen = np.random.default_rng(0).permutation(len(X))[: n_rows or int(0.8 * len(X))]
    return X.iloc[chosen].reset_index(drop=True), y.iloc[chosen].reset_index(drop=True)


SMALL: dict[str, Callable[[], Table]] = {
    "diabetes": lambda: load_diabetes(return_X_y=True, as_frame=True),
    "cancer": lambda: load_breast_cancer(return_X_y=True, as_frame=True),
    "housing": california,
}


@lru_cache(1)
def table(data: str, *, quick: bool) -> Table:
    """Return the rows and the target of a data set."""
    if data in SMALL:
        return _part(SMALL[data], 100 if quick else None)
    n_rows = QUICK_ROWS[data] if quick else MAX_ROWS or ROWS.get(data)
    if data == "kdd":
        return kddcup(n_rows)
    return {"ieee": ieee_table, "normal": normal}[data](n_rows or 0)


def model_path(spec: Spec) -> Path:
    """Return where the fitted model of a spec is kept: in the folder PAPER_CACHE, by default a temporary one."""
    default = Path(tempfile.gettempdir()) / f"glasswood-paper-{os.getuid()}"
    folder = Path(os.environ.get("PAPER_CACHE", default))
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        message = f"{folder} belongs to another user, whose models are not loaded; set PAPER_CACHE to another folder"
        raise SystemExit(message)
    kind = "real" if spec.real else f"depth-{spec.depth}{'-limited' if spec.limited else ''}"
    size = "-quick" if spec.quick else f"-{MAX_ROWS}-rows" if MAX_ROWS and spec.data not in SMALL else ""
    return folder / f"{spec.data}-{kind}{size}-sklearn-{sklearn.__version__}.joblib"


def fitted(spec: Spec) -> Any:
    """Return the model of a spec: the kept one, or a new one, which is kept."""
    if spec.real:
        return ieee("IEEE-CIS_xgboost_model")
    path = model_path(spec)
    if path.exists():
        return joblib.load(path)
    limits = {} if spec.limited else {"max_leaf_nodes": None, "min_samples_leaf": 1}
    model = HistGradientBoostingRegressor(
        max_iter=5 if spec.quick else 100, max_depth=spec.depth, early_stopping=False, random_state=0, **limits
    ).fit(*table(spec.data, quick=spec.quick))
    part = path.with_suffix(f".{os.getpid()}")
    joblib.dump(model, part)
    part.replace(path)
    return model
