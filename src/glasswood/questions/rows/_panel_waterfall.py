"""How the score of one row comes about, as a waterfall: the strongest sets of features, and the rest in one step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import TableError
from glasswood.plots._spec import Bars, Waterfall
from glasswood.questions.rows._result import Attributions
from glasswood.questions.rows._result_sets import Interactions
from glasswood.results._drawable import drawn
from glasswood.results.panels._outputs import one_row, scale_label
from glasswood.text._arguments import whole_number
from glasswood.text._plain import number, plain
from glasswood.text._printable import how_many

if TYPE_CHECKING:
    from glasswood.questions.rows._result_shown import ShownRows

__all__ = ["panel_of_row", "panel_of_sets"]


KINDS_OF_SETS = ("waterfall", "bar")

MAX_PARTS = 20  # parts of their own, if the others together would be larger than all of these


def panel_of_row(result: Attributions, row: int = 0, output: int | None = None, *, top: int = 10) -> Waterfall:
    """Return the waterfall of one row of `Attributions`: the strongest features, the others as one."""
    place = _place(result, len(result), row, output)
    texts = _texts(result.names, result.columns, place.row)
    return _waterfall(place, _parts_of_features(result, place, texts), top)


def _waterfall_of_row(result: Interactions, row: int, output: int | None, top: int) -> Waterfall:
    """Return the strongest sets of features of one row, the others as one."""
    place = _place(result, result.n_rows, row, output)
    texts = _texts(result.players, result.columns, place.row)
    return _waterfall(place, _parts_of_sets(result, place, texts), top)


@drawn(Interactions)
def panel_of_sets(
    result: Interactions, row: int = 0, output: int | None = None, *, kind: str = "waterfall", top: int = 10
) -> Waterfall | Bars:
    """Return the waterfall of one row of `Interactions`, or the means of the strongest sets over all rows."""
    if kind not in KINDS_OF_SETS:
        message = f"kind must be one of {KINDS_OF_SETS!r}, not {kind!r}"
        raise TableError(message)
    return _waterfall_of_row(result, row, output, top) if kind == "waterfall" else _bars(result, output, top)


def _bars(result: Interactions, output: int | None, top: int) -> Bars:
    place = _place(result, result.n_rows, 0, output)
    top = whole_number(top, "top is the number of bars")
    sets = result.source.sets
    skipped = int(len(sets) > 0 and not sets[0])  # the empty set explains nothing
    means = (result.mean_abs(), result.signed_mean())
    sizes, signed = (mean.reshape(len(sets), -1)[skipped:, place.output] for mean in means)
    order = np.argsort(-sizes, kind="stable")[:top]
    names = tuple(map(plain, result.players))
    labels = [" x ".join(names[player] for player in sets[skipped + number]) for number in order.tolist()]
    return Bars(
        title="Strongest sets of features",
        x_label=f"mean over {how_many(result.n_rows, 'row')} ({place.label})",
        labels=tuple(labels),
        values=(tuple(sizes[order].tolist()), tuple(signed[order].tolist())),
        series=("absolute value", "value with its sign"),
        note=f"the first {top} of {sizes.size:,} sets" if sizes.size > top else "",
    )


class _Place(NamedTuple):
    """One row and one output of a result."""

    row: int
    n_rows: int
    output: int
    label: str


class _Parts(NamedTuple):
    """What a row's score is the sum of."""

    labels: list[str]
    values: NDArray[np.float64]
    start: float


def _place(result: Attributions | Interactions, n_rows: int, row: int, output: int | None) -> _Place:
    row = one_row(n_rows, row)
    if output is None and len(result.outputs) > 1:
        message = f"a waterfall shows one output; pass output=, one of {list(result.outputs[:20])!r}"
        raise TableError(message)
    k = 0 if output is None else output
    return _Place(row, n_rows, k, scale_label(result.units, result.outputs, [k], average=False))


def _waterfall(place: _Place, parts: _Parts, top: int) -> Waterfall:
    labels, values, start = parts
    order = np.argsort(-np.abs(values), kind="stable")
    order = order[values[order] != 0]
    top = whole_number(top, "top is the number of bars")
    kept, rest = np.split(order, [_n_kept(values[order], top)])
    shown, heights, note = [labels[i] for i in kept], values[kept].tolist(), ""
    if rest.size:
        up, down = values[rest][values[rest] > 0].sum(), values[rest][values[rest] < 0].sum()
        shown.append(f"{rest.size:,} others together")
        heights.append(float(up + down))
        net = f"{'+' if heights[-1] > 0 else ''}{number(heights[-1])}"
        note = f"{rest.size:,} smaller ones: net {net}, each at most {number(abs(values[rest[0]]))}"
    return Waterfall(
        title=f"Row {place.row:,} of {place.n_rows:,}",
        x_label=place.label,
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
    for kept in range(top, min(MAX_PARTS, n - 1) + 1):
        if rests[kept] <= abs(values[0]):
            return kept
    return top


def _texts(features: Sequence[str], columns: ShownRows, row: int) -> list[str]:
    """Return the features with their values in one row, as far as these are known."""
    names = [plain(name) for name in features]
    data = columns.of_rows(np.array([row]))
    return names if data is None else [f"{name} = {_text(x)}" for name, x in zip(names, data[0], strict=True)]


def _parts_of_sets(result: Interactions, place: _Place, texts: list[str]) -> _Parts:
    """Return the sets of an `Interactions`, their values for one row, and the mean."""
    sets = result.source.sets
    out = np.empty((len(sets) * len(result.outputs), 1))
    result.source.write((place.row, place.row + 1), out, 0)
    values = out.reshape(len(sets), len(result.outputs))[:, place.output]
    start = sum(float(value) for members, value in zip(sets, values, strict=True) if not members)
    kept = [i for i, members in enumerate(sets) if members]
    return _Parts([" x ".join(texts[player] for player in sets[i]) for i in kept], values[kept], start)


def _parts_of_features(result: Attributions, place: _Place, texts: list[str]) -> _Parts:
    """Return the features (or pairs of them) of an `Attributions`, their values for one row, and the mean."""
    values, mean = result.heights[place.row, ..., place.output], float(result.mean[place.output])
    if values.ndim == 1:
        return _Parts(texts, values, mean)
    i, j = np.triu_indices(len(texts))
    both = np.where(i == j, values[i, j], 2 * values[i, j])
    labels = [texts[a] if a == b else f"{texts[a]} x {texts[b]}" for a, b in zip(i, j, strict=True)]
    return _Parts(labels, both, mean)


def _text(x: object) -> str:
    if x is None:
        return "missing"
    return number(x) if isinstance(x, float | int | np.number) and not isinstance(x, bool) else plain(x)
