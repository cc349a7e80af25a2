"""Shapley and Banzhaf values of trees with long paths, by formulas; and trees that are one long path each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import factorial
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from glasswood.models._ensemble import CategorySets, Score, Tree, TreeEnsemble, stack
from glasswood.tables._columns import NumberColumn
from glasswood.tables._tables import Schema, encode
from helpers import oracle

Floats = NDArray[np.float64]

SEEDS = st.integers(0, 2**32 - 1)
# Weights of a coalition's size, as points of the multilinear extension: the Shapley value is its derivative, averaged
# along the diagonal, which 32 points do exactly for polynomials of up to 63 players; the Banzhaf value that in the
# middle.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(32)
DIAGONAL, MIDDLE = ((NODES + 1) / 2, WEIGHTS / 2), (np.array([0.5]), np.array([1.0]))


def leaves(e: TreeEnsemble, *many_tables: Any, members: Sequence[int] = ()) -> Iterator[Any]:
    """For every leaf: its value, its players, what they are worth by cover, and who of each table's rows meets them.

    A player is the number of a column; all `members` of a group are the first of them.
    """
    assert e.cover is not None
    assert e.leaf_cover is not None
    player_of = {f: members[0] if f in members else f for f in range(e.n_features)}
    sides = []
    for table in many_tables:
        columns = encode(table, e.schema, e.used_features)
        goes_left = np.zeros((e.n_nodes, len(table)), dtype=bool)
        for node, f in enumerate(e.feature.tolist()):
            goes_left[node] = [oracle.goes_left(e, node, x) for x in columns[f].astype(float).tolist()]
        sides.append(goes_left)
    for leaf, path in oracle.paths(e).items():
        players = sorted({player_of[int(e.feature[node])] for node, _ in path})
        share = np.ones(len(players))
        meets = [np.ones((goes_left.shape[1], len(players)), dtype=bool) for goes_left in sides]
        for node, left in path:
            place = players.index(player_of[int(e.feature[node])])
            child = int((e.left if left else e.right)[node])
            share[place] *= (e.cover[child] if child >= 0 else e.leaf_cover[~child]) / e.cover[node]
            for met, goes_left in zip(meets, sides, strict=True):
                met[:, place] &= goes_left[node] == left
        yield e.value[leaf, 0] * e.score.factor, players, share, *meets


def by_cover(
    e: TreeEnsemble, rows: Any, points: tuple[Floats, Floats] = DIAGONAL, members: Sequence[int] = ()
) -> Floats:
    """Values of the path-dependent game: a leaf is worth the product of what its players meet, or else their share."""
    at, weights = points
    found = np.zeros((len(rows), e.n_features))
    for value, players, share, met in leaves(e, rows, members=members):
        slopes = met - share
        factors = share[:, None] + slopes[..., None] * at
        found[:, players] += value * slopes * (products_of_others(factors) @ weights)
    return found


def products_of_others(factors: Floats) -> Floats:
    """The product over all players but one, for each of them: factors of shape (n_rows, n_players, n_points)."""
    ones = np.ones_like(factors[:, :1])
    before = np.concatenate([ones, np.cumprod(factors, axis=1)[:, :-1]], axis=1)
    behind = np.concatenate([np.cumprod(factors[:, ::-1], axis=1)[:, ::-1][:, 1:], ones], axis=1)
    return np.asarray(before * behind)


def pairs_by_cover(e: TreeEnsemble, rows: Any) -> Floats:
    """Halves of the Shapley interactions of the path-dependent game; nothing on the diagonal."""
    at, weights = DIAGONAL
    found = np.zeros((len(rows), e.n_features, e.n_features))
    for value, players, share, met in leaves(e, rows):
        slopes = met - share
        factors = share[:, None] + slopes[..., None] * at
        for i, player in enumerate(players):
            others = [j for j in range(len(players)) if j != i]
            rest = products_of_others(factors[:, others]) @ weights
            found[:, player, [players[j] for j in others]] += value / 2 * slopes[:, [i]] * slopes[:, others] * rest
    return found


def cube_weights(weight: Callable[[int, int], float], max_: int = 65) -> Floats:
    """A table of weights by the number of players that must take part, and of those that must not."""
    return np.array([[weight(plus, minus) for minus in range(max_)] for plus in range(max_)])


def ratio(plus: int, minus: int, order: int) -> float:
    """The Shapley weight of a cube without `order` of the players that must take part."""
    if plus < order:
        return 0.0
    return factorial(plus - order) * factorial(minus) / factorial(plus + minus - order + 1)


SHAPLEY = cube_weights(lambda plus, minus: ratio(plus, minus, 1))
BANZHAF = cube_weights(lambda plus, minus: 0.5 ** (plus + minus - 1))
SAME_SIDE = cube_weights(lambda plus, minus: ratio(plus, minus, 2))
BOTH_SIDES = cube_weights(lambda plus, minus: ratio(plus, minus - 1, 1) if minus else 0.0)


def cubes(met: NDArray[Any], other: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """For each row and background row: how many players must take part, and must not, and if there is a cube at all."""
    met, other = met.astype(float), other.astype(float)
    plus, minus = (a.round().astype(int) for a in (met @ (1 - other).T, (1 - met) @ other.T))
    return plus, minus, (1 - met) @ (1 - other).T == 0


def against_rows(
    e: TreeEnsemble, background: Any, rows: Any, weights: Floats = SHAPLEY, members: Sequence[int] = ()
) -> Floats:
    """Values of the game of a background: a sum over cubes, one for each row, background row and leaf."""
    found = np.zeros((len(rows), e.n_features))
    for value, players, _, met, other in leaves(e, rows, background, members=members):
        plus, minus, possible = cubes(met, other)
        takes_part = (possible * weights[plus, minus]) @ ~other
        stays_away = (possible * weights[minus, plus]) @ other
        found[:, players] += value / len(background) * (met * takes_part - ~met * stays_away)
    return found


def pairs_against_rows(e: TreeEnsemble, background: Any, rows: Any) -> Floats:
    """Halves of the Shapley interactions of the game of a background; nothing on the diagonal."""
    found = np.zeros((len(rows), e.n_features, e.n_features))
    for value, players, _, met, other in leaves(e, rows, background):
        plus, minus, possible = cubes(met, other)
        # Who must take part, and who must not, in each cube: (n_rows, n_background, n_players)
        take, stay = (met[:, None] & ~other[None]).astype(float), (~met[:, None] & other[None]).astype(float)
        inside, outside, across = (
            possible * table for table in (SAME_SIDE[plus, minus], SAME_SIDE[minus, plus], BOTH_SIDES[plus, minus])
        )
        both = np.einsum("nb,nbi,nbj->nij", inside, take, take) + np.einsum("nb,nbi,nbj->nij", outside, stay, stay)
        mixed = np.einsum("nb,nbi,nbj->nij", across, take, stay)
        both -= mixed + mixed.swapaxes(1, 2)
        both[:, range(len(players)), range(len(players))] = 0.0
        found[np.ix_(range(len(rows)), players, players)] += value / 2 / len(background) * both
    return found


def same(actual: NDArray[Any], expected: NDArray[Any], e: TreeEnsemble) -> None:
    """Compare values, within what rounding does to sums of leaf values."""
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-10 * np.abs(e.value).sum() * e.score.factor)


def without_diagonal(matrices: NDArray[Any]) -> NDArray[Any]:
    return np.where(np.eye(matrices.shape[1], dtype=bool), 0.0, matrices)


@st.composite
def chains(draw: st.DrawFn, n_players: int) -> tuple[TreeEnsemble, Floats, Floats]:
    """Trees that are one long path each through all of so many features, some of them twice, and rows for them."""
    rng = np.random.default_rng(draw(SEEDS))
    n_features = n_players + 2
    trees = [chain(rng, rng.permutation(n_features)[:n_players]) for _ in range(draw(st.integers(1, 2)))]
    schema = Schema(tuple(NumberColumn(f"x{j}") for j in range(n_features)))
    score = Score(base=np.array([0.3]), labels=("prediction",), units="value", scale=0.5)
    ensemble = TreeEnsemble(**stack(trees, CategorySets()), schema=schema, score=score, source="hypothesis")
    # Most rows stay on most of the path, or few leaves would matter.
    usual = rng.choice([-1.0, 1.0], n_features)
    table = np.where(rng.random((14, n_features)) < 0.9, usual, -usual)
    table[rng.random(table.shape) < 0.05] = np.nan
    return ensemble, table[:8], table[8:]


def chain(rng: np.random.Generator, players: NDArray[Any]) -> Tree:
    """One path: every node has a leaf on one side, and the next node on the other."""
    again = rng.integers(len(players), size=len(players) // 4)
    features = np.concatenate([players, players[again]])
    n = len(features)
    left, right = np.full((2, 2 * n + 1), -1)
    inner, leaf, behind = 2 * np.arange(n), 2 * np.arange(n) + 1, 2 * np.arange(n) + 2
    turn = rng.random(n) < 0.5
    left[inner], right[inner] = np.where(turn, leaf, behind), np.where(turn, behind, leaf)
    cover = np.zeros(2 * n + 1)
    cover[[*leaf, 2 * n]] = rng.integers(1, 50, n + 1)
    for node in inner[::-1]:
        cover[node] = cover[node + 1] + cover[node + 2]
    feature = np.zeros(2 * n + 1, dtype=int)
    feature[inner] = features
    cut, missing_left = rng.choice([-0.5, 0.0, 0.5], 2 * n + 1), rng.random(2 * n + 1) < 0.5
    return Tree(feature, cut, left, right, missing_left, rng.normal(size=(2 * n + 1, 1)), cover)
