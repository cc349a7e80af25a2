"""The tables and models of the benchmarks: real ones from the folder shared/ beside the repository, and made ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import glasswood as gw

SHARED = Path(__file__).resolve().parents[2] / "shared"


def covertype(n_rows: int | None = None) -> tuple[pd.DataFrame, pd.Series]:
    """Return 54 columns of float64 and Cover_Type as a number; all 581,012 rows, or a random choice of them."""
    table = _read("covertype", n_rows)
    return table.drop(columns="Cover_Type").astype(np.float64), table["Cover_Type"].astype(np.float64)


def kddcup(n_rows: int | None = None) -> tuple[pd.DataFrame, pd.Series]:
    """Return 118 columns of float64, the three categorical ones as one-hot columns, and 1 for an attack."""
    table = _read("kddcup99_10_percent", n_rows)
    # one block of memory, as a frame that was computed as a whole has
    return _one_hot(table).astype(np.float64).copy(), (table["label"] != "normal").astype(np.float64)


def kddcup_test(like: pd.DataFrame, n_rows: int | None = None) -> pd.DataFrame:
    """Return the 311,029 rows of the test table, in the columns of `kddcup`; unknown categories are all zero."""
    table = _one_hot(_read("kddcup99_corrected_test", n_rows))
    return table.reindex(columns=like.columns, fill_value=0).astype(np.float64).copy()


def _one_hot(table: pd.DataFrame) -> pd.DataFrame:
    return pd.get_dummies(table.drop(columns="label"), columns=["protocol_type", "service", "flag"])


def california(n_rows: int | None = None) -> tuple[pd.DataFrame, pd.Series]:
    """Return 8 columns of float64 and the median house value; all 20,640 rows, or a random choice of them."""
    table = _read("california_housing", n_rows)
    return table.iloc[:, :-1].astype(np.float64), table.iloc[:, -1].astype(np.float64)


def adult() -> tuple[pd.DataFrame, pd.Series]:
    """Return 48,842 rows of numbers and texts, some of which are missing, and whether the income is over 50,000."""
    table = _read("adult_census", None)
    texts = [name for name in table if isinstance(table[name].dtype, pd.CategoricalDtype)]
    table = table.astype(dict.fromkeys(texts, object))
    return table.drop(columns="income"), table["income"] == ">50K"


def made(n_rows: int) -> tuple[pd.DataFrame, pd.Series]:
    """Return 100 columns of normal numbers, and a target of two strong pairs, of most columns alone, and of noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 100))
    y = 3 * np.sin(X[:, 0] * X[:, 1]) + 2 * X[:, 2] * X[:, 3] + X @ np.linspace(1, 0, 100) + rng.normal(size=n_rows)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(100)]), pd.Series(y)


def _read(name: str, n_rows: int | None) -> pd.DataFrame:
    path = SHARED / "data" / f"{name}.parquet"
    if not path.exists():
        message = f"this benchmark needs {path}; put the folder shared/ beside the repository"
        raise SystemExit(message)
    table = pd.read_parquet(path)
    return table if n_rows is None else table.sample(n_rows, random_state=0).reset_index(drop=True)


def ieee(name: str) -> Any:
    """Return one of the real XGBoost models of the IEEE-CIS data, as an XGBRegressor."""
    import xgboost

    path = SHARED / "models" / f"{name}.json"
    if not path.exists():
        message = f"this benchmark needs {path}; put the folder shared/ beside the repository"
        raise SystemExit(message)
    model = xgboost.XGBRegressor()
    model.load_model(path)
    return model


def rows_for(model: Any, n_rows: int, dtype: type[np.floating[Any]]) -> pd.DataFrame:
    """Return made rows for a model: values at, between and beside its own cuts, 40 % of them missing."""
    ensemble = gw.read_model(model)
    rng = np.random.default_rng(0)
    values = np.empty((ensemble.n_features, n_rows), dtype=dtype)
    for feature in range(ensemble.n_features):
        cuts = np.unique(ensemble.cut[ensemble.feature == feature]).astype(np.float32)
        if cuts.size == 0:
            cuts = np.zeros(1, dtype=np.float32)
        beside = [np.nextafter(cuts, np.float32(side)) for side in (-np.inf, np.inf)]
        between = (cuts[1:] + cuts[:-1]) / 2
        pool = np.concatenate([cuts, *beside, between, [cuts[0] - 1, cuts[-1] + 1]])
        values[feature] = rng.choice(pool, n_rows)
        values[feature, rng.random(n_rows, dtype=np.float32) < 0.4] = np.nan
    return pd.DataFrame(values.T, columns=list(ensemble.feature_names), copy=False)
