"""Runs cases in a worker process, one after the other; starts a new one after a crash or a hang."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

__all__ = ["Worker"]

SECONDS = 120  # of the processor that a case may take; most take less than one
SECONDS_TO_START = 300  # more for the first case, which imports every library
OUTSIDE = "outside of Glasswood"
CASES_OF_A_WORKER = 400  # then a new process begins, so that memory does not hide a leak, or add up


class Worker:
    """Runs cases in a child process."""

    def __init__(self, seconds: float = SECONDS, *, limited: bool = True) -> None:
        self._seconds = seconds
        self._memory = "limited" if limited else "unlimited"  # clusters, which it starts, would have the limit, too
        self._process: subprocess.Popen | None = None
        self._errors: IO[str] | None = None
        self._done = 0

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, case: dict) -> dict[str, Any]:
        """Return the outcome of a case; a crash and a hang are findings like others."""
        if self._process is None or self._done >= CASES_OF_A_WORKER:
            self._start()
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            message = "the worker has no pipes"
            raise RuntimeError(message)
        seconds = self._seconds + (SECONDS_TO_START if self._done == 0 else 0)
        try:
            process.stdin.write(json.dumps({"case": case, "seconds": seconds}) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            return self._died(case)
        line = process.stdout.readline()  # the worker ends itself after the time is up
        if not line:
            return self._died(case)
        self._done += 1
        return json.loads(line)

    def _start(self) -> None:
        self.close()
        self._errors = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 (closed with the worker)
        root = str(Path(__file__).parent.parent)
        path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        settings = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS", "TQDM_DISABLE"), "1")
        settings |= {"PYTHONPATH": path, "PYTHONHASHSEED": "0", "FUZZ_MEMORY": self._memory}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "fuzz.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env=os.environ | settings,
        )
        self._done = 0

    def _died(self, case: dict) -> dict[str, Any]:
        """Return the outcome of a case that ended the worker."""
        code = self._process.wait() if self._process is not None else 0
        said = ""
        if self._errors is not None:
            self._errors.seek(0)
            said = self._errors.read()
        hung = code == -getattr(signal, "SIGPROF", 0) or ("Timeout" in said[-20000:] and code > 0)
        kind = "hang" if hung else "crash"
        self.close()
        outcome = {"kind": case["model"]["maker"], "asked": [], "seconds": self._seconds, "findings": []}
        if kind == "hang" and _frame(said) == OUTSIDE:
            return outcome | {"library": {"brute force took too long": 1}}
        finding = {"question": "", "kind": kind, "what": _frame(said), "detail": said[-3000:]}
        return outcome | {"findings": [finding]}

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()  # which closes the pipes, too
            self._process = None
        if self._errors is not None:
            self._errors.close()
            self._errors = None


def _frame(said: str) -> str:
    """Return the innermost function of Glasswood's in what faulthandler wrote."""
    lines = [line for line in said[-20000:].splitlines() if "/glasswood/" in line and "File" in line]
    return lines[0].rpartition("/glasswood/")[2].replace('"', "") if lines else OUTSIDE
