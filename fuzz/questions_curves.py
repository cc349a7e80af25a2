"""Questions about curves, surfaces, points and ICE, against brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

import glasswood as gw
from fuzz.session import Session
from fuzz.setting import Player

__all__ = ["QUESTIONS"]

FEATURES = 5  # that a question looks at


def model(s: Session) -> None:
    """The model that was read predicts what its library predicts, at cuts and beside them."""
    setting = s.setting
    if setting.fitted.raw is None or (
        setting.with_curves is not None and len(setting.with_curves) < len(setting.names)
    ):
        return
    read = s.explainer.ensemble if setting.case["model"]["maker"] == "wrapper" else gw.read_model(setting.fitted.model)
    frame = s.points(list(setting.train), 40)
    try:
        want = setting.fitted.raw(frame)
    except ValueError:
        if setting.with_curves is None:
            raise
        return  # transformers make numbers that the library does not take
    s.same("predict of a TreeEnsemble", np.asarray(read.predict(frame)).reshape(len(frame), -1), want)


def curves(s: Session) -> None:
    """Curves at every cell, at hostile values, of missing values and of unseen categories; rows per cell."""
    level = s.oracle.level()
    for player in s.few(s.singles, FEATURES):
        (column,) = player.columns
        curve = s.ask("partial_dependence", player.name)
        points = s.points([column], 25)
        want = s.oracle.mean(points)
        s.same("curve(x)", curve(s.values(points[column])), want)
        s.same("curve at points", s.ask("partial_dependence", player.name, at=s.at(points)).heights, want)
        s.same("mean of a curve", curve.mean, level)
        _cells(s, player, curve)
        _rows_per_cell(s, player, curve)
    if s.singles:
        _all_at_once(s)


def _cells(s: Session, player: Player, curve) -> None:
    """The values of all cells, the missing one, the unseen one."""
    (column,) = player.columns
    if curve.categories is None and len(curve.cuts):
        finite = np.isfinite(curve.cuts)
        ends = curve.cuts[finite]
        above = np.nextafter(ends[-1:], np.inf) if finite.all() else ends[:0]
        if not s.setting.takes.infinite:  # the library takes no value above
            above = above[above <= np.finfo(np.float32).max]
        values = np.append(ends, above)
        values = values if s.setting.takes.infinite else values[np.abs(values) <= np.finfo(np.float32).max]
        heights = curve.heights[np.searchsorted(curve.cuts, values)]
        if not _zero_is_missing(s):
            s.same("cells of a curve", heights, s.oracle.mean(pd.DataFrame({column: values})))
    missing = s.setting.takes.missing if curve.categories is None else s.setting.takes.missing_categories
    if missing:
        gone = s.setting.train[column].iloc[:0].reindex([0]).reset_index(drop=True)
        s.same("missing value of a curve", np.reshape(curve.missing, (1, -1)), s.oracle.mean(gone.to_frame(column)))
    unseen = s.unseen(column)
    if unseen is not None and curve.categories is not None:
        s.same("unseen value of a curve", np.reshape(curve.unseen, (1, -1)), s.oracle.mean(unseen.to_frame(column)))


def _zero_is_missing(s: Session) -> bool:
    """Whether numbers may stand for missing ones, so that a cut lies in no cell of numbers."""
    model_of = s.case["model"]
    return "missing" in model_of or bool(model_of["options"].get("zero_as_missing"))


def _rows_per_cell(s: Session, player: Player, curve) -> None:
    if curve.categories is not None or not len(curve.rows) or _zero_is_missing(s):
        return
    values = s.setting.background[player.columns[0]].to_numpy(float)
    weight = np.ones(len(values)) if s.setting.weight is None else np.asarray(s.setting.weight, dtype=float)
    known = ~np.isnan(values) if s.uses(player.columns[0]) else np.ones(len(values), dtype=bool)
    cells = np.searchsorted(curve.cuts, values[known])
    want = np.bincount(cells, weights=weight[known], minlength=len(curve.cuts) + 1)
    s.equal("rows of a curve", curve.rows, want, within=1e-9, scale=float(weight.sum()))


def _all_at_once(s: Session) -> None:
    """All curves at once are the curves one by one."""
    every = s.ask("partial_dependence")
    for player in s.few(s.singles, 2):
        one = s.explainer.partial_dependence(player.name)
        s.equal("all curves at once", every[player.name].heights, one.heights)


def surfaces(s: Session) -> None:
    """Surfaces of pairs, what the pair adds, the density of rows."""
    level = s.oracle.level()
    for a, b in _pairs(s, 3):
        surface = s.ask("partial_dependence", a.name, b.name)
        points = s.points([*a.columns, *b.columns], 10)
        x, y = points[a.columns[0]], points[b.columns[0]]
        want = s.oracle.mean(points)
        s.same("surface(x, y)", surface(s.values(x), s.values(y)), want)
        s.same("pair at points", s.ask("partial_dependence", a.name, b.name, at=s.at(points)).heights, want)
        alone = want - s.oracle.mean(x.to_frame(a.columns[0])) - s.oracle.mean(y.to_frame(b.columns[0])) + level
        i, j = surface.first.axis.cell_of(s.values(x)), surface.second.axis.cell_of(s.values(y))
        got = np.zeros((len(points), len(surface.first.outputs)))
        if not surface.additive:
            got = surface.raw_interaction[i, j]
        s.same("interaction of a surface", got, alone, factor=4)
        s.same("heights of a surface", surface.heights[i, j], want)
        _density(s, surface, a, b)
        joint = s.ask("joint_partial_dependence")
        again = joint[(a.name, b.name) if (a.name, b.name) in joint else (b.name, a.name)]
        turned = again.heights if again.names == surface.names else again.heights.transpose(1, 0, 2)
        s.equal("joint partial dependence", turned, surface.heights, within=1e-12, scale=s.setting.scale)


def _density(s: Session, surface, a: Player, b: Player) -> None:
    if surface.density is None or not len(s.setting.background):
        return
    rows = s.setting.background
    i = surface.first.axis.cell_of(s.values(rows[a.columns[0]]))
    j = surface.second.axis.cell_of(s.values(rows[b.columns[0]]))
    want = np.zeros(surface.heights.shape[:2])
    np.add.at(want, (i, j), s.oracle.shares)
    s.equal("density of a surface", surface.density, want[: surface.shape[0], : surface.shape[1]], within=1e-9)


def _pairs(s: Session, max_: int) -> list[tuple[Player, Player]]:
    pairs = list(combinations(s.few(s.singles, FEATURES), 2))
    return [pairs[k] for k in s.rng.permutation(len(pairs))[:max_]]


def grids(s: Session) -> None:
    """All pairs of some features on grids."""
    chosen = s.few(s.singles, 3)
    if len(chosen) < 2 or s.setting.fitted.raw is None:
        return
    values = {player: s.points(player.columns, 3) for player in chosen}
    spec = {player.name: s.values(values[player][player.columns[0]]) for player in chosen}
    found = s.ask("joint_partial_dependence", grid=spec, response="raw").grid_values
    for a, b in combinations(chosen, 2):
        i, j = np.indices((3, 3)).reshape(2, -1)
        first, second = values[a].iloc[i].reset_index(drop=True), values[b].iloc[j].reset_index(drop=True)
        want = s.setting.raw_oracle.mean(pd.concat([first, second], axis=1)).reshape(3, 3, -1)
        s.same("joint grids", found[a.name, b.name], want, scale=s.setting.raw_scale)


def values_on_grids(s: Session) -> None:
    """Features at given values, alone and together, and all pairs of them; numbers of values may differ."""
    chosen = s.few(s.singles, 3)
    if not chosen:
        return
    made = {player: s.points(player.columns, int(s.rng.integers(1, 4))) for player in chosen}
    given = {player.name: _given(s, points[player.columns[0]]) for player, points in made.items()}
    alone = s.ask("partial_dependence", at=given)
    own = dict(zip(chosen, alone, strict=True))  # names as results have them
    for player in chosen:
        s.same("values of each feature", alone[own[player]].heights, s.oracle.mean(made[player]))
    together = s.ask("partial_dependence", *(player.name for player in chosen), grid=given)
    s.same("values of several features", together.heights, s.oracle.mean(_combined(made, chosen)))
    pairs = s.ask("joint_partial_dependence", grid=given)
    for a, b in combinations(chosen, 2):
        found = pairs[own[a], own[b]]
        want = s.oracle.mean(_combined(made, [a, b]))
        s.same("pairs on a grid", found.heights, want)
        shape = [len(made[player]) for player in (a, b)]
        s.true("shape of a grid", list(found.grid_values.shape[:2]) == shape, (found.grid_values.shape, shape))


def _given(s: Session, values: pd.Series) -> object:
    return values if s.setting.natural else s.values(values)


def _combined(made: dict[Player, pd.DataFrame], players: list[Player]) -> pd.DataFrame:
    """Return all combinations of the points of some players, the last changing fastest."""
    places = np.indices([len(made[player]) for player in players]).reshape(len(players), -1)
    parts = [made[player].iloc[place].reset_index(drop=True) for player, place in zip(players, places, strict=True)]
    return pd.concat(parts, axis=1)


def sampled_grids(s: Session) -> None:
    """Grids that are found from the rows, or from cuts; curves minus the mean prediction on them."""
    spec = [4, ("quantiles", 3), ("rows", 3, int(s.rng.integers(0, 9)))][int(s.rng.integers(0, 3))]
    chosen, level = s.few(s.singles, 2), s.oracle.level()
    for players in [[player] for player in chosen] + ([chosen] if len(chosen) == 2 else []):
        found = s.ask("partial_dependence", *(player.name for player in players), grid=spec, centered="mean")
        names = [name for player in players for name in player.columns]
        shown = pd.DataFrame({name: list(own) for name, own in zip(names, found.columns.values(), strict=True)})
        rows = s.setting.background  # values between those of whole numbers are none
        numbers = {name for name in names if getattr(rows[name].dtype, "kind", "O") in "iuf"}
        typed = pd.DataFrame({n: shown[n].astype(float) if n in numbers else _like(shown[n], rows[n]) for n in names})
        if any(typed[name].isna().any() for name in names):  # a category that the column's type does not have
            continue
        s.same("sampled grids", found.heights, s.oracle.mean(typed) - level)


def centered(s: Session) -> None:
    """Curves from zero, and minus the mean prediction."""
    level = s.oracle.level()
    for player in s.few(s.singles, 2):
        points = s.points(player.columns, 8)
        curve = s.ask("partial_dependence", player.name, centered="mean")
        s.same("curve minus the mean", curve(s.values(points[player.columns[0]])), s.oracle.mean(points) - level)
        s.equal("mean of such a curve", curve.mean, np.zeros(len(curve.mean)))
        start = s.explainer.partial_dependence(player.name, centered=True)
        s.equal("curve from zero", start.centered("mean").heights, curve.heights, within=1e-12, scale=s.setting.scale)


def points(s: Session) -> None:
    """Any number of players at points, in any order of columns; and the distinct rows of a player."""
    players = s.few(s.setting.players, int(s.rng.integers(1, min(FEATURES, len(s.setting.players)) + 1)))
    columns = [name for player in players for name in player.columns]
    made = s.points(columns, 8)
    shuffled = made[[columns[k] for k in s.rng.permutation(len(columns))]]
    got = s.ask("partial_dependence", *(player.name for player in players), at=s.at(shuffled))
    s.same("points", got.heights, s.oracle.mean(made))
    for player in s.few([p for p in s.setting.players if p not in s.singles], 2):
        found = s.ask("partial_dependence", player.name)
        shown = pd.DataFrame({name: list(found.columns[_name(s, name)]) for name in player.columns})[:30]
        rows = s.setting.background
        typed = {name: _like(shown[name], rows[name]) for name in player.columns}
        s.same("distinct rows", found.heights[:30], s.oracle.mean(pd.DataFrame(typed)))


def _name(s: Session, column: str) -> str:
    return dict(zip(s.setting.train, s.setting.names, strict=True))[column]


def _like(values: pd.Series, known: pd.Series) -> pd.Series:
    """Return values with the type of a known column."""
    if isinstance(known.dtype, pd.CategoricalDtype):
        return pd.Series(pd.Categorical(values, categories=known.cat.categories, ordered=known.cat.ordered))
    return values.astype(known.dtype)


def ice(s: Session) -> None:
    """Curves of single rows: of given rows and of the background, at points and at every cell."""
    (player,) = s.few(s.setting.players, 1)
    made = s.points(player.columns, 6)
    if len(s.setting.rows):
        given = s.ask("ice", player.name, at=s.at(made), rows=s.setting.rows_table)
        s.same("ICE of rows", given.heights, s.oracle.each(made, s.setting.rows))
    own = s.ask("ice", player.name, at=s.at(made))
    each = s.oracle.each(made)
    s.same("ICE of the background", own.heights, each)
    s.same("mean of ICE", own.mean, np.einsum("r,rpo->po", s.oracle.shares, each))
    if player in s.singles:
        cells, curve = s.ask("ice", player.name), s.ask("partial_dependence", player.name)
        mean = np.einsum("r,rpo->po", s.oracle.shares, cells.heights)
        s.equal("ICE of every cell", mean, curve.heights, within=s.setting.fitted.tolerance, scale=s.setting.scale)


def outputs(s: Session) -> None:
    """Every output can be asked for by its label, by the label as a text, and by its position; and is that output."""
    if s.setting.labels is None and s.case["target"]["task"] != "several":
        return
    (player,) = s.few(s.setting.players, 1)
    made = s.points(player.columns, 4)
    want = s.oracle.mean(made)
    labels = s.setting.labels if s.setting.labels is not None else tuple(range(want.shape[1]))
    if want.shape[1] != len(labels) or want.shape[1] == 1:
        return
    texts = [str(label) for label in labels]
    for number, label in enumerate(labels):
        ways = {"label": {"output": label}}
        if texts.count(str(label)) == 1 and str(label) not in labels:
            ways["text"] = {"output": str(label)}
        for way, asked in ways.items():
            got = s.ask("partial_dependence", player.name, at=s.at(made), **asked)
            s.same(f"output by its {way}", got.heights, want[:, number : number + 1])
            s.true("label of an output", got.outputs == (label,), f"{got.outputs} instead of {label!r}")


QUESTIONS = (centered, curves, grids, ice, model, outputs, points, sampled_grids, surfaces, values_on_grids)
