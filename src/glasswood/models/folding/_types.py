"""Which types of numbers transformers treat differently: a scaler computes in float32 if it gets float32.

A folded column has cuts for one type of numbers, that of the rows at hand. Rows of another type are as good if all its
numbers next to the cuts are on the same side. If not, such rows are refused: the pipeline would predict something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.models.folding._numbers import Number
from glasswood.models.folding._trials import Trials

__all__ = ["try_other_types"]

TYPES = ("float64", "float32", "float16", "int64", "int16", "uint16", "int8", "uint8", "bool")


def try_other_types(trials: Trials, result: Mapping[int, Number]) -> set[int]:
    """Note in columns of numbers which types they refuse; return those of which the type at hand is such a type.

    Columns were folded with float64, or with float32 if that is their type. Integers and truth values are tried again
    in the columns that have this very type, while all others are as they are.
    """
    own = {source: trials.template.own_type(source) for source in result}
    for name in TYPES:
        others = {source for source in result if own[source] != name}
        for source in _different(trials, result, name) & others if others else ():
            result[source].other_types += (name,)
    wrong: set[int] = set()
    for name in {*TYPES[2:]} & {*own.values()}:
        wrong |= _different(trials, {source: number for source, number in result.items() if own[source] == name}, name)
    return wrong


def _different(trials: Trials, columns: Mapping[int, Number], name: str) -> set[int]:
    """Return the columns that transformers treat differently if they are of a type."""
    values = {source: _beside_cuts(number, np.dtype(name)) for source, number in columns.items()}
    values = {source: own for source, own in values.items() if own.size}
    tried = trials.of_values(values, dense=True, as_given=True)
    return {
        source
        for source, numbers in values.items()
        if source not in tried
        or not all(
            columns[source].agrees(m, numbers.astype(np.float64), seen.astype(np.float64))
            for m, seen in tried[source].items()
        )
    }


def _beside_cuts(number: Number, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the numbers of a type next to all cuts, as far as transformers accept them; all numbers of small types."""
    cuts = np.unique(np.concatenate([own[np.isfinite(own)] for own in number.user_cuts.values()]))
    if dtype.itemsize == 1:
        limits = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        values = np.arange(limits[0], limits[1] + 1, dtype=np.float64)
    elif dtype.kind == "f":
        single = cuts.astype(np.float16 if dtype == np.float16 else np.float32)
        beside = [single, *(np.nextafter(single, single.dtype.type(end)) for end in (-np.inf, np.inf))]
        near = np.concatenate([cuts, *(own.astype(np.float64) for own in beside)])
        near = np.concatenate([near, np.nextafter(near, -np.inf), np.nextafter(near, np.inf)])
        values = near.astype(dtype).astype(np.float64)
    else:
        whole = np.concatenate([np.floor(cuts), np.floor(cuts) + 1])
        held = (whole >= np.iinfo(dtype).min) & (whole <= np.iinfo(dtype).max) & (np.abs(whole) < 2.0**53)
        values = whole[held]
    low, high = number.within
    inside = np.unique(values[(values >= low) & (values <= high) & np.isfinite(values)])
    if number.hole is not None:
        inside = inside[(inside < number.hole[0]) | (inside > number.hole[1])]
    return inside.astype(dtype)
