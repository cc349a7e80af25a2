"""How the score of one row comes about, as a waterfall: the strongest sets of features, and the rest in one step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import TableError
from glasswood.plots._spec import Waterfall
from glasswood.results.panels._outputs import scale_label
from glasswood.text._plain import number, plain

if TYPE_CHECKING:
    from glasswood.results._attributions import Attributions
    from glasswood.results._interactions import Interactions
    from glasswood.results._shown import ShownRows

__all__ = ["panel_of_row"]

MOST = 20  # parts of their own, if the others together would be larger than all of these


def panel_of_row(
    result: Attributions | Interactions, row: int = 0, output: int | None = None, *, top: int = 10
) -> Waterfall:
    """Return the waterfall of one row of `Interactions` or `Attributions`: the strongest parts, the others as one."""
    n_rows = result.n_rows if hasattr(result, "n_rows") else len(result)
    if not -n_rows <= row < n_rows:
        known = f"the rows are numbered from 0 to {n_rows - 1}" if n_rows else "the result has no rows"
        message = f"there is no row {row}; {known}"
        raise TableError(message)
    row %= n_rows
    if output is None and len(result.outputs) > 1:
        message = f"a waterfall shows one output; pass output=, one of {list(result.outputs[:20])!r}"
        raise TableError(message)
    k = 0 if output is None else output
    if hasattr(result, "source"):
        sets = cast("Interactions", result)
        labels, values, start = _parts_of_sets(sets, row, k, _texts(sets.players, sets.columns, row))
    else:
        labels, values, start = _parts_of_features(result, row, k, _texts(result.names, result.columns, row))
    order = np.argsort(-np.abs(values), kind="stable")
    order = order[values[order] != 0]
    kept, rest = np.split(order, [_n_kept(values[order], top)])
    shown, heights, note = [labels[i] for i in kept], values[kept].tolist(), ""
    if rest.size:
        up, down = values[rest][values[rest] > 0].sum(), values[rest][values[rest] < 0].sum()
        shown.append(f"{rest.size:,} others together")
        heights.append(float(up + down))
        largest = number(abs(values[rest[0]]))
        note = f"the others add +{number(up)} and {number(down)}, each at most {largest} in size"
    return Waterfall(
        title=f"Row {row:,} of {n_rows:,}",
        x_label=scale_label(result.units, result.outputs, [k], average=False),
        start=("average", start),
        end=("this row", start + float(values.sum())),
        labels=tuple(shown),
        values=tuple(heights),
        rest=bool(rest.size),
        note=note,
    )


def _n_kept(values: NDArray[np.float64], top: int) -> int:
    """Return how many of the sorted parts are shown: more than asked for if the others would be the largest."""
    n = len(values)
    if n <= top + 1:
        return n
    rests = np.abs(np.cumsum(values[::-1])[::-1])  # of all from each on
    for kept in range(top, min(MOST, n - 1) + 1):
        if rests[kept] <= abs(values[0]):
            return kept
    return top


def _texts(features: Sequence[str], columns: ShownRows, row: int) -> list[str]:
    """Return the features with their values in one row, as far as these are known."""
    names = [plain(name) for name in features]
    data = columns.of_rows(np.array([row]))
    return names if data is None else [f"{name} = {_text(x)}" for name, x in zip(names, data[0], strict=True)]


def _parts_of_sets(
    result: Interactions, row: int, k: int, texts: list[str]
) -> tuple[list[str], NDArray[np.float64], float]:
    """Return the sets of an `Interactions`, their values for one row, and the mean."""
    out = np.empty((len(result) * len(result.outputs), 1))
    result.source.write((row, row + 1), out, 0)
    values = out.reshape(len(result), len(result.outputs))[:, k]
    sets = result.source.sets
    start = sum(float(value) for members, value in zip(sets, values, strict=True) if not members)
    kept = [i for i, members in enumerate(sets) if members]
    return [" x ".join(texts[player] for player in sets[i]) for i in kept], values[kept], start


def _parts_of_features(
    result: Attributions, row: int, k: int, texts: list[str]
) -> tuple[list[str], NDArray[np.float64], float]:
    """Return the features (or pairs of them) of an `Attributions`, their values for one row, and the mean."""
    values = result.heights[row, ..., k]
    if values.ndim == 1:
        return texts, values, float(result.mean[k])
    i, j = np.triu_indices(len(texts))
    both = np.where(i == j, values[i, j], 2 * values[i, j])
    labels = [texts[a] if a == b else f"{texts[a]} x {texts[b]}" for a, b in zip(i, j, strict=True)]
    return labels, both, float(result.mean[k])


def _text(x: object) -> str:
    if x is None:
        return "missing"
    return number(x) if isinstance(x, float | int | np.number) and not isinstance(x, bool) else plain(x)
