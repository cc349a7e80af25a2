"""Statistics of curves and interactions: heights of cells and rows per cell in, a few numbers out.

Arrays only: names appear in `results`. Curves have one line per cell, the missing one last, and a last axis of outputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from glasswood.kernels import _core
from glasswood.parallel._threads import in_order

__all__ = [
    "Missed",
    "Moments",
    "PairStrengths",
    "Trend",
    "apart",
    "distances",
    "in_bins",
    "independent_moments",
    "joint_rows",
    "missed",
    "on_common_cuts",
    "pair_moments",
    "pair_strengths",
    "point_moments",
    "quantiles",
    "stability_index",
    "standard_deviation",
    "streamed_moments",
    "trend",
]

Floats = NDArray[np.float64]

NOISE = 1e-12  # of the size of scores: below, differences are rounding
CANCELLED = 1e-13  # of a mean square: below, its difference from the squared mean is rounding
WORTH_A_WORD = 0.05  # of a curve's range: what a spike must stand out by
BINS = 10  # of numbers, for the stability index
SMALLEST_SHARE = 1e-4  # of the rows in a bin, for the stability index
VALUES_OF_A_BATCH = 2**21  # 16 megabytes


def standard_deviation(heights: Floats, rows: NDArray[Any]) -> Floats:
    """Return the standard deviation of the heights of cells, (n_cells, n_outputs), over the rows in them."""
    share = rows / rows.sum()
    centred = heights - share @ heights
    deviation: Floats = np.sqrt(share @ centred**2)
    return np.where(deviation > NOISE * np.abs(heights).max(initial=0.0), deviation, 0.0)


# ------------------------------------------------------------------------------------------- interactions of pairs


def quantiles(values: Floats, q: ArrayLike, weight: Floats | None) -> Floats:
    """Return quantiles of values over their first axis, as NumPy does: one, or a first axis of several.

    With weights, the smallest value such that it and those below have at least the share q of the weight.
    """
    if weight is None:
        found: Floats = np.quantile(values, np.asarray(q, dtype=np.float64), axis=0)
        return found
    values, weight = values[weight > 0], weight[weight > 0]
    order = np.argsort(values, axis=0, kind="stable")
    below = np.cumsum(weight[order], axis=0)
    below /= below[-1]
    asked = np.atleast_1d(np.asarray(q, dtype=np.float64))
    places = [np.argmax(below >= share - NOISE, axis=0)[None] for share in asked.ravel()]
    ordered = np.take_along_axis(values, order, axis=0)
    each = np.concatenate([np.take_along_axis(ordered, place, axis=0) for place in places])
    return each.reshape(*np.shape(q), *values.shape[1:])


def joint_rows(first: NDArray[Any], second: NDArray[Any], weight: Floats, out: Floats) -> Floats:
    """Add the number of rows (or their weight, unless that is empty) in each pair of cells of two features to `out`."""
    _core.add_joint_rows(first, second, np.ascontiguousarray(weight), out)
    return out


def pair_moments(interaction: Floats, curves: tuple[Floats, Floats], rows: Floats) -> Floats:
    """Return the moments of a pair over the rows in each pair of cells: (4, n_outputs).

    These are the means of the interaction and of its square, then of the centred joint partial dependence and of its
    square. `interaction` is (n_a, n_b, n_outputs), `rows` is (n_a, n_b).
    """
    a, b = np.nonzero(rows)
    return _moments(interaction[a, b], curves, (a, b), rows[a, b] / rows.sum())


def point_moments(
    alone: Floats, curves: tuple[Floats, Floats], cells: tuple[NDArray[Any], NDArray[Any]], rows: Floats
) -> Floats:
    """Return the moments of a pair as `pair_moments` does, given its interaction at points and the rows there."""
    return _moments(alone, curves, cells, rows / rows.sum())


def _moments(
    alone: Floats, curves: tuple[Floats, Floats], cells: tuple[NDArray[Any], NDArray[Any]], share: Floats
) -> Floats:
    (first, second), (a, b) = curves, cells
    joint = alone + (first - first.mean(axis=0))[a] + (second - second.mean(axis=0))[b]
    joint -= share @ joint
    return np.stack([share @ alone, share @ alone**2, share @ joint, share @ joint**2])


class Lines(Protocol):
    """Interactions of two features, some cells of the first at a time."""

    def lines(self, x: NDArray[np.int64]) -> Iterator[tuple[slice, Floats]]:
        """Yield the heights of some of these cells and all of the second feature."""


def independent_moments(pair: Lines, curves: tuple[Floats, Floats], rows: tuple[NDArray[Any], NDArray[Any]]) -> Floats:
    """Return the moments of a pair as `pair_moments` does, over the rows of both features taken as independent.

    Of all pairs of cells, some are held at a time.
    """
    shares = [one / one.sum() for one in rows]
    first, second = (curve - share @ curve for curve, share in zip(curves, shares, strict=True))
    held = np.flatnonzero(shares[0])
    sums = np.zeros((4, first.shape[1]))
    for some, alone in pair.lines(held):
        joint = alone + first[held[some], None] + second[None]
        share = shares[0][held[some]][:, None] * shares[1]
        for k, values in enumerate((alone, alone**2, joint, joint**2)):
            sums[k] += np.einsum("xy,xyk->k", share, values)
    mean, square, joint_mean, joint_square = sums
    return np.stack([mean, square, np.zeros_like(mean), joint_square - joint_mean**2])


class Streamed(Protocol):
    """Values of sets, (n_sets x n_outputs, ...), for any rows."""

    @property
    def sets(self) -> Sequence[tuple[int, ...]]:
        """The players of each set."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    def write(self, span: tuple[int, int], out: Floats, at: int) -> None:
        """Write the values of some rows to the columns of `out` from `at` on."""


