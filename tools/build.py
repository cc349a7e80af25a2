"""Compile the core into the sources: `python tools/build.py`, after a change in `src/core`.

Needs nanobind, CMake and Ninja, and a C++ compiler. Only what changed is compiled again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import nanobind

CHECKOUT = Path(__file__).parent.parent


def build(levels: str = "", *, sanitize: bool = False, coverage: bool = False) -> None:
    """Configure, compile, and copy the modules to `src/glasswood/kernels`."""
    folder = CHECKOUT / "build" / ("sanitized" if sanitize else "covered" if coverage else "core")
    options = {
        "nanobind_DIR": nanobind.cmake_dir(),
        "Python_EXECUTABLE": sys.executable,
        "GLASSWOOD_LEVELS": levels,
        "GLASSWOOD_SANITIZE": "address,undefined" if sanitize else "",
        "GLASSWOOD_COVERAGE": "ON" if coverage else "OFF",
    }
    given = [f"-D{name}={value}" for name, value in options.items()]
    subprocess.run(["cmake", "-S", CHECKOUT, "-B", folder, "-G", "Ninja", *given], check=True)
    subprocess.run(["cmake", "--build", folder], check=True)
    subprocess.run(["cmake", "--install", folder, "--prefix", CHECKOUT / "src"], check=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--levels", default="", help="some instruction levels, as v2;v3 (all that the compiler knows)")
    parser.add_argument("--sanitize", action="store_true", help="with the address and undefined behaviour sanitizers")
    parser.add_argument("--coverage", action="store_true", help="count how often each line is run, for gcov")
    asked = parser.parse_args()
    build(asked.levels, sanitize=asked.sanitize, coverage=asked.coverage)
