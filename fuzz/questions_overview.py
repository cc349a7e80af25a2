"""Questions about all features: importance, strengths, monotonicity, comparison; and how results look."""

from __future__ import annotations

import pickle
import warnings
from itertools import combinations

import numpy as np
import pandas as pd

import glasswood as gw
from fuzz.session import Call, Session
from fuzz.snapshots import snapshot

__all__ = ["QUESTIONS"]


def importance(s: Session) -> None:
    """The root mean squared change of the score with a player redrawn; and the standard deviation of its curve."""
    found, main = s.ask("importance"), s.ask("importance", kind="main")
    rows, shares = s.setting.background, s.oracle.shares
    own = s.oracle.score(rows)
    for player in s.few(s.setting.players, 6):
        heights = s.oracle.mean(rows[list(player.columns)])
        want = np.sqrt(shares @ (heights - shares @ heights) ** 2)
        got = main.heights[list(main.names).index(player.name)]
        s.same("main importance", got[None], want[None], factor=5)
        if found.kind == "total":
            squares = (s.oracle.each(rows[list(player.columns)]) - own[:, None]) ** 2
            want = np.sqrt(np.einsum("r,p,rpo->o", shares, shares, squares))
            got = found.heights[list(found.names).index(player.name)]
            # Squares of changes are whole numbers of 2**-52 of the square of the largest one.
            s.same("total importance", got[None], want[None], factor=25)
    s.true("importance is sorted", (np.diff(found.total) <= 0).all(), found.total)


def strengths(s: Session) -> None:
    """The root mean square of each pair's interaction over the rows."""
    found = s.ask("interaction_strengths")
    if s.setting.fitted.raw is None:
        return
    oracle = s.setting.raw_oracle  # strengths are those of the raw score
    rows, shares, level = s.setting.background, oracle.shares, oracle.level()
    players = s.few(s.setting.players, 4)
    alone = {player: oracle.mean(rows[list(player.columns)]) for player in players}
    place = {frozenset(pair): number for number, pair in enumerate(found.pairs)}
    for a, b in combinations(players, 2):
        joint = oracle.mean(rows[[*a.columns, *b.columns]])
        want = np.sqrt(shares @ (joint - alone[a] - alone[b] + level) ** 2)
        number = place.get(frozenset((a.name, b.name)))
        got = np.zeros(len(found.outputs)) if number is None else found.heights[number]
        s.same("interaction strength", got[None], want[None], factor=10, scale=s.setting.raw_scale)


def monotonicity(s: Session) -> None:
    """What is said about steps up and down holds at every cut."""
    rows = s.setting.background
    numbers = [player for player in s.singles if rows[player.columns[0]].dtype.kind == "f"]
    for player in s.few(numbers, 3):
        found = s.ask("monotonicity", player.name)
        curve = s.explainer.partial_dependence(player.name)
        finite = curve.cuts[np.isfinite(curve.cuts) & (np.abs(curve.cuts) < 3e38)]
        values = np.append(finite, np.nextafter(finite[-1:], np.inf))
        if not values.size or "missing" in s.case["model"] or s.case["model"]["options"].get("zero_as_missing"):
            continue
        heights = s.oracle.mean(pd.DataFrame({player.columns[0]: values}))
        noise = 4 * s.setting.fitted.tolerance * s.setting.scale
        heights = heights[:, -len(found.outputs) :] if heights.shape[1] == 2 else heights
        for output, steps in enumerate(np.diff(heights, axis=0).T):
            direction = found.directions[0, output]
            s.true("monotonicity", _fits(direction, steps, noise), f"{direction}: {steps}")
    s.ask("spikes", points=7)


def _fits(direction: str, steps: np.ndarray, noise: float) -> bool:
    """Return whether a direction fits steps, apart from what rounding may explain."""
    up, down = bool((steps > noise).any()), bool((steps < -noise).any())
    if direction == "constant":
        return not up and not down
    if direction == "increasing":
        return not down
    if direction == "decreasing":
        return not up
    return bool((steps > 0).any() and (steps < 0).any())


