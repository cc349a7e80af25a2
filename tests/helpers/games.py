"""Cooperative games by brute force: the value of every coalition, and every index by its definition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, factorial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from glasswood.models._ensemble import TreeEnsemble
from glasswood.tables._tables import encode, n_rows
from helpers import oracle
from helpers.brute import Case, answered

Indices = dict[tuple[str, ...], NDArray[Any]]
Players = dict[str, list[int]]

MAX_ROWS = 2**17  # of a table that a library scores at once


def players_of(ensemble: TreeEnsemble, groups: Mapping[str, Sequence[str]] | None = None) -> Players:
    """The columns of each player by its name: groups first, then the columns that are in none."""
    names, groups = ensemble.feature_names, groups or {}
    grouped = {name for columns in groups.values() for name in columns}
    players = {group: [names.index(name) for name in columns] for group, columns in groups.items()}
    return players | {name: [f] for f, name in enumerate(names) if name not in grouped}


def bits(mask: int) -> list[int]:
    """The numbers of the players of a coalition."""
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


def sums_of_subsets(values: NDArray[Any]) -> NDArray[Any]:
    """For every coalition the sum over its subsets, along the second axis: what `Game.pdiv` undoes."""
    found, n_players = values.copy(), values.shape[1].bit_length() - 1
    for player in range(n_players):
        with_it = [mask for mask in range(2**n_players) if mask >> player & 1]
        found[:, with_it] += found[:, [mask ^ 1 << player for mask in with_it]]
    return found


@dataclass
class Game:
    """For each explained row and output, the value of every coalition of players.

    `names` are those of the players. `values` has shape (n_rows, 2**n_players, n_outputs); a coalition is a bit mask,
    where the first player is the lowest bit. Indices of sets are dicts from tuples of names, in the order of players,
    to arrays of shape (n_rows, n_outputs).
    """

    names: tuple[str, ...]
    values: np.ndarray

    @classmethod
    def of_model(cls, case: Case, players: Players, rows: Any, weight: NDArray[Any] | None = None) -> Game:
        """The library's own scores, averaged over the rows of a case, with the columns of a coalition replaced.

        `players` maps names to numbers of columns; columns of no player are never replaced. `rows` is a table like the
        one of the case.
        """
        parts = [
            case.scores(_mix(case.rows, rows, [_columns(players, mask) for mask in masks]))
            for masks in _parts(range(2 ** len(players)), len(case.rows) * len(rows))
        ]
        scores = np.concatenate(parts).reshape(2 ** len(players), len(rows), len(case.rows), -1)
        return cls(tuple(players), np.average(scores, axis=2, weights=weight).swapaxes(0, 1))

    @classmethod
    def of_covers(cls, e: TreeEnsemble, players: Players, rows: Any) -> Game:
        """The path-dependent game: splits on columns that are not in the coalition average by cover."""
        encoded = encode(rows, e.schema, range(e.n_features))
        has = np.zeros((e.n_features, 2 ** len(players), 1), dtype=bool)
        for mask in range(2 ** len(players)):
            has[_columns(players, mask), mask] = True
        values = np.zeros((n_rows(rows), 2 ** len(players), e.n_outputs))
        for k, sums in enumerate(values):
            row = {f: float(column[k]) for f, column in encoded.items()}
            for root, output in zip(e.root.tolist(), e.tree_output.tolist(), strict=True):
                sums[:, slice(None) if output < 0 else slice(output, output + 1)] += _walk(e, root, row, has)
        score = e.score
        values = values + score.base if score.base_first else values
        values = values * score.scale / score.divisor
        return cls(tuple(players), answered(e, values if score.base_first else values + score.base))

    @property
    def n_players(self) -> int:
        return len(self.names)

    def mask(self, names: Iterable[str]) -> int:
        """The bit mask of some players."""
        return sum(1 << self.names.index(name) for name in names)

    def sets(self, size: int) -> dict[tuple[str, ...], int]:
        """The sets of so many players, by their names, with their bit masks."""
        return {names: self.mask(names) for names in combinations(self.names, size)}

    def subsets(self, mask: int) -> list[int]:
        """All subsets of a coalition, itself and the empty one included."""
        return [subset for subset in range(mask + 1) if subset & ~mask == 0]

    def pdv(self, mask: int) -> NDArray[Any]:
        """The value of a coalition: the partial dependence of its players."""
        return self.values[:, mask]

    def pdiv(self) -> NDArray[Any]:
        """The inclusion-exclusion of values for every coalition, in the shape of `values`: the Moebius transform."""
        found = self.values.copy()
        for player in range(self.n_players):
            with_it = [mask for mask in range(2**self.n_players) if mask >> player & 1]
            found[:, with_it] -= found[:, [mask ^ 1 << player for mask in with_it]]
        return found

    def difference(self, mask: int, others: int) -> Any:
        """What the players of a set do together when some others take part: the discrete derivative."""
        signs = {subset: (-1) ** (mask.bit_count() - subset.bit_count()) for subset in self.subsets(mask)}
        return sum(sign * self.values[:, others | subset] for subset, sign in signs.items())

    def average(self, mask: int, weight: Callable[[int], float]) -> Any:
        """The differences of a set in all coalitions of others, with weights that depend on the coalition's size."""
        others = self.subsets((2**self.n_players - 1) & ~mask)
        return sum(weight(other.bit_count()) * self.difference(mask, other) for other in others)

    def shapley_interactions(self, order: int) -> Indices:
        """The index of Grabisch and Roubens of all sets of exactly so many players."""
        n = self.n_players - order
        return {
            names: self.average(mask, lambda size: factorial(size) * factorial(n - size) / factorial(n + 1))
            for names, mask in self.sets(order).items()
        }

    def banzhaf_interactions(self, order: int) -> Indices:
        """The Banzhaf interaction index of all sets of exactly so many players."""
        weight = 0.5 ** (self.n_players - order)
        return {names: self.average(mask, lambda size: weight) for names, mask in self.sets(order).items()}

    def shapley_taylor(self, order: int) -> Indices:
        """The Shapley-Taylor index of all sets of 1 to `order` players."""
        n = self.n_players
        found = {}
        for size in range(1, min(order, n) + 1):
            for names, mask in self.sets(size).items():
                if size < order:
                    found[names] = self.difference(mask, 0)
                else:
                    found[names] = self.average(mask, lambda others: order / n / comb(n - 1, others))
        return found

    def chaining_interactions(self, order: int) -> Indices:
        """The chaining interaction index of all sets of exactly so many players."""
        n = self.n_players
        return {
            names: self.average(mask, lambda size: order / (order + size) / comb(n, order + size))
            for names, mask in self.sets(order).items()
        }

    def external_interactions(self, order: int) -> Indices:
        """The joint effect of all sets of exactly so many players if all others take part."""
        everyone = 2**self.n_players - 1
        return {names: self.difference(mask, everyone & ~mask) for names, mask in self.sets(order).items()}

    def faithful(self, order: int, *, shapley: bool) -> Indices:
        """The least squares fit of sums over sets of up to `order` players, by the faithful indices' definition.

        All coalitions have the same weight, or those of Shapley's kernel, where the fit is exact for nobody and
        everybody.
        """
        n = self.n_players
        sets = {names: mask for size in range(order + 1) for names, mask in self.sets(size).items()}
        masks = np.arange(2**n)
        inside = np.array([(masks & mask) == mask for mask in sets.values()], dtype=float).T
        weight, exact = np.ones(2**n), np.zeros((0, inside.shape[1]))
        heights = self.values.transpose(1, 0, 2).reshape(2**n, -1)
        selected = heights[:0]
        if shapley:
            sizes = np.array([mask.bit_count() for mask in masks.tolist()])
            weight = np.array([0 if s in (0, n) else 1 / comb(n - 2, s - 1) for s in sizes.tolist()])
            exact, selected = inside[[0, -1]], heights[[0, -1]]
        system = np.block([[inside.T @ (weight[:, None] * inside), exact.T], [exact, np.zeros((len(exact),) * 2)]])
        right = np.concatenate([inside.T @ (weight[:, None] * heights), selected])
        solved = np.linalg.lstsq(system, right, rcond=None)[0][: len(sets)]
        return dict(zip(sets, solved.reshape(len(sets), len(self.values), -1), strict=True))

    def k_shapley(self, order: int) -> Indices:
        """k-Shapley interactions: the index of Grabisch and Roubens, of which sets pass parts on to their subsets."""
        passed = [1.0, -1 / 2, 1 / 6, 0.0, -1 / 30]
        base = [self.shapley_interactions(size) for size in range(order + 1)]
        return {
            names: summed(
                passed[size - len(names)] * values
                for size in range(len(names), order + 1)
                for larger, values in base[size].items()
                if set(names) <= set(larger)
            )
            for size in range(1, order + 1)
            for names in self.sets(size)
        }

    def k_additive(self, order: int) -> Indices:
        """The index of Grabisch and Roubens of the faithful fit with Shapley's kernel."""
        fit = self.faithful(order, shapley=True)
        return {
            names: summed(
                values / (len(larger) - len(names) + 1) for larger, values in fit.items() if set(names) <= set(larger)
            )
            for names in fit
            if names
        }

    def shapley(self) -> NDArray[Any]:
        """Shapley values, (n_rows, n_players, n_outputs)."""
        return np.stack(list(self.shapley_interactions(1).values()), axis=1)

    def banzhaf(self) -> NDArray[Any]:
        """Banzhaf values, (n_rows, n_players, n_outputs)."""
        return np.stack(list(self.banzhaf_interactions(1).values()), axis=1)

    def shap_matrix(self) -> NDArray[Any]:
        """Shapley interactions as the shap package has them, (n_rows, n_players, n_players, n_outputs).

        Half of the index of a pair on each side of the diagonal, and on it what is missing to the Shapley value.
        """
        n, single = self.n_players, self.shapley()
        found = np.zeros((len(self.values), n, n, self.values.shape[2]))
        for (a, b), values in self.shapley_interactions(2).items():
            i, j = self.names.index(a), self.names.index(b)
            found[:, i, j] = found[:, j, i] = values / 2
        found[:, range(n), range(n)] = single - found.sum(axis=2)
        return found


