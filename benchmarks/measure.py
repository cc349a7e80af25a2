"""Times, memory, and tables of them. What is measured is the business of the scripts beside this file."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import gc
import io
import json
import multiprocessing
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("glasswood", "numpy", "pandas", "scikit-learn", "xgboost", "lightgbm", "woodelf_explainer")
MEGABYTE, GIGABYTE = 10**6, 10**9


@dataclass
class Laps:
    """The times of one contender, what it returned last, and why it failed if it did."""

    times: list[float] = field(default_factory=list)
    result: Any = None
    error: str = ""

    @property
    def best(self) -> float:
        """The shortest time, in seconds; NaN if there is none."""
        return min(self.times, default=float("nan"))


def race(contenders: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, Laps]:
    """Time the contenders in turn, round by round, so that all meet the same noise. One that fails drops out.

    The best lap counts, so the first round is also the warm-up. What contenders print is swallowed.
    """
    laps = {name: Laps() for name in contenders}
    for _ in range(rounds):
        for name, contender in contenders.items():
            lap = laps[name]
            if lap.error:
                continue
            lap.result = None
            gc.collect()
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                start = time.perf_counter()
                try:
                    lap.result = contender()
                except Exception as error:  # noqa: BLE001 (a peer may fail in any way; the table says how)
                    lap.error = f"{type(error).__name__}: {error}".splitlines()[0][:100]
                else:
                    lap.times.append(time.perf_counter() - start)
    return laps


def memory(what: str) -> int:
    """Return a field of this process's memory in bytes: VmRSS is held now, VmHWM the most since `peak_beyond` began."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{what}:")[1].split()[0]) * 1024


def peak_beyond(function: Callable[[], Any]) -> tuple[Any, int]:
    """Return a function's result, and the most memory that was held while it ran, beyond what was held before."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # Linux: forget the peak so far
    before = memory("VmRSS")
    result = function()
    return result, memory("VmHWM") - before


def in_fresh_process(function: Callable[..., Any], *args: Any) -> Any:
    """Return ``function(*args)``, run in a new interpreter: no memory or module of this one comes along."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *args).result()


@dataclass(frozen=True)
class Figure:
    """One line of a table. A figure with a target, such as ("<=", 0.1), is a claim."""

    case: str
    what: str
    value: float
    unit: str
    target: tuple[str, float] | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is reached; None without a target."""
        if self.target is None:
            return None
        sign, limit = self.target
        return self.value <= limit if sign == "<=" else self.value >= limit

    def cells(self) -> list[str]:
        """Return the cells of its line."""
        value = "-" if self.value != self.value else f"{self.value:.3g} {self.unit}".strip()
        target = "" if self.target is None else f"{self.target[0]} {self.target[1]:g} {self.unit}".strip()
        verdict = {None: "", True: "yes", False: "NO"}[self.met]
        return [self.case, self.what, value, target, verdict, self.note]


class Report:
    """The figures of one script, as a table on the screen and as JSON.

    Parameters
    ----------
    description : str
        What the script shows.
    cases : iterable of str
        The cases that ``--case`` can choose from.
    """

    def __init__(self, description: str, cases: Iterable[str]) -> None:
        parser = argparse.ArgumentParser(description=description)
        parser.add_argument("--quick", action="store_true", help="small sizes: shows that the script runs, no more")
        parser.add_argument("--rounds", type=int, help="take the best of this many (default 5, quick 1)")
        parser.add_argument("--case", action="append", choices=list(cases), help="only this case; may be repeated")
        parser.add_argument("--json", type=Path, help="also write the figures to this file")
        options = parser.parse_args()
        self.quick: bool = options.quick
        self.rounds: int = options.rounds or (1 if self.quick else 5)
        self.cases: list[str] = options.case or list(cases)
        self._json: Path | None = options.json
        self._load = [os.getloadavg()[0]]
        self.figures: list[Figure] = []

    def add(self, figure: Figure) -> None:
        """Note a figure, and show it as progress. Small sizes claim nothing."""
        self.figures.append(replace(figure, target=None) if self.quick else figure)
        print("  ".join(cell for cell in self.figures[-1].cells() if cell), file=sys.stderr, flush=True)

    def add_times(self, case: str, laps: dict[str, Laps]) -> None:
        """Note the best time of each contender, and its worst beside it."""
        for name, lap in laps.items():
            note = lap.error or (f"worst of {len(lap.times)}: {max(lap.times):.3g} s" if len(lap.times) > 1 else "")
            self.add(Figure(case, name, lap.best, "s", note=note))

    def finish(self) -> None:
        """Print the table, and write the JSON file if one was asked for."""
        self._load.append(os.getloadavg()[0])
        about = {
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "machine": f"{_processor()}, {len(os.sched_getaffinity(0))} cores, Python {platform.python_version()}",
            "versions": {name: found for name in PACKAGES if (found := _version(name))},
            "load_before_and_after": [round(load, 2) for load in self._load],
            "rounds": self.rounds,
            "quick": self.quick,
        }
        print()
        print("\n".join(f"{key}: {value}" for key, value in about.items()), end="\n\n")
        print(_table([["case", "what", "figure", "target", "met", "note"], *(f.cells() for f in self.figures)]))
        if self._json is not None:
            lines = [vars(f) | {"value": f.value if f.value == f.value else None, "met": f.met} for f in self.figures]
            self._json.write_text(json.dumps(about | {"figures": lines}, indent=1) + "\n")


def run(description: str | None, cases: Mapping[str, Callable[[Report], None]]) -> None:
    """Run the cases of a script that were asked for on the command line, and print the table."""
    report = Report(description or "", cases)
    for case in report.cases:
        cases[case](report)
    report.finish()


def _table(rows: list[list[str]]) -> str:
    """Return rows as a table that Markdown understands too."""
    width = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(row, width, strict=True)) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "|".join("-" * (w + 2) for w in width) + "|", *lines[1:]])


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:  # perhaps a checkout on the path
        return getattr(sys.modules.get(package), "__version__", None)
