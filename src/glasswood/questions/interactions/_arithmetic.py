"""Strengths of pairs: root mean squares of what pairs add to their curves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from glasswood.effects._statistics import NOISE, Floats
from glasswood.kernels import _core

__all__ = ["PairStrengths", "independent_moments", "joint_rows", "pair_moments", "pair_strengths", "point_moments"]

CANCELLED = 1e-13  # of a mean square: below, its difference from the squared mean is rounding


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
