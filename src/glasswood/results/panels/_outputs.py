"""Which outputs and which row of a result a figure shows, and what its scale is called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import TableError
from glasswood.models._outputs import NO_LABELS
from glasswood.text._arguments import Centering
from glasswood.text._plain import shorten

__all__ = [
    "CURVE",
    "MAX_LINES",
    "OTHER_ROWS",
    "as_tuples",
    "average_word",
    "centered_label",
    "one_output",
    "one_row",
    "outputs_shown",
    "scale_label",
]


LABEL = 22  # letters of a class in the label of an axis, so that the scale is never cut

MAX_LINES = 8  # the number of distinguishable colours


def outputs_shown(heights: NDArray[np.float64], outputs: Sequence[Any], output: int | None) -> tuple[list[int], str]:
    """Return the positions of the outputs to draw, and a note if some are left out: of many, those that vary most."""
    if output is not None:
        return [output], ""
    flat = heights.reshape(-1, heights.shape[-1])
    if len(outputs) <= MAX_LINES:
        return list(range(len(outputs))), ""
    chosen = np.argsort(-np.ptp(flat, axis=0), kind="stable")[:MAX_LINES]
    return sorted(chosen.tolist()), f"{MAX_LINES} of {len(outputs)} outputs: those that vary most"


def one_output(heights: NDArray[np.float64], outputs: Sequence[Any], output: int | None, what: str) -> int:
    """Return the output that a panel for one shows."""
    numbers, _ = outputs_shown(heights, outputs, output)
    if len(numbers) > 1:
        message = f"{what} shows one output; pass output=, one of {list(outputs[:20])!r}"
        raise TableError(message)
    return numbers[0]


def one_row(n_rows: int, row: Any) -> int:
    """Return the number of a row that is asked for; negative numbers count from the end."""
    if not isinstance(row, int | np.integer) or not -n_rows <= row < n_rows:
        known = f"the rows are numbered from 0 to {n_rows - 1}" if n_rows else "the result has no rows"
        message = f"there is no row {row!r}; {known}"
        raise TableError(message)
    return int(row) % n_rows


def centered_label(label: str, centering: Centering) -> str:
    """Return the label of an axis of scores that are centred, or of others."""
    if centering == "mean":
        return f"{label} minus the mean"
    return f"change of {label}" if centering else label


def scale_label(
    units: str, outputs: Sequence[Any], shown: Sequence[int], *, average: bool = True, weighted: bool = False
) -> str:
    """Return the label of an axis of scores: the scale is always named."""
    label = outputs[shown[0]]
    target = "target " if units == "value" and isinstance(label, int) else ""
    of = f" of {target}{shorten(label, LABEL)}" if len(shown) == 1 and label not in NO_LABELS else ""
    kind = ("weighted average " if weighted else "average ") if average else ""
    return f"{kind}{'prediction' if units == 'value' else units}{of}"


def average_word(*, weighted: bool) -> str:
    return "weighted average" if weighted else "average"


CURVE = "partial dependence"

OTHER_ROWS = "95 % band: other rows, same model"


def as_tuples(array: NDArray[np.float64]) -> tuple[tuple[float, ...], ...]:
    """Return an array as tuples."""
    return tuple(tuple(row) for row in array.tolist())
