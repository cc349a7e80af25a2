"""All tables of the Woodelf++ paper: glasswood, woodelf, scikit-learn's brute force, and the paper's own figures.

With --write, figures go to benchmarks/results/paper-DATE.json and the page docs/explanation/paper-results.md is written
from it. Cases of other runs of that day are kept, so a long run can be done in pieces: --case kdd --case kdd-depth-1.
PAPER_RESULTS names another file to merge into; --page FILE writes the page only.

woodelf runs in a process of its own, which may take PAPER_LIMIT seconds (300) per entry, PAPER_CASE seconds (600) per
case, and PAPER_MEMORY gigabytes (12). What scikit-learn would take more than PAPER_BRUTE seconds (60) for is estimated.
Fitted models are kept in the folder PAPER_CACHE. PAPER_ROWS takes fewer rows of the large tables, to try things out.
"""

from __future__ import annotations

import datetime
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from measure import GIGABYTE, Figure, Laps, Report, race
from paper_any_order import any_order
from paper_brute import Estimator, add_brute_force
from paper_children import Child, Limits, Outcome
from paper_models import MAX_ROWS, Spec, fitted, table
from paper_page import write_page
from paper_tables import DEPTHS, LARGE, SMALL, TASKS
from paper_tasks import PEER_FIRST, number_of_sets, ours, points_of, theirs

RESULTS = Path(__file__).resolve().parent / "results"
ENTRY = Limits(float(os.environ.get("PAPER_LIMIT", "300")), GIGABYTE * float(os.environ.get("PAPER_MEMORY", "12")))
CASE_SECONDS = float(os.environ.get("PAPER_CASE", "600"))  # of woodelf, for all tasks of a case
OUR_SECONDS = 60  # of our laps of one task; the first one always ends
DEPTH_RANGE, ANY_ORDER_RANGE = range(1, 11), range(6, 11)


def note_laps(report: Report, case: str, task: str, lap: Laps, paper: str) -> None:
    """Add our best time of a task, and what the paper reports."""
    laps = f"best of {len(lap.times)}, worst {max(lap.times):.3g} s" if lap.times else ""
    notes = [lap.error or laps, f"the paper, its machine and rows: {paper}" if paper else ""]
    report.add(Figure(case, f"{task}: glasswood", lap.best, "s", note="; ".join(note for note in notes if note)))


def note_peer(report: Report, case: str, task: str, laps: list[Outcome]) -> None:
    """Add woodelf's best time of a task and its memory, or why there is none."""
    done = [lap for lap in laps if not lap.error]
    best = min((lap.seconds for lap in done), default=float("nan"))
    note = f"best of {len(done)}" if len(done) > 1 else "once"
    note += f"; peak memory {max((lap.peak for lap in done), default=0) / GIGABYTE:.1f} GB"
    report.add(Figure(case, f"{task}: woodelf", best, "s", note=note if done else laps[0].error))


class Peer:
    """woodelf in a process of its own, with the time that is left for a case."""

    def __init__(self, spec: Spec) -> None:
        self.child, self.left = Child(theirs, spec), CASE_SECONDS

    def lap(self, task: str) -> Outcome:
        """Return a lap of a task, unless the time of the case is used up."""
        if self.left < 1:
            return Outcome(error=f"not run: the {CASE_SECONDS:.0f} s of this case were used up")
        limits = Limits(min(self.left, ENTRY.seconds), ENTRY.bytes)
        outcome = self.child.ask(task, limits)
        self.left -= limits.seconds if outcome.error.startswith("stopped after") else max(outcome.seconds, 0.0)
        return outcome


def measure(report: Report, case: str, spec: Spec, paper: Mapping[str, str], rounds: int) -> None:
    """Time all tasks: glasswood and woodelf in turn, then scikit-learn."""
    X, _ = table(spec.data, quick=report.quick)
    model = fitted(spec)
    mine = ours(model, X, paper)
    peer = None if report.quick else Peer(spec)
    try:
        for task in dict.fromkeys([task for task in PEER_FIRST if task in paper] + list(paper)):
            lap, others = Laps(), list[Outcome]()
            for turn in range(rounds):
                if not turn or (not lap.error and sum(lap.times) < OUR_SECONDS):
                    found = race({"": mine[task]}, 1)[""]
                    lap.times, lap.error = lap.times + found.times, found.error
                if peer and (not turn or (not others[-1].error and peer.left > 3 * others[-1].seconds)):
                    others.append(peer.lap(task))
            note_laps(report, case, task, lap, paper[task])
            if others:
                note_peer(report, case, task, others)
    finally:
        if peer:
            peer.child.close()
    grids = {k: points_of(X, k) for k in (5, 10, 100)}
    n_sets = number_of_sets(model, X) if any(task.startswith("Any-order") for task in paper) else 0
    add_brute_force(report, case, Estimator(model, X, grids), paper, n_sets)


