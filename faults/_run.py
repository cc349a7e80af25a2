"""Trying faults: each in a copy of the checkout of its own, by the tests that should notice it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from glasswood.kernels._cpu import levels

from faults._list import Fault
from glasswood.kernels._core import LEVEL

__all__ = ["Outcome", "copy_commit", "copy_tree", "run_tests", "try_fault"]

PASSED, FAILED = 0, 1  # pytest's exit codes; all others say that it could not run the tests


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a fault.

    Parameters
    ----------
    fault : Fault
    verdict : {"caught", "survived", "broken"}
        Broken: the fault does not apply, or its tests cannot be run.
    note : str
        The first test that failed, or what is broken.
    seconds : float
    """

    fault: Fault
    verdict: str
    note: str
    seconds: float

    @property
    def expected(self) -> bool:
        """Whether this is what the list says."""
        return self.verdict == ("survived" if self.fault.survives else "caught")


def copy_tree(checkout: Path, copy: Path) -> None:
    """Copy the files of a checkout that Git does not ignore, and the core that was compiled there."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=checkout,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found = (path for suffix in ("so", "pyd") for path in checkout.glob(f"src/**/*.{suffix}"))
    compiled = [str(path.relative_to(checkout)) for path in found]
    for name in [*filter(None, listed.split("\0")), *compiled]:
        if (checkout / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(checkout / name, copy / name)


def copy_commit(checkout: Path, commit: str, copy: Path) -> None:
    """Write the files of a commit."""
    archive = subprocess.run(["git", "archive", commit], cwd=checkout, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=BytesIO(archive)) as files:
        files.extractall(copy, filter="data")


def try_fault(fault: Fault, clean: Path, folder: Path, build: str | None, timeout: float) -> Outcome:
    """Return what the tests of a fault say of a copy with the fault in it."""
    start = time.monotonic()
    copy = folder / "checkout"
    try:
        shutil.copytree(clean, copy, ignore=shutil.ignore_patterns("*.pyc", ".pytest_cache", ".hypothesis"))
        try:
            source = fault.applied((copy / fault.file).read_text())
        except (OSError, ValueError) as error:
            return Outcome(fault, "broken", str(error), time.monotonic() - start)
        (copy / fault.file).write_text(source)
        level = (levels()[-1] if fault.portable else LEVEL) if fault.file.startswith("src/core/") else ""
        code, output = run_tests(copy, fault.tests, build, timeout, level)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    seconds = time.monotonic() - start
    if code == PASSED:
        return Outcome(fault, "survived", fault.survives, seconds)
    if code is None:
        return Outcome(fault, "caught", "the tests did not end", seconds)
    if code < 0:
        return Outcome(fault, "caught", f"the tests were ended by {signal.Signals(-code).name}", seconds)
    if code != FAILED:
        return Outcome(fault, "broken", _last_lines(output), seconds)
    failed = [line.split(" - ")[0] for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return Outcome(fault, "caught", *failed[:1] or [_last_lines(output)], seconds)


def run_tests(
    copy: Path, tests: tuple[str, ...], build: str | None, timeout: float, level: str = ""
) -> tuple[int | None, str]:
    """Return pytest's exit code, or None if it took too long, and its output. It stops at the first failure.

    The core is built first if there is a command for it, or if an instruction level is named.
    """
    env = {**os.environ, "PYTHONPATH": str(copy / "src")}
    if build is not None:
        subprocess.run(build, shell=True, cwd=copy, env=env, check=True, capture_output=True)
    elif level:
        # With ccache, objects of unchanged sources are found again although each copy has a folder of its own.
        env |= {"GLASSWOOD_CPU": level, "CCACHE_BASEDIR": str(copy), "CCACHE_NOHASHDIR": "1"}
        command = [sys.executable, "tools/build.py", "--levels", level]
        subprocess.run(command, cwd=copy, env=env, check=True, capture_output=True)
    plugin = ["-p", "no:cacheprovider", "-p", "no:randomly", "--hypothesis-seed=0"]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=short", *plugin, *tests]
    with subprocess.Popen(
        command, cwd=copy, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as process:
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, process.communicate()[0]
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode, output


def _last_lines(output: str, n: int = 3) -> str:
    return " / ".join(output.strip().splitlines()[-n:])
