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
    dummies = pd.get_dummies(table.drop(columns="label"), columns=["protocol_type", "service", "flag"])
    # one block of memory, as a frame that was computed as a whole has
    return dummies.astype(np.float64).copy(), (table["label"] != "normal").astype(np.float64)


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
