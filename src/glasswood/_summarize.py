"""summarize: a model and rows in, a Background out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood._background import Background
from glasswood._counts import Counter
from glasswood._effects import Effects
from glasswood._ensemble import TreeEnsemble
from glasswood._plan import CountPlan
from glasswood._tables import open_columns
from glasswood.engines._threads import n_threads, sum_over_batches
from glasswood.errors import TableError
from glasswood.readers import read_model

__all__ = ["count", "count_in_parts", "make_plan", "summarize"]

BLOCK = 8192  # of which the kernels' own blocks are parts
BATCH = 8 * BLOCK


def summarize(
    model: Any,
    source: Any,
    *,
    order: int | None = 1,
    groups: Mapping[str, Sequence[str]] | None = None,
    sample_weight: Any = None,
) -> Background:
    """Return the counts of a model over all rows of a table: one pass over the data, then questions are free.

    Parameters
    ----------
    model : fitted model, path of a model file, or TreeEnsemble
    source : table
        NumPy, pandas, Polars or PyArrow. Only the columns that the model splits on are touched.
    order : int or None, default 1
        How many features may be fixed together: 1 for curves, 2 for surfaces of pairs; None for any number, which
        interactions of all orders and Shapley values need.
    groups : mapping of str to sequences of str, optional
        Columns to be fixed together, such as the columns of a one-hot encoding: ``{"city": ["city_a", "city_b"]}``.
    sample_weight : array of shape (n_rows,), optional
        Whole numbers are exact; others are rounded to a fixed point so fine that sums are right to 1e-12.

    Returns
    -------
    Background

    Examples
    --------
    >>> import glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = HistGradientBoostingRegressor(max_iter=10).fit(X, y)
    >>> background = gw.summarize(model, X, order=2)
    >>> gw.Explainer(model, background).partial_dependence("bmi", "s5").shape
    (..., ...)
    """
    ensemble = model if isinstance(model, TreeEnsemble) else read_model(model, source)
    return count(make_plan(ensemble, order, groups), source, sample_weight)


def make_plan(ensemble: TreeEnsemble, order: int | None, groups: Mapping[str, Sequence[str]] | None) -> CountPlan:
    """Return the plan of what is counted, after checking the groups."""
    groups = {name: tuple(columns) for name, columns in (groups or {}).items()}
    known = set(ensemble.feature_names)
    seen: set[str] = set()
    for name, columns in groups.items():
        for column in columns:
            if column not in known:
                message = f"group {name!r} names the column {column!r}, which the model does not have"
                raise TableError(message)
            if column in seen:
                message = f"column {column!r} is in two groups; a column belongs to one player"
                raise TableError(message)
            seen.add(column)
        if name in known and name not in columns:
            message = f"group {name!r} has the name of a column that is not in it; choose another name"
            raise TableError(message)
    if order is None:
        order = CountPlan(ensemble, 1, groups).most_players
    if order < 1:
        message = f"order is the number of features fixed together, at least 1, not {order}"
        raise ValueError(message)
    plan = CountPlan(ensemble, order, groups)
    if order > 1:  # the curves of larger models are made part by part, see `count_in_parts`
        plan.refuse_uncountable(order)
    return plan


def count(
    plan: CountPlan, table: Any, sample_weight: Any = None, *, threads: int | None = None, lists_only: bool = False
) -> Background:
    """Return the counts of a plan over all rows of a table."""
    ensemble = plan.ensemble
    columns = open_columns(table, ensemble.schema, ensemble.used_features)
    weight, unit = fixed_point(sample_weight, columns.n_rows)
    counter = Counter(plan, lists_only=lists_only or weight is not None)

    def add(tally: Any, first: int, last: int) -> None:
        part = None if weight is None else weight[first:last]
        counter.add(tally, columns.encode(first, last), last - first, part)

    tallies = sum_over_batches(columns.n_rows, batch_size(columns.n_rows), counter.start, add, threads)
    for other in tallies[1:]:
        tallies[0] += other
    tally = counter.finish(tallies[0])
    return Background(
        order=plan.order,
        n_rows=tally.n_rows,
        total=tally.total,
        unit=unit,
        counts=tally.counts,
        cells=tally.cells,
        fingerprint=plan.fingerprint,
        groups={name: tuple(columns) for name, columns in plan.groups.items()},
    )


def batch_size(n_rows: int) -> int:
    """Return how many rows are counted at a time: whole blocks, and enough batches that no thread waits long."""
    share = n_rows // (4 * n_threads())
    return min(BATCH, max(BLOCK, share // BLOCK * BLOCK))


def count_in_parts(
    plan: CountPlan, table: Any, sample_weight: Any, most: int
) -> tuple[dict[int, NDArray[np.float64]], NDArray[np.float64], NDArray[Any]]:
    """Return the curves, the mean and the rows per cell of a plan with more counts than fit in memory.

    The trees are counted in parts of at most `most` counts; each part is folded into the curves and forgotten.
    """
    e = plan.ensemble
    per_tree = np.bincount(plan.leaf_tree, weights=plan.subsets.size[plan.n_players], minlength=e.n_trees)
    base = e.score.constant
    mean, cells = base.copy(), np.zeros(int(plan.cells.n_cells.sum()))
    curves: dict[int, NDArray[np.float64]] = {}
    first = 0
    while first < e.n_trees:
        last = first + max(1, int(np.searchsorted(np.cumsum(per_tree[first:]), most, side="right")))
        part = plan.part(first, last)
        background = count(part, table, sample_weight, lists_only=True)
        effects = Effects(part, background.counts, background.total)
        mean += effects.mean - base
        for feature, heights in effects.curves().items():
            curves[feature] = curves.get(feature, base) + (heights - base)
        cells = np.maximum(cells, background.cells * background.unit)
        first = last
    return curves, mean, cells


def fixed_point(sample_weight: Any, n_rows: int) -> tuple[NDArray[np.int64] | None, float]:
    """Return weights as whole numbers and the unit that they count in.

    Whole numbers keep the unit 1. Others get a power of two as unit, so small that rounding changes the sum of any rows
    by less than 1e-12 of the whole, and so large that no sum overflows.
    """
    if sample_weight is None:
        return None, 1.0
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_rows,):
        message = f"sample_weight has shape {weight.shape}, but there are {n_rows} rows"
        raise TableError(message)
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        message = "sample_weight must be finite and not negative"
        raise TableError(message)
    total = float(weight.sum())
    if np.array_equal(weight, np.rint(weight)) and total < 2**53:
        return weight.astype(np.int64), 1.0
    unit = 2.0 ** max(np.ceil(np.log2(total)) - 62, -1074)  # every float64 is a multiple of 2**-1074
    return np.rint(weight / unit).astype(np.int64), float(unit)