class Moments:
    """Sums of the values of sets over rows, batch by batch in the order of the rows.

    If rows are added in parts, all of which but the last are whole batches, the result has the same bits as if they
    were added at once.

    Parameters
    ----------
    sets : list of tuples of int
        The players of each set.
    n_outputs : int
    """

    def __init__(self, sets: Sequence[tuple[int, ...]], n_outputs: int) -> None:
        number = {players: index for index, players in enumerate(sets)}
        parts = np.full((2, len(sets)), -1, dtype=np.int64)
        for index, players in enumerate(sets):
            if len(players) == 2:
                parts[:, index] = [number[(player,)] for player in players]
        outputs = np.arange(n_outputs)
        first, second = (np.where(part[:, None] < 0, -1, part[:, None] * n_outputs + outputs).ravel() for part in parts)
        self._players = (first, second)
        self._shape = (4, len(sets), n_outputs)
        self._n_groups = len(sets) * n_outputs
        self._sums = np.zeros((4, self._n_groups))
        self._weight = 0.0
        self.batch = max(64, min(4096, VALUES_OF_A_BATCH // max(1, self._n_groups)))

    def add(self, source: Streamed, weight: Floats | None) -> None:
        """Add rows of a source of these sets."""

        def work(index: int) -> tuple[Floats, float]:
            span = (index * self.batch, min(source.n_rows, (index + 1) * self.batch))
            values, sums = np.empty((self._n_groups, span[1] - span[0])), np.zeros((4, self._n_groups))
            source.write(span, values, 0)
            weights = np.ones(span[1] - span[0]) if weight is None else np.ascontiguousarray(weight[span[0] : span[1]])
            _core.add_moments(values, *self._players, weights, sums)
            return sums, float(weights.sum())

        with in_order(-(-source.n_rows // self.batch), work, "interactions") as batches:
            for sums, total in batches:
                self._sums += sums
                self._weight += total

    @property
    def means(self) -> Floats:
        """The moments over all rows so far: (4, n_sets, n_outputs), for pairs as `pair_moments` has them.

        Other sets have the means of values and of squares, and zeros.
        """
        return (self._sums / self._weight).reshape(self._shape)


def streamed_moments(source: Streamed, weight: Floats | None, n_outputs: int) -> Floats:
    """Return the moments of sets over the rows of one source, see `Moments`."""
    moments = Moments(source.sets, n_outputs)
    moments.add(source, weight)
    return moments.means


class PairStrengths(NamedTuple):
    """How strongly pairs interact, (n_pairs, n_outputs) each.

    Parameters
    ----------
    strength : ndarray
        The root mean squares of interactions.
    variance, joint : ndarray
        The variances of interactions and of joint effects.
    """

    strength: Floats
    variance: Floats
    joint: Floats

    @property
    def h(self) -> Floats:
        """Friedman's H; NaN where it is a number by zero."""
        undefined = np.where(self.variance > 0, np.nan, 0.0)
        return np.sqrt(np.divide(self.variance, self.joint, out=undefined, where=self.joint > 0))


def pair_strengths(moments: Floats, scale: float) -> PairStrengths:
    """Return how strongly pairs interact, from moments of pairs: (4, n_pairs, n_outputs).

    What is smaller than rounding errors of scores of size `scale` is 0.
    """
    mean, square, joint_mean, joint_square = moments
    strength = np.sqrt(square)
    strength[strength <= NOISE * scale] = 0.0
    noise = (NOISE * scale) ** 2
    variance, joint = square - mean**2, joint_square - joint_mean**2
    variance = np.where((strength > 0) & (variance > np.maximum(noise, CANCELLED * square)), variance, 0.0)
    joint = np.where(joint > np.maximum(noise, CANCELLED * joint_square), joint, 0.0)
    return PairStrengths(strength, variance, joint)


# --------------------------------------------------------------------------------------------------------- shapes


class Trend(NamedTuple):
    """Whether a curve rises or falls; one entry per output."""

    direction: list[str]
    main: list[str]
    against: Floats
    cut: NDArray[np.int64]
    share: Floats


def trend(heights: Floats, rows: NDArray[Any]) -> Trend:
    """Return the trend of heights between cuts, (n_cells, n_outputs), without the missing cell.

    `rows` are those in each cell, then the missing ones; empty if there are none. `cut` is the number of the cut of the
    largest step against the main direction, -1 if there is none.
    """
    scale, extent = np.abs(heights).max(axis=0, initial=0.0), np.ptp(heights, axis=0)
    noise = NOISE * scale + 1e-9 * extent
    steps = np.diff(heights, axis=0)
    rises, falls = np.maximum(steps, 0.0), np.maximum(-steps, 0.0)
    up = rises.sum(axis=0) >= falls.sum(axis=0)
    wrong = np.where(up, falls, rises)
    cut = np.zeros(up.size, dtype=np.int64) if not len(steps) else wrong.argmax(axis=0)
    against = wrong[cut, np.arange(up.size)] if len(steps) else np.zeros(up.size)
    bad, flat = against > noise, extent <= noise
    turned = np.where(up, heights, -heights)
    behind = np.maximum.accumulate(turned, axis=0) - turned > noise
    known = rows.size > 0 and rows.sum() > 0
    share = rows[: len(heights)] @ behind / rows.sum() if known else np.full(up.size, np.nan)
    main = ["increasing" if rising else "decreasing" for rising in up]
    named = zip(main, bad, flat, strict=True)
    return Trend(
        direction=["constant" if still else "neither" if broken else which for which, broken, still in named],
        main=main,
        against=np.where(bad & ~flat, against, 0.0),
        cut=np.where(bad & ~flat, cut, -1),
        share=np.where(flat, 0.0, share) if known else share,
    )


class Missed(NamedTuple):
    """A stretch of cells, from `first` to before `last`, that a sampled curve does not show."""

    first: int
    last: int
    height: float
    by: float


def missed(heights: Floats, sampled: NDArray[np.int64]) -> list[Missed]:
    """Return what a curve of one output does between neighbouring sample points, beyond the heights of both.

    `sampled` are the cells of the sample points, in ascending order. A stretch leaves the range of both points by more
    than 5 % of the curve's whole range, on one side; the stretches of the two sides of an interval are told apart.
    """
    least = WORTH_A_WORD * float(np.ptp(heights))
    if least <= NOISE * float(np.abs(heights).max()):
        return []
    found = []
    left, right = sampled[:-1], sampled[1:]
    spans = np.column_stack([left, right + 1]).ravel()
    for sign in (1.0, -1.0):
        turned = np.append(sign * heights, -np.inf)  # one more, because an end is not included
        highest = np.maximum.reduceat(turned, spans)[::2]
        shown_height = np.maximum(turned[left], turned[right])
        for interval in np.flatnonzero(highest - shown_height > least):
            first, last = int(left[interval]), int(right[interval])
            limit = shown_height[interval] + least
            tip = first + int(turned[first : last + 1].argmax())
            low, high = tip, tip + 1
            while turned[low - 1] > limit:  # the sample points themselves are below the limit
                low -= 1
            while turned[high] > limit:
                high += 1
            found.append(Missed(low, high, float(heights[tip]), sign * float(turned[tip] - shown_height[interval])))
    return found


# ----------------------------------------------------------------------------------------------------- comparison


def on_common_cuts(cuts: Sequence[Floats]) -> tuple[Floats, list[NDArray[np.int64]]]:
    """Return all cuts of several curves, sorted, and for each curve its cell at each of the cells that these make.

    The missing cell is last.
    """
    union = np.unique(np.concatenate(cuts))
    return union, [np.append(np.searchsorted(own, union), [own.size, own.size + 1]) for own in cuts]


def apart(heights: Floats, rows: Floats) -> tuple[Floats, Floats]:
    """Return how far several centred curves on the same cells are apart: as a mean over rows, and where it is most.

    `heights` is (n_curves, n_cells, n_outputs), `rows` is (n_curves, n_cells), or empty if rows are not known: then the
    mean is NaN, and all cells have equal weight for the rest.
    """
    share, distance = distances(heights, rows)
    mean = share @ distance if rows.size else np.full(heights.shape[2], np.nan)
    return mean, distance[share > 0].max(axis=0)


def distances(heights: Floats, rows: Floats) -> tuple[Floats, Floats]:
    """Return the share of the rows in each cell, and how far the centred curves are apart there, see `apart`."""
    share = np.full(heights.shape[1], 1 / heights.shape[1])
    if rows.size:
        share = (rows / rows.sum(axis=1, keepdims=True)).mean(axis=0)
    centred = heights - np.einsum("c,gck->gk", share, heights)[:, None]
    distance = np.ptp(centred, axis=0)
    distance[distance <= NOISE * np.abs(heights).max(initial=0.0)] = 0.0
    return share, distance


def stability_index(rows: Floats, *, ordered: bool) -> float:
    """Return the population stability index of rows in cells, (n_groups, n_cells): the largest of all pairs of groups.

    Cells of numbers (`ordered`), except the last for missing values, are first merged into ten bins with about the same
    number of rows: with hundreds of nearly empty cells, the index would measure noise.
    """
    share = rows / rows.sum(axis=1, keepdims=True)
    if ordered:
        share = in_bins(share, by=share.mean(axis=0))
    share = share[:, share.max(axis=0) > 0]
    share = np.maximum(share, SMALLEST_SHARE)
    logarithm = np.log(share)
    difference, ratio = share[:, None] - share[None], logarithm[:, None] - logarithm[None]
    return float((difference * ratio).sum(axis=2).max())


def in_bins(share: Floats, by: Floats) -> Floats:
    """Return shares in ten bins of neighbouring cells, (n_groups, 11), the missing ones last; `by` is about even."""
    middle = (np.cumsum(by[:-1]) - by[:-1] / 2) / max(by[:-1].sum(), np.finfo(np.float64).tiny)
    bins = np.minimum((middle * BINS).astype(np.int64), BINS - 1)
    merged = np.zeros((len(share), BINS + 1))
    np.add.at(merged[:, :-1].T, bins, share[:, :-1].T)
    merged[:, -1] = share[:, -1]
    return merged
