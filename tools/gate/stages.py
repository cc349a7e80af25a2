"""The stages of the gate and the parts of the schedule (`stages.toml`), and which of them a change needs."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

__all__ = ["Choice", "Stage", "Table", "choose", "read_table"]

TABLE = Path(__file__).with_name("stages.toml")


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of the gate, or one part of the schedule.

    Parameters
    ----------
    name : str
    command : str
        What bash runs, from the root of the checkout.
    depends : tuple of str
        Patterns of the files that can change its outcome; `always` if every change can.
    tests : tuple of str
        The tests that it holds, as paths from the root of the checkout.
    lane : str
        Stages of one lane run one after the other.
    minutes : float
        What it took when it was last measured on two cores.
    """

    name: str
    command: str
    depends: tuple[str, ...]
    tests: tuple[str, ...] = ()
    lane: str = "beside"
    minutes: float = 0.0

    @property
    def always(self) -> bool:
        """Whether every change needs it."""
        return "always" in self.depends


@dataclass(frozen=True, slots=True)
class Table:
    """What `stages.toml` says.

    Parameters
    ----------
    stages, parts : dict
        The stages of the gate, and the parts of the schedule, by name.
    everything : tuple of str
        Patterns of files after whose change every stage runs.
    covered : tuple of str
        Patterns of files that only the stages with `always` depend on.
    """

    stages: dict[str, Stage]
    parts: dict[str, Stage]
    everything: tuple[str, ...]
    covered: tuple[str, ...]

    def stage_of(self, test: str) -> str:
        """Return the stage that holds a test: the one with the longest path that leads to it."""
        held = [(len(path), stage.name) for stage in self.stages.values() for path in stage.tests if _is_in(test, path)]
        if not held:
            message = f"no stage of {TABLE.name} holds {test}"
            raise ValueError(message)
        return max(held)[1]


@dataclass(frozen=True, slots=True)
class Choice:
    """A stage that runs, and why."""

    stage: Stage
    reason: str


def read_table(path: Path = TABLE) -> Table:
    """Return the table, with the names of groups replaced by their patterns."""
    read = tomllib.loads(path.read_text(encoding="utf-8"))
    groups: dict[str, list[str]] = read["groups"]

    def patterns(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(pattern for name in names for pattern in groups.get(name, [name]))

    def stages(kind: str) -> dict[str, Stage]:
        made = (
            Stage(**{**one, "depends": patterns(one["depends"]), "tests": tuple(one.get("tests", ()))})
            for one in read[kind]
        )
        return {stage.name: stage for stage in made}

    return Table(stages("stage"), stages("part"), patterns(read["everything"]), patterns(read["covered"]))


def choose(table: Table, changed: Iterable[str] | None, *, parts: bool = False) -> list[Choice]:
    """Return the stages that a change needs, in the order of the table.

    Parameters
    ----------
    table : Table
    changed : iterable of str or None
        The files that changed since the last tree that passed whole; None if no such tree is known.
    parts : bool, default=False
        Whether parts of the schedule are asked for, not stages of the gate.
    """
    stages = (table.parts if parts else table.stages).values()
    if changed is None:
        return [Choice(stage, "no earlier whole pass is known here") for stage in stages]
    files = sorted(changed)
    if cause := _cause_of_everything(table, files):
        return [Choice(stage, cause) for stage in stages]
    choices = []
    for stage in stages:
        found = "every change" if stage.always else next((file for file in files if matches(file, stage.depends)), "")
        if found:
            choices.append(Choice(stage, found))
    return choices


def matches(file: str, patterns: Iterable[str]) -> bool:
    """Whether a file is one of the patterns: a path, a folder that ends in a slash, or a pattern with a star."""
    return any(
        file.startswith(pattern) if pattern.endswith("/") else fnmatchcase(file, pattern) for pattern in patterns
    )


def _cause_of_everything(table: Table, files: list[str]) -> str:
    known = [pattern for stage in table.stages.values() for pattern in stage.depends] + list(table.covered)
    for file in files:
        if matches(file, table.everything):
            return f"{file} changes the gate itself"
        if not matches(file, known):
            return f"{file} is in no line of the table"
    return ""


def _is_in(test: str, path: str) -> bool:
    file = test.partition("::")[0]
    return file == path or file.startswith(path.rstrip("/") + "/")
