"""The record of trees that passed whole, and the files that have changed since.

The record is a file in the cache folder. A line has the hash of a tree, that of the environment, and the seconds that
all stages took. Nothing but a run of every stage writes it.
"""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Passes", "changed_since", "tree_of"]


@dataclass(frozen=True, slots=True)
class Passes:
    """The record of one cache folder.

    Parameters
    ----------
    path : Path
    environment : str
        What identifies the interpreter and the versions of all libraries: passes of another environment do not count.
    """

    path: Path
    environment: str

    def last(self, checkout: Path) -> str | None:
        """Return the newest tree that passed whole and that Git knows here, or None."""
        if not self.path.is_file():
            return None
        lines = [line.split() for line in self.path.read_text(encoding="utf-8").splitlines()]
        trees = [line[0] for line in reversed(lines) if line[1:2] == [self.environment]]
        return next(
            (tree for tree in trees if _run_git(checkout, "cat-file", "-e", f"{tree}^{{tree}}") is not None), None
        )

    def add(self, tree: str, seconds: float) -> None:
        """Record that all stages passed."""
        moment = time.strftime("%Y-%m-%dT%H:%M:%S")
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{tree} {self.environment} {moment} {seconds:.0f}\n")


def tree_of(checkout: Path) -> str | None:
    """Return the hash of the tree that is checked out; None if files have changed since, or Git does not know it."""
    status = _run_git(checkout, "status", "--porcelain")
    return _run_git(checkout, "rev-parse", "HEAD^{tree}") if status == "" else None


def changed_since(checkout: Path, tree: str) -> list[str] | None:
    """Return the files that differ from those of a tree or a commit, new ones included; None if Git cannot tell."""
    changed = _run_git(checkout, "diff", "--name-only", "--no-renames", "-z", tree)
    new = _run_git(checkout, "ls-files", "--others", "--exclude-standard", "-z")
    if changed is None or new is None:
        return None
    return sorted({name for name in (changed + "\0" + new).split("\0") if name})


def _run_git(checkout: Path, *arguments: str) -> str | None:
    done = subprocess.run(["git", *arguments], cwd=checkout, capture_output=True, text=True, check=False)
    return done.stdout.strip("\n") if done.returncode == 0 else None