def comparison(s: Session) -> None:
    """Curves of two groups of rows, side by side, are the curves of each group."""
    setting = s.setting
    rows = setting.background
    if not s.singles or len(rows) < 2 or setting.groups or setting.weight is not None:
        return
    from fuzz.oracle import Oracle

    half = int(s.rng.integers(1, len(rows)))
    parts = {"one": rows[:half], "two": rows[half:].reset_index(drop=True)}
    explainers = {
        name: gw.Explainer(setting.fitted.model, part, response=setting.asked) for name, part in parts.items()
    }
    found = gw.compare(explainers)
    for player in s.few(s.singles, 3):
        points = s.points(player.columns, 8)
        for name, curve in found.curves(player.name).items():
            want = Oracle(setting.score, parts[name], None).mean(points)
            s.same("curve of a comparison", curve(s.values(points[player.columns[0]])), want)


def gate(s: Session) -> None:
    """The level of two groups of rows is that of the library's scores, and a group is not beyond its own limits."""
    setting = s.setting
    rows = setting.background
    if not s.singles or len(rows) < 4 or setting.groups or setting.weight is not None:
        return
    from fuzz.oracle import Oracle

    half = int(s.rng.integers(2, len(rows) - 1))
    parts = {"one": rows[:half], "two": rows[half:].reset_index(drop=True), "same": rows[:half]}
    scores = [Oracle(setting.score, part, None).score(part) for part in parts.values()]
    deviation = scores[0].std(axis=0)
    explainers = {
        name: gw.Explainer(setting.fitted.model, part, response=setting.asked) for name, part in parts.items()
    }
    rules = ["psi > 0", "difference > 0", "largest > 0", "level > 0", "ndcg < 1", "missing > 0", "unseen > 0"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few rows
        found = gw.compare(explainers, reference="one", limits=rules).measures
    s.true("a group is as itself", not [one for one in found.violations if one.name == "same"], found.violations)
    reported = {one.output: one.value for one in found if (one.measure, one.name) == ("level", "two")}
    outputs = [None] if len(reported) == 1 else explainers["one"].outputs
    level = np.array([[reported[output] for output in outputs]])
    if level.shape[1] < deviation.size:  # the positive class of two
        deviation = deviation[1:]
    want = np.abs(scores[1].mean(axis=0) - scores[0].mean(axis=0))
    s.same("level", level * deviation, want[None], factor=10)


def _some_results(s: Session) -> list[Call]:
    """Return results of every kind that the Explainer gives."""
    for player in s.few(s.setting.players, 1):
        s.ask("partial_dependence", player.name)
        s.ask("importance")
    if s.setting.response == "raw" and s.setting.fitted.raw is not None:
        s.ask("shap_values", s.setting.rows_table)
        s.ask("interaction_values", s.setting.rows_table, max_order=2)
        s.ask("interaction_strengths")
    return [call for call in s.calls if type(call.keep).__module__.startswith("glasswood")]


def looks(s: Session) -> None:
    """Results can be printed, shown in a notebook and framed."""
    for call in _some_results(s):
        for name in ("__repr__", "_repr_html_", "to_frame"):
            if hasattr(call.keep, name):
                getattr(call.keep, name)()
        s.true("looks", repr(call.keep))


def pickles(s: Session) -> None:
    """Results can be pickled, and say the same afterwards."""
    for call in _some_results(s):
        if type(call.keep).__name__ != "Lazy":
            copied = snapshot(pickle.loads(pickle.dumps(call.keep)))
            _compare_snapshots(s, f"pickled {type(call.keep).__name__}", copied, call.answer)


def _compare_snapshots(s: Session, what: str, got: dict, want: dict) -> None:
    s.true(f"{what}: parts", got.keys() == want.keys(), sorted(got.keys() ^ want.keys())[:5])
    for path in got.keys() & want.keys():
        if isinstance(want[path], np.ndarray) and want[path].dtype.kind in "fiub":
            size = max(1.0, s.setting.scale)  # another layout in memory is added up in another order
            s.equal(f"{what}: {path}", got[path], want[path], within=1e-12, scale=size)


QUESTIONS = (comparison, gate, importance, looks, monotonicity, pickles, strengths)
