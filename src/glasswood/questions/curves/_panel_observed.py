"""What was observed and predicted, as lines of a panel of a curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import ArgumentError, BackgroundError
from glasswood.models._outputs import NO_LABELS
from glasswood.plots._spec import Band, Line
from glasswood.questions.curves._result import Curve
from glasswood.results._folds import Folds
from glasswood.results.panels._layout import Layout
from glasswood.results.panels._outputs import OTHER_ROWS, scale_label
from glasswood.text._plain import plain

if TYPE_CHECKING:
    from glasswood.questions.curves._result_observed import Observations

__all__ = [
    "bands_of_observations",
    "label_of_observations",
    "lines_of_groups",
    "lines_of_observations",
    "note_of_pale",
    "pools_of",
]

TINY = float(np.finfo(np.float64).tiny)

FEW = 5  # of claims: what was observed for so few says little

MIN_POOL_SHARE = 0.05  # of the exposure: neighbouring cells are drawn together until they have as much


def lines_of_observations(curve: Curve, output: int, layout: Layout) -> list[Line]:
    """Return the lines of what was observed and of what was predicted for one output."""
    result = curve.observations
    if not result.comparable:
        message = (
            f"observed and predicted are on the scale of predict ({result.units}), and this curve is not "
            f'({curve.units}, or centered); ask for the curve with response="prediction", or "probability". Curves of '
            "a model without a link do not contain the offset of the rows, and predictions do"
        )
        raise ArgumentError(message)
    observed, predicted = (
        _line(name, result, getattr(result, name)[:, output], layout) for name in ("observed", "predicted")
    )
    return [_with_pale(observed, result, output, layout), predicted]


def lines_of_groups(curves: Mapping[str, Curve], output: int, layout: Layout) -> list[Line]:
    """Return what was observed and what was predicted for one output of each explainer, in the same pools of cells."""
    observations = {name: _observations_of(name, curve) for name, curve in curves.items()}
    exposures = [np.nan_to_num(own.exposure) for own in observations.values()]
    whole = np.mean([exposure / max(exposure.sum(), TINY) for exposure in exposures], axis=0)
    lines = []
    for k, (name, own) in enumerate(observations.items()):
        observed, predicted = (
            replace(_line(f"{plain(name)}: {what}", own, getattr(own, what)[:, output], layout, whole), colour=k)
            for what in ("observed", "predicted")
        )
        lines += [_with_pale(observed, own, output, layout, whole), predicted]
    return lines


def label_of_observations(curve: Curve, output: int, *, weighted: bool) -> str:
    """Return the label of an axis of what was observed and predicted."""
    units, label = curve.observations.units, curve.outputs[output]
    if units == "probability":
        what = scale_label(units, curve.outputs, [output], weighted=weighted)
    else:
        what = f"{'weighted ' if weighted else ''}average target{'' if label in NO_LABELS else f' {plain(label)}'}"
    return f"{what}, observed and predicted"


def _observations_of(name: str, curve: Curve) -> Observations:
    """Return what was observed; the error names the explainer that does not know."""
    try:
        return curve.observations
    except BackgroundError as error:
        message = f"{name!r}: {error}"
        raise BackgroundError(message) from error


def _line(
    name: str,
    result: Observations,
    values: NDArray[np.float64],
    layout: Layout,
    whole: NDArray[np.float64] | None = None,
) -> Line:
    """Return a line of pooled cells; `whole` is the exposure of several explainers, which have common pools."""
    heights = _pooled(values, result.exposure, result.exposure if whole is None else whole, layout)
    missing, unseen = (float(values[place]) if np.isfinite(values[place]) else None for place in (-1, -2))
    if whole is None:
        missing, unseen = missing if layout.missing_share else None, unseen if layout.unseen_share else None
    return Line(name, tuple(heights.tolist()), missing, unseen if result.axis.categories is not None else None)


def _with_pale(
    line: Line, result: Observations, output: int, layout: Layout, whole: NDArray[np.float64] | None = None
) -> Line:
    """Return the line of what was observed, pale where the sum of a target that is a count is small."""
    if result.counts is None:
        return line
    counts = result.counts[:, output]
    pools = _pools(result.exposure if whole is None else whole, layout)
    few = np.add.reduceat(np.nan_to_num(counts[layout.cells]), pools) < FEW
    pale = np.repeat(few, np.diff(np.append(pools, layout.cells.size))) & np.isfinite(line.heights)
    sides = [("missing", line.missing, counts[-1]), ("unseen", line.unseen, counts[-2])]
    beside = tuple(name for name, height, count in sides if height is not None and count < FEW)
    return replace(line, pale=tuple(pale.tolist()) if pale.any() else (), pale_beside=beside)


def note_of_pale(lines: Sequence[Line]) -> str:
    """Return what pale cells are; nothing if there are none."""
    return f"pale: the target sums to less than {FEW}" if any(line.pale or line.pale_beside for line in lines) else ""


def _pools(whole: NDArray[np.float64], layout: Layout) -> NDArray[np.intp]:
    """Return where pools of neighbouring cells begin: of numbers, such that each has a share of the exposure."""
    if not layout.scale.edges:
        return np.arange(layout.cells.size)
    return pools_of(np.nan_to_num(whole[layout.cells]))


def _pooled(
    values: NDArray[np.float64], exposure: NDArray[np.float64], whole: NDArray[np.float64], layout: Layout
) -> NDArray[np.float64]:
    """Return ratios of sums over pools of neighbouring cells, which the exposure of all rows decides about."""
    if not layout.scale.edges:
        return values[layout.cells]
    pools = _pools(whole, layout)
    exposure = np.nan_to_num(exposure[layout.cells])
    total = np.add.reduceat(exposure, pools)
    sums = np.add.reduceat(np.nan_to_num(values[layout.cells]) * exposure, pools)
    pooled = np.divide(sums, total, out=np.full(sums.shape, np.nan), where=total > 0)
    return np.repeat(pooled, np.diff(np.append(pools, exposure.size)))


def bands_of_observations(curve: Curve, output: int, layout: Layout, lines: Sequence[Line]) -> tuple[Band, ...]:
    """Return the band around what was observed, which is the second line."""
    observations = curve.observations
    folds, exposures = observations.folds["observed"], observations.folds["exposure"].heights
    parts = zip(folds.heights[:, :, output], exposures, strict=True)
    left_out = np.stack([_pooled(values, exposure, observations.exposure, layout) for values, exposure in parts])
    heights = np.asarray(lines[0].heights)
    off = np.nan_to_num(folds.multiple * Folds(left_out, folds.shares).error(heights))
    beside = folds.multiple * observations.error("observed")[:, output]
    missing, unseen = (
        None if height is None else (height - float(beside[place]), height + float(beside[place]))
        for place, height in ((-1, lines[0].missing), (-2, lines[0].unseen))
    )
    low, high = (heights - off).tolist(), (heights + off).tolist()
    return (Band(OTHER_ROWS, tuple(low), tuple(high), 1, missing, unseen),)


def pools_of(exposure: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return where pools of neighbouring cells begin, such that each has a share of the exposure.

    A cell with more than half of it, such as that of zeros, is a pool of its own, and shares are those of the rest.

    Examples
    --------
    >>> pools_of(np.array([2.0, 9.0, 1.0, 40.0, 48.0]))
    array([0, 2, 4])
    >>> pools_of(np.array([970.0, 1.0, 1.0, 9.0, 9.0, 10.0]))
    array([0, 1, 3, 4, 5])
    """
    heavy = exposure > exposure.sum() / 2
    least, starts, so_far = MIN_POOL_SHARE * exposure[~heavy].sum(), [0], 0.0
    for cell, here in enumerate(exposure.tolist()):
        if cell and (so_far >= least > 0 or heavy[cell] or heavy[cell - 1]):
            starts.append(cell)
            so_far = 0.0
        so_far += here
    if so_far < least and len(starts) > 1 and not heavy[starts[-1] - 1]:  # what is left at the end
        starts.pop()
    return np.array(starts, dtype=np.intp)
