"""Monotone constraints that models say they were trained with, in the forms in which libraries keep them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["promises_of"]

LISTED = re.compile(r"\(?\s*(-?\d+\s*([,\s]\s*-?\d+\s*)*)?,?\s*\)?", flags=re.ASCII)


def promises_of(given: object, names: Sequence[str], n_outputs: int) -> NDArray[np.int8] | None:
    """Return the direction of each feature and output: 1, -1 or 0; None if there are no constraints.

    Parameters
    ----------
    given : object
        One number per feature, in a sequence or in a text such as "(1,0,-1)"; or a mapping from the names or the
        numbers of features to directions. What is in no such form is taken for no constraint.
    names : sequence of str
        The names of the features.
    n_outputs : int
        The number of outputs: a constraint holds for each of them.

    Examples
    --------
    >>> promises_of("(1,0)", ["a", "b"], 1).tolist(), promises_of({"b": -1}, ["a", "b"], 1).tolist()
    ([[1], [0]], [[0], [-1]])
    """
    result = _by_feature(given, names)
    if result is None or not result.any():
        return None
    return np.repeat(result[:, None], n_outputs, axis=1)


def _by_feature(given: Any, names: Sequence[str]) -> NDArray[np.int8] | None:
    if given is None:
        return None
    if isinstance(given, str):
        if not LISTED.fullmatch(given):
            return None
        given = [int(number) for number in re.findall(r"-?\d+", given)]
    if isinstance(given, Mapping):
        result = np.zeros(len(names), dtype=np.int8)
        place: dict[Any, int] = {name: k for k, name in enumerate(names)} | {k: k for k in range(len(names))}
        for feature, direction in given.items():
            if feature in place:
                result[place[feature]] = np.sign(int(direction))
        return result
    listed = np.asarray(given)
    if listed.ndim != 1 or listed.size > len(names) or listed.dtype.kind not in "iuf":
        return None
    result = np.zeros(len(names), dtype=np.int8)
    result[: listed.size] = np.sign(listed)  # those of later features may be left out
    return result
