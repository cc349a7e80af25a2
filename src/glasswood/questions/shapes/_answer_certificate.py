"""Certificates: what the trees prove about monotonicity, and rows that show that a declared constraint is broken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._plan import CountPlan
from glasswood.effects._axes import axes_of
from glasswood.errors import TableError
from glasswood.models._outputs import OutputSelection
from glasswood.questions.shapes._answer import numbers_of
from glasswood.questions.shapes._arithmetic_certificate import LeafPairs, Pair
from glasswood.questions.shapes._result_certificate import BrokenPromise, Certificate
from glasswood.study._view import View
from glasswood.tables._columns import Column

__all__ = ["certificate"]


TRIES = 256  # rows that are made of pairs of leaves, to show a broken constraint

RANDOM_TRIES = 1024  # rows of random values

MANY_ROWS = 2**17  # that are scored at a time

# A fall that is larger, as a share of the largest score, is not one of rounding.
NOISE = {"float64": 1e-12, "float32": 1e-6}


def certificate(view: View, features: Sequence[Any] = ()) -> Certificate:
    """Return what the trees prove about some features that are numbers, or about all."""
    plan, e, chosen = view.study.plan(1), view.ensemble, view.chosen
    numbers = numbers_of(view, features, "a certificate")
    plan.refuse_derived()
    pairs = LeafPairs(plan)
    bounds = pairs.bounds
    listed = np.asarray(numbers, dtype=np.intp)
    falls, rises = (side[listed][:, chosen.columns] for side in (bounds.falls, bounds.rises))
    promised = np.zeros(falls.shape, dtype=np.int8)
    if e.promised is not None:
        promised += e.promised[listed][:, chosen.columns]
    kept = np.where(promised > 0, falls == 0, rises == 0)
    witnesses = _Witnesses(plan, pairs, chosen)
    broken = [
        witnesses.find(int(listed[i]), int(k), int(promised[i, k]))
        for i, k in zip(*np.nonzero((promised != 0) & ~kept), strict=True)
    ]
    turned = chosen.total is not None  # the other class of a binary model: minus the score
    return Certificate(
        names=tuple(e.feature_names[f] for f in numbers),
        falls=rises if turned else falls,
        rises=falls if turned else rises,
        promised=-promised if turned else promised,
        broken=tuple(sorted(filter(None, broken), key=lambda one: -one.by)),
        exact=bounds.exact,
        outputs=chosen.labels,
        units=e.score.units,
    )


class _Witnesses:
    """Rows that show that a constraint is broken, made of the values that pairs of leaves accept."""

    def __init__(self, plan: CountPlan, pairs: LeafPairs, chosen: OutputSelection) -> None:
        self._plan, self._pairs, self._chosen, self._e = plan, pairs, chosen, plan.ensemble
        self._used = self._e.used_features.tolist()
        self._axes = axes_of(plan)
        self._values = {f: _values_in_cells(self._e.schema.columns[f], plan, f) for f in self._used}

    def find(self, feature: int, output: int, direction: int) -> BrokenPromise | None:
        """Return a row whose score breaks a direction, as far as one is found; None if none is."""
        column = self._chosen.columns[output]
        worst = self._pairs.against(feature, column, direction, TRIES)
        axis = np.arange(self._axes.first[feature], self._axes.last[feature] + 1)
        axis = axis[~np.isnan(self._values[feature][axis])]
        random = np.random.default_rng(0)
        # Where the fall of one pair of leaves is made up for, the falls of several trees may meet elsewhere.
        tried: list[Pair | None] = [*worst, *[None] * RANDOM_TRIES]
        rows = list(filter(None, (self._row(pair, feature, random) for pair in tried)))
        if not rows or not axis.size:
            return None
        best: tuple[float, dict[int, float], int, int] | None = None
        step = max(1, MANY_ROWS // axis.size)
        for start in range(0, len(rows), step):
            candidate = self._best(rows[start : start + step], feature, axis, (column, direction))
            if candidate is not None and (best is None or candidate[0] > best[0]):
                best = candidate
        if best is None:
            return None
        _, row, low, high = best
        return self._example(row, feature, (low, high), (output, direction))

    def _row(self, pair: Pair | None, feature: int, random: np.random.Generator) -> dict[int, float] | None:
        """Return the encoded values of a row that a change of a feature leads from one leaf to the other, if any.

        Without a pair of leaves, values are random. That of the feature itself is left open.
        """
        cells = {f: self._common(pair, f, random) for f in self._used if f != feature}
        result = {f: float(self._values[f][cell]) for f, cell in cells.items() if cell is not None}
        known = {f for f in result if not np.isnan(result[f]) or cells[f] == self._values[f].size - 1}
        return result if len(known) == len(cells) else None

    def _common(self, pair: Pair | None, feature: int, random: np.random.Generator) -> int | None:
        """Return a cell of a feature that two leaves accept; None if none has a value that can be named."""
        boxes, n_cells = self._plan.boxes, self._values[feature].size
        n_main = int(self._plan.cells.n_codes[feature]) or n_cells - 1
        accepted = np.ones(n_cells, dtype=bool)
        for leaf in () if pair is None else (pair.low, pair.high):
            entries = np.arange(boxes.first[leaf], boxes.first[leaf + 1])
            for entry in entries[boxes.feature[entries] == feature].tolist():
                accepted &= self._cells_of(entry, feature, n_main)
        accepted[:-1] &= ~np.isnan(self._values[feature][:-1])
        accepted[-1] &= not getattr(self._e.schema.columns[feature], "refuse_missing", False)
        main = np.flatnonzero(accepted[:-1])
        if main.size:
            return int(random.choice(main))
        return n_cells - 1 if accepted[-1] else None

    def _cells_of(self, entry: int, feature: int, n_main: int) -> NDArray[np.bool_]:
        """Return which cells of a feature an entry of the boxes accepts."""
        boxes, result = self._plan.boxes, np.zeros(self._values[feature].size, dtype=bool)
        if self._plan.cells.n_codes[feature]:
            words = boxes.sets[boxes.low[entry] : boxes.low[entry] - (-n_main // 64)]
            bits = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")
            result[:n_main] = bits[:n_main].astype(bool)
            result[n_main] = boxes.unseen[entry]
        else:
            result[boxes.low[entry] : boxes.high[entry] + 1] = True
        result[-1] = boxes.missing[entry]
        return result

    def _best(
        self, rows: list[dict[int, float]], feature: int, axis: NDArray[np.int64], asked: tuple[int, int]
    ) -> tuple[float, dict[int, float], int, int] | None:
        """Return the largest fall of some rows along an axis, the row, and the two cells; None if none falls."""
        column, direction = asked
        columns = {f: np.repeat([row[f] for row in rows], axis.size) for f in self._used if f != feature}
        columns[feature] = np.tile(self._values[feature][axis], len(rows))
        scores = self._e._scores_of(columns, len(rows) * axis.size)[:, column].astype(np.float64)
        curves = direction * scores.reshape(len(rows), axis.size)
        fall = np.maximum.accumulate(curves, axis=1) - curves
        k, high = np.unravel_index(int(fall.argmax()), fall.shape)
        if fall[k, high] <= NOISE[self._e.score.dtype] * np.abs(scores).max(initial=0.0):
            return None
        low = int(curves[k, :high].argmax())
        return float(fall[k, high]), rows[k], int(axis[low]), int(axis[high])

    def _example(
        self, row: dict[int, float], feature: int, cells: tuple[int, int], asked: tuple[int, int]
    ) -> BrokenPromise:
        """Return a broken constraint with the values and labels that users know."""
        output, direction = asked
        low, high = (float(self._values[feature][cell]) for cell in cells)
        columns = {f: np.array([row.get(f, 0.0)] * 2) for f in self._used} | {feature: np.array([low, high])}
        scores = self._e._scores_of(columns, 2).astype(np.float64)
        before, after = self._chosen.levels(scores)[:, output].tolist()
        turned = -1 if self._chosen.total is not None else 1
        values = [_user_value(c, row.get(f)) for f, c in enumerate(self._e.schema.columns)]
        return BrokenPromise(
            feature=self._e.feature_names[feature],
            output=self._chosen.labels[output],
            declared="increasing" if direction * turned > 0 else "decreasing",
            values=(low, high),
            scores=(before, after),
            row=dict(zip(self._e.feature_names, values, strict=True)) | {self._e.feature_names[feature]: low},
        )


def _values_in_cells(column: Column, plan: CountPlan, feature: int) -> NDArray[np.float64]:
    """Return an encoded value of each cell of a column; NaN if none is known, and for the last cell, which is missing.

    Numbers are at the upper end of a cell, or the last whole number in it.
    """
    cells = plan.cells
    if column.n_codes:
        known = [not column.wants_labels or label in column.own_labels for label in column.categories or ()]
        codes = np.where(known, np.arange(column.n_codes, dtype=np.float64), np.nan)
        return np.append(codes, [np.nan, np.nan])
    cuts = cells.cuts_of(feature)
    if not cuts.size:
        return np.array([0.0, np.nan])
    ends = np.append(cuts, np.floor(cuts[-1] + max(1.0, 1e-3 * abs(cuts[-1]))))
    floors, numbers = np.floor(ends), np.arange(ends.size)
    result = np.where(cells.locate(feature, floors) == numbers, floors, ends)
    try:
        encoded = np.asarray(column.encode(result), dtype=np.float64)
    except TableError:  # transformers of a pipeline reject some
        return np.full(ends.size + 1, np.nan)
    right = np.isfinite(result) & (cells.locate(feature, encoded) == numbers)
    return np.append(np.where(right, result, np.nan), np.nan)


def _user_value(column: Column, encoded: float | None) -> Any:
    """Return an encoded value as users know it; some value for a column that the model does not use."""
    if not column.n_codes:
        return 0.0 if encoded is None else encoded
    labels = column.categories or (None,)
    if encoded is None:
        return labels[0]
    return None if np.isnan(encoded) else labels[int(encoded)]
