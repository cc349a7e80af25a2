"""Interactions of any order against the game, which is played by brute force."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from numpy.typing import NDArray

from glasswood.models._ensemble import TreeEnsemble
from glasswood.tables._columns import NumberColumn
from helpers.brute import Case, replace_columns, tries
from helpers.games import Game, sums_of_subsets
from helpers.strategies import ensembles

FloatArray = NDArray[np.float64]
ROWS, SEEDS = st.integers(1, 20), st.integers(0, 2**32 - 1)
ENSEMBLES = ensembles(max_trees=4, max_depth=5)


def explained(case: Case, ensemble: TreeEnsemble, n_rows: int = 5) -> Any:
    """Rows to explain: one of the background, some of values at and beside cuts, one with all that is odd."""
    rng = np.random.default_rng(0)
    own = case.rows.iloc if isinstance(case.rows, pd.DataFrame) else case.rows
    points = {}
    for f in ensemble.used_features.tolist():
        values = tries(case, ensemble, f, rng).values
        chosen = [values[k] for k in rng.integers(len(values), size=n_rows - 2)]
        first = float(own[0, f]) if isinstance(ensemble.schema.columns[f], NumberColumn) else own[0, f]
        points[f] = [first, *chosen, values[-1]]  # True among numbers would make the column one of objects
    return replace_columns(own[:1], points) if points else own[:n_rows]


def margin(case: Case, ensemble: TreeEnsemble) -> float:
    """How far sums of scores may be from those of the library."""
    return case.margin(ensemble, 1e-5 if ensemble.score.dtype == "float32" else 1e-9)


def dense(found: Any, names: Sequence[str]) -> FloatArray:
    """The values of all sets of players, (n_rows, 2**n_players, n_outputs), with zeros for sets that are not listed."""
    numbers = [tuple(names.index(name) for name in subset) for subset in found.subsets]
    assert numbers == sorted(set(numbers), key=lambda players: (len(players), players))
    assert all(players == tuple(sorted(set(players))) for players in numbers)
    values = np.zeros((found.n_rows, 2 ** len(names), len(found.outputs)))
    masks = [sum(1 << player for player in players) for players in numbers]
    values[:, masks] = found.values.reshape(found.n_rows, len(found), -1)
    return values


def follows_the_game(found: Any, game: Game, within: float, max_order: int | None = None) -> None:
    """Compare with the inclusion-exclusion of the values of coalitions, and add up again."""
    ours, theirs = dense(found, game.names), game.pdiv()
    listed = [mask for mask in range(2**game.n_players) if max_order is None or mask.bit_count() <= max_order]
    np.testing.assert_allclose(ours[:, listed], theirs[:, listed], rtol=0, atol=within)
    np.testing.assert_allclose(sums_of_subsets(ours)[:, listed], game.values[:, listed], rtol=0, atol=within)
    assert found.subsets[0] == ()
    assert max(map(len, found.subsets)) <= (max_order or game.n_players)


def close_to(ensemble: TreeEnsemble) -> float:
    """How far sums of its leaves may be from those of brute force."""
    return 1e-12 * float(np.abs(ensemble.value).sum() + np.abs(ensemble.score.base).max() + 1)


def some_groups(ensemble: TreeEnsemble, rng: np.random.Generator) -> dict[str, list[str]]:
    """One or two groups of the columns of an ensemble, in no order."""
    names = rng.permutation(ensemble.feature_names).tolist()
    at = rng.integers(1, len(names) + 1)
    groups = {"second": names[at:], "first": names[:at]} if rng.random() < 0.5 else {"group": names[:at]}
    return {name: columns for name, columns in groups.items() if columns}


def moved(X: FloatArray, n_rows: int) -> FloatArray:
    """As many rows as wanted, all different."""
    rng = np.random.default_rng(n_rows)
    return X[rng.integers(len(X), size=n_rows)] + rng.normal(size=(n_rows, X.shape[1])).round(3) / 10
