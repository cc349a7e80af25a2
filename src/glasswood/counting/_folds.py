"""Folds in a Background: beside each vector of sums, the same of each fold of the rows, concatenated.

So folds add up, subtract and are saved like everything else, and backgrounds with other folds do not combine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasswood.counting._background import OF_FOLDS, SUMS, Background, background_of_tally
from glasswood.counting._counter import Counter
from glasswood.counting._statistic import Combine, Tally
from glasswood.counting._weights import in_one_unit, refuse_large_sum
from glasswood.counting._wide import limbs_of, numbers_of
from glasswood.errors import BackgroundError
from glasswood.tables._folds import Division

__all__ = ["LeftOut", "background_of_folds", "refuse_empty", "without_each_fold"]

WEIGHT = OF_FOLDS + "weight"  # of each fold
Planes = Mapping[int, Tally]


@dataclass(frozen=True, eq=False)
class LeftOut:
    """All rows but those of a fold, and the share of the whole weight that the fold has."""

    background: Background
    share: float


def background_of_folds(
    counter: Counter,
    folds: Mapping[int, Planes],
    division: Division,
    n_rows: int,
    unit: float = 1.0,
    weight: object = None,
) -> Background:
    """Return the background of rows that were counted in folds.

    Parameters
    ----------
    counter : Counter
    folds : mapping from int to planes
        The sums of each fold, by plane of the weights. They are overwritten.
    division : Division
    n_rows, unit, weight
        As for `background_of`.
    """
    n_folds = division.number
    planes = sorted({plane for own in folds.values() for plane in own}) or [0]
    stacked = {
        plane: _stacked([folds.get(fold, {}).get(plane) or counter.start() for fold in range(n_folds)])
        for plane in planes
    }
    refuse_large_sum(stacked, weight)
    tally, own_unit = in_one_unit(stacked)
    totals = tally.vectors[WEIGHT]
    parts = {name: how for name, how in tally.combine.items() if not name.startswith(OF_FOLDS)}
    finished = [counter.finish(_part(tally, parts, fold, n_folds)) for fold in range(n_folds)]
    whole = counter.finish(Tally({name: tally.vectors[name] for name in parts}, parts, n_rows, int(tally.total)))
    by_fold = {
        OF_FOLDS + name: np.concatenate([own.vectors[name] for own in finished])
        for name, how in parts.items()
        if how in SUMS
    }
    result = background_of_tally(counter.plan, whole, unit * own_unit)
    combine = {name: tally.combine[name] for name in (*by_fold, WEIGHT)}
    vectors = {**result.vectors, **by_fold, WEIGHT: totals}
    return replace(result, vectors=vectors, combine={**result.combine, **combine}, folds=division)


def _stacked(tallies: list[Tally]) -> Tally:
    """Return the sum of the tallies of folds, and their vectors one after the other."""
    whole = tallies[0]
    for other in tallies[1:]:
        whole = whole + other
    names = [name for name, how in whole.combine.items() if how in SUMS]
    vectors = {OF_FOLDS + name: np.concatenate([tally.vectors[name] for tally in tallies]) for name in names}
    vectors[WEIGHT] = np.array([tally.total for tally in tallies], dtype=np.int64)
    combine: dict[str, Combine] = {OF_FOLDS + name: whole.combine[name] for name in names}
    own = {name: part.copy() for name, part in whole.vectors.items()}
    return Tally({**own, **vectors}, {**whole.combine, **combine, WEIGHT: "sum"}, whole.n_rows, whole.total)


def _part(tally: Tally, parts: Mapping[str, str], fold: int, n_folds: int) -> Tally:
    """Return the tally of one fold: slices, copied; what is no sum is that of all rows."""
    vectors = {}
    for name in parts:
        held = tally.vectors.get(OF_FOLDS + name)
        vectors[name] = tally.vectors[name].copy() if held is None else held.reshape(n_folds, -1)[fold].copy()
    return Tally(vectors, {name: tally.combine[name] for name in parts}, 0, int(tally.vectors[WEIGHT][fold]))


def without_each_fold(background: Background) -> list[LeftOut]:
    """Return the background without each of its folds, if it has any."""
    weights = background.vectors[WEIGHT]
    refuse_empty(weights, background.folds)
    names = [name for name, how in background.combine.items() if how in SUMS and not name.startswith(OF_FOLDS)]
    same = {name: background.vectors[name] for name, how in background.combine.items() if how == "same"}
    result = []
    for fold, weight in enumerate(weights.tolist()):
        vectors = same | {name: _without(background, name, fold, weights.size) for name in names}
        rest = replace(
            background,
            n_rows=max(1, round(background.n_rows * (1 - weight / background.total))),
            total=background.total - weight,
            vectors=vectors,
            combine={name: background.combine[name] for name in vectors},
            folds=None,
        )
        result.append(LeftOut(rest, weight / background.total))
    return result


def refuse_empty(weights: NDArray[Any], division: Division | None) -> None:
    """Refuse folds without rows, given the weight of each."""
    empty = np.flatnonzero(weights <= 0)
    if empty.size:
        message = (
            f"fold {empty[0]} of {weights.size} has no rows, so there are no errors by folds ({division}); pass fewer "
            "folds, or a column of more different values in fold_by="
        )
        raise BackgroundError(message)


def _without(background: Background, name: str, fold: int, n_folds: int) -> NDArray[np.int64]:
    whole, part = background.vectors[name], background.vectors[OF_FOLDS + name].reshape(n_folds, -1)[fold]
    if background.combine[name] == "wide sum":
        return limbs_of(numbers_of(whole) - numbers_of(part))
    rest: NDArray[np.int64] = whole.astype(np.int64) - part
    return rest
