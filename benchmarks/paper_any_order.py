"""Interaction values of any order for deep trees: how many sets, how long, how much memory, and whether they are right.

100 trees of one depth without other limits, fitted on all rows of a table, which are the background too. 10,000 of them
are explained: for every set of features that shares a path, the mean over these rows of the value, of its size and of
its square. Everything runs in a process of its own.
"""

from __future__ import annotations

import itertools
import os
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from measure import GIGABYTE, Figure, Report
from paper_children import Child, Facts, Limits, Outcome
from paper_models import MAX_ROWS, Spec, fitted, table
from paper_tables import ANY_ORDER
from threadpoolctl import threadpool_limits

import glasswood as gw

__all__ = ["MEANS", "PEERS", "any_order"]

EXPLAINED = 10_000
BACKGROUND_OF_CHECK, ROWS_OF_CHECK = 50, 3
MAX_PREDICTED = 2**17  # rows of one call of predict in the check
FACTOR = {"kdd": 50, "ieee": 10}  # how much faster than the paper's figures, at depths 7 to 9
MEANS = "three means of every set: glasswood"
PEERS = {
    "high": "means of every set: woodelf, woodelf_for_high_depth",
    "simple": "means of every set: woodelf, calculate_background_metric",
}
CHECK = "values by the definition"
OURS = Limits(float(os.environ.get("PAPER_OURS", "7200")), 20 * GIGABYTE)


def means(model: Any, X: pd.DataFrame, rows: pd.DataFrame) -> Facts:
    """Compute the three means of every set, from the model and the rows on; return how many sets there are."""
    values = gw.Explainer(model, X).interaction_values(rows)
    found = [values.mean_abs(), values.mean_square(), values.signed_mean()]
    return Facts(sets=found[0].size, order=int(values._sizes[-1]))


def peer(way: str, model: Any, X: pd.DataFrame, rows: pd.DataFrame) -> None:
    """Compute the mean of every set as woodelf does to save memory: over the rows, tree by tree."""
    from woodelf.core.cube_metric import PDIVMetric

    if way == "high":
        from woodelf.high_depth_woodelf import woodelf_for_high_depth

        woodelf_for_high_depth(model, rows, X, PDIVMetric(), global_importance=True, verbose=False)
    else:
        from woodelf.simple_woodelf import calculate_background_metric

        calculate_background_metric(model, rows, X, PDIVMetric(), global_importance=True, verbose=False)


# ---------------------------------------------------------------------------------------------------- by definition


def largest_difference(model: Any, X: pd.DataFrame, per_order: int) -> Facts:
    """Compare values of some sets of each order with the definition, relative to the largest score.

    The background is a part of the rows, so that brute force ends; the model is the same. Of each order, the sets with
    the largest mean square are taken, and random ones.
    """
    background, rows = X.sample(BACKGROUND_OF_CHECK, random_state=1), X.sample(ROWS_OF_CHECK, random_state=2)
    values = gw.Explainer(model, background).interaction_values(rows)
    chosen = some_sets(values, per_order)
    found = values_of(values, chosen)
    squares, sizes, signed = (mean[chosen] for mean in (values.mean_square(), values.mean_abs(), values.signed_mean()))
    columns = list(X)
    members = list(_members(values, chosen, columns))
    with threadpool_limits(1, "openmp"):  # for few rows, the threads of scikit-learn only wait for each other
        expected = np.array([[pdiv(model, background, row, names) for names in members] for row in _rows(rows)])
    scale = float(np.abs(model.predict(pd.concat([background, rows]))).max())
    gaps = [
        np.abs(found - expected).max(),
        np.abs(sizes - np.abs(expected).mean(axis=0)).max(),
        np.abs(signed - expected.mean(axis=0)).max(),
        np.abs(squares - (expected**2).mean(axis=0)).max() / scale,
    ]
    orders = {len(values.source.sets[number]) for number in chosen.tolist()}
    nonzero = float((np.abs(expected).max(axis=0) > 1e-9 * scale).mean())
    return Facts(gap=float(max(gaps)) / scale, sets=chosen.size, order=max(orders), nonzero=nonzero)