def shape(spec: Spec) -> str:
    X, _ = table(spec.data, quick=spec.quick)
    return f"{X.shape[0]:,} x {X.shape[1]}"


def small(name: str, report: Report) -> None:
    """Measure a small data set: 80 % of the rows, 100 trees."""
    spec = Spec(name, quick=report.quick)
    paper = {task: f"{best} s by the best other method, {own} s" for task, (best, own) in SMALL[name].items()}
    measure(report, f"{name} {shape(spec)}", spec, paper, report.rounds)


def large(name: str, report: Report, *, real: bool = False) -> None:
    """Measure KDD Cup 99 or IEEE-CIS, with a model like the paper's or with the real one."""
    spec = Spec(name, real=real, quick=report.quick)
    paper = {task: f"{LARGE[name][task][2]} (CPU)" for task in TASKS}
    if report.quick:
        del paper["Any-order PDIV n=10,000"], paper["Any-order PDIV"]
    start = "fitted ieee" if name == "ieee" and not real else name
    measure(report, f"{start} {shape(spec)}", spec, paper, report.rounds)


def depth(name: str, level: int, report: Report) -> None:
    """Measure trees of one depth without other limits."""
    spec = Spec(name, level, limited=False, quick=report.quick)
    paper = {task: f"{seconds[level - 1]} s" for task, seconds in DEPTHS[name].items()}
    measure(report, f"depth {level}, {name} {shape(spec)}", spec, paper, min(report.rounds, 2))


CASES: dict[str, Callable[[Report], None]] = {
    **{name: partial(small, name) for name in SMALL},
    "kdd": partial(large, "kdd"),
    "ieee": partial(large, "ieee", real=True),
    "ieee-fitted": partial(large, "ieee"),
    **{f"{name}-depth-{level}": partial(depth, name, level) for name in DEPTHS for level in DEPTH_RANGE},
    **{
        f"{name}-any-{level}": partial(any_order, data=name, depth=level, limits=ENTRY)
        for name in ("kdd", "ieee", "normal")
        for level in ANY_ORDER_RANGE
    },
}


def merge(new: Path, into: Path) -> None:
    """Write new figures into the file of the day; cases that were not run again keep theirs."""
    found = json.loads(new.read_text())
    cases = {figure["case"] for figure in found["figures"]}
    found["loads"] = dict.fromkeys(sorted(cases), found.pop("load_before_and_after"))
    if into.exists():
        before = json.loads(into.read_text())
        found["loads"] = before["loads"] | found["loads"]
        found["figures"] = [figure for figure in before["figures"] if figure["case"] not in cases] + found["figures"]
    into.parent.mkdir(exist_ok=True)
    into.write_text(json.dumps(found, indent=1) + "\n")
    new.unlink()


def main() -> None:
    if "--page" in sys.argv:
        write_page(Path(sys.argv[sys.argv.index("--page") + 1]))
        return
    write = "--write" in sys.argv
    new = RESULTS.with_name("paper.new.json")
    if write:
        sys.argv.remove("--write")
        sys.argv += ["--json", str(new)]
    report = Report(__doc__ or "", CASES)
    if write and (report.quick or MAX_ROWS):
        message = "--quick and PAPER_ROWS claim nothing, so they write no results"
        raise SystemExit(message)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for case in report.cases:
            CASES[case](report)
    except KeyboardInterrupt:
        print("Interrupted: what was measured until then is kept.", file=sys.stderr)
    report.finish()
    print(
        "Not reproduced: KDD Cup with all 4,898,431 rows (10 % are here), the real rows of IEEE-CIS (made ones are "
        "used), FastPD (R), GPUs."
    )
    if write:
        today = f"paper-{datetime.datetime.now(datetime.UTC).date().isoformat()}.json"
        results = Path(os.environ.get("PAPER_RESULTS", RESULTS / today))
        merge(new, results)
        write_page(results)


if __name__ == "__main__":
    main()
