"""The gate's commands, from the root of the checkout: `python -m tools.gate COMMAND`.

`choose` prints the stages that the changes since the last whole pass need, and `run` runs them. `times` prints the
seconds of the last run by file of tests, `faults` which stage catches each deliberate fault. `due` prints the parts of
the schedule that have not passed for the files as they are, and `long` runs them; `--since COMMIT` takes those that a
change since a commit concerns.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from pathlib import Path

from tools.gate.caught import table_of_faults
from tools.gate.passed import Passes, changed_since, tree_of
from tools.gate.runner import Runner
from tools.gate.schedule import due, run_parts
from tools.gate.stages import Choice, Stage, choose, read_table
from tools.gate.times import table_of_times

CHECKOUT = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("GLASSWOOD_CACHE") or CHECKOUT / "build" / "cache")
LOGS = CHECKOUT / "build" / "gate"
ENVIRONMENT = os.environ.get("GLASSWOOD_ENVIRONMENT", "unknown")  # `.ci/prepare` sets it


def main() -> int:
    """Run one of the commands."""
    parser = argparse.ArgumentParser(prog="python -m tools.gate", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("command", choices=["choose", "run", "times", "faults", "due", "long"])
    parser.add_argument("names", nargs="*", help="of `run` and `long`: these stages or parts only")
    parser.add_argument("--all", action="store_true", help="choose everything")
    parser.add_argument("--since", help="choose by the files that changed since this tree or commit")
    options = parser.parse_args()
    if options.command == "times":
        sys.stdout.write(table_of_times(LOGS))
        return 0
    if options.command == "faults":
        sys.stdout.write(table_of_faults())
        return 0
    if options.command in ("due", "long"):
        return run_long(options, CACHE / "long")
    passes = Passes(CACHE / "passed", ENVIRONMENT)
    choices = chosen(options, passes)
    sys.stdout.write(text_of(choices))
    return run(choices, passes, whole=not options.names) if options.command == "run" else 0


def chosen(options: argparse.Namespace, passes: Passes) -> list[Choice]:
    """Return the stages that are asked for by name, or that the changes need."""
    table = read_table()
    if options.names:
        return [Choice(table.stages[name], "asked for") for name in options.names]
    everything = options.all or os.environ.get("GLASSWOOD_CHOOSE") == "all"
    since = None if everything else options.since or passes.last(CHECKOUT)
    return choose(table, None if since is None else changed_since(CHECKOUT, since))


def text_of(choices: list[Choice]) -> str:
    """Return a line for every stage: chosen, and why, or left out."""
    reasons = {choice.stage.name: choice.reason for choice in choices}
    lines = [f"gate: {name:<12} {reasons.get(name, '- nothing that it depends on has changed')}" for name in reasons]
    left_out = [name for name in read_table().stages if name not in reasons]
    return "\n".join([*lines, f"gate: left out: {', '.join(left_out) or 'nothing'}", ""])


def run(choices: list[Choice], passes: Passes, *, whole: bool) -> int:
    """Run stages; record the tree if all stages were chosen, and passed."""
    began, tree = time.monotonic(), tree_of(CHECKOUT)
    runner = Runner(CHECKOUT, LOGS)
    passed = runner.run(choice.stage for choice in choices)
    seconds = time.monotonic() - began
    for outcome in runner.outcomes:
        if outcome.code and outcome.stage.lane != runner.shown:
            sys.stdout.write((LOGS / f"{outcome.stage.name}.log").read_text(encoding="utf-8"))
    for outcome in runner.outcomes:
        for line in outcome.summary:
            sys.stdout.write(f"gate: {outcome.stage.name}: {line}\n")
    everything = whole and len(choices) == len(read_table().stages)
    if passed and everything and tree is not None and tree == tree_of(CHECKOUT):
        passes.add(tree, seconds)
        sys.stdout.write(f"gate: tree {tree[:12]} passed whole\n")
    sys.stdout.write(f"gate: {len(choices)} stages took {seconds / 60:.1f} minutes\n")
    last = [line for outcome in runner.outcomes if outcome.stage.name == "tests" for line in outcome.summary]
    sys.stdout.write("".join(f"{line}\n" for line in last[-1:]))
    return 0 if passed else 1


def run_long(options: argparse.Namespace, folder: Path) -> int:
    """Print the parts of the schedule that are due, and for `long` run them."""
    table = read_table()
    folder.mkdir(parents=True, exist_ok=True)

    def passes_of(part: Stage) -> Passes:
        return Passes(folder / part.name, ENVIRONMENT)

    if options.names:
        parts = [(table.parts[name], "asked for") for name in options.names]
    elif options.since:
        choices = choose(table, changed_since(CHECKOUT, options.since), parts=True)
        parts = [(choice.stage, choice.reason) for choice in choices]
    else:
        everything = [(part, "asked for") for part in table.parts.values()]
        parts = everything if options.all else due(table, passes_of, CHECKOUT)
    for part, reason in parts:
        sys.stdout.write(f"long: {part.name:<12} about {part.minutes:.0f} min  {reason}\n")
    if options.command == "due":
        return 0
    return 0 if run_parts([part for part, _ in parts], passes_of, CHECKOUT, LOGS / "long") else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the runner stops what it started
    sys.exit(main())
