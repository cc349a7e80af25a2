"""Tables in memory, counted by the threads of this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood._arguments import brief
from glasswood._background import Background
from glasswood._counts import Counter, Tally
from glasswood._effects import Effects
from glasswood._job import FINEST, add_groups, new_tally
from glasswood._plan import CountPlan
from glasswood._tables import open_columns
from glasswood.engines._threads import n_threads, sum_over, sum_over_batches
from glasswood.errors import TableError

__all__ = ["background_of", "count", "count_groups", "count_in_parts", "fixed_point", "in_units"]

WORST = 1e-6  # of the sum of weights: what rounding to a fixed unit may change
BLOCK = 8192  # of which the kernels' own blocks are parts
BATCH = 8 * BLOCK


def count(
    plan: CountPlan, table: Any, sample_weight: Any = None, *, threads: int | None = None, lists_only: bool = False
) -> Background:
    """Return the counts of a plan over all rows of a table."""
    ensemble = plan.ensemble
    columns = open_columns(table, ensemble.schema, ensemble.used_features)
    weight, unit = fixed_point(sample_weight, columns.n_rows)
    counter = Counter(plan, lists_only=lists_only)

    def add(tally: Any, first: int, last: int) -> None:
        part = None if weight is None else weight[first:last]
        counter.add(tally, columns.encode(first, last), last - first, part)

    batch = min(batch_size(columns.n_rows), counter.most_rows)
    tallies = sum_over_batches(columns.n_rows, batch, counter.start, add, threads)
    for other in tallies[1:]:
        tallies[0] += other
    return background_of(counter, tallies[0], unit)


def count_groups(
    plan: CountPlan, table: Any, sample_weight: Any, keys: Sequence[Any], places: NDArray[np.intp]
) -> dict[Any, Background]:
    """Return the counts of a plan over groups of rows, given each row's place in the list of the groups' keys."""
    columns = open_columns(table, plan.ensemble.schema, plan.ensemble.used_features)
    if places.shape != (columns.n_rows,):
        message = f"by= has the shape {places.shape}, but there are {columns.n_rows} rows"
        raise TableError(message)
    weight, unit = fixed_point(sample_weight, columns.n_rows)
    counter = Counter(plan)
    tallies: dict[Any, Tally] = {}
    for key in keys:
        tallies[key] = new_tally(counter, len(tallies))
    listed = [tallies[key] for key in keys]
    # Each thread takes some of the groups, with about as many rows.
    ends = np.cumsum(np.bincount(places, minlength=len(keys)))
    wanted = columns.n_rows * np.arange(1, n_threads()) // n_threads()
    limits = np.unique(np.concatenate([[0], np.searchsorted(ends, wanted) + 1, [len(keys)]]))

    def add(_: None, part: int) -> None:
        rows = np.flatnonzero((places >= limits[part]) & (places < limits[part + 1]))
        add_groups(counter, listed, columns, places, rows, weight)

    sum_over(range(limits.size - 1), lambda: None, add)
    return {key: background_of(counter, tally, unit) for key, tally in tallies.items() if tally.n_rows}


def background_of(counter: Counter, tally: Tally, unit: float) -> Background:
    """Return the background that a tally is, after its last row."""
    plan = counter.plan
    tally = counter.finish(tally)
    if unit == FINEST and tally.total and tally.n_rows / 2 > WORST * tally.total:
        mean = tally.total * unit / tally.n_rows
        message = (
            "weights by the name of a column are rounded to multiples of 2**-24, and these are too small for that: "
            f"their mean is {mean:.3g}, so sums could change by more than a millionth. Multiply them by "
            f"2**{_enough(mean)}, or pass them as an array"
        )
        raise TableError(message)
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


def _enough(mean: float) -> int:
    """Return which power of two makes weights so large that they can be rounded."""
    return max(1, int(np.ceil(-np.log2(mean))))


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


class InUnits(NamedTuple):
    """Weights as whole numbers of a unit."""

    weight: NDArray[np.int64]
    unit: float


def in_units(weight: NDArray[Any]) -> InUnits:
    """Return the weights of a column as a stream of tables would have them, whose sum is not known in advance."""
    unit = 1.0 if weight.dtype.kind in "iu" else FINEST
    return InUnits(np.rint(weight / unit).astype(np.int64), unit)


def fixed_point(sample_weight: Any, n_rows: int) -> tuple[NDArray[np.int64] | None, float]:
    """Return weights as whole numbers and the unit that they count in.

    Whole numbers keep the unit 1. Others get a power of two as unit, so small that rounding changes the sum of any rows
    by less than 1e-12 of the whole, and so large that no sum overflows.
    """
    if sample_weight is None:
        return None, 1.0
    if isinstance(sample_weight, InUnits):
        return sample_weight
    weight = _numbers(sample_weight)
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


def _numbers(sample_weight: Any) -> NDArray[np.float64]:
    try:
        found = np.asarray(sample_weight)
        if found.dtype.kind in "fiubO":
            return found.astype(np.float64)
    except (TypeError, ValueError):
        pass
    message = f"sample_weight is one number per row, not {brief(sample_weight)}"
    raise TableError(message)
