"""Compile and run the test of the core in C++ (`tests/core`): `python tools/check_core.py`.

Every result must have the bits that `tests/core/golden.txt` tells, on every machine. Needs CMake, Ninja and a C++
compiler; for a target, `pip install ziglang`, and to run what was compiled for ARM, `apt install qemu-user`.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parent.parent
GOLDEN = CHECKOUT / "tests" / "core" / "golden.txt"
SYSTEMS = {"linux": "Linux", "windows": "Windows", "macos": "Darwin"}


def build(folder: Path, options: dict[str, str]) -> list[Path]:
    """Compile the test, once per instruction level, and return the programs."""
    given = [f"-D{name}={value}" for name, value in {"GLASSWOOD_TESTS": "ON", **options}.items()]
    subprocess.run(["cmake", "-S", CHECKOUT, "-B", folder, "-G", "Ninja", *given], check=True)
    for earlier in folder.glob("core_test_*"):  # of levels that are not asked for
        earlier.unlink()
    subprocess.run(["cmake", "--build", folder], check=True)
    return sorted(path for path in folder.glob("core_test_*") if path.suffix in ("", ".exe"))


def options_of(target: str) -> dict[str, str]:
    """Return the options with which CMake compiles for another machine, such as aarch64-linux-musl."""
    processor, system, *_ = target.split("-")
    zig = f"{sys.executable};-m;ziglang;c++;-target;{target}"
    return {
        "CMAKE_SYSTEM_NAME": SYSTEMS[system],
        "CMAKE_SYSTEM_PROCESSOR": processor,
        "CMAKE_CXX_COMPILER": zig,
        "GLASSWOOD_LEVELS": "baseline",  # Zig has other names for levels
    }


def runner_of(target: str) -> list[str] | None:
    """Return what runs programs of a target here; None if nothing does."""
    processor, system, *_ = (target or f"{platform.machine()}-linux").split("-")
    if system != "linux":
        return None
    return [] if processor == platform.machine() else [f"qemu-{processor}"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--levels", default="", help="some instruction levels, as v2;v3 (all that the compiler knows)")
    parser.add_argument("--sanitize", default="", help="sanitizers, as thread or address,undefined")
    parser.add_argument("--coverage", action="store_true", help="count how often each line is run, for gcov")
    parser.add_argument("--target", default="", help="another machine, as aarch64-linux-musl or x86_64-windows-gnu")
    parser.add_argument("--write", action="store_true", help="write the golden digests, with one level only")
    asked = parser.parse_args()
    kind = asked.target or asked.sanitize.replace(",", "-") or ("covered" if asked.coverage else "plain")
    # As deep as the folders of other builds: ccache compares relative paths.
    folder = CHECKOUT / "build" / f"test-{kind}"
    options = {
        "GLASSWOOD_LEVELS": asked.levels,
        "GLASSWOOD_SANITIZE": asked.sanitize,
        "GLASSWOOD_COVERAGE": "ON" if asked.coverage else "OFF",
    }
    programs = build(folder, options | (options_of(asked.target) if asked.target else {}))
    runner = runner_of(asked.target)
    for program in programs:
        if runner is None:
            sys.stdout.write(f"{program.name}: compiled, untested\n")
            continue
        sys.stdout.write(f"{program.name}: ")
        sys.stdout.flush()
        subprocess.run([*runner, program, GOLDEN, *(["--write"] if asked.write else [])], check=True)
