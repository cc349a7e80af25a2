"""Running stages: two at a time, each in a process group of its own, with its output in a file."""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tools.gate.stages import Stage

__all__ = ["Outcome", "Runner"]

SUMMARY = re.compile(r"\d+ passed.* in [0-9.]+s|^core_test|no tests ran")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a stage.

    Parameters
    ----------
    stage : Stage
    code : int
        The exit code.
    seconds : float
    summary : tuple of str
        The lines of its output that say what it did; pytest's own summary line among them.
    """

    stage: Stage
    code: int
    seconds: float
    summary: tuple[str, ...]


@dataclass
class Runner:
    """Runs the stages of one lane in order, and beside them all others, which both workers share at last.

    Parameters
    ----------
    checkout, logs : Path
        The root of the checkout, and the folder in which each stage leaves its output and the times of its tests.
    shown : str
        The lane that is run in order, and whose output is printed meanwhile.
    patience : float, default=60
        How many seconds a stage that is stopped has to clean up.
    """

    checkout: Path
    logs: Path
    shown: str = "tests"
    patience: float = 60
    outcomes: list[Outcome] = field(default_factory=list)
    _running: list[subprocess.Popen[str]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stopped: bool = False

    def run(self, stages: Iterable[Stage]) -> bool:
        """Run the stages, and return whether all passed. If a stage without tests fails in the shown lane, stop."""
        self.logs.mkdir(parents=True, exist_ok=True)
        chosen = list(stages)
        first = deque(stage for stage in chosen if stage.lane == self.shown)
        shared = deque(stage for stage in chosen if stage.lane != self.shown)
        threads = [threading.Thread(target=self._work, args=(queues,)) for queues in ([first, shared], [shared])]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except BaseException:
            self.stop()
            raise
        return len(self.outcomes) == len(chosen) and not any(outcome.code for outcome in self.outcomes)

    def stop(self) -> None:
        """End all stages, with every process that they started. Tests get some time to stop their clusters."""
        with self._lock:
            self._stopped = True
            running = list(self._running)
        for process in running:
            _signal(process, signal.SIGINT)
        for process in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=self.patience)
            _signal(process, signal.SIGKILL)

    def _work(self, queues: list[deque[Stage]]) -> None:
        while queue := next(filter(None, queues), None):
            with contextlib.suppress(IndexError):  # the other worker took the last one
                self._finish(queue.popleft())

    def _finish(self, stage: Stage) -> None:
        outcome = self._run_stage(stage)
        if outcome is None:
            return
        with self._lock:
            self.outcomes.append(outcome)
        verdict = "passed" if outcome.code == 0 else f"FAILED with exit code {outcome.code}"
        _say(f"gate: {stage.name} {verdict} after {outcome.seconds:.0f} s")
        if outcome.code and stage.lane == self.shown and not stage.tests:
            self.stop()

    def _run_stage(self, stage: Stage) -> Outcome | None:
        times = os.path.relpath(self.logs / f"{stage.name}.xml", self.checkout)
        env = {**os.environ, "PYTEST_ADDOPTS": f"--junitxml={times} -o junit_family=xunit1"}
        began = time.monotonic()
        with self._lock:
            if self._stopped:
                return None
            process = subprocess.Popen(
                ["bash", "-c", stage.command],
                cwd=self.checkout,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            self._running.append(process)
        summary: list[str] = []
        reader = threading.Thread(target=self._read, args=(process, stage, summary), daemon=True)
        reader.start()
        code = process.wait()
        with self._lock:
            self._running.remove(process)
            _signal(process, signal.SIGKILL)  # what it may have left behind, which may still hold the pipe
        reader.join(timeout=30)
        return Outcome(stage, code, time.monotonic() - began, tuple(summary))

    def _read(self, process: subprocess.Popen[str], stage: Stage, summary: list[str]) -> None:
        output = process.stdout or io.StringIO()
        with output, (self.logs / f"{stage.name}.log").open("w", encoding="utf-8") as file:
            for line in output:
                file.write(line)
                if SUMMARY.search(line):
                    summary.append(line.strip("=\n "))
                if stage.lane == self.shown:
                    sys.stdout.write(line)
                    sys.stdout.flush()


def _signal(process: subprocess.Popen[str], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
