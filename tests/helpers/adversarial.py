"""Rows made to break a reader: at every cut of a model, one step beside it in float64 and float32, and odd values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.models._ensemble import TreeEnsemble

ODD = (np.nan, 0.0, -0.0, np.inf, -np.inf, 1e-36, -1e-36, 1e37, -1e37)
FINITE = (0.0, -0.0, 1e-36, -1e-36, 1e37, -1e37)
FINITE_OR_MISSING = (np.nan, *FINITE)


def beside(cuts: NDArray[Any]) -> NDArray[np.float64]:
    """Each cut, the float64 and float32 numbers right beside it, and numbers a billionth away."""
    cuts = np.asarray(cuts, dtype=np.float64)
    cuts = cuts[np.isfinite(cuts)]
    with np.errstate(over="ignore", under="ignore"):
        single = cuts.astype(np.float32)
        near = [cuts, cuts * (1 + 1e-9), cuts * (1 - 1e-9), single.astype(np.float64)]
        near += [np.nextafter(cuts, side) for side in (-np.inf, np.inf)]
        near += [np.nextafter(single, np.float32(side)).astype(np.float64) for side in (-np.inf, np.inf)]
    values = np.concatenate(near)
    return np.unique(values[np.abs(values) < 3.4e38])


def hostile_values(ensemble: TreeEnsemble, feature: int, odd: Sequence[float]) -> NDArray[np.float64]:
    """The values to try in one feature of numbers."""
    here = (ensemble.feature == feature) & (ensemble.category_set < 0)
    return np.concatenate([beside(ensemble.cut[here]), np.asarray(odd)])


def hostile_array(
    X: Any, ensemble: TreeEnsemble, *, odd: Sequence[float] = FINITE_OR_MISSING, max_: int = 20_000, seed: int = 0
) -> NDArray[np.float64]:
    """The rows of X, then copies with one hostile value each, then rows in which every value is hostile."""
    rng = np.random.default_rng(seed)
    X = np.asarray(X, dtype=np.float64)
    tries = {j: hostile_values(ensemble, j, odd) for j in ensemble.used_features}
    single = []
    for j, values in tries.items():
        values = rng.permutation(values)[: max(1, max_ // len(tries))]
        rows = X[rng.integers(len(X), size=len(values))].copy()
        rows[:, j] = values
        single.append(rows)
    mixed = X[rng.integers(len(X), size=500)].copy()
    for j, values in tries.items():
        mixed[:, j] = rng.choice(values, size=len(mixed))
    return np.vstack([X, *single, mixed])


def hostile_frame(
    frame: Any,
    ensemble: TreeEnsemble,
    *,
    odd: Sequence[float] = FINITE_OR_MISSING,
    categories: Mapping[str, Sequence[Any]] | None = None,
    max_: int = 20_000,
    seed: int = 0,
) -> Any:
    """The same for a pandas frame; `categories` names the values to try in each column of categories."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    categories = categories or {}
    numeric = [name for name in frame.columns if name not in categories]
    frame = frame.assign(**{name: frame[name].astype(np.float64) for name in numeric})
    tries = {}
    for j in ensemble.used_features:
        name = ensemble.feature_names[j]
        tries[name] = categories[name] if name in categories else hostile_values(ensemble, j, odd)
    parts = [frame]
    for name, values in tries.items():
        values = [values[k] for k in rng.permutation(len(values))[: max(1, max_ // len(tries))]]
        rows = frame.iloc[rng.integers(len(frame), size=len(values))]
        parts.append(rows.assign(**{name: _column(values, frame[name].dtype)}))
    mixed = frame.iloc[rng.integers(len(frame), size=500)]
    drawn = {
        name: _column([values[k] for k in rng.integers(len(values), size=len(mixed))], frame[name].dtype)
        for name, values in tries.items()
    }
    parts.append(mixed.assign(**drawn))
    parts = [part.astype({name: frame[name].dtype for name in frame.columns}) for part in parts]
    return pd.concat(parts, ignore_index=True)


def _column(values: Sequence[Any], dtype: Any) -> Any:
    import pandas as pd

    return pd.array(values, dtype=dtype)
