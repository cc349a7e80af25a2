"""How the score of one row comes about, as a waterfall: the strongest sets of features, and the rest in one step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import TableError
from glasswood.plots._outputs import scale_label
from glasswood.plots._spec import Waterfall
from glasswood.plots._text import number, plain

__all__ = ["panel_of_row"]


def panel_of_row(result: Any, row: int = 0, output: int | None = None, *, top: int = 10) -> Waterfall:
    """Return the waterfall of one row of `Interactions` or `Attributions`: the strongest parts, the others as one."""
    n_rows = result.n_rows if hasattr(result, "n_rows") else len(result)
    if not -n_rows <= row < n_rows:
        message = f"there is no row {row}; the rows are numbered from 0 to {n_rows - 1}"
        raise TableError(message)
    row %= n_rows
    if output is None and len(result.outputs) > 1:
        message = f"a waterfall shows one output; pass output=, one of {list(result.outputs[:20])!r}"
        raise TableError(message)
    k = 0 if output is None else output
    find = _parts_of_sets if hasattr(result, "source") else _parts_of_features
    labels, values, start = find(result, row, k)
    order = np.argsort(-np.abs(values), kind="stable")
    order = order[values[order] != 0]
    kept = order if len(order) <= top + 1 else order[:top]
    rest = order[len(kept) :]
    shown, heights = [labels[i] for i in kept], values[kept].tolist()
    if len(rest):
        shown.append(f"{len(rest):,} others")
        heights.append(float(values[rest].sum()))
    return Waterfall(
        title=f"Row {row}",
        x_label=scale_label(result.units, result.outputs, [k], average=False),
        start=("average", start),
        end=("this row", start + float(values.sum())),
        labels=tuple(shown),
        values=tuple(heights),
    )


def _parts_of_sets(result: Any, row: int, k: int) -> tuple[list[str], NDArray[np.float64], float]:
    """Return the sets of an `Interactions`, their values for one row, and the mean."""
    out = np.empty((len(result) * len(result.outputs), 1))
    result.source.write((row, row + 1), out, 0)
    values = out.reshape(len(result), len(result.outputs))[:, k]
    sets = result.subsets
    start = sum(float(value) for names, value in zip(sets, values, strict=True) if not names)
    kept = [i for i, names in enumerate(sets) if names]
    return [" x ".join(map(plain, sets[i])) for i in kept], values[kept], start


def _parts_of_features(result: Any, row: int, k: int) -> tuple[list[str], NDArray[np.float64], float]:
    """Return the features (or pairs of them) of an `Attributions`, their values for one row, and the mean."""
    values = result.heights[row, ..., k]
    names = [plain(name) for name in result.names]
    if values.ndim == 1:
        data = result.columns()
        texts = names if data is None else [f"{name} = {_text(x)}" for name, x in zip(names, data[row], strict=True)]
        return texts, values, float(result.mean[k])
    i, j = np.triu_indices(len(names))
    both = np.where(i == j, values[i, j], 2 * values[i, j])
    labels = [names[a] if a == b else f"{names[a]} x {names[b]}" for a, b in zip(i, j, strict=True)]
    return labels, both, float(result.mean[k])


def _text(x: Any) -> str:
    return number(x) if isinstance(x, float | int | np.number) and not isinstance(x, bool) else plain(x)
