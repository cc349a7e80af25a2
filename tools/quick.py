"""The quick form of the gate: style, types, the layout of imports and the core's tests, in less than two minutes.

`python tools/quick.py`; arguments go to pytest, such as `python tools/quick.py -x`. Files of tests that are new or have
changed since the last commit are run as well. Everything that it needs is installed by `python tools/setup.py`.
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
TESTS = [
    "tests/test_errors.py",
    "tests/kernels/test_core.py",
    "tests/models/test_ensemble.py",
    "tests/models/readers/test_sklearn.py",
    "tests/counting/test_counts.py",
    "tests/questions/rows/test_games.py",
    "tests/tables/test_tables.py",
    "tests/results/test_results.py",
    "tests/results/test_reprs.py",
    "tests/project/test_public_api.py",
    "tests/project/test_release.py",
    "tests/project/test_stages.py",
    "tests/project/test_versions.py",
]


def changed_tests() -> list[str]:
    """Return the files of tests that are new or have changed since the last commit."""
    asked = ["git", "ls-files", "--modified", "--others", "--exclude-standard", "--deduplicate", "tests/**/test_*.py"]
    listed = subprocess.run(asked, cwd=CHECKOUT, check=False, capture_output=True, text=True).stdout.splitlines()
    return [name for name in listed if name not in TESTS and (CHECKOUT / name).is_file()]


def passes(command: list[str | Path]) -> bool:
    """Run a command, print what it says if it fails, and return whether it passed."""
    done = subprocess.run(command, cwd=CHECKOUT, check=False, capture_output=True, text=True)
    name = " ".join(Path(part).name if part == command[0] else str(part) for part in command[:3])
    sys.stdout.write(f"{name}: passed\n" if done.returncode == 0 else f"{done.stdout}{done.stderr}{name}: FAILED\n")
    sys.stdout.flush()
    return done.returncode == 0


if __name__ == "__main__":
    linters: list[list[str | Path]] = [
        [BIN / "ruff", "check", "."],
        [BIN / "ruff", "format", "--check", "."],
        [BIN / "lint-imports"],
        [BIN / "mypy"],
    ]
    with ThreadPoolExecutor(1) as beside:
        linted = beside.submit(lambda: [passes(command) for command in linters])
        tests = [sys.executable, "-m", "pytest", "-q", "-n", "2", *TESTS, *changed_tests(), *sys.argv[1:]]
        tested = subprocess.run(tests, cwd=CHECKOUT, check=False).returncode == 0
        sys.exit(0 if all(linted.result()) and tested else 1)
