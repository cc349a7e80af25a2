"""Purification: an interaction of two features without what functions of one of them can explain, given the rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Purified", "purify"]


Floats = NDArray[np.float64]

NONE = 1e-12  # of the largest eigenvalue, which is at most 1: below, a combination of cells has no rows to tell


class Purified(NamedTuple):
    """An interaction in three parts, whose sum it is.

    Parameters
    ----------
    interaction : ndarray of shape (n_a, n_b, n_outputs)
        What is left: its means over the rows of each cell of either feature are 0.
    first, second : ndarray of shape (n_a, n_outputs) and (n_b, n_outputs)
        What belongs to the features alone.
    """

    interaction: Floats
    first: Floats
    second: Floats


def purify(heights: Floats, rows: Floats) -> Purified:
    """Return the weighted least-squares projection of heights on functions of one feature, and what is left [1]_.

    Moving the mean of each line and of each column to the curves, again and again, converges to the same [2]_, but
    slowly if features are correlated. Cells without rows do not matter for it. If rows fall into blocks of cells that
    have neither lines nor columns in common, a constant is free in each block: the part of the feature with fewer cells
    has mean 0 over the rows of each block.

    Parameters
    ----------
    heights : ndarray of shape (n_a, n_b, n_outputs)
    rows : ndarray of shape (n_a, n_b)
        The number (or weight) of rows in each pair of cells.

    References
    ----------
    .. [1] G. Hooker: Generalized functional ANOVA diagnostics for high-dimensional functions of dependent variables.
       Journal of Computational and Graphical Statistics 16(3), 709-732, 2007.
    .. [2] B. Lengerich, S. Tan, C.-H. Chang, G. Hooker, R. Caruana: Purifying interaction effects with the functional
       ANOVA: an efficient algorithm for recovering identifiable additive models. AISTATS 2020.

    Examples
    --------
    >>> found = purify(np.array([[1.0, 2.0], [3.0, 4.0]])[:, :, None], np.ones((2, 2)))
    >>> bool(np.abs(found.interaction).max() < 1e-12)
    True
    >>> found.first.ravel()
    array([-1.,  1.])
    """
    n_a, n_b, _ = heights.shape
    if n_a > n_b:  # the smaller side is solved for
        turned = purify(heights.transpose(1, 0, 2), rows.T)
        return Purified(turned.interaction.transpose(1, 0, 2), turned.second, turned.first)
    share = rows / rows.sum()
    of_a, of_b = share.sum(axis=1), share.sum(axis=0)
    here, there = np.flatnonzero(of_a > 0), np.flatnonzero(of_b > 0)
    share, of_a, of_b = share[np.ix_(here, there)], of_a[here], of_b[there]
    weighted = share[:, :, None] * heights[np.ix_(here, there)]
    lines, columns = weighted.sum(axis=1), weighted.sum(axis=0)
    root = np.sqrt(of_a)
    joint = share / (root[:, None] * np.sqrt(of_b))
    values, vectors = np.linalg.eigh(np.eye(here.size) - joint @ joint.T)
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=values > NONE)
    scaled = (lines - share @ (columns / of_b[:, None])) / root[:, None]
    first, second = np.zeros((n_a, heights.shape[2])), np.zeros((n_b, heights.shape[2]))
    first[here] = vectors @ (inverse[:, None] * (vectors.T @ scaled)) / root[:, None]
    second[there] = (columns - share.T @ first[here]) / of_b[:, None]
    return Purified(heights - first[:, None] - second[None], first, second)
