"""Jackknife: how much an answer would differ with other rows of the same kind, the model being the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["jackknife", "student"]

FEW = (12.706, 4.303, 3.182, 2.776)  # Student's t for 1 to 4 degrees of freedom
NORMAL = 1.959963984540054


def jackknife(
    whole: NDArray[np.float64], left_out: Sequence[NDArray[np.float64]], shares: Sequence[float]
) -> NDArray[np.float64]:
    """Return standard errors by leaving out one fold of the rows at a time, for folds of unequal weight.

    With K folds, t the answer of all rows, t_k that without fold k, and h_k one divided by the fold's share of the
    weight: ``pseudo_k = h_k t - (h_k - 1) t_k``, ``mean = K t - sum (1 - 1/h_k) t_k``, and the squared error is
    ``1/K sum (pseudo_k - mean)^2 / (h_k - 1)`` [1]_.

    Parameters
    ----------
    whole : ndarray
        The answer of all rows.
    left_out : sequence of ndarray
        The answers without each fold.
    shares : sequence of float
        The share of the rows' weight that each fold has.

    References
    ----------
    .. [1] F. M. T. A. Busing, E. Meijer, R. van der Leeden: Delete-m jackknife for unequal m. Statistics and Computing
       9, 3-8, 1999.

    Examples
    --------
    >>> values = np.array([1.0, 2.0, 3.0, 6.0])  # folds of one row: the standard error of a mean
    >>> left_out = [np.delete(values, k).mean() for k in range(4)]
    >>> error = jackknife(values.mean(), left_out, [0.25] * 4)
    >>> bool(np.isclose(error, values.std(ddof=1) / np.sqrt(4)))
    True
    """
    parts, n = np.asarray(left_out), len(shares)
    h = (1.0 / np.asarray(shares, dtype=np.float64)).reshape(-1, *[1] * np.ndim(whole))
    mean = n * whole - ((1.0 - 1.0 / h) * parts).sum(axis=0)
    pseudo = h * whole - (h - 1.0) * parts
    return np.asarray(np.sqrt(((pseudo - mean) ** 2 / (h - 1.0)).sum(axis=0) / n))


def student(degrees: int) -> float:
    """Return the number of standard errors on both sides that hold 95 % of Student's distribution.

    Examples
    --------
    >>> round(student(19), 3), round(student(5), 2)
    (2.093, 2.57)
    """
    if degrees <= len(FEW):
        return FEW[max(degrees, 1) - 1]
    z, v = NORMAL, float(degrees)
    terms = (
        z,
        (z**3 + z) / (4 * v),
        (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2),
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3),
    )
    return float(sum(terms))
