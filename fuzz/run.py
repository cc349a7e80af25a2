"""Runs one case in this process."""

from __future__ import annotations

import tempfile
import time
import warnings
from typing import Any

from fuzz.questions import question
from fuzz.session import Notes, Session, guard
from fuzz.setting import Setting

__all__ = ["run_case"]


def run_case(case: dict) -> dict[str, Any]:
    """Return what came of a case, as plain values: the model, numbers of comparisons, refusals and findings."""
    started = time.perf_counter()
    notes = Notes()
    outcome: dict[str, Any] = {"kind": "", "asked": []}
    with tempfile.TemporaryDirectory() as folder:
        setting = None
        with guard(notes, "fit"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            setting = Setting(case | {"folder": folder})
            outcome["kind"] = setting.fitted.kind
        if setting is not None:
            _ask_all(setting, notes, outcome)
    return outcome | {
        "seconds": time.perf_counter() - started,
        "compared": dict(notes.compared),
        "refusals": dict(notes.refusals),
        "library": dict(notes.library),
        "remarks": dict(notes.remarks),
        "findings": notes.findings,
        "digest": notes.digest.hexdigest()[:16],
    }


def _ask_all(setting: Setting, notes: Notes, outcome: dict) -> None:
    session = None
    with guard(notes, "Explainer"):
        setting.look()
        setting.oracle.score(setting.background)
        setting.oracle.score(setting.rows)
        session = Session(setting, notes)
    if session is None:
        return
    for name in setting.case["questions"]:
        asked = question(name)
        if asked is not None:
            outcome["asked"].append(name)
            with session.guarded(name):
                asked(session)
