"""The values of a group of columns that occur in the rows: combinations of cells, which are tried for each row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasswood.errors import GlasswoodError, TooLargeError
from glasswood.study._study import Study

__all__ = ["GroupValues", "group_values", "groups_of"]


MAX_RESPONSES = 2**33  # of rows with a group at other values


class GroupValues(NamedTuple):
    """The combinations of cells of a group that occur in the rows of a table in memory.

    Parameters
    ----------
    features : ndarray of shape (n_features,)
        The columns of the group that the model uses.
    cells : ndarray of shape (n_features, n_values), int64
    place : ndarray of shape (n_rows,)
        Which of these values each row has.
    """

    features: NDArray[np.intp]
    cells: NDArray[np.int64]
    place: NDArray[np.intp]


def group_values(study: Study, player: int, remedy: str, error: type[GlasswoodError] = TooLargeError) -> GroupValues:
    """Return the values of a group; too many to try all of them for each row are refused, with a remedy."""
    plan, used, rows = study.plan(1), study.ensemble.used_features, study.own_rows()
    lines = np.flatnonzero(plan.player_of[used] == player)
    if not lines.size:
        return GroupValues(used[lines], np.empty((0, 1), dtype=np.int64), np.zeros(rows.n_rows, dtype=np.intp))
    held = rows.cells(0, rows.n_rows)[lines]
    cells, place = np.unique(held, axis=1, return_inverse=True)
    if cells.shape[1] * rows.n_rows > MAX_RESPONSES:
        sizes = [np.unique(line).size for line in held]
        largest = study.ensemble.feature_names[int(used[lines[int(np.argmax(sizes))]])]
        message = (
            f"the group {plan.players[player]!r} has {cells.shape[1]:,} different values among {rows.n_rows:,} rows, "
            f"too many to try all for each row; leave out the column {largest!r}, which has the most, {remedy}"
        )
        raise error(message)
    return GroupValues(used[lines], cells.astype(np.int64), place.ravel())


def groups_of(study: Study) -> NDArray[np.intp]:
    """Return the players of several columns."""
    plan = study.plan(1)
    return np.flatnonzero(np.bincount(plan.player_of, minlength=len(plan.players)) > 1)
