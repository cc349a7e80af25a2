"""Questions about rows: interaction values of all orders, Shapley and Banzhaf values and interactions.

All of them are answered on the raw scale, whatever the scale of the Explainer.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

import glasswood as gw
from fuzz.oracle import MAX_ROWS, Game, banzhaf, moebius, shapley, shapley_pairs
from fuzz.session import Session

__all__ = ["QUESTIONS"]

MAX_PLAYERS = 13  # of a game that is played by brute force
FIRST = 6  # rows, whose games are played by brute force


def _game(s: Session) -> Game | None:
    """Return the game of the first rows; None if it is too large for brute force."""
    n_players = len(s.setting.players)
    if s.setting.fitted.raw is None:
        return None
    if n_players > MAX_PLAYERS or 2**n_players * FIRST * len(s.setting.background) > MAX_ROWS // 10:
        return None
    if not hasattr(s.setting, "game"):
        first = s.setting.rows[:FIRST]
        s.setting.game = s.setting.raw_oracle.game([list(player.columns) for player in s.setting.players], first)
    return s.setting.game


def _numbers(s: Session, names) -> tuple[int, ...]:
    """Return the numbers of some players."""
    known = [player.name for player in s.setting.players]
    return tuple(sorted(known.index(name) for name in names))


def _by_set(s: Session, found) -> dict[tuple[int, ...], np.ndarray]:
    """Return the values of sets, (n_rows, n_outputs), by the players' numbers."""
    values = found.values.reshape(found.n_rows, len(found), len(found.outputs))
    return {_numbers(s, names): values[:, k] for k, names in enumerate(found.subsets)}


def _same(s: Session, what: str, got: np.ndarray, want: np.ndarray, factor: float = 1.0) -> None:
    """Compare an answer with brute force on the raw scale."""
    s.same(what, got, want, factor=factor, scale=s.setting.raw_scale)


def _first(values: np.ndarray) -> np.ndarray:
    """Return the values of the rows whose games are played by brute force."""
    return values[:FIRST]


def interactions(s: Session) -> None:
    """PDIV of all orders, and all ways to look at them."""
    found = s.ask("interaction_values", s.setting.rows_table)
    values = found.values.reshape(found.n_rows, len(found), len(found.outputs))
    score = s.setting.raw_oracle.score(s.setting.rows)
    _same(s, "interaction values add up", values.sum(axis=1), score, factor=16)
    game = _game(s)
    if game is not None and len(s.setting.players) <= 6:
        got = _by_set(s, found)
        for members in game:
            want = moebius(game, members)
            given = got.get(members, np.zeros((len(want), values.shape[2])))
            _same(s, "interaction value", _first(given), want, factor=2.0 ** len(members))
    _views(s, found, values)


def _views(s: Session, found, values: np.ndarray) -> None:
    """Fewer orders, single sets, blocks and moments agree with the values."""
    if not found.n_rows:
        s.true("moments of no rows", not found.mean_abs().any() and not list(found.blocks(2)))
        return
    scale = s.setting.raw_scale
    order = int(s.rng.integers(1, 4))
    fewer = s.ask("interaction_values", s.setting.rows_table, max_order=order)
    by_set, part = _by_set(s, found), _by_set(s, fewer)
    for members, got in part.items():
        s.equal("interaction values up to an order", got, by_set[members], within=1e-10, scale=scale)
    names = found.subsets[int(s.rng.integers(len(found)))]
    if names:
        number = found.subsets.index(names)
        one = np.asarray(found[names]).reshape(found.n_rows, -1)
        s.equal("interaction value of one set", one, values[:, number])
        chosen = s.ask("interaction_values", s.setting.rows_table, features=list(names))
        got = np.asarray(chosen[names]).reshape(found.n_rows, -1)
        s.equal("interaction values of features", got, values[:, number], within=1e-10, scale=scale)
    blocks = np.concatenate([block for _, block in found.blocks(2)])
    s.equal("blocks", blocks.reshape(values.shape), values)
    shape = (len(found), values.shape[2])
    s.equal("mean_abs", found.mean_abs().reshape(shape), np.abs(values).mean(axis=0), within=1e-10, scale=scale)
    with np.errstate(over="ignore"):
        squares = (values**2).mean(axis=0)
    s.equal("mean_square", found.mean_square().reshape(shape), squares, within=1e-10, scale=scale**2)


