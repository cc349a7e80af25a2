"""Proof that a pipeline was taken apart right: the core gets what it got, and columns change what is made of them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from glasswood.models._pipelines import Unwrapped, unwrap

N_ROWS = 120


def columns_of(table: Any) -> list[list[Any]]:
    """Any table as a list of columns of Python values."""
    if scipy.sparse.issparse(table):
        table = table.toarray()
    if hasattr(table, "iloc"):
        return [table.iloc[:, position].tolist() for position in range(table.shape[1])]
    if hasattr(table, "get_columns"):
        return [column.to_list() for column in table.get_columns()]
    return list(np.asarray(table).T.tolist())


def with_column(table: Any, position: int, order: NDArray[Any]) -> Any:
    """The table with one column in another order."""
    if hasattr(table, "iloc"):
        changed = table.copy()
        changed.isetitem(position, table.iloc[order, position].array)
        return changed
    if hasattr(table, "with_columns"):
        return table.with_columns(table[:, position][order.tolist()])
    changed = np.array(table)
    changed[:, position] = changed[order, position]
    return changed


def check(model: Any, table: Any, *, proba: bool = False, still: Sequence[int] = ()) -> Unwrapped:
    """The core gets exactly what it got in the pipeline, and a column changes exactly the columns made of it.

    `still` names positions of transformed columns that are constant.
    """
    unwrapped = unwrap(model, table)
    assert unwrapped is not None
    made = table if unwrapped.transform is None else unwrapped.transform(table)
    assert len(columns_of(made)) == len(unwrapped.sources)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "'force_all_finite' was renamed")  # LightGBM 4.5
        prediction = unwrapped.model.predict(made)
    if unwrapped.inverse is not None:
        prediction = unwrapped.inverse(prediction)
    np.testing.assert_array_equal(prediction, model.predict(table))
    if proba:
        np.testing.assert_array_equal(unwrapped.model.predict_proba(made), model.predict_proba(table))
    assert unwrapped.n_columns == table.shape[1]
    assert unwrapped.columns == (tuple(table.columns) if hasattr(table, "columns") else None)
    if unwrapped.transform is not None:
        before = [list(map(repr, column)) for column in columns_of(made)]
        ring = np.random.default_rng(2).permutation(table.shape[0])
        order = np.empty_like(ring)
        order[ring] = np.roll(ring, 1)  # one ring of all rows: it changes every column that is not constant
        for position, values in enumerate(columns_of(table)):
            after = columns_of(unwrapped.transform(with_column(table, position, order)))
            changed = {index for index, column in enumerate(after) if list(map(repr, column)) != before[index]}
            varies = len({repr(value) for value in values}) > 1
            claimed = {index for index, source in enumerate(unwrapped.sources) if position in source} - set(still)
            assert changed == (claimed if varies else set()), (position, changed, claimed)
    return unwrapped
