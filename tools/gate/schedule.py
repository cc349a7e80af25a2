"""The long forms: parts that run each night, before a release, and at the end of a change that concerns them.

A part that has passed is not due again until a file that it depends on changes, so a run can be ended and resumed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from tools.gate.passed import Passes, changed_since, tree_of
from tools.gate.runner import Runner
from tools.gate.stages import Stage, Table, choose

__all__ = ["due", "run_parts"]


def due(table: Table, passes_of: Callable[[Stage], Passes], checkout: Path) -> list[tuple[Stage, str]]:
    """Return the parts whose outcome for this tree is not known, each with the reason."""
    found = []
    for part in table.parts.values():
        tree = passes_of(part).last(checkout)
        changed = None if tree is None else changed_since(checkout, tree)
        reasons = {choice.stage.name: choice.reason for choice in choose(table, changed, parts=True)}
        if changed != [] and part.name in reasons:
            found.append((part, reasons[part.name]))
    return found


def run_parts(parts: Iterable[Stage], passes_of: Callable[[Stage], Passes], checkout: Path, logs: Path) -> bool:
    """Run parts one after the other, and record each that passes. Go on after one that fails."""
    passed = True
    for part in parts:
        began, tree = time.monotonic(), tree_of(checkout)
        runner = Runner(checkout, logs, shown=part.lane)
        if not runner.run([part]):
            passed = False
            continue
        if tree is not None and tree == tree_of(checkout):
            passes_of(part).add(tree, time.monotonic() - began)
        for line in runner.outcomes[0].summary[-3:]:
            sys.stdout.write(f"long: {part.name}: {line}\n")
    return passed