def shap_values(s: Session) -> None:
    """Shapley values; they add up to the score."""
    _values(s, "shap_values", shapley)


def banzhaf_values(s: Session) -> None:
    """Banzhaf values."""
    _values(s, "banzhaf_values", banzhaf)


def _values(s: Session, method: str, index) -> None:
    found = s.ask(method, s.setting.rows_table)
    level = s.setting.raw_oracle.level()
    _same(s, "base values", np.reshape(found.base_values, (1, -1)), level[None])
    if method == "shap_values":
        total = found.heights.sum(axis=1) + np.reshape(found.base_values, (1, -1))
        _same(s, "Shapley values add up", total, s.setting.raw_oracle.score(s.setting.rows), factor=8)
    game = _game(s)
    if game is None:
        return
    for number, player in enumerate(s.setting.players):
        got = found.heights[:, list(found.names).index(player.name)]
        _same(s, method, _first(got), index(game, len(s.setting.players), (number,)), factor=4)


def shap_pairs(s: Session) -> None:
    """Shapley interactions of all pairs."""
    game = _game(s)
    if game is None or len(s.setting.players) > 6:
        return
    found = s.ask("shap_interaction_values", s.setting.rows_table)
    order = [list(found.names).index(player.name) for player in s.setting.players]
    want = shapley_pairs(game, len(order))
    _same(s, "Shapley interactions", _first(found.heights[:, order][:, :, order]), want, factor=8)


class OwnBanzhaf:
    """A metric as another package might have it: Banzhaf's interactions."""

    def __init__(self, order: int) -> None:
        self.order = order

    def calc_metric(self, s_plus: set[Any], s_minus: set[Any]) -> dict[Any, float]:
        """Return the values of the sets of a cube."""
        features, found = sorted(s_plus | s_minus), {}
        for size in range(1, self.order + 1):
            for members in combinations(features, size):
                found[members] = (-1.0) ** len(s_minus & set(members)) / 2.0 ** (len(features) - size)
        return found


def metrics(s: Session) -> None:
    """Interaction indices through `evaluate`."""
    game, n_players = _game(s), len(s.setting.players)
    if game is None or n_players > 5:
        return
    order = int(s.rng.integers(1, 4))
    for metric, index in (
        (gw.metrics.BanzhafInteractions(max_order=order), banzhaf),
        (OwnBanzhaf(order), banzhaf),
        (gw.metrics.ShapleyInteractions(max_order=order), shapley),
        (gw.metrics.PartialDependenceInteractions(max_order=order), lambda game, _, members: moebius(game, members)),
    ):
        got = _by_set(s, s.ask("evaluate", metric, s.setting.rows_table))
        for size in range(1, min(order, n_players) + 1):
            for members in combinations(range(n_players), size):
                want = index(game, n_players, members)
                given = got.get(members)
                if given is None:
                    given = np.zeros((len(want), 1 if want.shape[1] == 2 else want.shape[1]))
                _same(s, type(metric).__name__, _first(given), want, factor=2.0**n_players)


def contributions(s: Session) -> None:
    """Path-dependent Shapley values without a background are the library's own contributions."""
    setting = s.setting
    if setting.fitted.contributions is None or setting.response != "raw" or setting.groups or not len(setting.rows):
        return
    explainer = gw.Explainer(setting.fitted.model)
    found = explainer.shap_values(setting.rows_table)
    want = np.asarray(setting.fitted.contributions(setting.rows), dtype=float)
    if want.ndim > 2:
        return  # several outputs
    got = np.column_stack([found.heights[:, :, -1], np.full(len(want), np.ravel(found.base_values)[-1])])
    within = 1e-3 if setting.fitted.tolerance > 1e-6 else 1e-7
    s.equal("contributions", got, want, within=within, scale=setting.raw_scale)


QUESTIONS = (banzhaf_values, contributions, interactions, metrics, shap_pairs, shap_values)
