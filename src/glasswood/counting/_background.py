"""Background: the counts of a model over a set of rows. Backgrounds can be added, subtracted and saved."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._counter import Counter, Tally
from glasswood.counting._weights import in_one_unit, refuse_large_sum
from glasswood.errors import BackgroundError
from glasswood.kernels._read_only import ReadOnly
from glasswood.tables._files import pack_arrays, unpack_arrays, write_whole
from glasswood.text._arguments import new_file
from glasswood.text._html import facts_html
from glasswood.text._printable import how_many

__all__ = ["Background", "background_of"]

FORMAT = "glasswood background 2"  # file type and version; version 1 was a NumPy archive without a digest


Whole = TypeVar("Whole", int, NDArray[np.int64])
MOST_EXACT = 10**12  # units: a smaller sum of rounded counts is not right to twelve digits


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Background(ReadOnly):
    """The counts of a model over a set of rows: all that partial dependence needs from the data.

    For every leaf and every set S of up to `order` players of its path, the number of rows that meet all conditions of
    the path, ignoring those on players in S. Counts are integers and add up over rows, so backgrounds of parts of the
    data can be added in any order, subtracted, saved, and used later without the data.

    Created by `summarize`.

    Examples
    --------
    >>> import glasswood as gw
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = RandomForestRegressor(n_estimators=10, max_leaf_nodes=8, random_state=0).fit(X, y)
    >>> whole = gw.summarize(model, X)
    >>> gw.summarize(model, X[:100]) + gw.summarize(model, X[100:]) == whole
    True
    >>> whole
    Background(442 rows, order 1, 309 counts)
    """

    order: int
    n_rows: int
    total: int
    unit: float
    counts: NDArray[np.int64] | NDArray[np.int32]  # 32 bits within an Explainer, where they are not added up
    cells: NDArray[np.int64]
    fingerprint: str
    groups: Mapping[str, tuple[str, ...]]

    def __repr__(self) -> str:
        weight = "" if self.total == self.n_rows else f", weight {self.weight:g}"
        return (
            f"Background({how_many(self.n_rows, 'row')}{weight}, order {self.order}, "
            f"{how_many(self.counts.size, 'count')})"
        )

    def _repr_html_(self) -> str:
        return facts_html("Background: counts of rows", self.facts)

    @property
    def facts(self) -> dict[str, Any]:
        """A summary of the background, by name."""
        return {
            "rows": self.n_rows,
            "weight": self.weight,
            "order": self.order,
            "counts": self.counts.size,
            "groups of columns": ", ".join(self.groups) or "none",
            "fingerprint": self.fingerprint,
        }

    @property
    def weight(self) -> float:
        """The sum of the rows' weights; the number of rows if there are no weights."""
        return self.total * self.unit

    def __add__(self, other: Background) -> Background:
        return self._combine(other, 1)

    def __sub__(self, other: Background) -> Background:
        return self._combine(other, -1)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Background):
            return NotImplemented
        return (
            (self.order, self.n_rows, self.total, self.unit, self.fingerprint)
            == (other.order, other.n_rows, other.total, other.unit, other.fingerprint)
            and np.array_equal(self.counts, other.counts)
            and np.array_equal(self.cells, other.cells)
        )

    __hash__ = None  # type: ignore[assignment]

    def _combine(self, other: Background, sign: int) -> Background:
        if not isinstance(other, Background):
            return NotImplemented
        if (self.fingerprint, self.order) != (other.fingerprint, other.order):
            what = "order" if self.fingerprint == other.fingerprint else "model or of different groups"
            message = f"backgrounds of a different {what} cannot be combined; summarize both with the same arguments"
            raise BackgroundError(message)
        finest = min(self.unit, other.unit)
        unit = finest  # in which both are exact; coarser if the sum would not fit in 64 bits
        while (abs(self.total) * self.unit + abs(other.total) * other.unit) / unit >= 2.0**62:
            unit *= 2
        one, two = self._in(unit), other._in(unit)
        total = one.total + sign * two.total
        if unit > finest and 0 < abs(total) < MOST_EXACT:
            message = (
                "the weights of these backgrounds differ too much to be subtracted: the remainder "
                f"{total * unit:.3g} of {self.weight:.3g} is not accurate to twelve digits; summarize the rows again"
            )
            raise BackgroundError(message)
        return replace(
            one,
            n_rows=one.n_rows + sign * two.n_rows,
            total=total,
            counts=one.counts.astype(np.int64, copy=False) + sign * two.counts.astype(np.int64, copy=False),
            cells=one.cells + sign * two.cells,
        )

    def _in(self, unit: float) -> Background:
        """Return the same counts in a different unit: exact if it is finer, rounded if it is coarser."""
        shift = int(np.log2(unit) - np.log2(self.unit))
        if shift == 0:
            return self

        def turned(numbers: Whole) -> Whole:
            return numbers << -shift if shift < 0 else (numbers + (1 << (shift - 1))) >> shift

        counts = turned(self.counts.astype(np.int64, copy=False))
        return replace(self, unit=unit, total=turned(self.total), counts=counts, cells=turned(self.cells))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the background to a file atomically: an existing file is kept until the new one is complete.

        The file starts with the line ``glasswood background 2``, followed by the length of the header in 8 bytes and
        the header itself as JSON: the metadata (order, n_rows, total, unit, fingerprint, groups), and the type and size
        of ``counts`` and ``cells``, which follow as integers of the smallest sufficient width. The file ends with the
        SHA-256 of everything before it, which is verified on loading. Nothing is pickled or compressed.

        Examples
        --------
        >>> import tempfile, glasswood as gw
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.ensemble import ExtraTreesClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> background = gw.summarize(ExtraTreesClassifier(5).fit(X, y), X)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     background.save(folder + "/iris.gw")
        ...     gw.Background.load(folder + "/iris.gw") == background
        True
        """
        path = new_file(path)
        facts = {
            "order": self.order,
            "n_rows": self.n_rows,
            "total": self.total,
            "unit": self.unit,
            "fingerprint": self.fingerprint,
            "groups": {name: list(columns) for name, columns in self.groups.items()},
        }
        write_whole(path, pack_arrays(FORMAT, facts, {"counts": self.counts, "cells": self.cells}))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Background:
        """Read a background from a file written by `save`.

        Examples
        --------
        >>> import glasswood as gw
        >>> gw.Background.load("nowhere.gw")
        Traceback (most recent call last):
        ...
        FileNotFoundError: ...
        """
        content = Path(path).read_bytes()
        try:
            facts, arrays = unpack_arrays(FORMAT, content)
            counts, cells = arrays["counts"], arrays["cells"]
            if counts.dtype != np.int64 or cells.dtype != np.int64:
                message = "its counts are not vectors of integers"
                raise ValueError(message)
            return cls(**_checked(facts), counts=counts, cells=cells)
        except (BackgroundError, KeyError, TypeError, ValueError) as error:
            message = f"{str(path)!r} is not a Glasswood background, or it is damaged: {error}; run summarize again"
            raise BackgroundError(message) from error


def _checked(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a file after checking the types."""
    order, n_rows, total, unit = (facts[name] for name in ("order", "n_rows", "total", "unit"))
    whole = all(type(number) is int and abs(number) < 2**63 for number in (order, n_rows, total))
    if not whole or order < 1 or not (isinstance(unit, float) and 0 < unit < math.inf and math.frexp(unit)[0] == 0.5):
        message = f"it has order {order!r}, {n_rows!r} rows of total weight {total!r}, and the unit {unit!r}"
        raise ValueError(message)
    if not isinstance(facts["groups"], dict):
        message = f"its groups are {facts['groups']!r}"
        raise ValueError(message)
    groups = {name: tuple(columns) for name, columns in facts["groups"].items()}
    if not all(isinstance(text, str) for text in (facts["fingerprint"], *chain(*groups.values()))):
        message = "its fingerprint or its groups are not strings"
        raise ValueError(message)
    return {**facts, "groups": groups}


def background_of(
    counter: Counter, planes: Mapping[int, Tally], n_rows: int, unit: float = 1.0, weight: object = None
) -> Background:
    """Return the background of a group of rows once all of them have been counted.

    Parameters
    ----------
    counter : Counter
    planes : mapping from int to Tally
        The sums, by plane of the weights. They are overwritten.
    n_rows : int
    unit : float, default 1
        The unit of all sums.
    weight : name, optional
        The column of weights.
    """
    plan = counter.plan
    refuse_large_sum(planes, weight)
    tally, own_unit = in_one_unit(planes) if planes else (counter.start(), 1.0)
    tally.n_rows = n_rows
    tally = counter.finish(tally)
    return Background(
        order=plan.order,
        n_rows=tally.n_rows,
        total=tally.total,
        unit=unit * own_unit,
        counts=tally.counts,
        cells=tally.cells,
        fingerprint=plan.fingerprint,
        groups={name: tuple(columns) for name, columns in plan.groups.items()},
    )
