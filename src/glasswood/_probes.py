"""Trying a transformer on a few rows: whether it keeps rows apart, and columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["N_PROBES", "by_columns", "by_rows", "indexer", "probe_rows"]

N_PROBES = 64
N_CANDIDATES = 2_000


def by_rows(transformer: Any, rows: Any) -> NDArray[Any] | None:
    """Return what a transformer makes of rows, unless that depends on which rows come together."""
    made, half = _dense(transformer.transform(rows)), rows.shape[0] // 2
    for part in (slice(None, half), slice(half, None), slice(None, None, -1)):
        again = _dense(transformer.transform(indexer(rows)[part]))
        if again.shape != made[part].shape or not _same(again, made[part]).all():
            return None
    return made


def by_columns(transformer: Any, rows: Any, made: NDArray[Any], *, vary: bool) -> bool:
    """Return whether a change in one column changes that column of what is made and no other."""
    shifted = indexer(rows)[np.roll(np.arange(rows.shape[0]), 1)]
    for column in range(rows.shape[1] if made.shape == rows.shape else 0):
        changed = _dense(transformer.transform(_with_column(rows, column, shifted)))
        same: NDArray[np.bool_] = np.all(_same(changed, made), axis=0)
        if vary and same[column]:
            message = "other numbers make no difference"  # so nothing is shown
            raise ValueError(message)
        if not np.delete(same, column).all():
            return False
    return bool(made.shape == rows.shape)


def _with_column(rows: Any, column: int, other: Any) -> Any:
    """Return rows with one column of another table of the same kind."""
    if hasattr(rows, "iloc"):
        changed = rows.copy()
        changed.isetitem(column, other.iloc[:, column].array)
        return changed
    if hasattr(rows, "with_columns"):
        return rows.with_columns(other[:, column])
    changed = rows.tolil(copy=True) if hasattr(rows, "tolil") else rows.copy()
    changed[:, [column]] = other[:, [column]]
    return changed.tocsr() if hasattr(rows, "tolil") else changed


def _same(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which entries are equal. Numbers may differ in the last digits: parts of arrays are rounded otherwise."""
    same = np.empty(left.shape, dtype=bool)
    for column, (a, b) in enumerate(zip(left.T, right.T, strict=True)):
        try:
            same[:, column] = np.isclose(a.astype(float), b.astype(float), rtol=1e-9, atol=0, equal_nan=True)
        except (TypeError, ValueError):
            same[:, column] = [repr(one) == repr(two) for one, two in zip(a, b, strict=True)]
    return same


def _dense(table: Any) -> NDArray[Any]:
    array = table.toarray() if hasattr(table, "toarray") else np.asarray(table)
    return array.reshape(-1, 1) if array.ndim == 1 else array


def indexer(table: Any) -> Any:
    """Return what takes rows and columns of a table by position."""
    return table.tocsr() if hasattr(table, "tocsr") else getattr(table, "iloc", table)


def probe_rows(table: Any) -> Any:
    """Return rows of a table: some at even distances, and for each column some with different values, and missing."""
    index = indexer(table)
    candidates = np.unique(np.linspace(0, table.shape[0] - 1, N_CANDIDATES).astype(int)).tolist()
    chosen = set(candidates[:: max(1, len(candidates) // N_PROBES)])
    for column in range(0 if hasattr(table, "tocsr") else table.shape[1]):
        values = np.asarray(index[:, column])[candidates].tolist()
        first = dict(zip(map(repr, values[::-1]), candidates[::-1], strict=True))
        chosen.update([*first.values()][:3], [first[name] for name in ("nan", "None", "<NA>") if name in first])
    return index[sorted(chosen)]
