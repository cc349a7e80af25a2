"""The quick form of the gate: style, and the tests that most mistakes fail, in less than two minutes.

`python tools/quick.py`; arguments go to pytest, such as `python tools/quick.py -x`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
TESTS = [
    "tests/test_errors.py",
    "tests/kernels/test_core.py",
    "tests/models/test_ensemble.py",
    "tests/models/readers/test_lightgbm.py",
    "tests/counting/test_counts.py",
    "tests/tables/test_tables.py",
    "tests/study/test_partial_dependence.py",
    "tests/results/test_results.py",
    "tests/project/test_public_api.py",
    "tests/project/test_release.py",
    "tests/project/test_versions.py",
]

if __name__ == "__main__":
    module = [sys.executable, "-m"]
    commands = [
        [*module, "ruff", "check", "."],
        [*module, "ruff", "format", "--check", "."],
        [*module, "pytest", "-q", "-n", "2", *TESTS, *sys.argv[1:]],
    ]
    failed = [command for command in commands if subprocess.run(command, cwd=CHECKOUT, check=False).returncode]
    sys.exit(1 if failed else 0)
