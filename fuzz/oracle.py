"""Brute force: the library's own scores on rows with some columns replaced, averaged; and small games of them."""

from __future__ import annotations

from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd

from fuzz.models import LibraryRefusedError, Score

__all__ = ["Oracle", "banzhaf", "moebius", "shapley", "shapley_pairs"]

MAX_ROWS = 3_000_000  # that are scored at once
Game = dict[tuple[int, ...], np.ndarray]


class Oracle:
    """The average scores of rows with some columns replaced.

    Parameters
    ----------
    score : callable
        From a frame to the library's own scores, (n_rows, n_outputs).
    rows : DataFrame
        The rows to average over.
    weight : ndarray or None
    """

    def __init__(self, score: Score, rows: pd.DataFrame, weight: np.ndarray | None) -> None:
        self._score, self.rows = score, rows
        weight = np.ones(len(rows)) if weight is None else np.asarray(weight, dtype=np.float64)
        self.shares = weight / weight.sum() if weight.sum() > 0 else weight

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the library's own scores."""
        if not len(frame):
            return np.empty((0, self.score(self.rows[:1]).shape[1]))
        try:
            return self._score(frame)
        except Exception as error:
            message = f"{type(error).__name__}: {error}"
            raise LibraryRefusedError(message) from error

    def each(self, points: pd.DataFrame, rows: pd.DataFrame | None = None) -> np.ndarray:
        """Return the score of every row at every point: (n_rows, n_points, n_outputs)."""
        rows = self.rows if rows is None else rows
        n_rows, n_points = len(rows), len(points)
        if n_rows * n_points > MAX_ROWS:
            message = "this would be too much for brute force"
            raise LibraryRefusedError(message)
        table = rows.iloc[np.tile(np.arange(n_rows), n_points)].reset_index(drop=True)
        repeated = points.iloc[np.repeat(np.arange(n_points), n_rows)].reset_index(drop=True)
        table = table.assign(**{name: repeated[name] for name in points})[list(rows)]
        scores = self.score(table)
        return scores.reshape(n_points, n_rows, scores.shape[1]).transpose(1, 0, 2)

    def mean(self, points: pd.DataFrame) -> np.ndarray:
        """Return the average score at every point: (n_points, n_outputs)."""
        nones = {f"{name} is None": [value is None for value in points[name]] for name in points}  # not one with NaN
        keys = points.assign(**nones)
        number = keys.groupby(list(keys), dropna=False, observed=True, sort=False).ngroup()
        distinct = points[~number.duplicated()]
        return np.einsum("r,rpo->po", self.shares, self.each(distinct))[number.to_numpy()]

    def level(self) -> np.ndarray:
        """Return the average score: (n_outputs,)."""
        return self.shares @ self.score(self.rows)

    def game(self, players: list[list[str]], rows: pd.DataFrame) -> Game:
        """Return what every set of players is worth at every row: (n_rows, n_outputs)."""
        sets = [members for size in range(len(players) + 1) for members in combinations(range(len(players)), size)]
        n_rows, n_own = len(rows), len(self.rows)
        number, row, own = np.indices((len(sets), n_rows, n_own)).reshape(3, -1)
        takes_part = np.zeros((len(sets), len(players)), dtype=bool)
        for index, members in enumerate(sets):
            takes_part[index, list(members)] = True
        player_of = {name: player for player, names in enumerate(players) for name in names}
        table = {}
        for name in self.rows:
            both = pd.concat(
                [self.rows[name], rows[name]], ignore_index=True
            )  # the background's values, then the rows'
            place = np.where(takes_part[number, player_of[name]], n_own + row, own)
            table[name] = both.iloc[place].reset_index(drop=True)
        scores = self.score(pd.DataFrame(table))
        scores = scores.reshape(len(sets), n_rows, n_own, scores.shape[1])
        return dict(zip(sets, np.einsum("b,srbo->sro", self.shares, scores), strict=True))


def moebius(worth: Game, members: tuple[int, ...]) -> np.ndarray:
    """Return what a set is worth beyond all sets within it."""
    return sum(
        (-1) ** (len(members) - size) * worth[within]
        for size in range(len(members) + 1)
        for within in combinations(members, size)
    )


def _average(worth: Game, n_players: int, members: tuple[int, ...], share) -> np.ndarray:
    """Return the joint effect of some players, averaged over the sets of others with a share for each size."""
    others = [player for player in range(n_players) if player not in members]
    total = 0.0
    for size in range(len(others) + 1):
        for beside in combinations(others, size):
            effect = sum(
                (-1) ** (len(members) - k) * worth[tuple(sorted((*beside, *within)))]
                for k in range(len(members) + 1)
                for within in combinations(members, k)
            )
            total = total + share(size, len(others)) * effect
    return total


def shapley(worth: Game, n_players: int, members: tuple[int, ...]) -> np.ndarray:
    """Return the Shapley interaction index of a set of players; of one player, its Shapley value."""
    return _average(worth, n_players, members, lambda size, n: factorial(size) * factorial(n - size) / factorial(n + 1))


def banzhaf(worth: Game, n_players: int, members: tuple[int, ...]) -> np.ndarray:
    """Return the Banzhaf interaction index of a set of players."""
    return _average(worth, n_players, members, lambda _, n: 0.5**n)


def shapley_pairs(worth: Game, n_players: int) -> np.ndarray:
    """Return the Shapley interactions as the package shap arranges them: (n_rows, n_players, n_players, n_outputs)."""
    n_rows, n_outputs = worth[()].shape
    pairs = np.zeros((n_rows, n_players, n_players, n_outputs))
    for a, b in combinations(range(n_players), 2):
        pairs[:, a, b] = pairs[:, b, a] = shapley(worth, n_players, (a, b)) / 2
    for a in range(n_players):
        pairs[:, a, a] = shapley(worth, n_players, (a,)) - pairs[:, a].sum(axis=1)
    return pairs
