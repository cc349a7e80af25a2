"""The command: ``python -m fuzz --minutes 20 --seed 7``, or ``python -m fuzz --case '{...}'`` for one case.

With ``--digests FILE``, a digest of all answers of each case is written. Two versions of Glasswood that give the same
answers, bit for bit, write the same file: ``--cases 20000`` before and after a change inside, then ``diff``.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import time
from pathlib import Path

from fuzz.cases import draw_case
from fuzz.models import MAKERS
from fuzz.runner import Worker
from fuzz.shrink import shrink
from fuzz.statistics import Statistics

__all__ = ["fuzz", "main"]


def fuzz(  # noqa: PLR0913 (one call has all settings of a run)
    *,
    minutes: float,
    seed: int,
    cases: int | None = None,
    makers: list[str] | None = None,
    skip: list[str] | None = None,
    clusters: list[str] | None = None,
    shrinking: bool = True,
    digests: Path | None = None,
) -> Statistics:
    """Run cases until the time is up, or some number of cases; print findings as they come, shrunk."""
    statistics, until = Statistics(), time.monotonic() + 60 * minutes
    with Worker(limited=clusters is None) as worker, (digests or Path(os.devnull)).open("w", buffering=1) as written:
        number = 0
        while time.monotonic() < until and (cases is None or number < cases):
            case = draw_case(seed * 1_000_000 + number, makers, skip)
            case |= {"questions": clusters} if clusters else {}
            number += 1
            outcome = worker.run(case)
            written.write(f"{case['seed']} {outcome.get('digest', 'none')}\n")
            for finding in statistics.add(case, outcome):
                small = shrink(case, finding, worker.run) if shrinking else case
                print(report(small, finding), flush=True)
    return statistics


def report(case: dict, finding: dict) -> str:
    """Return a finding as text, with the command that shows it again."""
    return f"{described(finding)}\n  python -m fuzz --case {shlex.quote(json.dumps(case))}\n"


def described(finding: dict) -> str:
    """Return a finding as text."""
    title = " / ".join(filter(None, (finding["question"], finding["kind"], finding["what"])))
    return f"FOUND {title}\n{finding['detail']}"


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return 1 if there are findings."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--seed", type=int, default=0, help="of the run; runs of other seeds have other cases")
    parser.add_argument("--cases", type=int, help="the largest number of cases")
    parser.add_argument("--makers", help=f"some of {', '.join(MAKERS)}, separated by commas")
    parser.add_argument("--skip", help="questions that are not asked, separated by commas")
    parser.add_argument("--clusters", help="ask these only: some of dask, ray, spark, separated by commas")
    parser.add_argument("--case", help="run this one case, or that of this seed")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--digests", type=Path, help="write a digest of all answers of each case to this file")
    parser.add_argument("--json", type=Path, help="write the sums to this file, too")
    given = parser.parse_args(arguments)
    makers, skip, clusters = (text.split(",") if text else None for text in (given.makers, given.skip, given.clusters))
    if given.case:
        return _one(json.loads(given.case), makers, skip)
    statistics = fuzz(
        minutes=given.minutes,
        seed=given.seed,
        cases=given.cases,
        makers=makers,
        skip=skip,
        clusters=clusters,
        shrinking=not given.no_shrink,
        digests=given.digests,
    )
    print(statistics.text())
    if given.json:
        given.json.write_text(statistics.as_json())
    return int(bool(statistics.findings))


def _one(case: dict | int, makers: list[str] | None, skip: list[str] | None) -> int:
    """Run one case in this process, so that it can be debugged."""
    from fuzz.run import run_case

    case = draw_case(case, makers, skip) if isinstance(case, int) else case
    print(json.dumps(case))
    outcome = run_case(case)
    findings = outcome.pop("findings")
    for finding in findings:
        print(described(finding))
    print(json.dumps(outcome))
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