def summed(parts: Iterable[NDArray[Any]]) -> NDArray[Any]:
    """The sum of some arrays, at least one."""
    return np.asarray(np.sum(list(parts), axis=0))


def _columns(players: Players, mask: int) -> list[int]:
    """The numbers of the columns of a coalition."""
    columns = list(players.values())
    return [f for player in bits(mask) for f in columns[player]]


def _parts(masks: Sequence[int], n_rows_each: int) -> list[Sequence[int]]:
    """Some coalitions at a time, so that tables stay small."""
    step = max(1, MAX_ROWS // n_rows_each)
    return [masks[first : first + step] for first in range(0, len(masks), step)]


def _mix(background: Any, rows: Any, coalitions: Sequence[Sequence[int]]) -> Any:
    """For each coalition and explained row all background rows, with the coalition's columns of the explained row."""
    explained, own = np.divmod(np.arange(len(rows) * len(background)), len(background))
    frame = isinstance(background, pd.DataFrame)
    columns = {}
    for f in range(background.shape[1]):
        chosen = np.concatenate([len(background) + explained if f in coalition else own for coalition in coalitions])
        if frame:
            columns[background.columns[f]] = _joined(background.iloc[:, f], rows.iloc[:, f])[chosen]
        else:
            columns[f] = np.concatenate([background[:, f], rows[:, f]])[chosen]
    return pd.DataFrame(columns) if frame else np.column_stack(list(columns.values()))


def _joined(background: Any, rows: Any) -> Any:
    """Two columns, one behind the other, in a type for both; of categories, with those of the explained rows."""
    if isinstance(rows.dtype, pd.CategoricalDtype):
        return pd.concat([background, rows]).astype(rows.dtype).array
    if isinstance(background.dtype, np.dtype) and isinstance(rows.dtype, np.dtype):
        return np.concatenate([background, rows])  # pandas makes objects of True and 0.5
    return pd.concat([background, rows]).array


def _walk(e: TreeEnsemble, child: int, row: Mapping[int, float], has: NDArray[Any]) -> NDArray[Any]:
    """What is below a child of a node, or a root, for every coalition; `has` tells who has a feature."""
    if child < 0:
        return np.asarray(e.value[~child])
    assert e.cover is not None
    assert e.leaf_cover is not None
    sides = int(e.left[child]), int(e.right[child])
    left, right = (_walk(e, side, row, has) for side in sides)
    feature = int(e.feature[child])
    own = left if oracle.goes_left(e, child, row[feature]) else right
    if e.cover[child] == 0:  # no training row comes here, so there is nothing to average by
        return np.where(has[feature], own, 0.0)
    shares = [(e.cover[side] if side >= 0 else e.leaf_cover[~side]) / e.cover[child] for side in sides]
    return np.where(has[feature], own, shares[0] * left + shares[1] * right)
