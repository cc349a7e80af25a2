"""Trying a transformer on the available rows: whether it treats rows and columns independently.

A function may mix columns in a few rows only, so all rows are tried, each with values of other rows in its columns. A
function that mixes where no row and no such combination leads cannot be found out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["N_PROBES", "Shaped", "Transformer", "by_columns", "by_rows", "indexer", "keeps_columns_apart"]

N_PROBES = 64
N_CANDIDATES = 2_000
N_DRAWN = 20_000  # combinations of rare values


class Transformer(Protocol):
    """A fitted transformer, of scikit-learn or of anybody."""

    def transform(self, rows: Any, /) -> Any:
        """Return what it makes of rows."""


class Shaped(Protocol):
    """A table of any kind that has a shape."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of rows and columns."""


def by_rows(transformer: Transformer, rows: Shaped) -> Any:
    """Return what a transformer makes of rows, as a table, unless that depends on which rows come together: None."""
    made, half = _table(transformer.transform(rows)), rows.shape[0] // 2
    for part in (slice(None, half), slice(half, None), slice(None, None, -1)):
        again = _table(transformer.transform(indexer(rows)[part]))
        expected = indexer(made)[part]
        if again.shape != expected.shape or not all(_same(again, expected)):
            return None
    return made


def keeps_columns_apart(transformer: Transformer, rows: Shaped, made: object) -> bool:
    """Return whether, judging by the rows, each transformed column only depends on the same column of the input.

    First a few rows with one other value each; then all rows, twice, with the values of every column moved to other
    rows; then combinations of values in which rare ones are as frequent as others.
    """
    few = probe_rows(rows)
    if not by_columns(transformer, few, _table(transformer.transform(few)), vary=False):
        return False
    rng = np.random.default_rng(0)
    n_rows, n_columns = rows.shape
    moves: list[Callable[[int], NDArray[np.intp]]] = [lambda _: rng.permutation(n_rows)] * 2
    moves.append(lambda column: rng.choice(_one_of_each(_column(rows, column), rng), N_DRAWN))
    for move in moves:
        order = [move(column) for column in range(n_columns)]
        again = _table(transformer.transform(_moved(rows, order)))
        if again.shape[1] != n_columns:
            return False
        for column, places in enumerate(order):
            if not _same_values(_column(again, column), _column(made, column)[places]).all():
                return False
    return True


def by_columns(transformer: Transformer, rows: Shaped, made: Shaped, *, vary: bool) -> bool:
    """Return whether a change in one column changes only that column of the output."""
    if made.shape != rows.shape:
        return False
    n_columns = rows.shape[1]
    stay, shifted = np.arange(rows.shape[0]), np.roll(np.arange(rows.shape[0]), 1)
    for column in range(n_columns):
        changed = _moved(rows, [shifted if k == column else stay for k in range(n_columns)])
        same = list(_same(_table(transformer.transform(changed)), made))
        if vary and same[column]:
            message = "other numbers make no difference"  # so nothing is shown
            raise ValueError(message)
        if not all(same[:column] + same[column + 1 :]):
            return False
    return True


def _moved(rows: Any, order: Sequence[NDArray[np.intp]]) -> Any:
    """Return a table of the same kind, each of whose columns has the values of other rows."""
    if hasattr(rows, "iloc"):
        changed = rows.iloc[order[0]].copy()
        for column, places in enumerate(order):
            changed.isetitem(column, rows.iloc[:, column].array.take(places))
        return changed
    if hasattr(rows, "with_columns"):
        return rows[order[0]].with_columns([rows.to_series(k).gather(places) for k, places in enumerate(order)])
    if hasattr(rows, "tocsc"):
        from scipy.sparse import hstack

        columns = rows.tocsc()
        return hstack([columns[:, [k]][places] for k, places in enumerate(order)], format="csr", dtype=rows.dtype)
    return np.stack([rows[places, k] for k, places in enumerate(order)], axis=1)


def _one_of_each(values: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
    """Return a row of each distinct value; of objects, which are compared one by one, in some of the rows."""
    if values.dtype.kind != "O":
        return np.unique(values, return_index=True)[1]
    some = rng.permutation(values.size)[:N_DRAWN]
    return np.array(list({repr(values[row]): row for row in some.tolist()}.values()), dtype=np.intp)


def _same(left: Shaped, right: object) -> Iterator[bool]:
    """Yield which columns of two tables are equal."""
    for column in range(left.shape[1]):
        yield bool(_same_values(_column(left, column), _column(right, column)).all())


def _same_values(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values are equal. Numbers may differ in the last digits: parts of arrays are rounded otherwise."""
    try:
        a, b = left.astype(np.float64), right.astype(np.float64)
    except (TypeError, ValueError):
        return np.array(
            [one is two or repr(one) == repr(two) for one, two in zip(left, right, strict=True)], dtype=bool
        )
    same: NDArray[np.bool_] = np.isclose(a, b, rtol=1e-9, atol=0, equal_nan=True)
    return same


def _column(table: Any, column: int) -> NDArray[Any]:
    """Return the values of a column."""
    if hasattr(table, "iloc"):
        return np.asarray(table.iloc[:, column])
    if hasattr(table, "tocsc"):
        return np.asarray(table.tocsc()[:, [column]].toarray()).ravel()
    return np.asarray(table[:, column])


def _table(made: Any) -> Any:
    """Return what a transformer made as a table that has rows and columns; of one column it may be flat."""
    if hasattr(made, "tocsc"):
        return made.tocsc()
    if hasattr(made, "iloc") or hasattr(made, "with_columns"):
        return made if len(made.shape) == 2 else np.asarray(made).reshape(-1, 1)
    array = np.asarray(made)
    return array.reshape(-1, 1) if array.ndim == 1 else array


def indexer(table: object) -> Any:
    """Return what takes rows and columns of a table by position."""
    return table.tocsr() if hasattr(table, "tocsr") else getattr(table, "iloc", table)


def probe_rows(table: Shaped) -> Any:
    """Return rows of a table: some at even distances, and for each column some with different values, and missing."""
    index = indexer(table)
    candidates = np.unique(np.linspace(0, table.shape[0] - 1, N_CANDIDATES).astype(int)).tolist()
    chosen = set(candidates[:: max(1, len(candidates) // N_PROBES)])
    for column in range(0 if hasattr(table, "tocsr") else table.shape[1]):
        values = np.asarray(index[:, column])[candidates].tolist()
        first = dict(zip(map(repr, values[::-1]), candidates[::-1], strict=True))
        chosen.update([*first.values()][:3], [first[name] for name in ("nan", "None", "<NA>") if name in first])
    return index[sorted(chosen)]
