"""Reading the rows of a background again for facts that counts do not contain, from memory or from a source.

Parts are taken in the order of the rows, so that the numbers do not depend on where rows come from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._exact import exact_deviation, exact_squares, exact_sums
from glasswood.effects._row_cells import CellBlock, Rows
from glasswood.engines._pass import RowsPart
from glasswood.models._scale import Scale
from glasswood.study._study import Study
from glasswood.tables._columns import Column, cells_of

__all__ = ["blocks_of_cells", "deviation_of_scores", "finite_ends", "rows_in_cells"]

BLOCK = 2**16  # rows that are scored at a time


def finite_ends(study: Study, features: Sequence[int]) -> dict[int, tuple[float, float]]:
    """Return the smallest and the largest finite number of each feature; two zeros if there is none.

    Rows of weight 0 do not count.
    """
    least, greatest = np.full(len(features), np.inf), np.full(len(features), -np.inf)

    def ends(part: RowsPart) -> NDArray[np.float64]:
        counts = True if part.weight is None else part.weight > 0
        finite = [values[np.isfinite(values) & counts] for values in map(part.columns.column, features)]
        result = [(values.min(initial=np.inf), values.max(initial=-np.inf)) for values in finite]
        return np.array(result, dtype=np.float64).T

    for low, high in study.over.each(study.ensemble.schema, features, ends) if features else ():
        least, greatest = np.minimum(least, low), np.maximum(greatest, high)
    known = least <= greatest
    pairs = zip(np.where(known, least, 0.0).tolist(), np.where(known, greatest, 0.0).tolist(), strict=True)
    return dict(zip(features, pairs, strict=True))


def rows_in_cells(study: Study, axes: Mapping[int, tuple[Column, NDArray[np.float64]]]) -> dict[int, NDArray[Any]]:
    """Return the number (or weight) of rows in any cells of features, given by columns and cuts; missing values last.

    There is a cell between any two cuts, or for each category and for unseen ones.
    """
    kind = np.int64 if study.over.weight is None else np.float64
    result = {f: np.zeros((column.n_codes or cuts.size) + 2, dtype=kind) for f, (column, cuts) in axes.items()}

    def count(part: RowsPart) -> dict[int, NDArray[Any]]:
        values = part.columns.values
        cells = {f: cells_of(column.encode(values[f]), cuts, column.n_codes) for f, (column, cuts) in axes.items()}
        return {f: np.bincount(places, part.weight, result[f].size) for f, places in cells.items()}

    for counted in study.over.each(study.ensemble.schema, list(axes), count) if axes else ():
        for feature, rows in counted.items():
            result[feature] += rows
    return result


def blocks_of_cells(study: Study, size: int) -> Iterator[tuple[CellBlock, NDArray[np.float64] | None]]:
    """Yield the cells of all rows and their weights in blocks; the last block may be smaller.

    A block is valid until the next one is requested.
    """
    plan = study.plan(1)
    used = plan.ensemble.used_features
    cells = np.empty((used.size, size), dtype=np.int32)
    weight = None if study.over.weight is None else np.empty(size)
    filled = 0
    for part in study.over.parts(plan.ensemble.schema, used):
        rows, first = Rows(plan, part.columns), 0
        while first < rows.n_rows:
            last = min(rows.n_rows, first + size - filled)
            place = slice(filled, filled + last - first)
            cells[:, place] = rows.cells(first, last)
            if weight is not None and part.weight is not None:
                weight[place] = part.weight[first:last]
            filled, first = place.stop, last
            if filled == size:
                yield CellBlock(cells), weight
                filled = 0
    if filled:
        yield CellBlock(cells[:, :filled]), None if weight is None else weight[:filled]


def deviation_of_scores(study: Study, scale: Scale) -> NDArray[np.float64]:
    """Return the standard deviation of the rows' responses on a scale, for each output: from the rows, or from sums."""
    has_offset = not scale.additive and study.responses_spec(scale).offset  # which rows are not scored with here
    if study.over.basis != "rows" or has_offset:
        return study.moments(scale).deviation
    return _weighted_deviation(study, scale) if study.over.weighted else _exact_deviation(study, scale)


def _responses(study: Study, scale: Scale, part: RowsPart) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Yield the responses of blocks of rows, (n_rows, n_outputs), and the number of the first row of each."""
    ensemble, n_rows = study.ensemble, part.columns.n_rows
    for first in range(0, n_rows, BLOCK):
        last = min(n_rows, first + BLOCK)
        scores = ensemble._scores_of(part.columns.encode(first, last), last - first).astype(np.float64)
        yield first, scale.of_scores(scores)


def _exact_deviation(study: Study, scale: Scale) -> NDArray[np.float64]:
    """Return the deviation from sums that are not rounded, so that it does not depend on how rows are divided."""
    ensemble, n_outputs = study.ensemble, scale.outputs.n_columns

    def sums(part: RowsPart) -> list[tuple[int, list[int] | None, list[int] | None]]:
        blocks = (np.ascontiguousarray(values.T) for _, values in _responses(study, scale, part))
        return [(values.shape[1], exact_sums(values), exact_squares(values)) for values in blocks]

    n, totals, squares = 0, [0] * n_outputs, [0] * n_outputs
    for blocks in study.over.each(ensemble.schema, ensemble.used_features.tolist(), sums):
        for size, total, square in blocks:
            if total is None or square is None:
                return np.full(n_outputs, np.nan)
            n += size
            totals = [a + b for a, b in zip(totals, total, strict=True)]
            squares = [a + b for a, b in zip(squares, square, strict=True)]
    return exact_deviation(totals, squares, n)


def _weighted_deviation(study: Study, scale: Scale) -> NDArray[np.float64]:
    """Return the same for rows with weights.

    Blocks of rows are added by their means and sums of squares around these, so that nothing is lost if the mean is
    large.
    """
    ensemble = study.ensemble

    def moments(part: RowsPart) -> list[tuple[float, NDArray[np.float64], NDArray[np.float64]]]:
        result = []
        for first, values in _responses(study, scale, part):
            weight = np.ones(len(values)) if part.weight is None else part.weight[first : first + len(values)]
            mean = weight @ values / max(float(weight.sum()), np.finfo(np.float64).tiny)
            result.append((float(weight.sum()), mean, weight @ (values - mean) ** 2))
        return result

    total, mean, squares = 0.0, np.zeros(scale.outputs.n_columns), np.zeros(scale.outputs.n_columns)
    for blocks in study.over.each(ensemble.schema, ensemble.used_features.tolist(), moments):
        for weight, own, around in blocks:
            if weight > 0:
                squares += around + (own - mean) ** 2 * (total * weight / (total + weight))
                mean += (own - mean) * (weight / (total + weight))
                total += weight
    return np.sqrt(squares / total)
