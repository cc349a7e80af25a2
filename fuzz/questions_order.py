"""Answers do not depend on what was asked before, on threads, or on what users do to the arrays they are given."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from fuzz.session import Call, Session
from fuzz.snapshots import snapshot, vandalize

__all__ = ["QUESTIONS"]

MAX_CALLS = 12
N_THREADS = 4


def _chosen(s: Session) -> list[Call]:
    """Return some of the questions that were asked, in another order."""
    if not s.calls:
        for player in s.few(s.setting.players, 3):
            s.ask("partial_dependence", player.name)
        if s.setting.response == "raw":
            s.ask("shap_values", s.setting.rows_table)
    return [s.calls[k] for k in s.rng.permutation(len(s.calls))[:MAX_CALLS]]


def _compare(s: Session, what: str, call: Call, answer: dict) -> None:
    """Compare an answer with the first one; sums may be added up in another order."""
    same_parts = answer.keys() == call.answer.keys()
    s.true(f"{what}: parts of {call.method}", same_parts, sorted(answer.keys() ^ call.answer.keys())[:5])
    for path in answer.keys() & call.answer.keys():
        got, want = answer[path], call.answer[path]
        if isinstance(want, np.ndarray) and want.dtype.kind in "fiub":
            size = max(s.setting.scale, 1.0)
            s.equal(f"{what}: {call.method}", got, want, within=1e-10, scale=size if "square" not in path else size**2)
        elif isinstance(want, str):
            s.true(f"{what}: {call.method}", got == want, f"{got!r} instead of {want!r}")


def other_order(s: Session) -> None:
    """A new Explainer that is asked the same questions in another order gives the same answers."""
    explainer = s.setting.explainer()
    for call in _chosen(s):
        _compare(s, "another order", call, snapshot(getattr(explainer, call.method)(*call.args, **call.kwargs)))


def threads(s: Session) -> None:
    """Several threads that ask one Explainer at once get the same answers."""
    explainer, calls = s.setting.explainer(), _chosen(s)

    def answer(call: Call) -> dict:
        return snapshot(getattr(explainer, call.method)(*call.args, **call.kwargs))

    with ThreadPoolExecutor(N_THREADS) as pool:
        for call, found in zip(calls, pool.map(answer, calls), strict=True):
            _compare(s, "threads", call, found)


def vandals(s: Session) -> None:
    """Whatever can be written into the arrays of results, the Explainer's answers stay the same."""
    explainer, calls = s.setting.explainer(), _chosen(s)
    for call in calls:
        vandalize(getattr(explainer, call.method)(*call.args, **call.kwargs))
    for call in calls:
        _compare(s, "after writing", call, snapshot(getattr(explainer, call.method)(*call.args, **call.kwargs)))
    _tables_are_whole(s)


def _tables_are_whole(s: Session) -> None:
    """Nobody has written into the tables that the user passed."""
    for what, table, frame in (
        ("background", s.setting.table, s.setting.background),
        ("rows", s.setting.rows_table, s.setting.rows),
    ):
        if isinstance(table, np.ndarray) and table.dtype.kind == "f":
            s.equal(f"after writing: the user's {what}", table.astype(float), frame.to_numpy(float))
        elif isinstance(table, dict):
            for name, values in table.items():
                if values.dtype.kind == "f":
                    s.equal(f"after writing: the user's {what}", values, frame[name].to_numpy(float))


QUESTIONS = (other_order, threads, vandals)
