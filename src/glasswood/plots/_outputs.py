"""Which outputs of a result a figure shows, and what its scale is called."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import TableError
from glasswood.plots._text import plain

__all__ = ["MOST_LINES", "Output", "one_output", "output_number", "outputs_shown", "scale_label"]

MOST_LINES = 8  # as many as there are colours that everybody can tell apart
Output = str | int | None


def output_number(outputs: Sequence[str], output: str | int) -> int:
    """Return the number of an output that is given by its name or number."""
    if isinstance(output, str) and output in outputs:
        return list(outputs).index(output)
    if isinstance(output, int | np.integer) and -len(outputs) <= output < len(outputs):
        return int(output) % len(outputs)
    message = f"there is no output {output!r}; the outputs are {list(outputs[:20])!r}, or numbers from 0"
    raise TableError(message)


def outputs_shown(heights: NDArray[np.float64], outputs: Sequence[str], output: Output) -> tuple[list[int], str]:
    """Return the numbers of the outputs to draw, and a note if some are left out.

    Of two probabilities the second says it all; of many outputs those that vary most are drawn.
    """
    if output is not None:
        return [output_number(outputs, output)], ""
    flat = heights.reshape(-1, heights.shape[-1])
    if len(outputs) == 2 and (np.allclose(flat.sum(axis=1), 1.0, atol=1e-9) or np.allclose(flat[:, 0], flat[:, 1])):
        return [1], ""
    if len(outputs) <= MOST_LINES:
        return list(range(len(outputs))), ""
    chosen = np.argsort(-np.ptp(flat, axis=0), kind="stable")[:MOST_LINES]
    return sorted(chosen.tolist()), f"{MOST_LINES} of {len(outputs)} outputs: those that vary most"


def one_output(heights: NDArray[np.float64], outputs: Sequence[str], output: Output, what: str) -> int:
    """Return the output that a panel for one shows."""
    numbers, _ = outputs_shown(heights, outputs, output)
    if len(numbers) > 1:
        message = f"{what} shows one output; pass output=, one of {list(outputs[:20])!r}"
        raise TableError(message)
    return numbers[0]


def scale_label(units: str, outputs: Sequence[str], shown: Sequence[int], *, average: bool = True) -> str:
    """Return the label of an axis of scores: the scale is always named."""
    named = len(outputs) > 1 or (units in ("probability", "log-odds") and outputs[0] != "prediction")
    of = f" of {plain(outputs[shown[0]])}" if named and len(shown) == 1 else ""
    return f"{'average ' if average else ''}{'prediction' if units == 'value' else units}{of}"