def some_sets(values: Any, per_order: int) -> Any:
    """Return the numbers of some sets of each order: half of them those with the largest mean square."""
    sets, rng, chosen = values.source.sets, np.random.default_rng(0), []
    squares = values.mean_square()
    for order in range(1, len(sets[-1]) + 1):
        first, end = (bisect_left(sets, size, key=len) for size in (order, order + 1))
        if first < end:
            largest = first + np.argsort(-squares[first:end], kind="stable")[: per_order // 2]
            others = rng.integers(first, end, size=per_order - per_order // 2)
            chosen.append(np.concatenate([largest, others]))
    return np.unique(np.concatenate(chosen))


def values_of(values: Any, chosen: Any) -> Any:
    """Return the values of some sets, (rows, sets), from the blocks of all sets."""
    found = np.empty((values.n_rows, chosen.size))
    for numbers, block in values.blocks_of_sets():
        here, places, of_block = np.intersect1d(chosen, numbers, return_indices=True)
        if here.size:
            found[:, places] = block[:, of_block]
    return found


def _members(values: Any, chosen: Any, columns: list[str]) -> Iterator[list[str]]:
    for number in chosen.tolist():
        yield [columns[player] for player in values.source.sets[number]]


def _rows(rows: pd.DataFrame) -> Iterator[pd.Series]:
    return (rows.iloc[row] for row in range(len(rows)))


def pdiv(model: Any, background: pd.DataFrame, row: pd.Series, members: list[str]) -> float:
    """Return the PDIV of a set at a row by its definition: inclusion and exclusion over the subsets."""
    subsets = [part for size in range(len(members) + 1) for part in itertools.combinations(members, size)]
    at_once, total = max(1, MAX_PREDICTED // len(background)), 0.0
    base, place = background.to_numpy(), {name: background.columns.get_loc(name) for name in members}
    for first in range(0, len(subsets), at_once):
        block = subsets[first : first + at_once]
        rows = np.tile(base, (len(block), 1, 1))
        for number, part in enumerate(block):
            for name in part:
                rows[number, :, place[name]] = row[name]
        frame = pd.DataFrame(rows.reshape(-1, base.shape[1]), columns=background.columns)
        predicted = model.predict(frame).reshape(len(block), -1).mean(axis=1)
        signs = np.array([(-1) ** (len(members) - len(part)) for part in block])
        total += float(signs @ predicted)
    return total


# ------------------------------------------------------------------------------------------------------------ cases


def contenders(spec: Spec) -> dict[str, Callable[[], Any]]:
    """Return the contenders of a case, in a child."""
    X, _ = table(spec.data, quick=spec.quick)
    model = fitted(spec)
    rows = X.sample(min(len(X), EXPLAINED), random_state=0)
    found: dict[str, Callable[[], Any]] = {MEANS: partial(means, model, X, rows)}
    found[CHECK] = partial(largest_difference, model, X, 4 if spec.quick else 6)
    return found | {name: partial(peer, way, model, X, rows) for way, name in PEERS.items()}


def any_order(report: Report, data: str, depth: int, limits: Limits) -> None:
    """Measure one table and one depth: glasswood, the check, and woodelf within its limits."""
    spec = Spec(data, depth, limited=False, quick=report.quick)
    X, _ = table(data, quick=report.quick)
    fitted(spec)
    case = f"any order depth {depth}, {data} {X.shape[0]:,} x {X.shape[1]}"
    table.cache_clear()
    child = Child(contenders, spec)
    try:
        paper = ANY_ORDER.get(data, {}).get(depth)
        _add_ours(report, case, child, (paper, FACTOR.get(data, 1) if depth in range(7, 10) else 0))
        _add_check(report, case, child.ask(CHECK, OURS))
        child.close()  # woodelf begins with the memory that loading leaves
        for name in () if report.quick else PEERS.values():
            outcome = child.ask(name, limits)
            report.add(Figure(case, name, outcome.seconds, "s", note=outcome.error or _gigabytes(outcome)))
    finally:
        child.close()


def _add_ours(report: Report, case: str, child: Child, paper: tuple[float | None, int]) -> None:
    """Add time, sets and memory; the best of as many laps as are asked for if they are short."""
    laps = [child.ask(MEANS, OURS)]
    while len(laps) < report.rounds and not laps[-1].error and sum(lap.seconds for lap in laps) < 60:
        laps.append(child.ask(MEANS, OURS))
    first, best = laps[0], min(laps, key=lambda lap: lap.seconds)
    seconds, factor = paper
    target = ("<=", seconds / factor) if seconds and factor and not MAX_ROWS else None
    note = first.error or f"best of {len(laps)}" + (f"; the paper: {seconds:g} s" if seconds else "")
    report.add(Figure(case, MEANS, best.seconds, "s", target, note))
    if not first.error:
        report.add(Figure(case, "sets", first.facts["sets"], "", note=f"of up to {first.facts['order']:.0f} features"))
        report.add(Figure(case, "peak memory beyond model and rows", first.beyond / GIGABYTE, "GB"))
        report.add(Figure(case, "peak memory of the whole process", first.peak / GIGABYTE, "GB", ("<=", 4)))


def _add_check(report: Report, case: str, outcome: Outcome) -> None:
    facts = outcome.facts
    note = outcome.error
    if facts:
        note = (
            f"{facts['sets']:.0f} sets of 1 to {facts['order']:.0f} features, {facts['nonzero']:.0%} of them not zero; "
            f"{ROWS_OF_CHECK} rows, background of {BACKGROUND_OF_CHECK}"
        )
    what = "largest difference from the definition / largest score"
    report.add(Figure(case, what, facts.get("gap", float("nan")), "", ("<=", 1e-12), note))


def _gigabytes(outcome: Outcome) -> str:
    return f"once; peak memory {outcome.peak / GIGABYTE:.1f} GB"
